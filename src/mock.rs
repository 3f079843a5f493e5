//! Control of the built-in mock: gates, the virtual clock, counters and failures, for tests.
//!
//! The mock is one state per process. Tests that reset it, count calls or let calls fail do not run beside others in
//! the same process; [`exclusive`] is a lock for that.
//!
//! Work runs when somebody waits or asks for it, on the thread that waits, else after a moment by itself, on a worker
//! of the mock; [`stand_still`] turns the latter off. Any thread may call these functions.
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

mod call_log;
mod failures;
mod launches;
mod memory_errors;
mod model;
mod older;
mod races;

pub use call_log::{Call, call_at, call_count, log_calls, logged_calls};
pub use failures::{clear_failures, fail, fail_task};
pub use launches::{Launch, launch_at, launch_count, launches, log_launches};
pub use memory_errors::set_memory_errors;
pub use model::ModelFile;
pub use older::{older_graphs, older_host_functions, older_launches};
pub use races::{Race, RaceAccess, RaceCheck, check_races, races};

static EXCLUSIVE: Mutex<()> = Mutex::new(());

/// A lock for tests that change the state of the mock: one at a time in this process. Blocks until it is free; held
/// until the guard is dropped. A test that panicked does not spoil it.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
///
/// let _alone = mock::exclusive();
/// mock::reset()?;
/// let acl = racl::Acl::mock()?;
/// assert_eq!(mock::calls("aclInit"), 1);
/// # Ok::<(), racl::Error>(())
/// ```
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

/// Another library may have a stream of the same handle.
fn check_own(stream: &Stream) -> Result<()> {
    let context = stream.context();
    if context.acl().is_mock() {
        return Ok(());
    }
    Err(Error::invalid(format!("{} is of {}, and not of the built-in mock", stream.name(), context.acl().library())))
}

fn name_of(function: &str) -> Result<CString> {
    CString::new(function)
        .map_err(|error| Error::invalid(format!("a name with a zero byte: {function:?}")).with_source(error))
}

/// A fresh process state: ends captures, drops queued work, and clears counters, failures and the clock. Every value
/// of this crate from before is stale afterwards, and using it an error, so drop them first. Pinned and managed
/// buffers from before stay readable memory of their own; device addresses are given out again.
///
/// # Errors
///
/// [`ErrorKind::GraphRunning`] while another thread waits inside the mock, or from a host function.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// stream.synchronize()?;
/// assert_eq!(mock::calls("aclrtSynchronizeStream"), 1);
/// drop((stream, device, acl));
/// mock::reset()?;
/// assert_eq!(mock::calls("aclrtSynchronizeStream"), 0);
/// # Ok::<(), racl::Error>(())
/// ```
pub fn reset() -> Result<()> {
    // SAFETY: takes nothing; handles from before are refused by their generation.
    let code = unsafe { sys::mock_acl_reset() };
    crate::call::forget_binding();
    let tables = crate::acl::forget_mock();
    crate::context::primary::forget(&tables);
    crate::failures::forget(&tables);
    crate::profiling::forget(&tables);
    crate::snapshot::forget(&tables);
    check("a reset", code)
}

/// Closes the gate of `stream`: work queued on it does not start, until [`release`]. A task that runs already ends.
///
/// # Errors
///
/// [`ErrorKind::InvalidArgument`] for a stream that is not the mock's, or was destroyed beside this crate.
///
/// # Examples
///
/// ```standalone_crate
/// use std::time::Duration;
///
/// use racl::{ErrorKind, mock};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let mut buffer = device.upload(&[1_u8])?;
/// mock::hold(&stream)?;
/// stream.fill_bytes(&mut buffer, 2)?;
/// assert!(!stream.is_complete()?);
/// let late = stream.synchronize_timeout(Duration::from_secs(1)).unwrap_err(); // a second of the virtual clock
/// assert_eq!(late.kind(), ErrorKind::Timeout);
/// mock::release(&stream)?;
/// assert_eq!(buffer.to_vec()?, [2]);
/// # Ok::<(), racl::Error>(())
/// ```
pub fn hold(stream: &Stream) -> Result<()> {
    check_own(stream)?;
    // SAFETY: any handle is checked by the mock.
    check("holding the stream", unsafe { sys::mock_acl_hold_stream(stream.as_raw()) })
}

