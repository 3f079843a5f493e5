//! Locks under which nobody else's code runs, and words for the log that respect them.
//!
//! A logger may call this crate, from any thread. So what is said while this thread holds a lock is kept until the
//! last one is released, and said then. `tools/locks.py` sees that no other mutex and no other way to the log is used.
//!
//! Calls of the library that may block are made without a lock, and so runs code of the user ([`theirs`]), which tests
//! see to (`RACL_CHECK_LOCKS`), with these exceptions for the calls. A submission has the lock of its stream: a capture
//! must not begin or end in between. One into a full queue waits for room there; nothing that makes room takes that
//! lock, for host functions give no work to their own stream. So have a record of an event, and a wait for it, that of
//! the event, a question to a busy stream, which records an event, that of its marker, a group of collectives those of all
//! its streams, and a subscription to host functions the list of streams that have one. And an operator has the lock of its thread's kept
//! executors, which may wait for scratch memory; nobody waits for that one while the thread is there.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use log::{Level, Record};

use crate::by_plan::ByPlan;

mod quick;
mod thread;

use quick::{Quick, Taken};
pub(crate) use thread::{ThreadNumber, is_alive};

thread_local! {
    /// Locks that this thread holds, and [`WORDS`] while there is something to say.
    static HELD: Cell<usize> = const { Cell::new(0) };
    /// What it will say.
    static KEPT: RefCell<Vec<Words>> = const { RefCell::new(Vec::new()) };
}

/// In the number of locks, so that the last one released looks at one thing.
const WORDS: usize = 1 << (usize::BITS - 1);

struct Words {
    level: Level,
    module: &'static str,
    text: String,
}

/// A mutex whose content is as good after a panic as before.
#[derive(Default)]
pub(crate) struct Lock<T>(Quick<T>);

/// The right to the content of a [`Lock`].
pub(crate) struct Guard<'a, T> {
    // Dropped in this order: the log is written once the lock is free.
    guard: Taken<'a, T>,
    _held: Held,
}

/// Counts one lock of this thread.
struct Held(());

impl Held {
    #[inline]
    fn new() -> Self {
        HELD.set(HELD.get() + 1);
        Self(())
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        let left = HELD.get() - 1;
        HELD.set(left);
        if left == WORDS {
            say_kept();
        }
    }
}

/// Whether this thread holds none.
pub(crate) fn is_free() -> bool {
    HELD.get() & !WORDS == 0
}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(Quick::new(value))
    }

    #[inline]
    pub(crate) fn lock(&self) -> Guard<'_, T> {
        // Counted after the wait for it: until then this thread has nothing that others need.
        let guard = self.0.lock();
        Guard { guard, _held: Held::new() }
    }

    /// None while somebody has it.
    pub(crate) fn try_lock(&self) -> Option<Guard<'_, T>> {
        let guard = self.0.try_lock()?;
        Some(Guard { guard, _held: Held::new() })
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

/// A lock of anything.
pub(crate) trait MayBeHeld: Send + Sync {
    fn is_held(&self) -> bool;
}

impl<T: Send> MayBeHeld for Lock<T> {
    /// Where it is not, it was taken and given back: what its last holder wrote is there, and its next one sees what
    /// was written before.
    fn is_held(&self) -> bool {
        self.try_lock().is_none()
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T> fmt::Debug for Lock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock").finish_non_exhaustive()
    }
}

/// What threads wait for that have a [`Guard`].
#[derive(Default)]
pub(crate) struct Signal {
    /// Taken before the guard is let go, and by whoever gives the signal: it is not given in between.
    turn: Mutex<()>,
    given: Condvar,
}

impl Signal {
    pub(crate) const fn new() -> Self {
        Self { turn: Mutex::new(()), given: Condvar::new() }
    }

    pub(crate) fn notify_one(&self) {
        drop(self.turn.lock());
        self.given.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        drop(self.turn.lock());
        self.given.notify_all();
    }

