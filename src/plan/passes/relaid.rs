//! Work on weights alone: done once, when an executable is made.

use std::collections::HashSet;

use crate::plan::recipe::{Recipe, StorageKind};

use super::edit::Edit;
use super::facts::Facts;
use super::fold::computes_from;

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
pub(super) fn run(facts: &Facts<'_>, most: u64) -> Edit {
    let recipe = facts.recipe;
    let mut refused = HashSet::new();
    let work = loop {
        let work = work(facts, &refused);
        // What read the results of work that stays is kept then, and may have no room either.
        let without = without_room(recipe, &work, most);
        if without.is_empty() {
            break work;
        }
        refused.extend(without);
    };
    let mut edit = Edit::of(recipe);
    for (node, storages) in work {
        edit.keep(recipe, (NAME, "it is done once, when an executable is made"), node, &storages);
    }
    edit
}

/// Work that can be done once, in order, with the memory that it writes.
type Work = Vec<(u32, Vec<u32>)>;

fn work(facts: &Facts<'_>, refused: &HashSet<u32>) -> Work {
    let recipe = facts.recipe;
    let (written, mut once, mut work) = (recipe.written(), HashSet::<u32>::new(), Work::new());
    for (index, node) in (0..).zip(&recipe.nodes).filter(|(index, _)| !refused.contains(index)) {
        let is_known = |value: u32| once.contains(&recipe.storage_of(value)) || is_given(facts, &written, value);
        if computes_from(facts, node, is_known) {
            let writes = recipe.accesses_of(node).iter().filter(|one| one.mode.writes());
            let storages: Vec<u32> = writes.map(|one| recipe.storage_of(one.value)).collect();
            once.extend(&storages);
            work.push((index, storages));
        }
    }
    work
}

/// The work whose results have no room among those that runs read, which executables keep.
fn without_room(recipe: &Recipe, work: &Work, most: u64) -> Vec<u32> {
    let done: HashSet<u32> = work.iter().map(|(node, _)| *node).collect();
    let mut read = vec![false; recipe.storages.len()];
    for (index, node) in (0..).zip(&recipe.nodes) {
        if !recipe.is_once(node) && !done.contains(&index) {
            recipe.accesses_of(node).iter().for_each(|one| read[recipe.storage_of(one.value) as usize] = true);
        }
    }
    let is_kept = |storage: &u32| recipe.storages[*storage as usize].kind == StorageKind::Once;
    let size = |storages: &mut dyn Iterator<Item = u32>| {
        storages.filter(|storage| read[*storage as usize]).map(|one| bytes(recipe, one)).fold(0, u64::saturating_add)
    };
    let mut budget = Budget(most.saturating_sub(size(&mut (0..read.len() as u32).filter(is_kept))));
    let over = |(_, storages): &&(u32, Vec<u32>)| !budget.take(size(&mut storages.iter().copied()));
    work.iter().filter(over).map(|(node, _)| *node).collect()
}
