//! Operators that do the same to every tensor of a list.

use crate::op::DataType::{self, Bool, F32};
use crate::plan::recipe::operator::Operand;

use super::shapes::require_same;
use super::types::{Types, is_real, require, same};
use super::{Args, Family, No, Of, Results, ensure, sizes};

/// Which types the tensors have.
#[derive(Clone, Copy)]
enum Takes {
    Any,
    Floats,
}
use Takes::{Any, Floats};

/// Tensors of one type.
fn first<'a>(args: &Args<'a>, of: Takes) -> Result<(Vec<Operand<'a>>, DataType), No> {
    let all = args.list(0)?;
    let dtype = all[0].dtype;
    let taken = match of {
        Any => Types::KNOWN.without(Bool),
        Floats => Types::FLOATS,
    };
    require(taken, dtype, "tensors")?;
    all.iter().try_for_each(|one| same(one.dtype, dtype, "tensors"))?;
    Ok((all, dtype))
}

/// Another list, like the first one.
fn also(args: &Args<'_>, at: usize, all: &[Operand<'_>]) -> Result<(), No> {
    let others = args.list(at)?;
    ensure!(others.len() == all.len(), "lists of {} and {} tensors", all.len(), others.len());
    others.iter().zip(all).try_for_each(|(other, one)| {
        same(other.dtype, one.dtype, "tensors")?;
        require_same(other.dims, one.dims, "a tensor of a list")
    })
}

/// Results like the tensors of the first list.
fn results(args: &Args<'_>, at: usize, all: &[Operand<'_>]) -> Results {
    let count = args.count(at);
    ensure!(count == all.len(), "{count} results of {} tensors", all.len());
    Ok(all.iter().map(|one| Of::new(one.dtype, one.dims)).collect())
}

/// A number that goes with the tensors.
fn goes(number: DataType, dtype: DataType) -> Result<(), No> {
    ensure!(!is_real(number) || is_real(dtype), "a number of type {number:?} with tensors of type {dtype:?}");
    Ok(())
}

fn plain(args: &Args<'_>, of: Takes) -> Results {
    let (all, _) = first(args, of)?;
    results(args, 1, &all)
}

fn with_scalar(args: &Args<'_>, at: usize, of: Takes) -> Results {
    let (all, dtype) = first(args, of)?;
    goes(args.scalar(at)?.0, dtype)?;
    if at == 2 {
        also(args, 1, &all)?;
    }
    results(args, at + 1, &all)
}

/// The number is a tensor of one element.
fn with_tensor(args: &Args<'_>, at: usize, of: Takes) -> Results {
    let (all, dtype) = first(args, of)?;
    let number = args.tensor(at)?;
    goes(number.dtype, dtype)?;
    ensure!(sizes::product(number.dims) == Some(1.into()), "a number of shape {:?}", number.dims);
    if at == 2 {
        also(args, 1, &all)?;
    }
    results(args, at + 1, &all)
}

fn with_scalars(args: &Args<'_>, of: Takes) -> Results {
    let ((all, dtype), numbers) = (first(args, of)?, args.scalars(1)?);
    ensure!(numbers.len() == all.len(), "{} numbers for {} tensors", numbers.len(), all.len());
    numbers.iter().try_for_each(|(number, ..)| goes(*number, dtype))?;
    results(args, 2, &all)
}

fn with_list(args: &Args<'_>, of: Takes) -> Results {
    let (all, _) = first(args, of)?;
    also(args, 1, &all)?;
    results(args, 2, &all)
}

/// Two or three lists of floats, and what scales.
fn triple(args: &Args<'_>, lists: usize, number: impl Fn(&[Operand<'_>]) -> Result<usize, No>) -> Results {
    let (all, dtype) = first(args, Floats)?;
    require(Types::NARROW, dtype, "tensors")?;
    (1..lists).try_for_each(|at| also(args, at, &all))?;
    results(args, number(&all)?, &all)
}

fn scaled_by_scalar(args: &Args<'_>, lists: usize) -> Results {
    triple(args, lists, |_| args.scalar(lists).map(|_| lists + 1))
}

