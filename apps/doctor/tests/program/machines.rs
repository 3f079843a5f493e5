//! Odd machines: folders, files and variables that are not as they should be.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::{Doctor, ids, problem, world};

/// A toolkit in `root` with links to the whole one's library.
fn toolkit(root: &Path) {
    fs::create_dir_all(root.join("lib64")).unwrap();
    for name in ["libascendcl.so", "libnnopbase.so", "libopapi.so"] {
        symlink(world().toolkit.join("lib64").join(name), root.join("lib64").join(name)).unwrap();
    }
}

#[test]
fn with_nothing_installed_every_place_is_named() {
    let doctor = Doctor::new();
    let home = doctor.home().join("Ascend/ascend-toolkit/latest");
    let report = doctor.json(2);
    assert_eq!(ids(&report), ["no-library"]);
    assert!(problem(&report, "no-library").contains(home.to_str().unwrap()));
    let places = report["machine"]["toolkits"].as_array().unwrap();
    let want = json!([[home, "HOME"], ["/usr/local/Ascend/ascend-toolkit/latest", null]]);
    let found: Vec<_> = places.iter().map(|place| json!([place["folder"], place["variable"]])).collect();
    assert_eq!(json!(found), want);
    assert_eq!((&report["devices"], &report["runtime"]), (&json!([]), &Value::Null));
}

#[test]
fn without_a_home_it_works() {
    let report = Doctor::new().without("HOME").toolkit(&world().toolkit).json(0);
    assert!(problem(&report, "variable").contains("HOME"));
    assert_eq!(report["machine"]["toolkits"].as_array().unwrap().len(), 2);
}

#[test]
fn a_toolkit_without_its_runtime_is_incomplete() {
    let doctor = Doctor::new();
    let root = doctor.home().join("kit");
    toolkit(&root);
    fs::remove_file(root.join("lib64/libascendcl.so")).unwrap();
    let link = root.join("lib64/libnnopbase.so");
    fs::remove_file(&link).unwrap();
    symlink("gone.so", &link).unwrap();
    let report = doctor.toolkit(&root).json(2);
    assert_eq!(report["machine"]["toolkits"][0]["state"], "no-library");
    assert_eq!(report["machine"]["toolkits"][0]["dangling"], json!([link]));
    assert_eq!(ids(&report), ["no-library", "toolkit-incomplete", "toolkit-incomplete"]);
}

#[test]
fn a_variable_that_leads_nowhere_is_named_though_another_one_works() {
    let report = Doctor::new().toolkit(Path::new("/nonexistent")).env("ASCEND_HOME_PATH", &world().toolkit).json(1);
    assert_eq!(ids(&report), ["toolkit-folder"]);
    assert!(problem(&report, "toolkit-folder").contains("ASCEND_TOOLKIT_HOME=/nonexistent"));
    assert_eq!(report["machine"]["toolkits"][0]["state"], "no-folder");
}

#[test]
fn a_broken_version_file_is_a_warning_and_a_pipe_is_not_waited_for() {
    for (want, bytes) in [
        ("it names no version", Some(&b"\xff\0\xfe"[..])),
        ("what it names is no version", Some(b"Version=\x1b[2J\n")),
        ("it is no regular file", None),
    ] {
        let doctor = Doctor::new();
        let root = doctor.home().join("kit");
        toolkit(&root);
        let file = root.join("version.cfg");
        match bytes {
            Some(bytes) => fs::write(&file, bytes).unwrap(),
            None => assert!(Command::new("mkfifo").arg(&file).status().unwrap().success()),
        }
        let report = doctor.toolkit(&root).json(1);
        assert!(problem(&report, "version-file").contains(want));
        assert_eq!(report["machine"]["toolkits"][0]["version"], Value::Null);
        assert_eq!(report["devices"][0]["error"], Value::Null);
    }
}

/// As CANN 8 is installed: a folder of links beside that of the version, whose parts have versions of their own.
#[test]
fn a_folder_of_links_is_the_toolkit_that_they_lead_to() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let (version, latest) = (base.join("8.1.RC1"), base.join("latest"));
    for folder in [version.join("runtime/lib64"), version.join("opp/lib64"), latest.clone()] {
        fs::create_dir_all(folder).unwrap();
    }
    let library = world().toolkit.join("lib64/libascendcl.so");
    fs::copy(&library, version.join("runtime/lib64/libascendcl.so")).unwrap();
    fs::write(version.join("runtime/version.info"), "Version=7.7.0.1\n").unwrap();
    fs::write(latest.join("version.cfg"), "toolkit_running_version=[8.1.RC1:8.1.RC1]\n").unwrap();
    for (name, target) in [("lib64", "runtime/lib64"), ("runtime", "runtime"), ("opp", "opp")] {
        symlink(Path::new("../8.1.RC1").join(target), latest.join(name)).unwrap();
    }
    let report = Doctor::new().toolkit(&latest).env("ASCEND_OPP_PATH", latest.join("opp")).json(0);
    assert_eq!(report["library"]["toolkit"], json!({ "folder": version, "version": "7.7.0.1" }));
    assert_eq!(report["machine"]["toolkits"][0]["version"], "8.1.RC1");
    let other = world().operators.join("opp");
    fs::create_dir_all(&other).unwrap();
    let report = Doctor::new().toolkit(&latest).env("ASCEND_OPP_PATH", &other).json(1);
    assert_eq!(ids(&report), ["other-toolkit"]);
    assert!(problem(&report, "other-toolkit").contains("ASCEND_OPP_PATH"));
}

