//! Device memory that grows in place: addresses that are reserved once, into which physical memory is mapped.

use std::ffi::c_void;
use std::fmt;
use std::ops::RangeBounds;
use std::sync::Arc;

use acl_sys::{aclrtMemAccessDesc, aclrtMemAccessFlags, aclrtMemLocation, aclrtMemLocationType};
use bytemuck::Pod;

use super::device_buffer::byte_len;
use super::{Allocation, DeviceRead, DeviceSlice, DeviceSliceMut, DeviceWrite, PhysicalMemory, SharedBuffer};
use crate::call::{Caller as _, call};
use crate::context::{Context, ContextInner, GiveBack};
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::lock::Lock;

/// Of which a library without the question has multiples.
const STEP: usize = 2 << 20;

/// What work of a device may do with memory that is mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "aclrtMemAccessFlags")]
pub enum MemoryAccess {
    /// Nothing.
    None,
    /// Reading.
    Read,
    /// Reading and writing.
    ReadWrite,
}

/// Device memory that grows in place: its addresses are reserved once, and physical memory is mapped behind what is
/// there when it is asked for, so that addresses in graphs, plans and kernels stay what they are. A cache that grows
/// with a text, say, of which nobody knows how long it becomes.
///
/// What is mapped ends with a page, and nothing is behind it, where other memory of this crate has 32 bytes more than was
/// asked for: operators may read so many past the end of what they are given (guide: memory management, aclrtMalloc). So
/// tensors end 32 bytes before the end of what is mapped, or more is mapped than they need.
///
/// It has as many elements as are mapped, none at first: [`grow`](Self::grow) and [`map`](Self::map) make more,
/// [`shrink`](Self::shrink) makes fewer. Copies and operators take it as a [`DeviceBuffer`](super::DeviceBuffer);
/// [`shared`](Self::shared) gives handles for tensors and plans. Dropped while streams use it, it is unmapped behind
/// that work; a graph that uses it keeps it. Any thread may use it. What is mapped is not counted among the
/// [statistics](Context::memory_stats) of the context, nor against its limit.
///
/// C calls: `aclrtReserveMemAddress`, `aclrtMapMem`, `aclrtUnmapMem`, `aclrtReleaseMemAddress`, `aclrtMemSetAccess`,
/// `aclrtMemGetAccess`, and those of [`PhysicalMemory`].
///
/// # Examples
///
/// ```
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let mut cache = device.context().reserve::<f32>(1 << 30)?;
/// cache.grow(1000)?;
/// let address = cache.address();
/// stream.fill_words(&mut cache.slice_mut(..1000)?, 1.0)?;
/// cache.grow(1 << 20)?; // while the fill runs
/// assert_eq!((cache.address(), cache.len() >= 1 << 20), (address, true));
/// assert_eq!(cache.slice(..1000)?.to_vec()?, [1.0; 1000]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclrtReserveMemAddress")]
#[doc(alias = "cuMemAddressReserve")]
pub struct GrowableBuffer<T: Pod> {
    /// All that is reserved.
    allocation: Arc<Allocation>,
    addresses: Arc<Addresses>,
    /// Elements that are mapped.
    len: usize,
    /// What devices may do with it, as far as it was said.
    access: Vec<(i32, MemoryAccess)>,
    element: std::marker::PhantomData<T>,
}

/// Addresses that are reserved, and what is mapped there.
struct Addresses {
    start: *mut c_void,
    bytes: usize,
    /// They lie one behind the other.
    pieces: Lock<Vec<Mapped>>,
}

/// One mapping.
struct Mapped {
    bytes: usize,
    /// Of the memory, where that is of another device, whose reset would take it away.
    owner: Option<Arc<ContextInner>>,
}

// SAFETY: the address is only passed on and never dereferenced on the host; what is mapped has a lock.
unsafe impl Send for Addresses {}
// SAFETY: as above.
unsafe impl Sync for Addresses {}

impl Addresses {
    fn mapped(&self) -> usize {
        self.pieces.lock().iter().map(|piece| piece.bytes).sum()
    }

    /// Where each mapping begins, and its bytes.
    fn pieces(&self) -> Vec<(*mut c_void, usize)> {
        let mut at = 0;
        let place = |piece: &Mapped| {
            let start = self.start.wrapping_byte_add(at);
            at += piece.bytes;
            (start, piece.bytes)
        };
        self.pieces.lock().iter().map(place).collect()
    }

    /// Takes the last mapping away, which no submitted work uses.
    fn unmap_last(&self, context: &ContextInner) -> Result<()> {
        let Some((start, _)) = self.pieces().pop() else { return Ok(()) };
        // SAFETY: memory was mapped at this address, and the callers see to it that no submitted work uses it.
        unsafe { call!(context, aclrtUnmapMem(start)) }?;
        let gone = self.pieces.lock().pop();
        // Its context may end here, which takes calls.
        drop(gone);
        Ok(())
    }
}

