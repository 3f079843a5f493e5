//! Normalisations by the root of the mean square, and sums in front of those and of layer norms: one operator.

use crate::error::Result;
use crate::op::DataType::{Bf16, F16, F32};
use crate::op::aclnn;
use crate::plan::recipe::Access;
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::symbols::dim::Dim;
use crate::sort;

use super::called::Called;
use super::channels;
use super::edit::Edit;
use super::facts::Facts;
use super::group::{Group, dims, dtype, orders};
use super::replacing::{Replacing, value};

pub(super) const NAME: &str = "fused_norms";

/// Lets the last operator of a normalisation do all of it, and a normalisation the sum in front of it.
#[inline(never)]
pub(super) fn run(facts: &Facts<'_>) -> Result<Edit> {
    let mut edit = Edit::of(facts.recipe);
    // A cast behind a product is part of it, so it is looked at first.
    for last in (0..facts.recipe.nodes.len() as u32).rev() {
        let Some(call) = facts.called(last) else { continue };
        if call.is(&["aclnnRmsNorm"]) {
            after_sum(&mut edit, Group::of(facts, last), &call)?;
        } else if call.is(&["aclnnLayerNorm"]) {
            layer_norm_after_sum(&mut edit, Group::of(facts, last), &call)?;
        } else if call.is(&["aclnnMul", "aclnnCast"]) {
            rms_norm(&mut edit, Group::of(facts, last), &call)?;
        } else if call.is(&["aclnnAdd"]) {
            channels::batch_norm(&mut edit, facts, last)?;
        }
    }
    Ok(edit)
}

/// What is normalised: `x`, with its deviations, a number in front of them, and the dimensions at its end.
struct Normalised {
    x: Access,
    rstd: u32,
    eps: f64,
    dims: Vec<i64>,
}

#[inline(never)]
fn rms_norm(edit: &mut Edit, group: Group<'_>, call: &Called<'_>) -> Result<()> {
    let Some(y) = call.tensor(2) else { return Ok(()) };
    for (all, weight, norm) in weighted(&group, call) {
        let Some((mut all, mut found)) = normalised(all, norm) else { continue };
        if dtype(group.facts, y.value) != F32 {
            found.x = all.through(found.x, "aclnnCast", |cast| cast.tensor(0));
        }
        if fits(group.facts, &found, weight.value, y.value) && all.is_closed(&[]) && !all.is_taken(edit) {
            let (x, gamma) = (value(found.x.value), value(weight.value));
            let replacing = Replacing::of(|to| {
                aclnn::rms_norm(to, &x, &gamma, found.eps, &mut value(y.value), &mut value(found.rstd))
            })?;
            all.replace(edit, NAME, "aclnnRmsNorm computes it, in place of", replacing);
            return Ok(());
        }
    }
    Ok(())
}

/// The product with a weight, before it is cast where it is: the group, the weight, and what it is multiplied with.
fn weighted<'f>(group: &Group<'f>, call: &Called<'f>) -> Vec<(Group<'f>, Access, Access)> {
    let (mut group, facts, is_cast) = (group.clone(), group.facts, call.is(&["aclnnCast"]));
    let pairs = if is_cast {
        let from = call.tensor(0).filter(|from| dtype(facts, from.value) == F32);
        let product = from.and_then(|from| group.made_by(from, &["aclnnMul"]));
        product.as_ref().and_then(orders)
    } else {
        orders(call)
    };
    // Other casts change numbers: those to integers cut off.
    let wanted = if is_cast { Some(F32) } else { call.tensor(2).map(|y| dtype(facts, y.value)) };
    let uncast = |(norm, weight): (Access, Access)| {
        let (mut group, read) = (group.clone(), if is_cast { weight } else { norm });
        let fits = wanted == Some(dtype(facts, read.value));
        let uncast = if fits { group.through(read, "aclnnCast", |cast| cast.tensor(0)) } else { read };
        if is_cast { (group, uncast, norm) } else { (group, weight, uncast) }
    };
    pairs.into_iter().flatten().map(uncast).collect()
}

