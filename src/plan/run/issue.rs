//! Issuing the work of a recipe to real streams, whether they execute or record it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::panic::Location;
use std::sync::Arc;

use crate::by_plan::ByPlan;
use crate::call::{Caller as _, forget_binding};
use crate::context::{Context, ContextInner};
use crate::error::{Error, ErrorKind, Result, ResultExt as _};
use crate::event::Event;
use crate::lock::{say, theirs};
use crate::memory::{How, Lent, PinnedBuffer, Touch};
use crate::op::{Recorded, View};
use crate::plan::checked::Inner;
use crate::plan::recipe::callable::Callable as _;
use crate::plan::recipe::function::{Argument, Code, Launch, told, works_together};
use crate::plan::recipe::{Access, Cores, Mode, Node, NodeKind, ORIGIN, PrefetchInfo, Recipe};
use crate::prefetch::prefetch_range;
use crate::stream::{CoreLimit, Stream, Task};

use super::behind::Behind;
use super::choose::{Counters, Decider};
use super::gate::Gates;
use super::piece::{Piece, Pieces, Place};
use super::update::Groups;

pub(super) type At = &'static Location<'static>;

/// Host memory of inputs and outputs: here, or with the device.
#[derive(Debug, Default)]
pub(super) enum HostSide {
    Here(PinnedBuffer<u8>),
    Lent(Lent<u8>),
    /// Lost to a failed transfer, or not made yet; the next run makes it.
    #[default]
    Gone,
}

/// Host memory by input and by output.
#[derive(Debug, Default)]
pub(super) struct HostSides {
    pub(super) inputs: Vec<HostSide>,
    pub(super) outputs: Vec<HostSide>,
}

impl HostSides {
    /// Whether no eager copy uses the memory any more.
    pub(super) fn is_free(&self) -> Result<bool> {
        for side in self.inputs.iter().chain(&self.outputs) {
            if let HostSide::Lent(lent) = side
                && !lent.is_over()?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a copy to the host has memory.
    pub(super) fn are_outputs_lent(&self) -> bool {
        self.outputs.iter().any(|side| matches!(side, HostSide::Lent(_)))
    }

    /// Whether no eager copy uses the memory, as far as can be told.
    pub(super) fn is_quiet(&self) -> bool {
        let quiet = |side: &HostSide| match side {
            HostSide::Lent(lent) if lent.slot().is_some() => true,
            HostSide::Lent(lent) => lent.is_over().unwrap_or_else(|error| {
                say!(Warn, "asking whether a copy is done: {error:#}");
                false
            }),
            HostSide::Here(_) | HostSide::Gone => true,
        };
        self.inputs.iter().chain(&self.outputs).all(quiet)
    }
}

/// Everything that the nodes of a recipe need.
pub(super) struct Issue<'a> {
    pub(super) source: Work<'a>,
    /// By tag.
    pub(super) streams: &'a [Stream],
    pub(super) events: &'a [Event],
    pub(super) gates: Option<&'a Gates>,
    pub(super) hosts: &'a mut HostSides,
    /// What each run downloads behind the graph; none when the work has its downloads.
    pub(super) behind: Option<&'a Behind>,
    /// Groups that updates replace; none when nothing is recorded.
    pub(super) groups: Option<&'a mut Groups>,
    /// Reads the numbers by which the host chooses; none where the work goes into a graph.
    pub(super) decider: Option<&'a mut Decider>,
    pub(super) counters: &'a Counters,
    /// The events that the graph which is being recorded has recorded; none where all of the work is one.
    pub(super) recorded: Option<HashSet<u32>>,
    pub(super) cap: Option<u64>,
    /// Core limit where no scope has one.
    pub(super) whole: Option<Cores>,
    /// First node that is not issued yet.
    pub(super) next: usize,
    pub(super) at: At,
}

impl Issue<'_> {
    /// Issues every node in order.
    pub(super) fn all(&mut self) -> Result<()> {
        self.range(0..self.source.recipe.nodes.len() as u32, None)
    }

    /// Issues nodes in order; with `body` to that stream, which stands for the one that all of them are on.
    pub(super) fn range(&mut self, nodes: Range<u32>, body: Option<&Stream>) -> Result<()> {
        let (mut limit, mut index) = (None, nodes.start);
        let recipe = self.source.recipe;
        let some_once = self.source.plan.facts().once != 0;
        let mut issue = || {
            while index < nodes.end {
                let node = &recipe.nodes[index as usize];
                self.next = index as usize + 1;
                let stream = body.unwrap_or(&self.streams[usize::from(node.tag)]);
                if some_once && recipe.is_once(node) {
                    index += 1;
                    continue;
                }
                if let NodeKind::Begin(kind) = node.kind {
                    // Its arms have limits of their own.
                    end(limit.take())?;
                    index = self.choice(index, kind, stream).context_with(|| recipe.describe(index))?;
                    continue;
                }
                self.limit_cores(&mut limit, node, stream)?;
                self.node(index, node, stream).context_with(|| self.source.describe(index))?;
                index += 1;
            }
            Ok(())
        };
        let issued = issue();
        let ended = end(limit);
        issued.and(ended)
    }

