//! Streams that wait for events.

use std::panic::Location;

use super::Event;
use crate::error::{Error, Result};
use crate::stream::Stream;

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
