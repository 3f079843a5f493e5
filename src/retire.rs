//! Drops that have to wait for work: on a thread of their own where a gate of a plan may hold that work up, or when it
//! takes too long.
//!
//! A gate is opened by a signal, which only the one who drops may be able to give, or by the end of the executable,
//! which may be dropped next. Everything else that work waits for comes by itself, or never.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::call::is_forked;
use crate::closure;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{Guard, Lock, Signal};
use crate::progress::{Clock, Queue, Use};

mod dropped;
pub(crate) mod keepers;
mod threads;

pub(crate) use dropped::{check_not_dropped, has_notes};
use keepers::wait_part;
use threads::{Jobs, Open};

/// How long a drop waits although a gate may keep it from its end: most work has nothing to do with the gate.
pub(crate) const BRIEF: Duration = Duration::from_millis(20);

/// How long there is for threads that hold what somebody else needs, and are done maybe.
const MOMENT: Duration = Duration::from_millis(500);

/// How long a thread that waits for others does so at a time.
const PAUSE: Duration = Duration::from_millis(50);

/// How long a thread rests that waits for the last work of something, at first and at most.
pub(crate) const RESTS: Range<Duration> = Duration::from_millis(1)..Duration::from_millis(50);

/// Told when a job of a thread has ended or an executable has gone.
static CHANGED: Signal = Signal::new();

static STATE: Lock<State> = Lock::new(State { gates: Vec::new(), jobs: Jobs::new() });

struct State {
    gates: Vec<Weak<AtGates>>,
    jobs: Jobs,
}

/// Milliseconds that a drop waits.
static LIMIT: AtomicU64 = AtomicU64::new(10_000);

/// How long a drop waits for work: 10 seconds unless told otherwise, for the whole process. What is not done by then is
/// kept, with all that it uses, and destroyed by another thread once it is done, where one can be started.
/// [`Context::take_drop_errors`] has the error: it names the stream, how many of its submissions are not known to be
/// done, and the latest that records no event, with its source line; the time counts from the beginning of the drop.
/// [`Context::close`] refuses meanwhile. A context that is dropped waits so for work of other contexts' streams that uses
/// memory of it; the log has the error then. An allocation waits as long for memory that other work holds. Explicit calls,
/// such as `close` and `synchronize`, wait for work as long as it takes, and for other threads that are in the middle of
/// giving something back as long as drops do; a `synchronize` for what threads end in the place of drops half a second at
/// most, and once for each drop.
///
/// [`Context::take_drop_errors`]: crate::Context::take_drop_errors
/// [`Context::close`]: crate::Context::close
///
/// # Examples
///
/// ```
/// racl::set_drop_limit(std::time::Duration::from_secs(60));
/// ```
pub fn set_drop_limit(limit: Duration) {
    LIMIT.store(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

pub(crate) fn drop_limit() -> Duration {
    Duration::from_millis(LIMIT.load(Ordering::Relaxed))
}

/// The same in milliseconds, as the library takes them.
pub(crate) fn drop_limit_ms() -> i32 {
    i32::try_from(drop_limit().as_millis()).unwrap_or(i32::MAX).max(1)
}

/// How a wait in a drop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    Done,
    /// Not soon, and a gate may be the reason; or a host function drops, which must not wait nor destroy anything.
    Held,
    /// Not within the limit of drops.
    Late,
}

impl Waited {
    /// Where `what` is not done, what whoever drops has to tell, if anything.
    pub(crate) fn told(self, what: impl FnOnce() -> String) -> Option<Error> {
        (self == Self::Late).then(|| late(&what()))
    }
}

/// What is said of work that does not end.
pub(crate) fn late(what: &str) -> Error {
    let limit = drop_limit();
    let text = format!("{what} is not done {limit:?} after the drop began; it is kept, and destroyed once that is");
    Error::new(ErrorKind::Timeout, text)
}

/// What is said at the end of something that another thread, which does `what`, has to be done with first.
pub(crate) fn not_back(what: &str) -> Error {
    let limit = drop_limit();
    let text = format!("another thread {what}, and has not come back from that in {limit:?}");
    Error::new(ErrorKind::Timeout, text)
}

thread_local! {
    /// Whether drops on this thread wait as long as it takes.
    static PATIENT: Cell<bool> = const { Cell::new(false) };
    /// Until when the drops that one drop is made of wait.
    static UNTIL: Cell<Option<Instant>> = const { Cell::new(None) };
}

fn lock() -> Guard<'static, State> {
    STATE.lock()
}

