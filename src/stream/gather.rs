//! What work uses that replaces work of a graph: the graph keeps it from then on.

use std::any::Any;
use std::sync::Arc;

use super::{Named, Operators, State, StreamInner, Task};
use crate::allocation::{Allocation, How};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::Lock;

type Memory = Vec<(Arc<Allocation>, How)>;
type Others = Vec<Box<dyn Any + Send>>;

/// What work uses, and how giving it went.
#[derive(Default)]
pub(crate) struct Gathered(Lock<All>);

#[derive(Default)]
pub(crate) struct All {
    pub(crate) memory: Memory,
    pub(crate) others: Others,
    /// The library was given some.
    pub(crate) given: bool,
    /// The first that was refused, by whomever.
    pub(crate) lacks: Option<(ErrorKind, String)>,
    /// What is replaced, and how much of it was.
    replaces: Operators,
    next: usize,
}

impl Gathered {
    /// Of work that replaces these.
    pub(crate) fn replacing(replaces: &Operators) -> Arc<Self> {
        Arc::new(Self(Lock::new(All { replaces: replaces.clone(), ..All::default() })))
    }

    pub(crate) fn take(&self) -> All {
        std::mem::take(&mut *self.0.lock())
    }
}

impl State {
    /// That an operator replaces one of its own kind, where it replaces an operator: what else fits the library knows.
    fn check_kind(&self, task: &Task<'_>) -> Result<()> {
        let Some(gathered) = &self.gathers else { return Ok(()) };
        let mut all = gathered.0.lock();
        let at = all.next;
        all.next += 1;
        match (all.replaces.get(at).copied().flatten(), task.operator()) {
            (Some(former), Some(given)) if former != given => Err(Error::invalid(format!(
                "operator {given} in the place of {former}, which is number {at} of the group"
            ))),
            _ => Ok(()),
        }
    }

    /// Before the call: one that fails may have been taken in part.
    fn gather(&self, task: &Task<'_>) {
        let Some(gathered) = &self.gathers else { return };
        let mut all = gathered.0.lock();
        all.given = true;
        for touch in task.memory() {
            match all.memory.iter_mut().find(|(known, _)| Arc::ptr_eq(known, touch.memory)) {
                Some((_, known)) => *known = touch.how.max(*known),
                None => all.memory.push((Arc::clone(touch.memory), touch.how)),
            }
        }
    }

    /// As [`State::gather`], of something that is no memory. Before the call that uses it.
    pub(super) fn gather_other<T: Send + Sync + 'static>(&self, other: &Arc<T>) {
        if let Some(gathered) = &self.gathers {
            gathered.0.lock().others.push(Box::new(Arc::clone(other)));
        }
    }

    /// Work that replaces was refused: the update fails, whatever becomes of the error.
    pub(super) fn lacks(&self, (label, location): Named, error: Error) -> Error {
        if let Some(gathered) = &self.gathers {
            let text = || format!("{label} at {}:{} replaced nothing: {error}", location.file(), location.line());
            gathered.0.lock().lacks.get_or_insert_with(|| (error.kind(), text()));
        }
        error
    }

    /// That it takes work, such as `what`, for something that is not over.
    pub(crate) fn check_not_over(&self, what: &str) -> Result<()> {
        let Some(over) = self.over else { return Ok(()) };
        Err(Error::new(ErrorKind::InvalidHandle, format!("{what} on the stream of {over}")))
    }

    /// The update that gathers is over; the stream takes nothing more, which nobody would order.
    pub(crate) fn end_gathering(&mut self) {
        if self.gathers.take().is_some() {
            self.over = Some("an update of a graph, which is over");
        }
    }
}

impl StreamInner {
    /// Whether what it is given runs later, as a part of a graph.
    pub(crate) fn only_keeps(&self) -> bool {
        self.lock().only_keeps
    }

    /// Submits to a stream whose work only keeps memory.
    #[inline(never)]
    pub(super) fn submit_kept(
        self: &Arc<Self>,
        state: &State,
        task: &Task<'_>,
        call: impl FnOnce(acl_sys::aclrtStream) -> Result<()>,
    ) -> Result<u64> {
        state.check_not_over(task.label)?;
        state.check_kind(task).map_err(|error| state.lacks((task.label, task.location), error))?;
        state.gather(task);
        let called = call(self.raw);
        // Also of one that failed, whose first part the stream may have.
        let number = self.progress.next();
        for touch in task.memory() {
            touch.memory.used_by(self, number, How::Kept, &state.clock);
        }
        called.map(|()| number).map_err(|error| state.lacks((task.label, task.location), error))
    }

    /// Notes in `gathered` what the stream is given, which replaces work of a graph, with scratch memory of its own,
    /// until [`State::end_gathering`].
    pub(crate) fn gather(&self, gathered: &Arc<Gathered>) -> Gathers<'_> {
        let workspace = self.swap_workspace(None, true);
        let mut state = self.lock();
        state.only_keeps = true;
        state.gathers = Some(Arc::clone(gathered));
        drop(state);
        Gathers { stream: self, workspace }
    }
}

/// As long as a stream that gathers has scratch memory for that.
pub(crate) struct Gathers<'a> {
    stream: &'a StreamInner,
    workspace: Option<Arc<Allocation>>,
}

impl Drop for Gathers<'_> {
    fn drop(&mut self) {
        let scratch = self.stream.swap_workspace(self.workspace.take(), false);
        // Where no update was begun.
        self.stream.lock().end_gathering();
        drop(scratch);
    }
}
