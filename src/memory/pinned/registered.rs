//! Vectors of the program whose memory is pinned where it is.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;

use acl_sys::ACL_HOST_REG_PINNED;
use bytemuck::Pod;

use super::{Owner, PinnedBuffer};
use crate::call::call;
use crate::context::{Context, ContextInner};
use crate::error::{Refused, Result};
use crate::memory::device_buffer::byte_len;

/// The memory of a vector, for whoever has forgotten the type of its elements.
pub(super) struct Vector {
    address: NonNull<u8>,
    /// Elements that there is room for.
    capacity: usize,
    free: unsafe fn(NonNull<u8>, usize),
}

impl Vector {
    fn of<T: Pod>(vector: Vec<T>) -> (Self, NonNull<T>) {
        let mut vector = ManuallyDrop::new(vector);
        let address = NonNull::new(vector.as_mut_ptr()).unwrap_or(NonNull::dangling());
        (Self { address: address.cast(), capacity: vector.capacity(), free: free::<T> }, address)
    }

    /// The first `len` elements, which are of this type.
    ///
    /// # Safety
    ///
    /// It was made of a vector of `T` that had at least `len` elements.
    unsafe fn into_vec<T: Pod>(self, len: usize) -> Vec<T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: the parts of a vector of this type, which was forgotten for this value, and this value is forgotten
        // for the vector.
        unsafe { Vec::from_raw_parts(this.address.cast().as_ptr(), len, this.capacity) }
    }
}

impl Drop for Vector {
    fn drop(&mut self) {
        // SAFETY: the parts are those of the vector that this value was made of, once.
        unsafe { (self.free)(self.address, self.capacity) }
    }
}

/// # Safety
///
/// The parts are of a vector of `T` that was forgotten.
unsafe fn free<T: Pod>(address: NonNull<u8>, capacity: usize) {
    // SAFETY: the caller's promise; elements of `T` need no drop, so that none has to be counted.
    drop(unsafe { Vec::<T>::from_raw_parts(address.cast().as_ptr(), 0, capacity) });
}

/// Lets go of pinned memory that is the program's own.
pub(super) fn unregister(context: &ContextInner, address: NonNull<u8>) -> Result<()> {
    // SAFETY: the address was registered for its owner, who calls this until it succeeds once; no copy uses the memory,
    // since a copy would own the buffer.
    unsafe { call!(context, aclrtHostUnregister(address.as_ptr().cast())) }
}

impl Context {
    /// Pins the memory of a vector where it is, and makes a [`PinnedBuffer`] of it, without a copy: for data that is
    /// there already, such as the weights of a file. [`PinnedBuffer::into_vec`] gives the vector back. Does not wait for
    /// the device.
    ///
    /// Memory is pinned by whole pages, and a vector begins anywhere in one: of small data
    /// [`pinned_from`](Self::pinned_from) makes a copy. The guide asks for an address that is a multiple of 4 KiB
    /// (aclrtHostRegisterV2), and on kernels up to Linux 5.10 for memory of the library: a card that goes by that refuses
    /// a vector, which then comes back, and `pinned_from` has no such rule.
    ///
    /// # Errors
    ///
    /// The vector and why: [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for one without elements;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) where the library cannot pin memory of others (it
    /// came with CANN 9.0);
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) where the driver or the card cannot.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let weights = vec![0.5_f32; 4096];
    /// let mut buffer = device.alloc(4096)?;
    /// let pinned = stream.upload(device.pin(weights)?, &mut buffer)?.wait()?;
    /// let weights = pinned.into_vec()?;
    /// assert_eq!(buffer.to_vec()?, weights);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtHostRegisterV2")]
    pub fn pin<T: Pod>(&self, vector: Vec<T>) -> Result<PinnedBuffer<T>, Refused<Vec<T>>> {
        let (len, bytes) = (vector.len(), byte_len::<T>(vector.len()));
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => return Err(Refused::new(vector, error)),
        };
        let (owner, address) = Vector::of(vector);
        let (context, host) = (self.inner(), address.as_ptr().cast());
        // SAFETY: the memory has `bytes` bytes and is this function's own; it is unregistered before it is freed.
        let registered = unsafe { call!(&**context, aclrtHostRegisterV2(host, bytes as u64, ACL_HOST_REG_PINNED)) };
        match registered {
            Ok(()) => {
                let owner = Owner::Vector(owner);
                Ok(PinnedBuffer { address, len, owner, context: Arc::clone(context) })
            }
            Err(error) => {
                let error = error.context(format!("pinning {bytes} bytes of a vector"));
                // SAFETY: it was made of such a vector just now.
                Err(Refused::new(unsafe { owner.into_vec(len) }, error))
            }
        }
    }
}

impl<T: Pod> PinnedBuffer<T> {
    /// The elements as a vector, no longer pinned: that which [`Context::pin`] took, without a copy, or else a copy.
    ///
    /// # Errors
    ///
    /// The buffer and [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when the library does not know
    /// the memory.
    ///
    /// # Examples
    ///
    /// See [`Context::pin`].
    #[doc(alias = "aclrtHostUnregister")]
    pub fn into_vec(mut self) -> Result<Vec<T>, Refused<Self>> {
        let (len, copy) = match &self.owner {
            Owner::Vector(_) => (self.len, Vec::new()),
            Owner::Library | Owner::Others(_) => (self.len, self.to_vec()),
        };
        if let Err(error) = self.release() {
            return Err(Refused::new(self, error));
        }
        Ok(match std::mem::replace(&mut self.owner, Owner::Library) {
            // SAFETY: the memory of a buffer of `T` came from a vector of `T`, whose first `len` elements it has.
            Owner::Vector(vector) => unsafe { vector.into_vec(len) },
            Owner::Library | Owner::Others(_) => copy,
        })
    }
}
