//! The program on caches that the library has written.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use racl::Acl;
use racl::cache::CompileCache;
use racl::op::DataType::F32;
use racl::plan::Input;

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
    assert!(lines[1..].iter().all(|line| line.contains(" loads ")), "{listed}");
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn list_and_verify_say_what_a_start_would_do_with_each() {
    let caches = Caches::new();
    let (prefill, decode) = (caches.recipe("Model", "prefill"), caches.recipe("Model", "decode"));
    let other = caches.recipe("Other", "decode");
    let both = |start: &str, line: &str| {
        let listed = text(&caches.run("list", &[]), true);
        assert!(listed.lines().any(|listed| listed.contains(start) && listed.contains(line)), "{listed}");
        let said = text(&caches.run("verify", &[]), false);
        assert!(said.contains("bad  ") && said.contains(line), "{said}");
    };
    chmod(&prefill, 0o644);
    both(" refuses ", "its mode is 0644, not 0600");
    let away = caches.0.path().join("away");
    fs::rename(&decode, &away).unwrap();
    symlink(&away, &decode).unwrap();
    both(" refuses ", "it is a symbolic link, which is not followed");
    let folder = other.parent().unwrap().parent().unwrap();
    chmod(folder, 0o755);
    both(" refuses ", "it is open to others (mode 0755)");
    assert!(text(&caches.run("verify", &[]), false).ends_with("0 good, 3 bad\n"));
    // A plan of ours with another mode goes; links and folders that no start goes into stay.
    let said = text(&caches.run("prune", &["--unusable"]), false);
    assert!(said.contains("kept ") && said.ends_with("1 removed, 2 kept\n"), "{said}");
    assert!(away.exists() && decode.is_symlink() && other.exists());
    chmod(folder, 0o700);
    let mut bytes = fs::read(&other).unwrap();
    bytes[8] = 77;
    fs::write(&other, bytes).unwrap();
    both(" rebuilds ", "its format is 77; this library reads 1");
}

#[test]
fn look_alikes_of_the_users_stay() {
    let caches = Caches::new();
    let recipe = caches.recipe("Other", "decode");
    let (mine, key) = (recipe.parent().unwrap().with_file_name("mine"), "0123456789abcdef0123456789abcdef");
    let far = caches.0.path().join(format!("notes_static_{key}")).join("mine");
    for folder in [&mine, &far] {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).unwrap();
        for name in ["recipe.bin", "meta.json", "other"] {
            fs::write(folder.join(name), "{\"key\": \"mine\"}").unwrap();
            chmod(&folder.join(name), 0o600);
        }
    }
    let said = text(&caches.run("prune", &["--all"]), false);
    assert!(said.contains("mine/recipe.bin: no cache has written it, so it stays\n"), "{said}");
    assert!(said.ends_with("3 removed, 2 kept\n"), "{said}");
    for folder in [&mine, &far] {
        assert_eq!(fs::read_dir(folder).unwrap().count(), 3);
    }
}

#[test]
fn a_damaged_plan_without_a_readable_file_has_the_age_of_its_file() {
    let caches = Caches::new();
    let recipe = caches.recipe("Other", "decode");
    fs::remove_file(recipe.with_file_name("meta.json")).unwrap();
    let prune = || text(&caches.run("prune", &["--older-than", "1", "--dry-run"]), true);
    assert!(prune().ends_with("0 would be removed, 0 kept\n"));
    let old = SystemTime::now() - Duration::from_secs(3 * 24 * 60 * 60);
    fs::File::options().write(true).open(&recipe).unwrap().set_modified(old).unwrap();
    assert!(prune().ends_with("1 would be removed, 0 kept\n"));
    assert!(text(&caches.run("list", &[]), true).contains("   3 d "));
}

#[test]
fn what_files_say_is_no_command_for_the_terminal() {
    let caches = Caches::new();
    let recipe = caches.recipe("Other", "decode");
    let meta = recipe.with_file_name("meta.json");
    let text = fs::read_to_string(&meta).unwrap();
    let salt = "\"salt\": \"";
    assert!(text.contains(salt));
    fs::write(&meta, text.replace(salt, &format!("{salt}\\u001b[2J\\n# forged: \\u009b"))).unwrap();
    let named = recipe.parent().unwrap().with_file_name("x\u{1b}[2J");
    fs::create_dir(&named).unwrap();
    fs::write(named.join("recipe.bin"), "x").unwrap();
    for output in [
        program().arg("show").arg(&recipe).output().unwrap(),
        program().arg("show").arg(&named).output().unwrap(),
        caches.run("list", &[]),
        caches.run("verify", &[]),
    ] {
        for bytes in [output.stdout, output.stderr] {
            let text = String::from_utf8(bytes).unwrap();
            assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
            assert!(!text.contains("\n# forged"), "{text:?}");
        }
    }
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
    assert_eq!(run(None), ".racl_cache: no plan is stored\n");
    let caches = Caches::new();
    assert_eq!(run(Some(caches.0.path())).lines().count(), 4);
}

#[test]
fn show_prints_the_key_and_the_operators() {
    let caches = Caches::new();
    let recipe = caches.recipe("Model", "decode");
    for path in [recipe.as_path(), recipe.parent().unwrap()] {
        let shown = text(&program().arg("show").arg(path).output().unwrap(), true);
        assert!(shown.contains("# salt: given: \"tests\"\n") && shown.contains("aclnnTanh.0"), "{shown}");
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

#[test]
fn each_command_names_its_folder_and_a_mistyped_one_is_an_error() {
    let caches = Caches::new();
    let empty = caches.0.path().join("empty");
    fs::DirBuilder::new().mode(0o700).create(&empty).unwrap();
    let mistyped = caches.0.path().join("mis\ntyped");
    let commands = [&["list"][..], &["verify"], &["prune", "--all"], &["prune", "--all", "--dry-run"]];
    for command in commands {
        let run = |folder: &Path| program().args(command).arg("--dir").arg(folder).output().unwrap();
        let output = run(&mistyped);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{command:?}: {output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.ends_with("mis\\ntyped: there is no such folder\n"), "{said}");
        let said = text(&run(&empty), true);
        assert!(said.starts_with(&format!("{}: ", empty.display())), "{said}");
    }
}
