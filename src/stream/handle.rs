//! Handles that work uses: of notifies and of kernel binaries.

use std::ffi::c_void;
use std::sync::Arc;

use acl_sys::aclrtStream;

use super::{CaptureState, Named, Stream, Task};
use crate::allocation::{How, Touch, Users};
use crate::closure;
use crate::context::ContextInner;
use crate::error::{Error, Refused, Result};
use crate::progress::Use;
use crate::retire;

pub(crate) type Destroy = fn(&ContextInner, *mut c_void) -> Result<()>;

/// A handle that work on streams uses: destroyed once no work does.
pub(crate) struct Handle {
    /// Null once it was destroyed.
    raw: *mut c_void,
    what: &'static str,
    destroy: Destroy,
    /// The work that uses it, noted as that of memory is.
    users: Users,
    /// What the library may read until then.
    data: Vec<u8>,
    context: Arc<ContextInner>,
}

// SAFETY: the runtime's guide on threads allows notifies and binaries on any thread with their context, which every
// call makes current; the handle is only passed on.
unsafe impl Send for Handle {}
// SAFETY: the runtime locks each of them; the list has a lock of its own.
unsafe impl Sync for Handle {}

impl Handle {
    pub(crate) fn new(
        raw: *mut c_void,
        what: &'static str,
        destroy: Destroy,
        context: &Arc<ContextInner>,
    ) -> Arc<Self> {
        Self::with_data(raw, what, destroy, Vec::new(), context)
    }

    /// With bytes that stay as long as the handle.
    pub(crate) fn with_data(
        raw: *mut c_void,
        what: &'static str,
        destroy: Destroy,
        data: Vec<u8>,
        context: &Arc<ContextInner>,
    ) -> Arc<Self> {
        Arc::new(Self { raw, what, destroy, users: Users::default(), data, context: Arc::clone(context) })
    }

    pub(crate) fn raw(&self) -> *mut c_void {
        self.raw
    }

    pub(crate) fn context(&self) -> &Arc<ContextInner> {
        &self.context
    }

    /// Submits work that uses the handle, which is kept until that is done, and the memory in `uses`.
    pub(crate) fn submit(
        self: &Arc<Self>,
        stream: &Stream,
        named: Named,
        uses: &[Touch<'_>],
        call: impl FnOnce(&ContextInner, aclrtStream) -> Result<()>,
    ) -> Result<()> {
        self.submit_into(stream, named, uses, call).map(drop)
    }

    /// As [`Self::submit`]; gives the capture that has recorded the work, if one has.
    pub(crate) fn submit_into(
        self: &Arc<Self>,
        stream: &Stream,
        named: Named,
        uses: &[Touch<'_>],
        call: impl FnOnce(&ContextInner, aclrtStream) -> Result<()>,
    ) -> Result<Option<Arc<CaptureState>>> {
        let inner = &stream.0;
        let checked = inner.context().check_memory(&self.context, || self.what.to_owned());
        checked.map_err(|error| stream.refuse(named, error))?;
        inner.check_thread()?;
        inner.order(uses)?;
        let task = Task { label: named.0, location: named.1, uses, scratch: None };
        let state = inner.lock();
        if let Some(capture) = &state.capture {
            // Before the call, so that it outlives every replay whatever happens in between.
            capture.keep_other(Box::new(Arc::clone(self)));
            let recorded = inner.submit_locked(&state, &task, |raw| call(inner.context(), raw));
            return recorded.map(|_| Some(Arc::clone(capture)));
        }
        state.gather_other(self);
        let submitted = inner.submit_locked(&state, &task, |raw| call(inner.context(), raw));
        // One that failed counts where a part of it may have been queued, as it does for the memory.
        let number = submitted.as_ref().map_or_else(|_| inner.progress().submitted(), |number| *number);
        self.users.note(inner, number, How::Kept, &state.clock);
        submitted.map(|_| None)
    }

    /// A copy, so that no lock is held while streams are asked.
    fn uses(&self) -> Vec<Use> {
        self.users.all().0
    }

    /// Whether work uses it, as far as is known after asking. Of what is lost nobody will ever know more.
    fn is_used(&self) -> bool {
        let uses = self.uses();
        uses.iter().for_each(Use::poll);
        uses.iter().any(|last| !last.is_done() && !last.is_lost())
    }

    /// Tells whose work uses it longer than a drop waits.
    fn tell_late(&self) {
        let streams = Use::describe_open(&self.uses());
        let error = retire::late(&format!("work that uses {}, of {streams},", self.what));
        self.context.record_drop_error(&format!("destroying {}", self.what), error);
    }

    fn destroy(&mut self) -> Result<()> {
        if self.raw.is_null() {
            return Ok(());
        }
        Use::check_lost(&self.uses(), self.what)?;
        (self.destroy)(&self.context, self.raw)?;
        self.raw = std::ptr::null_mut();
        Ok(())
    }

    /// Destroys it now, or says who has it.
    pub(crate) fn close(this: Arc<Self>) -> Result<(), Refused<Arc<Self>>> {
        let used = this.is_used();
        match Arc::try_unwrap(this) {
            Ok(mut handle) if !used => match handle.destroy() {
                Ok(()) => Ok(()),
                Err(error) => Err(Refused::new(Arc::new(handle), error)),
            },
            Ok(handle) => {
                let error = Error::invalid(format!("work that is not done uses {}", handle.what));
                Err(Refused::new(Arc::new(handle), error))
            }
            Err(shared) => {
                let error = Error::invalid(format!("a graph uses {}", shared.what));
                Err(Refused::new(shared, error))
            }
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.raw.is_null() {
            return;
        }
        // No calls are allowed in a host function.
        if closure::is_running() || self.is_used() {
            let heir = Self {
                raw: std::mem::replace(&mut self.raw, std::ptr::null_mut()),
                what: self.what,
                destroy: self.destroy,
                users: std::mem::take(&mut self.users),
                data: std::mem::take(&mut self.data),
                context: Arc::clone(&self.context),
            };
            return retire::on_thread(heir, |heir| retire::outlast(|| heir.is_used(), || heir.tell_late()));
        }
        if let Err(error) = self.destroy() {
            // The library has the handle still, or work may.
            std::mem::forget(std::mem::take(&mut self.data));
            self.context.record_drop_error(&format!("destroying {}", self.what), error);
        }
    }
}
