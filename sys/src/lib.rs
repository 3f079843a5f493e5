//! Raw bindings to AscendCL, the C runtime of CANN for Ascend NPUs.
//!
//! Types, constants and functions keep their C names. Handles are `*mut c_void` aliases as in C; enums are newtypes,
//! so a value that a newer library adds is no undefined behaviour. The functions are reached through a [`Table`],
//! which finds each symbol when it is first used:
//!
//! | constructor | feature | library |
//! |---|---|---|
//! | `Table::load`, `Table::load_from` | `dlopen` (default) | found when the program runs |
//! | `Table::linked` | `link` | bound when the program is built |
//! | `Table::mock` | `mock` | mock-acl, compiled into the program |
//!
//! The features add up; the constructor chooses. The plain declarations of the functions
//! are here too, for programs that link the library themselves.
//!
//! Not to be confused with the `acl-sys` of the well-known registry, which is about POSIX access lists.

#[cfg_attr(acl_sys_generated, path = "generated.rs")]
mod bindings;
mod code_files;
#[cfg(any(feature = "dlopen", feature = "link"))]
mod elf;
mod fit;
#[cfg(any(feature = "dlopen", feature = "link"))]
mod loader;
#[cfg(feature = "mock")]
pub mod mock;
mod symbols;
mod table;
mod toolkit;

#[doc(inline)]
pub use bindings::*;
pub use code_files::CodeFiles;
pub use fit::Fit;
#[cfg(any(feature = "dlopen", feature = "link"))]
pub use loader::LoadError;
pub use symbols::{Entry, Library, Release, SignatureChange, SymbolInfo, symbol_info};
pub use table::{MissingSymbol, Source, Table};
pub use toolkit::{MixedToolkits, Place, Toolkit, toolkit_places};

#[cfg(test)]
#[allow(dead_code)]
#[path = "../build/probe.rs"]
mod probe;
#[path = "../build/version.rs"]
mod version;
