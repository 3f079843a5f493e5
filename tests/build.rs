//! What `racl::BUILD` says, and how the build script finds the commit.

mod common;

#[path = "../build/commit.rs"]
mod commit;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use racl::BUILD;
use tempfile::TempDir;

const A: &str = "0123456789abcdef0123456789abcdef01234567";
const B: &str = "89abcdef0123456789abcdef0123456789abcdef";

/// Output of git in a folder, without the settings of whoever runs the test; `None` where there is no git.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"] {
        command.env_remove(variable);
    }
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "test").env(format!("GIT_{who}_EMAIL"), "test@localhost");
    }
    let output = command.output().ok()?;
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

/// A folder with files; a name that ends with a slash is a folder.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| put(root.path(), name, text));
    root
}

fn put(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    if name.ends_with('/') {
        return fs::create_dir_all(path).unwrap();
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn commit_in(files: &[(&str, &str)]) -> Option<String> {
    commit::of(folder(files).path()).commit
}

#[test]
fn the_commit_is_that_of_the_checkout() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !root.join(".git").exists() {
        assert_eq!(BUILD.commit, None);
        return;
    }
    match git(root, &["-c", "safe.directory=*", "rev-parse", "HEAD"]) {
        Some(head) => assert_eq!(BUILD.commit, Some(head.as_str())),
        None => common::skipped("there is no git"),
    }
}

#[test]
fn what_is_built_in_is_told() {
    assert_eq!(BUILD.version, env!("CARGO_PKG_VERSION"));
    let on = [
        ("bindgen", cfg!(feature = "bindgen")),
        ("cache", cfg!(feature = "cache")),
        ("dlopen", cfg!(feature = "dlopen")),
        ("dlpack", true), // of all tests
        ("link", cfg!(feature = "link")),
        ("mock", true), // as well
        ("ndarray", true),
    ];
    let on: Vec<_> = on.into_iter().filter_map(|(name, is_on)| is_on.then_some(name)).collect();
    assert_eq!(BUILD.features, on);
    if cfg!(not(feature = "bindgen")) {
        assert_eq!(BUILD.headers, racl::sys::Release::Development.to_string());
    }
    if cfg!(feature = "link") {
        assert!(BUILD.toolkit.is_some(), "{BUILD}");
    }
    let line = BUILD.to_string();
    assert_eq!(line.lines().count(), 1);
    for part in [BUILD.version, BUILD.headers].iter().chain(BUILD.features).chain(&BUILD.commit) {
        assert!(line.contains(part), "{part} is not in {line}");
    }
}

#[test]
fn the_commit_is_read_where_git_keeps_it() {
    let branch = (".git/HEAD", "ref: refs/heads/main\n");
    let loose = (".git/refs/heads/main", "0123456789abcdef0123456789abcdef01234567\n");
    let packed =
        format!("# pack-refs with: peeled fully-peeled sorted\n{B} refs/heads/main\n^{A}\n{A} refs/tags/v1\n");
    let packed = (".git/packed-refs", packed.as_str());
    assert_eq!(commit_in(&[branch, loose]).as_deref(), Some(A));
    assert_eq!(commit_in(&[branch, packed]).as_deref(), Some(B));
    assert_eq!(commit_in(&[branch, packed, loose]).as_deref(), Some(A), "a loose reference is newer");
    assert_eq!(commit_in(&[(".git/HEAD", B)]).as_deref(), Some(B), "a detached head");
    let long = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    assert_eq!(commit_in(&[(".git/HEAD", long)]).as_deref(), Some(long), "SHA-256");
    let linked = (".git/refs/heads/main", "ref: refs/heads/other\n");
    assert_eq!(commit_in(&[branch, linked, (".git/refs/heads/other", B)]).as_deref(), Some(B));
}

#[test]
fn what_tells_no_commit_is_none() {
    let branch = (".git/HEAD", "ref: refs/heads/main\n");
    assert_eq!(commit_in(&[]), None);
    assert_eq!(commit_in(&[(".git/config", "")]), None);
    assert_eq!(commit_in(&[branch]), None, "nothing is committed");
    assert_eq!(commit_in(&[(".git/HEAD", "ref: refs/heads/.invalid\n"), (".git/reftable/tables.list", "")]), None);
    assert_eq!(commit_in(&[branch, (".git/refs/heads/main", "")]), None);
    assert_eq!(commit_in(&[branch, (".git/refs/heads/main", &A[1..])]), None);
    assert_eq!(commit_in(&[branch, (".git/refs/heads/main", "ref: refs/heads/main\n")]), None, "a circle");
    assert_eq!(commit_in(&[(".git/HEAD", "ref: refs/../../elsewhere\n"), ("elsewhere", A)]), None);
    assert_eq!(commit_in(&[(".git", "gitdir: /nowhere/at/all\n")]), None);
    assert_eq!(commit_in(&[(".git", "no such line\n")]), None);
    assert_eq!(commit_in(&[(".git/HEAD/", "")]), None, "a head that cannot be read");
}

#[test]
fn a_crate_in_another_repository_has_not_its_commit() {
    let outer = folder(&[(".git/HEAD", A), ("vendor/racl/Cargo.toml", "")]);
    assert_eq!(commit::of(outer.path()).commit.as_deref(), Some(A));
    assert_eq!(commit::of(&outer.path().join("vendor/racl")), commit::Checkout::default());
}

#[test]
fn a_worktree_has_its_own_head_and_the_branches_of_all() {
    let root = folder(&[
        ("main/.git/HEAD", A),
        ("main/.git/refs/heads/side", B),
        ("main/.git/worktrees/side/HEAD", "ref: refs/heads/side\n"),
        ("main/.git/worktrees/side/commondir", "../..\n"),
        ("side/.git", "gitdir: ../main/.git/worktrees/side\n"),
    ]);
    assert_eq!(commit::of(&root.path().join("side")).commit.as_deref(), Some(B));
    assert_eq!(commit::of(&root.path().join("main")).commit.as_deref(), Some(A));
}

/// Names below `.git` that are watched. Cargo would build each time if one did not exist.
fn watched(root: &Path) -> Vec<PathBuf> {
    let found = commit::of(root).watched;
    assert!(found.iter().all(|path| path.exists()), "{found:?}");
    found.iter().map(|path| path.strip_prefix(root.join(".git")).unwrap().to_owned()).collect()
}

#[test]
fn what_changes_with_the_commit_is_watched_and_nothing_else() {
    let names = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
    let root = folder(&[(".git/HEAD", "ref: refs/heads/a/main\n"), (".git/refs/heads/", ""), (".git/index", "")]);
    assert_eq!(watched(root.path()), names(&["HEAD", "refs/heads"]), "the first commit makes the file");
    put(root.path(), ".git/packed-refs", &format!("{A} refs/heads/a/main\n"));
    assert_eq!(watched(root.path()), names(&["HEAD", "refs/heads", "packed-refs"]));
    put(root.path(), ".git/refs/heads/a/main", B);
    assert_eq!(watched(root.path()), names(&["HEAD", "refs/heads/a/main"]));
    put(root.path(), ".git/HEAD", B);
    assert_eq!(watched(root.path()), names(&["HEAD"]));
    assert_eq!(commit::of(folder(&[]).path()).watched, names(&[]));
}

#[test]
fn what_git_itself_makes_is_understood() {
    let root = tempfile::tempdir().unwrap();
    let (main, side) = (root.path().join("main"), root.path().join("side"));
    fs::create_dir(&main).unwrap();
    if git(&main, &["init", "--quiet"]).is_none() {
        return common::skipped("there is no git");
    }
    let git = |folder: &Path, arguments: &[&str]| git(folder, arguments).unwrap();
    let assert_same = |folder: &Path| {
        assert_eq!(commit::of(folder).commit, Some(git(folder, &["rev-parse", "HEAD"])));
    };
    assert_eq!(commit::of(&main).commit, None);
    git(&main, &["commit", "--quiet", "--allow-empty", "-m", "one"]);
    assert_same(&main);
    git(&main, &["worktree", "add", "--quiet", side.to_str().unwrap()]);
    git(&side, &["commit", "--quiet", "--allow-empty", "-m", "two"]);
    assert_ne!(commit::of(&side).commit, commit::of(&main).commit);
    assert_same(&side);
    git(&main, &["pack-refs", "--all"]);
    assert_same(&main);
    assert_same(&side);
    git(&side, &["checkout", "--quiet", "--detach", "HEAD~"]);
    assert_same(&side);
    let shallow = root.path().join("shallow");
    git(&main, &["clone", "--quiet", "--depth=1", &format!("file://{}", main.display()), shallow.to_str().unwrap()]);
    assert_same(&shallow);
}
