//! `racl.hpp`, and programs in C++ that use it.

use std::path::Path;

mod support;

use support::{SANITIZED, cpp_program, header, here};

fn count(text: &str) -> u32 {
    let counted = text.lines().last().and_then(|line| line.strip_suffix(" checks"));
    counted.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("no checks: {text}"))
}

fn checked(flags: &[&str]) {
    for name in ["layer", "plans"] {
        assert!(count(&cpp_program(&here().join(format!("tests/cpp/{name}.cpp")), flags)) > 100, "{name}");
    }
}

#[test]
fn the_layer_throws() {
    for flags in [&[][..], SANITIZED] {
        checked(flags);
    }
}

#[test]
fn the_layer_gives_error_codes() {
    for flags in [&["-DRACL_ERROR_CODES", "-fno-exceptions"][..], &["-DRACL_ERROR_CODES", SANITIZED[0], SANITIZED[1]]]
    {
        checked(flags);
    }
}

#[test]
fn parts_of_a_program_may_throw_or_give_codes() {
    let folder = here().join("tests/cpp");
    let codes = folder.join("mixed_codes.cpp");
    // Nothing is put in line, so that what has one name is one function.
    let flags = [codes.to_str().unwrap(), "-O0"];
    assert_eq!(cpp_program(&folder.join("mixed.cpp"), &flags), "2 thrown\n");
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
            || layer.contains(&format!(", {name})"))
    };
    let missing: Vec<_> = names.iter().filter(|name| !OTHERWISE.contains(name) && !is_used(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_example_prints_what_it_says() {
    assert_eq!(cpp_program(Path::new(&here().join("examples/graph.cpp")), &[]), "1\n2\n3\n4\n");
}
