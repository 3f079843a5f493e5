//! Control of the built-in mock, for tests of programs. Builds without it have the functions too, which say so.

use std::ffi::c_char;

use crate::arguments::{Out, Sized_, fill, text};
use crate::failure::guard;
use crate::objects::racl_stream;
use crate::results::answer;

#[cfg(feature = "mock")]
mod of {
    use std::time::Duration;

    use racl::mock;

    use super::racl_mock_live;
    use crate::failure::Result;
    use crate::handles::get;
    use crate::objects::racl_stream;

    pub(super) fn hold(stream: *const racl_stream) -> Result<()> {
        Ok(mock::hold(&get(stream)?.value)?)
    }

    pub(super) fn release(stream: *const racl_stream) -> Result<()> {
        Ok(mock::release(&get(stream)?.value)?)
    }

    pub(super) fn stand_still(on: bool) -> Result<i32> {
        Ok(i32::from(mock::stand_still(on)))
    }

    pub(super) fn run_until_idle() -> Result<u64> {
        Ok(mock::run_until_idle())
    }

    pub(super) fn now() -> Result<u64> {
        Ok(u64::try_from(mock::now().as_nanos()).unwrap_or(u64::MAX))
    }

    pub(super) fn advance(nanoseconds: u64) -> Result<()> {
        mock::advance(Duration::from_nanos(nanoseconds));
        Ok(())
    }

    pub(super) fn calls(function: &str) -> Result<u64> {
        Ok(mock::calls(function))
    }

    pub(super) fn fail(function: &str, nth: u64, code: i32) -> Result<()> {
        Ok(mock::fail(function, nth, code)?)
    }

    pub(super) fn fail_task(function: &str, nth: u64, code: i32) -> Result<()> {
        Ok(mock::fail_task(function, nth, code)?)
    }

    pub(super) fn clear_failures() -> Result<()> {
        mock::clear_failures();
        Ok(())
    }

    pub(super) fn live() -> Result<racl_mock_live> {
        let all = mock::live_handles();
        Ok(racl_mock_live {
            size: 0,
            contexts: all.contexts,
            streams: all.streams,
            events: all.events,
            graphs: all.graphs,
            device_bytes: all.device_bytes,
            pinned_bytes: all.pinned_bytes,
            executors: all.executors,
        })
    }

    pub(super) fn prefetched() -> Result<(u64, u64)> {
        Ok(mock::prefetched())
    }

    pub(super) fn reset() -> Result<()> {
        Ok(mock::reset()?)
    }
}

#[cfg(not(feature = "mock"))]
mod of {
    use super::racl_mock_live;
    use crate::failure::{Failure, Result};
    use crate::objects::racl_stream;
    use crate::status;

    fn off<T>() -> Result<T> {
        Err(Failure::own(status::RACL_NOT_SUPPORTED, "the mock was not compiled in"))
    }

    pub(super) fn hold(_: *const racl_stream) -> Result<()> {
        off()
    }

    pub(super) fn release(_: *const racl_stream) -> Result<()> {
        off()
    }

    pub(super) fn stand_still(_: bool) -> Result<i32> {
        off()
    }

    pub(super) fn run_until_idle() -> Result<u64> {
        off()
    }

    pub(super) fn now() -> Result<u64> {
        off()
    }

    pub(super) fn advance(_: u64) -> Result<()> {
        off()
    }

    pub(super) fn calls(_: &str) -> Result<u64> {
        off()
    }

    pub(super) fn fail(_: &str, _: u64, _: i32) -> Result<()> {
        off()
    }

    pub(super) fn fail_task(_: &str, _: u64, _: i32) -> Result<()> {
        off()
    }

    pub(super) fn clear_failures() -> Result<()> {
        off()
    }

    pub(super) fn live() -> Result<racl_mock_live> {
        off()
    }

    pub(super) fn prefetched() -> Result<(u64, u64)> {
        off()
    }

    pub(super) fn reset() -> Result<()> {
        off()
    }
}

/// Lets nothing of the stream run until racl_mock_release(). As all racl_mock_... functions it is for tests, acts on
/// the mock of the process, and gives RACL_NOT_SUPPORTED in a build without the mock.
#[unsafe(no_mangle)]
pub extern "C" fn racl_mock_hold(stream: *const racl_stream) -> i32 {
    guard(|| of::hold(stream))
}

