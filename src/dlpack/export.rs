//! Tensors that go to other frameworks.

use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

use super::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor, MAJOR, Managed, Raw,
    types,
};
use crate::allocation::Allocation;
use crate::error::{Error, Refused, Result};
use crate::lock::{Lock, caught, say};
use crate::op::tensor::Tensor;
use crate::op::{AnyTensor, Element, ElementType, IntoShape, Shape};

/// What a structure points to, and what keeps the memory.
struct Kept {
    shape: Box<[i64]>,
    strides: Box<[i64]>,
    #[expect(dead_code, reason = "it is dropped")]
    owner: Box<dyn Any + Send>,
}

/// The memory of tensors of a device that were made here, which these keep, by what their structures point to: DLPack
/// tells the number of a device, and not which library it is of, nor what work uses the memory.
static HOMES: Lock<BTreeMap<usize, Weak<Allocation>>> = Lock::new(BTreeMap::new());

/// Where the memory of a tensor is, and what it holds.
struct About {
    /// Of memory that is known here.
    home: Option<Arc<Allocation>>,
    data: *mut c_void,
    device: DLDevice,
    dtype: DLDataType,
    byte_offset: u64,
    flags: u64,
}

/// As the library's own numbers are: none is beyond 63 bits.
fn signed(numbers: &[usize]) -> Box<[i64]> {
    numbers.iter().map(|number| i64::try_from(*number).unwrap_or(i64::MAX)).collect()
}

impl About {
    /// A tensor for others; its numbers live in what its context points to.
    fn tensor(&self, kept: &mut Kept) -> DLTensor {
        DLTensor {
            data: self.data,
            device: self.device,
            ndim: kept.shape.len() as i32,
            dtype: self.dtype,
            shape: kept.shape.as_mut_ptr(),
            strides: kept.strides.as_mut_ptr(),
            byte_offset: self.byte_offset,
        }
    }

    /// What a structure points to, which [`end`] takes back.
    fn leak(&self, kept: Box<Kept>) -> *mut c_void {
        let raw: *mut c_void = Box::into_raw(kept).cast();
        if let Some(home) = &self.home {
            HOMES.lock().insert(raw.addr(), Arc::downgrade(home));
        }
        raw
    }

    fn versioned(&self, kept: Kept) -> NonNull<DLManagedTensorVersioned> {
        let mut kept = Box::new(kept);
        let dl_tensor = self.tensor(&mut kept);
        NonNull::from(Box::leak(Box::new(DLManagedTensorVersioned {
            version: DLPackVersion { major: MAJOR, minor: 0 },
            manager_ctx: self.leak(kept),
            deleter: Some(end_versioned),
            flags: self.flags,
            dl_tensor,
        })))
    }

    fn unversioned(&self, kept: Kept) -> NonNull<DLManagedTensor> {
        let mut kept = Box::new(kept);
        let dl_tensor = self.tensor(&mut kept);
        let manager_ctx = self.leak(kept);
        NonNull::from(Box::leak(Box::new(DLManagedTensor { dl_tensor, manager_ctx, deleter: Some(end_unversioned) })))
    }
}

unsafe extern "C" fn end_versioned(raw: *mut DLManagedTensorVersioned) {
    // SAFETY: whoever has such a tensor ends it once; it was boxed by `About::versioned`.
    let tensor = unsafe { Box::from_raw(raw) };
    // SAFETY: the context was boxed with it.
    unsafe { end(tensor.manager_ctx) }
}

unsafe extern "C" fn end_unversioned(raw: *mut DLManagedTensor) {
    // SAFETY: as above, by `About::unversioned`.
    let tensor = unsafe { Box::from_raw(raw) };
    // SAFETY: the context was boxed with it.
    unsafe { end(tensor.manager_ctx) }
}

/// Gives the memory up. What panics then may not pass code of another language.
///
/// # Safety
///
/// The context of a tensor that was made here, which nobody uses any more.
unsafe fn end(context: *mut c_void) {
    let home = HOMES.lock().remove(&context.addr());
    // SAFETY: the caller's promise.
    let kept = unsafe { Box::from_raw(context.cast::<Kept>()) };
    if caught(|| drop((kept, home))).is_none() {
        say!(Error, "what kept the memory of a DLPack tensor panicked when it was dropped");
    }
}

