//! Updates: operators inside a captured graph whose arguments change between runs.
//!
//! Each such operator lies in a task group behind a gate. A run closes the gates and launches the graph; then an
//! update stream, which waits for the end of the run before, replaces what changed and opens every gate, so that the
//! host prepares an operator while the device works on what comes before it. Every gate is opened in every run,
//! whatever happens on the way: a closed one would hold the graph for ever (guide: captured graphs, task update).
//!
//! An operator is submitted again either whole or by address; `readdress.rs` tells when which. Its task group, its
//! gate and what it keeps alive are the same either way.

use std::collections::HashMap;
use std::sync::Arc;

use acl_sys::aclrtTaskGrp;

use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, EventKind};
use crate::graph::{OpenUpdate, record_group};
use crate::memory::{Allocation, Touch};
use crate::plan::recipe::{NodeKind, Recipe};
use crate::retire::{self, Waited};
use crate::stream::{Stream, Task};

use super::bindings::Bindings;
use super::gate::Gates;
use super::issue::At;
use super::movable::{self, Movable};
use super::piece::Pieces;
use super::readdress::Way;
use super::rescue::Rescue;

/// How many operators were replaced.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Updates {
    pub(super) all: u64,
    /// Of them, without a first phase.
    pub(super) by_address: u64,
}

/// The groups of one captured graph.
pub(super) struct Groups {
    /// Group of a node.
    of: HashMap<u32, usize>,
    all: Vec<Group>,
    /// The updatable inputs.
    inputs: Vec<Movable>,
    gates: Option<Gates>,
    /// Where updates go.
    stream: Option<Stream>,
    /// How often work of that had been dropped when the graph was captured.
    drops: u64,
    /// Looks on while somebody waits for a run.
    rescue: Option<Arc<Rescue>>,
    /// The capture that has been told of it last.
    told: Option<u64>,
    /// The start of the latest run: after the run before it.
    start: Event,
}

struct Group {
    node: u32,
    handle: aclrtTaskGrp,
    /// Scratch memory that the operator has now, apart from that of all others.
    scratch: Option<Arc<Allocation>>,
    /// The updatable inputs that it uses, each once, by their place among those of the graph.
    inputs: Vec<u32>,
    /// Their memory since the latest update; none before the first, when the graph itself has what it was recorded with.
    uses: Vec<Option<Arc<Allocation>>>,
    /// What it may use beside that after an update that failed: memory that it had before.
    former: Vec<Arc<Allocation>>,
    /// Its arguments are not what the inputs are now.
    stale: bool,
    way: Way,
}

// SAFETY: as for `Graph`, to which the handles belong: the runtime's guide on graphs forbids concurrent calls for one
// graph, not calls from several threads in turn, and every call makes the context current first.
unsafe impl Send for Groups {}

impl Groups {
    /// The groups that a recipe needs: one for each operator that touches an updatable input, which has its memory in
    /// `pieces`, or is told a number by each run. Of the inputs, `written` are written. `by_address` allows to replace
    /// addresses alone.
    pub(super) fn of(
        recipe: &Recipe,
        context: &Context,
        (pieces, written): (&Pieces, &[u32]),
        by_address: bool,
    ) -> Result<Self> {
        let mut groups = Self {
            of: HashMap::new(),
            all: Vec::new(),
            inputs: movable::all(recipe, pieces, written),
            gates: None,
            stream: None,
            drops: 0,
            rescue: None,
            told: None,
            start: Event::create_in(context.inner(), EventKind::Order)?,
        };
        for (index, node) in recipe.nodes.iter().enumerate() {
            if !recipe.is_updated(node) {
                continue;
            }
            if !matches!(node.kind, NodeKind::Foreign(_)) {
                let text = format!("{} touches an updatable input, which no plan has", recipe.describe(index as u32));
                return Err(Error::new(ErrorKind::Internal, text));
            }
            let inputs = movable::used_by(recipe, node, &mut groups.inputs, groups.all.len());
            groups.of.insert(index as u32, groups.all.len());
            groups.all.push(Group {
                node: index as u32,
                handle: std::ptr::null_mut(),
                scratch: None,
                uses: vec![None; inputs.len()],
                former: Vec::new(),
                inputs,
                stale: false,
                way: Way::of(recipe, node, by_address),
            });
        }
        if !groups.all.is_empty() {
            let (gates, stream) = (Gates::new(context.inner(), groups.all.len())?, Stream::lease(context.inner())?);
            stream.0.lock().only_keeps = true;
            groups.rescue = Some(Rescue::new(&gates, groups.all.len(), &stream));
            groups.drops = stream.0.progress().drops();
            (groups.gates, groups.stream) = (Some(gates), Some(stream));
        }
        Ok(groups)
    }

