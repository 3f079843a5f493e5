//! Operators that give elements another place: orders, parts, repetitions, padding, joints.

use crate::op::DataType::{Bf16, F16, I8};
use crate::plan::recipe::operator::Operand;
use crate::plan::symbols::dim::Dim;

use super::shapes::{dim_of, require_spread, resized, writable};
use super::types::{Types, promote, require, same};
use super::{Args, Family, No, Of, Results, ensure, sizes};

/// Like an operand, of another shape.
fn like(x: Operand<'_>, dims: Vec<Dim>) -> Results {
    Ok(vec![Of::new(x.dtype, dims)])
}

fn cast(args: &Args<'_>) -> Results {
    let (x, to) = (args.any(0)?, args.any_dtype(1)?);
    if x.dtype.is_complex() || to.is_complex() {
        return Err(No::Unsure("a cast of complex numbers".to_owned()));
    }
    Ok(vec![Of::new(to, x.dims)])
}

fn permute(args: &Args<'_>) -> Results {
    let (x, order) = (args.any(0)?, args.fixed_ints(1)?);
    ensure!(order.len() == x.dims.len(), "an order of {} dimensions for {:?}", order.len(), x.dims);
    let mut seen = 0_u32;
    let mut dims = Vec::with_capacity(order.len());
    for dim in order {
        let at = dim_of(dim, x.dims.len())?;
        ensure!(seen & 1 << at == 0, "dimension {dim} is named twice");
        seen |= 1 << at;
        dims.push(x.dims[at]);
    }
    like(x, dims)
}

/// Into any type and a larger shape, where the result is declared.
fn copy(args: &Args<'_>) -> Results {
    let from = args.any(1)?;
    let Some(to) = args.declared(0) else { return like(from, from.dims.to_vec()) };
    require_spread(from.dims, to.dims)?;
    like(to, to.dims.to_vec())
}

fn flip(args: &Args<'_>) -> Results {
    let x = args.tensor(0)?;
    let mut seen = 0_u32;
    for dim in args.fixed_ints(1)? {
        let at = dim_of(dim, x.dims.len())?;
        ensure!(x.dims.is_empty() || seen & 1 << at == 0, "dimension {dim} is named twice");
        seen |= 1 << at;
    }
    like(x, x.dims.to_vec())
}

fn roll(args: &Args<'_>) -> Results {
    let (x, shifts, dims) = (args.tensor(0)?, args.ints(1)?, args.fixed_ints(2)?);
    let line = dims.is_empty() && shifts.len() == 1 && x.dims.len() == 1;
    ensure!(line || (!dims.is_empty() && shifts.len() == dims.len()), "{} shifts for {dims:?}", shifts.len());
    dims.iter().try_for_each(|dim| dim_of(*dim, x.dims.len()).map(drop))?;
    like(x, x.dims.to_vec())
}

/// A number brought between two others, where that is the same for all values of the symbols.
fn clamp(args: &Args<'_>, number: Dim, low: Dim, high: Dim) -> Option<Dim> {
    let least = |a: Dim, b: Dim| a.poly().minus(&b.poly()).least(args.bounds).is_some_and(|least| least >= 0);
    match () {
        () if least(low, number) => Some(low),
        () if least(number, high) => Some(high),
        () if least(number, low) && least(high, number) => Some(number),
        () => None,
    }
}

/// An end of a slice, which may count from the end of the dimension.
fn end_of(args: &Args<'_>, end: Dim, size: Dim) -> Option<Dim> {
    match args.least(end)? {
        0.. => Some(end),
        _ if sizes::fixed(end).is_some() => sizes::sum(end, size),
        _ => None,
    }
}

fn slice(args: &Args<'_>) -> Results {
    let (x, step) = (args.tensor(0)?, args.fixed(4)?);
    ensure!(!x.dims.is_empty(), "a slice of no dimension");
    ensure!(step > 0, "a step of {step}");
    let at = dim_of(args.fixed(1)?, x.dims.len())?;
    let (size, start, end) = (x.dims[at], args.int(2)?, args.int(3)?);
    let slice = || {
        let first = clamp(args, end_of(args, start, size)?, Dim::from(0), size)?;
        let last = clamp(args, end_of(args, end, size)?, first, size)?;
        let length = sizes::difference(last, first)?;
        sizes::quotient(sizes::plus(length, step - 1)?, step)
    };
    let length = writable(slice())?;
    like(x, resized(x.dims, at, length))
}

