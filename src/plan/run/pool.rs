//! Temporary memory that several executables share, of which one runs at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::context::{Context, ContextInner};
use crate::error::{Error, ErrorKind, Result, ResultExt as _};
use crate::event::Event;
use crate::graph::GraphPool;
use crate::lock::{Guard, Lock, Signal, ThreadNumber};
use crate::memory::Allocation;
use crate::progress::{Chain, Use};
use crate::stream::{Stream, StreamInner};

use super::issue::At;
use super::piece::Piece;

/// How long a run waits for another thread to submit its own, unless told otherwise.
const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// Memory for the temporaries of several executables on one device. Their runs are ordered one after another, on
/// whatever streams they are: the later one waits on the device, not on the host.
///
/// A run that waits at a gate holds up those behind it: its signal must not come from a stream behind one of them.
///
/// One thread at a time submits a run. Another waits until it is submitted, for [a time](Pool::set_wait_limit). As
/// long it waits for a stream that another thread is dropping while the run before is still at work there.
///
/// The memory grows to what the largest of them needs; graphs that were captured before keep what they had. A run takes
/// what its stream gave up, though work of it may use that still, and what the pool gives up is for that stream at
/// once, for others once its work is done or, when memory is short, behind it. Scratch memory of operators in captured
/// graphs is shared too ([`Pool::scratch_bytes`]), by executables on the context of the pool.
///
/// # Examples
///
/// ```
/// use racl::op::DataType::F32;
/// use racl::plan::{Frozen, Input, Plan, Pool, RunOptions};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let pool = Pool::new(&device);
/// let plan = Plan::build(|g| {
///     let x = g.input("x", [256], F32, Input::Static)?;
///     let h = g.tanh(x)?;
///     let y = g.abs(h)?;
///     g.output("y", y)
/// })?;
/// let options = RunOptions::new().pool(&pool);
/// let prefill = plan.executable(&device, &options, Frozen::new())?;
/// let decode = plan.executable(&device, &options, Frozen::new())?;
/// assert_eq!(pool.bytes(), plan.memory(&[])?.peak as usize);
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Clone)]
#[doc(alias = "graph_pool_handle")]
pub struct Pool(Arc<Shared>);

struct Shared {
    context: Arc<ContextInner>,
    state: Lock<State>,
    /// Told when no run is submitted any more.
    free: Signal,
    /// Size of the arena.
    bytes: AtomicUsize,
    /// Scratch memory of graphs.
    graphs: GraphPool,
}

/// Not locked while code of the user runs.
struct State {
    arena: Option<Arc<Allocation>>,
    /// Who submits a run, and where it was begun.
    busy: Option<(ThreadNumber, At)>,
    wait_limit: Duration,
    /// The ends of the runs.
    runs: Chain<StreamInner>,
    /// What streams were given when they got memory for runs, which earlier work of theirs may use still.
    took: Vec<Use<StreamInner>>,
    /// A value of its own, for an event is large, and each run takes it and puts it back.
    order: Option<Box<Option<Event>>>,
}

impl Pool {
    /// An empty pool for a context of a device.
    #[must_use]
    pub fn new(context: impl AsRef<Context>) -> Self {
        let context = context.as_ref();
        Self(Arc::new(Shared {
            context: Arc::clone(context.inner()),
            state: Lock::new(State {
                arena: None,
                busy: None,
                wait_limit: WAIT_LIMIT,
                runs: Chain::default(),
                took: Vec::new(),
                order: None,
            }),
            free: Signal::new(),
            bytes: AtomicUsize::new(0),
            graphs: GraphPool::new(context),
        }))
    }

