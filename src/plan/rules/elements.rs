//! Operators that compute each element on its own.

use crate::op::DataType::{self, Bool};

use crate::plan::symbols::dim::Dim;

use super::shapes::{broadcast, in_place, require_spread};
use super::types::{Types, float, promote, promote_scalar, require};
use super::{Also, Args, Family, No, Of, Results, ensure, misfit, sizes};

/// What an operator computes in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Computes {
    /// In any type.
    All,
    /// In floats; integers become f32.
    Floats,
    /// In floats and nothing else.
    OnlyFloats,
    Integers,
    /// In any type, to a truth value.
    Truths,
}
use Computes::{All, Floats, Integers, OnlyFloats, Truths};

/// A result of elements of `dtype`.
pub(super) fn elements(computes: Computes, dtype: DataType, dims: impl Into<Vec<Dim>>) -> Result<Of, No> {
    let dtype = match computes {
        Floats => float(dtype),
        _ => dtype,
    };
    match computes {
        Integers => require(Types::INTEGERS | Types::TRUTHS, dtype, "elements")?,
        OnlyFloats => require(Types::FLOATS, dtype, "elements")?,
        _ => {}
    }
    Ok(match computes {
        Truths => Of::new(Bool, dims).or(Types::KNOWN),
        _ => Of::new(dtype, dims).or(Types::storing(dtype)),
    })
}

/// Of one tensor.
pub(super) fn unary(args: &Args<'_>, at: usize, computes: Computes) -> Result<Of, No> {
    let x = args.tensor(at)?;
    elements(computes, x.dtype, x.dims)
}

/// Of two tensors.
pub(super) fn binary(args: &Args<'_>, (a, b): (usize, usize), computes: Computes) -> Result<Of, No> {
    let (a, b) = (args.tensor(a)?, args.tensor(b)?);
    elements(computes, promote(a.dtype, b.dtype), broadcast(a.dims, b.dims)?)
}

/// Of a tensor and a number.
fn scaled(args: &Args<'_>, (a, b): (usize, usize), computes: Computes) -> Result<Of, No> {
    let (a, (scalar, ..)) = (args.tensor(a)?, args.scalar(b)?);
    elements(computes, promote_scalar(a.dtype, scalar), a.dims)
}

fn one(of: Result<Of, No>) -> Results {
    Ok(vec![of?])
}

fn into(args: &Args<'_>, of: Result<Of, No>) -> Results {
    in_place(args, 0, &of?)
}

/// The factor of the second operand becomes one of the type that is computed in.
fn check_alpha(args: &Args<'_>, alpha: usize, dtype: DataType, difference: bool) -> Result<(), No> {
    let (alpha, ..) = args.scalar(alpha)?;
    ensure!(dtype == Bool || Types::storing(alpha).has(dtype), "a factor of type {alpha:?} for {dtype:?}");
    ensure!(!(difference && dtype == Bool), "a difference of truth values");
    Ok(())
}

fn sum(args: &Args<'_>, difference: bool) -> Result<Of, No> {
    let of = binary(args, (0, 1), All)?;
    check_alpha(args, 2, of.dtype, difference)?;
    Ok(of)
}

fn sum_of_number(args: &Args<'_>, operands: (usize, usize), difference: bool) -> Result<Of, No> {
    let of = scaled(args, operands, All)?;
    check_alpha(args, 2, of.dtype, difference)?;
    Ok(of)
}

fn narrow(args: &Args<'_>) -> Result<Of, No> {
    let x = args.tensor(0)?;
    require(Types::NARROW, x.dtype, "an input")?;
    Ok(Of::new(x.dtype, x.dims))
}

fn gelu_v2(args: &Args<'_>) -> Results {
    let form = args.fixed(1)?;
    ensure!((0..=1).contains(&form), "form {form}, which is 0 or 1");
    one(narrow(args))
}

fn decimals(args: &Args<'_>) -> Result<Of, No> {
    let decimals = args.fixed(1)?;
    ensure!((-300..=300).contains(&decimals), "{decimals} decimals");
    unary(args, 0, Floats)
}

/// Mode 0 divides, 1 and 2 round.
fn divided(args: &Args<'_>, number: bool) -> Result<Of, No> {
    let computes = match args.fixed(2)? {
        0 => Floats,
        1 | 2 => All,
        other => misfit!("mode {other}, which is 0 to 2"),
    };
    if number { scaled(args, (0, 1), computes) } else { binary(args, (0, 1), computes) }
}

