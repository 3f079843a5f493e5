//! Forks outside of captures.

use std::sync::Arc;

use super::{Ownership, State, StreamInner};
use crate::call::{Caller as _, call};
use crate::context::RawEvent;
use crate::error::{ErrorKind, Result};
use crate::progress::{Clock, Progress};

impl StreamInner {
    /// Whether a fork from it or to it is two calls and no more.
    fn forks(&self, state: &State) -> bool {
        let other = state.capture.is_some() || state.only_keeps || state.updates || state.over.is_some();
        !other && !state.wants_marker.get() && self.ownership != Ownership::Bound
    }

    /// Makes another stream wait for all that this one was given, also beside this crate. False where a capture or an
    /// update has a say, or it is to be refused: at most a record was made then. The event is none that others wait for by
    /// themselves, who must not come behind a gate.
    pub(crate) fn fork_to(&self, other: &Self) -> Result<bool> {
        let same_library = std::ptr::eq(self.context.table(), other.context.table());
        // Before the locks, which a thread that waits for room in the queue has.
        if !same_library || self.check_thread().is_err() || other.check_thread().is_err() {
            return Ok(false);
        }
        let recorded = match self.record_fork() {
            // Nothing else tells a capture that it lacks the fork. And who waits for events to come back does so without
            // a lock.
            Err(error) if error.kind() == ErrorKind::NoEvents || !other.forks(&other.lock()) => return Ok(false),
            recorded => recorded?,
        };
        let Some((event, number, clock)) = recorded else { return Ok(false) };
        let mut state = other.lock();
        if !other.forks(&state) {
            return Ok(false);
        }
        match other.mark_before_held(&mut state, &self.progress, &clock) {
            Err(error) if error.kind() == ErrorKind::NoEvents => return Ok(false),
            marked => marked?,
        }
        let era = self.progress.era();
        // SAFETY: both handles are live.
        let waits = unsafe { call!(&*other.context, aclrtStreamWaitEvent(other.raw, event.raw())) };
        if waits.as_ref().map_or_else(|error| other.may_have_part(error), |()| true) {
            other.progress.next();
        }
        waits?;
        if self.progress.check_run(number).is_ok() {
            other.is_behind(&mut state, (era, number), &clock);
        }
        Ok(true)
    }

    /// Records the event of its forks, which it keeps; none where more belongs to a fork.
    fn record_fork(&self) -> Result<Option<(Arc<RawEvent>, u64, Clock)>> {
        let mut state = self.lock();
        if !self.forks(&state) {
            return Ok(None);
        }
        let kept = state.forked.take();
        let (event, number) = self.record_again(kept, Progress::next)?;
        state.forked = Some(Arc::clone(&event));
        Ok(Some((event, number, state.clock.clone())))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Acl, Result, mock};

    /// What is behind the numbers of submissions, such as room in the queue and the end of the stream, counts on it.
    #[test]
    fn a_fork_is_a_submission_of_both() -> Result<()> {
        let context = Acl::mock()?.device(0)?.context().create_context()?;
        let (one, other) = (context.stream()?, context.stream()?);
        mock::hold(&one)?;
        for forks in 1..=3 {
            one.fork(&other)?;
            let open = [&one, &other].map(|stream| stream.0.progress.open());
            assert_eq!((open, one.0.is_settled()), ([forks, forks], false));
        }
        mock::release(&one)?;
        one.synchronize()?;
        other.synchronize()?;
        one.close()?;
        other.close()?;
        context.close().map_err(Into::into)
    }
}
