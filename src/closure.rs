//! Closures of the user that run on the host: their panics, and their end.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

use crate::call::LOCKED_PROCESS;
use crate::error::{Error, ErrorKind};
use crate::lock::{Lock, as_if_alone};

mod kept;
mod panics;

pub(crate) use kept::Kept;
pub(crate) use panics::{Panics, PartOf, text_of_panic};

/// A closure together with where its panics go.
pub(crate) struct Function {
    /// For one run at a time; no lock of this crate, since it is the user's code that runs under it.
    function: std::sync::Mutex<Box<dyn FnMut() + Send>>,
    of: PartOf,
}

/// What a function runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunsOn {
    /// The stream with this key.
    Stream(usize),
    /// Whatever stream the graph was launched on.
    Graph,
    /// No function runs: the thread has the process locked, and every call waits until it unlocks it.
    LockedProcess,
}

thread_local! {
    /// While this thread runs a function.
    static RUNS_ON: Cell<Option<RunsOn>> = const { Cell::new(None) };
    /// What it does once it has unlocked the process.
    static ONCE_UNLOCKED: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) };
}

/// Whether this thread runs a function of the stream with this key, or may do so: what it would wait for there, room
/// in the queue for instance, is behind itself.
pub(crate) fn may_run_on(stream: usize) -> bool {
    RUNS_ON.get().is_some_and(|on| !matches!(on, RunsOn::Stream(other) if other != stream))
}

/// Whether this thread runs a function of any stream, or has the process locked: no calls are allowed.
pub(crate) fn is_running() -> bool {
    RUNS_ON.get().is_some()
}

/// Whether this thread has the process locked.
pub(crate) fn is_process_locked() -> bool {
    RUNS_ON.get() == Some(RunsOn::LockedProcess)
}

/// From now on, or no longer, this thread has the process locked.
pub(crate) fn set_locked_process(on: bool) {
    RUNS_ON.set(on.then_some(RunsOn::LockedProcess));
    if !on {
        let kept = ONCE_UNLOCKED.try_with(|kept| std::mem::take(&mut *kept.borrow_mut()));
        // This may be a callback of the library, through which nothing unwinds; all of them are to end.
        let panicked = kept.into_iter().flatten().filter_map(|end| catch_unwind(AssertUnwindSafe(end)).err());
        panicked.for_each(std::mem::forget);
    }
}

/// Ends what this thread drops, which has the process locked, once it has unlocked it: what no other thread can end.
/// What a thread leaves locked for ever is leaked.
pub(crate) fn once_unlocked(end: impl FnOnce() + 'static) {
    let end: Box<dyn FnOnce()> = Box::new(end);
    let mut end = Some(end);
    let _ = ONCE_UNLOCKED.try_with(|kept| kept.borrow_mut().extend(end.take()));
    std::mem::forget(end);
}

/// Why a call is refused while [`is_running`]: `text` for a function, that it is locked for a process.
pub(crate) fn refusal(text: impl Into<String>) -> Error {
    let locked = RUNS_ON.get() == Some(RunsOn::LockedProcess);
    Error::new(ErrorKind::NotSupported, if locked { LOCKED_PROCESS.to_owned() } else { text.into() })
}

/// What it owns is dropped, which is code of the user.
#[cfg(debug_assertions)]
impl Drop for Function {
    fn drop(&mut self) {
        crate::lock::theirs(|| ());
    }
}

impl Function {
    pub(crate) fn new(function: Box<dyn FnMut() + Send>, of: PartOf) -> Self {
        if let PartOf::Graph(panics) = &of {
            panics.set_possible();
        }
        Self { function: std::sync::Mutex::new(function), of }
    }

    pub(crate) fn run(&self, on: RunsOn) {
        let ended = {
            let mut function = self.function.lock().unwrap_or_else(PoisonError::into_inner);
            as_function(on, || as_if_alone(&mut *function))
        };
        if let Err(payload) = ended {
            self.of.note(payload);
        }
    }
}

/// Runs code of the user that must not call the library; what it panicked with.
fn as_function(on: RunsOn, work: impl FnOnce()) -> std::thread::Result<()> {
    // A function that waits in here may be given another one to run.
    let before = RUNS_ON.replace(Some(on));
    let ended = catch_unwind(AssertUnwindSafe(work));
    RUNS_ON.set(before);
    ended
}

/// A function for one run, which is taken for that, or when there can be none any more.
#[derive(Clone)]
pub(crate) struct Single(Arc<Lock<Option<Function>>>);

impl Single {
    pub(crate) fn take(&self) -> Option<Function> {
        self.0.lock().take()
    }
}

/// Functions that were given to one stream, and may not have run.
#[derive(Default)]
pub(crate) struct Unrun(Lock<(Vec<Single>, usize)>);

impl Unrun {
    pub(crate) fn add(&self, function: Function) -> Single {
        let single = Single(Arc::new(Lock::new(Some(function))));
        let (all, most) = &mut *self.0.lock();
        if all.len() >= *most {
            all.retain(|known| known.0.lock().is_some());
            *most = (2 * all.len()).max(16);
        }
        all.push(single.clone());
        single
    }

    /// Takes all that have not run.
    pub(crate) fn take(&self) -> Vec<Function> {
        let all = std::mem::take(&mut self.0.lock().0);
        all.iter().filter_map(Single::take).collect()
    }
}

/// Functions of one context that have run, or never will. They are freed outside the runtime's threads, because what
/// they own may call it; by any call that waits, because what they own may be the very stream that they ran on.
#[derive(Default)]
pub(crate) struct Spent(Lock<Vec<Function>>);

impl Spent {
    pub(crate) fn add(&self, function: Function) {
        self.0.lock().push(function);
    }

    pub(crate) fn bury(&self) {
        let spent = std::mem::take(&mut *self.0.lock());
        for function in spent {
            let of = function.of.clone();
            if let Err(payload) = catch_unwind(AssertUnwindSafe(move || drop(function))) {
                of.note(payload);
            }
        }
    }
}