/// Opens the gate of `stream`: its work runs as soon as somebody waits or asks for it. [`hold`] shows it.
///
/// # Errors
///
/// As [`hold`].
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// mock::release(&stream)?; // an open gate stays open
/// stream.synchronize()?;
/// # Ok::<(), racl::Error>(())
/// ```
pub fn release(stream: &Stream) -> Result<()> {
    check_own(stream)?;
    // SAFETY: any handle is checked by the mock.
    check("releasing the stream", unsafe { sys::mock_acl_release_stream(stream.as_raw()) })
}

/// As [`release`], for all streams of the mock: also those that nobody has any more, as one whose work was not done when it
/// was dropped. They are destroyed then, and what they keep open closes.
///
/// # Examples
///
/// ```standalone_crate
/// use std::time::Duration;
///
/// use racl::mock;
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let mut context = device.context().create_context()?;
/// let stream = context.stream()?;
/// mock::hold(&stream)?;
/// stream.host_function(|| ())?;
/// racl::set_drop_limit(Duration::from_millis(1));
/// drop(stream); // its work is not done: it stays, and so does the context
/// context = context.close().unwrap_err().into_value();
/// mock::release_all();
/// while let Err(refused) = context.close() {
///     context = refused.into_value(); // a thread of this crate destroys the stream
/// }
/// # Ok::<(), racl::Error>(())
/// ```
pub fn release_all() {
    // SAFETY: takes a number; this one stands for all streams, and is not refused.
    unsafe { sys::mock_acl_release_stream_id(-1) };
}

/// Keeps queued work where it is until somebody waits or asks for it, so that a test sees a queue as it left it;
/// `false` lets work start by itself again, about a millisecond after it was queued. Gives what was set before. It is
/// one setting for the process, and stays over a [`reset`]; MOCK_ACL_WORKERS=0 sets it from outside.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
///
/// assert!(!mock::stand_still(true));
/// let acl = racl::Acl::mock()?;
/// let stream = acl.device(0)?.stream()?;
/// stream.host_function(|| println!("runs when somebody waits"))?;
/// std::thread::yield_now();
/// assert_eq!(mock::run_until_idle(), 1);
/// assert!(mock::stand_still(false));
/// # Ok::<(), racl::Error>(())
/// ```
pub fn stand_still(on: bool) -> bool {
    // SAFETY: takes a number.
    unsafe { sys::mock_acl_stand_still(i32::from(on)) != 0 }
}

/// Runs everything that can run on any stream, on this thread, and waits for what other threads are running, such as
/// one that a poll has woken; gives the number of tasks, those inside graphs included. Held streams stay as they are.
/// Gives 0 inside a host function.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
///
/// mock::stand_still(true);
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let mut buffer = device.alloc::<u8>(4)?;
/// stream.fill_bytes(&mut buffer, 1)?;
/// stream.fill_bytes(&mut buffer, 2)?;
/// assert_eq!(mock::run_until_idle(), 2);
/// assert_eq!(mock::run_until_idle(), 0);
/// # Ok::<(), racl::Error>(())
/// ```
pub fn run_until_idle() -> u64 {
    // SAFETY: takes nothing.
    unsafe { sys::mock_acl_run_until_idle() }
}

