//! Streams that wait for events.

use std::panic::Location;
use std::sync::Arc;

use super::{Event, Last, Noted, One, Slow};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::Guard;
use crate::progress::{Clock, unsure};
use crate::retire;
use crate::stream::{CaptureState, State, Stream, StreamInner, Task, may_wait_long};

impl Stream {
    /// Makes later work of this stream wait for the latest record of `event`. An event that was never recorded is not
    /// waited for. In a capture the wait becomes part of the graph, and a stream that waits for an event of a capture
    /// joins that capture.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::CaptureDependency`](crate::ErrorKind::CaptureDependency) when a capturing stream waits for a record outside the capture, and when any
    /// stream waits for a record that went into a capture which is over: no replay signals it;
    /// [`ErrorKind::CaptureInvalidated`](crate::ErrorKind::CaptureInvalidated) for an event of another capture.
    #[doc(alias = "aclrtStreamWaitEvent")]
    #[track_caller]
    pub fn wait(&self, event: &Event) -> Result<()> {
        event.make_wait(self, Location::caller())
    }

    /// Orders later work of `other` after what this stream was given so far: one record, one wait.
    ///
    /// # Errors
    ///
    /// As [`Stream::wait`].
    #[track_caller]
    pub fn fork(&self, other: &Self) -> Result<()> {
        if self.0.fork_to(&other.0)? {
            return Ok(());
        }
        let location = Location::caller();
        // What is given to either stream next would be in no order with the other.
        let event = self.context().event().map_err(|error| {
            other.refuse(("fork", location), Error::invalid("a fork that failed"));
            self.refuse(("fork", location), error)
        })?;
        event.record(self)?;
        other.wait(&event)
    }

    /// Orders later work of this stream after what `other` was given so far.
    ///
    /// # Errors
    ///
    /// As [`Stream::wait`].
    #[track_caller]
    pub fn join(&self, other: &Self) -> Result<()> {
        other.fork(self)
    }
}

impl Event {
    /// The wait of [`Stream::wait`].
    pub(crate) fn make_wait(&self, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        let checked = stream.0.context().check_library(self.context_inner(), "an event");
        checked.map_err(|error| self.refuse_wait(stream, location, error))?;
        stream.0.check_thread()?;
        if !stream.0.has_room() {
            return self.wait_for_room(stream, location);
        }
        let (mut state, noted) = self.lock_both(&stream.0)?;
        let (None, Last::Eager { progress, number, clock }) = (&state.capture, &noted.last) else {
            return self.make_other_wait(&stream.0, (state, &noted), location);
        };
        if let Err(error) = stream.0.mark_before_held(&mut state, progress, clock) {
            drop((state, noted));
            return self.wait_again(stream, location, error);
        }
        let stream = &stream.0;
        let task = Task { label: "event wait", location, uses: &[], scratch: None };
        let era = progress.era();
        stream.submit_free_standing(&state, &task, |_| self.c_wait(stream))?;
        // Behind nothing where the record, or a wait in front of it, was dropped.
        if progress.check_run(*number).is_ok() {
            stream.is_behind(&mut state, (era, *number), clock);
        }
        Ok(())
    }

    /// The same, where the call may wait for room: whoever asks the event meanwhile is told of its record, which stays the
    /// latest.
    fn wait_for_room(&self, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        let (mut state, mut noted) = self.lock_both(&stream.0)?;
        let (None, Last::Eager { progress, number, clock }) = (&state.capture, &noted.last) else {
            return self.make_other_wait(&stream.0, (state, &noted), location);
        };
        let (era, number) = (progress.era(), *number);
        // A record of its own may come first, for which no lock of the event is kept.
        let long = may_wait_long(progress, clock).then(|| (Arc::clone(progress), clock.clone()));
        let wait = One::begin(self, &mut noted);
        drop(noted);
        if let Some((progress, clock)) = &long
            && let Err(error) = stream.0.mark_before_held(&mut state, progress, clock)
        {
            drop((state, wait));
            return self.wait_again(stream, location, error);
        }
        let stream = &stream.0;
        let task = Task { label: "event wait", location, uses: &[], scratch: None };
        stream.submit_free_standing(&state, &task, |_| self.c_wait(stream))?;
        let noted = wait.end();
        let known = match (&long, noted.as_deref()) {
            (Some((progress, clock)), _) => Some((progress, clock)),
            (None, Some(Noted { last: Last::Eager { progress, clock, .. }, .. })) => Some((progress, clock)),
            (None, _) => None,
        };
        match known {
            Some((progress, clock)) if progress.check_run(number).is_ok() => {
                stream.is_behind(&mut state, (era, number), clock);
            }
            Some(_) => {}
            // It may be: what failed there is told, and later work waits anew.
            None => stream.is_behind(&mut state, (unsure(era), number), &Clock::default()),
        }
        Ok(())
    }