    /// After a failure in work that executes: issues what orders the rest, so that every stream is joined as in a
    /// whole run and no gate holds up what was issued before.
    pub(super) fn settle(&mut self) {
        let recipe = self.source.recipe;
        for (index, node) in recipe.nodes.iter().enumerate().skip(self.next.saturating_sub(1)) {
            let settles = match node.kind {
                NodeKind::Record(_) | NodeKind::Wait(_) => true,
                NodeKind::ExternalWait(_) | NodeKind::ExternalRecord(_) => index >= self.next,
                _ => false,
            };
            let stream = &self.streams[usize::from(node.tag)];
            if settles && let Err(error) = self.node(index as u32, node, stream) {
                say!(Warn, "after a run that failed: {error}");
            }
        }
    }

    /// Puts the core limit of the node's scope into effect, and ends that of another.
    fn limit_cores(&self, limit: &mut Option<Limited>, node: &Node, stream: &Stream) -> Result<()> {
        let wanted = limit_of(self.source.recipe, node, self.whole).map(|cores| (node.tag, cores));
        if limit.as_ref().map(|(of, _)| *of) == wanted {
            return Ok(());
        }
        end(limit.take())?;
        *limit = wanted.map(|of| CoreLimit::begin(stream, of.1).map(|limit| (of, limit))).transpose()?;
        Ok(())
    }

    fn node(&mut self, index: u32, node: &Node, stream: &Stream) -> Result<()> {
        let recipe = self.source.recipe;
        let accesses = recipe.accesses_of(node);
        match node.kind {
            NodeKind::Foreign(_) => match self.groups.as_mut().filter(|groups| groups.has(index)) {
                Some(groups) => {
                    let source = self.source;
                    groups.record(index, stream, self.at, |stream| compute(source, node, stream, self.at))
                }
                None => compute(self.source, node, stream, self.at),
            },
            NodeKind::Host(function) => self.host(function, stream),
            NodeKind::Copy => {
                let (from, to) = (self.piece(accesses[0])?, self.piece(accesses[1])?);
                from.copy_to(stream, &to, self.at)
            }
            NodeKind::FillBytes(byte) => self.piece(accesses[0])?.fill(stream, byte, self.at),
            NodeKind::Prefetch(prefetch) => {
                self.prefetch(accesses[0], self.source.recipe.prefetches[prefetch as usize], stream)
            }
            NodeKind::Record(event) => {
                self.recorded.as_mut().map(|recorded| recorded.insert(event));
                self.events[event as usize].record(stream)
            }
            NodeKind::Wait(event) if self.is_over(event) => Ok(()),
            NodeKind::Wait(event) => self.events[event as usize].make_wait(stream, self.at),
            NodeKind::ExternalWait(gate) => self.gates()?.wait(gate as usize, stream, self.at),
            NodeKind::ExternalRecord(gate) => self.gates()?.signal(gate as usize, stream, self.at),
            // Each run brings it in front of the graph.
            NodeKind::Upload(_) if self.decider.is_none() => Ok(()),
            NodeKind::Upload(input) => {
                let piece = self.piece(accesses[0])?;
                upload(&mut self.hosts.inputs[input as usize], &piece, stream)
            }
            NodeKind::Download(output) => {
                let piece = self.piece(accesses[0])?;
                if let Some(behind) = self.behind {
                    return behind.record(output as usize, &piece, stream, self.at);
                }
                download(&mut self.hosts.outputs[output as usize], &piece, stream)
            }
            NodeKind::Call(_) | NodeKind::Choose(_) => {
                Err(Error::new(ErrorKind::Internal, "a call that is not written out"))
            }
            NodeKind::Begin(_) | NodeKind::Case | NodeKind::End => {
                Err(Error::new(ErrorKind::Internal, "a bracket of a choice that is not open"))
            }
        }
    }

    /// Whether a graph before the one that is being recorded has recorded the event.
    fn is_over(&self, event: u32) -> bool {
        self.recorded.as_ref().is_some_and(|recorded| !recorded.contains(&event))
    }

    fn gates(&self) -> Result<&Gates> {
        self.gates.ok_or_else(|| Error::new(ErrorKind::Internal, "a plan with gates has no memory for them"))
    }

    pub(super) fn piece(&self, access: Access) -> Result<Piece> {
        piece_of(self.source.places, self.source.pieces, access.value)
    }

