//! What a capture knows while it is active: its streams, what its graph must keep, and what went wrong.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use acl_sys::aclmdlRICaptureMode;

use super::flow::Flow;
use super::joins::Joins;
use super::private::{Lease, Private, Turn};
use super::submit::Named;
use super::{Handle, Stream, StreamInner, Task};
use crate::allocation::{Allocation, How, Touch};
use crate::closure::{Kept, Panics};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{Guard, Lock};
use crate::retire::keepers::Keeper;

mod by_hand;
mod groups;
mod nested;

pub(crate) use groups::Operators;

/// Shared by the streams of one capture. Record and wait carry it from stream to stream.
pub(crate) struct CaptureState {
    id: u64,
    /// What is around this one, which records the body of a condition.
    around: Option<nested::Around>,
    mode: aclmdlRICaptureMode,
    /// The graph is built by hand, and its streams are bound to it.
    by_hand: bool,
    /// Somebody ends it.
    over: AtomicBool,
    pub(crate) panics: Panics,
    /// Where memory for its work comes from.
    pub(crate) pool: Arc<Private>,
    inner: Lock<Inner>,
}

#[derive(Default)]
struct Inner {
    closed: bool,
    failure: Option<String>,
    streams: Vec<Arc<StreamInner>>,
    /// Streams that it made, by name.
    sides: Vec<(String, Stream)>,
    joins: Joins,
    /// Bodies that are being recorded.
    bodies: Vec<nested::Open>,
    group: Option<groups::Group>,
    /// Of a graph that is built by hand: its streams by the numbers of their chains.
    flow: Option<Flow>,
    keep: Keep,
    /// Memory of the pool for its streams: what is given up is for later work of the same stream.
    own: Vec<Own>,
    /// The place of each in the list.
    places: HashMap<usize, usize>,
    /// Scratch memory by stream.
    workspaces: HashMap<usize, Arc<Allocation>>,
}

/// Memory for the work of one stream in a capture. Its graph keeps it.
struct Own {
    allocation: Arc<Allocation>,
    stream: usize,
    /// Work of other streams uses it too.
    shared: bool,
}

/// How many of the latest are looked at for one that is given up.
const LOOKED_AT: usize = 64;

/// What a graph must keep alive: the runtime stores bare addresses.
#[derive(Default)]
pub(crate) struct Keep {
    pub(crate) allocations: HashMap<usize, (Arc<Allocation>, How)>,
    pub(crate) host_buffers: Vec<Box<dyn Any + Send>>,
    pub(crate) host_functions: Vec<Arc<Kept>>,
    /// Whatever else its work needs.
    others: Vec<Box<dyn Any + Send>>,
    /// What it uses as other work does, one after the other on whatever stream, in one order for all graphs.
    in_turn: Vec<Arc<dyn InTurn>>,
    /// Notifies: whether it records each, and whether it waits for it.
    notifies: Vec<(Arc<Handle>, [bool; 2])>,
    /// It waits for what no stream is known to bring.
    waits_elsewhere: bool,
    /// Those who look on while it runs.
    pub(crate) keepers: Vec<Arc<dyn Keeper>>,
    /// Which of the allocations other graphs may use as well.
    lease: Lease,
}

/// What a launch uses that work has one after the other, on whatever stream: a communicator.
pub(crate) trait InTurn: Send + Sync {
    /// Waits until no other thread queues work that uses it, and makes the stream wait for what was queued on others.
    fn begin<'a>(&'a self, stream: &Stream) -> Result<Box<dyn Taken + 'a>>;
}

/// The turn of one launch.
pub(crate) trait Taken {
    /// It was queued, with this number.
    fn used(&self, stream: &Arc<StreamInner>, number: u64);
}

