//! What a graph that is captured by hand takes of a device, against what the device has.

use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};

/// What one graph takes of a device, for [`Context::graph_room`]. Counted by who records it by hand; a plan counts by
/// itself ([`Executable::graph_room`](crate::plan::Executable::graph_room)).
///
/// # Examples
///
/// ```
/// use racl::{CaptureMode, GraphNeeds};
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let (context, stream) = (device.context(), device.stream()?);
/// let needs = GraphNeeds::new().sides(1);
/// if context.graph_room(&needs)?.is_none_or(|graphs| graphs > 0) {
///     let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| {
///         let side = s.side("1")?;
///         s.fork(&side)?;
///         s.join(&side)
///     })?;
///     graph.launch(&stream)?;
/// }
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use = "it asks nothing by itself"]
pub struct GraphNeeds {
    sides: usize,
    streams: usize,
    bodies: usize,
    events: usize,
}

impl GraphNeeds {
    /// Of a graph with work of its origin alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// So many [sides](crate::Stream::side), which the capture makes or takes of those that are idle. Later graphs use
    /// them again.
    pub fn sides(mut self, count: usize) -> Self {
        self.sides = count;
        self
    }

    /// So many streams of the program, beside the origin, that take part in the capture.
    pub fn streams(mut self, count: usize) -> Self {
        self.streams = count;
        self
    }

    /// So many bodies of conditions, each with the one stream that it is recorded on, which is as a side.
    pub fn bodies(mut self, count: usize) -> Self {
        self.bodies = count;
        self
    }

    /// So many events and timing events that the program makes for it. Forks and joins of streams need none.
    pub fn events(mut self, count: usize) -> Self {
        self.events = count;
        self
    }

    /// Streams that the library has inside each graph: one for each that takes part, however many tasks it gets.
    fn hidden(&self) -> usize {
        [self.sides, self.streams, self.bodies].into_iter().fold(1, usize::saturating_add)
    }
}

impl Context {
    /// How many graphs with these needs the device has room for, beside what this process has on it: asked before one is
    /// captured by hand, which else learns in the middle that a stream is missing ([`ErrorKind::NoStreams`]). None where
    /// neither the library nor the chip tells. Memory is no part of it. Other threads may take what is there meanwhile.
    ///
    /// # Errors
    ///
    /// Those of asking the device.
    ///
    /// # Examples
    ///
    /// See [`GraphNeeds`].
    #[doc(alias = "aclrtGetStreamAvailableNum")]
    #[doc(alias = "aclrtGetEventAvailNum")]
    pub fn graph_room(&self, needs: &GraphNeeds) -> Result<Option<usize>> {
        let Some(streams) = known(self.streams_left())? else { return Ok(None) };
        if needs.events > 0 && known(self.events_left())?.is_some_and(|left| left < needs.events) {
            return Ok(Some(0));
        }
        let leased = needs.sides.saturating_add(needs.bodies);
        let made = leased.saturating_sub(self.inner().idle_streams.len());
        Ok(Some(streams.saturating_sub(made) / needs.hidden()))
    }
}

/// The answer, unless the library or the chip does not have the question.
fn known(asked: Result<u32>) -> Result<Option<usize>> {
    match asked {
        Ok(answer) => Ok(Some(answer as usize)),
        Err(error) if matches!(error.kind(), ErrorKind::MissingSymbol | ErrorKind::NotSupported) => Ok(None),
        Err(error) => Err(Error::context(error, "asking the device what it has left for a graph")),
    }
}