impl GiveBack for Addresses {
    /// What was done stays done when it is called again after an error.
    fn give_back(&self, context: &ContextInner) -> Result<()> {
        while self.mapped() > 0 {
            self.unmap_last(context)?;
        }
        // SAFETY: the addresses were reserved for this value, nothing is mapped there, and they are released once.
        unsafe { call!(context, aclrtReleaseMemAddress(self.start)) }
    }

    fn left(&self) -> usize {
        self.mapped()
    }

    fn holds_context(&self) -> bool {
        self.pieces.lock().iter().any(|piece| piece.owner.is_some())
    }
}

/// The bytes of which memory is mapped.
fn step(context: &Context) -> Result<usize> {
    // Releases up to CANN 9.1 have the rest without it.
    if context.inner().table().has("aclrtMemGetAllocationGranularity") {
        context.memory_granularity()
    } else {
        Ok(STEP)
    }
}

impl Context {
    /// Addresses for `most` elements, to which memory comes later: a [`GrowableBuffer`] with no element yet. Reserved
    /// addresses take no memory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for no elements or more bytes than an address space has;
    /// [`ErrorKind::OutOfMemory`] when no such range of addresses is left; [`ErrorKind::MissingSymbol`] on a library
    /// without virtual memory.
    #[doc(alias = "aclrtReserveMemAddress")]
    pub fn reserve<T: Pod>(&self, most: usize) -> Result<GrowableBuffer<T>> {
        let (bytes, step) = (byte_len::<T>(most)?, step(self)?);
        let bytes = bytes.checked_next_multiple_of(step).filter(|bytes| *bytes <= isize::MAX as usize);
        let bytes = bytes.ok_or_else(|| Error::invalid(format!("{most} elements do not fit an address space")))?;
        let mut start = std::ptr::null_mut();
        // SAFETY: a place for one address; no wanted one.
        unsafe { call!(&**self.inner(), aclrtReserveMemAddress(&raw mut start, bytes, 0, std::ptr::null_mut(), 0)) }
            .map_err(|error| error.context(format!("reserving {bytes} bytes of addresses")))?;
        let addresses = Arc::new(Addresses { start, bytes, pieces: Lock::default() });
        let owner: Arc<dyn GiveBack> = Arc::<Addresses>::clone(&addresses);
        let allocation = Allocation::of_calls(self.inner(), start, bytes, 0, owner);
        if start.is_null() || !start.cast::<T>().is_aligned() {
            return Err(Error::new(
                ErrorKind::NotSupported,
                "reserved addresses that are not aligned for the elements",
            ));
        }
        let element = std::marker::PhantomData;
        Ok(GrowableBuffer { allocation, addresses, len: 0, access: Vec::new(), element })
    }
}

