//! Elements chosen by indices.

use crate::error::Result;
use crate::op::nn::wrapped::wrapped;
use crate::op::{Elements, Indices, Of, Operand, aclnn};

/// What becomes of an element that [`scatter`] meets another one for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Reduce {
    /// It is replaced.
    #[default]
    None,
    /// They are added.
    Add,
    /// They are multiplied.
    Multiply,
}

impl Reduce {
    pub(crate) fn raw(self) -> i64 {
        match self {
            Self::None => 0,
            Self::Add => 1,
            Self::Multiply => 2,
        }
    }
}

wrapped! {
    /// For each place of `index` the element of `a` at that place, with the index for dimension `dim`.
    ///
    /// `out` has the shape of `index`, which is no larger than `a` in the other dimensions. An index out of range is a
    /// fault of the device [where it is noticed](crate::op#indices), which a later wait reports as
    /// [`ErrorKind::DeviceFault`](crate::ErrorKind::DeviceFault); elsewhere other memory is read. Any element type.
    #[alias("aclnnGather")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[1, 2, 3, 4], [2, 2])?;
let index = device.upload_tensor(&[0_i64, 1], [2, 1])?;
let mut out = device.zeros([2, 1])?;
op::gather(&stream, &a, 1, &index, &mut out)?;
assert_eq!(out.to_vec()?, [1, 4]);"]
    fn gather<T: Elements, I: Indices>(
        on; a: &impl Of<T>, dim: i64, index: &impl Of<I>, out: &mut impl Of<T>,
    ) = gather(a, dim, index, out);

    /// The parts of dimension `dim` that `index` names, in its order.
    ///
    /// `index` has one dimension. An index out of range is a fault of the device [where it is
    /// noticed](crate::op#indices), which a later wait reports as
    /// [`ErrorKind::DeviceFault`](crate::ErrorKind::DeviceFault); elsewhere other memory is read. Any element type.
    #[alias("aclnnIndexSelect")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[1, 2, 3, 4], [2, 2])?;
let rows = device.upload_tensor(&[1_i64, 1], [2])?;
let mut out = device.zeros([2, 2])?;
op::index_select(&stream, &a, 0, &rows, &mut out)?;
assert_eq!(out.to_vec()?, [3, 4, 3, 4]);"]
    fn index_select<T: Elements, I: Indices>(
        on; a: &impl Of<T>, dim: i64, index: &impl Of<I>, out: &mut impl Of<T>,
    ) = index_select(a, dim, index, out);

    /// Replaces the parts of dimension `dim` that `index` names by those of `source`, in its order.
    ///
    /// `index` has one dimension and no place twice. An index out of range is a fault of the device [where it is
    /// noticed](crate::op#indices), which a later wait reports as
    /// [`ErrorKind::DeviceFault`](crate::ErrorKind::DeviceFault); elsewhere other memory of the device is written.
    /// `source` shares no memory with `a`. Any element type.
    #[alias("aclnnInplaceIndexCopy")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let mut cache = device.zeros([3, 2])?;
let row = device.upload_tensor(&[1_i64], [1])?;
let new = device.upload_tensor(&[7, 8], [1, 2])?;
op::index_copy(&stream, &mut cache, 0, &row, &new)?;
assert_eq!(cache.to_vec()?, [0, 0, 7, 8, 0, 0]);"]
    fn index_copy<T: Elements, I: Indices>(
        on; a: &mut impl Of<T>, dim: i64, index: &impl Of<I>, source: &impl Of<T>,
    ) = inplace_index_copy(a, dim, index, source);

    /// Stores `value` in the parts of dimension `dim` that `index` names.
    ///
    /// The indices come from the host and are part of what the operator is planned for. Any element type.
    #[alias("aclnnInplaceIndexFillTensor")]
    #[refused = "for a dimension or an index that `a` does not have"]
    #[example = "\
let mut a = device.upload_tensor(&[1, 2, 3], [3])?;
op::index_fill(&stream, &mut a, 0, &[0, 2], 9)?;
assert_eq!(a.to_vec()?, [9, 2, 9]);"]
    fn index_fill<T: Elements>(
        on; a: &mut impl Of<T>, dim: i64, index: &[i64], value: T::Number,
    ) [value = T::scalar(value, on, a)?] = inplace_index_fill_tensor(a, dim, index, value);

    /// For each place of `index`, brings the element of `source` there to the same place of `a`, with the index for
    /// dimension `dim`.
    ///
    /// Which of several elements for one place stays is not told by [`Reduce::None`]. An index out of range is a fault
    /// of the device, which a later wait reports as [`ErrorKind::DeviceFault`](crate::ErrorKind::DeviceFault), [where
    /// it is noticed](crate::op#indices). `source` shares no memory with `a`. Any element type.
    #[alias("aclnnInplaceScatter")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let mut a = device.upload_tensor(&[10, 20, 30], [3])?;
let index = device.upload_tensor(&[2_i64, 0], [2])?;
let source = device.upload_tensor(&[1, 2], [2])?;
op::scatter(&stream, &mut a, 0, &index, &source, op::Reduce::Add)?;
assert_eq!(a.to_vec()?, [12, 20, 31]);"]
    fn scatter<T: Elements, I: Indices>(
        on; a: &mut impl Of<T>, dim: i64, index: &impl Of<I>, source: &impl Of<T>, reduce: Reduce,
    ) = inplace_scatter(a, dim, index, source, reduce.raw());

    /// Stores `values`, or adds them with `accumulate`, where a tensor of indices for each of the first dimensions
    /// points to.
    ///
    /// The indices are broadcast to each other, and `values` to their shape and the dimensions that are left. An index
    /// out of range is a fault of the device [where it is noticed](crate::op#indices), which a later wait reports as
    /// [`ErrorKind::DeviceFault`](crate::ErrorKind::DeviceFault); elsewhere other memory of the device is written. Any
    /// element type.
    #[alias("aclnnIndexPutImpl")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let mut a = device.upload_tensor(&[1, 2, 3, 4], [2, 2])?;
let rows = device.upload_tensor(&[0_i64, 1], [2])?;
let columns = device.upload_tensor(&[1_i64, 0], [2])?;
let values = device.upload_tensor(&[70, 80], [2])?;
op::index_put(&stream, &mut a, &[&rows, &columns], &values, false)?;
assert_eq!(a.to_vec()?, [1, 70, 80, 4]);"]
    fn index_put<T: Elements, I: Indices>(
        on; a: &mut impl Of<T>, indices: &[&impl Of<I>], values: &impl Of<T>, accumulate: bool,
    ) = index_put_impl(
        a, &indices.iter().map(|index| *index as &dyn Operand).collect::<Vec<_>>(), values, accumulate, false,
    );
}
