//! A small model that tests make themselves, and the way to the real one.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};

pub(crate) mod network;

/// Says why a test does nothing. Not `eprintln!`, whose text the test harness holds back.
pub(crate) fn skipped(reason: &str) {
    let line = format!("skipped: {reason}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("standard error takes text");
}

/// Words of the small tokenizer; the first ones stand for padding, unknown words, start and end.
const WORDS: [&str; 12] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "graph", "records", "work", "replay", "##s", "fast", "."];

/// The sizes of the small model, in the form of config.json.
pub(crate) fn small_config() -> Value {
    json!({
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 48, "vocab_size": 40, "max_position_embeddings": 300,
        "type_vocab_size": 2, "layer_norm_eps": 1e-12
    })
}

/// A model of made-up weights, to be written to a folder.
#[derive(Debug, Clone)]
pub(crate) struct Small {
    pub(crate) config: Value,
    pub(crate) tensors: BTreeMap<String, Stored>,
}

#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

impl Stored {
    pub(crate) fn f32(shape: &[usize], data: &[f32]) -> Self {
        let bytes = data.iter().flat_map(|number| number.to_le_bytes()).collect();
        Self { dtype: Dtype::F32, shape: shape.to_vec(), bytes }
    }

    pub(crate) fn to_f64(&self) -> Vec<f64> {
        self.bytes.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))).collect()
    }
}

impl Small {
    pub(crate) fn new() -> Self {
        Self::of(small_config())
    }

    /// One with the sizes of `config`.
    pub(crate) fn of(config: Value) -> Self {
        let size = |key: &str| config[key].as_u64().unwrap() as usize;
        let (hidden, wide) = (size("hidden_size"), size("intermediate_size"));
        let mut made = Made { seed: 1, tensors: BTreeMap::new() };
        made.table("embeddings.word_embeddings", &[size("vocab_size"), hidden]);
        made.table("embeddings.position_embeddings", &[size("max_position_embeddings"), hidden]);
        made.table("embeddings.token_type_embeddings", &[size("type_vocab_size"), hidden]);
        made.norm("embeddings.LayerNorm", hidden);
        for layer in 0..size("num_hidden_layers") {
            let name = |part: &str| format!("encoder.layer.{layer}.{part}");
            for part in
                ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"]
            {
                made.linear(&name(part), hidden, hidden);
            }
            made.norm(&name("attention.output.LayerNorm"), hidden);
            made.linear(&name("intermediate.dense"), hidden, wide);
            made.linear(&name("output.dense"), wide, hidden);
            made.norm(&name("output.LayerNorm"), hidden);
        }
        Self { config, tensors: made.tensors }
    }

    /// Writes config.json, tokenizer.json and model.safetensors.
    pub(crate) fn write(&self, folder: &Path) {
        fs::write(folder.join("config.json"), self.config.to_string()).unwrap();
        fs::write(folder.join("tokenizer.json"), small_tokenizer().to_string()).unwrap();
        self.write_weights(folder);
    }

    pub(crate) fn write_weights(&self, folder: &Path) {
        let views = self.tensors.iter().map(|(name, stored)| {
            (name, TensorView::new(stored.dtype, stored.shape.clone(), &stored.bytes).unwrap())
        });
        safetensors::serialize_to_file(views, None, &folder.join("model.safetensors")).unwrap();
    }

    /// The model in a folder of its own, which is removed with the value.
    pub(crate) fn folder(&self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        self.write(folder.path());
        folder
    }
}

struct Made {
    seed: u64,
    tensors: BTreeMap<String, Stored>,
}

impl Made {
    /// Around `middle`, the same numbers each time.
    fn tensor(&mut self, name: String, shape: &[usize], middle: f32, spread: f32) {
        let mut number = || {
            self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.seed >> 40) as f32 / (1 << 24) as f32 - 0.5) * 2.0 * spread + middle
        };
        let data: Vec<f32> = (0..shape.iter().product()).map(|_| number()).collect();
        self.tensors.insert(name, Stored::f32(shape, &data));
    }

    fn table(&mut self, name: &str, shape: &[usize]) {
        self.tensor(format!("{name}.weight"), shape, 0.0, 1.0);
    }

    fn linear(&mut self, name: &str, inputs: usize, outputs: usize) {
        self.tensor(format!("{name}.weight"), &[outputs, inputs], 0.0, 0.4);
        self.tensor(format!("{name}.bias"), &[outputs], 0.0, 0.2);
    }

    fn norm(&mut self, name: &str, width: usize) {
        self.tensor(format!("{name}.weight"), &[width], 1.0, 0.3);
        self.tensor(format!("{name}.bias"), &[width], 0.0, 0.3);
    }
}

/// Like the real one, with settings for truncation and padding that must not count.
pub(crate) fn small_tokenizer() -> Value {
    let vocabulary: BTreeMap<_, _> = WORDS.iter().enumerate().map(|(id, word)| (*word, id)).collect();
    let special = |id: usize| {
        json!({"id": id, "special": true, "content": WORDS[id], "single_word": false, "lstrip": false, "rstrip": false,
               "normalized": false})
    };
    json!({
        "version": "1.0",
        "truncation": {"max_length": 8, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
                    "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": (0..4).map(special).collect::<Vec<_>>(),
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                       "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                       {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                               "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": vocabulary}
    })
}

/// The folder of the real model, unless it is not there: then the reason is printed.
pub(crate) fn real_model() -> Option<PathBuf> {
    let folder = embed::folder::default_folder().filter(|folder| folder.join("model.safetensors").is_file());
    if folder.is_none() {
        skipped("the weights of all-MiniLM-L6-v2 are not there; run apps/embed/fetch-model.sh");
    }
    folder
}

/// One text of the reference: what an independent computation in 64-bit floats gave.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) text: String,
    pub(crate) ids: Vec<u32>,
    pub(crate) embedding: Vec<f64>,
}

pub(crate) fn reference() -> Vec<Expected> {
    let all: Value = serde_json::from_str(include_str!("../minilm_reference.json")).unwrap();
    let item = |item: &Value| Expected {
        text: item["text"].as_str().unwrap().to_owned(),
        ids: serde_json::from_value(item["ids"].clone()).unwrap(),
        embedding: serde_json::from_value(item["embedding"].clone()).unwrap(),
    };
    all["items"].as_array().unwrap().iter().map(item).collect()
}

/// The largest difference of two embeddings.
pub(crate) fn distance(found: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max)
}
