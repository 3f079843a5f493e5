//! Graphs that are built by hand: streams that store what they are given, instead of a capture.

use std::fmt;
use std::sync::Arc;

use acl_sys::aclmdlRI;

use super::captured::Graph;
use super::pool::GraphPool;
use crate::allocation::Allocation;
use crate::call::{call, non_null};
use crate::closure;
use crate::context::{Context, ContextInner};
use crate::error::{Error, ErrorKind, Result};
use crate::retire;
use crate::stream::{CaptureState, Stream};

/// What a stream writes at its end, for the one that started it.
const REACHED: u64 = 1;

/// A graph that is built by hand: streams made for it store what they are given, until [`finish`](Self::finish) makes
/// a [`Graph`] of them. Unlike a capture it has jumps: streams [start](Stream::start) others,
/// [switch](Stream::switch_if) to others on a condition, and [jump](Stream::jump) to [labels](crate::Label), all on
/// the device.
///
/// The graph starts with the [first](Self::first) stream. The others of [`stream`](Self::stream) start when another
/// one starts them, or are jumped to. The graph is over when the first stream is at its end; before that it waits
/// there, by itself, for the streams that it started, and these for theirs. Order before the end is made with
/// [notifies](crate::Notify) and [flags](crate::DeviceFlag); events, side streams, conditions, task groups and
/// prefetches are for captures only.
///
/// As in a capture, buffers, scratch memory, pinned buffers, host functions, notifies and kernels that the work uses
/// are kept, by the builder and then by the graph, nothing of it runs before a launch, and a call that is refused
/// leaves the builder without a graph. Work of one stream that jumps never runs beside itself; what of memory that [a
/// stream allocates](Stream::alloc) lasts from one round to the next is as in [bodies of conditions](Stream::if_else).
///
/// Any thread may use it, and its streams. Dropping it gives everything back. It needs a release after CANN 9.1.
///
/// C calls: `aclmdlRIBuildBegin`, `aclmdlRIBindStream`, `aclmdlRIEndTask`, `aclmdlRIBuildEnd`, `aclmdlRIUnbindStream`,
/// `aclmdlRIDestroy`, `aclrtCreateStreamWithConfig`, `aclrtValueWrite`, `aclrtValueWait`.
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let mut x = device.upload_tensor(&[1.0_f32, 2.0], [2])?;
/// let mut bytes = device.alloc_zeroed::<u8>(4)?;
/// let mut builder = device.context().build_graph()?;
/// let (first, side) = (builder.first().clone(), builder.stream("side")?);
/// first.start(&side)?;
/// op::muls_inplace(&first, &mut x, 10.0)?;
/// side.fill_bytes(&mut bytes, 7)?; // beside the product
/// let mut graph = builder.finish()?;
///
/// let stream = device.stream()?;
/// graph.launch(&stream)?;
/// assert_eq!(x.to_vec()?, [10.0, 20.0]);
/// assert_eq!(bytes.to_vec()?, [7; 4]);
/// # Ok::<(), racl::Error>(())
/// ```
#[must_use = "nothing is built before `finish`"]
pub struct GraphBuilder {
    /// Null once the graph has it.
    raw: aclmdlRI,
    /// Streams of the graph; before them it goes.
    bound: Bound,
    first: Stream,
    state: Arc<CaptureState>,
    context: Arc<ContextInner>,
}

// SAFETY: the runtime's guide on graphs forbids concurrent calls for one graph, not calls from several threads in turn;
// every call of this value needs it exclusively, and makes the context current first.
unsafe impl Send for GraphBuilder {}
// SAFETY: as above; what it shows of itself is a stream.
unsafe impl Sync for GraphBuilder {}

impl Context {
    /// Begins a graph that is built by hand. See [`GraphBuilder`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] on a library without, with the release that has it; [`ErrorKind::NoStreams`] when
    /// the device has none left; [`ErrorKind::OutOfMemory`] when it has no room for the graph.
    #[doc(alias = "aclmdlRIBuildBegin")]
    pub fn build_graph(&self) -> Result<GraphBuilder> {
        GraphBuilder::begin(&GraphPool::new(self), self.inner())
    }

