//! Work that fails on the device, after the call that queued it.

use crate::common::mock;
use racl::ErrorKind;

use crate::injected::{calls, leaks};
use crate::parts::in_parts;
use crate::{Outcome, Watch, collect_log, nothing, run};

const DEVICE_FAULT: i32 = 507_015;
const DEVICE_LOST: i32 = 507_053;
const FAILURES: [(i32, ErrorKind); 2] =
    [(DEVICE_FAULT, ErrorKind::DeviceFault), (DEVICE_LOST, ErrorKind::DeviceLost)];

/// Calls that queue work which can fail.
fn queues_work(name: &str) -> bool {
    let operator = name.starts_with("aclnn") && !name.ends_with("GetWorkspaceSize");
    let others =
        ["aclrtMemcpyAsync", "aclrtMemsetAsync", "aclrtCmoAsync", "aclrtLaunchHostFunc", "aclmdlRIExecuteAsync"];
    operator || others.contains(&name) || name.starts_with("aclrtLaunchKernel")
}

/// Polls; a worker thread of the mock may have the task in hand.
fn until(done: impl Fn() -> racl::Result<bool>) {
    while !done().unwrap() {
        mock::run_until_idle();
        std::thread::yield_now();
    }
}

/// The library's query tells that work is done and not how it ended; what asks here is told both, whoever was told
/// before.
#[test]
fn a_query_reports_work_that_failed() {
    let _alone = mock::exclusive();
    nothing();
    let device = racl::Acl::mock().unwrap().device(0).unwrap();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc_zeroed::<u8>(8).unwrap();
    let event = device.event().unwrap();
    let fail = |buffer: &mut racl::DeviceBuffer<u8>| {
        mock::fail_task("aclrtMemsetAsync", 1, DEVICE_FAULT).unwrap();
        stream.fill_bytes(buffer, 1).unwrap();
        event.record(&stream).unwrap();
    };
    fail(&mut buffer);
    let all_say = |kind| {
        for told in [stream.is_complete(), event.is_complete(), stream.clone().is_complete(), event.is_complete()] {
            assert_eq!(told.unwrap_err().kind(), kind);
        }
    };
    assert_eq!(until_told(|| stream.is_complete()), ErrorKind::DeviceFault);
    all_say(ErrorKind::DeviceFault);
    assert_eq!(buffer.to_vec().unwrap(), [0; 8]);
    fail(&mut buffer);
    assert_eq!(until_told(|| event.is_complete()), ErrorKind::DeviceFault);
    all_say(ErrorKind::DeviceFault);
    stream.synchronize().unwrap();
    all_say(ErrorKind::DeviceFault);
    // What is given it afterwards is no part of what failed.
    stream.fill_bytes(&mut buffer, 3).unwrap();
    event.record(&stream).unwrap();
    until(|| stream.is_complete());
    until(|| event.is_complete());
    fail(&mut buffer);
    assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::DeviceFault);
    all_say(ErrorKind::DeviceFault);
    fail(&mut buffer);
    assert_eq!(device.context().synchronize().unwrap_err().kind(), ErrorKind::DeviceFault);
    all_say(ErrorKind::DeviceFault);
    stream.synchronize().unwrap();
    mock::fail_task("aclrtMemsetAsync", 1, DEVICE_FAULT).unwrap();
    let mut graph = stream.capture(racl::CaptureMode::Relaxed, |s| s.fill_bytes(&mut buffer, 2)).unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(until_told(|| stream.is_complete()), ErrorKind::DeviceFault);
    graph.wait().unwrap();
    mock::fail_task("aclrtMemcpyAsync", 1, DEVICE_FAULT).unwrap();
    let lent = stream.download(&buffer, device.pinned(8).unwrap()).unwrap();
    assert_eq!(until_told(|| lent.is_complete()), ErrorKind::DeviceFault);
    stream.host_function(|| panic!("on purpose")).unwrap();
    assert_eq!(until_told(|| stream.is_complete()), ErrorKind::CallbackPanicked);
    assert_eq!(stream.is_complete().unwrap_err().kind(), ErrorKind::CallbackPanicked);
}

