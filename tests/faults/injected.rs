//! Calls that fail at once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use crate::common::mock::{self, LiveHandles};
use racl::sys::{Library, Table};

use crate::parts::{Part, in_parts};
use crate::scenario::POOLED;
use crate::{Outcome, Watch, collect_log, nothing, run};

const INTERNAL: i32 = 507_000;
const NO_MEMORY: i32 = 207_001;
const DEVICE_FAULT: i32 = 507_015;

/// How often the scenario calls each function. Asked before anything failed: a context that is leaked on purpose
/// keeps the library initialised, and the scenario no longer does that.
pub(crate) fn calls(watch: &Watch) -> &'static BTreeMap<&'static str, u64> {
    static CALLS: OnceLock<BTreeMap<&'static str, u64>> = OnceLock::new();
    CALLS.get_or_init(|| {
        let before = nothing();
        let calls = count_calls(watch);
        assert_eq!(mock::live_handles(), before);
        calls
    })
}

fn count_calls(watch: &Watch) -> BTreeMap<&'static str, u64> {
    mock::reset().unwrap();
    let outcome = run("without a failure", watch).expect("no panic");
    assert!(outcome.is_silent(), "{}", outcome.text());
    Table::names().map(|(name, _)| (name, mock::calls(name))).filter(|(_, calls)| *calls > 0).collect()
}

fn codes(name: &str) -> &'static [i32] {
    match name {
        "aclrtMalloc" | "aclrtMallocHost" | "aclrtMallocPhysical" | "aclrtMapMem" => &[INTERNAL, NO_MEMORY],
        "aclrtSynchronizeStream" | "aclrtSynchronizeEvent" | "aclrtStreamQuery" | "aclrtQueryEventStatus" => {
            &[INTERNAL, DEVICE_FAULT]
        }
        _ => &[INTERNAL],
    }
}

/// Functions that are called when another failed, and one of older releases.
pub(crate) const BESIDE: [&str; 4] =
    ["aclDestroyAclOpExecutor", "aclFinalize", "aclGetRecentErrMsg", "aclmdlRICaptureGetInfo"];

#[test]
fn the_scenario_calls_every_function_that_the_crate_calls() {
    let _alone = mock::exclusive();
    collect_log();
    let calls = calls(&Watch::start());
    let mut words = BTreeSet::new();
    read_words(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut words);
    // Each of those between cards fails in `tests/collectives/faults.rs`, of profiles, marks for tools and dumps, which
    // are of the whole process, in `tests/profiling.rs`.
    let beside = |name: &str| {
        ["aclprof", "acldump", "mstx"].iter().any(|start| name.starts_with(start))
            || matches!(name, "aclmdlInitDump" | "aclmdlSetDump" | "aclmdlFinalizeDump")
            || crate::models::is_of_models(name)
    };
    let names = Table::names().filter(|(name, library)| *library != Library::Collectives && !beside(name));
    let named = names.map(|(name, _)| name).filter(|name| words.contains(*name));
    let mut missing: Vec<_> = named.filter(|name| !calls.contains_key(name)).collect();
    missing.sort_unstable();
    // Older releases (with host functions on a thread of this crate, which `tests/older.rs` is
    // about, and another spelling), functions that only the documentation names, and versions for the key of the
    // compile cache: one that cannot be had is the part `unknown` of the key, and no error. Peers, of which
    // `tests/two_devices.rs` has the second, and limits of a device, which clear what other contexts keep:
    // `tests/core_limits.rs`. What is asked of tasks that failed: `tests/kernels` and `tests/failures.rs`. What is
    // undone of a watch that failed: `tests/snapshots.rs`. What a graph leaves that is given away: `tests/graphs`.
    // Operators that find as much as there is are named for errors; all operators have one funnel.
    // Repairs and a reset by force: `tests/devices.rs`. Devices are waited for in parts while there are graphs with
    // updates only: `tests/attacks/updates.rs`.
    assert_eq!(
        missing,
        [
            "AclSetTensorAddr",
            "aclFinalize",
            "aclmdlRIDestroyRegisterCallback",
            "aclnnMaskedSelect",
            "aclnnMatmulAllReduce",
            "aclnnNonzero",
            "aclnnNonzeroV2",
            "aclnnUnique",
            "aclnnUnique2",
            "aclnnUniqueConsecutive",
            "aclnnUniqueDim",
            "aclrtCreateStream",
            "aclrtDeviceCanAccessPeer",
            "aclrtDeviceDisablePeerAccess",
            "aclrtDeviceEnablePeerAccess",
            "aclrtDevicePeerAccessStatus",
            "aclrtGetDeviceIdFromExceptionInfo",
            "aclrtGetErrorCodeFromExceptionInfo",
            "aclrtGetFuncHandleFromExceptionInfo",
            "aclrtGetStreamIdFromExceptionInfo",
            "aclrtGetTaskIdFromExceptionInfo",
            "aclrtGetThreadIdFromExceptionInfo",
            "aclrtLaunchCallback",
            "aclrtMemUceRepair",
            "aclrtProcessReport",
            "aclrtRepairError",
            "aclrtResetDeviceForce",
            "aclrtResetDeviceResLimit",
            "aclrtSetDeviceResLimit",
            "aclrtSetExceptionInfoCallback",
            "aclrtSetOpExecuteTimeOut",
            "aclrtSnapShotCallbackUnregister",
            "aclrtSubscribeReport",
            "aclrtSynchronizeDeviceWithTimeout",
            "aclrtUnSubscribeReport",
            "aclsysGetCANNVersion"
        ]
    );
}

