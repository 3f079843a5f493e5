//! Waits of the host for events.

use std::sync::Arc;
use std::time::Duration;

use super::{Event, Last, Position};
use crate::call::call;
use crate::error::Result;
use crate::progress::{Pass, Progress, no_panics};
use crate::retire::{self, keepers};
use crate::stream::{StreamInner, check_inherited, milliseconds};

impl Event {
    /// Blocks until the latest record is reached; returns at once for an event that was never recorded.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::CaptureForbidden`] while the latest record is part of an active capture,
    /// [`ErrorKind::CaptureDependency`] when it went into one that is over: its replays do not signal the event. The
    /// error of the work before the record, also of that which it is behind on other streams, as for
    /// [`Stream::synchronize`], [`ErrorKind::CallbackPanicked`] of host functions before it among them, each told once;
    /// and that of work behind it which has failed by then, since the library tells each failure of a stream to whoever
    /// waits first.
    ///
    /// [`ErrorKind::CaptureForbidden`]: crate::ErrorKind::CaptureForbidden
    /// [`ErrorKind::CaptureDependency`]: crate::ErrorKind::CaptureDependency
    /// [`ErrorKind::CallbackPanicked`]: crate::ErrorKind::CallbackPanicked
    /// [`Stream::synchronize`]: crate::Stream::synchronize
    #[doc(alias = "aclrtSynchronizeEvent")]
    pub fn synchronize(&self) -> Result<()> {
        tell_panics(self.outlast()?)
    }

    /// As [`Event::synchronize`], for at most `limit`, in whole milliseconds, rounded up. Asks from time to time where
    /// the library has no such wait, as up to CANN 9.0.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Timeout`](crate::ErrorKind::Timeout) when the record is not reached by then;
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for no time at all or more than 24 days.
    #[doc(alias = "aclrtSynchronizeEventWithTimeout")]
    pub fn synchronize_timeout(&self, limit: Duration) -> Result<()> {
        tell_panics(self.outlast_within(limit)?)
    }

    /// As [`Event::synchronize`], and leaves panics of host functions before the record on its stream to others. Gives
    /// what was waited for.
    pub(crate) fn outlast(&self) -> Result<Awaited> {
        let before = self.position().unwrap_or_default();
        self.check_signalled()?;
        let event = self.as_raw();
        let wait = |limit: Option<i32>| match limit {
            // SAFETY: the handle is this value's own.
            None => unsafe { call!(&**self.context_inner(), aclrtSynchronizeEvent(event)) },
            Some(ms) => self.wait_at_most(ms),
        };
        waiting(&before, || self.named(keepers::wait_long(wait)))?;
        self.over(before)
    }

    /// The same of [`Event::synchronize_timeout`].
    pub(crate) fn outlast_within(&self, limit: Duration) -> Result<Awaited> {
        let before = self.position().unwrap_or_default();
        let ms = milliseconds(limit)?;
        self.check_signalled()?;
        waiting(&before, || self.named(keepers::look_after(ms, self.wait_at_most(ms))))?;
        self.over(before)
    }

    /// The task whose failure an error reports, where the library told.
    fn named<T>(&self, waited: Result<T>) -> Result<T> {
        let recorded = || {
            let progress = match &self.last().ok()?.last {
                Last::Eager { progress, .. } => Arc::clone(progress),
                _ => return None,
            };
            let _pass = Pass::begin(&progress);
            StreamInner::of(&progress)?.id().ok()?.try_into().ok()
        };
        waited.map_err(|error| self.context_inner().explain(error, recorded))
    }

    /// After a wait for the record at `position` that succeeded.
    fn over(&self, position: Position) -> Result<Awaited> {
        let (at, records) = (position.0.clone(), position.1);
        let Some((progress, number)) = at else { return Ok(None) };
        let before = progress.unreported().0;
        self.passed(position, Progress::set_reported);
        retire::check_not_dropped(&progress, number).and_then(|()| progress.check_helpers())?;
        if self.context_inner().failures.are_none() && no_panics() {
            return Ok(Some((progress, number)));
        }
        let clock = self.last.try_lock().and_then(|noted| match &noted.last {
            Last::Eager { clock, .. } if noted.records == records => Some(clock.clone()),
            _ => None,
        });
        let inherited = |clock| check_inherited(self.context_inner(), (&progress, before, number), &clock);
        clock.map_or(Ok(()), inherited)?;
        Ok(Some((progress, number)))
    }
}

/// The submission that was waited for; none where there was no record, or nobody knows which one.
type Awaited = Option<(Arc<Progress>, u64)>;

/// Those in front of what was waited for, of which nobody was told.
fn tell_panics(awaited: Awaited) -> Result<()> {
    awaited.map_or(Ok(()), |(progress, number)| progress.tell_panics((0, number)))
}

/// Waits for a submission, and notes what the wait was told of failed work.
fn waiting((position, _): &Position, wait: impl FnOnce() -> Result<()>) -> Result<()> {
    let before = position.as_ref().map(|(progress, _)| (progress, progress.unreported().0));
    let _taker = position.as_ref().map(|(progress, number)| progress.takes(*number));
    wait().inspect_err(|error| {
        if let (Some((progress, before)), true) = (before, error.is_of_work()) {
            // The failure may be one of work behind the record, which nobody else is told of.
            let number = progress.note_failed((before, progress.submitted()), error.kind());
            progress.note_log(number, error);
        }
    })
}
