//! Functions of one tensor, element by element.

use crate::error::Result;
use crate::op::{Floats, Numerics, Of, On, aclnn};

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident: $bound:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name<T: $bound>(on: &impl On<T>, a: &impl Of<T>, out: &mut impl Of<T>) -> Result<()> {
            aclnn::$name(on, a, out)
        }
    )*};
}

unary! {
    /// `out = |a|`, element by element.
    ///
    /// `out` has the shape of `a` and may be a clone of it. Types: f32, f16, bf16, i32 and i64.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when `out` has another shape than `a`;
    /// those of [every operator](crate::op#errors).
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let a = device.upload_tensor(&[-1.5_f32, 2.0], [2])?;
    /// let mut out = device.zeros([2])?;
    /// op::abs(&stream, &a, &mut out)?;
    /// assert_eq!(out.to_vec()?, [1.5, 2.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnAbs")]
    abs: Numerics;
    /// `out = √a`, element by element; NaN for negative elements.
    ///
    /// `out` has the shape of `a` and may be a clone of it. Types: f32, f16 and bf16.
    ///
    /// # Errors
    ///
    /// As [`abs`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let a = device.upload_tensor(&[4.0_f32, 2.25], [2])?;
    /// let mut out = device.zeros([2])?;
    /// op::sqrt(&stream, &a, &mut out)?;
    /// assert_eq!(out.to_vec()?, [2.0, 1.5]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnSqrt")]
    sqrt: Floats;
    /// `out = 1 / √a`, element by element; NaN for negative elements, infinity for zeros.
    ///
    /// `out` has the shape of `a` and may be a clone of it. Types: f32, f16 and bf16.
    ///
    /// # Errors
    ///
    /// As [`abs`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let a = device.upload_tensor(&[4.0_f32, 0.25], [2])?;
    /// let mut out = device.zeros([2])?;
    /// op::rsqrt(&stream, &a, &mut out)?;
    /// let out = out.to_vec()?;
    /// assert!((out[0] - 0.5).abs() < 1e-6 && (out[1] - 2.0).abs() < 1e-6);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnRsqrt")]
    rsqrt: Floats;
    /// `out = tanh a`, element by element.
    ///
    /// `out` has the shape of `a` and may be a clone of it. Types: f32, f16 and bf16.
    ///
    /// # Errors
    ///
    /// As [`abs`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let a = device.upload_tensor(&[0.0_f32, 1.0], [2])?;
    /// let mut out = device.zeros([2])?;
    /// op::tanh(&stream, &a, &mut out)?;
    /// let out = out.to_vec()?;
    /// assert!(out[0].abs() < 1e-6 && (out[1] - 0.761_594).abs() < 1e-6);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclnnTanh")]
    tanh: Floats;
}

/// `out = max(a, least)`, element by element.
///
/// `out` has the shape of `a` and may be a clone of it. Types: f32, f16, bf16, i32 and i64.
///
/// # Errors
///
/// As [`abs`].
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[-1.5_f32, 2.0], [2])?;
/// let mut out = device.zeros([2])?;
/// op::clamp_min(&stream, &a, 0.0, &mut out)?;
/// assert_eq!(out.to_vec()?, [0.0, 2.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnClampMin")]
#[track_caller]
pub fn clamp_min<T: Numerics>(on: &impl On<T>, a: &impl Of<T>, least: T::Number, out: &mut impl Of<T>) -> Result<()> {
    aclnn::clamp_min(on, a, T::scalar(least, on, a)?, out)
}
