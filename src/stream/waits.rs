//! Waits of the program for a stream.

use std::panic::Location;
use std::time::Duration;

use super::{Stream, milliseconds};
use crate::error::{Error, ErrorKind, Result};
use crate::retire::{self, keepers};

impl Stream {
    /// Blocks until everything submitted to the stream before this call is done.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::CaptureForbidden`] while the stream records a graph, whose capture gives none then, and for one of a
    /// graph that is [built by hand](crate::GraphBuilder), which runs when the graph does; [`ErrorKind::DeviceFault`] and
    /// its like when work of the stream failed; [`ErrorKind::CallbackPanicked`] when a host function did.
    ///
    /// Where work of another stream failed that work of this one is behind, by an event or by the memory that both use, the
    /// error says so, once for each stream: what was computed from it is not what it should be. A wait for that stream tells
    /// it as well; once one was told, or the drop of that stream, it is told of no other. The library has to tell of tasks
    /// that fail as they do: those that have `aclrtExceptionInfoCallbackRegister`, and others after
    /// [`Acl::hear_failures`](crate::Acl::hear_failures).
    #[doc(alias = "aclrtSynchronizeStream")]
    #[track_caller]
    pub fn synchronize(&self) -> Result<()> {
        let location = Location::caller();
        self.0.check_runs()?;
        let waited = self.0.synchronize(None);
        retire::collect_for_a_moment();
        waited.map_err(|error| self.not_in_a_capture(("Stream::synchronize", location), error))
    }

    /// As [`Stream::synchronize`], for at most `limit`, which counts in whole milliseconds, rounded up.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Timeout`] when the work is not done by then: it goes on and can be waited for again.
    /// [`ErrorKind::InvalidArgument`] for no time at all or more than 24 days.
    #[doc(alias = "aclrtSynchronizeStreamWithTimeout")]
    #[track_caller]
    pub fn synchronize_timeout(&self, limit: Duration) -> Result<()> {
        let location = Location::caller();
        let ms = milliseconds(limit)?;
        self.0.check_runs()?;
        keepers::look_after(ms, self.0.synchronize(Some(ms)))
            .map_err(|error| self.not_in_a_capture(("Stream::synchronize_timeout", location), error))
    }

    /// Whether everything submitted so far is done. Does not block.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::CaptureForbidden`] while the stream records a graph, whose capture gives none then. When work failed or
    /// a host function panicked, what [`Stream::synchronize`] would say; and where somebody was told so already, whoever
    /// it was and by whatever call, an error of the same kind that says this, until the stream is given more work.
    #[doc(alias = "aclrtStreamQuery")]
    #[track_caller]
    pub fn is_complete(&self) -> Result<bool> {
        self.0.check_runs()?;
        let span = self.0.progress.unreported();
        let done = match self.0.is_complete(span) {
            Ok(done) => done,
            Err(error) => return Err(self.not_in_a_capture(("Stream::is_complete", Location::caller()), error)),
        };
        if done && !self.0.is_settled() {
            // The query says that the work is over, not how it ended. Others may have queued more since.
            self.0.ask_how_it_ended()?;
        }
        if done {
            if !self.0.progress.is_noted(span.1) {
                return Ok(false);
            }
            self.0.progress.check_ended_well(span.1)?;
        }
        Ok(done)
    }

    /// Nothing is waited for in a capture: what the program did in its belief that it was is not known, so the capture
    /// gives no graph.
    #[cold]
    fn not_in_a_capture(&self, what: super::Named, error: Error) -> Error {
        if error.kind() == ErrorKind::CaptureForbidden { self.refuse(what, error) } else { error }
    }
}
