//! Typed device memory.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use acl_sys::aclrtMemcpyKind;
use bytemuck::Pod;

use super::Allocation;
use crate::call::call;
use crate::context::{Context, ContextInner};
use crate::error::{Error, Result};

/// Device memory for `len` elements. The host cannot touch it; copies move its content.
///
/// Work that uses the buffer is noted: a buffer that is dropped while streams still use it is freed after that work,
/// one that a graph uses is kept by the graph. Reading and writing from the host waits for such work first. Explicit:
/// [`DeviceBuffer::close`].
///
/// Copies are made with [`DeviceBuffer::to_vec`] and its like (blocking) or on a stream ([`Stream`](crate::Stream)).
/// [`DeviceBuffer::slice`] gives a part that shares the memory. Lengths, offsets and ranges count elements. Any
/// thread may use the buffer.
///
/// C calls: `aclrtMalloc`, `aclrtFree`, `aclrtMemcpy`.
///
/// # Examples
///
/// ```
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let mut buffer = device.upload(&[1_u32, 2, 3])?;
/// assert_eq!(buffer.to_vec()?, [1, 2, 3]);
/// assert_eq!(buffer.slice(1..)?.to_vec()?, [2, 3]);
/// buffer.write(&[4, 5, 6])?;
/// assert_eq!(buffer.to_vec()?, [4, 5, 6]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclrtFree")]
pub struct DeviceBuffer<T: Pod> {
    allocation: Arc<Allocation>,
    /// First element.
    offset: usize,
    len: usize,
    element: PhantomData<T>,
}

/// Bytes of `len` elements.
pub(crate) fn byte_len<T>(len: usize) -> Result<usize> {
    let bytes = len.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= isize::MAX as usize);
    match bytes {
        Some(0) => Err(Error::invalid("memory of zero bytes; ask for at least one element")),
        Some(bytes) => Ok(bytes),
        None => {
            Err(Error::invalid(format!("{len} elements of {} bytes do not fit an address space", size_of::<T>())))
        }
    }
}

impl Context {
    /// Device memory for `len` elements, its content undefined. See [`DeviceBuffer`]. Does not wait for the device,
    /// except once when memory is short and some is freed only after work. Comes from what the context
    /// [keeps](Context::set_allocator), without a call, where that has room.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for no elements or more bytes than an
    /// address space has; [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory) when the device has too little, or
    /// the [limit](Context::set_memory_limit) does not allow it: its long form (`{:#}`) says who holds most;
    /// [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext) or
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when the context was destroyed beside this
    /// crate.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let buffer = device.alloc::<f32>(1000)?;
    /// assert_eq!((buffer.len(), buffer.size_bytes()), (1000, 4000));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMalloc")]
    #[track_caller]
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        let allocation = Allocation::new(self.inner(), byte_len::<T>(len)?)?;
        Ok(DeviceBuffer { allocation: Arc::new(allocation), offset: 0, len, element: PhantomData })
    }

    /// Device memory for `len` elements, every byte zero. Blocks until they are.
    ///
    /// # Errors
    ///
    /// As [`Context::alloc`]; [`ErrorKind::CaptureForbidden`](crate::ErrorKind::CaptureForbidden) when a capture of
    /// this context does not allow blocking copies.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let buffer = device.alloc_zeroed::<u16>(3)?;
    /// assert_eq!(buffer.to_vec()?, [0; 3]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemset")]
    #[track_caller]
    pub fn alloc_zeroed<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        let buffer = self.alloc(len)?;
        let (address, bytes) = (buffer.address(), buffer.size_bytes());
        // SAFETY: `bytes` bytes of this new buffer are set; nothing else uses them yet.
        unsafe { call!(&**self.inner(), aclrtMemset(address, bytes, 0, bytes)) }?;
        Ok(buffer)
    }

    /// Device memory with a copy of `data`. Blocks until it is there.
    ///
    /// # Errors
    ///
    /// As [`Context::alloc_zeroed`].
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let buffer = device.upload(&[0.5_f32, 1.5])?;
    /// assert_eq!(buffer.to_vec()?, [0.5, 1.5]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpy")]
    #[track_caller]
    pub fn upload<T: Pod>(&self, data: &[T]) -> Result<DeviceBuffer<T>> {
        let mut buffer = self.alloc(data.len())?;
        buffer.write(data)?;
        Ok(buffer)
    }
}

