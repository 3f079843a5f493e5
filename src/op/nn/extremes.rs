//! Reductions to an extreme, a product, a norm or a truth value.

use crate::error::Result;
use crate::op::nn::wrapped::wrapped;
use crate::op::{Elements, Floats, Indices, Numerics, Of, aclnn};

wrapped! {
    /// The greatest element over dimensions; NaN when there is one.
    ///
    /// `dims` are reduced, negative ones counted from the end; all of them when none is named. They stay as ones with
    /// `keep_dims`, else they are gone. `out` shares no memory with `a`. Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnAmax")]
    #[refused = "for a dimension that `a` does not have, or when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[1, 2, 3, 4, 5, 6], [2, 3])?;
let mut out = device.zeros([2])?;
op::amax(&stream, &a, &[1], false, &mut out)?;
assert_eq!(out.to_vec()?, [3, 6]);"]
    fn amax<T: Numerics>(
        on; a: &impl Of<T>, dims: &[i64], keep_dims: bool, out: &mut impl Of<T>,
    ) = amax(a, dims, keep_dims, out);

    /// The smallest element over dimensions; NaN when there is one.
    ///
    /// `dims` are reduced, negative ones counted from the end; all of them when none is named. They stay as ones with
    /// `keep_dims`, else they are gone. `out` shares no memory with `a`. Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnAmin")]
    #[refused = "for a dimension that `a` does not have, or when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[1, 2, 3, 4, 5, 6], [2, 3])?;
let mut out = device.zeros([2])?;
op::amin(&stream, &a, &[1], false, &mut out)?;
assert_eq!(out.to_vec()?, [1, 4]);"]
    fn amin<T: Numerics>(
        on; a: &impl Of<T>, dims: &[i64], keep_dims: bool, out: &mut impl Of<T>,
    ) = amin(a, dims, keep_dims, out);

    /// The greatest element over one dimension, and where it is; the first of several.
    ///
    /// `dim` stays as one with `keep_dim`, else it is gone; a negative one counts from the end. The results have one
    /// shape and share no memory with `a`. Types: f32, f16, bf16, i32 and i64, indices i64.
    #[alias("aclnnMaxDim")]
    #[refused = "for a dimension that `a` does not have, or when a result has another shape"]
    #[example = "\
let a = device.upload_tensor(&[1, 4, 9, 2], [2, 2])?;
let (mut out, mut at) = (device.zeros([2])?, device.zeros::<i64>([2])?);
op::max_dim(&stream, &a, 1, false, &mut out, &mut at)?;
assert_eq!((out.to_vec()?, at.to_vec()?), (vec![4, 9], vec![1, 0]));"]
    fn max_dim<T: Numerics, I: Indices>(
        on; a: &impl Of<T>, dim: i64, keep_dim: bool, out: &mut impl Of<T>, indices: &mut impl Of<I>,
    ) = max_dim(a, dim, keep_dim, out, indices);

    /// The smallest element over one dimension, and where it is; the first of several.
    ///
    /// `dim` stays as one with `keep_dim`, else it is gone; a negative one counts from the end. The results have one
    /// shape and share no memory with `a`. Types: f32, f16, bf16, i32 and i64, indices i64.
    #[alias("aclnnMinDim")]
    #[refused = "for a dimension that `a` does not have, or when a result has another shape"]
    #[example = "\
let a = device.upload_tensor(&[1, 4, 9, 2], [2, 2])?;
let (mut out, mut at) = (device.zeros([2])?, device.zeros::<i64>([2])?);
op::min_dim(&stream, &a, 1, false, &mut out, &mut at)?;
assert_eq!((out.to_vec()?, at.to_vec()?), (vec![1, 2], vec![0, 1]));"]
    fn min_dim<T: Numerics, I: Indices>(
        on; a: &impl Of<T>, dim: i64, keep_dim: bool, out: &mut impl Of<T>, indices: &mut impl Of<I>,
    ) = min_dim(a, dim, keep_dim, out, indices);

    /// Where the smallest element of dimension `dim` is, counted from 0; the first of several.
    ///
    /// `dim` stays as one with `keep_dim`, else it is gone; a negative one counts from the end. `out` shares no
    /// memory with `a`. Types: f32, f16, bf16, i32 and i64. Indices: i32 and i64.
    #[alias("aclnnArgMin")]
    #[refused = "for a dimension that `a` does not have, or when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[3.0_f32, 1.0, 2.0], [3])?;
let mut at = device.zeros::<i64>([])?;
op::argmin(&stream, &a, 0, false, &mut at)?;
assert_eq!(at.to_vec()?, [1]);"]
    fn argmin<T: Numerics, I: Indices>(
        on; a: &impl Of<T>, dim: i64, keep_dim: bool, out: &mut impl Of<I>,
    ) = arg_min(a, dim, keep_dim, out);

    /// The product of the elements over one dimension.
    ///
    /// `dim` stays as one with `keep_dim`, else it is gone; a negative one counts from the end. `out` shares no
    /// memory with `a`. Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnProdDim")]
    #[refused = "for a dimension that `a` does not have, or when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[1_i64, 2, 3, 4], [2, 2])?;
let mut out = device.zeros([2])?;
op::prod(&stream, &a, 0, false, &mut out)?;
assert_eq!(out.to_vec()?, [3, 8]);"]
    fn prod<T: Numerics>(
        on; a: &impl Of<T>, dim: i64, keep_dim: bool, out: &mut impl Of<T>,
    ) = prod_dim(a, dim, keep_dim, T::dtype(on, a)?, out);

    /// The p-norm over dimensions, `(Σ |a|^p)^(1/p)`; the greatest magnitude for infinity.
    ///
    /// `dims` are reduced, negative ones counted from the end; all of them when none is named. They stay as ones with
    /// `keep_dims`, else they are gone. `out` shares no memory with `a`. Types: f32, f16 and bf16.
    #[alias("aclnnNorm")]
    #[refused = "for a dimension that `a` does not have, or when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[3.0_f32, -4.0], [2])?;
let mut out = device.zeros([])?;
op::norm(&stream, &a, 2.0, &[0], false, &mut out)?;
assert_eq!(out.to_vec()?, [5.0]);"]
    fn norm<T: Floats>(
        on; a: &impl Of<T>, p: f32, dims: &[i64], keep_dims: bool, out: &mut impl Of<T>,
    ) = norm(a, p, dims, keep_dims, out);

    /// Whether one of the elements is not 0, over dimensions: 1 or 0.
    ///
    /// `dims` are reduced, negative ones counted from the end; all of them when none is named. They stay as ones with
    /// `keep_dims`, else they are gone. `out` shares no memory with `a`. Any element type; NaN is not 0.
    #[alias("aclnnAny")]
    #[refused = "for a dimension that `a` does not have, or when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[0_u8, 1, 0, 0], [2, 2])?;
let mut out = device.zeros([2])?;
op::any(&stream, &a, &[1], false, &mut out)?;
assert_eq!(out.to_vec()?, [1, 0]);"]
    fn any<T: Elements>(
        on; a: &impl Of<T>, dims: &[i64], keep_dims: bool, out: &mut impl Of<T::As<u8>>,
    ) = any(a, dims, keep_dims, out);

    /// Whether all elements are not 0, over dimensions: 1 or 0.
    ///
    /// `dims` are reduced, negative ones counted from the end; all of them when none is named. They stay as ones with
    /// `keep_dims`, else they are gone. `out` shares no memory with `a`. Any element type; NaN is not 0.
    #[alias("aclnnAll")]
    #[refused = "for a dimension that `a` does not have, or when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[0_u8, 1, 0, 0], [2, 2])?;
let mut out = device.zeros([2])?;
op::all(&stream, &a, &[1], false, &mut out)?;
assert_eq!(out.to_vec()?, [0, 0]);"]
    fn all<T: Elements>(
        on; a: &impl Of<T>, dims: &[i64], keep_dims: bool, out: &mut impl Of<T::As<u8>>,
    ) = all(a, dims, keep_dims, out);
}
