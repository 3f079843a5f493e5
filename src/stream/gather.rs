//! What work uses that replaces work of a graph: the graph keeps it from then on.

use std::any::Any;
use std::sync::Arc;

use super::{State, StreamInner};
use crate::allocation::{Allocation, How, Touch};
use crate::lock::Lock;

type Memory = Vec<(Arc<Allocation>, How)>;
type Others = Vec<Box<dyn Any + Send>>;

/// Memory and what else work uses.
#[derive(Default)]
pub(crate) struct Gathered(Lock<(Memory, Others)>);

impl Gathered {
    pub(crate) fn take(&self) -> (Memory, Others) {
        std::mem::take(&mut *self.0.lock())
    }
}

impl State {
    /// What is done with memory by work of a stream that only keeps it.
    pub(super) fn gather(&self, Touch { memory, how }: Touch<'_>) -> How {
        if let Some(gathered) = &self.gathers {
            let memories = &mut gathered.0.lock().0;
            match memories.iter_mut().find(|(known, _)| Arc::ptr_eq(known, memory)) {
                Some((_, known)) => *known = how.max(*known),
                None => memories.push((Arc::clone(memory), how)),
            }
        }
        How::Kept
    }

    /// As [`State::gather`], of something that is no memory. Before the call that uses it.
    pub(super) fn gather_other<T: Send + Sync + 'static>(&self, other: &Arc<T>) {
        if let Some(gathered) = &self.gathers {
            gathered.0.lock().1.push(Box::new(Arc::clone(other)));
        }
    }
}

/// As long as a stream gathers what its work uses.
pub(crate) struct Gathers<'a> {
    stream: &'a StreamInner,
    workspace: Option<Arc<Allocation>>,
}

impl StreamInner {
    /// Notes in `gathered` what the stream is given, which replaces work of a graph, with scratch memory of its own.
    pub(crate) fn gather(&self, gathered: &Arc<Gathered>) -> Gathers<'_> {
        let workspace = self.swap_workspace(None, true);
        let mut state = self.lock();
        state.only_keeps = true;
        state.gathers = Some(Arc::clone(gathered));
        drop(state);
        Gathers { stream: self, workspace }
    }
}

impl Drop for Gathers<'_> {
    fn drop(&mut self) {
        let scratch = self.stream.swap_workspace(self.workspace.take(), false);
        let mut state = self.stream.lock();
        state.only_keeps = false;
        let gathered = state.gathers.take();
        drop(state);
        drop((scratch, gathered));
    }
}
