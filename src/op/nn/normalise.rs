//! Normalisation and activation.

use crate::error::Result;
use crate::op::typed::told_all;
use crate::op::{Floats, Of, On, aclnn};

/// Softmax over dimension `dim`; a negative one counts from the end.
///
/// `out` has the shape of `a` and shares no memory with it. Types: f32, f16 and bf16.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) for a dimension that `a` does not have, or
/// when `out` has another shape; those of [every operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[0.0_f32, 3_f32.ln(), 5.0, 5.0], [2, 2])?;
/// let mut out = device.zeros([2, 2])?;
/// op::softmax(&stream, &a, -1, &mut out)?;
/// for (got, want) in out.to_vec()?.iter().zip([0.25, 0.75, 0.5, 0.5]) {
///     assert!((got - want).abs() < 1e-6);
/// }
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnSoftmax")]
#[track_caller]
pub fn softmax<T: Floats>(on: &impl On<T>, a: &impl Of<T>, dim: i64, out: &mut impl Of<T>) -> Result<()> {
    aclnn::softmax(on, a, dim, out)
}

/// What [`layer_norm`] scales and shifts with. Its example shows one.
#[derive(Debug)]
pub struct LayerNorm<'a, T: Floats> {
    /// Factor, of the normalised shape.
    pub weight: &'a T::Operand,
    /// Summand, of the normalised shape.
    pub bias: &'a T::Operand,
    /// Added to the variance, so that a constant input does not divide by zero.
    pub eps: f64,
}

/// Layer normalisation over the last dimensions, as many as `weight` has.
///
/// `out = (a − mean) / √(variance + eps) · weight + bias`. `weight` and `bias` have the shape of the last dimensions
/// of `a`, `out` that of `a`; it shares no memory with the operands. Types: f32, f16 and bf16.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when the shapes do not fit; those of [every
/// operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::op::{self, LayerNorm};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[1.0_f32, 3.0, 10.0, 30.0], [2, 2])?; // means 2 and 20, deviations 1 and 10
/// let weight = device.upload_tensor(&[1.0, 2.0], [2])?;
/// let bias = device.upload_tensor(&[0.0, 5.0], [2])?;
/// let mut out = device.zeros([2, 2])?;
/// let norm = LayerNorm { weight: &weight, bias: &bias, eps: 1e-12 };
/// op::layer_norm(&stream, &a, &norm, &mut out)?;
/// for (got, want) in out.to_vec()?.iter().zip([-1.0, 7.0, -1.0, 7.0]) {
///     assert!((got - want).abs() < 1e-5);
/// }
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnLayerNorm")]
#[track_caller]
pub fn layer_norm<T: Floats>(
    on: &impl On<T>,
    a: &impl Of<T>,
    norm: &LayerNorm<'_, T>,
    out: &mut impl Of<T>,
) -> Result<()> {
    let LayerNorm { weight, bias, eps } = *norm;
    let (on, sizes) = told_all(on, weight, "normalized_shape")?;
    aclnn::layer_norm(&on, a, &sizes, Some(weight), Some(bias), eps, out, None, None)
}

/// The two forms of the GELU activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum GeluForm {
    /// With the error function: `½ a (1 + erf(a / √2))`.
    #[default]
    Exact,
    /// With a hyperbolic tangent: `½ a (1 + tanh(√(2/π) (a + 0.044715 a³)))`.
    Tanh,
}

impl GeluForm {
    /// The `approximate` of C.
    pub(crate) fn raw(self) -> i64 {
        match self {
            Self::Exact => 0,
            Self::Tanh => 1,
        }
    }
}

/// GELU activation, element by element.
///
/// `out` has the shape of `a` and shares no memory with it. Types: f32, f16 and bf16.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when `out` has another shape than `a`; those
/// of [every operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::op::{self, GeluForm};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[0.0_f32, 1.0], [2])?;
/// let mut out = device.zeros([2])?;
/// op::gelu(&stream, &a, GeluForm::Exact, &mut out)?;
/// let out = out.to_vec()?;
/// assert!(out[0].abs() < 1e-6 && (out[1] - 0.841_345).abs() < 1e-5);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnGeluV2")]
#[track_caller]
pub fn gelu<T: Floats>(on: &impl On<T>, a: &impl Of<T>, form: GeluForm, out: &mut impl Of<T>) -> Result<()> {
    aclnn::gelu_v2(on, a, form.raw(), out)
}
