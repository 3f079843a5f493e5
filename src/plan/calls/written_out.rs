//! A plan with its calls written out: what executors, simulations and pictures work with.

use std::collections::HashMap;

use crate::plan::recipe::callable::{CallInfo, Callee};
use crate::plan::recipe::function::Body;
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::recipe::quantity::Later;
use crate::plan::recipe::{
    Access, FunctionInfo, Node, NodeKind, ORIGIN, Ordered, Recipe, Storage, StorageKind, Tag, ValueInfo,
};
use crate::plan::symbols::dim::Dim;

use super::sizes;

/// The recipe with the work of each call in its place, and the code of its functions. Inputs, outputs, values,
/// storages, symbols and gates of the recipe keep their numbers; nodes and events of calls come between its own.
pub(crate) fn written_out(recipe: &Recipe, bodies: &[Body]) -> (Recipe, Vec<Body>) {
    let mut writing = Writing::new(recipe, bodies);
    for node in &recipe.nodes {
        writing.node(node);
    }
    writing.finish()
}

/// Every size has a number: calls are checked before they are part of a plan.
const CHECKED: &str = "the sizes of a call are checked when it is recorded or read";

struct Writing<'a> {
    recipe: &'a Recipe,
    new: Recipe,
    bodies: Vec<Body>,
    layouts: HashMap<Layout, u32>,
    tags: HashMap<String, u16>,
    callees: Vec<Option<Shared>>,
    calls: Vec<Option<Sized>>,
    /// Where the last work of each node is.
    ends: Vec<u32>,
    /// What the next work is asked to come after.
    ordered: Ordered,
}

/// What all calls of a plan have in common.
struct Shared {
    cores: Vec<u16>,
    /// The first of its places.
    places: u32,
    /// The storage of each constant.
    constants: Vec<u32>,
}

/// What all calls with the same sizes have in common.
struct Sized {
    /// Of its streams but for the origin, which is the stream of each call.
    tags: Vec<u16>,
    layouts: Vec<u32>,
    /// The first of its functions.
    functions: u32,
    bytes: Vec<Extent>,
    offsets: Vec<Extent>,
}

/// Memory that stands for an input or an output: a storage, and where in it.
type Place = (u32, Extent);

impl<'a> Writing<'a> {
    fn new(recipe: &'a Recipe, bodies: &[Body]) -> Self {
        let new = Recipe {
            nodes: Vec::with_capacity(recipe.nodes.len()),
            accesses: Vec::with_capacity(recipe.accesses.len()),
            reserved: Vec::new(),
            called: Vec::new(),
            calls: Vec::new(),
            ..recipe.clone()
        };
        let layouts = recipe.layouts.iter().cloned().zip(0..).collect();
        let tags = recipe.tags.iter().map(|tag| tag.name.clone()).zip(0..).collect();
        Self {
            recipe,
            new,
            bodies: bodies.to_vec(),
            layouts,
            tags,
            callees: recipe.called.iter().map(|_| None).collect(),
            calls: recipe.calls.iter().map(|_| None).collect(),
            ends: Vec::with_capacity(recipe.nodes.len()),
            ordered: Ordered::Nothing,
        }
    }

    fn node(&mut self, node: &Node) {
        let accesses = self.recipe.accesses_of(node);
        let (first, ordered) = (self.new.nodes.len(), self.ordered.max(node.ordered));
        match node.kind {
            NodeKind::Call(call) => self.call(call as usize, node, accesses),
            kind => self.push(Node { kind, ..*node }, accesses.iter().copied()),
        }
        // A plan that is called and does nothing leaves it to what comes next.
        self.ordered = ordered;
        if let Some(first) = self.new.nodes.get_mut(first) {
            first.ordered = first.ordered.max(std::mem::take(&mut self.ordered));
        }
        self.ends.push((self.new.nodes.len() as u32).saturating_sub(1));
    }

    fn push(&mut self, node: Node, accesses: impl Iterator<Item = Access>) {
        let first = self.new.accesses.len();
        self.new.accesses.extend(accesses);
        let count = (self.new.accesses.len() - first) as u16;
        self.new.nodes.push(Node { first: first as u32, count, ..node });
    }

