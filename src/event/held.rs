//! Who has an event for longer than a moment.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{Event, Noted};
use crate::lock::Guard;
use crate::retire;
use crate::stream::StreamInner;

/// How often the lock is tried for a question, and how long after one another.
const LOOKS: usize = 8;
const LOOK: Duration = Duration::from_micros(20);

/// Of one event.
#[derive(Default)]
pub(super) struct Held {
    /// Waits that ended while another thread had the lock, of those that [`Noted`] counts.
    ended: AtomicUsize,
    /// How many have the lock and may wait for room.
    slow: AtomicUsize,
}

/// A wait for an event that is made, until this goes.
pub(super) struct One<'a>(&'a Event);

impl<'a> One<'a> {
    /// The caller has the event's lock.
    #[inline]
    pub(super) fn begin(event: &'a Event, noted: &mut Noted) -> Self {
        noted.waits += 1;
        Self(event)
    }

    /// Ends it; gives what is known of the event, which is what it was. None where another thread keeps the lock: it may
    /// wait for room as well.
    #[inline]
    pub(super) fn end(self) -> Option<Guard<'a, Noted>> {
        let event = self.0;
        // Without the lock later work waits anew, and nobody is told of what failed behind it.
        let mut noted = event.last.try_lock().or_else(|| event.last_by(Instant::now() + retire::BRIEF))?;
        std::mem::forget(self);
        noted.waits -= 1;
        Some(noted)
    }
}

impl Drop for One<'_> {
    fn drop(&mut self) {
        self.0.held.ended.fetch_add(1, Ordering::Release);
    }
}

/// Who has an event's lock, and may wait for room in a queue.
pub(super) struct Slow<'a>(&'a Event);

impl<'a> Slow<'a> {
    /// None where there is room.
    #[inline]
    pub(super) fn begin(event: &'a Event, stream: &StreamInner) -> Option<Self> {
        if stream.has_room() {
            return None;
        }
        event.held.slow.fetch_add(1, Ordering::AcqRel);
        Some(Self(event))
    }
}

impl Drop for Slow<'_> {
    fn drop(&mut self) {
        self.0.held.slow.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Event {
    /// Whether no thread makes a stream wait for it.
    #[inline]
    pub(super) fn is_alone(&self, noted: &Noted) -> bool {
        noted.waits == self.held.ended.load(Ordering::Acquire)
    }

    /// Whether another thread has it while that may wait for room, maybe for the very one who asks: then the library alone
    /// says whether it is reached.
    pub(super) fn is_held_long(&self) -> bool {
        self.held.slow.load(Ordering::Acquire) > 0
    }

    /// The lock, unless another thread has it for longer than a wait that has room.
    pub(super) fn last_soon(&self) -> Option<Guard<'_, Noted>> {
        (0..LOOKS).find_map(|look| {
            if look > 0 {
                retire::pause_for(LOOK);
            }
            self.last.try_lock()
        })
    }

    #[cold]
    fn last_by(&self, until: Instant) -> Option<Guard<'_, Noted>> {
        while Instant::now() < until {
            retire::pause_for(LOOK);
            if let Some(noted) = self.last.try_lock() {
                return Some(noted);
            }
        }
        None
    }
}

#[cfg(all(test, feature = "mock"))]
mod tests {
    use super::*;
    use crate::Acl;

    /// Who has the lock may wait for room, behind work for the very stream that waits here.
    #[test]
    fn a_wait_ends_also_while_another_thread_has_the_event() {
        let event = Acl::mock().unwrap().device(0).unwrap().event().unwrap();
        let (first, second) = {
            let mut noted = event.last().unwrap();
            (One::begin(&event, &mut noted), One::begin(&event, &mut noted))
        };
        let had = event.last().unwrap();
        std::thread::scope(|scope| scope.spawn(|| assert!(first.end().is_none())).join().unwrap());
        assert!(!event.is_alone(&had));
        drop(had);
        assert!(event.is_alone(&second.end().unwrap()));
    }
}
