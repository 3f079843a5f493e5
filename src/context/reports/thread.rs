//! The thread itself.

use std::os::unix::thread::JoinHandleExt as _;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use acl_sys::{Table, aclrtContext};

use super::ContextInner;
use crate::acl::Acl;
use crate::call::{self, Caller, Scope, call};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{Guard, Lock, Signal, ThreadNumber, say};
use crate::retire;

/// Milliseconds that the thread waits for a callback before it looks whether it shall end.
const LIMIT_MS: i32 = 1000;
const LIMIT: Duration = Duration::from_millis(LIMIT_MS as u64);
/// Between two tries where the library gave up early.
const PAUSE: Duration = Duration::from_millis(50);
/// Within which the first callback comes.
const FIRST: Duration = Duration::from_secs(10);

/// The code of no callback in time.
const NONE_CAME: i32 = 507_012;

pub(super) struct Runner {
    /// None once it was joined.
    handle: Lock<Option<JoinHandle<()>>>,
    pthread: u64,
    /// The process that it is in.
    process: u32,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Lock<State>,
    changed: Signal,
    /// From the thread's begin on. No lock, which a child of a fork may find taken.
    thread: OnceLock<ThreadNumber>,
}

#[derive(Default)]
struct State {
    begins: bool,
    /// A callback came.
    works: bool,
    stops: bool,
    ended: bool,
}

/// What the thread calls the library with: less than the context, which shall end while the thread runs.
struct Bound {
    raw: aclrtContext,
    id: u64,
    acl: Acl,
}

// SAFETY: as for the context that it is made from: the handle is only passed on.
unsafe impl Send for Bound {}

impl Caller for Bound {
    fn table(&self) -> &Table {
        self.acl.table()
    }

    fn bind(&self) -> Result<()> {
        call::bind(self)
    }
}

impl Scope for Bound {
    fn id(&self) -> u64 {
        self.id
    }

    fn raw(&self) -> aclrtContext {
        self.raw
    }
}

impl Runner {
    /// A thread that waits until it may begin.
    pub(super) fn start(context: &ContextInner) -> Result<Self> {
        let shared = Arc::<Shared>::default();
        let bound = Bound { raw: context.raw, id: context.id, acl: context.acl.clone() };
        let given = Arc::clone(&shared);
        let started = builder().spawn(move || run(bound, &given));
        let handle = started.map_err(|error| {
            let text = format!("no thread for host functions, which this library needs: {error}");
            Error::new(ErrorKind::Other, text).with_source(error)
        })?;
        let pthread = handle.as_pthread_t();
        let process = std::process::id();
        Ok(Self { handle: Lock::new(Some(handle)), pthread, process, shared })
    }

    /// How the library knows it.
    pub(super) fn pthread(&self) -> u64 {
        self.pthread
    }

    pub(super) fn is_this_thread(&self) -> bool {
        self.shared.thread.get() == Some(&ThreadNumber::here())
    }

    /// A child of a fork has no such thread.
    pub(super) fn is_of_parent(&self) -> bool {
        self.process != std::process::id()
    }

    /// Lets it begin; returns when it has run a callback, which waits for it.
    pub(super) fn begin(&self) -> Result<()> {
        self.shared.set(|state| state.begins = true);
        if self.shared.wait_within(FIRST, |state| state.works) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Timeout, format!("the library gave the thread no callback within {FIRST:?}")))
    }

    pub(super) fn stop(&self) {
        self.shared.set(|state| state.stops = true);
    }

    /// Whether it was let begin and has not ended.
    pub(super) fn is_asking(&self) -> bool {
        let state = self.shared.lock();
        state.begins && !state.ended
    }

    /// Waits for its end, for as long as a drop waits beyond the time in which it looks.
    pub(super) fn wait_end(&self) -> Result<()> {
        if self.is_this_thread() {
            return Err(Error::new(ErrorKind::NotSupported, "a host function ends its own context"));
        }
        let limit = 2 * LIMIT + retire::deadline().saturating_duration_since(Instant::now());
        if !self.shared.wait_within(limit, |state| state.ended) {
            let text = format!("a host function of the context still runs after {limit:?}");
            return Err(Error::new(ErrorKind::Timeout, text));
        }
        let handle = self.handle.lock().take();
        if handle.is_some_and(|handle| handle.join().is_err()) {
            say!(Error, "the thread of host functions panicked");
        }
        Ok(())
    }
}

