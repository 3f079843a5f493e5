//! The header, and programs in C and C++ that use it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

mod bad;
mod support;

use support::{
    C, EXAMPLES, SANITIZED, THREADS, built, compiled, compilers, figure, functions, header, here, program, run,
    run_within, watched,
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

/// What sources of here declare of other libraries is for them alone.
#[test]
fn the_header_declares_functions_of_racl_alone() {
    let header = header();
    // Lines of comments begin with a space and a star, and those of parameters and fields with spaces.
    let begins = |line: &&str| line.contains('(') && line.starts_with(|first: char| first.is_ascii_alphabetic());
    let name = |line: &str| line.split('(').next()?.split([' ', '*']).next_back().map(str::to_owned);
    let names: Vec<String> =
        header.lines().filter(begins).filter(|line| !line.starts_with("typedef ")).filter_map(name).collect();
    let others: Vec<&String> = names.iter().filter(|name| !name.starts_with("racl_")).collect();
    assert!(others.is_empty(), "{others:?}, to be excluded in cbindgen.toml");
    assert_eq!(names.len(), functions(&header).len());
}

/// Names of constants of the header, and their values.
fn constants(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter_map(|line| line.strip_prefix("#define ").unwrap_or(line).split_once(' ')).collect()
}

/// Programs that are compiled have the values inside, which the interface of the library does not show. What is new comes
/// into the list with the header.
#[test]
fn the_constants_of_the_header_keep_their_values() {
    let (path, header) = (here().join("abi/constants"), header());
    assert!(!header.contains("enum "), "constants that are no macros: the list has to have them too");
    let defined: String =
        header.lines().filter(|line| line.starts_with("#define RACL_")).map(|l| format!("{l}\n")).collect();
    let listed = std::fs::read_to_string(&path).unwrap_or_default();
    let (mut now, known) = (constants(&defined), constants(&listed));
    // The version is to change; basics.c has its value.
    now.remove("RACL_VERSION");
    let of_now = |name: &str| now.get(name).map_or("gone", |value| value);
    let changed: Vec<_> = known.iter().filter(|(name, value)| of_now(name) != **value).collect();
    let told: Vec<_> = changed.iter().map(|(name, was)| format!("{name} was {was}, is {}", of_now(name))).collect();
    assert!(told.is_empty(), "{told:#?}\nwhere that is meant, change {} by hand", path.display());
    let new: Vec<_> = now.iter().filter(|(name, _)| !known.contains_key(**name)).collect();
    if std::env::var_os("RACL_WRITE_HEADER").is_some() {
        let lines: String = now.iter().map(|(name, value)| format!("{name} {value}\n")).collect();
        std::fs::write(&path, lines).unwrap();
    } else {
        assert!(new.is_empty(), "{new:?} are new: RACL_WRITE_HEADER=1 cargo test -p racl-capi header");
    }
}

#[test]
fn the_header_compiles_in_every_language() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source.c");
    std::fs::write(&source, "#include \"racl.h\"\n#include \"racl.h\"\n").unwrap();
    for compiler in compilers() {
        for (language, standard) in [("c", "c11"), ("c", "c17"), ("c++", "c++14"), ("c++", "c++17"), ("c++", "c++20")]
        {
            let mut command = Command::new(compiler);
            command.args(["-x", language, &format!("-std={standard}")]);
            command.args(["-Wall", "-Wextra", "-Wshadow", "-Wpedantic", "-Werror"]);
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

/// `make abi-check` says nothing of a function that is new, which later versions would not be compared with.
#[test]
fn the_interface_that_versions_are_compared_with_has_what_the_header_declares() {
    let text = std::fs::read_to_string(here().join("abi/libracl.abi")).unwrap();
    let symbol = |line: &str| Some(line.trim().strip_prefix("<elf-symbol name='")?.split('\'').next()?.to_owned());
    let kept: BTreeSet<String> = text.lines().filter_map(symbol).collect();
    let header = header();
    let declared: BTreeSet<String> = functions(&header).iter().map(|function| function.name.to_owned()).collect();
    assert!(kept == declared, "make -C capi abi: {:?}", kept.symmetric_difference(&declared).collect::<Vec<_>>());
}

/// A program that has it inside may have the mock's libascendcl.so beside it, whose functions would be those of here.
#[test]
fn the_static_library_has_no_name_that_another_library_may_have() {
    let symbols = run(Command::new("readelf").args(["-sW"]).arg(built().join("libracl_capi.a")));
    let defined = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        matches!(words[..], [_, _, _, _, "GLOBAL" | "WEAK", "DEFAULT" | "PROTECTED", place, ..] if place != "UND")
    };
    let visible = symbols.lines().filter(defined).filter_map(|line| line.split_whitespace().last());
    // Rust's own, and those of AscendCL in the mock, which have a name of it in front.
    let is_others =
        |name: &str| ["_R", "_ZN", "rust_", "__rust", "racl_mock_"].iter().any(|own| name.starts_with(own));
    let visible: BTreeSet<&str> = visible.collect();
    let header = header();
    let declared: BTreeSet<&str> = functions(&header).iter().map(|function| function.name).collect();
    let odd: Vec<&&str> = visible.difference(&declared).filter(|name| !is_others(name)).collect();
    assert!(odd.is_empty() && visible.is_superset(&declared), "{odd:?}");
}

const PROGRAMS: &[&str] = &[
    "basics",
    "work",
    "threads",
    "plans",
    "recording",
    "adopted",
    "callbacks",
    "cache",
    "passes",
    "calls",
    "control",
    "ends",
    "cancels",
    "exits",
    "options",
    "plan_options",
    "function_options",
];

/// How many checks they make together.
const LEAST: u32 = 250;

/// Threads of it may be inside when a program closes it.
#[test]
fn the_library_stays_when_it_is_closed() {
    let dynamic = run(Command::new("readelf").arg("-dW").arg(built().join("libracl_capi.so")));
    assert!(dynamic.lines().any(|line| line.contains("(FLAGS_1)") && line.contains("NODELETE")), "{dynamic}");
}

fn source(name: &str) -> PathBuf {
    here().join(format!("tests/c/{name}.c"))
}

fn count(name: &str, text: &str) -> u32 {
    let counted = text.lines().rev().find_map(|line| line.strip_suffix(" checks"));
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
    assert!(all >= LEAST, "{all}");
    figure("checks of the programs in C", all, &format!("checks\tat least {LEAST}"));
}

/// Up to CANN 8.3 a thread of the context runs its functions, whose end a thread may ask for that ends itself.
#[test]
fn threads_end_what_they_had_of_an_older_release() {
    let folder = tempfile::tempdir().unwrap();
    let mut older = compiled(folder.path(), C, &source("exits"), &[]);
    assert!(count("exits", &run(older.env("RACL_MOCK_OLDER_HOST_FUNCTIONS", "1"))) > 10);
}

/// Without callbacks: what orders them is inside the library, where the sanitizer does not look.
#[test]
fn programs_in_c_race_with_nobody() {
    for name in PROGRAMS.iter().filter(|name| !["callbacks", "ends"].contains(name)) {
        assert!(count(name, &program(&source(name), THREADS)) > 10, "{name}");
    }
}

#[test]
#[ignore = "takes minutes; `.ci/full` runs it"]
fn valgrind_has_nothing_to_say() {
    let counted = |name: &str, source: &Path| {
        let folder = tempfile::tempdir().unwrap();
        count(name, &watched(&mut compiled(folder.path(), C, source, &[]), folder.path()))
    };
    for name in PROGRAMS {
        assert!(counted(name, &source(name)) > 10, "{name}");
    }
    let folder = tempfile::tempdir().unwrap();
    let (bad, checks) = bad_values(folder.path());
    assert_eq!(counted("bad", &bad), checks);
    assert!(count("copies", &watched(&mut copies(folder.path(), C, &[]), folder.path())) > 10);
    figure("programs in C under Valgrind", PROGRAMS.len() + 2, "programs\tnone");
}

/// What the library does is looked at too, and what it orders by itself is known here, as around callbacks.
#[test]
#[ignore = "needs a library that is compiled for it; `.ci/full` has one"]
fn a_library_with_a_sanitizer_has_nothing_to_say() {
    let name = support::sanitizer().expect("RACL_SANITIZED, as `.ci/full` sets it");
    let (compiler, flags) = match name.as_str() {
        "address" => (C, SANITIZED.iter().map(|flag| (*flag).to_owned()).collect()),
        // That of gcc has not all that Rust calls: Rust's own is taken, which clang leaves to us.
        "thread" => (("clang", C.1), support::threads_of_rust()),
        other => panic!("RACL_SANITIZED is {other:?}"),
    };
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let folder = tempfile::tempdir().unwrap();
    let counted =
        |name: &str, source: &Path| count(name, &run(&mut compiled(folder.path(), compiler, source, &flags)));
    // In the last destructors of a thread the sanitizer of races has forgotten the thread.
    let programs = || PROGRAMS.iter().filter(|program| name != "thread" || **program != "exits");
    for program in programs() {
        assert!(counted(program, &source(program)) > 10, "{program}");
    }
    let (bad, checks) = bad_values(folder.path());
    assert_eq!(counted("bad", &bad), checks);
    let mut two = copies(folder.path(), compiler, &flags);
    assert!(count("copies", &run(&mut two)) > 10);
    let what = format!("programs in C and libracl with -fsanitize={name}");
    figure(&what, programs().count() + 2, "programs\tnone");
}

/// The program that calls every function badly, and how many checks it makes.
fn bad_values(folder: &Path) -> (PathBuf, u32) {
    let source = folder.join("bad.c");
    let (text, checks) = bad::program(&header());
    std::fs::write(&source, text).unwrap();
    (source, u32::try_from(checks).unwrap())
}

#[test]
fn every_function_knows_bad_handles_and_places() {
    let folder = tempfile::tempdir().unwrap();
    let (source, checks) = bad_values(folder.path());
    for flags in [&[][..], SANITIZED] {
        assert_eq!(count("bad", &program(&source, flags)), checks);
    }
    assert!(checks >= LEAST);
    figure("checks of bad values in C", checks, &format!("checks\tat least {LEAST}"));
}

#[test]
fn an_exception_of_a_callback_ends_the_process_and_crosses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let source = here().join("tests/c/throws.cpp");
    for callback in ["run", "release", "launch", "simulate", "build", "log", "deleter"] {
        let mut program = compiled(folder.path(), ("c++", "-std=c++17"), &source, &[]);
        let output = program.arg(callback).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.status.code().is_none(), "{callback}: {}", output.status);
        // Which of the two tells of a deleter, a function of C alone, is the compiler's.
        let is_told = text.contains("foreign exceptions") || callback == "deleter" && text.contains("terminate");
        assert!(is_told && output.stdout.is_empty(), "{callback}: {text}");
    }
}

