//! Tensors from and to other frameworks in the same process, without a copy: DLPack, which PyTorch, NumPy, JAX and
//! others share. Feature `dlpack`.
//!
//! A [`Managed`] tensor is memory of somebody and the way to end it. One that another framework gives comes with
//! [`Managed::from_raw`] and becomes a tensor of the device ([`Managed::into_tensor`]) or a slice of the host
//! ([`Managed::as_slice`]); what is here goes out by [`AnyTensor::to_dlpack`], [`Tensor::to_dlpack`] and
//! [`Managed::from_vec`], and [`Managed::into_raw`]. In Python the pointer travels in a capsule, which is called
//! `dltensor_versioned`, or `dltensor` for the structure before version 1 (the standard: Python specification for
//! DLPack).
//!
//! NPU memory is that of an "extension" device, as PyTorch calls the memory of torch_npu. DLPack has no stream for such
//! devices: [`to_dlpack`](AnyTensor::to_dlpack) waits until the work that uses the memory is done, and what the other
//! side queues is its own to order. The same holds the other way: wait for what the other framework has queued
//! (`torch.npu.synchronize()`), or make the streams wait for each other by events, before its memory is used here.
//!
//! # Examples
//!
//! ```
//! use racl::dlpack::Managed;
//!
//! let device = racl::Acl::mock()?.device(0)?;
//! let tensor = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
//! let pointer = tensor.transposed(0, 1)?.to_dlpack()?.into_raw(); // another framework takes it
//! // SAFETY: the pointer is that of a tensor that nobody else has.
//! let managed = unsafe { Managed::from_raw(pointer) }?;
//! let again = managed.into_tensor(&device)?.typed::<f32>()?;
//! assert_eq!(again.to_vec()?, [1.0, 3.0, 2.0, 4.0]);
//! assert_eq!(again.address(), tensor.address()); // the same memory
//! # Ok::<(), racl::Error>(())
//! ```

mod abi;
mod export;
mod import;
mod types;

pub use abi::{DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor};

use std::fmt;
use std::ptr::NonNull;

use crate::error::{Error, ErrorKind, Result};
use crate::lock::theirs;

#[cfg(doc)]
use crate::op::{AnyTensor, tensor::Tensor};

/// The version of the structures.
const MAJOR: u32 = 1;

/// More than any framework has: 64 are the most of NumPy and of PyTorch.
const MOST_DIMENSIONS: i32 = 64;

/// A tensor of DLPack and the right to end it: its memory stays as long as this value. Any thread may drop it.
pub struct Managed(Raw);

enum Raw {
    Versioned(NonNull<DLManagedTensorVersioned>),
    /// As it was before version 1.
    Unversioned(NonNull<DLManagedTensor>),
}

// SAFETY: whoever made the value with `from_raw` promised that its deleter may be called on any thread; the structure
// is read alone.
unsafe impl Send for Managed {}
// SAFETY: shared access only reads the structure, which nobody writes.
unsafe impl Sync for Managed {}

impl Managed {
    /// Takes over a tensor that another framework made: from a capsule called `dltensor_versioned`, which is then to be
    /// called `used_dltensor_versioned`.
    ///
    /// # Safety
    ///
    /// 1. `raw` is null or points to a structure that its framework filled, and that nobody else ends or changes.
    /// 2. Its deleter may be called on any thread.
    /// 3. Its numbers say what is there: so many elements of that type. Nobody writes memory of the host while
    ///    [`as_slice`](Self::as_slice) or [`to_vec`](Self::to_vec) reads it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`] for null; [`ErrorKind::NotSupported`] for another major version than 1, whose tensor
    /// is ended, as the standard asks; [`ErrorKind::InvalidArgument`] for a structure that cannot be (a number of dimensions
    /// below 0 or above 64, sizes that are missing or negative), which is ended too.
    pub unsafe fn from_raw(raw: *mut DLManagedTensorVersioned) -> Result<Self> {
        let raw = NonNull::new(raw).ok_or_else(null)?;
        // SAFETY: the caller's promise; the first fields are the same in every version.
        let version = unsafe { (*raw.as_ptr()).version };
        let managed = Self(Raw::Versioned(raw));
        if version.major != MAJOR {
            let text = format!("a tensor of DLPack {}.{}, and this is {MAJOR}", version.major, version.minor);
            return Err(Error::new(ErrorKind::NotSupported, text));
        }
        managed.checked()
    }

