//! A product of matrices and a sum: one operator.

use crate::error::Result;
use crate::op::DataType::{Bf16, F16, F32};
use crate::op::{CubeMath, aclnn};
use crate::plan::recipe::Access;
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::recipe::operator::broadcast;
use crate::plan::symbols::dim::Dim;
use crate::sort;

use super::called::Called;
use super::edit::Edit;
use super::elements::{exact, times};
use super::facts::Facts;
use super::group::{Group, dims, dtype};
use super::replacing::{Replacing, value};

pub(super) const NAME: &str = "fused_products";

const PRODUCTS: [&str; 3] = ["aclnnMatmul", "aclnnMm", "aclnnBatchMatMul"];

/// Lets sums of a product and something else compute the product too.
#[inline(never)]
pub(super) fn run(facts: &Facts<'_>) -> Result<Edit> {
    let mut edit = Edit::of(facts.recipe);
    for last in 0..facts.recipe.nodes.len() as u32 {
        let Some(sum) = facts.called(last).and_then(|call| Sum::of(&call)) else { continue };
        let fits = |fused: &Fused<'_>| fused.group.is_closed(&[]) && !fused.group.is_taken(&edit);
        if let Some(fused) = found(facts, last, &sum).into_iter().find(fits) {
            fused.replace(&mut edit)?;
        }
    }
    Ok(edit)
}

/// `x + times · y`
struct Sum {
    x: Access,
    y: Access,
    times: f64,
    out: Access,
}

impl Sum {
    fn of(call: &Called<'_>) -> Option<Self> {
        let times = match call.name {
            "aclnnAdd" => call.scalar(2)?,
            "aclnnSub" => -call.scalar(2)?,
            _ => return None,
        };
        Some(Self { x: call.tensor(0)?, y: call.tensor(1)?, times, out: call.tensor(3)? })
    }
}

/// `alpha · a · b + beta · bias`, and what computes it so far.
struct Fused<'f> {
    group: Group<'f>,
    a: Access,
    b: Access,
    bias: Access,
    out: Access,
    alpha: f32,
    beta: f32,
    form: Form,
}

/// How matrices stand in the operands.
enum Form {
    Matrices,
    /// As many on both sides.
    Batches,
    /// Rows in several dimensions times one matrix: what is multiplied, added and made, with the rows in one.
    Rows(Box<[Layout; 3]>),
}

/// A term of a sum: so many times an operand. As it stands, and what it is of where an operator multiplies it.
fn terms<'f>(group: &Group<'f>, term: Access, times: f64) -> Vec<(Group<'f>, Access, f64)> {
    let mut all = vec![(group.clone(), term, times)];
    let mut longer = group.clone();
    let call = longer.made_by(term, &["aclnnMuls", "aclnnNeg"]);
    let scaled = call.and_then(|call| {
        let own = if call.is(&["aclnnNeg"]) { -1.0 } else { call.scalar(1)? };
        let from = call.tensor(0).filter(|from| dtype(group.facts, from.value) == dtype(group.facts, term.value))?;
        Some((from, self::times(own, times)?))
    });
    all.extend(scaled.map(|(from, times)| (longer, from, times)));
    all
}

/// What a sum may be, with most operators in front.
fn found<'f>(facts: &'f Facts<'f>, last: u32, sum: &Sum) -> Vec<Fused<'f>> {
    let mut all = Vec::new();
    let own = Group::of(facts, last);
    for ((product, alpha), (bias, beta)) in [((sum.x, 1.0), (sum.y, sum.times)), ((sum.y, sum.times), (sum.x, 1.0))] {
        for (group, product, alpha) in terms(&own, product, alpha) {
            for (mut group, bias, beta) in terms(&group, bias, beta) {
                let call = group.made_by(product, &PRODUCTS);
                let fused = call.and_then(|call| fused(group, &call, (product, alpha), (bias, beta), sum.out));
                all.extend(fused);
            }
        }
    }
    sort::by_key(&mut all, |one| std::cmp::Reverse(one.group.len()));
    all
}