/// `x · rsqrt(mean(x²) + eps)` or `x / sqrt(mean(x²) + eps)`.
#[inline(never)]
fn normalised<'f>(mut group: Group<'f>, norm: Access) -> Option<(Group<'f>, Normalised)> {
    let call = group.made_by(norm, &["aclnnMul", "aclnnDiv"]).filter(|_| dtype(group.facts, norm.value) == F32)?;
    let [straight, turned] = orders(&call)?;
    if call.is(&["aclnnDiv"]) {
        return scaled(group, straight, "aclnnSqrt");
    }
    scaled(group.clone(), straight, "aclnnRsqrt").or_else(|| scaled(group, turned, "aclnnRsqrt"))
}

fn scaled<'f>(mut group: Group<'f>, (x, scale): (Access, Access), root: &str) -> Option<(Group<'f>, Normalised)> {
    let shifted = group.made_by(scale, &[root])?.tensor(0)?;
    let shifted = group.made_by(shifted, &["aclnnAdds"])?;
    // The operator keeps what is nothing, infinite or coarse as a number of 32 bits.
    let eps = shifted.scalar(1).filter(|eps| *eps == 0.0 || (*eps as f32).is_normal())?;
    let eps = Some(eps).filter(|_| shifted.scalar(2) == Some(1.0))?;
    let mean = group.made_by(shifted.tensor(0)?, &["aclnnMean"])?;
    let keeps = mean.int(2) == Some(1);
    let square = group.made_by(mean.tensor(0)?, &["aclnnMul", "aclnnPowTensorScalar", "aclnnSquare"])?;
    let root_of = square.tensor(0)?;
    let is_square = match square.name {
        "aclnnMul" => group.facts.is_same(root_of.value, square.tensor(1)?.value),
        "aclnnPowTensorScalar" => square.scalar(1) == Some(2.0),
        _ => true,
    };
    let facts = group.facts;
    let squared = square.tensor(if square.is(&["aclnnSquare"]) { 1 } else { 2 })?;
    let computed = [x.value, scale.value, squared.value, mean.tensor(4)?.value, shifted.tensor(3)?.value];
    let fits = keeps
        && is_square
        && facts.is_same(x.value, root_of.value)
        && computed.iter().all(|value| dtype(facts, *value) == F32);
    let dims = mean.ints(1)?.to_vec();
    fits.then_some((group, Normalised { x, rstd: scale.value, eps, dims }))
}

/// Whether the weight is of the shape of the end of `x`, over which the mean is, and all are of one type.
fn fits(facts: &Facts<'_>, found: &Normalised, weight: u32, y: u32) -> bool {
    let (x, gamma) = (dims(facts, found.x.value), dims(facts, weight));
    let rank = x.len() as i64;
    let mut over: Vec<i64> = found.dims.iter().map(|dim| if *dim < 0 { dim + rank } else { *dim }).collect();
    sort::plain(&mut over);
    let types = [F32, F16, Bf16];
    let one = dtype(facts, found.x.value);
    !gamma.is_empty()
        && x.ends_with(gamma)
        && over == (rank - gamma.len() as i64..rank).collect::<Vec<_>>()
        && dims(facts, y) == x
        && types.contains(&one)
        && [weight, y].iter().all(|value| dtype(facts, *value) == one)
}

