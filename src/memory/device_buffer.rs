//! Typed device memory.

use std::ffi::c_void;
use std::fmt;
use std::ops::RangeBounds;
use std::panic::Location;
use std::sync::Arc;

use bytemuck::Pod;

use super::{Allocation, DeviceRead, DeviceSlice, DeviceSliceMut, DeviceWrite, SharedBuffer};
use crate::call::call;
use crate::context::Context;
use crate::error::{Error, Refused, Result};

/// Device memory for `len` elements, with one owner. The host cannot touch it; copies move its content.
///
/// [`DeviceBuffer::slice`] and [`DeviceBuffer::slice_mut`] borrow a part as those of Rust do: for reading as often as
/// one likes, for writing once at a time. A borrow ends with the last use of the part, not with the work that was
/// queued with it: that is noted, and keeps the memory by itself. [`DeviceBuffer::into_shared`] makes handles that are
/// not borrowed, for tensors, plans and other threads.
///
/// | to | take |
/// |---|---|
/// | read it on a stream | `&impl` [`DeviceRead`]: a buffer, a part of it, or a shared one |
/// | write it on a stream | `&mut impl` [`DeviceWrite`]: a buffer, a part from `slice_mut` or `split_at_mut`, or a shared one |
/// | keep it in several places | [`SharedBuffer`], or a [`Tensor`](crate::Tensor) |
///
/// A buffer that is dropped while streams still use it is freed after that work; one that a graph uses is kept by the
/// graph. Reading and writing from the host waits for such work first. Explicit: [`DeviceBuffer::close`].
///
/// Copies are made with [`DeviceBuffer::to_vec`] and its like (blocking) or on a stream ([`Stream`](crate::Stream)).
/// Lengths, offsets and ranges count elements. Any thread may use the buffer.
///
/// C calls: `aclrtMalloc`, `aclrtFree`, `aclrtMemcpy`.
///
/// # Examples
///
/// ```
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let mut buffer = device.upload(&[1_u32, 2, 3])?;
/// assert_eq!(buffer.slice(1..)?.to_vec()?, [2, 3]);
/// buffer.slice_mut(..2)?.write(&[4, 5])?;
/// assert_eq!(buffer.to_vec()?, [4, 5, 3]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclrtFree")]
pub struct DeviceBuffer<T: Pod>(SharedBuffer<T>);

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
        Ok(DeviceBuffer::over(allocation, len))
    }

    /// Device memory for `len` elements from a call of the library of its own, whatever the context's
    /// [allocator](Context::set_allocator), its content undefined: what can be [exported](SharedBuffer::export) to
    /// other processes, or [given away](DeviceBuffer::into_raw). Otherwise as [`Context::alloc`], but slower.
    ///
    /// # Errors
    ///
    /// As [`Context::alloc`].
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let address = device.context().alloc_direct::<u8>(64)?.into_raw()?;
    /// // SAFETY: memory of `aclrtMalloc`, which nothing uses.
    /// assert_eq!(unsafe { device.acl().table().aclrtFree()?(address) }, 0);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMalloc")]
    #[track_caller]
    pub fn alloc_direct<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        let allocation = Allocation::own(self.inner(), byte_len::<T>(len)?)?;
        Ok(DeviceBuffer::over(allocation, len))
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
        self.inner().check_may_touch(len, "a fill", Location::caller())?;
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
    /// All `len` elements of new memory.
    #[inline]
    pub(super) fn over(allocation: Arc<Allocation>, len: usize) -> Self {
        Self(SharedBuffer::new(allocation, 0, len))
    }

    /// Memory of other code, which `owner` keeps.
    pub(crate) fn adopt(
        address: *mut c_void,
        len: usize,
        context: &Context,
        owner: impl Send + 'static,
    ) -> Result<Self> {
        let bytes = byte_len::<T>(len)?;
        if !address.cast::<T>().is_aligned() {
            let text = format!("device memory at {address:p}, for elements aligned to {}", align_of::<T>());
            return Err(Error::invalid(text));
        }
        Ok(Self::over(Allocation::of_others(context.inner(), address, bytes, owner), len))
    }

    /// The memory, which is not freed then.
    pub(crate) fn give_away(self) -> Result<*mut c_void, Refused<Self>> {
        let address = self.address();
        match self.0.give_away() {
            Ok(()) => Ok(address),
            Err(error) => Err(Refused::new(self, error)),
        }
    }

    /// The last handle.
    pub(super) fn alone(handle: SharedBuffer<T>) -> Self {
        Self(handle)
    }

    /// The elements `range`, borrowed for reading: the buffer cannot be written, moved or closed meanwhile.
    ///
    /// A range may end anywhere. What kernels read beyond a last element, up to 32 bytes, is more of the buffer, or the
    /// memory that follows each one and belongs to it.
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
    /// let (most, last) = (buffer.slice(..3)?, buffer.slice(3..)?);
    /// assert_eq!((most.len(), last.to_vec()?), (3, vec![4]));
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<DeviceSlice<'_, T>> {
        self.as_slice().slice(range)
    }

    /// The elements `range`, borrowed for writing: nothing else reaches the buffer meanwhile.
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::slice`].
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let mut buffer = device.upload(&[1_u8, 2, 3, 4])?;
    /// stream.fill_bytes(&mut buffer.slice_mut(1..3)?, 0)?;
    /// assert_eq!(buffer.to_vec()?, [1, 0, 0, 4]); // waits for the fill
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DeviceSliceMut<'_, T>> {
        self.as_mut_slice().into_part(range)
    }

    /// The elements before `middle` and those from there on, borrowed for reading.
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::slice`].
    pub fn split_at(&self, middle: usize) -> Result<(DeviceSlice<'_, T>, DeviceSlice<'_, T>)> {
        self.as_slice().split_at(middle)
    }

    /// The elements before `middle` and those from there on, both borrowed for writing.
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::slice`].
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let mut buffer = device.upload(&[[1_u64; 8], [2; 8]])?;
    /// let (mut low, high) = buffer.split_at_mut(1)?;
    /// stream.copy(&high, &mut low)?;
    /// assert_eq!(buffer.to_vec()?, [[2; 8]; 2]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn split_at_mut(&mut self, middle: usize) -> Result<(DeviceSliceMut<'_, T>, DeviceSliceMut<'_, T>)> {
        self.as_mut_slice().into_halves(middle)
    }

    /// The same memory for several handles, which keep it together: for tensors, plans and other threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::Tensor;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let memory = device.upload(&[1.0_f32, 2.0, 3.0])?.into_shared();
    /// let (pair, one) = (Tensor::over(memory.slice(..2)?, [2])?, Tensor::over(memory.slice(2..)?, [1])?);
    /// assert_eq!((pair.to_vec()?, one.to_vec()?), (vec![1.0, 2.0], vec![3.0]));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn into_shared(self) -> SharedBuffer<T> {
        self.0
    }

    /// Copies `data` into the buffer. Blocks: waits for work that uses the buffer, then for the copy.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for another length than the buffer's; the
    /// error of work that is waited for, such as [`ErrorKind::DeviceFault`](crate::ErrorKind::DeviceFault);
    /// [`ErrorKind::CaptureForbidden`](crate::ErrorKind::CaptureForbidden) when a capture of this context does not
    /// allow blocking copies, which gives [no graph](crate::CaptureMode) then.
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
    #[track_caller]
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        self.as_mut_slice().write(data)
    }

    /// The same memory as elements of another type.
    ///
    /// # Errors
    ///
    /// The buffer, and why as [`DeviceSlice::cast`].
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let words = device.upload(&[1_u8, 0, 0, 0, 2, 0, 0, 0])?.cast::<[u8; 4]>()?;
    /// assert_eq!(words.to_vec()?, [[1, 0, 0, 0], [2, 0, 0, 0]]);
    /// assert!(words.cast::<[u8; 3]>().is_err());
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "transmute")]
    pub fn cast<U: Pod>(self) -> Result<DeviceBuffer<U>, Refused<Self>> {
        match self.0.cast() {
            Ok(memory) => Ok(DeviceBuffer(memory)),
            Err(error) => Err(Refused::new(self, error)),
        }
    }

    /// Waits for work that uses the memory and frees it now.
    ///
    /// # Errors
    ///
    /// The buffer and why: [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) while graphs or captures
    /// have the memory; the error of work that is waited for;
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when the library does not know the address.
    #[doc(alias = "aclrtFree")]
    pub fn close(self) -> Result<(), Refused<Self>> {
        self.0.close().map_err(|refused| refused.map(Self))
    }
}

impl<T: Pod> DeviceRead for DeviceBuffer<T> {
    type Element = T;

    #[inline]
    fn as_slice(&self) -> DeviceSlice<'_, T> {
        self.0.as_slice()
    }
}

impl<T: Pod> DeviceWrite for DeviceBuffer<T> {
    #[inline]
    fn as_mut_slice(&mut self) -> DeviceSliceMut<'_, T> {
        self.0.as_mut_slice()
    }
}

impl<T: Pod> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceBuffer")
            .field("address", &self.address())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
