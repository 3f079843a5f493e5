//! Tensors: shaped views of device memory.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use super::element::Element;
use super::shape::{IntoShape, MAX_RANK, Shape};
use super::view::{View, note_layout, note_plain};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::memory::{Allocation, SharedBuffer};

/// A shaped, possibly strided view of device memory. Clones and views share the memory and keep it alive, as those of a
/// [`SharedBuffer`] do: where an operator takes `&mut`, that says what it writes, not that nobody else has it.
///
/// Sizes, strides and offsets count elements. Making a view moves no data and does not wait. [`Tensor::to_vec`] and
/// [`Tensor::write`] block; [operators](crate::op) are queued on a stream.
///
/// C calls: `aclCreateTensor`, `aclDestroyTensor`, both made for each operator that the tensor is given to.
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
#[doc(alias = "aclCreateTensor")]
#[doc(alias = "aclDestroyTensor")]
#[doc(alias = "aclTensor")]
pub struct Tensor<T: Element> {
    buffer: SharedBuffer<T>,
    shape: Shape,
    strides: [usize; MAX_RANK],
    /// First element, from the start of the buffer.
    offset: usize,
}

impl Context {
    /// A dense tensor with a copy of `data`, which fills `shape` with the last dimension fastest. Blocks until the
    /// copy is there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when `data` does not fill the shape, or for
    /// a shape without elements; those of [`Context::upload`].
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let tensor = device.upload_tensor(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(**tensor.shape(), [2, 3]);
    /// assert_eq!(tensor.narrow(0, 1..2)?.to_vec()?, [4, 5, 6]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn upload_tensor<T: Element>(&self, data: &[T], shape: impl IntoShape) -> Result<Tensor<T>> {
        let shape = shape.into_shape()?;
        if shape.elements() != data.len() {
            return Err(Error::invalid(format!("{} elements for a tensor of shape {shape}", data.len())));
        }
        Tensor::over(self.upload(data)?, shape)
    }

    /// A dense tensor of zeros. Blocks until they are there.
    ///
    /// # Errors
    ///
    /// As [`Context::alloc_zeroed`](crate::Context::alloc_zeroed).
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let tensor = device.zeros::<f32>([2, 2])?;
    /// assert_eq!(tensor.to_vec()?, [0.0; 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn zeros<T: Element>(&self, shape: impl IntoShape) -> Result<Tensor<T>> {
        let shape = shape.into_shape()?;
        Tensor::over(self.alloc_zeroed(shape.elements())?, shape)
    }

    /// A dense tensor with undefined content, for an operator to fill. Does not wait for the device, except to free
    /// memory when it is short.
    ///
    /// # Errors
    ///
    /// As [`Context::alloc`](crate::Context::alloc).
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let mut tensor = device.empty::<i32>([2])?;
    /// op::fill(&device.stream()?, &mut tensor, 5)?;
    /// assert_eq!(tensor.to_vec()?, [5, 5]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn empty<T: Element>(&self, shape: impl IntoShape) -> Result<Tensor<T>> {
        let shape = shape.into_shape()?;
        Tensor::over(self.alloc(shape.elements())?, shape)
    }
}

impl<T: Element> Tensor<T> {
    /// A dense tensor over the start of `buffer`, a [`SharedBuffer`] or a [`DeviceBuffer`](crate::DeviceBuffer), whose
    /// memory it shares: a clone or a part of the buffer stays with the caller.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when the buffer is smaller than the shape.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::Tensor;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let memory = device.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0])?.into_shared();
    /// let matrix = Tensor::over(memory.slice(..4)?, [2, 2])?;
    /// let last = Tensor::over(memory.slice(4..)?, [])?; // no dimensions: one number
    /// assert_eq!(matrix.transposed(0, 1)?.to_vec()?, [1.0, 3.0, 2.0, 4.0]);
    /// assert_eq!(last.to_vec()?, [5.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn over(buffer: impl Into<SharedBuffer<T>>, shape: impl IntoShape) -> Result<Self> {
        let (buffer, shape) = (buffer.into(), shape.into_shape()?);
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

