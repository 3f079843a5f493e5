//! Events that nobody uses at the moment, kept for the next order between two streams.
//!
//! All are of the one kind that orders streams and that captures accept. One whose last record is not done may hold a
//! number of the device, and a wait that was made before an own record would be about that: it rests until then.

use std::collections::VecDeque;
use std::sync::Arc;

use acl_sys::{aclrtEvent, aclrtEventRecordedStatus};

use super::ContextInner;
use crate::call::call;
use crate::error::{ErrorKind, Result, ResultExt as _};
use crate::lock::Lock;
use crate::progress::Progress;
use crate::retire;

/// How many are kept: about as many records as the queue of one stream holds.
const MOST: usize = 1024;
/// How many that rest are asked before a new one is made.
const ASKED: usize = 3;

/// A submission, which a record is.
type Recorded = (Arc<Progress>, u64);

/// The idle events of one context: in front those whose records are known to be done, then the others as they came.
/// Raw handles, because an event value would hold the context that holds this.
#[derive(Default)]
pub(crate) struct Events(Lock<VecDeque<Resting>>);

struct Resting {
    raw: aclrtEvent,
    last: Option<Recorded>,
}

// SAFETY: the runtime's guide on threads allows an event on any thread with its context, which every call makes
// current; the handle is only passed on.
unsafe impl Send for Resting {}

impl Resting {
    /// Whether its last record is done, as far as is known without asking.
    fn is_known_done(&self) -> bool {
        self.last.as_ref().is_none_or(|(progress, number)| progress.has_completed(*number))
    }

    fn ask(&self, context: &ContextInner) -> Result<bool> {
        let mut status = aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_NOT_READY;
        // SAFETY: `status` is a place for one value; the event is live, since nobody else has it.
        unsafe { call!(context, aclrtQueryEventStatus(self.raw, &raw mut status)) }?;
        let done = status == aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_COMPLETE;
        if let (true, Some((progress, number))) = (done, &self.last) {
            progress.set_completed(*number);
        }
        Ok(done)
    }
}

impl Events {
    /// An event of the kind that orders streams, whose records, if it had any, are done.
    pub(crate) fn take(context: &Arc<ContextInner>) -> Result<RawEvent> {
        Self::with_room(|| Self::take_now(context))
    }

    /// As [`Events::take`], for who has a lock: waits for no other thread that may give one back.
    pub(crate) fn take_now(context: &Arc<ContextInner>) -> Result<RawEvent> {
        let raw = match context.events.reuse(context) {
            Some(raw) => raw,
            None => create(context, acl_sys::ACL_EVENT_SYNC)?,
        };
        Ok(RawEvent { raw, context: Arc::clone(context), end: End::Rest(None) })
    }

    /// Tries `attempt` again, which has no lock any more, once other threads have given back what they had.
    pub(crate) fn with_room<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
        loop {
            match attempt() {
                Err(error) if error.kind() == ErrorKind::NoEvents && retire::collect_for_room() => {}
                done => return done,
            }
        }
    }

    fn reuse(&self, context: &ContextInner) -> Option<aclrtEvent> {
        for _ in 0..ASKED {
            let event = self.0.lock().pop_front()?;
            if event.is_known_done() {
                return Some(event.raw);
            }
            match event.ask(context) {
                Ok(true) => return Some(event.raw),
                Ok(false) => self.0.lock().push_back(event),
                Err(error) => {
                    context.record_drop_error("asking an idle event whether it is done", error);
                    destroy_or_tell(context, event.raw);
                }
            }
        }
        None
    }

    fn give_back(&self, context: &ContextInner, event: Resting) {
        let raw = event.raw;
        let kept = {
            let mut events = self.0.lock();
            let room = events.len() < MOST;
            match (room, event.is_known_done()) {
                (false, _) => {}
                // The next to be taken, ahead of those that may have to be asked.
                (true, true) => events.push_front(event),
                (true, false) => events.push_back(event),
            }
            room
        };
        if !kept {
            destroy_or_tell(context, raw);
        }
    }

    /// Destroys all. Whether there were any.
    pub(crate) fn destroy_all(&self, context: &ContextInner) -> bool {
        let events = std::mem::take(&mut *self.0.lock());
        events.iter().for_each(|event| destroy_or_tell(context, event.raw));
        !events.is_empty()
    }
}

