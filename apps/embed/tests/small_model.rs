//! The network and its graphs on a small model, against the same network written in 64-bit floats.
#![cfg(feature = "mock")]

mod common;

use common::{Small, Stored, distance, network};
use embed::{Embedder, Error, LENGTHS, MAX_TOKENS, Mode};
use racl::{Acl, Allocator, mock};

/// Ids of a text of `tokens` tokens.
fn text(tokens: usize) -> Vec<u32> {
    (0..tokens as u32).map(|i| (i * 7 + 2) % 40).collect()
}

fn embedder(model: &Small, mode: Mode) -> Embedder {
    let device = Acl::mock().unwrap().device(0).unwrap();
    Embedder::load(model.folder().path(), &device, mode).unwrap()
}

#[test]
fn every_length_agrees_with_64_bit_floats() {
    let _mock = mock::exclusive();
    let model = Small::new();
    let mut embedder = embedder(&model, Mode::Replay);
    for tokens in [1, 2, 15, 16, 17, 32, 33, 64, 100, 128, 129, 255, 256] {
        let ids = text(tokens);
        let found = embedder.embed(&ids).unwrap();
        let error = distance(&found, &network::embedding(&model, &ids));
        assert!(error < 1e-5, "{tokens} tokens: {error}");
    }
    assert_eq!(embedder.graphs(), LENGTHS.len());
}

#[test]
fn eager_and_replay_agree_bit_for_bit() {
    let _mock = mock::exclusive();
    let model = Small::new();
    let (mut replay, mut eager) = (embedder(&model, Mode::Replay), embedder(&model, Mode::Eager));
    for tokens in [2, 20, 64, 90, 256, 3] {
        assert_eq!(replay.embed(&text(tokens)).unwrap(), eager.embed(&text(tokens)).unwrap(), "{tokens} tokens");
    }
    assert_eq!(eager.graphs(), 0);
}

#[test]
fn replays_agree_bit_for_bit_with_other_texts_in_between() {
    let _mock = mock::exclusive();
    let mut embedder = embedder(&Small::new(), Mode::Replay);
    let first = embedder.embed(&text(12)).unwrap();
    for round in 0..100 {
        embedder.embed(&text(1 + round % MAX_TOKENS)).unwrap();
        assert_eq!(embedder.embed(&text(12)).unwrap(), first, "round {round}");
    }
}

#[test]
fn a_replay_is_one_launch_and_no_operator_call() {
    let _mock = mock::exclusive();
    let mut embedder = embedder(&Small::new(), Mode::Replay);
    embedder.prepare(MAX_TOKENS).unwrap();
    let calls = ["aclmdlRIExecuteAsync", "aclnnAddmm", "aclnnSoftmax", "aclrtMemcpyAsync", "aclrtCmoAsync"];
    let before = calls.map(mock::calls);
    for _ in 0..3 {
        embedder.embed(&text(MAX_TOKENS)).unwrap();
    }
    let after = calls.map(mock::calls);
    let made: Vec<_> = after.iter().zip(before).map(|(after, before)| after - before).collect();
    // Each run uploads its two inputs from the host in front of the graph, so that it need not wait for the run before.
    assert_eq!(made, [3, 0, 0, 6, 0]);
}

#[test]
fn every_replay_prefetches_each_layer_once() {
    let _mock = mock::exclusive();
    let mut embedder = embedder(&Small::new(), Mode::Replay);
    embedder.prepare(2).unwrap();
    let (tasks, bytes) = mock::prefetched();
    embedder.embed(&text(2)).unwrap();
    let (tasks_after, bytes_after) = mock::prefetched();
    assert_eq!(tasks_after - tasks, 2);
    // Without the tables: all that the two layers hold.
    let tables = (40 + 300 + 1 + 2) * 32 * size_of::<f32>();
    assert_eq!(bytes_after - bytes, (embedder.weight_bytes() - tables) as u64);
}

