//! The threads that wait for what futures await: one for each stream of which something is awaited that is not done.
//!
//! A thread waits for the earliest point first, in parts: an earlier one may come meanwhile. It ends when nobody has
//! awaited anything for a while. What is waited for is let go before anybody is told of it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

use super::place::{Place, wake};
use super::point::Point;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{Lock, Signal, say};
use crate::memory::Lent;
use crate::progress::{Beside, Progress};
use crate::retire::{self, keepers::wait_part};

/// Milliseconds of one wait, at first and at most.
const PART: i32 = 1;
const LONGEST: i32 = 50;

/// How long a thread stays that has nothing to wait for.
pub(super) const LINGERS: Duration = Duration::from_secs(2);

/// How long others wait for the end of a wait that is over.
const AT_MOST: Duration = Duration::from_secs(1);

/// By the id of the stream. A thread takes itself out under this lock.
static WAITERS: Lock<BTreeMap<u64, Arc<Waiter>>> = Lock::new(BTreeMap::new());

thread_local! {
    /// Whether it is a thread of this module.
    static WAITS: Cell<bool> = const { Cell::new(false) };
}

struct Waiter {
    state: Lock<State>,
    changed: Signal,
    progress: Arc<Progress>,
    /// A child of a fork has none of the threads.
    process: u32,
}

#[derive(Default)]
struct State {
    /// By how far along the point is, then as they came.
    waits: BTreeMap<(u64, u64), (Point, Who)>,
    came: u64,
    /// How far along the point is that the thread waits for at the moment.
    waiting: Option<u64>,
}

/// Who is told.
enum Who {
    Future(Weak<Place>),
    /// Nobody: what the work uses is kept until it is done.
    Kept(Box<Kept>),
}

struct Kept {
    lent: Lent<u8>,
    /// Until when the drop of the future would wait; none once it was told that the copy is late.
    until: Option<Instant>,
}

impl Who {
    fn is_gone(&self) -> bool {
        matches!(self, Self::Future(place) if place.strong_count() == 0)
    }

    fn is_overdue(&self, now: Instant) -> bool {
        matches!(self, Self::Kept(kept) if kept.until.is_some_and(|until| until <= now))
    }

    /// Tells it once.
    fn tell_late(&mut self) {
        if let Self::Kept(kept) = self {
            kept.until = None;
            kept.lent.tell_late();
        }
    }
}

/// Lets a thread wait for `point` and tell `place`.
pub(super) fn tell(point: Point, place: &Arc<Place>) -> Result<()> {
    add(point, Who::Future(Arc::downgrade(place)))
}

/// Keeps what the copy before `point` uses until it is done.
pub(super) fn keep(point: Point, lent: Lent<u8>) {
    let until = Some(retire::deadline());
    if let Err(error) = add(point, Who::Kept(Box::new(Kept { lent, until }))) {
        say!(Warn, "a copy whose future was dropped was waited for in the drop: {error}");
    }
}

/// What is kept waits in its own drop where there can be no thread.
fn add(point: Point, who: Who) -> Result<()> {
    let number = point.number();
    let stream = point.progress().id();
    let mut waiters = WAITERS.lock();
    let known = waiters.get(&stream).filter(|known| known.process == std::process::id());
    let waiter = match known.map(Arc::clone) {
        Some(known) => known,
        None => match start(point.progress()) {
            Ok(waiter) => {
                waiters.insert(stream, Arc::clone(&waiter));
                waiter
            }
            Err(error) => {
                drop(waiters);
                return Err(error);
            }
        },
    };
    // Under the lock of all, so that the thread does not end in between.
    waiter.add(number, (point, who));
    Ok(())
}

/// A thread that waits until it is given something.
fn start(progress: &Arc<Progress>) -> Result<Arc<Waiter>> {
    let waiter = Arc::new(Waiter {
        state: Lock::default(),
        changed: Signal::new(),
        progress: Arc::clone(progress),
        process: std::process::id(),
    });
    progress.add_helper(&waiter);
    let given = Arc::clone(&waiter);
    let started = thread::Builder::new().name("racl awaits".to_owned()).spawn(move || given.run());
    started.map_err(|error| {
        let text = format!("no thread that waits for what is awaited: {error}");
        Error::new(ErrorKind::Other, text).with_source(error)
    })?;
    Ok(waiter)
}