fn create(context: &ContextInner, flags: u32) -> Result<aclrtEvent> {
    let mut raw = std::ptr::null_mut();
    // SAFETY: `raw` is a place for one handle.
    let mut create = || unsafe { call!(context, aclrtCreateEventExWithFlag(&raw mut raw, flags)) };
    let mut created = create();
    let none_left = |created: &Result<()>| created.as_ref().is_err_and(|error| error.kind() == ErrorKind::NoEvents);
    if none_left(&created) && context.events.destroy_all(context) {
        created = create();
    }
    created.context_with(|| "creating an event".to_owned())?;
    Ok(raw)
}

fn destroy(context: &ContextInner, raw: aclrtEvent) -> Result<()> {
    // SAFETY: the handle is the caller's own and is destroyed once. Records and waits that are under way take place.
    unsafe { call!(context, aclrtDestroyEvent(raw)) }
}

fn destroy_or_tell(context: &ContextInner, raw: aclrtEvent) {
    if let Err(error) = destroy(context, raw) {
        context.record_drop_error("destroying an event", error);
    }
}

/// An event of the runtime: made or taken from the idle ones, and destroyed or given back with its owner.
pub(crate) struct RawEvent {
    /// Null once it was given away or destroyed.
    raw: aclrtEvent,
    context: Arc<ContextInner>,
    end: End,
}

/// What becomes of an event whose owner goes.
enum End {
    Destroy,
    /// It joins the idle ones, after its last record.
    Rest(Option<Recorded>),
}

// SAFETY: the runtime's guide on threads allows an event on any thread with its context, which every call makes
// current; the handle is only passed on.
unsafe impl Send for RawEvent {}
// SAFETY: the runtime locks each event; nothing here changes through a shared reference.
unsafe impl Sync for RawEvent {}

impl RawEvent {
    /// A new event with other flags than those of the idle ones.
    pub(crate) fn create(context: &Arc<ContextInner>, flags: u32) -> Result<Self> {
        Events::with_room(|| Ok(Self::own(create(context, flags)?, context)))
    }

    /// Owns a handle, which is destroyed with this value.
    pub(crate) fn own(raw: aclrtEvent, context: &Arc<ContextInner>) -> Self {
        Self { raw, context: Arc::clone(context), end: End::Destroy }
    }

    /// The record that is the last one so far.
    pub(crate) fn set_recorded(&mut self, progress: &Arc<Progress>, number: u64) {
        match &mut self.end {
            End::Rest(Some((known, last))) if Arc::ptr_eq(known, progress) => *last = number,
            End::Rest(known) => *known = Some((Arc::clone(progress), number)),
            End::Destroy => {}
        }
    }

    /// Nobody knows whether its records are done, or a graph has one.
    pub(crate) fn set_spoiled(&mut self) {
        self.end = End::Destroy;
    }

    /// The handle, which is not destroyed then.
    pub(crate) fn give_away(&mut self) -> aclrtEvent {
        std::mem::replace(&mut self.raw, std::ptr::null_mut())
    }

    #[inline]
    pub(crate) fn raw(&self) -> aclrtEvent {
        self.raw
    }

    #[inline]
    pub(crate) fn context(&self) -> &Arc<ContextInner> {
        &self.context
    }

    /// Destroys it now, whatever its end would be.
    pub(crate) fn destroy(&mut self) -> Result<()> {
        if self.raw.is_null() {
            return Ok(());
        }
        destroy(&self.context, self.raw)?;
        self.raw = std::ptr::null_mut();
        Ok(())
    }
}

impl Drop for RawEvent {
    fn drop(&mut self) {
        let raw = self.give_away();
        if raw.is_null() {
            return;
        }
        match std::mem::replace(&mut self.end, End::Destroy) {
            End::Destroy if retire::must_leave() => {
                let heir = Self::own(raw, &self.context);
                retire::on_thread(heir, drop);
            }
            End::Destroy => destroy_or_tell(&self.context, raw),
            End::Rest(last) => self.context.events.give_back(&self.context, Resting { raw, last }),
        }
    }
}
