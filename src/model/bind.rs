//! What the inputs and outputs of a run are given as.

use std::ffi::c_void;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::memory::{Allocation, DeviceRead, DeviceWrite};
use crate::op::{DataType, Element, Tensor};

mod sealed {
    pub trait Sealed {}
    impl<M: crate::memory::DeviceRead> Sealed for M {}
    impl<T: crate::op::Element> Sealed for crate::op::Tensor<T> {}
    impl Sealed for &str {}
    impl Sealed for usize {}
}

/// Device memory that a run of a model reads: a [`Tensor`] without gaps, or any memory of elements, such as a
/// [`DeviceBuffer`](crate::DeviceBuffer) or a part of one.
pub trait ModelInput: sealed::Sealed {
    #[doc(hidden)]
    fn bound(&self) -> Result<Bound>;
}

/// Device memory that a run of a model writes: a [`Tensor`] without gaps, or any memory of elements that can be
/// written.
pub trait ModelOutput: sealed::Sealed {
    #[doc(hidden)]
    fn bound_mut(&mut self) -> Result<Bound>;
}

/// Which input or output: its name, or its number in the order of the model.
pub trait ModelKey: sealed::Sealed {
    #[doc(hidden)]
    fn find(&self, names: &[&str]) -> Option<usize>;

    #[doc(hidden)]
    fn describe(&self) -> String;
}

impl ModelKey for &str {
    fn find(&self, names: &[&str]) -> Option<usize> {
        names.iter().position(|name| name == self)
    }

    fn describe(&self) -> String {
        format!("{self:?}")
    }
}

impl ModelKey for usize {
    fn find(&self, names: &[&str]) -> Option<usize> {
        (*self < names.len()).then_some(*self)
    }

    fn describe(&self) -> String {
        format!("number {self}")
    }
}

/// Memory for an input or an output.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Bound {
    pub(super) allocation: Arc<Allocation>,
    /// Bytes before it in the allocation.
    offset: usize,
    pub(super) bytes: usize,
    /// None for bytes that stand for any type.
    pub(super) data_type: Option<DataType>,
    pub(super) shape: Option<Vec<usize>>,
}

impl Bound {
    pub(super) fn of_memory<M: DeviceRead>(memory: &M, data_type: Option<DataType>) -> Self {
        let slice = memory.as_slice();
        let allocation = Arc::clone(slice.allocation());
        let offset = slice.address().addr() - allocation.address().addr();
        Self { allocation, offset, bytes: slice.size_bytes(), data_type, shape: None }
    }

    pub(super) fn address(&self) -> *mut c_void {
        self.allocation.address().wrapping_byte_add(self.offset)
    }

    /// Whether both have a byte.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self.offset, other.offset);
        Arc::ptr_eq(&self.allocation, &other.allocation) && a < b + other.bytes && b < a + self.bytes
    }
}

impl<M: DeviceRead<Element: Element>> ModelInput for M {
    fn bound(&self) -> Result<Bound> {
        Ok(Bound::of_memory(self, Some(M::Element::TYPE)))
    }
}

impl<T: Element> ModelInput for Tensor<T> {
    fn bound(&self) -> Result<Bound> {
        let buffer = self.buffer().map_err(|_| {
            Error::invalid("a view with gaps, where a model takes memory without: copy it into a tensor of its own")
        })?;
        let shape = Some(self.shape().to_vec());
        Ok(Bound { shape, ..Bound::of_memory(&buffer, Some(T::TYPE)) })
    }
}

impl<M: DeviceWrite<Element: Element>> ModelOutput for M {
    fn bound_mut(&mut self) -> Result<Bound> {
        self.bound()
    }
}

impl<T: Element> ModelOutput for Tensor<T> {
    fn bound_mut(&mut self) -> Result<Bound> {
        self.bound()
    }
}
