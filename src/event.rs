//! Events: points in a stream that other streams and the host can wait for.

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use acl_sys::aclrtEvent;

use crate::call::call;
use crate::context::{Context, ContextInner};
use crate::error::{Error, ErrorKind, Result};
use crate::progress::Progress;
use crate::stream::{CaptureState, RawEvent, State, Stream, StreamInner, Task, milliseconds};

/// A point in a stream's work. Recording it again moves it; a wait refers to the latest record at the time of the
/// wait.
///
/// Made by [`Context::event`] (ordering) or [`Context::timing_event`] (ordering and time). Any thread may use it.
/// Dropping it never blocks: pending records and waits still take place.
///
/// C calls: `aclrtCreateEventExWithFlag`, `aclrtDestroyEvent`, `aclrtRecordEvent`, `aclrtQueryEventStatus`,
/// `aclrtSynchronizeEvent`, `aclrtEventElapsedTime`.
///
/// # Examples
///
/// ```
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let (start, end) = (device.timing_event()?, device.timing_event()?);
/// start.record(&stream)?;
/// end.record(&stream)?;
/// end.synchronize()?;
/// println!("{:?}", end.elapsed_since(&start)?);
/// # Ok::<(), racl::Error>(())
/// ```
pub struct Event {
    raw: RawEvent,
    kind: EventKind,
    last: Mutex<Noted>,
}

/// What is known of the records. Locked while one is made or waited for, so that this and the runtime agree.
#[derive(Default)]
struct Noted {
    last: Last,
    records: u64,
}

/// A submission, if the latest record was eager, and the number of records so far.
type Position = (Option<(Arc<Progress>, u64)>, u64);

/// What an event can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum EventKind {
    /// Orders streams.
    Order,
    /// Orders streams and takes the time.
    Timing,
}

/// Where the latest record went.
#[derive(Default)]
enum Last {
    #[default]
    Never,
    Eager {
        progress: Arc<Progress>,
        number: u64,
    },
    Captured(Weak<CaptureState>),
}

impl Context {
    /// A new event for ordering streams, of the kind that captures accept. See [`Event`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoEvents`] when the device has none left.
    #[doc(alias = "aclrtCreateEventExWithFlag")]
    pub fn event(&self) -> Result<Event> {
        Event::create(self, EventKind::Order)
    }

    /// A new event that also takes the time. Recording it costs more than a plain one.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoEvents`] when the device has none left.
    pub fn timing_event(&self) -> Result<Event> {
        Event::create(self, EventKind::Timing)
    }
}

impl Event {
    fn create(context: &Context, kind: EventKind) -> Result<Self> {
        Self::create_in(context.inner(), kind)
    }

    pub(crate) fn create_in(context: &Arc<ContextInner>, kind: EventKind) -> Result<Self> {
        let flags = match kind {
            EventKind::Order => acl_sys::ACL_EVENT_SYNC,
            EventKind::Timing => acl_sys::ACL_EVENT_SYNC | acl_sys::ACL_EVENT_TIME_LINE,
        };
        Ok(Self { raw: RawEvent::create(context, flags)?, kind, last: Mutex::default() })
    }

    /// A handle that is not null, from other code.
    pub(crate) fn adopt(raw: aclrtEvent, context: &Context) -> Self {
        Self { raw: RawEvent::own(raw, context.inner()), kind: EventKind::Order, last: Mutex::default() }
    }

    /// The handle, which is not destroyed then.
    pub(crate) fn give_away(self) -> aclrtEvent {
        self.raw.give_away()
    }

    pub(crate) fn context_inner(&self) -> &Arc<ContextInner> {
        self.raw.context()
    }

    fn last(&self) -> MutexGuard<'_, Noted> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the point that `stream` has reached with what it was given so far. In a capture the record becomes part
    /// of the graph and replays do not signal this event.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a stream of another library, [`ErrorKind::InvalidHandle`] for one destroyed
    /// beside this crate. A stream of another context, or device, may record the event.
    #[doc(alias = "aclrtRecordEvent")]
    #[track_caller]
    pub fn record(&self, stream: &Stream) -> Result<()> {
        stream.0.context().check_library(self.context_inner(), "an event")?;
        let state = stream.0.lock();
        self.record_locked(&stream.0, &state, Location::caller())
    }

