//! The progress bar, and how the log and the results get past it.

use std::fmt;
use std::io::{self, IsTerminal as _, Write};
use std::sync::OnceLock;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Fewer texts are done before a bar would be read.
const FEWEST: usize = 20;

static SHOWN: OnceLock<ProgressBar> = OnceLock::new();

/// Shows progress on standard error if that is a terminal and `total` texts take a while; without a total always.
pub(crate) fn start(total: Option<usize>) {
    if !io::stderr().is_terminal() || total.is_some_and(|total| total < FEWEST) {
        return;
    }
    let (bar, template) = match total {
        Some(total) => (ProgressBar::new(total as u64), "{bar:40} {pos}/{len} texts, {rate}, {eta} left"),
        None => (ProgressBar::no_length(), "{spinner} {pos} texts, {rate}"),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.with_key("rate", |state: &ProgressState, out: &mut dyn fmt::Write| {
            // Only a broken terminal refuses it, and the bar is not worth a word then.
            let _ = write!(out, "{:.0} a second", state.per_sec());
        }));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    // A second bar of one process is not shown.
    drop(SHOWN.set(bar));
}

/// One text is done.
pub(crate) fn advance() {
    if let Some(bar) = SHOWN.get() {
        bar.inc(1);
    }
}

/// Takes the bar away.
pub(crate) fn finish() {
    if let Some(bar) = SHOWN.get() {
        bar.finish_and_clear();
    }
}

/// Runs `write` while the bar is off the terminal.
pub(crate) fn beside<T>(write: impl FnOnce() -> T) -> T {
    match SHOWN.get() {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Standard error for the log.
#[derive(Debug)]
pub(crate) struct LogOutput;

impl Write for LogOutput {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        beside(|| io::stderr().write(data))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