fn repeat(args: &Args<'_>) -> Results {
    let (x, times) = (args.tensor(0)?, args.ints(1)?);
    ensure!((x.dims.len()..=8).contains(&times.len()), "{} repeats of {:?}", times.len(), x.dims);
    let lead = times.len() - x.dims.len();
    let dims = times.iter().enumerate().map(|(at, times)| {
        ensure!(sizes::fixed(*times).is_none_or(|times| times >= 0), "{times:?} repeats");
        let own = at.checked_sub(lead).map_or(Dim::from(1), |at| x.dims[at]);
        writable(sizes::times(own, *times))
    });
    let dims = dims.collect::<Result<Vec<_>, _>>()?;
    like(x, dims)
}

fn expand(args: &Args<'_>) -> Results {
    let (x, wanted) = (args.tensor(0)?, args.ints(1)?);
    ensure!((x.dims.len()..=8).contains(&wanted.len()), "{wanted:?} of {:?}", x.dims);
    let lead = wanted.len() - x.dims.len();
    let mut dims = Vec::with_capacity(wanted.len());
    for (at, want) in wanted.into_iter().enumerate() {
        let own = at.checked_sub(lead).map(|at| x.dims[at]);
        let (have, kept) = (own.unwrap_or(Dim::from(1)), own.filter(|_| sizes::fixed(want) == Some(-1)));
        let size = kept.unwrap_or(want);
        let fits = have == Dim::from(1) || size == have;
        ensure!(fits && sizes::fixed(size).is_none_or(|size| size >= 0), "{have:?} expanded to {want:?}");
        dims.push(size);
    }
    like(x, dims)
}

fn constant_pad(args: &Args<'_>) -> Results {
    let (x, pads) = (args.tensor(0)?, args.ints(1)?);
    args.scalar(2)?;
    ensure!(pads.len() % 2 == 0 && pads.len() / 2 <= x.dims.len(), "{pads:?} around {:?}", x.dims);
    let mut dims = x.dims.to_vec();
    for (pair, dim) in pads.chunks(2).zip(dims.iter_mut().rev()) {
        *dim = writable(sizes::sum(*dim, pair[0]).and_then(|dim| sizes::sum(dim, pair[1])))?;
    }
    like(x, dims)
}

/// What padding is made of.
#[derive(Clone, Copy)]
enum Edge {
    Reflected,
    Repeated,
    Round,
}
use Edge::{Reflected, Repeated, Round};

fn pad(args: &Args<'_>, edge: Edge, rank: usize) -> Results {
    let (x, pads) = (args.tensor(0)?, args.fixed_ints(1)?);
    ensure!(x.dims.len() == rank + 1 || x.dims.len() == rank + 2, "padding of {:?} in {rank} dimensions", x.dims);
    ensure!(pads.len() == 2 * rank, "{} numbers of padding in {rank} dimensions", pads.len());
    let mut dims = x.dims.to_vec();
    for (pair, dim) in pads.chunks(2).zip(dims.iter_mut().rev()) {
        let most = match (edge, sizes::fixed(*dim)) {
            (_, None) => i64::MAX,
            (Reflected, Some(size)) => size - 1,
            (Round, Some(size)) => size,
            (Repeated, Some(0)) => 0,
            (Repeated, Some(_)) => i64::from(i32::MAX),
        };
        ensure!(pair.iter().all(|by| *by == 0 || (*by > 0 && *by <= most)), "padding {pair:?} of {dim:?}");
        *dim = writable(sizes::plus(*dim, pair[0]).and_then(|dim| sizes::plus(dim, pair[1])))?;
    }
    like(x, dims)
}

fn upsample(args: &Args<'_>, rank: usize) -> Results {
    let (x, wanted) = (args.tensor(0)?, args.ints(1)?);
    ensure!(x.dims.len() == rank + 2 && wanted.len() == rank, "{wanted:?} of {:?}", x.dims);
    let zero = |dim: &Dim| args.is_zero(*dim) == Some(true);
    ensure!(!x.dims[2..].iter().any(zero), "an image {:?} of nothing", x.dims);
    ensure!(wanted.iter().all(|size| sizes::fixed(*size).is_none_or(|size| size > 0)), "an image of size {wanted:?}");
    like(x, [&x.dims[..2], &wanted].concat())
}

fn triangle<'a>(args: &Args<'a>) -> Result<Operand<'a>, No> {
    let x = args.tensor(0)?;
    ensure!(x.dims.len() >= 2, "a triangle of {:?}", x.dims);
    Ok(x)
}

/// A tensor that joints pass over.
fn is_nothing(x: &Operand<'_>) -> bool {
    matches!(x.dims, [only] if *only == Dim::from(0))
}