/// The runtime forbids to ask there, and takes it.
#[test]
fn a_query_inside_a_host_function_tells_how_work_ended() {
    let _alone = mock::exclusive();
    nothing();
    let device = racl::Acl::mock().unwrap().device(0).unwrap();
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let event = std::sync::Arc::new(device.event().unwrap());
    let mut buffer = device.alloc_zeroed::<u8>(8).unwrap();
    for (of_event, of_graph, fails) in (0..8).map(|way| (way & 1 != 0, way & 2 != 0, way & 4 != 0)) {
        if fails {
            mock::fail_task("aclrtMemsetAsync", 1, DEVICE_FAULT).unwrap();
        }
        stream.fill_bytes(&mut buffer, 1).unwrap();
        event.record(&stream).unwrap();
        mock::run_until_idle();
        let (stream_there, event_there) = (stream.clone(), std::sync::Arc::clone(&event));
        let (send, told) = std::sync::mpsc::channel();
        let asked = move || {
            let ask = || if of_event { event_there.is_complete() } else { stream_there.is_complete() };
            let answer = loop {
                match ask() {
                    Ok(false) => std::thread::yield_now(),
                    answer => break answer,
                }
            };
            send.send(answer.map_err(|error| error.kind())).unwrap();
        };
        if of_graph {
            let mut graph = other.capture(racl::CaptureMode::Relaxed, |s| s.host_function(asked)).unwrap();
            graph.launch(&other).unwrap();
            other.synchronize().unwrap();
        } else {
            other.host_function(asked).unwrap();
            other.synchronize().unwrap();
        }
        let expected = if fails { Err(ErrorKind::DeviceFault) } else { Ok(true) };
        assert_eq!(told.recv().unwrap(), expected, "of an event: {of_event}, of a graph: {of_graph}");
        // It was told to who asked.
        assert_eq!(stream.is_complete().map_err(|error| error.kind()), expected);
        stream.synchronize().unwrap();
    }
}

/// What polls until it is told that work failed is told.
fn until_told(done: impl Fn() -> racl::Result<bool>) -> ErrorKind {
    loop {
        match done() {
            Ok(true) => panic!("the work is done, says a query, and it failed"),
            Ok(false) => {
                mock::run_until_idle();
                std::thread::yield_now();
            }
            Err(error) => return error.kind(),
        }
    }
}

/// Asking for memory finds work done without telling how it ended, so that is told later.
#[test]
fn work_that_was_found_done_is_still_reported_when_it_failed() {
    let _alone = mock::exclusive();
    nothing();
    let device = racl::Acl::mock().unwrap().device(0).unwrap();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc_zeroed::<u8>(8).unwrap();
    let mut fail = || {
        mock::fail_task("aclrtMemsetAsync", 1, DEVICE_FAULT).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        let before = mock::live_handles().device_allocations;
        let mut waits = device.alloc::<u8>(8).unwrap();
        stream.copy(&buffer, &mut waits).unwrap();
        drop(waits);
        while mock::live_handles().device_allocations > before {
            mock::run_until_idle();
            drop(device.alloc::<u8>(8).unwrap());
        }
    };
    fail();
    assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::DeviceFault);
    stream.synchronize().unwrap();
    fail();
    drop(stream);
    let told = device.context().take_drop_errors();
    assert!(told.iter().any(|error| error.kind() == ErrorKind::DeviceFault), "{told:?}");
}

/// The work is done, so the content can be had; a capturing stream cannot be waited for.
#[test]
fn memory_that_a_query_found_idle_is_read_while_its_stream_captures() {
    let _alone = mock::exclusive();
    nothing();
    let device = racl::Acl::mock().unwrap().device(0).unwrap();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc_zeroed::<u8>(8).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    until(|| stream.is_complete());
    let capture = stream.begin_capture(racl::CaptureMode::Relaxed).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [1; 8]);
    capture.finish().unwrap();
}

#[test]
fn work_that_fails_is_reported_by_a_call_that_waits_and_leaks_nothing() {
    in_parts("tasks::work_that_fails_is_reported_by_a_call_that_waits_and_leaks_nothing", |part| {
        collect_log();
        let watch = Watch::start();
        let clean = nothing();
        let mut problems = Vec::new();
        for (&name, &count) in calls(&watch).iter().filter(|(name, _)| queues_work(name)) {
            // Two of them update a graph: that replaces a kernel and queues none.
            let count = count - if name == "aclnnMuls" { 2 } else { 0 };
            for nth in 1..=count {
                for (code, kind) in FAILURES.into_iter().filter(|(code, _)| part.takes((name, nth, *code))) {
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
    });
}

fn judge(code: i32, kind: ErrorKind, outcome: &Outcome) -> Option<String> {
    let errors = outcome.result.as_ref().err().into_iter().chain(&outcome.drop_errors);
    let Some(error) = errors.into_iter().find(|error| error.code() == Some(code)) else {
        return Some(format!("nobody was told: {}", outcome.text()));
    };
    let waits = error.call().is_some_and(|call| call.starts_with("aclrtSynchronize"));
    (error.kind() != kind || !waits).then(|| format!("reported as {:?}: {error}", error.kind()))
}
