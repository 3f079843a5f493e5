//! Waits for what no stream of this crate is known to bring: values in memory, notifies, events of other processes.
//!
//! Whoever waits on the device behind one of them may have been about to bring it. So for memory, which a stream is made
//! to wait for unasked, the host waits instead.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Stream;
use crate::error::Result;
use crate::lock::{Lock, say};
use crate::progress::{Clock, Use};

/// Such waits. Those that are over leave when the list grows, or is looked at.
static OPEN: Lock<Vec<Use>> = Lock::new(Vec::new());
/// How many those are, for who need not lock it.
static COUNT: AtomicUsize = AtomicUsize::new(0);

impl Stream {
    /// Gives the stream a graph that has such a wait, or has none.
    pub(crate) fn may_wait_elsewhere<T>(&self, has: bool, launch: impl FnOnce() -> Result<T>) -> Result<T> {
        if has { self.wait_elsewhere(launch) } else { launch() }
    }

    /// Gives the stream such a wait. In a capture it is the graph's.
    pub(crate) fn wait_elsewhere<T>(&self, wait: impl FnOnce() -> Result<T>) -> Result<T> {
        self.mark_before_elsewhere();
        wait().inspect(|_| self.note_wait_elsewhere())
    }

    /// Marks what the stream was given so far, so that the host can wait for that much. Where that fails, the host waits
    /// for the whole.
    fn mark_before_elsewhere(&self) {
        if COUNT.load(Ordering::Acquire) > 0 {
            // What came in the meantime is nothing to wait for.
            self.0.poll();
        }
        // A mark takes room, too, which the program counts on.
        if !self.0.has_room() {
            return;
        }
        if let Err(error) = self.mark_before_gate() {
            say!(Warn, "marking what {} was given before a wait: {error:#}", self.name());
        }
    }

    fn note_wait_elsewhere(&self) {
        if self.is_capturing() {
            let capture = self.0.lock().capture.clone();
            return capture.iter().for_each(|capture| capture.note_wait_elsewhere());
        }
        let number = self.0.progress.submitted();
        let mut open = OPEN.lock();
        if open.len() == open.capacity() {
            open.retain(|one| !one.is_done());
        }
        open.push(Use::new(&self.0, number));
        COUNT.store(open.len(), Ordering::Release);
    }
}

/// Whether the submission `number` of the stream of this era, which is behind `clock`, may wait for such a thing.
#[inline]
pub(super) fn may_be_missing(work: (u64, u64), clock: &Clock) -> bool {
    COUNT.load(Ordering::Acquire) > 0 && is_open_before(work, clock)
}

#[cold]
fn is_open_before((stream, number): (u64, u64), clock: &Clock) -> bool {
    let is_before = |one: &Use| {
        let own = one.is_of_era(stream) && one.number() <= number;
        own || clock.may_cover(one.stream(), one.number())
    };
    let mut open = OPEN.lock();
    open.retain(|one| !one.is_done());
    COUNT.store(open.len(), Ordering::Release);
    open.iter().any(is_before)
}
