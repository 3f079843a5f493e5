//! Calls and tasks that fail on purpose.

use std::ffi::CString;

use acl_sys::mock as sys;

use super::{check, name_of};
use crate::error::{Error, Result};

/// The name of the function that is to fail, where the rest can be.
fn failing(function: &str, nth: u64, code: i32) -> Result<CString> {
    if nth == 0 {
        return Err(Error::invalid(format!("number 0 of {function}: the next one is number 1")));
    }
    if code == 0 {
        return Err(Error::invalid(format!("{function} fails with code 0, which is success")));
    }
    if acl_sys::symbol_info(function).is_none() {
        return Err(Error::invalid(format!("{function:?} is no function of AscendCL")));
    }
    name_of(function)
}

/// Lets the `nth` call of `function` from now on (1 is the next) do nothing and return `code`. Failures of several
/// calls may be pending at once.
///
/// # Errors
///
/// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for an unknown name, call 0 or code 0.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::{ErrorKind, mock};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// mock::fail("aclrtCreateStreamWithConfig", 2, 207_008)?;
/// let first = device.stream()?;
/// assert_eq!(device.stream().unwrap_err().kind(), ErrorKind::NoStreams);
/// let third = device.stream()?;
/// # Ok::<(), racl::Error>(())
/// ```
pub fn fail(function: &str, nth: u64, code: i32) -> Result<()> {
    let name = failing(function, nth, code)?;
    // SAFETY: a NUL-terminated string that outlives the call.
    check(&format!("a failure of {function}"), unsafe { sys::mock_acl_fail(name.as_ptr(), nth, code) })
}

/// Lets the `nth` task that `function` queues from now on (1 is the next) fail on the device with `code`; a captured
/// one fails in every replay. The call itself succeeds.
///
/// # Errors
///
/// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for an unknown name, task 0 or code 0.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::{ErrorKind, mock};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let mut buffer = device.alloc::<u8>(4)?;
/// mock::fail_task("aclrtMemsetAsync", 1, 507_015)?;
/// stream.fill_bytes(&mut buffer, 1)?; // only queued
/// assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::DeviceFault);
/// # Ok::<(), racl::Error>(())
/// ```
pub fn fail_task(function: &str, nth: u64, code: i32) -> Result<()> {
    let name = failing(function, nth, code)?;
    // SAFETY: a NUL-terminated string that outlives the call.
    check(&format!("a failing task of {function}"), unsafe { sys::mock_acl_fail_task(name.as_ptr(), nth, code) })
}

/// Forgets every failure that has not happened yet, of calls and of tasks.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// mock::fail("aclrtMalloc", 1, 207_001)?;
/// mock::clear_failures();
/// device.alloc::<u8>(4)?;
/// # Ok::<(), racl::Error>(())
/// ```
pub fn clear_failures() {
    // SAFETY: takes nothing.
    unsafe { sys::mock_acl_clear_failures() }
}
