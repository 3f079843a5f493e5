//! Files that are no library for this program, and paths that need care.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use racl::{Error, ErrorKind};

use crate::build::libraries;
use crate::common::assert_says;
use crate::{add, load};

/// A file of these bytes; like all of them in a folder of its own.
fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let folder = libraries().folder.join("files");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// The library with some bytes changed.
fn altered(name: &str, changes: &[(usize, u8)]) -> PathBuf {
    let mut bytes = fs::read(&libraries().full).unwrap();
    changes.iter().for_each(|(at, byte)| bytes[*at] = *byte);
    file(name, &bytes)
}

/// That the file is refused, twice, with this reason, in one line that names it.
#[track_caller]
fn assert_refused(path: &Path, reason: &str) {
    for _ in 0..2 {
        let error: Error = load(path).unwrap_err();
        assert_says(&error, ErrorKind::LibraryNotFound, &[&path.display().to_string(), reason]);
    }
}

#[test]
fn files_that_are_no_ascendcl_are_refused_with_what_they_lack() {
    assert_refused(&libraries().folder.join("missing.so"), "cannot open shared object file: No such file");
    assert_refused(Path::new("librequested.so.77"), "cannot open shared object file: No such file");
    assert_refused(&libraries().foreign, "is not a usable AscendCL library: it has no aclInit");
    assert_refused(&libraries().crippled, "is not a usable AscendCL library: it has no aclrtMalloc");
}

#[test]
fn files_that_are_no_library_are_refused_with_what_they_are() {
    assert_refused(&libraries().text, "it is no ELF file");
    assert_refused(&file("empty.so", b""), "it is empty");
    assert_refused(&file("short.so", b"\x7fELF\x02\x01"), "it ends within its header");
    assert_refused(&libraries().folder, "it is a folder; the file in it is wanted");
    assert_refused(Path::new("/dev/null"), "it is no regular file");
    let objects = libraries().folder.join("objects");
    let object =
        fs::read_dir(objects).unwrap().map(|entry| entry.unwrap().path()).find(|p| p.ends_with("contexts-init.o"));
    assert_refused(&object.unwrap(), "it is an object file, not a shared library");
    assert_refused(&std::env::current_exe().unwrap(), "executable");
}

#[test]
fn a_path_with_a_zero_byte_is_refused() {
    // SAFETY: no file has such a name.
    let error = unsafe { racl::Acl::init_from("lib\0ascendcl.so") }.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LibraryNotFound, "{error}");
}

#[test]
fn a_pipe_is_refused_instead_of_waited_for() {
    let pipe = libraries().folder.join("pipe");
    let _ = fs::remove_file(&pipe);
    if !Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        return crate::common::skipped("mkfifo does not work");
    }
    assert_refused(&pipe, "it is no regular file");
}

#[test]
fn a_library_for_another_machine_names_both() {
    // The machine is a number of two bytes at 18 of the header: 183 is AArch64, 62 is x86-64.
    let (other, named) = if cfg!(target_arch = "aarch64") { (62, "x86-64") } else { (183, "AArch64") };
    let path = altered("machine.so", &[(18, other), (19, 0)]);
    assert_refused(&path, &format!("it is built for {named}, this program for "));
    assert_refused(&altered("unheard.so", &[(18, 0xEE), (19, 0xEE)]), "it is built for machine 61166, this program");
    // The word size stands at 4: 1 is 32 bits.
    assert_refused(&altered("narrow.so", &[(4, 1)]), "wrong ELF class");
}

#[test]
fn a_library_that_was_copied_in_part_is_refused() {
    let whole = fs::read(&libraries().full).unwrap();
    for length in [64, 1000, whole.len() / 4, whole.len() / 2] {
        let path = file("part.so", &whole[..length]);
        assert_refused(&path, &format!("it is cut off: it has {length} bytes and needs more"));
    }
}

#[test]
fn a_library_whose_end_was_not_written_is_refused() {
    // As a copy or a download leaves it that gives the file its size first.
    let mut bytes = fs::read(&libraries().full).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(0);
    assert_refused(
        &file("zeros.so", &bytes),
        "it is damaged: the tables that the dynamic loader needs are not in it",
    );
}

#[test]
fn paths_with_spaces_and_of_any_bytes_are_taken() {
    let folder = libraries().folder.join("files");
    let names =
        [OsStr::new("a path with spaces"), OsStr::from_bytes(b"no text \xff\xfe"), OsStr::new("naïve \u{1F980}")];
    for name in names {
        let folder = folder.join(name);
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("lib ascendcl.so");
        // The loader knows a file by its number, so a link would be the library that is open already.
        fs::copy(&libraries().full, &path).unwrap();
        let acl = load(&path).unwrap();
        assert_eq!(acl.library(), path.display().to_string());
        assert_eq!(add(&acl).unwrap(), [2.0, 4.0, 6.0]);
    }
}

#[test]
fn links_to_a_library_are_followed() {
    let folder = libraries().folder.join("files");
    fs::create_dir_all(&folder).unwrap();
    let (link, lost) = (folder.join("link.so"), folder.join("lost.so"));
    for (link, target) in [(&link, &libraries().full), (&lost, &folder.join("gone.so"))] {
        let _ = fs::remove_file(link);
        symlink(target, link).unwrap();
    }
    assert_eq!(add(&load(&link).unwrap()).unwrap(), [2.0, 4.0, 6.0]);
    assert_refused(&lost, "cannot open shared object file: No such file");
}

#[test]
fn a_path_of_several_lines_is_named_in_one() {
    let path = libraries().folder.join("a\nb\u{1b}[2J.so");
    for path in [path.clone(), file("c\nd.so", b"")] {
        let error = load(&path).unwrap_err().to_string();
        let shown = path.to_str().unwrap().replace('\n', "\\n").replace('\u{1b}', "\\u{1b}");
        assert!(error.contains(&shown) && !error.contains(char::is_control), "{error:?}");
    }
}
