//! Who uses an allocation, and what of that later work has to follow.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use super::Allocation;
use crate::error::Result;
use crate::lock::{Guard, Lock};
use crate::progress::{Clock, Open, Queue, Use, is_same_stream};

/// What work does with memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum How {
    /// Needs it to be there; the order with other work is arranged elsewhere.
    Kept,
    Read,
    Written,
}

/// Memory that work uses.
#[derive(Clone, Copy)]
pub(crate) struct Touch<'a> {
    pub(crate) memory: &'a Arc<Allocation>,
    pub(crate) how: How,
}

impl<'a> Touch<'a> {
    pub(crate) fn new(memory: &'a Arc<Allocation>, how: How) -> Self {
        Self { memory, how }
    }

    pub(crate) fn kept(memory: &'a Arc<Allocation>) -> Self {
        Self::new(memory, How::Kept)
    }

    pub(crate) fn read(memory: &'a Arc<Allocation>) -> Self {
        Self::new(memory, How::Read)
    }

    pub(crate) fn written(memory: &'a Arc<Allocation>) -> Self {
        Self::new(memory, How::Written)
    }
}

/// What launches a graph that holds memory.
pub(crate) trait Launches: Send + Sync + 'static {
    /// Waits for the last launch, and reports its errors.
    fn wait(&self) -> Result<()>;

    /// The last launch, behind which the others are, and those that may be over later all the same.
    fn open(&self) -> Open;

    /// Something else used the memory of the graph, on the stream with this id.
    fn disturb(&self, stream: u64);
}

/// The users of one allocation, or of a handle.
#[derive(Default)]
pub(crate) struct Users {
    /// The stream whose further work is behind all that is noted; 0 when nothing is, [`SEVERAL`] when there is none.
    alone: AtomicU64,
    first: First,
    noted: Lock<Noted>,
}

const SEVERAL: u64 = u64::MAX;

/// What the first stream did that used the memory, which mostly is the only one: noted without the lock, by the one
/// thread that has the stream's.
#[derive(Default)]
struct First {
    /// Its era, once it is among what is noted; never that of another stream.
    id: AtomicU64,
    last: AtomicU64,
    touched: AtomicU64,
    written: AtomicU64,
}

impl First {
    #[inline]
    fn note(&self, number: u64, how: How) {
        if how == How::Written {
            self.written.store(number, Ordering::Release);
        }
        if how >= How::Read {
            self.touched.store(number, Ordering::Release);
        }
        self.last.store(number, Ordering::Release);
    }

    fn by_stream(&self, stream: &Use) -> ByStream {
        let last = stream.at(self.last.load(Ordering::Acquire));
        let written = self.written.load(Ordering::Acquire);
        ByStream { last, touched: self.touched.load(Ordering::Acquire), written }
    }
}

#[derive(Default)]
struct Noted {
    /// The stream that [`First`] is about.
    first: Option<Use>,
    /// Apart, for memory mostly has none.
    others: Option<Box<Others>>,
}

/// Who uses the memory beside one stream.
#[derive(Default)]
struct Others {
    streams: Vec<ByStream>,
    /// Graphs that hold the memory, and whether they write it; their launches use it.
    graphs: Vec<(Weak<dyn Launches>, bool)>,
}

/// What one stream did.
#[derive(Clone)]
struct ByStream {
    /// The latest submission that needs the memory.
    last: Use,
    /// The latest that reads or writes it, and the latest that writes it; 0 for none.
    touched: u64,
    written: u64,
}

impl ByStream {
    fn note(&mut self, number: u64, how: How) {
        self.last.renew(number);
        if how >= How::Read {
            self.touched = self.touched.max(number);
        }
        if how == How::Written {
            self.written = self.written.max(number);
        }
    }

    /// The submission that work of another stream which does this has to follow; 0 for none.
    fn before(&self, how: How) -> u64 {
        match how {
            How::Kept => 0,
            How::Read => self.written,
            How::Written => self.touched,
        }
    }

    /// Whether work of the stream `id`, which is behind `clock`, follows everything that this one did.
    fn is_behind(&self, id: u64, clock: &Clock) -> bool {
        let stream = self.last.stream();
        let number = self.touched;
        number == 0 || is_same_stream(stream, id) || self.last.is_done_at(number) || clock.covers(stream, number)
    }
}