/// The place of a pinned buffer inside a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostSlot {
    /// The capture that took the buffer.
    pub(crate) capture: u64,
    pub(crate) index: usize,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl Keep {
    pub(crate) fn touches(&self) -> impl Iterator<Item = Touch<'_>> {
        self.allocations.values().map(|(memory, how)| Touch::new(memory, *how))
    }

    /// Whether a launch shares nothing with other launches that they have to agree on.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.in_turn.is_empty() && !self.has_notifies() && !self.has_turns() && !self.waits_elsewhere
    }

    /// Whether other graphs may use the same memory of a pool.
    #[inline]
    pub(crate) fn has_turns(&self) -> bool {
        self.lease.has_turns()
    }

    /// Whether a launch may be a wait for what no stream is known to bring.
    pub(crate) fn waits_elsewhere(&self) -> bool {
        self.waits_elsewhere
    }

    /// Whether it has notifies.
    #[inline]
    pub(crate) fn has_notifies(&self) -> bool {
        !self.notifies.is_empty()
    }

    /// The notifies that it both records and waits for.
    pub(crate) fn own_notifies(&self) -> impl Iterator<Item = &Arc<Handle>> {
        self.notifies.iter().filter(|(_, ways)| *ways == [true; 2]).map(|(notify, _)| notify)
    }

    /// What a launch has to take turns with.
    #[inline]
    pub(crate) fn in_turn(&self) -> Vec<Arc<dyn InTurn>> {
        self.in_turn.clone()
    }

    /// For a launch, when they may.
    pub(crate) fn turn(&self) -> Result<Option<Turn>> {
        self.lease.turn()
    }
}

impl CaptureState {
    pub(crate) fn new(origin: &Arc<StreamInner>, pool: &Arc<Private>, mode: aclmdlRICaptureMode) -> Arc<Self> {
        Self::within(None, origin, pool, mode)
    }

    fn within(
        around: Option<nested::Around>,
        origin: &Arc<StreamInner>,
        pool: &Arc<Private>,
        mode: aclmdlRICaptureMode,
    ) -> Arc<Self> {
        let panics = around.as_ref().map_or_else(Panics::default, |around| around.capture.panics.clone());
        let state = Self {
            id: Self::next_id(),
            around,
            mode,
            by_hand: false,
            over: AtomicBool::new(false),
            panics,
            pool: Arc::clone(pool),
            inner: Lock::default(),
        };
        state.lock().add_stream(origin);
        Arc::new(state)
    }

    /// A number that nothing else has.
    pub(crate) fn next_id() -> u64 {
        NEXT_ID.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    fn lock(&self) -> Guard<'_, Inner> {
        self.inner.lock()
    }

    /// That work can still be recorded.
    pub(crate) fn check_open(&self) -> Result<()> {
        self.lock().check_open()
    }

    /// Whether the library may still have streams in it.
    pub(crate) fn has_streams(&self) -> bool {
        !self.lock().streams.is_empty()
    }

    /// `stream`, whose lock the caller holds, takes part when `join` succeeds, and is then not destroyed before the
    /// capture ends. It is listed first, so that the end of the capture waits for the caller. Whether it takes part, which
    /// it may where the library refused what comes behind its entry.
    pub(crate) fn add_stream(
        &self,
        stream: &Arc<StreamInner>,
        join: impl FnOnce() -> Result<()>,
    ) -> Result<(bool, Result<()>)> {
        let place = {
            let mut inner = self.lock();
            inner.check_open()?;
            inner.add_stream(stream)
        };
        let joined = join();
        let is_in = joined.is_ok() || stream.is_recording();
        if !is_in {
            // Nothing was recorded there; the chain stays as a number without a stream.
            self.lock().joins.void(place);
        }
        Ok((is_in, joined))
    }

    /// Waits for threads that are recording into the closed capture at this moment.
    pub(crate) fn drain(&self) {
        let streams: Vec<_> = self.lock().joined().cloned().collect();
        for stream in streams {
            drop(stream.lock());
        }
    }

    /// The stream that it made with this name.
    pub(crate) fn side(&self, name: &str) -> Result<Option<Stream>> {
        let inner = self.lock();
        inner.check_open()?;
        Ok(inner.side(name))
    }

    /// Keeps `stream` under this name; another thread may have been first.
    pub(crate) fn add_side(&self, name: &str, stream: Stream) -> Result<Stream> {
        let mut inner = self.lock();
        inner.check_open()?;
        let known = inner.side(name);
        Ok(known.unwrap_or_else(|| {
            inner.sides.push((name.to_owned(), stream.clone()));
            stream
        }))
    }

