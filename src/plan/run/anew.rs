//! Tracked inputs that are lent anew. A graph keeps the memory that it was captured with; memory of other code is another
//! value each time that it is lent, at the same address too, and its owner has to stay while a run reads it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use crate::error::Result;
use crate::memory::{Allocation, How, Touch};
use crate::stream::{Stream, Task};

use super::bindings::Bindings;
use super::executable::Executable;
use super::issue::At;
use super::movable::how;

impl Executable {
    /// [`replay`](Self::replay), which uses what the bindings have now, too.
    pub(super) fn replay_whole(&mut self, index: usize, stream: &Stream, bind: &mut Bindings, at: At) -> Result<()> {
        let lent = self.lent_anew(index, bind);
        if lent.is_empty() {
            return self.replay(index, stream, bind, at);
        }
        let uses: Vec<_> = lent.iter().map(|(memory, how)| Touch::new(memory, *how)).collect();
        stream.0.order(&uses)?;
        // Code of the user may panic.
        let done = catch_unwind(AssertUnwindSafe(|| self.replay(index, stream, bind, at)));
        // Behind what there is of the run, also where it failed.
        let task = Task { label: "graph launch", location: at, uses: &uses, scratch: None };
        let used = {
            let state = stream.0.lock();
            stream.0.submit_locked(&state, &task, |_| Ok(()))
        };
        done.unwrap_or_else(|panic| resume_unwind(panic)).and(used.map(drop))
    }

    /// The memory of tracked inputs that the graph does not keep, and what the plan does with it.
    fn lent_anew(&self, index: usize, bind: &Bindings) -> Vec<(Arc<Allocation>, How)> {
        let (recipe, Some(captured)) = (&self.plan.0.recipe, self.store.peek(index)) else { return Vec::new() };
        let anew = |input: &u32| {
            let now = &bind.bound[*input as usize].as_ref()?.allocation;
            let storage = recipe.storage_of(recipe.inputs[*input as usize].value);
            let known = captured.pieces[storage as usize].as_ref();
            let is_known = known.is_some_and(|known| Arc::ptr_eq(&known.allocation, now));
            (!is_known).then(|| (Arc::clone(now), how(&self.written, *input)))
        };
        self.tracked.iter().filter_map(anew).collect()
    }
}
