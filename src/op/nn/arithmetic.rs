//! Arithmetic of two operands, which are broadcast to the shape of the result.
//!
//! All of these take the [`Numeric`](crate::op::Numeric) types and any views; [`div`] and [`divs`] only floats. `out` may be a clone of
//! an operand, which is then computed in place; it shares no memory with an operand otherwise.

use crate::error::Result;
use crate::op::{Floats, Numerics, Of, On, aclnn};

/// `out = a + b`, element by element.
///
/// `a` and `b` are broadcast to each other; `out` has their common shape. Types: f32, f16, bf16, i32 and i64. `out`
/// may be a clone of an operand that has its shape.
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
/// let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let row = device.upload_tensor(&[10.0, 20.0], [2])?;
/// let mut out = device.zeros([2, 2])?;
/// op::add(&stream, &a, &row, &mut out)?;
/// assert_eq!(out.to_vec()?, [11.0, 22.0, 13.0, 24.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnAdd")]
#[track_caller]
pub fn add<T: Numerics>(on: &impl On<T>, a: &impl Of<T>, b: &impl Of<T>, out: &mut impl Of<T>) -> Result<()> {
    aclnn::add(on, a, b, T::one(on, a)?, out)
}

/// `out = a + alpha · b`, element by element.
///
/// Shapes, types and memory as for [`add`].
///
/// # Errors
///
/// As [`add`].
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[10, 20], [2])?;
/// let b = device.upload_tensor(&[1, 2], [2])?;
/// let mut out = device.zeros([2])?;
/// op::add_scaled(&stream, &a, &b, -3, &mut out)?;
/// assert_eq!(out.to_vec()?, [7, 14]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnAdd")]
#[track_caller]
pub fn add_scaled<T: Numerics>(
    on: &impl On<T>,
    a: &impl Of<T>,
    b: &impl Of<T>,
    alpha: T::Number,
    out: &mut impl Of<T>,
) -> Result<()> {
    aclnn::add(on, a, b, T::scalar(alpha, on, a)?, out)
}

/// `a += b`, element by element.
///
/// `b` is broadcast to the shape of `a`. Types: f32, f16, bf16, i32 and i64. `b` may be a clone of `a`; it shares no
/// memory with it otherwise.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when `b` cannot be broadcast to the shape of
/// `a`; those of [every operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let mut a = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let column = device.upload_tensor(&[10.0, 20.0], [2, 1])?;
/// op::add_inplace(&stream, &mut a, &column)?;
/// assert_eq!(a.to_vec()?, [11.0, 12.0, 23.0, 24.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnInplaceAdd")]
#[track_caller]
pub fn add_inplace<T: Numerics>(on: &impl On<T>, a: &mut impl Of<T>, b: &impl Of<T>) -> Result<()> {
    let one = T::one(on, a)?;
    aclnn::inplace_add(on, a, b, one)
}

/// `out = a + value`, element by element.
///
/// `out` has the shape of `a` and may be a clone of it. Types: f32, f16, bf16, i32 and i64.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when `out` has another shape than `a`; those
/// of [every operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[1.0_f32, 2.0], [2])?;
/// let mut out = device.zeros([2])?;
/// op::adds(&stream, &a, 0.5, &mut out)?;
/// assert_eq!(out.to_vec()?, [1.5, 2.5]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnAdds")]
#[track_caller]
pub fn adds<T: Numerics>(on: &impl On<T>, a: &impl Of<T>, value: T::Number, out: &mut impl Of<T>) -> Result<()> {
    aclnn::adds(on, a, T::scalar(value, on, a)?, T::one(on, a)?, out)
}

/// `out = a − b`, element by element.
///
/// Shapes, types and memory as for [`add`].
///
/// # Errors
///
/// As [`add`].
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[5, 7], [2])?;
/// let b = device.upload_tensor(&[1, 10], [2])?;
/// let mut out = device.zeros([2])?;
/// op::sub(&stream, &a, &b, &mut out)?;
/// assert_eq!(out.to_vec()?, [4, -3]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnSub")]
#[track_caller]
pub fn sub<T: Numerics>(on: &impl On<T>, a: &impl Of<T>, b: &impl Of<T>, out: &mut impl Of<T>) -> Result<()> {
    aclnn::sub(on, a, b, T::one(on, a)?, out)
}

