//! Moving elements: conversion, copies, fills, look-ups and reordering.

use crate::error::Result;
use crate::op::{Elements, Indices, Numerics, Of, On, aclnn};

/// Converts the elements of `a` to the type of `out`.
///
/// `out` has the shape of `a` and shares no memory with it. Any two element types.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when `out` has another shape than `a`, or for
/// types that the operator does not convert; those of [every operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::{half::f16, op};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let wide = device.upload_tensor(&[1.5_f32, -2.0], [2])?;
/// let mut narrow = device.zeros::<f16>([2])?;
/// op::cast(&stream, &wide, &mut narrow)?;
/// assert_eq!(narrow.to_vec()?, [f16::from_f32(1.5), f16::from_f32(-2.0)]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnCast")]
#[track_caller]
pub fn cast<T: Elements, U: Elements>(on: &impl On<T>, a: &impl Of<T>, out: &mut impl Of<U>) -> Result<()> {
    aclnn::cast(on, a, U::dtype(on, out)?, out)
}

/// Copies `from` to `to`, broadcasting and converting. Unlike [`Stream::copy`](crate::Stream::copy) it takes any views.
///
/// `from` is broadcast to the shape of `to`; they share no memory. Any two element types.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when the shape of `from` cannot be broadcast
/// to that of `to`, or for types that the operator does not convert; those of [every operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let row = device.upload_tensor(&[1, 2], [2])?;
/// let to = device.zeros::<f32>([2, 3])?;
/// op::copy(&stream, &row, &mut to.narrow(1, 1..3)?)?; // the last two columns
/// assert_eq!(to.to_vec()?, [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnInplaceCopy")]
#[track_caller]
pub fn copy<T: Elements, U: Elements>(on: &impl On<T>, from: &impl Of<T>, to: &mut impl Of<U>) -> Result<()> {
    aclnn::inplace_copy(on, to, from)
}

/// Sets every element to `value`.
///
/// Any view. Types: f32, f16, bf16, i32 and i64.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) for a type that the operator does not take;
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
/// let a = device.zeros::<i32>([2, 2])?;
/// op::fill(&stream, &mut a.narrow(0, 0..1)?, 7)?; // the first row
/// assert_eq!(a.to_vec()?, [7, 7, 0, 0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnInplaceFillScalar")]
#[track_caller]
pub fn fill<T: Numerics>(on: &impl On<T>, a: &mut impl Of<T>, value: T::Number) -> Result<()> {
    let value = T::scalar(value, on, a)?;
    aclnn::inplace_fill_scalar(on, a, value)
}

/// Looks rows up: `out[i] = table[indices[i]]`.
///
/// `table` has the shape `[rows, width]`, `indices` any one of up to seven dimensions, and `out` that of `indices`
/// with `width` appended. `out` shares no memory with the others. Indices are i32 or i64, rows of any element type.
///
/// An index outside the table fails on the device and is reported by a later synchronising call,
/// [where it is noticed](crate::op#indices).
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when the shapes do not fit; those of [every
/// operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let table = device.upload_tensor(&[1.0_f32, 1.5, 2.0, 2.5, 3.0, 3.5], [3, 2])?;
/// let indices = device.upload_tensor(&[2_i64, 0], [2])?;
/// let mut out = device.zeros([2, 2])?;
/// op::embedding(&stream, &table, &indices, &mut out)?;
/// assert_eq!(out.to_vec()?, [3.0, 3.5, 1.0, 1.5]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnEmbedding")]
#[track_caller]
pub fn embedding<T: Elements, I: Indices>(
    on: &impl On<T>,
    table: &impl Of<T>,
    indices: &impl Of<I>,
    out: &mut impl Of<T>,
) -> Result<()> {
    aclnn::embedding(on, table, indices, out)
}

/// Reorders dimensions and copies: dimension `i` of `out` is dimension `order[i]` of `a`.
///
/// Negative dimensions count from the end. `out` has the reordered shape and shares no memory with `a`. Any element
/// type. [`Tensor::transposed`](crate::Tensor::transposed) reorders without a copy.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when `order` is no permutation of the
/// dimensions of `a`, or when `out` has another shape; those of [every operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[1, 2, 3, 4, 5, 6], [1, 2, 3])?;
/// let mut out = device.zeros([3, 1, 2])?;
/// op::permute(&stream, &a, &[2, 0, 1], &mut out)?;
/// assert_eq!(out.to_vec()?, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnPermute")]
#[doc(alias = "transpose")]
#[track_caller]
pub fn permute<T: Elements>(on: &impl On<T>, a: &impl Of<T>, order: &[i64], out: &mut impl Of<T>) -> Result<()> {
    aclnn::permute(on, a, order, out)
}