/// Executables with gates.
static GATES: AtomicUsize = AtomicUsize::new(0);

/// What was submitted that waits at the gates of one executable.
#[derive(Default)]
pub(crate) struct AtGates {
    /// The latest of each stream.
    last: Lock<Vec<Use>>,
    /// Graphs of the user wait there as well, whenever they run.
    unknown: AtomicBool,
    /// A thread of this module opens the gates.
    settled: AtomicBool,
    /// Signals are missing that nobody has given yet.
    short: AtomicBool,
}

impl AtGates {
    pub(crate) fn new() -> Arc<Self> {
        let gates = Arc::<Self>::default();
        let known = &mut lock().gates;
        known.retain(|gates| gates.strong_count() > 0);
        known.push(Arc::downgrade(&gates));
        GATES.fetch_add(1, Ordering::AcqRel);
        gates
    }

    /// Notes that `stream` has just been given something that waits at a gate.
    pub(crate) fn note<Q: Queue>(&self, stream: &Arc<Q>) {
        let number = stream.progress().submitted();
        let mut last = self.last.lock();
        match last.iter_mut().find(|known| known.is_of(&**stream)) {
            Some(known) => known.renew(number),
            None => {
                last.retain(|known| !known.is_done());
                last.push(Use::new(stream, number));
            }
        }
    }

    /// The stream of work at the gates that is not done, for errors.
    pub(crate) fn hanging(&self) -> Option<String> {
        let last = self.last.lock().clone();
        last.iter().find(|last| !last.is_done()).and_then(Use::describe)
    }

    pub(crate) fn note_capture(&self) {
        self.unknown.store(true, Ordering::Release);
    }

    /// Whether signals are missing that nobody has given yet.
    pub(crate) fn set_short(&self, short: bool) {
        self.short.store(short, Ordering::Release);
    }

    /// Whether work of the stream with this id, which is behind `clock`, may wait for a signal that is not given yet.
    fn holds(&self, stream: u64, clock: &Clock) -> bool {
        let waits =
            |last: &Use| !last.is_done() && (last.is_of_era(stream) || clock.may_cover(last.stream(), last.number()));
        self.short.load(Ordering::Acquire) && self.last.lock().iter().any(waits)
    }

    /// Whether what the stream with this id was given itself may wait for a signal that is not given yet.
    fn holds_stream(&self, stream: u64) -> bool {
        let waits = |last: &Use| !last.is_done() && last.is_of_era(stream);
        self.short.load(Ordering::Acquire) && self.last.lock().iter().any(waits)
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
        let last = self.last.lock().clone();
        last.iter().for_each(Use::poll);
        self.unknown.load(Ordering::Acquire) || last.iter().any(|last| !last.is_done())
    }
}

impl Drop for AtGates {
    fn drop(&mut self) {
        GATES.fetch_sub(1, Ordering::AcqRel);
        CHANGED.notify_all();
    }
}

/// Waits a moment, or until a job of a thread has ended or an executable has gone.
pub(crate) fn pause() {
    pause_for(PAUSE);
}

/// As [`pause`], for so long.
pub(crate) fn pause_for(limit: Duration) {
    drop(CHANGED.wait_timeout(lock(), limit));
}

/// Whether work may wait at gates other than `own`.
pub(crate) fn may_hold(own: Option<&Arc<AtGates>>) -> bool {
    let gates: Vec<_> = lock().gates.iter().filter_map(Weak::upgrade).collect();
    gates.iter().filter(|gates| own.is_none_or(|own| !Arc::ptr_eq(own, gates))).any(|gates| gates.may_hold())
}

/// Whether work of the stream with this id, which is behind `clock`, may wait at a gate for a signal that nobody has
/// given yet. Asks no stream.
#[inline]
pub(crate) fn is_held(stream: u64, clock: &Clock) -> bool {
    GATES.load(Ordering::Acquire) > 0 && may_be_held(stream, clock)
}

#[cold]
fn may_be_held(stream: u64, clock: &Clock) -> bool {
    lock().gates.iter().filter_map(Weak::upgrade).any(|gates| gates.holds(stream, clock))
}

/// As [`is_held`], of what the stream was given itself; none where there are no gates at all.
pub(crate) fn is_held_itself(stream: u64) -> Option<bool> {
    let gates: Vec<_> = lock().gates.iter().filter_map(Weak::upgrade).collect();
    (!gates.is_empty()).then(|| gates.iter().any(|gates| gates.holds_stream(stream)))
}