/// Lets a normalisation compute the sum that it reads, and that others may read after it.
#[inline(never)]
fn after_sum(edit: &mut Edit, mut group: Group<'_>, norm: &Called<'_>) -> Result<()> {
    let (Some(sum), Some(gamma), Some(eps), Some(y), Some(rstd)) =
        (norm.tensor(0), norm.tensor(1), norm.real(2), norm.tensor(3), norm.tensor(4))
    else {
        return Ok(());
    };
    let call = group.made_by(sum, &["aclnnAdd"]).filter(|call| call.scalar(2) == Some(1.0));
    let Some([(a, b), _]) = call.as_ref().and_then(orders) else { return Ok(()) };
    let facts = group.facts;
    let alike = |one: u32| dims(facts, one) == dims(facts, sum.value) && dtype(facts, one) == dtype(facts, sum.value);
    if alike(a.value) && alike(b.value) && group.is_closed(&[sum.value]) && !group.is_taken(edit) {
        let replacing = Replacing::of(|to| {
            let (mut y, mut rstd, mut sum) = (value(y.value), value(rstd.value), value(sum.value));
            let (a, b, gamma) = (value(a.value), value(b.value), value(gamma.value));
            aclnn::add_rms_norm(to, &a, &b, &gamma, eps, &mut y, &mut rstd, &mut sum)
        })?;
        group.replace(edit, NAME, "aclnnAddRmsNorm computes it, in place of", replacing);
    }
    Ok(())
}

/// Lets a layer norm with a weight and a bias compute the sum that it reads, and that others may read after it.
#[inline(never)]
fn layer_norm_after_sum(edit: &mut Edit, mut group: Group<'_>, norm: &Called<'_>) -> Result<()> {
    let (Some(sum), Some(over), Some(gamma), Some(beta), Some(eps), Some(y)) =
        (norm.tensor(0), norm.ints(1), norm.tensor(2), norm.tensor(3), norm.real(4), norm.tensor(5))
    else {
        return Ok(());
    };
    let call = group.made_by(sum, &["aclnnAdd"]).filter(|call| call.scalar(2) == Some(1.0));
    let Some([(a, b), _]) = call.as_ref().and_then(orders) else { return Ok(()) };
    let facts = group.facts;
    let (x, one) = (dims(facts, sum.value), dtype(facts, sum.value));
    let (lead, end) = x.split_at(x.len().saturating_sub(over.len()));
    let is = |of: Access, dims_of: &[Dim]| dims(facts, of.value) == dims_of && dtype(facts, of.value) == one;
    let given = [norm.tensor(6), norm.tensor(7)];
    // Libraries of CANN say that they take one eps alone, and write results without gaps.
    let fits = [F32, F16, Bf16].contains(&one)
        && [1e-5, f64::from(1e-5_f32)].contains(&eps)
        && [Some(y), Some(sum), given[0], given[1]]
            .iter()
            .flatten()
            .all(|of| facts.recipe.layout_of(of.value).is_dense())
        && [a, b, y].iter().all(|of| is(*of, x))
        && [gamma, beta].iter().all(|of| is(*of, end))
        && given.iter().flatten().all(|of| dtype(facts, of.value) == F32);
    if !fits || !group.is_closed(&[sum.value]) || group.is_taken(edit) {
        return Ok(());
    }
    // What nobody reads needs not be written.
    let is_read = !group.is_closed(&[]);
    let statistics = Layout::dense(F32, &[lead, &vec![Dim::from(1); end.len()]].concat());
    let Some((statistics, bytes)) = statistics.and_then(|layout| Some((layout.clone(), layout.bytes()?))) else {
        return Ok(());
    };
    let [mean, rstd] = given.map(|of| match of {
        Some(of) => of.value,
        None => {
            let storage = edit.memory(facts.recipe, bytes.clone());
            edit.value(facts.recipe, storage, Extent::Fixed(0), statistics.clone())
        }
    });
    let replacing = Replacing::of(|to| {
        let [a, b, gamma, beta] = [a, b, gamma, beta].map(|of| value(of.value));
        let (mut y, mut mean, mut rstd, mut sum) = (value(y.value), value(mean), value(rstd), value(sum.value));
        aclnn::add_layer_norm(to, &a, &b, &gamma, &beta, None, eps, is_read, &mut y, &mut mean, &mut rstd, &mut sum)
    })?;
    let replacing = if is_read { replacing } else { replacing.leaving_the_last() };
    group.replace(edit, NAME, "aclnnAddLayerNorm computes it, in place of", replacing);
    Ok(())
}
