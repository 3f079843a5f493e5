//! Views of host memory. Nothing is asked of its alignment.

use bytemuck::pod_read_unaligned;

use crate::op::{DataType, MAX_RANK, Shape};
use crate::plan::recipe::element::{Class, Stored, with_type};

/// How elements lie in a storage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostLayout {
    pub(crate) dtype: DataType,
    pub(crate) dims: Shape,
    /// In elements.
    pub(crate) strides: [usize; MAX_RANK],
    /// Bytes from the start of the storage.
    pub(crate) offset: usize,
}

/// Elements of a storage on the host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostView<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) layout: HostLayout,
}

#[cfg(test)]
/// Elements of a storage on the host, to write.
#[derive(Debug)]
pub(crate) struct HostViewMut<'a> {
    pub(crate) bytes: &'a mut [u8],
    pub(crate) layout: HostLayout,
}

impl HostLayout {
    /// Whether all elements lie in so many bytes.
    pub(super) fn check(&self, bytes: usize) -> Result<(), String> {
        let last =
            self.dims.iter().zip(&self.strides).try_fold(0_usize, |last, (size, stride)| {
                last.checked_add(size.saturating_sub(1).checked_mul(*stride)?)
            });
        let end = last.and_then(|last| last.checked_add(1)?.checked_mul(self.dtype.size())?.checked_add(self.offset));
        if self.dims.elements() == 0 || end.is_some_and(|end| end <= bytes) {
            return Ok(());
        }
        Err(format!("elements of shape {} end beyond their {bytes} bytes", self.dims))
    }

    /// The strides for a walk over `dims`, to which the view is broadcast.
    pub(super) fn strides_for(&self, dims: &[usize]) -> [usize; MAX_RANK] {
        let mut strides = [0; MAX_RANK];
        let own = self.dims.iter().zip(&self.strides).rev();
        for (to, (size, stride)) in strides[..dims.len()].iter_mut().rev().zip(own) {
            *to = if *size == 1 { 0 } else { *stride };
        }
        strides
    }

    #[cfg(test)]
    /// Writes dense elements, in the order of the dimensions, to their places.
    pub(crate) fn write(&self, elements: &[u8], storage: &mut [u8]) -> Result<(), String> {
        self.check(storage.len())?;
        let size = self.dtype.size();
        debug_assert_eq!(elements.len(), self.dims.elements() * size);
        let mut from = elements.chunks_exact(size);
        rows(&self.dims, &self.strides, |start, n, step| {
            for (i, element) in from.by_ref().take(n).enumerate() {
                let at = self.offset + (start + i * step) * size;
                storage[at..at + size].copy_from_slice(element);
            }
        });
        Ok(())
    }
}

impl HostView<'_> {
    /// The numbers in the order of `dims`, to which the view is broadcast.
    pub(super) fn read<C: Class>(&self, dims: &[usize]) -> Vec<C> {
        let strides = self.layout.strides_for(dims);
        let mut numbers = Vec::with_capacity(dims.iter().product());
        rows(dims, &strides, |start, n, step| self.append_row(start, n, step, &mut numbers));
        numbers
    }

    /// Appends `n` numbers that lie `step` elements apart; `start` counts elements from the first one.
    pub(super) fn append_row<C: Class>(&self, start: usize, n: usize, step: usize, to: &mut Vec<C>) {
        with_type!(self.layout.dtype, S => {
            to.extend((0..n).map(|i| C::load(self.element::<S>(start + i * step))));
        });
    }

    fn element<S: Stored>(&self, at: usize) -> S {
        let first = self.layout.offset + at * size_of::<S>();
        pod_read_unaligned(&self.bytes[first..first + size_of::<S>()])
    }

    /// The elements as they are, in the order of `dims`, to which the view is broadcast.
    pub(super) fn elements(&self, dims: &[usize]) -> Vec<u8> {
        let (size, strides) = (self.layout.dtype.size(), self.layout.strides_for(dims));
        let mut elements = Vec::with_capacity(dims.iter().product::<usize>() * size);
        rows(dims, &strides, |start, n, step| {
            for i in 0..n {
                let at = self.layout.offset + (start + i * step) * size;
                elements.extend_from_slice(&self.bytes[at..at + size]);
            }
        });
        elements
    }
}

/// Numbers as dense elements.
pub(super) fn store<C: Class>(numbers: &[C], dtype: DataType) -> Vec<u8> {
    let mut elements = Vec::with_capacity(numbers.len() * dtype.size());
    with_type!(dtype, S => {
        for number in numbers {
            let element: S = number.store();
            elements.extend_from_slice(bytemuck::bytes_of(&element));
        }
    });
    elements
}

/// Start, length and step of each row, the last dimension, in the order of the dimensions.
pub(super) fn rows(dims: &[usize], strides: &[usize], mut row: impl FnMut(usize, usize, usize)) {
    if dims.contains(&0) {
        return;
    }
    let Some((&n, outer)) = dims.split_last() else { return row(0, 1, 0) };
    let (mut index, mut start) = ([0; MAX_RANK], 0);
    loop {
        row(start, n, strides[outer.len()]);
        let mut dim = outer.len();
        loop {
            if dim == 0 {
                return;
            }
            dim -= 1;
            index[dim] += 1;
            start += strides[dim];
            if index[dim] < outer[dim] {
                break;
            }
            start -= strides[dim] * outer[dim];
            index[dim] = 0;
        }
    }
}
