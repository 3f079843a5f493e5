//! Tensors: shaped views of device memory.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use acl_sys::{aclFormat, aclTensor};

use super::element::Element;
use super::owned::owned;
use super::shape::{IntoShape, MAX_RANK, Shape};
use crate::call::pointer;
use crate::context::{Context, ContextInner};
use crate::error::{Error, Result};
use crate::memory::{Allocation, DeviceBuffer};

/// A shaped, possibly strided view of device memory. Clones and views share the memory and keep it alive.
///
/// # Examples
///
/// ```
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let tensor = device.upload_tensor(&[1, 2, 3, 4, 5, 6], [2, 3])?;
/// assert_eq!(tensor.transposed(0, 1)?.to_vec()?, [1, 4, 2, 5, 3, 6]);
/// assert_eq!(tensor.narrow(1, 1..3)?.to_vec()?, [2, 3, 5, 6]);
/// # Ok::<(), racl::Error>(())
/// ```
pub struct Tensor<T: Element> {
    buffer: DeviceBuffer<T>,
    shape: Shape,
    strides: [usize; MAX_RANK],
    /// First element, from the start of the buffer.
    offset: usize,
}

impl Context {
    /// A tensor with a copy of `data`. Blocks until it is there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when `data` does not fill the shape; the errors
    /// of [`Context::upload`].
    pub fn upload_tensor<T: Element>(&self, data: &[T], shape: impl IntoShape) -> Result<Tensor<T>> {
        let shape = shape.into_shape()?;
        if shape.elements() != data.len() {
            return Err(Error::invalid(format!("{} elements for a tensor of shape {shape}", data.len())));
        }
        Tensor::over(self.upload(data)?, shape)
    }

    /// A tensor of zeros. Blocks until they are there.
    ///
    /// # Errors
    ///
    /// As [`Context::alloc_zeroed`](crate::Context::alloc_zeroed).
    pub fn zeros<T: Element>(&self, shape: impl IntoShape) -> Result<Tensor<T>> {
        let shape = shape.into_shape()?;
        Tensor::over(self.alloc_zeroed(shape.elements())?, shape)
    }

    /// A tensor with undefined content, for an operator to fill.
    ///
    /// # Errors
    ///
    /// As [`Context::alloc`](crate::Context::alloc).
    pub fn empty<T: Element>(&self, shape: impl IntoShape) -> Result<Tensor<T>> {
        let shape = shape.into_shape()?;
        Tensor::over(self.alloc(shape.elements())?, shape)
    }
}

impl<T: Element> Tensor<T> {
    /// A dense tensor over the start of `buffer`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when the buffer is smaller than the shape.
    pub fn over(buffer: DeviceBuffer<T>, shape: impl IntoShape) -> Result<Self> {
        let shape = shape.into_shape()?;
        if shape.elements() > buffer.len() {
            return Err(Error::invalid(format!("a tensor of shape {shape} over {} elements", buffer.len())));
        }
        Ok(Self { buffer, strides: shape.dense_strides(), shape, offset: 0 })
    }

