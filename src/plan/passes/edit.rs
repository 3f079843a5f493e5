//! What a pass wants changed in a recipe, and the recipe with it.
//!
//! Records and waits always stay, so what is left is in the same order as before.

use std::collections::HashMap;
use std::hash::Hash;

use crate::plan::checked::change::{Change, Work};
use crate::plan::recipe::function::Body;
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::recipe::{Access, FunctionInfo, Node, NodeKind, Ordered, Recipe, Storage, StorageKind, ValueInfo};

use super::replacing::Replacing;

/// What a node does, and with which values.
type Does = (NodeKind, Vec<Access>);

/// What a pass wants changed.
pub(super) struct Edit {
    pub(super) removed: Vec<bool>,
    /// The storage that each storage is replaced with, itself for most. Both are as large.
    moved: Vec<u32>,
    /// Storages that hold these bytes from the start.
    constants: HashMap<u32, Vec<u8>>,
    /// Storages that are written once, when an executable is made.
    kept: Vec<u32>,
    /// What nodes do instead, with which values.
    rewritten: HashMap<u32, Does>,
    /// What is done before a node, on its stream.
    inserted: HashMap<u32, Vec<Does>>,
    added: Added,
    /// Whether some operator rounds fewer times than those that it stands for.
    pub(super) rounds_less: bool,
    pub(super) changes: Vec<Change>,
}

/// What stands behind all that the recipe has.
#[derive(Default)]
struct Added {
    storages: Vec<Storage>,
    layouts: Vec<Layout>,
    /// The numbers of all layouts, once one is looked for.
    known: HashMap<Layout, u32>,
    values: Vec<ValueInfo>,
    functions: Vec<(FunctionInfo, Body)>,
    /// Their numbers.
    numbers: HashMap<FunctionInfo, u32>,
}

impl Edit {
    pub(super) fn of(recipe: &Recipe) -> Self {
        Self {
            removed: vec![false; recipe.nodes.len()],
            moved: (0..recipe.storages.len() as u32).collect(),
            constants: HashMap::new(),
            kept: Vec::new(),
            rewritten: HashMap::new(),
            inserted: HashMap::new(),
            added: Added::default(),
            rounds_less: false,
            changes: Vec::new(),
        }
    }

    /// Leaves a node out.
    pub(super) fn remove(
        &mut self,
        recipe: &Recipe,
        pass: &'static str,
        node: u32,
        why: &'static str,
        instead: Option<u32>,
    ) {
        self.removed[node as usize] = true;
        let instead = instead.map(|instead| Work::of(recipe, instead));
        self.changes.push(Change { pass, work: Work::of(recipe, node), why, instead });
    }

    /// Lets a node write its storages once, when an executable is made.
    pub(super) fn keep(
        &mut self,
        recipe: &Recipe,
        (pass, why): (&'static str, &'static str),
        node: u32,
        own: &[u32],
    ) {
        self.kept.extend(own);
        self.changes.push(Change { pass, work: Work::of(recipe, node), why, instead: None });
    }

    /// Uses another storage in place of one. The other stays what it is.
    pub(super) fn replace(&mut self, storage: u32, with: u32) {
        self.moved[storage as usize] = self.storage(with);
    }

    /// The storage in place of one.
    pub(super) fn storage(&self, storage: u32) -> u32 {
        self.moved[storage as usize]
    }

    /// Makes a storage a constant.
    pub(super) fn set(&mut self, storage: u32, bytes: Vec<u8>) {
        self.constants.insert(storage, bytes);
    }

    /// Lets a node do something else.
    pub(super) fn rewrite(&mut self, node: u32, kind: NodeKind, accesses: Vec<Access>) {
        self.rewritten.insert(node, (kind, accesses));
    }

    /// Whether a node is left out or does something else already.
    pub(super) fn changes_node(&self, node: u32) -> bool {
        self.removed[node as usize] || self.rewritten.contains_key(&node)
    }

    /// Lets a node call another operator.
    pub(super) fn call(&mut self, recipe: &Recipe, node: u32, replacing: Replacing) {
        let (kind, accesses) = self.calling(recipe, replacing);
        self.rewrite(node, kind, accesses);
    }

    /// Calls an operator before a node, once, when an executable is made.
    pub(super) fn call_once(&mut self, recipe: &Recipe, before: u32, own: u32, replacing: Replacing) {
        let does = self.calling(recipe, replacing);
        self.kept.push(own);
        self.inserted.entry(before).or_default().push(does);
    }

    /// Says what a node does now.
    pub(super) fn tell(&mut self, recipe: &Recipe, (pass, why): (&'static str, &'static str), node: u32) {
        self.changes.push(Change { pass, work: Work::of(recipe, node), why, instead: None });
    }

