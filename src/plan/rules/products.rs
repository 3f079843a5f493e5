//! Products of matrices and vectors.

use std::borrow::Cow;

use crate::op::DataType::{self, Bf16, F16, F32, F64, I8, I32, I64, U8};
use crate::op::{BLOCK_ROWS, block_columns};
use crate::plan::recipe::operator::Operand;
use crate::plan::symbols::dim::Dim;

use super::shapes::{broadcast, in_place, require_rank, require_spread};
use super::types::{Types, is_real, promote, promote_scalar, require, same};
use super::{Args, Family, No, Of, Results, ensure, sizes};

/// What takes part in a product.
#[derive(Clone, Copy)]
struct Parts {
    /// What is added to it.
    own: Option<usize>,
    x: usize,
    y: usize,
    turned: (bool, bool),
    /// Whether the products of a batch are added up.
    adds_up: bool,
    /// Types beside the usual ones.
    more: Types,
    /// Whether all have one type.
    same: bool,
    /// Of the factors, where they count.
    numbers: Option<DataType>,
    /// Whether the second operand may be given as the storage of FRACTAL_NZ.
    blocked: bool,
}

const TWO: Parts = Parts {
    own: None,
    x: 0,
    y: 1,
    turned: (false, false),
    adds_up: false,
    more: Types::NARROW,
    same: false,
    numbers: None,
    blocked: false,
};
const THREE: Parts = Parts { own: Some(0), x: 1, y: 2, ..TWO };

fn turned(dims: &[Dim], turn: bool) -> Cow<'_, [Dim]> {
    match (dims, turn) {
        ([lead @ .., a, b], true) => [lead, &[*b, *a]].concat().into(),
        _ => dims.into(),
    }
}

/// The shape of a weight as a matrix: one of blocks that has two dimensions more than what it is multiplied with is its
/// storage in FRACTAL_NZ, `[…, n / n0, k / 16, 16, n0]`.
fn unblocked<'a>(x: Operand<'_>, y: Operand<'a>) -> Result<Cow<'a, [Dim]>, No> {
    let (m0, n0) = (BLOCK_ROWS, block_columns(y.dtype));
    let is_storage = y.dims.len() == x.dims.len() + 2 && y.dims.ends_with(&[m0.into(), n0.into()]);
    let [lead @ .., n, k, _, _] = y.dims else { return Ok(y.dims.into()) };
    if !is_storage {
        return Ok(y.dims.into());
    }
    match (sizes::times(*k, m0.into()), sizes::times(*n, n0.into())) {
        (Some(k), Some(n)) => Ok([lead, &[k, n]].concat().into()),
        _ => Err(No::Unsure("a size that no dimension of a plan can be".to_owned())),
    }
}

/// The shape of a product of matrices, or of a vector for one.
fn shape(x: &[Dim], y: &[Dim], adds_up: bool) -> Result<Vec<Dim>, No> {
    let good = |dims: &[Dim]| (1..=6).contains(&dims.len());
    ensure!(good(x) && good(y), "{x:?} times {y:?}; 1 to 6 dimensions are taken");
    let (inner, outer) = (x[x.len() - 1], if y.len() >= 2 { y[y.len() - 2] } else { y[0] });
    ensure!(inner == outer, "{x:?} times {y:?}");
    let (batch_x, batch_y) = (&x[..x.len().saturating_sub(2)], &y[..y.len().saturating_sub(2)]);
    let mut dims = broadcast(batch_x, batch_y)?;
    dims.reserve_exact(2);
    if adds_up {
        dims.clear();
    }
    dims.extend(x.len().checked_sub(2).map(|at| x[at]));
    dims.extend((y.len() >= 2).then(|| y[y.len() - 1]));
    Ok(dims)
}

fn product(args: &Args<'_>, parts: Parts) -> Result<Of, No> {
    let (x, y) = (args.tensor(parts.x)?, args.tensor(parts.y)?);
    let own = parts.own.map(|own| args.tensor(own)).transpose()?;
    let allowed = Types::NARROW | parts.more;
    let all = || [Some(x), Some(y), own].into_iter().flatten();
    all().try_for_each(|one| require(allowed, one.dtype, "an operand"))?;
    if parts.same {
        all().try_for_each(|one| same(one.dtype, x.dtype, "operands"))?;
    }
    let common = all().fold(x.dtype, |common, one| promote(common, one.dtype));
    let common = parts.numbers.map_or(common, |numbers| promote_scalar(common, numbers));
    let matrix = if parts.blocked { unblocked(x, y)? } else { turned(y.dims, parts.turned.1) };
    let dims = shape(&turned(x.dims, parts.turned.0), &matrix, parts.adds_up)?;
    if let Some(own) = own {
        require_spread(own.dims, &dims)?;
    }
    let stored = Types::NARROW.has(common) && !parts.same;
    let of = Of::new(common, dims);
    Ok(if stored { of.or(Types::NARROW) } else { of })
}

