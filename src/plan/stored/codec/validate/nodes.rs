//! Nodes: what each touches and how, and which events they record and wait for.

use std::sync::Arc;

use crate::op::{Few, Recorded, Takes};
use crate::plan::overlap::ranges::may_overlap;
use crate::plan::recipe::is_updatable;
use crate::plan::recipe::operator::Operand;
use crate::plan::recipe::quantity::{Form, Later};
use crate::plan::recipe::{
    Access, FunctionInfo, FunctionKind, Input, Mode, Node, NodeKind, ORIGIN, PrefetchInfo, Recipe, StorageKind,
};
use crate::plan::rules::{self, Args, No, Of, Rule};
use crate::plan::stored::codec::error::{DecodeError, Part, invalid};
use crate::plan::symbols::Symbol;
use crate::plan::symbols::dim::Dim;

/// Clocks of the order times streams: what telling the order of a plan may take.
const MOST_CLOCKS: u64 = 1 << 25;

/// What is wrong with a node.
type Wrong = Result<(), String>;

fn wrong(text: impl Into<String>) -> Wrong {
    Err(text.into())
}

pub(super) fn check(recipe: &Recipe) -> Result<(), DecodeError> {
    if let Some(index) = recipe.accesses.iter().position(|access| access.value as usize >= recipe.values.len()) {
        return invalid(Part::Access, index, "a value that is not there");
    }
    let waits = recipe.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Wait(_))).count() as u64;
    if (waits + 1).saturating_mul(recipe.tags.len() as u64) > MOST_CLOCKS {
        return invalid(Part::Node, 0, format!("{waits} waits on {} streams are too many", recipe.tags.len()));
    }
    let mut nodes = Nodes::new(recipe, operators(recipe)?);
    for (index, node) in recipe.nodes.iter().enumerate() {
        if let Err(text) = nodes.node(node) {
            return invalid(Part::Node, index, text);
        }
    }
    nodes.finish()?;
    let (storages, count) = (recipe.storages.len(), recipe.nodes.len());
    let there = |(storage, node): &(u32, u32)| (*storage as usize) < storages && (*node as usize) < count;
    match recipe.reserved.iter().position(|reserved| !there(reserved)) {
        Some(index) => invalid(Part::Reserved, index, "a storage or node that is not there"),
        None => Ok(()),
    }
}

/// An operator among the functions.
struct Operator {
    recorded: Arc<Recorded>,
    /// What it does with its tensors: no more of them than a node can have, and one.
    modes: Vec<Mode>,
    rule: Option<Rule>,
    /// Numbers that are known later, by parameter.
    numbers: Vec<(u32, Option<Vec<Dim>>)>,
}

/// The functions that are operators; none of one that is not known here, which is refused where its code is looked for.
fn operators(recipe: &Recipe) -> Result<Vec<Option<Operator>>, DecodeError> {
    recipe.functions.iter().enumerate().map(|(index, info)| operator(recipe, index, info)).collect()
}

fn operator(recipe: &Recipe, index: usize, info: &FunctionInfo) -> Result<Option<Operator>, DecodeError> {
    if info.kind() != FunctionKind::Operator && !info.later().is_empty() {
        return invalid(Part::Function, index, "numbers for what takes none");
    }
    let name = info.name().filter(|_| info.kind() == FunctionKind::Operator);
    let Some(name) = name.filter(|name| Recorded::is_known(name)) else { return Ok(None) };
    let recorded = match info.recorded() {
        Some(recorded) => Arc::clone(recorded),
        None => {
            let why = Recorded::from_stored(name, &info.attributes()).err();
            let own = || format!("operator {name:?} with a version or cores of its own");
            return invalid(Part::Function, index, why.unwrap_or_else(own));
        }
    };
    if let Some(text) = wrong_later(recipe, &recorded, info.later()) {
        return invalid(Part::Function, index, format!("operator {name:?} is told {text}"));
    }
    // A count of tensors that no node can have is none that memory is taken for.
    let modes = recorded.accesses().take(usize::from(u16::MAX) + 1).map(Mode::from).collect();
    let numbers =
        info.later().iter().filter_map(|one| Some((recorded.index(&one.parameter)? as u32, one.integers())));
    let numbers = numbers.collect();
    Ok(Some(Operator { rule: rules::rule(recorded.name()), recorded, modes, numbers }))
}

