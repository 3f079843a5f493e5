//! Softmax and layer norm: lines of f32.

use super::math::{exp, maximum, sum};
use super::view::{HostLayout, HostView, store};

/// Numbers whose exponentials are added up in f32 before they meet the other sums.
const BLOCK: usize = 64;

pub(super) fn softmax(a: &HostView<'_>, dim: usize, out: &HostLayout) -> Vec<u8> {
    let mut numbers: Vec<f32> = a.read(&out.dims);
    let (n, inner) = (out.dims[dim], out.dims[dim + 1..].iter().product::<usize>());
    let mut line = Vec::with_capacity(n);
    for first in (0..numbers.len()).filter(|i| i / inner % n == 0) {
        line.clear();
        line.extend(numbers[first..].iter().step_by(inner).take(n));
        softmax_line(&mut line);
        for (to, number) in numbers[first..].iter_mut().step_by(inner).zip(&line) {
            *to = *number;
        }
    }
    store(&numbers, out.dtype)
}

fn softmax_line(line: &mut [f32]) {
    let most = line.iter().copied().reduce(|most, x| maximum(x, most)).unwrap_or_default();
    let mut total = 0.0;
    for block in line.chunks_mut(BLOCK) {
        let mut parts = [0.0_f32; 4];
        for (i, x) in block.iter_mut().enumerate() {
            *x = exp(*x - most);
            parts[i % 4] += *x;
        }
        let [a, b, c, d] = parts.map(f64::from);
        total += (a + b) + (c + d);
    }
    let factor = (1.0 / total) as f32;
    line.iter_mut().for_each(|x| *x *= factor);
}

pub(super) fn layer_norm(operands: &[HostView<'_>], eps: f64, out: &HostLayout) -> Vec<u8> {
    let mut numbers: Vec<f32> = operands[0].read(&out.dims);
    let line = &*operands[1].layout.dims;
    let (weight, bias): (Vec<f32>, Vec<f32>) = (operands[1].read(line), operands[2].read(line));
    let n = weight.len() as f64;
    for x in numbers.chunks_exact_mut(weight.len().max(1)) {
        let mean = sum(x, |x| x) / n;
        let inverse = 1.0 / (sum(x, |x| (x - mean) * (x - mean)) / n + eps).sqrt();
        let (centre, scale) = (mean as f32, inverse as f32);
        for ((x, weight), bias) in x.iter_mut().zip(&weight).zip(&bias) {
            *x = (*x - centre) * scale * weight + bias;
        }
    }
    store(&numbers, out.dtype)
}
