//! How steps are recorded and replayed.
#![cfg(feature = "mock")]

mod common;

use common::{BUCKETS, WAYS, config, device, options, small, small_config, small_with};
use decode::{Attention, Config, DEFAULT_BUCKETS, Decoder, Error, Mode, Number, Options, Source, all_calls};
use racl::half::{bf16, f16};
use racl::{Allocator, mock};

/// The logits of each step, bit by bit, and the tokens.
fn run<T: Number>(decoder: &mut Decoder<T>, prompt: &[u32], steps: usize) -> (Vec<Vec<u32>>, Vec<u32>) {
    decoder.start(prompt).unwrap();
    let step = |_| {
        decoder.advance().unwrap();
        decoder.logits().unwrap().into_iter().map(f32::to_bits).collect()
    };
    ((0..steps).map(step).collect(), decoder.tokens().unwrap())
}

#[test]
fn replay_is_eager_bit_for_bit() {
    fn check<T: Number>() {
        for way in WAYS {
            let [mut eager, mut replay] = [Mode::Eager, Mode::Replay].map(|mode| small_with::<T>(3, mode, way));
            let prompt = [4, 9, 1];
            assert_eq!(run(&mut eager, &prompt, BUCKETS[2]), run(&mut replay, &prompt, BUCKETS[2]), "{way:?}");
        }
    }
    let _mock = mock::exclusive();
    check::<f32>();
    check::<f16>();
    check::<bf16>();
}

#[test]
fn one_step_at_a_time_gives_what_all_at_once_gives() {
    let _mock = mock::exclusive();
    for way in WAYS {
        let mut decoder = small_with::<f32>(3, Mode::Replay, way);
        let (logits, tokens) = run(&mut decoder, &[4, 9, 1], 20);
        assert_eq!(decoder.generate(&[4, 9, 1], 18).unwrap(), tokens[3..], "{way:?}");
        let last: Vec<u32> = decoder.logits().unwrap().into_iter().map(f32::to_bits).collect();
        assert_eq!(last, logits[19], "{way:?}");
    }
}

#[test]
fn a_text_leaves_nothing_for_the_next_one() {
    let _mock = mock::exclusive();
    for way in WAYS {
        let mut used = small_with::<f32>(3, Mode::Replay, way);
        used.generate(&[50, 60, 70], 25).unwrap();
        used.start(&[8]).unwrap();
        used.advance().unwrap();
        let mut fresh = small_with::<f32>(3, Mode::Replay, way);
        assert_eq!(run(&mut used, &[4, 9], 20), run(&mut fresh, &[4, 9], 20), "{way:?}");
    }
}

#[test]
fn the_tokens_of_the_prompt_stay() {
    let _mock = mock::exclusive();
    let mut decoder = small::<f32>(3, Mode::Replay);
    let prompt = [4, 9, 1, 96, 0];
    decoder.start(&prompt).unwrap();
    assert_eq!(decoder.tokens().unwrap(), prompt);
    for step in 1..=8 {
        decoder.advance().unwrap();
        let tokens = decoder.tokens().unwrap();
        assert_eq!(tokens[..5], prompt);
        assert_eq!(tokens.len(), if step < 5 { 5 } else { step + 1 });
        assert!(tokens.iter().all(|id| *id < 97));
    }
}

#[test]
fn each_bucket_is_recorded_once_when_it_is_needed() {
    let _mock = mock::exclusive();
    let mut decoder = small::<f32>(3, Mode::Replay);
    let ended = mock::calls("aclmdlRICaptureEnd");
    assert_eq!(decoder.graphs(), 0);
    decoder.generate(&[1], BUCKETS[0]).unwrap();
    assert_eq!(decoder.graphs(), 1);
    decoder.generate(&[1], BUCKETS[0] + 1).unwrap();
    assert_eq!(decoder.graphs(), 2);
    for _ in 0..3 {
        decoder.generate(&[1], BUCKETS[2]).unwrap();
    }
    assert_eq!(decoder.graphs(), 3);
    assert_eq!(mock::calls("aclmdlRICaptureEnd") - ended, 3);
}