/// What is wrong with the numbers that an operator is told later.
fn wrong_later(recipe: &Recipe, operator: &Recorded, later: &[Later]) -> Option<String> {
    let symbols = recipe.symbols.len();
    let of_each_run =
        |size: Dim| recipe.symbols.iter().zip(size.parts().2).any(|(symbol, power)| power != 0 && symbol.each_run);
    let wrong = |one: &Later| {
        let name = &one.parameter;
        let Some((several, real)) = operator.takes(name).and_then(Takes::amounts) else {
            return Some(format!("{name:?}, which is no number that can be told"));
        };
        let known = |size: Dim| size.is_usable() && size.parts().2[symbols..].iter().all(|power| *power == 0);
        match () {
            () if !several && one.numbers.len() != 1 => Some(format!("{} numbers for {name}", one.numbers.len())),
            () if !real && one.numbers.iter().any(Form::is_real) => Some(format!("no integer for {name}")),
            () if !one.numbers.iter().filter_map(Form::size).all(known) => {
                Some(format!("a symbol that is not there, for {name}"))
            }
            () if one.each_run != one.numbers.iter().filter_map(Form::size).any(of_each_run) => {
                Some(format!("{name} by each run, or not so, unlike its symbols"))
            }
            () => None,
        }
    };
    later.iter().find_map(wrong)
}

/// The nodes so far.
struct Nodes<'a> {
    recipe: &'a Recipe,
    bounds: Vec<(u64, u64)>,
    /// Accesses of all nodes, of which there are no more than the recipe has.
    accesses: usize,
    started: Vec<bool>,
    recorded: Vec<bool>,
    uploaded: Vec<bool>,
    downloaded: Vec<bool>,
    operators: Vec<Option<Operator>>,
}

impl<'a> Nodes<'a> {
    fn new(recipe: &'a Recipe, operators: Vec<Option<Operator>>) -> Self {
        Self {
            recipe,
            bounds: recipe.bounds(),
            accesses: 0,
            started: vec![false; recipe.tags.len()],
            recorded: vec![false; recipe.events.len()],
            uploaded: vec![false; recipe.inputs.len()],
            downloaded: vec![false; recipe.outputs.len()],
            operators,
        }
    }

    fn node(&mut self, node: &Node) -> Wrong {
        let recipe = self.recipe;
        if node.place as usize >= recipe.places.all.len() {
            return wrong("a source place that is not there");
        }
        if usize::from(node.cores) > recipe.cores.len() {
            return wrong("a core limit that is not there");
        }
        let Some(started) = self.started.get_mut(usize::from(node.tag)) else {
            return wrong("a stream that is not there");
        };
        // Other streams become part of a capture by waiting for one that is.
        if !std::mem::replace(started, true) && node.tag != ORIGIN && !matches!(node.kind, NodeKind::Wait(_)) {
            return wrong("the first work of its stream, which waits for nothing");
        }
        self.accesses += usize::from(node.count);
        let first = node.first as usize;
        let accesses = recipe.accesses.get(first..first + usize::from(node.count));
        let Some(accesses) = accesses.filter(|_| self.accesses <= recipe.accesses.len()) else {
            return wrong("accesses that are not there");
        };
        self.kind(node.kind, accesses)
    }

