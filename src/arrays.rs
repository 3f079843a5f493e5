//! Tensors from and to arrays of the crate ndarray. Feature `ndarray`.

use std::borrow::Cow;

use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};

use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::op::tensor::Tensor;
use crate::op::{Element, Shape};

impl Context {
    /// A dense tensor with a copy of an array or of a view of one, whose last dimension is the fastest whatever the
    /// array's layout. An array in that layout is copied from where it is; any other is put in order on the host first.
    /// Blocks until the copy is there. Feature `ndarray`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for an array without elements, or with more dimensions than a [`Shape`] has;
    /// [`ErrorKind::OutOfMemory`] where the host has no room to put it in order; those of [`Context::upload`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::ndarray::array;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let rows = array![[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    /// let columns = device.context().upload_array(&rows.t())?; // a view
    /// assert_eq!(**columns.shape(), [3, 2]);
    /// assert_eq!(columns.to_vec()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn upload_array<T, S, D>(&self, array: &ArrayBase<S, D>) -> Result<Tensor<T>>
    where
        T: Element,
        S: Data<Elem = T>,
        D: Dimension,
    {
        let shape = Shape::new(array.shape())?;
        let elements = elements(array)?;
        self.upload_tensor(&elements, shape)
    }
}

impl Device {
    /// [`Context::upload_array`] of the primary context.
    ///
    /// # Errors
    ///
    /// As [`Context::upload_array`].
    #[track_caller]
    pub fn upload_array<T, S, D>(&self, array: &ArrayBase<S, D>) -> Result<Tensor<T>>
    where
        T: Element,
        S: Data<Elem = T>,
        D: Dimension,
    {
        self.context().upload_array(array)
    }
}

impl<T: Element> Tensor<T> {
    /// The elements as an array of the same shape, whose last dimension is the fastest;
    /// `into_dimensionality::<ndarray::Ix2>()` makes it one of a matrix. Blocks, as [`Tensor::to_vec`] does. Feature
    /// `ndarray`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::to_vec`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::ndarray::{Ix2, array};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let tensor = device.upload_tensor(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// let array = tensor.transposed(0, 1)?.to_array()?;
    /// assert_eq!(array, array![[1, 4], [2, 5], [3, 6]].into_dyn());
    /// assert_eq!(array.into_dimensionality::<Ix2>().unwrap().row(1).to_vec(), [2, 5]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn to_array(&self) -> Result<ArrayD<T>> {
        let elements = self.to_vec()?;
        ArrayD::from_shape_vec(IxDyn(self.shape()), elements)
            .map_err(|error| Error::invalid(format!("a tensor of shape {} as an array: {error}", self.shape())))
    }

    /// Copies an array or a view of one into the tensor, which is dense and has the same shape: nothing is broadcast.
    /// Blocks, as [`Tensor::write`] does. Feature `ndarray`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for an array of another shape; [`ErrorKind::OutOfMemory`] where the host has no
    /// room to put it in order; those of [`Tensor::write`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::ndarray::{Array, array};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let mut tensor = device.zeros::<i32>([2, 2])?;
    /// tensor.write_array(&array![[1, 2], [3, 4]].t())?;
    /// assert_eq!(tensor.to_vec()?, [1, 3, 2, 4]);
    /// assert!(tensor.write_array(&Array::<i32, _>::zeros(2)).is_err());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn write_array<S, D>(&mut self, array: &ArrayBase<S, D>) -> Result<()>
    where
        S: Data<Elem = T>,
        D: Dimension,
    {
        if array.shape() != &self.shape()[..] {
            let text = format!("an array of shape {:?} for a tensor of shape {}", array.shape(), self.shape());
            return Err(Error::invalid(text));
        }
        self.write(&elements(array)?)
    }
}

/// The elements of an array, the last dimension fastest: those that it has in that order, or a copy.
fn elements<T: Element, S: Data<Elem = T>, D: Dimension>(array: &ArrayBase<S, D>) -> Result<Cow<'_, [T]>> {
    if let Some(elements) = array.as_slice() {
        return Ok(Cow::Borrowed(elements));
    }
    let mut copy = Vec::new();
    // A view that repeats elements may have far more than there is memory for.
    copy.try_reserve_exact(array.len()).map_err(|error| {
        let text = format!("memory of the host for {} elements of an array in order", array.len());
        Error::new(ErrorKind::OutOfMemory, text).with_source(error)
    })?;
    copy.extend(array.iter().copied());
    Ok(Cow::Owned(copy))
}