    fn call(&mut self, call: usize, node: &Node, accesses: &[Access]) {
        let recipe = self.recipe;
        let info = &recipe.calls[call];
        let (index, callee) = (info.callee as usize, &recipe.called[info.callee as usize]);
        let (body, code) = callee.0.written_out();
        let shared = match self.callees[index].take() {
            Some(shared) => shared,
            None => self.share(callee),
        };
        let sized = match self.calls[call].take() {
            Some(sized) => sized,
            None => self.size(body, code, info),
        };
        let place = |access: &Access| {
            let value = &recipe.values[access.value as usize];
            (value.storage, value.offset.clone())
        };
        let (operands, results) = accesses.split_at(body.inputs.len());
        let mut from: Vec<Place> = operands.iter().map(place).collect();
        for step in 1..=info.times {
            let to: Vec<Place> = match step == info.times {
                true => results.iter().map(place).collect(),
                false => body.outputs.iter().map(|output| self.between(body, &sized, output.value)).collect(),
            };
            Once { body, info, shared: &shared, sized: &sized, node, from: &from, to: &to }.write(&mut self.new);
            for (from, to) in from.iter_mut().zip(to).take(usize::from(info.carried)) {
                *from = to;
            }
        }
        self.callees[index] = Some(shared);
        self.calls[call] = Some(sized);
    }

    /// Memory for a result that the next time takes.
    fn between(&mut self, body: &Recipe, sized: &Sized, value: u32) -> Place {
        let bytes = sized.bytes[body.storage_of(value) as usize].clone();
        self.new.storages.push(Storage { kind: StorageKind::Temporary, bytes });
        (self.new.storages.len() as u32 - 1, Extent::Fixed(0))
    }

    fn share(&mut self, callee: &Callee) -> Shared {
        let (body, new) = (callee.0.written_out().0, &mut self.new);
        let mut cores = Vec::with_capacity(body.cores.len());
        for limit in &body.cores {
            let index = new.cores.iter().position(|known| known == limit).unwrap_or(new.cores.len());
            if index == new.cores.len() {
                new.cores.push(*limit);
            }
            cores.push(index as u16 + 1);
        }
        let (files, places) = (new.places.files.len() as u32, new.places.all.len() as u32);
        new.places.files.extend(body.places.files.iter().cloned());
        new.places.all.extend(body.places.all.iter().map(|(file, line, column)| (files + file, *line, *column)));
        let mut constants = vec![0; body.constants.len()];
        for storage in &body.storages {
            let StorageKind::Constant(constant) = storage.kind else { continue };
            constants[constant as usize] = new.storages.len() as u32;
            let kind = StorageKind::Constant(new.constants.len() as u32 + constant);
            new.storages.push(Storage { kind, bytes: storage.bytes.clone() });
        }
        new.constants.extend(body.constants.iter().cloned());
        Shared { cores, places, constants }
    }

    fn size(&mut self, body: &Recipe, code: &[Body], info: &CallInfo) -> Sized {
        let (by, tags) = (&info.symbols[..], if info.collapsed { Vec::new() } else { self.tags_of(body) });
        let new = &mut self.new;
        let mut layout = |layout: &Layout| {
            let layout = sizes::layout(layout, by).expect(CHECKED);
            *self.layouts.entry(layout).or_insert_with_key(|layout| {
                new.layouts.push(layout.clone());
                new.layouts.len() as u32 - 1
            })
        };
        let layouts = body.layouts.iter().map(&mut layout).collect();
        // The code of each stands at the same number.
        let functions = new.functions.len() as u32;
        new.functions.extend(body.functions.iter().map(|info| self.recipe.function_told(info, by)));
        self.bodies.extend(code.iter().cloned());
        let extent = |size: &Extent| sizes::extent(size, by).expect(CHECKED);
        Sized {
            tags,
            layouts,
            functions,
            bytes: body.storages.iter().map(|storage| extent(&storage.bytes)).collect(),
            offsets: body.values.iter().map(|value| extent(&value.offset)).collect(),
        }
    }

    /// Its streams but for the origin, by name.
    fn tags_of(&mut self, body: &Recipe) -> Vec<u16> {
        let new = &mut self.new;
        let tag = |one: &Tag| {
            *self.tags.entry(one.name.clone()).or_insert_with(|| {
                new.tags.push(one.clone());
                new.tags.len() as u16 - 1
            })
        };
        body.tags.iter().skip(1).map(tag).collect()
    }

    fn finish(mut self) -> (Recipe, Vec<Body>) {
        let count = self.new.nodes.len() as u32;
        let own = self.recipe.reserved.iter().map(|(storage, node)| (*storage, self.ends[*node as usize]));
        self.new.reserved.extend(own.filter(|(_, node)| *node < count));
        self.new.shrink();
        (self.new, self.bodies)
    }
}

