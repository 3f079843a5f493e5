//! A recorded plan, whether the checks accept it or not, and all that its runs write.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Result;
use crate::plan::Options;
use crate::plan::builder::tests::api::{Builder, Foreign};
use crate::plan::builder::tests::generate::{self, Spread, Style, mix};
use crate::plan::check;
use crate::plan::check::finding::{Finding, FindingKind};
use crate::plan::memory::{self, MemoryPlan};
use crate::plan::order::Order;
use crate::plan::recipe::function::Body;
use crate::plan::recipe::uses::Uses;
use crate::plan::recipe::{NodeKind, Recipe};
use crate::plan::simulate::{Machine, Memory, Written, on_device};

pub(super) struct Bench {
    pub(super) seed: u64,
    pub(super) recipe: Recipe,
    pub(super) planned: MemoryPlan,
    pub(super) findings: Vec<Finding>,
    bodies: Vec<Body>,
    /// Part of every operator's number: another one gives other bytes everywhere.
    pub(super) salt: Arc<AtomicU64>,
    inputs: Vec<Vec<u8>>,
    /// Of each value, the places of its bytes in its storage.
    places: Vec<Vec<usize>>,
}

/// Everything that a run has written so far.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Log {
    /// For each byte of each storage, a hash of all values that it was given, in the order of time.
    bytes: Vec<Vec<u64>>,
    /// For each node, a hash of what it wrote.
    nodes: Vec<u64>,
}

impl Log {
    /// The same without the numbers of the nodes, to compare plans with the same work.
    pub(super) fn in_order(&self) -> (&[Vec<u64>], Vec<u64>) {
        (&self.bytes, self.nodes.iter().copied().filter(|hash| *hash != 0).collect())
    }

    pub(super) fn digest(&self) -> u64 {
        let numbers = self.bytes.iter().flatten().chain(&self.nodes);
        numbers.fold(0, |state, number| mix(state ^ number).wrapping_add(1))
    }
}

/// A run and what it wrote.
#[derive(Clone)]
pub(super) struct Run<'a> {
    bench: &'a Bench,
    pub(super) machine: Machine<'a>,
    pub(super) log: Log,
}

impl Bench {
    pub(super) fn new(seed: u64, style: &Style) -> Self {
        Self::with(seed, style, Options::new())
    }

    pub(super) fn with(seed: u64, style: &Style, options: Options) -> Self {
        let salt = Arc::new(AtomicU64::new(0));
        let make = |index: u32, _: &[Spread], _: &[Spread]| {
            let salt = Arc::clone(&salt);
            Foreign::new(format!("f{index}"), 1, |_| Ok(())).simulated(move |reads, writes| {
                generate::compute(u64::from(index) + mix(salt.load(Ordering::Relaxed)), reads, writes);
            })
        };
        let builder = Builder::new(options);
        let recorded = generate::record(&builder, seed, style, &make).unwrap();
        let built = builder.finish().unwrap();
        let recipe = built.recipe;
        let order = Order::of(&recipe).unwrap_or_else(|broken| panic!("{}", check::broken(&recipe, broken)));
        let uses = Uses::of(&recipe);
        let findings = check::check(&recipe, &order, &uses);
        let planned = memory::plan(&recipe, &order, &uses).unwrap();
        let inputs =
            recorded.inputs.iter().enumerate().map(|(index, made)| generate::input_bytes(seed, index, made.bytes()));
        let inputs = inputs.collect();
        let places = (0..recipe.values.len() as u32).map(|value| places(&recipe, value)).collect();
        Self { seed, planned, findings, bodies: built.bodies, salt, inputs, places, recipe }
    }

    /// The pairs that the checks report.
    pub(super) fn reported(&self) -> Vec<[u32; 2]> {
        let races = self.findings.iter().filter(|finding| finding.kind == FindingKind::UnorderedAccess);
        let mut pairs: Vec<[u32; 2]> = races.map(|finding| finding.positions[..].try_into().unwrap()).collect();
        pairs.sort_unstable();
        pairs
    }

