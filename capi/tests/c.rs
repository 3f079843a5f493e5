//! The header, and programs in C and C++ that use it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

mod bad;
mod support;

use support::{
    SANITIZED, THREADS, built, compiled, functions, header, here, is_there, program, run, watched_program,
};

#[test]
fn the_header_is_what_cbindgen_makes_of_the_sources() {
    let (path, made) = (here().join("include/racl.h"), header());
    if std::env::var_os("RACL_WRITE_HEADER").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == made, "{} is old: RACL_WRITE_HEADER=1 cargo test -p racl-capi header", path.display());
}

#[test]
fn the_header_compiles_in_every_language() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source.c");
    std::fs::write(&source, "#include \"racl.h\"\n#include \"racl.h\"\n").unwrap();
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| is_there(compiler)) {
        for (language, standard) in [("c", "c11"), ("c", "c17"), ("c++", "c++14"), ("c++", "c++17"), ("c++", "c++20")]
        {
            let mut command = Command::new(compiler);
            command.args(["-x", language, &format!("-std={standard}"), "-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
            run(command.args(["-fsyntax-only", "-I"]).arg(here().join("include")).arg(&source));
        }
    }
}

#[test]
fn the_library_exports_what_the_header_declares_and_nothing_else() {
    let symbols = run(Command::new("nm").args(["-D", "--defined-only"]).arg(built().join("libracl_capi.so")));
    let exported: BTreeSet<&str> = symbols.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    let header = header();
    let declared: BTreeSet<&str> = functions(&header).iter().map(|function| function.name).collect();
    assert!(declared.len() > 50, "{declared:?}");
    assert_eq!(exported, declared);
}

const PROGRAMS: &[&str] =
    &["basics", "work", "threads", "plans", "recording", "adopted", "callbacks", "cache", "passes", "calls"];

fn source(name: &str) -> PathBuf {
    here().join(format!("tests/c/{name}.c"))
}

fn count(name: &str, text: &str) -> u32 {
    let counted = text.lines().last().and_then(|line| line.strip_suffix(" checks"));
    counted.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{name}: {text}"))
}

#[test]
fn programs_in_c_give_what_they_expect() {
    let mut all = 0;
    for name in PROGRAMS {
        let run = |flags| count(name, &program(&source(name), flags));
        let counts = [run(&[]), run(SANITIZED)];
        assert!(counts[0] > 10, "{name}: {counts:?}");
        all += counts[0];
    }
    assert!(all >= 250, "{all}");
}

/// Without callbacks: what orders them is inside the library, where the sanitizer does not look.
#[test]
fn programs_in_c_race_with_nobody() {
    for name in PROGRAMS.iter().filter(|name| **name != "callbacks") {
        assert!(count(name, &program(&source(name), THREADS)) > 10, "{name}");
    }
}

#[test]
#[ignore = "takes minutes; `.ci/full` runs it"]
fn valgrind_has_nothing_to_say() {
    for name in PROGRAMS {
        assert!(count(name, &watched_program(&source(name))) > 10, "{name}");
    }
}

#[test]
fn every_function_knows_bad_handles_and_places() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("bad.c");
    let (text, checks) = bad::program(&header());
    std::fs::write(&source, text).unwrap();
    for flags in [&[][..], SANITIZED] {
        assert_eq!(program(&source, flags).trim_end(), format!("{checks} checks"));
    }
}

#[test]
fn an_exception_of_a_callback_ends_the_process_and_crosses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let source = here().join("tests/c/throws.cpp");
    let output = compiled(folder.path(), ("c++", "-std=c++17"), &source, &[]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.status.code().is_none(), "{}", output.status);
    assert!(text.contains("foreign exceptions") && output.stdout.is_empty(), "{text}");
}

#[test]
fn two_copies_of_the_library_know_their_own_handles() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = compiled(folder.path(), ("cc", "-std=c11"), &source("copies"), &[]);
    for name in ["one.so", "other.so"] {
        let copy = folder.path().join(name);
        std::fs::copy(built().join("libracl_capi.so"), &copy).unwrap();
        program.arg(copy);
    }
    assert!(count("copies", &run(&mut program)) > 10);
}

const EXAMPLES: &[(&str, &str)] = &[
    ("graph", "1 2 3 4\n"),
    (
        "streams_and_events",
        "6 operators on 3 streams with 6 events, 0 lints\neager : all as expected\nreplay: all as expected\n\
         without a wait: refused\n",
    ),
    (
        "wait_value",
        "4 operators on 3 streams with 5 events, 0 lints\neager : all as expected\nreplay: all as expected\n",
    ),
    (
        "prefetch",
        "5 operators on 2 streams with 2 events, 0 lints\n400 of 10000000 bytes asked for\neager : all as expected\n\
         replay: all as expected\n",
    ),
    (
        "frozen",
        "the plan was built\neager : equals the operators in order, also with new numbers in place\n\
         eager : refuses a weight in another place\n\
         replay: equals the operators in order, also with new numbers in place\n\
         replay: refuses a weight in another place\n",
    ),
];

#[test]
fn the_examples_print_what_they_say() {
    for (name, expected) in EXAMPLES {
        for flags in [&[][..], SANITIZED] {
            assert_eq!(program(&here().join(format!("examples/{name}.c")), flags), *expected, "{name}");
        }
    }
}
