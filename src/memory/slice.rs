//! Borrowed parts of device memory, and what copies take.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, Range, RangeBounds};
use std::panic::Location;
use std::sync::Arc;

use acl_sys::aclrtMemcpyKind;
use bytemuck::Pod;

use super::{Allocation, DeviceBuffer, GrowableBuffer, ManagedBuffer, SharedBuffer};
use crate::call::call;
use crate::context::{Context, ContextInner};
use crate::error::{Error, Result};

mod sealed {
    pub trait Sealed {}
    impl<T: bytemuck::Pod> Sealed for super::DeviceBuffer<T> {}
    impl<T: bytemuck::Pod> Sealed for super::SharedBuffer<T> {}
    impl<T: bytemuck::Pod> Sealed for super::GrowableBuffer<T> {}
    impl<T: bytemuck::Pod> Sealed for super::ManagedBuffer<T> {}
    impl<T: bytemuck::Pod> Sealed for super::DeviceSlice<'_, T> {}
    impl<T: bytemuck::Pod> Sealed for super::DeviceSliceMut<'_, T> {}
}

/// Device memory that work may read: what copies take as `&impl DeviceRead`. A [`DeviceBuffer`], a [`SharedBuffer`], a
/// [`GrowableBuffer`], or a borrowed part: [`DeviceSlice`], [`DeviceSliceMut`].
///
/// # Examples
///
/// ```
/// use racl::{DeviceRead, Result};
///
/// fn first(memory: &impl DeviceRead<Element = u8>) -> Result<Vec<u8>> {
///     memory.as_slice().slice(..1)?.to_vec()
/// }
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let buffer = device.upload(&[1_u8, 2, 3])?;
/// assert_eq!((first(&buffer)?, first(&buffer.slice(1..)?)?), (vec![1], vec![2]));
/// # Ok::<(), racl::Error>(())
/// ```
pub trait DeviceRead: sealed::Sealed {
    /// What the memory holds.
    type Element: Pod;

    /// All of it.
    fn as_slice(&self) -> DeviceSlice<'_, Self::Element>;
}

/// Device memory that work may write: what copies and fills take as `&mut impl DeviceWrite`. A [`DeviceBuffer`], a
/// [`DeviceSliceMut`], a [`GrowableBuffer`], or a [`SharedBuffer`].
///
/// Of the first three, the exclusive borrow shows that no other handle of the host reaches the memory meanwhile; of a
/// shared buffer it shows only what is written. Work that was queued before is no part of that: it keeps the memory,
/// and later work is [ordered](crate::Stream#order-between-streams) behind it on the device.
///
/// # Examples
///
/// ```
/// use racl::{DeviceWrite, Result, Stream};
///
/// fn clear(stream: &Stream, memory: &mut impl DeviceWrite) -> Result<()> {
///     stream.fill_bytes(memory, 0)
/// }
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let mut buffer = device.upload(&[1_u8, 2, 3])?;
/// clear(&stream, &mut buffer.slice_mut(1..)?)?;
/// assert_eq!(buffer.to_vec()?, [1, 0, 0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no device memory that can be written",
    note = "a `DeviceSlice` is read only: `slice_mut` gives a part that can be written"
)]
pub trait DeviceWrite: DeviceRead {
    /// All of it.
    fn as_mut_slice(&mut self) -> DeviceSliceMut<'_, Self::Element>;
}

/// A part of device memory, borrowed for reading: of a [`DeviceBuffer`] that cannot be written, moved or closed
/// meanwhile.
///
/// Lengths and ranges count elements. Work that is queued with it keeps the memory by itself, so the borrow ends with
/// the last use of this value, not with the work. Any thread may use it. A part that is not bound to a borrow, for
/// other threads, tensors and plans, is a [`SharedBuffer`].
///
/// # Examples
///
/// ```
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let buffer = device.upload(&[1_u8, 2, 3, 4])?;
/// let (low, high) = buffer.split_at(2)?;
/// let lent = stream.download(&low, device.pinned(2)?)?;
/// assert_eq!((*lent.wait()?).to_vec(), [1, 2]);
/// assert_eq!(high.to_vec()?, [3, 4]);
/// # Ok::<(), racl::Error>(())
/// ```
pub struct DeviceSlice<'a, T: Pod> {
    allocation: &'a Arc<Allocation>,
    /// First element.
    offset: usize,
    len: usize,
    element: PhantomData<&'a [T]>,
}

/// A part of device memory, borrowed for writing: nothing else of the host reaches its [`DeviceBuffer`] meanwhile.
///
/// Otherwise as [`DeviceSlice`]: the borrow ends with the last use of this value, not with the work that was queued
/// with it. Two disjoint ones come from [`DeviceBuffer::split_at_mut`].
///
/// # Examples
///
/// ```
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let mut buffer = device.upload(&[1_u8, 2, 3, 4])?;
/// let (mut low, mut high) = buffer.split_at_mut(2)?;
/// stream.fill_bytes(&mut low, 9)?;
/// high.write(&[7, 8])?;
/// assert_eq!(buffer.to_vec()?, [9, 9, 7, 8]);
/// # Ok::<(), racl::Error>(())
/// ```
pub struct DeviceSliceMut<'a, T: Pod> {
    allocation: &'a Arc<Allocation>,
    /// First element.
    offset: usize,
    len: usize,
    element: PhantomData<&'a mut [T]>,
}

