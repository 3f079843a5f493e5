//! One allocation of device memory, and what is known about its users.

use std::ffi::c_void;
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Weak};

use crate::context::{Behind, ContextInner, Found, GiveBack, Piece, find_own, find_room, give_up};
use crate::error::{Error, Result};
use crate::progress::{Clock, Queue, Use};

mod uses;

pub(crate) use uses::{How, Launches, Touch, Users};

/// Device memory. Work that uses it is noted, so that it is freed only after that work.
pub(crate) struct Allocation {
    address: *mut c_void,
    bytes: usize,
    source: Source,
    users: Users,
    freed: AtomicBool,
    /// The host read or wrote it, or waited for it.
    host: AtomicBool,
    context: Arc<ContextInner>,
}

/// Where memory comes from, and goes again.
enum Source {
    /// What is given back.
    Piece(Piece),
    /// A cell of a graph, which goes with it: for the work that this capture records, and its bodies do.
    Capture(u64),
}

// SAFETY: device memory belongs to a context, which any thread may use once it is current there; the address is never
// dereferenced on the host.
unsafe impl Send for Allocation {}
// SAFETY: as above; the notes about users have their own lock.
unsafe impl Sync for Allocation {}

/// Memory of a capture is used by something else.
#[cold]
#[inline(never)]
pub(crate) fn not_free_standing() -> Error {
    Error::invalid(
        "the cell of a condition, outside the capture that made it: work inside reads and writes it, the host and \
         other work reach it by copies that the graph makes",
    )
}

impl Allocation {
    /// Allocates `bytes` bytes (at least one); content undefined. When memory is short, memory whose release waits
    /// for work is waited for, some seconds at most.
    #[inline]
    #[track_caller]
    pub(crate) fn new(context: &Arc<ContextInner>, bytes: usize) -> Result<Arc<Self>> {
        Self::find(context, bytes, None, Location::caller())
    }

    /// As [`Self::new`], for work of the stream `behind`: earlier work of it may use the memory still, and counts among
    /// its users.
    #[track_caller]
    pub(crate) fn behind(context: &Arc<ContextInner>, bytes: usize, behind: &Behind<'_>) -> Result<Arc<Self>> {
        Self::find(context, bytes, Some(behind), Location::caller())
    }

    #[inline]
    fn find(
        context: &Arc<ContextInner>,
        bytes: usize,
        behind: Option<&Behind<'_>>,
        place: &'static Location<'static>,
    ) -> Result<Arc<Self>> {
        find_room(context, bytes, behind, place).map(|found| Self::over(context, bytes, found))
    }

    /// As [`Self::new`], from a call of the library of its own.
    #[track_caller]
    pub(crate) fn own(context: &Arc<ContextInner>, bytes: usize) -> Result<Arc<Self>> {
        find_own(context, bytes, Location::caller()).map(|found| Self::over(context, bytes, found))
    }

    #[inline]
    fn over(context: &Arc<ContextInner>, bytes: usize, found: Found) -> Arc<Self> {
        let Found { piece, address, user } = found;
        match user {
            None => Arc::new(Self::with(context, address, bytes, Source::Piece(piece), Users::default())),
            Some(user) => Self::after(context, address, bytes, piece, user),
        }
    }

    /// Apart: what has no users yet is written where it stays.
    #[inline(never)]
    fn after(context: &Arc<ContextInner>, address: *mut c_void, bytes: usize, piece: Piece, user: Use) -> Arc<Self> {
        Arc::new(Self::with(context, address, bytes, Source::Piece(piece), Users::after(user)))
    }

    #[inline]
    fn with(context: &Arc<ContextInner>, address: *mut c_void, bytes: usize, source: Source, users: Users) -> Self {
        let (freed, host) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { address, bytes, source, users, freed, host, context: Arc::clone(context) }
    }

    /// `bytes` bytes at an address that other calls than `aclrtMalloc` gave, of which `counted` count as the context's.
    pub(crate) fn of_calls(
        context: &Arc<ContextInner>,
        address: *mut c_void,
        bytes: usize,
        counted: usize,
        owner: Arc<dyn GiveBack>,
    ) -> Arc<Self> {
        let piece = context.reclaim.hold_of_calls(address, counted, owner);
        Self::over(context, bytes, Found { piece, address, user: None })
    }

    /// Whether it came from such calls.
    pub(crate) fn is_of_calls(&self) -> bool {
        matches!(&self.source, Source::Piece(piece) if piece.is_of_calls())
    }

    /// That it came from `aclrtMalloc`, by itself.
    pub(crate) fn check_own_call(&self) -> Result<()> {
        match &self.source {
            Source::Piece(piece) => piece.check_own_call(),
            Source::Capture(_) => Err(not_free_standing()),
        }
    }

    /// Memory of other code, which `owner` keeps until no work uses it.
    pub(crate) fn of_others(
        context: &Arc<ContextInner>,
        address: *mut c_void,
        bytes: usize,
        owner: impl Send + 'static,
    ) -> Arc<Self> {
        let piece = context.reclaim.hold_for_others(address, bytes, owner);
        Self::over(context, bytes, Found { piece, address, user: None })
    }

