//! Arithmetic in place.

use crate::error::Result;
use crate::op::nn::wrapped::wrapped;
use crate::op::{Floats, Numerics, Of, aclnn};

wrapped! {
    /// `a -= b`, element by element.
    ///
    /// `b` is broadcast to the shape of `a`; it may be a clone of it, and shares no memory with it otherwise. Types:
    /// f32, f16, bf16, i32 and i64.
    #[alias("aclnnInplaceSub")]
    #[refused = "when `b` cannot be broadcast to the shape of `a`"]
    #[example = "\
let mut a = device.upload_tensor(&[5, 7], [2])?;
let b = device.upload_tensor(&[2], [1])?;
op::sub_inplace(&stream, &mut a, &b)?;
assert_eq!(a.to_vec()?, [3, 5]);"]
    fn sub_inplace<T: Numerics>(
        on; a: &mut impl Of<T>, b: &impl Of<T>,
    ) [one = T::one(on, a)?] = inplace_sub(a, b, one);

    /// `a /= b`, element by element.
    ///
    /// `b` is broadcast to the shape of `a`; it may be a clone of it, and shares no memory with it otherwise. Types:
    /// f32, f16 and bf16.
    #[alias("aclnnInplaceDiv")]
    #[refused = "when `b` cannot be broadcast to the shape of `a`"]
    #[example = "\
let mut a = device.upload_tensor(&[5.0_f32, 7.0], [2])?;
let b = device.upload_tensor(&[2.0], [1])?;
op::div_inplace(&stream, &mut a, &b)?;
assert_eq!(a.to_vec()?, [2.5, 3.5]);"]
    fn div_inplace<T: Floats>(on; a: &mut impl Of<T>, b: &impl Of<T>) = inplace_div(a, b);

    /// `a += value`, element by element.
    ///
    /// Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnInplaceAdds")]
    #[refused = "when the library has no such kernel for the type"]
    #[example = "\
let mut a = device.upload_tensor(&[5, 7], [2])?;
op::adds_inplace(&stream, &mut a, 2)?;
assert_eq!(a.to_vec()?, [7, 9]);"]
    fn adds_inplace<T: Numerics>(
        on; a: &mut impl Of<T>, value: T::Number,
    ) [value = T::scalar(value, on, a)?, one = T::one(on, a)?] = inplace_adds(a, value, one);

    /// `a *= value`, element by element.
    ///
    /// Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnInplaceMuls")]
    #[refused = "when the library has no such kernel for the type"]
    #[example = "\
let mut a = device.upload_tensor(&[5, 7], [2])?;
op::muls_inplace(&stream, &mut a, 2)?;
assert_eq!(a.to_vec()?, [10, 14]);"]
    fn muls_inplace<T: Numerics>(
        on; a: &mut impl Of<T>, value: T::Number,
    ) [value = T::scalar(value, on, a)?] = inplace_muls(a, value);
}