impl Drop for Runner {
    /// One that was never begun, or that did not end in time: it goes by itself.
    fn drop(&mut self) {
        if self.is_of_parent() {
            // The thread may have had its locks when the process was forked.
            return std::mem::forget(self.handle.get_mut().take());
        }
        self.stop();
    }
}

impl Shared {
    fn lock(&self) -> Guard<'_, State> {
        self.state.lock()
    }

    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Whether `done` within `limit`.
    fn wait_within(&self, limit: Duration, done: impl Fn(&State) -> bool) -> bool {
        let until = Instant::now().checked_add(limit);
        let mut state = self.lock();
        loop {
            let left = until.map_or(PAUSE, |until| until.saturating_duration_since(Instant::now()));
            if done(&state) || left.is_zero() {
                return done(&state);
            }
            state = self.changed.wait_timeout(state, left);
        }
    }

    fn stops(&self) -> bool {
        self.lock().stops
    }

    fn pause(&self) {
        self.wait_within(PAUSE, |state| state.stops);
    }
}

/// Says that the thread is done.
struct Says<'a>(&'a Shared);

impl Drop for Says<'_> {
    fn drop(&mut self) {
        self.0.set(|state| state.ended = true);
    }
}

fn run(bound: Bound, shared: &Shared) {
    let _says = Says(shared);
    // Before that: whoever waits for the end may end the library.
    let bound = bound;
    shared.thread.get_or_init(ThreadNumber::here);
    drop(shared.changed.wait_while(shared.lock(), |state| !state.begins && !state.stops));
    let mut told = false;
    let mut works = false;
    while !shared.stops() {
        let begun = Instant::now();
        // SAFETY: takes a number.
        match unsafe { call!(&bound, aclrtProcessReport(LIMIT_MS)) } {
            Ok(()) if works => {}
            Ok(()) => {
                works = true;
                shared.set(|state| state.works = true);
            }
            Err(error) if error.code() == Some(NONE_CAME) => {
                // A library with a clock of its own may give up at once.
                if begun.elapsed() < LIMIT / 2 {
                    shared.pause();
                }
            }
            Err(error) => {
                if !std::mem::replace(&mut told, true) {
                    say!(Error, "a thread of host functions, which tries again: {error:#}");
                }
                shared.pause();
            }
        }
    }
}

fn builder() -> std::thread::Builder {
    let builder = std::thread::Builder::new().name("racl-callbacks".to_owned());
    #[cfg(all(test, feature = "mock"))]
    if tests::NONE.get() {
        // More than there is room for.
        return builder.stack_size(1 << 56);
    }
    builder
}

#[cfg(all(test, feature = "mock"))]
mod tests {
    use std::cell::Cell;
    use std::sync::mpsc::channel;

    use crate::context::older;
    use crate::error::ErrorKind;

    thread_local! {
        /// Whether this thread can start no other.
        pub(super) static NONE: Cell<bool> = const { Cell::new(false) };
    }

    #[test]
    fn a_host_function_without_a_thread_is_refused_and_the_next_one_runs() {
        let _alone = crate::mock::exclusive();
        let device = crate::Acl::mock().unwrap().device(0).unwrap();
        let before = older::HOST_FUNCTIONS.set(true);
        let context = device.context().create_context().unwrap();
        older::HOST_FUNCTIONS.set(before);
        let stream = context.stream().unwrap();
        let (sender, receiver) = channel();
        for none in [true, false] {
            NONE.set(none);
            let sender = sender.clone();
            let given = stream.host_function(move || sender.send(none).unwrap());
            assert_eq!(given.map_err(|error| error.kind()), if none { Err(ErrorKind::Other) } else { Ok(()) });
        }
        stream.synchronize().unwrap();
        drop((stream, sender));
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [false]);
        assert!(context.take_drop_errors().is_empty());
        context.close().unwrap();
    }
}
