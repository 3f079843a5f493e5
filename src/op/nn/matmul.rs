//! Matrix products.

use crate::error::Result;
use crate::op::{Floats, Of, On, aclnn};

/// How the cube cores may compute (`cubeMathType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[doc(alias = "cubeMathType")]
pub enum CubeMath {
    /// In the type of the operands.
    #[default]
    KeepType,
    /// 32-bit floats may be computed with less precision where the chip has no full one.
    AllowLessPrecision,
    /// In 16-bit floats.
    UseF16,
    /// 32-bit floats with a shortened mantissa (HF32).
    UseHf32,
}

impl CubeMath {
    pub(crate) fn raw(self) -> i8 {
        match self {
            Self::KeepType => 0,
            Self::AllowLessPrecision => 1,
            Self::UseF16 => 2,
            Self::UseHf32 => 3,
        }
    }
}

/// Matrix product with the rules of numpy's `matmul`: vectors, matrices and batches of matrices.
///
/// `[…, m, k] · […, k, n] = […, m, n]`: the dimensions before the last two are broadcast. A vector `a` of shape `[k]`
/// is a row, a vector `b` a column, and the result lacks that dimension. Operands may be transposed views. `out`
/// shares no memory with them. Types: f32, f16 and bf16.
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
/// let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let mut out = device.zeros([2, 2])?;
/// op::matmul(&stream, &a, &a.transposed(0, 1)?, &mut out)?;
/// assert_eq!(out.to_vec()?, [5.0, 11.0, 11.0, 25.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnMatmul")]
#[track_caller]
pub fn matmul<T: Floats>(on: &impl On<T>, a: &impl Of<T>, b: &impl Of<T>, out: &mut impl Of<T>) -> Result<()> {
    matmul_with(on, a, b, out, CubeMath::default())
}

/// [`matmul`] with a choice of precision.
///
/// Shapes, types and memory as for [`matmul`].
///
/// # Errors
///
/// As [`matmul`].
///
/// # Examples
///
/// ```
/// use racl::op::{self, CubeMath};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let row = device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3])?;
/// let column = device.upload_tensor(&[4.0, 5.0, 6.0], [3])?;
/// let mut dot = device.zeros([])?;
/// op::matmul_with(&stream, &row, &column, &mut dot, CubeMath::AllowLessPrecision)?;
/// assert_eq!(dot.to_vec()?, [32.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnMatmul")]
#[track_caller]
pub fn matmul_with<T: Floats>(
    on: &impl On<T>,
    a: &impl Of<T>,
    b: &impl Of<T>,
    out: &mut impl Of<T>,
    math: CubeMath,
) -> Result<()> {
    aclnn::matmul(on, a, b, out, math.raw())
}

/// Product of two matrices: `[m, k] · [k, n] = [m, n]`.
///
/// Operands may be transposed views. `out` shares no memory with them. Types: f32, f16 and bf16.
///
/// # Errors
///
/// As [`matmul`]; [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) for operands that are no
/// matrices too.
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[1.0_f32, 2.0], [1, 2])?;
/// let b = device.upload_tensor(&[3.0, 4.0, 5.0, 6.0], [2, 2])?;
/// let mut out = device.zeros([1, 2])?;
/// op::mm(&stream, &a, &b, &mut out)?;
/// assert_eq!(out.to_vec()?, [13.0, 16.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnMm")]
#[track_caller]
pub fn mm<T: Floats>(on: &impl On<T>, a: &impl Of<T>, b: &impl Of<T>, out: &mut impl Of<T>) -> Result<()> {
    aclnn::mm(on, a, b, out, CubeMath::default().raw())
}

/// Products of batches of matrices: `[b, m, k] · [b, k, n] = [b, m, n]`.
///
/// A batch of one matrix is used for all. Operands may be transposed views. `out` shares no memory with them. Types:
/// f32, f16 and bf16.
///
/// # Errors
///
/// As [`matmul`]; [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) for operands without three
/// dimensions too.
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 1, 2])?;
/// let b = device.upload_tensor(&[1.0, 1.0, 10.0, 1.0], [2, 2, 1])?;
/// let mut out = device.zeros([2, 1, 1])?;
/// op::batch_matmul(&stream, &a, &b, &mut out)?;
/// assert_eq!(out.to_vec()?, [3.0, 34.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnBatchMatMul")]
#[track_caller]
pub fn batch_matmul<T: Floats>(on: &impl On<T>, a: &impl Of<T>, b: &impl Of<T>, out: &mut impl Of<T>) -> Result<()> {
    aclnn::batch_mat_mul(on, a, b, out, CubeMath::default().raw())
}

/// `out = bias + a · b`: the linear layer.
///
/// `[m, k] · [k, n] = [m, n]`; `bias` is broadcast to the shape of the product. `a` and `b` may be transposed views.
/// `out` shares no memory with the operands. Types: f32, f16 and bf16.
///
/// # Errors
///
/// As [`mm`]; [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) too when `bias` cannot be
/// broadcast.
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let weights = device.upload_tensor(&[1.0_f32, 0.0, 2.0, 1.0], [2, 2])?; // [outputs, inputs]
/// let bias = device.upload_tensor(&[100.0, 200.0], [2])?;
/// let x = device.upload_tensor(&[3.0, 4.0], [1, 2])?;
/// let mut out = device.zeros([1, 2])?;
/// op::addmm(&stream, &bias, &x, &weights.transposed(0, 1)?, &mut out)?;
/// assert_eq!(out.to_vec()?, [103.0, 210.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclnnAddmm")]
#[doc(alias = "linear")]
#[track_caller]
pub fn addmm<T: Floats>(
    on: &impl On<T>,
    bias: &impl Of<T>,
    a: &impl Of<T>,
    b: &impl Of<T>,
    out: &mut impl Of<T>,
) -> Result<()> {
    let one = T::one(on, a)?;
    aclnn::addmm(on, bias, a, b, one, one, out, CubeMath::default().raw())
}
