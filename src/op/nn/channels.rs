//! Norms of channels, and the loss of classes.

use crate::error::Result;
use crate::op::operand::{Sizes, optional};
use crate::op::typed::told;
use crate::op::{Floats, Indices, Of, On, aclnn};

/// What [`group_norm`] gives.
#[derive(Debug)]
pub struct GroupNorm<'a, T: Floats> {
    /// As the operand.
    pub out: &'a mut T::Out,
    /// The mean of each group: `[n, groups]`.
    pub mean: &'a mut T::Out,
    /// `1 / √(variance + eps)` of each group: `[n, groups]`.
    pub scale: &'a mut T::Out,
}

/// Group normalisation: the channels of `[n, c, …]` in `groups` of neighbours, each with mean 0 and variance 1.
///
/// `weight` and `bias` have one number a channel; without them they count as 1 and 0. The results share no memory with
/// the operands. Types: f32, f16 and bf16.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) for fewer than two dimensions, when `groups` does
/// not divide the channels, or the shapes do not fit; those of [every operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::op::{self, GroupNorm};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[1.0_f32, 3.0, 10.0, 30.0], [1, 4, 1])?;
/// let (mut out, mut mean, mut scale) = (device.zeros([1, 4, 1])?, device.zeros([1, 2])?, device.zeros([1, 2])?);
/// let results = GroupNorm { out: &mut out, mean: &mut mean, scale: &mut scale };
/// op::group_norm(&stream, &a, 2, None, None, 0.0, results)?;
/// assert_eq!((out.to_vec()?, mean.to_vec()?), (vec![-1.0, 1.0, -1.0, 1.0], vec![2.0, 20.0]));
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnGroupNorm")]
#[track_caller]
pub fn group_norm<T: Floats>(
    on: &impl On<T>,
    a: &impl Of<T>,
    groups: i64,
    weight: Option<&T::Operand>,
    bias: Option<&T::Operand>,
    eps: f64,
    results: GroupNorm<'_, T>,
) -> Result<()> {
    // What is missing is the operator's to judge, and to refuse with its name and line.
    let sizes = [("n", Sizes::Of(0)), ("c", Sizes::Of(1)), ("hx_w", Sizes::From(2))];
    let (on, [n, c, rest]) = told(on, a, sizes)?;
    let GroupNorm { out, mean, scale } = results;
    aclnn::group_norm(&on, a, optional(weight), optional(bias), n, c, rest, groups, eps, out, mean, scale)
}

/// What is known of the channels that [`batch_norm`] gets.
#[derive(Debug)]
pub struct BatchNorm<'a, T: Floats> {
    /// Factor of each channel; 1 without it.
    pub weight: Option<&'a T::Operand>,
    /// Summand of each channel; 0 without it.
    pub bias: Option<&'a T::Operand>,
    /// Mean of each channel.
    pub mean: &'a mut T::Operand,
    /// Variance of each channel.
    pub variance: &'a mut T::Operand,
    /// Added to the variance, so that a constant channel does not divide by zero.
    pub eps: f64,
}

/// Batch normalisation in inference, with known statistics: `(a − mean) / √(variance + eps) · weight + bias` for each
/// channel of `[n, c, …]`.
///
/// `saved` are two tensors of one number a channel, which training writes; here their content is undefined. `out` has
/// the shape of `a` and shares no memory with the operands. Types: f32, f16 and bf16.
///
/// # Errors
///
/// [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) when the shapes do not fit; those of [every
/// operator](crate::op#errors).
///
/// # Examples
///
/// ```
/// use racl::op::{self, BatchNorm};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[3.0_f32, 5.0], [1, 1, 2, 1])?;
/// let (mut mean, mut variance) = (device.upload_tensor(&[1.0], [1])?, device.upload_tensor(&[4.0], [1])?);
/// let channels = BatchNorm { weight: None, bias: None, mean: &mut mean, variance: &mut variance, eps: 0.0 };
/// let (mut out, mut s0, mut s1) = (device.zeros([1, 1, 2, 1])?, device.zeros([1])?, device.zeros([1])?);
/// op::batch_norm(&stream, &a, channels, &mut out, [&mut s0, &mut s1])?;
/// assert_eq!(out.to_vec()?, [1.0, 2.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnBatchNorm")]
#[track_caller]
pub fn batch_norm<T: Floats>(
    on: &impl On<T>,
    a: &impl Of<T>,
    channels: BatchNorm<'_, T>,
    out: &mut impl Of<T>,
    saved: [&mut impl Of<T>; 2],
) -> Result<()> {
    let BatchNorm { weight, bias, mean, variance, eps } = channels;
    let [first, second] = saved;
    let (weight, bias) = (optional(weight), optional(bias));
    aclnn::batch_norm(on, a, weight, bias, Some(mean), Some(variance), false, 0.0, eps, out, first, second)
}

/// Cross-entropy of rows of logits `[n, classes]` with the class of each row, as the mean over the rows.
///
/// `target` is `[n]`; a row whose class is `ignore` does not count. `loss` has one element, `log_prob` the shape of the
/// logits: their [`log_softmax`](crate::op::log_softmax()). A class out of range is a fault of the device, which a
/// later wait reports as [`ErrorKind::DeviceFault`](crate::ErrorKind::DeviceFault), [where it is
/// noticed](crate::op#indices). Types: f32, f16 and bf16, classes i64.
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
/// let logits = device.upload_tensor(&[0.0_f32, 0.0, 7.0, -100.0], [2, 2])?;
/// let classes = device.upload_tensor(&[1_i64, -100], [2])?;
/// let (mut loss, mut log_prob) = (device.zeros([1])?, device.zeros([2, 2])?);
/// op::cross_entropy(&stream, &logits, &classes, -100, &mut loss, &mut log_prob)?;
/// assert!((loss.to_vec()?[0] - 2_f32.ln()).abs() < 1e-6);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnCrossEntropyLoss")]
#[track_caller]
pub fn cross_entropy<T: Floats, I: Indices>(
    on: &impl On<T>,
    logits: &impl Of<T>,
    target: &impl Of<I>,
    ignore: i64,
    loss: &mut impl Of<T>,
    log_prob: &mut impl Of<T>,
) -> Result<()> {
    let mean = Some("mean");
    aclnn::cross_entropy_loss(on, logits, target, None, mean, ignore, 0.0, 0.0, false, loss, log_prob, None, None)
}
