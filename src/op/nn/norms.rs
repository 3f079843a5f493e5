//! Norms over channels, of sums, and logarithms of softmax.

use crate::error::Result;
use crate::op::nn::wrapped::wrapped;
use crate::op::{Floats, GeluForm, Of, aclnn};

wrapped! {
    /// The logarithm of [`softmax`](crate::op::softmax) over dimension `dim`, without its loss of small numbers.
    ///
    /// A negative `dim` counts from the end. `out` has the shape of `a` and shares no memory with it. Types: f32, f16
    /// and bf16.
    #[alias("aclnnLogSoftmax")]
    #[refused = "for a dimension that `a` does not have, or when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[0.0_f32, 0.0], [2])?;
let mut out = device.zeros([2])?;
op::log_softmax(&stream, &a, 0, &mut out)?;
assert!(out.to_vec()?.iter().all(|x| (x + 2_f32.ln()).abs() < 1e-6));"]
    fn log_softmax<T: Floats>(on; a: &impl Of<T>, dim: i64, out: &mut impl Of<T>) = log_softmax(a, dim, out);

    /// The sum of `a` and `b`, and its [`rms_norm`](crate::op::rms_norm) over the last dimensions: the second and the
    /// first result.
    ///
    /// `a`, `b` and the results have one shape, `weight` that of the last dimensions, and `scale` has ones for them:
    /// `1 / √(mean of squares + eps)`. The results share no memory with the operands. Types: f32, f16 and bf16.
    #[alias("aclnnAddRmsNorm")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[3.0_f32, 0.0], [1, 2])?;
let b = device.upload_tensor(&[0.0, 3.0], [1, 2])?;
let weight = device.upload_tensor(&[1.0, 2.0], [2])?;
let (mut out, mut scale, mut sum) = (device.zeros([1, 2])?, device.zeros([1, 1])?, device.zeros([1, 2])?);
op::add_rms_norm(&stream, &a, &b, &weight, 0.0, (&mut out, &mut sum), &mut scale)?;
assert_eq!((out.to_vec()?, sum.to_vec()?), (vec![1.0, 2.0], vec![3.0, 3.0]));"]
    fn add_rms_norm<T: Floats>(
        on; a: &impl Of<T>,
        b: &impl Of<T>,
        weight: &impl Of<T>,
        eps: f64,
        results: (&mut impl Of<T>, &mut impl Of<T>),
        scale: &mut impl Of<T::As<f32>>,
    ) = add_rms_norm(
        a, b, weight, eps, results.0, scale, results.1,
    );

    /// The gated activation GeGLU: one half of dimension `dim` times `gelu` of the second half, which is given too.
    ///
    /// A negative `dim` counts from the end. The results have half of it and share no memory with `a`. Types: f32,
    /// f16 and bf16.
    #[alias("aclnnGeGlu")]
    #[refused = "for a dimension that cannot be halved, or when a result has another shape"]
    #[example = "\
let a = device.upload_tensor(&[3.0_f32, 100.0], [2])?;
let (mut out, mut gelu) = (device.zeros([1])?, device.zeros([1])?);
op::geglu(&stream, &a, 0, op::GeluForm::Tanh, &mut out, &mut gelu)?;
assert_eq!((out.to_vec()?, gelu.to_vec()?), (vec![300.0], vec![100.0]));"]
    fn geglu<T: Floats>(
        on; a: &impl Of<T>, dim: i64, form: GeluForm, out: &mut impl Of<T>, gelu: &mut impl Of<T>,
    ) = ge_glu(a, dim, form.raw(), out, gelu);
}