    /// Bytes that the pool has for temporaries now.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.bytes.load(Ordering::Acquire)
    }

    /// Bytes of scratch memory that the graphs of its executables share now, beside [those of
    /// temporaries](Self::bytes): as much as the graph needs that needs most, on each of its streams.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan, Pool, RunOptions};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let pool = Pool::new(&device);
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [16, 16], F32, Input::Static)?;
    ///     let y = g.softmax(x, 0)?; // has scratch memory
    ///     g.output("y", y)
    /// })?;
    /// let one = plan.executable(&device, &RunOptions::new().pool(&pool), Frozen::new())?;
    /// let scratch = pool.scratch_bytes();
    /// assert!(scratch > 0);
    /// let two = plan.executable(&device, &RunOptions::new().pool(&pool), Frozen::new())?;
    /// assert_eq!(pool.scratch_bytes(), scratch);
    /// drop((one, two));
    /// assert_eq!(pool.scratch_bytes(), 0);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn scratch_bytes(&self) -> usize {
        self.0.graphs.bytes()
    }

    /// Where graphs on this context have their scratch memory.
    pub(super) fn graphs(&self, context: &Context) -> GraphPool {
        let graphs = &self.0.graphs;
        if graphs.is_of(context.inner()) { graphs.clone() } else { GraphPool::new(context) }
    }

    /// Makes the memory at least `bytes` large now, such as the peak of the largest plan to come: graphs that are
    /// captured from now on share it, in whatever order they come.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan, Pool, RunOptions};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let plan = Plan::build(|g| {
    ///     let tokens = g.symbol("tokens", 1..=256)?;
    ///     let x = g.input("x", [tokens], F32, Input::Host)?;
    ///     let h = g.tanh(x)?;
    ///     let y = g.reduce_sum(h, &[], false)?;
    ///     g.output_to_host("y", y)
    /// })?;
    /// let pool = Pool::new(&device);
    /// pool.reserve(plan.memory(&[256])?.peak)?;
    /// let most = pool.bytes();
    /// let stream = device.stream()?;
    /// let mut exe = plan.executable(&device, &RunOptions::new().pool(&pool), Frozen::new())?;
    /// let (x, y, mut bind) = (exe.input("x")?, exe.output_id("y")?, exe.bindings());
    /// for tokens in [16, 256] {
    ///     exe.run(&stream, bind.host(x, &vec![0.0_f32; tokens], [tokens]))?;
    ///     assert_eq!(exe.host_output::<f32>(y)?, [0.0]);
    ///     assert_eq!(pool.bytes(), most); // both graphs use the same memory
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn reserve(&self, bytes: u64) -> Result<()> {
        let arena = self.arena(bytes, None);
        arena.map(drop).context_with(|| format!("a pool of {bytes} bytes"))
    }

    /// How long a run waits for one that another thread submits, a foreign operator of it for instance, before it
    /// fails with [`ErrorKind::Timeout`], naming where that one began; and how long for a stream of the run before
    /// that goes away on another thread. A minute unless told otherwise; for all users of the pool from now on. Zero
    /// does not wait.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use racl::plan::Pool;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let pool = Pool::new(&device);
    /// pool.set_wait_limit(Duration::from_secs(5));
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn set_wait_limit(&self, limit: Duration) {
        self.lock().wait_limit = limit;
    }

    fn lock(&self) -> Guard<'_, State> {
        self.0.state.lock()
    }

    pub(super) fn check(&self, context: &Context) -> Result<()> {
        if Arc::ptr_eq(&self.0.context, context.inner()) || self.0.context.shares_memory_with(context.inner()) {
            return Ok(());
        }
        Err(Error::invalid("a pool of another device or library"))
    }

    /// An arena of at least `bytes` bytes, maybe for a run on a stream; none for 0.
    pub(super) fn arena(&self, bytes: u64, stream: Option<&Stream>) -> Result<Option<Arc<Allocation>>> {
        if bytes == 0 {
            return Ok(None);
        }
        if let Some(arena) = self.lock().fitting(bytes)? {
            return Ok(Some(arena));
        }
        // Without the lock: this may wait for memory, or ask an allocator of the user.
        let made = Piece::for_run(&self.0.context, bytes, stream).map(|piece| piece.allocation);
        let mut state = self.lock();
        // What another thread made meanwhile is as good, and there may have been room for one alone.
        if let Some(arena) = state.fitting(bytes)? {
            drop(state);
            return Ok(Some(arena));
        }
        let arena = made?;
        self.0.bytes.store(arena.bytes(), Ordering::Release);
        let former = state.arena.replace(Arc::clone(&arena));
        drop(state);
        drop(former);
        Ok(Some(arena))
    }

    /// Memory of runs was given to `stream`, which may use it for what it was given before.
    pub(super) fn took_memory(&self, stream: &Stream) {
        let stream = &stream.0;
        let mut state = self.lock();
        state.took.retain(|took| !took.is_done() && !took.is_of(&**stream));
        state.took.push(Use::of(stream, stream.progress().submitted()));
    }

    /// The right to run next on `stream`: after whatever ran before, and before whatever comes when the token is
    /// gone. Waits for a run that another thread submits.
    pub(super) fn enter<'a>(&'a self, stream: &'a Stream, at: At) -> Result<Token<'a>> {
        let mut state = self.wait_free()?;
        state.busy = Some((ThreadNumber::here(), at));
        state.took.retain(|took| !took.is_done());
        let before = state.runs.open().chain(&state.took).filter(|one| !one.is_of(&*stream.0)).cloned();
        let before: Vec<_> = before.collect();
        let (order, limit) = (state.order.take(), state.wait_limit);
        drop(state);
        let mut token = Token { pool: &self.0, stream: None, order };
        before.iter().try_for_each(|run| token.order_after(run, stream, limit, at))?;
        token.stream = Some(stream);
        Ok(token)
    }

    /// The state, once no run is submitted.
    fn wait_free(&self) -> Result<Guard<'_, State>> {
        let mut state = self.lock();
        let begun = Instant::now();
        loop {
            state.check_nested()?;
            let Some((_, at)) = state.busy else { return Ok(state) };
            let limit = state.wait_limit;
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                let text = format!(
                    "the run begun at {at} on another thread has not been submitted for {limit:?}, and only one \
                     run of a pool is at a time; Pool::set_wait_limit gives it longer"
                );
                return Err(Error::new(ErrorKind::Timeout, text));
            }
            state = self.0.free.wait_timeout(state, left);
        }
    }
}

