//! Models that cannot be used: each error names what is wrong, in one line.
#![cfg(feature = "mock")]

mod common;

use std::fs::{self, OpenOptions};
use std::path::Path;

use common::{Stored, config, device, options, small_config};
use decode::{Config, Decoder, Error, Mode, Source, dtype_of};
use model_files::Error as FileError;
use racl::half::f16;
use racl::{Allocator, mock};
use safetensors::Dtype;
use serde_json::{Value, json};

/// The text of the error has all of `parts`.
#[track_caller]
fn says(error: &Error, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
    assert_eq!(text.lines().count(), 1, "{text}");
}

/// The error of a model that is refused, which leaves no memory behind. One at a time: the mock counts for all threads.
fn load(stored: &Stored, path: &Path) -> Error {
    let _mock = mock::exclusive();
    let device = device();
    // One allocation of the library for each: the mock counts what is left.
    device.context().set_allocator(Allocator::Direct);
    let before = mock::live_handles().device_bytes;
    let source = Source::File(path.to_owned());
    let error = Decoder::<f32>::new(&device, &config(&stored.config), source, &options(Mode::Replay)).unwrap_err();
    assert_eq!(mock::live_handles().device_bytes, before);
    error
}

/// The error for a model that `change` was done to.
fn changed(change: impl FnOnce(&mut Stored)) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let mut stored = Stored::new::<f32>(small_config());
    change(&mut stored);
    let path = stored.write(folder.path());
    load(&stored, &path)
}

/// The error for a file whose bytes `change` was done to.
fn damaged(change: impl FnOnce(&Path)) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let stored = Stored::new::<f32>(small_config());
    let path = stored.write(folder.path());
    change(&path);
    load(&stored, &path)
}

fn cut(path: &Path, to: impl FnOnce(u64) -> u64) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(to(file.metadata().unwrap().len())).unwrap();
}

#[test]
fn a_missing_file_is_named() {
    let error = damaged(|path| fs::remove_file(path).unwrap());
    assert!(matches!(error, Error::File(FileError::Read { .. })));
    says(&error, &["model.safetensors", "--weights"]);
    let error = Config::load(Path::new("/nowhere/config.json")).unwrap_err();
    assert!(matches!(error, Error::File(FileError::Read { .. })));
    says(&error, &["/nowhere/config.json", "--config"]);
    says(&dtype_of(Path::new("/nowhere/model.safetensors")).unwrap_err(), &["/nowhere/model.safetensors"]);
}

#[test]
fn truncated_and_longer_files_are_told_with_both_sizes() {
    let error = damaged(|path| cut(path, |length| length - 1));
    assert!(matches!(error, Error::File(FileError::Size { .. })));
    says(&error, &["model.safetensors", "truncated"]);
    let error = damaged(|path| cut(path, |_| 100));
    assert!(matches!(error, Error::File(FileError::Size { found: 100, .. })), "{error}");
    says(&error, &["100 bytes", "truncated"]);
    let error = damaged(|path| cut(path, |length| length + 1));
    assert!(matches!(error, Error::File(FileError::Size { .. })));
    says(&error, &["longer than it should be"]);
    for length in 0..8 {
        let error = damaged(|path| cut(path, |_| length));
        assert!(matches!(error, Error::File(FileError::NotSafetensors { .. })), "{error}");
    }
}

#[test]
fn files_of_other_formats_are_told() {
    for content in [&b"PK\x03\x04 a zip archive, which is what others use"[..], &[0; 64], b"{\"a\": 1} and more text"]
    {
        let error = damaged(|path| fs::write(path, content).unwrap());
        assert!(matches!(error, Error::File(FileError::NotSafetensors { .. } | FileError::Size { .. })), "{error}");
        says(&error, &["model.safetensors"]);
    }
    let header = |text: &[u8]| [&(text.len() as u64).to_le_bytes()[..], text].concat();
    for text in [
        &b"not json"[..],
        b"[1, 2]",
        b"\xff\xfe\xfd",
        b"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}",
    ] {
        let error = damaged(|path| fs::write(path, header(text)).unwrap());
        assert!(matches!(error, Error::File(FileError::NotSafetensors { .. })), "{error}");
    }
}

#[test]
fn a_missing_tensor_is_named() {
    for name in ["model.embed_tokens", "lm_head", "model.norm", "model.layers.2.self_attn.k_proj"] {
        let name = format!("{name}.weight");
        let error = changed(|stored| drop(stored.tensors.remove(&name)));
        assert!(matches!(error, Error::File(FileError::MissingTensor { .. })), "{error}");
        says(&error, &[&name, "model.safetensors"]);
    }
}

