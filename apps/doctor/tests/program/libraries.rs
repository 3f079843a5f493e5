//! Libraries that are whole, lack functions, or misbehave.

use std::{fs, thread};

use racl::sys::{Library, Release, symbol_info};
use racl::{Requirement, sys};
use serde_json::{Value, json};

use crate::world::count;
use crate::{Doctor, feature, ids, problem, world};

/// Seconds after which something hangs. What does not hang is done before, also on a busy machine.
const LIMIT: u32 = 10;

fn limit() -> String {
    format!("--timeout={LIMIT}")
}

fn assert_devices_of_the_mock(report: &Value, devices: u64) {
    let found = report["devices"].as_array().unwrap();
    assert_eq!(found.len() as u64, devices);
    for (id, device) in found.iter().enumerate() {
        // What mock-acl/docs/deviations.md says of the card; a device that is open has its default stream.
        let want = json!({
            "id": id, "error": null, "memory_free": 64_u64 << 30, "memory_total": 64_u64 << 30,
            "cube_cores": 24, "vector_cores": 48, "l2_bytes": 192 << 20, "streams_left": 99, "events_left": 500,
        });
        assert_eq!(*device, want);
    }
    assert_eq!(report["runtime"]["devices"], devices);
    assert_eq!(report["runtime"]["soc"], "Ascend910B2");
    let (major, minor, patch) = (sys::ACL_MAJOR_VERSION, sys::ACL_MINOR_VERSION, sys::ACL_PATCH_VERSION);
    assert_eq!(report["runtime"]["interface"], format!("{major}.{minor}.{patch}"));
}

fn with_limits(doctor: Doctor, devices: u64) -> Doctor {
    doctor.env("MOCK_ACL_DEVICES", devices.to_string()).env("MOCK_ACL_STREAMS", "100").env("MOCK_ACL_EVENTS", "500")
}

#[test]
fn the_built_in_mock_has_everything() {
    let report = with_limits(Doctor::new().arg("--mock"), 2).json(0);
    assert_eq!(ids(&report), [""; 0]);
    assert_eq!((&report["schema"], &report["library"]["is_mock"]), (&json!(1), &json!(true)));
    assert_eq!(report["library"]["file"], Value::Null);
    assert!(problem(&report, "simulated").contains("mock-acl"));
    assert_devices_of_the_mock(&report, 2);
    for family in report["library"]["families"].as_array().unwrap() {
        assert_eq!(family["found"], family["functions"], "{family}");
    }
}

#[test]
fn a_file_to_send_has_the_text_and_the_same_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.txt");
    fs::write(&path, "an older one").unwrap();
    let shown = Doctor::new().arg("--mock").arg("--write").arg(&path).json(0);
    let written = fs::read_to_string(&path).unwrap();
    let (text, json) = written.split_once("\nThe same for programs\n").unwrap();
    assert_eq!(serde_json::from_str::<Value>(json).unwrap()["library"], shown["library"]);
    assert!(
        text.starts_with("racl-doctor ") && text.contains("\nThe process that looked at the library\n"),
        "{text}"
    );
    let process = shown["process"].as_str().unwrap();
    assert!(process.starts_with("racl\n") && process.contains("\ntasks that failed last\n  none\n"), "{process}");
    let refused = Doctor::new().arg("--mock").arg("--write").arg(folder.path().join("none/report.txt")).run();
    assert_eq!(refused.status.code(), Some(74), "{refused:?}");
    assert!(refused.stdout.starts_with(b"racl-doctor "), "the report is shown all the same: {refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("none/report.txt: "), "{refused:?}");
}