    pub(crate) fn wait_timeout<'a, T>(&self, guard: Guard<'a, T>, limit: Duration) -> Guard<'a, T> {
        let Guard { guard, _held } = guard;
        Guard { guard: self.wait(guard, Some(limit)), _held }
    }

    /// Waits while `wait` says so, and at most until then: whether it still does is to be asked again.
    pub(crate) fn wait_until<'a, T>(
        &self,
        mut guard: Guard<'a, T>,
        until: Instant,
        mut wait: impl FnMut(&mut T) -> bool,
    ) -> Guard<'a, T> {
        while wait(&mut guard) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            guard = self.wait_timeout(guard, left);
        }
        guard
    }

    pub(crate) fn wait_while<'a, T>(
        &self,
        guard: Guard<'a, T>,
        mut wait: impl FnMut(&mut T) -> bool,
    ) -> Guard<'a, T> {
        let Guard { mut guard, _held } = guard;
        while wait(&mut guard) {
            guard = self.wait(guard, None);
        }
        Guard { guard, _held }
    }

    fn wait<'a, T>(&self, guard: Taken<'a, T>, limit: Option<Duration>) -> Taken<'a, T> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let lock = guard.release();
        match limit {
            Some(limit) => drop(self.given.wait_timeout(turn, limit)),
            None => drop(self.given.wait(turn)),
        }
        lock.lock()
    }
}

/// The lock is held over calls that may block; `tools/locks.py` lists who may do so. Until the end of what is given.
#[inline]
pub(crate) fn over_calls<T>(_of: &Guard<'_, T>) -> OverCalls {
    #[cfg(debug_assertions)]
    check::ALLOWED.set(check::ALLOWED.get() + 1);
    OverCalls(())
}

/// As long as one lock may be held over calls that block.
pub(crate) struct OverCalls(());

impl Drop for OverCalls {
    #[inline]
    fn drop(&mut self) {
        #[cfg(debug_assertions)]
        check::ALLOWED.set(check::ALLOWED.get() - 1);
    }
}

/// What this thread says is said when this goes: a logger may need what others are told once it has gone.
#[must_use]
pub(crate) fn say_later() -> Later {
    let held = Held::new();
    #[cfg(debug_assertions)]
    check::ALLOWED.set(check::ALLOWED.get() + 1);
    Later { _calls: OverCalls(()), _held: held }
}

/// Words wait, as under a lock.
pub(crate) struct Later {
    // Dropped in this order.
    _calls: OverCalls,
    _held: Held,
}

/// Runs a function of the user on a thread of the library's choice: one that waits may run it, below locks that are not
/// its own.
#[inline]
pub(crate) fn as_if_alone<T>(function: impl FnOnce() -> T) -> T {
    #[cfg(debug_assertions)]
    let _alone = check::Alone::new();
    function()
}

/// Runs code of the user, under no lock: debug builds that are asked for it end where it would be.
#[inline]
pub(crate) fn theirs<T>(function: impl FnOnce() -> T) -> T {
    #[cfg(debug_assertions)]
    check::before_their_code();
    // In the midst of a run of a plan, too, it orders its work as anywhere else.
    let _own = ByPlan::suspend();
    function()
}

/// What code of the user gives; nothing where it panics. Under no lock, as [`theirs`].
pub(crate) fn caught<T>(function: impl FnOnce() -> T) -> Option<T> {
    #[cfg(debug_assertions)]
    check::before_their_code();
    let _own = ByPlan::suspend();
    catch_unwind(AssertUnwindSafe(function)).map_err(bury).ok()
}

/// Drops what was thrown, which may panic once more; what that gives is leaked, to end it.
pub(crate) fn bury(thrown: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(move || drop(thrown))) {
        std::mem::forget(again);
    }
}

#[cfg(debug_assertions)]
pub(crate) use check::before_call;

/// In debug builds that are asked for it with `RACL_CHECK_LOCKS=1`: ends the process before a call that may block, and
/// before code of the user runs, while this thread has a lock.
#[cfg(debug_assertions)]
mod check {
    use std::backtrace::Backtrace;
    use std::cell::Cell;
    use std::io::Write;
    use std::sync::OnceLock;

    use super::{HELD, WORDS};

    thread_local! {
        /// Of the locks that this thread holds, those that may be held over calls.
        pub(super) static ALLOWED: Cell<usize> = const { Cell::new(0) };
    }

    /// Of the locks held so far, none counts; dropped also when what it is for panics.
    pub(super) struct Alone(usize);

    impl Alone {
        pub(super) fn new() -> Self {
            Self(ALLOWED.replace(HELD.get() & !WORDS))
        }
    }

