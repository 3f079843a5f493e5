//! `racl.hpp`, and programs in C++ that use it.

use std::path::Path;
use std::process::Command;

mod support;

use support::{EXAMPLES, SANITIZED, compilers, cpp_program, header, here, run};

fn count(text: &str) -> u32 {
    let counted = text.lines().rev().find_map(|line| line.strip_suffix(" checks"));
    counted.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("no checks: {text}"))
}

const PROGRAMS: [&str; 4] = ["layer", "plans", "control", "failures"];

fn checked(flags: &[&str]) {
    let counts = PROGRAMS.map(|name| count(&cpp_program(&here().join(format!("tests/cpp/{name}.cpp")), flags)));
    assert!(counts.iter().all(|count| *count > 30) && counts.iter().sum::<u32>() > 400, "{counts:?}");
}

#[test]
fn the_layer_throws() {
    checked(&[]);
}

const CODES: [&str; 2] = ["-DRACL_ERROR_CODES", "-fno-exceptions"];

#[test]
fn the_layer_gives_error_codes() {
    checked(&CODES);
}

#[test]
#[ignore = "takes a minute; `.ci/full` runs it"]
fn the_layer_says_nothing_under_the_sanitizers() {
    checked(SANITIZED);
    checked(&[CODES[0], SANITIZED[0], SANITIZED[1]]);
}

#[test]
fn parts_of_a_program_may_throw_or_give_codes() {
    let folder = here().join("tests/cpp");
    let codes = folder.join("mixed_codes.cpp");
    // Nothing is put in line, so that what has one name is one function.
    let flags = [codes.to_str().unwrap(), "-O0"];
    assert_eq!(cpp_program(&folder.join("mixed.cpp"), &flags), "2 thrown\n");
}

/// Nothing is put in line here either.
const HIDDEN: &[&str] = &["-O0", "-fvisibility=hidden", "-fvisibility-inlines-hidden"];

#[test]
fn a_library_that_hides_its_symbols_shares_what_there_is_once() {
    let (folder, sources) = (tempfile::tempdir().unwrap(), here().join("tests/cpp"));
    let library = folder.path().join("libmixed_codes.so");
    let mut command = Command::new("c++");
    command.args(["-std=c++17", "-shared", "-fPIC"]).args(HIDDEN).arg("-I").arg(here().join("include"));
    run(command.arg(sources.join("mixed_codes.cpp")).arg("-o").arg(&library));
    let path = format!("-Wl,--no-as-needed,-rpath,{}", folder.path().display());
    let flags = [HIDDEN, &[&path, library.to_str().unwrap()]].concat();
    assert_eq!(cpp_program(&sources.join("mixed.cpp"), &flags), "2 thrown\n");
}

#[test]
fn parts_that_give_codes_may_have_exceptions_or_none() {
    let (folder, sources) = (tempfile::tempdir().unwrap(), here().join("tests/cpp"));
    let without = folder.path().join("without.o");
    let mut command = Command::new("c++");
    command.args(["-std=c++17", "-O0", "-fno-exceptions", "-I"]).arg(here().join("include"));
    run(command.arg("-c").arg(sources.join("mixed_without.cpp")).arg("-o").arg(&without));
    // In front, so that of functions of one name the program has this one.
    let flags = [without.to_str().unwrap(), "-O0"];
    assert!(count(&cpp_program(&sources.join("mixed_exceptions.cpp"), &flags)) > 5);
}

#[test]
fn what_there_is_once_does_not_end_with_the_program() {
    assert_eq!(cpp_program(&here().join("tests/cpp/ends.cpp"), &[]), "racl RACL_BUSY, 0 to end\n");
}

#[test]
fn an_older_library_has_no_details_of_errors() {
    let printed = cpp_program(&here().join("tests/cpp/older.cpp"), &[]);
    assert_eq!(printed, "the disk is full, the disk is full\n");
}

/// What may throw, and what gives codes, in a program with exceptions and in one without.
const FORMS: [&[&str]; 3] = [&[], &["-DRACL_ERROR_CODES"], &["-DRACL_ERROR_CODES", "-fno-exceptions"]];

#[test]
fn functions_that_are_none_are_refused_in_each_form() {
    for form in FORMS {
        assert!(count(&cpp_program(&here().join("tests/cpp/nothing.cpp"), form)) > 20, "{form:?}");
    }
}

