//! Waits for what no stream of this crate is known to bring: values in memory, notifies, events of other processes.
//!
//! Whoever waits on the device behind one of them may have been about to bring it. So for memory, which a stream is made
//! to wait for unasked, the host waits instead.

use super::Stream;
use crate::lock::Lock;
use crate::progress::{Clock, Use};

/// Such waits. Those that are over leave when the list grows.
static OPEN: Lock<Vec<Use>> = Lock::new(Vec::new());

impl Stream {
    /// Notes that the stream was just given such a wait, or a graph that has one. In a capture it is the graph's.
    pub(crate) fn note_wait_elsewhere(&self) {
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
    }
}

/// Whether the submission `number` of the stream of this era, which is behind `clock`, may wait for such a thing.
pub(super) fn may_be_missing((stream, number): (u64, u64), clock: &Clock) -> bool {
    let is_before = |one: &Use| {
        let own = one.stream() == stream && one.number() <= number;
        own || clock.covers(one.stream(), one.number())
    };
    OPEN.lock().iter().any(|one| !one.is_done() && is_before(one))
}
