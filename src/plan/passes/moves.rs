//! Operators that only move elements: what reads their results reads a view of what they moved.

use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::recipe::{Access, NodeKind};

use super::called::Called;
use super::edit::Edit;
use super::facts::Facts;
use super::group::{dims, step};

pub(super) const NAME: &str = "needless_moves";

/// Operators that take operands with any strides, and the parameters that are such.
const READERS: [(&[&str], &[usize]); 7] = [
    (
        &["aclnnAbs", "aclnnSqrt", "aclnnRsqrt", "aclnnTanh", "aclnnGelu", "aclnnGeluV2", "aclnnSilu", "aclnnRelu"],
        &[0],
    ),
    (&["aclnnSigmoid", "aclnnExp", "aclnnErf", "aclnnNeg", "aclnnReciprocal", "aclnnSquare", "aclnnAdds"], &[0]),
    (&["aclnnMuls", "aclnnDivs", "aclnnClampMin", "aclnnClampMax", "aclnnPowTensorScalar", "aclnnCast"], &[0]),
    (&["aclnnSoftmax", "aclnnReduceSum", "aclnnMean", "aclnnPermute", "aclnnSlice", "aclnnCat"], &[0]),
    (&["aclnnAdd", "aclnnSub", "aclnnMul", "aclnnDiv", "aclnnMaximum", "aclnnMinimum"], &[0, 1]),
    (&["aclnnMatmul", "aclnnMm", "aclnnBatchMatMul"], &[0, 1]),
    (&["aclnnAddmm", "aclnnBaddbmm"], &[1, 2]),
];

/// Those that add in the order in which the elements lie.
const ADDERS: [&str; 2] = ["aclnnReduceSum", "aclnnMean"];

/// Readers of one result that are looked at.
const MOST_READERS: usize = 16;

/// A result, and the view that has the same elements.
struct Moved {
    to: Access,
    storage: u32,
    offset: Extent,
    layout: Layout,
}

/// Leaves out operators whose results are read as views alone.
#[inline(never)]
pub(super) fn run(facts: &Facts<'_>) -> Edit {
    let mut edit = Edit::of(facts.recipe);
    for node in 0..facts.recipe.nodes.len() as u32 {
        // What reads a view already is looked at in the next turn.
        if edit.changes_node(node) {
            continue;
        }
        let Some(moved) = moved(facts, node) else { continue };
        let readers = moved.iter().map(|one| readers(facts, &edit, node, one)).collect::<Option<Vec<_>>>();
        let Some(readers) = readers.filter(|readers| readers.iter().any(|all| !all.is_empty())) else { continue };
        edit.remove(facts.recipe, NAME, node, "what reads its result reads a view", None);
        let mut all: Vec<u32> = readers.concat();
        all.sort_unstable();
        all.dedup();
        let views: Vec<(u32, u32)> = moved.into_iter().map(|one| view(facts, &mut edit, one)).collect();
        all.into_iter().for_each(|reader| substitute(facts, &mut edit, reader, &views));
    }
    edit
}

/// The result, and the number of the view.
fn view(facts: &Facts<'_>, edit: &mut Edit, moved: Moved) -> (u32, u32) {
    (moved.to.value, edit.value(facts.recipe, moved.storage, moved.offset, moved.layout))
}

fn substitute(facts: &Facts<'_>, edit: &mut Edit, reader: u32, views: &[(u32, u32)]) {
    let own = &facts.recipe.nodes[reader as usize];
    let accesses = facts.recipe.accesses_of(own).iter().map(|one| {
        let view = views.iter().find(|(to, _)| facts.is_same(*to, one.value));
        Access { value: view.map_or(one.value, |(_, view)| *view), ..*one }
    });
    edit.rewrite(reader, own.kind, accesses.collect());
}