impl<T: Pod> GrowableBuffer<T> {
    /// How many elements have addresses.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.addresses.bytes / size_of::<T>()
    }

    /// Lets it have at least `len` elements: maps as much new memory of this device behind what is there as is missing,
    /// in whole pages. Work that uses what is there goes on meanwhile. The content of new memory is undefined.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for more than the [capacity](Self::capacity); as
    /// [`Context::physical_memory`]. What is there stays then.
    #[doc(alias = "aclrtMapMem")]
    #[doc(alias = "aclrtMallocPhysical")]
    pub fn grow(&mut self, len: usize) -> Result<()> {
        if len <= self.len {
            return Ok(());
        }
        let context = self.context();
        let (wanted, mapped) = (byte_len::<T>(len)?, self.addresses.mapped());
        let missing =
            wanted.saturating_sub(mapped).max(1).checked_next_multiple_of(step(&context)?).unwrap_or(usize::MAX);
        self.check_room(missing)?;
        self.map(&context.physical_memory(missing)?)
    }

    /// Maps `memory` behind what is there, all of it. It stays mapped when the value goes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for memory that is more than the [capacity](Self::capacity) leaves, of another
    /// library, or of a number of bytes that the other process did not export; and where the library does not take it,
    /// which has memory of one device in a range, all own or all imported (guide: memory management, aclrtMapMem).
    #[doc(alias = "aclrtMapMem")]
    #[doc(alias = "cuMemMap")]
    pub fn map(&mut self, memory: &PhysicalMemory) -> Result<()> {
        let context = self.allocation.context();
        context.check_library(memory.context(), "physical memory")?;
        let (bytes, mapped) = (memory.size_bytes(), self.addresses.mapped());
        self.check_room(bytes)?;
        let start = self.addresses.start.wrapping_byte_add(mapped);
        // SAFETY: the addresses are reserved, nothing is mapped there, and the handle is live.
        unsafe { call!(&**context, aclrtMapMem(start, bytes, 0, memory.as_raw(), 0)) }?;
        let owner = memory.owner(context);
        self.addresses.pieces.lock().push(Mapped { bytes, owner });
        let granted =
            self.access.iter().try_for_each(|(device, access)| grant(context, (start, bytes), *device, *access));
        if let Err(error) = granted {
            // No work uses it yet.
            if let Err(stays) = self.addresses.unmap_last(context) {
                context.record_drop_error("unmapping device memory", stays);
            }
            return Err(error);
        }
        self.len = (mapped + bytes) / size_of::<T>();
        Ok(())
    }

    fn check_room(&self, bytes: usize) -> Result<()> {
        let (mapped, all) = (self.addresses.mapped(), self.addresses.bytes);
        if bytes <= all - mapped {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{bytes} bytes more than the {mapped} that are mapped, of {all} that are reserved"
        )))
    }

    /// Unmaps what lies beyond `len` elements, in the pieces in which it was mapped: each stays whole that has one of
    /// these. Blocks: waits for work that uses the buffer.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] while [shared](Self::shared) handles, tensors, graphs or captures have the
    /// memory; the error of work that is waited for; what unmapping fails with, after which some may be gone.
    #[doc(alias = "aclrtUnmapMem")]
    pub fn shrink(&mut self, len: usize) -> Result<()> {
        self.check_alone()?;
        self.allocation.wait_idle()?;
        let bytes = len.saturating_mul(size_of::<T>());
        let context = Arc::clone(self.allocation.context());
        loop {
            let mapped = self.addresses.mapped();
            self.len = mapped / size_of::<T>();
            match self.addresses.pieces().last() {
                Some((_, last)) if mapped - last >= bytes => self.addresses.unmap_last(&context)?,
                _ => return Ok(()),
            }
        }
    }

    /// The physical memory at element `at`, the piece as a whole: to be mapped elsewhere, or exported.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for an element that is not mapped; [`ErrorKind::MissingSymbol`] up to CANN 9.1.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let context = device.context();
    /// let (mut one, mut other) = (context.reserve::<u8>(1 << 30)?, context.reserve::<u8>(1 << 30)?);
    /// one.grow(1)?;
    /// other.map(&one.physical(0)?)?;
    /// other.slice_mut(..1)?.write(&[7])?;
    /// assert_eq!(one.slice(..1)?.to_vec()?, [7]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemRetainAllocationHandle")]
    pub fn physical(&self, at: usize) -> Result<PhysicalMemory> {
        let byte = at.saturating_mul(size_of::<T>());
        let within = |(_, (start, bytes)): &(usize, (*mut c_void, usize))| {
            (byte).checked_sub(start.addr() - self.addresses.start.addr()).is_some_and(|offset| offset < *bytes)
        };
        let Some((index, (start, bytes))) = self.addresses.pieces().into_iter().enumerate().find(within) else {
            return Err(Error::invalid(format!("element {at} of {} that are mapped", self.len)));
        };
        let owner = self.addresses.pieces.lock().get(index).and_then(|piece| piece.owner.clone());
        PhysicalMemory::mapped_at(start, bytes, self.allocation.context(), owner)
    }

    /// What work of the device of context `of` may do with the memory, all that is mapped and what will be. At first the
    /// device that a piece of [memory](PhysicalMemory) is of may read and write it, which is not the buffer's own for one
    /// that is [mapped](Self::map) from another device, and others may do nothing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a device of another library; [`ErrorKind::MissingSymbol`] up to CANN 9.1;
    /// [`ErrorKind::Driver`] for devices without a link. Some of it may have the new access then.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::MemoryAccess;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let mut buffer = device.context().reserve::<u8>(1 << 30)?;
    /// buffer.grow(1)?;
    /// assert_eq!(buffer.access(&device)?, MemoryAccess::ReadWrite);
    /// buffer.set_access(&device, MemoryAccess::Read)?;
    /// assert_eq!(buffer.access(&device)?, MemoryAccess::Read);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemSetAccess")]
    #[doc(alias = "cuMemSetAccess")]
    pub fn set_access(&mut self, of: impl AsRef<Context>, access: MemoryAccess) -> Result<()> {
        let (context, other) = (self.allocation.context(), of.as_ref().inner());
        context.check_library(other, "a device")?;
        let device = other.device();
        context.table().aclrtMemSetAccess()?;
        self.addresses.pieces().into_iter().try_for_each(|piece| grant(context, piece, device, access))?;
        self.access.retain(|(known, _)| *known != device);
        self.access.push((device, access));
        Ok(())
    }

    /// What work of the device of context `of` may do with all the memory that is mapped. Of pieces that differ it is the
    /// least.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a device of another library, and where nothing is mapped;
    /// [`ErrorKind::MissingSymbol`] up to CANN 9.1; [`ErrorKind::UnknownValue`] for an answer that this crate does not
    /// know.
    #[doc(alias = "aclrtMemGetAccess")]
    pub fn access(&self, of: impl AsRef<Context>) -> Result<MemoryAccess> {
        let (context, other) = (self.allocation.context(), of.as_ref().inner());
        context.check_library(other, "a device")?;
        if self.len == 0 {
            return Err(Error::invalid("access to a buffer into which nothing is mapped"));
        }
        let known = [MemoryAccess::None, MemoryAccess::Read, MemoryAccess::ReadWrite];
        let mut least = known.len() - 1;
        for (start, _) in self.addresses.pieces() {
            let (mut place, mut flags) = (location(other.device()), 0);
            // SAFETY: memory is mapped at the address; a place, and room for one number.
            unsafe { call!(&**context, aclrtMemGetAccess(start, &raw mut place, &raw mut flags)) }?;
            let found = known.iter().position(|access| u64::from(flags_of(*access).0) == flags);
            let unknown = || Error::new(ErrorKind::UnknownValue, format!("access flags {flags:#x}"));
            least = least.min(found.ok_or_else(unknown)?);
        }
        Ok(known[least])
    }

    /// A handle of what is mapped now, for tensors, plans and other threads. It keeps the memory, and what is mapped
    /// later is no part of it.
    #[must_use]
    pub fn shared(&self) -> SharedBuffer<T> {
        SharedBuffer::new(Arc::clone(&self.allocation), 0, self.len)
    }

    /// The elements `range`, borrowed for reading.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a range outside of what is mapped.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<DeviceSlice<'_, T>> {
        self.as_slice().slice(range)
    }

    /// The elements `range`, borrowed for writing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a range outside of what is mapped.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DeviceSliceMut<'_, T>> {
        self.as_mut_slice().into_part(range)
    }

    /// Waits for work that uses the memory, unmaps it and gives the addresses back.
    ///
    /// # Errors
    ///
    /// The buffer and why: [`ErrorKind::InvalidArgument`] while other handles, tensors, graphs or captures have the
    /// memory; the error of work that is waited for; what the library says, after which some may be unmapped.
    #[doc(alias = "aclrtReleaseMemAddress")]
    pub fn close(mut self) -> Result<(), Refused<Self>> {
        match self.check_alone().and_then(|()| self.allocation.end()) {
            Ok(()) => Ok(()),
            Err(error) => {
                self.len = self.addresses.mapped() / size_of::<T>();
                Err(Refused::new(self, error))
            }
        }
    }

    fn check_alone(&self) -> Result<()> {
        match Arc::strong_count(&self.allocation) - 1 {
            0 => Ok(()),
            others => Err(Error::invalid(format!("{others} other handles, tensors or graphs share the memory"))),
        }
    }
}

