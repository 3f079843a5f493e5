//! The graph.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::path::Path;
use std::sync::Arc;

use acl_sys::aclmdlRI;

use super::build::Bound;
use super::change::Uses;
use super::given;
use super::groups::Updated;
use super::in_flight::InFlight;
use super::pool::GraphPool;
use crate::allocation::{How, Launches as _, Touch};
use crate::call::call;
use crate::closure::{self, Panics};
use crate::context::{Context, ContextInner};
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::event::Event;
use crate::progress::Clock;
use crate::retire::{self, Waited};
use crate::stream::{CaptureState, Keep, Stream, StreamInner, Task};

/// A graph (`aclmdlRI`): launched with one call however many operators it holds. It comes from a
/// [capture](Stream::capture), or was [built by hand](crate::GraphBuilder).
///
/// It keeps the buffers, scratch memory, pinned buffers and host functions that its work uses. A launch takes `&mut
/// self` and is ordered after the launch before it, so one graph never runs twice at once, which the runtime does not
/// support. `Send`, not `Sync`: any thread may use it, one at a time.
///
/// Dropping the graph waits for its last launch. While work waits at [gates of a plan](crate::plan::External), a
/// graph whose launch is not done soon is destroyed later, by a thread that waits for it. Explicit: [`Graph::close`].
///
/// C calls: `aclmdlRIExecuteAsync`, `aclmdlRIAbort`, `aclmdlRIDestroy`, `aclmdlRIUnbindStream`,
/// `aclmdlRIDebugJsonPrint`, `aclmdlRIDestroyRegisterCallback`.
///
/// # Examples
///
/// ```
/// use racl::{CaptureMode, op};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let step = device.upload_tensor(&[1.0_f32, 2.0], [2])?;
/// let mut sum = device.zeros([2])?;
/// let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut sum, &step))?;
/// assert_eq!(graph.memory_bytes(), 16); // two tensors of two 32-bit floats
///
/// for _ in 0..3 {
///     graph.launch(&stream)?;
/// }
/// graph.wait()?;
/// assert_eq!(sum.to_vec()?, [3.0, 6.0]);
/// graph.close()?;
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclmdlRI")]
#[doc(alias = "aclmdlRIDestroy")]
pub struct Graph {
    pub(super) raw: aclmdlRI,
    /// The number of the capture, or of no capture.
    capture: u64,
    pub(super) made: Made,
    pub(super) keep: Keep,
    /// What updates gave it beside that.
    pub(super) updated: Updated,
    /// What changes of single tasks gave it, by their handles.
    pub(super) changed: HashMap<usize, Uses>,
    pub(super) in_flight: Arc<InFlight>,
    pub(super) panics: Panics,
    order: Option<Event>,
    /// The last launch was to end before its time.
    pub(super) aborted: bool,
    pool: GraphPool,
    /// Scratch state of the launch path has no lock in the runtime: not `Sync`.
    not_sync: PhantomData<Cell<()>>,
    /// Streams of the graph, which go after it.
    pub(super) bound: Bound,
    pub(super) context: Arc<ContextInner>,
}

/// How a graph came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    Captured,
    ByHand,
    /// By other code.
    Elsewhere,
}

// SAFETY: the runtime's guide on graphs forbids concurrent calls for one graph, not calls from several threads in
// turn; every call makes the context current first.
unsafe impl Send for Graph {}

impl Graph {
    /// Owns the graph that a capture gave.
    pub(crate) fn own(raw: aclmdlRI, context: &Arc<ContextInner>, capture: &CaptureState) -> Self {
        let in_flight = Arc::new(InFlight::default());
        let mut keep = capture.take_keep();
        keep.tell_to(context);
        for touch in keep.touches() {
            touch.memory.used_by_graph(&in_flight, touch.how);
        }
        Self {
            raw,
            capture: capture.id(),
            made: if capture.is_by_hand() { Made::ByHand } else { Made::Captured },
            keep,
            updated: Updated::default(),
            changed: HashMap::new(),
            in_flight,
            panics: capture.panics.clone(),
            order: None,
            aborted: false,
            pool: GraphPool::from_inner(&capture.pool),
            not_sync: PhantomData,
            bound: Bound::default(),
            context: Arc::clone(context),
        }
    }

