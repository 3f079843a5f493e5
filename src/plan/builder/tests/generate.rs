//! Random plans, through the public interface alone: unit tests and integration tests compile this file alike, each
//! with a module `api` of the names that it needs.

use super::api::{After, Builder, DataType, Foreign, Fork, Input, Prefetch, Result, Scope, TaggedEvent, Value};

/// What the plans look like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// Most foreign operators.
    pub(crate) operators: u32,
    /// Most streams beside the origin.
    pub(crate) tags: u32,
    /// How many of 1000 dependencies between streams are left without an event.
    pub(crate) careless: u32,
    /// Whether there are prefetches, which have a stream of their own.
    pub(crate) prefetches: bool,
    /// How many of 1000 pieces of memory are outputs, beside the few values that always are.
    pub(crate) outputs: u32,
}

/// SplitMix64.
#[derive(Debug, Clone)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        (((self.next() >> 32) * u64::from(end)) >> 32) as u32
    }

    pub(crate) fn chance(&mut self, of_1000: u32) -> bool {
        self.below(1000) < of_1000
    }

    pub(crate) fn index(&mut self, len: usize) -> usize {
        self.below(len as u32) as usize
    }
}

pub(crate) fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number that depends on every byte.
pub(crate) fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let mut state = mix(seed ^ bytes.len() as u64);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = mix(state.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    }
    state
}

/// What every operator computes: bytes that depend on its number and on all that it reads.
pub(crate) fn compute(number: u64, reads: &[Vec<u8>], writes: &mut [Vec<u8>]) {
    let state = reads.iter().fold(mix(number), |state, read| hash(state, read));
    for (index, write) in writes.iter_mut().enumerate() {
        let mut dice = Dice(state.wrapping_add(mix(index as u64 + 1)));
        for chunk in write.chunks_mut(8) {
            chunk.copy_from_slice(&dice.next().to_le_bytes()[..chunk.len()]);
        }
    }
}

/// What a recorded plan takes and gives.
#[allow(dead_code, reason = "not every user runs the plan")]
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) inputs: Vec<Made>,
    pub(crate) outputs: Vec<(String, DataType)>,
}

/// An input of a recorded plan.
#[derive(Debug, Clone)]
#[allow(dead_code, reason = "not every user runs the plan")]
pub(crate) struct Made {
    pub(crate) name: String,
    pub(crate) class: Input,
    pub(crate) dtype: DataType,
    pub(crate) dims: Vec<usize>,
}

impl Made {
    pub(crate) fn bytes(&self) -> usize {
        self.dims.iter().product::<usize>() * self.dtype.size()
    }
}

/// Where the elements of a value lie, from its first one.
#[derive(Debug, Clone)]
pub(crate) struct Spread {
    pub(crate) dims: Vec<usize>,
    /// In bytes.
    pub(crate) strides: Vec<usize>,
    pub(crate) element: usize,
}

impl Spread {
    /// The first bytes of the elements, in their order.
    pub(crate) fn starts(&self) -> Vec<usize> {
        let mut starts = vec![0];
        for (dim, stride) in self.dims.iter().zip(&self.strides) {
            starts = starts.iter().flat_map(|start| (0..*dim).map(move |i| start + i * stride)).collect();
        }
        starts
    }
}

/// Gives the operator of a number, which reads and writes memory of these forms.
pub(crate) type Make<'a> = &'a dyn Fn(u32, &[Spread], &[Spread]) -> Foreign;

/// Records the plan of a seed.
pub(crate) fn record(g: &Builder, seed: u64, style: &Style, make: Make<'_>) -> Result<Recorded> {
    let mut dice = Dice(seed);
    let tags = dice.below(style.tags + 1) as usize;
    let operators = 1 + dice.below(style.operators);
    let mut writer = Writer {
        dice,
        make,
        careless: style.careless,
        prefetches: style.prefetches,
        outputs: style.outputs,
        names: std::iter::once("origin".to_owned()).chain((1..=tags).map(|tag| format!("s{tag}"))).collect(),
        marks: Vec::new(),
        events: Vec::new(),
        roots: Vec::new(),
        known: Vec::new(),
        recorded: Recorded::default(),
        operators: 0,
    };
    writer.begin(g)?;
    while writer.operators < operators {
        writer.scope(g, 0, operators)?;
    }
    writer.end(g)?;
    Ok(writer.recorded)
}

