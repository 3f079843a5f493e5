//! A product of matrices and a sum: one operator.

use crate::error::Result;
use crate::op::{CubeMath, DataType, aclnn};
use crate::plan::recipe::operator::broadcast;
use crate::plan::recipe::{Access, Recipe};

use super::called::Called;
use super::edit::Edit;
use super::facts::Facts;
use super::replacing::{Replacing, value};

pub(super) const NAME: &str = "fused_products";

/// Lets sums of a product and something else compute the product too.
pub(super) fn run(facts: &Facts<'_>) -> Result<Edit> {
    let recipe = facts.recipe;
    let mut edit = Edit::of(recipe);
    for index in 0..recipe.nodes.len() as u32 {
        let Some((a, b, out)) = facts.called(index).and_then(|call| sum(&call)) else { continue };
        for (product, bias) in [(&a, &b), (&b, &a)] {
            if facts.is_touched(product.value) {
                continue;
            }
            let Some((first, [bias, a, b, out])) = fused(facts, index, (product, bias, &out)) else { continue };
            let of = |one: Access| value(one.value);
            let math = CubeMath::KeepType.raw();
            let replacing = Replacing::of(|to| {
                aclnn::addmm(to, &of(bias), &of(a), &of(b), 1.0_f32, 1.0_f32, &mut of(out), math)
            })?;
            edit.remove(recipe, NAME, first, "its product is part of", Some(index));
            edit.call(recipe, index, replacing);
            break;
        }
    }
    Ok(edit)
}

/// The operands and the result of a plain sum.
fn sum(call: &Called<'_>) -> Option<(Access, Access, Access)> {
    let is_plain = call.is(&["aclnnAdd"]) && call.scalar(2) == Some(1.0);
    is_plain.then_some((call.tensor(0)?, call.tensor(1)?, call.tensor(3)?))
}

/// The node of the product, and what the sum works with when it computes that too.
fn fused(
    facts: &Facts<'_>,
    sum: u32,
    (product, bias, out): (&Access, &Access, &Access),
) -> Option<(u32, [Access; 4])> {
    let recipe = facts.recipe;
    // The product is written, and read by the sum alone.
    let [write, read] = facts.plan.uses.storage(recipe.storage_of(product.value)) else { return None };
    let (first, written) = (write.node, recipe.access(write));
    let (node, own) = (&recipe.nodes[first as usize], &recipe.nodes[sum as usize]);
    let [a, b, result] = recipe.accesses_of(node) else { return None };
    let layout = |value| (recipe.values[value as usize].layout, &recipe.values[value as usize].offset);
    let storages = |one: &Access| recipe.storage_of(one.value);
    let fits = is_product(facts, first, a, b)
        && read.node == sum
        && facts.is_fresh(&written)
        && layout(product.value) == layout(result.value)
        && (node.tag, node.cores) == (own.tag, own.cores)
        && takes_bias(recipe, product, bias, out)
        && [a, b, bias].iter().all(|one| storages(one) != storages(out))
        && [a, b].iter().all(|one| !facts.may_change(one.value, first, sum));
    fits.then_some((first, [*bias, *a, *b, *out]))
}

fn is_product(facts: &Facts<'_>, node: u32, a: &Access, b: &Access) -> bool {
    let is_matrix = |one: &Access| {
        let layout = facts.recipe.layout_of(one.value);
        layout.dims.len() == 2 && layout.dtype == DataType::F32
    };
    let keeps_type = i64::from(CubeMath::KeepType.raw());
    let product = |call: Called<'_>| call.is(&["aclnnMatmul", "aclnnMm"]) && call.int(3) == Some(keeps_type);
    facts.called(node).is_some_and(product) && is_matrix(a) && is_matrix(b)
}

/// Whether the sum has the shape of the product.
fn takes_bias(recipe: &Recipe, product: &Access, bias: &Access, out: &Access) -> bool {
    let dims = |one: &Access| &recipe.layout_of(one.value).dims[..];
    dims(out) == dims(product) && broadcast(dims(bias), dims(product)).is_ok_and(|all| all == dims(product))
}
