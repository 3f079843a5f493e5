//! An event of the runtime: made, and destroyed with its owner.

use std::sync::Arc;

use acl_sys::aclrtEvent;

use crate::call::call;
use crate::context::ContextInner;
use crate::error::{Result, ResultExt as _};

/// The handle of an event, null once it was given away or destroyed.
pub(crate) struct RawEvent {
    raw: aclrtEvent,
    context: Arc<ContextInner>,
}

// SAFETY: the runtime's guide on threads allows an event on any thread with its context, which every call makes
// current; the handle is only passed on.
unsafe impl Send for RawEvent {}
// SAFETY: the runtime locks each event; nothing here changes through a shared reference.
unsafe impl Sync for RawEvent {}

impl RawEvent {
    pub(crate) fn create(context: &Arc<ContextInner>, flags: u32) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is a place for one handle.
        unsafe { call!(&**context, aclrtCreateEventExWithFlag(&raw mut raw, flags)) }
            .context_with(|| "creating an event".to_owned())?;
        Ok(Self::own(raw, context))
    }

    /// Owns a handle.
    pub(crate) fn own(raw: aclrtEvent, context: &Arc<ContextInner>) -> Self {
        Self { raw, context: Arc::clone(context) }
    }

    /// The handle, which is not destroyed then.
    pub(crate) fn give_away(mut self) -> aclrtEvent {
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

    pub(crate) fn destroy(&mut self) -> Result<()> {
        if self.raw.is_null() {
            return Ok(());
        }
        // SAFETY: the handle is this value's own; it is set to null after success, so it is destroyed once.
        unsafe { call!(&*self.context, aclrtDestroyEvent(self.raw)) }?;
        self.raw = std::ptr::null_mut();
        Ok(())
    }
}

impl Drop for RawEvent {
    fn drop(&mut self) {
        if let Err(error) = self.destroy() {
            self.context.record_drop_error("destroying an event", error);
        }
    }
}
