//! A product of matrices and a sum: one operator.

use crate::op::{CubeMath, DataType};
use crate::plan::recipe::operator::{Operator, broadcast};
use crate::plan::recipe::{Access, Mode, Node, NodeKind, Recipe};

use super::edit::Edit;
use super::facts::Facts;

pub(super) const NAME: &str = "fused_products";

/// Lets sums of a product and something else compute the product too.
pub(super) fn run(facts: &Facts<'_>) -> Edit {
    let recipe = facts.recipe;
    let mut edit = Edit::of(recipe);
    let mut touched = vec![false; recipe.storages.len()];
    for access in recipe.accesses.iter().filter(|access| access.mode == Mode::Touch) {
        touched[recipe.storage_of(access.value) as usize] = true;
    }
    for (index, node) in recipe.nodes.iter().enumerate() {
        let (NodeKind::Op(Operator::Add), [a, b, out]) = (node.kind, recipe.accesses_of(node)) else { continue };
        for (product, bias) in [(a, b), (b, a)] {
            if touched[recipe.storage_of(product.value) as usize] {
                continue;
            }
            let Some((first, operands)) = fused(facts, index as u32, (product, bias, out)) else { continue };
            edit.remove(recipe, NAME, first, "its product is part of", Some(index as u32));
            edit.rewrite(index as u32, NodeKind::Op(Operator::Addmm), operands);
            break;
        }
    }
    edit
}

/// The node of the product, and what the sum works with when it computes that too.
fn fused(
    facts: &Facts<'_>,
    sum: u32,
    (product, bias, out): (&Access, &Access, &Access),
) -> Option<(u32, Vec<Access>)> {
    let recipe = facts.recipe;
    // The product is written, and read by the sum alone.
    let [write, read] = facts.plan.uses.storage(recipe.storage_of(product.value)) else { return None };
    let (first, written) = (write.node, recipe.access(write));
    let (node, own) = (&recipe.nodes[first as usize], &recipe.nodes[sum as usize]);
    let [a, b, result] = recipe.accesses_of(node) else { return None };
    let layout = |value| (recipe.values[value as usize].layout, &recipe.values[value as usize].offset);
    let storages = |one: &Access| recipe.storage_of(one.value);
    let fits = is_product(recipe, node, a, b)
        && read.node == sum
        && facts.is_fresh(&written)
        && layout(product.value) == layout(result.value)
        && (node.tag, node.cores) == (own.tag, own.cores)
        && takes_bias(recipe, product, bias, out)
        && [a, b, bias].iter().all(|one| storages(one) != storages(out))
        && [a, b].iter().all(|one| !facts.may_change(one.value, first, sum));
    fits.then(|| (first, vec![*bias, *a, *b, *out]))
}

fn is_product(recipe: &Recipe, node: &Node, a: &Access, b: &Access) -> bool {
    let is_matrix = |one: &Access| {
        let layout = recipe.layout_of(one.value);
        layout.dims.len() == 2 && layout.dtype == DataType::F32
    };
    let product = matches!(node.kind, NodeKind::Op(Operator::Mm | Operator::Matmul { math: CubeMath::KeepType }));
    product && is_matrix(a) && is_matrix(b)
}

/// Whether the sum has the shape of the product.
fn takes_bias(recipe: &Recipe, product: &Access, bias: &Access, out: &Access) -> bool {
    let dims = |one: &Access| &recipe.layout_of(one.value).dims[..];
    dims(out) == dims(product) && broadcast(dims(bias), dims(product)).is_ok_and(|all| all == dims(product))
}