    impl Drop for Alone {
        fn drop(&mut self) {
            ALLOWED.set(self.0);
        }
    }

    #[inline]
    pub(crate) fn before_call(name: &str) {
        if HELD.get() & !WORDS > ALLOWED.get() && may_block(name) && is_asked() {
            end(&format!("{name} may block"));
        }
    }

    #[inline]
    pub(super) fn before_their_code() {
        if HELD.get() & !WORDS > ALLOWED.get() && is_asked() {
            end("code of the program runs");
        }
    }

    #[cold]
    fn end(what: &str) -> ! {
        // Past the capture of a test's output, which would end with the process. The log may be nowhere.
        let trace = Backtrace::force_capture();
        let _ = writeln!(std::io::stderr(), "{what}, and this thread has a lock\n{trace}");
        std::process::abort()
    }

    /// Waits for work of the device, or for whoever else is in the library for long.
    pub(super) fn may_block(name: &str) -> bool {
        let at_once = name.ends_with("Async") || name.contains("AsyncWith") || name.contains("ResLimit");
        let parts = [
            "Synchronize",
            "ProcessReport",
            "Malloc",
            "Free",
            "Memcpy",
            "Memset",
            "apMem",
            "MemAddress",
            "aclFinalize",
            "aclprofFinalize",
            "aclmdlFinalizeDump",
            "SetDevice",
            "HcclComm",
            "HcclCreateSubComm",
            "HcclGetRootInfo",
            "aclmdlLoad",
            "BinaryLoad",
            "Abort",
        ];
        let ends = [
            "aclInit",
            "ResetDevice",
            "CreateContext",
            "DestroyContext",
            "DestroyStream",
            "aclmdlRIDestroy",
            "aclmdlUnload",
            "aclmdlExecute",
            "aclprofStart",
        ];
        !at_once && (parts.iter().any(|part| name.contains(part)) || ends.iter().any(|end| name.ends_with(end)))
    }

    fn is_asked() -> bool {
        static ASKED: OnceLock<bool> = OnceLock::new();
        *ASKED.get_or_init(|| std::env::var_os("RACL_CHECK_LOCKS").is_some_and(|value| value == "1"))
    }
}

/// `say!(Warn, "…")`: into the log, once this thread has no lock.
macro_rules! say {
    ($level:ident, $($text:tt)+) => {
        $crate::lock::tell(::log::Level::$level, ::core::module_path!(), ::core::format_args!($($text)+))
    };
}
pub(crate) use say;

pub(crate) fn tell(level: Level, module: &'static str, text: fmt::Arguments<'_>) {
    if level > log::STATIC_MAX_LEVEL || level > log::max_level() {
        return;
    }
    let words = Words { level, module, text: text.to_string() };
    if HELD.get() == 0 {
        return write(&words);
    }
    // A thread that is ending has nowhere to keep it.
    if KEPT.try_with(|kept| kept.borrow_mut().push(words)).is_ok() {
        HELD.set(HELD.get() | WORDS);
    }
}

#[cold]
fn say_kept() {
    HELD.set(0);
    let kept = KEPT.try_with(RefCell::take).unwrap_or_default();
    kept.iter().for_each(write);
}

