//! Libraries.

use std::ffi::{OsStr, c_char};

use racl::Acl;

use crate::arguments::{self, Sized_, sized, text};
use crate::cancel::Uncancelled;
use crate::failure::{Failure, Result, guard};
use crate::handles::{Kept, end, free, get};
use crate::objects::racl_library;
use crate::results::{answer, make, tell};

/// The version of this header: major, minor, patch, each two digits.
pub const RACL_VERSION: u32 = 100;

/// The version of the library that the program runs with, to compare with RACL_VERSION.
#[unsafe(no_mangle)]
pub extern "C" fn racl_version() -> u32 {
    RACL_VERSION
}

/// Each call of AscendCL asks first which context is current on its thread, and makes its own current again where other
/// code has changed it. It counts for all libraries of the process from then on.
pub const RACL_LIBRARY_VERIFY_CONTEXT: u32 = 1;

/// How a library is opened.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_library_options {
    /// sizeof(racl_library_options).
    pub size: usize,
    /// RACL_LIBRARY_... put together.
    pub flags: u32,
}

// SAFETY: integers alone, the first of them a size.
unsafe impl Sized_ for racl_library_options {
    const WHAT: &'static str = "racl_library_options";
    const ZERO: Self = Self { size: 0, flags: 0 };
}

/// Opens and initialises an AscendCL library. NULL: what the environment variable RACL_LIBRARY names, else the library
/// of the machine. "mock": the built-in mock, where it was compiled in. Otherwise a file, or a name that the dynamic
/// loader searches, whose initialisers run. The same library may be opened several times.
///
/// racl remembers which context it made current on a thread, and makes no call for that while it stays the same. A
/// program that makes other contexts current beside racl, with aclrtSetCurrentContext or aclrtSetDevice, either calls
/// racl_context_bind() before it calls racl again, or opens the library with RACL_LIBRARY_VERIFY_CONTEXT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_library_open(path: *const c_char, library: *mut *mut racl_library) -> i32 {
    // SAFETY: by the header.
    unsafe { racl_library_open_with(path, std::ptr::null(), library) }
}

/// As racl_library_open(), with options, which may be NULL. RACL_LIBRARY_VERIFY_CONTEXT is for programs that make other
/// contexts current beside racl. It costs a call of aclrtGetCurrentContext for each call that racl makes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_library_open_with(
    path: *const c_char,
    options: *const racl_library_options,
    library: *mut *mut racl_library,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    let work = || {
        // SAFETY: by the header.
        let flags = unsafe { sized(options) }?.map_or(0, |options| options.flags);
        if flags & !RACL_LIBRARY_VERIFY_CONTEXT != 0 {
            return Err(Failure::invalid(format!("unknown flags {flags:#x} of a library")));
        }
        let acl = if path.is_null() {
            Acl::init()?
        } else {
            // SAFETY: by the header.
            named(unsafe { arguments::path(path, "the name of a library") }?)?
        };
        if flags & RACL_LIBRARY_VERIFY_CONTEXT != 0 {
            racl::set_verify_context(true);
        }
        Ok(acl)
    };
    // SAFETY: by the header.
    unsafe { make(library, work) }
}

fn named(path: &OsStr) -> Result<Acl> {
    match path.to_str().unwrap_or("a file") {
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
    let work = || Ok(get(library)?.library().to_owned());
    // SAFETY: by the header.
    unsafe { tell(name, size, needed, work) }
}

/// Whether it is the built-in mock: 1 or 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_library_is_mock(library: *const racl_library, is_mock: *mut i32) -> i32 {
    let work = || Ok(i32::from(get(library)?.is_mock()));
    // SAFETY: by the header.
    unsafe { answer(is_mock, "an answer", work) }
}

/// How many devices there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_library_device_count(library: *const racl_library, count: *mut u32) -> i32 {
    let work = || Ok(get(library)?.device_count()?);
    // SAFETY: by the header.
    unsafe { answer(count, "a count", work) }
}

/// Copies the name of the chip, such as "Ascend910B2", to `name`, as racl_library_name() does; device 0's where devices
/// differ. It is the `soc` of racl_passes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_library_soc_name(
    library: *const racl_library,
    name: *mut c_char,
    size: usize,
    needed: *mut usize,
) -> i32 {
    let work = || Ok(get(library)?.soc_name()?);
    // SAFETY: by the header.
    unsafe { tell(name, size, needed, work) }
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

/// Whether something was compiled into libracl: 1 or 0. `feature` is "cache", "dlopen", "dlpack", "link" or "mock"; the
/// functions of what was not give RACL_NOT_SUPPORTED. RACL_INVALID_ARGUMENT for another name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_has(feature: *const c_char, has: *mut i32) -> i32 {
    let work = || {
        // SAFETY: by the header.
        let has = match unsafe { text(feature, "the name of a feature") }? {
            "cache" => cfg!(feature = "cache"),
            "dlopen" => cfg!(feature = "dlopen"),
            "dlpack" => cfg!(feature = "dlpack"),
            "link" => cfg!(feature = "link"),
            "mock" => cfg!(feature = "mock"),
            other => return Err(Failure::invalid(format!("no feature {other:?}"))),
        };
        Ok(i32::from(has))
    };
    // SAFETY: by the header.
    unsafe { answer(has, "an answer", work) }
}

/// How long racl_..._free() waits for work, in nanoseconds, for the whole process: 10 seconds unless told otherwise.
/// What is not done by then is kept, and destroyed by a thread of its own once it is; racl_context_take_errors() has it
/// then. Whole milliseconds count.
#[unsafe(no_mangle)]
pub extern "C" fn racl_free_limit_set(nanoseconds: u64) -> i32 {
    guard(|| {
        racl::set_drop_limit(std::time::Duration::from_nanos(nanoseconds));
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::RACL_VERSION;

    #[test]
    fn the_version_is_that_of_the_package() {
        let numbers = env!("CARGO_PKG_VERSION").split('.').map(|number| number.parse::<u32>().unwrap());
        assert_eq!(RACL_VERSION, numbers.fold(0, |all, number| all * 100 + number));
    }
}
