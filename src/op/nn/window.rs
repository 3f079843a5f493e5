//! Windows over images and signals: convolution, pooling, patches, resampling.

use crate::error::Result;
use crate::op::nn::wrapped::wrapped;
use crate::op::operand::optional;
use crate::op::{CubeMath, Floats, Of, aclnn};

/// How a window moves over an image or a signal, a number for each of its dimensions.
///
/// # Examples
///
/// ```
/// use racl::op::Window;
///
/// let halves = Window { stride: [2, 2], ..Window::default() };
/// assert_eq!((halves.padding, halves.dilation), ([0, 0], [1, 1]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window<const N: usize> {
    /// Elements from one window to the next.
    pub stride: [i64; N],
    /// Elements beside the image on each side: zeros, and nothing for a maximum.
    pub padding: [i64; N],
    /// Elements from one number of a kernel to the next.
    pub dilation: [i64; N],
}

impl<const N: usize> Default for Window<N> {
    /// Every place, without padding.
    fn default() -> Self {
        Self { stride: [1; N], padding: [0; N], dilation: [1; N] }
    }
}

wrapped! {
    /// Convolution of signals: `[n, c, l]` with kernels `[k, c / groups, w]` gives `[n, k, l']`.
    ///
    /// `bias` has one number for each kernel. `out` shares no memory with the operands. Types: f32, f16 and bf16.
    #[alias("aclnnConvolution")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [1, 1, 4])?;
let kernel = device.upload_tensor(&[1.0, -1.0], [1, 1, 2])?;
let mut out = device.zeros([1, 1, 3])?;
op::conv1d(&stream, &a, &kernel, None, op::Window::default(), 1, &mut out)?;
assert_eq!(out.to_vec()?, [-1.0; 3]);"]
    fn conv1d<T: Floats>(
        on; a: &impl Of<T>,
        kernel: &impl Of<T>,
        bias: Option<&T::Operand>,
        window: Window<1>,
        groups: i64,
        out: &mut impl Of<T>,
    ) = convolution(
        a, kernel, optional(bias), &window.stride, &window.padding, &window.dilation, false, &[0], groups, out,
        CubeMath::KeepType.raw(),
    );

    /// Convolution of images: `[n, c, h, w]` with kernels `[k, c / groups, y, x]` gives `[n, k, h', w']`.
    ///
    /// `bias` has one number for each kernel. `out` shares no memory with the operands. Types: f32, f16 and bf16.
    #[alias("aclnnConvolution")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
use racl::op::Window;
let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [1, 1, 2, 2])?;
let kernel = device.upload_tensor(&[1.0; 9], [1, 1, 3, 3])?;
let mut out = device.zeros([1, 1, 2, 2])?;
op::conv2d(&stream, &a, &kernel, None, Window { padding: [1, 1], ..Window::default() }, 1, &mut out)?;
assert_eq!(out.to_vec()?, [10.0; 4]);"]
    fn conv2d<T: Floats>(
        on; a: &impl Of<T>,
        kernel: &impl Of<T>,
        bias: Option<&T::Operand>,
        window: Window<2>,
        groups: i64,
        out: &mut impl Of<T>,
    ) = convolution(
        a, kernel, optional(bias), &window.stride, &window.padding, &window.dilation, false, &[0, 0], groups, out,
        CubeMath::KeepType.raw(),
    );

    /// The windows of images as columns: `[n, c, h, w]` gives `[n, c · y · x, windows]`.
    ///
    /// `out` shares no memory with `a`. Types: f32, f16 and bf16.
    #[alias("aclnnIm2col", "unfold")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [1, 1, 2, 2])?;
let mut out = device.zeros([1, 2, 2])?;
op::im2col(&stream, &a, [2, 1], op::Window::default(), &mut out)?;
assert_eq!(out.to_vec()?, [1.0, 2.0, 3.0, 4.0]);"]
    fn im2col<T: Floats>(
        on; a: &impl Of<T>, kernel: [i64; 2], window: Window<2>, out: &mut impl Of<T>,
    ) = im2col(a, &kernel, &window.dilation, &window.padding, &window.stride, out);

    /// The greatest number of each window of `[n, c, h, w]`, and its place in its image, counted from 0.
    ///
    /// The dilation is 1. The results share no memory with `a`. Types: f32.
    #[alias("aclnnMaxPool2dWithIndices")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
use racl::op::Window;
let a = device.upload_tensor(&[1.0_f32, 2.0, 4.0, 3.0], [1, 1, 2, 2])?;
let (mut out, mut at) = (device.zeros([1, 1, 1, 1])?, device.zeros([1, 1, 1, 1])?);
op::max_pool2d(&stream, &a, [2, 2], Window::default(), &mut out, &mut at)?;
assert_eq!((out.to_vec()?, at.to_vec()?), (vec![4.0], vec![2]));"]
    fn max_pool2d<T: Floats>(
        on; a: &impl Of<T>, kernel: [i64; 2], window: Window<2>, out: &mut impl Of<T>, indices: &mut impl Of<T::As<i32>>,
    ) = max_pool2d_with_indices(
        a, &kernel, &window.stride, &window.padding, &window.dilation, false, out, indices,
    );

    /// The mean of each window of `[n, c, h, w]`; with `count_padding`, the zeros beside the image count too.
    ///
    /// The dilation of `window` is not used. `out` shares no memory with `a`. Types: f32, f16 and bf16.
    #[alias("aclnnAvgPool2d")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 2.0, 4.0, 3.0], [1, 1, 2, 2])?;
let mut out = device.zeros([1, 1, 1, 1])?;
op::avg_pool2d(&stream, &a, [2, 2], op::Window::default(), true, &mut out)?;
assert_eq!(out.to_vec()?, [2.5]);"]
    fn avg_pool2d<T: Floats>(
        on; a: &impl Of<T>, kernel: [i64; 2], window: Window<2>, count_padding: bool, out: &mut impl Of<T>,
    ) = avg_pool2d(
        a, &kernel, &window.stride, &window.padding, false, count_padding, 0, CubeMath::KeepType.raw(), out,
    );

    /// Images of another size, from the nearest element each: `[n, c, h, w]` gives `[n, c, size]`.
    ///
    /// `out` shares no memory with `a`. Types: f32, f16 and bf16.
    #[alias("aclnnUpsampleNearest2d")]
    #[refused = "when `out` has another shape"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 2.0], [1, 1, 1, 2])?;
let mut out = device.zeros([1, 1, 1, 4])?;
op::upsample_nearest2d(&stream, &a, [1, 4], &mut out)?;
assert_eq!(out.to_vec()?, [1.0, 1.0, 2.0, 2.0]);"]
    fn upsample_nearest2d<T: Floats>(
        on; a: &impl Of<T>, size: [i64; 2], out: &mut impl Of<T>,
    ) = upsample_nearest2d(a, &size, out);
}
