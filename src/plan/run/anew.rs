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

impl Executable {
    /// [`replay`](Self::replay), which uses what the bindings have now, too.
    pub(super) fn replay_whole(&mut self, index: usize, stream: &Stream, bind: &mut Bindings, at: At) -> Result<()> {
        if !self.is_lent_anew(index, bind) {
            return self.replay(index, stream, bind, at);
        }
        let lent = self.lent_anew(index, bind);
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

    fn is_lent_anew(&self, index: usize, bind: &Bindings) -> bool {
        self.tracked.iter().any(|input| self.anew(index, *input, bind).is_some())
    }

    /// The memory of tracked inputs that the graph does not keep, and what the plan does with it.
    fn lent_anew(&self, index: usize, bind: &Bindings) -> Vec<(Arc<Allocation>, How)> {
        let memory = |input: &u32| {
            // In rising order.
            let is_written = self.written.binary_search(input).is_ok();
            let how = if is_written { How::Written } else { How::Read };
            self.anew(index, *input, bind).map(|memory| (Arc::clone(memory), how))
        };
        self.tracked.iter().filter_map(memory).collect()
    }

    fn anew<'a>(&self, index: usize, input: u32, bind: &'a Bindings) -> Option<&'a Arc<Allocation>> {
        let now = &bind.bound[input as usize].as_ref()?.allocation;
        let recipe = &self.plan.0.recipe;
        let storage = recipe.storage_of(recipe.inputs[input as usize].value);
        let known = self.store.peek(index)?.pieces[storage as usize].as_ref();
        (!known.is_some_and(|known| Arc::ptr_eq(&known.allocation, now))).then_some(now)
    }
}