/// Every word of the sources in `folder`.
pub(crate) fn read_words(folder: &Path, words: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is = |folder: &str| path.with_extension("").ends_with(folder);
        let named = ["src/op/aclnn", "src/op/indices", "src/plan/rules", "src/plan/passes", "src/plan/auto"];
        if named.into_iter().any(is) {
            // Every operator there is; the funnel of all is that of those in the scenario. And the rules of their
            // indices and shapes, and what passes and overlaps look for in plans, which call none.
            continue;
        }
        if path.is_dir() {
            read_words(&path, words);
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            // Names around those of `src/op/aclnn` have nothing of their own that can fail.
            let around = text.contains("aclnn::") || text.contains("wrapped! {");
            let all = text.split(|c: char| !c.is_alphanumeric());
            words.extend(all.filter(|word| !(around && word.starts_with("aclnn"))).map(str::to_owned));
        }
    }
}

#[test]
fn a_call_that_fails_once_gives_an_error_and_leaks_nothing() {
    in_parts("injected::a_call_that_fails_once_gives_an_error_and_leaks_nothing", |part| {
        collect_log();
        let watch = Watch::start();
        let clean = nothing();
        let mut problems = each_call(&watch, part, clean, calls(&watch));
        // What describes operators does not know where memory comes from.
        let described = |name: &str| ["aclnn", "aclCreate", "aclDestroy"].iter().any(|start| name.starts_with(start));
        POOLED.store(true, Ordering::Relaxed);
        let counted = count_calls(&watch);
        assert!(counted["aclrtMalloc"] < calls(&watch)["aclrtMalloc"]);
        let others = counted.into_iter().filter(|(name, _)| !described(name)).collect();
        problems.extend(each_call(&watch, part, clean, &others));
        POOLED.store(false, Ordering::Relaxed);
        assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    });
}

fn each_call(watch: &Watch, part: &Part, clean: LiveHandles, calls: &BTreeMap<&'static str, u64>) -> Vec<String> {
    let mut problems = Vec::new();
    for (&name, &count) in calls {
        for nth in 1..=count {
            for &code in codes(name).iter().filter(|code| part.takes((name, nth, **code))) {
                mock::reset().unwrap();
                mock::fail(name, nth, code).unwrap();
                let what = format!("call {nth} of {name} fails with {code}");
                match run(&what, watch) {
                    Err(panic) => problems.push(format!("{what}: panic: {panic}")),
                    Ok(_) if mock::calls(name) < nth => {}
                    Ok(outcome) => judge(&mut problems, &what, name, code, &outcome, clean),
                }
                let before = mock::live_handles();
                match run("after a failure", watch) {
                    Ok(again) if again.is_silent() && again.live == before => {}
                    Ok(again) => problems.push(format!(
                        "{what}: afterwards: {}\n    {:?} {:?}",
                        again.text(),
                        again.live,
                        before
                    )),
                    Err(panic) => problems.push(format!("{what}: afterwards: panic: {panic}")),
                }
            }
        }
    }
    problems
}

