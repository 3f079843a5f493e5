//! Plans on the mock: what building refuses, and what runs do.
//!
//! Every test has the mock to itself, because most count calls or hold streams.

#[path = "../common/mod.rs"]
mod common;

mod aborted;
mod addresses;
mod ahead;
mod bad_input;
mod blocked;
#[path = "../../src/plan/builder/tests/bodies.rs"]
mod bodies;
mod budgets;
mod builder_errors;
mod called;
mod called_errors;
mod chains;
mod choices;
mod classes;
mod complete;
mod drops;
mod dynamic;
mod environment;
mod equal;
mod failures;
mod found;
mod fused;
mod gates;
#[path = "../../src/plan/builder/tests/generate.rs"]
mod generate;
#[path = "../../benches/plans/heap.rs"]
mod heap;
mod host_outputs;
mod kernels;
mod lifetimes;
mod lints;
mod lists;
mod methods;
mod mixer;
mod overlap;
mod passes;
mod pools;
mod prefetch;
mod programs;
mod random;
mod recorded;
mod refusals;
mod relaid;
mod rescued;
mod ruled;
mod rules;
mod seeds;
mod store;
mod streams;
mod stuck;
mod telling;
mod typed;
mod unique;
mod unwritten;
mod updates;
#[path = "../common/watchdog.rs"]
mod watchdog;

use std::sync::MutexGuard;

use common::mock;
use racl::plan::{Bindings, Executable};
use racl::{Device, Stream};

/// The mock, empty and for one test alone.
pub(crate) struct Alone {
    pub(crate) device: Device,
    _watched: watchdog::Watchdog,
    _lock: MutexGuard<'static, ()>,
}

impl Alone {
    pub(crate) fn new() -> Self {
        let lock = mock::exclusive();
        mock::clear_failures();
        mock::limit_streams(None).unwrap();
        mock::limit_events(None).unwrap();
        mock::reset().unwrap();
        let device = common::device();
        if !common::is_mock() {
            // Nothing was reset: those of a test that was skipped half way.
            drop(device.context().take_drop_errors());
        }
        Self { device, _watched: watchdog::Watchdog::new(), _lock: lock }
    }

    pub(crate) fn stream(&self) -> Stream {
        self.device.stream().unwrap()
    }
}

/// How often `function` is called by `work`.
pub(crate) fn calls_of<T>(function: &str, work: impl FnOnce() -> T) -> (u64, T) {
    let before = mock::calls(function);
    let done = work();
    (mock::calls(function) - before, done)
}

/// How many C calls of any kind `work` makes.
pub(crate) fn all_calls<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let count = || racl::sys::Table::names().map(|(name, _)| mock::calls(name)).sum::<u64>();
    let before = count();
    let done = work();
    (count() - before, done)
}

/// The output `name` of the latest run.
#[track_caller]
pub(crate) fn result(exe: &Executable, name: &str) -> Vec<f32> {
    exe.output::<f32>(exe.output_id(name).unwrap()).unwrap().to_vec().unwrap()
}

/// Bindings of one input.
pub(crate) fn give(exe: &Executable, name: &str, memory: &impl racl::plan::Bindable) -> Bindings {
    let mut bind = exe.bindings();
    bind.set(exe.input(name).unwrap(), memory);
    bind
}

/// What the generator of random plans needs.
mod api {
    pub(crate) use racl::op::{DataType, aclnn};
    pub(crate) use racl::plan::{
        After, Builder, Dim, Foreign, Fork, HostFunction, Input, Options, Plan, Scope, TaggedEvent, Value,
    };
    pub(crate) use racl::{Prefetch, Result};
}
