//! What the tests of C and of C++ stand on: the header and what it declares, the library, compilers.

// Each test uses a part of it.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

pub(crate) const THREADS: &[&str] = &["-fsanitize=thread"];
pub(crate) const SANITIZED: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// The examples of `capi/examples`, each in C and in C++, and what they print. Those with calls of AscendCL are run by
/// `install.sh`.
pub(crate) const EXAMPLES: &[(&str, &str)] = &[
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

/// The compiler of C, and its standard.
pub(crate) const C: (&str, &str) = ("cc", "-std=c11");

/// What the library itself is compiled with besides: "address" or "thread".
pub(crate) fn sanitizer() -> Option<String> {
    std::env::var("RACL_SANITIZED").ok()
}

/// What compiles for ThreadSanitizer and binds a program to the runtime that Rust has of it.
pub(crate) fn threads_of_rust() -> Vec<String> {
    let asked = |what: &[&str]| run(Command::new("rustc").args(what));
    let host = asked(&["-vV"]);
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let folder = Path::new(asked(&["--print", "sysroot"]).trim()).join(format!("lib/rustlib/{host}/lib"));
    let mut files = folder.read_dir().unwrap().map(|file| file.unwrap().path());
    let library = files.find(|file| file.to_string_lossy().ends_with("_rt.tsan.a")).expect("the runtime of Rust");
    let flags = ["-fsanitize=thread", "-fno-sanitize-link-runtime", "-Wl,--whole-archive", library.to_str().unwrap()];
    flags.into_iter().chain(["-Wl,--no-whole-archive", "-lstdc++", "-ldl"]).map(str::to_owned).collect()
}

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
    run_within(LIMIT, command)
}

/// Far more than any program takes, also under Valgrind on a busy machine.
const LIMIT: Duration = Duration::from_secs(1200);

/// What a program prints, which is aborted when it takes longer.
pub(crate) fn run_within(limit: Duration, command: &mut Command) -> String {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (pid, (over, running)) = (child.id().to_string(), channel::<()>());
    let watch = std::thread::spawn(move || {
        let hangs = running.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
        hangs && Command::new("kill").args(["-ABRT", &pid]).status().is_ok_and(|status| status.success())
    });
    let output = child.wait_with_output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    drop(over);
    let why = if watch.join().unwrap() { format!(", for it took longer than {limit:?}") } else { String::new() };
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{command:?}: {}{why}\n{text}", output.status);
    text
}

/// A line that `.ci/full` keeps, of what was met: the unit and the target behind the value. On a line of its own, also
/// where the progress of tests is a dot for each.
#[allow(clippy::print_stdout, reason = "a line of `.ci/full`")]
pub(crate) fn figure(what: &str, value: impl std::fmt::Display, of: &str) {
    println!("\n{what}\t{value}\t{of}\tmet");
}

/// Those that the headers are for. All of them where RACL_COMPILERS is set, as the gate sets it, which installs them.
#[allow(clippy::print_stderr, reason = "says what was left out")]
pub(crate) fn compilers() -> Vec<&'static str> {
    let is_there =
        |program: &&str| Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success());
    let (there, missing): (Vec<_>, Vec<_>) = ["gcc", "clang"].into_iter().partition(is_there);
    assert!(!there.is_empty(), "none of {missing:?} is there");
    if !missing.is_empty() {
        assert!(std::env::var_os("RACL_COMPILERS").is_none(), "{missing:?} are missing");
        eprintln!("not compiled with {missing:?}, which are not there");
    }
    there
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
    // ThreadSanitizer knows nothing of the locks inside a library that is not compiled for it: what it finds is of the
    // program.
    if sanitizer().is_none() {
        let known = folder.join("known");
        std::fs::write(&known, "called_from_lib:libracl_capi.so\n").unwrap();
        program.env("TSAN_OPTIONS", format!("suppressions={}", known.display()));
    }
    // Cargo names folders there in which another build of the library may be.
    program.env_remove("LD_LIBRARY_PATH");
    // Programs count how often a plan is built.
    program.env("RACL_LIBRARY", "mock").env_remove("RACL_CACHE_VERIFY").current_dir(folder);
}

/// Compiles and runs a program in C with these flags, and gives what it prints.
pub(crate) fn program(source: &Path, flags: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    run(&mut compiled(folder.path(), C, source, flags))
}

/// The same in C++.
pub(crate) fn cpp_program(source: &Path, flags: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    run(&mut compiled(folder.path(), ("c++", "-std=c++17"), source, flags))
}

/// Runs what was compiled in a folder under Valgrind, which ends with an error where it reports something.
pub(crate) fn watched(program: &mut Command, folder: &Path) -> String {
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=99", "--leak-check=full"]);
    command.args(["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite", "--fair-sched=yes"]);
    command.arg(program.get_program()).args(program.get_args());
    // Fifty times slower: a fiftieth of the rounds, where a program has rounds.
    if program.get_args().len() == 0 {
        command.arg("50");
    }
    ready(&mut command, folder);
    run(&mut command)
}

pub(crate) struct Function<'h> {
    pub(crate) name: &'h str,
    /// The type and the name of each.
    pub(crate) parameters: Vec<(String, &'h str)>,
    pub(crate) fails: bool,
}

/// The structs that a header defines, with the type and the name of each field.
pub(crate) fn structs(header: &str) -> Vec<(&str, Vec<(String, &str)>)> {
    let mut all = Vec::new();
    for (place, opening) in header.match_indices("typedef struct {") {
        let (body, rest) = header[place + opening.len()..].split_once("\n}").expect("the end of a struct");
        let name = rest.split(';').next().unwrap_or_default().trim();
        // Fields stand on lines of their own.
        let fields = body.lines().map(str::trim).filter(|line| line.ends_with(';') && !line.starts_with('*'));
        all.push((name, fields.filter_map(|line| declared(line.trim_end_matches(';'))).collect()));
    }
    all
}

/// The type and the name of a parameter or a field.
fn declared(text: &str) -> Option<(String, &str)> {
    let end = text.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_')? + 1;
    let kind: Vec<&str> = text[..end].split_whitespace().collect();
    Some((kind.join(" ").replace(" *", "*").replace("struct ", ""), &text[end..]))
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
        let parameters = parameters.filter_map(declared);
        all.push(Function { name: &rest[..open], parameters: parameters.collect(), fails: returns == "int32_t" });
    }
    all
}
