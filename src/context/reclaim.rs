//! Device memory that was given up while work may still use it: freed when that work is done.

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::ContextInner;
use crate::call::call;
use crate::error::{ErrorKind, Result};
use crate::progress::Use;

/// The waiting memory of one context.
#[derive(Default)]
pub(crate) struct Reclaim(Mutex<Vec<Waiting>>);

struct Waiting {
    address: *mut c_void,
    streams: Vec<Use>,
}

impl Waiting {
    /// True when no stream can use the memory any more; forgets the streams that are done.
    fn is_idle(&mut self) -> bool {
        self.streams.retain(|stream| !stream.is_done());
        self.streams.is_empty()
    }
}

impl Reclaim {
    fn lock(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees the memory now, or when the submissions of `streams` are done. Never blocks.
    pub(crate) fn release(&self, context: &ContextInner, address: *mut c_void, streams: Vec<Use>) {
        let mut waiting = Waiting { address, streams };
        if waiting.is_idle() {
            free_or_tell(context, waiting.address);
            return;
        }
        self.lock().push(waiting);
        self.collect(context);
    }

    /// Frees what can be freed. Streams whose last known position does not suffice are asked.
    pub(crate) fn collect(&self, context: &ContextInner) {
        if self.lock().is_empty() {
            return;
        }
        // Taken out, so that no lock is held while streams are asked.
        let mut waiting = std::mem::take(&mut *self.lock());
        waiting.iter().flat_map(|entry| &entry.streams).for_each(Use::poll);
        waiting.retain_mut(|entry| {
            let idle = entry.is_idle();
            if idle {
                free_or_tell(context, entry.address);
            }
            !idle
        });
        self.lock().append(&mut waiting);
    }

    /// Waits for the work that holds memory back; true when there was any.
    pub(crate) fn wait(&self, context: &ContextInner) -> bool {
        let streams: Vec<_> = self.lock().iter().flat_map(|entry| entry.streams.clone()).collect();
        for stream in &streams {
            match stream.wait(None) {
                Err(error) if error.kind() != ErrorKind::CaptureForbidden => {
                    context.record_drop_error("waiting for memory to become free", error);
                }
                _ => {}
            }
        }
        self.collect(context);
        !streams.is_empty()
    }

    /// At the end of the context: every stream is gone.
    pub(crate) fn release_all(&self, context: &ContextInner) {
        for entry in std::mem::take(&mut *self.lock()) {
            free_or_tell(context, entry.address);
        }
    }
}

fn free_or_tell(context: &ContextInner, address: *mut c_void) {
    if let Err(error) = free(context, address) {
        context.record_drop_error("freeing device memory", error);
    }
}

/// Frees memory that no submitted work uses.
pub(crate) fn free(context: &ContextInner, address: *mut c_void) -> Result<()> {
    // SAFETY: the address came from `aclrtMalloc`, its owner frees it once, and no submitted work uses it any more.
    unsafe { call!(context, aclrtFree(address)) }
}
