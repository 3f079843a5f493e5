//! What the tests share.
// Each binary takes some of it.
#![allow(dead_code, unused_imports)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use racl::{Device, Error, ErrorKind};

pub(crate) mod library;
pub(crate) mod mock;
pub(crate) mod over;

pub(crate) use library::needs_the_card_alone;
pub(crate) use library::{acl, device_at, is_mock, needs_function, needs_mock, needs_models_of_the_mock};
pub(crate) use over::Over;

/// The first device of the library: of the built-in mock, unless the tests run elsewhere.
pub(crate) fn device() -> Device {
    device_at(0)
}

/// The same, with one allocation of the library for each of this crate, which the mock counts and watches one by one.
/// Contexts that are made from it have that too.
pub(crate) fn direct_device() -> Device {
    let device = device();
    device.context().set_allocator(racl::Allocator::Direct);
    device
}

/// Says why a test does nothing. Not `eprintln!`, whose text the test harness holds back.
pub(crate) fn skipped(reason: &str) {
    let line = format!("skipped: {reason}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("standard error takes text");
}

/// That `error` is of `kind` and that its short form has every one of `parts` and is one line.
#[track_caller]
pub(crate) fn assert_says(error: &Error, kind: ErrorKind, parts: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.kind(), kind, "{text}");
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
    assert_eq!(text.lines().count(), 1, "{text}");
}

/// Puts a copy of the program `from` at `to`, for everybody to run. Another process writes it: with a copy of our own,
/// a process that another test starts meanwhile would hold the new file open for writing, and nobody can run such a
/// file.
pub(crate) fn install_program(from: &Path, to: &Path) {
    let done = Command::new("install").args(["-m", "755", "--"]).args([from, to]).status();
    assert!(done.as_ref().is_ok_and(|status| status.success()), "install {}: {done:?}", to.display());
}

/// Kernels for the mock: a shared object of one C file of the mock's own tests. Each call has a file of its own, which
/// no other test writes while it is read.
pub(crate) fn compiled_kernels(source: &str) -> PathBuf {
    let mock = Path::new(env!("CARGO_MANIFEST_DIR")).join("mock-acl");
    let file = mock.join("tests/kernels/binaries").join(format!("{source}.c"));
    compiled(("CC", "cc"), &["-std=gnu11"], &mock.join("include"), &file)
}

/// A file of kernels in Ascend C, by its path in this repository, made by the host's compiler for the mock.
#[allow(dead_code)]
pub(crate) fn compiled_ascendc(source: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let strict = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
    compiled(("CXX", "c++"), &strict, &root.join("mock-acl/include/ascendc"), &root.join(source))
}

fn compiled((variable, program): (&str, &str), options: &[&str], headers: &Path, source: &Path) -> PathBuf {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let name = source.file_stem().unwrap().to_string_lossy();
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kernels-{}-{call}-{name}.so", std::process::id()));
    let compiler = std::env::var_os(variable).unwrap_or_else(|| program.into());
    let mut command = Command::new(compiler);
    command.args(options).args(["-shared", "-fPIC", "-O1", "-I"]).arg(headers).arg(source).arg("-o").arg(&to);
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    to
}
