//! Tensors made from numbers.

use crate::error::Result;
use crate::op::nn::wrapped::wrapped;
use crate::op::{Elements, Indices, Numerics, Of, aclnn};

wrapped! {
    /// `start`, `start + step`, … up to `end`, which is not part of it.
    ///
    /// Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnArange")]
    #[refused = "when `step` does not lead from `start` to `end`, or `out` has another number of elements"]
    #[example = "\
let mut out = device.zeros::<i32>([3])?;
op::arange(&stream, 1, 7, 2, &mut out)?;
assert_eq!(out.to_vec()?, [1, 3, 5]);"]
    fn arange<T: Numerics>(
        on; start: T::Number, end: T::Number, step: T::Number, out: &mut impl Of<T>,
    ) [
        start = T::scalar(start, on, out)?, end = T::scalar(end, on, out)?, step = T::scalar(step, on, out)?
    ] = arange(start, end, step, out);

    /// `steps` numbers from `start` to `end`, which is the last one.
    ///
    /// Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnLinspace")]
    #[refused = "when `out` has another number of elements"]
    #[example = "\
let mut out = device.zeros::<f32>([3])?;
op::linspace(&stream, 1.0, 2.0, 3, &mut out)?;
assert_eq!(out.to_vec()?, [1.0, 1.5, 2.0]);"]
    fn linspace<T: Numerics>(
        on; start: T::Number, end: T::Number, steps: i64, out: &mut impl Of<T>,
    ) [start = T::scalar(start, on, out)?, end = T::scalar(end, on, out)?] = linspace(start, end, steps, out);

    /// Ones on the diagonal of a matrix, zeros elsewhere.
    ///
    /// Types: f32, f16, bf16, i32 and i64.
    #[alias("aclnnEye")]
    #[refused = "when `out` has another shape"]
    #[example = "\
let mut out = device.zeros::<i32>([2, 2])?;
op::eye(&stream, 2, 2, &mut out)?;
assert_eq!(out.to_vec()?, [1, 0, 0, 1]);"]
    fn eye<T: Numerics>(on; rows: i64, columns: i64, out: &mut impl Of<T>) = eye(rows, columns, out);

    /// A line of `classes` numbers for each class in `a`: `on` where the class is, `off` elsewhere.
    ///
    /// `on` and `off` have one element, `out` the shape of `a` and `classes`. Classes outside of 0 to `classes − 1`
    /// give a line of `off`. Classes: i32 and i64; numbers: f32, f16, bf16, i32 and i64.
    #[alias("aclnnOneHot")]
    #[refused = "when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[1_i64, 0], [2])?;
let (on, off) = (device.upload_tensor(&[1], [1])?, device.upload_tensor(&[0], [1])?);
let mut out = device.zeros([2, 3])?;
op::one_hot(&stream, &a, 3, &on, &off, &mut out)?;
assert_eq!(out.to_vec()?, [0, 1, 0, 1, 0, 0]);"]
    fn one_hot<T: Numerics, I: Indices>(
        target; a: &impl Of<I>, classes: i32, on: &impl Of<T>, off: &impl Of<T>, out: &mut impl Of<T>,
    ) = one_hot(a, classes, on, off, -1, out);

    /// Zeros everywhere. Any element type.
    #[alias("aclnnInplaceZero")]
    #[refused = "when the library has no such kernel for the type"]
    #[example = "\
let mut a = device.upload_tensor(&[1, 2], [2])?;
op::zero(&stream, &mut a)?;
assert_eq!(a.to_vec()?, [0, 0]);"]
    fn zero<T: Elements>(on; a: &mut impl Of<T>) = inplace_zero(a);
}