fn clamp(args: &Args<'_>) -> Results {
    let (x, low, high) = (args.tensor(0)?, args.maybe_scalar(1)?, args.maybe_scalar(2)?);
    ensure!(low.is_some() || high.is_some(), "neither a lower nor an upper limit");
    let limits = low.into_iter().chain(high);
    let dtype = limits.fold(x.dtype, |dtype, (limit, ..)| promote_scalar(dtype, limit));
    one(elements(All, dtype, x.dims))
}

/// Of three tensors; those that are left out are numbers.
fn ternary(args: &Args<'_>, operands: &[usize], dtype: DataType, computes: Computes) -> Result<Of, No> {
    let mut dims = Vec::new();
    for operand in operands {
        dims = broadcast(&dims, args.tensor(*operand)?.dims)?;
    }
    elements(computes, dtype, dims)
}

fn promoted(args: &Args<'_>, operands: &[usize]) -> Result<DataType, No> {
    // Truth values change nothing.
    operands.iter().try_fold(Bool, |dtype, operand| Ok(promote(dtype, args.tensor(*operand)?.dtype)))
}

fn choice(args: &Args<'_>) -> Results {
    require(Types::TRUTHS, args.tensor(0)?.dtype, "a condition")?;
    one(ternary(args, &[0, 1, 2], promoted(args, &[1, 2])?, All))
}

fn masked_fill(args: &Args<'_>) -> Results {
    let (own, mask) = (args.tensor(0)?, args.tensor(1)?);
    require(Types::TRUTHS, mask.dtype, "a mask")?;
    require_spread(mask.dims, own.dims)?;
    Ok(Vec::new())
}

/// One number in a tensor.
pub(super) fn require_one(args: &Args<'_>, at: usize) -> Result<(), No> {
    let dims = args.tensor(at)?.dims;
    ensure!(dims.len() <= 1 && sizes::product(dims) == Some(1.into()), "a number of shape {dims:?}");
    Ok(())
}

fn masked_fill_tensor(args: &Args<'_>) -> Results {
    require_one(args, 2)?;
    masked_fill(args)
}

fn third_scaled(args: &Args<'_>, computes: Computes) -> Result<Of, No> {
    args.scalar(3)?;
    ternary(args, &[0, 1, 2], promoted(args, &[0, 1, 2])?, computes)
}

fn lerps(args: &Args<'_>) -> Result<Of, No> {
    args.scalar(2)?;
    ternary(args, &[0, 1], promoted(args, &[0, 1])?, OnlyFloats)
}

/// Nothing writes the buffer, which the gradient takes and does not read.
fn log_sigmoid_forward(args: &Args<'_>) -> Results {
    let of = unary(args, 0, Floats)?;
    let buffer = Of::new(of.dtype, of.dims.clone()).or(Types::KNOWN).or_shape(Also::Anything).unless(false);
    Ok(vec![of, buffer])
}

fn swish(args: &Args<'_>) -> Results {
    args.maybe_scalar(1)?;
    one(unary(args, 0, Floats))
}

/// Scalars that do not change the type.
fn with_numbers(args: &Args<'_>, count: usize, computes: Computes) -> Result<Of, No> {
    (1..=count).try_for_each(|at| args.scalar(at).map(drop))?;
    unary(args, 0, computes)
}

