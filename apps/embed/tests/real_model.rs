//! all-MiniLM-L6-v2 itself, against token ids and embeddings that were computed in 64-bit floats elsewhere.
//!
//! Skipped where the weights are not.
#![cfg(feature = "mock")]

mod common;

use std::path::Path;

use common::{distance, real_model, reference};
use embed::{Embedder, MAX_TOKENS, Mode, Tokenizer};
use racl::{Acl, mock};

/// How far a component may be from the reference, which has six digits.
const CLOSE: f64 = 1e-4;

fn embedder(folder: &Path, mode: Mode) -> Embedder {
    let device = Acl::mock().unwrap().device(0).unwrap();
    Embedder::load(folder, &device, mode).unwrap()
}

#[test]
fn token_ids_are_those_of_the_reference() {
    let Some(folder) = real_model() else { return };
    let tokenizer = Tokenizer::load(&folder).unwrap();
    for expected in reference() {
        assert_eq!(tokenizer.encode(&expected.text).unwrap(), expected.ids, "{:?}", expected.text);
    }
}

#[test]
fn embeddings_are_those_of_the_reference_eagerly_and_replayed() {
    let Some(folder) = real_model() else { return };
    let _mock = mock::exclusive();
    let (mut replay, mut eager) = (embedder(&folder, Mode::Replay), embedder(&folder, Mode::Eager));
    let mut worst = 0.0_f64;
    for expected in reference() {
        let found = replay.embed(&expected.ids).unwrap();
        worst = worst.max(distance(&found, &expected.embedding));
        let again = eager.embed(&expected.ids).unwrap();
        assert_eq!(found, again, "eager and replay differ for {:?}", expected.text);
        let norm: f64 = found.iter().map(|x| f64::from(*x).powi(2)).sum();
        assert!((norm - 1.0).abs() < 1e-5, "{norm}");
    }
    assert!(worst < CLOSE, "{worst}");
}

#[test]
fn a_hundred_replays_agree_bit_for_bit_and_are_a_launch_each() {
    let Some(folder) = real_model() else { return };
    let _mock = mock::exclusive();
    let mut embedder = embedder(&folder, Mode::Replay);
    let ids = &reference()[0].ids;
    let first = embedder.embed(ids).unwrap();
    let (launches, (prefetches, _)) = (mock::calls("aclmdlRIExecuteAsync"), mock::prefetched());
    for _ in 0..100 {
        assert_eq!(embedder.embed(ids).unwrap(), first);
    }
    assert_eq!(mock::calls("aclmdlRIExecuteAsync") - launches, 100);
    assert_eq!(mock::prefetched().0 - prefetches, 600, "each of the six layers is prefetched in each replay");
}

#[test]
fn a_long_text_is_cut_to_256_tokens_and_keeps_its_end_mark() {
    let Some(folder) = real_model() else { return };
    let tokenizer = Tokenizer::load(&folder).unwrap();
    let short = "word ".repeat(MAX_TOKENS - 2);
    let (exact, cut) = (tokenizer.encode(&short).unwrap(), tokenizer.encode(&format!("{short} more words")).unwrap());
    assert_eq!(exact.len(), MAX_TOKENS);
    assert_eq!(cut, exact);
    assert_eq!((cut[0], cut[MAX_TOKENS - 1]), (101, 102));
}

#[test]
fn the_empty_text_and_a_long_one_have_embeddings() {
    let Some(folder) = real_model() else { return };
    let _mock = mock::exclusive();
    let (tokenizer, mut embedder) = (Tokenizer::load(&folder).unwrap(), embedder(&folder, Mode::Replay));
    for text in ["", &"long ".repeat(1000)] {
        assert_eq!(embedder.embed(&tokenizer.encode(text).unwrap()).unwrap().len(), 384);
    }
}
