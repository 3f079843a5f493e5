//! The mock that is compiled into the program: its table and its control functions.
//!
//! The control functions are those of `mock_acl.h`; they have no counterpart in AscendCL.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::ffi::CString;

use crate::bindings::{aclError, aclrtStream};
use crate::symbols::Library;
use crate::table::{Source, Table};

/// Counts of live objects; see `mock_acl_live` in `mock_acl.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct mock_acl_live {
    /// Size of this structure in bytes, set before the call.
    pub struct_size: usize,
    /// Contexts that the program created.
    pub contexts: u64,
    /// Streams that the program created.
    pub streams: u64,
    /// Events.
    pub events: u64,
    /// Captured graphs and model instances.
    pub graphs: u64,
    /// Device allocations.
    pub device_allocations: u64,
    /// Bytes in them.
    pub device_bytes: u64,
    /// Pinned host allocations.
    pub pinned_allocations: u64,
    /// Bytes in them.
    pub pinned_bytes: u64,
    /// Tensor descriptors.
    pub tensors: u64,
    /// Scalars.
    pub scalars: u64,
    /// Integer, float and bool arrays.
    pub arrays: u64,
    /// Tensor and scalar lists.
    pub lists: u64,
    /// Operator executors.
    pub executors: u64,
    /// Binaries of own kernels.
    pub binaries: u64,
    /// Buffers of queues.
    pub buffers: u64,
    /// Descriptors, datasets, models, channels, queues, stamps, communicators and their like.
    pub library_objects: u64,
    /// Configurations of streams.
    pub stream_configs: u64,
}

/// Cache maintenance that streams have executed; see `mock_acl_cmo_totals` in `mock_acl.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct mock_acl_cmo_totals {
    /// Size of this structure in bytes, set before the call.
    pub struct_size: usize,
    /// Tasks executed.
    pub tasks: u64,
    /// Bytes in them.
    pub bytes: u64,
}

/// A kernel that ran; see `mock_acl_launch` in `mock_acl.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct mock_acl_launch {
    /// Size of this structure in bytes, set before the call.
    pub struct_size: usize,
    /// C name of the operator, a constant.
    pub function: *const c_char,
    /// Limit of cube cores that its launch had.
    pub cube_cores: u32,
    /// Limit of vector cores that its launch had.
    pub vector_cores: u32,
    /// Id of the graph it stands in, 0 for none.
    pub graph_id: u32,
    /// Id of the stream it ran on.
    pub stream_id: i32,
}

/// How many of the values that a call was given the log shows.
pub const MOCK_ACL_CALL_GIVEN: usize = 8;

/// A call of an exported function; see `mock_acl_call` in `mock_acl.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct mock_acl_call {
    /// Size of this structure in bytes, set before the call.
    pub struct_size: usize,
    /// C name of the function, a constant.
    pub function: *const c_char,
    /// Number of the thread that called it.
    pub thread: u64,
    /// Code of the injected failure, 0 for none.
    pub injected: i32,
    /// How many handles and addresses it was given.
    pub given_count: u32,
    /// The first of them.
    pub given: [*const c_void; MOCK_ACL_CALL_GIVEN],
    /// What it made, or null.
    pub gave: *const c_void,
}

/// Two accesses that nothing orders; see `mock_acl_race` in `mock_acl.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct mock_acl_race {
    /// Size of this structure in bytes, set before the call.
    pub struct_size: usize,
    /// C name of the function of the access that was executed first, a constant.
    pub first: *const c_char,
    /// The same of the later one.
    pub second: *const c_char,
    /// Id of the stream of the first, -1 for the host.
    pub first_stream: i32,
    /// Id of the stream of the second, -1 for the host.
    pub second_stream: i32,
    /// Number of the first task on its stream or in its graph.
    pub first_task: u64,
    /// Number of the second.
    pub second_task: u64,
    /// Id of the graph of the first, 0 for none.
    pub first_graph: u32,
    /// Id of the graph of the second.
    pub second_graph: u32,
    /// Whether the first writes.
    pub first_writes: i32,
    /// Whether the second writes.
    pub second_writes: i32,
    /// Where both touched memory.
    pub address: *const c_void,
    /// How much of it.
    pub bytes: u64,
    /// The live allocation around it, or null.
    pub block: *const c_void,
    /// Size of the allocation.
    pub block_bytes: u64,
    /// Where in it.
    pub offset: u64,
    /// How often such a pair was found.
    pub times: u64,
}

impl mock_acl_race {
    /// One of nothing, without a size.
    pub const EMPTY: Self = Self {
        struct_size: 0,
        first: core::ptr::null(),
        second: core::ptr::null(),
        first_stream: 0,
        second_stream: 0,
        first_task: 0,
        second_task: 0,
        first_graph: 0,
        second_graph: 0,
        first_writes: 0,
        second_writes: 0,
        address: core::ptr::null(),
        bytes: 0,
        block: core::ptr::null(),
        block_bytes: 0,
        offset: 0,
        times: 0,
    };
}

/// Races are not looked for.
pub const MOCK_ACL_RACES_OFF: c_int = 0;
/// Races are reported.
pub const MOCK_ACL_RACES_REPORT: c_int = 1;
/// Races are reported, and the later task fails.
pub const MOCK_ACL_RACES_FAIL: c_int = 2;

