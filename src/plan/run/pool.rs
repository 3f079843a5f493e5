//! Temporary memory that several executables share, of which one runs at a time.

use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::context::{Context, ContextInner};
use crate::error::{Error, Result, ResultExt as _};
use crate::event::{Event, EventKind};
use crate::memory::Allocation;
use crate::stream::{Stream, StreamInner};

use super::piece::Piece;

/// Memory for the temporaries of several executables on one device. Their runs are ordered one after another, on
/// whatever streams they are: the later one waits on the device, not on the host.
///
/// A run that waits at a gate holds up those behind it: its signal must not come from a stream behind one of them.
///
/// The memory grows to what the largest of them needs; graphs that were captured before keep what they had.
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
    state: Mutex<State>,
    /// The thread that submits a run, by a number of this module; 0 for none.
    holder: AtomicUsize,
    /// Size of the arena, told without waiting for a run that is submitted.
    bytes: AtomicUsize,
}

#[derive(Default)]
pub(super) struct State {
    arena: Option<Arc<Allocation>>,
    /// Where the latest run went.
    last: Option<Weak<StreamInner>>,
    order: Option<Event>,
}

impl Pool {
    /// An empty pool for a context of a device.
    #[must_use]
    pub fn new(context: &Context) -> Self {
        Self(Arc::new(Shared {
            context: Arc::clone(context.inner()),
            state: Mutex::default(),
            holder: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        }))
    }

    /// Bytes that the pool has now.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.bytes.load(Ordering::Acquire)
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
        let arena = self.arena(bytes);
        arena.map(drop).context_with(|| format!("a pool of {bytes} bytes"))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn check(&self, context: &Context) -> Result<()> {
        if Arc::ptr_eq(&self.0.context, context.inner()) || self.0.context.shares_memory_with(context.inner()) {
            return Ok(());
        }
        Err(Error::invalid("a pool of another device or library"))
    }

    /// An arena of at least `bytes` bytes; none for 0.
    pub(super) fn arena(&self, bytes: u64) -> Result<Option<Arc<Allocation>>> {
        if bytes == 0 {
            return Ok(None);
        }
        self.check_holder()?;
        let mut state = self.lock();
        if let Some(arena) = state.arena.as_ref().filter(|arena| arena.bytes() as u64 >= bytes) {
            return Ok(Some(Arc::clone(arena)));
        }
        let arena = Piece::new(&self.0.context, bytes)?.allocation;
        self.0.bytes.store(arena.bytes(), Ordering::Release);
        state.arena = Some(Arc::clone(&arena));
        Ok(Some(arena))
    }

    /// That this thread is not submitting a run of the pool already.
    fn check_holder(&self) -> Result<()> {
        if self.0.holder.load(Ordering::Acquire) != thread_number() {
            return Ok(());
        }
        Err(Error::invalid("a run inside a run of the same pool, from a foreign operator: it would wait for itself"))
    }

    /// The right to run next on `stream`: after whatever ran before, and before whatever comes when the token is
    /// gone.
    pub(super) fn enter(&self, stream: &Stream) -> Result<Token<'_>> {
        self.check_holder()?;
        let mut state = self.lock();
        let last = state.last.as_ref().and_then(Weak::upgrade);
        if let Some(last) = last.filter(|last| !Arc::ptr_eq(last, &stream.0)) {
            state.order_after(&self.0.context, &last, stream)?;
        }
        self.0.holder.store(thread_number(), Ordering::Release);
        Ok(Token { state, stream: Arc::downgrade(&stream.0), holder: &self.0.holder })
    }
}

impl State {
    /// Makes `stream` wait for what `last` has been given.
    fn order_after(&mut self, context: &Arc<ContextInner>, last: &Arc<StreamInner>, stream: &Stream) -> Result<()> {
        let event = match self.order.take() {
            Some(event) => event,
            None => Event::create_in(context, EventKind::Order)?,
        };
        let last_state = last.lock();
        if last_state.capture.is_some() {
            // A record there would go into that capture.
            drop(last_state);
            last.wait_for(last.progress().submitted())?;
        } else {
            event.record_locked(last, &last_state, Location::caller())?;
            drop(last_state);
        }
        stream.wait(&event)?;
        self.order = Some(event);
        Ok(())
    }
}

/// A number that no other living thread has.
fn thread_number() -> usize {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

/// Held while a run is submitted.
pub(super) struct Token<'a> {
    state: MutexGuard<'a, State>,
    stream: Weak<StreamInner>,
    holder: &'a AtomicUsize,
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        self.holder.store(0, Ordering::Release);
        // Also after a failure: a part may have been submitted.
        self.state.last = Some(std::mem::take(&mut self.stream));
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}
