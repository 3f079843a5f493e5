//! How what a graph keeps goes: whatever one part does, the others go too.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::Keep;
use crate::closure::text_of_panic;
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind};
use crate::lock::{bury, say};

impl Keep {
    /// Where it is told what its parts do wrong as they go.
    pub(crate) fn tell_to(&mut self, context: &Arc<ContextInner>) {
        self.tells = Arc::downgrade(context);
    }

    /// Drops parts of the program, which may panic.
    fn end<T>(&self, parts: Vec<T>) {
        for part in parts {
            let Err(payload) = catch_unwind(AssertUnwindSafe(move || drop(part))) else { continue };
            let error = Error::new(ErrorKind::CallbackPanicked, text_of_panic(&*payload));
            bury(payload);
            let what = "something that a graph kept panicked as it was dropped";
            match self.tells.upgrade() {
                Some(context) => context.record_drop_error(what, error),
                None => say!(Error, "{what}: {error:#}"),
            }
        }
    }
}

impl Drop for Keep {
    fn drop(&mut self) {
        self.lease.end(&mut self.allocations);
        let (functions, buffers) = (std::mem::take(&mut self.host_functions), std::mem::take(&mut self.host_buffers));
        let (others, keepers) = (std::mem::take(&mut self.others), std::mem::take(&mut self.keepers));
        self.end(functions);
        self.end(buffers);
        self.end(others);
        self.end(keepers);
    }
}
