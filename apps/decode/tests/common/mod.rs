//! Small models that tests make themselves, and the way to the reference.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use decode::{Attention, Config, Decoder, Mode, Number, Options, Source};
use racl::{Acl, Device, bytemuck};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};

pub(crate) fn device() -> Device {
    Acl::mock().unwrap().device(0).unwrap()
}

/// The sizes of a small model, in the form of config.json: no two of them are equal, and heads are wider than
/// `hidden_size / num_attention_heads`.
pub(crate) fn small_config() -> Value {
    json!({
        "model_type": "llama", "hidden_act": "silu", "hidden_size": 48, "num_hidden_layers": 3,
        "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 10, "intermediate_size": 80,
        "vocab_size": 97, "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "rope_theta": 500.0
    })
}

pub(crate) const BUCKETS: [usize; 3] = [8, 16, 32];

pub(crate) fn options(mode: Mode) -> Options {
    Options { mode, buckets: BUCKETS.to_vec(), ..Options::default() }
}

/// Both ways to compute attention.
pub(crate) const WAYS: [Attention; 2] = [Attention::Products, Attention::Fused];

/// The configuration as the program reads it.
pub(crate) fn config(value: &Value) -> Config {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    fs::write(&path, value.to_string()).unwrap();
    Config::load(&path).unwrap()
}

pub(crate) fn small<T: Number>(seed: u64, mode: Mode) -> Decoder<T> {
    small_with(seed, mode, Attention::Products)
}

pub(crate) fn small_with<T: Number>(seed: u64, mode: Mode, attention: Attention) -> Decoder<T> {
    let options = Options { attention, ..options(mode) };
    Decoder::new(&device(), &config(&small_config()), Source::Random { seed }, &options).unwrap()
}

/// Says why a test does nothing. Not `eprintln!`, whose text the test harness holds back.
pub(crate) fn skipped(reason: &str) {
    let line = format!("skipped: {reason}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("standard error takes text");
}

/// The logits behind each token of `job`, in 64-bit floats; nothing where there is no NumPy.
pub(crate) fn reference(job: &Value) -> Option<Vec<Vec<f64>>> {
    const NO_NUMPY: i32 = 77;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference.py");
    let mut command = Command::new("python3");
    let child = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            skipped(&format!("python3 does not start: {error}"));
            return None;
        }
    };
    // A script without NumPy ends without reading it.
    let _ = child.stdin.take().unwrap().write_all(job.to_string().as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(NO_NUMPY) {
        skipped(text.trim());
        return None;
    }
    assert!(output.status.success(), "{text}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    Some(serde_json::from_value(answer["logits"].clone()).unwrap())
}

/// A model in a safetensors file, beside its config.json.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) config: Value,
    pub(crate) tensors: BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>,
}

impl Stored {
    /// Of the type `T`, with numbers of its own.
    pub(crate) fn new<T: Number>(config: Value) -> Self {
        let size = |key: &str| config[key].as_u64().unwrap() as usize;
        let (hidden, wide, width) = (size("hidden_size"), size("intermediate_size"), size("head_dim"));
        let (query, pair) = (size("num_attention_heads") * width, size("num_key_value_heads") * width);
        let mut made = Made::<T> { seed: 1, tensors: BTreeMap::new(), kind: std::marker::PhantomData };
        made.tensor("model.embed_tokens", &[size("vocab_size"), hidden], 0.0, 1.0);
        for layer in 0..size("num_hidden_layers") {
            let name = |part: &str| format!("model.layers.{layer}.{part}");
            for norm in ["input_layernorm", "post_attention_layernorm"] {
                made.tensor(&name(norm), &[hidden], 1.0, 0.3);
            }
            let linear = [
                ("self_attn.q_proj", query, hidden),
                ("self_attn.k_proj", pair, hidden),
                ("self_attn.v_proj", pair, hidden),
                ("self_attn.o_proj", hidden, query),
                ("mlp.gate_proj", wide, hidden),
                ("mlp.up_proj", wide, hidden),
                ("mlp.down_proj", hidden, wide),
            ];
            for (part, outputs, inputs) in linear {
                made.tensor(&name(part), &[outputs, inputs], 0.0, 0.25);
            }
        }
        made.tensor("model.norm", &[hidden], 1.0, 0.3);
        if config["tie_word_embeddings"] != json!(true) {
            made.tensor("lm_head", &[size("vocab_size"), hidden], 0.0, 0.25);
        }
        let tensors = made.tensors;
        Self { config, tensors }
    }

    /// Writes model.safetensors and config.json to `folder`; gives the path of the first.
    pub(crate) fn write(&self, folder: &Path) -> PathBuf {
        fs::write(folder.join("config.json"), self.config.to_string()).unwrap();
        let path = folder.join("model.safetensors");
        let views = self
            .tensors
            .iter()
            .map(|(name, (dtype, shape, bytes))| (name, TensorView::new(*dtype, shape.clone(), bytes).unwrap()));
        safetensors::serialize_to_file(views, None, &path).unwrap();
        path
    }
}

struct Made<T> {
    seed: u64,
    tensors: BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>,
    kind: std::marker::PhantomData<T>,
}

impl<T: Number> Made<T> {
    /// Around `middle`, the same numbers each time.
    fn tensor(&mut self, name: &str, shape: &[usize], middle: f32, spread: f32) {
        let mut number = || {
            self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            T::of(((self.seed >> 40) as f32 / (1 << 24) as f32 - 0.5) * 2.0 * spread + middle)
        };
        let data: Vec<T> = (0..shape.iter().product()).map(|_| number()).collect();
        let bytes = bytemuck::cast_slice(&data).to_vec();
        self.tensors.insert(format!("{name}.weight"), (T::DTYPE, shape.to_vec(), bytes));
    }
}
