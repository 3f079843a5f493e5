//! A test that hangs ends the process and is named.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Far more than any of the tests takes, also on a busy machine and under a sanitizer.
const LIMIT: Duration = Duration::from_secs(600);

/// Dropped in time, it does nothing.
pub(crate) struct Watchdog {
    _alive: Sender<()>,
}

impl Watchdog {
    pub(crate) fn new() -> Self {
        Self::with(LIMIT, |name| {
            crate::common::skipped(&format!("nothing any more: {name} hangs"));
            std::process::abort();
        })
    }

    fn with(limit: Duration, bark: impl FnOnce(String) + Send + 'static) -> Self {
        let (sender, receiver) = channel::<()>();
        let name = std::thread::current().name().unwrap_or("a test").to_owned();
        std::thread::spawn(move || {
            if receiver.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                bark(name);
            }
        });
        Self { _alive: sender }
    }
}

#[test]
fn a_test_that_hangs_is_named_and_another_is_not() {
    let (sender, barked) = channel();
    let slow = Watchdog::with(Duration::ZERO, {
        let sender = sender.clone();
        move |name| sender.send(name).unwrap()
    });
    assert!(barked.recv().unwrap().ends_with("a_test_that_hangs_is_named_and_another_is_not"));
    drop(slow);
    drop(Watchdog::with(Duration::MAX, move |name| sender.send(name).unwrap()));
    // Its thread ends without a word.
    assert!(barked.recv().is_err());
}
