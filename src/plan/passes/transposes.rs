//! Matrices that are turned for a product: it reads them where they are.

use crate::plan::recipe::Access;
use crate::plan::recipe::layout::Layout;

use super::called::Called;
use super::edit::Edit;
use super::facts::Facts;
use super::group::dtype;

pub(super) const NAME: &str = "needless_transposes";

/// Products, which take matrices with any strides, and the parameters that are matrices.
const PRODUCTS: [(&str, [usize; 2]); 5] = [
    ("aclnnMatmul", [0, 1]),
    ("aclnnMm", [0, 1]),
    ("aclnnBatchMatMul", [0, 1]),
    ("aclnnAddmm", [1, 2]),
    ("aclnnBaddbmm", [1, 2]),
];

/// Leaves out permutations that exchange the last two dimensions for products alone, which read a view instead.
#[inline(never)]
pub(super) fn run(facts: &Facts<'_>) -> Edit {
    let recipe = facts.recipe;
    let mut edit = Edit::of(recipe);
    for node in 0..recipe.nodes.len() as u32 {
        let Some(call) = facts.called(node).filter(|call| call.is(&["aclnnPermute"])) else { continue };
        let (Some(from), Some(to)) = (call.tensor(0), call.tensor(2)) else { continue };
        let Some(layout) = turned(facts, &call, from) else { continue };
        let uses = facts.plan.uses.storage(recipe.storage_of(to.value)).iter();
        let mut readers: Vec<u32> = uses.map(|one| one.node).filter(|user| *user != node).collect();
        readers.dedup();
        let fits = facts.is_fresh(&to)
            && !facts.is_touched(to.value)
            && dtype(facts, to.value) == dtype(facts, from.value)
            && !readers.is_empty()
            && readers.iter().all(|reader| can_turn(facts, &edit, (node, *reader), from, to));
        if !fits {
            continue;
        }
        let info = &recipe.values[from.value as usize];
        let view = edit.value(recipe, info.storage, info.offset.clone(), layout);
        edit.remove(recipe, NAME, node, "the products behind it read a view", None);
        for reader in readers {
            let own = &recipe.nodes[reader as usize];
            let swapped =
                |one: &Access| Access { value: if one.value == to.value { view } else { one.value }, ..*one };
            let accesses = recipe.accesses_of(own).iter().map(swapped).collect();
            edit.rewrite(reader, own.kind, accesses);
        }
    }
    edit
}

/// The layout of what is permuted with its last two dimensions exchanged, when that is the order.
fn turned(facts: &Facts<'_>, call: &Called<'_>, from: Access) -> Option<Layout> {
    let mut layout = facts.recipe.layout_of(from.value).clone();
    let rank = layout.dims.len();
    let order = call.ints(1)?.iter().map(|dim| if *dim < 0 { dim + rank as i64 } else { *dim });
    let mut swapped: Vec<i64> = (0..rank as i64).collect();
    if rank < 2 {
        return None;
    }
    swapped.swap(rank - 2, rank - 1);
    layout.dims.swap(rank - 2, rank - 1);
    layout.strides.swap(rank - 2, rank - 1);
    order.eq(swapped).then_some(layout)
}

/// Whether a reader takes the view: a product that reads the copy as a matrix alone, while the original is what it was.
fn can_turn(facts: &Facts<'_>, edit: &Edit, (node, reader): (u32, u32), from: Access, to: Access) -> bool {
    let Some(call) = facts.called(reader) else { return false };
    let Some((_, matrices)) = PRODUCTS.iter().find(|(name, _)| call.is(&[name])) else { return false };
    let recipe = facts.recipe;
    let own = recipe.accesses_of(&recipe.nodes[reader as usize]);
    let uses = || own.iter().filter(|one| recipe.storage_of(one.value) == recipe.storage_of(to.value));
    let as_matrix = || matrices.iter().filter_map(|at| call.tensor(*at)).filter(|one| one.value == to.value);
    let writes_it = |one: &Access| one.mode.writes() && recipe.storage_of(one.value) == recipe.storage_of(from.value);
    !edit.changes_node(reader)
        && facts.plan.order.before(node, reader)
        && uses().count() == as_matrix().count()
        && !own.iter().any(writes_it)
        && !facts.may_change(from.value, node, reader)
}
