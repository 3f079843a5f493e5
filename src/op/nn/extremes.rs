//! Reductions to an extreme, a product, a norm or a truth value.

use crate::error::Result;
use crate::op::element::{Element, Float, Index, Numeric};
use crate::op::nn::wrapped::wrapped;
use crate::op::{Tensor, aclnn};
use crate::stream::Stream;

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
    fn amax<T: Numeric>(
        a: &Tensor<T>, dims: &[i64], keep_dims: bool, out: &mut Tensor<T>,
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
    fn amin<T: Numeric>(
        a: &Tensor<T>, dims: &[i64], keep_dims: bool, out: &mut Tensor<T>,
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
    fn max_dim<T: Numeric, I: Index>(
        a: &Tensor<T>, dim: i64, keep_dim: bool, out: &mut Tensor<T>, indices: &mut Tensor<I>,
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
    fn min_dim<T: Numeric, I: Index>(
        a: &Tensor<T>, dim: i64, keep_dim: bool, out: &mut Tensor<T>, indices: &mut Tensor<I>,
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
    fn argmin<T: Numeric, I: Index>(
        a: &Tensor<T>, dim: i64, keep_dim: bool, out: &mut Tensor<I>,
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
    fn prod<T: Numeric>(
        a: &Tensor<T>, dim: i64, keep_dim: bool, out: &mut Tensor<T>,
    ) = prod_dim(a, dim, keep_dim, T::TYPE, out);

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
    fn norm<T: Float>(
        a: &Tensor<T>, p: f32, dims: &[i64], keep_dims: bool, out: &mut Tensor<T>,
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
    fn any<T: Element>(
        a: &Tensor<T>, dims: &[i64], keep_dims: bool, out: &mut Tensor<u8>,
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
    fn all<T: Element>(
        a: &Tensor<T>, dims: &[i64], keep_dims: bool, out: &mut Tensor<u8>,
    ) = all(a, dims, keep_dims, out);
}