/// The input of a seed and an index, for an input of so many bytes.
pub(crate) fn input_bytes(seed: u64, index: usize, len: usize) -> Vec<u8> {
    let mut bytes = [vec![0; len]];
    compute(mix(seed).wrapping_add(index as u64), &[], &mut bytes);
    let [bytes] = bytes;
    bytes
}

/// A piece of memory of at most 128 bytes, and what has touched it: stream, bytes as bits, whether it wrote.
struct Root {
    writable: bool,
    uses: Vec<(usize, u128, bool)>,
}

#[derive(Clone)]
struct Known {
    value: Value,
    root: usize,
    offset: usize,
    spread: Spread,
}

impl Known {
    fn dense(value: Value, root: usize, dims: Vec<usize>, element: usize) -> Self {
        let mut strides = vec![element; dims.len()];
        (1..dims.len()).rev().for_each(|dim| strides[dim - 1] = strides[dim] * dims[dim]);
        Self { value, root, offset: 0, spread: Spread { dims, strides, element } }
    }

    fn bits(&self) -> u128 {
        let element = (1_u128 << self.spread.element) - 1;
        self.spread.starts().iter().fold(0, |bits, start| bits | element << (self.offset + start))
    }
}

struct Writer<'a> {
    dice: Dice,
    make: Make<'a>,
    careless: u32,
    prefetches: bool,
    outputs: u32,
    names: Vec<String>,
    /// An event for each stream, to mark what it has come to.
    marks: Vec<TaggedEvent>,
    /// Events that mean nothing in particular.
    events: Vec<(TaggedEvent, bool)>,
    roots: Vec<Root>,
    known: Vec<Known>,
    recorded: Recorded,
    operators: u32,
}

