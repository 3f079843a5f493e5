//! What operators keep with a context: a holder for each thread, which the thread has as well.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::ContextInner;
use crate::lock::{Guard, Lock, say};

/// Signatures that a thread keeps for a context, unless something else was said.
const LIMIT: usize = 1024;
const VARIABLE: &str = "RACL_OPERATOR_CACHE";

/// What one thread keeps for a context, by signature.
pub(crate) trait Holder: Any + Send + Sync {
    /// Whether its thread has ended.
    fn is_over(&self) -> bool;

    /// Destroys what was used longest ago, until so many signatures are left.
    fn shrink(&self, context: &ContextInner, limit: usize);
}

/// The holders of a context.
pub(crate) struct Operators {
    limit: AtomicUsize,
    threads: Lock<Vec<Arc<dyn Holder>>>,
}

impl Default for Operators {
    fn default() -> Self {
        let limit = match std::env::var(VARIABLE) {
            Ok(text) if !text.is_empty() => text.parse().unwrap_or_else(|_| {
                say!(Warn, "{VARIABLE} is {text:?}, which is no number of signatures; it stays {LIMIT}");
                LIMIT
            }),
            _ => LIMIT,
        };
        Self { limit: AtomicUsize::new(limit), threads: Lock::default() }
    }
}

impl Operators {
    fn threads(&self) -> Guard<'_, Vec<Arc<dyn Holder>>> {
        self.threads.lock()
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    pub(crate) fn set_limit(&self, context: &ContextInner, limit: usize) {
        self.limit.store(limit, Ordering::Relaxed);
        self.shrink(context, limit);
    }

    /// Adds the holder of the calling thread; what threads left that are over is destroyed.
    pub(crate) fn join(&self, context: &ContextInner, holder: Arc<dyn Holder>) {
        let mut threads = self.threads();
        threads.retain(|thread| {
            let is_over = thread.is_over();
            if is_over {
                thread.shrink(context, 0);
            }
            !is_over
        });
        threads.push(holder);
    }

    /// Shows the holders of the type `H`, those of threads that are over emptied.
    pub(crate) fn each<H: Holder>(&self, context: &ContextInner, mut show: impl FnMut(&H)) {
        for thread in self.threads().iter() {
            if thread.is_over() {
                thread.shrink(context, 0);
            }
            let thread: &dyn Any = &**thread;
            thread.downcast_ref().into_iter().for_each(&mut show);
        }
    }

    pub(crate) fn shrink(&self, context: &ContextInner, limit: usize) {
        self.threads().iter().for_each(|thread| thread.shrink(context, limit));
    }

    /// At the end of the context.
    pub(super) fn destroy_all(&self, context: &ContextInner) {
        let threads = std::mem::take(&mut *self.threads());
        threads.iter().for_each(|thread| thread.shrink(context, 0));
    }
}