fn fused<'f>(
    group: Group<'f>,
    call: &Called<'_>,
    (product, alpha): (Access, f64),
    (bias, beta): (Access, f64),
    out: Access,
) -> Option<Fused<'f>> {
    let facts = group.facts;
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let one = dtype(facts, out.value);
    let keeps_type = call.int(3) == Some(i64::from(CubeMath::KeepType.raw()));
    let alike = [a, b, product, bias].iter().all(|operand| dtype(facts, operand.value) == one);
    let (shape, added) = (dims(facts, product.value), dims(facts, bias.value));
    let fits = keeps_type
        && alike
        && [F32, F16, Bf16].contains(&one)
        && dims(facts, out.value) == shape
        && broadcast(added, shape).is_ok_and(|all| all == shape)
        && !group.makes(facts.recipe.storage_of(bias.value));
    if !fits {
        return None;
    }
    let form = form(facts, (a, b), bias, out)?;
    // With 0 an operand is not read, so that its NaNs and infinities would be gone. Of what is added, libraries of CANN
    // take so little for 0.
    let factor = |number: f64| exact(number).filter(|number| number.is_finite() && *number != 0.0);
    let beta = factor(beta).filter(|number| number.abs() > f32::EPSILON)?;
    Some(Fused { a, b, bias, out, alpha: factor(alpha)?, beta, form, group })
}

fn form(facts: &Facts<'_>, (a, b): (Access, Access), bias: Access, out: Access) -> Option<Form> {
    match (dims(facts, a.value), dims(facts, b.value)) {
        ([_, _], [_, _]) => Some(Form::Matrices),
        ([batch, _, _], [same, _, _]) if batch == same => Some(Form::Batches),
        ([_, _, _, ..], [_, _]) => {
            let layout = |one: Access| facts.recipe.layout_of(one.value);
            let bias = added_to_rows(layout(bias), &layout(out).dims)?;
            Some(Form::Rows(Box::new([rows(layout(a))?, bias, rows(layout(out))?])))
        }
        _ => None,
    }
}

/// All dimensions but the last as one, where that is a view.
pub(super) fn rows(layout: &Layout) -> Option<Layout> {
    let (last, lead) = layout.dims.split_last()?;
    let (mut size, mut stride) = (Dim::from(1), Extent::Fixed(0));
    for (dim, own) in lead.iter().zip(&layout.strides).rev().filter(|(dim, _)| **dim != Dim::from(1)) {
        if size == Dim::from(1) {
            stride = own.clone();
        } else if stride.times(&Extent::of_dim(size)?).as_ref() != Some(own) {
            return None;
        }
        size = (size * *dim).usable().ok()?;
    }
    let strides = vec![stride, layout.strides.last()?.clone()];
    Some(Layout { dtype: layout.dtype, dims: vec![size, *last], strides })
}

/// What is added to all rows alike, or to each element.
fn added_to_rows(bias: &Layout, out: &[Dim]) -> Option<Layout> {
    if bias.dims == out {
        return rows(bias);
    }
    let lead = bias.dims.len().saturating_sub(1);
    let alike = bias.dims[..lead].iter().all(|dim| *dim == Dim::from(1));
    let (dims, strides) = (bias.dims[lead..].to_vec(), bias.strides[lead..].to_vec());
    alike.then_some(Layout { dtype: bias.dtype, dims, strides })
}

impl Fused<'_> {
    fn replace(self, edit: &mut Edit) -> Result<()> {
        let facts = self.group.facts;
        let mut view = |one: Access, layout: &Layout| {
            let info = &facts.recipe.values[one.value as usize];
            edit.value(facts.recipe, info.storage, info.offset.clone(), layout.clone())
        };
        let [a, bias, out] = match &self.form {
            Form::Rows(layouts) => {
                let [a, bias, out] = &**layouts;
                [view(self.a, a), view(self.bias, bias), view(self.out, out)]
            }
            _ => [self.a, self.bias, self.out].map(|one| one.value),
        };
        let (of_batches, math) = (matches!(self.form, Form::Batches), CubeMath::KeepType.raw());
        let replacing = Replacing::of(|to| {
            let (bias, a, b, mut out) = (value(bias), value(a), value(self.b.value), value(out));
            if of_batches {
                aclnn::baddbmm(to, &bias, &a, &b, self.beta, self.alpha, &mut out, math)
            } else {
                aclnn::addmm(to, &bias, &a, &b, self.beta, self.alpha, &mut out, math)
            }
        })?;
        edit.rounds_less |= dtype(facts, self.out.value) != F32;
        let why =
            if of_batches { "aclnnBaddbmm computes it, in place of" } else { "aclnnAddmm computes it, in place of" };
        self.group.replace(edit, NAME, why, replacing);
        Ok(())
    }
}
