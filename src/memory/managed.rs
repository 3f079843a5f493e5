//! Memory at addresses that the host and all devices share, which moves to whoever uses it.

use std::ffi::c_void;
use std::fmt;
use std::ops::RangeBounds;
use std::ptr::NonNull;
use std::sync::Arc;

use bytemuck::Pod;

use super::device_buffer::byte_len;
use super::slice::part;
use super::visible::Visible;
use super::{Allocation, DeviceRead, DeviceSlice, DeviceSliceMut, DeviceWrite, SharedBuffer};
use crate::call::{call, non_null};
use crate::context::{Context, ContextInner, GiveBack};
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::pool::TAIL;

mod advice;

pub use advice::{ManagedAdvice, ManagedPlace};

/// Managed memory comes, is advised and is prefetched in these (guide: memory management, aclrtMemAllocManaged).
const PAGE: usize = 2 << 20;

/// Memory of `len` elements at addresses that the host and all devices share. It moves to whoever uses it, page by
/// page, so that there may be more of it than a device has memory. Zero at first.
///
/// Copies, operators and kernels take it as a [`DeviceBuffer`](super::DeviceBuffer); the host reaches it by
/// [`host`](Self::host), which waits for work that uses it, so host and device never race. Where it is to lie is
/// [advised](Self::advise), and moved ahead by [`Stream::prefetch_managed`](crate::Stream::prefetch_managed). Dropped
/// while streams use it, it is freed behind that work. Any thread may use it. It is not counted among the
/// [statistics](Context::memory_stats) of the context. Cards of the 950 series have it, others not.
///
/// C calls: `aclrtMemAllocManaged`, `aclrtFree`, `aclrtMemManagedAdvise`, `aclrtMemManagedGetAttr`,
/// `aclrtMemManagedGetAttrs`.
///
/// # Examples
///
/// ```
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let mut table = device.context().managed::<f32>(3)?;
/// table.host()?.copy_from_slice(&[1.0, 2.0, 3.0]);
/// stream.fill_words(&mut table.slice_mut(1..)?, 0.5)?;
/// assert_eq!(table.host()?, [1.0, 0.5, 0.5]); // waits for the fill
/// # Ok::<(), racl::Error>(())
/// ```
///
/// The host cannot have it while work is given to it:
///
/// ```compile_fail,E0502
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let (mut table, mut out) = (device.context().managed::<u8>(64)?, device.alloc(64)?);
/// let host = table.host()?;
/// stream.copy(&table, &mut out)?;
/// host[0] = 1;
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclrtMemAllocManaged")]
#[doc(alias = "cudaMallocManaged")]
pub struct ManagedBuffer<T: Pod>(Visible<T>);

impl Context {
    /// Managed memory for `len` elements, every byte zero. See [`ManagedBuffer`]. Does not wait for the device.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for no elements, more bytes than an address space has, or more than 3 TiB;
    /// [`ErrorKind::NotSupported`] where the card or the driver has none; [`ErrorKind::MissingSymbol`] up to CANN 9.1.
    #[doc(alias = "aclrtMemAllocManaged")]
    pub fn managed<T: Pod>(&self, len: usize) -> Result<ManagedBuffer<T>> {
        let (bytes, mut address) = (byte_len::<T>(len)?, std::ptr::null_mut());
        let flag = acl_sys::ACL_RT_MEM_ATTACH_GLOBAL;
        // SAFETY: a place for one address.
        unsafe { call!(&**self.inner(), aclrtMemAllocManaged(&raw mut address, bytes as u64 + TAIL as u64, flag)) }
            .map_err(|error| error.context(format!("allocating {bytes} bytes of managed memory")))?;
        let address = non_null(address, "aclrtMemAllocManaged")?;
        let owner = Arc::new(Address(address));
        let allocation = Allocation::of_calls(self.inner(), address, bytes, 0, owner);
        let host = NonNull::new(address.cast::<T>()).filter(|host| host.is_aligned());
        let host = host.ok_or_else(|| {
            Error::new(ErrorKind::NotSupported, "managed memory that is not aligned for the elements")
        })?;
        // SAFETY: the call gave more bytes, which the host reaches at the same address, and nobody else knows.
        unsafe { host.as_ptr().write_bytes(0, len) };
        // SAFETY: as above, the elements are zero now; they stay as long as the allocation.
        Ok(ManagedBuffer(unsafe { Visible::new(allocation, host, len) }))
    }
}

