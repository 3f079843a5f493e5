//! When events were reached.

use std::time::Duration;

use super::{Event, EventKind};
use crate::call::call;
use crate::error::{Error, Result};

impl Event {
    /// Time on the device from `start` to this event. Both are timing events that have been reached. Does not block.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when one has no timestamp (not a timing event, not reached yet), or when
    /// `start` was reached later; [`ErrorKind::Internal`](crate::ErrorKind::Internal) when one was never recorded;
    /// [`ErrorKind::CaptureDependency`](crate::ErrorKind::CaptureDependency) when one was last recorded in a capture, whose graph does not signal it.
    #[doc(alias = "aclrtEventElapsedTime")]
    pub fn elapsed_since(&self, start: &Self) -> Result<Duration> {
        // Without the flag the runtime answers 0 once it has reclaimed the record, so that is refused here.
        if self.kind != EventKind::Timing || start.kind != EventKind::Timing {
            return Err(Error::invalid("elapsed time needs two events from timing_event()"));
        }
        self.context_inner().check_library(start.context_inner(), "an event")?;
        // The library would tell the time of the record before that.
        start.check_signalled().and_then(|()| self.check_signalled())?;
        let mut ms = 0.0_f32;
        // SAFETY: `ms` is a place for one number; both handles belong to values borrowed here.
        unsafe { call!(&**self.context_inner(), aclrtEventElapsedTime(&raw mut ms, start.as_raw(), self.as_raw())) }?;
        Duration::try_from_secs_f64(f64::from(ms) / 1e3)
            .map_err(|_| Error::invalid(format!("the start event was reached {} ms after this one", -ms)))
    }

    /// When the device reached this event, from its start on, in whole microseconds. A timing event that has been
    /// reached. Does not block. Times of different devices cannot be compared.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when it has no timestamp (not a timing event, not reached yet);
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
        // Without the flag the runtime answers 0 once it has reclaimed the record, so that is refused here.
        if self.kind != EventKind::Timing {
            return Err(Error::invalid("a timestamp needs an event from timing_event()"));
        }
        self.check_signalled()?;
        let mut us = 0;
        // SAFETY: a live handle, and a place for one number.
        unsafe { call!(&**self.context_inner(), aclrtEventGetTimestamp(self.as_raw(), &raw mut us)) }?;
        Ok(Duration::from_micros(us))
    }
}