#[test]
fn prepared_graphs_are_all_that_is_needed() {
    let _mock = mock::exclusive();
    let mut decoder = small::<f32>(3, Mode::Replay);
    decoder.prepare(2, BUCKETS[1] - 1).unwrap();
    assert_eq!(decoder.graphs(), 2);
    decoder.generate(&[1, 2], BUCKETS[1] - 1).unwrap();
    assert_eq!(decoder.graphs(), 2);
    let mut eager = small::<f32>(3, Mode::Eager);
    eager.prepare(1, BUCKETS[2]).unwrap();
    assert_eq!(eager.graphs(), 0);
}

#[test]
fn a_replayed_step_is_one_c_call() {
    let _mock = mock::exclusive();
    let device = device();
    let mut decoder = small::<f32>(3, Mode::Replay);
    decoder.prepare(1, BUCKETS[2]).unwrap();
    decoder.start(&[1]).unwrap();
    // The first launches bind queues.
    decoder.advance().unwrap();
    decoder.wait().unwrap();
    let (all, launches) = (all_calls(&device).unwrap(), mock::calls("aclmdlRIExecuteAsync"));
    for _ in 1..BUCKETS[0] {
        decoder.advance().unwrap();
    }
    let steps = BUCKETS[0] as u64 - 1;
    assert_eq!(all_calls(&device).unwrap() - all, steps);
    assert_eq!(mock::calls("aclmdlRIExecuteAsync") - launches, steps);
}

#[test]
fn fused_attention_is_told_how_many_keys_there_are_before_each_replay() {
    let _mock = mock::exclusive();
    let mut decoder = small_with::<f32>(3, Mode::Replay, Attention::Fused);
    decoder.prepare(1, BUCKETS[1]).unwrap();
    assert_eq!((decoder.graphs(), decoder.updates()), (2, 0));
    let launches = mock::calls("aclmdlRIExecuteAsync");
    decoder.generate(&[1], BUCKETS[1]).unwrap();
    assert_eq!(decoder.updates(), 3 * BUCKETS[1] as u64);
    assert_eq!(mock::calls("aclmdlRIExecuteAsync") - launches, BUCKETS[1] as u64);
    // The graph of the first bucket knows of all its places, and then of one.
    decoder.generate(&[1], 1).unwrap();
    assert_eq!(decoder.updates(), 3 * (BUCKETS[1] as u64 + 1));
    decoder.generate(&[2], 1).unwrap();
    assert_eq!(decoder.updates(), 3 * (BUCKETS[1] as u64 + 1));
    let mut products = small::<f32>(3, Mode::Replay);
    products.generate(&[1], 4).unwrap();
    assert_eq!(products.updates(), 0);
}

#[test]
fn a_step_that_could_not_be_submitted_ends_the_text() {
    let _mock = mock::exclusive();
    for (mode, way, function) in [
        (Mode::Replay, Attention::Fused, "aclnnIncreFlashAttentionGetWorkspaceSize"),
        (Mode::Replay, Attention::Fused, "aclmdlRICaptureTaskUpdateBegin"),
        (Mode::Replay, Attention::Products, "aclmdlRIExecuteAsync"),
        (Mode::Eager, Attention::Fused, "aclnnIncreFlashAttentionGetWorkspaceSize"),
        (Mode::Eager, Attention::Products, "aclnnSoftmax"),
    ] {
        let expected = small_with::<f32>(3, mode, way).generate(&[4, 9], 10).unwrap();
        let mut decoder = small_with::<f32>(3, mode, way);
        decoder.prepare(2, 10).unwrap();
        decoder.start(&[4, 9]).unwrap();
        (0..5).for_each(|_| decoder.advance().unwrap());
        mock::fail(function, 1, 507_000).unwrap();
        let error = decoder.advance().unwrap_err();
        mock::clear_failures();
        assert!(matches!(error, Error::Device(_)), "{function}: {error}");
        assert!(matches!(decoder.advance().unwrap_err(), Error::Prompt(_)), "{function}");
        assert_eq!(decoder.generate(&[4, 9], 10).unwrap(), expected, "{function}");
    }
}