/// How many calls wait just now for room in the queue of a stream: for tests of what the program does meanwhile, which
/// begin once the queue is full.
///
/// # Examples
///
/// ```standalone_crate
/// use std::thread;
///
/// use racl::mock;
///
/// let stream = racl::Acl::mock()?.device(0)?.stream()?;
/// mock::hold(&stream)?;
/// thread::scope(|scope| {
///     scope.spawn(|| (0..3000).for_each(|_| stream.host_function(|| ()).unwrap()));
///     while mock::waiting_for_room() == 0 {
///         thread::yield_now();
///     }
///     mock::release(&stream)
/// })?;
/// stream.synchronize()?;
/// # Ok::<(), racl::Error>(())
/// ```
#[must_use]
pub fn waiting_for_room() -> u32 {
    // SAFETY: takes nothing.
    unsafe { sys::mock_acl_waiting_for_room() }
}

/// The virtual clock of the device, from 0 at the last reset. Each task takes 1 µs of it; a wait with a time limit
/// that nothing can end moves it to the limit.
///
/// # Examples
///
/// ```standalone_crate
/// use std::time::Duration;
///
/// use racl::mock;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let mut buffer = device.alloc::<u8>(4)?;
/// let start = mock::now();
/// stream.fill_bytes(&mut buffer, 1)?;
/// stream.synchronize()?;
/// assert_eq!(mock::now() - start, Duration::from_micros(1));
/// # Ok::<(), racl::Error>(())
/// ```
pub fn now() -> Duration {
    // SAFETY: takes nothing.
    Duration::from_nanos(unsafe { sys::mock_acl_now_ns() })
}

/// Moves the virtual clock on, in nanoseconds; what [timing events](crate::TimingEvent) measure moves
/// along. It stops after 292 years.
///
/// # Examples
///
/// ```standalone_crate
/// use std::time::Duration;
///
/// use racl::mock;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let start = mock::now();
/// mock::advance(Duration::from_millis(5));
/// assert_eq!(mock::now() - start, Duration::from_millis(5));
/// # Ok::<(), racl::Error>(())
/// ```
pub fn advance(by: Duration) {
    // SAFETY: takes a number.
    unsafe { sys::mock_acl_advance_ns(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX)) }
}

/// How often the C function was called since the last reset; 0 for a name that the mock does not have.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let before = mock::calls("aclrtMalloc");
/// device.alloc::<u8>(4)?;
/// assert_eq!(mock::calls("aclrtMalloc") - before, 1);
/// # Ok::<(), racl::Error>(())
/// ```
#[must_use]
pub fn calls(function: &str) -> u64 {
    let Ok(name) = name_of(function) else { return 0 };
    // SAFETY: a NUL-terminated string that outlives the call.
    unsafe { sys::mock_acl_calls(name.as_ptr()) }
}

/// Objects that are alive in the mock, on all devices; default streams and contexts are not counted.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// device.context().set_allocator(racl::Allocator::Direct); // the pool takes larger pieces, and keeps them
/// let stream = device.stream()?;
/// let buffer = device.alloc::<u8>(100)?;
/// let live = mock::live_handles();
/// assert_eq!((live.streams, live.device_allocations, live.device_bytes), (1, 1, 100));
/// drop((buffer, stream));
/// let live = mock::live_handles();
/// assert_eq!((live.streams, live.device_allocations), (0, 0));
/// # Ok::<(), racl::Error>(())
/// ```
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
        binaries: 0,
        buffers: 0,
        library_objects: 0,
        stream_configs: 0,
    };
    let mut live = zero;
    // SAFETY: `live` is such a structure with its size set.
    let code = unsafe { sys::mock_acl_live_handles(&raw mut live) };
    if code == 0 { live } else { zero }
}

/// Counts of live objects, given by [`live_handles`].
pub use acl_sys::mock::mock_acl_live as LiveHandles;