    /// The same elements with dimensions `a` and `b` exchanged, counted from 0. The view shares the memory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a dimension that the tensor does not
    /// have.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let matrix = device.upload_tensor(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// let columns = matrix.transposed(0, 1)?;
    /// assert_eq!(**columns.shape(), [3, 2]);
    /// assert_eq!(columns.to_vec()?, [1, 4, 2, 5, 3, 6]);
    /// assert!(!columns.is_dense());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn transposed(&self, a: usize, b: usize) -> Result<Self> {
        self.check_dim(a)?;
        self.check_dim(b)?;
        let mut view = self.clone();
        view.shape = view.shape.swapped(a, b);
        view.strides.swap(a, b);
        Ok(view)
    }

    /// The same elements, in the same order, in another shape. The view shares the memory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for another number of elements, or a tensor
    /// that is not dense.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let flat = device.upload_tensor(&[1, 2, 3, 4, 5, 6], [6])?;
    /// let rows = flat.reshaped([3, 2])?;
    /// assert_eq!(rows.narrow(1, 0..1)?.to_vec()?, [1, 3, 5]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn reshaped(&self, shape: impl IntoShape) -> Result<Self> {
        let shape = shape.into_shape()?;
        if shape.elements() != self.len() || !self.is_dense() {
            let dense = if self.is_dense() { "" } else { ", which is not dense" };
            return Err(Error::invalid(format!("shape {shape} for a tensor of shape {}{dense}", self.shape)));
        }
        Ok(Self { strides: shape.dense_strides(), shape, ..self.clone() })
    }

    /// The elements `range` of dimension `dim`; the other dimensions stay whole. The view shares the memory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a dimension that the tensor does not
    /// have or a range outside it.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let matrix = device.upload_tensor(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(matrix.narrow(0, 1..2)?.to_vec()?, [4, 5, 6]);
    /// assert_eq!(matrix.narrow(1, 1..3)?.to_vec()?, [2, 3, 5, 6]);
    /// # Ok::<(), racl::Error>(())
    /// ```
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

    /// The elements in order, the last dimension fastest. Blocks: waits for work that uses the memory, then for the
    /// copy. A view with gaps is copied from its first to its last element and gathered on the host.
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::read`](crate::DeviceBuffer::read).
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let matrix = device.upload_tensor(&[1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(matrix.transposed(0, 1)?.to_vec()?, [1, 3, 2, 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
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

    /// Copies `data` into the tensor, which is dense. Blocks: waits for work that uses the memory, then for the copy.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a view with gaps or another number of
    /// elements; those of [`DeviceBuffer::write`](crate::DeviceBuffer::write).
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let matrix = device.zeros([2, 2])?;
    /// matrix.narrow(0, 1..2)?.write(&[3, 4])?; // the second row
    /// assert_eq!(matrix.to_vec()?, [0, 0, 3, 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
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

    /// The memory of the elements, for copies; only a dense tensor has one. It shares the memory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a view with gaps.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let copies = device.stream()?;
    /// let input = device.zeros([2, 2])?;
    /// let lent = copies.upload(device.pinned_from(&[1, 2, 3, 4])?, &mut input.buffer()?)?;
    /// lent.wait()?;
    /// assert_eq!(input.to_vec()?, [1, 2, 3, 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn buffer(&self) -> Result<SharedBuffer<T>> {
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

    /// What operators are told of the tensor.
    #[inline]
    pub(crate) fn view(&self) -> View<'_> {
        View {
            allocation: self.buffer.allocation(),
            start: self.buffer.address(),
            len: self.buffer.len(),
            dtype: T::TYPE,
            dims: self.shape,
            strides: self.strides,
            offset: self.offset,
            form: None,
        }
    }

    /// As [`View::note`] of its view.
    #[inline]
    pub(super) fn note(&self, words: &mut Vec<u64>) {
        note_plain(words, T::TYPE, self.buffer.len(), self.offset);
        note_layout(words, &self.shape, &self.strides);
    }

    /// Where the buffer starts, which need not be where the first element is.
    #[inline]
    pub(super) fn storage(&self) -> *mut c_void {
        self.buffer.address()
    }

    /// A view of the memory whose elements are all inside.
    pub(super) fn with_layout(
        buffer: SharedBuffer<T>,
        shape: Shape,
        strides: [usize; MAX_RANK],
        offset: usize,
    ) -> Self {
        Self { buffer, shape, strides, offset }
    }
}

pub(super) fn advance(index: &mut [usize; MAX_RANK], shape: &Shape) {
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
        let buffer = self.buffer.clone();
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