/// How the cube units may compute.
fn check_math(args: &Args<'_>, math: usize) -> Result<(), No> {
    let math = args.fixed(math)?;
    ensure!((0..=3).contains(&math), "a kind of mathematics {math}, which is 0 to 3");
    Ok(())
}

fn one(of: Result<Of, No>) -> Results {
    Ok(vec![of?])
}

fn require_ranks(args: &Args<'_>, (x, y): (usize, usize), ranks: (usize, usize)) -> Result<(), No> {
    require_rank(args.tensor(x)?, ranks.0, "an operand")?;
    require_rank(args.tensor(y)?, ranks.1, "an operand")
}

/// Of two matrices, or batches of them.
fn plain(args: &Args<'_>, rank: Option<usize>) -> Results {
    if let Some(rank) = rank {
        require_ranks(args, (0, 1), (rank, rank))?;
    }
    check_math(args, 3)?;
    one(product(args, TWO))
}

fn added(args: &Args<'_>, rank: usize, adds_up: bool, math: usize) -> Result<Of, No> {
    require_ranks(args, (1, 2), (rank, rank))?;
    args.scalar(3)?;
    args.scalar(4)?;
    check_math(args, math)?;
    product(args, Parts { adds_up, ..THREE })
}

/// As the operators without a format, and with a weight that is its storage in FRACTAL_NZ.
fn with_blocks(args: &Args<'_>, rank: Option<usize>, parts: Parts, math: usize) -> Results {
    let (x, y) = (args.tensor(parts.x)?, args.tensor(parts.y)?);
    if let Some(rank) = rank {
        require_rank(x, rank, "an operand")?;
        ensure!(unblocked(x, y)?.len() == rank, "a weight of shape {:?}", y.dims);
    }
    if parts.own.is_some() {
        args.scalar(3)?;
        args.scalar(4)?;
    }
    check_math(args, math)?;
    one(product(args, Parts { blocked: true, ..parts }))
}

fn add_mv(args: &Args<'_>) -> Results {
    require_ranks(args, (1, 2), (2, 1))?;
    let numbers = Some(promote(args.scalar(3)?.0, args.scalar(4)?.0));
    check_math(args, 6)?;
    one(product(args, Parts { more: Types::KNOWN, numbers, ..THREE }))
}

fn gemm(args: &Args<'_>) -> Results {
    require_ranks(args, (0, 1), (2, 2))?;
    check_math(args, 8)?;
    let turned = (args.fixed(5)? != 0, args.fixed(6)? != 0);
    one(product(args, Parts { own: Some(2), turned, ..TWO }))
}

fn mv(args: &Args<'_>) -> Results {
    require_ranks(args, (0, 1), (2, 1))?;
    check_math(args, 3)?;
    one(product(args, TWO))
}

fn dot(args: &Args<'_>) -> Results {
    require_ranks(args, (0, 1), (1, 1))?;
    one(product(args, Parts { same: true, more: Types::list(&[I8, U8, I32]), ..TWO }))
}

/// All pairs of two vectors.
fn outer(args: &Args<'_>, own: Option<usize>, vectors: (usize, usize)) -> Result<Of, No> {
    require_ranks(args, vectors, (1, 1))?;
    let (x, y) = (args.tensor(vectors.0)?, args.tensor(vectors.1)?);
    let dims = vec![x.dims[0], y.dims[0]];
    let mut dtype = promote(x.dtype, y.dtype);
    if let Some(own) = own {
        let own = args.tensor(own)?;
        dtype = promote(dtype, own.dtype);
        require_spread(own.dims, &dims)?;
    }
    Ok(Of::new(dtype, dims).or(Types::storing(dtype)))
}

/// Numbers with a fraction do not go with integers alone.
fn add_outer(args: &Args<'_>, out: Option<usize>) -> Result<Of, No> {
    let tensors = (0..3).map(|at| args.tensor(at)).collect::<Result<Vec<_>, _>>()?;
    let declared = out.and_then(|out| args.declared(out));
    let reals = tensors.iter().chain(&declared).any(|one| is_real(one.dtype));
    for at in [3, 4] {
        let fraction = args.maybe_scalar(at)?.is_some_and(|(dtype, ..)| is_real(dtype));
        ensure!(reals || !fraction, "a number of a float type with tensors of integers");
    }
    outer(args, Some(0), (1, 2))
}