#[test]
fn a_step_writes_one_row_of_each_cache_and_one_token() {
    let _mock = mock::exclusive();
    let mut decoder = small::<f32>(3, Mode::Eager);
    decoder.start(&[1]).unwrap();
    let calls = || (mock::calls("aclnnInplaceIndexCopy"), mock::calls("aclnnSWhere"));
    let before = calls();
    decoder.advance().unwrap();
    let after = calls();
    // Keys and values of three layers, and the token; the mask is chosen, and nothing else.
    assert_eq!((after.0 - before.0, after.1 - before.1), (7, 1));
}

#[test]
fn the_weights_of_each_layer_are_prefetched_in_each_replay_unless_that_is_off() {
    let _mock = mock::exclusive();
    for mode in [Mode::Replay, Mode::Eager] {
        let (mut with, options) = (small::<f32>(3, mode), Options { prefetch: false, ..options(mode) });
        let source = Source::Random { seed: 3 };
        let mut without = Decoder::<f32>::new(&device(), &config(&small_config()), source, &options).unwrap();
        assert!(with.prefetches() && !without.prefetches());
        let prefetched = |decoder: &mut Decoder<f32>| {
            // Nobody waits for the one that tries whether there are prefetches, nor for the last ones of a step.
            let done = || {
                device().synchronize().unwrap();
                mock::prefetched().0
            };
            decoder.generate(&[1], 1).unwrap();
            let before = done();
            let tokens = decoder.generate(&[1, 2], 6).unwrap();
            (done() - before, tokens)
        };
        let ((some, a), (none, b)) = (prefetched(&mut with), prefetched(&mut without));
        // Three layers and the output projection, for seven steps.
        assert_eq!((some, none), (4 * 7, 0));
        assert_eq!(a, b);
    }
}

#[test]
fn the_last_place_of_the_largest_bucket_is_used_and_no_more() {
    let _mock = mock::exclusive();
    for mode in [Mode::Replay, Mode::Eager] {
        let mut decoder = small::<f32>(3, mode);
        let most = BUCKETS[2];
        assert_eq!(decoder.generate(&[1], most).unwrap().len(), most);
        assert_eq!(decoder.generate(&vec![1; most], 1).unwrap().len(), 1);
        let refused = |error: Error, parts: &[&str]| {
            assert!(matches!(error, Error::Length(_)), "{error}");
            let text = error.to_string();
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        };
        refused(decoder.generate(&[1, 2], most).unwrap_err(), &["2 tokens", "32 more", "33 places", "--buckets"]);
        refused(decoder.generate(&vec![1; most + 1], 1).unwrap_err(), &["33 tokens"]);
        refused(decoder.generate(&[1], usize::MAX).unwrap_err(), &["largest bucket has 32"]);
        refused(decoder.generate(&[1], 0).unwrap_err(), &["0 tokens", "at least one"]);
        refused(decoder.prepare(1, most + 1).unwrap_err(), &["--buckets"]);
        decoder.start(&[1]).unwrap();
        (0..most).for_each(|_| decoder.advance().unwrap());
        refused(decoder.advance().unwrap_err(), &["full", "32"]);
    }
}

