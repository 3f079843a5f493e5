//! The recipe: a plan as plain data, in the order in which its work is issued, with its operators, layouts and uses,
//! the user's code in it, and how its parts are written. Uses symbols; every room above works with it.

use crate::error::{Error, ErrorKind, Result};

use super::symbols::Symbol;
use super::symbols::dim::Dim;

pub(crate) mod callable;
pub(crate) mod choice;
pub(crate) mod element;
pub(crate) mod finds;
pub(crate) mod function;
pub(crate) mod info;
pub(crate) mod layout;
pub(crate) mod once;
pub(crate) mod operator;
pub(crate) mod quantity;
pub(crate) mod quick;
pub(crate) mod sound;
pub(crate) mod unread;
pub(crate) mod unused;
pub(crate) mod uses;
#[cfg(feature = "cache")]
pub(crate) mod wire;

use callable::{CallInfo, Callee};
use choice::{ChoiceInfo, ChoiceKind};
use layout::{Extent, Layout};
use quick::QuickMap;
use uses::Use;

pub use crate::stream::Cores;
pub(crate) use info::{FunctionInfo, FunctionKind};

/// Index of the stream that a plan is run on.
pub(crate) const ORIGIN: u16 = 0;

/// Everything that an executor, a check or a file needs to know of a plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Recipe {
    pub(crate) symbols: Vec<Symbol>,
    /// Streams by tag; the first is the origin.
    pub(crate) tags: Vec<Tag>,
    /// Each is recorded by one node.
    pub(crate) events: Vec<EventInfo>,
    /// Gates between the plan and work beside it.
    pub(crate) externals: Vec<String>,
    pub(crate) storages: Vec<Storage>,
    pub(crate) layouts: Vec<Layout>,
    pub(crate) values: Vec<ValueInfo>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) accesses: Vec<Access>,
    pub(crate) places: Places,
    pub(crate) inputs: Vec<InputInfo>,
    pub(crate) outputs: Vec<OutputInfo>,
    pub(crate) constants: Vec<Vec<u8>>,
    pub(crate) functions: Vec<FunctionInfo>,
    /// What prefetches ask for.
    pub(crate) prefetches: Vec<PrefetchInfo>,
    /// Core limits that scopes asked for; nodes refer to them by number, counted from 1.
    pub(crate) cores: Vec<Cores>,
    /// Storages that stay reserved until a node is done (`record_stream`).
    pub(crate) reserved: Vec<(u32, u32)>,
    /// Greatest share of the L2 cache that one prefetch may ask for, in thousandths; 0 for no cap.
    pub(crate) prefetch_cap: u32,
    /// Plans that are called, and how; only in a recipe as it was recorded, not in one that is run.
    pub(crate) called: Vec<Callee>,
    pub(crate) calls: Vec<CallInfo>,
    /// Choices among some of these calls; likewise.
    pub(crate) choices: Vec<ChoiceInfo>,
}

/// A stream of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Tag {
    pub(crate) name: String,
    pub(crate) priority: u32,
}

/// A point that other streams wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct EventInfo {
    /// Its tag; forks, joins and waits for values have none.
    pub(crate) name: Option<String>,
}

/// A piece of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Storage {
    pub(crate) kind: StorageKind,
    pub(crate) bytes: Extent,
}

/// Where the memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum StorageKind {
    /// Part of the arena.
    Temporary,
    Input(u32),
    Output(u32),
    Constant(u32),
    /// Memory of the executable, which work that is done once writes when it is made.
    Once,
}

/// A view of a storage.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ValueInfo {
    pub(crate) storage: u32,
    pub(crate) layout: u32,
    /// Bytes from the start of the storage.
    pub(crate) offset: Extent,
}

/// One piece of work.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// First of its accesses.
    pub(crate) first: u32,
    pub(crate) place: u32,
    pub(crate) count: u16,
    pub(crate) tag: u16,
    /// Core limit, 0 for none.
    pub(crate) cores: u16,
    pub(crate) ordered: Ordered,
}

/// Order that was asked for and that neither accesses nor events show, because all of it was on one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Ordered {
    #[default]
    Nothing,
    /// After some work before it.
    After,
    /// After all work before it, and before all work behind it.
    Fence,
}

