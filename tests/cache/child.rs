//! Other processes: what a second start, a killed one or another user sees.

use std::io::{BufRead as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{env, fs, io};

use crate::common::mock;
use racl::cache::CompileCache;
use racl::cache::observe_steps;

use crate::{Root, assert_hit, assert_rebuilt, common, start};

/// Set in the processes that the tests start: the root of the cache.
const CHILD: &str = "RACL_TEST_CHILD";
/// The step at which the process ends itself.
const STOP: &str = "RACL_TEST_STOP";
/// A C function that fails once.
const FAIL: &str = "RACL_TEST_FAIL";
/// Without a salt of the test's.
const UNSALTED: &str = "RACL_TEST_UNSALTED";
/// Where the cache is and who it is for, from the environment alone.
const FROM_ENVIRONMENT: &str = "RACL_TEST_FROM_ENVIRONMENT";
/// Compiles only.
pub(crate) const DO_NOT_RUN: &str = "RACL_TEST_DO_NOT_RUN";
/// Start of a child's one line of result.
const STATUS: &str = "status: ";

/// The user that nobody is.
pub(crate) const NOBODY: u32 = 65534;

#[test]
#[allow(clippy::print_stdout)]
fn a_child_compiles_and_says_how() {
    let Some(root) = env::var_os(CHILD) else { return };
    observe_steps(|file, step| {
        if env::var(STOP).is_ok_and(|stop| stop == format!("{file} {step}")) {
            // As kill -9: nothing is cleaned up.
            std::process::abort();
        }
    });
    if let Ok(function) = env::var(FAIL) {
        let _device = common::device();
        mock::fail(&function, 1, 507_899).unwrap();
    }
    println!("\nready");
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).unwrap();
    let cache = CompileCache::builder("Model");
    let cache = if env::var_os(FROM_ENVIRONMENT).is_some() { cache } else { cache.cache_dir(root) };
    let salted = env::var_os(UNSALTED).is_none();
    let (status, built) = start(if salted { cache.salt("tests") } else { cache });
    println!("\n{STATUS}{status}, built {built}");
}

/// How a child is started.
#[derive(Default)]
pub(crate) struct Start<'a> {
    /// This one without; another user may not be able to reach it.
    pub(crate) program: Option<&'a Path>,
    pub(crate) variables: &'a [(&'a str, &'a str)],
    pub(crate) user: Option<u32>,
    /// Most bytes of a file, in blocks of 512.
    pub(crate) blocks: Option<u32>,
    /// What new files and folders are not to allow.
    pub(crate) mask: Option<u32>,
    /// Its working directory is removed before it starts.
    pub(crate) nowhere: bool,
}

/// A copy of this program that everybody can run, which goes away with the value.
pub(crate) struct Copied(tempfile::TempDir);

impl Copied {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let copied = Self(folder);
        common::install_program(&env::current_exe().unwrap(), &copied.path());
        copied
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("tests")
    }
}

impl Start<'_> {
    /// Starts a child that waits for its input.
    pub(crate) fn spawn(&self, root: &Path) -> Child {
        let own = env::current_exe().unwrap();
        let program = self.program.unwrap_or(&own);
        let limit = self.blocks.map(|blocks| format!("trap '' XFSZ; ulimit -f {blocks}; "));
        let mask = self.mask.map(|mask| format!("umask {mask:04o}; "));
        let nowhere = self.nowhere.then(|| "cd \"$(mktemp -d)\"; rmdir \"$PWD\"; ".to_owned());
        let script = [limit, mask, nowhere].into_iter().flatten().collect::<String>() + "exec \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(program);
        command.args(["--exact", "child::a_child_compiles_and_says_how", "--nocapture", "--test-threads=1"]);
        for variable in ["WORLD_SIZE", "RANK", "RACL_CACHE_HOME", "RACL_CACHE_VERIFY"] {
            command.env_remove(variable);
        }
        command.env(CHILD, root).env("RUST_BACKTRACE", "0").current_dir("/");
        command.envs(self.variables.iter().copied());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// What a child says that runs to its end.
    pub(crate) fn run(&self, root: &Path) -> String {
        said(self.spawn(root))
    }
}

