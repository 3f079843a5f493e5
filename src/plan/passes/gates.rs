//! A gate between two halves of one tensor: one operator.

use crate::error::Result;
use crate::op::DataType::{Bf16, F16, F32};
use crate::op::aclnn;
use crate::plan::recipe::Access;
use crate::plan::recipe::layout::Layout;

use super::called::Called;
use super::edit::Edit;
use super::facts::Facts;
use super::group::{Group, dims, doubled, dtype, orders, step};
use super::replacing::{Replacing, value};

pub(super) const NAME: &str = "fused_gates";

/// Lets products of `silu` of one half with the other half compute that too.
#[inline(never)]
pub(super) fn run(facts: &Facts<'_>) -> Result<Edit> {
    let mut edit = Edit::of(facts.recipe);
    for last in 0..facts.recipe.nodes.len() as u32 {
        let Some(call) = facts.called(last).filter(|call| call.is(&["aclnnMul"])) else { continue };
        let (Some(pairs), Some(y)) = (orders(&call), call.tensor(2)) else { continue };
        for (active, up) in pairs {
            if gate(&mut edit, Group::of(facts, last), (active, up, y))? {
                break;
            }
        }
    }
    Ok(edit)
}

/// Where both halves are: a value, or what a layout of some memory would be.
enum Whole {
    Value(u32),
    Around(Layout),
}

fn gate(edit: &mut Edit, mut group: Group<'_>, (active, up, y): (Access, Access, Access)) -> Result<bool> {
    let facts = group.facts;
    let Some(gate) = activated(&mut group, active) else { return Ok(false) };
    let narrow = [F32, F16, Bf16].contains(&dtype(facts, y.value));
    let alike = [gate, up].iter().all(|one| {
        dtype(facts, one.value) == dtype(facts, y.value) && dims(facts, one.value) == dims(facts, y.value)
    });
    if !narrow || !alike || dtype(facts, active.value) != dtype(facts, y.value) {
        return Ok(false);
    }
    let Some((whole, dim)) = around(facts, gate, up).or_else(|| split(&mut group, gate, up)) else {
        return Ok(false);
    };
    if !group.is_closed(&[]) || group.is_taken(edit) {
        return Ok(false);
    }
    // Libraries of CANN take neither with gaps.
    let layout = match &whole {
        Whole::Value(whole) => facts.recipe.layout_of(*whole),
        Whole::Around(layout) => layout,
    };
    if !layout.is_dense() || !facts.recipe.layout_of(y.value).is_dense() {
        return Ok(false);
    }
    let whole = match whole {
        Whole::Value(whole) => whole,
        Whole::Around(layout) => {
            let info = &facts.recipe.values[gate.value as usize];
            edit.value(facts.recipe, info.storage, info.offset.clone(), layout)
        }
    };
    let replacing = Replacing::of(|to| aclnn::swi_glu(to, &value(whole), dim as i64, &mut value(y.value)))?;
    group.replace(edit, NAME, "aclnnSwiGlu computes it, in place of", replacing);
    Ok(true)
}

/// What `silu` is of: one operator, or a product with the sigmoid.
fn activated(group: &mut Group<'_>, active: Access) -> Option<Access> {
    let call = group.made_by(active, &["aclnnSilu", "aclnnMul"])?;
    if call.is(&["aclnnSilu"]) {
        return call.tensor(0);
    }
    let facts = group.facts;
    orders(&call)?.into_iter().find_map(|(gate, share)| {
        let mut longer = group.clone();
        let sigmoid = longer.made_by(share, &["aclnnSigmoid"])?;
        let fits = facts.is_same(sigmoid.tensor(0)?.value, gate.value)
            && dtype(facts, share.value) == dtype(facts, gate.value);
        *group = longer;
        fits.then_some(gate)
    })
}

/// Views of one memory of which the second begins where the first ends, in some dimension.
fn around(facts: &Facts<'_>, gate: Access, up: Access) -> Option<(Whole, usize)> {
    let (layout, at) = (facts.recipe.layout_of(gate.value), |one: Access| &facts.recipe.values[one.value as usize]);
    let (first, second) = (at(gate), at(up));
    if (first.storage, first.layout) != (second.storage, second.layout) {
        return None;
    }
    let follows = |dim: &usize| {
        let end = step(layout, *dim).and_then(|step| first.offset.plus(&step));
        end.as_ref() == Some(&second.offset) && layout.dims[*dim].as_fixed() != Some(0)
    };
    let dim = (0..layout.dims.len()).rev().find(follows)?;
    Some((Whole::Around(doubled(layout, dim)?), dim))
}

/// Both results of an operator that splits.
fn split(group: &mut Group<'_>, gate: Access, up: Access) -> Option<(Whole, usize)> {
    let facts = group.facts;
    let call: Called<'_> = group.made_by(gate, &["aclnnSplitWithSize"])?;
    let [first, second] = call.tensors(3) else { return None };
    let (whole, rank) = (call.tensor(0)?, dims(facts, gate.value).len() as i64);
    let dim = call.int(2).map(|dim| if dim < 0 { dim + rank } else { dim })?;
    let fits = facts.is_same(first.value, gate.value)
        && facts.is_same(second.value, up.value)
        && dtype(facts, whole.value) == dtype(facts, gate.value)
        && (0..rank).contains(&dim);
    fits.then_some((Whole::Value(whole.value), dim as usize))
}