#[test]
fn a_device_without_prefetches_gives_the_same() {
    let _mock = mock::exclusive();
    let model = Small::new();
    let expected = embedder(&model, Mode::Replay).embed(&text(20)).unwrap();
    mock::fail("aclrtCmoAsync", 1, 207_000).unwrap();
    let mut without = embedder(&model, Mode::Replay);
    let before = mock::prefetched();
    assert_eq!(without.embed(&text(20)).unwrap(), expected);
    assert_eq!(mock::prefetched(), before);
}

#[test]
fn padding_does_not_count() {
    let _mock = mock::exclusive();
    let mut embedder = embedder(&Small::new(), Mode::Replay);
    let short = embedder.embed(&text(16)).unwrap();
    // The same 16 tokens between others, which then are gone: nothing of a longer text stays behind.
    embedder.embed(&text(17)).unwrap();
    embedder.embed(&text(15)).unwrap();
    assert_eq!(embedder.embed(&text(16)).unwrap(), short);
}

#[test]
fn the_arena_of_each_length_is_near_its_lower_bound() {
    let _mock = mock::exclusive();
    let embedder = embedder(&Small::new(), Mode::Replay);
    for length in LENGTHS {
        let memory = embedder.memory(length).unwrap();
        assert!(memory.peak * 100 <= memory.lower_bound * 115, "{length} tokens: {memory:?}");
    }
}

#[test]
fn nothing_is_left_when_the_embedder_goes() {
    let _mock = mock::exclusive();
    let count = || {
        let live = mock::live_handles();
        let handles = [live.streams, live.events, live.graphs, live.tensors, live.scalars, live.executors];
        (handles, live.device_bytes, live.pinned_bytes)
    };
    // Held, so that what the device itself keeps is there before and after.
    let device = Acl::mock().unwrap().device(0).unwrap();
    // One allocation of the library for each: the mock counts what is left.
    device.context().set_allocator(Allocator::Direct);
    let once = |before: u64| {
        let mut embedder = embedder(&Small::new(), Mode::Replay);
        embedder.embed(&text(20)).unwrap();
        assert!(count().1 > before);
        drop(embedder);
        device.context().clear_operator_cache();
        count()
    };
    // Streams that captures lease, events that order streams and a number stay with the device, for the next who needs
    // some; so the second time adds nothing.
    let none = count();
    let kept = once(none.1);
    assert_eq!((kept.1, kept.2), (none.1, none.2));
    assert_eq!(once(kept.1), kept);
}

#[test]
fn texts_that_the_network_cannot_take_are_refused() {
    let _mock = mock::exclusive();
    let mut embedder = embedder(&Small::new(), Mode::Replay);
    let refused = |result: embed::Result<Vec<f32>>, part: &str| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Tokens(_)) && error.to_string().contains(part), "{error}");
    };
    refused(embedder.embed(&[]), "without tokens");
    refused(embedder.embed(&text(257)), "257 tokens; the model takes 256");
    refused(embedder.embed(&[2, 40, 3]), "token 40 is outside the vocabulary of 40");
    assert_eq!(embedder.embed(&text(2)).unwrap().len(), 32);
}

#[test]
fn weights_that_are_no_numbers_are_reported() {
    let _mock = mock::exclusive();
    let mut model = Small::new();
    let bias = Stored::f32(&[32], &[f32::NAN; 32]);
    model.tensors.insert("encoder.layer.1.output.dense.bias".to_owned(), bias);
    let error = embedder(&model, Mode::Replay).embed(&text(2)).unwrap_err();
    assert!(matches!(error, Error::NotFinite), "{error}");
}

#[test]
fn a_capture_that_fails_names_the_way_without_graphs() {
    let _mock = mock::exclusive();
    let mut embedder = embedder(&Small::new(), Mode::Replay);
    mock::fail("aclmdlRICaptureBegin", 1, 207_000).unwrap();
    let error = embedder.embed(&text(2)).unwrap_err();
    mock::clear_failures();
    assert!(error.to_string().contains("--eager"), "{error}");
    assert_eq!(embedder.embed(&text(2)).unwrap().len(), 32, "a later text works");
}