    /// Records while the caller holds the stream's lock, so that no capture begins or ends in between.
    pub(crate) fn record_locked(
        &self,
        stream: &Arc<StreamInner>,
        state: &State,
        location: &'static Location<'static>,
    ) -> Result<()> {
        let task = Task { label: "event record", location, uses: &[], scratch: None };
        let mut noted = self.last();
        noted.records += 1;
        let number = stream.submit_locked(state, &task, |raw| {
            // SAFETY: both handles are live and belong to values borrowed here.
            unsafe { call!(&**stream.context(), aclrtRecordEvent(self.as_raw(), raw)) }
        })?;
        noted.last = match &state.capture {
            Some(capture) => {
                capture.note_record(stream, self.key());
                Last::Captured(Arc::downgrade(capture))
            }
            None => Last::Eager { progress: Arc::clone(stream.progress()), number },
        };
        Ok(())
    }

    /// The wait of [`Stream::wait`].
    pub(crate) fn make_wait(&self, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        let stream = &stream.0;
        stream.context().check_library(self.context_inner(), "an event")?;
        let task = Task { label: "event wait", location, uses: &[], scratch: None };
        let mut state = stream.lock();
        let noted = self.last();
        let of_event = match &noted.last {
            Last::Captured(capture) => capture.upgrade().filter(|capture| capture.check_open().is_ok()),
            _ => None,
        };
        if let (Some(capture), true) = (&state.capture, matches!(noted.last, Last::Never)) {
            let error = Error::new(
                ErrorKind::CaptureDependency,
                "the event was never recorded, so the wait would order nothing; record it before",
            );
            return Err(capture.poison(&task, error));
        }
        // The C call makes the stream part of the event's capture; from here on its work is registered there.
        if let (None, Some(capture)) = (&state.capture, &of_event) {
            let error = match capture.add_stream(stream, || self.c_wait(stream)) {
                Ok(()) => {
                    capture.record(stream, &task);
                    capture.note_wait(stream, self.key());
                    state.capture = Some(Arc::clone(capture));
                    return Ok(());
                }
                Err(error) => error,
            };
            return Err(capture.poison(&task, error));
        }
        stream.submit_locked(&state, &task, |_| self.c_wait(stream))?;
        if let Some(capture) = &state.capture {
            capture.note_wait(stream, self.key());
        }
        Ok(())
    }

    /// Makes `stream` wait for the submission of `last`, with the event in `kept`, which is made at its first use and
    /// let go after a failure.
    pub(crate) fn order(
        kept: &mut Option<Self>,
        context: &Arc<ContextInner>,
        last: &(Arc<StreamInner>, u64),
        stream: &Stream,
        location: &'static Location<'static>,
    ) -> Result<()> {
        let event = match kept.take() {
            Some(event) => event,
            None => Self::create_in(context, EventKind::Order)?,
        };
        event.order_after(last, stream, location)?;
        *kept = Some(event);
        Ok(())
    }

    /// Makes `stream` wait for what `last` has been given, with a record of this event; blocks until the submission
    /// `number` of `last` is done where a record would go into a capture.
    fn order_after(
        &self,
        (last, number): &(Arc<StreamInner>, u64),
        stream: &Stream,
        location: &'static Location<'static>,
    ) -> Result<()> {
        let state = last.lock();
        if state.capture.is_some() {
            drop(state);
            return last.wait_for(*number, None);
        }
        self.record_locked(last, &state, location)?;
        drop(state);
        self.make_wait(stream, location)
    }

    fn c_wait(&self, stream: &StreamInner) -> Result<()> {
        // SAFETY: both handles are live and belong to values that the caller borrows.
        unsafe { call!(&**stream.context(), aclrtStreamWaitEvent(stream.raw(), self.as_raw())) }
    }

    /// Distinguishes events inside one capture.
    fn key(&self) -> usize {
        self.as_raw().addr()
    }

    /// Blocks until the latest record is reached; returns at once for an event that was never recorded.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::CaptureForbidden`] while the latest record is part of an active capture; the error of the work
    /// before the record.
    #[doc(alias = "aclrtSynchronizeEvent")]
    pub fn synchronize(&self) -> Result<()> {
        let before = self.position();
        // SAFETY: the handle is this value's own.
        unsafe { call!(&**self.context_inner(), aclrtSynchronizeEvent(self.as_raw())) }?;
        self.passed(before, Progress::set_reported);
        Ok(())
    }

