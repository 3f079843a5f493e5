//! Functions of single elements.

use crate::error::Result;
use crate::op::nn::wrapped::wrapped;
use crate::op::{Floats, Numerics, Of, aclnn};

wrapped! {
    /// `out = −a`, element by element.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnNeg")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[1, -2], [2])?;
let mut out = device.zeros([2])?;
op::neg(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [-1, 2]);"]
    fn neg<T: Numerics>(on; a: &impl Of<T>, out: &mut impl Of<T>) = neg(a, out);

    /// `out = e^a`, element by element.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnExp")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[0.0_f32, -f32::INFINITY], [2])?;
let mut out = device.zeros([2])?;
op::exp(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [1.0, 0.0]);"]
    fn exp<T: Floats>(on; a: &impl Of<T>, out: &mut impl Of<T>) = exp(a, out);

    /// The natural logarithm, element by element. NaN below zero.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnLog")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 0.0], [2])?;
let mut out = device.zeros([2])?;
op::log(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [0.0, -f32::INFINITY]);"]
    fn log<T: Floats>(on; a: &impl Of<T>, out: &mut impl Of<T>) = log(a, out);

    /// The sine, of radians, element by element.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnSin")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[0.0_f32, -0.0], [2])?;
let mut out = device.zeros([2])?;
op::sin(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [0.0, 0.0]);"]
    fn sin<T: Floats>(on; a: &impl Of<T>, out: &mut impl Of<T>) = sin(a, out);

    /// The cosine, of radians, element by element.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnCos")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[0.0_f32, -0.0], [2])?;
let mut out = device.zeros([2])?;
op::cos(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [1.0, 1.0]);"]
    fn cos<T: Floats>(on; a: &impl Of<T>, out: &mut impl Of<T>) = cos(a, out);

    /// −1, 0 or 1, as the sign of `a`, element by element.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnSign")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[2.5_f32, -3.0, 0.0], [3])?;
let mut out = device.zeros([3])?;
op::sign(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [1.0, -1.0, 0.0]);"]
    fn sign<T: Numerics>(on; a: &impl Of<T>, out: &mut impl Of<T>) = sign(a, out);

    /// The next whole number below, element by element.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnFloor")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[1.5_f32, -1.5], [2])?;
let mut out = device.zeros([2])?;
op::floor(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [1.0, -2.0]);"]
    fn floor<T: Floats>(on; a: &impl Of<T>, out: &mut impl Of<T>) = floor(a, out);

    /// The next whole number above, element by element.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnCeil")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[1.5_f32, -1.5], [2])?;
let mut out = device.zeros([2])?;
op::ceil(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [2.0, -1.0]);"]
    fn ceil<T: Floats>(on; a: &impl Of<T>, out: &mut impl Of<T>) = ceil(a, out);

    /// The nearest whole number; of two, the even one, element by element.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnRound")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[0.5_f32, 1.5, -2.5], [3])?;
let mut out = device.zeros([3])?;
op::round(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [0.0, 2.0, -2.0]);"]
    fn round<T: Floats>(on; a: &impl Of<T>, out: &mut impl Of<T>) = round(a, out);

    /// `out = 1 / a`, element by element.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnReciprocal")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[4.0_f32, 0.0], [2])?;
let mut out = device.zeros([2])?;
op::reciprocal(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [0.25, f32::INFINITY]);"]
    fn reciprocal<T: Floats>(on; a: &impl Of<T>, out: &mut impl Of<T>) = reciprocal(a, out);

    /// `out = max(a, 0)`, element by element.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnRelu")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[4.0_f32, -1.0], [2])?;
let mut out = device.zeros([2])?;
op::relu(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [4.0, 0.0]);"]
    fn relu<T: Floats>(on; a: &impl Of<T>, out: &mut impl Of<T>) = relu(a, out);

    /// The logistic function, `out = 1 / (1 + e^−a)`, element by element.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnSigmoid")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[0.0_f32, -f32::INFINITY], [2])?;
let mut out = device.zeros([2])?;
op::sigmoid(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [0.5, 0.0]);"]
    fn sigmoid<T: Floats>(on; a: &impl Of<T>, out: &mut impl Of<T>) = sigmoid(a, out);

    /// `out = a / (1 + e^−a)`, also called swish, element by element.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnSilu", "swish")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[0.0_f32, 100.0], [2])?;
let mut out = device.zeros([2])?;
op::silu(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [0.0, 100.0]);"]
    fn silu<T: Floats>(on; a: &impl Of<T>, out: &mut impl Of<T>) = silu(a, out);

    /// `out = a · min(max(a + 3, 0), 6) / 6`, element by element.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnHardswish")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[-4.0_f32, 0.0, 5.0], [3])?;
let mut out = device.zeros([3])?;
op::hard_swish(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [0.0, 0.0, 5.0]);"]
    fn hard_swish<T: Floats>(on; a: &impl Of<T>, out: &mut impl Of<T>) = hardswish(a, out);

    /// `out = min(max(a + 3, 0), 6) / 6`, element by element.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnHardsigmoid")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[-4.0_f32, 0.0, 5.0], [3])?;
let mut out = device.zeros([3])?;
op::hard_sigmoid(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [0.0, 0.5, 1.0]);"]
    fn hard_sigmoid<T: Floats>(on; a: &impl Of<T>, out: &mut impl Of<T>) = hardsigmoid(a, out);

    /// `out = a` where `a` is positive, `alpha · (e^a − 1)` elsewhere.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnElu")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[3.0_f32, -100.0], [2])?;
let mut out = device.zeros([2])?;
op::elu(&stream, &a, 0.5, &mut out)?;
assert_eq!(out.to_vec()?, [3.0, -0.5]);"]
    fn elu<T: Floats>(on; a: &impl Of<T>, alpha: f32, out: &mut impl Of<T>) = elu(a, alpha, 1.0_f32, 1.0_f32, out);

    /// `out = a` where `a` is positive, `slope · a` elsewhere.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnLeakyRelu")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[3.0_f32, -2.0], [2])?;
let mut out = device.zeros([2])?;
op::leaky_relu(&stream, &a, 0.25, &mut out)?;
assert_eq!(out.to_vec()?, [3.0, -0.5]);"]
    fn leaky_relu<T: Floats>(on; a: &impl Of<T>, slope: f32, out: &mut impl Of<T>) = leaky_relu(a, slope, out);

    /// `out = ln(1 + e^(beta · a)) / beta`, and `a` itself where `beta · a` is above `threshold`.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnSoftplus")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[-200.0_f32, 30.0], [2])?;
let mut out = device.zeros([2])?;
op::softplus(&stream, &a, 1.0, 20.0, &mut out)?;
assert_eq!(out.to_vec()?, [0.0, 30.0]);"]
    fn softplus<T: Floats>(
        on; a: &impl Of<T>, beta: f32, threshold: f32, out: &mut impl Of<T>,
    ) = softplus(a, beta, threshold, out);

    /// `out = a^exponent`, element by element.
    ///
    /// `a` and `exponent` are broadcast to each other; `out` has their common shape. `out` may be a clone of an
    /// operand that has its shape. Types: f32, f16 and bf16.
    #[alias("aclnnPowTensorTensor")]
    #[refused = "when the shapes cannot be broadcast or `out` has another one"]
    #[example = "\
let a = device.upload_tensor(&[2.0_f32, 9.0], [2])?;
let b = device.upload_tensor(&[3.0, 0.5], [2])?;
let mut out = device.zeros([2])?;
op::pow(&stream, &a, &b, &mut out)?;
assert_eq!(out.to_vec()?, [8.0, 3.0]);"]
    fn pow<T: Floats>(
        on; a: &impl Of<T>, exponent: &impl Of<T>, out: &mut impl Of<T>,
    ) = pow_tensor_tensor(a, exponent, out);

    /// `out = a^exponent`, element by element.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16 and bf16.
    #[alias("aclnnPowTensorScalar")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[2.0_f32, -3.0], [2])?;
let mut out = device.zeros([2])?;
op::pows(&stream, &a, 2.0, &mut out)?;
assert_eq!(out.to_vec()?, [4.0, 9.0]);"]
    fn pows<T: Floats>(
        on; a: &impl Of<T>, exponent: f32, out: &mut impl Of<T>,
    ) = pow_tensor_scalar(a, exponent, out);

    /// The elements of `a`, none below `least` and none above `most`; `most` everywhere when it is below `least`.
    ///
    /// `out` has the shape of `a`. `out` may be a clone of `a`, which is then computed in place; it shares no memory
    /// with it otherwise. Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnClamp")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[-5, 3, 12], [3])?;
let mut out = device.zeros([3])?;
op::clamp(&stream, &a, 0, 10, &mut out)?;
assert_eq!(out.to_vec()?, [0, 3, 10]);"]
    fn clamp<T: Numerics>(
        on; a: &impl Of<T>, least: T::Number, most: T::Number, out: &mut impl Of<T>,
    ) [least = T::scalar(least, on, a)?, most = T::scalar(most, on, a)?] = clamp(a, Some(least), Some(most), out);

    /// The smaller of two elements; NaN when one of them is.
    ///
    /// `a` and `b` are broadcast to each other; `out` has their common shape and may be a clone of an operand that
    /// has it. Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnMinimum")]
    #[refused = "when the shapes cannot be broadcast or `out` has another one"]
    #[example = "\
let a = device.upload_tensor(&[1, 5], [2])?;
let b = device.upload_tensor(&[3], [1])?;
let mut out = device.zeros([2])?;
op::minimum(&stream, &a, &b, &mut out)?;
assert_eq!(out.to_vec()?, [1, 3]);"]
    fn minimum<T: Numerics>(on; a: &impl Of<T>, b: &impl Of<T>, out: &mut impl Of<T>) = minimum(a, b, out);
}
