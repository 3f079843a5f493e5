//! References to streams that others have for a moment: to ask one how far it is, or to wait for its work.
//!
//! Who closes a stream or a context waits for those to go, and refuses only because of owners, and where it would wait
//! for itself. A stream that is closed then has no reference that anybody could take: who comes later finds it gone.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Progress;
use crate::lock::{Lock, Signal};

/// How long a look at who passes is apart from the next.
const REST: Duration = Duration::from_micros(100);

/// For those who rest.
static RESTS: Lock<()> = Lock::new(());
static NEVER: Signal = Signal::new();

/// How many references pass now, in the lower half, and how many began so far, in the upper one.
#[derive(Default)]
pub(crate) struct Passes(AtomicU64);

const BEGUN: u64 = 1 << 32;

thread_local! {
    /// By address, what this thread passes: each time a stream and its context.
    static OWN: RefCell<Vec<[usize; 2]>> = const { RefCell::new(Vec::new()) };
}

/// Who has a reference for a moment; to be made before it is, and dropped behind it.
pub(crate) struct Pass {
    of: Arc<Progress>,
    _of_thread: PhantomData<*const ()>,
}

impl Pass {
    #[inline(always)]
    pub(crate) fn begin(progress: &Arc<Progress>) -> Self {
        progress.passes.begin();
        progress.around.begin();
        // At its end a thread knows of nothing any more.
        let _ = OWN.try_with(|own| own.borrow_mut().push(of(progress)));
        Self { of: Arc::clone(progress), _of_thread: PhantomData }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let _ = OWN.try_with(|own| {
            let (mut own, this) = (own.borrow_mut(), of(&self.of));
            own.iter().rposition(|known| *known == this).map(|place| own.swap_remove(place));
        });
        self.of.around.end();
        self.of.passes.end();
    }
}

fn of(progress: &Progress) -> [usize; 2] {
    [progress.passes.address(), progress.around.address()]
}

/// Who has a context for a moment, without any of its streams; as a [`Pass`].
pub(crate) struct Visit(Arc<Passes>);

impl Visit {
    pub(crate) fn begin(passes: &Arc<Passes>) -> Self {
        passes.begin();
        Self(Arc::clone(passes))
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Passes {
    #[inline]
    fn begin(&self) {
        self.0.fetch_add(BEGUN + 1, Ordering::SeqCst);
    }

    #[inline]
    fn end(&self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Whether one of those that pass is this thread, which would wait for itself.
    pub(crate) fn has_own(&self) -> bool {
        let this = self.address();
        OWN.try_with(|own| own.borrow().iter().any(|known| known.contains(&this))).unwrap_or(false)
    }

    /// How many of `references` are not of those that pass.
    pub(crate) fn owners(&self, references: impl Fn() -> usize) -> usize {
        loop {
            let before = self.0.load(Ordering::SeqCst);
            let count = references();
            if self.0.load(Ordering::SeqCst) == before {
                return count.saturating_sub((before % BEGUN) as usize);
            }
            std::hint::spin_loop();
        }
    }

    /// Counts `references` until there are none, or some that certainly do not pass, at most as long as `limit`. `most`
    /// says how many there can be when so many pass.
    pub(crate) fn wait_alone(
        &self,
        limit: Duration,
        most: impl Fn(usize) -> usize,
        references: impl Fn() -> usize,
    ) -> usize {
        let begun = Instant::now();
        loop {
            let before = self.0.load(Ordering::SeqCst);
            let count = references();
            // Otherwise some came or went while the others were counted.
            let is_certain = self.0.load(Ordering::SeqCst) == before;
            let passing = (before % BEGUN) as usize;
            if count == 0 || is_certain && count > most(passing) || begun.elapsed() > limit {
                return count;
            }
            drop(NEVER.wait_timeout(RESTS.lock(), REST));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_told_from_references_that_pass() {
        let around = Arc::<Passes>::default();
        let progress = Progress::new(&around, &Arc::new(Lock::new(())));
        let passes = progress.passes();
        assert_eq!(passes.owners(|| 2), 2);
        let (one, two) = (Pass::begin(&progress), Pass::begin(&progress));
        assert_eq!((passes.owners(|| 2), passes.owners(|| 3)), (0, 1));
        assert_eq!(passes.wait_alone(Duration::MAX, |passing| passing, || 3), 3, "one has no pass");
        assert_eq!(passes.wait_alone(Duration::ZERO, |passing| passing, || 2), 2, "they did not go in time");
        assert_eq!(around.wait_alone(Duration::MAX, |passing| passing, || 0), 0);
        drop((one, two));
        assert_eq!((passes.owners(|| 1), around.owners(|| 1)), (1, 1));
    }

    #[test]
    fn a_thread_knows_where_it_passes_itself() {
        let around = Arc::<Passes>::default();
        let (one, two) =
            (Progress::new(&around, &Arc::new(Lock::new(()))), Progress::new(&around, &Arc::new(Lock::new(()))));
        let (first, second, again) = (Pass::begin(&one), Pass::begin(&two), Pass::begin(&one));
        drop(first);
        let own = || (one.passes().has_own(), two.passes().has_own(), around.has_own());
        assert_eq!(own(), (true, true, true));
        std::thread::scope(|scope| {
            let elsewhere = scope.spawn(|| (one.passes().has_own(), around.has_own())).join();
            assert_eq!(elsewhere.ok(), Some((false, false)));
        });
        drop(again);
        assert_eq!(own(), (false, true, true));
        drop(second);
        let visit = Visit::begin(&around);
        assert_eq!((own(), around.owners(|| 1)), ((false, false, false), 0));
        drop(visit);
    }
}
