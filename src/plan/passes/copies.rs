//! Copies that nobody needs, since neither side is written afterwards.

use crate::plan::recipe::uses::Use;
use crate::plan::recipe::{Access, NodeKind, StorageKind};

use super::edit::Edit;
use super::facts::{Facts, MOST_USES};

pub(super) const NAME: &str = "needless_copies";

/// Leaves out copies of whole temporaries and constants into others, and lets readers of the copy read the original.
#[inline(never)]
pub(super) fn run(facts: &Facts<'_>) -> Edit {
    let recipe = facts.recipe;
    let mut edit = Edit::of(recipe);
    for (index, node) in recipe.nodes.iter().enumerate() {
        let ([first, second], index) = (recipe.accesses_of(node), index as u32) else { continue };
        let (from, to) = match node.kind {
            NodeKind::Copy => (first, second),
            _ if recipe.operator(node) == Some("aclnnInplaceCopy") => (second, first),
            _ => continue,
        };
        let (a, b) = (recipe.layout_of(from.value), recipe.layout_of(to.value));
        let copies = node.kind == NodeKind::Copy || (a.dtype, &a.dims) == (b.dtype, &b.dims);
        if copies && facts.is_fresh(to) && can_stand_in(facts, from, to) && !is_written_after(facts, from, index) {
            edit.remove(recipe, NAME, index, "what it copies is not written afterwards", None);
            edit.replace(recipe.storage_of(to.value), recipe.storage_of(from.value));
        }
    }
    edit
}

/// Whether one memory is as good as the other.
fn can_stand_in(facts: &Facts<'_>, from: &Access, to: &Access) -> bool {
    let bytes = |value| &facts.recipe.storages[facts.recipe.storage_of(value) as usize].bytes;
    let of_the_plan = facts.is_temporary(from.value) || matches!(facts.kind(from.value), StorageKind::Constant(_));
    of_the_plan && facts.is_whole(from.value) && bytes(from.value) == bytes(to.value)
}

/// Whether some write to the memory of a value may come behind a node, or at the same time.
fn is_written_after(facts: &Facts<'_>, from: &Access, node: u32) -> bool {
    let uses = facts.plan.uses.storage(facts.recipe.storage_of(from.value));
    let written = |one: &Use| facts.recipe.access(one).mode.writes() && !facts.plan.order.before(one.node, node);
    let is_constant = matches!(facts.kind(from.value), StorageKind::Constant(_));
    !is_constant && (uses.len() > MOST_USES || uses.iter().any(written))
}
