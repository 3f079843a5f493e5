//! `--cache`: the second start builds nothing, and no number changes.
#![cfg(feature = "mock")]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{Small, real_model};
use embed::{Embedder, Mode};
use racl::cache::CompileCache;
use racl::cache::Status;
use racl::{Acl, mock};
use serde_json::json;

const TEXTS: [&str; 3] = ["work", "a graph records work .", "fast replays"];

/// Said of a hit whose plan was built all the same.
const AGAIN: &str = "(built again to compare)";

fn start(model: &Path, cache: Option<&Path>, more: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_embed"));
    // The gate verifies, which builds also when there is an entry; ranks would have folders of their own.
    for variable in ["RACL_LIBRARY", "RUST_LOG", "RACL_CACHE_VERIFY", "RACL_CACHE_HOME", "WORLD_SIZE", "RANK"] {
        program.env_remove(variable);
    }
    program.envs(variables.iter().copied()).arg("--model").arg(model).args(more).args(TEXTS);
    if let Some(cache) = cache {
        program.arg("--cache").arg(cache);
    }
    let output = program.output().unwrap();
    assert!(output.status.success(), "{}", log(&output));
    output
}

fn log(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What `find DIR -name '*.bin'` finds.
fn recipes(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = entries.flat_map(|path| if path.is_dir() { recipes(&path) } else { vec![path] });
    found.filter(|path| path.extension().is_some_and(|extension| extension == "bin")).collect()
}

/// Starts with no cache, a cold one and a warm one.
fn three_starts(model: &Path, more: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("plans");
    let plain = start(model, None, more, &[]);
    assert!(!log(&plain).contains("compile cache"), "{}", log(&plain));
    let cold = start(model, Some(&root), more, &[]);
    assert!(log(&cold).contains("info: compile cache: miss"), "{}", log(&cold));
    assert_eq!(recipes(&root).len(), 1);
    let stored = std::fs::read(&recipes(&root)[0]).unwrap();
    let warm = start(model, Some(&root), more, &[]);
    assert!(log(&warm).contains("info: compile cache: hit for \"network\""), "{}", log(&warm));
    assert!(!log(&warm).contains("stored in") && !log(&warm).contains(AGAIN), "{}", log(&warm));
    // So that the absence of these words says something.
    let compared = start(model, Some(&root), more, &[("RACL_CACHE_VERIFY", "1")]);
    assert!(log(&compared).contains(AGAIN), "{}", log(&compared));
    assert_eq!(compared.stdout, plain.stdout);
    assert_eq!(std::fs::read(&recipes(&root)[0]).unwrap(), stored);
    // Numbers are written with all the digits that tell them apart.
    assert!(!plain.stdout.is_empty());
    assert_eq!(cold.stdout, plain.stdout);
    assert_eq!(warm.stdout, plain.stdout);
}

#[test]
fn the_second_start_of_the_program_hits_and_writes_the_same_numbers() {
    let model = Small::new().folder();
    three_starts(model.path(), &[]);
    three_starts(model.path(), &["--eager"]);
}

#[test]
fn the_second_start_with_the_real_model_hits_and_writes_the_same_numbers() {
    let Some(model) = real_model() else { return };
    three_starts(&model, &[]);
}

#[test]
fn a_model_of_another_shape_has_an_entry_of_its_own() {
    let _mock = mock::exclusive();
    let device = Acl::mock().unwrap().device(0).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("plans");
    let load = |model: &Small| {
        let cache = CompileCache::builder("embed").cache_dir(&root).build().unwrap();
        let mut embedder = Embedder::load_cached(model.folder().path(), &device, Mode::Replay, &cache).unwrap();
        let mut plain = Embedder::load(model.folder().path(), &device, Mode::Replay).unwrap();
        let bits = |numbers: Vec<f32>| numbers.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        for tokens in [1, 16, 40, 256] {
            let ids = vec![7; tokens];
            assert_eq!(bits(embedder.embed(&ids).unwrap()), bits(plain.embed(&ids).unwrap()), "{tokens} tokens");
        }
        cache.status("network").unwrap()
    };
    let small = Small::new();
    assert_eq!(load(&small), Status::Miss);
    assert_eq!(load(&small), Status::Hit);
    // None of these changes the shape of any weight.
    for (setting, value) in [("num_attention_heads", json!(8)), ("layer_norm_eps", json!(1e-6))] {
        let mut other = small.clone();
        other.config[setting] = value;
        assert_eq!(load(&other), Status::Miss, "{setting}");
        assert_eq!(load(&other), Status::Hit, "{setting}");
    }
    let mut shallow = small.clone();
    shallow.config["num_hidden_layers"] = json!(1);
    assert_eq!(load(&shallow), Status::Miss);
    assert_eq!(load(&small), Status::Hit);
    assert_eq!(recipes(&root).len(), 4);
}

#[test]
fn errors_of_the_cache_and_of_the_library_are_not_blamed_on_the_device() {
    let model = Small::new().folder();
    let run = |variable: &str, value: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_embed"));
        program.env_remove("RACL_LIBRARY").env(variable, value).arg("--model").arg(model.path());
        let output = program.arg("--cache").arg(model.path().join("plans")).args(TEXTS).output().unwrap();
        assert!(!output.status.success());
        log(&output)
    };
    let said = run("RACL_CACHE_VERIFY", "maybe");
    assert!(
        said.contains("the settings of the compile cache are wrong: ") && said.contains("neither 0 nor 1"),
        "{said}"
    );
    let said = run("RACL_LIBRARY", "/nowhere/libascendcl.so");
    assert!(said.contains("the AscendCL library cannot be used: ") && !said.contains("the device failed"), "{said}");
}
