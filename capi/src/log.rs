//! What racl logs, for C.

use std::cell::Cell;
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ::log::{Level, LevelFilter, Log, Metadata, Record};

use crate::failure::{Failure, discard, guard, terminated};
use crate::status;

/// Nothing.
pub const RACL_LOG_OFF: i32 = 0;
/// What went wrong and nobody else says.
pub const RACL_LOG_ERROR: i32 = 1;
/// What may be meant otherwise.
pub const RACL_LOG_WARN: i32 = 2;
/// What happened.
pub const RACL_LOG_INFO: i32 = 3;
/// More of it.
pub const RACL_LOG_DEBUG: i32 = 4;
/// All of it.
pub const RACL_LOG_TRACE: i32 = 5;

/// Takes a line: its level, RACL_LOG_..., the part of racl that it is from, and its text; both end with the call. It is
/// called on whatever thread the line is from, on several at once. What it logs itself through racl is left out.
#[allow(non_camel_case_types)]
pub type racl_log_callback =
    Option<unsafe extern "C-unwind" fn(user: *mut c_void, level: i32, target: *const c_char, message: *const c_char)>;

struct Sink {
    function: unsafe extern "C-unwind" fn(*mut c_void, i32, *const c_char, *const c_char),
    user: *mut c_void,
}

// SAFETY: the address is only handed to the function, which the header says is called on any thread.
unsafe impl Send for Sink {}
// SAFETY: as above.
unsafe impl Sync for Sink {}

static SINK: Mutex<Option<Arc<Sink>>> = Mutex::new(None);

thread_local! {
    static BUSY: Cell<bool> = const { Cell::new(false) };
}

struct Lines;

impl Log for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        // The lock is not held while code of the caller runs.
        let sink = SINK.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(sink) = sink else { return };
        if BUSY.try_with(|busy| busy.replace(true)).unwrap_or(true) {
            return;
        }
        let (target, message): (CString, CString) =
            (terminated(record.target()), terminated(&record.args().to_string()));
        let level = number(record.level());
        let call = || {
            // SAFETY: by the header; both texts outlive the call.
            unsafe { (sink.function)(sink.user, level, target.as_ptr(), message.as_ptr()) }
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(call)) {
            discard(payload);
        }
        let _ = BUSY.try_with(|busy| busy.set(false));
    }

    fn flush(&self) {}
}

fn number(level: Level) -> i32 {
    match level {
        Level::Error => RACL_LOG_ERROR,
        Level::Warn => RACL_LOG_WARN,
        Level::Info => RACL_LOG_INFO,
        Level::Debug => RACL_LOG_DEBUG,
        Level::Trace => RACL_LOG_TRACE,
    }
}

fn filter(level: i32) -> Result<LevelFilter, Failure> {
    Ok(match level {
        RACL_LOG_OFF => LevelFilter::Off,
        RACL_LOG_ERROR => LevelFilter::Error,
        RACL_LOG_WARN => LevelFilter::Warn,
        RACL_LOG_INFO => LevelFilter::Info,
        RACL_LOG_DEBUG => LevelFilter::Debug,
        RACL_LOG_TRACE => LevelFilter::Trace,
        other => return Err(Failure::invalid(format!("{other} for a level of the log"))),
    })
}

/// Gives what racl logs, up to this level, to a function, instead of nobody; NULL and RACL_LOG_OFF end that. It counts
/// for the process. A call of the former function may still be under way on another thread when this returns.
/// RACL_ALREADY_INITIALIZED where code in Rust that is linked to the same racl has a logger of its own.
#[unsafe(no_mangle)]
pub extern "C" fn racl_log_set(level: i32, function: racl_log_callback, user: *mut c_void) -> i32 {
    guard(|| {
        let level = filter(level)?;
        static IS_OURS: OnceLock<bool> = OnceLock::new();
        if !IS_OURS.get_or_init(|| ::log::set_logger(&Lines).is_ok()) {
            return Err(Failure::own(status::RACL_ALREADY_INITIALIZED, "other code has set a logger"));
        }
        let sink = function.map(|function| Arc::new(Sink { function, user }));
        ::log::set_max_level(if sink.is_some() { level } else { LevelFilter::Off });
        let former = std::mem::replace(&mut *SINK.lock().unwrap_or_else(PoisonError::into_inner), sink);
        drop(former);
        Ok(())
    })
}
