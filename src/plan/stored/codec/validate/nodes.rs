//! Nodes: what each touches and how, and which events they record and wait for.

use crate::op::{MAX_RANK, Recorded, Takes};
use crate::plan::overlap::ranges::may_overlap;
use crate::plan::recipe::is_updatable;
use crate::plan::recipe::operator::{Operand, Operator, broadcast};
use crate::plan::recipe::quantity::{Form, Later};
use crate::plan::recipe::{
    Access, FunctionInfo, FunctionKind, Input, Mode, Node, NodeKind, ORIGIN, Recipe, StorageKind,
};
use crate::plan::stored::codec::error::{DecodeError, Part, invalid};
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

/// What the functions that are operators do with their tensors.
fn operators(recipe: &Recipe) -> Result<Vec<Option<Vec<Mode>>>, DecodeError> {
    let modes = |(index, info): (usize, &FunctionInfo)| {
        if info.kind != FunctionKind::Operator && !info.later.is_empty() {
            return invalid(Part::Function, index, "numbers for what takes none");
        }
        let name = info.name.as_deref().filter(|_| info.kind == FunctionKind::Operator);
        let Some(name) = name.filter(|name| Recorded::is_known(name)) else { return Ok(None) };
        let one = match Recorded::from_stored(name, &info.attributes) {
            Ok(one) => one,
            Err(text) => return invalid(Part::Function, index, text),
        };
        match wrong_later(recipe, &one, &info.later) {
            // A count of tensors that no node can have is none that memory is taken for.
            None => Ok(Some(one.accesses().take(usize::from(u16::MAX) + 1).map(Mode::from).collect())),
            Some(text) => invalid(Part::Function, index, format!("operator {name:?} is told {text}")),
        }
    };
    recipe.functions.iter().enumerate().map(modes).collect()
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
    /// What each function that is an operator does with its tensors; none of one that is not known here, which is
    /// refused where its code is looked for.
    operators: Vec<Option<Vec<Mode>>>,
}

impl<'a> Nodes<'a> {
    fn new(recipe: &'a Recipe, operators: Vec<Option<Vec<Mode>>>) -> Self {
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
        if !matches!(kind, NodeKind::Op(_) | NodeKind::Foreign(_) | NodeKind::Call(_) | NodeKind::Choose(_))
            && accesses.iter().any(|access| is_updatable(recipe, access.value))
        {
            return wrong(format!("{kind:?} of an updatable input, which only operators can use"));
        }
        let modes = |want: &[Mode]| accesses.iter().map(|access| access.mode).eq(want.iter().copied());
        let fits = match kind {
            NodeKind::Op(operator) => return self.operator(&operator, accesses),
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
            NodeKind::Prefetch { offset, max_bytes } => {
                modes(&[Mode::Touch]) && max_bytes > 0 && self.reaches(accesses[0].value, offset)
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

    /// That an operator has the accesses that it was told of.
    fn recorded(&self, function: u32, accesses: &[Access]) -> Wrong {
        let Some(modes) = &self.operators[function as usize] else { return Ok(()) };
        if !accesses.iter().map(|access| access.mode).eq(modes.iter().copied()) {
            return wrong("an operator with other accesses than it was told of");
        }
        accesses.iter().filter(|access| access.mode.writes()).try_for_each(|access| self.target(access.value, false))
    }

    fn function(&self, function: u32, kind: FunctionKind) -> bool {
        self.recipe.functions.get(function as usize).is_some_and(|info| info.kind == kind)
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

    fn operator(&self, operator: &Operator, accesses: &[Access]) -> Wrong {
        let recipe = self.recipe;
        let Some((out, operands)) = accesses.split_last() else { return wrong("an operator without a result") };
        if operands.len() != operator.operands() {
            return wrong(format!("{} operands for {}", operands.len(), operator.name()));
        }
        if out.mode != Mode::Write || operands.iter().any(|operand| operand.mode != Mode::Read) {
            return wrong(format!("{} with other accesses than reads and a write", operator.name()));
        }
        attributes(operator)?;
        self.target(out.value, false)?;
        let to = recipe.layout_of(out.value);
        if !matches!(operator, Operator::Fill { .. }) {
            let views = operands.iter().map(|operand| recipe.layout_of(operand.value));
            let views: Vec<_> = views.map(|view| Operand { dtype: view.dtype, dims: &view.dims }).collect();
            let (dtype, dims) = operator.infer(&views).map_err(|text| format!("{}: {text}", operator.name()))?;
            let same = match operator {
                Operator::Copy => broadcast(&dims, &to.dims).as_ref() == Ok(&to.dims),
                _ => dtype == to.dtype && dims == to.dims,
            };
            if !same {
                return wrong(format!("{}: {dtype:?} {dims:?} into {:?} {:?}", operator.name(), to.dtype, to.dims));
            }
        }
        for operand in operands {
            let same = recipe.values[operand.value as usize] == recipe.values[out.value as usize];
            let in_place = same && operator.works_in_place();
            if !in_place && may_overlap(recipe, operand.value, out.value, &self.bounds) {
                return wrong(format!("{}: an operand overlaps its result", operator.name()));
            }
        }
        Ok(())
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

/// That attributes are such that shapes can be told by them.
fn attributes(operator: &Operator) -> Wrong {
    match operator {
        Operator::Permute { order } => {
            let (used, rest) = match order.dims.split_at_checked(usize::from(order.rank)) {
                Some(parts) => parts,
                None => return wrong(format!("an order of {} dimensions", order.rank)),
            };
            let known = used.iter().all(|dim| usize::from(*dim) < MAX_RANK) && rest.iter().all(|dim| *dim == 0);
            if known { Ok(()) } else { wrong(format!("the order {used:?}")) }
        }
        _ => Ok(()),
    }
}