/// Lets a child go on and reads its line of result.
pub(crate) fn said(mut child: Child) -> String {
    // A child that is gone does not read.
    let _ = child.stdin.take().unwrap().write_all(b"go\n");
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(STATUS));
    line.unwrap_or_else(|| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr))).to_owned()
}

/// True as root; else says how many tests need it.
pub(crate) fn is_root(what: &str) -> bool {
    static SKIPPED: AtomicUsize = AtomicUsize::new(0);
    static ORDER: Mutex<()> = Mutex::new(());
    let root = Root::new();
    fs::create_dir(root.path()).unwrap();
    let is_root = fs::metadata(root.path()).unwrap().uid() == 0;
    if is_root && chown(root.path(), Some(NOBODY), None).is_ok() {
        return true;
    }
    let _alone = ORDER.lock().unwrap_or_else(PoisonError::into_inner);
    let count = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
    common::skipped(&format!("{what} needs root ({count} skipped so far)"));
    false
}

#[test]
fn of_eight_processes_that_want_one_plan_exactly_one_builds() {
    let root = Root::new();
    let children: Vec<Child> = (0..8).map(|_| Start::default().spawn(&root.path())).collect();
    let mut children: Vec<Child> = children.into_iter().map(ready).collect();
    for child in &mut children {
        child.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    }
    let mut said: Vec<String> = children.into_iter().map(said).collect();
    said.sort();
    assert_eq!(said[..7], ["hit, built false"; 7].map(str::to_owned));
    assert_eq!(said[7], "miss, built true");
    assert_eq!(root.files().len(), 2);
}

/// Waits until a child is about to compile.
fn ready(mut child: Child) -> Child {
    let mut output = io::BufReader::with_capacity(1, child.stdout.take().unwrap());
    let mut line = String::new();
    while line != "ready\n" {
        line.clear();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "the child ended early");
    }
    child.stdout = Some(output.into_inner());
    child
}

#[test]
fn a_process_that_dies_while_it_writes_leaves_what_the_next_one_repairs() {
    let steps = ["created", "half written", "written", "flushed", "renamed", "settled"];
    let mut stops = vec!["entry locked".to_owned(), "entry built".to_owned()];
    stops.extend(["meta.json", "recipe.bin"].iter().flat_map(|file| steps.map(|step| format!("{file} {step}"))));
    for stop in &stops {
        let root = Root::new();
        let child = Start { variables: &[(STOP, stop)], ..Start::default() };
        let ended = { child.spawn(&root.path()) };
        let mut ended = ended;
        ended.stdin.take().unwrap().write_all(b"go\n").unwrap();
        let output = ended.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(6), "{stop}: {}", String::from_utf8_lossy(&output.stderr));
        let whole = ["recipe.bin renamed", "recipe.bin settled"].contains(&stop.as_str());
        let (status, built) = start(root.cache().verify(false));
        let want = if whole { "hit" } else { "miss" };
        assert_eq!((status.to_string().as_str(), built), (want, !whole), "{stop}");
        let names: Vec<_> = root.files().iter().map(|path| path.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["meta.json", "recipe.bin"], "{stop}");
        assert_hit(root.cache());
    }
}

#[test]
fn a_process_that_dies_while_it_clears_a_broken_entry_leaves_what_the_next_one_repairs() {
    let root = Root::new();
    crate::assert_miss(root.cache());
    fs::write(root.recipe(), b"broken").unwrap();
    let child = Start { variables: &[(STOP, "entry cleared")], ..Start::default() };
    let mut child = child.spawn(&root.path());
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.signal(), Some(6));
    crate::assert_miss(root.cache());
    fs::write(root.recipe(), b"broken").unwrap();
    assert_rebuilt(root.cache(), "its first bytes are others");
    assert_hit(root.cache());
}

#[test]
fn a_library_that_tells_other_things_is_another_key() {
    crate::common::needs_mock("it says what the mock tells");
    let root = Root::new();
    let run = |function| Start { variables: &[(FAIL, function)], ..Start::default() }.run(&root.path());
    assert_eq!(Start::default().run(&root.path()), "miss, built true");
    for function in ["aclrtGetVersion", "aclrtGetDeviceInfo", "aclrtGetDeviceResLimit"] {
        assert_eq!(run(function), "miss, built true", "{function}");
        assert_eq!(run(function), "hit, built false", "{function}");
    }
    assert_eq!(Start::default().run(&root.path()), "hit, built false");
}

