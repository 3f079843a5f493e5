//! Sorting, and running sums.

use crate::error::Result;
use crate::op::nn::wrapped::wrapped;
use crate::op::{Numerics, Of, aclnn};

wrapped! {
    /// The elements of each line along `dim` in order, and where they were; equal ones keep their order.
    ///
    /// NaN counts as greatest. A negative `dim` counts from the end. The results have the shape of `a` and share no
    /// memory with it. Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnSort")]
    #[refused = "for a dimension that `a` does not have, or when a result has another shape"]
    #[example = "\
let a = device.upload_tensor(&[3.0_f32, 1.0, 2.0], [3])?;
let (mut values, mut at) = (device.zeros([3])?, device.zeros([3])?);
op::sort(&stream, &a, 0, false, &mut values, &mut at)?;
assert_eq!((values.to_vec()?, at.to_vec()?), (vec![1.0, 2.0, 3.0], vec![1, 2, 0]));"]
    fn sort<T: Numerics>(
        on; a: &impl Of<T>, dim: i64, descending: bool, values: &mut impl Of<T>, indices: &mut impl Of<T::As<i64>>,
    ) = sort(a, true, dim, descending, values, indices);

    /// Where the elements of each line along `dim` are, in their order.
    ///
    /// NaN counts as greatest. A negative `dim` counts from the end. `indices` has the shape of `a`. Types: f32, f16,
    /// bf16, i32 and i64.
    #[alias("aclnnArgsort")]
    #[refused = "for a dimension that `a` does not have, or when `indices` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[3, 1, 2], [3])?;
let mut at = device.zeros([3])?;
op::argsort(&stream, &a, 0, true, &mut at)?;
assert_eq!(at.to_vec()?, [0, 2, 1]);"]
    fn argsort<T: Numerics>(
        on; a: &impl Of<T>, dim: i64, descending: bool, indices: &mut impl Of<T::As<i64>>,
    ) = argsort(a, dim, descending, indices);

    /// The `k` greatest elements of each line along `dim`, or the smallest ones, in order, and where they are.
    ///
    /// NaN counts as greatest. A negative `dim` counts from the end. The results have the shape of `a` with `k` for
    /// `dim`, and share no memory with it. Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnTopk")]
    #[refused = "for a dimension or `k` that `a` does not have, 0 of no dimensions, or when a result has another shape"]
    #[example = "\
let a = device.upload_tensor(&[3.0_f32, 1.0, 2.0], [3])?;
let (mut values, mut at) = (device.zeros([2])?, device.zeros([2])?);
op::topk(&stream, &a, 2, 0, true, &mut values, &mut at)?;
assert_eq!((values.to_vec()?, at.to_vec()?), (vec![3.0, 2.0], vec![0, 2]));"]
    fn topk<T: Numerics>(
        on; a: &impl Of<T>, k: i64, dim: i64, largest: bool, values: &mut impl Of<T>, indices: &mut impl Of<T::As<i64>>,
    ) = topk(a, k, dim, largest, true, values, indices);

    /// Running sums along `dim`: each element with those before it.
    ///
    /// A negative `dim` counts from the end. `out` has the shape of `a` and shares no memory with it. Types: f32,
    /// f16, bf16, i32 and i64.
    #[alias("aclnnCumsum")]
    #[refused = "for a dimension that `a` does not have, or when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[1, 2, 3], [3])?;
let mut out = device.zeros([3])?;
op::cumsum(&stream, &a, 0, &mut out)?;
assert_eq!(out.to_vec()?, [1, 3, 6]);"]
    fn cumsum<T: Numerics>(
        on; a: &impl Of<T>, dim: i64, out: &mut impl Of<T>,
    ) = cumsum(a, dim, T::dtype(on, a)?, out);
}
