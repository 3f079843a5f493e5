//! A plan with its calls written out: what executors, simulations and pictures work with, and, but for choices, what
//! passes do.

use std::collections::HashMap;

use crate::plan::recipe::callable::CallInfo;
use crate::plan::recipe::function::Body;
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::recipe::quantity::Later;
use crate::plan::recipe::{
    Access, FunctionInfo, Node, NodeKind, Ordered, Recipe, Storage, StorageKind, Tag, ValueInfo,
};
use crate::plan::symbols::dim::Dim;

use super::params::{is_copied, is_moved};
use super::sizes;
use once::Once;

mod choices;
mod once;

/// The recipe with the work of each call in its place, and the code of its functions. Inputs, outputs, values,
/// storages, symbols and gates of the recipe keep their numbers; nodes and events of calls come between its own.
/// Choices have their arms between brackets.
pub(crate) fn written_out(recipe: &Recipe, bodies: &[Body]) -> (Recipe, Vec<Body>) {
    Writing::new(recipe, bodies, false).all()
}

/// The same with choices as they were recorded, one node each.
pub(crate) fn inlined(recipe: &Recipe, bodies: &[Body]) -> (Recipe, Vec<Body>) {
    Writing::new(recipe, bodies, true).all()
}

/// Where the work of each node begins there; none for a call of a plan without work.
pub(crate) fn begins(recipe: &Recipe, bodies: &[Body]) -> Vec<Option<u32>> {
    let mut writing = Writing::new(recipe, bodies, true);
    let nodes = recipe.nodes.iter().map(|node| {
        let first = writing.new.nodes.len();
        writing.node(node);
        (writing.new.nodes.len() > first).then_some(first as u32)
    });
    nodes.collect()
}

/// Every size has a number: calls are checked before they are part of a plan.
const CHECKED: &str = "the sizes of a call are checked when it is recorded or read";

/// What runs of a call have in common is known before the first of them is written.
const PREPARED: &str = "a call is prepared before it is written";

struct Writing<'a> {
    recipe: &'a Recipe,
    /// Whether choices stay one node.
    keeps: bool,
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
    /// The first of what its prefetches ask for.
    prefetches: u32,
    /// Its choices, where they stay.
    choices: Vec<u32>,
    bytes: Vec<Extent>,
    offsets: Vec<Extent>,
}

/// Memory that stands for an input or an output: a storage, and where in it.
type Place = (u32, Extent);

