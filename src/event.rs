//! Events: points in a stream that other streams and the host can wait for.

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use acl_sys::aclrtEvent;

use crate::call::call;
use crate::closure;
use crate::context::{Context, ContextInner, Events, RawEvent};
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::lock::{Guard, Lock};
use crate::progress::{Clock, Progress};
use crate::retire;
use crate::stream::{CaptureState, State, Stream, StreamInner, Task};

mod between;
mod external;
mod held;
mod query;
mod shared;
mod synchronize;
mod timing;
mod waits;

use held::{Held, One, Slow};

pub use between::{IpcEvent, IpcEventHandle};
pub use external::ExternalEvent;
pub use timing::TimingEvent;

/// A point in a stream's work. Recording it again moves it; a wait refers to the latest record at the time of the
/// wait.
///
/// Made by [`Context::event`]; a [`TimingEvent`] takes the time as well. Any thread may use it. Dropping it never blocks:
/// pending records and waits still take place. The event is kept then and is the next one that somebody asks for, once
/// its last record is done; [`Event::close`] destroys it.
///
/// C calls: `aclrtCreateEventExWithFlag`, `aclrtDestroyEvent`, `aclrtRecordEvent`, `aclrtQueryEventStatus`,
/// `aclrtSynchronizeEvent`.
///
/// # Examples
///
/// ```
/// let device = racl::Acl::mock()?.device(0)?;
/// let (stream, other) = (device.stream()?, device.stream()?);
/// let event = device.event()?;
/// event.record(&stream)?;
/// other.wait(&event)?; // what `other` is given from here on comes after the record
/// event.synchronize()?;
/// assert!(event.is_complete()?);
/// # Ok::<(), racl::Error>(())
/// ```
pub struct Event {
    raw: RawEvent,
    kind: EventKind,
    last: Lock<Noted>,
    held: Held,
}

/// What is known of the records. Locked while one is made, so that this and the runtime agree.
#[derive(Default)]
struct Noted {
    last: Last,
    records: u64,
    /// Waits for it that threads make, each of which may wait for room: what it is stays the same meanwhile. With those that
    /// [ended](Held) otherwise.
    waits: usize,
}

impl Noted {
    /// Not when the latest record is in a graph: launching it signals the event's places there, not the event.
    fn check_signalled(&self) -> Result<()> {
        let Last::Captured(capture) = &self.last else { return Ok(()) };
        if capture.upgrade().is_some_and(|capture| capture.check_open().is_ok()) {
            return Ok(());
        }
        let text = "the event was last recorded in a capture, whose graph does not signal it; record it on a stream \
                    that does not capture, such as after the launch";
        Err(Error::new(ErrorKind::CaptureDependency, text))
    }

    /// Not while a capture goes on in which it was recorded: for the library it stays an event of that capture, whatever
    /// records it elsewhere, and draws streams that wait for it into the capture (observed:
    /// record_outside_wait_inside).
    fn check_free(&self) -> Result<()> {
        let Last::Captured(capture) = &self.last else { return Ok(()) };
        if !capture.upgrade().is_some_and(|capture| capture.has_streams()) {
            return Ok(());
        }
        let text = "the event was recorded in a capture that is not over; record another one outside of it";
        Err(Error::new(ErrorKind::CaptureForbidden, text))
    }
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
    /// Other code records it too, and destroys it: what its latest record is the library alone knows.
    Shared,
}

/// Where the latest record went.
#[derive(Default)]
enum Last {
    #[default]
    Never,
    Eager {
        progress: Arc<Progress>,
        number: u64,
        /// What the stream was behind then.
        clock: Clock,
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
}

impl Event {
    fn create(context: &Context, kind: EventKind) -> Result<Self> {
        Self::create_in(context.inner(), kind)
    }

    pub(crate) fn create_in(context: &Arc<ContextInner>, kind: EventKind) -> Result<Self> {
        let raw = match kind {
            EventKind::Timing => RawEvent::create(context, acl_sys::ACL_EVENT_SYNC | acl_sys::ACL_EVENT_TIME_LINE)?,
            _ => Events::take(context)?,
        };
        Ok(Self { raw, kind, last: Lock::default(), held: Held::default() })
    }

    /// A handle that is not null, from other code.
    pub(crate) fn adopt(raw: aclrtEvent, context: &Context) -> Self {
        Self {
            raw: RawEvent::own(raw, context.inner()),
            kind: EventKind::Order,
            last: Lock::default(),
            held: Held::default(),
        }
    }

    /// The handle, which is not destroyed then.
    pub(crate) fn give_away(mut self) -> aclrtEvent {
        self.raw.give_away()
    }

    pub(crate) fn context_inner(&self) -> &Arc<ContextInner> {
        self.raw.context()
    }

    /// Does not wait for another thread that makes a record: what comes then is about that or the one before.
    fn check_signalled(&self) -> Result<()> {
        self.last.try_lock().map_or(Ok(()), |noted| noted.check_signalled())
    }

