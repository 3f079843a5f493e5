//! Products with vectors, of batches onto something, with small weights, and their inverse.

use crate::error::Result;
use crate::op::nn::wrapped::wrapped;
use crate::op::{CubeMath, Floats, Of, aclnn};

wrapped! {
    /// Product of a matrix and a vector: `[m, n] · [n] = [m]`.
    ///
    /// `a` may be a transposed view. `out` shares no memory with the operands. Types: f32, f16 and bf16.
    #[alias("aclnnMv")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
let x = device.upload_tensor(&[1.0, 10.0], [2])?;
let mut out = device.zeros([2])?;
op::mv(&stream, &a, &x, &mut out)?;
assert_eq!(out.to_vec()?, [21.0, 43.0]);"]
    fn mv<T: Floats>(
        on; a: &impl Of<T>, x: &impl Of<T>, out: &mut impl Of<T>,
    ) = mv(a, x, out, CubeMath::KeepType.raw());

    /// Scalar product of two vectors: `[n] · [n] = []`.
    ///
    /// `out` has no dimensions and shares no memory with the operands. Types: f32, f16 and bf16.
    #[alias("aclnnDot")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 2.0], [2])?;
let b = device.upload_tensor(&[3.0, 4.0], [2])?;
let mut out = device.zeros([])?;
op::dot(&stream, &a, &b, &mut out)?;
assert_eq!(out.to_vec()?, [11.0]);"]
    fn dot<T: Floats>(on; a: &impl Of<T>, b: &impl Of<T>, out: &mut impl Of<T>) = dot(a, b, out);

    /// `out = beta · bias + alpha · a · b` over batches of matrices: `[b, m, k] · [b, k, n] = [b, m, n]`.
    ///
    /// `bias` is broadcast to the shape of the product; with `beta` 0 it is not read. `a` and `b` may be transposed
    /// views. `out` shares no memory with the operands. Types: f32, f16 and bf16.
    #[alias("aclnnBaddbmm")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[1.0_f32, 2.0], [1, 1, 2])?;
let b = device.upload_tensor(&[3.0, 4.0], [1, 2, 1])?;
let bias = device.upload_tensor(&[100.0], [1, 1, 1])?;
let mut out = device.zeros([1, 1, 1])?;
op::baddbmm(&stream, &bias, &a, &b, 0.5, 2.0, &mut out)?;
assert_eq!(out.to_vec()?, [72.0]);"]
    fn baddbmm<T: Floats>(
        on; bias: &impl Of<T>, a: &impl Of<T>, b: &impl Of<T>, beta: f32, alpha: f32, out: &mut impl Of<T>,
    ) = baddbmm(bias, a, b, beta, alpha, out, CubeMath::KeepType.raw());

    /// Solves `a · x = b` for triangular matrices `a`: `[…, n, n] · […, n, k] = […, n, k]`.
    ///
    /// `upper` tells which triangle of `a` is read, `transpose` solves with the transposed matrix, and with `unit`
    /// the diagonal counts as ones. The first result becomes `x`, the second one a copy of `a`. They share no memory
    /// with the operands. Types: f32.
    #[alias("aclnnTriangularSolve")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
let a = device.upload_tensor(&[2.0_f32, 0.0, 1.0, 4.0], [2, 2])?;
let b = device.upload_tensor(&[2.0, 9.0], [2, 1])?;
let (mut x, mut m) = (device.zeros([2, 1])?, device.zeros([2, 2])?);
op::triangular_solve(&stream, &a, &b, false, false, false, (&mut x, &mut m))?;
assert_eq!(x.to_vec()?, [1.0, 2.0]);"]
    fn triangular_solve<T: Floats>(
        on; a: &impl Of<T>,
        b: &impl Of<T>,
        upper: bool,
        transpose: bool,
        unit: bool,
        results: (&mut impl Of<T>, &mut impl Of<T>),
    ) = triangular_solve(b, a, upper, transpose, unit, results.0, results.1);

    /// Product with 8-bit weights: `out = a · (weight · scale)`, `[m, k] · [k, n] = [m, n]`.
    ///
    /// `scale` is `[n]` or `[1, n]` with `group` 0, one number a column, or `[k / group, n]`: one for each `group`
    /// rows of a column. `weight` may be a transposed view. `out` shares no memory with the operands. Weights of four
    /// bits and offsets: [`aclnn::weight_quant_batch_matmul_v2`](crate::op::aclnn::weight_quant_batch_matmul_v2).
    /// Types: f16 and bf16.
    #[alias("aclnnWeightQuantBatchMatmulV2")]
    #[refused = "when the shapes do not fit"]
    #[example = "\
use racl::half::f16;
let half = |values: &[f32]| values.iter().map(|v| f16::from_f32(*v)).collect::<Vec<_>>();
let a = device.upload_tensor(&half(&[1.0, 2.0]), [1, 2])?;
let weight = device.upload_tensor(&[10_i8, 20, 30, 40], [2, 2])?;
let scale = device.upload_tensor(&half(&[0.5, 0.25]), [2])?;
let mut out = device.zeros([1, 2])?;
op::weight_quant_matmul(&stream, &a, &weight, &scale, 0, &mut out)?;
assert_eq!(out.to_vec()?, half(&[35.0, 25.0]));"]
    fn weight_quant_matmul<T: Floats>(
        on; a: &impl Of<T>, weight: &impl Of<T::As<i8>>, scale: &impl Of<T>, group: i32, out: &mut impl Of<T>,
    ) = weight_quant_batch_matmul_v2(a, weight, scale, None, None, None, None, group, out);
}
