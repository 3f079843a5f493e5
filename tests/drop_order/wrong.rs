//! The rules fail on logs that are wrong, and hold for the same without the fault.

use std::collections::BTreeMap;

use crate::rules::{Line, broken};

/// A log in words: `[thread:] function given... [= gave]`, things by name.
fn log(text: &str) -> Vec<Line> {
    // Functions in logs are constants.
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    let mut numbers = BTreeMap::new();
    let mut number = |name: &'static str| {
        let next = 0x1000 + numbers.len();
        *numbers.entry(name).or_insert(next)
    };
    let line = |line: &'static str| {
        let (thread, line) = line.split_once(": ").unwrap_or(("1", line));
        let (call, gave) = line.split_once(" = ").map_or((line, None), |(call, gave)| (call, Some(gave)));
        let mut words = call.split_whitespace();
        let function = words.next().unwrap();
        let given = words.map(&mut number).collect();
        Line { function, thread: thread.parse().unwrap(), given, gave: gave.map(&mut number) }
    };
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(line).collect()
}

/// What is between the start and the end of a program, with a context and two streams.
fn within(text: &str) -> Vec<Line> {
    let mut all = log("aclInit
        aclrtSetDevice
        aclrtCreateContext = context
        aclrtCreateStream = s
        aclrtCreateStream = t");
    // Names have numbers by where they come first.
    all.extend(log(&format!("names context s t\n{text}")).drain(1..));
    all
}

fn with_end(text: &str) -> Vec<Line> {
    let end = "aclrtDestroyStream s
        aclrtDestroyStream t
        aclrtDestroyContext context
        aclrtResetDevice
        aclFinalize";
    within(&format!("{text}\n{end}"))
}

#[track_caller]
fn is_good(log: &[Line]) {
    assert_eq!(broken(log), Vec::<String>::new());
}

/// The one rule that the log breaks.
#[track_caller]
fn breaks(log: &[Line], what: &str) {
    let broken = broken(log);
    assert!(broken.len() == 1 && broken[0].contains(what), "{what:?} is not what is broken: {broken:#?}");
}

#[test]
fn nothing_is_used_after_its_destroy() {
    is_good(&with_end("aclrtCreateEventExWithFlag = e\n aclrtRecordEvent e s\n aclrtDestroyEvent e"));
    breaks(
        &with_end("aclrtCreateEventExWithFlag = e\n aclrtDestroyEvent e\n aclrtRecordEvent e s"),
        "is used after its destroy",
    );
}

#[test]
fn nothing_is_destroyed_twice_or_without_having_been_made() {
    breaks(&with_end("aclrtCreateNotify = n\n aclrtDestroyNotify n\n aclrtDestroyNotify n"), "is destroyed again");
    breaks(&with_end("aclrtDestroyNotify n"), "nothing made it");
}

#[test]
fn what_a_context_has_goes_before_it() {
    let late = "aclrtCreateEventExWithFlag = e
        aclrtDestroyStream s
        aclrtDestroyStream t
        aclrtDestroyContext context
        aclrtDestroyEvent e
        aclrtResetDevice
        aclFinalize";
    breaks(&within(late), "Event 1003 lives still");
}

#[test]
fn what_a_context_has_is_that_of_the_thread() {
    let text = "2: aclrtSetCurrentContext context
        2: aclrtMalloc = m
        1: aclrtDestroyStream s
        1: aclrtDestroyStream t
        1: aclrtDestroyContext context
        1: aclrtFree m
        1: aclrtResetDevice
        1: aclFinalize";
    breaks(&within(text), "Memory 1003 lives still");
    // That of a thread with the context of the device goes before the device.
    let text = "2: aclrtSetDevice
        2: aclrtMalloc = m
        1: aclrtDestroyStream s
        1: aclrtDestroyStream t
        1: aclrtDestroyContext context
        1: aclrtFree m
        1: aclrtResetDevice
        1: aclFinalize";
    is_good(&within(text));
}

#[test]
fn contexts_go_before_the_device_is_reset() {
    let text = "aclrtDestroyStream s
        aclrtDestroyStream t
        aclrtResetDevice
        aclrtDestroyContext context
        aclFinalize";
    breaks(&within(text), "Context 1000 lives still");
}

#[test]
fn everything_is_destroyed_before_the_end() {
    breaks(&with_end("aclCreateTensor = tensor"), "Described 1003 was not destroyed");
    is_good(&with_end("aclCreateTensor = tensor\n aclDestroyTensor tensor"));
}

#[test]
fn the_end_comes_once_and_last() {
    let end = "aclrtDestroyStream s
        aclrtDestroyStream t
        aclrtDestroyContext context
        aclrtResetDevice";
    breaks(&within(end), "the library is not ended");
    breaks(
        &with_end("").iter().cloned().chain(log("aclFinalize")).collect::<Vec<_>>(),
        "behind the end of the library",
    );
    breaks(
        &with_end("").iter().cloned().chain(log("aclrtGetRunMode")).collect::<Vec<_>>(),
        "behind the end of the library",
    );
}

#[test]
fn memory_is_freed_behind_a_wait_that_covers_its_work() {
    let used = |wait: &str| {
        let text = format!(
            "aclrtMalloc = m
            aclrtCreateEventExWithFlag = e
            aclrtCreateNotify = n
            aclrtMemsetAsync m s
            {wait}
            aclrtFree m
            aclrtDestroyEvent e
            aclrtDestroyNotify n"
        );
        with_end(&text)
    };
    for wait in [
        "aclrtSynchronizeStream s",
        "aclrtSynchronizeStreamWithTimeout s",
        "aclrtSynchronizeDevice",
        "aclrtStreamQuery s",
        "aclrtRecordEvent e s\n aclrtSynchronizeEvent e",
        "aclrtRecordEvent e s\n aclrtQueryEventStatus e",
        "aclrtRecordEvent e s\n aclrtStreamWaitEvent t e\n aclrtSynchronizeStream t",
        "aclrtRecordNotify n s\n aclrtWaitAndResetNotify n t\n aclrtSynchronizeStream t",
    ] {
        is_good(&used(wait));
    }
    for wait in [
        "",
        "aclrtSynchronizeStream t",
        "aclrtRecordEvent e s",
        "aclrtSynchronizeEvent e",
        "aclrtSynchronizeEvent e\n aclrtRecordEvent e s",
        "aclrtRecordEvent e s\n aclrtSynchronizeStream t",
        "aclrtSynchronizeStream t\n aclrtRecordEvent e s\n aclrtStreamWaitEvent t e",
        "aclrtRecordEvent e s\n aclrtMemsetAsync m s\n aclrtSynchronizeEvent e",
        "aclrtSynchronizeStream s\n aclrtMemcpyAsync m m s",
        "aclrtStreamWaitEvent t e\n aclrtRecordEvent e s\n aclrtSynchronizeStream t",
    ] {
        breaks(&used(wait), "the work of 1001 may still use 1003");
    }
}

#[test]
fn memory_of_operators_is_memory_in_use() {
    let text = "aclrtMalloc = m
        aclnnInplaceReluGetWorkspaceSize m = executor
        aclnnInplaceRelu workspace executor s
        aclrtFree m";
    breaks(&with_end(text), "the work of 1001 may still use 1003");
    let twice = "aclrtMalloc = m
        aclnnInplaceReluGetWorkspaceSize m = executor
        aclnnInplaceRelu workspace executor s
        aclDestroyAclOpExecutor executor
        aclrtSynchronizeStream s
        aclrtFree m";
    breaks(&with_end(twice), "is destroyed again");
}

#[test]
fn a_graph_goes_before_what_it_uses_and_behind_its_work() {
    const BEGIN: &str = "aclrtMalloc = m
        aclmdlRICaptureBegin s
        aclrtMemsetAsync m s
        aclmdlRICaptureEnd s = g";
    let after = |text: &str| with_end(&format!("{BEGIN}\n{text}"));
    is_good(&after("aclmdlRIExecuteAsync g t\n aclrtSynchronizeStream t\n aclmdlRIDestroy g\n aclrtFree m"));
    breaks(&after("aclrtFree m\n aclmdlRIDestroy g"), "uses 1003 still");
    breaks(
        &after("aclmdlRIExecuteAsync g t\n aclmdlRIDestroy g\n aclrtSynchronizeStream t\n aclrtFree m"),
        "of 1002 may",
    );
}

#[test]
fn streams_that_a_graph_has_go_behind_it() {
    let text = "aclmdlRIBuildBegin = g
        aclrtCreateStream = own
        aclmdlRIBindStream g own
        aclmdlRIBuildEnd g
        aclrtDestroyStream own
        aclmdlRIDestroy g";
    breaks(&with_end(text), "has the stream still");
    let built = |text: &str| {
        with_end(&format!(
            "aclmdlRIBuildBegin = g
            aclrtCreateStream = own
            aclmdlRIBindStream g own
            aclrtMalloc = m
            aclrtMemsetAsync m own
            aclmdlRIBuildEnd g
            aclmdlRIExecuteAsync g s
            {text}"
        ))
    };
    const END: &str = "aclmdlRIUnbindStream g own\n aclmdlRIDestroy g\n aclrtDestroyStream own\n aclrtFree m";
    is_good(&built(&format!("aclrtSynchronizeStream s\n {END}")));
    let found = broken(&built(END));
    assert!(
        found.iter().any(|text| text.contains("aclmdlRIUnbindStream") && text.contains("may still use")),
        "{found:?}"
    );
    let early = "aclrtSynchronizeStream s\n aclrtFree m\n aclmdlRIUnbindStream g own\n aclmdlRIDestroy g
        aclrtDestroyStream own";
    breaks(&built(early), "uses 1005 still");
}

#[test]
fn nothing_is_destroyed_while_a_capture_has_it() {
    let end = "aclrtDestroyContext context
        aclrtResetDevice
        aclFinalize";
    let of = |text: &str| within(&format!("{text}\n{end}"));
    let own = "aclmdlRICaptureBegin s
        aclrtDestroyStream t
        aclrtDestroyStream s
        aclmdlRICaptureEnd s";
    let found = broken(&of(own)).join("\n");
    assert!(found.contains("destroyed while a capture has it"), "{found}");
    let side = "aclrtCreateEventExWithFlag = e
        aclmdlRICaptureBegin s
        aclrtRecordEvent e s
        aclrtStreamWaitEvent t e
        aclrtDestroyStream t
        aclmdlRICaptureEnd s
        aclrtDestroyEvent e
        aclrtDestroyStream s";
    breaks(&of(side), "1002 is destroyed while a capture has it");
    let memory = "aclrtMalloc = m
        aclmdlRICaptureBegin s
        aclrtMemsetAsync m s
        aclrtFree m
        aclmdlRICaptureEnd s
        aclrtDestroyStream s
        aclrtDestroyStream t";
    breaks(&of(memory), "1003 is destroyed while a capture has it");
}

#[test]
fn what_is_loaded_stays_while_work_or_a_graph_uses_it() {
    let load = "aclrtBinaryLoadFromFile = b\n aclrtBinaryGetFunction b = f\n aclrtLaunchKernelV2 f s\n";
    is_good(&with_end(&format!("{load} aclrtSynchronizeStream s\n aclrtBinaryUnLoad b")));
    breaks(&with_end(&format!("{load} aclrtBinaryUnLoad b")), "may still use");
    let model =
        "aclrtMalloc = w\n aclmdlLoadFromFileWithMem w = m\n aclmdlExecuteAsync m s\n aclrtSynchronizeStream s\n";
    is_good(&with_end(&format!("{model} aclmdlUnload m\n aclrtFree w")));
    breaks(&with_end(&format!("{model} aclrtFree w\n aclmdlUnload m")), "Loaded");
    let ranks = "HcclCommInitRootInfo = c\n HcclBarrier c s\n";
    is_good(&with_end(&format!("{ranks} aclrtSynchronizeStream s\n HcclCommDestroy c")));
    breaks(&with_end(&format!("{ranks} HcclCommDestroy c")), "may still use");
}

#[test]
fn addresses_are_given_back_behind_what_is_mapped_there_and_that_behind_the_work() {
    let map = "aclrtReserveMemAddress = v\n aclrtMallocPhysical = p\n aclrtMapMem v p\n aclrtFreePhysical p\n";
    is_good(&with_end(&format!("{map} aclrtUnmapMem v\n aclrtReleaseMemAddress v")));
    breaks(&with_end(&format!("{map} aclrtReleaseMemAddress v")), "is mapped still");
    breaks(
        &with_end(&format!("{map} aclrtUnmapMem v\n aclrtUnmapMem v\n aclrtReleaseMemAddress v")),
        "nothing is mapped",
    );
    let work = format!("{map} aclrtMemsetAsync v s\n");
    is_good(&with_end(&format!("{work} aclrtSynchronizeStream s\n aclrtUnmapMem v\n aclrtReleaseMemAddress v")));
    breaks(
        &with_end(&format!("{work} aclrtUnmapMem v\n aclrtSynchronizeStream s\n aclrtReleaseMemAddress v")),
        "may still",
    );
}

#[test]
fn an_import_is_closed_behind_the_work_that_uses_it() {
    let import = "aclrtIpcMemImportByKey = m\n aclrtMemsetAsync m s\n";
    is_good(&with_end(&format!("{import} aclrtSynchronizeStream s\n aclrtIpcMemClose m\n aclrtIpcMemClose")));
    breaks(&with_end(&format!("{import} aclrtIpcMemClose m")), "may still use");
}
