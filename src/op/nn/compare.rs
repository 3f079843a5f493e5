//! Comparisons, logic, and what masks choose.

use crate::error::Result;
use crate::op::nn::wrapped::wrapped;
use crate::op::{Elements, Numerics, Of, aclnn};

wrapped! {
    /// Where `a` differs from `b`: 1 there and 0 elsewhere.
    ///
    /// Shapes, types and memory as for [`equal`](crate::op::equal).
    #[alias("aclnnNeTensor")]
    #[refused = "when the shapes cannot be broadcast or `out` has another one"]
    #[example = "\
let a = device.upload_tensor(&[1_i64, 2, 3], [3])?;
let two = device.upload_tensor(&[2], [1])?;
let mut out = device.zeros([3])?;
op::not_equal(&stream, &a, &two, &mut out)?;
assert_eq!(out.to_vec()?, [1, 0, 1]);"]
    fn not_equal<T: Numerics>(
        on; a: &impl Of<T>, b: &impl Of<T>, out: &mut impl Of<T::As<u8>>,
    ) = ne_tensor(a, b, out);

    /// Where `a` is less than `b`: 1 there and 0 elsewhere.
    ///
    /// Shapes, types and memory as for [`equal`](crate::op::equal).
    #[alias("aclnnLtTensor")]
    #[refused = "when the shapes cannot be broadcast or `out` has another one"]
    #[example = "\
let a = device.upload_tensor(&[1_i64, 2, 3], [3])?;
let two = device.upload_tensor(&[2], [1])?;
let mut out = device.zeros([3])?;
op::less(&stream, &a, &two, &mut out)?;
assert_eq!(out.to_vec()?, [1, 0, 0]);"]
    fn less<T: Numerics>(on; a: &impl Of<T>, b: &impl Of<T>, out: &mut impl Of<T::As<u8>>) = lt_tensor(a, b, out);

    /// Where `a` is at most `b`: 1 there and 0 elsewhere.
    ///
    /// Shapes, types and memory as for [`equal`](crate::op::equal).
    #[alias("aclnnLeTensor")]
    #[refused = "when the shapes cannot be broadcast or `out` has another one"]
    #[example = "\
let a = device.upload_tensor(&[1_i64, 2, 3], [3])?;
let two = device.upload_tensor(&[2], [1])?;
let mut out = device.zeros([3])?;
op::less_equal(&stream, &a, &two, &mut out)?;
assert_eq!(out.to_vec()?, [1, 1, 0]);"]
    fn less_equal<T: Numerics>(
        on; a: &impl Of<T>, b: &impl Of<T>, out: &mut impl Of<T::As<u8>>,
    ) = le_tensor(a, b, out);

    /// Where `a` is at least `b`: 1 there and 0 elsewhere.
    ///
    /// Shapes, types and memory as for [`equal`](crate::op::equal).
    #[alias("aclnnGeTensor")]
    #[refused = "when the shapes cannot be broadcast or `out` has another one"]
    #[example = "\
let a = device.upload_tensor(&[1_i64, 2, 3], [3])?;
let two = device.upload_tensor(&[2], [1])?;
let mut out = device.zeros([3])?;
op::greater_equal(&stream, &a, &two, &mut out)?;
assert_eq!(out.to_vec()?, [0, 1, 1]);"]
    fn greater_equal<T: Numerics>(
        on; a: &impl Of<T>, b: &impl Of<T>, out: &mut impl Of<T::As<u8>>,
    ) = ge_tensor(a, b, out);

    /// Where `a` equals `value`: 1 there and 0 elsewhere.
    ///
    /// `out` has the shape of `a` and shares no memory with it. Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnEqScalar")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3])?;
let mut out = device.zeros([3])?;
op::equal_to(&stream, &a, 2.0, &mut out)?;
assert_eq!(out.to_vec()?, [0, 1, 0]);"]
    fn equal_to<T: Numerics>(
        on; a: &impl Of<T>, value: T::Number, out: &mut impl Of<T::As<u8>>,
    ) [value = T::scalar(value, on, a)?] = eq_scalar(a, value, out);

    /// Where `a` differs from `value`: 1 there and 0 elsewhere.
    ///
    /// `out` has the shape of `a` and shares no memory with it. Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnNeScalar")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3])?;
let mut out = device.zeros([3])?;
op::not_equal_to(&stream, &a, 2.0, &mut out)?;
assert_eq!(out.to_vec()?, [1, 0, 1]);"]
    fn not_equal_to<T: Numerics>(
        on; a: &impl Of<T>, value: T::Number, out: &mut impl Of<T::As<u8>>,
    ) [value = T::scalar(value, on, a)?] = ne_scalar(a, value, out);

    /// Where `a` is less than `value`: 1 there and 0 elsewhere.
    ///
    /// `out` has the shape of `a` and shares no memory with it. Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnLtScalar")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3])?;
let mut out = device.zeros([3])?;
op::less_than(&stream, &a, 2.0, &mut out)?;
assert_eq!(out.to_vec()?, [1, 0, 0]);"]
    fn less_than<T: Numerics>(
        on; a: &impl Of<T>, value: T::Number, out: &mut impl Of<T::As<u8>>,
    ) [value = T::scalar(value, on, a)?] = lt_scalar(a, value, out);

    /// Where `a` is at most `value`: 1 there and 0 elsewhere.
    ///
    /// `out` has the shape of `a` and shares no memory with it. Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnLeScalar")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3])?;
let mut out = device.zeros([3])?;
op::at_most(&stream, &a, 2.0, &mut out)?;
assert_eq!(out.to_vec()?, [1, 1, 0]);"]
    fn at_most<T: Numerics>(
        on; a: &impl Of<T>, value: T::Number, out: &mut impl Of<T::As<u8>>,
    ) [value = T::scalar(value, on, a)?] = le_scalar(a, value, out);

    /// Where `a` is greater than `value`: 1 there and 0 elsewhere.
    ///
    /// `out` has the shape of `a` and shares no memory with it. Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnGtScalar")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3])?;
let mut out = device.zeros([3])?;
op::greater_than(&stream, &a, 2.0, &mut out)?;
assert_eq!(out.to_vec()?, [0, 0, 1]);"]
    fn greater_than<T: Numerics>(
        on; a: &impl Of<T>, value: T::Number, out: &mut impl Of<T::As<u8>>,
    ) [value = T::scalar(value, on, a)?] = gt_scalar(a, value, out);

    /// Where `a` is at least `value`: 1 there and 0 elsewhere.
    ///
    /// `out` has the shape of `a` and shares no memory with it. Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnGeScalar")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3])?;
let mut out = device.zeros([3])?;
op::at_least(&stream, &a, 2.0, &mut out)?;
assert_eq!(out.to_vec()?, [0, 1, 1]);"]
    fn at_least<T: Numerics>(
        on; a: &impl Of<T>, value: T::Number, out: &mut impl Of<T::As<u8>>,
    ) [value = T::scalar(value, on, a)?] = ge_scalar(a, value, out);

    /// Where both are not 0: 1 there and 0 elsewhere.
    ///
    /// `a` and `b` are broadcast to each other; `out` has their common shape. Any element type; NaN is not 0.
    #[alias("aclnnLogicalAnd")]
    #[refused = "when the shapes cannot be broadcast or `out` has another one"]
    #[example = "\
let a = device.upload_tensor(&[1_u8, 2, 0], [3])?;
let b = device.upload_tensor(&[1_u8, 0, 0], [3])?;
let mut out = device.zeros([3])?;
op::logical_and(&stream, &a, &b, &mut out)?;
assert_eq!(out.to_vec()?, [1, 0, 0]);"]
    fn logical_and<T: Elements>(
        on; a: &impl Of<T>, b: &impl Of<T>, out: &mut impl Of<T::As<u8>>,
    ) = logical_and(a, b, out);

    /// Where one of the two is not 0: 1 there and 0 elsewhere.
    ///
    /// `a` and `b` are broadcast to each other; `out` has their common shape. Any element type; NaN is not 0.
    #[alias("aclnnLogicalOr")]
    #[refused = "when the shapes cannot be broadcast or `out` has another one"]
    #[example = "\
let a = device.upload_tensor(&[1_u8, 2, 0], [3])?;
let b = device.upload_tensor(&[1_u8, 0, 0], [3])?;
let mut out = device.zeros([3])?;
op::logical_or(&stream, &a, &b, &mut out)?;
assert_eq!(out.to_vec()?, [1, 1, 0]);"]
    fn logical_or<T: Elements>(
        on; a: &impl Of<T>, b: &impl Of<T>, out: &mut impl Of<T::As<u8>>,
    ) = logical_or(a, b, out);

    /// Where exactly one of the two is not 0: 1 there and 0 elsewhere.
    ///
    /// `a` and `b` are broadcast to each other; `out` has their common shape. Any element type; NaN is not 0.
    #[alias("aclnnLogicalXor")]
    #[refused = "when the shapes cannot be broadcast or `out` has another one"]
    #[example = "\
let a = device.upload_tensor(&[1_u8, 2, 0], [3])?;
let b = device.upload_tensor(&[1_u8, 0, 0], [3])?;
let mut out = device.zeros([3])?;
op::logical_xor(&stream, &a, &b, &mut out)?;
assert_eq!(out.to_vec()?, [0, 1, 0]);"]
    fn logical_xor<T: Elements>(
        on; a: &impl Of<T>, b: &impl Of<T>, out: &mut impl Of<T::As<u8>>,
    ) = logical_xor(a, b, out);

    /// Where `a` is 0: 1 there and 0 elsewhere.
    ///
    /// `out` has the shape of `a`. Any element type.
    #[alias("aclnnLogicalNot")]
    #[refused = "when `out` has another shape than `a`"]
    #[example = "\
let a = device.upload_tensor(&[0.0_f32, 2.0], [2])?;
let mut out = device.zeros([2])?;
op::logical_not(&stream, &a, &mut out)?;
assert_eq!(out.to_vec()?, [1, 0]);"]
    fn logical_not<T: Elements>(on; a: &impl Of<T>, out: &mut impl Of<T::As<u8>>) = logical_not(a, out);

    /// Stores `value` in `a` where `mask` is not 0.
    ///
    /// `mask` is broadcast to the shape of `a`. Any element type.
    #[alias("aclnnInplaceMaskedFillScalar")]
    #[refused = "when `mask` cannot be broadcast to the shape of `a`"]
    #[example = "\
let mut scores = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
let later = device.upload_tensor(&[0_u8, 1], [1, 2])?;
op::masked_fill(&stream, &mut scores, &later, f32::NEG_INFINITY)?;
assert_eq!(scores.to_vec()?, [1.0, f32::NEG_INFINITY, 3.0, f32::NEG_INFINITY]);"]
    fn masked_fill<T: Elements>(
        on; a: &mut impl Of<T>, mask: &impl Of<T::As<u8>>, value: T::Number,
    ) [value = T::scalar(value, on, a)?] = inplace_masked_fill_scalar(a, mask, value);
}