    /// Once more where other threads give events back.
    #[cold]
    fn wait_again(&self, stream: &Stream, location: &'static Location<'static>, error: Error) -> Result<()> {
        let again = error.kind() == ErrorKind::NoEvents && retire::collect_for_room();
        if again { self.make_wait(stream, location) } else { Err(error) }
    }

    /// What the stream was to wait for lacks it as well, where that is in a capture: a fork of it.
    #[cold]
    fn refuse_wait(&self, stream: &Stream, location: &'static Location<'static>, error: Error) -> Error {
        let noted = self.last.try_lock();
        let capture = noted.and_then(|noted| match &noted.last {
            Last::Captured(capture) => capture.upgrade(),
            _ => None,
        });
        let error = stream.refuse(("event wait", location), error);
        match capture {
            Some(capture) => capture.lacks(("event wait", location), error),
            None => error,
        }
    }

    /// A wait in a capture, or for an event that eager work did not record last.
    #[inline(never)]
    fn make_other_wait(
        &self,
        stream: &Arc<StreamInner>,
        (mut state, noted): (Guard<'_, State>, &Noted),
        location: &'static Location<'static>,
    ) -> Result<()> {
        let _slow = Slow::begin(self, stream);
        let task = Task { label: "event wait", location, uses: &[], scratch: None };
        let of_event = match &noted.last {
            Last::Captured(capture) => capture.upgrade().filter(|capture| capture.check_open().is_ok()),
            _ => None,
        };
        if of_event.is_none() {
            noted.check_signalled().map_err(|error| match &state.capture {
                Some(capture) => capture.poison(&task, error),
                None => error,
            })?;
        }
        if let Some(capture) = &state.capture {
            let waits = check_wait(capture, &noted.last, of_event.as_deref());
            let waits = capture.check_recorded("an event").and(self.check_own()).and(waits);
            waits.map_err(|error| capture.poison(&task, error))?;
        } else if self.is_shared() {
            self.check_outside()?;
        }
        // The C call makes the stream part of the event's capture; from here on its work is registered there.
        if let (None, Some(capture)) = (&state.capture, &of_event) {
            let marked = stream.mark_busy(&mut state);
            let joined = marked.and_then(|()| capture.add_stream(stream, || self.c_wait(stream)));
            let (is_in, joined) = joined.unwrap_or_else(|error| (false, Err(error)));
            if is_in {
                state.capture = Some(Arc::clone(capture));
            }
            if let Err(error) = joined {
                return Err(capture.poison(&task, error));
            }
            capture.record(stream, &task);
            capture.note_wait(stream, self.key());
            return Ok(());
        }
        stream.submit_free_standing(&state, &task, |_| self.c_wait(stream))?;
        if let Some(capture) = &state.capture {
            capture.note_wait(stream, self.key());
        }
        Ok(())
    }
}

/// That work of the capture can wait for an event whose last record is this.
#[inline(never)]
fn check_wait(capture: &CaptureState, last: &Last, of_event: Option<&CaptureState>) -> Result<()> {
    let text = if matches!(last, Last::Never) {
        "the event was never recorded, so the wait would order nothing; record it before"
    } else if of_event.is_some_and(|other| capture.is_beside(other)) {
        "the event was recorded on the other side of the border of a condition's body, which is in order with what is \
         around it as a whole: fork and join inside the body, or around the condition"
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::CaptureDependency, text))
}
