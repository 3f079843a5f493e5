//! Control of the built-in mock: gates, the virtual clock, counters and failures, for tests.
//!
//! The mock is one state per process. Tests that reset it, count calls or let calls fail do not run beside others in
//! the same process; [`exclusive`] is a lock for that.
//!
//! # Examples
//!
//! ```
//! use racl::mock;
//!
//! let acl = racl::Acl::mock()?;
//! let stream = acl.device(0)?.stream()?;
//! mock::hold(&stream)?;
//! stream.host_function(|| println!("runs after the release"))?;
//! assert!(!stream.is_complete()?);
//! mock::release(&stream)?;
//! stream.synchronize()?;
//! # Ok::<(), racl::Error>(())
//! ```

use std::ffi::CString;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use acl_sys::mock as sys;

use crate::error::{Error, ErrorKind, Result};
use crate::stream::Stream;

static EXCLUSIVE: Mutex<()> = Mutex::new(());

/// A lock for tests that change the state of the mock: one at a time in this process.
pub fn exclusive() -> MutexGuard<'static, ()> {
    EXCLUSIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn check(what: &str, code: i32) -> Result<()> {
    match code {
        0 => Ok(()),
        -2 => Err(Error::new(ErrorKind::GraphRunning, format!("{what}: a thread is waiting inside the mock"))),
        code => Err(Error::invalid(format!("{what} is refused by the mock ({code})"))),
    }
}

fn name_of(function: &str) -> Result<CString> {
    CString::new(function)
        .map_err(|error| Error::invalid(format!("a name with a zero byte: {function:?}")).with_source(error))
}

/// A fresh process state. Every handle from before is stale afterwards, and using it an error.
///
/// # Errors
///
/// [`ErrorKind::GraphRunning`] while another thread waits inside the mock.
pub fn reset() -> Result<()> {
    // SAFETY: takes nothing; handles from before are refused by their generation.
    let code = unsafe { sys::mock_acl_reset() };
    crate::call::forget_binding();
    check("a reset", code)
}

/// Closes the gate of `stream`: work queued on it does not start.
///
/// # Errors
///
/// [`ErrorKind::InvalidArgument`] for a stream that is not the mock's.
pub fn hold(stream: &Stream) -> Result<()> {
    // SAFETY: any handle is checked by the mock.
    check("holding the stream", unsafe { sys::mock_acl_hold_stream(stream.as_raw()) })
}

/// Opens the gate of `stream`.
///
/// # Errors
///
/// [`ErrorKind::InvalidArgument`] for a stream that is not the mock's.
pub fn release(stream: &Stream) -> Result<()> {
    // SAFETY: any handle is checked by the mock.
    check("releasing the stream", unsafe { sys::mock_acl_release_stream(stream.as_raw()) })
}

/// Runs everything that can run, on this thread; gives the number of tasks.
pub fn run_until_idle() -> u64 {
    // SAFETY: takes nothing.
    unsafe { sys::mock_acl_run_until_idle() }
}

/// The virtual clock of the device.
pub fn now() -> Duration {
    // SAFETY: takes nothing.
    Duration::from_nanos(unsafe { sys::mock_acl_now_ns() })
}

/// Moves the virtual clock on.
pub fn advance(by: Duration) {
    // SAFETY: takes a number.
    unsafe { sys::mock_acl_advance_ns(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX)) }
}

/// How often the C function was called since the last reset; 0 for a name that the mock does not have.
#[must_use]
pub fn calls(function: &str) -> u64 {
    let Ok(name) = name_of(function) else { return 0 };
    // SAFETY: a NUL-terminated string that outlives the call.
    unsafe { sys::mock_acl_calls(name.as_ptr()) }
}

/// Objects that are alive in the mock; default streams and contexts are not counted.
#[must_use]
pub fn live_handles() -> LiveHandles {
    let zero = LiveHandles {
        struct_size: size_of::<LiveHandles>(),
        contexts: 0,
        streams: 0,
        events: 0,
        graphs: 0,
        device_allocations: 0,
        device_bytes: 0,
        pinned_allocations: 0,
        pinned_bytes: 0,
        tensors: 0,
        scalars: 0,
        arrays: 0,
        lists: 0,
        executors: 0,
    };
    let mut live = zero;
    // SAFETY: `live` is such a structure with its size set.
    let code = unsafe { sys::mock_acl_live_handles(&raw mut live) };
    if code == 0 { live } else { zero }
}

/// Counts of live objects.
pub use acl_sys::mock::mock_acl_live as LiveHandles;

/// Lets the `nth` call of `function` from now on (1 is the next) do nothing and return `code`.
///
/// # Errors
///
/// [`ErrorKind::InvalidArgument`] for an unknown name, call 0 or code 0.
pub fn fail(function: &str, nth: u64, code: i32) -> Result<()> {
    let name = name_of(function)?;
    // SAFETY: a NUL-terminated string that outlives the call.
    check("this failure", unsafe { sys::mock_acl_fail(name.as_ptr(), nth, code) })
}

/// Lets the `nth` task that `function` queues from now on fail on the device with `code`.
///
/// # Errors
///
/// [`ErrorKind::InvalidArgument`] for an unknown name, task 0 or code 0.
pub fn fail_task(function: &str, nth: u64, code: i32) -> Result<()> {
    let name = name_of(function)?;
    // SAFETY: a NUL-terminated string that outlives the call.
    check("this failure", unsafe { sys::mock_acl_fail_task(name.as_ptr(), nth, code) })
}

/// Forgets every failure that has not happened yet.
pub fn clear_failures() {
    // SAFETY: takes nothing.
    unsafe { sys::mock_acl_clear_failures() }
}

/// Cache maintenance that streams have executed since the last reset: tasks and bytes.
#[must_use]
pub fn prefetched() -> (u64, u64) {
    let mut totals =
        sys::mock_acl_cmo_totals { struct_size: size_of::<sys::mock_acl_cmo_totals>(), tasks: 0, bytes: 0 };
    // SAFETY: `totals` is such a structure with its size set.
    let code = unsafe { sys::mock_acl_cmo(&raw mut totals) };
    if code == 0 { (totals.tasks, totals.bytes) } else { (0, 0) }
}
