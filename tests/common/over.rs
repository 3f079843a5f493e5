//! The end of threads that run beside a test.

use std::sync::atomic::{AtomicBool, Ordering};

/// Says that it is over when it is dropped, also by a test that fails: a scope waits for all of its threads, and those
/// that run until they are told would keep the failure from being seen.
pub(crate) struct Over<'a>(&'a AtomicBool);

impl<'a> Over<'a> {
    pub(crate) fn at_end(over: &'a AtomicBool) -> Self {
        Self(over)
    }
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
