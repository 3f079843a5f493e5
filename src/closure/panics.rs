//! Panics of host functions: whose work they are.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Result;
use crate::lock::{Lock, bury, say};
use crate::progress::{Panic, Progress, told_panics};

/// A stream, and a number there.
pub(crate) type Submission = (Arc<Progress>, u64);

/// What a function is a part of.
#[derive(Clone)]
pub(crate) enum PartOf {
    Work(Submission),
    Graph(Panics),
}

/// Those in a graph. Each is told once: by the graph, or by a stream that may have run it.
#[derive(Clone, Default)]
pub(crate) struct Panics(Arc<Slot>);

#[derive(Default)]
struct Slot {
    /// Each with the streams whose work it may be, and behind which submission there.
    all: Lock<Vec<(Arc<Panic>, Vec<Submission>)>>,
    /// Whether there are functions.
    possible: AtomicBool,
    /// Where the graph was launched, with the number of the latest launch there.
    launches: Lock<Vec<Submission>>,
}

impl PartOf {
    /// The function panicked, in the submission, or in a launch of its graph that is not known to be done.
    pub(super) fn note(&self, payload: Box<dyn Any + Send>) {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        say!(Error, "a host function panicked: {text}");
        let panic = Panic::new(text);
        match self {
            Self::Work((stream, number)) => stream.note_panic((number - 1, *number), &panic),
            Self::Graph(graph) => graph.note(panic),
        }
        bury(payload);
    }
}

impl Panics {
    pub(super) fn set_possible(&self) {
        self.0.possible.store(true, Ordering::Release);
    }

    /// Whether there are functions.
    #[inline]
    pub(crate) fn are_possible(&self) -> bool {
        self.0.possible.load(Ordering::Relaxed)
    }

    /// The graph is launched, as the next submission of a stream whose lock the caller holds.
    pub(crate) fn launched_on(&self, stream: &Arc<Progress>) {
        let number = stream.submitted() + 1;
        let mut launches = self.0.launches.lock();
        launches.retain(|(other, number)| !Arc::ptr_eq(other, stream) && !other.has_completed(*number));
        launches.push((Arc::clone(stream), number));
    }

    fn note(&self, panic: Arc<Panic>) {
        let launches = self.0.launches.lock().clone();
        let mut of = launches;
        of.retain(|(stream, number)| !stream.has_completed(*number));
        for (stream, number) in &mut of {
            let behind = stream.completed();
            stream.note_panic((behind, *number), &panic);
            *number = behind;
        }
        self.0.all.lock().push((panic, of));
    }

    /// Tells those that nobody was told.
    pub(crate) fn tell(&self) -> Result<()> {
        let all = std::mem::take(&mut *self.0.all.lock());
        let mut texts = Vec::new();
        for (panic, of) in all {
            let Some(text) = panic.take() else { continue };
            of.iter().for_each(|(stream, behind)| stream.panic_was_told(*behind));
            texts.push(text);
        }
        told_panics(&texts)
    }
}
