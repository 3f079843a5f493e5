//! Whether a thread is in the midst of a run of a plan, which orders its work by itself.

use std::cell::Cell;

thread_local! {
    static BY_PLAN: Cell<bool> = const { Cell::new(false) };
}

/// A scope in which a plan orders the work of this thread, or in which it does so no more: what the program does in an
/// operator of its own, in a logger and the like.
pub(crate) struct ByPlan(bool);

impl ByPlan {
    pub(crate) fn begin() -> Self {
        Self(BY_PLAN.replace(true))
    }

    pub(crate) fn suspend() -> Self {
        Self(BY_PLAN.replace(false))
    }

    pub(crate) fn is_here() -> bool {
        BY_PLAN.get()
    }
}

impl Drop for ByPlan {
    fn drop(&mut self) {
        BY_PLAN.set(self.0);
    }
}
