//! Work on weights alone: done once, when an executable is made.

use std::collections::HashSet;

use crate::plan::recipe::{Recipe, StorageKind};

use super::edit::Edit;
use super::facts::Facts;
use super::fold::computes_from;

pub(super) const NAME: &str = "relaid_weights";

/// Bytes that may still be written once.
pub(super) struct Budget(u64);

impl Budget {
    /// Of most bytes, what the plan does not use yet.
    pub(super) fn of(recipe: &Recipe, most: u64) -> Self {
        let once = recipe.storages.iter().filter(|storage| storage.kind == StorageKind::Once);
        let used = once.map(|storage| storage.bytes.as_fixed().unwrap_or(u64::MAX)).fold(0, u64::saturating_add);
        Self(most.saturating_sub(used))
    }

    /// Whether there is room for so many, which is used then.
    pub(super) fn take(&mut self, bytes: u64) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// Whether a value has its bytes when an executable is made, and keeps them.
pub(super) fn is_given(facts: &Facts<'_>, written: &[bool], value: u32) -> bool {
    let recipe = facts.recipe;
    recipe.is_early(value) && (facts.is_once(value) || !written[recipe.storage_of(value) as usize])
}

/// Lets work on frozen inputs that nothing writes, and on constants, be done once.
pub(super) fn run(facts: &Facts<'_>, most: u64) -> Edit {
    let recipe = facts.recipe;
    let (mut edit, mut budget) = (Edit::of(recipe), Budget::of(recipe, most));
    let (written, mut once) = (recipe.written(), HashSet::<u32>::new());
    for (index, node) in (0..).zip(&recipe.nodes) {
        let is_known = |value: u32| once.contains(&recipe.storage_of(value)) || is_given(facts, &written, value);
        if computes_from(facts, node, is_known) {
            let writes = recipe.accesses_of(node).iter().filter(|one| one.mode.writes());
            let storages: Vec<u32> = writes.map(|one| recipe.storage_of(one.value)).collect();
            let size = |storage: &u32| recipe.storages[*storage as usize].bytes.as_fixed().unwrap_or(u64::MAX);
            if !budget.take(storages.iter().map(size).fold(0, u64::saturating_add)) {
                continue;
            }
            once.extend(&storages);
            edit.keep(recipe, (NAME, "it is done once, when an executable is made"), index, &storages);
        }
    }
    edit
}
