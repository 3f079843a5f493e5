//! A library is loaded once and stays.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, OnceLock};
use std::{fs, thread};

use racl::ErrorKind;
use racl::sys::{Library, Table};

use crate::build::libraries;
use crate::{add, load};

/// The mock with code that writes a line when it is loaded and when it is unloaded; the file of the lines.
fn witness(name: &str, hidden: &[&str]) -> (PathBuf, PathBuf) {
    let log = libraries().folder.join(format!("once/{name}.log"));
    let code = format!(
        "#include <stdio.h>\n\
         static void note(const char *what) {{\n\
             FILE *file = fopen({log:?}, \"a\");\n\
             if (file != NULL) {{ fprintf(file, \"%s\\n\", what); fclose(file); }}\n\
         }}\n\
         __attribute__((constructor)) static void loaded(void) {{ note(\"loaded\"); }}\n\
         __attribute__((destructor)) static void unloaded(void) {{ note(\"unloaded\"); }}\n"
    );
    let library = libraries().with_code(&format!("once/{name}.so"), &code, hidden);
    let _ = fs::remove_file(&log);
    (library, log)
}

fn lines(log: &Path) -> String {
    fs::read_to_string(log).unwrap_or_default()
}

/// Runs `work` on several threads that begin together.
fn together(work: impl Fn() + Sync) {
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                work();
            });
        }
    });
}

#[test]
fn threads_that_begin_together_load_once() {
    let (library, log) = witness("threads", &[]);
    together(|| assert_eq!(add(&load(&library).unwrap()).unwrap(), [2.0, 4.0, 6.0]));
    // SAFETY: a library made from the mock.
    together(|| assert!(unsafe { Table::load_from(&library) }.unwrap().has("aclrtMalloc")));
    assert_eq!(lines(&log), "loaded\n");
}

#[test]
fn threads_resolve_the_same_addresses() {
    // SAFETY: a library made from the mock.
    let table = unsafe { Table::load_from(&libraries().full) }.unwrap();
    // SAFETY: a library made from the mock.
    let first = unsafe { Table::load_from(&libraries().full) }.unwrap();
    let malloc = first.aclrtMalloc().unwrap() as usize;
    together(|| {
        assert_eq!(table.aclrtMalloc().unwrap() as usize, malloc);
        assert_ne!(table.aclrtFree().unwrap() as usize, malloc);
    });
}

#[test]
fn the_end_of_the_last_value_does_not_unload() {
    let (library, log) = witness("again", &[]);
    let link = library.with_extension("link.so");
    let _ = fs::remove_file(&link);
    symlink(&library, &link).unwrap();
    for path in [&library, &library, &link, &library] {
        let acl = load(path).unwrap();
        assert_eq!(add(&acl).unwrap(), [2.0, 4.0, 6.0]);
        acl.close().unwrap();
        assert_eq!(lines(&log), "loaded\n");
    }
    // SAFETY: a library made from the mock.
    drop(unsafe { Table::load_from(&library) }.unwrap());
    assert_eq!(lines(&log), "loaded\n");
}

#[test]
fn a_library_that_is_refused_stays_as_well() {
    let (library, log) = witness("refused", &["aclrtCreateStream"]);
    for _ in 0..3 {
        let error = load(&library).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LibraryNotFound, "{error}");
        assert_eq!(lines(&log), "loaded\n");
    }
}

static ASKED: OnceLock<Table> = OnceLock::new();
static ANSWERS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn asks() {
    let table = ASKED.get().unwrap();
    let answers = [table.has("aclnnAdd"), table.has("aclnnNoSuchOperator"), table.is_found(Library::Operators)];
    ANSWERS.fetch_add(1 + usize::from(answers == [true, false, true]), Ordering::AcqRel);
}

/// What runs when a library of operators is loaded asks the table that loads it.
#[test]
fn an_initialiser_asks_for_functions() {
    if Table::load().is_ok() {
        return crate::common::skipped("an installed toolkit has the operators that a test shall bring");
    }
    let _watched = crate::watchdog::Watchdog::new();
    let code = format!(
        "__attribute__((constructor)) static void loaded(void) {{ ((void (*)(void)){:#x}UL)(); }}\n",
        (asks as *const ()).addr()
    );
    let operators = libraries().with_code("asks/libopapi.so", &code, &[]);
    let runtime = operators.with_file_name("libascendcl.so");
    fs::copy(&libraries().bare, &runtime).unwrap();
    // SAFETY: a library made for these tests.
    let table = ASKED.get_or_init(|| unsafe { Table::load_from(&runtime) }.unwrap());
    assert!(table.has("aclnnAdd"));
    assert_eq!(ANSWERS.load(Ordering::Acquire), 2, "once, with all three answers");
    assert!(!table.has("aclnnNoSuchOperator"));
}
