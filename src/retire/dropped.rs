//! Whether work that is over was dropped, which whoever drops it notes a moment later.

use std::time::{Duration, Instant};

use super::{deadline, pause_for};
use crate::closure;
use crate::error::Result;
use crate::progress::{Progress, dropped, drops_here};

/// That the submission with this number, which is over, was not dropped. Waits until whoever drops work just now has noted
/// of which; not where that waits for this thread. Not under a lock.
#[inline]
pub(crate) fn check_not_dropped(progress: &Progress, number: u64) -> Result<()> {
    // What was known to be done before is none of what is dropped.
    if progress.has_completed(number) || has_notes(progress) { progress.check_run(number) } else { Err(dropped()) }
}

/// Whether all that was dropped is noted; waits for that as [`check_not_dropped`].
#[inline]
pub(crate) fn has_notes(progress: &Progress) -> bool {
    !progress.is_dropped_from() || await_notes(progress)
}

#[cold]
fn await_notes(progress: &Progress) -> bool {
    if closure::is_running() || drops_here() {
        return !progress.is_dropped_from();
    }
    let until = deadline();
    while progress.is_dropped_from() {
        if Instant::now() >= until {
            return false;
        }
        pause_for(Duration::from_micros(50));
    }
    true
}
