//! Launches that are awaited.

use std::panic::Location;

use super::captured::Graph;
use crate::future::Finished;

impl Graph {
    /// A future that is ready when the last launch is done, with what its stream was given since then until this call; at
    /// once for a graph that was never launched. The graph may be launched again meanwhile, or go: what its work uses is
    /// kept until that is done, whatever becomes of the future.
    ///
    /// Any thread may poll it, with any executor. Polling does not block. Dropping it takes nothing back.
    ///
    /// # Errors
    ///
    /// Of the await: as [`Graph::wait`], told as by [`Stream::finished`](crate::Stream::finished);
    /// [`ErrorKind::CaptureForbidden`](crate::ErrorKind::CaptureForbidden) where the stream records another graph.
    ///
    /// # Examples
    ///
    /// ```
    /// async fn replay(graph: &mut racl::Graph, stream: &racl::Stream) -> racl::Result<()> {
    ///     graph.launch(stream)?;
    ///     graph.finished().await
    /// }
    /// ```
    #[doc(alias = "aclrtSynchronizeStream")]
    #[track_caller]
    pub fn finished(&self) -> Finished {
        let last = self.in_flight.last_launch();
        last.map_or_else(Finished::now, |(progress, number)| Finished::behind(&progress, number, Location::caller()))
    }
}