    /// In a host function not while another thread has it, which may wait for room in a queue behind the function.
    fn last(&self) -> Result<Guard<'_, Noted>> {
        match self.last.try_lock() {
            Some(noted) => Ok(noted),
            None if closure::is_running() => Err(closure::refusal("another thread records the event")),
            None => Ok(self.last.lock()),
        }
    }

    /// As [`Event::last`], for a record.
    fn last_alone(&self) -> Result<Guard<'_, Noted>> {
        loop {
            let noted = self.last()?;
            if self.is_alone(&noted) {
                return Ok(noted);
            }
            drop(noted);
            if closure::is_running() {
                return Err(closure::refusal("another thread lets a stream wait for the event"));
            }
            retire::pause_for(Duration::from_micros(50));
        }
    }

    /// As [`Event::last`], for who makes a future: whoever has it may wait for room in a queue, behind work that waits for
    /// this very thread.
    fn last_in_time(&self) -> Result<Guard<'_, Noted>> {
        let until = retire::deadline();
        loop {
            match self.last.try_lock() {
                Some(noted) => return Ok(noted),
                None if closure::is_running() => return self.last(),
                None if Instant::now() >= until => return Err(retire::not_back("records the event")),
                None => retire::pause_for(Duration::from_micros(50)),
            }
        }
    }

    /// Marks the point that `stream` has reached with what it was given so far. In a capture the record becomes part of
    /// the graph and replays do not signal this event. Returns when the record is queued, for which the runtime waits
    /// while as many records as the device has events ([`Context::events_left`](crate::Context::events_left)) are not
    /// done.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a stream of another library, [`ErrorKind::InvalidHandle`] for one destroyed
    /// beside this crate. A stream of another context, or device, may record the event. [`ErrorKind::CaptureForbidden`]
    /// outside of a capture that is not over and in which the event was recorded last: it is one of that capture.
    #[doc(alias = "aclrtRecordEvent")]
    #[track_caller]
    pub fn record(&self, stream: &Stream) -> Result<()> {
        let location = Location::caller();
        let checked = stream.0.context().check_library(self.context_inner(), "an event");
        checked.map_err(|error| stream.refuse(("event record", location), error))?;
        stream.0.check_thread()?;
        let (state, mut noted) = self.lock_alone(&stream.0)?;
        self.record_noted(&stream.0, (&state, &mut noted), location)
    }

    /// The stream's lock and the event's. None is held while the other one is waited for: who has it may wait for room in
    /// a queue, behind a host function that has work for this stream.
    // Three dozen instructions of a record or a wait are the call of this.
    #[inline(always)]
    fn lock_both<'a>(&'a self, stream: &'a StreamInner) -> Result<(Guard<'a, State>, Guard<'a, Noted>)> {
        let state = stream.lock();
        match self.last.try_lock() {
            Some(noted) => Ok((state, noted)),
            None => {
                drop(state);
                self.lock_both_later(stream)
            }
        }
    }

    #[cold]
    fn lock_both_later<'a>(&'a self, stream: &'a StreamInner) -> Result<(Guard<'a, State>, Guard<'a, Noted>)> {
        loop {
            self.last().map(drop)?;
            let state = stream.lock();
            if let Some(noted) = self.last.try_lock() {
                return Ok((state, noted));
            }
        }
    }

    /// Both for a record, once no stream is made to wait.
    #[inline(always)]
    fn lock_alone<'a>(&'a self, stream: &'a StreamInner) -> Result<(Guard<'a, State>, Guard<'a, Noted>)> {
        loop {
            let both = self.lock_both(stream)?;
            if self.is_alone(&both.1) {
                return Ok(both);
            }
            drop(both);
            self.last_alone().map(drop)?;
        }
    }

    /// Records while the caller holds the stream's lock, so that no capture begins or ends in between.
    pub(crate) fn record_locked(
        &self,
        stream: &Arc<StreamInner>,
        state: &State,
        location: &'static Location<'static>,
    ) -> Result<()> {
        self.record_noted(stream, (state, &mut *self.last_alone()?), location)
    }

    #[inline(always)]
    fn record_noted(
        &self,
        stream: &Arc<StreamInner>,
        (state, noted): (&State, &mut Noted),
        location: &'static Location<'static>,
    ) -> Result<()> {
        let _slow = Slow::begin(self, stream);
        noted.records += 1;
        // Again on the same stream: its counts stay as they are.
        if let (None, Last::Eager { progress, number, clock }) = (&state.capture, &mut noted.last)
            && Arc::ptr_eq(progress, stream.progress())
        {
            *number = self.submit_record(stream, state, location)?;
            clock.renew(&state.clock);
            return Ok(());
        }
        self.record_anew(stream, (state, noted), location)
    }

    // A record does not hang: what is before it does.
    #[inline(always)]
    fn submit_record(
        &self,
        stream: &Arc<StreamInner>,
        state: &State,
        location: &'static Location<'static>,
    ) -> Result<u64> {
        let task = Task { label: "event record", location, uses: &[], scratch: None };
        stream.submit_free_standing(state, &task, |raw| {
            // SAFETY: both handles are live and belong to values borrowed here.
            unsafe { call!(&**stream.context(), aclrtRecordEvent(self.as_raw(), raw)) }
        })
    }

    /// A record in a capture, or the first one on its stream.
    #[inline(never)]
    fn record_anew(
        &self,
        stream: &Arc<StreamInner>,
        (state, noted): (&State, &mut Noted),
        location: &'static Location<'static>,
    ) -> Result<()> {
        if let Some(capture) = &state.capture {
            let checked = capture.check_recorded("an event").and_then(|()| self.check_own());
            checked.map_err(|error| capture.lacks(("event record", location), error))?;
            if !self.is_shared() {
                // Also where the record fails: for the library the event may be one of the capture then.
                noted.last = Last::Captured(Arc::downgrade(capture));
            }
        } else {
            noted.check_free()?;
        }
        let number = self.submit_record(stream, state, location)?;
        if self.is_shared() {
            return Ok(());
        }
        match &state.capture {
            Some(capture) => capture.note_record(stream, self.key()),
            None => {
                let (progress, clock) = (Arc::clone(stream.progress()), state.clock.clone());
                noted.last = Last::Eager { progress, number, clock };
            }
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
        // The record is work for that stream, and another thread may wait for room in it.
        last.check_thread()?;
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

    /// The submission that the latest record stands for; none where there was no record.
    pub(crate) fn recorded(&self) -> Result<Option<(Arc<Progress>, u64)>> {
        let noted = self.last_in_time()?;
        noted.check_signalled()?;
        match &noted.last {
            Last::Eager { progress, number, .. } => Ok(Some((Arc::clone(progress), *number))),
            Last::Never => self.check_known().map(|()| None),
            Last::Captured(_) => {
                let text = "the event was last recorded in a capture that is not over; await it after another record";
                Err(Error::new(ErrorKind::CaptureForbidden, text))
            }
        }
    }

    /// Whether the latest record stands for that submission, or a later one of the same stream; not while another
    /// thread makes one.
    pub(crate) fn covers(&self, stream: &Arc<Progress>, submission: u64) -> bool {
        let eager = |noted: Guard<'_, Noted>| match &noted.last {
            Last::Eager { progress, number, .. } => Arc::ptr_eq(progress, stream) && *number >= submission,
            Last::Never | Last::Captured(_) => false,
        };
        self.last.try_lock().is_some_and(eager)
    }

    /// The submission that the latest record stands for, and how many records there were. Nothing while another
    /// thread makes a record: nobody can say then which one a query is about.
    fn position(&self) -> Option<Position> {
        let noted = self.last_soon()?;
        let at = match &noted.last {
            Last::Eager { progress, number, .. } => Some((Arc::clone(progress), *number)),
            Last::Never | Last::Captured(_) => None,
        };
        Some((at, noted.records))
    }

    /// Notes that the record at `position` was reached, if the event was not recorded anew since: the C call may have
    /// been about that record then.
    fn passed(&self, (position, records): Position, note: fn(&Progress, u64)) {
        if let Some((progress, number)) = position
            && self.last.try_lock().is_some_and(|noted| noted.records == records)
        {
            note(&progress, number);
        }
    }

    /// The raw handle. Valid as long as this value. Of an event that this crate made other code may wait for the latest
    /// record of this crate; it must not record it, since work is taken for done when the event is, whatever was recorded
    /// since, nor have it in a capture of its own. For events that other code records there is
    /// [`from_raw_shared`](Self::from_raw_shared).
    #[must_use]
    pub fn as_raw(&self) -> aclrtEvent {
        self.raw.raw()
    }

    /// Destroys the event now; one of [other code](Self::from_raw_shared) is left to it.
    ///
    /// # Errors
    ///
    /// The event and what `aclrtDestroyEvent` returns.
    #[doc(alias = "aclrtDestroyEvent")]
    pub fn close(mut self) -> Result<(), Refused<Self>> {
        if self.is_shared() {
            return Ok(());
        }
        match self.raw.destroy() {
            Ok(()) => Ok(()),
            Err(error) => Err(Refused::new(self, error)),
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.is_shared() {
            self.raw.give_away();
            return;
        }
        let noted = self.last.get_mut();
        match &noted.last {
            Last::Eager { progress, number, .. } => self.raw.set_recorded(progress, *number),
            Last::Never if noted.records == 0 => {}
            Last::Captured(capture) if capture.strong_count() == 0 => {}
            // A capture may still look for it by its address, or a record failed half-way.
            Last::Captured(_) | Last::Never => self.raw.set_spoiled(),
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("raw", &self.as_raw()).field("kind", &self.kind).finish_non_exhaustive()
    }
}
