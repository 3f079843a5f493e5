//! A point in a stream's work that somebody awaits.

use std::panic::Location;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::closure;
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, EventKind};
use crate::lock::say;
use crate::progress::{Failed, Pass, Passes, Progress, Visit, device_failures};
use crate::retire;
use crate::stream::{StreamInner, leave_failure};

pub(super) struct Point {
    event: Arc<Event>,
    progress: Arc<Progress>,
    number: u64,
    before: Before,
    /// Where it is a stream that is awaited.
    stream: Weak<StreamInner>,
    /// Of host functions in front of it.
    tells_panics: bool,
}

/// What was known when the point was made.
#[derive(Clone, Copy)]
struct Before {
    reported: u64,
    failures: u64,
    of_device: u64,
}

impl Before {
    fn of(progress: &Progress, context: &ContextInner) -> Self {
        let (reported, failures) = (progress.unreported().0, progress.failures());
        Self { reported, failures, of_device: device_failures(context.device()) }
    }
}

/// For what nobody was told of work of a stream, since the future was dropped.
pub(super) struct Untold {
    stream: Weak<StreamInner>,
    progress: Arc<Progress>,
    context: Weak<ContextInner>,
    passes: Arc<Passes>,
}

impl Untold {
    /// The next wait for the stream tells it, or [`Context::take_drop_errors`](crate::Context::take_drop_errors).
    pub(super) fn keep(&self, error: Error) {
        // Another wait was told what the library said.
        if error.code().is_none() && error.kind() == ErrorKind::DeviceFault {
            return;
        }
        let (_pass, _visit) = (Pass::begin(&self.progress), Visit::begin(&self.passes));
        match (self.stream.upgrade(), self.context.upgrade()) {
            (Some(stream), _) => drop(stream.tell_later(error)),
            (None, Some(context)) => {
                leave_failure(&self.progress, &context, ("work whose future was dropped", error));
            }
            (None, None) => say!(Warn, "work whose future was dropped: {error}"),
        }
    }
}

impl Point {
    /// The point that the stream has reached with what it was given so far.
    pub(super) fn mark(stream: &Arc<StreamInner>, at: &'static Location<'static>) -> Result<Self> {
        stream.check_thread()?;
        let event = Event::create_in(stream.context(), EventKind::Order)?;
        let progress = Arc::clone(stream.progress());
        let before = Before::of(&progress, stream.context());
        let state = stream.lock();
        if state.capture.is_some() {
            drop(state);
            let text = format!("{} records a graph; await it after the capture has ended", stream.name());
            return Err(Error::new(ErrorKind::CaptureForbidden, text));
        }
        event.record_locked(stream, &state, at)?;
        let number = progress.submitted();
        drop(state);
        Ok(Self {
            event: Arc::new(event),
            progress,
            number,
            before,
            stream: Arc::downgrade(stream),
            tells_panics: true,
        })
    }

    /// That of the latest record; none where there is none.
    pub(super) fn of(event: &Arc<Event>) -> Result<Option<Self>> {
        let Some((progress, number)) = event.recorded()? else { return Ok(None) };
        let before = Before::of(&progress, event.context_inner());
        Ok(Some(Self { event: Arc::clone(event), progress, number, before, stream: Weak::new(), tells_panics: true }))
    }

    /// The same, which leaves panics of host functions to others.
    pub(super) fn without_panics(self) -> Self {
        Self { tells_panics: false, ..self }
    }