/// An address for whichever thread frees it.
struct Address(*mut c_void);

impl GiveBack for Address {
    fn give_back(&self, context: &ContextInner) -> Result<()> {
        // SAFETY: the address came from `aclrtMemAllocManaged`, and no submitted work uses the memory.
        unsafe { call!(context, aclrtFree(self.0)) }
    }
}

// SAFETY: the address is only passed on; any thread may free memory.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

impl<T: Pod> ManagedBuffer<T> {
    /// The memory for the host. Blocks: waits for work that uses it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] while [shared](Self::shared) handles, tensors, graphs or captures have the
    /// memory; the error of work that is waited for.
    pub fn host(&mut self) -> Result<&mut [T]> {
        self.0.host()
    }

    /// A further handle, for tensors, plans and other threads; the host has the memory once it is gone.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::{Tensor, op};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut table = device.context().managed::<f32>(2)?;
    /// table.host()?.copy_from_slice(&[1.0, 2.0]);
    /// let mut tensor = Tensor::over(table.shared(), [2])?;
    /// op::adds_inplace(&stream, &mut tensor, 1.0)?;
    /// assert!(table.host().is_err());
    /// drop(tensor);
    /// assert_eq!(table.host()?, [2.0, 3.0]); // waits for the sum
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn shared(&self) -> SharedBuffer<T> {
        SharedBuffer::new(Arc::clone(self.0.allocation()), 0, self.0.len())
    }

    /// The elements `range`, borrowed for reading on the device.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a range outside the buffer.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<DeviceSlice<'_, T>> {
        self.as_slice().slice(range)
    }

    /// The elements `range`, borrowed for writing on the device.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a range outside the buffer.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DeviceSliceMut<'_, T>> {
        self.as_mut_slice().into_part(range)
    }

    pub(crate) fn allocation(&self) -> &Arc<Allocation> {
        self.0.allocation()
    }

    /// The whole pages that elements lie in: where they begin, and their bytes.
    pub(super) fn pages(&self, range: &impl RangeBounds<usize>) -> Result<(*mut c_void, usize)> {
        let range = part(range, self.0.len())?;
        if range.is_empty() {
            return Err(Error::invalid("a part of managed memory without an element"));
        }
        let (base, size) = (self.allocation().address(), size_of::<T>());
        let start = base.wrapping_byte_add(range.start * size);
        let before = start.addr() % PAGE;
        Ok((start.wrapping_byte_sub(before), (before + range.len() * size).next_multiple_of(PAGE)))
    }

    /// Waits for work that uses the memory, and frees it.
    ///
    /// # Errors
    ///
    /// The buffer and why: [`ErrorKind::InvalidArgument`] while shared handles, tensors, graphs or captures have the
    /// memory; the error of work that is waited for; what the library says.
    #[doc(alias = "aclrtFree")]
    pub fn close(mut self) -> Result<(), Refused<Self>> {
        self.0.end().map_err(|error| Refused::new(self, error))
    }
}

impl<T: Pod> DeviceRead for ManagedBuffer<T> {
    type Element = T;

    fn as_slice(&self) -> DeviceSlice<'_, T> {
        self.0.as_slice()
    }
}

impl<T: Pod> DeviceWrite for ManagedBuffer<T> {
    fn as_mut_slice(&mut self) -> DeviceSliceMut<'_, T> {
        self.0.as_mut_slice()
    }
}

impl<T: Pod> fmt::Debug for ManagedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address();
        f.debug_struct("ManagedBuffer").field("address", &address).field("len", &self.len()).finish_non_exhaustive()
    }
}