/// The nodes that read a result, when all of them take the view: one of them, or any number where it has no gaps.
fn readers(facts: &Facts<'_>, edit: &Edit, node: u32, moved: &Moved) -> Option<Vec<u32>> {
    let uses = facts.plan.uses.storage(facts.recipe.storage_of(moved.to.value));
    let mut readers: Vec<u32> = uses.iter().map(|one| one.node).filter(|user| *user != node).collect();
    readers.dedup();
    let fits = facts.is_fresh(&moved.to)
        && !facts.is_touched(moved.to.value)
        && readers.len() <= MOST_READERS
        && (readers.len() <= 1 || moved.layout.is_dense())
        && readers.iter().all(|reader| takes(facts, edit, (node, *reader), moved));
    fits.then_some(readers)
}

/// Whether a reader takes the view, while what was moved is what it was.
fn takes(facts: &Facts<'_>, edit: &Edit, (node, reader): (u32, u32), moved: &Moved) -> bool {
    let recipe = facts.recipe;
    let accesses = |index: u32| recipe.accesses_of(&recipe.nodes[index as usize]).iter();
    let of = |storage: u32| move |one: &&Access| recipe.storage_of(one.value) == storage;
    let uses = accesses(reader).filter(of(recipe.storage_of(moved.to.value))).count();
    let taken = operands(facts, reader).iter().filter(|one| facts.is_same(one.value, moved.to.value)).count();
    !edit.changes_node(reader)
        && (moved.layout.is_dense() || !adds_across(facts, reader))
        && facts.plan.order.before(node, reader)
        && uses == taken
        && !accesses(reader).filter(of(moved.storage)).any(|one| one.mode.writes())
        && !accesses(node).any(|one| one.mode.reads() && facts.may_change(one.value, node, reader))
}

/// Whether a node adds what may lie in several lines. Sums of one line each are in its order, whatever its strides.
fn adds_across(facts: &Facts<'_>, node: u32) -> bool {
    let Some(call) = facts.called(node).filter(|call| call.is(&ADDERS)) else { return false };
    let rank = call.tensor(0).map(|from| dims(facts, from.value).len());
    let is_last = |dim: i64| rank.is_some_and(|rank| at(dim, rank).is_some_and(|dim| dim + 1 == rank));
    !matches!(call.ints(1), Some(&[dim]) if is_last(dim))
}

/// What a node takes with any strides.
fn operands(facts: &Facts<'_>, node: u32) -> Vec<Access> {
    let Some(call) = facts.called(node) else { return Vec::new() };
    if call.is(&["aclnnInplaceCopy"]) {
        return call.tensors(1).to_vec();
    }
    let taken = READERS.iter().filter(|(names, _)| call.is(names)).flat_map(|(_, parameters)| parameters.iter());
    taken.flat_map(|at| call.tensors(*at)).copied().collect()
}

/// What a node writes, as views of what it reads; none where it does more than move elements.
fn moved(facts: &Facts<'_>, node: u32) -> Option<Vec<Moved>> {
    if let NodeKind::Copy = facts.recipe.nodes[node as usize].kind {
        let [from, to] = *facts.recipe.accesses_of(&facts.recipe.nodes[node as usize]) else { return None };
        return Some(vec![copied(facts, from, to)?]);
    }
    let call = facts.called(node)?;
    match call.name {
        "aclnnInplaceCopy" => Some(vec![copied(facts, call.tensor(1)?, call.tensor(0)?)?]),
        "aclnnPermute" => Some(vec![permuted(facts, &call)?]),
        "aclnnSlice" => Some(vec![sliced(facts, &call)?]),
        "aclnnSplitWithSize" => split(facts, &call),
        "aclnnCat" => Some(vec![adjacent(facts, &call)?]),
        _ => None,
    }
}

/// The whole view, before dimensions are exchanged or cut.
fn whole(facts: &Facts<'_>, from: Access, to: Access) -> Option<Moved> {
    let (info, layout) = (&facts.recipe.values[from.value as usize], facts.recipe.layout_of(from.value).clone());
    let alike =
        layout.dtype == facts.recipe.layout_of(to.value).dtype && layout.dims.len() == dims(facts, to.value).len();
    alike.then(|| Moved { to, storage: info.storage, offset: info.offset.clone(), layout })
}

/// The view, when it has the shape of the result.
fn checked(facts: &Facts<'_>, moved: Moved) -> Option<Moved> {
    (moved.layout.dims == dims(facts, moved.to.value)).then_some(moved)
}

