//! Models that cannot be used: each error names what is wrong and what to do.
#![cfg(feature = "mock")]

mod common;

use std::fs::{self, OpenOptions};
use std::path::Path;

use common::{Small, Stored};
use embed::{Config, Embedder, Error, Mode, Tokenizer};
use model_files::Error as FileError;
use racl::Acl;
use safetensors::Dtype;
use serde_json::{Value, json};

const FETCH: &str = "apps/embed/fetch-model.sh";

fn load(folder: &Path) -> Error {
    let device = Acl::mock().unwrap().device(0).unwrap();
    Embedder::load(folder, &device, Mode::Replay).unwrap_err()
}

/// The text of the error has all of `parts`.
fn says(error: &Error, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn a_missing_folder_names_the_folder_and_the_script() {
    let folder = Path::new("/nowhere/to/be/found");
    let error = load(folder);
    assert!(matches!(error, Error::NoModel { .. }));
    says(&error, &["/nowhere/to/be/found", "config.json", FETCH, "--model"]);
    says(&Tokenizer::load(folder).unwrap_err(), &["/nowhere/to/be/found", "tokenizer.json", FETCH, "--model"]);
}

#[test]
fn a_missing_file_is_named() {
    for file in ["config.json", "model.safetensors"] {
        let folder = Small::new().folder();
        fs::remove_file(folder.path().join(file)).unwrap();
        let error = load(folder.path());
        assert!(matches!(error, Error::NoModel { .. }), "{error}");
        says(&error, &[file, FETCH]);
    }
}

#[test]
fn a_missing_tensor_is_named() {
    for name in ["embeddings.LayerNorm.bias", "encoder.layer.1.attention.self.key.weight"] {
        let mut model = Small::new();
        model.tensors.remove(name);
        let error = load(model.folder().path());
        assert!(matches!(error, Error::File(FileError::MissingTensor { .. })), "{error}");
        says(&error, &[name, "model.safetensors", FETCH]);
    }
}

#[test]
fn another_shape_is_named_with_the_expected_one() {
    let mut model = Small::new();
    let name = "encoder.layer.0.intermediate.dense.weight";
    // The right number of elements does not help.
    let data = vec![0.0; 48 * 32];
    model.tensors.insert(name.to_owned(), Stored::f32(&[32, 48], &data));
    let error = load(model.folder().path());
    assert!(matches!(error, Error::File(FileError::TensorShape { .. })), "{error}");
    says(&error, &[name, "[32, 48]", "[48, 32]", "model.safetensors", "config.json", FETCH]);
}

#[test]
fn a_configuration_of_another_size_is_found_by_the_shapes() {
    let mut model = Small::new();
    model.config["vocab_size"] = json!(41);
    says(&load(model.folder().path()), &["embeddings.word_embeddings.weight", "[40, 32]", "[41, 32]"]);
    let mut model = Small::new();
    model.config["num_hidden_layers"] = json!(3);
    says(&load(model.folder().path()), &["encoder.layer.2.attention.self.query.weight"]);
}

#[test]
fn another_element_type_is_named() {
    let mut model = Small::new();
    let name = "embeddings.position_embeddings.weight";
    let half = Stored { dtype: Dtype::F16, shape: vec![300, 32], bytes: vec![0; 300 * 32 * 2] };
    model.tensors.insert(name.to_owned(), half);
    let error = load(model.folder().path());
    assert!(matches!(error, Error::File(FileError::TensorType { .. })), "{error}");
    says(&error, &[name, "F16", "F32", "convert", FETCH]);
}

#[test]
fn a_truncated_file_is_named_with_both_sizes() {
    let folder = Small::new().folder();
    let path = folder.path().join("model.safetensors");
    let whole = fs::metadata(&path).unwrap().len();
    // Inside the last tensor, inside the header.
    for length in [whole - 1, 100] {
        OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
        let error = load(folder.path());
        assert!(matches!(error, Error::File(FileError::Size { .. })), "{error}");
        says(&error, &[&format!("has {length} bytes"), "truncated", FETCH]);
    }
}

#[test]
fn a_file_with_more_than_its_tensors_is_refused() {
    let folder = Small::new().folder();
    let path = folder.path().join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    bytes.push(0);
    fs::write(&path, bytes).unwrap();
    says(&load(folder.path()), &["longer than it should be", FETCH]);
}

#[test]
fn files_in_another_format_are_refused() {
    let header = |text: &[u8]| [&(text.len() as u64).to_le_bytes(), text].concat();
    let cases: [(&[u8], &str); 6] = [
        (b"", "0 bytes"),
        (b"PK\x03\x04", "4 bytes"),
        (b"<!DOCTYPE html><html>not found</html>", "a header of"),
        (&header(b"not json"), "header is not valid"),
        (&header(b"\xff\xfe"), "header is not text"),
        (&header(br#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}"#), "header is not valid"),
    ];
    for (bytes, part) in cases {
        let folder = Small::new().folder();
        fs::write(folder.path().join("model.safetensors"), bytes).unwrap();
        let error = load(folder.path());
        assert!(matches!(error, Error::File(FileError::NotSafetensors { .. })), "{error}");
        says(&error, &["model.safetensors", "not a safetensors file", part, FETCH]);
    }
}

#[test]
fn unknown_configurations_name_the_setting() {
    let cases: [(&str, Option<Value>, &str); 9] = [
        ("model_type", Some(json!("roberta")), "model_type is \"roberta\", and only \"bert\""),
        ("model_type", None, "model_type is missing"),
        ("hidden_act", Some(json!("relu")), "hidden_act is \"relu\", and only \"gelu\""),
        ("position_embedding_type", Some(json!("relative_key")), "position_embedding_type is \"relative_key\""),
        ("hidden_size", Some(json!(0)), "hidden_size is 0"),
        ("hidden_size", Some(json!("32")), "hidden_size is \"32\""),
        ("num_attention_heads", Some(json!(5)), "hidden_size 32 is no multiple of num_attention_heads 5"),
        ("max_position_embeddings", Some(json!(128)), "max_position_embeddings is 128, at least 256"),
        ("layer_norm_eps", None, "layer_norm_eps is missing"),
    ];
    for (key, value, part) in cases {
        let mut model = Small::new();
        let settings = model.config.as_object_mut().unwrap();
        match value {
            Some(value) => settings.insert(key.to_owned(), value),
            None => settings.remove(key),
        };
        let error = load(model.folder().path());
        assert!(matches!(error, Error::File(FileError::Config { .. })), "{error}");
        says(&error, &["config.json", part, FETCH]);
    }
}

#[test]
fn a_configuration_that_is_not_json_is_refused() {
    let folder = Small::new().folder();
    fs::write(folder.path().join("config.json"), "{").unwrap();
    says(&Config::load(folder.path()).unwrap_err(), &["config.json", "not JSON", FETCH]);
}

#[test]
fn another_pooling_is_refused() {
    let folder = Small::new().folder();
    fs::create_dir(folder.path().join("1_Pooling")).unwrap();
    let path = folder.path().join("1_Pooling").join("config.json");
    fs::write(&path, json!({"pooling_mode_mean_tokens": true}).to_string()).unwrap();
    assert!(Config::load(folder.path()).is_ok());
    fs::write(&path, json!({"pooling_mode_cls_token": true}).to_string()).unwrap();
    says(&Config::load(folder.path()).unwrap_err(), &["1_Pooling", "pooling_mode_mean_tokens", "mean pooling"]);
}

#[test]
fn a_bad_tokenizer_is_refused() {
    let folder = Small::new().folder();
    let path = folder.path().join("tokenizer.json");
    let mut without_ends = common::small_tokenizer();
    without_ends["post_processor"] = Value::Null;
    for (text, part) in [("{}".to_owned(), ""), (without_ends.to_string(), "0 tokens for the empty text")] {
        fs::write(&path, text).unwrap();
        let error = Tokenizer::load(folder.path()).unwrap_err();
        assert!(matches!(error, Error::Tokenizer { .. }), "{error}");
        says(&error, &["tokenizer.json", "not a usable tokenizer", part, FETCH]);
    }
}
