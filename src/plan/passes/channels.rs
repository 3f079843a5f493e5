//! Normalisations of channels with statistics that are known: one operator.

use crate::error::Result;
use crate::op::DataType::F32;
use crate::op::aclnn;
use crate::plan::recipe::layout::Layout;
use crate::plan::recipe::uses::Use;
use crate::plan::recipe::{Access, StorageKind};
use crate::plan::symbols::dim::Dim;

use super::edit::Edit;
use super::facts::{Facts, MOST_USES};
use super::group::{Group, dims, dtype, orders};
use super::norms::NAME;
use super::replacing::{Replacing, value};

/// The operands: what is normalised, and a number for each channel each.
struct Channels {
    x: Access,
    mean: Access,
    scale: Access,
    weight: Access,
    bias: Access,
}

impl Channels {
    /// With the inverse of a deviation as what is scaled by: libraries of CANN take the variance out of it, and so lose a
    /// sign.
    fn by_deviation(self, facts: &Facts<'_>) -> Option<Self> {
        let Self { scale, weight, .. } = self;
        match [scale, weight].map(|factor| is_inverse_root(facts, factor)) {
            [true, _] => Some(self),
            [false, true] => Some(Self { scale: weight, weight: scale, ..self }),
            [false, false] => None,
        }
    }
}

/// Inverse deviations of which f32 has the variance.
const VARIED: std::ops::Range<f32> = 1e-18..1e18;

/// Whether operators wrote all of this memory that make nothing negative, or all numbers of it are such, as of one that was folded.
fn is_inverse_root(facts: &Facts<'_>, read: Access) -> bool {
    if let StorageKind::Constant(constant) = facts.kind(read.value) {
        let bytes = facts.recipe.constants[constant as usize].as_chunks().0;
        return bytes.iter().all(|number| VARIED.contains(&f32::from_le_bytes(*number)));
    }
    let uses = facts.plan.uses.storage(facts.recipe.storage_of(read.value));
    let makes = |one: &Use| facts.called(one.node).is_some_and(|call| call.is(&["aclnnRsqrt"]));
    let own = matches!(facts.kind(read.value), StorageKind::Temporary | StorageKind::Once);
    own && uses.len() <= MOST_USES && uses.iter().filter(|one| facts.recipe.access(one).mode.writes()).all(makes)
}

/// Lets `(x - mean) · scale · weight + bias` be one operator, where the last node is the sum.
pub(super) fn batch_norm(edit: &mut Edit, facts: &Facts<'_>, last: u32) -> Result<()> {
    let Some(call) = facts.called(last) else { return Ok(()) };
    let (Some(pairs), Some(y), Some(1.0)) = (orders(&call), call.tensor(3), call.scalar(2)) else { return Ok(()) };
    for (product, bias) in pairs {
        let mut group = Group::of(facts, last);
        let Some(found) = shifted(&mut group, product, bias).and_then(|found| found.by_deviation(facts)) else {
            continue;
        };
        let numbers = [found.weight, found.bias, found.mean, found.scale];
        let Some(lines) = fits(facts, &found, &numbers, y) else { continue };
        if !group.is_closed(&[]) || group.is_taken(edit) {
            continue;
        }
        let mut lines = numbers.iter().zip(lines).map(|(one, layout)| {
            let info = &facts.recipe.values[one.value as usize];
            value(edit.value(facts.recipe, info.storage, info.offset.clone(), layout))
        });
        let (Some(weight), Some(bias), Some(mean), Some(scale)) =
            (lines.next(), lines.next(), lines.next(), lines.next())
        else {
            return Ok(());
        };
        drop(lines);
        let replacing = Replacing::of(|to| {
            let (x, y) = (value(found.x.value), &mut value(y.value));
            aclnn::batch_norm_elemt(to, &x, Some(&weight), Some(&bias), &mean, &scale, 0.0, y)
        })?;
        group.replace(edit, NAME, "aclnnBatchNormElemt computes it, in place of", replacing);
        return Ok(());
    }
    Ok(())
}

fn shifted(group: &mut Group<'_>, product: Access, bias: Access) -> Option<Channels> {
    let product = group.made_by(product, &["aclnnMul"])?;
    orders(&product)?.into_iter().find_map(|(norm, weight)| {
        let mut longer = group.clone();
        let norm = longer.made_by(norm, &["aclnnMul"])?;
        let found = orders(&norm)?.into_iter().find_map(|(centred, scale)| {
            let mut longer = longer.clone();
            let centred = longer.made_by(centred, &["aclnnSub"]).filter(|call| call.scalar(2) == Some(1.0))?;
            let (x, mean) = (centred.tensor(0)?, centred.tensor(1)?);
            Some((longer, Channels { x, mean, scale, weight, bias }))
        })?;
        *group = found.0;
        Some(found.1)
    })
}

/// The layouts of the numbers of channels by themselves: none where one has another shape or type than it takes.
fn fits(facts: &Facts<'_>, found: &Channels, numbers: &[Access], y: Access) -> Option<Vec<Layout>> {
    let (x, one) = (dims(facts, found.x.value), dtype(facts, y.value));
    let fits = x.len() >= 2
        && dims(facts, y.value) == x
        // The variance of smaller types may be none, or none that is finite.
        && one == F32
        && numbers.iter().chain([&found.x]).all(|operand| dtype(facts, operand.value) == one);
    if !fits {
        return None;
    }
    numbers.iter().map(|operand| line(facts.recipe.layout_of(operand.value), x)).collect()
}

/// A layout that is broadcast from the channels of `x`, with that dimension alone.
fn line(layout: &Layout, x: &[Dim]) -> Option<Layout> {
    let at = layout.dims.len().checked_sub(x.len() - 1)?;
    let others = layout.dims.iter().enumerate().filter(|(dim, _)| *dim != at);
    let fits = at <= 1 && layout.dims[at] == x[1] && others.into_iter().all(|(_, size)| *size == Dim::from(1));
    let (dims, strides) = (vec![layout.dims[at]], vec![layout.strides[at].clone()]);
    fits.then_some(Layout { dtype: layout.dtype, dims, strides })
}
