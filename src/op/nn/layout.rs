//! Moving elements: parts, joins, repetitions, borders, triangles.

use crate::error::Result;
use crate::op::nn::wrapped::wrapped;
use crate::op::operand::Sizes;
use crate::op::typed::told;
use crate::op::{Elements, Floats, Of, Operand, aclnn};

wrapped! {
    /// Every `step`-th element of dimension `dim` from `start` up to `end`, which is not part of it.
    ///
    /// A negative `dim` counts from the end. A view that moves nothing: [`Tensor::narrow`](crate::Tensor::narrow).
    /// `out` shares no memory with `a`. Any element type.
    #[alias("aclnnSlice")]
    #[refused = "for a dimension that `a` does not have, or when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[0, 1, 2, 3, 4], [5])?;
let mut out = device.zeros([2])?;
op::slice(&stream, &a, 0, 1, 5, 2, &mut out)?;
assert_eq!(out.to_vec()?, [1, 3]);"]
    fn slice<T: Elements>(
        on; a: &impl Of<T>, dim: i64, start: i64, end: i64, step: i64, out: &mut impl Of<T>,
    ) = slice(a, dim, start, end, step, out);

    /// Tensors one after the other along `dim`; the other dimensions are equal.
    ///
    /// A negative `dim` counts from the end. Up to 1,024 parts. `out` shares no memory with them. Any element type.
    #[alias("aclnnCat", "concat")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[1, 2], [1, 2])?;
let b = device.upload_tensor(&[3, 4, 5, 6], [2, 2])?;
let mut out = device.zeros([3, 2])?;
op::cat(&stream, &[&a, &b], 0, &mut out)?;
assert_eq!(out.to_vec()?, [1, 2, 3, 4, 5, 6]);"]
    fn cat<T: Elements>(
        on; parts: &[&impl Of<T>], dim: i64, out: &mut impl Of<T>,
    ) = cat(&parts.iter().map(|part| *part as &dyn Operand).collect::<Vec<_>>(), dim, out);

    /// Tensors of one shape beside each other, along a new dimension `dim`.
    ///
    /// A negative `dim` counts from the end. `out` shares no memory with the parts. Any element type.
    #[alias("aclnnStack")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[1, 2], [2])?;
let b = device.upload_tensor(&[3, 4], [2])?;
let mut out = device.zeros([2, 2])?;
op::stack(&stream, &[&a, &b], 1, &mut out)?;
assert_eq!(out.to_vec()?, [1, 3, 2, 4]);"]
    fn stack<T: Elements>(
        on; parts: &[&impl Of<T>], dim: i64, out: &mut impl Of<T>,
    ) = stack(&parts.iter().map(|part| *part as &dyn Operand).collect::<Vec<_>>(), dim, out);

    /// Copies parts of `sizes` along `dim`, one after the other; the sizes add up to the dimension.
    ///
    /// A negative `dim` counts from the end. Views that move nothing: [`Tensor::narrow`](crate::Tensor::narrow). The
    /// parts share no memory with `a`. Any element type.
    #[alias("aclnnSplitWithSize")]
    #[refused = "when the sizes or the shapes of the parts do not fit"]
    #[example = "\
let a = device.upload_tensor(&[1, 2, 3], [3])?;
let (mut head, mut tail) = (device.zeros([1])?, device.zeros([2])?);
op::split(&stream, &a, &[1, 2], 0, &mut [&mut head, &mut tail])?;
assert_eq!((head.to_vec()?, tail.to_vec()?), (vec![1], vec![2, 3]));"]
    fn split<T: Elements>(
        on; a: &impl Of<T>, sizes: &[i64], dim: i64, parts: &mut [&mut impl Of<T>],
    ) = split_with_size(
        a, sizes, dim, &mut parts.iter_mut().map(|part| *part as &mut dyn Operand).collect::<Vec<_>>(),
    );

    /// The whole tensor several times, a number for each dimension of `out`.
    ///
    /// `out` shares no memory with `a`. Any element type.
    #[alias("aclnnRepeat", "tile")]
    #[refused = "when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[1, 2], [2])?;
let mut out = device.zeros([2, 4])?;
op::repeat(&stream, &a, &[2, 2], &mut out)?;
assert_eq!(out.to_vec()?, [1, 2, 1, 2, 1, 2, 1, 2]);"]
    fn repeat<T: Elements>(on; a: &impl Of<T>, repeats: &[i64], out: &mut impl Of<T>) = repeat(a, repeats, out);

    /// `a` broadcast to `shape`, whose elements of −1 keep the size.
    ///
    /// `out` has that shape and shares no memory with `a`. Any element type.
    #[alias("aclnnExpand", "broadcast_to")]
    #[refused = "when `a` cannot be broadcast or `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[1, 2], [2, 1])?;
let mut out = device.zeros([2, 3])?;
op::expand(&stream, &a, &[-1, 3], &mut out)?;
assert_eq!(out.to_vec()?, [1, 1, 1, 2, 2, 2]);"]
    fn expand<T: Elements>(on; a: &impl Of<T>, shape: &[i64], out: &mut impl Of<T>) = expand(a, shape, out);

    /// The elements of some dimensions backwards.
    ///
    /// Negative `dims` count from the end. `out` has the shape of `a` and shares no memory with it. Any element type.
    #[alias("aclnnFlip")]
    #[refused = "for a dimension that `a` does not have, or when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[1, 2, 3], [3])?;
let mut out = device.zeros([3])?;
op::flip(&stream, &a, &[0], &mut out)?;
assert_eq!(out.to_vec()?, [3, 2, 1]);"]
    fn flip<T: Elements>(on; a: &impl Of<T>, dims: &[i64], out: &mut impl Of<T>) = flip(a, dims, out);

    /// Elements moved on along `dims` by `shifts`; what leaves at the end comes in at the start.
    ///
    /// Without `dims`, all elements in a row are. `out` has the shape of `a` and shares no memory with it. Any
    /// element type.
    #[alias("aclnnRoll")]
    #[refused = "for a dimension that `a` does not have, or when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[1, 2, 3], [3])?;
let mut out = device.zeros([3])?;
op::roll(&stream, &a, &[1], &[0], &mut out)?;
assert_eq!(out.to_vec()?, [3, 1, 2]);"]
    fn roll<T: Elements>(
        on; a: &impl Of<T>, shifts: &[i64], dims: &[i64], out: &mut impl Of<T>,
    ) = roll(a, shifts, dims, out);

    /// Borders of `value`: numbers of elements before and after the last dimension, then the one before it, and so
    /// on.
    ///
    /// Negative numbers cut elements off. `out` shares no memory with `a`. Any element type.
    #[alias("aclnnConstantPadNd")]
    #[refused = "when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[1, 2], [2])?;
let mut out = device.zeros([5])?;
op::pad(&stream, &a, &[1, 2], 9, &mut out)?;
assert_eq!(out.to_vec()?, [9, 1, 2, 9, 9]);"]
    fn pad<T: Elements>(
        on; a: &impl Of<T>, borders: &[i64], value: T::Number, out: &mut impl Of<T>,
    ) [value = T::scalar(value, on, a)?] = constant_pad_nd(a, borders, value, out);

    /// The elements on and below a diagonal of matrices, zeros elsewhere; 0 is the main diagonal, greater numbers are
    /// right of it.
    ///
    /// The dimensions before the last two are batches. `out` has the shape of `a`. Any element type.
    #[alias("aclnnTril")]
    #[refused = "when `a` is no matrix or `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[1, 2, 3, 4], [2, 2])?;
let mut out = device.zeros([2, 2])?;
op::tril(&stream, &a, 0, &mut out)?;
assert_eq!(out.to_vec()?, [1, 0, 3, 4]);"]
    fn tril<T: Elements>(on; a: &impl Of<T>, diagonal: i64, out: &mut impl Of<T>) = tril(a, diagonal, out);

    /// The elements on and above a diagonal of matrices, zeros elsewhere; 0 is the main diagonal, greater numbers are
    /// right of it.
    ///
    /// The dimensions before the last two are batches. `out` has the shape of `a`. Any element type.
    #[alias("aclnnTriu")]
    #[refused = "when `a` is no matrix or `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[1, 2, 3, 4], [2, 2])?;
let mut out = device.zeros([2, 2])?;
op::triu(&stream, &a, 0, &mut out)?;
assert_eq!(out.to_vec()?, [1, 2, 0, 4]);"]
    fn triu<T: Elements>(on; a: &impl Of<T>, diagonal: i64, out: &mut impl Of<T>) = triu(a, diagonal, out);

    /// Each element `repeats` times, in one dimension.
    ///
    /// `out` shares no memory with `a`. Any element type.
    #[alias("aclnnRepeatInterleaveInt")]
    #[refused = "when `out` has another number of elements"]
    #[example = "\
let a = device.upload_tensor(&[1, 2], [2])?;
let mut out = device.zeros([4])?;
op::repeat_interleave(&stream, &a, 2, &mut out)?;
assert_eq!(out.to_vec()?, [1, 1, 2, 2]);"]
    fn repeat_interleave<T: Elements>(
        on; a: &impl Of<T>, repeats: i64, out: &mut impl Of<T>,
    ) [
        all = told(on, a, [("output_size", Sizes::Times(repeats))])?,
        on = &all.0
    ] = repeat_interleave_int(a, repeats, all.1[0], out);

    /// Borders that mirror the last dimension without repeating the edge: numbers of elements before and after.
    ///
    /// Each is less than its dimension. `out` shares no memory with `a`. Types: f32, f16 and bf16.
    #[alias("aclnnReflectionPad1d")]
    #[refused = "when the borders or the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0], [1, 3])?;
let mut out = device.zeros([1, 6])?;
op::reflection_pad1d(&stream, &a, [2, 1], &mut out)?;
assert_eq!(out.to_vec()?, [3.0, 2.0, 1.0, 2.0, 3.0, 2.0]);"]
    fn reflection_pad1d<T: Floats>(
        on; a: &impl Of<T>, borders: [i64; 2], out: &mut impl Of<T>,
    ) = reflection_pad1d(a, &borders, out);

    /// Borders that mirror the last two dimensions without repeating the edge: numbers of elements left, right, above
    /// and below.
    ///
    /// Each is less than its dimension. `out` shares no memory with `a`. Types: f32, f16 and bf16.
    #[alias("aclnnReflectionPad2d")]
    #[refused = "when the borders or the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [1, 2, 2])?;
let mut out = device.zeros([1, 2, 3])?;
op::reflection_pad2d(&stream, &a, [1, 0, 0, 0], &mut out)?;
assert_eq!(out.to_vec()?, [2.0, 1.0, 2.0, 4.0, 3.0, 4.0]);"]
    fn reflection_pad2d<T: Floats>(
        on; a: &impl Of<T>, borders: [i64; 4], out: &mut impl Of<T>,
    ) = reflection_pad2d(a, &borders, out);
}
