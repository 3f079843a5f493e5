//! Sums and means over dimensions, collected in f64 in the order of the operand's memory and rounded once.

use crate::op::MAX_RANK;

use super::math::sum;
use super::view::{HostLayout, HostView, rows, store};
use super::walk::Walk;

/// Numbers that are added up before they meet the other sums.
const CHUNK: usize = 512;

/// Over the dimensions of these bits, all of them when there is none.
pub(super) fn compute(a: &HostView<'_>, over: u8, mean: bool, out: &HostLayout) -> Vec<u8> {
    let dims = &*a.layout.dims;
    let gone = |dim: usize| over == 0 || over & (1 << dim) != 0;
    let part = |reduced: bool| -> Vec<usize> {
        dims.iter().enumerate().map(|(i, size)| if gone(i) == reduced { *size } else { 1 }).collect()
    };
    let (line, kept) = (part(true), part(false));
    let mut sums = if is_at_the_end(dims, gone) { lines(a, &line, &kept) } else { accumulators(a, &kept) };
    if mean {
        let count = line.iter().product::<usize>() as f64;
        sums.iter_mut().for_each(|sum| *sum /= count);
    }
    store(&sums, out.dtype)
}

/// Whether the reduced dimensions are the last ones, apart from those of one element.
fn is_at_the_end(dims: &[usize], gone: impl Fn(usize) -> bool) -> bool {
    let mut larger = (0..dims.len()).rev().filter(|dim| dims[*dim] != 1);
    larger.by_ref().find(|dim| !gone(*dim)).is_none_or(|_| larger.all(|dim| !gone(dim)))
}

/// Each sum is finished before the next.
fn lines(a: &HostView<'_>, line: &[usize], kept: &[usize]) -> Vec<f64> {
    let strides = &a.layout.strides;
    let (mut sums, mut buffer) = (Vec::new(), Vec::new());
    rows(kept, strides, |start, n, step| {
        for i in 0..n {
            let mut total = 0.0;
            each_row(Walk::new(line, [*strides]), |walk| {
                add_row(a, start + i * step + walk.at[0], walk.n, walk.step[0], &mut total, &mut buffer);
            });
            sums.push(total);
        }
    });
    sums
}

/// The operand is read once and the sums grow side by side.
fn accumulators(a: &HostView<'_>, kept: &[usize]) -> Vec<f64> {
    let mut sums = vec![0.0; kept.iter().product()];
    let mut spread = [0; MAX_RANK];
    let mut stride = 1;
    for (i, size) in kept.iter().enumerate().rev() {
        spread[i] = if *size == 1 { 0 } else { stride };
        stride *= size;
    }
    let mut buffer = Vec::new();
    each_row(Walk::new(&a.layout.dims, [a.layout.strides, spread]), |walk| {
        let ([from, to], [step, to_step]) = (walk.at, walk.step);
        if to_step == 0 {
            add_row(a, from, walk.n, step, &mut sums[to], &mut buffer);
            return;
        }
        buffer.clear();
        a.append_row::<f32>(from, walk.n, step, &mut buffer);
        for (i, number) in buffer.iter().enumerate() {
            sums[to + i * to_step] += f64::from(*number);
        }
    });
    sums
}

fn each_row<const N: usize>(walk: Option<Walk<N>>, mut row: impl FnMut(&Walk<N>)) {
    let Some(mut walk) = walk else { return };
    loop {
        row(&walk);
        if !walk.advance() {
            return;
        }
    }
}

fn add_row(a: &HostView<'_>, start: usize, n: usize, step: usize, total: &mut f64, buffer: &mut Vec<f32>) {
    buffer.clear();
    a.append_row(start, n, step, buffer);
    for chunk in buffer.chunks(CHUNK) {
        *total += sum(chunk, |number| number);
    }
}