    pub(crate) fn take_sides(&self) -> Vec<(String, Stream)> {
        std::mem::take(&mut self.lock().sides)
    }

    /// A task went into the capture on `stream`.
    pub(crate) fn record(&self, stream: &Arc<StreamInner>, task: &Task<'_>) {
        let mut inner = self.lock();
        let chain = inner.chain(stream);
        inner.joins.task(chain, task.label, task.location);
        if let Some(group) = &mut inner.group {
            group.record(stream, task.operator());
        }
        if let Some(flow) = &mut inner.flow {
            flow.task(chain);
        }
        task.memory().for_each(|touch| inner.keep_alive(stream, touch));
    }

    pub(crate) fn note_record(&self, stream: &Arc<StreamInner>, event: usize) {
        let mut inner = self.lock();
        let chain = inner.chain(stream);
        inner.joins.record(chain, event);
    }

    pub(crate) fn note_wait(&self, stream: &Arc<StreamInner>, event: usize) {
        let mut inner = self.lock();
        let chain = inner.chain(stream);
        inner.joins.wait(chain, event);
    }

    /// A task could not be recorded: the graph would lack it, so the capture will give none.
    pub(crate) fn poison(&self, task: &Task<'_>, error: Error) -> Error {
        self.lacks((task.label, task.location), error)
    }

    /// As [`Self::poison`].
    pub(crate) fn lacks(&self, (label, location): Named, error: Error) -> Error {
        let place = format!("{label} at {}:{}", location.file(), location.line());
        self.lock().failure.get_or_insert_with(|| format!("{place} could not be recorded: {error}"));
        error
    }

    pub(crate) fn keep_other(&self, other: Box<dyn Any + Send>) {
        self.root().lock().keep.others.push(other);
    }

    /// A notify was recorded, or waited for.
    pub(crate) fn note_notify(&self, notify: &Arc<Handle>, waits: bool) {
        let root = self.root();
        let all = &mut root.lock().keep.notifies;
        let known = all.iter().position(|(known, _)| Arc::ptr_eq(known, notify));
        let place = known.unwrap_or_else(|| {
            all.push((Arc::clone(notify), [false; 2]));
            all.len() - 1
        });
        all[place].1[usize::from(waits)] = true;
    }

    /// Also makes each launch such a wait.
    pub(crate) fn note_wait_elsewhere(&self) {
        self.root().lock().keep.waits_elsewhere = true;
    }

    /// Also makes each launch a use of it.
    pub(crate) fn keep_in_turn(&self, other: Arc<dyn InTurn>) {
        let address = |of: &Arc<dyn InTurn>| Arc::as_ptr(of).addr();
        let root = self.root();
        let all = &mut root.lock().keep.in_turn;
        if let Err(place) = all.binary_search_by_key(&address(&other), address) {
            all.insert(place, other);
        }
    }

    pub(crate) fn keep_keeper(&self, keeper: Arc<dyn Keeper>) {
        self.root().lock().keep.keepers.push(keeper);
    }

    pub(crate) fn keep_host_function(&self, function: &Arc<Kept>) {
        self.root().lock().keep.host_functions.push(Arc::clone(function));
    }

    pub(crate) fn keep_host_buffer(&self, buffer: Box<dyn Any + Send>) -> HostSlot {
        let root = self.root();
        let buffers = &mut root.lock().keep.host_buffers;
        buffers.push(buffer);
        HostSlot { capture: root.id, index: buffers.len() - 1 }
    }

    /// Memory of at least `bytes` bytes for work of this stream: given up by such work, which comes before what is
    /// recorded next, in front of the body that this is, or by other graphs of the pool.
    pub(crate) fn again(&self, stream: &Arc<StreamInner>, bytes: usize) -> Option<Arc<Allocation>> {
        let mut inner = self.lock();
        if let Some(own) = self.given_up(&inner, Arc::as_ptr(stream).addr(), bytes) {
            return Some(own);
        }
        if let Some(lent) = self.given_up_around(bytes) {
            inner.add(stream, &lent);
            return Some(lent);
        }
        let lent = self.pool.lend(bytes, bytes.saturating_mul(2).saturating_add(1))?;
        inner.add(stream, &lent);
        Some(lent)
    }