impl<T: Pod> DeviceBuffer<T> {
    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the buffer has no elements; only a slice can be empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The context that the memory belongs to.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::from_inner(self.allocation.context())
    }

    /// The elements `range`, as a buffer that shares the memory and keeps it alive.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a range outside the buffer.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let buffer = device.upload(&[1, 2, 3, 4])?;
    /// buffer.slice(1..3)?.write(&[0, 0])?;
    /// assert_eq!(buffer.to_vec()?, [1, 0, 0, 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let start = match range.start_bound() {
            Bound::Included(&start) => Some(start),
            Bound::Excluded(&start) => start.checked_add(1),
            Bound::Unbounded => Some(0),
        };
        let end = match range.end_bound() {
            Bound::Included(&end) => end.checked_add(1),
            Bound::Excluded(&end) => Some(end),
            Bound::Unbounded => Some(self.len),
        };
        match (start, end) {
            (Some(start), Some(end)) if start <= end && end <= self.len => Ok(Self {
                allocation: Arc::clone(&self.allocation),
                offset: self.offset + start,
                len: end - start,
                element: PhantomData,
            }),
            _ => Err(Error::invalid(format!("a range outside a buffer of {} elements", self.len))),
        }
    }

    /// The device address of the first element. It must not be dereferenced on the host; valid as long as this value
    /// or a slice of it.
    #[must_use]
    pub fn address(&self) -> *mut c_void {
        self.allocation.address().wrapping_byte_add(self.offset * size_of::<T>())
    }

    /// `len` elements from byte `offset` of an allocation that has them; the offset is a multiple of their size.
    pub(crate) fn within(allocation: &Arc<Allocation>, offset: usize, len: usize) -> Self {
        let offset = offset / size_of::<T>();
        Self { allocation: Arc::clone(allocation), offset, len, element: PhantomData }
    }

    /// Another view of all of the memory.
    pub(crate) fn share(&self) -> Self {
        Self { allocation: Arc::clone(&self.allocation), offset: self.offset, len: self.len, element: PhantomData }
    }

    pub(crate) fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    pub(crate) fn context_inner(&self) -> &Arc<ContextInner> {
        self.allocation.context()
    }

    /// Copies `data` into the buffer. Blocks: waits for work that uses the buffer, then for the copy.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for another length than the buffer's; the
    /// error of work that is waited for, such as [`ErrorKind::DeviceFault`](crate::ErrorKind::DeviceFault);
    /// [`ErrorKind::CaptureForbidden`](crate::ErrorKind::CaptureForbidden) when a capture of this context does not
    /// allow blocking copies.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let mut buffer = device.alloc(2)?;
    /// buffer.write(&[3_i64, 4])?;
    /// assert_eq!(buffer.to_vec()?, [3, 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpy")]
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        self.check_len(data.len())?;
        self.allocation.wait_idle()?;
        let (bytes, kind) = (self.size_bytes(), aclrtMemcpyKind::ACL_MEMCPY_HOST_TO_DEVICE);
        let (to, from) = (self.address(), data.as_ptr().cast());
        // SAFETY: `from` has `bytes` initialised bytes, `to` as many on the device, and the call blocks until it has
        // read them.
        unsafe { call!(&**self.context_inner(), aclrtMemcpy(to, bytes, from, bytes, kind)) }
    }

    /// Copies the buffer into `data`. Blocks: waits for work that uses the buffer, then for the copy.
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::write`].
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let buffer = device.upload(&[3_i64, 4])?;
    /// let mut host = [0; 2];
    /// buffer.read(&mut host)?;
    /// assert_eq!(host, [3, 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpy")]
    pub fn read(&self, data: &mut [T]) -> Result<()> {
        self.check_len(data.len())?;
        self.allocation.wait_idle()?;
        let (bytes, kind) = (self.size_bytes(), aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_HOST);
        let (to, from) = (data.as_mut_ptr().cast(), self.address());
        // SAFETY: `to` has room for `bytes` bytes of a type for which all are valid, and the call blocks until they
        // are written.
        unsafe { call!(&**self.context_inner(), aclrtMemcpy(to, bytes, from, bytes, kind)) }
    }

    /// The content of the buffer. Blocks: waits for work that uses the buffer, then for the copy.
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::write`].
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let mut buffer = device.alloc::<u8>(3)?;
    /// stream.fill_bytes(&mut buffer, 7)?;
    /// assert_eq!(buffer.to_vec()?, [7; 3]); // waits for the fill
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut data = vec![T::zeroed(); self.len];
        self.read(&mut data)?;
        Ok(data)
    }

    pub(crate) fn check_len(&self, len: usize) -> Result<()> {
        if len == self.len {
            return Ok(());
        }
        Err(Error::invalid(format!("a copy between {len} elements on the host and {} on the device", self.len)))
    }
}

impl<T: Pod> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceBuffer")
            .field("address", &self.address())
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
