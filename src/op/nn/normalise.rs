//! Normalisation and activation.

use std::panic::Location;

use crate::error::Result;
use crate::op::element::Float;
use crate::op::scalar::IntArray;
use crate::op::{Tensor, operator};
use crate::stream::Stream;

/// Softmax over dimension `dim`; a negative one counts from the end.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) for a dimension that `a` does not have, or
/// another shape of `out`.
#[doc(alias = "aclnnSoftmax")]
#[track_caller]
pub fn softmax<T: Float>(stream: &Stream, a: &Tensor<T>, dim: i64, out: &mut Tensor<T>) -> Result<()> {
    let at = Location::caller();
    let (da, dout) = (a.describe()?, out.describe()?);
    operator!(stream, at, "softmax", aclnnSoftmaxGetWorkspaceSize(da.raw(), dim, dout.raw()), aclnnSoftmax, [a, out])
}

/// What [`layer_norm`] scales and shifts with.
#[derive(Debug)]
pub struct LayerNorm<'a, T: Float> {
    /// Factor, of the normalised shape.
    pub weight: &'a Tensor<T>,
    /// Summand, of the normalised shape.
    pub bias: &'a Tensor<T>,
    /// Added to the variance.
    pub eps: f64,
}

/// Layer normalisation over the last dimensions, as many as `weight` has.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when the shapes do not fit.
#[doc(alias = "aclnnLayerNorm")]
#[track_caller]
pub fn layer_norm<T: Float>(
    stream: &Stream,
    a: &Tensor<T>,
    norm: &LayerNorm<'_, T>,
    out: &mut Tensor<T>,
) -> Result<()> {
    let at = Location::caller();
    let LayerNorm { weight, bias, eps } = *norm;
    let (da, dweight, dbias, dout) = (a.describe()?, weight.describe()?, bias.describe()?, out.describe()?);
    let sizes: Vec<i64> = weight.shape().iter().map(|size| *size as i64).collect();
    let sizes = IntArray::new(stream.0.context(), &sizes)?;
    let none = std::ptr::null_mut();
    operator!(
        stream,
        at,
        "layer_norm",
        aclnnLayerNormGetWorkspaceSize(
            da.raw(),
            sizes.raw(),
            dweight.raw(),
            dbias.raw(),
            eps,
            dout.raw(),
            none,
            none
        ),
        aclnnLayerNorm,
        [a, weight, bias, out]
    )
}

/// The two forms of the GELU activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum GeluForm {
    /// With the error function.
    #[default]
    Exact,
    /// With a hyperbolic tangent.
    Tanh,
}

/// GELU activation, element by element.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when `out` has another shape.
#[doc(alias = "aclnnGeluV2")]
#[track_caller]
pub fn gelu<T: Float>(stream: &Stream, a: &Tensor<T>, form: GeluForm, out: &mut Tensor<T>) -> Result<()> {
    let at = Location::caller();
    let (da, dout) = (a.describe()?, out.describe()?);
    let form = match form {
        GeluForm::Exact => 0,
        GeluForm::Tanh => 1,
    };
    operator!(stream, at, "gelu", aclnnGeluV2GetWorkspaceSize(da.raw(), form, dout.raw()), aclnnGeluV2, [a, out])
}
