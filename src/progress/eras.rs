//! What an abort ends: the order that a stream was in, and for a moment what is known to be done.

use std::sync::atomic::Ordering;

use super::{End, Progress, next_id};
use crate::error::ErrorKind;

impl Progress {
    /// What the order between streams knows it by.
    #[inline]
    pub(crate) fn era(&self) -> u64 {
        self.era.load(Ordering::Relaxed)
    }

    /// What it was behind it may be no more. The caller has the stream's lock, and sees to its clock.
    pub(crate) fn begin_era(&self) {
        self.era.store(next_id(), Ordering::Relaxed);
    }

    /// From here on its work may be dropped.
    pub(crate) fn begin_dropping(&self) {
        self.dropping.fetch_add(1, Ordering::SeqCst);
    }

    /// What is done is done again, also where the stream went meanwhile.
    pub(crate) fn end_dropping(&self) {
        self.dropping.fetch_sub(1, Ordering::SeqCst);
        if matches!(*self.end(), End::Done) {
            self.set_reported(u64::MAX);
        }
    }

    pub(super) fn is_dropping(&self) -> bool {
        self.dropping.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn set_stops(&self) {
        self.stops.store(true, Ordering::Release);
    }

    /// Whether a failure drops what is behind it.
    pub(crate) fn stops(&self) -> bool {
        self.stops.load(Ordering::Acquire)
    }

    /// Whether the submission with this number may have been done without what it was to wait for: it was dropped, or
    /// a wait in front of it took too long.
    pub(crate) fn may_be_out_of_order(&self, number: u64) -> bool {
        let span = (number.saturating_sub(1), number);
        let ends = |kind: ErrorKind| kind == ErrorKind::Timeout || self.stops();
        self.aborts.touch(span) || self.failures.has(span, ends)
    }
}