    fn kind(&mut self, kind: NodeKind, accesses: &[Access]) -> Wrong {
        let recipe = self.recipe;
        if !matches!(kind, NodeKind::Foreign(_) | NodeKind::Call(_) | NodeKind::Choose(_))
            && accesses.iter().any(|access| is_updatable(recipe, access.value))
        {
            return wrong(format!("{kind:?} of an updatable input, which only operators can use"));
        }
        let modes = |want: &[Mode]| accesses.iter().map(|access| access.mode).eq(want.iter().copied());
        let fits = match kind {
            NodeKind::Foreign(function) if self.function(function, FunctionKind::Operator) => {
                return self.recorded(function, accesses);
            }
            NodeKind::Foreign(function) => {
                let writes = accesses.iter().skip_while(|access| access.mode == Mode::Read);
                self.function(function, FunctionKind::Foreign) && { writes }.all(|access| access.mode == Mode::Write)
            }
            NodeKind::Host(function) => self.function(function, FunctionKind::Host) && accesses.is_empty(),
            NodeKind::Copy if modes(&[Mode::Read, Mode::Write]) => return self.copy(accesses[0], accesses[1]),
            NodeKind::FillBytes(_) if modes(&[Mode::Write]) => return self.target(accesses[0].value, true),
            NodeKind::Copy | NodeKind::FillBytes(_) => false,
            NodeKind::Prefetch(prefetch) => {
                let fits = |part: &PrefetchInfo| part.max_bytes > 0 && self.reaches(accesses[0].value, part.offset);
                modes(&[Mode::Touch]) && recipe.prefetches.get(prefetch as usize).is_some_and(fits)
            }
            // What it calls is looked at where it is linked.
            NodeKind::Call(call) => (call as usize) < recipe.calls.len(),
            NodeKind::Choose(choice) => (choice as usize) < recipe.choices.len(),
            // Only in what is written out.
            NodeKind::Begin(_) | NodeKind::Case | NodeKind::End => false,
            NodeKind::Record(event) => accesses.is_empty() && first_time(&mut self.recorded, event),
            NodeKind::Wait(event) => {
                accesses.is_empty() && self.recorded.get(event as usize).is_some_and(|recorded| *recorded)
            }
            NodeKind::ExternalWait(gate) | NodeKind::ExternalRecord(gate) => {
                accesses.is_empty() && (gate as usize) < recipe.externals.len()
            }
            NodeKind::Upload(input) => {
                let known = recipe.inputs.get(input as usize);
                modes(&[Mode::Write])
                    && known.is_some_and(|known| known.class == Input::Host && known.value == accesses[0].value)
                    && first_time(&mut self.uploaded, input)
            }
            NodeKind::Download(output) => {
                let known = recipe.outputs.get(output as usize);
                modes(&[Mode::Read])
                    && known.is_some_and(|known| known.host && known.value == accesses[0].value)
                    && first_time(&mut self.downloaded, output)
            }
        };
        if fits { Ok(()) } else { wrong(format!("{kind:?} does not fit the rest of the plan")) }
    }

    /// That an operator has the accesses that it was told of, of shapes that fit it.
    fn recorded(&self, function: u32, accesses: &[Access]) -> Wrong {
        let Some(operator) = &self.operators[function as usize] else { return Ok(()) };
        let name = operator.recorded.name();
        // Which results it is told to leave, its rule says.
        let told = |mode: Mode| if mode == Mode::Clobber { Mode::Write } else { mode };
        if !accesses.iter().map(|access| told(access.mode)).eq(operator.modes.iter().copied()) {
            return wrong(format!("{name} with other accesses than it was told of"));
        }
        for (index, written) in accesses.iter().enumerate().filter(|(_, access)| access.mode.writes()) {
            self.target(written.value, false)?;
            let clashes = |(other, access): (usize, &Access)| {
                let places = || rules::places(accesses, |access| access.mode.writes());
                let in_place = || rules::works_in_place(name, other, index, places());
                other != index
                    && !(self.is_value(access, written) && in_place())
                    && self.overlap(access.value, written.value)
            };
            if accesses.iter().enumerate().any(clashes) {
                return wrong(format!("{name}: an operand overlaps its result"));
            }
        }
        self.shapes(operator, accesses)
    }

    /// Whether what is read is the very value that is written.
    fn is_value(&self, read: &Access, written: &Access) -> bool {
        let info = |access: &Access| &self.recipe.values[access.value as usize];
        read.mode == Mode::Read && info(read) == info(written)
    }

    fn overlap(&self, a: u32, b: u32) -> bool {
        may_overlap(self.recipe, a, b, &self.bounds)
    }