/// It has another standard library than libracl.
#[test]
fn a_panic_of_another_program_of_rust_ends_it_and_crosses_nothing() {
    let (folder, library) = (tempfile::tempdir().unwrap(), built());
    let to = folder.path().join("program");
    let mut command = Command::new("rustc");
    command.args(["--edition", "2024", "-C", &format!("link-arg=-Wl,-rpath,{}", library.display())]);
    run(command.arg("-L").arg(&library).arg(here().join("tests/outside/panics.rs")).arg("-o").arg(&to));
    let output = Command::new(&to).env_remove("LD_LIBRARY_PATH").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_none() && output.stdout.is_empty(), "{}: {text}", output.status);
    assert!(text.contains("the disk is full") && text.contains("foreign exceptions"), "{text}");
}

#[test]
#[should_panic(expected = "for it took longer than 0ns")]
fn a_program_that_hangs_is_ended_and_named() {
    run_within(Duration::ZERO, Command::new("sleep").arg("1000000"));
}

/// A program that loads two copies of the library.
fn copies(folder: &Path, compiler: (&str, &str), flags: &[&str]) -> Command {
    let mut program = compiled(folder, compiler, &source("copies"), flags);
    for name in ["one.so", "other.so"] {
        let copy = folder.join(name);
        std::fs::copy(built().join("libracl_capi.so"), &copy).unwrap();
        program.arg(copy);
    }
    program
}

