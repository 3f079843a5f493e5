//! Work on constants alone.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::plan::recipe::{FunctionKind, Node, NodeKind, StorageKind};
use crate::plan::simulate::computed;

use super::edit::Edit;
use super::facts::Facts;

pub(super) const NAME: &str = "folded_constants";

/// Makes the results of work on constants constants.
pub(super) fn run(facts: &Facts<'_>, most_bytes: u64) -> Result<Edit> {
    let recipe = facts.recipe;
    let mut edit = Edit::of(recipe);
    let (mut nodes, mut folded) = (Vec::new(), HashSet::new());
    for (index, node) in recipe.nodes.iter().enumerate() {
        if !can_fold(facts, node, &folded, most_bytes) {
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

fn can_fold(facts: &Facts<'_>, node: &Node, folded: &HashSet<u32>, most_bytes: u64) -> bool {
    let recipe = facts.recipe;
    let accesses = recipe.accesses_of(node);
    let is_constant =
        |value| matches!(facts.kind(value), StorageKind::Constant(_)) || folded.contains(&recipe.storage_of(value));
    let is_fixed = |value: u32| {
        let (info, layout) = (&recipe.values[value as usize], recipe.layout_of(value));
        recipe.storages[info.storage as usize].bytes.as_fixed().is_some()
            && info.offset.as_fixed().is_some()
            && layout.dims.iter().all(|dim| dim.as_fixed().is_some())
            && layout.strides.iter().all(|stride| stride.as_fixed().is_some())
    };
    let bytes = |value| recipe.storages[recipe.storage_of(value) as usize].bytes.as_fixed();
    let mut written = accesses.iter().filter(|one| one.mode.writes()).map(|one| bytes(one.value));
    let mut read = accesses.iter().filter(|one| one.mode.reads()).peekable();
    facts.only_computes(node)
        && is_told_all(facts, node)
        && read.peek().is_some()
        && read.all(|one| is_constant(one.value))
        && accesses.iter().all(|one| is_fixed(one.value))
        && written.try_fold(0_u64, |sum, bytes| sum.checked_add(bytes?)).is_some_and(|sum| sum <= most_bytes)
        && facts.writes_fresh(node)
}

/// Whether the plan says all that a node is told; of foreign operators it does not say what they compute.
fn is_told_all(facts: &Facts<'_>, node: &Node) -> bool {
    let NodeKind::Foreign(function) = node.kind else { return true };
    let info = &facts.recipe.functions[function as usize];
    let mut numbers = info.later.iter().flat_map(|later| &later.numbers).filter_map(|number| number.size());
    info.kind == FunctionKind::Operator && numbers.all(|size| size.as_fixed().is_some())
}