    /// As [`Self::own`], of one that was built on `bound`.
    pub(super) fn own_built(raw: aclmdlRI, context: &Arc<ContextInner>, build: &CaptureState, bound: Bound) -> Self {
        let mut graph = Self::own(raw, context, build);
        graph.bound = bound;
        graph
    }

    /// A handle that is not null, from other code.
    pub(crate) fn adopt(raw: aclmdlRI, context: &Context) -> Self {
        Self {
            raw,
            capture: CaptureState::next_id(),
            made: Made::Elsewhere,
            keep: Keep::default(),
            updated: Updated::default(),
            changed: HashMap::new(),
            in_flight: Arc::new(InFlight::default()),
            panics: Panics::default(),
            order: None,
            aborted: false,
            pool: GraphPool::new(context),
            not_sync: PhantomData,
            bound: Bound::default(),
            context: Arc::clone(context.inner()),
        }
    }

    /// The handle, once the graph does not run; it is not destroyed then. What it uses goes when it is destroyed, where
    /// the library tells that, and else never.
    pub(crate) fn give_away(mut self) -> Result<aclmdlRI, Refused<Self>> {
        match self.in_flight.wait() {
            Ok(()) => Ok(self.leave()),
            Err(error) => Err(Refused::new(self, error)),
        }
    }

    /// As [`Self::give_away`], with the limit of drops, and whatever became of the work.
    pub(crate) fn give_back_handle(mut self) -> Result<aclmdlRI, Refused<Self>> {
        let settled = self.in_flight.is_settled() && !closure::is_running();
        let waited = if settled { Ok(Waited::Done) } else { retire::wait(|limit| self.in_flight.wait_within(limit)) };
        match waited {
            Ok(Waited::Done) => Ok(self.leave()),
            Ok(_) => {
                let text =
                    format!("{} is not done; the graph goes back to its owner later", self.in_flight.describe());
                Err(Refused::new(self, Error::new(ErrorKind::Timeout, text)))
            }
            // However it ended, it is over.
            Err(error) if error.is_of_work() && !self.in_flight.may_run() => {
                self.context
                    .record_drop_error("the last launch of a graph that goes back to its owner failed", error);
                Ok(self.leave())
            }
            Err(error) => Err(Refused::new(self, error)),
        }
    }

    fn leave(&mut self) -> aclmdlRI {
        let came_back = self.made == Made::Elsewhere;
        // Of what other code captured, nothing is kept but what changes gave it.
        if !came_back || !self.updated.is_empty() || !self.changed.is_empty() {
            let uses = self.take_uses();
            given::leave(&self.context, self.raw, came_back, uses);
        }
        std::mem::replace(&mut self.raw, std::ptr::null_mut())
    }

    /// Replays the graph on `stream`: after the work before it there, and before the work after it; on other streams,
    /// after eager work and launches that use the same memory. Returns when the launch is queued. The first launch is
    /// slower, because the runtime binds hardware queues then.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::CaptureForbidden`] on a stream that records another graph, [`ErrorKind::WrongContext`] on one of
    /// another context, [`ErrorKind::InvalidArgument`] on one of another library, [`ErrorKind::InvalidHandle`] when the
    /// stream or the graph was destroyed beside this crate, [`ErrorKind::GraphRunning`] when the graph cannot run, and
    /// after an [update](Self::update) that failed halfway, [`ErrorKind::Timeout`] when another thread that launches a
    /// graph of the same [pool](GraphPool) waits for room in its stream longer than [drops do](crate::set_drop_limit),
    /// [`ErrorKind::NotSupported`] on a default stream whose handle the library does not give, [`ErrorKind::Aborted`]
    /// when a [communicator](crate::collective::Communicator) of it was aborted, [`ErrorKind::MissingSymbol`] where the
    /// launch before was [aborted](Self::abort), the graph both records a notify and waits for it, and the library
    /// cannot reset one. Errors of the work come with a later synchronising call.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::CaptureMode;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let mut buffer = device.alloc_zeroed::<u8>(4)?;
    /// let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 1))?;
    /// graph.launch(&stream)?;
    /// graph.launch(&device.stream()?)?; // on another stream: after the launch before
    /// assert_eq!(buffer.to_vec()?, [1; 4]); // waits for both
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRIExecuteAsync")]
    #[track_caller]
    pub fn launch(&mut self, stream: &Stream) -> Result<()> {
        self.launch_at(stream, Location::caller())
    }