/// A copy of this program in which the note that holds the build id is changed.
fn altered(folder: &Path, name: &str, change: impl FnOnce(&mut [u8])) -> Option<PathBuf> {
    let mut bytes = fs::read(env::current_exe().unwrap()).unwrap();
    let note = [4_u32.to_ne_bytes(), 20_u32.to_ne_bytes(), 3_u32.to_ne_bytes(), *b"GNU\0"].concat();
    let at = bytes.windows(note.len()).position(|window| *window == note)?;
    change(&mut bytes[at..at + note.len() + 20]);
    let (path, written) = (folder.join(name), folder.join("altered"));
    fs::write(&written, bytes).unwrap();
    common::install_program(&written, &path);
    Some(path)
}

#[test]
fn another_executable_is_another_key() {
    let (root, folder) = (Root::new(), tempfile::tempdir().unwrap());
    let run = |program| Start { program, variables: &[(UNSALTED, "1")], ..Start::default() }.run(&root.path());
    let copied = Copied::new();
    let copy = copied.path();
    assert_eq!(run(None), "miss, built true");
    assert_eq!(run(Some(&copy)), "hit, built false");
    let Some(other) = altered(folder.path(), "other", |note| note[20] ^= 1) else {
        return common::skipped("the linker has put no build id into this program");
    };
    assert_eq!(run(Some(&other)), "miss, built true");
    assert_eq!(run(Some(&other)), "hit, built false");
    // Without a build id the whole file counts.
    let unmarked = altered(folder.path(), "unmarked", |note| note[8] = 9).unwrap();
    assert_eq!(run(Some(&unmarked)), "miss, built true");
    let changed = altered(folder.path(), "changed", |note| (note[8], note[20]) = (9, !note[20])).unwrap();
    assert_eq!(run(Some(&changed)), "miss, built true");
    assert_eq!(run(Some(&unmarked)), "hit, built false");
    assert_eq!(run(None), "hit, built false");
    // Of each program one plan.
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 4);
}

#[test]
fn the_environment_turns_verifying_on() {
    let root = Root::new();
    let run = |value| Start { variables: &[("RACL_CACHE_VERIFY", value)], ..Start::default() }.run(&root.path());
    assert_eq!(run("1"), "miss, built true");
    assert_eq!(run("1"), "hit, built true");
    assert_eq!(run("0"), "hit, built false");
    assert_eq!(run(""), "hit, built false");
    let refused = std::panic::catch_unwind(|| run("yes")).unwrap_err();
    let said = refused.downcast_ref::<String>().unwrap();
    assert!(said.contains("RACL_CACHE_VERIFY=\"yes\": neither 0 nor 1"), "{said}");
}

#[test]
fn folder_and_rank_come_from_the_environment() {
    let root = Root::new();
    let home = root.path().into_os_string().into_string().unwrap();
    let run = |variables: &[(&str, &str)]| {
        let own = [("RACL_CACHE_HOME", home.as_str()), (FROM_ENVIRONMENT, "1")];
        let variables: Vec<_> = own.into_iter().chain(variables.iter().copied()).collect();
        Start { variables: &variables, ..Start::default() }.run(&root.path())
    };
    let ranks = [("0", "world2global_rank0"), ("1", "world2global_rank1")];
    for (rank, folder) in ranks {
        assert_eq!(run(&[("WORLD_SIZE", "2"), ("RANK", rank)]), "miss, built true");
        assert!(root.files().iter().any(|file| file.to_string_lossy().contains(&format!("/{folder}/decode/"))));
    }
    // Alone, the rank does not matter.
    assert_eq!(run(&[("RANK", "7")]), "miss, built true");
    assert_eq!(run(&[("WORLD_SIZE", "1"), ("RANK", "0")]), "hit, built false");
    assert_eq!(run(&[("WORLD_SIZE", "2"), ("RANK", "1")]), "hit, built false");
    assert_eq!(root.files().len(), 6);
}