fn triangular(args: &Args<'_>) -> Results {
    let (own, matrix) = (args.tensor(0)?, args.tensor(1)?);
    require(Types::list(&[F32, F64]), own.dtype, "an operand")?;
    same(matrix.dtype, own.dtype, "operands")?;
    let ([batch @ .., m, n], [others @ .., rows, columns]) = (own.dims, matrix.dims) else {
        return Err(No::Misfit("operands of fewer than 2 dimensions".to_owned()));
    };
    ensure!(rows == m && columns == m, "{:?} for {:?}, which needs square matrices", matrix.dims, own.dims);
    let batch = broadcast(batch, others)?;
    let of = |matrix: [Dim; 2]| Of::new(own.dtype, [&batch[..], &matrix].concat());
    Ok(vec![of([*m, *n]), of([*m, *m])])
}

// ---- with quantised operands ----

fn refuse(args: &Args<'_>, parameters: &[usize]) -> Result<(), No> {
    parameters.iter().try_for_each(|at| {
        ensure!(!args.has(*at), "parameter {at}, which has to be left out");
        Ok(())
    })
}

/// One dimension, or a row of two, with `n` numbers, or with one of them.
fn require_row(of: Option<Operand<'_>>, n: Dim, one: bool, types: Types) -> Result<(), No> {
    let Some(of) = of else { return Ok(()) };
    require(types, of.dtype, "numbers")?;
    let last = match of.dims {
        [last] => *last,
        [first, last] if *first == Dim::from(1) => *last,
        _ => return Err(No::Misfit(format!("numbers of shape {:?}; {n:?} are wanted", of.dims))),
    };
    ensure!(last == n || (one && last == Dim::from(1)), "{last:?} numbers; {n:?} are wanted");
    Ok(())
}

/// The places of scale, numbers of rows, bias, and the first of two truth values.
fn quantised(args: &Args<'_>, scale: usize, rows: Option<usize>, bias: usize, turn: usize) -> Results {
    let y = args.tensor(1)?;
    quantised_by(args, (y, y.dims), (scale, rows, bias, turn))
}

