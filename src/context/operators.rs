//! What operators keep with a context: a holder for each thread, which the thread has as well.
//!
//! Signatures are limited for each context and for the process. One too many is taken from the holder, of whatever
//! thread and context, whose oldest was used longest ago. Time is counted in signatures that were added, so that a call
//! which adds none writes nothing that another thread reads.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use super::ContextInner;
use crate::call::Caller as _;
use crate::lock::{Guard, Lock, say};
use crate::progress::Visit;
use crate::sort;

/// Signatures that are kept in the process, unless something else was said.
const LIMIT: usize = 4096;
const VARIABLE: &str = "RACL_OPERATOR_CACHE";
const CHECK_INDICES: &str = "RACL_CHECK_INDICES";

/// Signatures of all contexts.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Signatures that were added so far.
static AGE: AtomicU64 = AtomicU64::new(1);
/// The contexts that may have some. Locked while one of them is looked at by the thread of another, so that whoever
/// counts the users of a context does not count that.
static CONTEXTS: Lock<Vec<Weak<ContextInner>>> = Lock::new(Vec::new());

/// What one thread keeps for a context, by signature.
pub(crate) trait Holder: Any + Send + Sync {
    /// Whether its thread has ended.
    fn is_over(&self) -> bool;

    /// Destroys what was used longest ago, until so many signatures are left.
    fn shrink(&self, context: &ContextInner, limit: usize);

    /// As [`Holder::shrink`], without a wait for a thread that is at work: that one does it right after.
    fn shrink_soon(&self, context: &ContextInner, limit: usize);

    /// The [`age`] at which the one was used that was used longest ago; none when it is empty.
    fn oldest(&self) -> Option<u64>;

    /// Destroys that one. False when there is none, or when its thread is at work.
    fn try_remove_oldest(&self, context: &ContextInner) -> bool;
}

/// The holders of a context.
pub(crate) struct Operators {
    limit: AtomicUsize,
    count: AtomicUsize,
    /// How often what first phases look at has changed.
    changes: AtomicU64,
    threads: Lock<Vec<Arc<dyn Holder>>>,
    index_checks: AtomicBool,
}

/// Now, for [`Holder::oldest`].
#[inline]
pub(crate) fn age() -> u64 {
    AGE.load(Ordering::Relaxed)
}

fn process_limit() -> usize {
    static FROM_ENVIRONMENT: OnceLock<usize> = OnceLock::new();
    if let Some(limit) = FROM_ENVIRONMENT.get() {
        return *limit;
    }
    let text = std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
    let number = text.as_ref().map_or(Some(LIMIT), |text| text.parse().ok());
    // Said outside the cell: a logger may ask this.
    if FROM_ENVIRONMENT.set(number.unwrap_or(LIMIT)).is_ok() && number.is_none() {
        let text = text.unwrap_or_default();
        say!(Warn, "{VARIABLE} is {text:?}, which is no number of signatures; it stays {LIMIT}");
    }
    number.unwrap_or(LIMIT)
}

impl Default for Operators {
    fn default() -> Self {
        Self {
            limit: AtomicUsize::new(process_limit()),
            count: AtomicUsize::new(0),
            changes: AtomicU64::new(0),
            threads: Lock::default(),
            index_checks: AtomicBool::new(std::env::var_os(CHECK_INDICES).is_some_and(|value| value == "1")),
        }
    }
}