pub(super) const RULES: Family = &[
    (
        &[
            "Exp",
            "Exp2",
            "Expm1",
            "Log",
            "Log10",
            "Log1p",
            "Log2",
            "Sin",
            "Cos",
            "Tan",
            "Asin",
            "Acos",
            "Atan",
            "Sinh",
            "Cosh",
            "Asinh",
            "Acosh",
            "Atanh",
            "Erf",
            "Erfc",
            "Reciprocal",
            "Frac",
            "Sqrt",
            "Rsqrt",
            "Tanh",
            "Sigmoid",
            "Silu",
            "Hardsigmoid",
            "Hardswish",
            "Selu",
            "LogSigmoid",
            "Mish",
            "FastGelu",
        ],
        |a| one(unary(a, 0, Floats)),
    ),
    (
        &[
            "InplaceExp",
            "InplaceExp2",
            "InplaceExpm1",
            "InplaceLog",
            "InplaceLog10",
            "InplaceLog1p",
            "InplaceLog2",
            "InplaceSin",
            "InplaceCos",
            "InplaceTan",
            "InplaceAsin",
            "InplaceAcos",
            "InplaceAtan",
            "InplaceSinh",
            "InplaceCosh",
            "InplaceAsinh",
            "InplaceAcosh",
            "InplaceAtanh",
            "InplaceErf",
            "InplaceErfc",
            "InplaceReciprocal",
            "InplaceFrac",
            "InplaceSqrt",
            "InplaceRsqrt",
            "InplaceTanh",
            "InplaceSigmoid",
            "InplaceHardsigmoid",
            "InplaceHardswish",
            "InplaceSelu",
            "InplaceMish",
        ],
        |a| into(a, unary(a, 0, Floats)),
    ),
    (&["Celu", "LeakyRelu", "Hardshrink", "Softshrink"], |a| one(with_numbers(a, 1, Floats))),
    (&["InplaceCelu", "InplaceLeakyRelu"], |a| into(a, with_numbers(a, 1, Floats))),
    (&["Softplus"], |a| one(with_numbers(a, 2, Floats))),
    (&["Elu"], |a| one(with_numbers(a, 3, Floats))),
    (&["InplaceElu"], |a| into(a, with_numbers(a, 3, Floats))),
    (&["Hardtanh", "Threshold"], |a| one(with_numbers(a, 2, All))),
    (&["InplaceHardtanh", "InplaceThreshold"], |a| into(a, with_numbers(a, 2, All))),
    (&["Swish"], swish),
    (&["LogSigmoidForward"], log_sigmoid_forward),
    (&["Abs", "Floor", "Ceil", "Round", "Trunc", "Neg", "Sign", "Square", "Relu", "NanToNum"], |a| {
        one(unary(a, 0, All))
    }),
    (
        &[
            "InplaceFloor",
            "InplaceCeil",
            "InplaceRound",
            "InplaceTrunc",
            "InplaceNeg",
            "InplaceRelu",
            "InplaceNanToNum",
        ],
        |a| into(a, unary(a, 0, All)),
    ),
    (&["RoundDecimals"], |a| one(decimals(a))),
    (&["InplaceRoundDecimals"], |a| into(a, decimals(a))),
    (&["LogicalNot", "IsFinite", "IsInf", "IsPosInf", "IsNegInf", "Signbit"], |a| one(unary(a, 0, Truths))),
    (&["InplaceLogicalNot"], |a| into(a, unary(a, 0, Truths))),
    (&["BitwiseNot"], |a| one(unary(a, 0, Integers))),
    (&["Gelu"], |a| one(narrow(a))),
    (&["GeluV2"], gelu_v2),
    (&["Add", "AddRelu"], |a| one(sum(a, false))),
    (&["Sub", "Rsub"], |a| one(sum(a, true))),
    (&["InplaceAdd", "InplaceAddRelu"], |a| into(a, sum(a, false))),
    (&["InplaceSub"], |a| into(a, sum(a, true))),
    (&["Adds"], |a| one(sum_of_number(a, (0, 1), false))),
    (&["Subs", "Rsubs"], |a| one(sum_of_number(a, (0, 1), true))),
    (&["AddV3"], |a| one(sum_of_number(a, (1, 0), false))),
    (&["InplaceAdds"], |a| into(a, sum_of_number(a, (0, 1), false))),
    (&["InplaceSubs"], |a| into(a, sum_of_number(a, (0, 1), true))),
    (
        &[
            "Mul",
            "Minimum",
            "Maximum",
            "ClampMinTensor",
            "ClampMaxTensor",
            "PowTensorTensor",
            "FloorDivide",
            "RemainderTensorTensor",
            "FmodTensor",
        ],
        |a| one(binary(a, (0, 1), All)),
    ),
    (
        &[
            "InplaceMul",
            "InplaceClampMinTensor",
            "InplaceClampMaxTensor",
            "InplacePowTensorTensor",
            "InplaceFloorDivide",
            "InplaceRemainderTensorTensor",
            "InplaceFmodTensor",
        ],
        |a| into(a, binary(a, (0, 1), All)),
    ),
    (
        &["Muls", "ClampMin", "ClampMax", "PowTensorScalar", "FloorDivides", "RemainderTensorScalar", "FmodScalar"],
        |a| one(scaled(a, (0, 1), All)),
    ),
    (
        &[
            "InplaceMuls",
            "InplaceClampMax",
            "InplacePowTensorScalar",
            "InplaceFloorDivides",
            "InplaceRemainderTensorScalar",
            "InplaceFmodScalar",
        ],
        |a| into(a, scaled(a, (0, 1), All)),
    ),
    (&["PowScalarTensor", "RemainderScalarTensor"], |a| one(scaled(a, (1, 0), All))),
    (&["Div", "Atan2"], |a| one(binary(a, (0, 1), Floats))),
    (&["InplaceDiv", "InplaceAtan2"], |a| into(a, binary(a, (0, 1), Floats))),
    (&["Divs"], |a| one(scaled(a, (0, 1), Floats))),
    (&["InplaceDivs"], |a| into(a, scaled(a, (0, 1), Floats))),
    (&["DivMod"], |a| one(divided(a, false))),
    (&["DivMods"], |a| one(divided(a, true))),
    (&["InplaceDivMod"], |a| into(a, divided(a, false))),
    (&["InplaceDivMods"], |a| into(a, divided(a, true))),
    (&["BitwiseAndTensor", "BitwiseAndTensorOut", "BitwiseOrTensor", "BitwiseXorTensor"], |a| {
        one(binary(a, (0, 1), Integers))
    }),
    (
        &[
            "InplaceBitwiseAndTensor",
            "InplaceBitwiseAndTensorOut",
            "InplaceBitwiseOrTensor",
            "InplaceBitwiseXorTensor",
        ],
        |a| into(a, binary(a, (0, 1), Integers)),
    ),
    (&["BitwiseAndScalar", "BitwiseOrScalar", "BitwiseXorScalar"], |a| one(scaled(a, (0, 1), Integers))),
    (&["InplaceBitwiseAndScalar", "InplaceBitwiseOrScalar", "InplaceBitwiseXorScalar"], |a| {
        into(a, scaled(a, (0, 1), Integers))
    }),
    (
        &[
            "EqTensor",
            "NeTensor",
            "GtTensor",
            "GeTensor",
            "LtTensor",
            "LeTensor",
            "LogicalAnd",
            "LogicalOr",
            "LogicalXor",
        ],
        |a| one(binary(a, (0, 1), Truths)),
    ),
    (
        &[
            "InplaceEqTensor",
            "InplaceNeTensor",
            "InplaceGtTensor",
            "InplaceGeTensor",
            "InplaceLtTensor",
            "InplaceLeTensor",
            "InplaceLogicalAnd",
            "InplaceLogicalOr",
        ],
        |a| into(a, binary(a, (0, 1), Truths)),
    ),
    (&["EqScalar", "NeScalar", "GtScalar", "GeScalar", "LtScalar", "LeScalar"], |a| one(scaled(a, (0, 1), Truths))),
    (
        &[
            "InplaceEqScalar",
            "InplaceNeScalar",
            "InplaceGtScalar",
            "InplaceGeScalar",
            "InplaceLtScalar",
            "InplaceLeScalar",
        ],
        |a| into(a, scaled(a, (0, 1), Truths)),
    ),
    (&["Clamp"], clamp),
    (&["ClampTensor"], |a| one(ternary(a, &[0, 1, 2], promoted(a, &[0, 1, 2])?, All))),
    (&["SWhere"], choice),
    (&["InplaceMaskedFillScalar"], |a| {
        a.scalar(2)?;
        masked_fill(a)
    }),
    (&["InplaceMaskedFillTensor"], masked_fill_tensor),
    (&["Addcmul"], |a| one(third_scaled(a, All))),
    (&["Addcdiv"], |a| one(third_scaled(a, OnlyFloats))),
    (&["InplaceAddcmul"], |a| into(a, third_scaled(a, All))),
    (&["InplaceAddcdiv"], |a| into(a, third_scaled(a, OnlyFloats))),
    (&["Lerp"], |a| one(ternary(a, &[0, 1, 2], promoted(a, &[0, 1, 2])?, OnlyFloats))),
    (&["InplaceLerp"], |a| into(a, ternary(a, &[0, 1, 2], promoted(a, &[0, 1, 2])?, OnlyFloats))),
    (&["Lerps"], |a| one(lerps(a))),
    (&["InplaceLerps"], |a| into(a, lerps(a))),
];
