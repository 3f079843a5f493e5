//! The program in worlds that are known: the mock's toolkit look-alike, parts of it, and libraries that misbehave.
#![cfg(all(target_os = "linux", feature = "mock"))]

mod libraries;
mod machines;
mod mixed;
mod world;

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use world::world;

/// A run without any of the variables that the program looks at, in an empty home.
pub(crate) struct Doctor(Command, tempfile::TempDir);

impl Doctor {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_racl-doctor"));
        command.env_clear().env("HOME", home.path()).current_dir(home.path()).arg("--root").arg(home.path());
        Self(command, home)
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.env_remove(name);
        self
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.0.arg(argument);
        self
    }

    /// The folder that stands for `/`, and for the home.
    pub(crate) fn home(&self) -> &Path {
        self.1.path()
    }

    pub(crate) fn library(self, path: &Path) -> Self {
        self.env("RACL_LIBRARY", path)
    }

    pub(crate) fn toolkit(self, path: &Path) -> Self {
        self.env("ASCEND_TOOLKIT_HOME", path)
    }

    pub(crate) fn run(mut self) -> Output {
        self.0.output().unwrap()
    }

    /// The report of a run that ended with `code`.
    #[track_caller]
    pub(crate) fn json(self, code: i32) -> Value {
        let output = self.arg("--json").run();
        let report: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        assert_eq!(output.status.code(), Some(code), "{report:#}");
        assert_eq!(report["exit_code"], code);
        assert_eq!(report["verdict"], ["well", "warnings", "unusable"][usize::try_from(code).unwrap()]);
        report
    }
}

/// Ids of the problems that are more than notes.
pub(crate) fn ids(report: &Value) -> Vec<&str> {
    let problems = report["problems"].as_array().unwrap().iter();
    problems.filter(|problem| problem["level"] != "note").map(|problem| problem["id"].as_str().unwrap()).collect()
}

/// The first problem of this kind, which has an advice.
#[track_caller]
pub(crate) fn problem<'a>(report: &'a Value, id: &str) -> &'a str {
    let problems = report["problems"].as_array().unwrap();
    let found = problems.iter().find(|problem| problem["id"] == id);
    let found = found.unwrap_or_else(|| panic!("no {id} in {problems:#?}"));
    assert_ne!(found["advice"], "", "{found}");
    found["text"].as_str().unwrap()
}

pub(crate) fn feature<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["features"].as_array().unwrap().iter().find(|feature| feature["name"] == name).unwrap()
}