    pub(super) fn has(&self, node: u32) -> bool {
        self.of.contains_key(&node)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Where updates go, if there are any.
    pub(super) fn stream(&self) -> Option<&Stream> {
        self.stream.as_ref()
    }

    pub(super) fn rescue(&self) -> Option<&Arc<Rescue>> {
        self.rescue.as_ref()
    }

    /// Whether the graph may lack an update, which was dropped: what its operators use then nobody knows.
    pub(super) fn may_lack_updates(&self) -> bool {
        let progress = self.stream.as_ref().map(|stream| stream.0.progress());
        progress.is_some_and(|progress| !retire::has_notes(progress) || progress.drops() != self.drops)
    }

    /// Waits for the updates, and reports their errors.
    pub(super) fn wait(&self) -> Result<()> {
        let Some(stream) = &self.stream else { return Ok(()) };
        self.check()?;
        let waited = stream.0.wait_for(stream.0.progress().submitted(), None);
        if let (Err(error), Some(rescue)) = (&waited, &self.rescue) {
            rescue.note(error);
        }
        waited
    }

    /// That no gate was opened because its signal failed: what came of that run is not the plan's.
    pub(super) fn check(&self) -> Result<()> {
        self.rescue.as_ref().map_or(Ok(()), |rescue| rescue.check())
    }

    /// Notes where the inputs are now, in `pieces` too, and the operators of those that moved; they stay noted until an
    /// update of them succeeds.
    pub(super) fn mark_moved(&mut self, recipe: &Recipe, bind: &Bindings, pieces: &mut Pieces) -> Result<()> {
        for input in &mut self.inputs {
            if input.moves_to(recipe, bind, pieces)? {
                input.groups.iter().for_each(|group| self.all[*group as usize].stale = true);
            }
        }
        Ok(())
    }

    /// Notes operators that are told other numbers, as those whose inputs moved.
    pub(super) fn mark_told(&mut self, anew: impl Fn(u32) -> bool) {
        for group in &mut self.all {
            group.stale |= anew(group.node);
        }
    }

    /// What a launch does with the memory of the inputs.
    pub(super) fn touches<'a>(&self, pieces: &'a Pieces) -> Vec<Touch<'a>> {
        let mut touches = Vec::with_capacity(self.inputs.len());
        touches.extend(self.inputs.iter().filter_map(|input| Some(Touch::new(input.memory(pieces)?, input.how))));
        touches
    }

    /// Before a launch on `launched`: closes the gates once the run before is over, which may have failed without
    /// passing them, and makes updates wait for that. A failure up to here holds nothing up.
    pub(super) fn order(&self, launched: &Stream, at: At) -> Result<()> {
        let (Some(gates), Some(stream)) = (&self.gates, &self.stream) else { return Ok(()) };
        self.rescue.as_ref().map_or(Ok(()), |rescue| rescue.mark())?;
        gates.close(launched, at)?;
        self.start.record(launched)?;
        stream.wait(&self.start)
    }

    /// Records an operator, behind its gate and as a group of its own.
    pub(super) fn record(
        &mut self,
        node: u32,
        stream: &Stream,
        at: At,
        compute: impl FnOnce(&Stream) -> Result<()>,
    ) -> Result<()> {
        let (Some(index), Some(gates)) = (self.of.get(&node).copied(), &self.gates) else {
            return Err(Error::new(ErrorKind::Internal, "an operator without a group"));
        };
        gates.wait(index, stream, at)?;
        // Drops may hand the graph to a thread of its own, which has nothing else of this.
        if let (Some(rescue), Some(capture)) = (&self.rescue, &stream.0.lock().capture)
            && self.told.replace(capture.id()) != Some(capture.id())
        {
            capture.keep_keeper(Arc::<Rescue>::clone(rescue));
        }
        let handle = record_group(stream, || compute(stream))?;
        self.all[index].handle = handle;
        Ok(())
    }

    /// After a launch on `launched`: replaces the operators whose inputs moved, and opens every gate. None is replaced
    /// unless `launched` keeps the memory of all updatable inputs as they are now. `compute` submits an operator in its
    /// way, and says whether that was by address. Gives how many it replaced.
    pub(super) fn run(
        &mut self,
        (launched, at): (&Stream, At),
        is_kept: bool,
        pieces: &Pieces,
        mut compute: impl FnMut(&mut Way, u32, &Stream) -> Result<bool>,
    ) -> Result<Updates> {
        let (Some(gates), Some(stream)) = (self.gates.clone(), self.stream.clone()) else {
            return Ok(Updates::default());
        };
        let rescue = self.rescue.as_deref();
        let mut opened = OpenAll { gates: &gates, rescue, next: 0, count: self.all.len(), stream: &stream, at };
        let unkept = || Error::new(ErrorKind::Internal, "a launch that does not keep its inputs");
        let mut result = if is_kept { self.keep_former(launched, at, pieces) } else { Err(unkept()) };
        let mut count = Updates::default();
        for group in &mut self.all {
            if result.is_ok() && group.stale {
                let renewed = group.renew(&stream, launched, at, (&self.inputs, pieces), &mut compute);
                count.all += u64::from(renewed.is_ok());
                result = renewed.map(|by_address| count.by_address += u64::from(by_address));
            }
            result = result.and(opened.open_next());
        }
        drop(opened);
        self.rescue.iter().for_each(|rescue| rescue.helped(launched));
        result.map(|()| count)
    }

    /// Keeps what the operators use until what `launched` was given so far is over.
    pub(super) fn keep(&self, launched: &Stream, at: At) -> Result<()> {
        keep(launched, self.all.iter().flat_map(Group::uses), at)
    }
}

