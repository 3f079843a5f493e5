//! Replay of a graph whose attention is told before each launch how many keys there are.
//!
//! That number is part of what the operator was planned for, so its task in the graph is replaced. A plan does that
//! for operators that use an updatable input which moved: each attention lies in a task group behind a gate, the graph
//! is launched, and while the device works on what comes before, the attention of each layer is planned and replaced
//! and its gate opened. The input is the number itself, in a table that has one place for each.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use racl::op::DataType;
use racl::plan::{Bindings, Executable, Foreign, Frozen, Input, InputId, Plan, RunOptions};
use racl::{Context, Result, Stream};

use crate::network::Network;
use crate::number::Number;

/// The network, for its owner and for the operators of plans.
pub(crate) type Shared<T> = Arc<Mutex<Network<T>>>;

/// Nothing in it is half changed when a thread panics: it has the tensors of the steps, and no state of its own.
pub(crate) fn lock<T: Number>(network: &Shared<T>) -> MutexGuard<'_, Network<T>> {
    network.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The graph of a bucket.
#[derive(Debug)]
pub(crate) struct Updated {
    executable: Executable,
    bindings: Bindings,
    /// The number of keys in device memory, and what updates are to plan for.
    input: InputId,
    keys: Arc<AtomicUsize>,
}

impl Updated {
    /// Records the graph for `places` places.
    pub(crate) fn record<T: Number>(
        context: &Context,
        network: &Shared<T>,
        side: Option<&Stream>,
        places: usize,
    ) -> Result<Self> {
        let keys = Arc::new(AtomicUsize::new(places));
        let plan = plan(network, side, places, &keys)?;
        let executable = plan.executable(context, &RunOptions::new(), Frozen::new())?;
        let (input, bindings) = (executable.input("keys")?, executable.bindings());
        let mut updated = Self { executable, bindings, input, keys };
        let number = lock(network).number(places)?;
        updated.executable.capture(updated.bindings.set(input, &number))?;
        Ok(updated)
    }

    /// Replays the graph for `keys` keys. Does not block.
    pub(crate) fn launch<T: Number>(&mut self, stream: &Stream, network: &Shared<T>, keys: usize) -> Result<()> {
        let number = lock(network).number(keys)?;
        self.keys.store(keys, Ordering::Relaxed);
        self.executable.run(stream, self.bindings.set(self.input, &number))
    }

    /// Operators that were replaced so far.
    pub(crate) fn updates(&self) -> u64 {
        self.executable.counters().updates
    }
}

/// A step: the attention of each layer as an operator of its own, and what is between them as one.
fn plan<T: Number>(
    network: &Shared<T>,
    side: Option<&Stream>,
    places: usize,
    keys: &Arc<AtomicUsize>,
) -> Result<Plan> {
    let layers = lock(network).layers();
    let between = |index: usize| {
        let (network, side) = (Arc::clone(network), side.cloned());
        Foreign::unnamed(move |launch| lock(&network).between(launch.stream(), side.as_ref(), places, index))
    };
    let attend = |index: usize| {
        let (network, keys) = (Arc::clone(network), Arc::clone(keys));
        Foreign::unnamed(move |launch| {
            lock(&network).attend(launch.stream(), places, index, keys.load(Ordering::Relaxed))
        })
    };
    Plan::build(|g| {
        let number = g.input("keys", [1], DataType::I64, Input::Updatable)?;
        for index in 0..layers {
            g.foreign(&between(index), &[], &[])?;
            g.foreign(&attend(index), &[number], &[])?;
        }
        g.foreign(&between(layers), &[], &[])
    })
}
