//! Streams that nobody uses at the moment, kept for the next capture.

use std::sync::{Mutex, PoisonError};

use acl_sys::aclrtStream;

use super::ContextInner;
use crate::call::call;

/// The idle streams of one context. Raw handles, because a stream value would hold the context that holds this.
#[derive(Default)]
pub(crate) struct Idle(Mutex<Vec<aclrtStream>>);

impl Idle {
    pub(crate) fn take(&self) -> Option<aclrtStream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// The stream has no work left.
    pub(crate) fn give_back(&self, raw: aclrtStream) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(raw);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub(crate) fn destroy_all(&self, context: &ContextInner) {
        let streams = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for raw in streams {
            // SAFETY: an idle stream belongs to the context alone and is destroyed once.
            if let Err(error) = unsafe { call!(context, aclrtDestroyStream(raw)) } {
                context.record_drop_error("destroying an idle stream", error);
            }
        }
    }
}
