//! Comparing and choosing elements.

use std::panic::Location;

use crate::error::Result;
use crate::op::argument::{input, output};
use crate::op::element::{Element, Index, Numeric};
use crate::op::{Tensor, operator};
use crate::stream::Stream;

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident, $label:literal, $plan:ident, $launch:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name<T: Numeric>(
            stream: &Stream,
            a: &Tensor<T>,
            b: &Tensor<T>,
            out: &mut Tensor<u8>,
        ) -> Result<()> {
            let at = Location::caller();
            let (a, b, out) = (a.view(), b.view(), out.view());
            operator!(stream, at, $label, $plan(input(&a), input(&b), output(&out)), $launch)
        }
    )*};
}

comparisons! {
    /// Where `a` equals `b`: 1 there and 0 elsewhere.
    ///
    /// `a` and `b` are broadcast to each other; `out` has their common shape and shares no memory with them. Types:
    /// f32, f16, bf16, i32 and i64. NaN equals nothing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when the shapes cannot be broadcast or
    /// `out` has another one; those of [every operator](crate::op#errors).
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let a = device.upload_tensor(&[1_i64, 2, 3], [3])?;
    /// let two = device.upload_tensor(&[2], [1])?;
    /// let mut out = device.zeros([3])?;
    /// op::equal(&stream, &a, &two, &mut out)?;
    /// assert_eq!(out.to_vec()?, [0, 1, 0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnEqTensor")]
    equal, "equal", aclnnEqTensorGetWorkspaceSize, aclnnEqTensor;
    /// Where `a` is greater than `b`: 1 there and 0 elsewhere.
    ///
    /// Shapes, types and memory as for [`equal`]. NaN is neither greater nor less than anything.
    ///
    /// # Errors
    ///
    /// As [`equal`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let a = device.upload_tensor(&[1_i64, 2, 3], [3])?;
    /// let two = device.upload_tensor(&[2], [1])?;
    /// let mut out = device.zeros([3])?;
    /// op::greater(&stream, &a, &two, &mut out)?;
    /// assert_eq!(out.to_vec()?, [0, 0, 1]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnGtTensor")]
    greater, "greater", aclnnGtTensorGetWorkspaceSize, aclnnGtTensor;
}

/// The element of `a` where `condition` is not 0, that of `b` elsewhere.
///
/// The three are broadcast to each other; `out` has their common shape. It may be a clone of `a` or `b` that has its
/// shape, whose elements are then replaced in place; it shares no memory with the operands otherwise. Any element
/// type.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when the shapes cannot be broadcast or `out`
/// has another one; those of [every operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let rows = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let second = device.upload_tensor(&[0_u8, 1], [2, 1])?;
/// let row = device.upload_tensor(&[7.0, 8.0], [1, 2])?;
/// op::select(&stream, &second, &row, &rows, &mut rows.clone())?; // the second row of rows
/// assert_eq!(rows.to_vec()?, [1.0, 2.0, 7.0, 8.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnSWhere")]
#[doc(alias = "where")]
#[track_caller]
pub fn select<T: Element>(
    stream: &Stream,
    condition: &Tensor<u8>,
    a: &Tensor<T>,
    b: &Tensor<T>,
    out: &mut Tensor<T>,
) -> Result<()> {
    let at = Location::caller();
    let (condition, a, b, out) = (condition.view(), a.view(), b.view(), out.view());
    operator!(
        stream,
        at,
        "select",
        aclnnSWhereGetWorkspaceSize(input(&condition), input(&a), input(&b), output(&out)),
        aclnnSWhere
    )
}

/// Where the greatest element of dimension `dim` is, counted from 0; the first of several.
///
/// A negative `dim` counts from the end. `out` has the shape of `a` without `dim`, or with size 1 there when
/// `keep_dim` is set, and shares no memory with it. Types: f32, f16, bf16, i32 and i64; places are i32 or i64.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) for a dimension that `a` does not have or
/// that is empty, or when `out` has another shape; those of [every operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[1.0_f32, 5.0, 2.0, 9.0, 9.0, 3.0], [2, 3])?;
/// let mut out = device.zeros::<i64>([2])?;
/// op::argmax(&stream, &a, -1, false, &mut out)?;
/// assert_eq!(out.to_vec()?, [1, 0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnArgMax")]
#[track_caller]
pub fn argmax<T: Numeric, I: Index>(
    stream: &Stream,
    a: &Tensor<T>,
    dim: i64,
    keep_dim: bool,
    out: &mut Tensor<I>,
) -> Result<()> {
    let at = Location::caller();
    let (a, out) = (a.view(), out.view());
    operator!(stream, at, "argmax", aclnnArgMaxGetWorkspaceSize(input(&a), dim, keep_dim, output(&out)), aclnnArgMax)
}
