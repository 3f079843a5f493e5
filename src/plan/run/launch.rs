//! Operators of a plan on a stream.

use std::panic::Location;

use crate::error::{Error, Result};
use crate::op::nn::{arithmetic, convert, matmul, normalise, reduce, unary};
use crate::op::{DataType, Factor, MAX_RANK, Scalar, Target, View};
use crate::plan::recipe::element::element_of;
use crate::plan::recipe::operator::{Number, Operator, Reduction};

/// Gives `operator`, which reads `operands` and writes `out`, to `target`, with the C calls of the function of the
/// same name in [`crate::op`]. A stream submits it.
pub(crate) fn launch(
    target: impl Target,
    operator: &Operator,
    operands: &[View<'_>],
    out: &View<'_>,
    at: &'static Location<'static>,
) -> Result<()> {
    if operands.len() != operator.operands() {
        let (name, takes) = (operator.name(), operator.operands());
        return Err(Error::invalid(format!("{} operands for {name}, which takes {takes}", operands.len())));
    }
    let context = &**target.stream().0.context();
    let a_out = || [&operands[0], out];
    let ab_out = || [&operands[0], &operands[1], out];
    let abc_out = || [&operands[0], &operands[1], &operands[2], out];
    let one = || context.one_of(operands[0].dtype);
    let scalar = |value: Number, dtype: DataType| {
        let element = element_of(value, dtype);
        let number = element.map(|element| Scalar::of(dtype, element));
        number.map_err(|text| Error::invalid(format!("the number of {}: {text}", operator.name())))
    };
    let number = |value| scalar(value, operands[0].dtype);
    match *operator {
        Operator::Add => arithmetic::add_at(target, ab_out(), Factor::Shared(one()?), at),
        Operator::AddScaled { alpha } => arithmetic::add_at(target, ab_out(), Factor::Own(number(alpha)?), at),
        Operator::Sub => arithmetic::sub_at(target, ab_out(), one()?, at),
        Operator::Mul => arithmetic::mul_at(target, ab_out(), at),
        Operator::Div => arithmetic::div_at(target, ab_out(), at),
        Operator::Maximum => arithmetic::maximum_at(target, ab_out(), at),
        Operator::Adds { value } => arithmetic::adds_at(target, a_out(), number(value)?, one()?, at),
        Operator::Muls { value } => arithmetic::muls_at(target, a_out(), number(value)?, at),
        Operator::Divs { value } => arithmetic::divs_at(target, a_out(), number(value)?, at),
        Operator::ClampMin { least } => unary::clamp_min_at(target, a_out(), number(least)?, at),
        Operator::Abs => unary::abs_at(target, a_out(), at),
        Operator::Sqrt => unary::sqrt_at(target, a_out(), at),
        Operator::Rsqrt => unary::rsqrt_at(target, a_out(), at),
        Operator::Tanh => unary::tanh_at(target, a_out(), at),
        Operator::Gelu { form } => normalise::gelu_at(target, a_out(), form, at),
        Operator::Softmax { dim } => normalise::softmax_at(target, a_out(), i64::from(dim), at),
        Operator::LayerNorm { eps } => normalise::layer_norm_at(target, abc_out(), eps, at),
        Operator::ReduceSum { over } => {
            let (dims, count) = reduced(over);
            reduce::reduce_sum_at(target, a_out(), &dims[..count], over.keep, at)
        }
        Operator::Mean { over } => {
            let (dims, count) = reduced(over);
            reduce::mean_at(target, a_out(), &dims[..count], over.keep, at)
        }
        Operator::Cast { to } => convert::cast_at(target, a_out(), to, at),
        Operator::Copy => convert::copy_at(target, a_out(), at),
        Operator::Fill { value } => convert::fill_at(target, out, scalar(value, out.dtype)?, at),
        Operator::Permute { order } => {
            let dims = order.dims.map(i64::from);
            convert::permute_at(target, a_out(), &dims[..usize::from(order.rank)], at)
        }
        Operator::Embedding => convert::embedding_at(target, ab_out(), at),
        Operator::Matmul { math } => matmul::matmul_at(target, ab_out(), math, at),
        Operator::Mm => matmul::mm_at(target, ab_out(), at),
        Operator::BatchMatmul => matmul::batch_matmul_at(target, ab_out(), at),
        Operator::Addmm => matmul::addmm_at(target, abc_out(), one()?, at),
    }
}

/// The dimensions as a list, which is empty for all of them.
fn reduced(over: Reduction) -> ([i64; MAX_RANK], usize) {
    let mut dims = [0; MAX_RANK];
    let mut count = 0;
    for dim in (0..MAX_RANK).filter(|dim| over.dims & (1 << dim) != 0) {
        dims[count] = dim as i64;
        count += 1;
    }
    (dims, count)
}

/// The views of an operator in the order in which its first phase takes them: mostly the operands, then the result.
pub(crate) fn in_phase_order<'a, 'v>(
    operator: &Operator,
    operands: &'a [View<'v>],
    out: &'a View<'v>,
) -> impl Iterator<Item = &'a View<'v>> + Clone {
    // That of `aclnnInplaceCopy` names the result first.
    let first = matches!(operator, Operator::Copy).then_some(out);
    let last = first.is_none().then_some(out);
    first.into_iter().chain(operands).chain(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_operator_does_not_take_is_named() {
        let acl = crate::Acl::mock().unwrap();
        let device = acl.device(0).unwrap();
        let stream = device.stream().unwrap();
        let whole = device.zeros::<i32>([2]).unwrap();
        let error = |operator, operands: &[View<'_>]| {
            let launched = launch(&stream, &operator, operands, &whole.view(), Location::caller());
            launched.unwrap_err().to_string()
        };
        let text = error(Operator::Add, &[whole.view()]);
        assert!(text.contains("1 operands for add, which takes 2"), "{text}");
        let text = error(Operator::Adds { value: Number::Float(0.5) }, &[whole.view()]);
        assert!(text.contains("number of adds: the float 0.5"), "{text}");
        let text = error(Operator::Fill { value: Number::Int(1 << 40) }, &[]);
        assert!(text.contains("number of fill: 1099511627776, which is no I32"), "{text}");
        assert!(error(Operator::Sqrt, &[]).contains("0 operands"));
    }
}
