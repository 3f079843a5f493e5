//! Memory from and to other code.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use bytemuck::Pod;

use super::not_null;
use crate::context::{Context, Lender};
use crate::error::{Error, Refused, Result};
use crate::memory::{DeviceBuffer, ManagedBuffer, MappedBuffer, PinnedBuffer, SharedBuffer};

impl<T: Pod> DeviceBuffer<T> {
    /// A buffer over `len` elements of device memory that other code made: of another framework in the process, of a
    /// library of operators, of `aclrtMalloc`. `owner` is what keeps it: it is dropped, on any thread, once no
    /// submitted work uses the memory any more. A closure's guard, an `Arc`, or `()` for memory that others keep alive
    /// longer. Among the [statistics](Context::memory_stats) it counts as memory by itself, and against the
    /// [limit](Context::set_memory_limit).
    ///
    /// # Safety
    ///
    /// 1. `address` is null or begins at least `len` elements of device memory of the device of `context`, known to the
    ///    same library, which stay there until `owner` is dropped. Operators may read 32 bytes beyond the last block of
    ///    32 (guide: memory management, aclrtMalloc).
    /// 2. Other code that uses the memory meanwhile is ordered by the caller: this crate knows nothing of it.
    /// 3. Dropping `owner` does not ask `context` for memory, and does not end the process when it panics: a panic is
    ///    caught and told in the log.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`](crate::ErrorKind::InvalidHandle) for a null address;
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for no elements, more bytes than an address
    /// space has, or an address that is not aligned for the element. The owner is dropped then.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::DeviceBuffer;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let theirs = device.upload(&[1_u32, 2, 3])?; // stands for memory of another framework
    /// let address = theirs.address();
    /// // SAFETY: three elements on this device, which the buffer keeps as its owner; nothing else uses them.
    /// let buffer = unsafe { DeviceBuffer::<u32>::from_raw(address, 3, &device, theirs) }?;
    /// assert_eq!(buffer.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub unsafe fn from_raw(
        address: *mut c_void,
        len: usize,
        context: impl AsRef<Context>,
        owner: impl Send + 'static,
    ) -> Result<Self> {
        not_null(address, "a null address of device memory")?;
        Self::adopt(address, len, context.as_ref(), owner)
    }

    /// Waits for work that uses the memory and gives it away: the caller frees it with `aclrtFree`.
    ///
    /// # Errors
    ///
    /// The buffer and why: as [`DeviceBuffer::close`]; [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) for
    /// memory that is no allocation of its own, as it is with [`Context::alloc_direct`] and
    /// [`Allocator::Direct`](crate::Allocator::Direct) alone: a part of a segment, memory of another allocator, mapped
    /// memory, or of [`from_raw`](Self::from_raw). Such memory is lent by its [address](Self::address), or
    /// [leaked](Self::leak).
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::{Allocator, DeviceBuffer};
    ///
    /// let context = racl::Acl::mock()?.device(0)?.context().create_context()?;
    /// context.set_allocator(Allocator::Direct);
    /// let address = context.upload(&[1_u8, 2])?.into_raw()?;
    /// // SAFETY: it is the memory of that buffer, which nobody else has; it is freed by its last owner below.
    /// let again = unsafe { DeviceBuffer::<u8>::from_raw(address, 2, &context, ()) }?;
    /// assert_eq!(again.to_vec()?, [1, 2]);
    /// again.close()?;
    /// // SAFETY: the memory is this program's, and no work uses it.
    /// assert_eq!(unsafe { context.acl().table().aclrtFree()?(address) }, 0);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn into_raw(self) -> Result<*mut c_void, Refused<Self>> {
        self.give_away()
    }

    /// Gives the address of memory that is never freed: it stays as long as the process, and keeps its context.
    #[must_use = "the memory cannot be reached otherwise"]
    pub fn leak(self) -> *mut c_void {
        let address = self.address();
        std::mem::forget(self);
        address
    }
}

/// Where pinned memory of other code is.
fn place_of<T>(address: *mut T) -> Result<NonNull<T>> {
    not_null(address.cast(), "a null address of pinned memory")?;
    NonNull::new(address).filter(|address| address.is_aligned()).ok_or_else(|| {
        Error::invalid(format!("pinned memory at {address:p}, for elements aligned to {}", align_of::<T>()))
    })
}

