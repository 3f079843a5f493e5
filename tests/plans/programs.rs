//! Random plans of this crate's own operators.

use racl::op::{DataType, Element};
use racl::plan::{After, Builder, Dim, Fork, Input, OnMove, Options, Plan, Scope, TaggedEvent, Value};
use racl::{Prefetch, Result};

use super::equal::{Case, Given, typed};
use super::generate::Dice;

mod operations;
mod tests;

/// Greatest value of a symbol.
const GREATEST: usize = 5;
/// Values with more elements are not worked on.
const LARGEST: usize = 256;

/// What the plans look like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    /// Most statements.
    statements: u32,
    /// How many of 1000 dependencies between streams are left without an event.
    careless: u32,
    /// How many of 1000 pieces of memory are outputs, beside a few values.
    outputs: u32,
}

/// A dimension of an input: a number, or a symbol by its index.
#[derive(Debug, Clone, Copy)]
enum Size {
    Fixed(usize),
    Symbol(usize),
}

#[derive(Debug)]
struct Made {
    name: String,
    class: Input,
    dtype: DataType,
    sizes: Vec<Size>,
}

/// What a recorded plan takes and gives.
#[derive(Debug, Default)]
struct Recorded {
    symbols: usize,
    inputs: Vec<Made>,
    outputs: Vec<(String, DataType)>,
}

impl Recorded {
    /// The inputs of a run; the symbols have the same values in every run without a difference in `turn`.
    fn given(&self, seed: u64, turn: u64) -> Vec<Given> {
        let mut dice = Dice(seed ^ (turn + 1) << 40);
        let symbols: Vec<usize> = (0..self.symbols).map(|_| 1 + dice.index(GREATEST)).collect();
        let one = |made: &Made| {
            let size = |size: &Size| match size {
                Size::Fixed(size) => *size,
                Size::Symbol(index) => symbols[*index],
            };
            let dims: Vec<usize> = made.sizes.iter().map(size).collect();
            let count = dims.iter().product();
            let bytes = typed!(made.dtype, T => bytemuck::cast_slice(&numbers::<T>(&mut dice, count)).to_vec());
            Given { name: made.name.clone(), class: made.class, dtype: made.dtype, dims, bytes }
        };
        self.inputs.iter().map(one).collect()
    }
}

/// Elements of a type: tame numbers, sometimes any bits; indices 0 and 1.
fn numbers<T: Element>(dice: &mut Dice, count: usize) -> Vec<T> {
    let wild = dice.chance(30);
    let one = |_| {
        let bits = dice.next();
        let tame = (bits >> 40) as f32 / 4_194_304.0 - 2.0;
        let bytes = match T::TYPE {
            DataType::I64 => (bits >> 63).to_le_bytes().to_vec(),
            _ if wild => bits.to_le_bytes().to_vec(),
            DataType::F16 => half::f16::from_f32(tame).to_le_bytes().to_vec(),
            DataType::Bf16 => half::bf16::from_f32(tame).to_le_bytes().to_vec(),
            _ => tame.to_le_bytes().to_vec(),
        };
        bytemuck::pod_read_unaligned(&bytes[..size_of::<T>()])
    };
    (0..count).map(one).collect()
}

/// The plan of a seed, or why the checks refuse it.
fn plan(seed: u64, style: &Style) -> Result<(Plan, Recorded)> {
    let mut dice = Dice(seed);
    let tags = dice.index(5);
    let options = match dice.index(2) {
        0 if tags == 0 => Options::new().auto_streams(2 + dice.index(3)),
        _ => Options::new(),
    };
    let mut recorded = Recorded::default();
    let plan = Plan::build_with(options, |g| {
        recorded = record(g, dice, tags, style)?;
        Ok(())
    });
    plan.map(|plan| (plan, recorded))
}

/// The plan of a seed, with all work on one stream.
fn plan_on_one_stream(seed: u64, style: &Style) -> (Plan, Recorded) {
    let mut recorded = Recorded::default();
    let plan = Plan::build(|g| {
        recorded = record(g, Dice(seed), 0, style)?;
        Ok(())
    });
    (plan.unwrap(), recorded)
}

