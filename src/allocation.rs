//! One allocation of device memory, and what is known about its users.

use std::ffi::c_void;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use acl_sys::aclrtMemMallocPolicy;

use crate::call::call;
use crate::context::{ContextInner, reclaim};
use crate::error::{ErrorKind, Result};
use crate::progress::{Queue, Use};

/// Device memory. Work that uses it is noted, so that it is freed only after that work.
pub(crate) struct Allocation {
    address: *mut c_void,
    bytes: usize,
    uses: Mutex<Uses>,
    freed: AtomicBool,
    context: Arc<ContextInner>,
}

#[derive(Default)]
struct Uses {
    /// The latest submission of each stream that used the memory.
    streams: Vec<Use>,
    /// Graphs that hold the memory; their launches use it.
    graphs: Vec<Weak<dyn Launches>>,
}

/// What launches a graph that holds memory.
pub(crate) trait Launches: Send + Sync + 'static {
    /// Waits for the last launch, and reports its errors.
    fn wait(&self) -> Result<()>;
}

// SAFETY: device memory belongs to a context, which any thread may use once it is current there; the address is never
// dereferenced on the host.
unsafe impl Send for Allocation {}
// SAFETY: as above; the notes about users have their own lock.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// Allocates `bytes` bytes (at least one); content undefined. When memory is short, memory whose release waits
    /// for work is waited for once.
    pub(crate) fn new(context: &Arc<ContextInner>, bytes: usize) -> Result<Self> {
        context.reclaim.collect(context);
        let first = allocate(context, bytes);
        let address = match first {
            Err(error) if error.kind() == ErrorKind::OutOfMemory && context.reclaim.wait(context) => {
                allocate(context, bytes)
            }
            other => other,
        }
        .map_err(|error| error.context(format!("allocating {bytes} bytes on device {}", context.device())))?;
        Ok(Self {
            address,
            bytes,
            uses: Mutex::default(),
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

    fn uses(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the submission `number` of `stream` uses the memory.
    pub(crate) fn used_by<Q: Queue>(&self, stream: &Arc<Q>, number: u64) {
        let streams = &mut self.uses().streams;
        match streams.iter_mut().find(|known| known.is_of(&**stream)) {
            Some(known) => known.renew(number),
            None => {
                streams.retain(|known| !known.is_settled());
                streams.push(Use::new(stream, number));
            }
        }
    }

    /// Notes that a graph uses the memory at each of its launches.
    pub(crate) fn used_by_graph<G: Launches>(&self, graph: &Arc<G>) {
        let graph: Weak<G> = Arc::downgrade(graph);
        let graphs = &mut self.uses().graphs;
        graphs.retain(|known| known.strong_count() > 0);
        graphs.push(graph);
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
        let (streams, graphs) = {
            let uses = self.uses();
            (uses.streams.clone(), uses.graphs.clone())
        };
        streams.iter().try_for_each(|stream| stream.wait(None))?;
        graphs.iter().filter_map(Weak::upgrade).try_for_each(|graph| graph.wait())
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
        let uses = self.uses.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Graphs hold the allocation, so none is left; streams may still have work that uses it.
        let streams = std::mem::take(&mut uses.streams);
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