/// Whether drops on this thread wait as long as it takes.
pub(crate) fn is_patient() -> bool {
    PATIENT.get()
}

/// Drops of one value that consists of many: they wait for as long as one does.
pub(crate) fn together<T>(drops: impl FnOnce() -> T) -> T {
    until(deadline(), drops)
}

/// What waits as drops do waits until then.
pub(crate) fn until<T>(deadline: Instant, drops: impl FnOnce() -> T) -> T {
    /// Also where what is dropped panics, as what a program owns may.
    struct Before(Option<Instant>);
    impl Drop for Before {
        fn drop(&mut self) {
            UNTIL.set(self.0);
        }
    }
    let _before = Before(UNTIL.replace(Some(deadline)));
    drops()
}

/// Until when a drop that begins now waits.
pub(crate) fn deadline() -> Instant {
    let begun = Instant::now();
    UNTIL.get().unwrap_or_else(|| begun.checked_add(drop_limit()).unwrap_or(begun + Duration::from_secs(1 << 30)))
}

/// Until when the drop waits that this is part of; none outside of drops, and where they wait as long as it takes.
pub(crate) fn deadline_of_drop() -> Option<Instant> {
    UNTIL.get().filter(|_| !is_patient())
}

/// Waits in a drop with `synchronize`, which takes a limit in milliseconds. Where the work is not done whoever drops
/// goes on [elsewhere](on_thread).
pub(crate) fn wait(synchronize: impl Fn(Option<i32>) -> Result<()>) -> Result<Waited> {
    if closure::is_running() || is_forked() {
        return Ok(Waited::Held);
    }
    if is_patient() {
        return keepers::wait_long(synchronize).map(|()| Waited::Done);
    }
    if may_hold(None) {
        return wait_briefly(synchronize).map(|done| if done { Waited::Done } else { Waited::Held });
    }
    let until = deadline();
    loop {
        let left = until.saturating_duration_since(Instant::now()).as_millis().clamp(1, 1000);
        match wait_part(left as i32, &synchronize) {
            Ok(true) => return Ok(Waited::Done),
            Ok(false) if Instant::now() >= until => return Ok(Waited::Late),
            Ok(false) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Waits with `synchronize`, which takes a limit in milliseconds; false when the work was not done soon.
pub(crate) fn wait_briefly(synchronize: impl Fn(Option<i32>) -> Result<()>) -> Result<bool> {
    wait_within(BRIEF.as_millis() as i32, synchronize)
}

/// Asks `synchronize`, which takes a limit in milliseconds, how work ended that is over.
pub(crate) fn wait_moment(synchronize: impl Fn(Option<i32>) -> Result<()>) -> Result<()> {
    wait_within(1, synchronize).map(drop)
}

/// What a wait with a limit says of how work ended that is over. In a host function it may be refused.
pub(crate) fn told_of_end(waited: Result<()>) -> Result<()> {
    let says_nothing = |error: &Error| error.is_not_done() || closure::is_running() && !error.is_of_work();
    waited.or_else(|error| if says_nothing(&error) { Ok(()) } else { Err(error) })
}

fn wait_within(ms: i32, synchronize: impl Fn(Option<i32>) -> Result<()>) -> Result<bool> {
    if closure::is_running() {
        return Ok(false);
    }
    match synchronize(Some(ms)) {
        Err(error) if error.is_not_done() => Ok(false),
        other => other.map(|()| true),
    }
}

/// Whether what this thread drops goes [elsewhere](on_thread): it runs a host function, which makes no calls, has the
/// process locked, or the process is a fork, whose calls are refused.
pub(crate) fn must_leave() -> bool {
    closure::is_running() || is_forked()
}

/// The same of what host functions may call.
pub(crate) fn is_refused() -> bool {
    closure::is_process_locked() || is_forked()
}

/// Ends `what` on another thread, where drops wait as long as it takes. While no thread can be started it is kept. In a
/// fork it is leaked: it is the process's that was forked.
pub(crate) fn on_thread<T: Send + 'static>(what: T, end: impl FnOnce(T) + Send + 'static) {
    begin(what, end, false);
}

/// The same behind a wait of whoever drops, who [waited](Waited::Late) as long as one does: nobody else waits for it.
pub(crate) fn leave<T: Send + 'static>(waited: Waited, what: T, end: impl FnOnce(T) + Send + 'static) {
    begin(what, end, waited == Waited::Late);
}

fn begin<T: Send + 'static>(what: T, end: impl FnOnce(T) + Send + 'static, late: bool) {
    if is_forked() {
        return std::mem::forget(what);
    }
    threads::begin(Box::new(move || end(what)), late);
}