/// Lets a compiler look at C++ of each standard and form.
fn is_understood(compiler: &str, source: &Path) {
    for standard in ["-std=c++17", "-std=c++20"] {
        for form in FORMS {
            let mut command = Command::new(compiler);
            command.args(["-x", "c++", standard, "-fsyntax-only"]);
            command.args(["-Wall", "-Wextra", "-Wshadow", "-Wpedantic", "-Werror"]);
            command.args(form).arg("-I").arg(here().join("include")).arg("-I").arg(here().join("tests/c"));
            run(command.arg(source));
        }
    }
}

#[test]
fn the_headers_compile_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source.cpp");
    // The one has the other in front; both may come twice.
    std::fs::write(&source, "#include \"racl_plan.hpp\"\n#include \"racl.hpp\"\n#include \"racl_plan.hpp\"\n")
        .unwrap();
    for compiler in compilers() {
        is_understood(compiler, &source);
    }
}

#[test]
#[ignore = "takes a minute; `.ci/full` runs it"]
fn all_of_the_layer_compiles_in_every_form() {
    for name in PROGRAMS {
        for compiler in compilers() {
            is_understood(compiler, &here().join(format!("tests/cpp/{name}.cpp")));
        }
    }
}

/// What a compiler says of lines of C++ that it refuses, in this form.
fn refused(lines: &str, form: &[&str]) -> String {
    let (folder, include) = (tempfile::tempdir().unwrap(), here().join("include"));
    let source = folder.path().join("source.cpp");
    let text = format!(
        "#include \"racl_plan.hpp\"\nvoid lines(const racl::stream &s, const racl::graph &r, const racl::task_group &u,\n\
         const racl::cache &c, const racl::context &o) {{ {lines} (void)s, (void)r, (void)u, (void)c, (void)o; }}\n"
    );
    std::fs::write(&source, text).unwrap();
    let mut command = Command::new("c++");
    command.args(["-std=c++17", "-fsyntax-only"]).args(form).arg("-I").arg(include).arg(source);
    let output = command.output().unwrap();
    assert!(!output.status.success(), "it compiles: {lines}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn functions_that_give_what_says_nothing_of_a_failure_do_not_compile() {
    let lines = [
        "(void)s.host_function([] { return true; });",
        "(void)racl::host_function::make(\"f\", 1, [] { return 1u; });",
        "(void)s.new_task_group([](const racl::stream &) { return 1L; });",
        "(void)r.update(u, [](const racl::stream &) { return std::string(); });",
        "(void)c.compile(o, \"f\", [](const racl::builder &) { return RACL_OK == 0; });",
        "(void)racl::foreign::make(\"f\", 1, [](const racl_launch &) { return true; });",
        "racl::launch_function f = [](const racl_launch &) { return RACL_OK == 0; };",
        "(void)racl::foreign::make(\"f\", 1, nullptr, [](const std::vector<racl_bytes> &from, const auto &to) {\n\
         return from.size() == to.size(); });",
    ];
    for (line, form) in lines.iter().flat_map(|line| FORMS.map(|form| (line, form))) {
        let text = refused(line, form);
        assert!(text.contains("a function gives nothing, a status, a std::error_code"), "{text}");
    }
}

/// What the layer has another form for.
const OTHERWISE: &[&str] = &["racl_last_error_copy"];

#[test]
fn the_layer_has_every_function() {
    let read = |name| std::fs::read_to_string(here().join("include").join(name)).unwrap();
    let layer = read("racl.hpp") + &read("racl_plan.hpp");
    let header = header();
    let names: Vec<&str> = support::functions(&header).iter().map(|function| function.name).collect();
    assert!(names.len() > 50, "{names:?}");
    let is_used = |name: &&str| {
        // The frees are put together from the kind.
        let free = name.strip_prefix("racl_").and_then(|rest| rest.strip_suffix("_free"));
        let owned = free.is_some_and(|kind| layer.contains(&format!("RACL_DETAIL_OWNED({kind});")));
        owned
            || layer.contains(&format!("{name}("))
            || layer.contains(&format!("({name})"))
            || layer.contains(&format!("({name}, "))
            || layer.contains(&format!(", {name})"))
    };
    let missing: Vec<_> = names.iter().filter(|name| !OTHERWISE.contains(name) && !is_used(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_examples_print_what_those_in_c_do() {
    for (name, expected) in EXAMPLES {
        assert_eq!(cpp_program(&here().join(format!("examples/{name}.cpp")), &[]), *expected, "{name}");
    }
}