fn copied(facts: &Facts<'_>, from: Access, to: Access) -> Option<Moved> {
    checked(facts, whole(facts, from, to)?)
}

fn permuted(facts: &Facts<'_>, call: &Called<'_>) -> Option<Moved> {
    let mut moved = whole(facts, call.tensor(0)?, call.tensor(2)?)?;
    let order: Vec<usize> =
        call.ints(1)?.iter().map(|one| at(*one, moved.layout.dims.len())).collect::<Option<_>>()?;
    let layout = &moved.layout;
    let dims = order.iter().map(|dim| layout.dims[*dim]).collect();
    let strides = order.iter().map(|dim| layout.strides[*dim].clone()).collect();
    moved.layout = Layout { dtype: layout.dtype, dims, strides };
    checked(facts, moved)
}

fn sliced(facts: &Facts<'_>, call: &Called<'_>) -> Option<Moved> {
    let moved = whole(facts, call.tensor(0)?, call.tensor(5)?)?;
    let dim = at(call.int(1)?, moved.layout.dims.len())?;
    let size = i64::try_from(moved.layout.dims[dim].as_fixed()?).ok()?;
    let place = |number: i64| (if number < 0 { number + size } else { number }).clamp(0, size);
    let (start, end, step) = (place(call.int(2)?), place(call.int(3)?), call.int(4)?);
    let count = if step > 0 { (end - start).max(0) / step + i64::from((end - start).max(0) % step != 0) } else { 0 };
    let mut moved = part(moved, dim, u64::try_from(start).ok()?)?;
    if count == 0 {
        return None;
    }
    moved.layout.dims[dim] = usize::try_from(count).ok()?.into();
    moved.layout.strides[dim] = moved.layout.strides[dim].times(&Extent::Fixed(step.cast_unsigned()))?;
    checked(facts, moved)
}

fn split(facts: &Facts<'_>, call: &Called<'_>) -> Option<Vec<Moved>> {
    let from = call.tensor(0)?;
    let (sizes, results) = (call.ints(1)?, call.tensors(3));
    let dim = at(call.int(2)?, dims(facts, from.value).len())?;
    let mut start = 0;
    let parts = sizes.iter().zip(results).map(|(size, to)| {
        let mut moved = part(whole(facts, from, *to)?, dim, start)?;
        let size = u64::try_from(*size).ok().filter(|size| *size > 0)?;
        moved.layout.dims[dim] = usize::try_from(size).ok()?.into();
        start += size;
        checked(facts, moved)
    });
    (sizes.len() == results.len()).then(|| parts.collect())?
}

/// Pieces of one memory behind each other.
fn adjacent(facts: &Facts<'_>, call: &Called<'_>) -> Option<Moved> {
    let (pieces, to) = (call.tensors(0), call.tensor(2)?);
    let mut moved = whole(facts, *pieces.first()?, to)?;
    let dim = at(call.int(1)?, moved.layout.dims.len())?;
    let mut end = moved.offset.clone();
    for piece in pieces {
        let (info, layout) = (&facts.recipe.values[piece.value as usize], facts.recipe.layout_of(piece.value));
        let alike = info.storage == moved.storage
            && (layout.dtype, &layout.strides) == (moved.layout.dtype, &moved.layout.strides)
            && info.offset == end;
        end = info.offset.plus(&step(layout, dim).filter(|_| alike)?)?;
    }
    moved.layout.dims[dim] = dims(facts, to.value)[dim];
    checked(facts, moved)
}

/// The view from an element of a dimension on.
fn part(mut moved: Moved, dim: usize, start: u64) -> Option<Moved> {
    let bytes = Extent::Fixed(start.checked_mul(moved.layout.dtype.size() as u64)?);
    moved.offset = moved.offset.plus(&moved.layout.strides[dim].times(&bytes)?)?;
    Some(moved)
}

/// A dimension, counted from the end where it is negative.
pub(super) fn at(dim: i64, rank: usize) -> Option<usize> {
    usize::try_from(if dim < 0 { dim + rank as i64 } else { dim }).ok().filter(|dim| *dim < rank)
}