impl Writer<'_> {
    fn begin(&mut self, g: &Builder) -> Result<()> {
        for name in &self.names {
            self.marks.push(g.event(&format!("mark of {name}"))?);
        }
        for index in 0..self.dice.below(3) {
            self.events.push((g.event(&format!("event {index}"))?, false));
        }
        let classes = [Input::Frozen, Input::Static, Input::Copied, Input::Host];
        for index in 0..self.dice.below(4) {
            let class = classes[self.dice.index(classes.len())];
            let (dims, dtype) = self.shape();
            let name = format!("x{index}");
            let value = g.input(&name, dims.as_slice(), dtype, class)?;
            self.recorded.inputs.push(Made { name, class, dtype, dims: dims.clone() });
            let root = self.root(class != Input::Frozen);
            self.known.push(Known::dense(value, root, dims, dtype.size()));
            if class == Input::Host {
                let one = self.known.last().cloned();
                self.note(0, &[], one.as_slice());
            }
        }
        if self.dice.chance(400) {
            self.share(g)?;
        }
        Ok(())
    }

    /// One memory of which most work takes small pieces and columns.
    fn share(&mut self, g: &Builder) -> Result<()> {
        let value = g.input("shared", [8, 16], DataType::U8, Input::Static)?;
        let (name, dims) = ("shared".to_owned(), vec![8, 16]);
        self.recorded.inputs.push(Made { name, class: Input::Static, dtype: DataType::U8, dims });
        let whole = Known::dense(value, self.root(true), vec![8, 16], 1);
        self.known.push(whole.clone());
        for _ in 0..6 {
            let (row, column) = (self.dice.index(8), self.dice.index(16));
            let (rows, columns) = (1 + self.dice.index(8 - row), 1 + self.dice.index((16 - column).min(4)));
            let value = g.narrow(whole.value, 0, row..row + rows)?;
            let value = g.narrow(value, 1, column..column + columns)?;
            let spread = Spread { dims: vec![rows, columns], ..whole.spread.clone() };
            self.known.push(Known { value, offset: row * 16 + column, spread, ..whole });
        }
        Ok(())
    }

    fn end(&mut self, g: &Builder) -> Result<()> {
        for index in 0..1 + self.dice.below(3) {
            let one = self.pick();
            self.order(g, 0, std::slice::from_ref(&one), &[])?;
            let name = format!("y{index}");
            if self.dice.chance(300) {
                g.output_to_host(&name, one.value)?;
            } else {
                g.output(&name, one.value)?;
            }
            self.recorded.outputs.push((name, g.dtype(one.value)?));
            self.note(0, &[one], &[]);
        }
        self.all_memory(g)
    }

    /// Makes most pieces of memory outputs, as they are at the end.
    fn all_memory(&mut self, g: &Builder) -> Result<()> {
        for root in 0..self.roots.len() {
            if self.outputs == 0 || !self.dice.chance(self.outputs) {
                continue;
            }
            // The first value of each is all of it.
            let Some(one) = self.known.iter().find(|one| one.root == root).cloned() else { continue };
            self.order(g, 0, std::slice::from_ref(&one), &[])?;
            let name = format!("memory {root}");
            g.output(&name, one.value)?;
            self.recorded.outputs.push((name, g.dtype(one.value)?));
            self.note(0, &[one], &[]);
        }
        Ok(())
    }

    fn root(&mut self, writable: bool) -> usize {
        self.roots.push(Root { writable, uses: Vec::new() });
        self.roots.len() - 1
    }

    fn pick(&mut self) -> Known {
        // Later values more often, so that work gets deep.
        let len = self.known.len();
        let index = self.dice.index(len).max(self.dice.index(len));
        self.known[index].clone()
    }

    fn shape(&mut self) -> (Vec<usize>, DataType) {
        let dtype = [DataType::U8, DataType::U8, DataType::I16, DataType::F32][self.dice.index(4)];
        let dims = match self.dice.below(3) {
            0 => vec![1 + self.dice.index(16)],
            1 => vec![1 + self.dice.index(4), 1 + self.dice.index(6)],
            _ => vec![1 + self.dice.index(3), 1 + self.dice.index(3), 1 + self.dice.index(3)],
        };
        (dims, dtype)
    }

    /// A few statements on one stream.
    fn block(&mut self, g: &Builder, tag: usize, depth: u32, operators: u32) -> Result<()> {
        for _ in 0..1 + self.dice.below(4) {
            if self.operators >= operators {
                return Ok(());
            }
            match self.dice.below(if depth < 3 { 100 } else { 80 }) {
                0..46 => self.operator(g, tag)?,
                46..58 => self.view(g)?,
                58..61 => self.stray_event(g),
                61..64 => self.wait_value(g)?,
                64..66 => self.reserve(g),
                66..69 => self.prefetch(g),
                69..72 => {
                    let index = self.dice.index(self.names.len());
                    // Refused without work to join: then nothing changes.
                    let _ = g.join(&self.names[index]);
                }
                72..80 => {}
                _ => self.scope(g, depth, operators)?,
            }
        }
        Ok(())
    }

    fn scope(&mut self, g: &Builder, depth: u32, operators: u32) -> Result<()> {
        let inner = self.dice.index(self.names.len());
        let fork = if self.dice.chance(150) { Fork::Here } else { Fork::AtStart };
        let name = self.names[inner].clone();
        g.scope_with(&name, Scope::new().fork(fork), |g| self.block(g, inner, depth + 1, operators))
    }

    fn operator(&mut self, g: &Builder, tag: usize) -> Result<()> {
        let mut reads = Vec::new();
        if !self.known.is_empty() {
            reads = (0..self.dice.below(4)).map(|_| self.pick()).collect();
        }
        let mut writes = Vec::new();
        for _ in 0..self.dice.below(3) {
            if self.known.is_empty() || !self.dice.chance(450) {
                continue;
            }
            let one = self.pick();
            if self.roots[one.root].writable {
                writes.push(one);
            }
        }
        if self.dice.chance(200) {
            // In place, in the proper sense.
            reads.extend(writes.first().cloned());
        }
        self.order(g, tag, &reads, &writes)?;
        // Each writes something, so that a log shows what it has read.
        if writes.iter().all(|one| one.spread.dims.contains(&0)) || self.dice.chance(300) {
            let (dims, dtype) = self.shape();
            let (value, root) = (g.empty(dims.as_slice(), dtype)?, self.root(true));
            let one = Known::dense(value, root, dims, dtype.size());
            self.known.push(one.clone());
            writes.push(one);
        }
        let spreads = |all: &[Known]| all.iter().map(|one| one.spread.clone()).collect::<Vec<_>>();
        let operator = (self.make)(self.operators, &spreads(&reads), &spreads(&writes));
        self.operators += 1;
        let values = |all: &[Known]| all.iter().map(|one| one.value).collect::<Vec<_>>();
        g.foreign(&operator, &values(&reads), &values(&writes))?;
        self.note(tag, &reads, &writes);
        Ok(())
    }

    fn note(&mut self, tag: usize, reads: &[Known], writes: &[Known]) {
        let both = [(reads, false), (writes, true)];
        for (one, wrote) in both.iter().flat_map(|(all, wrote)| all.iter().map(move |one| (one, *wrote))) {
            self.roots[one.root].uses.push((tag, one.bits(), wrote));
        }
    }

    /// Makes `tag` wait for what work on these values depends on, for most of it at least.
    fn order(&mut self, g: &Builder, tag: usize, reads: &[Known], writes: &[Known]) -> Result<()> {
        let mut needed = Vec::new();
        let both = [(reads, false), (writes, true)];
        for (one, write) in both.iter().flat_map(|(all, write)| all.iter().map(move |one| (one, *write))) {
            let bits = one.bits();
            let uses = self.roots[one.root].uses.iter();
            let conflicts = uses.filter(|(_, used, wrote)| used & bits != 0 && (*wrote || write));
            conflicts.for_each(|(tag, ..)| add(&mut needed, *tag));
        }
        for from in needed.into_iter().filter(|from| *from != tag) {
            if self.dice.chance(self.careless) {
                continue;
            }
            match self.dice.below(10) {
                0 if g.join(&self.names[from]).is_ok() => {}
                1 if !reads.is_empty() && writes.is_empty() => {
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

    fn view(&mut self, g: &Builder) -> Result<()> {
        if self.known.is_empty() {
            return Ok(());
        }
        let mut one = self.pick();
        let dim = self.dice.index(one.spread.dims.len());
        match self.dice.below(8) {
            0 => {
                let other = self.dice.index(one.spread.dims.len());
                one.value = g.transpose(one.value, dim, other)?;
                one.spread.dims.swap(dim, other);
                one.spread.strides.swap(dim, other);
            }
            1 => {
                let elements = one.spread.dims.iter().product();
                let Ok(value) = g.reshape(one.value, [elements]) else { return Ok(()) };
                one =
                    Known { offset: one.offset, ..Known::dense(value, one.root, vec![elements], one.spread.element) };
            }
            2..4 => {
                let (start, end) = self.range(one.spread.dims.iter().product::<usize>() * one.spread.element);
                let Ok(value) = g.bytes(one.value, start..end) else { return Ok(()) };
                let offset = one.offset + start;
                one = Known { offset, ..Known::dense(value, one.root, vec![end - start], 1) };
            }
            _ => {
                let (start, end) = self.range(one.spread.dims[dim]);
                one.value = g.narrow(one.value, dim, start..end)?;
                one.spread.dims[dim] = end - start;
                one.offset += start * one.spread.strides[dim];
            }
        }
        self.known.push(one);
        Ok(())
    }

    /// A part of `len`; seldom an empty one.
    fn range(&mut self, len: usize) -> (usize, usize) {
        let (a, b) = (self.dice.index(len + 1), self.dice.index(len + 1));
        match a.cmp(&b) {
            std::cmp::Ordering::Equal if !self.dice.chance(100) => (0, len),
            _ => (a.min(b), a.max(b)),
        }
    }

    fn stray_event(&mut self, g: &Builder) {
        if self.events.is_empty() {
            return;
        }
        let index = self.dice.index(self.events.len());
        let (event, recorded) = &mut self.events[index];
        let done = match (*recorded, self.dice.below(3)) {
            (false, _) => g.record(event),
            (true, 0) => g.rerecord(event),
            (true, _) => g.wait(event),
        };
        *recorded |= done.is_ok();
    }

    fn wait_value(&mut self, g: &Builder) -> Result<()> {
        if self.known.is_empty() {
            return Ok(());
        }
        let (from, dependency) = (self.pick(), self.pick());
        let value = g.wait_value(from.value, dependency.value)?;
        self.known.push(Known { value, ..from });
        Ok(())
    }

    fn reserve(&mut self, g: &Builder) {
        if self.known.is_empty() {
            return;
        }
        let (one, tag) = (self.pick(), self.dice.index(self.names.len()));
        // Refused for a tag that no scope has used yet.
        let _ = g.record_stream(one.value, &self.names[tag]);
    }

    fn prefetch(&mut self, g: &Builder) {
        if self.known.is_empty() || !self.prefetches {
            return;
        }
        let (one, dependency) = (self.pick(), self.pick());
        let after = match (self.dice.below(3), self.events.first()) {
            (0, _) => After::Value(dependency.value),
            (1, Some((event, true))) => After::Event(event),
            _ => After::Start,
        };
        // Refused for an empty value.
        let _ = g.prefetch(one.value, Prefetch::all(), after);
    }
}

fn add(all: &mut Vec<usize>, one: usize) {
    if !all.contains(&one) {
        all.push(one);
    }
}
