//! The latest calls of the library that failed, for reports.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind};
use crate::lock::Lock;

/// How many are kept.
const MOST: usize = 16;

static LATEST: Lock<VecDeque<(Instant, String)>> = Lock::new(VecDeque::new());

/// Keeps the text of `error`. Waits that are not over are no failures.
pub(crate) fn note(error: &Error) {
    if error.kind() == ErrorKind::Timeout {
        return;
    }
    let entry = (Instant::now(), format!("{error:#}"));
    let mut latest = LATEST.lock();
    if latest.len() == MOST {
        latest.pop_front();
    }
    latest.push_back(entry);
}

/// Each with its age, the latest last.
pub(crate) fn all() -> Vec<(Duration, String)> {
    LATEST.lock().iter().map(|(when, text)| (when.elapsed(), text.clone())).collect()
}
