//! Operators that read or write where indices say.

use crate::op::DataType::Bool;
use crate::plan::recipe::operator::Operand;
use crate::plan::symbols::dim::Dim;

use super::shapes::{broadcast, dim_of, require_rank, require_same, require_spread, resized};
use super::types::{Types, require, same};
use super::{Args, Family, No, Of, Results, ensure, sizes};

fn embedding(args: &Args<'_>) -> Results {
    let (table, indices) = (args.any(0)?, index_of(args, 1)?);
    require_rank(table, 2, "a table")?;
    ensure!(indices.dims.len() < 8, "indices of 8 dimensions");
    Ok(vec![Of::new(table.dtype, [indices.dims, &table.dims[1..]].concat())])
}

fn index_of<'a>(args: &Args<'a>, at: usize) -> Result<Operand<'a>, No> {
    let indices = args.tensor(at)?;
    require(Types::INDICES, indices.dtype, "indices")?;
    Ok(indices)
}

fn embedding_backward(args: &Args<'_>) -> Results {
    let (grad, indices) = (args.tensor(0)?, index_of(args, 1)?);
    ensure!(!args.flag(4)?, "gradients that are scaled by frequency");
    ensure!(indices.dims.len() < 8, "indices of 8 dimensions");
    let Some((width, outer)) = grad.dims.split_last() else {
        return Err(No::Misfit("a gradient without a dimension".to_owned()));
    };
    require_same(outer, indices.dims, "rows of a gradient")?;
    let rows = args.int(2)?;
    ensure!(sizes::fixed(rows).is_none_or(|rows| rows >= 0), "{rows:?} rows");
    Ok(vec![Of::new(grad.dtype, [rows, *width])])
}

/// The index of the dimension in parameter 1, of a tensor that has some.
fn dim_in(args: &Args<'_>, x: Operand<'_>) -> Result<usize, No> {
    ensure!(!x.dims.is_empty(), "a tensor without a dimension");
    dim_of(args.fixed(1)?, x.dims.len())
}

fn select(args: &Args<'_>) -> Results {
    let (x, indices) = (args.tensor(0)?, index_of(args, 2)?);
    require_rank(indices, 1, "indices")?;
    let at = dim_in(args, x)?;
    Ok(vec![Of::new(x.dtype, resized(x.dims, at, indices.dims[0]))])
}

/// That sizes are at most those of another tensor; symbols that may be larger are left to the library.
fn require_within(args: &Args<'_>, inner: Operand<'_>, outer: Operand<'_>, but: Option<usize>) -> Result<(), No> {
    ensure!(inner.dims.len() == outer.dims.len(), "indices of shape {:?} in {:?}", inner.dims, outer.dims);
    for (at, (a, b)) in inner.dims.iter().zip(outer.dims).enumerate() {
        let more = a.poly().minus(&b.poly());
        let larger = more.least(args.bounds).is_some_and(|least| least > 0);
        ensure!(Some(at) == but || !larger, "indices of shape {:?} in {:?}", inner.dims, outer.dims);
    }
    Ok(())
}

fn gather(args: &Args<'_>) -> Results {
    let (x, indices) = (args.tensor(0)?, index_of(args, 2)?);
    let at = dim_in(args, x)?;
    require_within(args, indices, x, Some(at))?;
    Ok(vec![Of::new(x.dtype, indices.dims)])
}

fn gather_in_place_of(args: &Args<'_>) -> Results {
    let (x, indices) = (args.tensor(0)?, index_of(args, 2)?);
    let at = dim_in(args, x)?;
    let dims = [&x.dims[..at], indices.dims, &x.dims[at + 1..]].concat();
    ensure!(dims.len() <= 8, "{} dimensions", dims.len());
    Ok(vec![Of::new(x.dtype, dims)])
}

/// The shape of what indices of several dimensions together choose.
fn chosen(args: &Args<'_>, x: Operand<'_>, at: usize) -> Result<Vec<Dim>, No> {
    let indices = index_of(args, at)?;
    let Some((depth, lead)) = indices.dims.split_last() else {
        return Err(No::Misfit("indices without a dimension".to_owned()));
    };
    let depth =
        sizes::fixed(*depth).ok_or_else(|| No::Unsure("indices whose depth depends on symbols".to_owned()))?;
    ensure!(depth as usize <= x.dims.len(), "{depth} indices each of {:?}", x.dims);
    let dims = [lead, &x.dims[depth as usize..]].concat();
    ensure!(dims.len() <= 8, "{} dimensions", dims.len());
    Ok(dims)
}

fn gather_nd(args: &Args<'_>) -> Results {
    let x = args.tensor(0)?;
    Ok(vec![Of::new(x.dtype, chosen(args, x, 1)?)])
}

fn take(args: &Args<'_>) -> Results {
    let (x, indices) = (args.tensor(0)?, index_of(args, 1)?);
    Ok(vec![Of::new(x.dtype, indices.dims)])
}