#[test]
fn values_that_are_no_text_are_shown_and_do_no_harm() {
    let value = OsStr::from_bytes(b"/a\xffb");
    let report = Doctor::new().env("RACL_LIBRARY", value).env("ASCEND_TOOLKIT_HOME", value).json(2);
    assert_eq!(ids(&report), ["no-library", "toolkit-folder", "variable", "variable"]);
    let variables = report["machine"]["environment"].as_array().unwrap();
    let library = variables.iter().find(|variable| variable["name"] == "RACL_LIBRARY").unwrap();
    assert_eq!(*library, json!({ "name": "RACL_LIBRARY", "value": "/a\\xffb", "is_text": false }));
}

#[test]
fn nothing_from_outside_reaches_the_terminal_as_a_command() {
    let evil = "/x\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\r\n/y";
    for arguments in [&["--verbose"][..], &["--json"], &[]] {
        for faulty in [false, true] {
            let mut doctor = Doctor::new().env("ASCEND_TOOLKIT_HOME", evil).env("ASCEND_RT_VISIBLE_DEVICES", evil);
            doctor = match faulty {
                true => doctor.library(&world().faulty).env("FAULT", "writes"),
                false => doctor.env("RACL_LIBRARY", evil),
            };
            let output = arguments.iter().fold(doctor, |doctor, argument| doctor.arg(argument)).run();
            for stream in [output.stdout, output.stderr] {
                let text = String::from_utf8(stream).unwrap();
                let bad: Vec<_> = text.chars().filter(|c| c.is_control() && *c != '\n' || *c == '\u{202e}').collect();
                assert_eq!(bad, [' '; 0], "{arguments:?}");
            }
        }
    }
}

#[test]
fn files_of_driver_and_devices_are_described() {
    let doctor = Doctor::new();
    let root = doctor.home().to_owned();
    for folder in ["dev", "etc", "opt/npu/driver"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::write(root.join("etc/ascend_install.info"), "Driver_Install_Path_Param=/opt/npu\n").unwrap();
    fs::write(root.join("opt/npu/driver/version.info"), "Version=24.1.rc1\nascendhal_version=7\n").unwrap();
    for name in ["davinci10", "davinci2", "davinci_manager", "other"] {
        let path = root.join("dev").join(name);
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    }
    let report = doctor.toolkit(&world().toolkit).json(0);
    let driver = &report["machine"]["driver"];
    assert_eq!((&driver["version"], &driver["version_trouble"]), (&json!("24.1.rc1"), &Value::Null));
    let files = report["machine"]["device_files"].as_array().unwrap();
    let names = files.iter().map(|file| Path::new(file["path"].as_str().unwrap()).file_name().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["davinci2", "davinci10", "davinci_manager"]);
    for file in files {
        assert_eq!(
            (&file["mode"], &file["readable"], &file["writable"]),
            (&json!("0640"), &json!(true), &json!(true))
        );
    }
}

#[test]
fn a_cache_folder_that_cannot_be_made_is_a_warning() {
    let doctor = Doctor::new().arg("--mock");
    let file = doctor.home().join("file");
    fs::write(&file, "").unwrap();
    let report = doctor.env("RACL_CACHE_HOME", file.join("cache")).json(1);
    assert_eq!(ids(&report), ["cache-folder"]);
    assert_eq!(report["machine"]["cache"]["writable"], false);
    assert_eq!(crate::feature(&report, "compile-cache")["available"], false);
}

#[test]
fn settings_of_caches_that_no_start_takes_are_a_warning() {
    for (name, value, part) in [
        ("WORLD_SIZE", "many", "WORLD_SIZE=\"many\": no number"),
        ("WORLD_SIZE", "2", "needs the rank of this process"),
        ("RACL_CACHE_VERIFY", "yes", "neither 0 nor 1"),
    ] {
        let report = Doctor::new().arg("--mock").env(name, value).json(1);
        assert_eq!(ids(&report), ["cache-folder"]);
        assert!(problem(&report, "cache-folder").contains(part), "{report:#}");
        assert_eq!(report["machine"]["cache"]["writable"], false);
    }
    let report = Doctor::new().arg("--mock").env("WORLD_SIZE", "2").env("RANK", "1").json(0);
    assert_eq!(report["machine"]["cache"]["writable"], true);
}

#[test]
fn a_cache_folder_of_somebody_else_is_a_warning() {
    let doctor = Doctor::new().arg("--mock");
    let folder = doctor.home().join("caches");
    fs::create_dir(&folder).unwrap();
    if std::os::unix::fs::chown(&folder, Some(65534), None).is_err() {
        // Only root can give a folder away.
        return;
    }
    let report = doctor.env("RACL_CACHE_HOME", &folder).json(1);
    assert!(problem(&report, "cache-folder").contains("it belongs to user 65534"), "{report:#}");
}

#[test]
fn a_wrong_command_line_is_no_verdict() {
    for arguments in [&["--nonsense"][..], &["--timeout", "0"], &["--timeout", "never"]] {
        let output = arguments.iter().fold(Doctor::new(), |doctor, argument| doctor.arg(argument)).run();
        assert_eq!(output.status.code(), Some(64), "{arguments:?}");
    }
    assert_eq!(Doctor::new().arg("--help").run().status.code(), Some(0));
}
