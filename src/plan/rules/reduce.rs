//! Operators that fold dimensions, order them, or look for something along them.

use crate::op::DataType::{Bool, I64};
use crate::plan::recipe::operator::Operand;
use crate::plan::symbols::dim::Dim;

use super::shapes::{dim_of, dim_set, in_place, resized, writable};
use super::types::{Types, float, require};
use super::{Also, Args, Family, No, Of, Results, ensure, sizes};

/// What is folded, and what it gives.
#[derive(Clone, Copy)]
enum Job {
    Ends,
    Truths,
    /// Products and sums; a type is told.
    Sums,
    /// Means and logarithms of sums.
    Means,
    /// Norms of this order, and variances with it.
    Norms(f64),
}
use Job::{Ends, Means, Norms, Sums, Truths};

/// The shape without the dimensions of a set, or with ones for them.
fn folded(dims: &[Dim], set: u32, keep: bool) -> Vec<Dim> {
    let goes = |at: usize| set >> at & 1 != 0;
    let dims = dims.iter().enumerate().filter(|(at, _)| keep || !goes(*at));
    dims.map(|(at, dim)| if goes(at) { Dim::from(1) } else { *dim }).collect()
}

/// Whether there is something to fold, or nothing to give.
fn has_elements(args: &Args<'_>, x: Operand<'_>, set: u32) -> bool {
    let empty = |reduced: bool| {
        let dims = x.dims.iter().enumerate().filter(|(at, _)| (set >> at & 1 != 0) == reduced);
        dims.clone().any(|(_, dim)| args.is_zero(*dim) == Some(true))
    };
    !empty(true) || empty(false)
}

fn fold(args: &Args<'_>, job: Job, set: u32, keep: bool) -> Result<Of, No> {
    let x = args.tensor(0)?;
    let dims = folded(x.dims, set, keep);
    match job {
        Ends => ensure!(has_elements(args, x, set), "an extreme of no elements"),
        Norms(order) if order < 0.0 || order.is_infinite() => {
            ensure!(has_elements(args, x, set), "a norm of order {order} of no elements");
        }
        _ => {}
    }
    Ok(match job {
        Ends => Of::new(x.dtype, dims),
        Truths => Of::new(Bool, dims).or(Types::TRUTHS),
        Sums => {
            let types = Types::storing(x.dtype).without(Bool);
            let dtype = if x.dtype == Bool { I64 } else { x.dtype };
            Of::new(dtype, dims).or(types)
        }
        Means => Of::new(float(x.dtype), dims).or(Types::FLOATS),
        Norms(_) => {
            require(Types::FLOATS, x.dtype, "an input")?;
            Of::new(x.dtype, dims).or(Types::FLOATS)
        }
    })
}

fn list(args: &Args<'_>, dims: usize) -> Result<u32, No> {
    dim_set(&args.fixed_ints(dims)?, args.tensor(0)?.dims.len())
}

/// Dimensions in a list, and whether they stay.
fn fold_list(args: &Args<'_>, job: Job, dims: usize, keep: usize) -> Result<Of, No> {
    fold(args, job, list(args, dims)?, args.flag(keep)?)
}

/// The same, where an empty list may mean none of them.
fn fold_some(args: &Args<'_>, job: Job) -> Results {
    let none = args.flag(3)? && args.ints(1)?.is_empty();
    let set = if none { 0 } else { list(args, 1)? };
    Ok(vec![fold(args, job, set, args.flag(2)?)?])
}

fn all(args: &Args<'_>) -> Result<u32, No> {
    dim_set(&[], args.tensor(0)?.dims.len())
}

fn one_dim(args: &Args<'_>) -> Result<u32, No> {
    dim_set(&[args.fixed(1)?], args.tensor(0)?.dims.len())
}

/// A result whose type is told.
fn typed(args: &Args<'_>, of: Of, dtype: usize) -> Result<Of, No> {
    let dtype = args.dtype(dtype)?;
    ensure!(of.types.has(dtype), "elements of type {:?} into {dtype:?}", of.dtype);
    Ok(Of { dtype, types: Types::of(dtype), ..of })
}

fn reduce_sum(args: &Args<'_>) -> Results {
    let of = typed(args, fold_list(args, Sums, 1, 2)?, 3)?;
    let also = if of.dims.is_empty() { Also::Shape(vec![Dim::from(1)]) } else { Also::Nothing };
    Ok(vec![of.or_shape(also)])
}

fn mean(args: &Args<'_>) -> Results {
    let x = args.tensor(0)?;
    let of = fold_list(args, Sums, 1, 2)?;
    let dtype = args.dtype(3)?;
    ensure!(Types::FLOATS.has(dtype), "a mean of type {dtype:?}");
    require(Types::KNOWN, x.dtype, "an input")?;
    Ok(vec![typed(args, of, 3)?])
}

fn twice(of: Result<Of, No>) -> Results {
    let of = of?;
    Ok(vec![of.clone(), of])
}

fn one(of: Result<Of, No>) -> Results {
    Ok(vec![of?])
}

/// The index of a dimension, and its size; a tensor without dimensions has one of one element.
fn line(x: Operand<'_>, dim: i64) -> Result<(usize, Dim), No> {
    let at = dim_of(dim, x.dims.len())?;
    Ok((at, x.dims.get(at).copied().unwrap_or(Dim::from(1))))
}

fn places(dims: Vec<Dim>) -> Of {
    Of::new(I64, dims).or(Types::INDICES)
}

fn sort(args: &Args<'_>) -> Results {
    let x = args.tensor(0)?;
    line(x, args.fixed(2)?)?;
    Ok(vec![Of::new(x.dtype, x.dims), places(x.dims.to_vec())])
}