    /// As [`Context::build_graph`], with the memory that other graphs of `pool` use.
    ///
    /// # Errors
    ///
    /// As [`Context::build_graph`]; [`ErrorKind::InvalidArgument`] for a pool of another context.
    #[doc(alias = "aclmdlRIBuildBegin")]
    pub fn build_graph_in(&self, pool: &GraphPool) -> Result<GraphBuilder> {
        pool.check(self.inner())?;
        GraphBuilder::begin(pool, self.inner())
    }
}

impl GraphBuilder {
    fn begin(pool: &GraphPool, context: &Arc<ContextInner>) -> Result<Self> {
        let first = Stream::storing(context)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is a place for one handle.
        unsafe { call!(&**context, aclmdlRIBuildBegin(&raw mut raw, 0)) }?;
        let raw = non_null(raw, "aclmdlRIBuildBegin")?;
        let state = CaptureState::by_hand(pool.inner());
        let (bound, context) = (Bound::default(), Arc::clone(context));
        let mut builder = Self { raw, bound, first: first.clone(), state, context };
        builder.bind(first, "first", acl_sys::ACL_MODEL_STREAM_FLAG_HEAD)?;
        Ok(builder)
    }

    fn bind(&mut self, stream: Stream, name: &str, flag: u32) -> Result<Stream> {
        stream.set_name(name);
        self.bound.bind(&self.context, self.raw, stream.clone(), flag)?;
        self.state.add_bound(&stream.0, name)?;
        Ok(stream)
    }

    /// The stream that the graph starts with, and whose end is that of the graph.
    #[must_use]
    pub fn first(&self) -> &Stream {
        &self.first
    }

    /// A further stream of the graph, with a name that errors use. It runs when another stream of the graph
    /// [starts](Stream::start) it or [switches](Stream::switch_if) to it, or from a [label](crate::Label) on that
    /// another one jumps to.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoStreams`] when the device has none left; what the library says of a stream that it does not take.
    /// The builder is as before then.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let mut builder = device.context().build_graph()?;
    /// let side = builder.stream("side")?;
    /// let refused = builder.finish().unwrap_err(); // nothing starts it
    /// assert!(refused.to_string().contains("nothing starts stream \"side\""));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRIBindStream")]
    #[doc(alias = "ACL_STREAM_PERSISTENT")]
    #[doc(alias = "ACL_MODEL_STREAM_FLAG_DEFAULT")]
    pub fn stream(&mut self, name: &str) -> Result<Stream> {
        let stream = Stream::storing(&self.context)?;
        self.bind(stream, name, acl_sys::ACL_MODEL_STREAM_FLAG_DEFAULT)
    }

