//! `RACL_LIBRARY` and the places that are searched, in processes of their own.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use racl::Acl;

use crate::build::libraries;
use crate::{add, common};

/// Starts of the child's one line of result.
const USED: &str = "used: ";
const REFUSED: &str = "refused: ";

/// Set in the processes that the tests start.
const CHILD: &str = "RACL_TEST_CHILD";

#[test]
#[allow(clippy::print_stdout)]
fn a_child_reports_what_it_found() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    match Acl::init() {
        Ok(acl) => println!("\n{USED}{acl}, mock {}, {:?}", acl.is_mock(), add(&acl)),
        Err(error) => println!("\n{REFUSED}{:?}: {error}", error.kind()),
    }
}

/// A process of `program`, which is this test binary, that finds no installation.
fn child(program: &Path) -> Command {
    let mut child = Command::new(program);
    child
        .args(["--exact", "child::a_child_reports_what_it_found", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1");
    for name in ["RACL_LIBRARY", "ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH", "LD_LIBRARY_PATH"] {
        child.env_remove(name);
    }
    child.env("HOME", &libraries().folder);
    child
}

fn report_of(child: &mut Command) -> String {
    let output = child.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.starts_with(USED) || line.starts_with(REFUSED));
    line.unwrap_or_else(|| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr))).to_owned()
}

/// What a process says that has these variables, and no other installation to find.
fn report_with<T: AsRef<OsStr>>(variables: &[(&str, T)]) -> String {
    let variables = variables.iter().map(|(name, value)| (name, value.as_ref()));
    report_of(child(&std::env::current_exe().unwrap()).envs(variables))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[track_caller]
fn assert_used(said: &str, library: &str, mock: bool) {
    let want = format!("{USED}{library}, mock {mock}, Ok([2.0, 4.0, 6.0])");
    assert_eq!(said, want);
}

#[test]
fn the_variable_names_a_path() {
    let path = text(&libraries().full);
    assert_used(&report_with(&[("RACL_LIBRARY", path)]), path, false);
    let none = text(&libraries().text);
    let said = report_with(&[("RACL_LIBRARY", none)]);
    assert!(said.starts_with("refused: LibraryNotFound") && said.contains(none), "{said}");
    assert!(said.contains("RACL_LIBRARY takes the path of libascendcl.so, `system` or `mock`"), "{said}");
}

#[test]
fn the_variable_may_name_a_path_of_any_bytes() {
    for folder in [&b"of a child, with spaces"[..], b"of a child \xff\xfe"] {
        let folder = libraries().folder.join(OsStr::from_bytes(folder));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("libascendcl.so");
        fs::copy(&libraries().full, &path).unwrap();
        let shown = path.display().to_string();
        assert_used(&report_with(&[("RACL_LIBRARY", OsString::from(path))]), &shown, false);
    }
}

#[test]
fn a_library_that_may_not_be_read_is_refused_with_that() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    let (library, program) = (folder.path().join("libascendcl.so"), folder.path().join("test"));
    fs::copy(&libraries().full, &library).unwrap();
    fs::set_permissions(&library, Permissions::from_mode(0o000)).unwrap();
    common::install_program(&std::env::current_exe().unwrap(), &program);
    let mut child = child(&program);
    child.env("RACL_LIBRARY", &library);
    if fs::File::open(&library).is_ok() {
        // The administrator may read everything; the user "nobody" may not.
        child.gid(65534).uid(65534);
    }
    let said = report_of(&mut child);
    assert!(said.starts_with("refused: LibraryNotFound"), "{said}");
    assert!(said.contains(text(&library)) && said.contains("Permission denied"), "{said}");
}

#[test]
fn the_variable_asks_for_the_mock() {
    let said = report_with(&[("RACL_LIBRARY", "mock")]);
    assert!(said.starts_with("used: mock-acl ") && said.contains("(built in), mock true, Ok("), "{said}");
}

#[test]
fn without_a_library_every_place_is_named_and_the_mock_is_not_taken() {
    for variable in [None, Some(("RACL_LIBRARY", "")), Some(("RACL_LIBRARY", "system"))] {
        let said = report_with(variable.as_slice());
        let home = text(&libraries().folder);
        let places = ["libascendcl.so", "libacl_rt.so", home, "/usr/local/Ascend/ascend-toolkit/latest/lib64"];
        assert!(said.starts_with("refused: LibraryNotFound"), "{said}");
        let advice =
            ["set RACL_LIBRARY to the path of libascendcl.so", "or ASCEND_TOOLKIT_HOME to the toolkit's folder"];
        for part in places.into_iter().chain(advice) {
            assert!(said.contains(part), "{part} is not in {said}");
        }
    }
}

#[test]
fn the_toolkit_s_folder_is_searched() {
    let full = &libraries().full;
    let toolkit = text(full.parent().unwrap().parent().unwrap());
    for variable in ["ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH"] {
        assert_used(&report_with(&[(variable, toolkit)]), text(full), false);
        assert_used(&report_with(&[(variable, toolkit), ("RACL_LIBRARY", "system")]), text(full), false);
    }
}

#[test]
fn the_dynamic_loader_comes_before_the_toolkit() {
    let folder = text(libraries().full.parent().unwrap());
    let said = report_with(&[("LD_LIBRARY_PATH", folder), ("ASCEND_TOOLKIT_HOME", "/nonexistent")]);
    assert_used(&said, "libascendcl.so", false);
}

#[test]
fn a_library_that_would_crash_the_dynamic_loader_is_named_and_the_next_place_is_taken() {
    let full = &libraries().full;
    let folder = libraries().folder.join("cut");
    fs::create_dir_all(&folder).unwrap();
    let cut = folder.join("libascendcl.so");
    fs::write(&cut, &fs::read(full).unwrap()[..5000]).unwrap();
    let said = report_with(&[("LD_LIBRARY_PATH", text(&folder))]);
    let want = format!("libascendcl.so ({}: it is cut off: it has 5000 bytes and needs more)", text(&cut));
    assert!(said.starts_with("refused: LibraryNotFound") && said.contains(&want), "{said}");
    let toolkit = text(full.parent().unwrap().parent().unwrap());
    let said = report_with(&[("LD_LIBRARY_PATH", text(&folder)), ("ASCEND_TOOLKIT_HOME", toolkit)]);
    assert_used(&said, text(full), false);
}

#[test]
fn a_library_that_was_found_by_name_is_named_with_its_file() {
    let bare = &libraries().bare;
    let said = report_with(&[("LD_LIBRARY_PATH", text(bare.parent().unwrap()))]);
    let file = bare.canonicalize().unwrap();
    assert!(said.contains(&format!("is not in libascendcl.so at {} (not found: lib", text(&file))), "{said}");
}