    fn host(&self, function: u32, stream: &Stream) -> Result<()> {
        let Some(Code::Host(body)) = self.source.plan.bodies[function as usize].code() else {
            return Err(Error::new(ErrorKind::Internal, "a host function without a body"));
        };
        let body = Arc::clone(body);
        let attributes = self.source.recipe.functions[function as usize].attributes().into_owned();
        stream.host_function(move || body.call(&attributes))
    }

    fn prefetch(&self, access: Access, part: PrefetchInfo, stream: &Stream) -> Result<()> {
        let PrefetchInfo { offset, max_bytes } = part;
        if self.source.pieces[self.source.places[access.value as usize].storage as usize].is_none() {
            // Memory that nothing else uses has no place.
            return Ok(());
        }
        let piece = self.piece(access)?;
        let elements = self.source.recipe.layout_of(access.value).bytes().and_then(|bytes| bytes.as_fixed());
        let available = elements.unwrap_or(0).min(piece.bytes as u64);
        if offset >= available {
            // Of memory with symbols: this size has nothing at the offset.
            return Ok(());
        }
        let bytes = max_bytes.min(available - offset).min(self.cap.unwrap_or(u64::MAX));
        let address = piece.address().wrapping_byte_add(offset as usize);
        prefetch_range(stream, &piece.allocation, address, bytes as usize, self.at)
    }
}

/// The memory that a value spans.
pub(super) fn piece_of(places: &[Place], pieces: &Pieces, value: u32) -> Result<Piece> {
    let place = &places[value as usize];
    storage(pieces, place).map(|storage| place.piece(storage))
}

/// The memory that has a value.
pub(super) fn storage<'a>(pieces: &'a Pieces, place: &Place) -> Result<&'a Piece> {
    let piece = pieces[place.storage as usize].as_ref();
    piece.ok_or_else(|| Error::new(ErrorKind::Internal, "an input of the plan has no memory"))
}

/// What operators are issued from.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub(super) plan: &'a Inner,
    /// Without symbols.
    pub(super) recipe: &'a Recipe,
    /// The values of the symbols in this run.
    pub(super) numbers: &'a [u64],
    pub(super) places: &'a [Place],
    pub(super) pieces: &'a Pieces,
}

impl<'a> Work<'a> {
    /// A node, with the values of the symbols where there are any: work may be possible for some of them alone.
    fn describe(&self, node: u32) -> String {
        let (named, with_symbols) = (self.recipe.describe(node), &self.plan.recipe);
        match with_symbols.symbols.is_empty() {
            true => named,
            false => format!("{named}, {}", with_symbols.when(self.numbers)),
        }
    }