/// The elements that `range` means of `len` ones.
pub(super) fn part(range: &impl RangeBounds<usize>, len: usize) -> Result<Range<usize>> {
    let start = match range.start_bound() {
        Bound::Included(&start) => Some(start),
        Bound::Excluded(&start) => start.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end.checked_add(1),
        Bound::Excluded(&end) => Some(end),
        Bound::Unbounded => Some(len),
    };
    match (start, end) {
        (Some(start), Some(end)) if start <= end && end <= len => Ok(start..end),
        _ => Err(Error::invalid(format!("a range outside a buffer of {len} elements"))),
    }
}

/// Where the `len` elements from `offset` on begin as elements of another type, and how many they are.
pub(super) fn recast<T: Pod, U: Pod>(allocation: &Allocation, offset: usize, len: usize) -> Result<(usize, usize)> {
    let (start, bytes, size) = (offset * size_of::<T>(), len * size_of::<T>(), size_of::<U>());
    let aligned = allocation.address().wrapping_byte_add(start).cast::<U>().is_aligned();
    if size == 0 || !start.is_multiple_of(size) || !bytes.is_multiple_of(size) || !aligned {
        let text =
            format!("{bytes} bytes from byte {start} of memory on, which are no whole elements of {size} bytes");
        return Err(Error::invalid(text));
    }
    Ok((start / size, bytes / size))
}

impl<'a, T: Pod> DeviceSlice<'a, T> {
    #[inline]
    pub(super) fn new(allocation: &'a Arc<Allocation>, offset: usize, len: usize) -> Self {
        Self { allocation, offset, len, element: PhantomData }
    }

    #[inline]
    pub(crate) fn allocation(&self) -> &'a Arc<Allocation> {
        self.allocation
    }

    #[inline]
    pub(crate) fn context_inner(&self) -> &'a Arc<ContextInner> {
        self.allocation.context()
    }

    /// Number of elements.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    #[must_use]
    #[inline]
    pub fn size_bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The context that the memory belongs to.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::from_inner(self.allocation.context())
    }

    /// The device address of the first element. It must not be dereferenced on the host; valid as long as the memory.
    #[must_use]
    #[inline]
    pub fn address(&self) -> *mut c_void {
        self.allocation.address().wrapping_byte_add(self.offset * size_of::<T>())
    }

    /// The elements `range` of these.
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::slice`].
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let range = part(&range, self.len)?;
        Ok(Self::new(self.allocation, self.offset + range.start, range.len()))
    }

    /// The same memory as elements of another type.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) where it is none of whole elements of that
    /// type, counted from the start of the memory that this is a part of, or not aligned for them.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let buffer = device.upload(&[1.0_f32, -1.0])?;
    /// assert_eq!(buffer.slice(..)?.cast::<u32>()?.to_vec()?, [0x3F80_0000, 0xBF80_0000]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "transmute")]
    pub fn cast<U: Pod>(&self) -> Result<DeviceSlice<'a, U>> {
        let (offset, len) = recast::<T, U>(self.allocation, self.offset, self.len)?;
        Ok(DeviceSlice::new(self.allocation, offset, len))
    }

    /// The elements before `middle`, and those from there on.
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::slice`].
    pub fn split_at(&self, middle: usize) -> Result<(Self, Self)> {
        Ok((self.slice(..middle)?, self.slice(middle..)?))
    }

    /// As [`DeviceBuffer::read`].
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::write`].
    #[doc(alias = "aclrtMemcpy")]
    #[track_caller]
    pub fn read(&self, data: &mut [T]) -> Result<()> {
        self.check_len(data.len())?;
        let (bytes, kind) = (self.size_bytes(), aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_HOST);
        self.context_inner().check_may_touch(bytes, "a copy to the host", Location::caller())?;
        self.allocation.wait_idle()?;
        let (to, from) = (data.as_mut_ptr().cast(), self.address());
        // SAFETY: `to` has room for `bytes` bytes of a type for which all are valid, and the call blocks until they
        // are written.
        unsafe { call!(&**self.context_inner(), aclrtMemcpy(to, bytes, from, bytes, kind)) }
    }

    /// As [`DeviceBuffer::to_vec`].
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::write`].
    #[track_caller]
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

impl<'a, T: Pod> DeviceSliceMut<'a, T> {
    #[inline]
    pub(super) fn new(allocation: &'a Arc<Allocation>, offset: usize, len: usize) -> Self {
        Self { allocation, offset, len, element: PhantomData }
    }