    /// Memory that work of the stream `key` had.
    fn given_up(&self, inner: &Inner, key: usize, bytes: usize) -> Option<Arc<Allocation>> {
        let fits = |own: &&Own| {
            let has = own.allocation.bytes();
            let address = Arc::as_ptr(&own.allocation).addr();
            // Not much more than is needed.
            own.stream == key && !own.shared && has >= bytes && has / 2 <= bytes && {
                let kept = inner.holds(address) + self.held_around(address);
                self.pool.is_given_up(&own.allocation, kept)
            }
        };
        let latest = inner.own.iter().rev().take(LOOKED_AT).filter(fits);
        latest.min_by_key(|own| own.allocation.bytes()).map(|own| Arc::clone(&own.allocation))
    }

    /// Work that is recorded from here on may run again: what was made before stays as it is for it, though the program
    /// gives it up.
    pub(crate) fn may_come_back(&self) {
        self.lock().own.iter_mut().for_each(|own| own.shared = true);
    }

    /// Notes memory that was made for work of this stream.
    pub(crate) fn made(&self, stream: &Arc<StreamInner>, allocation: &Arc<Allocation>) {
        let mut inner = self.lock();
        self.pool.add(allocation);
        inner.add(stream, allocation);
    }

    /// Scratch memory of at least `bytes` bytes that the stream has already, or that other graphs of the pool have.
    pub(crate) fn workspace(&self, stream: &Arc<StreamInner>, bytes: usize) -> Option<Arc<Allocation>> {
        let mut inner = self.lock();
        let key = Arc::as_ptr(stream).addr();
        if let Some(workspace) = inner.workspaces.get(&key).filter(|known| known.bytes() >= bytes) {
            return Some(Arc::clone(workspace));
        }
        let lent = self.pool.lend(bytes, usize::MAX)?;
        inner.add(stream, &lent);
        inner.workspaces.insert(key, Arc::clone(&lent));
        Some(lent)
    }

    pub(crate) fn set_workspace(&self, stream: &Arc<StreamInner>, workspace: &Arc<Allocation>) {
        let mut inner = self.lock();
        self.pool.add(workspace);
        inner.add(stream, workspace);
        // The former one stays among the allocations, since recorded work uses it.
        inner.workspaces.insert(Arc::as_ptr(stream).addr(), Arc::clone(workspace));
    }

    /// From here on nothing is recorded any more.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
    }

    /// Lets the capture give no graph where the program has a buffer from it that graphs of earlier captures write.
    pub(crate) fn check_outputs(&self) {
        let mut inner = self.lock();
        let is_shared = |own: &&Own| {
            let scratch = inner.workspaces.values().filter(|known| Arc::ptr_eq(known, &own.allocation)).count();
            let kept = inner.holds(Arc::as_ptr(&own.allocation).addr()) + scratch;
            self.pool.is_written_by_others(&own.allocation, kept)
        };
        let Some(own) = inner.own.iter().find(is_shared) else { return };
        let text = format!(
            "the program keeps a buffer of the capture, {} bytes at {:p}, that graphs of earlier captures of the same pool \
             write; what outlasts a capture is made with Context::alloc",
            own.allocation.bytes(),
            own.allocation.address()
        );
        inner.failure.get_or_insert(text);
    }

    /// Why the capture gives no graph although the runtime would, if so.
    pub(crate) fn failure(&self) -> Option<String> {
        self.lock().failure.clone()
    }

    /// The stream that does not lead back, and what to do about it.
    pub(crate) fn explain_unjoined(&self) -> Option<String> {
        let (stream, text) = {
            let inner = self.lock();
            let unjoined = inner.joins.unjoined()?;
            (Arc::clone(&inner.streams[unjoined.chain]), unjoined.text)
        };
        Some(format!("{} {text}", stream.name()))
    }

    /// Takes every stream out of the capture.
    pub(crate) fn release_streams(&self) {
        let (joined, all) = {
            let mut inner = self.lock();
            (inner.joined().cloned().collect::<Vec<_>>(), std::mem::take(&mut inner.streams))
        };
        drop(all);
        for stream in joined {
            let mut state = stream.lock();
            // It may take part in another capture since.
            let own = state.capture.as_ref().is_some_and(|capture| capture.id == self.id);
            let former = if own { state.capture.take() } else { None };
            drop(state);
            drop(former);
        }
    }

    pub(crate) fn take_keep(&self) -> Keep {
        let (mut keep, own, workspaces) = {
            let mut inner = self.lock();
            inner.places.clear();
            let own: Vec<_> = inner.own.drain(..).map(|own| own.allocation).collect();
            (std::mem::take(&mut inner.keep), own, std::mem::take(&mut inner.workspaces))
        };
        keep.lease = self.pool.take_back(&own, |address| keep.allocations.contains_key(&address));
        // Dropped outside the lock: what no work used is freed here.
        drop((own, workspaces));
        keep
    }
}

