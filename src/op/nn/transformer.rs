//! What decoders are made of beside products: RMS normalisation, rotary position embedding, gated activation.

use crate::error::Result;
use crate::op::{Floats, Of, On, aclnn};

/// RMS normalisation over the last dimensions, as many as `weight` has.
///
/// `out = a / √(mean(a²) + eps) · weight`. `weight` has the shape of the last dimensions of `a`, `out` that of `a`.
/// `scale` receives what `a` was multiplied by, in 32-bit floats; it has the shape of `a` with 1 in the dimensions
/// of `weight`. `out` and `scale` share no memory with the operands. Types: f32, f16 and bf16.
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
/// let a = device.upload_tensor(&[3.0_f32, -3.0, 4.0, 4.0], [2, 2])?; // the roots of the mean squares are 3 and 4
/// let weight = device.upload_tensor(&[1.0, 10.0], [2])?;
/// let (mut out, mut scale) = (device.zeros([2, 2])?, device.zeros([2, 1])?);
/// op::rms_norm(&stream, &a, &weight, 1e-12, &mut out, &mut scale)?;
/// for (got, want) in out.to_vec()?.iter().zip([1.0, -10.0, 1.0, 10.0]) {
///     assert!((got - want).abs() < 1e-5);
/// }
/// assert!((scale.to_vec()?[1] - 0.25).abs() < 1e-6);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnRmsNorm")]
#[track_caller]
pub fn rms_norm<T: Floats>(
    on: &impl On<T>,
    a: &impl Of<T>,
    weight: &impl Of<T>,
    eps: f64,
    out: &mut impl Of<T>,
    scale: &mut impl Of<T::As<f32>>,
) -> Result<()> {
    aclnn::rms_norm(on, a, weight, eps, out, scale)
}

/// Which elements a rotary position embedding turns against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RotaryForm {
    /// Element `i` of the first half with element `i` of the second half.
    #[default]
    Halves,
    /// Neighbours: elements `2 i` and `2 i + 1`.
    Neighbours,
}

impl RotaryForm {
    /// The `mode` of C.
    pub(crate) fn raw(self) -> i64 {
        match self {
            Self::Halves => 0,
            Self::Neighbours => 1,
        }
    }
}

/// Rotary position embedding: turns pairs of elements of the last dimension by angles.
///
/// `out = a · cos + turned(a) · sin`, where `turned` exchanges the two of each pair and negates what comes first.
/// `a` has an even last dimension; `cos` and `sin` have the same shape and as many dimensions as `a`, and are
/// broadcast to its shape, which is that of `out`. `out` shares no memory with the others. Libraries of CANN take
/// four dimensions. Types: f32, f16 and bf16.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when the shapes do not fit; those of [every
/// operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::op::{self, RotaryForm};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [1, 1, 1, 4])?;
/// let cos = device.upload_tensor(&[0.0, 1.0, 0.0, 1.0], [1, 1, 1, 4])?; // a quarter turn, and none
/// let sin = device.upload_tensor(&[1.0, 0.0, 1.0, 0.0], [1, 1, 1, 4])?;
/// let mut out = device.zeros([1, 1, 1, 4])?;
/// op::rotary_embedding(&stream, &a, &cos, &sin, RotaryForm::Halves, &mut out)?;
/// assert_eq!(out.to_vec()?, [-3.0, 2.0, 1.0, 4.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnRotaryPositionEmbedding")]
#[track_caller]
pub fn rotary_embedding<T: Floats>(
    on: &impl On<T>,
    a: &impl Of<T>,
    cos: &impl Of<T>,
    sin: &impl Of<T>,
    form: RotaryForm,
    out: &mut impl Of<T>,
) -> Result<()> {
    aclnn::rotary_position_embedding(on, a, cos, sin, form.raw(), out)
}

/// The gated activation SwiGLU: `silu` of the first half of dimension `dim` times its second half, where `silu x = x /
/// (1 + e⁻ˣ)`.
///
/// A negative `dim` counts from the end. `out` has the shape of `a` with half of `dim` and shares no memory with it.
/// Types: f32, f16 and bf16.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) for a dimension that `a` does not have or
/// that is odd, or when `out` has another shape; those of [every operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[0.0_f32, 1.0, 7.0, 10.0], [1, 4])?;
/// let mut out = device.zeros([1, 2])?;
/// op::swiglu(&stream, &a, -1, &mut out)?;
/// let out = out.to_vec()?;
/// assert!(out[0] == 0.0 && (out[1] - 7.310_586).abs() < 1e-5);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnSwiGlu")]
#[doc(alias = "silu")]
#[track_caller]
pub fn swiglu<T: Floats>(on: &impl On<T>, a: &impl Of<T>, dim: i64, out: &mut impl Of<T>) -> Result<()> {
    aclnn::swi_glu(on, a, dim, out)
}
