//! Tokens and logits against the same decoder in NumPy, in 64-bit floats.
#![cfg(feature = "mock")]

mod common;

use common::{BUCKETS, Stored, config, device, options, reference, small_config, small_with};
use decode::{Attention, Decoder, Mode, Number, Source};
use racl::half::{bf16, f16};
use serde_json::{Value, json};

/// How much a type rounds: the greatest mean square of the difference, relative to that of the logits. The weights
/// are the same on both sides, so what is left are the roundings of three layers.
fn most<T: Number>() -> f64 {
    match T::DTYPE {
        safetensors::Dtype::F32 => 1e-11,
        safetensors::Dtype::F16 => 1e-5,
        _ => 1e-3,
    }
}

/// Generates `count` tokens step by step, and compares each step with the reference, which is given the same tokens.
/// False when there is no NumPy.
fn compare<T: Number>(decoder: &mut Decoder<T>, mut job: Value, prompt: &[u32], count: usize) -> bool {
    let steps = prompt.len() + count - 1;
    decoder.start(prompt).unwrap();
    let found: Vec<Vec<f32>> = (0..steps)
        .map(|_| {
            decoder.advance().unwrap();
            decoder.logits().unwrap()
        })
        .collect();
    let tokens = decoder.tokens().unwrap();
    assert_eq!(tokens.len(), prompt.len() + count);
    job["tokens"] = json!(tokens[..steps]);
    let Some(expected) = reference(&job) else { return false };
    assert_eq!(expected.len(), steps);
    for (step, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let difference: f64 = found.iter().zip(expected).map(|(a, b)| (f64::from(*a) - b).powi(2)).sum();
        let size: f64 = expected.iter().map(|x| x * x).sum();
        assert!(difference <= most::<T>() * size, "step {step} of {job}: {:e}", difference / size);
    }
    for (step, expected) in expected.iter().enumerate().skip(prompt.len() - 1) {
        let (chosen, greatest) =
            (expected[tokens[step + 1] as usize], expected.iter().copied().fold(f64::MIN, f64::max));
        // Of logits that rounding cannot tell apart either may be chosen.
        let size = (expected.iter().map(|x| x * x).sum::<f64>() / expected.len() as f64).sqrt();
        assert!(
            greatest - chosen <= 4.0 * most::<T>().sqrt() * size,
            "step {step} of {job}: {chosen}, not {greatest}"
        );
    }
    true
}

fn random<T: Number>(dtype: &str, mode: Mode, attention: Attention) {
    // The last one of each ends in the first, in the second and in the third bucket.
    let lengths = [(1, 1), (3, 6), (3, 7), (12, 12), (2, BUCKETS[2] - 1)];
    for (seed, (prompt, count)) in lengths.into_iter().enumerate() {
        let seed = [1, 2, 1 << 40, u64::MAX, 5][seed];
        let prompt: Vec<u32> = (0..prompt).map(|place| (place * 31 + 7) % 97).collect();
        let job = json!({ "config": small_config(), "seed": seed, "dtype": dtype });
        if !compare::<T>(&mut small_with::<T>(seed, mode, attention), job, &prompt, count) {
            return;
        }
    }
}

#[test]
fn tokens_and_logits_are_those_of_the_reference() {
    random::<f32>("f32", Mode::Replay, Attention::Products);
}

#[test]
fn half_precision_rounds_and_no_more() {
    random::<f16>("f16", Mode::Replay, Attention::Products);
    random::<bf16>("bf16", Mode::Replay, Attention::Products);
}

#[test]
fn fused_attention_is_that_of_the_reference() {
    random::<f32>("f32", Mode::Replay, Attention::Fused);
    random::<f32>("f32", Mode::Eager, Attention::Fused);
    random::<f16>("f16", Mode::Replay, Attention::Fused);
    random::<bf16>("bf16", Mode::Replay, Attention::Fused);
}

#[test]
fn files_give_what_they_say() {
    fn check<T: Number>(dtype: &str, settings: Value) {
        let folder = tempfile::tempdir().unwrap();
        let stored = Stored::new::<T>(settings);
        let path = stored.write(folder.path());
        let source = Source::File(path.clone());
        let mut decoder =
            Decoder::<T>::new(&device(), &config(&stored.config), source, &options(Mode::Replay)).unwrap();
        let job = json!({ "config": stored.config, "file": path, "dtype": dtype });
        compare(&mut decoder, job, &[5, 90, 0], 20);
    }
    check::<f32>("f32", small_config());
    check::<f16>("f16", small_config());
    check::<bf16>("bf16", small_config());
    let mut tied = small_config();
    tied["tie_word_embeddings"] = json!(true);
    check::<f32>("f32", tied);
}