    /// As [`Graph::launch`], for a call at `location`.
    #[inline]
    pub(crate) fn launch_at(&mut self, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        self.try_launch(stream, location).map_err(|error| stream.refuse(("graph launch", location), error))
    }

    #[inline]
    fn try_launch(&mut self, stream: &Stream, location: &'static Location<'static>) -> Result<()> {
        let inner = &stream.0;
        if inner.raw().is_null() {
            let text = "the library does not give the handle of its default stream, and a graph needs one";
            return Err(Error::new(ErrorKind::NotSupported, text));
        }
        inner.context().check_library(&self.context, "a graph")?;
        let task = Task { label: "graph launch", location, uses: &[], scratch: None };
        inner.check_thread()?;
        if self.keep.is_alone() {
            self.launch_now(stream, &task).map(drop)
        } else {
            self.launch_in_turn(stream, &task)
        }
    }

    /// A launch that has to look at what other launches use as well.
    #[inline(never)]
    fn launch_in_turn(&mut self, stream: &Stream, task: &Task<'_>) -> Result<()> {
        // While no other graph is launched that may use the same memory of a pool.
        let _turn = if self.keep.has_turns() { self.keep.turn()? } else { None };
        if self.keep.has_notifies() {
            self.clear_notifies()?;
        }
        let in_turn = self.keep.in_turn();
        let turns = in_turn.iter().map(|each| each.begin(stream)).collect::<Result<Vec<_>>>()?;
        let number = stream.may_wait_elsewhere(self.keep.waits_elsewhere(), || self.launch_now(stream, task))?;
        turns.iter().for_each(|turn| turn.used(&stream.0, number));
        Ok(())
    }

    // Three dozen instructions of a launch are the call of this.
    #[inline(always)]
    fn launch_now(&mut self, stream: &Stream, task: &Task<'_>) -> Result<u64> {
        let inner = &stream.0;
        // By which it is ordered here, whatever fails meanwhile.
        let era = inner.progress().era();
        let again = self.in_flight.is_last(era);
        // Nobody else used the memory since the last launch: its work is behind everything still.
        let known = again && !self.in_flight.take_disturbed();
        if !known {
            self.order_launch(stream, again, task.location)?;
        }
        let state = inner.lock();
        // Whoever used the memory meanwhile does not know of this launch.
        let known = known && !self.in_flight.is_disturbed();
        if self.panics.are_possible() {
            self.panics.launched_on(inner.progress());
        }
        let number = inner.submit_free_standing(&state, task, |raw| {
            // SAFETY: graph and stream are live and not null; `&mut self` excludes another call for this graph.
            unsafe { call!(&*self.context, aclmdlRIExecuteAsync(self.raw, raw)) }
        });
        let number = number.inspect_err(|error| self.not_launched(inner, (era, &state.clock), error))?;
        state.latest.set(Some(((task.label, task.location), number)));
        self.in_flight.launched(inner, (era, number));
        if !known {
            self.note_use(inner, &state.clock);
        }
        drop(state);
        Ok(number)
    }

    /// After a launch that was refused, with the stream's lock.
    #[cold]
    fn not_launched(&self, stream: &Arc<StreamInner>, (era, clock): (u64, &Clock), error: &Error) {
        self.panics.not_launched(stream.progress());
        if stream.may_have_part(error) {
            self.in_flight.launched(stream, (era, stream.progress().submitted()));
            self.note_use(stream, clock);
        }
        self.in_flight.set_disturbed();
    }

