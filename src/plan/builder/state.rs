//! What a builder has recorded so far, and what recording does. [`Builder`](super::Builder) hands its calls on to it.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use crate::error::Result;
use crate::op::DataType;
use crate::plan::check::finding::{Finding, FindingKind};
use crate::plan::recipe::function::Body;
use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::quick::QuickMap;
use crate::plan::recipe::{Access, Known, Mode, Node, NodeKind, ORIGIN, Ordered, Recipe, Tag};
use crate::plan::symbols::dim::{Dim, show_dims};

use super::decompositions::Decompositions;
use super::options::Options;
use super::{Fork, ORIGIN_TAG, Value};
use prefetch::Prefetched;
use producers::Producers;
use progress::Progress;
use versions::Versions;

mod calls;
mod choices;
mod decompose;
mod events;
mod finish;
mod foreign;
mod gates;
mod ops;
mod prefetch;
mod producers;
mod progress;
mod recorded;
mod streams;
mod values;
mod versions;
mod views;
mod waits;

pub(in crate::plan) use calls::Asked;
pub(in crate::plan) use choices::Choosing;
pub(super) use decompose::Decomposed;
pub(crate) use finish::Built;
pub(super) use ops::Types;
pub(super) use streams::Over;

/// No node: an input has no producer.
const NONE: u32 = u32::MAX;

/// A value that work uses, and how.
type Used = (Value, Mode);

/// Layouts of one type without gaps, with their bytes, by dimensions.
type Dense = QuickMap<Box<[Dim]>, (u32, Extent, u64)>;

/// A plan as it is recorded.
pub(crate) struct State {
    plan: u32,
    options: Options,
    recipe: Recipe,
    known: Known,
    /// By type.
    dense: [Dense; DataType::COUNT],
    /// The most bytes of all memory, and of some that was taken back.
    together: u64,
    bodies: Vec<Body>,
    calls: calls::Calls,
    operators: recorded::Operators,
    scopes: Vec<Frame>,
    over: Over,
    chains: Vec<Chain>,
    tags: HashMap<String, u16>,
    events: HashMap<String, EventState>,
    producers: Producers,
    versions: Versions,
    progress: Option<Progress>,
    /// Events to record right behind a node.
    recorded_after: HashMap<u32, u32>,
    /// The event at the start of the plan, once something waits for it.
    start: Option<u32>,
    waited: Waited,
    /// Names that are taken.
    input_names: HashSet<String>,
    output_names: HashSet<String>,
    external_names: HashSet<String>,
    reserve: Vec<Reserve>,
    /// Each join: the tag and its last node.
    joins: Vec<(u16, u32)>,
    prefetched: HashMap<u32, Prefetched>,
    lints: Vec<Lint>,
    /// Pairs of a node and one of the same stream that must be done before it.
    after: Vec<(u32, u32)>,
    /// What the next work is asked to come after.
    ordered: Ordered,
    rewriting: decompose::Rewriting,
    /// Where the caller says that it is: a file of the recipe, and a line.
    said: Option<(u32, u32)>,
}

/// A lint whose text names operators by their final positions, which are known at the end.
struct Lint {
    kind: FindingKind,
    nodes: Vec<u32>,
    text: LintText,
}

/// The text for the final positions of the operators.
type LintText = Box<dyn Fn(&Recipe, &[u32]) -> String + Send + Sync>;

/// A scope that is being recorded.
struct Frame {
    tag: u16,
    cores: u16,
    /// What to wait for before the first work of the scope.
    pending: Option<Pending>,
    /// Where it was opened, if it ends when the caller says so, not with a closure.
    by_hand: Option<At>,
}

struct Pending {
    parent: u16,
    fork: Fork,
    place: u32,
}

/// A stream of the plan so far.
#[derive(Default)]
struct Chain {
    nodes: u32,
    last: u32,
    /// Forked and not joined.
    active: bool,
    was_joined: bool,
    /// An event without a name that was recorded when the chain had so many nodes.
    last_record: Option<(u32, u32)>,
}

struct EventState {
    alive: Weak<()>,
    /// The latest record, the tag it was made on and its node.
    latest: Option<(u32, u16, u32)>,
    waited: bool,
}

/// Which streams wait for which events. Most events have one that does.
#[derive(Default)]
struct Waited {
    /// By event; [`Waited::NOBODY`] for none.
    first: Vec<u16>,
    others: HashSet<(u16, u32)>,
}

