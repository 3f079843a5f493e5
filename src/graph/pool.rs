//! Memory that captured graphs share.

use std::fmt;
use std::sync::Arc;

use crate::context::{Context, ContextInner};
use crate::error::{Error, Result};
use crate::stream::Private;

/// Memory that captures make for the work they record: scratch memory of operators, and what a capturing stream
/// allocates ([`Stream::alloc`](crate::Stream::alloc)). A graph runs with the same addresses each time, so it keeps
/// this memory, and no eager work gets it, whether its buffers are given up or not.
///
/// Each capture has a pool of its own unless it is given one ([`Stream::capture_in`](crate::Stream::capture_in)). A
/// capture takes what nobody has beside earlier graphs of the same pool: not the host, no buffer, no eager work. So
/// graphs of one pool write to the same memory. Their launches wait for one another on the device, on whatever
/// streams they are and whichever threads make them; with [tracking turned off](crate::Context::set_tracking) the
/// program sees to that. A buffer from a capture that the program still has, such as an output, is of that graph
/// alone: where it lies in memory that graphs of earlier captures write, its capture gives no graph
/// ([`ErrorKind::CaptureInvalidated`](crate::ErrorKind::CaptureInvalidated)). Buffers of [`Context::alloc`] may
/// outlast a capture. What the program gave up holds what its graph left there until another graph of the pool runs; what
/// a graph is to find in memory when it begins belongs into a buffer of [`Context::alloc`].
///
/// Memory that no graph keeps any more goes back to the context. Clones stand for the same pool; any thread may use it,
/// and several captures at a time.
///
/// # Examples
///
/// ```
/// use racl::{CaptureMode, GraphPool, Stream};
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let (stream, mut out) = (device.stream()?, device.alloc::<u8>(1 << 20)?);
/// let pool = GraphPool::new(&device);
/// let mut graphs = Vec::new();
/// for step in 1..=3 {
///     graphs.push(stream.capture_in(CaptureMode::ThreadLocal, &pool, |s| {
///         let mut temporary = s.alloc::<u8>(1 << 20)?;
///         s.fill_bytes(&mut temporary, step)?;
///         s.copy(&temporary, &mut out)
///     })?);
/// }
/// assert_eq!(pool.bytes(), 1 << 20); // the temporary of all three
/// assert_eq!(device.context().memory_stats().graphs.now, 1 << 20);
/// for graph in &mut graphs {
///     graph.launch(&stream)?;
/// }
/// assert_eq!(out.to_vec()?[0], 3);
/// drop(graphs);
/// assert_eq!(pool.bytes(), 0);
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Clone)]
#[doc(alias = "graph_pool_handle")]
#[doc(alias = "MemPool")]
pub struct GraphPool(Arc<Private>);

impl GraphPool {
    /// An empty pool for captures on streams of this context.
    #[must_use]
    pub fn new(context: impl AsRef<Context>) -> Self {
        Self::of(context.as_ref().inner())
    }

    pub(super) fn of(context: &Arc<ContextInner>) -> Self {
        Self(Private::new(context))
    }

    pub(super) fn from_inner(inner: &Arc<Private>) -> Self {
        Self(Arc::clone(inner))
    }

    pub(super) fn inner(&self) -> &Arc<Private> {
        &self.0
    }

    /// Bytes that its graphs, and captures that are active, have.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    pub(crate) fn is_of(&self, context: &Arc<ContextInner>) -> bool {
        Arc::ptr_eq(self.0.context(), context)
    }

    pub(super) fn check(&self, context: &Arc<ContextInner>) -> Result<()> {
        if self.is_of(context) {
            return Ok(());
        }
        Err(Error::invalid("a pool of another context, for a capture"))
    }
}

impl fmt::Debug for GraphPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphPool").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}
