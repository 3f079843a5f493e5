//! The program on caches that the library has written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use racl::op::DataType::F32;
use racl::plan::Input;
use racl::{Acl, CompileCache};

struct Caches(tempfile::TempDir);

impl Caches {
    /// Two functions of one cache, and one of another.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let device = Acl::mock().unwrap().device(0).unwrap();
        for (name, function) in [("Model", "prefill"), ("Model", "decode"), ("Other", "decode")] {
            let cache = CompileCache::builder(name).cache_dir(folder.path()).salt("tests").build().unwrap();
            let plan = cache.func(function).compile(&device, |g| {
                let x = g.input("x", [4], F32, Input::Copied)?;
                let y = g.tanh(x)?;
                g.output("y", y)
            });
            plan.unwrap();
        }
        Self(folder)
    }

    fn run(&self, command: &str, arguments: &[&str]) -> Output {
        program().arg(command).arg("--dir").arg(self.0.path()).args(arguments).output().unwrap()
    }

    fn recipe(&self, name: &str, function: &str) -> PathBuf {
        let folders = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path());
        let paths = folders.map(|folder| folder.join(function).join("recipe.bin"));
        let mut paths = paths.filter(|path| path.to_string_lossy().contains(&format!("/{name}_")) && path.exists());
        paths.next().unwrap()
    }
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_racl-cache"));
    command.env_remove("RACL_CACHE_HOME");
    command
}

/// Standard output of a run that ended like this.
#[track_caller]
fn text(output: &Output, success: bool) -> String {
    assert_eq!(output.status.success(), success, "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn break_file(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn list_has_a_line_for_each_plan() {
    let caches = Caches::new();
    let listed = text(&caches.run("list", &[]), true);
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 4, "{listed}");
    for part in ["Model", "Other", "prefill", "decode", "_dynamic_"] {
        assert!(listed.contains(part), "{part} in {listed}");
    }
    assert!(lines[1..].iter().all(|line| line.split_whitespace().nth(2) == Some("1")), "{listed}");
}

#[test]
fn without_a_folder_there_is_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let run = |variable: Option<&Path>| {
        let mut command = program();
        command.arg("list").current_dir(folder.path());
        variable.map(|path| command.env("RACL_CACHE_HOME", path));
        text(&command.output().unwrap(), true)
    };
    assert_eq!(run(None), "no plan is stored\n");
    let caches = Caches::new();
    assert_eq!(run(Some(caches.0.path())).lines().count(), 4);
}

#[test]
fn show_prints_the_key_and_the_operators() {
    let caches = Caches::new();
    let recipe = caches.recipe("Model", "decode");
    for path in [recipe.as_path(), recipe.parent().unwrap()] {
        let shown = text(&program().arg("show").arg(path).output().unwrap(), true);
        assert!(shown.contains("# salt: given: \"tests\"\n") && shown.contains("tanh.0"), "{shown}");
    }
    break_file(&recipe);
    let refused = program().arg("show").arg(&recipe).output().unwrap();
    assert_eq!(text(&refused, false), "");
    assert!(String::from_utf8_lossy(&refused.stderr).starts_with("error: "));
}

#[test]
fn verify_fails_for_one_broken_plan_and_prune_removes_it() {
    let caches = Caches::new();
    assert!(text(&caches.run("verify", &[]), true).ends_with("3 good, 0 bad\n"));
    break_file(&caches.recipe("Other", "decode"));
    let said = text(&caches.run("verify", &[]), false);
    assert!(said.contains("bad  ") && said.ends_with("2 good, 1 bad\n"), "{said}");
    assert!(text(&caches.run("prune", &["--unusable"]), true).ends_with("1 removed, 0 kept\n"));
    assert!(text(&caches.run("verify", &[]), true).ends_with("2 good, 0 bad\n"));
}

#[test]
fn prune_removes_what_was_chosen_and_nothing_of_the_users() {
    let caches = Caches::new();
    let notes = caches.0.path().join("notes.txt");
    fs::write(&notes, "mine").unwrap();
    assert!(!caches.run("prune", &[]).status.success());
    let said = text(&caches.run("prune", &["--name", "Model", "--dry-run"]), true);
    assert!(said.ends_with("2 would be removed, 0 kept\n"), "{said}");
    let said = text(&caches.run("prune", &["--all", "--name", "Nobody"]), true);
    assert!(said.ends_with("0 removed, 0 kept\n"), "{said}");
    let said = text(&caches.run("prune", &["--all", "--name", "Other", "--dry-run"]), true);
    assert!(said.ends_with("1 would be removed, 0 kept\n"), "{said}");
    assert!(text(&caches.run("prune", &["--all", "--older-than", "1"]), true).ends_with("0 removed, 0 kept\n"));
    assert!(text(&caches.run("prune", &["--older-than", "1"]), true).ends_with("0 removed, 0 kept\n"));
    assert!(text(&caches.run("prune", &["--name", "Model"]), true).ends_with("2 removed, 0 kept\n"));
    assert_eq!(text(&caches.run("list", &[]), true).lines().count(), 2);
    assert!(text(&caches.run("prune", &["--all"]), true).ends_with("1 removed, 0 kept\n"));
    let left: Vec<_> = fs::read_dir(caches.0.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [notes]);
}