impl Waited {
    const NOBODY: u16 = u16::MAX;

    /// Whether the wait is new.
    fn insert(&mut self, tag: u16, event: u32) -> bool {
        let index = event as usize;
        if self.first.len() <= index {
            self.first.resize(index + 1, Self::NOBODY);
        }
        match &mut self.first[index] {
            first if *first == tag => false,
            first if *first == Self::NOBODY => {
                *first = tag;
                true
            }
            _ => self.others.insert((tag, event)),
        }
    }
}

/// A storage that stays reserved until a tag is joined.
struct Reserve {
    storage: u32,
    tag: u16,
    since: u32,
}

/// A place in the caller's source.
pub(super) type At = &'static Location<'static>;

impl State {
    pub(crate) fn new(options: Options) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let mut builder = Self {
            plan: NEXT.fetch_add(1, Ordering::Relaxed),
            options,
            recipe: Recipe { prefetch_cap: options.cap(), ..Recipe::default() },
            known: Known::default(),
            dense: Default::default(),
            together: 0,
            bodies: Vec::new(),
            calls: calls::Calls::default(),
            operators: recorded::Operators::default(),
            scopes: vec![Frame { tag: ORIGIN, cores: 0, pending: None, by_hand: None }],
            over: Over::new(),
            chains: Vec::new(),
            tags: HashMap::new(),
            events: HashMap::new(),
            producers: Producers::default(),
            versions: Versions::new(),
            progress: None,
            recorded_after: HashMap::new(),
            start: None,
            waited: Waited::default(),
            input_names: HashSet::new(),
            output_names: HashSet::new(),
            external_names: HashSet::new(),
            reserve: Vec::new(),
            joins: Vec::new(),
            prefetched: HashMap::new(),
            lints: Vec::new(),
            after: Vec::new(),
            ordered: Ordered::Nothing,
            rewriting: decompose::Rewriting::default(),
            said: None,
        };
        builder.add_tag(ORIGIN_TAG, 0);
        builder.chains[0].active = true;
        builder
    }

    /// Rewrites operators from now on.
    pub(crate) fn decompose(&mut self, table: &Decompositions) {
        self.rewriting.table = table.clone();
    }

    fn add_tag(&mut self, name: &str, priority: u32) -> u16 {
        let index = self.recipe.tags.len() as u16;
        self.recipe.tags.push(Tag { name: name.to_owned(), priority });
        self.tags.insert(name.to_owned(), index);
        self.chains.push(Chain::default());
        index
    }

    /// The stream that work goes to now.
    fn tag(&self) -> u16 {
        self.scopes.last().map_or(ORIGIN, |frame| frame.tag)
    }

    fn place(&mut self, at: At) -> u32 {
        match self.said {
            None => self.recipe.place(&mut self.known, at),
            Some((file, line)) => self.recipe.place_in(&mut self.known, (file, line, 0)),
        }
    }

    /// What follows was asked for there, whatever calls the builder.
    pub(in crate::plan) fn set_place(&mut self, file: &str, line: u32) {
        let files = &mut self.recipe.places.files;
        let index = files.iter().position(|known| known == file).unwrap_or(files.len());
        if index == files.len() {
            files.push(file.to_owned());
        }
        self.said = Some((index as u32, line));
    }

    /// The error of a call that was made at `at`, about work at the position that would come next.
    pub(super) fn wrong<T>(&self, kind: FindingKind, at: At, text: impl fmt::Display) -> Result<T> {
        let (file, line) = match self.said {
            None => (at.file(), at.line()),
            Some((file, line)) => (&*self.recipe.places.files[file as usize], line),
        };
        let message = format!("{text} (#{}, {file}:{line})", self.recipe.nodes.len());
        Err(Finding::new(kind, message).into_error())
    }

    /// Dimensions that a caller gave.
    fn dims_of(&self, dims: Result<Vec<Dim>>, at: At) -> Result<Vec<Dim>> {
        let dims = dims.or_else(|error| self.wrong(FindingKind::Operand, at, error.detail()))?;
        dims.iter().try_for_each(|dim| self.check_dim(*dim, at))?;
        match dims.iter().find(|dim| self.is_of_each_run(**dim)) {
            None => Ok(dims),
            Some(dim) => {
                let text = format!("a size that each run gives anew, {}; `symbol` makes sizes", self.show(&[*dim]));
                self.wrong(FindingKind::Operand, at, text)
            }
        }
    }

    fn check_dim(&self, dim: Dim, at: At) -> Result<()> {
        if !dim.is_foreign(self.plan) {
            return Ok(());
        }
        self.wrong(FindingKind::Foreign, at, "a dimension with a symbol of another plan")
    }

    /// Whether it depends on a number that each run gives.
    fn is_of_each_run(&self, dim: Dim) -> bool {
        let powers = dim.parts().2;
        self.recipe.symbols.iter().zip(powers).any(|(symbol, power)| power != 0 && symbol.each_run)
    }

    /// Dimensions for a message.
    fn show(&self, dims: &[Dim]) -> String {
        show_dims(dims, &self.recipe.symbol_names())
    }

    fn check(&self, value: Value, what: &str, at: At) -> Result<()> {
        if value.plan == self.plan {
            return Ok(());
        }
        self.wrong(FindingKind::Foreign, at, format_args!("{what}: a value of another plan"))
    }

    /// Issues a node on the current stream, behind what its scope and its values wait for.
    fn emit(&mut self, kind: NodeKind, uses: &[Used], at: At) -> Result<u32> {
        if uses.len() > usize::from(u16::MAX) {
            let text = format!("an operator of {} values; it can have {} at most", uses.len(), u16::MAX);
            return self.wrong(FindingKind::Operand, at, text);
        }
        let place = self.place(at);
        self.enter_scopes(at)?;
        let tag = self.tag();
        if !self.chains[usize::from(tag)].active {
            self.fork(ORIGIN, tag, place, at)?;
        }
        if !self.versions.is_empty() {
            for (value, _) in uses {
                self.wait_for_versions(*value, tag, place, at)?;
            }
        }
        let node = self.push(kind, tag, uses, place, at)?;
        if !self.versions.is_empty() {
            self.note_versions(uses, node);
        }
        for (value, _) in uses.iter().filter(|(_, mode)| mode.writes()) {
            self.producers.wrote(&self.recipe, value.index, node);
        }
        Ok(node)
    }

    fn push(&mut self, kind: NodeKind, tag: u16, uses: &[Used], place: u32, at: At) -> Result<u32> {
        let recipe = &mut self.recipe;
        let (Ok(first), Ok(count), true) =
            (u32::try_from(recipe.accesses.len()), u16::try_from(uses.len()), recipe.nodes.len() < NONE as usize)
        else {
            return self.wrong(FindingKind::Operand, at, "a plan of more work than can be numbered");
        };
        let node = recipe.nodes.len() as u32;
        let accesses = uses.iter().map(|(value, mode)| Access { value: value.index, mode: *mode });
        accesses.for_each(|access| push_slowly(&mut recipe.accesses, access));
        let cores = self.scopes.last().map_or(0, |frame| frame.cores);
        let ordered = std::mem::take(&mut self.ordered);
        push_slowly(&mut recipe.nodes, Node { kind, first, place, count, tag, cores, ordered });
        let chain = &mut self.chains[usize::from(tag)];
        (chain.nodes, chain.last) = (chain.nodes + 1, node);
        if let Some(progress) = &mut self.progress {
            progress.push(&self.recipe.nodes);
        }
        Ok(node)
    }

    fn lint(
        &mut self,
        kind: FindingKind,
        nodes: &[u32],
        text: impl Fn(&Recipe, &[u32]) -> String + Send + Sync + 'static,
    ) {
        self.lints.push(Lint { kind, nodes: nodes.to_vec(), text: Box::new(text) });
    }

    fn read(value: Value) -> Used {
        (value, Mode::Read)
    }

    fn write(value: Value) -> Used {
        (value, Mode::Write)
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("nodes", &self.recipe.nodes.len())
            .field("tags", &self.recipe.tags.len())
            .finish_non_exhaustive()
    }
}

/// Appends, with less memory set aside than a vector does by itself: the memory of a plan counts at its largest.
fn push_slowly<T>(all: &mut Vec<T>, one: T) {
    if all.len() == all.capacity() {
        all.reserve_exact((all.len() / 8).max(64));
    }
    all.push(one);
}

/// Whether a handle of this event still exists.
fn is_alive(alive: &Weak<()>) -> bool {
    alive.strong_count() > 0
}

/// What keeps the tag of an event taken.
fn keep_alive() -> Arc<()> {
    Arc::new(())
}