#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum NodeKind {
    /// An operator of the library or a foreign one, by function; its accesses in the order of its parameters, or in
    /// that in which they were declared.
    Foreign(u32),
    /// A host function.
    Host(u32),
    /// Bytes from the first access to the second.
    Copy,
    /// Every byte of the access.
    FillBytes(u8),
    /// Part of the access, by prefetch.
    Prefetch(u32),
    Record(u32),
    Wait(u32),
    /// Waits for a signal from outside, which it consumes.
    ExternalWait(u32),
    /// Gives a signal to the outside.
    ExternalRecord(u32),
    /// From the host memory of an input to the access.
    Upload(u32),
    /// From the access to the host memory of an output.
    Download(u32),
    /// Another plan, by call; its accesses are the operands, then the results.
    Call(u32),
    /// One of several plans, by choice; its accesses are the condition, the operands, then the results.
    Choose(u32),
    /// Before the arms of a choice that is written out; its accesses are the condition and what all arms may use.
    Begin(ChoiceKind),
    /// Between two arms.
    Case,
    /// Behind the last arm, with the accesses of the beginning.
    End,
}

impl Node {
    /// Work without accesses.
    pub(crate) fn bare(kind: NodeKind, tag: u16, place: u32) -> Self {
        Self { kind, first: 0, place, count: 0, tag, cores: 0, ordered: Ordered::Nothing }
    }
}

impl NodeKind {
    /// Whether it orders work and is none itself.
    pub(crate) fn is_sync(self) -> bool {
        matches!(self, Self::Record(_) | Self::Wait(_) | Self::ExternalWait(_) | Self::ExternalRecord(_))
    }
}

/// Bytes from the offset on, at most so many. Beside the nodes, each of which would have room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct PrefetchInfo {
    pub(crate) offset: u64,
    pub(crate) max_bytes: u64,
}

/// How a node touches a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Mode {
    Read,
    Write,
    ReadWrite,
    /// Neither: a prefetch, which may see any bytes.
    Touch,
    /// A result that the operator was told to leave: nobody knows what is there then, so it is written for all that
    /// use the memory, and for nobody that wants to read it.
    Clobber,
}

impl From<crate::op::Access> for Mode {
    fn from(access: crate::op::Access) -> Self {
        match access {
            crate::op::Access::Read => Self::Read,
            crate::op::Access::Write => Self::Write,
            crate::op::Access::ReadWrite => Self::ReadWrite,
        }
    }
}

impl Mode {
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite | Self::Clobber)
    }

    /// Whether the bytes are known to be there afterwards.
    pub(crate) fn gives(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite)
    }

    /// Whether the bytes from before do not matter.
    pub(crate) fn only_writes(self) -> bool {
        matches!(self, Self::Write | Self::Clobber)
    }

    pub(crate) fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Access {
    pub(crate) value: u32,
    pub(crate) mode: Mode,
}

/// How the memory of an input is given to an executable.
///
/// A plan is checked as if each input had memory of its own. Where one that the plan writes shares memory with
/// another, the run is refused, or the capture ahead of it; of frozen inputs, the executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "frozen_parameter")]
#[doc(alias = "mark_static_address")]
pub enum Input {
    /// Given once, when the executable is made, and shared with it from then on. Runs do not look at it; what it holds
    /// may change between them, unless [`Passes::relaid_weights`](super::Passes::relaid_weights) made the plan. A plan
    /// that writes it has a lint, [`FindingKind::FrozenWritten`](super::FindingKind::FrozenWritten).
    Frozen,
    /// Memory of the executable, written in place between runs.
    Static,
    /// Bound for each run and copied into memory of the executable, unless it is that memory
    /// ([`Executable::copied_input`](super::Executable::copied_input)).
    Copied,
    /// Bound for each run and used where it is; what happens when it moved.
    Tracked(OnMove),
    /// Bound for each run and used where it is; operators that use it are updated inside the captured graph when it
    /// moved. An operator is planned again at its first update; later ones replace its addresses alone, where it and
    /// the library allow that ([`RunOptions::address_updates`](super::RunOptions::address_updates)). Foreign
    /// operators are launched again. Only these can use it: byte copies, so also
    /// [`Builder::output`](super::Builder::output) of the input itself,
    /// [`Builder::fill_bytes`](super::Builder::fill_bytes) and prefetches of it are refused when the plan is built,
    /// however it is run.
    Updatable,
    /// Host memory of the executable, uploaded by each run in front of its work. A run does not wait for the runs
    /// before it, unless four uploads are under way.
    Host,
}

/// What a run does when a tracked input has another address than the captured graph knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum OnMove {
    /// Uses the graph of that address, or captures one.
    #[default]
    Recapture,
    /// Fails, naming the input and both addresses.
    Fail,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct InputInfo {
    pub(crate) name: String,
    pub(crate) value: u32,
    #[cfg_attr(feature = "cache", serde(with = "wire::InputWire"))]
    pub(crate) class: Input,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct OutputInfo {
    pub(crate) name: String,
    pub(crate) value: u32,
    /// Whether each run also brings it to host memory of the executable.
    pub(crate) host: bool,
    /// Whether it says how many rows came of the output whose name it has, with [`count_of`].
    pub(crate) counts: bool,
}

/// The name of the output that says how many rows came of another.
pub(crate) fn count_of(output: &str) -> String {
    format!("{output}.count")
}

/// How many rows came, which the device counted, of an output that has room for `most`.
pub(crate) fn rows_found(counted: i64, most: usize) -> Result<usize> {
    let rows = usize::try_from(counted).ok().filter(|rows| *rows <= most);
    rows.ok_or_else(|| Error::new(ErrorKind::UnknownValue, format!("{counted} rows found, of {most}")))
}

/// Where in the caller's source the nodes were asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Places {
    pub(crate) files: Vec<String>,
    /// File, line and column.
    pub(crate) all: Vec<(u32, u32, u32)>,
}

