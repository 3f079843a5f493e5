//! Weights that products alone read: brought into FRACTAL_NZ once, when an executable is made.

use std::collections::HashMap;

use crate::error::Result;
use crate::op::DataType::{Bf16, F16};
use crate::op::{BLOCK_ROWS, aclnn, block_columns};
use crate::plan::recipe::Access;
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::symbols::dim::Dim;

use super::called::Called;
use super::edit::Edit;
use super::facts::{Facts, MOST_USES};
use super::relaid::{Budget, is_given};
use super::replacing::{Replacing, value};

pub(super) const NAME: &str = "blocked_weights";

const DONE: (&str, &str) = (NAME, "its weight is brought into FRACTAL_NZ once, when an executable is made");

/// Lets products of two matrices read their weights in blocks, in which cards multiply them.
pub(super) fn run(facts: &Facts<'_>, most: u64) -> Result<Edit> {
    let recipe = facts.recipe;
    let (mut edit, mut budget) = (Edit::of(recipe), Budget::of(recipe, most));
    let written = recipe.written();
    // By memory, where each weight is in blocks; none where it stays as it is.
    let mut blocks: HashMap<u32, Option<u32>> = HashMap::new();
    for node in 0..recipe.nodes.len() as u32 {
        let Some([_, weight, _]) = facts.called(node).and_then(|call| product(facts, &call)) else { continue };
        let memory = recipe.storage_of(weight.value);
        let known = match blocks.get(&memory) {
            Some(known) => *known,
            None => {
                let fits = is_given(facts, &written, weight.value) && read_by_products(facts, weight.value, node);
                let made = if fits { lay(&mut edit, facts, (weight.value, node), &mut budget)? } else { None };
                blocks.insert(memory, made);
                made
            }
        };
        let Some(known) = known else { continue };
        let Some(call) = facts.called(node) else { continue };
        let replacing = with_blocks(&call, known)?;
        edit.call(recipe, node, replacing);
        edit.tell(recipe, DONE, node);
    }
    Ok(edit)
}

/// What is multiplied, the weight, and the result, of a product of two matrices that can read the weight in blocks.
fn product(facts: &Facts<'_>, call: &Called<'_>) -> Option<[Access; 3]> {
    if !call.is(&["aclnnMatmul", "aclnnMm"]) {
        return None;
    }
    call.int(3)?;
    let all @ [x, weight, out] = [call.tensor(0)?, call.tensor(1)?, call.tensor(2)?];
    let layout = |one: Access| facts.recipe.layout_of(one.value);
    let dtype = layout(weight).dtype;
    let alike = all.iter().all(|one| layout(*one).dims.len() == 2 && layout(*one).dtype == dtype);
    let whole = |dim: usize, block: usize| {
        layout(weight).dims[dim].as_fixed().is_some_and(|size| size > 0 && size.is_multiple_of(block))
    };
    let fits = alike
        && [F16, Bf16].contains(&dtype)
        && whole(0, BLOCK_ROWS)
        && whole(1, block_columns(dtype))
        && facts.recipe.storage_of(x.value) != facts.recipe.storage_of(weight.value)
        && facts.recipe.storage_of(out.value) != facts.recipe.storage_of(weight.value);
    fits.then_some(all)
}

/// Whether all that reads the memory of a weight are such products of it, behind the first one.
fn read_by_products(facts: &Facts<'_>, weight: u32, first: u32) -> bool {
    let uses = facts.plan.uses.storage(facts.recipe.storage_of(weight));
    let reads = |node: u32| {
        let call = facts.called(node).and_then(|call| product(facts, &call));
        call.is_some_and(|[_, own, _]| facts.is_same(own.value, weight))
            && (node == first || facts.plan.order.before(first, node))
    };
    uses.len() <= MOST_USES && !facts.is_touched(weight) && uses.iter().all(|one| reads(one.node))
}

/// The weight in blocks `[n / n0, k / 16, 16, n0]`, laid by an operator before a node; none where there is no room.
fn lay(edit: &mut Edit, facts: &Facts<'_>, (weight, node): (u32, u32), budget: &mut Budget) -> Result<Option<u32>> {
    let (recipe, info) = (facts.recipe, &facts.recipe.values[weight as usize]);
    let Some([split, laid]) = layouts(recipe.layout_of(weight)) else { return Ok(None) };
    let Some(bytes) = laid.bytes().filter(|bytes| bytes.as_fixed().is_some_and(|bytes| budget.take(bytes))) else {
        return Ok(None);
    };
    let split = edit.value(recipe, info.storage, info.offset.clone(), split);
    let storage = edit.memory(recipe, bytes);
    let laid = edit.value(recipe, storage, Extent::Fixed(0), laid);
    let laying = Replacing::of(|to| aclnn::permute(to, &value(split), &[2, 0, 1, 3], &mut value(laid)))?;
    edit.call_once(recipe, node, storage, laying);
    Ok(Some(laid))
}

/// A matrix seen in blocks, `[k / 16, 16, n / n0, n0]`, and the storage of FRACTAL_NZ.
fn layouts(matrix: &Layout) -> Option<[Layout; 2]> {
    let (rows, columns) = (BLOCK_ROWS, block_columns(matrix.dtype));
    let [k, n] = [matrix.dims[0].as_fixed()? / rows, matrix.dims[1].as_fixed()? / columns].map(Dim::from);
    let [down, right] = [&matrix.strides[0], &matrix.strides[1]];
    let far = |step: &Extent, by: usize| step.times(&Extent::Fixed(by as u64));
    let strides = vec![far(down, rows)?, down.clone(), far(right, columns)?, right.clone()];
    let split = Layout { dtype: matrix.dtype, dims: vec![k, rows.into(), n, columns.into()], strides };
    Some([split, Layout::dense(matrix.dtype, &[n, k, rows.into(), columns.into()])?])
}

fn with_blocks(call: &Called<'_>, blocks: u32) -> Result<Replacing> {
    let tensor = |at: usize| value(call.tensor(at).map_or(0, |one| one.value));
    let math = call.int(3).unwrap_or(0) as i8;
    Replacing::of(|to| aclnn::matmul_weight_nz(to, &tensor(0), &value(blocks), &mut tensor(2), math))
}
