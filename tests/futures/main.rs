//! Futures of streams, events and copies: with an executor written by hand, and with tokio.

use std::sync::MutexGuard;

use watchdog::Watchdog;

mod cheap;
#[path = "../common/mod.rs"]
mod common;
mod dropped;
mod executor;
mod others;
mod ready;
mod recorded_anew;
mod runtime;
mod told;
#[path = "../common/watchdog.rs"]
mod watchdog;

/// What a test does first: failures are injected for the whole process.
pub(crate) fn alone() -> (MutexGuard<'static, ()>, Watchdog) {
    (common::mock::exclusive(), Watchdog::new())
}