    /// Of the stream that it is in.
    pub(super) fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// How far along it is.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn untold(&self) -> Untold {
        let context = self.event.context_inner();
        Untold {
            stream: Weak::clone(&self.stream),
            progress: Arc::clone(&self.progress),
            context: Arc::downgrade(context),
            passes: Arc::clone(&context.passes),
        }
    }

    /// How the work before it ended, if it is over. Does not block.
    pub(super) fn ask(&self) -> Option<Result<()>> {
        if closure::is_running() {
            // No call is allowed there.
            return None;
        }
        match self.has_ended() {
            Ok(ended) => (ended && self.is_noted()).then(|| self.judge(Ok(()))),
            Err(error) => Some(self.judge(Err(error))),
        }
    }

    fn has_ended(&self) -> Result<bool> {
        if self.progress.has_reported(self.number) {
            return Ok(true);
        }
        self.by_event(|event| event.has_ended()).unwrap_or_else(|| self.ask_stream())
    }

    /// What the event says of the point; none where its latest record is elsewhere, so that the library has forgotten it.
    fn by_event<T>(&self, ask: impl FnOnce(&Event) -> Result<T>) -> Option<Result<T>> {
        let stands = || self.event.covers(&self.progress, self.number);
        let told = stands().then(|| ask(&self.event))?;
        // What it told of failed work is noted.
        if stands() { Some(told) } else { None }
    }

    /// The same by its stream, of all that this was given until the first question. While it captures, that is known once
    /// the capture has ended.
    fn ask_stream(&self) -> Result<bool> {
        let _pass = Pass::begin(&self.progress);
        let Some(stream) = StreamInner::of(&self.progress) else {
            return Ok(self.progress.has_completed(self.number));
        };
        if !self.progress.has_completed(self.number) {
            stream.poll();
        }
        let ended = self.progress.has_completed(self.number);
        if ended {
            retire::told_of_end(stream.wait_for(self.number, Some(1)))?;
        }
        Ok(ended)
    }

    /// Whether all that others were told of the work before it, which is over, is known.
    pub(super) fn is_noted(&self) -> bool {
        self.progress.is_noted(self.number)
    }

    /// Waits for it, at most for so many milliseconds.
    pub(super) fn wait(&self, limit: Option<i32>) -> Result<()> {
        let limit = limit.map(|ms| Duration::from_millis(ms.unsigned_abs().into()));
        let wait =
            |event: &Event| limit.map_or_else(|| event.outlast(), |limit| event.outlast_within(limit)).map(drop);
        self.by_event(wait).unwrap_or_else(|| self.wait_for_stream(limit.unwrap_or(Duration::MAX)))
    }

    fn wait_for_stream(&self, limit: Duration) -> Result<()> {
        let begun = Instant::now();
        while !self.ask_stream()? {
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(Error::new(
                    ErrorKind::Timeout,
                    format!("a point of a stream is not reached after {limit:?}"),
                ));
            }
            retire::pause_for(left.min(retire::RESTS.start));
        }
        Ok(())
    }

    /// After a wait: what went wrong and only others were told.
    pub(super) fn judge(&self, waited: Result<()>) -> Result<()> {
        waited?;
        let Before { reported, failures, of_device } = self.before;
        let failed = self.progress.failed_since(failures, (reported, self.number));
        let counts = |(kind, _): &Failed| self.tells_panics || *kind != ErrorKind::CallbackPanicked;
        let failed = failed.filter(counts);
        if self.tells_panics {
            self.progress.tell_panics((0, self.number))?;
        }
        if failed.is_some() || device_failures(self.event.context_inner().device()) != of_device {
            let text = "work of the stream failed, as another wait was told; it may be behind the point";
            let lines = failed.map_or(Vec::new(), |(_, lines)| lines.to_vec());
            return Err(Error::new(ErrorKind::DeviceFault, text).with_log(lines));
        }
        let _pass = Pass::begin(&self.progress);
        self.stream.upgrade().map_or(Ok(()), |stream| stream.tell_what_is_left())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    /// On a thread that waits for the work and was told something, which it has not noted yet.
    #[test]
    fn nothing_is_over_before_what_another_wait_was_told_is_noted() -> Result<()> {
        let stream = crate::Acl::mock()?.device(0)?.stream()?;
        let event = Arc::new(stream.context().event()?);
        event.record(&stream)?;
        stream.synchronize()?;
        let point = Point::of(&event)?.expect("a record");
        let (taking, taken) = channel();
        let (noting, noted) = channel::<()>();
        thread::scope(|scope| {
            let progress = point.progress();
            scope.spawn(move || {
                let _taker = progress.takes(progress.submitted());
                taking.send(()).unwrap();
                let _ = noted.recv();
            });
            taken.recv().unwrap();
            assert!(!event.is_complete()? && !stream.is_complete()? && point.ask().is_none());
            drop(noting);
            Ok::<(), Error>(())
        })?;
        assert!(event.is_complete()? && stream.is_complete()?);
        point.ask().expect("it is over")
    }
}
