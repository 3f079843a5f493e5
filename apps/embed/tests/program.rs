//! The program: what it writes where, and how it ends.
#![cfg(feature = "mock")]

mod common;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::{Small, distance, network};
use serde_json::Value;

/// The program on the model in `folder`, with a log that does not depend on the caller's environment.
fn program(folder: &Path) -> Command {
    let mut command = bare();
    command.arg("--model").arg(folder);
    command
}

fn bare() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_embed"));
    command.env_remove("RUST_LOG").env_remove("RACL_MODEL_DIR").env("RACL_LIBRARY", "mock").stdin(Stdio::null());
    command
}

fn with_input(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Standard output as one JSON object a line and nothing else, of a program that succeeded.
fn objects(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", stderr(output));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line:?}: {error}"))).collect()
}

fn embedding(object: &Value) -> Vec<f32> {
    serde_json::from_value(object["embedding"].clone()).unwrap()
}

/// One line, starting with `error:`, and no result.
fn fails(output: &Output, parts: &[&str]) {
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let text = stderr(output);
    let error = text.lines().find(|line| line.starts_with("error: ")).expect("an error line");
    for part in parts {
        assert!(error.contains(part), "{part:?} is not in {error:?}");
    }
}

#[test]
fn standard_output_has_one_object_a_text_and_nothing_else() {
    let model = Small::new();
    let folder = model.folder();
    let output =
        program(folder.path()).env("RUST_LOG", "trace").args(["A graph records WORK.", ""]).output().unwrap();
    let objects = objects(&output);
    assert_eq!(objects.len(), 2);
    let keys: Vec<_> = objects[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["embedding", "text", "tokens"]);
    assert_eq!(objects[0]["text"], "A graph records WORK.");
    assert_eq!(objects[0]["tokens"], serde_json::json!([2, 4, 5, 6, 7, 11, 3]));
    assert_eq!(objects[1]["tokens"], serde_json::json!([2, 3]));
    for object in &objects {
        let ids: Vec<u32> = serde_json::from_value(object["tokens"].clone()).unwrap();
        assert!(distance(&embedding(object), &network::embedding(&model, &ids)) < 1e-5);
    }
    assert!(stderr(&output).contains("library: mock-acl"), "{}", stderr(&output));
}

#[test]
fn lines_of_standard_input_are_texts() {
    let folder = Small::new().folder();
    let output = with_input(&mut program(folder.path()), b"a graph\r\n\nwork");
    let texts: Vec<_> = objects(&output).iter().map(|object| object["text"].clone()).collect();
    assert_eq!(texts, ["a graph", "", "work"]);
    assert!(objects(&with_input(&mut program(folder.path()), b"")).is_empty());
}

#[test]
fn a_file_gives_what_a_pipe_gives() {
    let folder = Small::new().folder();
    let lines = b"a graph\n\nwork\nreplays";
    let path = folder.path().join("texts.txt");
    fs::write(&path, lines).unwrap();
    let from_file = program(folder.path()).stdin(File::open(&path).unwrap()).output().unwrap();
    assert_eq!(objects(&from_file).len(), 4);
    assert_eq!(from_file.stdout, with_input(&mut program(folder.path()), lines).stdout);
}

#[test]
fn input_that_is_not_text_is_named_by_line_after_the_results_before_it() {
    let folder = Small::new().folder();
    let output = with_input(&mut program(folder.path()), b"a graph\n\xff\n");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout.iter().filter(|byte| **byte == b'\n').count(), 1);
    assert!(stderr(&output).contains("error: line 2 of standard input"), "{}", stderr(&output));
}

#[test]
fn eager_output_is_the_same() {
    let folder = Small::new().folder();
    let run = |arguments: &[&str]| program(folder.path()).args(arguments).output().unwrap();
    let (replay, eager) = (run(&["a graph", "work"]), run(&["--eager", "a graph", "work"]));
    assert!(!replay.stdout.is_empty());
    assert_eq!(replay.stdout, eager.stdout);
    assert!(stderr(&replay).contains("with 1 graph\n") && stderr(&eager).contains("with 0 graphs"));
}

#[test]
fn a_long_text_is_cut_with_a_warning_that_names_the_counts() {
    let folder = Small::new().folder();
    let text = "work ".repeat(300);
    let output = program(folder.path()).args(["--quiet", &text]).output().unwrap();
    let objects = objects(&output);
    assert_eq!(objects[0]["tokens"].as_array().unwrap().len(), 256);
    assert_eq!(objects[0]["text"], text);
    let log = stderr(&output);
    assert!(log.starts_with("warn: a text of 302 tokens is cut to 256"), "{log}");
    assert_eq!(log.lines().count(), 1, "{log}");
}

#[test]
fn similarity_is_a_table_or_a_field() {
    let folder = Small::new().folder();
    let run = |arguments: &[&str]| program(folder.path()).args(arguments).output().unwrap();
    let table = String::from_utf8(run(&["--similarity", "work", "a graph"]).stdout).unwrap();
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1].starts_with("1   1.000") && lines[1].ends_with("  work"), "{table}");

    let objects = objects(&run(&["--similarity", "--format", "jsonl", "work", "a graph"]));
    let rows: Vec<Vec<f32>> =
        objects.iter().map(|object| serde_json::from_value(object["similarity"].clone()).unwrap()).collect();
    assert!((rows[0][0] - 1.0).abs() < 1e-6 && rows[0][1] == rows[1][0]);
}

#[test]
fn plain_output_shows_text_and_counts() {
    let folder = Small::new().folder();
    let output = program(folder.path()).args(["--format", "plain", "a graph", ""]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("a graph\n    4 tokens, 32 numbers: "), "{text}");
    assert!(text.contains("(the empty text)\n    2 tokens"), "{text}");
}

#[test]
fn without_the_model_the_program_says_what_to_run() {
    let cache = tempfile::tempdir().unwrap();
    let output = bare().env("XDG_CACHE_HOME", cache.path()).arg("a graph").output().unwrap();
    let place = cache.path().join("racl").join("all-MiniLM-L6-v2");
    fails(&output, &["no model in", place.to_str().unwrap(), "run apps/embed/fetch-model.sh", "--model"]);
    let output = bare().env_remove("XDG_CACHE_HOME").env_remove("HOME").arg("a graph").output().unwrap();
    fails(&output, &["set HOME or RACL_MODEL_DIR"]);
}

#[test]
fn the_folder_comes_from_the_environment_too() {
    let folder = Small::new().folder();
    let output = bare().env("RACL_MODEL_DIR", folder.path()).arg("work").output().unwrap();
    assert_eq!(objects(&output).len(), 1);
}

#[test]
fn errors_of_the_library_are_failures() {
    let folder = Small::new().folder();
    let output = program(folder.path()).env("RACL_LIBRARY", "/nowhere/libascendcl.so").arg("work").output().unwrap();
    fails(&output, &["/nowhere/libascendcl.so"]);
    let output = program(folder.path()).args(["--device", "99", "work"]).output().unwrap();
    fails(&output, &["no such device (107001)"]);
}

#[test]
fn a_wrong_command_line_ends_with_2_and_help_with_0() {
    let code = |arguments: &[&str]| bare().args(arguments).output().unwrap().status.code();
    assert_eq!(code(&["--format", "xml", "work"]), Some(2));
    assert_eq!(code(&["--no-such-option"]), Some(2));
    assert_eq!(code(&["--help"]), Some(0));
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let folder = Small::new().folder();
    let mut child =
        program(folder.path()).args(["work"; 50]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!stderr(&output).contains("error"), "{}", stderr(&output));
}
