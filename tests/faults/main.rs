//! Every C call that fails, one at a time: no panic, no hang, no silence and no leak.
//!
//! The scenario uses everything once. Each test runs it with one failure and looks at what comes back.

#[path = "../common/mod.rs"]
mod common;
mod elsewhere;
mod injected;
mod kernels;
mod memory;
mod models;
mod parts;
mod plans;
mod scenario;
mod tasks;

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use common::mock::{self, LiveHandles};
use racl::{Error, Result};

/// Far more than a run takes, also on a busy machine and under a sanitizer.
const LIMIT: Duration = Duration::from_secs(600);

/// What a run of the scenario gave.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) result: Result<()>,
    /// Errors of destructors while the context was there to keep them.
    pub(crate) drop_errors: Vec<Error>,
    /// Errors that were logged: those of the destructors, and of the end of contexts and of the library.
    pub(crate) logged: Vec<String>,
    pub(crate) live: LiveHandles,
}

impl Outcome {
    pub(crate) fn is_silent(&self) -> bool {
        self.result.is_ok() && self.drop_errors.is_empty() && self.logged.is_empty()
    }

    /// Everything that was said, for messages.
    pub(crate) fn text(&self) -> String {
        let errors = self.drop_errors.iter().map(|error| format!("drop: {error:#}"));
        let logged = self.logged.iter().map(|line| format!("log: {line}"));
        let result = self.result.as_ref().err().map(|error| format!("result: {error:#}"));
        result.into_iter().chain(errors).chain(logged).collect::<Vec<_>>().join("\n    ")
    }
}

/// Objects that are alive in a mock that nobody uses.
pub(crate) fn nothing() -> LiveHandles {
    mock::reset().unwrap();
    mock::live_handles()
}

/// One run. A panic is given as text; `name` is shown when the run does not end.
pub(crate) fn run(name: &str, watch: &Watch) -> std::result::Result<Outcome, String> {
    watch.begin(name);
    logged().clear();
    racl::set_end_on_drop(true);
    let mut drop_errors = Vec::new();
    let result = catch_unwind(AssertUnwindSafe(|| scenario::run(&mut drop_errors)));
    mock::clear_failures();
    let live = mock::live_handles();
    let logged = std::mem::take(&mut *logged());
    watch.end();
    match result {
        Ok(result) => Ok(Outcome { result, drop_errors, logged, live }),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().cloned();
            Err(text.or_else(|| payload.downcast_ref::<&str>().map(|t| (*t).to_owned())).unwrap_or_default())
        }
    }
}

/// Ends the process when a run takes too long, naming the run.
pub(crate) struct Watch(Sender<Option<String>>);

impl Watch {
    pub(crate) fn start() -> Self {
        let (sender, receiver) = mpsc::channel::<Option<String>>();
        std::thread::spawn(move || {
            let mut running: Option<String> = None;
            loop {
                let next = match &running {
                    Some(_) => receiver.recv_timeout(LIMIT),
                    None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
                };
                match next {
                    Ok(next) => running = next,
                    Err(RecvTimeoutError::Timeout) => {
                        // Not `eprintln!`, whose text the test harness would hold back.
                        let _ = writeln!(std::io::stderr(), "a run does not end: {}", running.unwrap_or_default());
                        std::process::abort();
                    }
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        });
        Self(sender)
    }

    fn begin(&self, name: &str) {
        self.0.send(Some(name.to_owned())).unwrap();
    }

    fn end(&self) {
        self.0.send(None).unwrap();
    }
}

/// Errors in the log since the last run began.
struct Collector(Mutex<Vec<String>>);

static COLLECTOR: Collector = Collector(Mutex::new(Vec::new()));

fn logged() -> MutexGuard<'static, Vec<String>> {
    COLLECTOR.0.lock().unwrap_or_else(PoisonError::into_inner)
}

impl log::Log for Collector {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            logged().push(record.args().to_string());
        }
    }

    fn flush(&self) {}
}

pub(crate) fn collect_log() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&COLLECTOR).unwrap();
        log::set_max_level(log::LevelFilter::Warn);
    });
}