    /// Makes `stream` wait for the launch before, and for other work that uses the memory.
    #[inline(never)]
    fn order_launch(&mut self, stream: &Stream, again: bool, location: &'static Location<'static>) -> Result<()> {
        // Here, since an update disturbs, and so does a close that failed.
        let checked =
            stream.check_eager("launch").and_then(|()| self.check_whole()).and_then(|()| self.bound.check());
        checked.inspect_err(|_| self.in_flight.set_disturbed())?;
        if !again {
            let (order, context) = (&mut self.order, &self.context);
            self.in_flight.with_running(|before| Event::order(order, context, before, stream, location))?;
        }
        let ordered = stream.0.order_after(self.touches());
        if !matches!(ordered, Ok(true)) {
            self.in_flight.set_disturbed();
        }
        ordered.map(drop)
    }

    /// Tells the memory of a launch on a stream, whose further work is behind `clock`.
    #[inline(never)]
    fn note_use(&self, stream: &StreamInner, clock: &Clock) {
        let id = stream.progress().era();
        let mut follows = true;
        for touch in self.touches().filter(|touch| touch.how != How::Kept) {
            follows &= touch.memory.launched_on(id, touch.how, clock);
        }
        if !follows {
            self.in_flight.set_disturbed();
        }
    }

    /// The memory that a launch uses.
    fn touches(&self) -> impl Iterator<Item = Touch<'_>> {
        let changed = self.changed.values().flat_map(|uses| &uses.memory);
        let later = self.updated.memory().chain(changed).map(|(memory, how)| Touch::new(memory, *how));
        self.keep.touches().chain(later)
    }

    /// Everything that has to stay as long as the graph, and goes after it.
    pub(super) fn take_uses(&mut self) -> impl Send + 'static + use<> {
        let later = (std::mem::take(&mut self.updated), std::mem::take(&mut self.changed));
        (std::mem::take(&mut self.keep), later, std::mem::take(&mut self.bound))
    }

    /// Blocks until the last launch is done; returns at once when there was none.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::synchronize`] on the stream of the last launch: [`ErrorKind::DeviceFault`] and its like
    /// when work failed, [`ErrorKind::CallbackPanicked`] when a host function did; [`ErrorKind::Aborted`], once, when the
    /// launch was dropped. [`ErrorKind::DeviceLost`] when that stream is gone and could not be waited for.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::CaptureMode;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let send = move || sender.send(1).unwrap();
    /// let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.host_function(send))?;
    /// assert!(receiver.try_recv().is_err()); // recorded, not run
    /// graph.launch(&stream)?;
    /// graph.wait()?;
    /// assert_eq!(receiver.try_recv(), Ok(1));
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn wait(&mut self) -> Result<()> {
        self.wait_over()?;
        self.in_flight.tell_dropped()
    }

    /// The context that the graph belongs to.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::from_inner(&self.context)
    }

    pub(super) fn capture_id(&self) -> u64 {
        self.capture
    }

    pub(super) fn made(&self) -> Made {
        self.made
    }

    pub(crate) fn context_inner(&self) -> &Arc<ContextInner> {
        &self.context
    }

    /// The pool that holds scratch memory and temporaries of the graph, to capture others that share them.
    #[must_use]
    pub fn pool(&self) -> GraphPool {
        self.pool.clone()
    }

    /// Device memory that the graph keeps, in bytes, its scratch memory included. A slice or a view counts with the
    /// whole allocation behind it.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let all: HashMap<_, _> =
            self.touches().map(|touch| (Arc::as_ptr(touch.memory).addr(), touch.memory.bytes())).collect();
        all.into_values().sum()
    }

    /// Writes the graph's streams and tasks as a Chrome trace to `path`: a JSON file for `chrome://tracing` and its
    /// like. Returns when the file is written; the graph need not have been launched.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] when the file cannot be written, or for a path with a zero byte;
    /// [`ErrorKind::InvalidHandle`] for a graph destroyed beside this crate; [`ErrorKind::MissingSymbol`] on a
    /// library without the function.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::CaptureMode;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let mut buffer = device.alloc::<u8>(4)?;
    /// let graph = stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 1))?;
    /// let path = std::env::temp_dir().join(format!("racl-trace-{}.json", std::process::id()));
    /// graph.write_trace(&path)?;
    /// let trace = std::fs::read_to_string(&path).expect("the trace was written");
    /// assert!(trace.contains('{'));
    /// # std::fs::remove_file(&path).expect("the trace goes away");
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRIDebugJsonPrint")]
    pub fn write_trace(&self, path: impl AsRef<Path>) -> Result<()> {
        let shown = path.as_ref().display().to_string();
        let path = std::ffi::CString::new(path.as_ref().as_os_str().as_encoded_bytes())
            .map_err(|error| Error::invalid(format!("a path with a zero byte: {shown:?}")).with_source(error))?;
        let flags = acl_sys::ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY;
        // SAFETY: `path` is a NUL-terminated string that outlives the call. Releases whose function takes no flags
        // ignore the third argument.
        unsafe { call!(&*self.context, aclmdlRIDebugJsonPrint(self.raw, path.as_ptr(), flags)) }
            .map_err(|error| error.context(format!("writing {shown}")))
    }

    /// The raw handle. Valid as long as this value; launches made beside this crate are not tracked by it.
    #[must_use]
    pub fn as_raw(&self) -> aclmdlRI {
        self.raw
    }

    /// Waits for the last launch and destroys the graph now.
    ///
    /// # Errors
    ///
    /// The graph and why it was not destroyed: the error of its last launch, which is reported once, so that a second
    /// try goes on; [`ErrorKind::GraphRunning`] when a launch made beside this crate still runs;
    /// [`ErrorKind::InvalidHandle`] for a graph destroyed beside this crate.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::CaptureMode;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let mut buffer = device.alloc::<u8>(4)?;
    /// let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 1))?;
    /// graph.launch(&stream)?;
    /// if let Err(refused) = graph.close() {
    ///     eprintln!("not closed: {refused:#}");
    ///     drop(refused.into_value()); // tries again
    /// }
    /// assert_eq!(buffer.to_vec()?, [1; 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRIDestroy")]
    pub fn close(mut self) -> Result<(), Refused<Self>> {
        match self.in_flight.wait().and_then(|()| self.destroy()) {
            Ok(()) => Ok(()),
            Err(error) => Err(Refused::new(self, error)),
        }
    }

    /// Whether there is nothing to wait for and to report.
    pub(crate) fn is_settled(&self) -> bool {
        self.in_flight.is_settled()
    }

    /// The last launch, where it does not end.
    pub(crate) fn hanging(&self) -> Option<String> {
        (!self.is_settled()).then(|| self.in_flight.describe())
    }

    /// Whether the last launch is over soon. A failure of it is told as one of its drop.
    pub(crate) fn ends_soon(&self) -> bool {
        let told = |error| self.context.record_drop_error("the last launch of a graph that goes away failed", error);
        self.is_settled()
            || retire::wait_briefly(|limit| self.in_flight.wait_within(limit)).unwrap_or_else(|error| {
                told(error);
                true
            })
    }

    /// The graph, of which nothing is left here.
    pub(super) fn take(&mut self) -> Self {
        Self {
            raw: std::mem::replace(&mut self.raw, std::ptr::null_mut()),
            capture: self.capture,
            made: self.made,
            keep: std::mem::take(&mut self.keep),
            updated: std::mem::take(&mut self.updated),
            changed: std::mem::take(&mut self.changed),
            in_flight: Arc::clone(&self.in_flight),
            panics: self.panics.clone(),
            order: self.order.take(),
            aborted: self.aborted,
            pool: self.pool.clone(),
            not_sync: PhantomData,
            bound: std::mem::take(&mut self.bound),
            context: Arc::clone(&self.context),
        }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("raw", &self.raw)
            .field("allocations", &self.keep.allocations.len())
            .field("host_buffers", &self.keep.host_buffers.len())
            .field("host_functions", &self.keep.host_functions.len())
            .field("streams_by_hand", &self.bound.len())
            .finish_non_exhaustive()
    }
}
