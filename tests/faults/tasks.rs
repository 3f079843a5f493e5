//! Work that fails on the device, after the call that queued it.

use racl::{ErrorKind, mock};

use crate::injected::{calls, leaks};
use crate::{Outcome, Watch, collect_log, nothing, run};

const DEVICE_FAULT: i32 = 507_015;
const DEVICE_LOST: i32 = 507_053;

/// Calls that queue work which can fail.
fn queues_work(name: &str) -> bool {
    let operator = name.starts_with("aclnn") && !name.ends_with("GetWorkspaceSize");
    let others =
        ["aclrtMemcpyAsync", "aclrtMemsetAsync", "aclrtCmoAsync", "aclrtLaunchHostFunc", "aclmdlRIExecuteAsync"];
    operator || others.contains(&name)
}

#[test]
fn work_that_fails_is_reported_by_a_call_that_waits_and_leaks_nothing() {
    let _alone = mock::exclusive();
    collect_log();
    let watch = Watch::start();
    let clean = nothing();
    let mut problems = Vec::new();
    for (&name, &count) in calls(&watch).iter().filter(|(name, _)| queues_work(name)) {
        for nth in 1..=count {
            for (code, kind) in [(DEVICE_FAULT, ErrorKind::DeviceFault), (DEVICE_LOST, ErrorKind::DeviceLost)] {
                mock::reset().unwrap();
                mock::fail_task(name, nth, code).unwrap();
                let what = format!("task {nth} of {name} fails with {code}");
                match run(&what, &watch) {
                    Err(panic) => problems.push(format!("{what}: panic: {panic}")),
                    Ok(outcome) => {
                        problems.extend(judge(code, kind, &outcome).map(|problem| format!("{what}: {problem}")));
                        let leaks = leaks(outcome.live, clean);
                        // After the loss of a device it is not known whether the graph still runs.
                        let may_leak =
                            code == DEVICE_LOST && outcome.text().contains("a graph could not be destroyed");
                        if !leaks.is_empty() && !may_leak {
                            problems.push(format!("{what}: leaks {leaks:?}: {}", outcome.text()));
                        }
                    }
                }
                match run("after a failure", &watch) {
                    Ok(again) if again.is_silent() => {}
                    Ok(again) => problems.push(format!("{what}: afterwards: {}", again.text())),
                    Err(panic) => problems.push(format!("{what}: afterwards: panic: {panic}")),
                }
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

fn judge(code: i32, kind: ErrorKind, outcome: &Outcome) -> Option<String> {
    let errors = outcome.result.as_ref().err().into_iter().chain(&outcome.drop_errors);
    let Some(error) = errors.into_iter().find(|error| error.code() == Some(code)) else {
        return Some(format!("nobody was told: {}", outcome.text()));
    };
    let waits = error.call().is_some_and(|call| call.starts_with("aclrtSynchronize"));
    (error.kind() != kind || !waits).then(|| format!("reported as {:?}: {error}", error.kind()))
}