/// Cache maintenance that streams have executed since the last reset: tasks and bytes.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::{Prefetch, mock};
///
/// mock::stand_still(true);
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let weights = device.alloc::<u8>(1000)?;
/// stream.prefetch(&weights, Prefetch::bytes(600))?;
/// assert_eq!(mock::prefetched(), (0, 0)); // only queued
/// stream.synchronize()?;
/// assert_eq!(mock::prefetched(), (1, 600));
/// # Ok::<(), racl::Error>(())
/// ```
#[must_use]
pub fn prefetched() -> (u64, u64) {
    let mut totals =
        sys::mock_acl_cmo_totals { struct_size: size_of::<sys::mock_acl_cmo_totals>(), tasks: 0, bytes: 0 };
    // SAFETY: `totals` is such a structure with its size set.
    let code = unsafe { sys::mock_acl_cmo(&raw mut totals) };
    if code == 0 { (totals.tasks, totals.bytes) } else { (0, 0) }
}

/// Lets the process have at most `count` streams, default streams and those inside captured graphs included; `None`
/// gives the number of the start back, as does [`reset`]. With fewer than are alive no new one is made until enough
/// are gone. The environment variable `MOCK_ACL_STREAMS` sets the number of the start.
///
/// # Errors
///
/// [`ErrorKind::InvalidArgument`] for 0 and above 2,047.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::{ErrorKind, mock};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let (stream, side) = (device.stream()?, device.stream()?);
/// mock::limit_streams(Some(3))?; // those two and the default stream
/// assert_eq!(device.stream().unwrap_err().kind(), ErrorKind::NoStreams);
/// drop(side);
/// device.stream()?;
/// # Ok::<(), racl::Error>(())
/// ```
pub fn limit_streams(count: Option<u32>) -> Result<()> {
    let count = limit("a limit of streams", count)?;
    // SAFETY: takes a number.
    check("this limit of streams", unsafe { sys::mock_acl_limit_streams(count) })
}

/// Lets the process have at most `count` event ids: an event of the older calls has one for its life, an [event of
/// this crate](crate::Event) from each record until the device has executed it. `None` gives the number of the start
/// back, as does [`reset`]; the environment variable `MOCK_ACL_EVENTS` sets it.
///
/// # Errors
///
/// [`ErrorKind::InvalidArgument`] for 0 and above 65,536.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let (stream, event) = (device.stream()?, device.event()?);
/// mock::limit_events(Some(1))?;
/// event.record(&stream)?;
/// event.record(&stream)?; // waits until the first one is executed
/// mock::limit_events(None)?;
/// # Ok::<(), racl::Error>(())
/// ```
pub fn limit_events(count: Option<u32>) -> Result<()> {
    let count = limit("a limit of events", count)?;
    // SAFETY: takes a number.
    check("this limit of events", unsafe { sys::mock_acl_limit_events(count) })
}

/// The number as the C functions take it, which give 0 another meaning.
fn limit(what: &str, count: Option<u32>) -> Result<u32> {
    if count == Some(0) { Err(Error::invalid(format!("{what} must not be 0"))) } else { Ok(count.unwrap_or(0)) }
}

/// Lets the device report an L2 cache of `bytes`; `None` gives the card's 192 MiB back, as does [`reset`].
///
/// # Errors
///
/// [`ErrorKind::InvalidArgument`] for 0 and above 2^63 - 1.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// mock::set_l2_cache_bytes(Some(32 << 20))?;
/// assert_eq!(device.l2_cache_bytes()?, 32 << 20);
/// mock::set_l2_cache_bytes(None)?;
/// assert_eq!(device.l2_cache_bytes()?, 192 << 20);
/// # Ok::<(), racl::Error>(())
/// ```
pub fn set_l2_cache_bytes(bytes: Option<u64>) -> Result<()> {
    if bytes == Some(0) {
        return Err(Error::invalid("an L2 cache must not have 0 bytes"));
    }
    // SAFETY: takes a number.
    check("this size of L2", unsafe { sys::mock_acl_set_l2_bytes(bytes.unwrap_or(0)) })
}
