//! Device memory with several handles.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::sync::Arc;

use bytemuck::Pod;

use super::slice::{part, recast};
use super::{Allocation, DeviceBuffer, DeviceRead, DeviceSlice, DeviceSliceMut, DeviceWrite};
use crate::error::{Error, Refused, Result};

/// Device memory with several handles: clones and parts share it and keep it, and each of them may write it. They go to
/// other threads, into [tensors](crate::Tensor) and to [plans](crate::plan).
///
/// It comes from [`DeviceBuffer::into_shared`], and the last handle becomes a buffer of one owner again with
/// [`SharedBuffer::into_buffer`]. An exclusive borrow of one handle says nothing of the others: what is written, and
/// when, is up to the program; the device runs work on the same memory in [order](crate::Stream#order-between-streams).
/// Lengths, offsets and ranges count elements.
///
/// # Examples
///
/// ```
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let all = device.upload(&[1, 2, 3, 4])?.into_shared();
/// let mut middle = all.slice(1..3)?;
/// std::thread::spawn(move || middle.write(&[0, 0])).join().expect("no panic")?;
/// assert_eq!(all.to_vec()?, [1, 0, 0, 4]);
/// # Ok::<(), racl::Error>(())
/// ```
pub struct SharedBuffer<T: Pod> {
    allocation: Arc<Allocation>,
    /// First element.
    offset: usize,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Pod> SharedBuffer<T> {
    /// `len` elements from byte `offset` of an allocation that has them; the offset is a multiple of their size.
    pub(crate) fn within(allocation: &Arc<Allocation>, offset: usize, len: usize) -> Self {
        Self::new(Arc::clone(allocation), offset / size_of::<T>(), len)
    }

    #[inline]
    pub(super) fn new(allocation: Arc<Allocation>, offset: usize, len: usize) -> Self {
        Self { allocation, offset, len, element: PhantomData }
    }

    #[inline]
    pub(crate) fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    /// The elements `range`, as another handle of the memory.
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
    /// let all = device.upload(&[1, 2, 3, 4])?.into_shared();
    /// let last = all.slice(3..)?;
    /// drop(all);
    /// assert_eq!(last.to_vec()?, [4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let range = part(&range, self.len)?;
        Ok(Self::new(Arc::clone(&self.allocation), self.offset + range.start, range.len()))
    }

    /// A further handle of the same memory, as elements of another type.
    ///
    /// # Errors
    ///
    /// As [`DeviceSlice::cast`].
    #[doc(alias = "transmute")]
    pub fn cast<U: Pod>(&self) -> Result<SharedBuffer<U>> {
        let (offset, len) = recast::<T, U>(&self.allocation, self.offset, self.len)?;
        Ok(SharedBuffer::new(Arc::clone(&self.allocation), offset, len))
    }

    /// As [`DeviceBuffer::write`].
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::write`].
    #[doc(alias = "aclrtMemcpy")]
    #[track_caller]
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        self.as_mut_slice().write(data)
    }

    /// The memory for one owner again, when this is its last handle. A part becomes a buffer of its elements alone; the
    /// rest of the memory is freed with it.
    ///
    /// # Errors
    ///
    /// This handle and [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) while other handles, tensors,
    /// graphs or plans share the memory.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let shared = device.upload(&[1, 2])?.into_shared();
    /// let clone = shared.clone();
    /// let shared = shared.into_buffer().unwrap_err().into_value();
    /// drop(clone);
    /// let mut buffer = shared.into_buffer()?;
    /// buffer.slice_mut(..1)?.write(&[3])?;
    /// assert_eq!(buffer.to_vec()?, [3, 2]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn into_buffer(self) -> Result<DeviceBuffer<T>, Refused<Self>> {
        match self.check_alone() {
            Ok(()) => Ok(DeviceBuffer::alone(self)),
            Err(error) => Err(Refused::new(self, error)),
        }
    }

    /// Waits for work that uses the memory and frees it now, when this is its last handle.
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::close`], with this handle. Of memory that was [reserved](crate::Context::reserve) some pieces
    /// may be unmapped then: the handle has what is left, which may be nothing.
    #[doc(alias = "aclrtFree")]
    pub fn close(mut self) -> Result<(), Refused<Self>> {
        if let Err(error) = self.check_alone() {
            return Err(Refused::new(self, error));
        }
        let Err(error) = self.allocation.end() else { return Ok(()) };
        // Of memory that was mapped, some may be gone.
        let left = (self.allocation.left() / size_of::<T>()).saturating_sub(self.offset);
        self.len = self.len.min(left);
        Err(Refused::new(self, error))
    }

    /// Waits for work that uses the memory, which is not freed then: all of it, by its last handle.
    pub(super) fn give_away(&self) -> Result<()> {
        self.check_alone()?;
        if self.offset != 0 {
            return Err(Error::invalid("a part of memory cannot be given away by itself"));
        }
        self.allocation.give_away()
    }

    fn check_alone(&self) -> Result<()> {
        match Arc::strong_count(&self.allocation) - 1 {
            0 => Ok(()),
            others => Err(Error::invalid(format!("{others} other handles, tensors or graphs share the memory"))),
        }
    }
}

impl<T: Pod> From<DeviceBuffer<T>> for SharedBuffer<T> {
    fn from(buffer: DeviceBuffer<T>) -> Self {
        buffer.into_shared()
    }
}

impl<T: Pod> DeviceRead for SharedBuffer<T> {
    type Element = T;

    #[inline]
    fn as_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice::new(&self.allocation, self.offset, self.len)
    }
}

impl<T: Pod> DeviceWrite for SharedBuffer<T> {
    #[inline]
    fn as_mut_slice(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut::new(&self.allocation, self.offset, self.len)
    }
}

impl<T: Pod> Clone for SharedBuffer<T> {
    /// Another handle of the same memory.
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.allocation), self.offset, self.len)
    }
}

impl<T: Pod> fmt::Debug for SharedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedBuffer")
            .field("address", &self.address())
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
