//! The order in which a reduction visits its operand: by memory, not by index.
//!
//! Sums of floats depend on it, so it is that of the mock: dimensions are sorted by their strides and those that
//! continue each other are merged.

use crate::op::MAX_RANK;

/// A walk over `N` operands of one shape, row by row.
#[derive(Debug)]
pub(super) struct Walk<const N: usize> {
    /// Elements of the row.
    pub(super) n: usize,
    /// Element at which the row of each operand starts.
    pub(super) at: [usize; N],
    pub(super) step: [usize; N],
    outer: Vec<Dimension<N>>,
    index: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Dimension<const N: usize> {
    size: usize,
    strides: [usize; N],
}

impl<const N: usize> Walk<N> {
    /// None for a shape without elements.
    pub(super) fn new(dims: &[usize], strides: [[usize; MAX_RANK]; N]) -> Option<Self> {
        if dims.contains(&0) {
            return None;
        }
        let all = dims.iter().enumerate().filter(|(_, size)| **size != 1);
        let all = all.map(|(i, size)| Dimension { size: *size, strides: strides.map(|strides| strides[i]) });
        let mut outer = merged(sorted(all.collect()));
        let row = outer.pop().unwrap_or(Dimension { size: 1, strides: [1; N] });
        let index = vec![0; outer.len()];
        Some(Self { n: row.size, at: [0; N], step: row.strides, outer, index })
    }

    /// Goes to the next row; false after the last one.
    pub(super) fn advance(&mut self) -> bool {
        for (index, dimension) in self.index.iter_mut().zip(&self.outer).rev() {
            *index += 1;
            if *index < dimension.size {
                for (at, stride) in self.at.iter_mut().zip(dimension.strides) {
                    *at += stride;
                }
                return true;
            }
            *index = 0;
            for (at, stride) in self.at.iter_mut().zip(dimension.strides) {
                *at -= stride * (dimension.size - 1);
            }
        }
        false
    }
}

/// The largest strides of the first operand first; dimensions that repeat it stay where they are.
fn sorted<const N: usize>(mut dims: Vec<Dimension<N>>) -> Vec<Dimension<N>> {
    for i in 1..dims.len() {
        for j in (1..=i).rev() {
            let (outer, inner) = (dims[j - 1].strides[0], dims[j].strides[0]);
            if outer >= inner || outer == 0 {
                break;
            }
            dims.swap(j - 1, j);
        }
    }
    dims
}

fn merged<const N: usize>(dims: Vec<Dimension<N>>) -> Vec<Dimension<N>> {
    let mut all: Vec<Dimension<N>> = Vec::with_capacity(dims.len());
    for dim in dims {
        match all.last_mut() {
            Some(last) if last.strides == dim.strides.map(|stride| stride * dim.size) => {
                *last = Dimension { size: last.size * dim.size, strides: dim.strides };
            }
            _ => all.push(dim),
        }
    }
    all
}
