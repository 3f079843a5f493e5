//! One model on several cards: the program with `--tensor-parallel`.
#![cfg(feature = "mock")]

mod common;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;

fn program(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_decode"));
    let command = command.env_remove("RACL_LIBRARY").env_remove("RUST_LOG").env("MOCK_ACL_DEVICES", "4");
    command.arg("--quiet").args(arguments).output().unwrap()
}

fn tokens(arguments: &[&str]) -> String {
    let output = program(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn fails(arguments: &[&str], parts: &[&str]) {
    let output = program(arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
    assert!(output.stdout.is_empty());
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

/// Sizes that four cards can share.
fn config(folder: &Path) -> String {
    let sizes = json!({
        "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 8, "num_key_value_heads": 4,
        "intermediate_size": 96, "vocab_size": 101, "max_position_embeddings": 64
    });
    let path = folder.join("config.json");
    std::fs::write(&path, sizes.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn one_two_and_four_cards_give_the_same_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let path = config(folder.path());
    for more in [&["--dtype", "f32"][..], &["--eager"], &["--no-prefetch", "--seed", "7"], &["--buckets", "8,24,40"]]
    {
        let with = |ranks| {
            let fixed = ["--prompt", "1,2,3", "--config", &path, "-n", "30", "--tensor-parallel", ranks];
            tokens(&[&fixed[..], more].concat())
        };
        let alone = with("1");
        assert_eq!(alone.split(' ').count(), 30);
        assert_eq!(with("2"), alone, "{more:?}");
        assert_eq!(with("4"), alone, "{more:?}");
    }
    // Of which part a card has is in the result: another seed has other tokens.
    let seeds = ["5", "6"].map(|seed| tokens(&["--config", &path, "--tensor-parallel", "4", "--seed", seed]));
    assert_ne!(seeds[0], seeds[1]);
}

#[test]
fn what_cannot_be_shared_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = config(folder.path());
    fails(&["--tensor-parallel", "4"], &["num_key_value_heads 2 is no multiple of --tensor-parallel 4"]);
    fails(&["--config", &path, "--tensor-parallel", "3"], &["num_attention_heads 8 is no multiple"]);
    fails(&["--config", &path, "--tensor-parallel", "2", "--attention", "fused"], &["--attention fused"]);
    fails(&["--config", &path, "--tensor-parallel", "4", "--device", "2"], &["there are 2 cards from 2 on"]);
    let wrong = program(&["--tensor-parallel", "0"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn an_error_of_the_prompt_ends_all_cards() {
    let folder = tempfile::tempdir().unwrap();
    let path = config(folder.path());
    fails(&["--config", &path, "--tensor-parallel", "4", "--prompt", "500"], &["the prompt has token 500"]);
}
