//! How executables run.

use std::time::Duration;

use racl::plan::{Mode, OnFull, RunOptions};

use crate::arguments::Sized_;
use crate::failure::{Failure, Result};
use crate::handles::get;
use crate::objects::racl_pool;

/// Runs replay captured graphs, which are made as they are needed.
pub const RACL_RUN_CAPTURED: i32 = 0;
/// Runs give the stream operator by operator.
pub const RACL_RUN_EAGER: i32 = 1;

/// The graph that was used least recently makes room.
pub const RACL_FULL_EVICT: i32 = 0;
/// The run is an eager one.
pub const RACL_FULL_EAGER: i32 = 1;
/// The run fails: RACL_GRAPH_LIMIT.
pub const RACL_FULL_FAIL: i32 = 2;

/// Each run captures anew.
pub const RACL_RUN_FORCE_RECAPTURE: u32 = 1;
/// Runs look at frozen inputs that are bound, and fail when they moved: RACL_ADDRESS_CHANGED.
pub const RACL_RUN_CHECK_FROZEN: u32 = 2;
/// Operators that use updatable inputs are planned again at each move, instead of getting other addresses alone.
pub const RACL_RUN_NO_ADDRESS_UPDATES: u32 = 4;

/// How an executable runs.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_run_options {
    /// sizeof(racl_run_options).
    pub size: usize,
    /// RACL_RUN_CAPTURED or RACL_RUN_EAGER.
    pub mode: i32,
    /// What a run does that needs one graph more than the limit: RACL_FULL_...
    pub on_full: i32,
    /// RACL_RUN_FORCE_RECAPTURE and its like put together.
    pub flags: u32,
    /// How many captured graphs are kept; 0 for 64.
    pub graph_limit: usize,
    /// So many runs have memory of the host of their own for host outputs; 0 for 1. racl_executable_read_host() reads
    /// those of the latest run alone, whatever this is, racl_executable_take_host_outputs() takes 2 and more.
    pub host_output_buffers: usize,
    /// Nanoseconds after which a signal at a gate is given up when the executable ends; 0 for 60 seconds.
    pub signal_limit: u64,
    /// Temporary memory that it shares with other executables; NULL for memory of its own.
    pub pool: *const racl_pool,
}

// SAFETY: integers and a pointer alone, the first of them a size.
unsafe impl Sized_ for racl_run_options {
    // Without the pool.
    const FORMER: &'static [usize] = &[std::mem::offset_of!(Self, pool)];
    const WHAT: &'static str = "racl_run_options";
    const ZERO: Self = Self {
        size: 0,
        mode: 0,
        on_full: 0,
        flags: 0,
        graph_limit: 0,
        host_output_buffers: 0,
        signal_limit: 0,
        pool: std::ptr::null(),
    };
}

impl racl_run_options {
    pub(crate) fn options(self) -> Result<RunOptions> {
        let mut options = RunOptions::new();
        options = options.mode(match self.mode {
            RACL_RUN_CAPTURED => Mode::Captured,
            RACL_RUN_EAGER => Mode::Eager,
            other => return Err(Failure::invalid(format!("{other} for the mode of runs"))),
        });
        options = options.on_full(match self.on_full {
            RACL_FULL_EVICT => OnFull::EvictLeastRecent,
            RACL_FULL_EAGER => OnFull::Eager,
            RACL_FULL_FAIL => OnFull::Fail,
            other => return Err(Failure::invalid(format!("{other} for what a full store does"))),
        });
        let known = RACL_RUN_FORCE_RECAPTURE | RACL_RUN_CHECK_FROZEN | RACL_RUN_NO_ADDRESS_UPDATES;
        if self.flags & !known != 0 {
            return Err(Failure::invalid(format!("unknown flags {:#x} of runs", self.flags)));
        }
        if self.flags & RACL_RUN_FORCE_RECAPTURE != 0 {
            options = options.force_recapture();
        }
        if self.flags & RACL_RUN_CHECK_FROZEN != 0 {
            options = options.check_frozen();
        }
        options = options.address_updates(self.flags & RACL_RUN_NO_ADDRESS_UPDATES == 0);
        if self.graph_limit != 0 {
            options = options.graph_limit(self.graph_limit);
        }
        if self.host_output_buffers != 0 {
            options = options.host_output_buffers(self.host_output_buffers);
        }
        if !self.pool.is_null() {
            options = options.pool(&*get(self.pool)?);
        }
        match self.signal_limit {
            0 => Ok(options),
            nanoseconds => Ok(options.signal_limit(Duration::from_nanos(nanoseconds))),
        }
    }
}
