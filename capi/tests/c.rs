//! The header, and programs in C and C++ that use it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

mod bad;

/// Where this package is.
fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn header() -> String {
    let config = cbindgen::Config::from_file(here().join("cbindgen.toml")).unwrap();
    let mut text = Vec::new();
    cbindgen::Builder::new().with_config(config).with_crate(here()).generate().unwrap().write(&mut text);
    String::from_utf8(text).unwrap()
}

/// The folder of the library that was built for this test.
fn built() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    assert!(folder.join("libracl_capi.so").is_file(), "no library in {}", folder.display());
    folder
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{command:?}: {}\n{text}", output.status);
    text
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Compiles a program with these flags, and gives what runs it in its folder.
fn compiled(folder: &Path, (compiler, standard): (&str, &str), source: &Path, flags: &[&str]) -> Command {
    let (to, library) = (folder.join("program"), built());
    let mut command = Command::new(compiler);
    command.args([standard, "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-g", "-pthread"]);
    command.args(flags).arg("-I").arg(here().join("include")).arg("-I").arg(here().join("tests/c"));
    command.arg(source).arg("-o").arg(&to).arg("-L").arg(&library).arg("-lracl_capi").arg("-lm");
    run(command.arg(format!("-Wl,-rpath,{}", library.display())));
    let mut program = Command::new(&to);
    program.env("RACL_LIBRARY", "mock").current_dir(folder);
    program
}

/// Compiles and runs a program with these flags, and gives what it prints.
fn program(source: &Path, flags: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    run(&mut compiled(folder.path(), ("cc", "-std=c11"), source, flags))
}

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
    let declared: BTreeSet<&str> = bad::functions(&header).iter().map(|function| function.name).collect();
    assert!(declared.len() > 50, "{declared:?}");
    assert_eq!(exported, declared);
}

const SANITIZED: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

#[test]
fn programs_in_c_give_what_they_expect() {
    for name in ["basics", "work", "threads", "plans", "callbacks", "cache"] {
        let source = here().join(format!("tests/c/{name}.c"));
        for flags in [&[][..], SANITIZED] {
            let text = program(&source, flags);
            let counted = text.lines().last().and_then(|line| line.strip_suffix(" checks"));
            let count: u32 = counted.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{name}: {text}"));
            assert!(count > 10, "{name}: {text}");
        }
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
