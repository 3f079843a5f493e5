//! Matrix products in f32.

use super::view::{HostLayout, HostView, store};

/// Steps whose products are added up before they meet the other sums.
const BLOCK: usize = 256;

/// Steps and columns.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    k: usize,
    n: usize,
}

pub(super) fn matmul(a: &HostView<'_>, b: &HostView<'_>, out: &HostLayout) -> Vec<u8> {
    store(&multiply(a, b, out), out.dtype)
}

/// `beta · bias + alpha · a · b`; with `beta` 0, and what libraries of CANN take for it, the bias is not read.
pub(super) fn added(operands: &[HostView<'_>], (beta, alpha): (f32, f32), out: &HostLayout) -> Vec<u8> {
    let mut product = multiply(&operands[1], &operands[2], out);
    product.iter_mut().for_each(|product| *product *= alpha);
    if beta.abs() > f32::EPSILON {
        let bias: Vec<f32> = operands[0].read(&out.dims);
        product.iter_mut().zip(&bias).for_each(|(product, bias)| *product += beta * bias);
    }
    store(&product, out.dtype)
}

/// A vector is one row on the left and one column on the right.
fn multiply(a: &HostView<'_>, b: &HostView<'_>, out: &HostLayout) -> Vec<f32> {
    let (dims_a, dims_b) = (&*a.layout.dims, &*b.layout.dims);
    let (left, right): (Vec<f32>, Vec<f32>) = (a.read(dims_a), b.read(dims_b));
    let (batch_a, rest_a) = dims_a.split_at(dims_a.len().saturating_sub(2));
    let (batch_b, rest_b) = dims_b.split_at(dims_b.len().saturating_sub(2));
    let (m, k) = if let [m, k] = rest_a { (*m, *k) } else { (1, rest_a[0]) };
    let n = if let [_, n] = rest_b { *n } else { 1 };
    let sizes = Sizes { k, n };
    let batch = &out.dims[..batch_a.len().max(batch_b.len())];
    let mut product = vec![0.0; out.dims.elements()];
    if product.is_empty() || k == 0 {
        return product;
    }
    for (index, to) in product.chunks_exact_mut(m * n).enumerate() {
        let left = &left[matrix_at(index, batch, batch_a) * m * k..][..m * k];
        let right = &right[matrix_at(index, batch, batch_b) * k * n..][..k * n];
        multiply_matrices(sizes, left, right, to);
    }
    product
}

/// The matrix of a dense operand with dimensions `own` that belongs to matrix `index` of a result with `batch`.
fn matrix_at(mut index: usize, batch: &[usize], own: &[usize]) -> usize {
    let (mut at, mut stride) = (0, 1);
    for (size, own) in batch.iter().rev().zip(own.iter().rev()) {
        if *own != 1 {
            at += index % size * stride;
        }
        index /= size;
        stride *= own;
    }
    at
}

/// Processors with fused multiplication and addition round each step once, as the mock does there.
fn multiply_matrices(sizes: Sizes, a: &[f32], b: &[f32], out: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { fused(sizes, a, b, out) };
    }
    in_blocks(sizes, a, b, out, |x, y, sum| sum + x * y);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fused(sizes: Sizes, a: &[f32], b: &[f32], out: &mut [f32]) {
    in_blocks(sizes, a, b, out, f32::mul_add);
}

/// Inlined, so that it is compiled for the processor of its caller.
#[inline(always)]
fn in_blocks(sizes: Sizes, a: &[f32], b: &[f32], out: &mut [f32], step: impl Fn(f32, f32, f32) -> f32) {
    let Sizes { k, n, .. } = sizes;
    let mut sums = vec![0.0_f32; n];
    for (a, out) in a.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
        for (block, (a, b)) in a.chunks(BLOCK).zip(b.chunks(BLOCK * n)).enumerate() {
            sums.fill(0.0);
            for (x, b) in a.iter().zip(b.chunks_exact(n)) {
                for (sum, y) in sums.iter_mut().zip(b) {
                    *sum = step(*x, *y, *sum);
                }
            }
            if block == 0 {
                out.copy_from_slice(&sums);
            } else {
                out.iter_mut().zip(&sums).for_each(|(out, sum)| *out += sum);
            }
        }
    }
}