/// With a weight of this shape.
fn quantised_by(
    args: &Args<'_>,
    (y, matrix): (Operand<'_>, &[Dim]),
    (scale, rows, bias, turn): (usize, Option<usize>, usize, usize),
) -> Results {
    let x = args.tensor(0)?;
    require(Types::of(I8), x.dtype, "an operand")?;
    require(Types::of(I8), y.dtype, "an operand")?;
    ensure!([x.dims, matrix].iter().all(|dims| (2..=6).contains(&dims.len())), "{:?} times {matrix:?}", x.dims);
    let (x, y) = (turned(x.dims, args.flag(turn)?), turned(matrix, args.flag(turn + 1)?));
    let dims = shape(&x, &y, false)?;
    let (m, n) = (dims[dims.len() - 2], dims[dims.len() - 1]);
    require_row(Some(args.tensor(scale)?), n, true, Types::list(&[F32, Bf16, I64]))?;
    require_row(args.maybe(bias)?, n, false, Types::list(&[I32, F32, Bf16, F16]))?;
    if let Some(rows) = rows {
        require_row(args.maybe(rows)?, m, false, Types::of(F32))?;
    }
    Ok(vec![Of::new(F16, dims).or(Types::of(Bf16))])
}

/// With more that may be told; and a weight that may be its storage in FRACTAL_NZ.
fn quantised_later(args: &Args<'_>, blocked: bool) -> Results {
    refuse(args, &[4, 5, 6, 7])?;
    let group = args.fixed(11)?;
    ensure!(group == 0, "groups of {group}");
    let y = args.tensor(1)?;
    let matrix = if blocked { unblocked(args.tensor(0)?, y)? } else { y.dims.into() };
    quantised_by(args, (y, &matrix), (3, Some(2), 8, 9))
}

/// One number, `n` of them in one dimension or a row, or as many for each group.
fn require_grid(of: Option<Operand<'_>>, groups: i64, n: Dim) -> Result<(), No> {
    let Some(of) = of else { return Ok(()) };
    let one = Dim::from(1);
    let (rows, columns) = match of.dims {
        [] => (one, one),
        [columns] => (one, *columns),
        [rows, columns] => (*rows, *columns),
        _ => return Err(No::Misfit(format!("numbers of shape {:?}", of.dims))),
    };
    let single = groups == 1 && rows == one && columns == one;
    let groups = sizes::number(groups);
    ensure!(single || (rows == groups && columns == n), "numbers of shape {:?} for [{groups:?}, {n:?}]", of.dims);
    Ok(())
}

fn weight_quantised(args: &Args<'_>) -> Results {
    let (x, weight) = (args.tensor(0)?, args.tensor(1)?);
    require(Types::list(&[F16, Bf16]), x.dtype, "an operand")?;
    require(Types::list(&[I8, I32]), weight.dtype, "a weight")?;
    require_rank(x, 2, "an operand")?;
    require_rank(weight, 2, "a weight")?;
    refuse(args, &[4, 5])?;
    let in_element = if weight.dtype == I32 { 8 } else { 1 };
    let n = sizes::times(weight.dims[1], sizes::number(in_element));
    let n = n.ok_or_else(|| No::Unsure("a size that no dimension of a plan can be".to_owned()))?;
    let (m, k) = (x.dims[0], x.dims[1]);
    ensure!(weight.dims[0] == k, "{:?} times {:?}", x.dims, weight.dims);
    let counted = |dim| args.least(dim).is_none_or(|least| least <= i32::MAX.into());
    ensure!(counted(m) && counted(k), "an operand {:?}", x.dims);
    let group = args.fixed(7)?;
    let mut groups = 1;
    if group != 0 {
        let k = sizes::fixed(k).ok_or_else(|| No::Unsure("groups of a size that depends on symbols".to_owned()))?;
        ensure!(group >= 32 && group % 32 == 0 && group < k, "groups of {group} of {k}");
        groups = (k - 1) / group + 1;
    }
    let (scale, offset, bias) = (args.tensor(2)?, args.maybe(3)?, args.maybe(6)?);
    same(scale.dtype, x.dtype, "an operand and its scale")?;
    if let Some(offset) = offset {
        same(offset.dtype, x.dtype, "an operand and its offset")?;
    }
    if let Some(bias) = bias {
        ensure!(bias.dtype == x.dtype || bias.dtype == F32, "a bias of type {:?}", bias.dtype);
    }
    require_grid(Some(scale), groups, n)?;
    require_grid(offset, groups, n)?;
    require_grid(bias, 1, n)?;
    Ok(vec![Of::new(x.dtype, [m, n])])
}

fn weight_quantised_later(args: &Args<'_>) -> Results {
    let precise = args.fixed(8)?;
    ensure!((0..=1).contains(&precise), "a precision {precise}, which is 0 or 1");
    weight_quantised(args)
}

pub(super) const RULES: Family = &[
    (&["Mm"], |a| plain(a, Some(2))),
    (&["Matmul"], |a| plain(a, None)),
    (&["MatmulWeightNz"], |a| with_blocks(a, None, TWO, 3)),
    (&["BatchMatMul"], |a| plain(a, Some(3))),
    (&["BatchMatMulWeightNz"], |a| with_blocks(a, Some(3), TWO, 3)),
    (&["Addmm"], |a| one(added(a, 2, false, 6))),
    (&["AddmmWeightNz"], |a| with_blocks(a, Some(2), THREE, 6)),
    (&["Baddbmm"], |a| one(added(a, 3, false, 6))),
    (&["Addbmm"], |a| one(added(a, 3, true, 6))),
    (&["InplaceAddmm"], |a| in_place(a, 0, &added(a, 2, false, 5)?)),
    (&["InplaceBaddbmm"], |a| in_place(a, 0, &added(a, 3, false, 5)?)),
    (&["InplaceAddbmm"], |a| in_place(a, 0, &added(a, 3, true, 5)?)),
    (&["Addmv"], add_mv),
    (&["Gemm"], gemm),
    (&["Mv"], mv),
    (&["Dot"], dot),
    (&["Ger"], |a| one(outer(a, None, (0, 1)))),
    (&["Addr"], |a| one(add_outer(a, Some(5)))),
    (&["InplaceAddr"], |a| in_place(a, 0, &add_outer(a, None)?)),
    (&["TriangularSolve"], triangular),
    (&["QuantMatmulV3"], |a| {
        refuse(a, &[3])?;
        quantised(a, 2, None, 4, 5)
    }),
    (&["QuantMatmulV4"], |a| {
        refuse(a, &[3])?;
        quantised(a, 2, Some(4), 5, 6)
    }),
    (&["QuantMatmulV5"], |a| quantised_later(a, false)),
    (&["QuantMatmulWeightNz"], |a| quantised_later(a, true)),
    (&["WeightQuantBatchMatmulV2"], weight_quantised),
    (&["WeightQuantBatchMatmulV3"], weight_quantised_later),
];