impl<'a> Writing<'a> {
    fn new(recipe: &'a Recipe, bodies: &[Body], keeps: bool) -> Self {
        let new = Recipe {
            nodes: Vec::with_capacity(recipe.nodes.len()),
            accesses: Vec::with_capacity(recipe.accesses.len()),
            reserved: Vec::new(),
            called: Vec::new(),
            calls: Vec::new(),
            choices: Vec::new(),
            ..recipe.clone()
        };
        let layouts = recipe.layouts.iter().cloned().zip(0..).collect();
        let tags = recipe.tags.iter().map(|tag| tag.name.clone()).zip(0..).collect();
        Self {
            recipe,
            keeps,
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

    fn all(mut self) -> (Recipe, Vec<Body>) {
        let recipe = self.recipe;
        recipe.nodes.iter().for_each(|node| self.node(node));
        self.finish()
    }

    fn node(&mut self, node: &Node) {
        let accesses = self.recipe.accesses_of(node);
        let (first, ordered) = (self.new.nodes.len(), self.ordered.max(node.ordered));
        match node.kind {
            NodeKind::Call(call) => self.call(call as usize, node, accesses),
            NodeKind::Choose(choice) if self.keeps => {
                let kind = NodeKind::Choose(self.keep(self.recipe, choice, None));
                self.push(Node { kind, ..*node }, accesses.iter().copied());
            }
            NodeKind::Choose(choice) => self.choose(choice, node, accesses),
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
        let body = self.prepare(call);
        let info = &self.recipe.calls[call];
        let (operands, results) = accesses.split_at(body.inputs.len());
        let mut from: Vec<Place> = Vec::with_capacity(operands.len());
        for (index, operand) in operands.iter().enumerate() {
            let input = body.inputs[index].value;
            from.push(match is_moved(self.recipe, info, index) {
                true if is_copied(self.recipe, info, index) => self.copied(call, node, body, (input, operand.value)),
                true => self.memory(call, body, input),
                false => self.place(operand.value),
            });
        }
        for step in 1..=info.times {
            let to: Vec<Place> = match step == info.times {
                true => results.iter().map(|access| self.place(access.value)).collect(),
                false => self.between(call, body),
            };
            self.once(call, node, (&from, &to), false);
            for (from, to) in from.iter_mut().zip(to).take(usize::from(info.carried)) {
                *from = to;
            }
        }
    }

    fn place(&self, value: u32) -> Place {
        let value = &self.recipe.values[value as usize];
        (value.storage, value.offset.clone())
    }

    /// The plan of a call as it is written here; what its calls have in common is known from here on.
    fn prepare(&mut self, call: usize) -> &'a Recipe {
        let recipe = self.recipe;
        let info = &recipe.calls[call];
        let (index, callee) = (info.callee as usize, &recipe.called[info.callee as usize]);
        let (body, code) = if self.keeps { callee.0.inlined() } else { callee.0.written_out() };
        if self.callees[index].is_none() {
            self.callees[index] = Some(self.share(body));
        }
        if self.calls[call].is_none() {
            self.calls[call] = Some(self.size(body, code, info));
        }
        body
    }

    /// Writes one run of a plan that is [prepared](Self::prepare).
    fn once(&mut self, call: usize, node: &Node, (from, to): (&[Place], &[Place]), arm: bool) {
        let body = self.prepare(call);
        let info = &self.recipe.calls[call];
        let (Some(shared), Some(sized)) = (&self.callees[info.callee as usize], &self.calls[call]) else { return };
        Once { body, info, shared, sized, node, from, to, arm }.write(&mut self.new);
    }

    /// Memory for the results of a run that comes before another.
    fn between(&mut self, call: usize, body: &Recipe) -> Vec<Place> {
        body.outputs.iter().map(|output| self.memory(call, body, output.value)).collect()
    }

    /// Memory for a value of a plan that is [prepared](Self::prepare).
    fn memory(&mut self, call: usize, body: &Recipe, value: u32) -> Place {
        let sized = self.calls[call].as_ref().expect(PREPARED);
        let bytes = sized.bytes[body.storage_of(value) as usize].clone();
        self.new.storages.push(Storage { kind: StorageKind::Temporary, bytes });
        (self.new.storages.len() as u32 - 1, Extent::Fixed(0))
    }

    /// Copies an operand to memory that the steps of a call may write.
    fn copied(&mut self, call: usize, node: &Node, body: &Recipe, (input, operand): (u32, u32)) -> Place {
        let (storage, offset) = self.memory(call, body, input);
        let to = self.value(operand, (storage, offset.clone()));
        self.copy(node, operand, to);
        (storage, offset)
    }

    /// A value like one of the recipe, elsewhere.
    fn value(&mut self, like: u32, (storage, offset): Place) -> u32 {
        let layout = self.recipe.values[like as usize].layout;
        self.new.values.push(ValueInfo { storage, layout, offset });
        self.new.values.len() as u32 - 1
    }

    fn share(&mut self, body: &Recipe) -> Shared {
        let new = &mut self.new;
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
        let choices = (0..body.choices.len() as u32).map(|choice| self.keep(body, choice, Some(by))).collect();
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
        let prefetches = new.prefetches.len() as u32;
        new.prefetches.extend(&body.prefetches);
        let extent = |size: &Extent| sizes::extent(size, by).expect(CHECKED);
        Sized {
            tags,
            layouts,
            functions,
            prefetches,
            choices,
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
        info.with_later(info.later().iter().map(told).collect())
    }
}