#[test]
fn another_shape_is_named_with_the_expected_one() {
    let name = "model.layers.1.mlp.down_proj.weight";
    // The right number of elements does not help.
    let error = changed(|stored| stored.tensors.get_mut(name).unwrap().1.reverse());
    assert!(matches!(error, Error::File(FileError::TensorShape { .. })));
    says(&error, &[name, "[80, 48]", "[48, 80]"]);
    let error = changed(|stored| stored.config["vocab_size"] = json!(98));
    says(&error, &["model.embed_tokens.weight", "[97, 48]", "[98, 48]"]);
    let error = changed(|stored| stored.config["num_hidden_layers"] = json!(4));
    says(&error, &["model.layers.3."]);
}

#[test]
fn another_type_is_named() {
    let name = "model.layers.0.input_layernorm.weight";
    let error = changed(|stored| {
        let tensor = stored.tensors.get_mut(name).unwrap();
        *tensor = (Dtype::F64, vec![48], vec![0; 48 * 8]);
    });
    assert!(matches!(error, Error::File(FileError::TensorType { .. })));
    says(&error, &[name, "F64", "BF16"]);
    let folder = tempfile::tempdir().unwrap();
    let stored = Stored::new::<f16>(small_config());
    let path = stored.write(folder.path());
    assert_eq!(dtype_of(&path).unwrap(), Dtype::F16);
    says(&load(&stored, &path), &["model.embed_tokens.weight", "F16"]);
}

#[test]
fn a_refused_model_leaves_no_memory_behind() {
    let name = "model.layers.2.mlp.down_proj.weight"; // the others are loaded before it
    says(&changed(|stored| drop(stored.tensors.remove(name))), &[name]);
}

fn read(text: &str) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    fs::write(&path, text).unwrap();
    Config::load(&path).unwrap_err()
}

#[test]
fn configurations_that_are_none_are_refused() {
    for text in ["", "{", "[]", "1", "null", "{\"hidden_size\": 1,}"] {
        let error = read(text);
        assert!(matches!(error, Error::File(FileError::Config { .. })), "{text}: {error}");
        says(&error, &["config.json", "not"]);
    }
}

#[test]
fn settings_that_cannot_be_used_are_named() {
    let error = |key: &str, value: Option<Value>| {
        let mut config = small_config();
        match value {
            Some(value) => config[key] = value,
            None => drop(config.as_object_mut().unwrap().remove(key)),
        }
        let error = read(&config.to_string());
        assert!(matches!(error, Error::File(FileError::Config { .. })), "{key}: {error}");
        says(&error, &[key]);
        error
    };
    for key in ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"] {
        says(&error(key, None), &["missing"]);
        for wrong in [json!(0), json!(-1), json!(1.5), json!("8"), json!(null), json!(u64::MAX), json!((1 << 20) + 1)]
        {
            says(&error(key, Some(wrong)), &["positive number up to 1048576"]);
        }
    }
    says(&error("num_key_value_heads", Some(json!(4))), &["num_attention_heads 6 is no multiple", "4"]);
    says(&error("model_type", Some(json!("gpt2"))), &["\"gpt2\"", "\"llama\""]);
    says(&error("hidden_act", Some(json!("gelu"))), &["\"gelu\"", "\"silu\""]);
    error("attention_bias", Some(json!(true)));
    error("rope_scaling", Some(json!({ "factor": 8.0 })));
    error("rms_norm_eps", Some(json!(0.0)));
    error("rope_theta", Some(json!("large")));
    error("tie_word_embeddings", Some(json!("yes")));
    let odd = |key: &str, value: Value| {
        let mut config = small_config();
        config[key] = value;
        read(&config.to_string())
    };
    says(&odd("head_dim", json!(9)), &["9 wide", "even"]);
    let mut config = small_config();
    config.as_object_mut().unwrap().remove("head_dim");
    config["hidden_size"] = json!(50);
    says(&read(&config.to_string()), &["hidden_size 50 is no multiple of num_attention_heads 6"]);
}

#[test]
fn settings_that_are_left_out_have_the_defaults_of_llama_models() {
    let mut value = small_config();
    for key in [
        "model_type",
        "hidden_act",
        "num_key_value_heads",
        "head_dim",
        "max_position_embeddings",
        "rms_norm_eps",
        "rope_theta",
    ] {
        value.as_object_mut().unwrap().remove(key);
    }
    let config = config(&value);
    assert_eq!((config.kv_heads, config.head, config.positions), (6, 8, 2048));
    assert_eq!((config.eps, config.theta, config.tied), (1e-6, 10_000.0, false));
}