    /// The elements `range` of these, for reading.
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::slice`].
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<DeviceSlice<'_, T>> {
        self.as_slice().slice(range)
    }

    /// The elements `range` of these, for writing.
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::slice`].
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DeviceSliceMut<'_, T>> {
        self.as_mut_slice().into_part(range)
    }

    /// The elements before `middle`, and those from there on, both for writing.
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::slice`].
    pub fn split_at_mut(&mut self, middle: usize) -> Result<(DeviceSliceMut<'_, T>, DeviceSliceMut<'_, T>)> {
        self.as_mut_slice().into_halves(middle)
    }

    /// The same memory as elements of another type.
    ///
    /// # Errors
    ///
    /// As [`DeviceSlice::cast`].
    #[doc(alias = "transmute")]
    pub fn cast<U: Pod>(self) -> Result<DeviceSliceMut<'a, U>> {
        let (offset, len) = recast::<T, U>(self.allocation, self.offset, self.len)?;
        Ok(DeviceSliceMut::new(self.allocation, offset, len))
    }

    pub(super) fn into_part(self, range: impl RangeBounds<usize>) -> Result<Self> {
        let range = part(&range, self.len)?;
        Ok(Self::new(self.allocation, self.offset + range.start, range.len()))
    }

    pub(super) fn into_halves(self, middle: usize) -> Result<(Self, Self)> {
        let rest = part(&(middle..), self.len)?.len();
        let low = Self::new(self.allocation, self.offset, middle);
        Ok((low, Self::new(self.allocation, self.offset + middle, rest)))
    }

    /// As [`DeviceBuffer::write`].
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::write`].
    #[doc(alias = "aclrtMemcpy")]
    #[track_caller]
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        let own = self.as_slice();
        own.check_len(data.len())?;
        let (bytes, kind) = (own.size_bytes(), aclrtMemcpyKind::ACL_MEMCPY_HOST_TO_DEVICE);
        own.context_inner().check_may_touch(bytes, "a copy from the host", Location::caller())?;
        own.allocation.wait_idle()?;
        let (to, from) = (own.address(), data.as_ptr().cast());
        // SAFETY: `from` has `bytes` initialised bytes, `to` as many on the device, and the call blocks until it has
        // read them.
        unsafe { call!(&**own.context_inner(), aclrtMemcpy(to, bytes, from, bytes, kind)) }
    }
}

/// What all memory can be asked, as a [`DeviceSlice`] of all of it.
macro_rules! as_a_slice {
    ([$($life:lifetime)?] $memory:ty) => {
        impl<$($life,)? T: Pod> $memory {
            /// Number of elements.
            #[must_use]
            #[inline]
            pub fn len(&self) -> usize {
                self.as_slice().len()
            }

            /// Whether there are no elements; only a part can be empty.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.as_slice().is_empty()
            }

            /// Size in bytes.
            #[must_use]
            #[inline]
            pub fn size_bytes(&self) -> usize {
                self.as_slice().size_bytes()
            }

            /// The context that the memory belongs to.
            #[must_use]
            pub fn context(&self) -> Context {
                self.as_slice().context()
            }

            /// The device address of the first element. It must not be dereferenced on the host; valid as long as the
            /// memory.
            #[must_use]
            #[inline]
            pub fn address(&self) -> *mut c_void {
                self.as_slice().address()
            }

            /// Copies the content into `data`. Blocks: waits for work that uses the memory, then for the copy.
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
            #[track_caller]
            pub fn read(&self, data: &mut [T]) -> Result<()> {
                self.as_slice().read(data)
            }

            /// The content. Blocks: waits for work that uses the memory, then for the copy.
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
            #[track_caller]
            pub fn to_vec(&self) -> Result<Vec<T>> {
                self.as_slice().to_vec()
            }
        }
    };
}

as_a_slice!([] DeviceBuffer<T>);
as_a_slice!([] SharedBuffer<T>);
as_a_slice!([] GrowableBuffer<T>);
as_a_slice!([] ManagedBuffer<T>);
as_a_slice!(['a] DeviceSliceMut<'a, T>);

impl<T: Pod> DeviceRead for DeviceSlice<'_, T> {
    type Element = T;

    #[inline]
    fn as_slice(&self) -> DeviceSlice<'_, T> {
        *self
    }
}

impl<T: Pod> DeviceRead for DeviceSliceMut<'_, T> {
    type Element = T;

    #[inline]
    fn as_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice::new(self.allocation, self.offset, self.len)
    }
}

impl<T: Pod> DeviceWrite for DeviceSliceMut<'_, T> {
    #[inline]
    fn as_mut_slice(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut::new(self.allocation, self.offset, self.len)
    }
}

impl<T: Pod> Clone for DeviceSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Pod> Copy for DeviceSlice<'_, T> {}

impl<T: Pod> fmt::Debug for DeviceSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceSlice")
            .field("address", &self.address())
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl<T: Pod> fmt::Debug for DeviceSliceMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceSliceMut")
            .field("address", &self.address())
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
