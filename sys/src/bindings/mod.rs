//! Bindings made by bindgen; `sys/regen.sh` makes them again.
#![allow(
    missing_debug_implementations,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    clippy::all,
    clippy::nursery,
    clippy::pedantic,
    clippy::restriction,
    unreachable_pub,
    unnameable_types,
    unused_imports
)]

pub mod operator_base;
pub mod operators;
pub mod runtime;

pub use operator_base::*;
pub use operators::*;
pub use runtime::*;