    /// Sizes of the dimensions.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shape.elements()
    }

    /// Whether a dimension is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the elements lie one after the other.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        self.strides == self.shape.dense_strides()
    }

    /// The context that the memory belongs to.
    #[must_use]
    pub fn context(&self) -> Context {
        self.buffer.context()
    }

    /// The same elements with dimensions `a` and `b` exchanged.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a dimension that the tensor does not have.
    pub fn transposed(&self, a: usize, b: usize) -> Result<Self> {
        self.check_dim(a)?;
        self.check_dim(b)?;
        let mut view = self.clone();
        view.shape = view.shape.swapped(a, b);
        view.strides.swap(a, b);
        Ok(view)
    }

    /// The same elements in another shape.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for another number of elements, or a tensor
    /// that is not dense.
    pub fn reshaped(&self, shape: impl IntoShape) -> Result<Self> {
        let shape = shape.into_shape()?;
        if shape.elements() != self.len() || !self.is_dense() {
            let dense = if self.is_dense() { "" } else { ", which is not dense" };
            return Err(Error::invalid(format!("shape {shape} for a tensor of shape {}{dense}", self.shape)));
        }
        Ok(Self { strides: shape.dense_strides(), shape, ..self.clone() })
    }

    /// A part of dimension `dim`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a dimension that the tensor does not have
    /// or a range outside it.
    pub fn narrow(&self, dim: usize, range: std::ops::Range<usize>) -> Result<Self> {
        self.check_dim(dim)?;
        if range.start > range.end || range.end > self.shape[dim] {
            return Err(Error::invalid(format!("{range:?} of dimension {dim} of the shape {}", self.shape)));
        }
        let mut view = self.clone();
        view.offset += range.start * self.strides[dim];
        view.shape = view.shape.resized(dim, range.len());
        Ok(view)
    }

    fn check_dim(&self, dim: usize) -> Result<()> {
        if dim < self.shape.rank() {
            return Ok(());
        }
        Err(Error::invalid(format!("dimension {dim} of a tensor of shape {}", self.shape)))
    }

    /// The elements in order. Waits for work that uses the memory, then for the copy.
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::read`].
    pub fn to_vec(&self) -> Result<Vec<T>> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let span = self.buffer.slice(self.offset..self.offset + self.span())?.to_vec()?;
        if self.is_dense() {
            return Ok(span);
        }
        let mut out = vec![T::zeroed(); self.len()];
        let mut index = [0; MAX_RANK];
        for element in &mut out {
            let place: usize = index.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum();
            *element = span[place];
            advance(&mut index, &self.shape);
        }
        Ok(out)
    }

    /// Copies `data` into the tensor, which is dense. Waits for work that uses the memory, then for the copy.
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::write`]; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a view with
    /// gaps.
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        if !self.is_dense() {
            return Err(Error::invalid("only a dense tensor can be written from the host"));
        }
        self.buffer.slice(self.offset..self.offset + self.len())?.write(data)
    }

    /// Elements from the first to the last one, gaps included.
    fn span(&self) -> usize {
        1 + self.shape.iter().zip(&self.strides).map(|(size, stride)| (size - 1) * stride).sum::<usize>()
    }

    /// The memory of the elements, for copies; only a dense tensor has one.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a view with gaps.
    pub fn buffer(&self) -> Result<DeviceBuffer<T>> {
        if !self.is_dense() {
            return Err(Error::invalid("a view with gaps has no buffer of its own"));
        }
        self.buffer.slice(self.offset..self.offset + self.len())
    }

    /// Device address of the first element. It must not be dereferenced on the host.
    #[must_use]
    pub fn address(&self) -> *mut c_void {
        self.buffer.address().wrapping_byte_add(self.offset * size_of::<T>())
    }

    pub(crate) fn allocation(&self) -> &Arc<Allocation> {
        self.buffer.allocation()
    }

    pub(crate) fn context_inner(&self) -> &Arc<ContextInner> {
        self.buffer.context_inner()
    }

    /// The C description of the tensor, for the first phase of an operator.
    pub(crate) fn describe(&self) -> Result<Descriptor<'_>> {
        let context = &**self.context_inner();
        let signed = |values: &[usize; MAX_RANK]| values.map(|value| value as i64);
        let (dims, strides) = (signed(self.shape.all()), signed(&self.strides));
        let rank = self.shape.rank() as u64;
        let storage = self.buffer.len() as i64;
        let (kind, format) = (T::TYPE.raw(), aclFormat::ACL_FORMAT_ND);
        let (dims, strides, offset) = (dims.as_ptr(), strides.as_ptr(), self.offset as i64);
        let data = self.buffer.address();
        // SAFETY: `dims` and `strides` have `rank` numbers each and `storage` is one; all are copied by the call. The
        // address is only stored.
        let raw = unsafe {
            pointer!(context, aclCreateTensor(dims, rank, kind, strides, offset, format, &raw const storage, 1, data))
        }?;
        Ok(Descriptor::own(raw, context))
    }
}

fn advance(index: &mut [usize; MAX_RANK], shape: &Shape) {
    for (i, size) in index.iter_mut().zip(shape.iter()).rev() {
        *i += 1;
        if *i < *size {
            return;
        }
        *i = 0;
    }
}

impl<T: Element> Clone for Tensor<T> {
    /// Another view of the same memory.
    fn clone(&self) -> Self {
        let buffer = self.buffer.share();
        Self { buffer, shape: self.shape, strides: self.strides, offset: self.offset }
    }
}

impl<T: Element> fmt::Debug for Tensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor")
            .field("type", &T::TYPE)
            .field("shape", &self.shape)
            .field("dense", &self.is_dense())
            .finish_non_exhaustive()
    }
}

owned! {
    /// The C description of a tensor. The operator library copies what it needs in its second phase.
    Descriptor, aclTensor, aclDestroyTensor
}
