//! Page-locked host memory, which the device reads and writes without a detour.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use bytemuck::Pod;

use super::device_buffer::byte_len;
use crate::call::call;
use crate::context::{Context, ContextInner, Lender};
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::retire;

mod registered;

use registered::{Vector, unregister};

/// Page-locked ("pinned") host memory of `len` elements, zero at first. It reads and writes like a slice.
///
/// Asynchronous copies take the buffer over ([`Stream::upload`](crate::Stream::upload),
/// [`Stream::download`](crate::Stream::download)) and give it back when they are done, so host and device never race.
///
/// The memory is the library's ([`Context::pinned`]) or that of a vector of the program ([`Context::pin`]).
///
/// C calls: `aclrtMallocHost`, `aclrtFreeHost`, `aclrtHostRegisterV2`, `aclrtHostUnregister`.
///
/// # Examples
///
/// ```
/// let acl = racl::Acl::mock()?;
/// let mut buffer = acl.device(0)?.pinned::<f32>(4)?;
/// buffer.copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(buffer.iter().sum::<f32>(), 10.0);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclrtFreeHost")]
#[doc(alias = "aclrtMallocHost")]
pub struct PinnedBuffer<T: Pod> {
    address: NonNull<T>,
    /// Zero once nothing is to be freed any more.
    len: usize,
    owner: Owner,
    context: Arc<ContextInner>,
}

/// Whose the memory is.
enum Owner {
    Library,
    /// Of the program: pinned, and to be let go of before it is freed.
    Vector(Vector),
    /// Of other code, which frees it when this goes.
    Others(Lender),
}

// SAFETY: the buffer owns plain host memory of a `Send` element type, freed through a context that any thread may
// use; a vector of such elements may be dropped by any, and what others keep memory by is `Send`.
unsafe impl<T: Pod + Send> Send for PinnedBuffer<T> {}
// SAFETY: shared access only reads host memory of a `Sync` element type; nobody looks at what others keep it by.
unsafe impl<T: Pod + Sync> Sync for PinnedBuffer<T> {}

impl Context {
    /// Pinned host memory for `len` elements, every byte zero. See [`PinnedBuffer`]. Does not wait for the device.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for no elements or more bytes than an
    /// address space has; [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory) when the host cannot lock so
    /// much; [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) when the memory is not aligned for the type.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let mut buffer = device.pinned::<u32>(2)?;
    /// assert_eq!(*buffer, [0, 0]);
    /// buffer[1] = 5;
    /// assert_eq!((buffer.len(), buffer.size_bytes()), (2, 8));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMallocHost")]
    pub fn pinned<T: Pod>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        let bytes = byte_len::<T>(len)?;
        let mut address = std::ptr::null_mut();
        let context = self.inner();
        // SAFETY: `address` is a place for one address.
        unsafe { call!(&**context, aclrtMallocHost(&raw mut address, bytes)) }
            .map_err(|error| error.context(format!("allocating {bytes} bytes of pinned host memory")))?;
        let address = NonNull::new(address.cast::<T>())
            .ok_or_else(|| Error::new(ErrorKind::Internal, "aclrtMallocHost succeeded and gave no memory"))?;
        let buffer = PinnedBuffer { address, len, owner: Owner::Library, context: Arc::clone(context) };
        if !address.is_aligned() {
            let text = format!("pinned memory that is not aligned for elements of {} bytes", align_of::<T>());
            return Err(Error::new(ErrorKind::NotSupported, text));
        }
        // SAFETY: the call gave `bytes` bytes at this address, which nobody else knows yet.
        unsafe { address.as_ptr().write_bytes(0, len) };
        Ok(buffer)
    }

    /// Pinned host memory with a copy of `data`.
    ///
    /// # Errors
    ///
    /// As [`Context::pinned`].
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let buffer = device.pinned_from(&[1.0_f32, 2.0])?;
    /// assert_eq!(*buffer, [1.0, 2.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn pinned_from<T: Pod>(&self, data: &[T]) -> Result<PinnedBuffer<T>> {
        let mut buffer = self.pinned(data.len())?;
        buffer.copy_from_slice(data);
        Ok(buffer)
    }
}

