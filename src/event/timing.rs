//! Events that tell when they were reached.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use acl_sys::aclrtEvent;

use super::{Event, EventKind};
use crate::call::call;
use crate::context::Context;
use crate::error::{Error, Refused, Result};
use crate::stream::Stream;

/// A point in a stream's work that also takes the time when it is reached. Recording it costs more than an [`Event`].
///
/// Made by [`Context::timing_event`]. Any thread may use it. It is an [event](TimingEvent::as_event) too, for streams to
/// wait for and for futures. Dropping it never blocks: pending records and waits still take place.
///
/// C calls: `aclrtEventElapsedTime`, `aclrtEventGetTimestamp`, and those of an [`Event`].
///
/// # Examples
///
/// ```
/// let device = racl::Acl::mock()?.device(0)?;
/// let (stream, other) = (device.stream()?, device.stream()?);
/// let (start, end) = (device.timing_event()?, device.timing_event()?);
/// start.record(&stream)?;
/// end.record(&stream)?;
/// other.wait(end.as_event())?;
/// end.synchronize()?;
/// println!("{:?}", end.elapsed_since(&start)?);
/// # Ok::<(), racl::Error>(())
/// ```
pub struct TimingEvent(Arc<Event>);

impl Context {
    /// A new event that takes the time. See [`TimingEvent`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoEvents`](crate::ErrorKind::NoEvents) when the device has none left.
    #[doc(alias = "ACL_EVENT_TIME_LINE")]
    pub fn timing_event(&self) -> Result<TimingEvent> {
        Event::create(self, EventKind::Timing).map(TimingEvent::of)
    }
}

impl TimingEvent {
    fn of(event: Event) -> Self {
        Self(Arc::new(event))
    }

    /// A handle that is not null, from other code.
    pub(crate) fn adopt(raw: aclrtEvent, context: &Context) -> Self {
        let mut event = Event::adopt(raw, context);
        event.kind = EventKind::Timing;
        Self::of(event)
    }

    /// The handle, which is not destroyed then.
    pub(crate) fn give_away(self) -> Result<aclrtEvent, Refused<Self>> {
        Ok(self.alone()?.give_away())
    }

    /// The event, if nothing else has it.
    fn alone(self) -> Result<Event, Refused<Self>> {
        Arc::try_unwrap(self.0).map_err(|event| {
            let text = "the event is held elsewhere: by a future, or by who cloned what as_event() lends";
            Refused::new(Self(event), Error::invalid(text))
        })
    }

    /// The same point, to order streams ([`Stream::wait`]) and to be awaited ([`Event::reached`]). Whoever keeps a clone
    /// keeps the event.
    #[must_use]
    pub fn as_event(&self) -> &Arc<Event> {
        &self.0
    }

    /// As [`Event::record`].
    ///
    /// # Errors
    ///
    /// As there.
    #[doc(alias = "aclrtRecordEvent")]
    #[track_caller]
    pub fn record(&self, stream: &Stream) -> Result<()> {
        self.0.record(stream)
    }

    /// As [`Event::synchronize`]: blocks until the latest record is reached.
    ///
    /// # Errors
    ///
    /// As there.
    #[doc(alias = "aclrtSynchronizeEvent")]
    pub fn synchronize(&self) -> Result<()> {
        self.0.synchronize()
    }

    /// As [`Event::synchronize_timeout`].
    ///
    /// # Errors
    ///
    /// As there.
    #[doc(alias = "aclrtSynchronizeEventWithTimeout")]
    pub fn synchronize_timeout(&self, limit: Duration) -> Result<()> {
        self.0.synchronize_timeout(limit)
    }

    /// As [`Event::is_complete`]: whether the latest record is reached. Does not block.
    ///
    /// # Errors
    ///
    /// As there.
    #[doc(alias = "aclrtQueryEventStatus")]
    pub fn is_complete(&self) -> Result<bool> {
        self.0.is_complete()
    }

    /// Time on the device from `start` to this event. Both have been reached. Does not block.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when one is not reached yet, or when
    /// `start` was reached later; [`ErrorKind::Internal`](crate::ErrorKind::Internal) when one was never recorded;
    /// [`ErrorKind::CaptureDependency`](crate::ErrorKind::CaptureDependency) when one was last recorded in a capture, whose graph does not signal it.
    #[doc(alias = "aclrtEventElapsedTime")]
    pub fn elapsed_since(&self, start: &Self) -> Result<Duration> {
        let context = self.0.context_inner();
        context.check_library(start.0.context_inner(), "an event")?;
        // The library would tell the time of the record before that.
        start.0.check_signalled().and_then(|()| self.0.check_signalled())?;
        let mut ms = 0.0_f32;
        // SAFETY: `ms` is a place for one number; both handles belong to values borrowed here.
        unsafe { call!(&**context, aclrtEventElapsedTime(&raw mut ms, start.as_raw(), self.as_raw())) }?;
        Duration::try_from_secs_f64(f64::from(ms) / 1e3)
            .map_err(|_| Error::invalid(format!("the start event was reached {} ms after this one", -ms)))
    }

    /// When the device reached this event, from its start on, in whole microseconds. It has been reached. Does not
    /// block. Times of different devices cannot be compared.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when it is not reached yet;
    /// [`ErrorKind::CaptureDependency`](crate::ErrorKind::CaptureDependency) when it was last recorded in a capture; [`ErrorKind::Internal`](crate::ErrorKind::Internal) when it was never recorded; [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let (stream, event) = (device.stream()?, device.timing_event()?);
    /// event.record(&stream)?;
    /// event.synchronize()?;
    /// println!("reached {:?} after the start of the device", event.timestamp()?);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtEventGetTimestamp")]
    pub fn timestamp(&self) -> Result<Duration> {
        self.0.check_signalled()?;
        let mut us = 0;
        // SAFETY: a live handle, and a place for one number.
        unsafe { call!(&**self.0.context_inner(), aclrtEventGetTimestamp(self.as_raw(), &raw mut us)) }?;
        Ok(Duration::from_micros(us))
    }

    /// The raw handle, under the conditions of [`Event::as_raw`].
    #[must_use]
    pub fn as_raw(&self) -> aclrtEvent {
        self.0.as_raw()
    }

    /// Destroys the event now.
    ///
    /// # Errors
    ///
    /// The event, and [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) while a future, or a clone of
    /// [`as_event`](Self::as_event), holds it, or what `aclrtDestroyEvent` returns.
    #[doc(alias = "aclrtDestroyEvent")]
    pub fn close(self) -> Result<(), Refused<Self>> {
        self.alone()?.close().map_err(|refused| refused.map(Self::of))
    }
}

impl AsRef<Event> for TimingEvent {
    fn as_ref(&self) -> &Event {
        &self.0
    }
}

impl fmt::Debug for TimingEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimingEvent").field("raw", &self.as_raw()).finish_non_exhaustive()
    }
}
