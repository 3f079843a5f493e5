//! Owners, modes, links and full disks: a warning, the right result, and nothing of the user's is removed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::Command;

use crate::child::{Copied, DO_NOT_RUN, NOBODY, Start, is_root};
use crate::{Root, assert_hit, assert_miss, assert_uncached};

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Folders from the entry's up to the root.
fn folders(root: &Root) -> Vec<std::path::PathBuf> {
    root.recipe().ancestors().skip(1).take_while(|path| path.starts_with(root.path())).map(Path::to_owned).collect()
}

#[test]
fn a_file_of_another_mode_is_not_used() {
    let root = Root::new();
    assert_miss(root.cache());
    let before = fs::read(root.recipe()).unwrap();
    for mode in [0o644, 0o660, 0o602, 0o400, 0o700] {
        chmod(&root.recipe(), mode);
        assert_uncached(root.cache(), "not 0600; chmod 600 makes it usable");
        root.assert_logged(&["warn: ", "\"decode\" is not cached: ", &format!("its mode is {mode:04o}")]);
    }
    chmod(&root.recipe(), 0o600);
    assert_eq!(fs::read(root.recipe()).unwrap(), before);
    assert_hit(root.cache());
}

#[test]
fn folders_that_are_open_to_others_are_not_used() {
    let root = Root::new();
    assert_miss(root.cache());
    for folder in folders(&root) {
        chmod(&folder, 0o777);
        assert_uncached(root.cache(), "(mode 0777)");
        chmod(&folder, 0o700);
    }
    // The root may be one that the user has made.
    chmod(&root.path(), 0o755);
    assert_hit(root.cache());
}

#[test]
fn links_below_the_root_are_not_followed() {
    let (root, away) = (Root::new(), Root::new());
    assert_miss(root.cache());
    fs::create_dir(away.path()).unwrap();
    let (file, moved) = (root.recipe(), away.path().join("moved"));
    fs::rename(&file, &moved).unwrap();
    symlink(&moved, &file).unwrap();
    assert_uncached(root.cache(), "it is a symbolic link, which is not followed");
    assert!(racl::cache::readable_cache(&file).unwrap_err().to_string().contains("symbolic link"));
    assert!(moved.exists() && file.is_symlink());
    fs::rename(&moved, &file).unwrap();
    assert_hit(root.cache());
    for folder in folders(&root).into_iter().filter(|folder| *folder != root.path()) {
        fs::rename(&folder, &moved).unwrap();
        symlink(&moved, &folder).unwrap();
        assert_uncached(root.cache(), "it is a symbolic link or no folder");
        fs::remove_file(&folder).unwrap();
        fs::rename(&moved, &folder).unwrap();
    }
    assert_hit(root.cache());
    // The root itself may be a link of the user's.
    let link = away.path().join("link");
    symlink(root.path(), &link).unwrap();
    assert_hit(root.cache().cache_dir(&link));
}

#[test]
fn things_in_the_place_of_files_are_left_alone() {
    let root = Root::new();
    assert_miss(root.cache());
    let file = root.recipe();
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_uncached(root.cache(), "it is no regular file");
    fs::remove_dir(&file).unwrap();
    let made = Command::new("mkfifo").arg(&file).status().unwrap();
    assert!(made.success());
    assert_uncached(root.cache(), "it is no regular file");
    fs::remove_file(&file).unwrap();
    assert_miss(root.cache());
    let folder = file.parent().unwrap();
    fs::remove_dir_all(folder).unwrap();
    fs::write(folder, "a file").unwrap();
    assert_uncached(root.cache(), "no folder");
    assert_eq!(fs::read(folder).unwrap(), b"a file");
}

#[test]
fn a_root_that_cannot_be_made_is_said() {
    let root = Root::new();
    fs::write(root.path(), "a file").unwrap();
    assert_uncached(root.cache(), &root.path().to_string_lossy());
    assert_eq!(fs::read(root.path()).unwrap(), b"a file");
}

#[test]
fn what_belongs_to_somebody_else_is_not_used() {
    if !is_root("a foreign owner") {
        return;
    }
    let root = Root::new();
    assert_miss(root.cache());
    for path in [root.recipe()].into_iter().chain(folders(&root)) {
        chown(&path, Some(NOBODY), None).unwrap();
        assert_uncached(root.cache(), &format!("it belongs to user {NOBODY}, not to user 0"));
        root.assert_logged(&["warn: ", &path.to_string_lossy(), "it belongs to user"]);
        chown(&path, Some(0), None).unwrap();
    }
    assert_hit(root.cache());
    // A link of somebody else's is not followed, wherever it leads.
    let link = root.path().with_file_name("link");
    symlink(root.path(), &link).unwrap();
    std::os::unix::fs::lchown(&link, Some(NOBODY), None).unwrap();
    assert_uncached(root.cache().cache_dir(&link), "it belongs to user");
}

#[test]
fn another_user_neither_reads_nor_changes_the_cache() {
    if !is_root("another user") || !can_drop() {
        return;
    }
    let root = Root::new();
    assert_miss(root.cache());
    let before = fs::read(root.recipe()).unwrap();
    chmod(root.path().parent().unwrap(), 0o755);
    let copied = Copied::new();
    let program = copied.path();
    let nobody = Start { user: Some(NOBODY), program: Some(&program), ..Start::default() };
    for mode in [0o700, 0o755] {
        chmod(&root.path(), mode);
        let said = nobody.run(&root.path());
        assert!(said.starts_with("not cached: ") && said.ends_with(", built true"), "{said}");
    }
    assert_eq!(fs::read(root.recipe()).unwrap(), before);
    assert_hit(root.cache());
}