impl State {
    /// The arena, if it has that many bytes.
    fn fitting(&self, bytes: u64) -> Result<Option<Arc<Allocation>>> {
        self.check_nested()?;
        Ok(self.arena.as_ref().filter(|arena| arena.bytes() as u64 >= bytes).cloned())
    }

    /// That this thread is not submitting a run of the pool already.
    fn check_nested(&self) -> Result<()> {
        match self.busy {
            Some((thread, at)) if thread == ThreadNumber::here() => Err(Error::invalid(format!(
                "a run inside a run of the same pool, begun at {at}, from a foreign operator: it would wait for \
                 itself"
            ))),
            _ => Ok(()),
        }
    }
}

/// Held while a run is submitted.
pub(super) struct Token<'a> {
    pool: &'a Shared,
    /// Where the run goes; nowhere while it is not ordered yet.
    stream: Option<&'a Stream>,
    order: Option<Box<Option<Event>>>,
}

impl Token<'_> {
    /// Makes `stream` wait for a run before that ended with `last`.
    fn order_after(&mut self, last: &Use<StreamInner>, stream: &Stream, limit: Duration, at: At) -> Result<()> {
        let _pass = last.pass();
        let running = last.running(limit).context_with(|| "the run before, of the same pool".to_owned())?;
        let order = |last| Event::order(self.order.get_or_insert_default(), &self.pool.context, &last, stream, at);
        running.map_or(Ok(()), order)
    }
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state.lock();
        state.busy = None;
        std::mem::swap(&mut state.order, &mut self.order);
        if let Some(Stream(stream)) = self.stream {
            // Also after a failure: a part may have been submitted.
            state.runs.add(Use::of(stream, stream.progress().submitted()));
        }
        drop(state);
        self.pool.free.notify_one();
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}