    /// As [`Event::synchronize`], for at most `limit`, in whole milliseconds, rounded up.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Timeout`] when the record is not reached by then; [`ErrorKind::InvalidArgument`] for no time at
    /// all or more than 24 days.
    #[doc(alias = "aclrtSynchronizeEventWithTimeout")]
    pub fn synchronize_timeout(&self, limit: Duration) -> Result<()> {
        let before = self.position();
        let ms = milliseconds(limit)?;
        // SAFETY: the handle is this value's own.
        unsafe { call!(&**self.context_inner(), aclrtSynchronizeEventWithTimeout(self.as_raw(), ms)) }?;
        self.passed(before, Progress::set_reported);
        Ok(())
    }

    /// Whether the latest record is reached; true for an event that was never recorded. Does not block.
    ///
    /// # Errors
    ///
    /// As [`Event::synchronize`].
    #[doc(alias = "aclrtQueryEventStatus")]
    pub fn is_complete(&self) -> Result<bool> {
        let before = self.position();
        let mut status = acl_sys::aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_NOT_READY;
        // SAFETY: `status` is a place for one value; the handle is this value's own.
        unsafe { call!(&**self.context_inner(), aclrtQueryEventStatus(self.as_raw(), &raw mut status)) }?;
        match status {
            acl_sys::aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_COMPLETE => {
                self.passed(before, Progress::set_completed);
                Ok(true)
            }
            acl_sys::aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_NOT_READY => Ok(false),
            other => Err(Error::new(ErrorKind::UnknownValue, format!("event status {}", other.0))),
        }
    }

    /// Time on the device from `start` to this event. Both are timing events that have been reached. Does not block.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] when one has no timestamp (not a timing event, not reached yet), or when
    /// `start` was reached later; [`ErrorKind::Internal`] when one was never recorded.
    #[doc(alias = "aclrtEventElapsedTime")]
    pub fn elapsed_since(&self, start: &Self) -> Result<Duration> {
        // Without the flag the runtime answers 0 once it has reclaimed the record, so that is refused here.
        if self.kind != EventKind::Timing || start.kind != EventKind::Timing {
            return Err(Error::invalid("elapsed time needs two events from timing_event()"));
        }
        self.context_inner().check_library(start.context_inner(), "an event")?;
        let mut ms = 0.0_f32;
        // SAFETY: `ms` is a place for one number; both handles belong to values borrowed here.
        unsafe { call!(&**self.context_inner(), aclrtEventElapsedTime(&raw mut ms, start.as_raw(), self.as_raw())) }?;
        Duration::try_from_secs_f64(f64::from(ms) / 1e3)
            .map_err(|_| Error::invalid(format!("the start event was reached {} ms after this one", -ms)))
    }

    /// The submission that the latest record stands for, and how many records there were. Nothing while another
    /// thread makes a record: nobody can say then which one a query is about.
    fn position(&self) -> Position {
        let Ok(noted) = self.last.try_lock() else { return (None, 0) };
        match &noted.last {
            Last::Eager { progress, number } => (Some((Arc::clone(progress), *number)), noted.records),
            Last::Never | Last::Captured(_) => (None, noted.records),
        }
    }

    /// Notes that the record at `position` was reached, if the event was not recorded anew since: the C call may have
    /// been about that record then.
    fn passed(&self, (position, records): Position, note: fn(&Progress, u64)) {
        if let Some((progress, number)) = position
            && self.last.try_lock().is_ok_and(|noted| noted.records == records)
        {
            note(&progress, number);
        }
    }

    /// The raw handle. Valid as long as this value; records made beside this crate are not tracked by it.
    #[must_use]
    pub fn as_raw(&self) -> aclrtEvent {
        self.raw.raw()
    }

    /// Destroys the event now.
    ///
    /// # Errors
    ///
    /// The event and what `aclrtDestroyEvent` returns.
    #[doc(alias = "aclrtDestroyEvent")]
    pub fn close(mut self) -> Result<(), (Self, Error)> {
        match self.raw.destroy() {
            Ok(()) => Ok(()),
            Err(error) => Err((self, error)),
        }
    }
}

impl Stream {
    /// Makes later work of this stream wait for the latest record of `event`. An event that was never recorded is not
    /// waited for. In a capture the wait becomes part of the graph, and a stream that waits for an event of a capture
    /// joins that capture.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::CaptureDependency`] when a capturing stream waits for a record outside the capture,
    /// [`ErrorKind::CaptureInvalidated`] for an event of another capture.
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
        let event = self.context().event()?;
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

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("raw", &self.as_raw()).field("kind", &self.kind).finish_non_exhaustive()
    }
}
