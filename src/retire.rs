//! Drops that have to wait for work: on a thread of their own where a gate of a plan may hold that work up.
//!
//! A gate is opened by a signal, which only the one who drops may be able to give, or by the end of the executable,
//! which may be dropped next. Everything else that work waits for comes by itself.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::progress::{Queue, Use};

/// How long a drop waits although a gate may keep it from its end: most work has nothing to do with the gate.
pub(crate) const BRIEF: Duration = Duration::from_millis(20);

/// How long there is for threads that hold what somebody else needs, and are done maybe.
const MOMENT: Duration = Duration::from_millis(500);

/// The codes of a stream that was not idle in time, and of an event that was not reached. Work that failed by a
/// time-out of its own has others.
const NOT_DONE: [i32; 2] = [507_046, 507_047];

/// How long a thread that waits for others does so at a time.
const PAUSE: Duration = Duration::from_millis(50);

/// Told when a thread is done or an executable has gone.
static CHANGED: Condvar = Condvar::new();

static STATE: Mutex<State> = Mutex::new(State { gates: Vec::new(), threads: Vec::new() });

struct State {
    gates: Vec<Weak<AtGates>>,
    threads: Vec<(Arc<Done>, JoinHandle<()>)>,
}

/// Whether a thread is done.
#[derive(Default)]
struct Done(AtomicBool);

/// Says so, also when what a graph or an executable owned panics.
struct Says(Arc<Done>);

impl Drop for Says {
    fn drop(&mut self) {
        let state = lock();
        self.0.0.store(true, Ordering::Release);
        drop(state);
        CHANGED.notify_all();
    }
}

thread_local! {
    /// Whether drops on this thread wait as long as it takes.
    static PATIENT: Cell<bool> = const { Cell::new(false) };
}

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was submitted that waits at the gates of one executable.
#[derive(Default)]
pub(crate) struct AtGates {
    /// The latest of each stream.
    last: Mutex<Vec<Use>>,
    /// Graphs of the user wait there as well, whenever they run.
    unknown: AtomicBool,
    /// A thread of this module opens the gates.
    settled: AtomicBool,
}

impl AtGates {
    pub(crate) fn new() -> Arc<Self> {
        let gates = Arc::<Self>::default();
        let known = &mut lock().gates;
        known.retain(|gates| gates.strong_count() > 0);
        known.push(Arc::downgrade(&gates));
        gates
    }

    /// Notes that `stream` has just been given something that waits at a gate.
    pub(crate) fn note<Q: Queue>(&self, stream: &Arc<Q>) {
        let number = stream.progress().submitted();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match last.iter_mut().find(|known| known.is_of(&**stream)) {
            Some(known) => known.renew(number),
            None => {
                last.retain(|known| !known.is_done());
                last.push(Use::new(stream, number));
            }
        }
    }

    pub(crate) fn note_capture(&self) {
        self.unknown.store(true, Ordering::Release);
    }

    /// From here on a thread of this module opens the gates.
    pub(crate) fn settle(&self) {
        self.settled.store(true, Ordering::Release);
    }

    /// Whether work waits there, or behind such work on its stream.
    fn may_hold(&self) -> bool {
        if self.settled.load(Ordering::Acquire) {
            return false;
        }
        // A copy, so that no lock is held while streams are asked.
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.iter().for_each(Use::poll);
        self.unknown.load(Ordering::Acquire) || last.iter().any(|last| !last.is_done())
    }
}

impl Drop for AtGates {
    fn drop(&mut self) {
        CHANGED.notify_all();
    }
}

/// Waits a moment, or until a thread is done or an executable has gone.
pub(crate) fn pause() {
    drop(CHANGED.wait_timeout(lock(), PAUSE).unwrap_or_else(PoisonError::into_inner));
}

/// Whether work may wait at gates other than `own`.
pub(crate) fn may_hold(own: Option<&Arc<AtGates>>) -> bool {
    let gates: Vec<_> = lock().gates.iter().filter_map(Weak::upgrade).collect();
    gates.iter().filter(|gates| own.is_none_or(|own| !Arc::ptr_eq(own, gates))).any(|gates| gates.may_hold())
}

/// Whether drops on this thread wait as long as it takes.
pub(crate) fn is_patient() -> bool {
    PATIENT.get()
}

/// Waits in a drop with `synchronize`, which takes a limit in milliseconds. False when the work was not done soon and
/// a gate may be the reason: whoever drops goes on [elsewhere](on_thread).
pub(crate) fn wait(synchronize: impl Fn(Option<i32>) -> Result<()>) -> Result<bool> {
    if is_patient() || !may_hold(None) {
        return synchronize(None).map(|()| true);
    }
    wait_briefly(synchronize)
}

/// Waits with `synchronize`, which takes a limit in milliseconds; false when the work was not done soon.
pub(crate) fn wait_briefly(synchronize: impl Fn(Option<i32>) -> Result<()>) -> Result<bool> {
    match synchronize(Some(BRIEF.as_millis() as i32)) {
        Err(error) if error.code().is_some_and(|code| NOT_DONE.contains(&code)) => Ok(false),
        other => other.map(|()| true),
    }
}

/// Ends `what` on another thread, where drops wait as long as it takes.
pub(crate) fn on_thread<T: Send + 'static>(what: T, end: impl FnOnce(T) + Send + 'static) {
    // A thread that cannot be started drops it here, which must wait then.
    let before = PATIENT.replace(true);
    let done = Arc::<Done>::default();
    let says = Says(Arc::clone(&done));
    let started = std::thread::Builder::new().name("racl-drop".to_owned()).spawn(move || {
        let _says = says;
        PATIENT.set(true);
        end(what);
    });
    PATIENT.set(before);
    match started {
        Ok(thread) => lock().threads.push((done, thread)),
        Err(error) => log::error!("no thread for a drop that has to wait; it waited here: {error}"),
    }
}

/// Gives threads that are about to be done a moment, until there is `enough` of what they hold.
pub(crate) fn make_room(enough: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_patient() && !enough() {
        collect();
        let state = lock();
        let waits = state.threads.iter().any(|(done, _)| !done.0.load(Ordering::Acquire));
        let left = MOMENT.saturating_sub(begun.elapsed());
        if state.threads.is_empty() || left.is_zero() {
            return;
        }
        if waits {
            drop(CHANGED.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// Joins the threads that are done; all of them once no gate holds anything up, since they end by themselves then.
/// Whether there were any.
pub(crate) fn collect() -> bool {
    if is_patient() || lock().threads.is_empty() {
        return false;
    }
    let held = may_hold(None);
    let threads = std::mem::take(&mut lock().threads);
    let (left, over): (Vec<_>, _) =
        threads.into_iter().partition(|(done, _)| held && !done.0.load(Ordering::Acquire));
    lock().threads.extend(left);
    let any = !over.is_empty();
    for (_, thread) in over {
        if thread.join().is_err() {
            log::error!("something that a graph or an executable owned panicked when it was dropped");
        }
    }
    any
}