/// Rests on a thread of this module while something `is_used`. Once it has for as long as a drop waits, `tell` tells.
pub(crate) fn outlast(is_used: impl Fn() -> bool, tell: impl FnOnce()) {
    let (until, mut tell, mut rest) = (deadline(), Some(tell), RESTS.start);
    while is_used() {
        if Instant::now() >= until {
            tell.take().into_iter().for_each(|tell| tell());
        }
        pause_for(rest);
        rest = (2 * rest).min(RESTS.end);
    }
}

/// Keeps what could not be ended for a later try, `end`, on a thread: the next call that [collects](collect) begins it.
pub(crate) fn later<T: Send + 'static>(what: T, end: impl FnOnce(T) + Send + 'static) {
    if is_forked() {
        return std::mem::forget(what);
    }
    threads::keep(Box::new(move || end(what)));
}

/// Gives threads that are about to be done a moment, until there is `enough` of what they hold.
pub(crate) fn make_room(enough: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_patient() && !closure::is_running() && !is_forked() && !enough() {
        lock().jobs.resume();
        attend();
        threads::collect();
        let state = lock();
        let left = MOMENT.saturating_sub(begun.elapsed());
        if !state.jobs.go_on() || left.is_zero() {
            return;
        }
        drop(CHANGED.wait_timeout(state, left.min(PAUSE)));
        keepers::look();
    }
}

/// Who waits for threads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    /// Something else is done.
    Moment,
    /// What they hold may be missing.
    Drops,
    /// It is.
    Room,
}

impl For {
    fn awaits(self, job: &Open) -> bool {
        !job.given_up && (!job.late || self == Self::Room) && (!job.waited_for || self != Self::Moment)
    }

    fn until(self) -> Instant {
        let until = deadline();
        if self == Self::Moment { until.min(Instant::now() + MOMENT) } else { until }
    }

    fn give_up(self, job: &mut Open) {
        match self {
            Self::Moment => job.waited_for = true,
            Self::Drops | Self::Room => job.given_up = true,
        }
    }
}

/// Joins the threads that are done; waits for others once no gate holds anything up, since they end by themselves then,
/// but for each drop once, as long as one does, and not where whoever dropped waited as long before. Whether any was
/// ended since somebody asked last.
pub(crate) fn collect() -> bool {
    collect_for(For::Drops)
}

/// The same for who needs what they hold: those are waited for once, too, whose drops waited before.
pub(crate) fn collect_for_room() -> bool {
    collect_for(For::Room)
}

/// The same for who has waited for other work, and needs none of what they hold: it waits for a moment at most.
pub(crate) fn collect_for_a_moment() {
    collect_for(For::Moment);
}

/// Tries again to start threads that could not be; whoever dropped has told.
fn attend() {
    threads::attend().unwrap_or(());
}

fn collect_for(whom: For) -> bool {
    if is_patient() || is_forked() {
        return false;
    }
    {
        let jobs = &mut lock().jobs;
        jobs.resume();
        if jobs.are_idle() {
            return false;
        }
    }
    attend();
    let held = closure::is_running() || may_hold(None);
    let until = whom.until();
    loop {
        let mut state = lock();
        let waits = !held && state.jobs.go_on() && state.jobs.open.values().any(|job| whom.awaits(job));
        let left = until.saturating_duration_since(Instant::now());
        if waits && !left.is_zero() {
            drop(CHANGED.wait_timeout(state, left.min(PAUSE)));
            keepers::look();
            continue;
        }
        if waits {
            state.jobs.open.values_mut().filter(|job| whom.awaits(job)).for_each(|job| whom.give_up(job));
        }
        drop(state);
        return threads::collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_panics_in_a_drop_leaves_no_deadline_behind() {
        let outer = Instant::now() + Duration::from_secs(60);
        let panics = || std::panic::catch_unwind(|| until(Instant::now(), || panic!("on purpose")));
        until(outer, || {
            panics().unwrap_err();
            assert_eq!(deadline(), outer);
        });
        panics().unwrap_err();
        assert!(deadline() > Instant::now());
    }
}