impl<T: Pod> PinnedBuffer<T> {
    /// Size in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        size_of_val::<[T]>(self)
    }

    /// Frees the memory now.
    ///
    /// # Errors
    ///
    /// The buffer and [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when the library does not
    /// know the address.
    #[doc(alias = "aclrtFreeHost")]
    pub fn close(mut self) -> Result<(), Refused<Self>> {
        match self.release() {
            Ok(()) => Ok(()),
            Err(error) => Err(Refused::new(self, error)),
        }
    }

    /// Memory of the library that other code made, aligned for the elements.
    pub(crate) fn adopt(address: NonNull<T>, len: usize, context: &Context) -> Result<Self> {
        byte_len::<T>(len)?;
        Ok(Self { address, len, owner: Owner::Library, context: Arc::clone(context.inner()) })
    }

    /// Pinned memory that stays with other code, aligned for the elements.
    pub(crate) fn share(address: NonNull<T>, len: usize, context: &Context, lender: Lender) -> Result<Self> {
        byte_len::<T>(len)?;
        Ok(Self { address, len, owner: Owner::Others(lender), context: Arc::clone(context.inner()) })
    }

    /// The memory, which is not freed then.
    pub(crate) fn give_away(mut self) -> Result<*mut T, Refused<Self>> {
        let text = match self.owner {
            Owner::Library => {
                self.len = 0;
                return Ok(self.address.as_ptr());
            }
            Owner::Vector(_) => {
                "the memory of a vector, which the library cannot free; PinnedBuffer::into_vec gives it back"
            }
            Owner::Others(_) => "memory that stays with other code, which frees it",
        };
        Err(Refused::new(self, Error::new(ErrorKind::NotSupported, text)))
    }

    pub(crate) fn context(&self) -> &Arc<ContextInner> {
        &self.context
    }

    /// The same memory without a type, for any thread to free.
    pub(super) fn into_bytes(mut self) -> PinnedBuffer<u8> {
        self.take_bytes()
    }

    fn take_bytes(&mut self) -> PinnedBuffer<u8> {
        let (address, len) = (self.address.cast(), self.size_bytes());
        // It is the other's to free.
        self.len = 0;
        let owner = std::mem::replace(&mut self.owner, Owner::Library);
        PinnedBuffer { address, len, owner, context: Arc::clone(&self.context) }
    }
}

impl<T: Pod> Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `len` initialised elements live at this address as long as the buffer; the device does not write
        // them while this value can be reached, because copies take the buffer over.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.len) }
    }
}

impl<T: Pod> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`, and the exclusive borrow makes this the only access.
        unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr(), self.len) }
    }
}

impl<T: Pod> PinnedBuffer<T> {
    /// Gives the memory back to the library, or lets go of it, once.
    pub(super) fn release(&mut self) -> Result<()> {
        if self.len == 0 {
            return Ok(());
        }
        match &mut self.owner {
            Owner::Vector(_) => unregister(&self.context, self.address.cast())?,
            Owner::Others(lender) => drop(std::mem::take(lender)),
            Owner::Library => {
                let address = self.address.as_ptr().cast();
                // SAFETY: the address came from `aclrtMallocHost`, it is freed once, since the length is set to zero
                // after success, and no copy uses it, since a copy would own the buffer.
                unsafe { call!(&*self.context, aclrtFreeHost(address)) }?;
            }
        }
        self.len = 0;
        Ok(())
    }
}

impl<T: Pod> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        if self.len > 0 && retire::must_leave() {
            return retire::on_thread(self.take_bytes(), drop);
        }
        let Err(error) = self.release() else { return };
        // The library may let the device use it still.
        std::mem::forget(std::mem::replace(&mut self.owner, Owner::Library));
        self.context.record_drop_error("freeing pinned memory", error);
    }
}

impl<T: Pod> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedBuffer").field("address", &self.address).field("len", &self.len).finish_non_exhaustive()
    }
}