#[test]
fn two_copies_of_the_library_know_their_own_handles() {
    let folder = tempfile::tempdir().unwrap();
    assert!(count("copies", &run(&mut copies(folder.path(), C, &[]))) > 10);
}

/// Structs that programs give to functions, and those inside of them.
fn given_structs(header: &str) -> Vec<(&str, Vec<(String, &str)>)> {
    let all = support::structs(header);
    let mut given: BTreeSet<&str> = BTreeSet::new();
    let of = |kind: &str| all.iter().map(|(name, _)| *name).find(|name| kind == format!("const {name}*"));
    for function in functions(header) {
        given.extend(function.parameters.iter().filter_map(|(kind, _)| of(kind)));
    }
    loop {
        let fields = all.iter().filter(|(name, _)| given.contains(name)).flat_map(|(_, fields)| fields);
        let more: Vec<&str> = fields.filter_map(|(kind, _)| of(kind)).filter(|name| !given.contains(name)).collect();
        if more.is_empty() {
            break;
        }
        given.extend(more);
    }
    all.into_iter().filter(|(name, _)| given.contains(name)).collect()
}

/// The marks of tests/c/options.h. Sizes of structs are in what tests/bad makes.
#[test]
fn each_field_of_the_options_is_set_to_what_it_may_be_and_to_what_it_may_not_be() {
    let folder = here().join("tests/c");
    let read = |name| std::fs::read_to_string(folder.join(name)).unwrap();
    let text = ["options.c", "plan_options.c", "function_options.c", "control.c"].map(read).concat();
    // REFUSED() is a macro with the struct inside.
    let mut marks: BTreeSet<(&str, String)> = BTreeSet::new();
    let mut within = "";
    for line in text.lines().map(str::trim) {
        for mark in ["GOOD", "BAD", "ANY"] {
            let Some((_, rest)) = line.split_once(&format!("{mark}(")) else { continue };
            let mut words = rest.split(',').map(str::trim);
            let (of, field) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            match field {
                "field" => within = of,
                _ => drop(marks.insert((mark, format!("{of}.{field}")))),
            }
        }
        if let Some((field, _)) = line.strip_prefix("REFUSED(").and_then(|rest| rest.split_once(',')) {
            marks.insert(("BAD", format!("{within}.{field}")));
        }
    }
    let header = header();
    let structs = given_structs(&header);
    assert!(structs.len() > 15, "{structs:?}");
    let has = |mark, field: &str| marks.contains(&(mark, field.to_owned()));
    let mut missing = Vec::new();
    for (name, fields) in &structs {
        let is_sized = fields[0].1 == "size";
        for (_, field) in &fields[usize::from(is_sized)..] {
            let field = format!("{name}.{field}");
            if !(has("ANY", &field) || has("GOOD", &field) && has("BAD", &field)) {
                missing.push(field);
            }
        }
    }
    assert!(missing.is_empty(), "fields that no program sets well and badly: {missing:?}");
}

#[test]
fn the_examples_print_what_they_say() {
    for (name, expected) in EXAMPLES {
        for flags in [&[][..], SANITIZED] {
            assert_eq!(program(&here().join(format!("examples/{name}.c")), flags), *expected, "{name}");
        }
    }
}
