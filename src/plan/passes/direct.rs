//! Results that are only copied into a part of a larger value: written there.

use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::recipe::{Access, NodeKind, is_updatable};

use super::edit::Edit;
use super::facts::Facts;
use super::group::{dims, step};
use super::moves::at;

pub(super) const NAME: &str = "direct_results";

/// What is copied, and where to.
struct Part {
    from: Access,
    offset: Extent,
}

/// Leaves out copies into larger values where the operators that make what is copied can write it there.
#[inline(never)]
pub(super) fn run(facts: &Facts<'_>) -> Edit {
    let recipe = facts.recipe;
    let mut edit = Edit::of(recipe);
    for node in 0..recipe.nodes.len() as u32 {
        let Some((to, parts)) = parts(facts, node).filter(|_| !edit.changes_node(node)) else { continue };
        let makers = parts.iter().map(|part| maker(facts, &edit, (node, to), part)).collect::<Option<Vec<_>>>();
        let Some(makers) = makers.filter(|makers| is_each_new(makers)) else { continue };
        edit.remove(recipe, NAME, node, "what it copies is written there", None);
        for ((maker, written), part) in makers.into_iter().zip(parts) {
            let layout = recipe.layout_of(written).clone();
            let view = edit.value(recipe, recipe.storage_of(to.value), part.offset, layout);
            let own = &recipe.nodes[maker as usize];
            let placed = |one: &Access| Access { value: if one.value == written { view } else { one.value }, ..*one };
            edit.rewrite(maker, own.kind, recipe.accesses_of(own).iter().map(placed).collect());
        }
    }
    edit
}

fn is_each_new(makers: &[(u32, u32)]) -> bool {
    let others = |index: usize| makers[..index].iter().map(|(maker, _)| maker);
    !makers.is_empty() && (1..makers.len()).all(|index| !others(index).any(|maker| *maker == makers[index].0))
}

/// What a node does nothing but copy, and the value that it writes.
fn parts(facts: &Facts<'_>, node: u32) -> Option<(Access, Vec<Part>)> {
    let recipe = facts.recipe;
    if let NodeKind::Copy = recipe.nodes[node as usize].kind {
        let [from, to] = *recipe.accesses_of(&recipe.nodes[node as usize]) else { return None };
        return Some((to, vec![copied(facts, from, to)?]));
    }
    let call = facts.called(node)?;
    let (to, parts) = match call.name {
        "aclnnInplaceCopy" => {
            let to = call.tensor(0)?;
            (to, vec![copied(facts, call.tensor(1)?, to)?])
        }
        "aclnnCat" | "aclnnStack" => {
            let to = call.tensor(2)?;
            let dim = at(call.int(1)?, dims(facts, to.value).len())?;
            (to, joined(facts, call.tensors(0), (to, dim), call.is(&["aclnnStack"]))?)
        }
        _ => return None,
    };
    Some((to, parts))
}

fn copied(facts: &Facts<'_>, from: Access, to: Access) -> Option<Part> {
    let offset = facts.recipe.values[to.value as usize].offset.clone();
    part(facts, from, offset, facts.recipe.layout_of(to.value))
}

/// A part that has the type and the shape of what is copied, and no gaps.
fn part(facts: &Facts<'_>, from: Access, offset: Extent, layout: &Layout) -> Option<Part> {
    let own = facts.recipe.layout_of(from.value);
    let fits = (own.dtype, &own.dims) == (layout.dtype, &layout.dims) && layout.is_dense();
    fits.then_some(Part { from, offset })
}

/// The parts behind each other in a dimension, which is a new one where values are stacked.
fn joined(facts: &Facts<'_>, pieces: &[Access], (to, dim): (Access, usize), stacked: bool) -> Option<Vec<Part>> {
    let whole = facts.recipe.layout_of(to.value);
    let mut offset = facts.recipe.values[to.value as usize].offset.clone();
    let mut parts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let mut layout = whole.clone();
        layout.dims[dim] = if stacked { 1.into() } else { *dims(facts, piece.value).get(dim)? };
        let next = offset.plus(&step(&layout, dim)?)?;
        if stacked {
            layout.dims.remove(dim);
            layout.strides.remove(dim);
        }
        parts.push(part(facts, *piece, std::mem::replace(&mut offset, next), &layout)?);
    }
    Some(parts)
}

/// The operator that makes what is copied, and the value that it writes, when it can write that where it goes: nobody
/// else reads it, both are on one stream, and nobody uses what is written from then on until it is copied.
fn maker(facts: &Facts<'_>, edit: &Edit, (node, to): (u32, Access), part: &Part) -> Option<(u32, u32)> {
    let recipe = facts.recipe;
    let [write, read] = facts.plan.uses.storage(recipe.storage_of(part.from.value)) else { return None };
    let (maker, written) = (write.node, recipe.access(write));
    let own = |index: u32| &recipe.nodes[index as usize];
    let fits = read.node == node
        && facts.called(maker).is_some()
        && facts.only_computes(own(maker))
        && facts.is_fresh(&written)
        && facts.is_whole(part.from.value)
        && !facts.is_touched(written.value)
        && own(maker).tag == own(node).tag
        && !edit.changes_node(maker)
        && !is_updatable(recipe, to.value)
        && facts.is_unused(to.value, maker, node);
    fits.then_some((maker, written.value))
}