fn argsort(args: &Args<'_>) -> Results {
    let x = args.tensor(0)?;
    line(x, args.fixed(1)?)?;
    Ok(vec![places(x.dims.to_vec())])
}

fn topk(args: &Args<'_>) -> Results {
    let (x, k) = (args.tensor(0)?, writable(Some(args.int(1)?))?);
    let (at, size) = line(x, args.fixed(2)?)?;
    // Its results have one element all the same, which nothing would write.
    ensure!(!x.dims.is_empty() || args.is_zero(k) != Some(true), "the first none of one element without dimensions");
    let left = sizes::fixed(k).and_then(|k| sizes::plus(size, -k)).and_then(|left| args.least(left));
    ensure!(k == size || left.is_none_or(|left| left >= 0), "the first {k:?} of {size:?}");
    let dims = resized(x.dims, at, k);
    Ok(vec![Of::new(x.dtype, dims.clone()), places(dims)])
}

fn end(args: &Args<'_>) -> Result<(Of, Of), No> {
    let x = args.tensor(0)?;
    let (at, size) = line(x, args.fixed(1)?)?;
    ensure!(args.is_zero(size) != Some(true), "an extreme of an empty dimension");
    let set = if x.dims.is_empty() { 0 } else { 1 << at };
    let dims = folded(x.dims, set, args.flag(2)?);
    Ok((Of::new(x.dtype, dims.clone()), places(dims)))
}

/// Results of the shape of the input.
fn along<'a>(args: &Args<'a>, dim: i64) -> Result<Operand<'a>, No> {
    let x = args.tensor(0)?;
    line(x, dim)?;
    Ok(x)
}

fn cumsum(args: &Args<'_>) -> Results {
    let x = along(args, args.fixed(1)?)?;
    let of = Of::new(x.dtype, x.dims).or(Types::storing(x.dtype));
    one(typed(args, of, 2))
}

fn cumsum_v2(args: &Args<'_>) -> Results {
    let x = along(args, args.fixed(1)?)?;
    Ok(vec![Of::new(x.dtype, x.dims)])
}

fn running_end(args: &Args<'_>) -> Results {
    let x = along(args, args.fixed(1)?)?;
    Ok(vec![Of::new(x.dtype, x.dims), places(x.dims.to_vec())])
}

fn cumprod(args: &Args<'_>) -> Result<Of, No> {
    let x = along(args, args.number(1)?.2)?;
    Ok(Of::new(x.dtype, x.dims).or(Types::storing(x.dtype)))
}

fn histogram(args: &Args<'_>) -> Results {
    let (x, bins, (_, low, _), (_, high, _)) = (args.tensor(0)?, args.int(1)?, args.number(2)?, args.number(3)?);
    ensure!(sizes::fixed(bins).is_none_or(|bins| bins > 0), "{bins:?} bins");
    ensure!(low <= high, "from {low} to {high}");
    require(Types::KNOWN.without(Bool), x.dtype, "an input")?;
    Ok(vec![Of::new(x.dtype, [bins]).or(Types::KNOWN.without(Bool))])
}

pub(super) const RULES: Family = &[
    (&["Amax", "Amin"], |a| one(fold_list(a, Ends, 1, 2))),
    (&["All", "Any"], |a| one(fold_list(a, Truths, 1, 2))),
    (&["LogSumExp"], |a| one(fold_list(a, Means, 1, 2))),
    (&["Max", "Min"], |a| one(fold(a, Ends, all(a)?, false))),
    (&["MaxV2"], |a| fold_some(a, Ends)),
    (&["MeanV2", "ReduceLogSum"], |a| fold_some(a, Means)),
    (&["Aminmax"], |a| twice(fold_list(a, Ends, 1, 2))),
    (&["AminmaxDim"], |a| twice(fold(a, Ends, one_dim(a)?, a.flag(2)?))),
    (&["AminmaxAll"], |a| twice(fold(a, Ends, all(a)?, false))),
    (&["Prod"], |a| one(typed(a, fold(a, Sums, all(a)?, false)?, 1))),
    (&["ProdDim"], |a| one(typed(a, fold(a, Sums, one_dim(a)?, a.flag(2)?)?, 3))),
    (&["ReduceNansum"], |a| one(typed(a, fold_list(a, Sums, 1, 2)?, 3))),
    (&["ReduceSum"], reduce_sum),
    (&["Mean"], mean),
    (&["Norm"], |a| one(fold_list(a, Norms(a.number(1)?.1), 2, 3))),
    (&["LinalgVectorNorm"], |a| one(typed(a, fold_list(a, Norms(a.number(1)?.1), 2, 3)?, 4))),
    (&["Var", "VarCorrection", "Std"], |a| one(fold_list(a, Norms(0.0), 1, 3))),
    (&["VarMean", "StdMeanCorrection"], |a| twice(fold_list(a, Norms(0.0), 1, 3))),
    (&["Sort"], sort),
    (&["Argsort"], argsort),
    (&["Topk"], topk),
    (&["ArgMax", "ArgMin"], |a| Ok(vec![end(a)?.1])),
    (&["MaxDim", "MinDim"], |a| end(a).map(|(values, places)| vec![values, places])),
    (&["Cumsum"], cumsum),
    (&["CumsumV2"], cumsum_v2),
    (&["Cummax", "Cummin"], running_end),
    (&["Cumprod"], |a| one(typed(a, cumprod(a)?, 2))),
    (&["InplaceCumprod"], |a| in_place(a, 0, &cumprod(a)?)),
    (&["Histc"], histogram),
];