fn joined(all: &[Operand<'_>], dims: Vec<Dim>) -> Results {
    let dtype = all[1..].iter().fold(all[0].dtype, |dtype, one| promote(dtype, one.dtype));
    Ok(vec![Of::new(dtype, dims).or(Types::storing(dtype))])
}

fn cat(args: &Args<'_>) -> Results {
    let all = args.list(0)?;
    let model = all.iter().find(|one| !is_nothing(one)).unwrap_or(&all[0]).dims;
    ensure!(!model.is_empty(), "tensors without a dimension to join");
    let at = dim_of(args.fixed(1)?, model.len())?;
    let mut total = Some(Dim::from(0));
    for one in all.iter().filter(|one| !is_nothing(one)) {
        let fits = one.dims.len() == model.len() && resized(one.dims, at, model[at]) == model;
        ensure!(fits, "{:?} beside {model:?}, joined in dimension {at}", one.dims);
        total = total.and_then(|total| sizes::sum(total, one.dims[at]));
    }
    joined(&all, resized(model, at, writable(total)?))
}

fn stack(args: &Args<'_>) -> Results {
    let all = args.list(0)?;
    let model = all[0].dims;
    ensure!(model.len() < 8, "tensors of 8 dimensions");
    let at = dim_of(args.fixed(1)?, model.len() + 1)?;
    for one in &all {
        ensure!(one.dims == model, "{:?} beside {model:?}", one.dims);
    }
    let mut dims = model.to_vec();
    dims.insert(at, Dim::from(all.len()));
    joined(&all, dims)
}

/// The dimension that is split.
fn split_at<'a>(args: &Args<'a>) -> Result<(Operand<'a>, usize), No> {
    let x = args.tensor(0)?;
    ensure!(!x.dims.is_empty(), "a tensor without a dimension to split");
    let at = dim_of(args.fixed(2)?, x.dims.len())?;
    Ok((x, at))
}

fn parts(x: Operand<'_>, at: usize, sizes: impl IntoIterator<Item = Dim>) -> Results {
    Ok(sizes.into_iter().map(|size| Of::new(x.dtype, resized(x.dims, at, size))).collect())
}

fn split(args: &Args<'_>) -> Results {
    let (x, at) = split_at(args)?;
    let Some(size) = sizes::fixed(x.dims[at]) else {
        return Err(No::Unsure("how many parts there are depends on symbols".to_owned()));
    };
    let each = match args.fixed(1)? {
        each if each < 0 => i64::MAX, // a number without a sign in C
        each => each,
    };
    ensure!(each != 0 || size == 0, "parts of no elements");
    let count = if size == 0 { 1 } else { (size - 1) / each + 1 };
    let given = args.count(3);
    ensure!(given as i64 == count, "{given} results of {count} parts");
    parts(x, at, (0..count).map(|part| sizes::number(each.min(size - part * each))))
}

fn split_sizes(args: &Args<'_>) -> Results {
    let ((x, at), wanted) = (split_at(args)?, args.ints(1)?);
    ensure!(wanted.len() == args.count(3), "{} sizes of {} results", wanted.len(), args.count(3));
    ensure!(!wanted.is_empty(), "no parts");
    let total = wanted.iter().try_fold(Dim::from(0), |total, size| sizes::sum(total, *size));
    let whole = writable(total)?;
    let negative = wanted.iter().any(|size| sizes::fixed(*size).is_some_and(|size| size < 0));
    ensure!(whole == x.dims[at] && !negative, "parts of {wanted:?} of {:?}", x.dims[at]);
    parts(x, at, wanted)
}

/// Parts that are repeated as often as a number says, or as a tensor does.
fn repeat_parts(args: &Args<'_>, dim: Option<usize>, size: usize, times: Option<usize>) -> Results {
    let (x, length) = (args.tensor(0)?, args.int(size)?);
    ensure!(dim.is_none() || !x.dims.is_empty(), "a tensor without a dimension");
    let at = dim.map(|dim| dim_of(args.fixed(dim)?, x.dims.len())).transpose()?;
    let lines = at.map_or_else(|| sizes::product(x.dims), |at| Some(x.dims[at]));
    match times {
        Some(times) => {
            let times = args.int(times)?;
            ensure!(sizes::fixed(times).is_none_or(|times| times >= 0), "{times:?} repeats");
            let total = lines.and_then(|lines| sizes::times(lines, times));
            ensure!(writable(total)? == length, "{times:?} repeats to {length:?} of {lines:?}");
        }
        None => check_repeats(args, 1, lines)?,
    }
    let length = writable(Some(length))?;
    like(x, at.map_or_else(|| vec![length], |at| resized(x.dims, at, length)))
}