fn judge(problems: &mut Vec<String>, what: &str, name: &str, code: i32, outcome: &Outcome, clean: LiveHandles) {
    let text = outcome.text();
    if outcome.is_silent() && !may_be_silent(name, code) {
        problems.push(format!("{what}: nobody was told"));
    } else if !outcome.is_silent() && !text.contains(&code.to_string()) && !text.contains(name) {
        problems.push(format!("{what}: neither the call nor the code is named: {text}"));
    }
    let leaks = leaks(outcome.live, clean);
    // A context that stays keeps the segments of its pool.
    let pooled = POOLED.load(Ordering::Relaxed) && leaks.iter().any(|(kind, _)| *kind == "context");
    let told = |mut leaks: Vec<(&'static str, u64)>| -> Vec<_> {
        leaks.retain(|(kind, _)| !pooled || *kind != "device memory");
        leaks
    };
    if !may_leak(name, code).into_iter().map(told).any(|may| may == told(leaks.clone())) {
        problems.push(format!("{what}: leaks {leaks:?}\n    {text}"));
    }
}

/// Failures that nobody needs to hear of.
fn may_be_silent(name: &str, code: i32) -> bool {
    match name {
        // Memory that is short is asked for again once memory in use has come back; the second call succeeded.
        "aclrtMalloc" | "aclrtMallocPhysical" | "aclrtMapMem" => code == NO_MEMORY,
        // Called after another failure, for its text.
        "aclGetRecentErrMsg" => true,
        // What an operator may refuse; it is updated whole then.
        "aclSetAclOpExecutorRepeatable"
        | "aclSetTensorAddr"
        | "aclSetInputTensorAddr"
        | "aclSetOutputTensorAddr"
        | "aclSetDynamicInputTensorAddr"
        | "aclSetDynamicOutputTensorAddr" => true,
        // Called after an end of a capture that failed, which is reported if it matters.
        "aclmdlRICaptureGetInfo" => true,
        _ => false,
    }
}

#[test]
fn an_error_whose_text_cannot_be_had_keeps_its_code() {
    let _alone = mock::exclusive();
    nothing();
    let device = racl::Acl::mock().unwrap().device(0).unwrap();
    // A context that another test left gives memory back that it keeps, and the call is made again.
    for nth in 1..=9 {
        mock::fail("aclrtMalloc", nth, NO_MEMORY).unwrap();
        mock::fail("aclGetRecentErrMsg", nth, INTERNAL).unwrap();
    }
    let error = device.alloc::<u8>(8).unwrap_err();
    mock::clear_failures();
    assert_eq!((error.call(), error.code(), error.library_message()), (Some("aclrtMalloc"), Some(NO_MEMORY), None));
    assert_eq!(error.to_string(), "aclrtMalloc failed: out of memory (207001) [allocating 8 bytes on device 0]");
}