impl Places {
    pub(crate) fn show(&self, place: u32) -> String {
        match self.all.get(place as usize) {
            Some((file, line, _)) => format!("{}:{line}", self.files[*file as usize]),
            None => "an unknown place".to_owned(),
        }
    }
}

/// Finds places and layouts that are known already.
#[derive(Debug, Default)]
pub(crate) struct Known {
    files: QuickMap<&'static str, u32>,
    places: QuickMap<(u32, u32, u32), u32>,
    layouts: QuickMap<Layout, u32>,
    last_place: Option<(&'static std::panic::Location<'static>, u32)>,
}

impl Recipe {
    pub(crate) fn place(&mut self, known: &mut Known, at: &'static std::panic::Location<'static>) -> u32 {
        if let Some((last, place)) = known.last_place
            && std::ptr::eq(last, at)
        {
            return place;
        }
        let places = &mut self.places;
        let file = *known.files.entry(at.file()).or_insert_with(|| {
            places.files.push(at.file().to_owned());
            (places.files.len() - 1) as u32
        });
        let place = self.place_in(known, (file, at.line(), at.column()));
        known.last_place = Some((at, place));
        place
    }

    /// A place in a file of the list.
    pub(crate) fn place_in(&mut self, known: &mut Known, key: (u32, u32, u32)) -> u32 {
        let places = &mut self.places;
        *known.places.entry(key).or_insert_with(|| {
            places.all.push(key);
            (places.all.len() - 1) as u32
        })
    }

    pub(crate) fn layout(&mut self, known: &mut Known, layout: Layout) -> u32 {
        if let Some(index) = known.layouts.get(&layout) {
            return *index;
        }
        let index = self.layouts.len() as u32;
        self.layouts.push(layout.clone());
        known.layouts.insert(layout, index);
        index
    }

    /// The access behind a use.
    pub(crate) fn access(&self, one: &Use) -> Access {
        self.accesses[one.access as usize]
    }

    /// Gives back memory that was set aside for more.
    pub(crate) fn shrink(&mut self) {
        self.events.shrink_to_fit();
        self.storages.shrink_to_fit();
        self.values.shrink_to_fit();
        self.nodes.shrink_to_fit();
        self.accesses.shrink_to_fit();
        self.inputs.shrink_to_fit();
        self.functions.shrink_to_fit();
    }

    pub(crate) fn accesses_of(&self, node: &Node) -> &[Access] {
        &self.accesses[node.first as usize..node.first as usize + usize::from(node.count)]
    }

    pub(crate) fn layout_of(&self, value: u32) -> &Layout {
        &self.layouts[self.values[value as usize].layout as usize]
    }

    pub(crate) fn storage_of(&self, value: u32) -> u32 {
        self.values[value as usize].storage
    }

    pub(crate) fn bounds(&self) -> Vec<(u64, u64)> {
        self.symbols.iter().map(|symbol| (symbol.least, symbol.greatest)).collect()
    }

    pub(crate) fn symbol_names(&self) -> Vec<String> {
        self.symbols.iter().map(|symbol| symbol.name.clone()).collect()
    }

    /// What a node is called in messages.
    pub(crate) fn label(&self, node: &Node) -> String {
        match node.kind {
            NodeKind::Foreign(function) | NodeKind::Host(function) => {
                let info = &self.functions[function as usize];
                let name = info.name();
                let kind = match info.kind() {
                    FunctionKind::Foreign => "foreign operator",
                    FunctionKind::Host => "host function",
                    FunctionKind::Operator => return name.unwrap_or("operator").to_owned(),
                };
                name.map_or_else(|| kind.to_owned(), |name| format!("{kind} {name:?}"))
            }
            NodeKind::Copy => "copy".to_owned(),
            NodeKind::FillBytes(_) => "fill_bytes".to_owned(),
            NodeKind::Prefetch(_) => "prefetch".to_owned(),
            NodeKind::Record(event) => self.event_label("record of", event),
            NodeKind::Wait(event) => self.event_label("wait for", event),
            NodeKind::ExternalWait(event) => format!("external wait for {:?}", self.externals[event as usize]),
            NodeKind::ExternalRecord(event) => format!("external record of {:?}", self.externals[event as usize]),
            NodeKind::Upload(input) => format!("upload of {:?}", self.inputs[input as usize].name),
            NodeKind::Download(output) => format!("download of {:?}", self.outputs[output as usize].name),
            NodeKind::Call(call) => self.call_label(&self.calls[call as usize]),
            NodeKind::Choose(choice) => self.choice_label(&self.choices[choice as usize]),
            NodeKind::Begin(kind) => kind.name().to_owned(),
            NodeKind::Case => "case".to_owned(),
            NodeKind::End => "end of a choice".to_owned(),
        }
    }

