//! The program: what it prints, and how it ends.
#![cfg(feature = "mock")]

mod common;

use std::process::{Command, Output};

use common::{Stored, small_config};
use racl::half::bf16;

fn program(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_decode"));
    command.env_remove("RACL_LIBRARY").env_remove("RUST_LOG").args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The ids on the first line.
fn ids(output: &Output) -> Vec<u32> {
    stdout(output).lines().next().unwrap().split(' ').map(|id| id.parse().unwrap()).collect()
}

/// One line, starting with `error:`, and no result.
#[track_caller]
fn fails(arguments: &[&str], parts: &[&str]) {
    let output = program(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    assert!(output.stdout.is_empty());
    let text = stderr(&output);
    let error = text.lines().find(|line| line.starts_with("error: ")).expect("an error line");
    for part in parts {
        assert!(error.contains(part), "{part:?} is not in {error:?}");
    }
}

#[test]
fn standard_output_has_the_tokens_and_nothing_else() {
    let output = program(&["--prompt", "1, 2 3", "-n", "6"]);
    assert_eq!(stdout(&output).lines().count(), 1);
    assert_eq!(ids(&output).len(), 6);
    assert!(stderr(&output).contains("library: mock-acl"), "{}", stderr(&output));
    assert!(stderr(&program(&["--quiet", "-n", "1"])).is_empty());
}

#[test]
fn ways_to_submit_give_the_same_tokens_and_seeds_and_prompts_others() {
    let replay = ids(&program(&["--prompt", "1,2,3", "-n", "12"]));
    assert_eq!(ids(&program(&["--prompt", "1,2,3", "-n", "12", "--eager"])), replay);
    assert_eq!(ids(&program(&["--prompt", "1,2,3", "-n", "12", "--no-prefetch"])), replay);
    assert_eq!(ids(&program(&["--prompt", "1,2,3", "-n", "12", "--attention", "fused"])), replay);
    assert_eq!(ids(&program(&["--prompt", "1,2,3", "-n", "12", "--buckets", "4,20"])), replay);
    assert_ne!(ids(&program(&["--prompt", "1,2,3", "-n", "12", "--seed", "2"])), replay);
    assert_ne!(ids(&program(&["--prompt", "3,2,1", "-n", "12"])), replay);
}

#[test]
fn statistics_follow_the_tokens() {
    let output = program(&["--prompt", "1,2", "-n", "10", "--buckets", "4,8,16", "--stats", "--no-prefetch"]);
    let text = stdout(&output);
    let lines: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let names: Vec<_> = lines.iter().map(|line| (line[0], *line.last().unwrap())).collect();
    let expected = [
        ("eager", "tokens/s"),
        ("eager", "C calls a token"),
        ("replay", "tokens/s"),
        ("replay", "C calls a token"),
        ("replay", "updates a token"),
        ("replay", "graphs captured"),
        ("prefetch", "off"),
    ];
    assert_eq!(names, expected, "{text}");
    assert_eq!((lines[3][1], lines[4][1], lines[5][1]), ("1.0", "0.0", "3"), "{text}");
    let fused = program(&["--prompt", "1,2", "-n", "10", "--attention", "fused", "--stats"]);
    // Four layers.
    assert!(stdout(&fused).contains("replay\t4.0\tupdates a token\n"), "{}", stdout(&fused));
    assert_eq!(ids(&fused), ids(&output));
    assert_eq!(ids(&output), ids(&program(&["--prompt", "1,2", "-n", "10"])));
}

#[test]
fn files_are_read_with_the_configuration_beside_them_or_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = Stored::new::<bf16>(small_config()).write(folder.path());
    let path = path.to_str().unwrap();
    let found = ids(&program(&["--weights", path, "-n", "5"]));
    assert!(found.len() == 5 && found.iter().all(|id| *id < 97));
    let config = folder.path().join("other.json");
    std::fs::rename(folder.path().join("config.json"), &config).unwrap();
    fails(&["--weights", path], &["config.json", "--config"]);
    let config = config.to_str().unwrap();
    assert_eq!(ids(&program(&["--weights", path, "--config", config, "-n", "5"])), found);
    fails(&["--config", config, "-n", "70"], &["largest bucket has 64"]);
}

#[test]
fn what_cannot_be_done_is_an_error_in_one_line() {
    fails(&["--prompt", ""], &["prompt", "empty"]);
    fails(&["--prompt", " , "], &["empty"]);
    fails(&["--prompt", "1,x"], &["\"x\"", "no token id"]);
    fails(&["--prompt=-1"], &["\"-1\""]);
    fails(&["--prompt", "1000"], &["token 1000", "ends at 999"]);
    fails(&["-n", "0"], &["0 tokens"]);
    fails(&["-n", "1026"], &["1026 more", "largest bucket has 1024"]);
    fails(&["--buckets", "4", "-n", "5"], &["largest bucket has 4", "--buckets"]);
    fails(&["--buckets", "0"], &["--buckets has 0"]);
    fails(&["--weights", "/nowhere/model.safetensors"], &["/nowhere/model.safetensors"]);
    fails(&["--config", "/nowhere/config.json"], &["/nowhere/config.json"]);
    fails(&["--device", "99"], &["no such device (107001)"]);
}

#[test]
fn a_wrong_command_line_ends_with_2_and_help_with_0() {
    assert_eq!(program(&["--no-such-option"]).status.code(), Some(2));
    assert_eq!(program(&["-n", "many"]).status.code(), Some(2));
    assert_eq!(program(&["--stats", "--eager"]).status.code(), Some(2));
    assert_eq!(program(&["--help"]).status.code(), Some(0));
}