    pub(super) fn start(&self, poison: u64) -> Run<'_> {
        let inputs = on_device(&self.recipe, &self.inputs);
        let memory = Memory::new(&self.recipe, &self.planned, &inputs, poison).unwrap();
        let machine = Machine::new(&self.recipe, &self.bodies, memory, self.inputs.clone());
        let sizes = self.recipe.storages.iter().map(|storage| storage.bytes.as_fixed().unwrap() as usize);
        let log = Log { bytes: sizes.map(|size| vec![0; size]).collect(), nodes: vec![0; self.recipe.nodes.len()] };
        Run { bench: self, machine, log }
    }

    /// What a whole run writes.
    pub(super) fn run(&self, poison: u64, mut choose: impl FnMut(&[u32]) -> usize) -> Log {
        let mut run = self.start(poison);
        loop {
            let ready = run.machine.ready();
            if ready.is_empty() {
                break;
            }
            run.step(ready[choose(&ready)]);
        }
        assert!(run.machine.is_done(), "{}", self.show());
        run.log
    }

    /// Whether a node does nothing but order others.
    pub(super) fn orders(&self, node: u32) -> bool {
        let kind = self.recipe.nodes[node as usize].kind;
        matches!(kind, NodeKind::Record(_) | NodeKind::Wait(_) | NodeKind::Prefetch(_))
    }

    /// All that can be read about the plan, for the message of a failed assertion.
    pub(super) fn show(&self) -> String {
        let mut text = format!("seed {}\n", self.seed);
        for (index, node) in self.recipe.nodes.iter().enumerate() {
            text += &self.recipe.describe(index as u32);
            for access in self.recipe.accesses_of(node) {
                let (storage, bytes) =
                    (self.recipe.storage_of(access.value), super::brute::bytes_of(&self.recipe, access.value));
                text += &format!(" {:?} {storage}:{bytes:#x}", access.mode);
            }
            text += "\n";
        }
        self.findings.iter().for_each(|finding| text += &format!("found: {finding}\n"));
        text
    }
}

impl Run<'_> {
    pub(super) fn step(&mut self, node: u32) {
        let (recipe, places, log) = (&self.bench.recipe, &self.bench.places, &mut self.log);
        let mut watch = |written: Written<'_>| {
            let slot = &mut log.nodes[written.node as usize];
            *slot = generate::hash(*slot, written.bytes);
            if matches!(recipe.nodes[written.node as usize].kind, NodeKind::Download(_)) {
                return;
            }
            let bytes = &mut log.bytes[recipe.storage_of(written.value) as usize];
            for (place, byte) in places[written.value as usize].iter().zip(written.bytes) {
                bytes[*place] = mix(bytes[*place].rotate_left(9) ^ (u64::from(*byte) + 1));
            }
        };
        let stepped: Result<()> = self.machine.step(node, &mut watch);
        stepped.unwrap();
    }

    /// Does all that orders work and can go on. It changes no memory and never keeps anything else from going on, so
    /// doing it at once leaves all orders of the other nodes possible.
    fn settle(&mut self) -> Vec<u32> {
        loop {
            let ready = self.machine.ready();
            let (orders, work): (Vec<u32>, Vec<u32>) = ready.into_iter().partition(|node| self.bench.orders(*node));
            if orders.is_empty() {
                return work;
            }
            orders.into_iter().for_each(|node| self.step(node));
        }
    }
}

/// Places of a value's bytes in its storage, in the order of its elements.
fn places(recipe: &Recipe, value: u32) -> Vec<usize> {
    let (info, layout) = (&recipe.values[value as usize], recipe.layout_of(value));
    let mut starts = vec![0];
    for (dim, stride) in layout.dims.iter().zip(&layout.strides) {
        let (count, step) = (dim.as_fixed().unwrap(), stride.as_fixed().unwrap() as usize);
        starts = starts.iter().flat_map(|start| (0..count).map(move |i| start + i * step)).collect();
    }
    let (size, offset) = (layout.dtype.size(), info.offset.as_fixed().unwrap() as usize);
    starts.iter().flat_map(|start| (0..size).map(move |byte| offset + start * size + byte)).collect()
}

/// Whether all legal interleavings write the same, and what they write then.
///
/// Interleavings that have done the same nodes go on in the same ways, and what was written stays in the log. So all
/// logs are equal exactly if, for each set of nodes that can be done, all ways there have written the same: it is
/// enough to go on from each set once.
pub(super) fn all_agree(bench: &Bench, poison: u64) -> Option<u64> {
    let mut start = bench.start(poison);
    start.settle();
    let mut known: HashMap<Vec<usize>, u64> = HashMap::new();
    let mut open = vec![start];
    let mut last = None;
    while let Some(mut run) = open.pop() {
        let work = run.settle();
        if work.is_empty() {
            last = Some(run.log.digest());
        }
        for node in work {
            let mut next = run.clone();
            next.step(node);
            next.settle();
            let digest = next.log.digest();
            match known.insert(next.machine.progress().to_vec(), digest) {
                Some(other) if other != digest => return None,
                Some(_) => {}
                None => open.push(next),
            }
        }
    }
    assert!(last.is_some(), "no interleaving ends\n{}", bench.show());
    last
}

/// The same by going through every interleaving to its end; nothing when there are more than `most`.
pub(super) fn all_agree_one_by_one(bench: &Bench, poison: u64, most: usize) -> Option<bool> {
    let mut logs = Vec::new();
    let mut open = vec![bench.start(poison)];
    while let Some(mut run) = open.pop() {
        let work = run.settle();
        if work.is_empty() {
            logs.push(run.log.digest());
        }
        if logs.len() > most {
            return None;
        }
        for node in work {
            let mut next = run.clone();
            next.step(node);
            open.push(next);
        }
    }
    Some(logs.windows(2).all(|two| two[0] == two[1]))
}
