//! What racl logs, for C.

use std::cell::Cell;
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use ::log::{Level, LevelFilter, Log, Metadata, Record};

use crate::callback::{User, racl_release_callback};
use crate::cancel::Uncancelled;
use crate::failure::{Failure, discard, guard, terminated};
use crate::status;

use fork::forks;

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
    user: User,
    /// How often the process was forked when it was set: calls that were under way before a fork are over in it never.
    forks: u64,
}

static SINK: Mutex<Option<Arc<Sink>>> = Mutex::new(None);
/// A call of a sink is over.
static OVER: Condvar = Condvar::new();

thread_local! {
    static BUSY: Cell<bool> = const { Cell::new(false) };
}

fn current() -> MutexGuard<'static, Option<Arc<Sink>>> {
    SINK.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sink {
    fn tell(&self, record: &Record<'_>) {
        let (target, message): (CString, CString) =
            (terminated(record.target()), terminated(&record.args().to_string()));
        // SAFETY: by the header; both texts outlive the call.
        unsafe { (self.function)(self.user.address, number(record.level()), target.as_ptr(), message.as_ptr()) }
    }

    /// Until no thread calls it, for one that is nobody's next any more.
    fn wait(mut self: Arc<Self>) {
        let mut held = current();
        while self.forks == forks() && Arc::get_mut(&mut self).is_none() {
            held = OVER.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        // What it was given is released under no lock.
        drop(held);
    }
}

struct Lines;

impl Log for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        if BUSY.try_with(|busy| busy.replace(true)).unwrap_or(true) {
            return;
        }
        // The lock is not held while code of the caller runs.
        let sink = current().clone();
        if let Some(sink) = sink {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| sink.tell(record))) {
                discard(payload);
            }
            let held = current();
            let last = Arc::into_inner(sink);
            drop(held);
            OVER.notify_all();
            drop(last);
        }
        let _ = BUSY.try_with(|busy| busy.set(false));
    }

    fn flush(&self) {}
}

#[cfg(unix)]
mod fork {
    //! A fork has one thread: a lock that another one held is nobody's to unlock there. So the lock of the log is taken
    //! before each fork, and given back behind it, by both.

    use std::cell::UnsafeCell;
    use std::ffi::c_int;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, MutexGuard};

    use super::{Sink, current};

    static FORKS: AtomicU64 = AtomicU64::new(0);

    /// The lock, from before a fork until behind it.
    struct Held(UnsafeCell<Option<MutexGuard<'static, Option<Arc<Sink>>>>>);

    // SAFETY: only who has the lock that it holds touches it.
    unsafe impl Sync for Held {}

    static HELD: Held = Held(UnsafeCell::new(None));

    pub(super) fn forks() -> u64 {
        FORKS.load(Ordering::Relaxed)
    }

    unsafe extern "C" fn prepare() {
        let lock = current();
        // SAFETY: this thread has the lock.
        unsafe { *HELD.0.get() = Some(lock) };
    }

    unsafe extern "C" fn parent() {
        // SAFETY: this thread took the lock in `prepare`.
        drop(unsafe { (*HELD.0.get()).take() });
    }

    unsafe extern "C" fn child() {
        FORKS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as in `parent`: it is the thread that forked.
        drop(unsafe { (*HELD.0.get()).take() });
    }

    pub(super) fn watch() {
        type Handler = Option<unsafe extern "C" fn()>;
        unsafe extern "C" {
            fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
        }
        // SAFETY: functions that last as long as the library, and do what may be done around a fork: stores, and what a
        // lock needs that this thread has.
        let code = unsafe { pthread_atfork(Some(prepare), Some(parent), Some(child)) };
        // No memory for them: a fork may find the lock held then.
        let _ = code;
    }
}

#[cfg(not(unix))]
mod fork {
    pub(super) fn forks() -> u64 {
        0
    }

    pub(super) fn watch() {}
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
/// for the process. It waits for calls of the former function that are under way, and once it returned there are none any
/// more, so that its `user` may be freed: whoever calls it must hold nothing that the former function waits for. Only when
/// called from inside such a function it waits for nobody, and the former one may still run, also on other threads. Nor
/// does it wait, in a fork, for a function that was set before the fork, since calls of then have no end there.
/// RACL_ALREADY_INITIALIZED where code in Rust that is linked to the same racl has a logger of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_log_set(level: i32, function: racl_log_callback, user: *mut c_void) -> i32 {
    // SAFETY: by the header; nothing is released.
    unsafe { racl_log_set_with(level, function, user, None) }
}

/// As racl_log_set(), with a `release`, which may be NULL: it is given `user`, once, when nothing will call the function
/// any more, also where nobody waits for that. Not when this fails, nor where `function` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_log_set_with(
    level: i32,
    function: racl_log_callback,
    user: *mut c_void,
    release: racl_release_callback,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| {
        let level = filter(level)?;
        static IS_OURS: OnceLock<bool> = OnceLock::new();
        let set = || {
            let is_ours = ::log::set_logger(&Lines).is_ok();
            if is_ours {
                fork::watch();
            }
            is_ours
        };
        if !IS_OURS.get_or_init(set) {
            return Err(Failure::own(status::RACL_ALREADY_INITIALIZED, "other code has set a logger"));
        }
        let sink = |function| Arc::new(Sink { function, user: User::new(user, release), forks: forks() });
        let sink = function.map(sink);
        let former = {
            let mut current = current();
            // Of the function that is set, also where others set theirs at this moment.
            ::log::set_max_level(if sink.is_some() { level } else { LevelFilter::Off });
            std::mem::replace(&mut *current, sink)
        };
        if let Some(former) = former {
            if BUSY.try_with(Cell::get).unwrap_or(true) { drop(former) } else { former.wait() }
        }
        Ok(())
    })
}