fn scaled_by_tensor(args: &Args<'_>, each: bool) -> Results {
    triple(args, 3, |all| {
        let dims = args.tensor(3)?.dims;
        let want = if each { all.len() } else { 1 };
        let fits = dims.len() <= 1 && (!each || dims.len() == 1) && sizes::product(dims) == Some(want.into());
        ensure!(fits, "numbers of shape {dims:?}; {want} are wanted");
        Ok(4)
    })
}

fn copy(args: &Args<'_>) -> Results {
    let all = args.list(0)?;
    let results = results(args, 1, &all)?;
    Ok(results.into_iter().map(|of| of.or(Types::KNOWN)).collect())
}

fn zero(args: &Args<'_>) -> Results {
    args.list(0).map(|_| Vec::new())
}

fn unscale(args: &Args<'_>) -> Results {
    args.list(0)?.iter().try_for_each(|one| require(Types::NARROW, one.dtype, "gradients"))?;
    for at in [1, 2] {
        let one = args.tensor(at)?;
        require(Types::of(F32), one.dtype, "a number")?;
        ensure!(sizes::product(one.dims) == Some(1.into()), "a number of shape {:?}", one.dims);
    }
    Ok(Vec::new())
}

pub(super) const RULES: Family = &[
    (
        &[
            "ForeachAcos",
            "ForeachAsin",
            "ForeachAtan",
            "ForeachCos",
            "ForeachCosh",
            "ForeachErf",
            "ForeachErfc",
            "ForeachExp",
            "ForeachExpm1",
            "ForeachLog",
            "ForeachLog10",
            "ForeachLog1p",
            "ForeachLog2",
            "ForeachReciprocal",
            "ForeachSin",
            "ForeachSinh",
            "ForeachTan",
            "ForeachSqrt",
            "ForeachTanh",
            "ForeachSigmoid",
        ],
        |a| plain(a, Floats),
    ),
    (&["ForeachAbs", "ForeachNeg", "ForeachSign"], |a| plain(a, Any)),
    (
        &[
            "ForeachAddScalar",
            "ForeachSubScalar",
            "ForeachMulScalar",
            "ForeachMaximumScalar",
            "ForeachMinimumScalar",
            "ForeachPowScalar",
        ],
        |a| with_tensor(a, 1, Any),
    ),
    (&["ForeachDivScalar"], |a| with_tensor(a, 1, Floats)),
    (
        &[
            "ForeachAddScalarV2",
            "ForeachSubScalarV2",
            "ForeachMulScalarV2",
            "ForeachMaximumScalarV2",
            "ForeachMinimumScalarV2",
            "ForeachPowScalarV2",
        ],
        |a| with_scalar(a, 1, Any),
    ),
    (&["ForeachDivScalarV2"], |a| with_scalar(a, 1, Floats)),
    (
        &[
            "ForeachAddScalarList",
            "ForeachSubScalarList",
            "ForeachMulScalarList",
            "ForeachMaximumScalarList",
            "ForeachMinimumScalarList",
            "ForeachPowScalarList",
        ],
        |a| with_scalars(a, Any),
    ),
    (&["ForeachDivScalarList"], |a| with_scalars(a, Floats)),
    (&["ForeachMulList", "ForeachMaximumList", "ForeachMinimumList", "ForeachPowList"], |a| with_list(a, Any)),
    (&["ForeachDivList"], |a| with_list(a, Floats)),
    (&["ForeachAddList", "ForeachSubList"], |a| with_tensor(a, 2, Any)),
    (&["ForeachAddListV2", "ForeachSubListV2"], |a| with_scalar(a, 2, Any)),
    (&["ForeachAddcmulScalarV2", "ForeachAddcdivScalarV2"], |a| scaled_by_scalar(a, 3)),
    (&["ForeachAddcmulScalar", "ForeachAddcdivScalar"], |a| scaled_by_tensor(a, false)),
    (&["ForeachAddcmulScalarList", "ForeachAddcdivScalarList"], |a| scaled_by_tensor(a, true)),
    (&["ForeachLerpScalar"], |a| scaled_by_scalar(a, 2)),
    (&["ForeachLerpList"], |a| triple(a, 3, |_| Ok(3))),
    (&["ForeachCopy"], copy),
    (&["ForeachZeroInplace"], zero),
    (&["ForeachNonFiniteCheckAndUnscale"], unscale),
];