/// Operators of two tensors.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident: $bound:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name<T: $bound>(
            on: &impl On<T>,
            a: &impl Of<T>,
            b: &impl Of<T>,
            out: &mut impl Of<T>,
        ) -> Result<()> {
            aclnn::$name(on, a, b, out)
        }
    )*};
}

binary! {
    /// `out = a · b`, element by element.
    ///
    /// Shapes, types and memory as for [`add`].
    ///
    /// # Errors
    ///
    /// As [`add`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// let row = device.upload_tensor(&[10.0, 100.0], [2])?;
    /// let mut out = device.zeros([2, 2])?;
    /// op::mul(&stream, &a, &row, &mut out)?;
    /// assert_eq!(out.to_vec()?, [10.0, 200.0, 30.0, 400.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnMul")]
    mul: Numerics;
    /// `out = a / b`, element by element.
    ///
    /// Shapes and memory as for [`add`]. Types: f32, f16 and bf16.
    ///
    /// # Errors
    ///
    /// As [`add`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let a = device.upload_tensor(&[1.0_f32, 9.0], [2])?;
    /// let b = device.upload_tensor(&[4.0, 2.0], [2])?;
    /// let mut out = device.zeros([2])?;
    /// op::div(&stream, &a, &b, &mut out)?;
    /// assert_eq!(out.to_vec()?, [0.25, 4.5]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnDiv")]
    div: Floats;
    /// The larger of `a` and `b`, element by element.
    ///
    /// Shapes, types and memory as for [`add`].
    ///
    /// # Errors
    ///
    /// As [`add`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let a = device.upload_tensor(&[1, 8, -3], [3])?;
    /// let b = device.upload_tensor(&[4, 2, -9], [3])?;
    /// let mut out = device.zeros([3])?;
    /// op::maximum(&stream, &a, &b, &mut out)?;
    /// assert_eq!(out.to_vec()?, [4, 8, -3]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnMaximum")]
    maximum: Numerics;
}

/// `a *= b`, element by element.
///
/// Shapes, types and memory as for [`add_inplace`].
///
/// # Errors
///
/// As [`add_inplace`].
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let mut a = device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3])?;
/// let b = device.upload_tensor(&[2.0], [1])?;
/// op::mul_inplace(&stream, &mut a, &b)?;
/// assert_eq!(a.to_vec()?, [2.0, 4.0, 6.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnInplaceMul")]
#[track_caller]
pub fn mul_inplace<T: Numerics>(on: &impl On<T>, a: &mut impl Of<T>, b: &impl Of<T>) -> Result<()> {
    aclnn::inplace_mul(on, a, b)
}

/// `out = a · value`, element by element.
///
/// `out` has the shape of `a` and may be a clone of it. Types: f32, f16, bf16, i32 and i64.
///
/// # Errors
///
/// As [`adds`].
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[1.0_f32, -2.0], [2])?;
/// let mut out = device.zeros([2])?;
/// op::muls(&stream, &a, 1.5, &mut out)?;
/// assert_eq!(out.to_vec()?, [1.5, -3.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnMuls")]
#[track_caller]
pub fn muls<T: Numerics>(on: &impl On<T>, a: &impl Of<T>, value: T::Number, out: &mut impl Of<T>) -> Result<()> {
    aclnn::muls(on, a, T::scalar(value, on, a)?, out)
}

/// `out = a / value`, element by element.
///
/// `out` has the shape of `a` and may be a clone of it. Types: f32, f16 and bf16.
///
/// # Errors
///
/// As [`adds`].
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[1.0_f32, -2.0], [2])?;
/// let mut out = device.zeros([2])?;
/// op::divs(&stream, &a, 4.0, &mut out)?;
/// assert_eq!(out.to_vec()?, [0.25, -0.5]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnDivs")]
#[track_caller]
pub fn divs<T: Floats>(on: &impl On<T>, a: &impl Of<T>, value: T::Number, out: &mut impl Of<T>) -> Result<()> {
    aclnn::divs(on, a, T::scalar(value, on, a)?, out)
}