/// Lets the stream run again.
#[unsafe(no_mangle)]
pub extern "C" fn racl_mock_release(stream: *const racl_stream) -> i32 {
    guard(|| of::release(stream))
}

/// Whether queued work waits until somebody waits or asks for it (1), or also runs by itself (0). `former`, which is
/// what it was, must not be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_stand_still(on: i32, former: *mut i32) -> i32 {
    // SAFETY: by the header.
    unsafe { answer(former, "an answer", || of::stand_still(on != 0)) }
}

/// Runs what can run, and gives how many tasks that were.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_run(tasks: *mut u64) -> i32 {
    // SAFETY: by the header.
    unsafe { answer(tasks, "a count", of::run_until_idle) }
}

/// The virtual clock, in nanoseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_now(nanoseconds: *mut u64) -> i32 {
    // SAFETY: by the header.
    unsafe { answer(nanoseconds, "a time", of::now) }
}

/// Puts the clock forward: waits with limits see the time as gone.
#[unsafe(no_mangle)]
pub extern "C" fn racl_mock_advance(nanoseconds: u64) -> i32 {
    guard(|| of::advance(nanoseconds))
}

/// How often a function of AscendCL was called since the last reset.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_calls(function: *const c_char, count: *mut u64) -> i32 {
    // SAFETY: by the header.
    let work = || of::calls(unsafe { text(function, "the name of a function") }?);
    // SAFETY: by the header.
    unsafe { answer(count, "a count", work) }
}

/// Lets the `nth` call from now on, counted from 1, of a function of AscendCL give `code`, without doing anything.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_fail(function: *const c_char, nth: u64, code: i32) -> i32 {
    // SAFETY: by the header.
    guard(|| of::fail(unsafe { text(function, "the name of a function") }?, nth, code))
}

/// Lets the `nth` task from now on that a function of AscendCL queues fail with `code` when it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_fail_task(function: *const c_char, nth: u64, code: i32) -> i32 {
    // SAFETY: by the header.
    guard(|| of::fail_task(unsafe { text(function, "the name of a function") }?, nth, code))
}

/// Takes back all failures that have not come yet.
#[unsafe(no_mangle)]
pub extern "C" fn racl_mock_clear_failures() -> i32 {
    guard(of::clear_failures)
}

/// What is alive in the mock.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_mock_live {
    /// sizeof(racl_mock_live).
    pub size: usize,
    /// Contexts.
    pub contexts: u64,
    /// Streams.
    pub streams: u64,
    /// Events.
    pub events: u64,
    /// Captured graphs.
    pub graphs: u64,
    /// Bytes of device memory.
    pub device_bytes: u64,
    /// Bytes of pinned memory.
    pub pinned_bytes: u64,
    /// Executors of operators.
    pub executors: u64,
}

// SAFETY: integers alone, the first of them a size.
unsafe impl Sized_ for racl_mock_live {
    const WHAT: &'static str = "racl_mock_live";
    const ZERO: Self = Self {
        size: 0,
        contexts: 0,
        streams: 0,
        events: 0,
        graphs: 0,
        device_bytes: 0,
        pinned_bytes: 0,
        executors: 0,
    };
}

/// What is alive. Set `size` of the struct first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_count(live: *mut racl_mock_live) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        unsafe { fill(live, racl_mock_live::ZERO) }?;
        let value = of::live()?;
        // SAFETY: by the header.
        unsafe { fill(live, value) }
    })
}

/// How many prefetches ran, and how many bytes they named.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_prefetched(tasks: *mut u64, bytes: *mut u64) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        let tasks = unsafe { Out::new(tasks, 0, "a count") };
        // SAFETY: by the header.
        let bytes = unsafe { Out::new(bytes, 0, "a size") };
        let (to_tasks, to_bytes) = (tasks?, bytes?);
        let (tasks, bytes) = of::prefetched()?;
        to_tasks.set(tasks);
        to_bytes.set(bytes);
        Ok(())
    })
}

/// Puts the mock back to its start. Handles from before are refused by it; free them.
#[unsafe(no_mangle)]
pub extern "C" fn racl_mock_reset() -> i32 {
    guard(of::reset)
}