/// What is left alive, by kind; bytes go with their allocations.
pub(crate) type Leaks = [(&'static str, u64)];

pub(crate) fn leaks(live: LiveHandles, clean: LiveHandles) -> Vec<(&'static str, u64)> {
    let all = [
        ("context", live.contexts - clean.contexts),
        ("stream", live.streams - clean.streams),
        ("event", live.events - clean.events),
        ("graph", live.graphs - clean.graphs),
        ("device memory", live.device_allocations - clean.device_allocations),
        ("pinned memory", live.pinned_allocations - clean.pinned_allocations),
        ("tensor", live.tensors - clean.tensors),
        ("scalar", live.scalars - clean.scalars),
        ("array", live.arrays - clean.arrays),
        ("list", live.lists - clean.lists),
        ("executor", live.executors - clean.executors),
        ("binary", live.binaries - clean.binaries),
        ("library object", live.library_objects - clean.library_objects),
    ];
    let is_there = |(_, count): &(&str, u64)| *count > 0;
    if live.contexts > clean.contexts {
        // A context that is left alone keeps its idle events and the executors of its operators, with their
        // descriptions.
        let kept = ["event", "tensor", "scalar", "array", "list", "executor"];
        return all.into_iter().filter(is_there).filter(|(name, _)| !kept.contains(name)).collect();
    }
    all.into_iter().filter(is_there).collect()
}

/// What may be left alive when the call fails: nothing, except what the failed call itself was to free, and memory
/// that the device may still use. Such memory keeps its context and with it the context's idle stream and number one.
fn may_leak(name: &str, code: i32) -> Vec<Vec<(&'static str, u64)>> {
    const RUNNING_GRAPH: &Leaks = &[("context", 1), ("stream", 1), ("graph", 1), ("device memory", 1)];
    // After the plans, the context has more idle streams.
    const LATER_GRAPH: &Leaks = &[("context", 1), ("stream", 4), ("graph", 1), ("device memory", 1)];
    const GRAPH_OF_A_PLAN: &Leaks =
        &[("context", 1), ("stream", 4), ("graph", 1), ("device memory", 10), ("pinned memory", 1)];
    // Each run has pinned memory of its own.
    const GRAPH_BEFORE_OUTPUTS: &Leaks = &[("context", 1), ("stream", 4), ("graph", 1), ("device memory", 10)];
    let allowed: &[&Leaks] = match name {
        // The graph could not be destroyed, or it is not known whether its last launch is done.
        "aclmdlRIDestroy" => &[RUNNING_GRAPH, LATER_GRAPH, GRAPH_OF_A_PLAN, GRAPH_BEFORE_OUTPUTS],
        "aclrtSynchronizeStream" if code == INTERNAL => &[RUNNING_GRAPH, LATER_GRAPH],
        // It is not known whether the copy is done.
        "aclrtSynchronizeEvent" | "aclrtSynchronizeEventWithTimeout" => {
            &[&[("context", 1), ("pinned memory", 1)], &[("context", 1), ("stream", 1), ("pinned memory", 1)]]
        }
        // The second phase takes the executor over whether it succeeds or not; an injected failure comes before that.
        _ if name.starts_with("aclnn") && !name.ends_with("GetWorkspaceSize") => &[&[("executor", 1)]],
        "aclDestroyAclOpExecutor" => &[&[("executor", 1)]],
        "aclDestroyIntArray" => &[&[("array", 1)]],
        "aclDestroyScalar" => &[&[("scalar", 1)]],
        "aclDestroyTensor" => &[&[("tensor", 1)]],
        "aclDestroyFloatArray" | "aclDestroyBoolArray" => &[&[("array", 1)]],
        // With its members.
        "aclDestroyTensorList" => &[&[("tensor", 2), ("list", 1)]],
        "aclDestroyScalarList" => &[&[("scalar", 2), ("list", 1)]],
        "aclrtDestroyEvent" => &[&[("event", 1)]],
        "aclrtDestroyStream" => &[&[("stream", 1)]],
        "aclrtDestroyLabel" | "aclrtDestroyLabelList" => &[&[("library object", 1)]],
        "aclrtDestroyContext" => &[&[("context", 1)]],
        // With the memory of its code.
        "aclrtBinaryUnLoad" => &[&[("device memory", 1), ("binary", 1)]],
        "aclrtFree" => &[&[("device memory", 1)]],
        "aclrtFreePhysical" | "aclrtReleaseMemAddress" => &[&[("device memory", 1)]],
        // The memory, and the addresses.
        "aclrtUnmapMem" => &[&[("device memory", 2)]],
        "aclrtFreeHost" => &[&[("pinned memory", 1)]],
        _ => &[],
    };
    allowed.iter().map(|leaks| leaks.to_vec()).chain([Vec::new()]).collect()
}

#[test]
fn a_call_that_fails_while_cleaning_up_fails_too_is_still_told() {
    in_parts("injected::a_call_that_fails_while_cleaning_up_fails_too_is_still_told", |part| {
        collect_log();
        let watch = Watch::start();
        let mut problems = Vec::new();
        for (&name, &count) in calls(&watch) {
            for (nth, beside) in (1..=count).flat_map(|nth| BESIDE.map(|beside| (nth, beside))) {
                if !part.takes((name, nth, beside)) {
                    continue;
                }
                mock::reset().unwrap();
                mock::fail(name, nth, INTERNAL).unwrap();
                (1..10).for_each(|later| mock::fail(beside, later, INTERNAL).unwrap());
                let what = format!("call {nth} of {name} fails, and {beside}");
                match run(&what, &watch) {
                    Ok(_) if may_be_silent(name, INTERNAL) || mock::calls(name) < nth => {}
                    Ok(outcome) if outcome.is_silent() => {
                        problems.push(format!("{what}: nobody was told"));
                    }
                    Ok(_) => {}
                    Err(panic) => problems.push(format!("{what}: panic: {panic}")),
                }
            }
        }
        mock::reset().unwrap();
        assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    });
}

/// Combinations that nobody would think of; the same ones at each run.
#[test]
fn several_failures_at_once_are_told_too() {
    in_parts("injected::several_failures_at_once_are_told_too", |part| {
        collect_log();
        let watch = Watch::start();
        let names: Vec<_> = calls(&watch).iter().collect();
        let mut random = fastrand::Rng::with_seed(2026);
        let mut problems = Vec::new();
        for turn in 0..1500 {
            mock::reset().unwrap();
            // What is drawn does not hang on who runs it.
            let is_mine = part.takes(turn);
            let mut armed = Vec::new();
            for _ in 0..random.usize(2..6) {
                let (name, count) = names[random.usize(..names.len())];
                let (nth, code) = (random.u64(1..=*count), [INTERNAL, DEVICE_FAULT, 107_027][random.usize(..3)]);
                // Who waits for a signal whose task failed waits on, and for a stream that was not started.
                if random.bool() || matches!(*name, "aclrtValueWrite" | "aclrtActiveStream") {
                    mock::fail(name, nth, code).unwrap();
                    armed.push((*name, nth, code));
                } else {
                    // The other one is of calls that are refused, which no task is.
                    let code = if code == INTERNAL { INTERNAL } else { DEVICE_FAULT };
                    mock::fail_task(name, nth, code).unwrap();
                    armed.push((*name, 0, code));
                }
            }
            if !is_mine {
                continue;
            }
            let what = format!("run {turn} with {armed:?}, tasks as call 0");
            match run(&what, &watch) {
                Err(panic) => problems.push(format!("{what}: panic: {panic}")),
                Ok(outcome) => {
                    let told = armed.iter().any(|(name, nth, code)| {
                        *nth > 0 && mock::calls(name) >= *nth && !may_be_silent(name, *code)
                    });
                    if told && outcome.is_silent() {
                        problems.push(format!("{what}: nobody was told"));
                    }
                }
            }
        }
        mock::reset().unwrap();
        assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    });
}

#[test]
fn a_call_that_fails_for_good_ends_nothing_but_the_program() {
    in_parts("injected::a_call_that_fails_for_good_ends_nothing_but_the_program", |part| {
        collect_log();
        let watch = Watch::start();
        let mut problems = Vec::new();
        for (&name, &count) in calls(&watch) {
            for nth in (1..=count).filter(|nth| part.takes((name, *nth))) {
                mock::reset().unwrap();
                for later in nth..nth + 100 {
                    mock::fail(name, later, INTERNAL).unwrap();
                }
                let what = format!("{name} fails from call {nth} on");
                if let Err(panic) = run(&what, &watch) {
                    problems.push(format!("{what}: panic: {panic}"));
                }
            }
        }
        mock::reset().unwrap();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    });
}
