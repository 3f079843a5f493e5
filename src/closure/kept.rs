//! Functions that graphs keep.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use super::{Function, RunsOn, as_function};
use crate::lock::{Lock, as_if_alone};

/// By their numbers, which is what the library has of them: it may call one of a replay that was aborted when the graph
/// is gone.
static ALL: Lock<BTreeMap<usize, Weak<Kept>>> = Lock::new(BTreeMap::new());

/// A function that a graph keeps, for each of its replays.
pub(crate) struct Kept {
    number: usize,
    function: Function,
}

impl Kept {
    pub(crate) fn new(function: Function) -> Arc<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let kept = Arc::new(Self { number: NEXT.fetch_add(1, Ordering::Relaxed), function });
        ALL.lock().insert(kept.number, Arc::downgrade(&kept));
        kept
    }

    /// That no other one has, before or after; not 0.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Runs the function, if its graph still keeps it.
    pub(crate) fn run(number: usize) {
        let kept = ALL.lock().get(&number).and_then(Weak::upgrade);
        let Some(kept) = kept else { return };
        kept.function.run(RunsOn::Graph);
        // Where the graph went meanwhile, what the function owns goes as if that dropped it.
        let Some(last) = Arc::into_inner(kept) else { return };
        let of = last.function.of.clone();
        if let Err(payload) = as_function(RunsOn::Graph, || as_if_alone(move || drop(last))) {
            of.note(payload);
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        ALL.lock().remove(&self.number);
    }
}
