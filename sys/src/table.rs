//! The call table: one slot a function, filled when the function is first asked for.

use core::ffi::c_void;
use core::fmt;
use core::sync::atomic::{AtomicPtr, Ordering};

// The list of calls names every type of the bindings.
#[allow(clippy::wildcard_imports)]
use crate::bindings::*;
use crate::symbols::{COUNT, Entry, Library, Slot, SymbolInfo, slot};

/// A function that the loaded library does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{symbol} is not in {searched}{}", crate::symbols::history(symbol))]
pub struct MissingSymbol {
    /// C name of the function.
    pub symbol: &'static str,
    /// The libraries that were searched: the runtime and those of the function's family. Files of the family that did
    /// not open follow in parentheses with the reason.
    pub searched: String,
}

/// Where the functions of a [`Table`] come from.
pub trait Source: Send + Sync {
    /// The address of `symbol`, or null. `library` says where to look first.
    fn address(&self, symbol: &'static str, library: Library) -> *mut c_void;
    /// What the source is, for messages: a path, or a name.
    fn describe(&self) -> String;
    /// Where the functions of `library` were looked for, for messages; with what did not open.
    fn searched(&self, library: Library) -> String {
        let _ = library;
        self.describe()
    }
    /// Files of `library` that are there and did not open, each with the reason.
    fn not_opened(&self, library: Library) -> Vec<String> {
        let _ = library;
        Vec::new()
    }
    /// Whether a library of its own was found for `library`, once one of its functions was asked for.
    fn is_found(&self, library: Library) -> bool {
        let _ = library;
        true
    }
    /// True for the mock that is compiled into the program.
    fn is_mock(&self) -> bool {
        false
    }
    /// True for each mock, also one that was loaded as a library.
    fn simulates(&self) -> bool {
        self.is_mock()
    }
}

/// Function pointers of one AscendCL library, resolved one by one at first use.
///
/// Each function has a method of its C name that gives the pointer, or [`MissingSymbol`] when the library does not
/// have it. A table is immutable from the outside and can be used from any thread.
pub struct Table {
    slots: Box<[AtomicPtr<c_void>]>,
    source: Box<dyn Source>,
}

impl Table {
    /// A table over any source of addresses.
    ///
    /// # Safety
    ///
    /// 1. Every non-null address that the source gives is a function of that name with the C signature of this crate.
    /// 2. The code stays loaded for the rest of the process.
    pub unsafe fn from_source(source: Box<dyn Source>) -> Self {
        let slots = (0..COUNT).map(|_| AtomicPtr::new(core::ptr::null_mut())).collect();
        Self { slots, source }
    }

    /// What the functions come from: a path, or the name of the built-in mock.
    #[must_use]
    pub fn describe(&self) -> String {
        self.source.describe()
    }

    /// True when the functions are those of the mock compiled into the program.
    #[must_use]
    pub fn is_mock(&self) -> bool {
        self.source.is_mock()
    }

    /// True when the functions simulate devices: those of the mock inside the program, or of mock-acl as a library,
    /// which has the place and the names of an installed toolkit. What such a library tells is true of no card.
    ///
    /// ```
    /// # #[cfg(feature = "mock")]
    /// assert!(acl_sys::Table::mock().simulates());
    /// ```
    #[must_use]
    pub fn simulates(&self) -> bool {
        self.source.simulates()
    }

    /// Every function name that the table knows.
    pub fn names() -> impl Iterator<Item = (&'static str, Library)> {
        SymbolInfo::all().map(|symbol| (symbol.name, symbol.library))
    }

    /// Whether the library has `symbol`, which must be one of [`Table::names`].
    #[must_use]
    pub fn has(&self, symbol: &str) -> bool {
        slot(symbol).is_some_and(|index| self.address(index).is_ok())
    }

    /// Files of the family `library` that are there and did not open, each a text with the path and the reason.
    ///
    /// A family is looked for when one of its functions is asked for that the runtime does not have; before that
    /// there is nothing to tell.
    #[must_use]
    pub fn not_opened(&self, library: Library) -> Vec<String> {
        self.source.not_opened(library)
    }

    /// Whether a file of the family `library` was found and opened, or the source has no files. A family is looked for
    /// when one of its functions is asked for that the runtime does not have; before that the answer is no.
    ///
    /// ```
    /// # #[cfg(feature = "mock")]
    /// assert!(acl_sys::Table::mock().is_found(acl_sys::Library::Collectives));
    /// ```
    #[must_use]
    pub fn is_found(&self, library: Library) -> bool {
        self.source.is_found(library)
    }

    /// Address of the function `symbol`, for questions such as [`CodeFiles::of`](crate::CodeFiles::of); `None` when
    /// the library does not have it. To call it, take the method of its name.
    #[must_use]
    pub fn address_of(&self, symbol: &str) -> Option<usize> {
        self.address(slot(symbol)?).ok().map(<*mut c_void>::addr)
    }

    /// Address of a function, which is not null. To call it, make it a pointer to a function of its declaration; where
    /// the name is known when the program is written, take the method of this name, which does so.
    ///
    /// # Errors
    ///
    /// [`MissingSymbol`] when the library does not have the function.
    #[inline]
    pub fn entry(&self, entry: Entry) -> Result<*mut c_void, MissingSymbol> {
        self.address(entry.index())
    }

    #[inline]
    fn address(&self, index: usize) -> Result<*mut c_void, MissingSymbol> {
        let address = self.slots[index].load(Ordering::Acquire);
        if address.is_null() { self.resolve(index) } else { Ok(address) }
    }

    #[cold]
    fn resolve(&self, index: usize) -> Result<*mut c_void, MissingSymbol> {
        let SymbolInfo { name: symbol, library, .. } = SymbolInfo::at(index);
        let address = self.source.address(symbol, library);
        if address.is_null() {
            return Err(MissingSymbol { symbol, searched: self.source.searched(library) });
        }
        self.slots[index].store(address, Ordering::Release);
        Ok(address)
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("source", &self.describe()).finish_non_exhaustive()
    }
}

macro_rules! calls {
    ($($(#[$note:meta])* $name:ident($($argument:ty),*) -> $result:ty;)*) => {
        #[allow(non_snake_case)]
        impl Table {
            $(
                #[doc = concat!("The address of `", stringify!($name), "`.")]
                ///
                $(#[$note])*
                ///
                /// # Errors
                ///
                /// [`MissingSymbol`] when the library does not have the function.
                #[inline]
                pub fn $name(&self) -> Result<unsafe extern "C" fn($($argument),*) -> $result, MissingSymbol> {
                    let address = self.address(Slot::$name as usize)?;
                    // SAFETY: `address` is not null, and the contract of `from_source` says that the function of this
                    // name has the signature that the bindings declare for it.
                    Ok(unsafe {
                        core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> $result>(address)
                    })
                }
            )*
        }
    };
}

#[cfg(not(acl_sys_generated))]
include!("bindings/calls.rs");
#[cfg(acl_sys_generated)]
include!(concat!(env!("OUT_DIR"), "/calls.rs"));