/// Whether nobody can start this program.
fn can_drop() -> bool {
    if cfg!(feature = "link") {
        crate::common::skipped("nobody may not be able to reach the library that this program is linked with");
    }
    cfg!(not(feature = "link"))
}

/// Runs `start` on folders that the user who runs it owns, as nobody when the tests run as root.
fn with_own_folder(work: impl Fn(&Root, &Start<'_>)) {
    let root = Root::new();
    fs::create_dir(root.path()).unwrap();
    let is_root = is_root("dropping to nobody; this user's own rights are tested");
    if is_root && !can_drop() {
        return;
    }
    let user = is_root.then_some(NOBODY);
    if user.is_some() {
        chmod(root.path().parent().unwrap(), 0o755);
        chown(root.path(), user, user).unwrap();
    }
    let copied = user.map(|_| Copied::new());
    let program = copied.as_ref().map(Copied::path);
    work(&root, &Start { user, program: program.as_deref(), ..Start::default() });
}

#[test]
fn in_a_read_only_folder_plans_are_read_and_others_built() {
    with_own_folder(|root, start| {
        chmod(&root.path(), 0o500);
        let said = start.run(&root.path());
        assert!(said.starts_with("not cached: ") && said.contains("ermission denied"), "{said}");
        assert_eq!(root.files(), Vec::<std::path::PathBuf>::new());
        chmod(&root.path(), 0o700);
        assert_eq!(start.run(&root.path()), "miss, built true");
        let folders = folders(root);
        folders.iter().for_each(|folder| chmod(folder, 0o500));
        assert_eq!(start.run(&root.path()), "hit, built false");
        fs::write(root.recipe(), "broken").unwrap();
        let said = start.run(&root.path());
        assert!(said.starts_with("not cached: ") && said.ends_with(", built true"), "{said}");
        assert_eq!(fs::read(root.recipe()).unwrap(), b"broken");
        folders.iter().for_each(|folder| chmod(folder, 0o700));
        assert!(start.run(&root.path()).starts_with("rebuilt: "));
    });
}

#[test]
fn whatever_the_mask_is_files_and_folders_have_the_modes_that_a_start_wants() {
    with_own_folder(|root, start| {
        // The mock's memory is a file too, so plans are not run under the masks.
        for mask in [0o777, 0o277, 0o377, 0] {
            let start = Start { mask: Some(mask), variables: &[(DO_NOT_RUN, "1")], ..*start };
            let below = root.path().join(format!("{mask:o}/deep"));
            assert_eq!(start.run(&below), "miss, built true", "{mask:04o}");
            assert_eq!(start.run(&below), "hit, built false", "{mask:04o}");
        }
        let modes = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let mut folders = vec![root.path()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let want = if path.is_dir() { 0o700 } else { 0o600 };
                assert_eq!(modes(&path), want, "{}", path.display());
                folders.extend(path.is_dir().then_some(path));
            }
        }
    });
}

#[test]
fn a_file_that_grows_too_large_leaves_nothing() {
    let root = Root::new();
    // The mock's memory is a file too, so the plan is not run under the limit.
    let start = Start { blocks: Some(1), variables: &[(DO_NOT_RUN, "1")], ..Start::default() };
    let said = start.run(&root.path());
    assert!(said.starts_with("not cached: ") && said.ends_with(", built true"), "{said}");
    assert!(said.contains("File too large"), "{said}");
    assert!(root.files().iter().all(|file| !file.to_string_lossy().ends_with(".tmp")), "{:?}", root.files());
    assert_miss(root.cache());
}

#[test]
fn without_a_working_directory_plans_are_built() {
    let start = Start { nowhere: true, ..Start::default() };
    let said = start.run(Path::new("relative"));
    assert!(said.starts_with("not cached: ") && said.ends_with(", built true"), "{said}");
}

#[test]
fn a_full_disk_leaves_nothing() {
    let root = Root::new();
    fs::create_dir(root.path()).unwrap();
    let mount = |program: &str, arguments: &[&str]| {
        let run = Command::new(program).args(arguments).arg(root.path()).output();
        run.is_ok_and(|output| output.status.success())
    };
    let options = ["-t", "tmpfs", "-o", "size=16k,mode=700", "tmpfs"];
    if !is_root("a full disk") || !mount("mount", &options) {
        return crate::common::skipped("no small file system can be mounted; a limit of the file size is tested");
    }
    let filler = root.path().join("filler");
    let filled = std::panic::catch_unwind(|| {
        // All of it is full, then all but the folders.
        fs::write(&filler, vec![1; 64 << 10]).unwrap_err();
        assert_uncached(root.cache(), "No space left");
        root.assert_logged(&["warn: ", "is not cached", "No space left"]);
        assert!(filler.exists());
        fs::remove_file(&filler).unwrap();
        assert_miss(root.cache());
        assert_hit(root.cache());
    });
    assert!(mount("umount", &[]));
    filled.unwrap();
}

#[test]
fn a_root_of_several_lines_is_named_in_one() {
    let root = Root::new();
    let odd = || root.cache().cache_dir(root.path().join("a\nb\u{1b}[2J"));
    assert_miss(odd());
    assert_hit(odd());
    fs::write(root.recipe(), "broken").unwrap();
    crate::assert_rebuilt(odd(), "");
    chmod(&root.recipe(), 0o644);
    assert_uncached(odd(), "a\\nb\\u{1b}[2J/Model_dynamic_");
    assert!(root.log().len() > 5);
    for line in root.log() {
        assert!(line.contains("a\\nb") && !line.contains(char::is_control), "{line:?}");
    }
}
