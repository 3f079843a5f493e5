//! Libraries.

use std::ffi::{CString, c_char};

use racl::Acl;

use crate::arguments::{Out, null, text};
use crate::failure::{Failure, Result, copy_text, guard};
use crate::handles::{Kept, end, free, get, new};
use crate::objects::racl_library;

/// The version of this header: major, minor, patch, each two digits.
pub const RACL_VERSION: u32 = 100;

/// The version of the library that the program runs with, to compare with RACL_VERSION.
#[unsafe(no_mangle)]
pub extern "C" fn racl_version() -> u32 {
    RACL_VERSION
}

/// Opens and initialises an AscendCL library. NULL: what the environment variable RACL_LIBRARY names, else the library
/// of the machine. "mock": the built-in mock, where it was compiled in. Otherwise a file, or a name that the dynamic
/// loader searches, whose initialisers run. The same library may be opened several times.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_library_open(path: *const c_char, library: *mut *mut racl_library) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        let out = unsafe { Out::new(library, std::ptr::null_mut(), "a library") }?;
        let acl = if path.is_null() {
            Acl::init()?
        } else {
            // SAFETY: by the header.
            named(unsafe { text(path, "the name of a library") }?)?
        };
        // C programs call AscendCL beside this, and make other contexts current.
        racl::set_verify_context(true);
        out.set(new(acl)?);
        Ok(())
    })
}

fn named(path: &str) -> Result<Acl> {
    match path {
        "" => Err(Failure::invalid("an empty name of a library")),
        #[cfg(feature = "mock")]
        "mock" => Ok(Acl::mock()?),
        #[cfg(not(feature = "mock"))]
        "mock" => Err(Failure::own(crate::status::RACL_NOT_SUPPORTED, "the mock was not compiled in")),
        // SAFETY: the header says that the initialisers of the file run.
        #[cfg(feature = "dlopen")]
        _ => Ok(unsafe { Acl::init_from(path) }?),
        #[cfg(not(feature = "dlopen"))]
        _ => Err(Failure::own(crate::status::RACL_NOT_SUPPORTED, "opening libraries was not compiled in")),
    }
}

/// Copies what the library is, for people, to `name`, of `size` bytes; `needed`, which may be NULL, gets the bytes that
/// all of it needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_library_name(
    library: *const racl_library,
    name: *mut c_char,
    size: usize,
    needed: *mut usize,
) -> i32 {
    guard(|| {
        if !needed.is_null() {
            // SAFETY: by the header.
            unsafe { needed.write(0) };
        }
        if size > 0 {
            if name.is_null() {
                return Err(null("a place for a name"));
            }
            // SAFETY: by the header.
            unsafe { name.write(0) };
        }
        let text = CString::new(get(library)?.library()).unwrap_or_default();
        // SAFETY: by the header.
        let bytes = unsafe { copy_text(&text, name, size) };
        if !needed.is_null() {
            // SAFETY: as above.
            unsafe { needed.write(bytes) };
        }
        Ok(())
    })
}

/// Whether it is the built-in mock: 1 or 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_library_is_mock(library: *const racl_library, is_mock: *mut i32) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        let out = unsafe { Out::new(is_mock, 0, "an answer") }?;
        out.set(i32::from(get(library)?.is_mock()));
        Ok(())
    })
}

/// How many devices there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_library_device_count(library: *const racl_library, count: *mut u32) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        let out = unsafe { Out::new(count, 0, "a count") }?;
        out.set(get(library)?.device_count()?);
        Ok(())
    })
}

/// Gives the handle back. The library stays initialised.
#[unsafe(no_mangle)]
pub extern "C" fn racl_library_free(library: *mut racl_library) -> i32 {
    guard(|| free(library))
}

/// Ends the initialisation, and resets devices that were kept open. RACL_INVALID_ARGUMENT while contexts or other
/// handles use it; the handle stays then, as it does when the library refuses.
#[unsafe(no_mangle)]
pub extern "C" fn racl_library_close(library: *mut racl_library) -> i32 {
    guard(|| end(library, |acl| acl.close().map_err(|refused| Kept::of(refused, |acl| acl))))
}