    /// That types and shapes fit, as far as a rule knows. A builder is stricter where they have symbols: it refuses
    /// what holds for some of their numbers alone. Sizes that a call puts into the plan that it calls are not asked
    /// then, and the library's first phase decides.
    fn shapes(&self, operator: &Operator, accesses: &[Access]) -> Wrong {
        let recorded = &operator.recorded;
        let mut operands = Few::new();
        for access in accesses {
            let layout = self.recipe.layout_of(access.value);
            operands.push(Some(Operand { dtype: layout.dtype, dims: &layout.dims }));
        }
        let Operator { numbers, .. } = operator;
        let (told, takes) = (recorded.told(), recorded.kinds());
        let args = Args { told, takes, operands: operands.as_slice(), numbers, bounds: &self.bounds };
        let results = match operator.rule.map(|rule| rule(&args)) {
            Some(Ok(results)) => args.given(results).filter(|results| !self.is_of_each_run(results)),
            Some(Err(No::Misfit(text))) if !args.has_symbols() => {
                return wrong(format!("{}: {text}", recorded.name()));
            }
            Some(Err(_)) | None => None,
        };
        let results = results.or_else(|| rules::left(recorded.name(), &args)).unwrap_or_default();
        let odd = || wrong(format!("{} leaves a result that it was not told to", recorded.name()));
        if results.is_empty() && accesses.iter().any(|access| access.mode == Mode::Clobber) {
            return odd();
        }
        let written = accesses.iter().filter(|access| access.mode.only_writes());
        for (of, access) in results.iter().zip(written) {
            let to = self.recipe.layout_of(access.value);
            if of.left != (access.mode == Mode::Clobber) {
                return odd();
            }
            if !of.may_take(to.dtype, &to.dims, &self.bounds) {
                let (name, dims, into) = (recorded.name(), &of.dims, &to.dims);
                return wrong(format!("{name}: {:?} {dims:?} into {:?} {into:?}", of.dtype, to.dtype));
            }
        }
        Ok(())
    }

    /// Whether a size would be one that each run gives anew, for which a builder asks no rule.
    fn is_of_each_run(&self, results: &[Of]) -> bool {
        let anew = |(symbol, power): (&Symbol, u8)| power != 0 && symbol.each_run;
        let mut dims = results.iter().flat_map(|result| &result.dims);
        dims.any(|dim| self.recipe.symbols.iter().zip(dim.parts().2).any(anew))
    }

    fn function(&self, function: u32, kind: FunctionKind) -> bool {
        self.recipe.functions.get(function as usize).is_some_and(|info| info.kind() == kind)
    }

    /// Whether memory has something at an offset, for some values of the symbols.
    fn reaches(&self, value: u32, offset: u64) -> bool {
        let bytes = self.recipe.layout_of(value).bytes();
        let most = bytes.and_then(|bytes| bytes.greatest(&self.bounds)).unwrap_or(0);
        i128::from(offset) < most
    }

    /// That a value can be written, and has no gaps where that matters.
    fn target(&self, value: u32, dense: bool) -> Wrong {
        if let StorageKind::Constant(_) = self.recipe.storages[self.recipe.storage_of(value) as usize].kind {
            return wrong("it writes to a constant");
        }
        if dense && !self.recipe.layout_of(value).is_dense() {
            return wrong("it writes bytes of a value with gaps");
        }
        Ok(())
    }

    fn copy(&self, from: Access, to: Access) -> Wrong {
        let (a, b) = (self.recipe.layout_of(from.value), self.recipe.layout_of(to.value));
        if !a.is_dense() || a.bytes() != b.bytes() {
            return wrong("a copy between values of other sizes, or with gaps");
        }
        if may_overlap(self.recipe, from.value, to.value, &self.bounds) {
            return wrong("a copy to bytes of its own");
        }
        self.target(to.value, true)
    }

    fn finish(&self) -> Result<(), DecodeError> {
        let recipe = self.recipe;
        if let Some(index) = self.recorded.iter().position(|recorded| !recorded) {
            return invalid(Part::Event, index, "nothing records it");
        }
        let wanted = recipe.inputs.iter().map(|input| input.class == Input::Host);
        if let Some(index) = wanted.zip(&self.uploaded).position(|(wanted, uploaded)| wanted != *uploaded) {
            return invalid(Part::Input, index, "nothing uploads it");
        }
        let wanted = recipe.outputs.iter().map(|output| output.host);
        if let Some(index) = wanted.zip(&self.downloaded).position(|(wanted, downloaded)| wanted != *downloaded) {
            return invalid(Part::Output, index, "nothing downloads it");
        }
        Ok(())
    }
}

/// Marks an entry; whether it is there and was not marked.
fn first_time(marks: &mut [bool], index: u32) -> bool {
    marks.get_mut(index as usize).is_some_and(|mark| !std::mem::replace(mark, true))
}