#[test]
fn prompts_that_are_none_are_refused() {
    let _mock = mock::exclusive();
    let mut decoder = small::<f32>(3, Mode::Replay);
    let text = |error: Error| {
        assert!(matches!(error, Error::Prompt(_)), "{error}");
        error.to_string()
    };
    assert!(text(decoder.advance().unwrap_err()).contains("missing"));
    assert!(text(decoder.generate(&[], 3).unwrap_err()).contains("empty"));
    assert!(text(decoder.generate(&[5, 97], 3).unwrap_err()).contains("token 97, and the vocabulary ends at 96"));
    assert!(text(decoder.start(&[u32::MAX]).unwrap_err()).contains("4294967295"));
    assert_eq!(decoder.generate(&[96], 3).unwrap().len(), 3);
}

#[test]
fn buckets_end_with_the_positions_of_the_model() {
    let _mock = mock::exclusive();
    let make = |positions, buckets: &[usize]| {
        let mut config = config(&small_config());
        config.positions = positions;
        let options = Options { buckets: buckets.to_vec(), ..Options::default() };
        Decoder::<f32>::new(&device(), &config, Source::Random { seed: 1 }, &options)
    };
    assert_eq!(make(5000, &[]).unwrap().buckets(), DEFAULT_BUCKETS);
    assert_eq!(make(128, &[]).unwrap().buckets(), [64, 128]);
    assert_eq!(make(100, &[]).unwrap().buckets(), [64, 100]);
    assert_eq!(make(3, &[]).unwrap().buckets(), [3]);
    assert_eq!(make(100, &[7, 3, 7]).unwrap().buckets(), [3, 7]);
    for wrong in [&[0][..], &[8, 101]] {
        let error = make(100, wrong).unwrap_err();
        assert!(matches!(error, Error::Buckets(_)), "{error}");
        assert!(error.to_string().contains("from 1 to 100"), "{error}");
    }
}

#[test]
fn sizes_that_do_not_fit_are_refused_before_anything_is_made() {
    let _mock = mock::exclusive();
    let refused = |change: fn(&mut Config)| {
        let mut config = Config::default();
        change(&mut config);
        let error = Decoder::<f32>::new(&device(), &config, Source::Random { seed: 1 }, &Options::default());
        let error = error.unwrap_err();
        assert!(matches!(error, Error::Sizes(_)), "{error}");
        error.to_string()
    };
    assert!(refused(|config| config.kv_heads = 3).contains("8 is no multiple of num_key_value_heads 3"));
    assert!(refused(|config| config.head = 31).contains("even width"));
    assert!(refused(|config| config.layers = 0).contains("a size"));
    assert!(refused(|config| config.feed_forward = usize::MAX).contains("a size"));
    let text = refused(|config| (config.hidden, config.feed_forward) = (1 << 20, 1 << 20));
    assert!(text.contains("MB of weights") && text.contains("do not fit"), "{text}");
}

#[test]
fn numbers_that_are_not_finite_are_an_error() {
    let _mock = mock::exclusive();
    let folder = tempfile::tempdir().unwrap();
    let mut stored = common::Stored::new::<f32>(small_config());
    let norm = &mut stored.tensors.get_mut("model.norm.weight").unwrap().2;
    norm[..4].copy_from_slice(&f32::NAN.to_le_bytes());
    let source = Source::File(stored.write(folder.path()));
    let made = Decoder::<f32>::new(&device(), &config(&stored.config), source, &options(Mode::Replay));
    assert!(matches!(made.unwrap().generate(&[1], 3).unwrap_err(), Error::NotFinite));
}

#[test]
fn nothing_is_left_behind() {
    let _mock = mock::exclusive();
    let device = device();
    // One allocation of the library for each: the mock counts what is left.
    device.context().set_allocator(Allocator::Direct);
    let before = mock::live_handles();
    for (mode, way) in [Mode::Replay, Mode::Eager].into_iter().flat_map(|mode| WAYS.map(|way| (mode, way))) {
        small_with::<f32>(1, mode, way).generate(&[1, 2], 20).unwrap();
    }
    let after = mock::live_handles();
    assert_eq!(after.device_allocations, before.device_allocations);
    assert_eq!(after.device_bytes, before.device_bytes);
}
