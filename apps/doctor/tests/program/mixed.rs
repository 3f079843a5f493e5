//! A runtime of one toolkit with operators of another.

use std::sync::Mutex;

use racl::{Acl, op};
use serde_json::json;

use crate::{Doctor, ids, problem, world};

#[test]
fn operators_of_another_toolkit_are_named_with_both_versions() {
    let world = world();
    let file = world.runtime.join("lib64/libascendcl.so");
    let report = Doctor::new().library(&file).toolkit(&world.operators).json(1);
    let said = problem(&report, "mixed-toolkits");
    for part in ["8.1.RC1", "8.2.RC1", world.runtime.to_str().unwrap(), world.operators.to_str().unwrap()] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    assert_eq!(report["library"]["toolkit"], json!({ "folder": world.runtime, "version": "8.1.RC1" }));
    assert!(problem(&report, "other-toolkit").contains("ASCEND_TOOLKIT_HOME"));
    assert!(!ids(&report).contains(&"feature-missing"), "{report:#}");
}

#[test]
fn without_operators_the_runtime_alone_is_usable() {
    let report = Doctor::new().toolkit(&world().runtime).json(1);
    assert!(ids(&report).iter().all(|id| *id == "feature-missing"), "{report:#}");
    assert_eq!(crate::feature(&report, "operators")["available"], false);
    assert_eq!(crate::feature(&report, "memory")["available"], true);
    assert_eq!(report["library"]["mixed"], json!(null));
}

struct Log(Mutex<Vec<String>>);

impl log::Log for Log {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        if record.level() <= log::Level::Warn {
            self.0.lock().unwrap().push(record.args().to_string());
        }
    }

    fn flush(&self) {}
}

static LOG: Log = Log(Mutex::new(Vec::new()));

/// Set in the process that the test below starts: the operators' folder is in the environment there.
const CHILD: &str = "RACL_TEST_CHILD";

#[test]
fn a_child_uses_operators_twice() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    log::set_logger(&LOG).unwrap();
    log::set_max_level(log::LevelFilter::Warn);
    let acl = Acl::init().unwrap();
    let device = acl.device(0).unwrap();
    let stream = device.stream().unwrap();
    let a = device.upload_tensor(&[1.0_f32, 2.0], [2]).unwrap();
    let mut sum = device.zeros([2]).unwrap();
    let warnings = || LOG.0.lock().unwrap().clone();
    assert_eq!(warnings(), [""; 0], "before an operator");
    for _ in 0..2 {
        // Two simulations of a device in one process do not know each other's memory.
        let _ = op::add(&stream, &a, &a, &mut sum);
    }
    let warnings = warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("8.1.RC1") && warnings[0].contains("8.2.RC1"), "{warnings:?}");
}

#[test]
fn the_first_operator_warns_once() {
    let world = world();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "mixed::a_child_uses_operators_twice", "--test-threads=1"]).env(CHILD, "1");
    child.env("RACL_LIBRARY", world.runtime.join("lib64/libascendcl.so")).env_remove("LD_LIBRARY_PATH");
    let output = child.env("ASCEND_TOOLKIT_HOME", &world.operators).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
