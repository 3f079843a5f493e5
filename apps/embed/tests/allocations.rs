//! What the program does with device memory, for the benches of the allocator.
#![cfg(feature = "mock")]

mod common;
#[path = "../../../tests/common/recorder.rs"]
mod recorder;

use common::{Small, small_config};
use embed::{Embedder, Mode};
use racl::{Acl, mock};

/// With weights of the sizes of a common model for sentences: twice as many layers would be that one.
#[test]
#[ignore = "writes the trace to the file RECORD_ALLOCATIONS"]
fn record() {
    let _mock = mock::exclusive();
    let Some(file) = std::env::var_os("RECORD_ALLOCATIONS") else { panic!("RECORD_ALLOCATIONS names no file") };
    let mut config = small_config();
    for (key, value) in [("hidden_size", 384), ("intermediate_size", 1536), ("num_hidden_layers", 3)] {
        config[key] = value.into();
    }
    config["num_attention_heads"] = 12.into();
    let (model, device) = (Small::of(config), Acl::mock().unwrap().device(0).unwrap());
    let folder = model.folder();
    let text = recorder::record(device.context(), || {
        for mode in [Mode::Eager, Mode::Replay] {
            let mut embedder = Embedder::load(folder.path(), &device, mode).unwrap();
            for tokens in [12, 100, 30, 220, 61, 7] {
                let ids: Vec<u32> = (0..tokens).map(|i| (i * 7 + 2) % 40).collect();
                embedder.embed(&ids).unwrap();
            }
        }
    });
    std::fs::write(file, text).unwrap();
}