impl<T: Pod> PinnedBuffer<T> {
    /// Takes over `len` elements of pinned memory that other code made with `aclrtMallocHost`; it is freed with the
    /// value.
    ///
    /// # Safety
    ///
    /// 1. `address` is null or begins `len` initialised elements that `aclrtMallocHost` of the library of `context`
    ///    gave, from their first byte on.
    /// 2. No other code uses or frees the memory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`](crate::ErrorKind::InvalidHandle) for a null address;
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for no elements, more bytes than an address
    /// space has, or an address that is not aligned for the element. The memory stays the caller's then.
    pub unsafe fn from_raw(address: *mut T, len: usize, context: impl AsRef<Context>) -> Result<Self> {
        Self::adopt(place_of(address)?, len, context.as_ref())
    }

    /// A buffer over `len` elements of pinned memory that stays with other code: of another framework in the process, of
    /// a file that is mapped and pinned. `owner` is what keeps it: it is dropped, on any thread, once neither this value
    /// nor a copy nor a graph has the memory. A closure's guard, an `Arc`, or `()` for memory that others keep alive
    /// longer. A panic of dropping it is caught and told in the log.
    ///
    /// # Safety
    ///
    /// 1. `address` is null or begins `len` initialised elements of host memory that is pinned for the library of
    ///    `context`, with `aclrtMallocHost` or `aclrtHostRegister`, and stays so until `owner` is dropped.
    /// 2. No other code uses the memory until then, as if the value were an exclusive borrow of it.
    ///
    /// # Errors
    ///
    /// As [`PinnedBuffer::from_raw`]. The owner is dropped then.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::PinnedBuffer;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let mut theirs = device.pinned_from(&[1_u16, 2])?; // stands for memory of another framework
    /// let address = theirs.as_mut_ptr();
    /// // SAFETY: two elements of pinned memory, which the buffer keeps as its owner; nothing else uses them.
    /// let buffer = unsafe { PinnedBuffer::from_raw_shared(address, 2, &device, theirs) }?;
    /// assert_eq!(*buffer, [1, 2]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub unsafe fn from_raw_shared(
        address: *mut T,
        len: usize,
        context: impl AsRef<Context>,
        owner: impl Send + 'static,
    ) -> Result<Self> {
        let lender = Lender::of(owner);
        Self::share(place_of(address)?, len, context.as_ref(), lender)
    }

    /// Gives the memory away: the caller frees it with `aclrtFreeHost`.
    ///
    /// # Errors
    ///
    /// The buffer and [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) for the memory of a
    /// [vector](Context::pin), which [`into_vec`](Self::into_vec) gives back, and for memory that
    /// [stays with other code](Self::from_raw_shared).
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::PinnedBuffer;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let address = device.pinned_from(&[1_u16, 2])?.into_raw()?;
    /// // SAFETY: the memory of that buffer, which nobody else has.
    /// let again = unsafe { PinnedBuffer::from_raw(address, 2, &device) }?;
    /// assert_eq!(*again, [1, 2]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn into_raw(self) -> Result<*mut T, Refused<Self>> {
        self.give_away()
    }

    /// Gives memory that is never freed: it stays as long as the process, and keeps its context.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let table: &'static mut [u16] = device.pinned_from(&[1_u16, 2])?.leak();
    /// table[0] = 5;
    /// assert_eq!(table, [5, 2]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use = "the memory cannot be reached otherwise"]
    pub fn leak(self) -> &'static mut [T] {
        let mut kept = ManuallyDrop::new(self);
        let (address, len) = (kept.as_mut_ptr(), kept.len());
        // SAFETY: as many initialised elements, which nothing frees any more and no copy uses, since it would own the
        // buffer; nothing else reaches them.
        unsafe { std::slice::from_raw_parts_mut(address, len) }
    }
}

impl<T: Pod> SharedBuffer<T> {
    /// Gives the address of the first element, in memory that is never freed: it stays as long as the process, and keeps
    /// its context. Other handles and work may use it still.
    #[must_use = "the memory cannot be reached otherwise"]
    pub fn leak(self) -> *mut c_void {
        let address = self.address();
        std::mem::forget(self);
        address
    }
}

impl<T: Pod> ManagedBuffer<T> {
    /// Gives the address of memory that is never freed, for the host and for devices: it stays as long as the process,
    /// and keeps its context. Shared handles and work may use it still.
    #[must_use = "the memory cannot be reached otherwise"]
    pub fn leak(self) -> *mut c_void {
        let address = self.address();
        std::mem::forget(self);
        address
    }
}

impl<T: Pod> MappedBuffer<T> {
    /// Gives the addresses for the host and for kernels of the device, of memory that is never freed: it stays as long
    /// as the process, and keeps its context. Work may use it still.
    #[must_use = "the memory cannot be reached otherwise"]
    pub fn leak(self) -> (*mut T, *mut c_void) {
        let addresses = (self.host_address(), self.device_address());
        std::mem::forget(self);
        addresses
    }
}