impl Drop for CaptureState {
    /// A capture that gave no graph.
    fn drop(&mut self) {
        let own: Vec<_> = self.inner.get_mut().own.drain(..).map(|own| own.allocation).collect();
        drop(self.pool.take_back(&own, |_| false));
    }
}

impl Drop for Keep {
    fn drop(&mut self) {
        self.lease.end(&mut self.allocations);
    }
}

impl Inner {
    fn check_open(&self) -> Result<()> {
        if self.closed {
            return Err(Error::new(ErrorKind::CaptureInvalidated, "the capture is ending or could not be ended"));
        }
        Ok(())
    }

    fn add_stream(&mut self, stream: &Arc<StreamInner>) -> usize {
        self.streams.push(Arc::clone(stream));
        self.joins.add_chain()
    }

    /// Those that take part.
    fn joined(&self) -> impl Iterator<Item = &Arc<StreamInner>> {
        self.streams.iter().enumerate().filter(|(chain, _)| !self.joins.is_void(*chain)).map(|(_, stream)| stream)
    }

    fn side(&self, name: &str) -> Option<Stream> {
        self.sides.iter().find(|(known, _)| known == name).map(|(_, stream)| stream.clone())
    }

    fn keep_alive(&mut self, stream: &Arc<StreamInner>, Touch { memory, how }: Touch<'_>) {
        if memory.capture().is_some() {
            // It belongs to the graph.
            return;
        }
        // Other graphs of the pool may write the memory: they are in order by what they do with it.
        let how = if self.used(memory, stream) { How::Written } else { how };
        let kept = self.keep.allocations.entry(Arc::as_ptr(memory).addr());
        let kept = kept.or_insert_with(|| (Arc::clone(memory), how));
        kept.1 = kept.1.max(how);
    }

    /// Work of `stream` uses memory. Whether it is of the pool.
    fn used(&mut self, allocation: &Arc<Allocation>, stream: &Arc<StreamInner>) -> bool {
        let place = self.places.get(&Arc::as_ptr(allocation).addr());
        let own = place.and_then(|at| self.own.get_mut(*at));
        if let Some(own) = own {
            own.shared |= own.stream != Arc::as_ptr(stream).addr();
            return true;
        }
        false
    }

    /// How often the memory is held: in the list, and by the graph.
    fn holds(&self, address: usize) -> usize {
        let lists = [self.places.contains_key(&address), self.keep.allocations.contains_key(&address)];
        lists.into_iter().map(usize::from).sum()
    }

    /// Memory of the pool is for work of `stream`.
    fn add(&mut self, stream: &Arc<StreamInner>, allocation: &Arc<Allocation>) {
        let place = self.own.len();
        self.places.insert(Arc::as_ptr(allocation).addr(), place);
        let (allocation, stream) = (Arc::clone(allocation), Arc::as_ptr(stream).addr());
        self.own.push(Own { allocation, stream, shared: false });
    }

    fn chain(&self, stream: &Arc<StreamInner>) -> usize {
        // The last, since an earlier entry may be of an attempt to join that failed.
        let place = self.streams.iter().rposition(|known| Arc::ptr_eq(known, stream));
        place.expect("a stream is listed before it records, and until the capture has drained and ended")
    }
}