impl Waiter {
    fn add(&self, number: u64, what: (Point, Who)) {
        let mut state = self.state.lock();
        state.came += 1;
        let key = (number, state.came);
        state.waits.insert(key, what);
        drop(state);
        self.changed.notify_all();
    }

    /// On its thread.
    fn run(&self) {
        WAITS.set(true);
        let mut part = PART;
        while let Some((number, (point, who))) = self.next() {
            if who.is_gone() {
                self.is_between();
                continue;
            }
            let waited = wait_part(part, |limit| point.wait(limit));
            // What others were told of it may come in a moment.
            let is_late = matches!(waited, Ok(false)) || waited.is_ok() && !point.is_noted();
            part = if is_late { (2 * part).min(LONGEST) } else { PART };
            let mut woken = Vec::new();
            if is_late {
                self.add(number, (point, who));
                self.tell_late();
            } else {
                woken.extend(end(point, who, waited.map(drop)));
                // Of those that are over by now each wake-up may begin a look at all.
                for (point, who) in self.take_over() {
                    if point.is_noted() {
                        woken.extend(end(point, who, Ok(())));
                    } else {
                        self.add(point.number(), (point, who));
                    }
                }
            }
            self.is_between();
            woken.into_iter().for_each(wake);
        }
    }

    /// Those whose work is done, as is known without asking for it.
    fn take_over(&self) -> Vec<(Point, Who)> {
        let waits = &mut self.state.lock().waits;
        let mut over = Vec::new();
        while let Some(first) = waits.first_entry().filter(|first| self.progress.has_reported(first.key().0)) {
            over.push(first.remove());
        }
        over
    }

    /// Tells of copies that last longer than drops wait. Without the lock: their streams are asked for their names.
    fn tell_late(&self) {
        for (point, mut who) in self.take_overdue() {
            who.tell_late();
            self.add(point.number(), (point, who));
        }
    }

    fn take_overdue(&self) -> Vec<(Point, Who)> {
        let (now, waits) = (Instant::now(), &mut self.state.lock().waits);
        let overdue = waits.iter().filter(|(_, (_, who))| who.is_overdue(now));
        let keys: Vec<_> = overdue.map(|(key, _)| *key).collect();
        keys.iter().filter_map(|key| waits.remove(key)).collect()
    }

    fn is_between(&self) {
        self.state.lock().waiting = None;
        self.changed.notify_all();
    }

    /// The earliest; none when the thread shall end.
    fn next(&self) -> Option<(u64, (Point, Who))> {
        loop {
            let mut state = self.state.lock();
            if state.waits.is_empty() {
                state = self.changed.wait_timeout(state, LINGERS);
            }
            if let Some(((number, _), what)) = state.waits.pop_first() {
                state.waiting = Some(number);
                return Some((number, what));
            }
            drop(state);
            let mut waiters = WAITERS.lock();
            if self.state.lock().waits.is_empty() {
                waiters.remove(&self.progress.id());
                return None;
            }
        }
    }
}

impl Beside for Waiter {
    /// After another wait for work of the stream: the library tells each failure once, maybe here. The wait for a point
    /// that is done ends by itself, and leaves to the stream what nobody is told.
    fn check(&self) -> Result<()> {
        if WAITS.get() {
            return Ok(());
        }
        let is_over = |state: &State| !state.waiting.is_some_and(|number| self.progress.has_completed(number));
        let until = Instant::now() + AT_MOST;
        let mut state = self.state.lock();
        while !is_over(&state) && Instant::now() < until {
            state = self.changed.wait_timeout(state, AT_MOST);
        }
        Ok(())
    }
}

/// The point is reached, or cannot be waited for. Gives who is to be woken.
fn end(point: Point, who: Who, ended: Result<()>) -> Option<Waker> {
    let (ended, untold) = (point.judge(ended), point.untold());
    // Whoever is told may close the context next.
    drop(point);
    let (told, kept) = match who {
        Who::Future(place) => match place.upgrade() {
            Some(place) => (place.tell(ended), None),
            None => (ended.map(|()| None), None),
        },
        Who::Kept(kept) => (ended.map(|()| None), Some(kept.lent)),
    };
    let woken = told.unwrap_or_else(|error| {
        untold.keep(error);
        None
    });
    drop(kept);
    woken
}