    /// The operator with the numbers of this run.
    pub(super) fn told(&self, recorded: &'a Recorded, function: u32) -> Result<Cow<'a, Recorded>> {
        // The recipe without symbols has no numbers that each run gives.
        told(recorded, &self.plan.recipe.functions[function as usize], self.numbers)
    }
}

/// Issues an operator or a foreign one.
pub(super) fn compute(source: Work<'_>, node: &Node, stream: &Stream, at: At) -> Result<()> {
    match node.kind {
        NodeKind::Foreign(function) => foreign(source, (function, source.recipe.accesses_of(node)), stream, at),
        _ => Err(Error::new(ErrorKind::Internal, "a node that computes nothing")),
    }
}

/// What an operator is told of its tensors.
pub(super) fn all_views<T>(
    places: &[Place],
    pieces: &Pieces,
    accesses: &[Access],
    work: impl FnOnce(&[View<'_>]) -> Result<T>,
) -> Result<T> {
    let views: Result<Vec<_>> = accesses.iter().map(|access| view_of(places, pieces, access)).collect();
    work(&views?)
}

/// Whether all results of an operator are without elements, so that there is nothing to compute; what works together
/// with other devices has to be there for them.
pub(super) fn writes_nothing(source: Work<'_>, (function, accesses): (u32, &[Access])) -> bool {
    let written = || accesses.iter().filter(|access| access.mode.writes());
    let is_empty = |access: &Access| source.places[access.value as usize].dims.elements() == 0;
    written().next().is_some()
        && written().all(is_empty)
        && source.recipe.functions[function as usize].name().is_some_and(|name| !works_together(name))
}

fn view_of<'a>(places: &'a [Place], pieces: &'a Pieces, access: &Access) -> Result<View<'a>> {
    let place = &places[access.value as usize];
    storage(pieces, place).map(|piece| place.view(piece))
}

fn foreign(source: Work<'_>, (function, accesses): (u32, &[Access]), stream: &Stream, at: At) -> Result<()> {
    let Work { plan, recipe, places, pieces, .. } = source;
    if let Some(recorded) = plan.operator(function) {
        let recorded = source.told(recorded, function)?;
        if writes_nothing(source, (function, accesses)) {
            return Ok(());
        }
        return all_views(places, pieces, accesses, |views| recorded.launch(stream, views, at));
    }
    let Some(Code::Foreign(body)) = plan.bodies[function as usize].code() else {
        return Err(Error::new(ErrorKind::Internal, "an operator without a body"));
    };
    let mut arguments: Vec<Argument> = Vec::with_capacity(accesses.len());
    let mut uses: Vec<Touch<'_>> = Vec::with_capacity(accesses.len());
    for access in accesses {
        let place = &places[access.value as usize];
        let piece = storage(pieces, place)?;
        let address = piece.address().wrapping_byte_add(place.offset);
        arguments.push(Argument {
            address,
            bytes: place.span,
            shape: place.dims,
            strides: place.strides,
            dtype: place.dtype,
            mode: access.mode,
        });
        let how = match access.mode {
            Mode::Touch => How::Kept,
            Mode::Read => How::Read,
            Mode::Write | Mode::ReadWrite | Mode::Clobber => How::Written,
        };
        uses.push(Touch::new(&piece.allocation, how));
    }
    stream.0.order(&uses)?;
    stream.0.context().bind()?;
    let attributes = &*recipe.functions[function as usize].attributes();
    let launched = {
        let _scope = ByPlan::suspend();
        theirs(|| (body.launch)(&Launch { stream, arguments: &arguments, attributes }))
    };
    // It may have made another context current.
    forget_binding();
    // What it submitted beside this crate, also before it failed, uses the memory: registered like work of this
    // crate, behind it.
    let task = Task { label: "foreign operator", location: at, uses: &uses, scratch: None };
    launched.and(stream.0.submit(&task, |_| Ok(())).map(drop))
}

pub(super) fn upload(side: &mut HostSide, piece: &Piece, stream: &Stream) -> Result<()> {
    if piece.bytes == 0 {
        return Ok(());
    }
    let HostSide::Here(pinned) = std::mem::replace(side, HostSide::Gone) else {
        return Err(Error::new(ErrorKind::Internal, "the host memory of an input is away"));
    };
    match stream.upload(pinned, &mut piece.buffer()) {
        Ok(lent) => {
            // Else the memory is gone, and made anew for the next run.
            lent.check_begun()?;
            *side = HostSide::Lent(lent);
        }
        Err(refused) => {
            let (pinned, error) = refused.into_parts();
            *side = HostSide::Here(pinned);
            return Err(error);
        }
    }
    Ok(())
}

pub(super) fn download(side: &mut HostSide, piece: &Piece, stream: &Stream) -> Result<()> {
    if piece.bytes == 0 {
        return Ok(());
    }
    let HostSide::Here(pinned) = std::mem::replace(side, HostSide::Gone) else {
        return Err(Error::new(ErrorKind::Internal, "the host memory of an output is away"));
    };
    match stream.download(&piece.buffer(), pinned) {
        Ok(lent) => {
            // Else the memory is gone, and made anew for the next run.
            lent.check_begun()?;
            *side = HostSide::Lent(lent);
        }
        Err(refused) => {
            let (pinned, error) = refused.into_parts();
            *side = HostSide::Here(pinned);
            return Err(error);
        }
    }
    Ok(())
}

/// The core limit of a node: that of its scope, else that of the whole plan.
pub(super) fn limit_of(recipe: &Recipe, node: &Node, whole: Option<Cores>) -> Option<Cores> {
    node.cores.checked_sub(1).map(|index| recipe.cores[usize::from(index)]).or(whole)
}

/// A limit and what it is of: a stream by its tag, and cores.
type Limited = ((u16, Cores), CoreLimit);

fn end(limit: Option<Limited>) -> Result<()> {
    limit.map_or(Ok(()), |(_, limit)| limit.end())
}

/// The streams for the tags of a recipe; the origin's is given.
pub(super) fn lease_streams(recipe: &Recipe, context: &Context, origin: Stream) -> Result<Vec<Stream>> {
    let mut streams = vec![origin];
    for (index, tag) in recipe.tags.iter().enumerate().skip(usize::from(ORIGIN) + 1) {
        let stream = Stream::lease_with_priority(context, tag.priority)
            .context_with(|| format!("the stream of tag {:?}, number {index} of the plan", tag.name))?;
        stream.set_name(&tag.name);
        streams.push(stream);
    }
    Ok(streams)
}

/// Events for those of a recipe.
pub(super) fn events(recipe: &Recipe, context: &Arc<ContextInner>) -> Result<Vec<Event>> {
    recipe.events.iter().map(|_| Event::create_in(context, crate::event::EventKind::Order)).collect()
}