impl Groups {
    /// As [`Groups::keep`], where the memory of all inputs as they are now has been given to `launched` with the launch: what
    /// operators that are to be replaced had before, and all scratch memory.
    fn keep_former(&self, launched: &Stream, at: At, pieces: &Pieces) -> Result<()> {
        let stale = self.all.iter().filter(|group| group.stale);
        let former = stale.flat_map(|group| group.moved(&self.inputs, pieces).chain(&group.former));
        keep(launched, former.chain(self.all.iter().filter_map(|group| group.scratch.as_ref())), at)
    }
}

fn keep<'a>(launched: &Stream, uses: impl Iterator<Item = &'a Arc<Allocation>>, at: At) -> Result<()> {
    let uses: Vec<_> = uses.map(Touch::kept).collect();
    if uses.is_empty() {
        return Ok(());
    }
    let task = Task { label: "graph launch", location: at, uses: &uses, scratch: None };
    launched.0.submit(&task, |_| Ok(())).map(drop)
}

impl Group {
    /// All that its operator may use beside the memory of the graph.
    fn uses(&self) -> impl Iterator<Item = &Arc<Allocation>> {
        self.uses.iter().flatten().chain(&self.former).chain(&self.scratch)
    }

    /// What it has of inputs that are elsewhere now.
    fn moved<'a>(&'a self, inputs: &'a [Movable], pieces: &'a Pieces) -> impl Iterator<Item = &'a Arc<Allocation>> {
        let moved = |(input, uses): (&u32, &'a Option<Arc<Allocation>>)| {
            let now = inputs[*input as usize].memory(pieces);
            uses.as_ref().filter(|uses| now.is_none_or(|now| !Arc::ptr_eq(now, uses)))
        };
        self.inputs.iter().zip(&self.uses).filter_map(moved)
    }

    /// Notes that it uses the inputs where they are now, and may use them where they were.
    fn take(&mut self, inputs: &[Movable], pieces: &Pieces) {
        for (input, uses) in self.inputs.iter().zip(&mut self.uses) {
            let now = inputs[*input as usize].memory(pieces);
            if now.map(Arc::as_ptr) != uses.as_ref().map(Arc::as_ptr) {
                self.former.extend(std::mem::replace(uses, now.cloned()));
            }
        }
        self.former.extend(self.scratch.clone());
    }

    /// Replaces the operator, which uses its inputs where they are now from then on, in a run on `launched`.
    fn renew(
        &mut self,
        stream: &Stream,
        launched: &Stream,
        at: At,
        (inputs, pieces): (&[Movable], &Pieces),
        compute: &mut impl FnMut(&mut Way, u32, &Stream) -> Result<bool>,
    ) -> Result<bool> {
        // Before the update: it may fail, or panic, when the operator has the memory already. The launch keeps it for
        // this run.
        self.take(inputs, pieces);
        let by_address = self.update(stream, compute)?;
        self.former.clear();
        self.stale = false;
        match &self.scratch {
            Some(scratch) => keep(launched, [scratch].into_iter(), at).map(|()| by_address),
            None => Ok(by_address),
        }
    }

    fn update(
        &mut self,
        stream: &Stream,
        compute: &mut impl FnMut(&mut Way, u32, &Stream) -> Result<bool>,
    ) -> Result<bool> {
        let mut open = OpenUpdate::begin(stream, self.handle)?;
        let former = stream.0.swap_workspace(self.scratch.take(), true);
        let computed = compute(&mut self.way, self.node, stream);
        self.scratch = stream.0.swap_workspace(former, false);
        let ended = open.end();
        if ended.is_err() {
            self.way.give_up();
        }
        computed.and_then(|by_address| ended.map(|()| by_address))
    }
}

