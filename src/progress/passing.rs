//! References to streams that others have for a moment: to ask one how far it is, or to wait for its work.
//!
//! Who closes a stream or a context waits for those to go, and refuses only because of owners.

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

/// Who has a reference for a moment; to be made before it is, and dropped behind it.
pub(crate) struct Pass(Arc<Progress>);

impl Pass {
    #[inline]
    pub(crate) fn begin(progress: &Arc<Progress>) -> Self {
        progress.passes.0.fetch_add(BEGUN + 1, Ordering::SeqCst);
        progress.around.0.fetch_add(BEGUN + 1, Ordering::SeqCst);
        Self(Arc::clone(progress))
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.0.around.0.fetch_sub(1, Ordering::SeqCst);
        self.0.passes.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Passes {
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
        let progress = Progress::new(&around);
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
}
