//! Lines of the library's own logs in errors of work that failed and in reports, in processes of their own: the
//! environment says where the logs are.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{assert_says, mock};
use racl::collective::{Communicator, RootInfo};
use racl::{Acl, Context, Error, ErrorKind, Event, Stream};

/// Set in the processes that the tests start: the folder of the test.
const CHILD: &str = "RACL_TEST_LOGGED";
const DEVICE_FAULT: i32 = 507_015;

/// Runs `test` in a process that has these variables, each with a path below a folder, and nothing else that says where
/// the library logs.
fn child(name: &str, variables: &[(&str, &str)], test: impl FnOnce(&Path)) {
    common::needs_mock("its work fails when it is told to");
    if let Some(folder) = std::env::var_os(CHILD) {
        return test(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(CHILD, folder.path());
    for name in ["ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH", "RACL_ERROR_LOGS"] {
        child.env_remove(name);
    }
    child.env("HOME", folder.path().join("home"));
    for (name, value) in variables {
        let path = folder.path().join(value);
        child.env(name, if name.ends_with("PATH") { path.as_os_str() } else { value.as_ref() });
    }
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Adds to what the host, or a device, logged in this process.
fn log(root: &Path, part: &str, lines: &str) {
    let folder = root.join("debug").join(part);
    fs::create_dir_all(&folder).unwrap();
    let whose = part.split('-').next().unwrap();
    let file = folder.join(format!("{whose}-{}_20260101000000000.log", std::process::id()));
    let before = fs::read_to_string(&file).unwrap_or_default();
    fs::write(file, before + lines).unwrap();
}

fn device(id: i32) -> Context {
    mock::reset().unwrap();
    Acl::mock().unwrap().device(id).unwrap().context().clone()
}

/// What a wait says of work that fails.
fn failure(stream: &Stream, wait: impl FnOnce() -> racl::Result<()>) -> Error {
    let mut buffer = stream.context().alloc_zeroed::<u8>(8).unwrap();
    mock::fail_task("aclrtMemsetAsync", 1, DEVICE_FAULT).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    let error = wait().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DeviceFault);
    error
}

#[test]
fn an_error_of_failed_work_has_what_was_logged_of_it() {
    let name = "an_error_of_failed_work_has_what_was_logged_of_it";
    child(name, &[("ASCEND_PROCESS_LOG_PATH", "logs")], |folder| {
        let root = folder.join("logs");
        let context = device(0);
        let stream = context.stream().unwrap();
        assert!(failure(&stream, || stream.synchronize()).log_lines().is_empty(), "nothing is logged");
        log(&root, "plog", "[INFO] RUNTIME: fine\n[ERROR] RUNTIME: vector core exception\n");
        log(&root, "device-0", "[ERROR] AICPU: address 0x1200\n");
        log(&root, "device-1", "[ERROR] AICPU: of another device\n");
        let error = failure(&stream, || stream.synchronize());
        let want = ["host: [ERROR] RUNTIME: vector core exception", "device 0: [ERROR] AICPU: address 0x1200"];
        assert_eq!(error.log_lines(), want);
        assert!(!error.to_string().contains("vector core"), "{error}");
        for whole in [format!("{error:#}"), format!("{error:?}")] {
            assert!(whole.contains("\n  in the log of the host: [ERROR] RUNTIME: vector core exception"), "{whole}");
            assert!(whole.contains("\n  in the log of the device 0: [ERROR] AICPU: address 0x1200"), "{whole}");
        }
        // What was told is not told again, whatever is waited for.
        log(&root, "plog", "[ERROR] RUNTIME: again\n");
        let event = context.event().unwrap();
        let again = failure(&stream, || {
            event.record(&stream)?;
            event.synchronize()
        });
        assert_eq!(again.log_lines(), ["host: [ERROR] RUNTIME: again"]);
        let _ = stream.synchronize();
        log(&root, "plog", "[ERROR] RUNTIME: the device\n");
        let whole = failure(&stream, || context.synchronize());
        assert_eq!(whole.log_lines(), ["host: [ERROR] RUNTIME: the device"]);
    });
}

/// Whoever is told first, and whether or not something was logged meanwhile.
#[test]
fn all_waits_that_are_told_of_one_failure_have_the_same_lines() {
    let name = "all_waits_that_are_told_of_one_failure_have_the_same_lines";
    child(name, &[("ASCEND_PROCESS_LOG_PATH", "logs")], |folder| {
        let root = folder.join("logs");
        let context = device(0);
        let streams = [(); 3].map(|()| context.stream().unwrap());
        let mut buffer = context.alloc_zeroed::<u8>(8).unwrap();
        mock::fail_task("aclrtMemsetAsync", 1, DEVICE_FAULT).unwrap();
        streams[0].fill_bytes(&mut buffer, 1).unwrap();
        streams[0].fork(&streams[1]).unwrap();
        streams[0].fork(&streams[2]).unwrap();
        mock::run_until_idle();
        log(&root, "plog", "[ERROR] RUNTIME: vector core exception\n");
        let behind = [1, 2].map(|at: usize| streams[at].synchronize().unwrap_err());
        log(&root, "plog", "[ERROR] RUNTIME: more of it\n");
        let own = streams[0].synchronize().unwrap_err();
        let first = "host: [ERROR] RUNTIME: vector core exception";
        behind.iter().for_each(|error| assert_eq!(error.log_lines(), [first], "{error}"));
        assert_eq!(own.log_lines(), [first, "host: [ERROR] RUNTIME: more of it"]);
    });
}

#[test]
fn who_is_reminded_of_a_failure_has_the_lines_that_were_read_then() {
    let name = "who_is_reminded_of_a_failure_has_the_lines_that_were_read_then";
    child(name, &[("ASCEND_PROCESS_LOG_PATH", "logs")], |folder| {
        let root = folder.join("logs");
        let context = device(0);
        let executor = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let waits: [fn(&Stream, &Event) -> racl::Result<()>; 3] = [
            |stream, _| stream.synchronize(),
            |_, event| event.synchronize(),
            |stream, _| stream.context().synchronize(),
        ];
        for (turn, wait) in waits.into_iter().enumerate() {
            let (stream, event) = (context.stream().unwrap(), context.event().unwrap());
            mock::hold(&stream).unwrap();
            let mut awaited = None;
            let (line, later) = (format!("[ERROR] RUNTIME: turn {turn}\n"), "[ERROR] RUNTIME: later\n");
            let told = failure(&stream, || {
                event.record(&stream)?;
                awaited = Some(stream.finished());
                log(&root, "plog", &line);
                mock::release(&stream)?;
                wait(&stream, &event)
            });
            assert_eq!(told.log_lines(), [format!("host: {}", line.trim_end())]);
            log(&root, "plog", later);
            let again = event.is_complete().unwrap_err();
            assert_eq!((again.code(), again.log_lines()), (None, told.log_lines()), "{turn}");
            let again = executor.block_on(awaited.unwrap()).unwrap_err();
            assert_eq!((again.code(), again.log_lines()), (None, told.log_lines()), "{turn}");
            // What came later is for the next failure.
            let next = failure(&stream, || stream.synchronize());
            assert_eq!(next.log_lines(), [format!("host: {}", later.trim_end())]);
        }
    });
}

#[test]
fn a_communicator_that_is_broken_has_what_was_logged_of_it() {
    let name = "a_communicator_that_is_broken_has_what_was_logged_of_it";
    child(name, &[("ASCEND_PROCESS_LOG_PATH", "logs")], |folder| {
        let (root, context) = (folder.join("logs"), device(0));
        let new = || Communicator::new(&context, &RootInfo::new(&context).unwrap(), 0, 1).unwrap();
        log(&root, "plog", "[ERROR] HCCL: a link is down\n");
        let fails = || mock::fail("HcclCommDestroy", 1, 4).unwrap();
        let ranks = new();
        fails();
        let refused = ranks.close().unwrap_err();
        assert_eq!(refused.error().log_lines(), ["host: [ERROR] HCCL: a link is down"]);
        refused.into_value().close().unwrap();
        log(&root, "device-0", "[ERROR] HCCL: no answer\n");
        let ranks = new();
        fails();
        drop(ranks);
        let told = context.take_drop_errors();
        assert_eq!(told.iter().map(Error::log_lines).collect::<Vec<_>>(), [["device 0: [ERROR] HCCL: no answer"]]);
    });
}

#[test]
fn errors_of_calls_have_no_lines_of_the_log() {
    child("errors_of_calls_have_no_lines_of_the_log", &[("ASCEND_PROCESS_LOG_PATH", "logs")], |folder| {
        let context = device(0);
        let stream = context.stream().unwrap();
        log(&folder.join("logs"), "plog", "[ERROR] RUNTIME: something else\n");
        let refused = context.acl().device(99).unwrap_err();
        assert_says(&refused, ErrorKind::InvalidDevice, &["99"]);
        assert!(refused.log_lines().is_empty());
        mock::hold(&stream).unwrap();
        let mut buffer = context.alloc_zeroed::<u8>(8).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        let late = stream.synchronize_timeout(std::time::Duration::from_millis(1)).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::Timeout);
        assert!(late.log_lines().is_empty());
        mock::release(&stream).unwrap();
        stream.synchronize().unwrap();
        // They are there for the first failure.
        assert_eq!(failure(&stream, || stream.synchronize()).log_lines().len(), 1);
    });
}

#[test]
fn each_device_has_its_own_log() {
    let variables = [("ASCEND_PROCESS_LOG_PATH", "logs"), ("MOCK_ACL_DEVICES", "2")];
    child("each_device_has_its_own_log", &variables, |folder| {
        let context = device(1);
        let stream = context.stream().unwrap();
        for device in [0, 1] {
            log(&folder.join("logs"), &format!("device-{device}"), &format!("[ERROR] of {device}\n"));
        }
        let error = failure(&stream, || stream.synchronize());
        assert_eq!(error.log_lines(), ["device 1: [ERROR] of 1"]);
    });
}

#[test]
fn a_program_turns_the_lines_off() {
    child("a_program_turns_the_lines_off", &[("ASCEND_PROCESS_LOG_PATH", "logs")], |folder| {
        let context = device(0);
        let stream = context.stream().unwrap();
        log(&folder.join("logs"), "plog", "[ERROR] one\n");
        racl::set_error_logs(false);
        assert!(failure(&stream, || stream.synchronize()).log_lines().is_empty());
        racl::set_error_logs(true);
        assert_eq!(failure(&stream, || stream.synchronize()).log_lines(), ["host: [ERROR] one"]);
    });
}

#[test]
fn the_environment_turns_the_lines_off() {
    let variables = [("ASCEND_PROCESS_LOG_PATH", "logs"), ("RACL_ERROR_LOGS", "0")];
    child("the_environment_turns_the_lines_off", &variables, |folder| {
        let context = device(0);
        let stream = context.stream().unwrap();
        log(&folder.join("logs"), "plog", "[ERROR] one\n");
        assert!(failure(&stream, || stream.synchronize()).log_lines().is_empty());
        assert!(context.acl().report().to_string().contains("[ERROR] one"), "a report is asked for");
    });
}

#[test]
fn the_folder_of_work_files_is_that_of_the_logs_where_no_other_is_named() {
    let name = "the_folder_of_work_files_is_that_of_the_logs_where_no_other_is_named";
    child(name, &[("ASCEND_WORK_PATH", "work")], |folder| {
        let root = folder.join("work/log");
        let context = device(0);
        let stream = context.stream().unwrap();
        log(&root, "plog", "[ERROR] of the host\n");
        log(&root, "device-0", "[INFO] of the device\n");
        let error = failure(&stream, || stream.synchronize());
        assert_eq!(error.log_lines(), ["host: [ERROR] of the host"]);
        let report = context.acl().report().to_string();
        let log = report.split("the library's log\n").nth(1).unwrap();
        let lines: Vec<_> = log.lines().map(str::trim).collect();
        assert!(lines[0].starts_with(root.join("debug/plog/plog-").to_str().unwrap()), "{lines:?}");
        assert!(lines[2].starts_with(root.join("debug/device-0/device-").to_str().unwrap()), "{lines:?}");
        assert_eq!([lines[1], lines[3]], ["[ERROR] of the host", "[INFO] of the device"]);
    });
}
