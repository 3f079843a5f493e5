//! Runs of one test that processes share, since a mock runs one at a time and each process has its own.

use std::env;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::process::{Command, Stdio};
use std::thread;

use crate::common::{mock, needs_mock};

/// Set in the processes: which part, of how many.
const PART: &str = "RACL_TEST_PART";

/// The runs of this process.
pub(crate) struct Part {
    first: u64,
    step: u64,
}

impl Part {
    /// Whether a run is of this part; `run` is what makes it another one than the others are. No count of them would
    /// do: how often the scenario calls a function may be another number in each process.
    pub(crate) fn takes(&self, run: impl Hash) -> bool {
        // Without keys: the same in each process.
        let mut hasher = DefaultHasher::new();
        run.hash(&mut hasher);
        hasher.finish() % self.step == self.first
    }

    fn new(first: u64, step: u64) -> Self {
        Self { first, step }
    }
}

/// Does `work` in one process for each processor, with a part of its runs for each, and fails when one does. `test` is
/// the path of the test that asks.
pub(crate) fn in_parts(test: &str, work: impl FnOnce(&Part)) {
    let _alone = mock::exclusive();
    // In a process of its own that is told as a failure.
    needs_mock("it lets calls of the mock fail");
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
        let mut taken = vec![0; parts.len()];
        for run in (0..100).map(|nth| ("aclrtMalloc", nth, 507_000)) {
            let whose: Vec<_> = (0..parts.len()).filter(|part| parts[*part].takes(run)).collect();
            assert_eq!(whose.len(), 1, "run {run:?} of {step} parts");
            taken[whose[0]] += 1;
        }
        assert!(taken.iter().all(|count| *count > 20), "{taken:?}");
    }
}
