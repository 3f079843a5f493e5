//! A test that hangs ends the process and is named.

use std::collections::VecDeque;
use std::io::Write as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, Once};
use std::time::Duration;

/// Far more than any of the tests takes, also on a busy machine and under a sanitizer.
const LIMIT: Duration = Duration::from_secs(600);

/// What panicked so far: a test that hangs may do so since an assertion failed, and says neither.
static PANICS: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

/// How many of them are kept, the latest ones.
const KEPT: usize = 50;

fn hear_panics() {
    static HEARS: Once = Once::new();
    HEARS.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if let Ok(mut panics) = PANICS.try_lock() {
                let thread = std::thread::current();
                if panics.len() == KEPT {
                    panics.pop_front();
                }
                panics.push_back(format!("{}: {info}", thread.name().unwrap_or("a thread")).replace('\n', " "));
            }
            before(info);
        }));
    });
}

/// Dropped in time, it does nothing.
pub(crate) struct Watchdog {
    _alive: Sender<()>,
}

impl Watchdog {
    pub(crate) fn new() -> Self {
        hear_panics();
        Self::with(LIMIT, |name| {
            let panics =
                PANICS.lock().unwrap().iter().fold(String::new(), |all, one| all + "panicked before: " + one + "\n");
            std::io::stderr().write_all(panics.as_bytes()).unwrap();
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