/// Opens the gates that are still closed when it goes away.
struct OpenAll<'a> {
    gates: &'a Gates,
    rescue: Option<&'a Rescue>,
    next: usize,
    count: usize,
    stream: &'a Stream,
    at: At,
}

impl OpenAll<'_> {
    fn open_next(&mut self) -> Result<()> {
        let gate = self.next;
        self.next += 1;
        let first = self.gates.open(gate, self.stream, self.at);
        if first.is_err() && self.gates.open(gate, self.stream, self.at).is_err() {
            self.open_from_host(gate);
        }
        first
    }

    /// Once the updates so far are done, for which it waits as long as a drop does.
    fn open_from_host(&self, gate: usize) {
        let given_up = self.rescue.map_or(Ok(()), Rescue::check);
        let waited = given_up.and_then(|()| retire::wait(|limit| self.stream.0.synchronize(limit)));
        let opened = waited.and_then(|waited| match waited {
            Waited::Done => self.gates.copy_signal(gate, self.stream),
            _ => Err(Error::new(ErrorKind::Timeout, "the updates before it are not done")),
        });
        if let (Err(error), Some(rescue)) = (opened, self.rescue) {
            rescue.give_up(&error);
        }
    }
}

impl Drop for OpenAll<'_> {
    fn drop(&mut self) {
        while self.next < self.count {
            if let Err(error) = self.open_next() {
                self.stream.0.context().record_drop_error("opening a gate of a graph that waits for it", error);
            }
        }
    }
}