    fn calling(&mut self, recipe: &Recipe, replacing: Replacing) -> Does {
        let Replacing { recorded, accesses } = replacing;
        let Added { functions, numbers, .. } = &mut self.added;
        let info = FunctionInfo::of_operator(recorded, Vec::new());
        let function = *numbers.entry(info.clone()).or_insert_with(|| {
            functions.push((info, Body::Operator));
            (recipe.functions.len() + functions.len() - 1) as u32
        });
        (NodeKind::Foreign(function), accesses)
    }

    /// Another value of some memory.
    pub(super) fn value(&mut self, recipe: &Recipe, storage: u32, offset: Extent, layout: Layout) -> u32 {
        let Added { layouts, known, values, .. } = &mut self.added;
        if known.is_empty() {
            known.extend(recipe.layouts.iter().cloned().zip(0..));
        }
        let layout = *known.entry(layout).or_insert_with_key(|layout| {
            layouts.push(layout.clone());
            (recipe.layouts.len() + layouts.len() - 1) as u32
        });
        values.push(ValueInfo { storage, layout, offset });
        (recipe.values.len() + values.len() - 1) as u32
    }

    /// The storage of a value, also of one that is added.
    pub(super) fn storage_of(&self, recipe: &Recipe, value: u32) -> u32 {
        let added = (value as usize).checked_sub(recipe.values.len());
        added.map_or_else(|| recipe.storage_of(value), |index| self.added.values[index].storage)
    }

    /// Memory that holds these bytes from the start.
    pub(super) fn constant(&mut self, recipe: &Recipe, bytes: Vec<u8>) -> u32 {
        let storage = self.memory(recipe, Extent::Fixed(bytes.len() as u64));
        self.set(storage, bytes);
        storage
    }

    /// Memory of the plan.
    pub(super) fn memory(&mut self, recipe: &Recipe, bytes: Extent) -> u32 {
        let storage = (recipe.storages.len() + self.added.storages.len()) as u32;
        self.added.storages.push(Storage { kind: StorageKind::Temporary, bytes });
        self.moved.push(storage);
        storage
    }

    /// Makes the changes. With the recipe and its bodies comes where each node that is left is now.
    pub(super) fn apply(self, recipe: &Recipe, bodies: &[Body]) -> (Recipe, Vec<Body>, Vec<Option<u32>>) {
        let mut new = recipe.clone();
        let (infos, more): (Vec<_>, Vec<_>) = self.added.functions.into_iter().unzip();
        new.storages.extend(self.added.storages);
        new.layouts.extend(self.added.layouts);
        new.values.extend(self.added.values);
        new.functions.extend(infos);
        for value in &mut new.values {
            value.storage = self.moved[value.storage as usize];
        }
        for (storage, bytes) in self.constants {
            new.storages[storage as usize].kind = StorageKind::Constant(new.constants.len() as u32);
            new.constants.push(bytes);
        }
        self.kept.iter().for_each(|storage| new.storages[*storage as usize].kind = StorageKind::Once);
        let positions = nodes(&mut new, recipe, &self.removed, (&self.rewritten, &self.inserted));
        reserved(&mut new, recipe, &positions);
        memory(&mut new);
        new.drop_unused();
        let bodies = functions(&mut new, [bodies, &more].concat());
        new.shrink();
        (new, bodies, positions)
    }
}

fn nodes(
    new: &mut Recipe,
    old: &Recipe,
    removed: &[bool],
    (rewritten, inserted): (&HashMap<u32, Does>, &HashMap<u32, Vec<Does>>),
) -> Vec<Option<u32>> {
    (new.nodes, new.accesses) = (Vec::new(), Vec::new());
    let mut positions = Vec::with_capacity(old.nodes.len());
    let mut ordered = Ordered::Nothing;
    for (index, node) in old.nodes.iter().enumerate() {
        for (kind, accesses) in inserted.get(&(index as u32)).into_iter().flatten() {
            let first = new.accesses.len() as u32;
            new.accesses.extend_from_slice(accesses);
            let count = accesses.len() as u16;
            new.nodes.push(Node { kind: *kind, first, count, ordered: Ordered::Nothing, ..*node });
        }
        positions.push((!removed[index]).then_some(new.nodes.len() as u32));
        // What work that is gone was asked to come after, the next work comes after.
        ordered = ordered.max(node.ordered);
        if removed[index] {
            continue;
        }
        let first = new.accesses.len() as u32;
        let (kind, accesses) = match rewritten.get(&(index as u32)) {
            Some((kind, accesses)) => (*kind, &accesses[..]),
            None => (node.kind, old.accesses_of(node)),
        };
        new.accesses.extend_from_slice(accesses);
        let ordered = std::mem::take(&mut ordered);
        new.nodes.push(Node { kind, first, count: accesses.len() as u16, ordered, ..*node });
    }
    positions
}

