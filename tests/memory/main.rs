//! Copies of rows and in batches, vectors that are pinned, and memory from and to other code.

#[path = "../common/mod.rs"]
mod common;

mod batches;
mod casts;
mod growable;
mod indirect;
mod managed;
mod others;
mod pinned;
mod places;
mod reduced;
mod rows;
mod words;

/// What a test does first: failures are injected for the whole process.
pub(crate) fn exclusive() -> std::sync::MutexGuard<'static, ()> {
    common::mock::exclusive()
}
