//! How much work the checks of a plan may take: without a limit for a plan that the user's code gave, within one for
//! bytes from a file, which may be made such that comparing everything with everything takes days.
//!
//! Loops that grow faster than the plan count their steps here, and end when there are none left. What they found
//! then does not matter, since [`within`] gives nothing.

use std::cell::Cell;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Counts steps; false when there are none left.
pub(crate) fn spend(steps: u64) -> bool {
    let left = LEFT.get().saturating_sub(steps);
    LEFT.set(left);
    left > 0
}

/// Does `work` in at most so many steps; none when they were not enough.
#[cfg(feature = "cache")]
pub(crate) fn within<T>(most: u64, work: impl FnOnce() -> T) -> Option<T> {
    /// Gives back what was there, less what was spent, also when something panics.
    struct Before(u64, u64);
    impl Drop for Before {
        fn drop(&mut self) {
            LEFT.set(self.0.saturating_sub(self.1 - LEFT.get()));
        }
    }
    let _before = Before(LEFT.replace(most), most);
    let done = work();
    (LEFT.get() > 0).then_some(done)
}

/// Does `work`; gives how many steps that took.
#[cfg(all(test, feature = "cache"))]
pub(crate) fn counted<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = LEFT.get();
    let done = work();
    (done, before - LEFT.get())
}

#[cfg(all(test, feature = "cache"))]
mod tests {
    use super::*;

    #[test]
    fn a_limit_ends_with_its_work() {
        assert!(spend(1 << 62));
        assert_eq!(within(10, || spend(9)), Some(true));
        assert_eq!(within(10, || assert!(!spend(10))), None);
        assert_eq!(within(10, || within(5, || spend(5))), Some(None));
        assert!(spend(1 << 62));
        // What was spent within a limit counts outside of it too.
        assert_eq!(within(10, || (within(8, || spend(6)), spend(4))), None);
        assert_eq!(counted(|| within(8, || spend(6))).1, 6);
        let panicked = std::panic::catch_unwind(|| within(1, || -> u64 { panic!("inside") }));
        assert!(panicked.is_err() && spend(1));
    }
}
