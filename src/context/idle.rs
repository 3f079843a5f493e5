//! Streams that nobody uses at the moment, kept for the next capture.

use acl_sys::aclrtStream;

use super::ContextInner;
use crate::call::call;
use crate::lock::Lock;

/// How many are kept: a device has some two thousand for all that runs on it.
const MOST: usize = 64;

/// The idle streams of one context. Raw handles, because a stream value would hold the context that holds this.
#[derive(Default)]
pub(crate) struct Idle(Lock<Vec<aclrtStream>>);

impl Idle {
    pub(crate) fn take(&self) -> Option<aclrtStream> {
        self.0.lock().pop()
    }

    /// Keeps a stream that has no work left; false when there are enough.
    #[must_use]
    pub(crate) fn give_back(&self, raw: aclrtStream) -> bool {
        let mut streams = self.0.lock();
        let kept = streams.len() < MOST;
        if kept {
            streams.push(raw);
        }
        kept
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }

    pub(crate) fn destroy_all(&self, context: &ContextInner) {
        self.shrink(context, 0);
    }

    /// Destroys all but `left`, for somebody who needs streams of another kind. Whether there were more.
    pub(crate) fn shrink(&self, context: &ContextInner, left: usize) -> bool {
        let streams = {
            let mut all = self.0.lock();
            let left = left.min(all.len());
            all.split_off(left)
        };
        let any = !streams.is_empty();
        for raw in streams {
            // SAFETY: an idle stream belongs to the context alone and is destroyed once.
            if let Err(error) = unsafe { call!(context, aclrtDestroyStream(raw)) } {
                context.record_drop_error("destroying an idle stream", error);
            }
        }
        any
    }
}