impl Noted {
    fn streams(&self) -> &[ByStream] {
        self.others.as_ref().map_or(&[], |others| &others.streams)
    }

    /// Graphs that hold the memory, and whether they write it.
    fn graphs(&self) -> &[(Weak<dyn Launches>, bool)] {
        self.others.as_ref().map_or(&[], |others| &others.graphs)
    }

    /// Launches of graphs that hold the memory.
    fn launches(&self) -> impl Iterator<Item = Use> {
        self.graphs().iter().filter_map(|(graph, _)| Some(graph.upgrade()?.open())).flatten()
    }

    /// What each stream did.
    fn all<'a>(&'a self, first: &First) -> impl Iterator<Item = ByStream> + use<'a> {
        let first = self.first.as_ref().map(|stream| first.by_stream(stream));
        first.into_iter().chain(self.streams().iter().cloned())
    }

    fn is_behind(&self, first: &First, id: u64, clock: &Clock) -> bool {
        let behind = |last: Use| last.is_of_era(id) || last.is_done() || clock.covers(last.stream(), last.number());
        let mut launches = self.launches();
        self.all(first).all(|one| one.is_behind(id, clock)) && launches.all(behind)
    }

    /// Whether nobody submits anything just now that may be noted without the lock on another stream than `id`.
    fn is_quiet(&self, id: u64) -> bool {
        let busy = |last: &Use| !last.is_of_era(id) && last.is_submitting();
        let mut launches = self.launches();
        !self.first.as_ref().is_some_and(busy) && !launches.any(|last| busy(&last))
    }

    /// What work of the stream `id` has to follow that does `how`, and that is not known to be done.
    fn before(&self, first: &First, id: u64, how: How) -> impl Iterator<Item = Use> {
        let streams = self.all(first).filter(move |one| !one.last.is_of_era(id));
        let of_streams = streams.map(move |one| one.last.at(one.before(how)));
        let graphs = self.graphs().iter().filter(move |(_, writes)| *writes || how == How::Written);
        let of_graphs = graphs.filter_map(|(graph, _)| Some(graph.upgrade()?.open())).flatten();
        let of_graphs = of_graphs.filter(move |last| !last.is_of_era(id));
        of_streams.chain(of_graphs).filter(|one| one.number() > 0 && !one.is_done())
    }

    /// The graph with a launch on another stream may not rely on what it knows of the order.
    fn disturb(&self, id: u64) {
        self.graphs().iter().filter_map(|(graph, _)| graph.upgrade()).for_each(|graph| graph.disturb(id));
    }
}

impl Users {
    /// Those of memory that was given up while this work used it, and that was had again for later work of its stream.
    pub(super) fn after(last: Use) -> Self {
        let id = last.stream();
        let first = First { id: AtomicU64::new(id), ..First::default() };
        first.note(last.number(), How::Written);
        let noted = Noted { first: Some(last), ..Noted::default() };
        Self { alone: AtomicU64::new(id), first, noted: Lock::new(noted) }
    }

    /// Whether there are none, beside graphs.
    pub(super) fn are_none(&self) -> bool {
        self.noted().first.is_none()
    }

