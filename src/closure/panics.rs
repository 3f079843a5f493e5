//! Panics of host functions: whose work they are.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Result, Thrown};
use crate::lock::{Lock, bury, say};
use crate::progress::{Panic, Progress, Span, take_told, told_panics};

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
    /// Where the graph was launched.
    launches: Lock<Vec<Launches>>,
}

/// Launches on one stream: of those that are not known to be done the first number and the last one.
struct Launches {
    stream: Arc<Progress>,
    first: u64,
    last: u64,
}

impl Launches {
    fn may_run(&self) -> bool {
        !self.stream.has_completed(self.last)
    }

    fn span(&self) -> Span {
        (self.stream.completed().max(self.first - 1), self.last)
    }
}

/// What was said by who panicked.
pub(crate) fn text_of_panic(payload: &(dyn Any + Send)) -> String {
    Thrown::of(payload).text().to_owned()
}

impl PartOf {
    /// The function panicked, in the submission, or in a launch of its graph that is not known to be done.
    pub(super) fn note(&self, payload: Box<dyn Any + Send>) {
        let thrown = Thrown::of(&*payload);
        let text = thrown.text();
        say!(Error, "a host function panicked: {text}");
        let panic = Panic::new(thrown);
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
    #[inline(never)]
    pub(crate) fn launched_on(&self, stream: &Arc<Progress>) {
        let number = stream.submitted() + 1;
        let mut launches = self.0.launches.lock();
        launches.retain(|launch| Arc::ptr_eq(&launch.stream, stream) || launch.may_run());
        match launches.iter_mut().find(|launch| Arc::ptr_eq(&launch.stream, stream)) {
            Some(launch) => {
                launch.first = if launch.may_run() { launch.first } else { number };
                launch.last = number;
            }
            None => launches.push(Launches { stream: Arc::clone(stream), first: number, last: number }),
        }
    }

    /// The launch that was to be the next submission of a stream, whose lock the caller holds, failed.
    pub(crate) fn not_launched(&self, stream: &Arc<Progress>) {
        let number = stream.submitted() + 1;
        let mut launches = self.0.launches.lock();
        let open = launches.iter_mut().filter(|launch| Arc::ptr_eq(&launch.stream, stream) && launch.last == number);
        open.for_each(|launch| launch.last = number - 1);
        launches.retain(|launch| launch.first <= launch.last);
    }

    fn note(&self, panic: Arc<Panic>) {
        let of: Vec<_> = {
            let launches = self.0.launches.lock();
            let open = launches.iter().filter(|launch| launch.may_run());
            open.map(|launch| (Arc::clone(&launch.stream), launch.span())).collect()
        };
        of.iter().for_each(|(stream, span)| stream.note_panic(*span, &panic));
        let of = of.into_iter().map(|(stream, (behind, _))| (stream, behind)).collect();
        let mut all = self.0.all.lock();
        let told = take_told(&mut all, |(panic, _)| panic);
        all.push((panic, of));
        drop(all);
        drop(told);
    }

    /// Tells those that nobody was told.
    pub(crate) fn tell(&self) -> Result<()> {
        let all = std::mem::take(&mut *self.0.all.lock());
        let mut thrown = Vec::new();
        for (panic, of) in all {
            let Some(one) = panic.take() else { continue };
            of.iter().for_each(|(stream, behind)| stream.panic_was_told(*behind));
            thrown.push(one);
        }
        told_panics(thrown)
    }
}
