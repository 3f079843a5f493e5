//! Work on weights alone: done once, when an executable is made.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::plan::recipe::{Recipe, StorageKind};

use super::edit::Edit;
use super::facts::Facts;
use super::fold::computes_from;
#[cfg(test)]
use super::made::Lacking;

pub(super) const NAME: &str = "relaid_weights";

/// Bytes that an executable may still keep of what is written once.
pub(super) struct Budget(u64);

impl Budget {
    /// Of most bytes, what runs of the plan do not read yet.
    pub(super) fn of(recipe: &Recipe, most: u64) -> Self {
        let read = recipe.read_by_runs();
        let used = (0..).zip(read).filter(|(_, read)| *read).map(|(storage, _)| bytes(recipe, storage));
        Self(most.saturating_sub(used.fold(0, u64::saturating_add)))
    }

    /// Whether there is room for so many, which is used then.
    pub(super) fn take(&mut self, bytes: u64) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

fn bytes(recipe: &Recipe, storage: u32) -> u64 {
    recipe.storages[storage as usize].bytes.as_fixed().unwrap_or(u64::MAX)
}

/// Whether a value has its bytes when an executable is made, and keeps them.
pub(super) fn is_given(facts: &Facts<'_>, written: &[bool], value: u32) -> bool {
    let recipe = facts.recipe;
    recipe.is_early(value) && (facts.is_once(value) || !written[recipe.storage_of(value) as usize])
}

/// Lets work on frozen inputs that nothing writes, and on constants, be done once.
#[inline(never)]
pub(super) fn run(facts: &Facts<'_>, most: u64) -> Edit {
    let mut work = Work::of(facts, most);
    work.fit();
    let mut edit = Edit::of(facts.recipe);
    for (node, storages) in work.nodes {
        edit.keep(facts.recipe, (NAME, "it is done once, when an executable is made"), node, &storages);
    }
    edit
}

/// Work that can be done once. Of its results an executable keeps those that runs read.
struct Work<'f> {
    facts: &'f Facts<'f>,
    /// In order, with the memory that each writes.
    nodes: BTreeMap<u32, Vec<u32>>,
    /// What writes memory.
    makers: HashMap<u32, u32>,
    /// What has room.
    kept: HashSet<u32>,
    room: Budget,
    /// How many nodes were looked at, and readers of what was refused.
    steps: usize,
}

impl<'f> Work<'f> {
    fn of(facts: &'f Facts<'f>, most: u64) -> Self {
        let recipe = facts.recipe;
        let (nodes, makers, kept) = (BTreeMap::new(), HashMap::new(), HashSet::new());
        let mut work = Self { facts, nodes, makers, kept, room: Budget(most), steps: recipe.nodes.len() };
        let written = recipe.written();
        for (index, node) in (0..).zip(&recipe.nodes) {
            let is_known =
                |value: u32| work.makers.contains_key(&recipe.storage_of(value)) || is_given(facts, &written, value);
            if computes_from(facts, node, is_known) {
                let writes = recipe.accesses_of(node).iter().filter(|one| one.mode.writes());
                let storages: Vec<u32> = writes.map(|one| recipe.storage_of(one.value)).collect();
                work.makers.extend(storages.iter().map(|storage| (*storage, index)));
                work.nodes.insert(index, storages);
            }
        }
        work
    }

    /// Leaves out what has no room, in the order of the plan, and what needs it or is needed by it and has none then.
    fn fit(&mut self) {
        let recipe = self.facts.recipe;
        let read = self.read_by_runs();
        let before = |storage: &u32| recipe.storages[*storage as usize].kind == StorageKind::Once;
        let used = read.iter().filter(|storage| before(storage)).map(|one| bytes(recipe, *one));
        self.room = Budget(self.room.0.saturating_sub(used.fold(0, u64::saturating_add)));
        let mut over = Vec::new();
        for (node, storages) in &self.nodes {
            let wanted: Vec<u32> = storages.iter().copied().filter(|storage| read.contains(storage)).collect();
            if self.room.take(wanted.iter().map(|one| bytes(recipe, *one)).fold(0, u64::saturating_add)) {
                self.kept.extend(wanted);
            } else {
                over.push(*node);
            }
        }
        over.into_iter().rev().for_each(|node| self.leave(node));
    }

    /// Memory that work reads which is not done once.
    fn read_by_runs(&self) -> HashSet<u32> {
        let recipe = self.facts.recipe;
        let mut read = HashSet::new();
        for (index, node) in (0..).zip(&recipe.nodes) {
            if !recipe.is_once(node) && !self.nodes.contains_key(&index) {
                read.extend(recipe.accesses_of(node).iter().map(|one| recipe.storage_of(one.value)));
            }
        }
        read
    }

    /// Lets every run do a node, with what reads its results. Runs read what those read then, which is kept, or is
    /// done by every run too.
    fn leave(&mut self, node: u32) {
        let recipe = self.facts.recipe;
        let mut gone = vec![node];
        while let Some(node) = gone.pop() {
            let Some(own) = self.nodes.remove(&node) else { continue };
            self.steps += 1;
            for storage in own {
                self.makers.remove(&storage);
                if self.kept.remove(&storage) {
                    self.room.0 += bytes(recipe, storage);
                }
                let uses = self.facts.plan.uses.storage(storage);
                self.steps += uses.len();
                gone.extend(uses.iter().map(|one| one.node).filter(|user| self.nodes.contains_key(user)));
            }
            for read in recipe.accesses_of(&recipe.nodes[node as usize]).iter().filter(|one| one.mode.reads()) {
                let storage = recipe.storage_of(read.value);
                let Some(maker) = self.makers.get(&storage).copied() else { continue };
                let has_room = self.kept.contains(&storage) || self.room.take(bytes(recipe, storage));
                if has_room {
                    self.kept.insert(storage);
                } else {
                    gone.push(maker);
                }
            }
        }
    }
}

#[cfg(test)]
pub(super) fn steps(plan: &crate::plan::Plan, most: u64) -> (usize, usize) {
    let facts = Facts::of(plan.0.inlined(), (false, Lacking::none()));
    let mut work = Work::of(&facts, most);
    work.fit();
    (work.steps, work.nodes.len())
}
