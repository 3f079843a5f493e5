//! Elements chosen by indices.

use crate::error::Result;
use crate::op::element::{Element, Index};
use crate::op::nn::wrapped::wrapped;
use crate::op::{Tensor, aclnn};
use crate::stream::Stream;

wrapped! {
    /// For each place of `index` the element of `a` at that place, with the index for dimension `dim`.
    ///
    /// `out` has the shape of `index`, which is no larger than `a` in the other dimensions. An index out of range is
    /// a fault of the device, which a later wait reports as
    /// [`ErrorKind::DeviceFault`](crate::ErrorKind::DeviceFault). Any element type.
    #[alias("aclnnGather")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[1, 2, 3, 4], [2, 2])?;
let index = device.upload_tensor(&[0_i64, 1], [2, 1])?;
let mut out = device.zeros([2, 1])?;
op::gather(&stream, &a, 1, &index, &mut out)?;
assert_eq!(out.to_vec()?, [1, 4]);"]
    fn gather<T: Element, I: Index>(
        a: &Tensor<T>, dim: i64, index: &Tensor<I>, out: &mut Tensor<T>,
    ) = gather(a, dim, index, out);

    /// The parts of dimension `dim` that `index` names, in its order.
    ///
    /// `index` has one dimension. An index out of range is a fault of the device, which a later wait reports as
    /// [`ErrorKind::DeviceFault`](crate::ErrorKind::DeviceFault). Any element type.
    #[alias("aclnnIndexSelect")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[1, 2, 3, 4], [2, 2])?;
let rows = device.upload_tensor(&[1_i64, 1], [2])?;
let mut out = device.zeros([2, 2])?;
op::index_select(&stream, &a, 0, &rows, &mut out)?;
assert_eq!(out.to_vec()?, [3, 4, 3, 4]);"]
    fn index_select<T: Element, I: Index>(
        a: &Tensor<T>, dim: i64, index: &Tensor<I>, out: &mut Tensor<T>,
    ) = index_select(a, dim, index, out);
}