fn record(g: &Builder, dice: Dice, tags: usize, style: &Style) -> Result<Recorded> {
    let mut writer = Writer {
        dice,
        style: *style,
        names: std::iter::once("origin".to_owned()).chain((1..=tags).map(|tag| format!("s{tag}"))).collect(),
        marks: Vec::new(),
        symbols: Vec::new(),
        roots: Vec::new(),
        known: Vec::new(),
        recorded: Recorded::default(),
    };
    writer.begin(g)?;
    for _ in 0..3 + writer.dice.below(style.statements) {
        let (tag, fork) = (writer.dice.index(tags + 1), writer.dice.chance(150));
        let scope = Scope::new().fork(if fork { Fork::Here } else { Fork::AtStart });
        let name = writer.names[tag].clone();
        g.scope_with(&name, scope, |g| (0..1 + writer.dice.below(3)).try_for_each(|_| writer.statement(g, tag)))?;
    }
    writer.end(g)?;
    Ok(writer.recorded)
}

/// A piece of memory, and what has touched it: stream, and whether it wrote.
struct Root {
    writable: bool,
    /// Only operators may use it.
    updatable: bool,
    /// Whether anything was written in place.
    rewritten: bool,
    uses: Vec<(usize, bool)>,
}

#[derive(Clone)]
struct Known {
    value: Value,
    root: usize,
    dtype: DataType,
    dims: Vec<Dim>,
}

impl Known {
    fn is_float(&self) -> bool {
        self.dtype != DataType::I64
    }
}

struct Writer {
    dice: Dice,
    style: Style,
    names: Vec<String>,
    /// An event for each stream, to mark what it has come to.
    marks: Vec<TaggedEvent>,
    symbols: Vec<Dim>,
    roots: Vec<Root>,
    known: Vec<Known>,
    recorded: Recorded,
}

impl Writer {
    fn begin(&mut self, g: &Builder) -> Result<()> {
        for name in &self.names {
            self.marks.push(g.event(&format!("mark of {name}"))?);
        }
        if self.dice.chance(350) {
            self.recorded.symbols = 1 + self.dice.index(2);
        }
        for index in 0..self.recorded.symbols {
            self.symbols.push(g.symbol(&format!("n{index}"), 1..=GREATEST)?);
            self.input(g, &format!("of n{index}"), Input::Copied, DataType::F32, vec![Size::Symbol(index)])?;
        }
        for index in 0..1 + self.dice.below(5) {
            let class = self.class();
            let dtype = self.dtype();
            let sizes = (0..1 + self.dice.index(3)).map(|_| self.size(class)).collect();
            self.input(g, &format!("x{index}"), class, dtype, sizes)?;
        }
        if self.dice.chance(400) {
            let (class, size) = (self.class(), 1 + self.dice.index(3));
            self.input(g, "indices", class, DataType::I64, vec![Size::Fixed(size)])?;
        }
        Ok(())
    }

    fn class(&mut self) -> Input {
        let classes = [
            Input::Copied,
            Input::Static,
            Input::Frozen,
            Input::Tracked(OnMove::Recapture),
            Input::Updatable,
            Input::Host,
        ];
        classes[self.dice.index(classes.len())]
    }

    fn dtype(&mut self) -> DataType {
        match self.dice.below(10) {
            0 => DataType::F16,
            1 => DataType::Bf16,
            _ => DataType::F32,
        }
    }

    fn size(&mut self, class: Input) -> Size {
        let fixed = matches!(class, Input::Frozen | Input::Static);
        match self.dice.index(5) {
            0..2 if !fixed && self.recorded.symbols > 0 => Size::Symbol(self.dice.index(self.recorded.symbols)),
            _ => Size::Fixed([1, 2, 3, 4, 4][self.dice.index(5)]),
        }
    }

    fn input(&mut self, g: &Builder, name: &str, class: Input, dtype: DataType, sizes: Vec<Size>) -> Result<()> {
        let dim = |size: &Size| match size {
            Size::Fixed(size) => Dim::from(*size),
            Size::Symbol(index) => self.symbols[*index],
        };
        let dims: Vec<Dim> = sizes.iter().map(dim).collect();
        let value = g.input(name, dims, dtype, class)?;
        self.recorded.inputs.push(Made { name: name.to_owned(), class, dtype, sizes });
        let writable = class != Input::Frozen && dtype != DataType::I64;
        let one = self.root(g, value, writable)?;
        self.roots[one.root].updatable = class == Input::Updatable;
        if class == Input::Host {
            self.note(0, &[], &[one]);
        }
        Ok(())
    }

