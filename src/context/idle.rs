//! Streams that nobody uses at the moment, kept for the next capture.

use std::sync::{Arc, Weak};

use acl_sys::{Table, aclrtContext, aclrtStream};

use super::ContextInner;
use crate::call::{Caller, Scope, bind, call};
use crate::error::{ErrorKind, Result};
use crate::lock::{Lock, Signal};
use crate::retire;

/// How many are kept: a device has some two thousand for all that runs on it.
const MOST: usize = 64;

/// Those of every context: streams are the device's, and one context may need what another one keeps.
static ALL: Lock<Vec<Weak<Idle>>> = Lock::new(Vec::new());

/// The idle streams of one context. Raw handles, because a stream value would hold the context that holds this.
pub(crate) struct Idle {
    raw: aclrtContext,
    id: u64,
    device: i32,
    /// The address of the table of its library.
    table: usize,
    state: Lock<State>,
    /// Told when none is leaving any more.
    left: Signal,
}

#[derive(Default)]
struct State {
    streams: Vec<aclrtStream>,
    /// How many times streams were taken out that are not destroyed yet.
    leaving: usize,
}

// SAFETY: the handles are only passed on, never dereferenced; any thread may destroy a stream whose context it has made
// current, which the funnel of calls does.
unsafe impl Send for Idle {}
// SAFETY: as above; what changes has its lock.
unsafe impl Sync for Idle {}

/// A context as what its idle streams are destroyed in, also by somebody who does not hold it.
struct Place<'a> {
    raw: aclrtContext,
    id: u64,
    table: &'a Table,
}

impl Caller for Place<'_> {
    fn table(&self) -> &Table {
        self.table
    }

    fn bind(&self) -> Result<()> {
        bind(self)
    }
}

impl Scope for Place<'_> {
    fn id(&self) -> u64 {
        self.id
    }

    fn raw(&self) -> aclrtContext {
        self.raw
    }
}

impl Idle {
    /// For the context `raw` with this id.
    pub(super) fn of(raw: aclrtContext, id: u64, device: i32, table: &Table) -> Arc<Self> {
        let table = std::ptr::from_ref(table).addr();
        let made = Arc::new(Self { raw, id, device, table, state: Lock::default(), left: Signal::new() });
        let mut all = ALL.lock();
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(&made));
        made
    }

    pub(crate) fn take(&self) -> Option<aclrtStream> {
        self.state.lock().streams.pop()
    }

    /// Keeps a stream that has no work left; false when there are enough.
    #[must_use]
    pub(crate) fn give_back(&self, raw: aclrtStream) -> bool {
        let streams = &mut self.state.lock().streams;
        let kept = streams.len() < MOST;
        if kept {
            streams.push(raw);
        }
        kept
    }

    pub(crate) fn len(&self) -> usize {
        self.state.lock().streams.len()
    }

    /// Destroys all, and waits for those that others are destroying: none is left when the context ends.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Timeout`](crate::ErrorKind::Timeout) when those are not back within the limit of drops.
    pub(super) fn destroy_all(&self, context: &ContextInner) -> Result<()> {
        self.shrink(context, 0);
        let state = self.left.wait_until(self.state.lock(), retire::deadline(), |state| state.leaving > 0);
        if state.leaving > 0 { Err(retire::not_back("destroys idle streams of the context")) } else { Ok(()) }
    }

    /// Whether others are destroying some.
    pub(super) fn is_leaving(&self) -> bool {
        self.state.lock().leaving > 0
    }

    /// Destroys all but `keep`, for somebody who needs streams of another kind: `context`, which is told of errors.
    /// Whether there were more.
    pub(crate) fn shrink(&self, context: &ContextInner, keep: usize) -> bool {
        let streams = {
            let state = &mut *self.state.lock();
            let streams = state.streams.split_off(keep.min(state.streams.len()));
            state.leaving += usize::from(!streams.is_empty());
            streams
        };
        if streams.is_empty() {
            return false;
        }
        let place = Place { raw: self.raw, id: self.id, table: context.table() };
        for raw in streams {
            // SAFETY: an idle stream belongs to this value alone and is destroyed once; its context does not end before
            // nothing is leaving.
            if let Err(error) = unsafe { call!(&place, aclrtDestroyStream(raw)) } {
                context.record_drop_error("destroying an idle stream", error);
            }
        }
        self.state.lock().leaving -= 1;
        self.left.notify_all();
        true
    }

    /// Destroys those that other contexts of the same device keep, for `context`, whose own these are. Whether there
    /// were any.
    pub(crate) fn shrink_others(&self, context: &ContextInner) -> bool {
        let others: Vec<_> = {
            let all = ALL.lock();
            all.iter().filter_map(Weak::upgrade).filter(|other| self.is_beside(other)).collect()
        };
        others.iter().filter(|other| other.shrink(context, 0)).count() > 0
    }

    /// Tries again as long as there is no stream left and [some come back](Self::make_room).
    pub(crate) fn with_room<T>(context: &ContextInner, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
        loop {
            match attempt() {
                Err(error) if error.kind() == ErrorKind::NoStreams && Self::make_room(context) => {}
                done => return done,
            }
        }
    }

    /// Destroys streams that are idle, or were of what was dropped. Not to be called under a lock. Whether there were
    /// any.
    pub(crate) fn make_room(context: &ContextInner) -> bool {
        let idle = &context.idle_streams;
        idle.shrink(context, 0) || idle.shrink_others(context) || retire::collect_for_room()
    }

    fn is_beside(&self, other: &Self) -> bool {
        (self.device, self.table) == (other.device, other.table) && self.id != other.id
    }
}

#[cfg(all(test, feature = "mock"))]
mod tests {
    use std::thread;
    use std::time::Instant;

    use super::*;
    use crate::{Acl, Refused};

    #[test]
    fn the_end_of_a_context_waits_for_who_destroys_its_streams_and_not_for_ever() -> Result<()> {
        let context = Acl::mock()?.device(0)?.context().create_context()?;
        let idle = Arc::clone(&context.inner().idle_streams);
        idle.state.lock().leaving += 1; // as in the middle of `shrink`, on a thread whose call hangs
        let refused = retire::until(Instant::now(), || context.close()).unwrap_err();
        assert_eq!(refused.error().kind(), ErrorKind::Timeout);
        assert!(refused.error().to_string().contains("idle streams"), "{}", refused.error());
        let context = refused.into_value();
        thread::scope(|scope| {
            let closed = scope.spawn(|| context.close().map_err(Refused::into_error));
            idle.state.lock().leaving -= 1; // before or after the other waits
            idle.left.notify_all();
            closed.join().expect("no panic")
        })?;
        let context = Acl::mock()?.device(0)?.context().create_context()?;
        let inner = Arc::downgrade(context.inner());
        let idle = Arc::clone(&context.inner().idle_streams);
        idle.state.lock().leaving += 1;
        retire::until(Instant::now(), || drop(context)); // goes on elsewhere
        assert!(inner.upgrade().is_none());
        assert!(ALL.lock().iter().any(|known| known.as_ptr() == Arc::as_ptr(&idle)));
        idle.state.lock().leaving -= 1;
        idle.left.notify_all();
        // The thread has it until the context has ended.
        while Arc::strong_count(&idle) > 1 {
            thread::yield_now();
        }
        Ok(())
    }
}