#[test]
fn a_toolkit_is_found_by_its_variable_and_described() {
    let root = &world().toolkit;
    let report = with_limits(Doctor::new().toolkit(root), 3).json(0);
    assert_eq!(ids(&report), [""; 0]);
    let file = root.join("lib64/libascendcl.so");
    let library = &report["library"];
    assert_eq!(library["file"], file.to_str().unwrap());
    assert_eq!(library["toolkit"], json!({ "folder": root, "version": "9.1.0" }));
    let newest = Release::Development.to_string();
    assert_eq!(library["release"], json!({ "oldest": newest, "newest": newest }));
    assert_eq!((&library["missing"], &library["newer"]), (&json!([]), &json!([])));
    assert_eq!((&library["is_mock"], &library["simulates"]), (&json!(false), &json!(true)));
    assert!(problem(&report, "simulated").contains("mock-acl"));
    let of =
        |name: &str| library["families"].as_array().unwrap().iter().find(|family| family["name"] == name).unwrap();
    for (name, family) in [("Runtime", Library::Runtime), ("Operators", Library::Operators)] {
        let functions = count(family);
        assert_eq!((&of(name)["functions"], &of(name)["found"]), (&json!(functions), &json!(functions)));
        assert_eq!(of(name)["files"][0]["path"], file.to_str().unwrap());
        assert_eq!(of(name)["sonames"], json!(family.sonames()));
    }
    assert_devices_of_the_mock(&report, 3);
    let place = &report["machine"]["toolkits"][0];
    assert_eq!((&place["variable"], &place["state"]), (&json!("ASCEND_TOOLKIT_HOME"), &json!("has-library")));
    assert_eq!((&place["folder"], &place["version"]), (&json!(root), &json!("9.1.0")));
}

#[test]
fn a_function_that_is_missing_is_named_with_the_feature_that_needs_it() {
    let report = Doctor::new().library(&world().without_cmo).json(1);
    let missing = report["library"]["missing"].as_array().unwrap();
    assert_eq!(missing.iter().map(|function| &function["name"]).collect::<Vec<_>>(), ["aclrtCmoAsync"]);
    assert_eq!(ids(&report), ["feature-missing"]);
    assert!(problem(&report, "feature-missing").contains("prefetch"));
    for part in Requirement::all() {
        let lacks = part.functions().contains(&"aclrtCmoAsync");
        assert_eq!(feature(&report, part.name())["available"], !lacks, "{}", part.name());
    }
    let text = Doctor::new().library(&world().without_cmo).arg("--verbose").run();
    assert!(String::from_utf8(text.stdout).unwrap().contains("needs aclrtCmoAsync"));
}