impl Managed {
    /// The elements of a vector, which fills `shape` with the last dimension fastest, in memory of the host: for NumPy
    /// and the like.
    ///
    /// # Errors
    ///
    /// The vector and [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when it does not fill the shape.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::dlpack::{DLDevice, Managed};
    ///
    /// let managed = Managed::from_vec(vec![1_i32, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!((managed.shape(), managed.device().device_type), (&[2, 3][..], DLDevice::CPU));
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn from_vec<T: Element>(vector: Vec<T>, shape: impl IntoShape) -> Result<Self, Refused<Vec<T>>> {
        let checked = shape.into_shape().and_then(|shape| match shape.elements() == vector.len() {
            true => Ok((shape, types::to_dlpack(T::TYPE.into())?)),
            false => Err(Error::invalid(format!("{} elements for a tensor of shape {shape}", vector.len()))),
        });
        let (shape, dtype) = match checked {
            Ok(checked) => checked,
            Err(error) => return Err(Refused::new(vector, error)),
        };
        let mut vector = vector;
        let device = DLDevice { device_type: DLDevice::CPU, device_id: 0 };
        let about = About { home: None, data: vector.as_mut_ptr().cast(), device, dtype, byte_offset: 0, flags: 0 };
        let strides = signed(&dense(&shape));
        let kept = Kept { shape: signed(&shape), strides, owner: Box::new(vector) };
        Ok(Self(Raw::Versioned(about.versioned(kept))))
    }

    /// The structure for another framework, which ends it with its deleter: for a capsule called `dltensor_versioned`.
    #[must_use = "nobody ends the tensor otherwise"]
    pub fn into_raw(self) -> *mut DLManagedTensorVersioned {
        match self.0 {
            Raw::Versioned(raw) => {
                let _kept = ManuallyDrop::new(self);
                raw.as_ptr()
            }
            Raw::Unversioned(_) => self.wrapped(About::versioned).as_ptr(),
        }
    }

    /// The same in the structure before version 1: for a capsule called `dltensor`. It cannot say that the memory is
    /// [read only](Self::is_read_only).
    #[must_use = "nobody ends the tensor otherwise"]
    pub fn into_raw_unversioned(self) -> *mut DLManagedTensor {
        match self.0 {
            Raw::Unversioned(raw) => {
                let _kept = ManuallyDrop::new(self);
                raw.as_ptr()
            }
            Raw::Versioned(_) => self.wrapped(About::unversioned).as_ptr(),
        }
    }

    /// What the memory is a part of, of a tensor that was made here and keeps it.
    pub(super) fn home(&self) -> Option<Arc<Allocation>> {
        let context = match self.0 {
            // SAFETY: the structure lives until this value ends it.
            Raw::Versioned(raw) => unsafe { (*raw.as_ptr()).manager_ctx },
            // SAFETY: as above.
            Raw::Unversioned(raw) => unsafe { (*raw.as_ptr()).manager_ctx },
        };
        let home = HOMES.lock().get(&context.addr()).cloned();
        home.and_then(|home| home.upgrade())
    }

    /// Another structure over the same memory, which keeps this one.
    fn wrapped<R>(self, make: impl FnOnce(&About, Kept) -> R) -> R {
        let tensor = self.tensor();
        let flags = u64::from(self.is_read_only()) * DLManagedTensorVersioned::READ_ONLY;
        let about = About {
            home: self.home(),
            data: tensor.data,
            device: tensor.device,
            dtype: tensor.dtype,
            byte_offset: tensor.byte_offset,
            flags,
        };
        let shape: Box<[i64]> = self.shape().into();
        let strides = self.strides().map_or_else(|| dense_of(&shape), Into::into);
        make(&about, Kept { shape, strides, owner: Box::new(self) })
    }
}

/// Strides of a dense tensor in row order.
fn dense_of(shape: &[i64]) -> Box<[i64]> {
    let mut step = 1_i64;
    let mut strides: Box<[i64]> = shape.into();
    for (stride, size) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step = step.saturating_mul((*size).max(1));
    }
    strides
}

fn dense(shape: &Shape) -> Vec<usize> {
    shape.dense_strides()[..shape.rank()].to_vec()
}

impl AnyTensor {
    /// The tensor for another framework, whose memory it shares and keeps. Blocks until no submitted work uses the
    /// memory; [what comes later](crate::dlpack) is for both sides to order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a format that is not laid out by strides,
    /// an element type that DLPack has no name for, or memory of a capture; the error of work that is waited for;
    /// [`ErrorKind::CaptureForbidden`](crate::ErrorKind::CaptureForbidden) while a stream that uses it captures.
    pub fn to_dlpack(&self) -> Result<Managed> {
        if self.format() != crate::op::Format::ND {
            return Err(Error::invalid(format!("{self:?} for DLPack, which knows strides alone")));
        }
        let kind: ElementType = self.element_type();
        let dtype = types::to_dlpack(kind)?;
        self.allocation().wait_idle()?;
        let device = DLDevice { device_type: DLDevice::EXTENSION, device_id: self.context().device_id() };
        let byte_offset = (self.offset() * kind.bits() / 8) as u64;
        let home = Some(Arc::clone(self.allocation()));
        let about = About { home, data: self.address(), device, dtype, byte_offset, flags: 0 };
        let (shape, strides) = (signed(self.shape()), signed(self.strides()));
        let kept = Kept { shape, strides, owner: Box::new(self.clone()) };
        Ok(Managed(Raw::Versioned(about.versioned(kept))))
    }
}

impl<T: Element> Tensor<T> {
    /// As [`AnyTensor::to_dlpack`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn to_dlpack(&self) -> Result<Managed> {
        AnyTensor::from(self).to_dlpack()
    }
}
