//! Control of the built-in mock, for tests of programs. Builds without it have the functions too, which say so.

use std::ffi::{c_char, c_void};

use crate::arguments::{Out, Sized_, fill, text, whether};
use crate::cancel::Uncancelled;
use crate::failure::guard;
use crate::objects::{racl_errors, racl_stream};
use crate::results::{answer, make};

#[cfg(feature = "mock")]
#[path = "mock/on.rs"]
mod of;

#[cfg(not(feature = "mock"))]
mod of {
    use super::{racl_mock_call, racl_mock_launch, racl_mock_live};
    use crate::errors::Entry;
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

    pub(super) fn release_all() -> Result<()> {
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

    pub(super) fn limit_streams(_: u32) -> Result<()> {
        off()
    }

    pub(super) fn limit_events(_: u32) -> Result<()> {
        off()
    }

    pub(super) fn set_l2_cache(_: u64) -> Result<()> {
        off()
    }

    pub(super) fn check_races(_: i32) -> Result<i32> {
        off()
    }

    pub(super) fn races() -> Result<Vec<Entry>> {
        off()
    }

    pub(super) fn log_launches(_: bool) -> Result<()> {
        off()
    }

    pub(super) fn launch_count() -> Result<u64> {
        off()
    }

    pub(super) fn log_calls(_: bool) -> Result<()> {
        off()
    }

    pub(super) fn call_count() -> Result<u64> {
        off()
    }

    pub(super) fn call(_: u64) -> Result<racl_mock_call> {
        off()
    }

    pub(super) fn launch(_: u64) -> Result<racl_mock_launch> {
        off()
    }
}

/// Lets nothing of the stream run until racl_mock_release(). As all racl_mock_... functions it is for tests, acts on
/// the mock of the process, and gives RACL_NOT_SUPPORTED in a build without the mock. RACL_INVALID_ARGUMENT for a stream of
/// another library.
#[unsafe(no_mangle)]
pub extern "C" fn racl_mock_hold(stream: *const racl_stream) -> i32 {
    guard(|| of::hold(stream))
}

/// Lets the stream run again.
#[unsafe(no_mangle)]
pub extern "C" fn racl_mock_release(stream: *const racl_stream) -> i32 {
    guard(|| of::release(stream))
}

/// Lets all streams run again, also one that was freed before its work was done, which keeps its context open until it
/// is.
#[unsafe(no_mangle)]
pub extern "C" fn racl_mock_release_all() -> i32 {
    guard(of::release_all)
}

/// Whether queued work waits until somebody waits or asks for it (1), or also runs by itself (0). `former`, which is
/// what it was, must not be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_stand_still(on: i32, former: *mut i32) -> i32 {
    // SAFETY: by the header.
    unsafe { answer(former, "an answer", || of::stand_still(whether(on, "queued work stands still")?)) }
}

/// Runs what can run, and gives how many tasks that were.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_run(tasks: *mut u64) -> i32 {
    let _uncancelled = Uncancelled::new();
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

/// How often a function of AscendCL was called since the last reset. RACL_INVALID_ARGUMENT for a name of none.
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

/// Lets the process have at most so many streams, default streams and those inside graphs included; 0 for the number of the
/// start, as after a reset. RACL_NO_STREAMS for those beyond it.
#[unsafe(no_mangle)]
pub extern "C" fn racl_mock_limit_streams(count: u32) -> i32 {
    guard(|| of::limit_streams(count))
}

/// Lets the process have at most so many records of events under way; 0 for the number of the start, as after a reset.
#[unsafe(no_mangle)]
pub extern "C" fn racl_mock_limit_events(count: u32) -> i32 {
    guard(|| of::limit_events(count))
}

/// Lets the devices tell of an L2 cache of so many bytes; 0 for those of the start, as after a reset.
#[unsafe(no_mangle)]
pub extern "C" fn racl_mock_set_l2_cache(bytes: u64) -> i32 {
    guard(|| of::set_l2_cache(bytes))
}

/// Nothing is looked for.
pub const RACL_MOCK_RACES_OFF: i32 = 0;
/// Each pair is said once on standard error, and kept for racl_mock_races().
pub const RACL_MOCK_RACES_REPORT: i32 = 1;
/// The same, and the later task of the pair fails.
pub const RACL_MOCK_RACES_FAIL: i32 = 2;

/// Whether the mock looks for accesses to memory that nothing orders, RACL_MOCK_RACES_...: of tasks on different streams,
/// or of a task and a call of the host. What was found before is forgotten, and what is queued already not looked at.
/// `former`, which is what it was, must not be NULL. Where racl_context_set_tracking() is on there is nothing to find.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_check_races(mode: i32, former: *mut i32) -> i32 {
    // SAFETY: by the header.
    unsafe { answer(former, "an answer", || of::check_races(mode)) }
}

