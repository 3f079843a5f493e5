//! What the program does with device memory, for the benches of the allocator.
#![cfg(feature = "mock")]

mod common;
#[path = "../../../tests/common/recorder.rs"]
mod recorder;

use common::{WAYS, config, device, small_config};
use decode::{Decoder, Mode, Options, Source};
use racl::mock;

/// A model of some ten million weights, in every way to run it.
#[test]
#[ignore = "writes the trace to the file RECORD_ALLOCATIONS"]
fn record() {
    let _mock = mock::exclusive();
    let Some(file) = std::env::var_os("RECORD_ALLOCATIONS") else { panic!("RECORD_ALLOCATIONS names no file") };
    let mut sizes = small_config();
    for (key, value) in
        [("hidden_size", 512), ("num_hidden_layers", 4), ("head_dim", 64), ("intermediate_size", 1376)]
    {
        sizes[key] = value.into();
    }
    for (key, value) in [("num_attention_heads", 8), ("vocab_size", 4000), ("max_position_embeddings", 256)] {
        sizes[key] = value.into();
    }
    let (config, device) = (config(&sizes), device());
    let text = recorder::record(device.context(), || {
        for (mode, attention) in [Mode::Eager, Mode::Replay].into_iter().flat_map(|mode| WAYS.map(|way| (mode, way)))
        {
            let options = Options { mode, attention, buckets: vec![16, 64, 256], ..Options::default() };
            let mut decoder = Decoder::<f32>::new(&device, &config, Source::Random { seed: 1 }, &options).unwrap();
            decoder.generate(&[1, 2, 3], 20).unwrap();
        }
    });
    std::fs::write(file, text).unwrap();
}
