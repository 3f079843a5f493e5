//! Work of other streams without which that of a stream is wrong, although it succeeds itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use crate::error::Result;
use crate::lock::Lock;

/// Helps work of a stream along, such as updates of the graphs that it runs.
pub(crate) trait Beside: Send + Sync + 'static {
    /// What went wrong so far, as far as can be told without blocking.
    fn check(&self) -> Result<()>;
}

/// Who helps one stream.
#[derive(Default)]
pub(super) struct Helpers {
    any: AtomicBool,
    all: Lock<Vec<Weak<dyn Beside>>>,
}

impl Helpers {
    pub(super) fn add<B: Beside>(&self, helper: &Arc<B>) {
        let helper: Weak<B> = Arc::downgrade(helper);
        let helper: Weak<dyn Beside> = helper;
        let mut all = self.all.lock();
        all.retain(|known| known.strong_count() > 0 && !known.ptr_eq(&helper));
        all.push(helper);
        self.any.store(true, Ordering::Release);
    }

    #[inline]
    pub(super) fn check(&self) -> Result<()> {
        if self.any.load(Ordering::Acquire) { self.ask() } else { Ok(()) }
    }

    /// Asks each of them, without the lock; one that says something is not asked again.
    #[inline(never)]
    fn ask(&self) -> Result<()> {
        let all = self.all.lock().clone();
        let mut told = Ok(());
        for helper in all {
            let Some(asked) = helper.upgrade() else { continue };
            if let Err(error) = asked.check() {
                self.all.lock().retain(|known| !known.ptr_eq(&helper));
                told = told.and(Err(error));
            }
        }
        let mut all = self.all.lock();
        all.retain(|known| known.strong_count() > 0);
        self.any.store(!all.is_empty(), Ordering::Release);
        told
    }
}
