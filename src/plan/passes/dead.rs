//! Values that nobody reads.

use std::collections::HashSet;

use crate::plan::recipe::{Mode, Node, NodeKind};
use crate::sort;

use super::edit::Edit;
use super::facts::Facts;

pub(super) const NAME: &str = "dead_values";

/// Later readers of one memory that are looked at; memory with more of them counts as read.
const MOST_READERS: usize = 1000;

/// Leaves out work whose results nobody reads, and prefetches for such work alone.
#[inline(never)]
pub(super) fn run(facts: &Facts<'_>) -> Edit {
    let recipe = facts.recipe;
    let mut edit = Edit::of(recipe);
    // By storage: the reads of what stays, from the end on. Work that overlaps a write is in some order with it, and
    // the order of issue is one of those that are possible: what reads a result comes behind.
    let mut reads: Vec<Vec<u32>> = vec![Vec::new(); recipe.storages.len()];
    let mut left: HashSet<u32> = HashSet::new();
    for (index, node) in recipe.nodes.iter().enumerate().rev() {
        let accesses = recipe.accesses_of(node);
        if is_dead(facts, node, &reads) {
            edit.remove(recipe, NAME, index as u32, "nobody reads what it writes", None);
            left.extend(accesses.iter().map(|access| recipe.storage_of(access.value)));
            continue;
        }
        for access in accesses.iter().filter(|access| access.mode.reads()) {
            reads[recipe.storage_of(access.value) as usize].push(access.value);
        }
    }
    prefetches(facts, &mut edit, &left);
    sort::by_key(&mut edit.changes, |change| change.work.position);
    edit
}

fn is_dead(facts: &Facts<'_>, node: &Node, reads: &[Vec<u32>]) -> bool {
    let mut writes = facts.recipe.accesses_of(node).iter().filter(|access| access.mode.writes()).peekable();
    facts.only_computes(node)
        && writes.peek().is_some()
        && writes.all(|access| {
            let reads = &reads[facts.recipe.storage_of(access.value) as usize];
            facts.is_temporary(access.value)
                && reads.len() <= MOST_READERS
                && !reads.iter().any(|read| facts.overlap(access.value, *read))
        })
}

/// Leaves out prefetches of memory that only work that is gone has used.
fn prefetches(facts: &Facts<'_>, edit: &mut Edit, left: &HashSet<u32>) {
    let recipe = facts.recipe;
    let stays = |index: usize| !edit.removed[index];
    let staying = recipe.nodes.iter().enumerate().filter(|(index, _)| stays(*index));
    let accesses = staying.flat_map(|(_, node)| recipe.accesses_of(node));
    let used: HashSet<u32> =
        accesses.filter(|one| one.mode != Mode::Touch).map(|one| recipe.storage_of(one.value)).collect();
    for (index, node) in recipe.nodes.iter().enumerate() {
        let NodeKind::Prefetch(_) = node.kind else { continue };
        let unused = |value| left.contains(&recipe.storage_of(value)) && !used.contains(&recipe.storage_of(value));
        if recipe.accesses_of(node).iter().all(|access| unused(access.value)) {
            edit.remove(recipe, NAME, index as u32, "nobody uses that memory", None);
        }
    }
}
