//! Comparing and choosing elements.

use crate::error::Result;
use crate::op::{Elements, Indices, Numerics, Of, On, aclnn};

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident = $function:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name<T: Numerics>(
            on: &impl On<T>,
            a: &impl Of<T>,
            b: &impl Of<T>,
            out: &mut impl Of<T::As<u8>>,
        ) -> Result<()> {
            aclnn::$function(on, a, b, out)
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
    equal = eq_tensor;
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
    greater = gt_tensor;
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
pub fn select<T: Elements>(
    on: &impl On<T>,
    condition: &impl Of<T::As<u8>>,
    a: &impl Of<T>,
    b: &impl Of<T>,
    out: &mut impl Of<T>,
) -> Result<()> {
    aclnn::s_where(on, condition, a, b, out)
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
pub fn argmax<T: Numerics, I: Indices>(
    on: &impl On<T>,
    a: &impl Of<T>,
    dim: i64,
    keep_dim: bool,
    out: &mut impl Of<I>,
) -> Result<()> {
    aclnn::arg_max(on, a, dim, keep_dim, out)
}