impl Recipe {
    /// A function of a plan that this one calls, with `by` in place of the symbols in what it is told.
    fn function_told(&self, info: &FunctionInfo, by: &[Dim]) -> FunctionInfo {
        let of_each_run = |size: Dim| {
            let powers = size.parts().2;
            self.symbols.iter().zip(powers).any(|(symbol, power)| power != 0 && symbol.each_run)
        };
        let told = |later: &Later| {
            let numbers: Vec<_> = later.numbers.iter().map(|one| sizes::number(one, by).expect(CHECKED)).collect();
            let each_run = numbers.iter().filter_map(|number| number.size()).any(of_each_run);
            Later { parameter: later.parameter.clone(), numbers, each_run }
        };
        FunctionInfo { later: info.later.iter().map(told).collect(), ..info.clone() }
    }
}

/// One run of a plan within its caller.
struct Once<'a> {
    body: &'a Recipe,
    info: &'a CallInfo,
    shared: &'a Shared,
    sized: &'a Sized,
    /// The call.
    node: &'a Node,
    from: &'a [Place],
    to: &'a [Place],
}

impl Once<'_> {
    fn write(&self, new: &mut Recipe) {
        let body = self.body;
        let memory = self.memory(new);
        let values = new.values.len() as u32;
        for (value, offset) in body.values.iter().zip(&self.sized.offsets) {
            let (storage, start) = &memory[value.storage as usize];
            let offset = start.plus(offset).expect(CHECKED);
            new.values.push(ValueInfo {
                storage: *storage,
                layout: self.sized.layouts[value.layout as usize],
                offset,
            });
        }
        let events = new.events.len() as u32;
        new.events.extend(body.events.iter().cloned());
        let mut recorded = vec![ORIGIN; body.events.len()];
        let mut positions = Vec::with_capacity(body.nodes.len());
        for node in &body.nodes {
            let tag = self.tag(node.tag);
            if let NodeKind::Record(event) = node.kind {
                recorded[event as usize] = tag;
            }
            // A stream does not wait for itself, which two of the plan may be here.
            if !matches!(node.kind, NodeKind::Wait(event) if recorded[event as usize] == tag) {
                let first = new.accesses.len() as u32;
                let own = |access: &Access| Access { value: values + access.value, mode: access.mode };
                new.accesses.extend(body.accesses_of(node).iter().map(own));
                let cores = node.cores.checked_sub(1).map(|index| self.shared.cores[usize::from(index)]);
                let cores = cores.unwrap_or(self.node.cores);
                let place = self.shared.places + node.place;
                new.nodes.push(Node { kind: self.kind(node.kind, events), first, place, tag, cores, ..*node });
            }
            positions.push((new.nodes.len() as u32).saturating_sub(1));
        }
        let own = |(storage, node): &(u32, u32)| (memory[*storage as usize].0, positions[*node as usize]);
        new.reserved.extend(body.reserved.iter().map(own));
    }

    /// Where each storage is.
    fn memory(&self, new: &mut Recipe) -> Vec<Place> {
        let mut place = |(storage, bytes): (&Storage, &Extent)| match storage.kind {
            StorageKind::Input(input) => self.from[input as usize].clone(),
            StorageKind::Output(output) => self.to[output as usize].clone(),
            StorageKind::Constant(constant) => (self.shared.constants[constant as usize], Extent::Fixed(0)),
            StorageKind::Temporary => {
                new.storages.push(Storage { kind: StorageKind::Temporary, bytes: bytes.clone() });
                (new.storages.len() as u32 - 1, Extent::Fixed(0))
            }
        };
        self.body.storages.iter().zip(&self.sized.bytes).map(&mut place).collect()
    }

    fn tag(&self, tag: u16) -> u16 {
        if tag == ORIGIN || self.info.collapsed { self.node.tag } else { self.sized.tags[usize::from(tag) - 1] }
    }

    fn kind(&self, kind: NodeKind, events: u32) -> NodeKind {
        match kind {
            NodeKind::Foreign(function) => NodeKind::Foreign(self.sized.functions + function),
            NodeKind::Host(function) => NodeKind::Host(self.sized.functions + function),
            NodeKind::Record(event) => NodeKind::Record(events + event),
            NodeKind::Wait(event) => NodeKind::Wait(events + event),
            other => other,
        }
    }
}