fn put(args: &Args<'_>) -> Results {
    let (x, indices, source) = (args.tensor(0)?, index_of(args, 1)?, args.tensor(2)?);
    same(source.dtype, x.dtype, "a tensor and its source")?;
    let count = |of: Operand<'_>| sizes::product(of.dims);
    ensure!(count(indices) == count(source), "{:?} elements for {:?}", source.dims, indices.dims);
    Ok(Vec::new())
}

/// A list of indices: the shape of what they choose, and how many of them there are.
fn listed(args: &Args<'_>, x: Operand<'_>, all: &[Operand<'_>]) -> Result<(Vec<Dim>, usize), No> {
    ensure!(all.len() <= x.dims.len(), "{} indices of {:?}", all.len(), x.dims);
    let mut common = Vec::new();
    let mut found = Vec::new();
    for (at, one) in all.iter().enumerate() {
        let unknown = one.dims.iter().any(|dim| args.is_zero(*dim).is_none());
        if is_whole(args, *one) {
            continue;
        }
        if unknown {
            return Err(No::Unsure("indices that may be none, which stand for a whole dimension".to_owned()));
        }
        require(Types::INDICES, one.dtype, "indices")?;
        common = broadcast(&common, one.dims)?;
        found.push(at);
    }
    let together = found.last().is_some_and(|last| last - found[0] + 1 == found.len());
    let mut dims: Vec<Dim> = Vec::new();
    let whole: Vec<Dim> = (0..x.dims.len()).filter(|at| !found.contains(at)).map(|at| x.dims[at]).collect();
    let place = if together { found[0] } else { 0 };
    dims.extend(&whole[..place]);
    dims.extend(&common);
    dims.extend(&whole[place..]);
    ensure!(dims.len() <= 8, "{} dimensions", dims.len());
    Ok((dims, found.len()))
}

/// Indices of no elements stand for a whole dimension.
fn is_whole(args: &Args<'_>, one: Operand<'_>) -> bool {
    one.dims.iter().any(|dim| args.is_zero(*dim) == Some(true))
}

fn index_list(args: &Args<'_>) -> Results {
    let (x, all) = (args.tensor(0)?, args.list(1)?);
    let nothing = |of: &Operand<'_>| of.dims.iter().any(|dim| args.is_zero(*dim) == Some(true));
    if let Some(declared) = args.declared(2).filter(nothing)
        && all.iter().any(|one| is_whole(args, *one))
    {
        return Ok(vec![Of::new(x.dtype, declared.dims)]);
    }
    Ok(vec![Of::new(x.dtype, listed(args, x, &all)?.0)])
}

fn put_list(args: &Args<'_>) -> Results {
    let (x, all, values) = (args.tensor(0)?, args.list(1)?, args.tensor(2)?);
    let (dims, count) = listed(args, x, &all)?;
    same(values.dtype, x.dtype, "a tensor and its values")?;
    if count != 0 {
        require_spread(values.dims, &dims)?;
    }
    Ok(Vec::new())
}

fn scatter_nd(args: &Args<'_>) -> Result<Of, No> {
    let (x, updates) = (args.tensor(0)?, args.tensor(2)?);
    same(updates.dtype, x.dtype, "a tensor and its updates")?;
    require_same(updates.dims, &chosen(args, x, 1)?, "updates")?;
    Ok(Of::new(x.dtype, x.dims))
}

fn one(of: Result<Of, No>) -> Results {
    Ok(vec![of?])
}

fn nothing(of: Result<Of, No>) -> Results {
    of.map(|_| Vec::new())
}

/// Writes a source, or a number, along a dimension.
fn scatter(args: &Args<'_>, source: bool, reduce: Option<usize>) -> Result<Of, No> {
    let (x, indices) = (args.tensor(0)?, index_of(args, 2)?);
    let at = dim_in(args, x)?;
    if let Some(reduce) = reduce {
        let reduce = args.fixed(reduce)?;
        ensure!((0..=2).contains(&reduce), "a way {reduce} to reduce, which is 0 to 2");
    }
    require_within(args, indices, x, Some(at))?;
    if source {
        let source = args.tensor(3)?;
        require_within(args, indices, source, None)?;
        same(source.dtype, x.dtype, "a tensor and its source")?;
    } else {
        args.scalar(3)?;
    }
    Ok(Of::new(x.dtype, x.dims))
}

fn scatter_update(args: &Args<'_>) -> Results {
    let (x, indices, updates) = (args.tensor(0)?, index_of(args, 1)?, args.tensor(2)?);
    ensure!(x.dims.len() >= 2, "data of shape {:?}", x.dims);
    let at = dim_of(args.fixed(3)?, x.dims.len())?;
    same(updates.dtype, x.dtype, "data and updates")?;
    ensure!(at != 0, "the first dimension, whose parts the indices belong to");
    ensure!(indices.dims.len() <= 1 && indices.dims.iter().all(|n| *n == x.dims[0]), "indices {:?}", indices.dims);
    ensure!(updates.dims.len() == x.dims.len(), "updates of shape {:?} for {:?}", updates.dims, x.dims);
    require_same(updates.dims, &resized(x.dims, at, updates.dims[at]), "updates")?;
    require_within(args, updates, x, None)?;
    Ok(Vec::new())
}

/// How many slices a line of indices chooses.
fn line(args: &Args<'_>) -> Result<Dim, No> {
    let indices = index_of(args, 2)?;
    ensure!(indices.dims.len() <= 1, "indices of shape {:?}", indices.dims);
    Ok(indices.dims.first().copied().unwrap_or(Dim::from(1)))
}

fn slices(args: &Args<'_>) -> Result<Of, No> {
    let (x, source) = (args.tensor(0)?, args.tensor(3)?);
    let (at, count) = (dim_in(args, x)?, line(args)?);
    same(source.dtype, x.dtype, "a tensor and its source")?;
    require_same(source.dims, &resized(x.dims, at, count), "a source")?;
    Ok(Of::new(x.dtype, x.dims))
}

fn fill(args: &Args<'_>) -> Result<Of, No> {
    let x = args.tensor(0)?;
    dim_in(args, x)?;
    line(args)?;
    args.scalar(3)?;
    Ok(Of::new(x.dtype, x.dims))
}

/// The indices are numbers.
fn fill_told(args: &Args<'_>) -> Result<Of, No> {
    let x = args.tensor(0)?;
    let at = dim_in(args, x)?;
    args.scalar(3)?;
    for place in args.fixed_ints(2)? {
        let range = sizes::fixed(x.dims[at]);
        ensure!(range.is_none_or(|n| (-n..n).contains(&place)), "index {place} of {:?}", x.dims[at]);
    }
    Ok(Of::new(x.dtype, x.dims))
}

/// Into a tensor that is given, like the first one.
fn copy_slices(args: &Args<'_>) -> Results {
    let (of, out) = (slices(args)?, args.tensor(4)?);
    same(out.dtype, of.dtype, "a tensor and its result")?;
    require_same(out.dims, &of.dims, "a result")?;
    Ok(Vec::new())
}

fn count(args: &Args<'_>) -> Results {
    let (x, weights, least) = (args.tensor(0)?, args.maybe(1)?, args.int(2)?);
    require(Types::INTEGERS, x.dtype, "numbers to count")?;
    require_rank(x, 1, "numbers to count")?;
    let Some(out) = args.declared(3) else {
        return Err(No::Unsure("how many there are depends on what is counted".to_owned()));
    };
    require_rank(out, 1, "a result")?;
    let less = out.dims[0].poly().minus(&least.poly());
    let short = less.greatest(args.bounds).is_some_and(|most| most < 0);
    ensure!(args.least(least).is_none_or(|least| least >= 0) && !short, "{least:?} counts in {:?}", out.dims);
    let mut types = Types::KNOWN.without(Bool);
    if let Some(weights) = weights {
        require_same(weights.dims, x.dims, "weights")?;
        types = types & Types::storing(weights.dtype);
    }
    require(types, out.dtype, "a result")?;
    Ok(vec![Of::new(out.dtype, out.dims)])
}

pub(super) const RULES: Family = &[
    (&["Embedding"], embedding),
    (&["EmbeddingDenseBackward"], embedding_backward),
    (&["IndexSelect"], select),
    (&["Gather"], gather),
    (&["GatherV2"], gather_in_place_of),
    (&["GatherNd"], gather_nd),
    (&["Take"], take),
    (&["InplacePut"], put),
    (&["Index"], index_list),
    (&["IndexPutImpl"], put_list),
    (&["ScatterNd"], |a| one(scatter_nd(a))),
    (&["ScatterNdUpdate"], |a| nothing(scatter_nd(a))),
    (&["Scatter"], |a| one(scatter(a, true, Some(4)))),
    (&["InplaceScatter"], |a| nothing(scatter(a, true, Some(4)))),
    (&["ScatterAdd"], |a| one(scatter(a, true, None))),
    (&["ScatterValue"], |a| one(scatter(a, false, Some(4)))),
    (&["InplaceScatterValue"], |a| nothing(scatter(a, false, Some(4)))),
    (&["InplaceScatterUpdate"], scatter_update),
    (&["IndexAdd"], |a| {
        a.scalar(4)?;
        one(slices(a))
    }),
    (&["IndexCopy"], copy_slices),
    (&["InplaceIndexCopy"], |a| nothing(slices(a))),
    (&["IndexFill"], |a| one(fill(a))),
    (&["InplaceIndexFill"], |a| nothing(fill(a))),
    (&["IndexFillTensor"], |a| one(fill_told(a))),
    (&["InplaceIndexFillTensor"], |a| nothing(fill_told(a))),
    (&["Bincount"], count),
];
