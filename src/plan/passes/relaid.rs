//! Work on weights alone: done once, when an executable is made.

use std::collections::HashSet;

use super::edit::Edit;
use super::facts::Facts;
use super::fold::computes_from;

pub(super) const NAME: &str = "relaid_weights";

/// Lets work on frozen inputs that nothing writes, and on constants, be done once.
pub(super) fn run(facts: &Facts<'_>) -> Edit {
    let recipe = facts.recipe;
    let mut edit = Edit::of(recipe);
    let (written, mut once) = (recipe.written(), HashSet::<u32>::new());
    for (index, node) in (0..).zip(&recipe.nodes) {
        let is_given = |value: u32| {
            let storage = recipe.storage_of(value);
            once.contains(&storage)
                || (recipe.is_early(value) && (facts.is_once(value) || !written[storage as usize]))
        };
        if computes_from(facts, node, is_given) {
            let writes = recipe.accesses_of(node).iter().filter(|one| one.mode.writes());
            let storages: Vec<u32> = writes.map(|one| recipe.storage_of(one.value)).collect();
            once.extend(&storages);
            edit.keep(recipe, (NAME, "it is done once, when an executable is made"), index, &storages);
        }
    }
    edit
}
