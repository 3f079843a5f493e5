//! What an abort ends: the order that a stream was in, and for a moment what is known to be done.
//!
//! What a stream waited for tells also what that was behind. Where one in the middle loses its waits, those behind it are
//! not behind the far end any more, and nobody knows who they are. So each failure ends what all streams are sure of: their
//! eras have another number from then on, which no note of before has.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Clock, End, Progress, Span, next_id};
use crate::error::{Error, ErrorKind};

/// Bits of an era that say which stream it is of, since which abort of it; above them how many failures came before.
const OF_STREAM: u32 = 36;

static FAILURES: AtomicU64 = AtomicU64::new(0);

/// Whether two eras are of the same stream, since the same abort of it.
#[inline]
pub(crate) fn is_same_stream(one: u64, other: u64) -> bool {
    (one ^ other) << (u64::BITS - OF_STREAM) == 0
}

/// Whether the one of two eras of a stream comes behind the other, or is the same.
pub(crate) fn is_as_late(one: u64, other: u64) -> bool {
    one.wrapping_sub(other).cast_signed() >= 0
}

/// An era of the same stream of which nothing is certain.
pub(crate) fn unsure(era: u64) -> u64 {
    era.wrapping_sub(1 << OF_STREAM)
}

/// Work that others may be behind was dropped, or failed, which may have been a wait.
pub(crate) fn lose_order() {
    FAILURES.fetch_add(1 << OF_STREAM, Ordering::AcqRel);
}

thread_local! {
    /// Streams of which this thread drops work that is not noted yet.
    static DROPS: Cell<usize> = const { Cell::new(0) };
}

/// Whether this thread drops work that is not noted yet.
pub(crate) fn drops_here() -> bool {
    DROPS.get() > 0
}

/// What is said of work that an abort dropped.
pub(crate) fn dropped() -> Error {
    Error::new(ErrorKind::Aborted, "the work was dropped, or may have been: its stream was aborted")
}

impl Progress {
    /// What the order between streams knows it by.
    #[inline]
    pub(crate) fn era(&self) -> u64 {
        self.era.load(Ordering::Relaxed).wrapping_add(FAILURES.load(Ordering::Relaxed))
    }

    /// What it was behind it may be no more. The caller has the stream's lock, and sees to its clock.
    pub(crate) fn begin_era(&self) {
        self.era.store(next_id(), Ordering::Relaxed);
    }

    /// What its stream is behind. Who submits just now may have it wait for more.
    pub(crate) fn behind(&self) -> Clock {
        self.behind.lock().clone()
    }

    /// It is behind that submission, and what that is behind. The caller has the stream's lock.
    pub(crate) fn note_behind(&self, submission: (u64, u64), clock: &Clock) {
        self.behind.lock().follow(submission, clock);
    }

    /// It is behind nothing. The caller has the stream's lock.
    pub(crate) fn forget_behind(&self) {
        *self.behind.lock() = Clock::default();
    }

    /// Whether the stream has memory that others may use still.
    #[inline]
    pub(crate) fn borrows(&self) -> bool {
        self.borrows.load(Ordering::Relaxed)
    }

    /// The caller has the stream's lock.
    pub(crate) fn set_borrows(&self, borrows: bool) {
        self.borrows.store(borrows, Ordering::Relaxed);
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

    /// From here on until [`end_unnoted`](Self::end_unnoted) on the same thread nobody knows what was dropped.
    pub(crate) fn begin_unnoted(&self) {
        DROPS.set(DROPS.get() + 1);
        self.unnoted.fetch_add(1, Ordering::SeqCst);
    }

    /// What was dropped is noted, or nothing was.
    pub(crate) fn end_unnoted(&self) {
        self.unnoted.fetch_sub(1, Ordering::SeqCst);
        DROPS.set(DROPS.get() - 1);
    }

    /// Whether somebody drops work of it just now, of which nobody knows yet.
    pub(crate) fn is_dropped_from(&self) -> bool {
        self.unnoted.load(Ordering::SeqCst) > 0
    }

    /// Work of `span` may have been dropped, as far as is noted.
    pub(crate) fn has_dropped(&self, span: Span) -> bool {
        self.aborts.touch(span)
    }

    /// How often work of it was dropped.
    pub(crate) fn drops(&self) -> u64 {
        self.aborts.count()
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
    /// what failed may have been a wait in front of it.
    pub(crate) fn may_be_out_of_order(&self, number: u64) -> bool {
        let span = (number.saturating_sub(1), number);
        self.aborts.touch(span) || self.failures.touch(span)
    }
}
