//! Runs of one test that processes share, since a mock runs one at a time and each process has its own.

use std::cell::Cell;
use std::env;
use std::process::{Command, Stdio};
use std::thread;

use crate::common::mock;

/// Set in the processes: which part, of how many.
const PART: &str = "RACL_TEST_PART";

/// The runs of this process: every so many, from one on.
pub(crate) struct Part {
    first: usize,
    step: usize,
    next: Cell<usize>,
}

impl Part {
    /// Whether the next run is of this part; to be asked once for each run there is.
    pub(crate) fn takes_next(&self) -> bool {
        let run = self.next.replace(self.next.get() + 1);
        run % self.step == self.first
    }

    fn new(first: usize, step: usize) -> Self {
        Self { first, step, next: Cell::new(0) }
    }
}

/// Does `work` in one process for each processor, with a part of its runs for each, and fails when one does. `test` is
/// the path of the test that asks.
pub(crate) fn in_parts(test: &str, work: impl FnOnce(&Part)) {
    let _alone = mock::exclusive();
    if let Ok(part) = env::var(PART) {
        let (first, step) = part.split_once('/').expect("a part of so many");
        return work(&Part::new(first.parse().unwrap(), step.parse().unwrap()));
    }
    let count = thread::available_parallelism().map_or(1, usize::from);
    if count == 1 {
        return work(&Part::new(0, 1));
    }
    let start = |part: usize| {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]).env(PART, format!("{part}/{count}"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let parts: Vec<_> = (0..count).map(start).collect();
    thread::scope(|scope| {
        // All at once, so that none waits with a full pipe.
        let ends: Vec<_> = parts.into_iter().map(|part| scope.spawn(|| part.wait_with_output().unwrap())).collect();
        for end in ends {
            let end = end.join().unwrap();
            let text = [&end.stdout[..], &end.stderr[..]].map(String::from_utf8_lossy).concat();
            assert!(end.status.success(), "{test}, a part of it: {}\n{text}", end.status);
            assert!(text.contains("1 passed"), "{test} is not the path of a test:\n{text}");
        }
    });
}

#[test]
fn each_run_is_of_one_part() {
    for step in 1..4 {
        let parts: Vec<_> = (0..step).map(|first| Part::new(first, step)).collect();
        for run in 0..10 {
            assert_eq!(parts.iter().filter(|part| part.takes_next()).count(), 1, "run {run} of {step} parts");
        }
    }
}