unsafe extern "C" {
    /// Whether races are looked for; gives the mode before.
    pub fn mock_acl_check_races(mode: c_int) -> c_int;
    /// Pairs of accesses that nothing orders.
    pub fn mock_acl_race_count() -> u64;
    /// One of them.
    pub fn mock_acl_race_at(index: u64, race: *mut mock_acl_race) -> c_int;
    /// The same in words; gives their length.
    pub fn mock_acl_race_text(index: u64, text: *mut c_char, size: u64) -> u64;
    /// Name and version of the mock.
    pub fn mock_acl_version() -> *const c_char;
    /// Address of an exported function, or null.
    pub fn mock_acl_lookup(name: *const c_char) -> *mut c_void;
    /// A fresh process state.
    pub fn mock_acl_reset() -> c_int;
    /// Closes the gate of a stream.
    pub fn mock_acl_hold_stream(stream: aclrtStream) -> c_int;
    /// Opens the gate of a stream.
    pub fn mock_acl_release_stream(stream: aclrtStream) -> c_int;
    /// Closes the gate of a stream by its id.
    pub fn mock_acl_hold_stream_id(id: i32) -> c_int;
    /// Opens the gate of a stream by its id, -1 for all.
    pub fn mock_acl_release_stream_id(id: i32) -> c_int;
    /// Whether queued work waits for somebody to wait for it; gives what was set before.
    pub fn mock_acl_stand_still(on: c_int) -> c_int;
    /// Runs what can run; gives the number of tasks.
    pub fn mock_acl_run_until_idle() -> u64;
    /// How many calls wait for room in a queue.
    pub fn mock_acl_waiting_for_room() -> u32;
    /// The virtual clock in nanoseconds.
    pub fn mock_acl_now_ns() -> u64;
    /// Moves the virtual clock.
    pub fn mock_acl_advance_ns(ns: u64);
    /// Calls of a function since the last reset.
    pub fn mock_acl_calls(name: *const c_char) -> u64;
    /// Begins a log of the calls, or ends it.
    pub fn mock_acl_log_calls(on: c_int);
    /// Calls in the log.
    pub fn mock_acl_call_count() -> u64;
    /// One call of the log.
    pub fn mock_acl_call_at(index: u64, call: *mut mock_acl_call) -> c_int;
    /// Counts of live objects.
    pub fn mock_acl_live_handles(live: *mut mock_acl_live) -> c_int;
    /// Makes the n-th call of a function fail.
    pub fn mock_acl_fail(name: *const c_char, nth: u64, code: aclError) -> c_int;
    /// Makes the n-th task of a call fail on the device.
    pub fn mock_acl_fail_task(name: *const c_char, nth: u64, code: aclError) -> c_int;
    /// Forgets every injected failure.
    pub fn mock_acl_clear_failures();
    /// How many streams there may be, those inside captured graphs included; 0 for the number of the start.
    pub fn mock_acl_limit_streams(streams: u32) -> c_int;
    /// How many event ids there may be; 0 for the number of the start.
    pub fn mock_acl_limit_events(events: u32) -> c_int;
    /// The size of L2 that the device reports, 0 for the card's.
    pub fn mock_acl_set_l2_bytes(bytes: u64) -> c_int;
    /// Ranges of a device's memory with errors.
    pub fn mock_acl_set_memory_errors(
        device: i32,
        addresses: *const *mut c_void,
        sizes: *const usize,
        count: usize,
    ) -> c_int;
    /// Begins a log of the kernels that run, or ends it.
    pub fn mock_acl_log_launches(on: c_int);
    /// Kernels in the log.
    pub fn mock_acl_launch_count() -> u64;
    /// One kernel of the log.
    pub fn mock_acl_launch_at(index: u64, launch: *mut mock_acl_launch) -> c_int;
    /// Totals of executed cache maintenance.
    pub fn mock_acl_cmo(totals: *mut mock_acl_cmo_totals) -> c_int;
}

struct Mock;

impl Source for Mock {
    fn address(&self, symbol: &'static str, _library: Library) -> *mut c_void {
        let Ok(name) = CString::new(symbol) else { return core::ptr::null_mut() };
        // SAFETY: the argument is a NUL-terminated string that outlives the call, as `mock_acl_lookup` asks.
        unsafe { mock_acl_lookup(name.as_ptr()) }
    }

    fn describe(&self) -> String {
        // SAFETY: the function takes nothing and gives a constant.
        let version = unsafe { mock_acl_version() };
        // SAFETY: that constant is a NUL-terminated string in the program's image.
        let version = unsafe { CStr::from_ptr(version) };
        format!("{} (built in)", version.to_string_lossy())
    }

    fn is_mock(&self) -> bool {
        true
    }
}

impl Table {
    /// The table of the mock that is compiled into the program.
    #[must_use]
    pub fn mock() -> Self {
        // SAFETY: the mock defines its functions against the headers that these bindings were made from, and it is
        // part of the program, so it is never unloaded.
        unsafe { Self::from_source(Box::new(Mock)) }
    }
}