    /// The context that the graph is for.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::from_inner(&self.context)
    }

    /// Ends the building. The streams take nothing more.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] naming the stream for one that nothing starts or jumps to, that is jumped to and
    /// does not end with a jump, or that jumps out of work which runs beside it, and for a jump to a label that stands
    /// nowhere in the graph; [`ErrorKind::CaptureInvalidated`] naming the call that was refused; otherwise what the
    /// library says. Everything is given back then.
    #[doc(alias = "aclmdlRIEndTask")]
    #[doc(alias = "aclmdlRIBuildEnd")]
    pub fn finish(mut self) -> Result<Graph> {
        self.state.close();
        self.state.drain();
        self.state.check_outputs();
        if let Some(failure) = self.state.failure() {
            return Err(Error::new(ErrorKind::CaptureInvalidated, failure));
        }
        self.end_streams()?;
        let context = &*self.context;
        // SAFETY: graph and stream are live, and the stream is bound to the graph.
        unsafe { call!(context, aclmdlRIEndTask(self.raw, self.first.as_raw())) }?;
        // SAFETY: a live graph; nothing is reserved.
        unsafe { call!(context, aclmdlRIBuildEnd(self.raw, std::ptr::null_mut())) }?;
        let raw = std::mem::replace(&mut self.raw, std::ptr::null_mut());
        let graph = Graph::own_built(raw, &self.context, &self.state, std::mem::take(&mut self.bound));
        self.state.seal_streams();
        Ok(graph)
    }

    /// Adds what the streams do at their ends: they wait for those that they started, and tell the one that started
    /// them.
    fn end_streams(&self) -> Result<()> {
        let context = &*self.context;
        for (stream, end) in self.state.ends()? {
            for flag in &end.waits {
                let equal = acl_sys::ACL_STREAM_WAIT_VALUE_EQ;
                // SAFETY: eight aligned bytes of device memory, which the graph keeps.
                unsafe { call!(context, aclrtValueWait(flag.address(), REACHED, equal, stream.raw())) }?;
            }
            if let Some(flag) = &end.writes {
                // SAFETY: as above.
                unsafe { call!(context, aclrtValueWrite(flag.address(), REACHED, 0, stream.raw())) }?;
            }
        }
        Ok(())
    }

    /// The builder, of which nothing is left here.
    fn take(&mut self) -> Self {
        Self {
            raw: std::mem::replace(&mut self.raw, std::ptr::null_mut()),
            bound: std::mem::take(&mut self.bound),
            first: self.first.clone(),
            state: Arc::clone(&self.state),
            context: Arc::clone(&self.context),
        }
    }

    fn give_up(&mut self) -> Result<()> {
        let unbound = self.bound.unbind(&self.context, self.raw);
        // SAFETY: the handle is this value's own; it is set to null after success, so it is destroyed once.
        unsafe { call!(&*self.context, aclmdlRIDestroy(self.raw)) }?;
        self.raw = std::ptr::null_mut();
        unbound
    }
}

impl Drop for GraphBuilder {
    fn drop(&mut self) {
        if self.raw.is_null() {
            return;
        }
        // No calls are allowed in a host function.
        if closure::is_running() {
            return retire::on_thread(self.take(), drop);
        }
        self.state.close();
        self.state.drain();
        // Nothing of it ran, so there is nothing to wait for.
        let given_up = self.give_up();
        self.state.seal_streams();
        if let Err(error) = given_up {
            if !self.raw.is_null() {
                // The runtime has the graph still.
                std::mem::forget((self.state.take_keep(), std::mem::take(&mut self.bound)));
            }
            self.context.record_drop_error("giving up a graph that was built by hand", error);
        }
    }
}

impl fmt::Debug for GraphBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphBuilder")
            .field("raw", &self.raw)
            .field("streams", &self.bound.streams.len())
            .finish_non_exhaustive()
    }
}

/// The number by which a stream tells that it came to its end.
pub(super) fn flag_for(context: &Arc<ContextInner>) -> Result<Arc<Allocation>> {
    Allocation::new(context, size_of::<u64>())
}

/// Streams that are bound to a graph and hold its tasks. They go after it.
#[derive(Default)]
pub(super) struct Bound {
    streams: Vec<Stream>,
    /// So many of the first are bound still.
    left: usize,
}

impl Bound {
    fn bind(&mut self, context: &ContextInner, graph: aclmdlRI, stream: Stream, flag: u32) -> Result<()> {
        // SAFETY: both handles are live; others give a code.
        unsafe { call!(context, aclmdlRIBindStream(graph, stream.as_raw(), flag)) }?;
        self.streams.push(stream);
        self.left = self.streams.len();
        Ok(())
    }

    /// Before the graph is destroyed, which frees those that could not be unbound as well. Gives the first error.
    pub(super) fn unbind(&mut self, context: &ContextInner, graph: aclmdlRI) -> Result<()> {
        let mut first = Ok(());
        for stream in &self.streams[..self.left] {
            // SAFETY: as for `bind`.
            let unbound = unsafe { call!(context, aclmdlRIUnbindStream(graph, stream.as_raw())) };
            first = first.and(unbound);
        }
        self.left = 0;
        first
    }

    /// That the graph has its streams still: it may be there without them when it could not be destroyed.
    pub(super) fn check(&self) -> Result<()> {
        if self.left == self.streams.len() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::InvalidHandle,
            "a graph without its streams, which could not be destroyed; drop it",
        ))
    }

    pub(super) fn len(&self) -> usize {
        self.streams.len()
    }
}
