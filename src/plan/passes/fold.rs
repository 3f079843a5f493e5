//! Work on constants alone.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::plan::recipe::function::is_random;
use crate::plan::recipe::{FunctionKind, Node, NodeKind, Recipe, StorageKind};
use crate::plan::simulate::computed;

use super::edit::Edit;
use super::facts::Facts;

pub(super) const NAME: &str = "folded_constants";

/// Makes the results of work on constants constants.
#[inline(never)]
pub(super) fn run(facts: &Facts<'_>, most_bytes: u64) -> Result<Edit> {
    let recipe = facts.recipe;
    let mut edit = Edit::of(recipe);
    let (mut nodes, mut folded) = (Vec::new(), HashSet::new());
    for (index, node) in recipe.nodes.iter().enumerate() {
        let is_constant = |value| {
            matches!(facts.kind(value), StorageKind::Constant(_)) || folded.contains(&recipe.storage_of(value))
        };
        if !computes_from(facts, node, is_constant) || draws(recipe, node) || !is_small(facts, node, most_bytes) {
            continue;
        }
        nodes.push(index as u32);
        let writes = recipe.accesses_of(node).iter().filter(|one| one.mode.writes());
        folded.extend(writes.map(|one| recipe.storage_of(one.value)));
    }
    if nodes.is_empty() {
        return Ok(edit);
    }
    let results: HashMap<u32, Vec<u8>> = computed(recipe, &facts.plan.bodies, &nodes)?;
    for node in nodes {
        let accesses = recipe.accesses_of(&recipe.nodes[node as usize]);
        let writes: Vec<u32> =
            accesses.iter().filter(|one| one.mode.writes()).map(|one| recipe.storage_of(one.value)).collect();
        // What the host cannot compute stays.
        if writes.iter().all(|storage| results.contains_key(storage)) {
            edit.remove(recipe, NAME, node, "it computes with constants alone", None);
            writes.into_iter().for_each(|storage| edit.set(storage, results[&storage].clone()));
        }
    }
    Ok(edit)
}

/// Whether all that a node does is to compute new memory of the plan, of fixed sizes, from such values alone.
pub(super) fn computes_from(facts: &Facts<'_>, node: &Node, is_known: impl Fn(u32) -> bool) -> bool {
    let recipe = facts.recipe;
    let accesses = recipe.accesses_of(node);
    let mut read = accesses.iter().filter(|one| one.mode.reads()).peekable();
    facts.only_computes(node)
        && is_told_all(facts, node)
        && read.peek().is_some()
        && read.all(|one| is_known(one.value))
        && accesses.iter().all(|one| recipe.is_fixed(one.value))
        && facts.writes_fresh(node)
}

/// Whether its result is random: computed here it is the mock's, and not that of the device.
fn draws(recipe: &Recipe, node: &Node) -> bool {
    let NodeKind::Foreign(function) = node.kind else { return false };
    recipe.functions[function as usize].name().is_some_and(is_random)
}

fn is_small(facts: &Facts<'_>, node: &Node, most_bytes: u64) -> bool {
    let recipe = facts.recipe;
    let bytes = |value| recipe.storages[recipe.storage_of(value) as usize].bytes.as_fixed();
    let written = recipe.accesses_of(node).iter().filter(|one| one.mode.writes());
    let sum = written.map(|one| bytes(one.value)).try_fold(0_u64, |sum, bytes| sum.checked_add(bytes?));
    sum.is_some_and(|sum| sum <= most_bytes)
}

/// Whether the plan says all that a node is told; of foreign operators it does not say what they compute.
fn is_told_all(facts: &Facts<'_>, node: &Node) -> bool {
    let NodeKind::Foreign(function) = node.kind else { return true };
    facts.recipe.functions[function as usize].kind() == FunctionKind::Operator && facts.recipe.is_told_fixed(node)
}