#[test]
fn an_old_library_is_recognised_and_its_features_follow_from_the_release() {
    let report = Doctor::new().library(&world().old).json(1);
    let (oldest, newest) = (Release::Cann8_1.to_string(), Release::Cann8_2.to_string());
    assert_eq!(report["library"]["release"], json!({ "oldest": oldest, "newest": newest }));
    for part in Requirement::all() {
        let of_runtime = part.functions().iter().filter_map(|name| symbol_info(name));
        let gone = |symbol: &sys::SymbolInfo| symbol.library == Library::Runtime && !symbol.is_in(Release::Cann8_1);
        let want: Vec<_> = of_runtime.filter(gone).map(|symbol| symbol.name).collect();
        let found = feature(&report, part.name());
        let missing: Vec<_> = found["missing"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
        assert_eq!(missing, want, "{}", part.name());
        assert_eq!(found["available"], want.is_empty(), "{}", part.name());
    }
    assert_eq!(feature(&report, "captured-graphs")["missing"], json!([]));
}

#[test]
fn what_is_no_library_is_refused_with_its_reason() {
    let doctor = Doctor::new();
    let text = doctor.home().join("text.so");
    fs::write(&text, "not a library\n").unwrap();
    let report = doctor.library(&text).json(2);
    assert_eq!(ids(&report), ["no-library"]);
    let said = problem(&report, "no-library");
    assert!(said.contains("text.so") && said.contains("it is no ELF file"), "{said}");
    assert_eq!(report["library"], Value::Null);
    for part in Requirement::all() {
        assert_eq!(feature(&report, part.name())["available"], Value::Null);
    }
}

#[test]
fn libraries_of_operators_that_do_not_open_are_told_with_the_reason() {
    let doctor = Doctor::new();
    let folder = doctor.home().join("broken");
    fs::create_dir_all(&folder).unwrap();
    let runtime = folder.join("libascendcl.so");
    fs::copy(world().runtime.join("lib64/libascendcl.so"), &runtime).unwrap();
    fs::write(folder.join("libnnopbase.so"), "not a library\n").unwrap();
    let reason = format!("{} does not open: it is no ELF file", folder.join("libnnopbase.so").display());
    let report = Doctor::new().library(&runtime).json(1);
    let families = report["library"]["families"].as_array().unwrap();
    let base = families.iter().find(|family| family["name"] == "OperatorBase").unwrap();
    assert_eq!((&base["found"], &base["not_opened"]), (&json!(0), &json!([reason])));
    let problems = report["problems"].as_array().unwrap().iter();
    let operators = problems.filter(|problem| problem["text"].as_str().unwrap().starts_with("operators: "));
    let advice: Vec<_> = operators.map(|problem| problem["advice"].as_str().unwrap()).collect();
    assert!(advice.len() == 1 && advice[0].starts_with("put right") && advice[0].ends_with(&reason), "{advice:?}");
    let text = String::from_utf8(Doctor::new().library(&runtime).arg("--verbose").run().stdout).unwrap();
    let line = text.lines().find(|line| line.contains("OperatorBase") && line.contains("functions:")).unwrap();
    assert!(line.ends_with(&reason), "{line}");
}

#[test]
fn one_bad_device_does_not_hide_the_others() {
    let report = Doctor::new().library(&world().faulty).env("FAULT", "devices").arg(limit()).json(1);
    assert_eq!(report["library"]["simulates"], false);
    let devices = report["devices"].as_array().unwrap();
    let says = |id: usize, want: &str| {
        let error = devices[id]["error"].as_str().unwrap();
        assert!(error.contains(want), "device {id}: {error}");
    };
    assert_eq!(devices.iter().map(|device| device["id"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    for id in [0, 4] {
        assert_eq!((&devices[id]["error"], &devices[id]["memory_total"]), (&Value::Null, &json!(1 << 21)));
    }
    says(1, "507033");
    says(2, &format!("no answer in {LIMIT} s"));
    says(3, "signal 6");
    assert_eq!(ids(&report).iter().filter(|id| **id == "device-failed").count(), 3);
}

#[test]
fn after_four_devices_that_crash_the_others_are_left_alone() {
    let report = Doctor::new().library(&world().faulty).env("FAULT", "crashing-devices").json(1);
    let devices = report["devices"].as_array().unwrap();
    let failed: Vec<_> = devices.iter().map(|device| !device["error"].is_null()).collect();
    assert_eq!(failed, [false, true, true, true, true]);
    assert!(problem(&report, "devices-skipped").contains("from 5 on"), "{report:#}");
}

#[test]
fn a_library_that_hangs_crashes_or_exits_is_reported() {
    let faults = [
        ("load-hangs", "library-hung", "loading the library: no answer", 2),
        ("load-crashes", "library-crashed", "loading the library: the process was ended by signal 6", 2),
        ("init-hangs", "library-hung", "initialising the library: no answer", 2),
        ("init-exits", "library-crashed", "initialising the library: the library ended the process with code 3", 2),
        ("init-fails", "not-initialised", "500000", 2),
        ("none", "no-devices", "no device", 2),
        ("all-fail", "device-failed", "507033", 2),
        ("end-crashes", "library-crashed", "ending the library: the process was ended by signal 11", 1),
    ];
    // At once, so that the limit is waited for only once.
    thread::scope(|scope| {
        for (fault, id, want, code) in faults {
            scope.spawn(move || {
                let report = Doctor::new().library(&world().faulty).env("FAULT", fault).arg(limit()).json(code);
                let said = problem(&report, id);
                assert!(said.contains(want), "{fault}: {said}");
            });
        }
    });
}

#[test]
fn what_the_library_writes_is_no_message() {
    let report = Doctor::new().library(&world().faulty).env("FAULT", "writes").json(1);
    assert_eq!(report["devices"][0]["error"], Value::Null, "{report:#}");
    let written = report["library_output"].as_str().unwrap();
    assert!(written.contains("loud library") && written.contains("a line on standard error"));
    assert!(written.len() < 1 << 18, "{}", written.len());
}

#[test]
fn the_report_says_what_racl_was_built_from() {
    let build = &racl::BUILD;
    let racl = Doctor::new().arg("--mock").json(0)["racl"].take();
    let want = json!({
        "version": build.version, "commit": build.commit, "features": build.features, "headers": build.headers,
        "toolkit": build.toolkit, "text": build.to_string(),
    });
    assert_eq!(racl, want);
    let text = String::from_utf8(Doctor::new().arg("--mock").run().stdout).unwrap();
    assert_eq!(text.lines().nth(1), Some(build.to_string().as_str()));
}