    /// Takes over a tensor in the structure before version 1: from a capsule called `dltensor`, which is then to be
    /// called `used_dltensor`.
    ///
    /// # Safety
    ///
    /// As [`from_raw`](Self::from_raw).
    ///
    /// # Errors
    ///
    /// As [`from_raw`](Self::from_raw), but for the version.
    pub unsafe fn from_raw_unversioned(raw: *mut DLManagedTensor) -> Result<Self> {
        Self(Raw::Unversioned(NonNull::new(raw).ok_or_else(null)?)).checked()
    }

    fn checked(self) -> Result<Self> {
        let tensor = self.tensor();
        // Before any of the sizes is read.
        if tensor.ndim > MOST_DIMENSIONS {
            return Err(Error::invalid(format!("a tensor of DLPack with {} dimensions", tensor.ndim)));
        }
        if tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape.is_null()) {
            return Err(Error::invalid(format!("a tensor of DLPack with {} dimensions and no sizes", tensor.ndim)));
        }
        if self.shape().iter().any(|size| *size < 0) {
            return Err(Error::invalid(format!("a tensor of DLPack with the sizes {:?}", self.shape())));
        }
        Ok(self)
    }

    fn tensor(&self) -> &DLTensor {
        match self.0 {
            // SAFETY: the structure lives until this value ends it, and nobody changes it.
            Raw::Versioned(raw) => unsafe { &(*raw.as_ptr()).dl_tensor },
            // SAFETY: as above.
            Raw::Unversioned(raw) => unsafe { &(*raw.as_ptr()).dl_tensor },
        }
    }

    /// Where the memory is.
    #[must_use]
    pub fn device(&self) -> DLDevice {
        self.tensor().device
    }

    /// Type of the elements.
    #[must_use]
    pub fn dtype(&self) -> DLDataType {
        self.tensor().dtype
    }

    /// Sizes of the dimensions.
    #[must_use]
    pub fn shape(&self) -> &[i64] {
        let tensor = self.tensor();
        // SAFETY: there are as many sizes as dimensions, which is checked to be none or a positive number.
        unsafe { numbers(tensor.shape, tensor.ndim) }
    }

    /// Strides of the dimensions, in elements; nothing for a dense tensor in row order that does not say them.
    #[must_use]
    pub fn strides(&self) -> Option<&[i64]> {
        let tensor = self.tensor();
        let told = !tensor.strides.is_null();
        // SAFETY: where there are strides, there are as many as dimensions.
        told.then(|| unsafe { numbers(tensor.strides, tensor.ndim) })
    }

    /// Whether the memory must not be written. The structure before version 1 does not say.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        match self.0 {
            // SAFETY: the structure lives until this value ends it.
            Raw::Versioned(raw) => unsafe { (*raw.as_ptr()).flags & DLManagedTensorVersioned::READ_ONLY != 0 },
            Raw::Unversioned(_) => false,
        }
    }
}

fn null() -> Error {
    Error::new(ErrorKind::InvalidHandle, "a null tensor of DLPack")
}

/// # Safety
///
/// `count` is not positive, or there are so many numbers, which live as long as what the result is bound to.
unsafe fn numbers<'a>(first: *const i64, count: i32) -> &'a [i64] {
    match usize::try_from(count) {
        // SAFETY: the caller's promise.
        Ok(count) if count > 0 => unsafe { std::slice::from_raw_parts(first, count) },
        _ => &[],
    }
}

impl Drop for Managed {
    fn drop(&mut self) {
        match self.0 {
            Raw::Versioned(raw) => {
                // SAFETY: the structure is this value's to end, once; the deleter is its framework's.
                let deleter = unsafe { (*raw.as_ptr()).deleter };
                if let Some(deleter) = deleter {
                    // SAFETY: as above.
                    theirs(|| unsafe { deleter(raw.as_ptr()) });
                }
            }
            Raw::Unversioned(raw) => {
                // SAFETY: as above.
                let deleter = unsafe { (*raw.as_ptr()).deleter };
                if let Some(deleter) = deleter {
                    // SAFETY: as above.
                    theirs(|| unsafe { deleter(raw.as_ptr()) });
                }
            }
        }
    }
}

impl fmt::Debug for Managed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Managed")
            .field("device", &self.device())
            .field("dtype", &self.dtype())
            .field("shape", &self.shape())
            .field("strides", &self.strides())
            .finish_non_exhaustive()
    }
}