/// Memory that was reserved until a node that is gone is so until the next one of its stream, or else the last.
fn reserved(new: &mut Recipe, old: &Recipe, positions: &[Option<u32>]) {
    let new_end = |node: u32| {
        let tag = old.nodes[node as usize].tag;
        let same = |index: &usize| old.nodes[*index].tag == tag;
        let later = (node as usize..old.nodes.len()).filter(same).find_map(|index| positions[index]);
        later.or_else(|| (0..node as usize).rev().filter(same).find_map(|index| positions[index]))
    };
    let kept = old.reserved.iter().filter_map(|(storage, node)| Some((*storage, new_end(*node)?)));
    new.reserved = kept.collect();
}

/// New numbers for what is used.
struct Numbers<T>(HashMap<T, u32>);

impl<T: Eq + Hash> Numbers<T> {
    fn of(used: impl Iterator<Item = T>) -> Self {
        let mut numbers = HashMap::new();
        for one in used {
            let next = numbers.len() as u32;
            numbers.entry(one).or_insert(next);
        }
        Self(numbers)
    }

    fn has(&self, one: &T) -> bool {
        self.0.contains_key(one)
    }

    fn new_of(&self, one: &T) -> u32 {
        self.0[one]
    }
}

/// Keeps the elements that have a new number; the numbers are in the order of the elements.
fn keep<T>(all: &mut Vec<T>, numbers: &Numbers<u32>) {
    let mut index = 0;
    all.retain(|_| {
        index += 1;
        numbers.has(&(index - 1))
    });
}

/// Leaves out memory that nothing uses, and its values and layouts.
fn memory(recipe: &mut Recipe) {
    let mut used = vec![false; recipe.storages.len()];
    for access in &recipe.accesses {
        used[recipe.values[access.value as usize].storage as usize] = true;
    }
    for (storage, used) in recipe.storages.iter().zip(&mut used) {
        *used |= matches!(storage.kind, StorageKind::Input(_) | StorageKind::Output(_));
    }
    let storages = Numbers::of((0..used.len() as u32).filter(|storage| used[*storage as usize]));
    let owners = |recipe: &Recipe| recipe.values.iter().map(|value| value.storage).collect::<Vec<_>>();
    let of_value = owners(recipe);
    let values = Numbers::of((0..of_value.len() as u32).filter(|value| storages.has(&of_value[*value as usize])));
    keep(&mut recipe.storages, &storages);
    keep(&mut recipe.values, &values);
    for value in &mut recipe.values {
        value.storage = storages.new_of(&value.storage);
    }
    for value in recipe.accesses.iter_mut().map(|access| &mut access.value) {
        *value = values.new_of(value);
    }
    let declared = recipe.inputs.iter_mut().map(|input| &mut input.value);
    for value in declared.chain(recipe.outputs.iter_mut().map(|output| &mut output.value)) {
        *value = values.new_of(value);
    }
    recipe.reserved.retain(|(storage, _)| storages.has(storage));
    recipe.reserved.iter_mut().for_each(|(storage, _)| *storage = storages.new_of(storage));
    layouts(recipe);
    constants(recipe);
}

fn layouts(recipe: &mut Recipe) {
    let mut used = vec![false; recipe.layouts.len()];
    recipe.values.iter().for_each(|value| used[value.layout as usize] = true);
    let numbers = Numbers::of((0..used.len() as u32).filter(|layout| used[*layout as usize]));
    keep(&mut recipe.layouts, &numbers);
    recipe.values.iter_mut().for_each(|value| value.layout = numbers.new_of(&value.layout));
}

/// Constants are numbered in the order of their first values.
fn constants(recipe: &mut Recipe) {
    let constant = |storage: u32| match recipe.storages[storage as usize].kind {
        StorageKind::Constant(constant) => Some(constant),
        _ => None,
    };
    let numbers = Numbers::of(recipe.values.iter().filter_map(|value| constant(value.storage)));
    let mut constants = vec![Vec::new(); numbers.0.len()];
    for (old, new) in &numbers.0 {
        constants[*new as usize] = std::mem::take(&mut recipe.constants[*old as usize]);
    }
    recipe.constants = constants;
    for storage in &mut recipe.storages {
        if let StorageKind::Constant(constant) = &mut storage.kind {
            *constant = numbers.new_of(constant);
        }
    }
}

fn functions(recipe: &mut Recipe, mut bodies: Vec<Body>) -> Vec<Body> {
    let mut used = vec![false; recipe.functions.len()];
    for node in &recipe.nodes {
        if let NodeKind::Foreign(function) | NodeKind::Host(function) = node.kind {
            used[function as usize] = true;
        }
    }
    let numbers = Numbers::of((0..used.len() as u32).filter(|function| used[*function as usize]));
    keep(&mut recipe.functions, &numbers);
    keep(&mut bodies, &numbers);
    for node in &mut recipe.nodes {
        if let NodeKind::Foreign(function) | NodeKind::Host(function) = &mut node.kind {
            *function = numbers.new_of(function);
        }
    }
    bodies
}
