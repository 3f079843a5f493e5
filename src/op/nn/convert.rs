//! Moving elements: conversion, copies, fills, look-ups and reordering.

use std::panic::Location;

use crate::error::Result;
use crate::op::element::{Element, Index, Numeric};
use crate::op::scalar::{IntArray, Scalar};
use crate::op::{Tensor, operator};
use crate::stream::Stream;

/// Converts the elements of `a` to the type of `out`.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) for another shape, or types that the operator
/// does not convert.
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
pub fn cast<T: Element, U: Element>(stream: &Stream, a: &Tensor<T>, out: &mut Tensor<U>) -> Result<()> {
    let at = Location::caller();
    let (da, dout) = (a.describe()?, out.describe()?);
    operator!(stream, at, "cast", aclnnCastGetWorkspaceSize(da.raw(), U::TYPE.raw(), dout.raw()), aclnnCast, [a, out])
}

/// Copies `from` to `to`, broadcasting and converting. Unlike [`Stream::copy`] it takes any views.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when the shape of `from` cannot be broadcast.
#[doc(alias = "aclnnInplaceCopy")]
#[track_caller]
pub fn copy<T: Element, U: Element>(stream: &Stream, from: &Tensor<T>, to: &mut Tensor<U>) -> Result<()> {
    let at = Location::caller();
    let (dfrom, dto) = (from.describe()?, to.describe()?);
    operator!(
        stream,
        at,
        "copy",
        aclnnInplaceCopyGetWorkspaceSize(dto.raw(), dfrom.raw()),
        aclnnInplaceCopy,
        [from, to]
    )
}

/// Sets every element to `value`.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) for a type that the operator does not take.
#[doc(alias = "aclnnInplaceFillScalar")]
#[track_caller]
pub fn fill<T: Numeric>(stream: &Stream, a: &mut Tensor<T>, value: T) -> Result<()> {
    let at = Location::caller();
    let da = a.describe()?;
    let value = Scalar::new(stream.0.context(), value)?;
    operator!(
        stream,
        at,
        "fill",
        aclnnInplaceFillScalarGetWorkspaceSize(da.raw(), value.raw()),
        aclnnInplaceFillScalar,
        [a]
    )
}

/// Looks rows up: `out[i] = table[indices[i]]`, for `table` of shape `[rows, width]`, `indices` of any shape and `out`
/// of that shape with `width` appended.
///
/// An index outside the table fails on the device and is reported by a later synchronising call.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when the shapes do not fit.
#[doc(alias = "aclnnEmbedding")]
#[track_caller]
pub fn embedding<T: Element, I: Index>(
    stream: &Stream,
    table: &Tensor<T>,
    indices: &Tensor<I>,
    out: &mut Tensor<T>,
) -> Result<()> {
    let at = Location::caller();
    let (dtable, dindices, dout) = (table.describe()?, indices.describe()?, out.describe()?);
    operator!(
        stream,
        at,
        "embedding",
        aclnnEmbeddingGetWorkspaceSize(dtable.raw(), dindices.raw(), dout.raw()),
        aclnnEmbedding,
        [table, indices, out]
    )
}

/// Reorders dimensions and copies: dimension `i` of `out` is dimension `order[i]` of `a`.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when `order` is no permutation of the dimensions
/// or the shapes do not fit.
#[doc(alias = "aclnnPermute")]
#[track_caller]
pub fn permute<T: Element>(stream: &Stream, a: &Tensor<T>, order: &[i64], out: &mut Tensor<T>) -> Result<()> {
    let at = Location::caller();
    let (da, dout) = (a.describe()?, out.describe()?);
    let order = IntArray::new(stream.0.context(), order)?;
    operator!(
        stream,
        at,
        "permute",
        aclnnPermuteGetWorkspaceSize(da.raw(), order.raw(), dout.raw()),
        aclnnPermute,
        [a, out]
    )
}
