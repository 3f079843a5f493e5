//! Processes that end, or begin, in the middle of everything. Each is this program again, told what to do.

use std::process::Command;
use std::sync::OnceLock;
use std::{env, thread};

use crate::common::mock;
use racl::{Acl, CaptureMode, Device, Stream, Tensor, op};

use crate::arena::Gate;

const WHAT: &str = "RACL_ATTACK";

/// Runs `what` in a process of its own; gives its code, none for a signal, and what it printed.
fn child(what: &str, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    crate::common::needs_mock("a process that it starts controls the mock");
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "processes::what_a_child_does", "--nocapture"]).env(WHAT, what);
    let out = command.envs(variables.iter().copied()).output().unwrap();
    let text = [out.stdout, out.stderr].concat();
    (out.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[track_caller]
pub(crate) fn ends_well(what: &str, variables: &[(&str, &str)]) -> String {
    let (code, text) = child(what, variables);
    assert_eq!(code, Some(0), "{what}: {text}");
    text
}

static KEPT: OnceLock<(Device, Stream, Tensor<f32>)> = OnceLock::new();

fn busy() -> (Device, Stream, Tensor<f32>) {
    let device = crate::common::device();
    let stream = device.stream().unwrap();
    let mut out = device.zeros::<f32>([4]).unwrap();
    op::fill(&stream, &mut out, 1.0).unwrap();
    (device, stream, out)
}

#[test]
fn what_a_child_does() {
    match env::var(WHAT).as_deref() {
        Ok("statics") => drop(KEPT.set(busy())),
        Ok("exit") => {
            let _busy = busy();
            std::process::exit(0);
        }
        Ok("exit held") => {
            let (_device, stream, _out) = busy();
            let _gate = Gate::before(&stream);
            std::process::exit(0);
        }
        Ok("exit in a host function") => {
            let (_device, stream, _out) = busy();
            stream.host_function(|| std::process::exit(0)).unwrap();
            stream.synchronize().unwrap();
            unreachable!("the process ended before");
        }
        Ok("exit capturing") => {
            let (_device, stream, _out) = busy();
            let _capture = stream.begin_capture(CaptureMode::Global).unwrap();
            std::process::exit(0);
        }
        Ok("exit beside threads") => {
            for _ in 0..4 {
                thread::spawn(|| {
                    loop {
                        drop(busy());
                    }
                });
            }
            for _ in 0..100 {
                drop(busy());
            }
            std::process::exit(0);
        }
        Ok("init") => match Acl::init() {
            // Nothing is as if it were not set: the library that the program is bound to, where it is.
            Ok(acl) => assert!(!acl.library().is_empty() && !acl.soc_name().unwrap().is_empty()),
            Err(error) => assert!(!error.to_string().is_empty() && error.to_string().lines().count() == 1, "{error}"),
        },
        Ok("run") => {
            let (_device, _stream, out) = busy();
            assert_eq!(out.to_vec().unwrap(), [1.0; 4]);
        }
        Ok("races") => crate::races::child(),
        Ok("reset") => {
            let left = busy();
            assert!(mock::reset().is_ok());
            let (device, stream, out) = left;
            assert!(stream.synchronize().is_err() && out.to_vec().is_err());
            drop((out, stream, device));
            let (_device, _stream, out) = busy();
            assert_eq!(out.to_vec().unwrap(), [1.0; 4]);
        }
        Ok(other) => panic!("{other}?"),
        Err(_) => {}
    }
}

#[test]
fn with_a_device_in_a_static() {
    ends_well("statics", &[]);
}

#[test]
fn by_exit_with_work_queued() {
    ends_well("exit", &[]);
}

#[test]
fn by_exit_with_work_held() {
    ends_well("exit held", &[]);
}

#[test]
fn by_exit_in_a_host_function() {
    ends_well("exit in a host function", &[]);
}

#[test]
fn by_exit_in_a_capture() {
    ends_well("exit capturing", &[]);
}

#[test]
fn by_exit_beside_busy_threads() {
    ends_well("exit beside threads", &[]);
}

#[test]
fn with_libraries_that_are_none() {
    let own = env::current_exe().unwrap();
    let libraries = [
        "",
        " ",
        "/",
        "/dev/null",
        "/etc/passwd",
        "/nonexistent",
        "libm.so.6",
        "mock ",
        "MOCK",
        own.to_str().unwrap(),
    ];
    for library in libraries {
        ends_well("init", &[("RACL_LIBRARY", library)]);
    }
}

#[test]
fn with_settings_that_are_nonsense() {
    for value in ["", "-1", "abc", "99999999999999999999999", "0", "1e3", " 5", "\u{fffd}"] {
        let names = ["RACL_OPERATOR_CACHE", "RACL_CACHE_DIR", "RACL_CACHE_VERIFY", "WORLD_SIZE", "RANK"];
        let variables: Vec<_> = names.iter().map(|name| (*name, value)).collect();
        ends_well("run", &variables);
    }
}

#[test]
fn with_nonsense_for_the_mock_and_the_allocator() {
    let names = [
        "RACL_ALLOCATOR",
        "RACL_VERIFY_CONTEXT",
        "MOCK_ACL_RACES",
        "MOCK_ACL_WORKERS",
        "MOCK_ACL_COPIES_WAIT",
        "MOCK_ACL_STREAMS",
        "MOCK_ACL_GRAPH_STREAMS",
        "MOCK_ACL_EVENTS",
        "MOCK_ACL_DEVICES",
        "MOCK_ACL_IPC_EVENTS",
        "MOCK_ACL_SOC",
        "MOCK_ACL_ISA",
        "MOCK_ACL_STRICT",
    ];
    for value in ["", "-1", "garbage", "99999999999999999999999", "0x", "REPORT", " fail", "1e3", "\u{fffd}%s%n"] {
        let variables: Vec<_> = names.iter().map(|name| (*name, value)).collect();
        let text = ends_well("run", &variables);
        let about: Vec<_> = text.lines().filter(|line| line.contains("mock-acl:")).collect();
        assert!(value.is_empty() || about.iter().any(|line| line.contains("MOCK_ACL_RACES")), "{value:?}: {text}");
        assert!(!text.contains("race 1"), "{value:?}: {text}");
    }
}

#[test]
fn under_which_the_library_is_begun_anew() {
    ends_well("reset", &[]);
}