fn location(device: i32) -> aclrtMemLocation {
    let type_ = aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_DEVICE;
    aclrtMemLocation { id: device.cast_unsigned(), type_ }
}

fn flags_of(access: MemoryAccess) -> aclrtMemAccessFlags {
    match access {
        MemoryAccess::None => aclrtMemAccessFlags::ACL_RT_MEM_ACCESS_FLAGS_NONE,
        MemoryAccess::Read => aclrtMemAccessFlags::ACL_RT_MEM_ACCESS_FLAGS_READ,
        MemoryAccess::ReadWrite => aclrtMemAccessFlags::ACL_RT_MEM_ACCESS_FLAGS_READWRITE,
    }
}

/// Gives a device access to one mapping.
fn grant(context: &ContextInner, piece: (*mut c_void, usize), device: i32, access: MemoryAccess) -> Result<()> {
    let mut wanted = aclrtMemAccessDesc { flags: flags_of(access), location: location(device), rsv: [0; 12] };
    // SAFETY: a mapping as a whole, and a list of one.
    unsafe { call!(context, aclrtMemSetAccess(piece.0, piece.1, &raw mut wanted, 1)) }
}

impl<T: Pod> DeviceRead for GrowableBuffer<T> {
    type Element = T;

    #[inline]
    fn as_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice::new(&self.allocation, 0, self.len)
    }
}

impl<T: Pod> DeviceWrite for GrowableBuffer<T> {
    #[inline]
    fn as_mut_slice(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut::new(&self.allocation, 0, self.len)
    }
}

impl<T: Pod> fmt::Debug for GrowableBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrowableBuffer")
            .field("address", &self.address())
            .field("len", &self.len)
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}