/// A logger that panics loses its words and nothing else: most of them are said in drops.
fn write(words: &Words) {
    let Words { level, module, text } = words;
    let _own = ByPlan::suspend();
    let said = catch_unwind(|| {
        log::logger().log(
            &Record::builder()
                .args(format_args!("{text}"))
                .level(*level)
                .target(module)
                .module_path_static(Some(module))
                .build(),
        );
    });
    // What it panicked with may panic as well.
    std::mem::forget(said);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_of_this_thread_are_counted() {
        let (one, two) = (Lock::new(1), Lock::new(2));
        let first = one.lock();
        assert!(one.try_lock().is_none());
        let second = two.try_lock().unwrap();
        assert_eq!((HELD.get(), *first + *second), (2, 3));
        drop(first);
        std::thread::scope(|scope| scope.spawn(|| assert_eq!(HELD.get(), 0)).join()).unwrap();
        let second = Signal::new().wait_timeout(second, Duration::from_millis(1));
        assert_eq!((HELD.get(), *second), (1, 2));
        drop(second);
        assert_eq!(HELD.get(), 0);
    }

    #[cfg(debug_assertions)]
    #[test]
    fn calls_that_wait_are_known() {
        let waits = [
            "aclrtSynchronizeStreamWithTimeout",
            "aclrtProcessReport",
            "aclrtMemcpy",
            "aclrtDestroyStream",
            "aclInit",
        ];
        let goes_on = [
            "aclrtMemcpyAsync",
            "aclrtMemcpyAsyncWithDesc",
            "aclrtRecordEvent",
            "aclrtStreamQuery",
            "aclrtResetEvent",
            "aclmdlRICaptureEnd",
        ];
        assert_eq!((waits.map(check::may_block), goes_on.map(check::may_block)), ([true; 5], [false; 6]));
    }

    #[cfg(debug_assertions)]
    #[test]
    fn one_lock_may_be_held_over_calls() {
        let (lock, other) = (Lock::new(1), Lock::new(2));
        let guard = lock.lock();
        let allowed = over_calls(&guard);
        assert_eq!((HELD.get(), check::ALLOWED.get()), (1, 1));
        let second = other.lock();
        assert!(HELD.get() > check::ALLOWED.get());
        drop((second, allowed));
        assert_eq!(check::ALLOWED.get(), 0);
    }

    #[cfg(debug_assertions)]
    #[test]
    fn locks_of_whoever_runs_a_function_are_not_its_own() {
        let (lock, other) = (Lock::new(1), Lock::new(2));
        let first = lock.lock();
        let allowed = over_calls(&first);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            as_if_alone(|| {
                assert_eq!(HELD.get(), check::ALLOWED.get());
                let _own = other.lock();
                assert!(HELD.get() > check::ALLOWED.get());
                panic!("on purpose");
            })
        }));
        assert!(ended.is_err());
        assert_eq!((HELD.get(), check::ALLOWED.get()), (1, 1));
        drop((first, allowed));
    }

    /// What ends the process, each in one of its own.
    #[cfg(debug_assertions)]
    const ENDED: [(&str, fn()); 4] = [
        ("aclrtMemcpy may block", || {
            let lock = Lock::new(1);
            let _guard = lock.lock();
            before_call("aclrtMemcpy");
        }),
        ("code of the program runs", || {
            let lock = Lock::new(1);
            let _guard = lock.lock();
            theirs(|| ());
        }),
        ("code of the program runs", || {
            let (lock, other) = (Lock::new(1), Lock::new(2));
            let guard = lock.lock();
            let _allowed = over_calls(&guard);
            theirs(|| before_call("aclrtMemcpy")); // that one lock may be held
            let _second = other.lock();
            caught(|| ());
        }),
        ("aclrtFree may block", || {
            let lock = Lock::new(1);
            as_if_alone(|| {
                let _guard = lock.lock();
                before_call("aclrtFree");
            });
        }),
    ];

    #[cfg(debug_assertions)]
    #[test]
    fn what_may_block_under_a_lock_ends_the_process() {
        const CASE: &str = "RACL_TEST_ENDED_UNDER_A_LOCK";
        if let Some(case) = std::env::var_os(CASE) {
            ENDED[case.to_str().unwrap().parse::<usize>().unwrap()].1();
            return;
        }
        for asked in ["1", "0"] {
            for (case, (words, _)) in ENDED.iter().enumerate() {
                let ran = std::process::Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", "lock::tests::what_may_block_under_a_lock_ends_the_process"])
                    .env(CASE, case.to_string())
                    .env("RACL_CHECK_LOCKS", asked)
                    .output()
                    .unwrap();
                let told = String::from_utf8_lossy(&ran.stderr);
                assert_eq!(ran.status.success(), asked == "0", "{case}: {told}");
                assert_eq!(
                    told.contains(&format!("{words}, and this thread has a lock")),
                    asked == "1",
                    "{case}: {told}"
                );
            }
        }
    }

    #[test]
    fn a_panic_leaves_the_content() {
        let lock = Lock::new(5);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            *lock.lock() = 6;
            let _guard = lock.lock();
            panic!("on purpose");
        }));
        assert!(ended.is_err());
        assert_eq!(HELD.get(), 0);
        assert_eq!(*lock.lock(), 6);
    }
}