    /// A value with memory of its own; worked on later unless it is large.
    fn root(&mut self, g: &Builder, value: Value, writable: bool) -> Result<Known> {
        self.roots.push(Root { writable, updatable: false, rewritten: false, uses: Vec::new() });
        self.view_of(g, value, self.roots.len() - 1)
    }

    fn view_of(&mut self, g: &Builder, value: Value, root: usize) -> Result<Known> {
        let one = Known { value, root, dtype: g.dtype(value)?, dims: g.dims(value)?.to_vec() };
        let most = |dim: &Dim| match dim.as_fixed() {
            Some(size) => size,
            None if self.symbols.contains(dim) => GREATEST,
            None => GREATEST * GREATEST,
        };
        if one.dims.len() <= 4 && one.dims.iter().map(most).product::<usize>() <= LARGEST {
            self.known.push(one.clone());
        }
        Ok(one)
    }

    /// A value, later ones more often.
    fn pick(&mut self) -> Known {
        let len = self.known.len();
        let index = self.dice.index(len).max(self.dice.index(len));
        self.known[index].clone()
    }

    fn pick_float(&mut self) -> Known {
        // There is one: some input is no index.
        loop {
            let one = self.pick();
            if one.is_float() {
                return one;
            }
        }
    }

    fn note(&mut self, tag: usize, reads: &[Known], writes: &[Known]) {
        reads.iter().for_each(|one| self.roots[one.root].uses.push((tag, false)));
        writes.iter().for_each(|one| self.roots[one.root].uses.push((tag, true)));
    }

    /// Makes `tag` wait for what work on these values depends on, for most of it at least.
    fn order(&mut self, g: &Builder, tag: usize, reads: &[Known], writes: &[Known]) -> Result<()> {
        let mut needed: Vec<usize> = Vec::new();
        let both = reads.iter().map(|one| (one, false)).chain(writes.iter().map(|one| (one, true)));
        for (one, write) in both {
            let uses = self.roots[one.root].uses.iter().filter(|(_, wrote)| *wrote || write);
            needed.extend(uses.map(|(from, _)| *from).filter(|from| *from != tag));
        }
        needed.sort_unstable();
        needed.dedup();
        // Values wait for what made them, not for what wrote them later in place.
        let written_once =
            !reads.is_empty() && writes.is_empty() && reads.iter().all(|one| !self.roots[one.root].rewritten);
        for from in needed {
            if self.dice.chance(self.style.careless) {
                continue;
            }
            match self.dice.below(10) {
                0..3 if g.join(&self.names[from]).is_ok() => {}
                3..6 if written_once => {
                    let values: Vec<_> = reads.iter().map(|one| one.value).collect();
                    g.wait_all(&values)?;
                }
                _ => {
                    let at_start = Scope::new().fork(Fork::AtStart);
                    g.scope_with(&self.names[from], at_start, |g| g.rerecord(&self.marks[from]))?;
                    g.wait(&self.marks[from])?;
                }
            }
        }
        Ok(())
    }

    fn prefetch(&mut self, g: &Builder) {
        let (one, dependency) = (self.pick(), self.pick());
        let after = if self.dice.chance(500) { After::Start } else { After::Value(dependency.value) };
        if !self.roots[one.root].updatable {
            // Refused for some views.
            let _ = g.prefetch(one.value, Prefetch::all(), after);
        }
    }

    fn end(&mut self, g: &Builder) -> Result<()> {
        for index in 0..1 + self.dice.below(4) {
            let one = self.pick();
            self.output(g, &format!("y{index}"), one)?;
        }
        for root in 0..self.roots.len() {
            if self.dice.chance(self.style.outputs)
                && let Some(one) = self.known.iter().find(|one| one.root == root).cloned()
            {
                self.output(g, &format!("memory {root}"), one)?;
            }
        }
        Ok(())
    }

    fn output(&mut self, g: &Builder, name: &str, one: Known) -> Result<()> {
        if self.roots[one.root].updatable {
            return Ok(());
        }
        self.order(g, 0, std::slice::from_ref(&one), &[])?;
        if self.dice.chance(300) {
            g.output_to_host(name, one.value)?;
        } else {
            g.output(name, one.value)?;
        }
        self.recorded.outputs.push((name.to_owned(), one.dtype));
        self.note(0, &[one], &[]);
        Ok(())
    }
}