impl Operators {
    fn threads(&self) -> Guard<'_, Vec<Arc<dyn Holder>>> {
        self.threads.lock()
    }

    #[inline]
    pub(crate) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    pub(crate) fn set_limit(&self, context: &ContextInner, limit: usize) {
        self.limit.store(limit, Ordering::Relaxed);
        if limit == 0 {
            self.shrink(context, 0);
        }
        self.keep_limit(context);
    }

    #[inline]
    pub(crate) fn index_checks(&self) -> bool {
        self.index_checks.load(Ordering::Relaxed)
    }

    pub(crate) fn set_index_checks(&self, on: bool) {
        self.index_checks.store(on, Ordering::Relaxed);
    }

    pub(crate) fn note_added(&self) {
        AGE.fetch_add(1, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
        COUNT.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn note_removed(&self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
        COUNT.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether [`Operators::keep_limits`] has something to do.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.count.load(Ordering::Relaxed) > self.limit() || COUNT.load(Ordering::Relaxed) > process_limit()
    }

    /// Destroys what was used longest ago until the limits hold, as far as no thread works with it at the moment. The
    /// caller holds no lock.
    pub(crate) fn keep_limits(&self, context: &ContextInner) {
        self.keep_limit(context);
        keep_process_limit();
    }

    fn keep_limit(&self, context: &ContextInner) {
        // Somebody who counts, or looks after the limit already, may have to wait for a thread that is at work.
        let Some(threads) = self.threads.try_lock() else { return };
        while self.count.load(Ordering::Relaxed) > self.limit() {
            let all = threads.iter().map(|thread| (context, thread)).collect();
            if !remove_oldest(all) {
                return;
            }
        }
    }

    /// Adds the holder of the calling thread; what threads left that are over is destroyed.
    pub(crate) fn join(&self, context: &Arc<ContextInner>, holder: Arc<dyn Holder>) {
        let mut threads = self.threads();
        threads.retain(|thread| {
            let is_over = thread.is_over();
            if is_over {
                thread.shrink(context, 0);
            }
            !is_over
        });
        threads.push(holder);
        let first = threads.len() == 1;
        drop(threads);
        if first {
            let mut all = CONTEXTS.lock();
            all.retain(|other| other.strong_count() > 0 && other.as_ptr() != Arc::as_ptr(context));
            all.push(Arc::downgrade(context));
        }
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
        self.threads().iter().for_each(|thread| thread.shrink_soon(context, limit));
    }

    /// Lets all be planned anew, those at work right after.
    pub(crate) fn forget(&self, context: &ContextInner) {
        self.changes.fetch_add(1, Ordering::AcqRel);
        self.shrink(context, 0);
    }

    /// For executors that others keep: those that were planned before the latest change are to be planned anew.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// At the end of the context.
    pub(super) fn destroy_all(&self, context: &ContextInner) {
        let threads = std::mem::take(&mut *self.threads());
        threads.iter().for_each(|thread| thread.shrink(context, 0));
    }
}

/// Lets all operators be planned anew that are kept for a device of the library of `context`; those of a thread that is
/// at work, right after.
pub(crate) fn forget_operators(context: &ContextInner, device: i32) {
    // Begun under the lock, without which nobody counts.
    let visited = |known: &Weak<ContextInner>| known.upgrade().map(|known| (Visit::begin(&known.passes), known));
    let contexts: Vec<_> = CONTEXTS.lock().iter().filter_map(visited).collect();
    for (_visit, known) in contexts {
        if known.device() == device && std::ptr::eq(known.table(), context.table()) {
            known.operators.forget(&known);
        }
    }
}

/// How many use a context beside the caller, threads of others that keep the process's limit left out.
pub(super) fn users_beside(context: &Arc<ContextInner>) -> usize {
    let _nobody_looks = CONTEXTS.lock();
    Arc::strong_count(context) - 1
}

/// Destroys the oldest of all, if its thread is not at work, else the next. False when nothing could be destroyed.
fn remove_oldest(holders: Vec<(&ContextInner, &Arc<dyn Holder>)>) -> bool {
    let aged = holders.into_iter().filter_map(|(context, holder)| Some((holder.oldest()?, context, holder)));
    let mut aged: Vec<_> = aged.collect();
    sort::by_key(&mut aged, |(age, ..)| *age);
    aged.into_iter().any(|(_, context, holder)| holder.try_remove_oldest(context))
}

fn keep_process_limit() {
    let limit = process_limit();
    if COUNT.load(Ordering::Relaxed) <= limit {
        return;
    }
    let mut all = CONTEXTS.lock();
    all.retain(|context| context.strong_count() > 0);
    let contexts: Vec<_> = all.iter().filter_map(Weak::upgrade).collect();
    let threads = contexts.iter().filter_map(|context| Some((&**context, context.operators.threads.try_lock()?)));
    let threads: Vec<_> = threads.collect();
    let mut found = true;
    while found && COUNT.load(Ordering::Relaxed) > limit {
        let all = threads.iter().flat_map(|(context, threads)| threads.iter().map(|thread| (*context, thread)));
        found = remove_oldest(all.collect());
    }
    drop(threads);
    // Whoever was the last to have one meanwhile left its end to this thread: not under the lock.
    let left: Vec<_> = contexts.into_iter().filter_map(Arc::into_inner).collect();
    drop(all);
    drop(left);
}