    fn noted(&self) -> Guard<'_, Noted> {
        self.noted.lock()
    }

    /// Whether no other stream did anything that later work of the stream `id` does not follow anyway.
    #[inline]
    pub(super) fn are_before(&self, id: u64) -> bool {
        let alone = self.alone.load(Ordering::Relaxed);
        alone == id || alone == 0
    }

    /// Notes the submission `number` of a stream, whose further work is behind `clock`. The caller has the stream's
    /// lock.
    #[inline(always)]
    pub(crate) fn note<Q: Queue>(&self, stream: &Arc<Q>, number: u64, how: How, clock: &Clock) {
        let id = stream.progress().era();
        let alone = how == How::Kept || self.alone.load(Ordering::Relaxed) == id;
        if alone && self.first.id.load(Ordering::Acquire) == id {
            return self.first.note(number, how);
        }
        self.note_another(stream, number, how, clock);
    }

    /// As [`Users::note`], of a stream that is new here or one of several.
    #[inline(never)]
    fn note_another<Q: Queue>(&self, stream: &Arc<Q>, number: u64, how: How, clock: &Clock) {
        let id = stream.progress().era();
        let mut noted = self.noted();
        let first = noted.first.get_or_insert_with(|| Use::new(stream, number));
        if first.is_of(&**stream) {
            // It may have begun an era since. Who has its lock is the only one whom this number is for.
            self.first.id.store(id, Ordering::Release);
        }
        if self.first.id.load(Ordering::Acquire) == id {
            self.first.note(number, how);
        } else {
            let streams = &mut noted.others.get_or_insert_default().streams;
            match streams.iter_mut().find(|known| known.last.is_of(&**stream)) {
                Some(known) => known.note(number, how),
                None => {
                    streams.retain(|known| !known.last.is_settled());
                    let mut known = ByStream { last: Use::new(stream, number), touched: 0, written: 0 };
                    known.note(number, how);
                    streams.push(known);
                }
            }
        }
        if how >= How::Read && self.alone.load(Ordering::Relaxed) != id {
            self.take_over(&noted, id, clock);
        }
    }

    /// The stream `id` did something, and others did before.
    #[cold]
    fn take_over(&self, noted: &Noted, id: u64, clock: &Clock) {
        // From here on nobody notes anything without the lock. Who may have looked before is asked about behind this.
        self.alone.store(SEVERAL, Ordering::Relaxed);
        noted.disturb(id);
        if noted.is_quiet(id) && noted.is_behind(&self.first, id, clock) {
            self.alone.store(id, Ordering::Relaxed);
        }
    }

    /// Notes a launch on the stream `id` of a graph that does `how`. False when work of others may have come in between
    /// that the next launch has to follow.
    pub(super) fn note_launch(&self, id: u64, how: How, clock: &Clock) -> bool {
        let noted = self.noted();
        let alone = self.alone.load(Ordering::Relaxed);
        // Graphs that all read need not know of each other, and there are many of them: whoever writes looks at each.
        if how != How::Read || noted.graphs().iter().any(|(_, writes)| *writes) {
            self.take_over(&noted, id, clock);
        } else if alone != id {
            self.alone.store(if alone == 0 { id } else { SEVERAL }, Ordering::Relaxed);
        }
        if self.alone.load(Ordering::Relaxed) == id {
            return true;
        }
        noted.is_quiet(id)
            && noted.before(&self.first, id, how).all(|last| clock.covers(last.stream(), last.number()))
    }

    /// Adds to `before` what work of the stream `id` has to follow that does `how`.
    pub(super) fn before(&self, id: u64, how: How, before: &mut Vec<Use>) {
        let noted = self.noted();
        let uses = noted.before(&self.first, id, how);
        for one in uses {
            match before.iter_mut().find(|known| known.is_of_era(one.stream())) {
                Some(known) => known.renew(one.number()),
                None => before.push(one),
            }
        }
    }

    pub(super) fn add_graph(&self, graph: Weak<dyn Launches>, writes: bool) {
        let mut noted = self.noted();
        let graphs = &mut noted.others.get_or_insert_default().graphs;
        graphs.retain(|(known, _)| known.strong_count() > 0);
        match graphs.iter_mut().find(|(known, _)| std::ptr::addr_eq(known.as_ptr(), graph.as_ptr())) {
            Some((_, known)) => *known |= writes,
            None => graphs.push((graph, writes)),
        }
    }

    /// The latest submission of each stream, and the graphs.
    pub(crate) fn all(&self) -> (Vec<Use>, Vec<Arc<dyn Launches>>) {
        let noted = self.noted();
        let streams = noted.all(&self.first).map(|known| known.last).collect();
        (streams, noted.graphs().iter().filter_map(|(graph, _)| graph.upgrade()).collect())
    }

    /// The latest submission of each stream.
    #[inline]
    pub(super) fn take(&mut self) -> Vec<Use> {
        // Others come after a first one.
        if self.noted.get_mut().first.is_none() { Vec::new() } else { self.take_noted() }
    }

    #[inline(never)]
    fn take_noted(&mut self) -> Vec<Use> {
        let Noted { first, others } = std::mem::take(self.noted.get_mut());
        let first = first.map(|mut first| {
            first.renew(*self.first.last.get_mut());
            first
        });
        let streams = others.map_or_else(Vec::new, |others| others.streams);
        first.into_iter().chain(streams.into_iter().map(|known| known.last)).collect()
    }
}
