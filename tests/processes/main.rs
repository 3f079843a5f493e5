//! What two processes have together: memory, notifies and events. The other process is this program, started again.

#[path = "../common/mod.rs"]
mod common;

mod forks;
mod memory;
mod signals;
#[path = "../common/watchdog.rs"]
mod watchdog;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Set in the other process.
const OTHER: &str = "RACL_TEST_OTHER";
/// What begins a line that is meant for the first process; the test harness writes others.
const MARK: &str = "racl-test ";

/// The other process of a test, and the lines that go to and fro.
pub(crate) struct Other {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Other {
    /// Starts `test` anew, as the other process.
    pub(crate) fn start(test: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(OTHER, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, to, from: BufReader::new(from) }
    }

    pub(crate) fn tell(&mut self, line: &str) {
        let to = self.to.as_mut().unwrap();
        writeln!(to, "{line}").unwrap();
        to.flush().unwrap();
    }

    /// The next line of the other process.
    #[track_caller]
    pub(crate) fn hear(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.from.read_line(&mut line).unwrap(), 0, "the other process ended");
            // Behind what the harness wrote without an end of its line.
            if let Some((_, line)) = line.split_once(MARK) {
                return line.trim_end().to_owned();
            }
        }
    }

    /// Waits for the other process, which must not have failed.
    #[track_caller]
    pub(crate) fn end(mut self) {
        self.to = None;
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }

    /// Ends the other process at once.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Other {
    /// Of a test that failed: the other process is not left behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether this is the other process.
pub(crate) fn is_other() -> bool {
    std::env::var_os(OTHER).is_some()
}

/// The next line of the first process.
#[track_caller]
pub(crate) fn hear() -> String {
    let mut line = String::new();
    assert_ne!(std::io::stdin().read_line(&mut line).unwrap(), 0, "the first process ended");
    line.trim_end().to_owned()
}

/// A line for the first process.
pub(crate) fn tell(line: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "{MARK}{line}").unwrap();
    out.flush().unwrap();
}