    /// `bytes` bytes that belong to a graph, for work of the capture with this number alone.
    pub(crate) fn of_capture(
        context: &Arc<ContextInner>,
        address: *mut c_void,
        bytes: usize,
        capture: u64,
    ) -> Arc<Self> {
        let mut made = Self::with(context, address, bytes, Source::Capture(capture), Users::default());
        *made.host.get_mut() = true;
        Arc::new(made)
    }

    /// The number of the capture whose work alone may use the memory.
    #[inline]
    pub(crate) fn capture(&self) -> Option<u64> {
        match self.source {
            Source::Piece(_) => None,
            Source::Capture(capture) => Some(capture),
        }
    }

    /// Whether there is one.
    #[inline]
    pub(crate) fn is_of_capture(&self) -> bool {
        matches!(self.source, Source::Capture(_))
    }

    /// That anything but work of one capture may use the memory.
    pub(crate) fn check_free_standing(&self) -> Result<()> {
        if self.is_of_capture() { Err(not_free_standing()) } else { Ok(()) }
    }

    pub(crate) fn address(&self) -> *mut c_void {
        self.address
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn context(&self) -> &Arc<ContextInner> {
        &self.context
    }

    /// Whether nothing but what `stream` did, or what its work follows anyway, was done with the memory.
    #[inline]
    pub(crate) fn is_in_order(&self, stream: u64) -> bool {
        self.users.are_before(stream)
    }

    /// Adds to `before` what work of the stream `stream` has to follow that does `how` with the memory.
    pub(crate) fn uses_before(&self, stream: u64, how: How, before: &mut Vec<Use>) {
        self.users.before(stream, how, before);
    }

    /// Notes that the submission `number` of `stream`, whose work is behind `clock`, uses the memory.
    #[inline(always)]
    pub(crate) fn used_by<Q: Queue>(&self, stream: &Arc<Q>, number: u64, how: How, clock: &Clock) {
        self.users.note(stream, number, how, clock);
    }

    /// Notes that a graph uses the memory at each of its launches.
    pub(crate) fn used_by_graph<G: Launches>(&self, graph: &Arc<G>, how: How) {
        let graph: Weak<G> = Arc::downgrade(graph);
        self.users.add_graph(graph, how == How::Written);
    }

    /// Notes a launch of such a graph, which does `how`, on the stream `stream`, whose work is behind `clock`. False when
    /// work of others may have come in between that the next launch has to follow.
    pub(crate) fn launched_on(&self, stream: u64, how: How, clock: &Clock) -> bool {
        self.users.note_launch(stream, how, clock)
    }

    /// Whether nobody but those who keep it `kept` times has it, and nothing but work of graphs used it so far.
    pub(crate) fn is_given_up(self: &Arc<Self>, kept: usize) -> bool {
        if Arc::strong_count(self) != kept {
            return false;
        }
        // What those did who had it as well is seen behind this.
        fence(Ordering::Acquire);
        !self.host.load(Ordering::Acquire) && self.users.are_none()
    }

    /// Whether work of streams uses it, as far as is known after asking. Of what is lost nobody will ever know more.
    pub(crate) fn is_used(&self) -> bool {
        let (streams, _) = self.users.all();
        streams.iter().for_each(Use::poll);
        streams.iter().any(|last| !last.is_done() && !last.is_lost())
    }

    /// Waits for the users of the memory and frees it; the caller has the only handle.
    pub(crate) fn end(&self) -> Result<()> {
        self.wait_idle()?;
        if let Source::Piece(piece) = &self.source {
            self.context.reclaim.free_now(&self.context, piece)?;
        }
        self.freed.store(true, Ordering::Release);
        Ok(())
    }

    /// How many bytes from the start work can use, after an [end](Self::end) that failed.
    pub(crate) fn left(&self) -> usize {
        match &self.source {
            Source::Piece(piece) => piece.left().min(self.bytes),
            Source::Capture(_) => self.bytes,
        }
    }

    /// Waits for the users of the memory, which is the caller's to free then; the caller has the only handle.
    pub(crate) fn give_away(&self) -> Result<()> {
        let Source::Piece(piece) = &self.source else { return Err(not_free_standing()) };
        piece.check_own_call()?;
        self.wait_idle()?;
        self.context.reclaim.let_go(piece);
        self.freed.store(true, Ordering::Release);
        Ok(())
    }

    /// Blocks until no submitted work uses the memory.
    pub(crate) fn wait_idle(&self) -> Result<()> {
        self.check_free_standing()?;
        self.host.store(true, Ordering::Release);
        let (streams, graphs) = self.users.all();
        streams.iter().try_for_each(|stream| stream.wait(None))?;
        graphs.iter().try_for_each(|graph| graph.wait())
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if *self.freed.get_mut() {
            return;
        }
        let Source::Piece(piece) = &self.source else { return };
        // Graphs hold the allocation, so none is left; streams may still have work that uses it.
        let streams = self.users.take();
        give_up(&self.context, piece.clone(), streams);
    }
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allocation")
            .field("address", &self.address)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