    fn call_label(&self, call: &CallInfo) -> String {
        let times = if call.times == 1 { String::new() } else { format!(", {} times", call.times) };
        let operators = self.called.get(call.callee as usize).map_or(0, |callee| callee.0.facts().operators);
        format!("call of a plan of {operators} operators{times}")
    }

    fn event_label(&self, what: &str, event: u32) -> String {
        match &self.events[event as usize].name {
            Some(name) => format!("{what} event {name:?}"),
            None => format!("{what} event #{event}"),
        }
    }

    /// Label, position, stream and source line of a node.
    pub(crate) fn describe(&self, index: u32) -> String {
        let node = &self.nodes[index as usize];
        let tag = if node.tag == ORIGIN {
            "the origin stream".to_owned()
        } else {
            format!("stream {:?}", self.tags[usize::from(node.tag)].name)
        };
        format!("{} (#{index}, {tag}, {})", self.label(node), self.places.show(node.place))
    }

    /// Names and values of the symbols, for messages.
    pub(crate) fn when(&self, symbols: &[u64]) -> String {
        let all = self.symbols.iter().zip(symbols).map(|(symbol, value)| format!("{} = {value}", symbol.name));
        format!("when {}", all.collect::<Vec<_>>().join(", "))
    }

    /// The recipe with numbers in place of symbols, or the size that has none.
    pub(crate) fn specialised(&self, symbols: &[u64]) -> Result<Self, String> {
        let mut fixed = self.clone();
        if self.symbols.is_empty() {
            return Ok(fixed);
        }
        let number = |extent: &Extent| extent.value(symbols).map(Extent::Fixed);
        for layout in &mut fixed.layouts {
            let dims: Option<Vec<Dim>> = layout.dims.iter().map(|dim| dim.value(symbols).map(Dim::fixed)).collect();
            let strides: Option<Vec<Extent>> = layout.strides.iter().map(number).collect();
            let (Some(dims), Some(strides)) = (dims, strides) else {
                return Err(format!("the shape {:?} has no size for {symbols:?}", layout.dims));
            };
            (layout.dims, layout.strides) = (dims, strides);
        }
        for value in &mut fixed.values {
            value.offset = number(&value.offset).ok_or_else(|| format!("an offset has no size for {symbols:?}"))?;
        }
        for storage in &mut fixed.storages {
            storage.bytes = number(&storage.bytes).ok_or_else(|| format!("a value has no size for {symbols:?}"))?;
        }
        for later in fixed.functions.iter_mut().flat_map(FunctionInfo::later_mut) {
            for number in &mut later.numbers {
                let none = || format!("the number {} has no value for {symbols:?}", number.show(&[]));
                *number = number.fixed(symbols).ok_or_else(none)?;
            }
        }
        fixed.symbols.clear();
        Ok(fixed)
    }
}

impl Recipe {
    /// The name in C of what a node calls, when that is an operator of the library.
    pub(crate) fn operator(&self, node: &Node) -> Option<&str> {
        let NodeKind::Foreign(function) = node.kind else { return None };
        let info = self.functions.get(function as usize)?;
        info.name().filter(|_| info.kind() == FunctionKind::Operator)
    }

    /// Whether the operator of a node may change between runs of one graph.
    pub(crate) fn is_updated(&self, node: &Node) -> bool {
        self.is_told(node) || self.accesses_of(node).iter().any(|access| is_updatable(self, access.value))
    }

    /// Whether each run tells the operator of a node a number.
    pub(crate) fn is_told(&self, node: &Node) -> bool {
        let NodeKind::Foreign(function) = node.kind else { return false };
        self.functions.get(function as usize).is_some_and(|info| info.later().iter().any(|later| later.each_run))
    }
}

/// Whether a value is the memory of an updatable input, which few operators can use.
pub(crate) fn is_updatable(recipe: &Recipe, value: u32) -> bool {
    match recipe.storages[recipe.storage_of(value) as usize].kind {
        StorageKind::Input(input) => recipe.inputs[input as usize].class == Input::Updatable,
        _ => false,
    }
}
