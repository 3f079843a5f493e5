//! The lists of operators stay whole: what `racl::op` has, the builder has, and a test compares the two.

use std::fs;
use std::path::Path;

/// The functions that `racl::op` exports, by name.
fn functions() -> Vec<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/op/nn.rs")).unwrap();
    let exports = text.split("pub use ").skip(1).map(|export| export.split(';').next().unwrap());
    let names = exports.flat_map(|export| export.split("::").nth(1).unwrap_or_default().split(['{', '}', ',']));
    let names = names.map(|name| name.trim().to_owned());
    names.filter(|name| name.starts_with(|first: char| first.is_ascii_lowercase())).collect()
}

/// The text of all files below these.
fn text(paths: &[&str]) -> String {
    let mut all = String::new();
    let mut left: Vec<_> = paths.iter().map(|path| Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).collect();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            all += &fs::read_to_string(&path).unwrap();
        }
    }
    all
}

#[test]
fn every_function_of_op_has_a_method_that_is_compared_with_it() {
    let functions = functions();
    assert!(functions.len() > 130, "{}", functions.len());
    let methods = text(&["src/plan/builder"]);
    let tests = text(&["tests/plans/methods.rs", "tests/plans/programs/operations.rs"]);
    let is_method = |name: &str| {
        let made = |line: &str| {
            let line = line.trim_start();
            let line = line.strip_prefix("pub fn ").unwrap_or(line);
            line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['(', '<']))
        };
        methods.lines().any(made)
    };
    let without: Vec<&String> = functions.iter().filter(|name| !is_method(name)).collect();
    assert!(without.is_empty(), "no methods of the builder: {without:?}");
    let untested: Vec<&String> = functions.iter().filter(|name| !tests.contains(&format!("g.{name}("))).collect();
    assert!(untested.is_empty(), "not in tests/plans/methods.rs: {untested:?}");
}