/// The pairs that were found, in the order in which they were met: RACL_OK for the status of each, and for the message who
/// does what, with which memory, and what would order the two.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_races(races: *mut *mut racl_errors) -> i32 {
    // SAFETY: by the header.
    unsafe { make(races, of::races) }
}

/// Begins a log of the operators that run (1), or ends it (0). Either empties it.
#[unsafe(no_mangle)]
pub extern "C" fn racl_mock_log_launches(on: i32) -> i32 {
    guard(|| of::log_launches(whether(on, "there is a log of operators")?))
}

/// How many ran since racl_mock_log_launches(), those in graphs once for each launch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_launch_count(count: *mut u64) -> i32 {
    // SAFETY: by the header.
    unsafe { answer(count, "a count", of::launch_count) }
}

/// An operator that ran.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_mock_launch {
    /// sizeof(racl_mock_launch).
    pub size: usize,
    /// Its C name, which stays.
    pub function: *const c_char,
    /// The limit of matrix cores that it was launched or captured with.
    pub cube_cores: u32,
    /// That of vector cores.
    pub vector_cores: u32,
    /// The number of the graph that it ran in, 0 for none.
    pub graph: u32,
    /// The number of the stream that it ran on; in a graph that of the launch.
    pub stream: i32,
}

// SAFETY: integers and a pointer alone, the first of them a size.
unsafe impl Sized_ for racl_mock_launch {
    const WHAT: &'static str = "racl_mock_launch";
    const ZERO: Self =
        Self { size: 0, function: std::ptr::null(), cube_cores: 0, vector_cores: 0, graph: 0, stream: 0 };
}

/// One of those that ran, counted from 0 in the order in which they started. Set `size` of the struct first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_launch_get(index: u64, launch: *mut racl_mock_launch) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        unsafe { fill(launch, racl_mock_launch::ZERO) }?;
        let value = of::launch(index)?;
        // SAFETY: by the header.
        unsafe { fill(launch, value) }
    })
}

/// Begins a log of the calls of AscendCL by all threads (1), or ends it (0). Either empties it.
#[unsafe(no_mangle)]
pub extern "C" fn racl_mock_log_calls(on: i32) -> i32 {
    guard(|| of::log_calls(whether(on, "there is a log of calls")?))
}

/// How many calls there were since racl_mock_log_calls(); racl_mock_calls() counts those of one function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_call_count(count: *mut u64) -> i32 {
    // SAFETY: by the header.
    unsafe { answer(count, "a count", of::call_count) }
}

/// How many of the values that a call was given are kept.
pub const RACL_MOCK_CALL_GIVEN: usize = 8;

/// A call of AscendCL.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_mock_call {
    /// sizeof(racl_mock_call).
    pub size: usize,
    /// The C name of the function, which stays.
    pub function: *const c_char,
    /// A number that only calls of the same thread have.
    pub thread: u64,
    /// The code of racl_mock_fail() that it gave, 0 for none.
    pub injected: i32,
    /// How many of `given` there are.
    pub given_count: u32,
    /// The streams, events, graphs and their like that it was given, and addresses of device and pinned memory, as
    /// AscendCL knows them and in the order of its parameters; of the first phase of an operator those of its operands.
    pub given: [*const c_void; RACL_MOCK_CALL_GIVEN],
    /// What it made, NULL for nothing.
    pub gave: *const c_void,
}

// SAFETY: integers and pointers alone, the first of them a size.
unsafe impl Sized_ for racl_mock_call {
    const WHAT: &'static str = "racl_mock_call";
    const ZERO: Self = Self {
        size: 0,
        function: std::ptr::null(),
        thread: 0,
        injected: 0,
        given_count: 0,
        given: [std::ptr::null(); RACL_MOCK_CALL_GIVEN],
        gave: std::ptr::null(),
    };
}

/// One of the calls, counted from 0 in the order in which they began. Set `size` of the struct first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_mock_call_get(index: u64, call: *mut racl_mock_call) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        unsafe { fill(call, racl_mock_call::ZERO) }?;
        let value = of::call(index)?;
        // SAFETY: by the header.
        unsafe { fill(call, value) }
    })
}

/// Puts the mock back to its start. Handles from before are refused by it; free them.
#[unsafe(no_mangle)]
pub extern "C" fn racl_mock_reset() -> i32 {
    guard(of::reset)
}
