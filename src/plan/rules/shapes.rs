//! What rules of several families say of shapes.

use crate::plan::recipe::operator::{self, Operand};
use crate::plan::symbols::dim::Dim;

use super::{Args, No, Of, Results, ensure, misfit};

/// The common shape.
pub(super) fn broadcast(a: &[Dim], b: &[Dim]) -> Result<Vec<Dim>, No> {
    operator::broadcast(a, b).map_err(No::Misfit)
}

/// That `from` can be read as if it had the shape `to`.
pub(super) fn require_spread(from: &[Dim], to: &[Dim]) -> Result<(), No> {
    ensure!(broadcast(from, to)? == to, "{from:?} cannot be broadcast to {to:?}");
    Ok(())
}

pub(super) fn require_same(a: &[Dim], b: &[Dim], what: &str) -> Result<(), No> {
    ensure!(a == b, "{what} of shape {a:?}; it has to be {b:?}");
    Ok(())
}

pub(super) fn require_rank(operand: Operand<'_>, rank: usize, what: &str) -> Result<(), No> {
    ensure!(operand.dims.len() == rank, "{what} of shape {:?}; it has {rank} dimensions", operand.dims);
    Ok(())
}

/// The index of a dimension, negative ones counted from the end; a tensor without dimensions counts as one with one.
pub(super) fn dim_of(dim: i64, rank: usize) -> Result<usize, No> {
    let range = rank.max(1) as i64;
    ensure!((-range..range).contains(&dim), "dimension {dim} of {rank}");
    Ok(if dim < 0 { dim + range } else { dim } as usize)
}

/// A set of dimensions, all of them where none is named.
pub(super) fn dim_set(dims: &[i64], rank: usize) -> Result<u32, No> {
    let mut set = 0;
    for dim in dims {
        let bit = 1 << dim_of(*dim, rank)?;
        ensure!(set & bit == 0, "dimension {dim} is named twice");
        set |= bit;
    }
    let all = (1 << rank) - 1;
    Ok(if dims.is_empty() { all } else { set & all })
}

/// The shape with the dimension `at` of another size.
pub(super) fn resized(dims: &[Dim], at: usize, size: Dim) -> Vec<Dim> {
    let mut dims = dims.to_vec();
    if let Some(dim) = dims.get_mut(at) {
        *dim = size;
    }
    dims
}

/// An operator that changes parameter `parameter` in place, to what `of` says.
pub(super) fn in_place(args: &Args<'_>, parameter: usize, of: &Of) -> Results {
    let own = args.tensor(parameter)?;
    match of.takes(own.dtype, own.dims) {
        Some(true) => Ok(Vec::new()),
        _ => misfit!("{:?} {:?} into {:?} {:?}", of.dtype, of.dims, own.dtype, own.dims),
    }
}

/// A size that can be written as a dimension of a plan.
pub(super) fn writable(size: Option<Dim>) -> Result<Dim, No> {
    let size = size.ok_or_else(|| No::Unsure("a size that no dimension of a plan can be".to_owned()))?;
    ensure!(super::sizes::fixed(size).is_none_or(|size| size >= 0), "a size of {size:?}");
    Ok(size)
}
