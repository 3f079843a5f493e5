//! One allocation of device memory, and what is known about its users.

use std::ffi::c_void;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use acl_sys::aclrtMemMallocPolicy;

use crate::call::call;
use crate::context::{ContextInner, reclaim};
use crate::error::{Error, ErrorKind, Result};
use crate::progress::{Clock, Queue, Use};
use crate::retire;

mod uses;

use uses::Users;
pub(crate) use uses::{How, Launches, Touch};

/// Device memory. Work that uses it is noted, so that it is freed only after that work.
pub(crate) struct Allocation {
    address: *mut c_void,
    bytes: usize,
    users: Users,
    freed: AtomicBool,
    context: Arc<ContextInner>,
}

// SAFETY: device memory belongs to a context, which any thread may use once it is current there; the address is never
// dereferenced on the host.
unsafe impl Send for Allocation {}
// SAFETY: as above; the notes about users have their own lock.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// Allocates `bytes` bytes (at least one); content undefined. When memory is short, memory whose release waits
    /// for work is waited for, some seconds at most.
    pub(crate) fn new(context: &Arc<ContextInner>, bytes: usize) -> Result<Self> {
        let address = find_room(context, bytes)
            .map_err(|error| error.context(format!("allocating {bytes} bytes on device {}", context.device())))?;
        Ok(Self {
            address,
            bytes,
            users: Users::default(),
            freed: AtomicBool::new(false),
            context: Arc::clone(context),
        })
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
    #[inline]
    pub(crate) fn used_by<Q: Queue>(&self, stream: &Arc<Q>, number: u64, how: How, clock: &Clock) {
        self.users.note(stream, number, how, clock);
    }

    /// Notes that a graph uses the memory at each of its launches.
    pub(crate) fn used_by_graph<G: Launches>(&self, graph: &Arc<G>, how: How) {
        let graph: Weak<G> = Arc::downgrade(graph);
        self.users.add_graph(graph, how == How::Written);
    }

    /// Notes a launch of such a graph on the stream `stream`, whose work is behind `clock`.
    pub(crate) fn launched_on(&self, stream: u64, clock: &Clock) {
        self.users.note_launch(stream, clock);
    }

    /// Waits for the users of the memory and frees it; the caller has the only handle.
    pub(crate) fn end(&self) -> Result<()> {
        self.wait_idle()?;
        reclaim::free(&self.context, self.address)?;
        self.freed.store(true, Ordering::Release);
        Ok(())
    }

    /// Blocks until no submitted work uses the memory.
    pub(crate) fn wait_idle(&self) -> Result<()> {
        let (streams, graphs) = self.users.all();
        streams.iter().try_for_each(|stream| stream.wait(None))?;
        graphs.iter().try_for_each(|graph| graph.wait())
    }
}

/// Memory, for which others may have to be done with theirs first.
fn find_room(context: &ContextInner, bytes: usize) -> Result<*mut c_void> {
    let is_short =
        |tried: &Result<_>| tried.as_ref().is_err_and(|error: &Error| error.kind() == ErrorKind::OutOfMemory);
    let reclaim = &context.reclaim;
    let before = reclaim.frees();
    reclaim.collect(context);
    let mut tried = allocate(context, bytes);
    if !is_short(&tried) {
        return tried;
    }
    let mut held = reclaim.held();
    reclaim.wait_leaving();
    if reclaim.frees() > before {
        tried = allocate(context, bytes);
    }
    let until = retire::deadline();
    while is_short(&tried) && reclaim.wait(context, &mut held, until) {
        tried = allocate(context, bytes);
    }
    match held.len() {
        0 => tried,
        busy => tried.map_err(|error| {
            let limit = retire::drop_limit();
            error.with_detail(format!("work of {busy} streams that holds memory back is not done after {limit:?}"))
        }),
    }
}

fn allocate(context: &ContextInner, bytes: usize) -> Result<*mut c_void> {
    let mut address = std::ptr::null_mut();
    let policy = aclrtMemMallocPolicy::ACL_MEM_MALLOC_HUGE_FIRST;
    // SAFETY: `address` is a place for one address.
    unsafe { call!(context, aclrtMalloc(&raw mut address, bytes, policy)) }?;
    Ok(address)
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if *self.freed.get_mut() {
            return;
        }
        // Graphs hold the allocation, so none is left; streams may still have work that uses it.
        let streams = self.users.take();
        self.context.reclaim.release(&self.context, self.address, streams);
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