fn check_repeats(args: &Args<'_>, at: usize, lines: Option<Dim>) -> Result<(), No> {
    let repeats = args.tensor(at)?;
    require(Types::INDICES, repeats.dtype, "repeats")?;
    let count = sizes::product(repeats.dims);
    let fits = count == Some(1.into()) || count == lines;
    ensure!(repeats.dims.len() <= 1 && fits, "repeats of shape {:?} for {lines:?}", repeats.dims);
    Ok(())
}

fn repeated_indices(args: &Args<'_>) -> Results {
    let repeats = args.tensor(0)?;
    require(Types::INDICES, repeats.dtype, "repeats")?;
    ensure!(repeats.dims.len() <= 1, "repeats of shape {:?}", repeats.dims);
    let length = writable(Some(args.int(1)?))?;
    Ok(vec![Of::new(repeats.dtype, [length]).or(Types::INDICES)])
}

fn masked_scatter(args: &Args<'_>) -> Results {
    let (own, mask, source) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    require(Types::TRUTHS, mask.dtype, "a mask")?;
    require_spread(mask.dims, own.dims)?;
    same(source.dtype, own.dtype, "a tensor and its source")?;
    Ok(Vec::new())
}

fn triangle_result(args: &Args<'_>) -> Results {
    let x = triangle(args)?;
    like(x, x.dims.to_vec())
}

/// Values of plans are in no blocks: a copy of the same elements.
fn format_cast(args: &Args<'_>) -> Results {
    let x = args.tensor(0)?;
    Ok(vec![Of::new(x.dtype, x.dims)])
}

/// A weight that becomes one of blocks where it lies.
fn in_blocks(args: &Args<'_>) -> Results {
    let weight = args.tensor(0)?;
    require(Types::list(&[F16, Bf16, I8]), weight.dtype, "a weight")?;
    let rank = weight.dims.len();
    ensure!((2..=6).contains(&rank), "a weight of shape {:?}; it has 2 to 6 dimensions", weight.dims);
    Ok(Vec::new())
}

pub(super) const RULES: Family = &[
    (&["Cast"], cast),
    (&["NpuFormatCast"], format_cast),
    (&["TransMatmulWeight"], in_blocks),
    (&["Permute"], permute),
    (&["InplaceCopy"], copy),
    (&["Flip"], flip),
    (&["Roll"], roll),
    (&["Slice"], slice),
    (&["Repeat"], repeat),
    (&["Expand"], expand),
    (&["ConstantPadNd"], constant_pad),
    (&["ReflectionPad1d"], |a| pad(a, Reflected, 1)),
    (&["ReflectionPad2d"], |a| pad(a, Reflected, 2)),
    (&["ReflectionPad3d"], |a| pad(a, Reflected, 3)),
    (&["ReplicationPad1d"], |a| pad(a, Repeated, 1)),
    (&["ReplicationPad2d"], |a| pad(a, Repeated, 2)),
    (&["ReplicationPad3d"], |a| pad(a, Repeated, 3)),
    (&["CircularPad2d"], |a| pad(a, Round, 2)),
    (&["CircularPad3d"], |a| pad(a, Round, 3)),
    (&["UpsampleNearest1d", "UpsampleNearest1dV2", "UpsampleNearestExact1d"], |a| upsample(a, 1)),
    (&["UpsampleNearest2d", "UpsampleNearest2dV2", "UpsampleNearestExact2d"], |a| upsample(a, 2)),
    (&["UpsampleNearest3d", "UpsampleNearestExact3d"], |a| upsample(a, 3)),
    (&["Tril", "Triu"], triangle_result),
    (&["InplaceTril", "InplaceTriu"], |a| triangle(a).map(|_| Vec::new())),
    (&["Cat"], cat),
    (&["Stack"], stack),
    (&["SplitTensor"], split),
    (&["SplitWithSize"], split_sizes),
    (&["RepeatInterleave"], |a| repeat_parts(a, None, 2, None)),
    (&["RepeatInterleaveWithDim"], |a| repeat_parts(a, Some(2), 3, None)),
    (&["RepeatInterleaveInt"], |a| repeat_parts(a, None, 2, Some(1))),
    (&["RepeatInterleaveIntWithDim"], |a| repeat_parts(a, Some(2), 3, Some(1))),
    (&["RepeatInterleaveTensor"], repeated_indices),
    (&["InplaceMaskedScatter"], masked_scatter),
];
