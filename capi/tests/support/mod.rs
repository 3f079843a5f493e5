//! What the tests of C and of C++ stand on: the header and what it declares, the library, compilers.

// Each test uses a part of it.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const THREADS: &[&str] = &["-fsanitize=thread"];
pub(crate) const SANITIZED: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// Where this package is.
pub(crate) fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn header() -> String {
    let config = cbindgen::Config::from_file(here().join("cbindgen.toml")).unwrap();
    let mut text = Vec::new();
    cbindgen::Builder::new().with_config(config).with_crate(here()).generate().unwrap().write(&mut text);
    String::from_utf8(text).unwrap()
}

/// The folder of the library that was built for this test.
pub(crate) fn built() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    assert!(folder.join("libracl_capi.so").is_file(), "no library in {}", folder.display());
    folder
}

pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{command:?}: {}\n{text}", output.status);
    text
}

pub(crate) fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Compiles a program with these flags, and gives what runs it in its folder.
pub(crate) fn compiled(folder: &Path, (compiler, standard): (&str, &str), source: &Path, flags: &[&str]) -> Command {
    let (to, library) = (folder.join("program"), built());
    let mut command = Command::new(compiler);
    command.args([standard, "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-g", "-pthread"]);
    command.args(flags).arg("-I").arg(here().join("include")).arg("-I").arg(here().join("tests/c"));
    command.arg(source).arg("-o").arg(&to).arg("-L").arg(&library).arg("-lracl_capi").arg("-lm");
    run(command.arg(format!("-Wl,-rpath,{}", library.display())));
    let mut program = Command::new(&to);
    ready(&mut program, folder);
    program
}

fn ready(program: &mut Command, folder: &Path) {
    // ThreadSanitizer knows nothing of the locks inside the library, which is not compiled for it: what it finds is of
    // the program.
    let known = folder.join("known");
    std::fs::write(&known, "called_from_lib:libracl_capi.so\n").unwrap();
    program.env("TSAN_OPTIONS", format!("suppressions={}", known.display()));
    // Cargo names folders there in which another build of the library may be.
    program.env_remove("LD_LIBRARY_PATH");
    // Programs count how often a plan is built.
    program.env("RACL_LIBRARY", "mock").env_remove("RACL_CACHE_VERIFY").current_dir(folder);
}

/// Compiles and runs a program in C with these flags, and gives what it prints.
pub(crate) fn program(source: &Path, flags: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    run(&mut compiled(folder.path(), ("cc", "-std=c11"), source, flags))
}

/// The same in C++.
pub(crate) fn cpp_program(source: &Path, flags: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    run(&mut compiled(folder.path(), ("c++", "-std=c++17"), source, flags))
}

/// Compiles a program in C and runs it under Valgrind, which ends with an error where it reports something.
pub(crate) fn watched_program(source: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), ("cc", "-std=c11"), source, &[]);
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=99", "--leak-check=full"]);
    command.args(["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite", "--fair-sched=yes"]);
    // Fifty times slower: a fiftieth of the rounds, where a program has rounds.
    command.arg(program.get_program()).arg("50");
    ready(&mut command, folder.path());
    run(&mut command)
}

pub(crate) struct Function<'h> {
    pub(crate) name: &'h str,
    /// The type and the name of each.
    pub(crate) parameters: Vec<(String, &'h str)>,
    pub(crate) fails: bool,
}

/// All functions that a header declares.
pub(crate) fn functions(header: &str) -> Vec<Function<'_>> {
    let mut all = Vec::new();
    for (place, _) in header.match_indices("racl_") {
        let rest = &header[place..];
        let Some(open) = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_') else { continue };
        let line = header[..place].rsplit('\n').next().unwrap_or_default();
        let returns = line.trim();
        if !rest[open..].starts_with('(') || returns.is_empty() || returns.starts_with(['*', '/']) {
            continue;
        }
        let close = rest.find(");").expect("the end of a declaration");
        let parameters = rest[open + 1..close].split(',').map(str::trim).filter(|text| *text != "void");
        let parameter = |text: &str| text.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(|end| end + 1);
        let parameters = parameters.filter_map(|text| {
            let end = parameter(text)?;
            let kind: Vec<&str> = text[..end].split_whitespace().collect();
            Some((kind.join(" ").replace(" *", "*").replace("struct ", ""), &text[end..]))
        });
        all.push(Function { name: &rest[..open], parameters: parameters.collect(), fails: returns == "int32_t" });
    }
    all
}
