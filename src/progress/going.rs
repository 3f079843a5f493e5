//! Streams that this thread is in the middle of dropping: only it can end what others would wait for.

use std::cell::RefCell;

use super::Progress;
use crate::lock::is_alive;

thread_local! {
    static GOING: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// While it lives, waits of this thread for the end of the stream are refused.
pub(crate) struct Going(u64);

impl Progress {
    /// This thread drops the stream from here on.
    pub(crate) fn going(&self) -> Going {
        // A drop at the end of the thread finds no list any more, and nothing that would end a new one.
        let _ = is_alive().then(|| GOING.try_with(|all| all.borrow_mut().push(self.id)));
        Going(self.id)
    }

    pub(super) fn goes_here(&self) -> bool {
        is_alive() && GOING.try_with(|all| all.borrow().contains(&self.id)).unwrap_or(false)
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        let take = |all: &RefCell<Vec<u64>>| {
            let mut all = all.borrow_mut();
            if let Some(place) = all.iter().rposition(|id| *id == self.0) {
                all.swap_remove(place);
            }
        };
        let _ = is_alive().then(|| GOING.try_with(take));
    }
}
