//! Several copies with one call that waits for them.

use std::ffi::c_void;
use std::panic::Location;

use bytemuck::Pod;

use super::{attribute, check_places};
use crate::call::call;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::memory::{DeviceRead as _, DeviceSlice, DeviceSliceMut};

/// Places on the device and on the host, and how many bytes each has.
#[derive(Default)]
struct Copies {
    devices: Vec<*mut c_void>,
    hosts: Vec<*mut c_void>,
    sizes: Vec<usize>,
}

impl Copies {
    /// Adds a copy between memory, once no submitted work uses it, and as many elements at `host`.
    fn add<T: Pod>(&mut self, memory: DeviceSlice<'_, T>, host: *mut T) -> Result<()> {
        memory.allocation().wait_idle()?;
        if memory.size_bytes() > 0 {
            self.devices.push(memory.address());
            self.hosts.push(host.cast());
            self.sizes.push(memory.size_bytes());
        }
        Ok(())
    }

    /// Makes the copies.
    ///
    /// # Safety
    ///
    /// The host has so many bytes at each place, to read or to write.
    unsafe fn make(mut self, context: &Context, to_device: bool) -> Result<()> {
        let count = self.sizes.len();
        let inner = &**context.inner();
        let (mut most, mut failed, mut first) = (self.sizes.clone(), usize::MAX, 0);
        let mut attribute = attribute(inner.device(), to_device);
        let (to, from) = match to_device {
            true => (self.devices.as_mut_ptr(), self.hosts.as_mut_ptr()),
            false => (self.hosts.as_mut_ptr(), self.devices.as_mut_ptr()),
        };
        let (most, sizes) = (most.as_mut_ptr(), self.sizes.as_mut_ptr());
        let (attribute, first, failed_at) = (&raw mut attribute, &raw mut first, &raw mut failed);
        // SAFETY: the lists have `count` entries and live over the call, which blocks until the copies are made; both
        // sides have the bytes, by the caller's promise and as parts of memory, which no submitted work uses.
        unsafe { call!(inner, aclrtMemcpyBatch(to, most, from, sizes, count, attribute, first, 1, failed_at)) }
            .map_err(|error| super::explain(error, count, failed))
    }
}

/// That copies between memory and so many elements of the host can be made, and now.
fn check<'a, T: Pod>(
    context: &Context,
    places: impl Iterator<Item = (DeviceSlice<'a, T>, usize)>,
    what: &'static str,
    at: &'static Location<'static>,
) -> Result<()> {
    let mut bytes = 0_usize;
    for (memory, len) in places {
        memory.check_len(len)?;
        context.inner().check_memory(memory.context_inner(), || "memory".to_owned())?;
        bytes = bytes.saturating_add(memory.size_bytes());
    }
    if bytes == 0 {
        return Err(Error::invalid("a batch of copies without an element"));
    }
    context.inner().check_may_block(what, at)
}

impl Context {
    /// Copies slices of the host to many places on the device with one call; each has as many elements as its memory.
    /// Blocks: waits for work that uses the memory, then for the copies, which have no order among themselves. Parts
    /// without elements are left out. On a stream, from pinned memory:
    /// [`Stream::upload_batch`](crate::Stream::upload_batch).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for another length than a memory has, memory
    /// of another device or that overlaps another part's, or no element at all;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) where the library has no batches, and
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) where the card has none;
    /// otherwise as [`DeviceBuffer::write`](crate::DeviceBuffer::write). After an error of the call some of the copies
    /// may have been made.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let (mut a, mut b) = (device.alloc::<i32>(2)?, device.alloc::<i32>(1)?);
    /// device.context().write_batch(&mut [(a.slice_mut(..)?, &[1, 2]), (b.slice_mut(..)?, &[3])])?;
    /// let (mut x, mut y) = ([0], [0; 2]);
    /// device.context().read_batch(&mut [(b.slice(..)?, &mut x), (a.slice(..)?, &mut y)])?;
    /// assert_eq!((x, y), ([3], [1, 2]));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpyBatch")]
    #[track_caller]
    pub fn write_batch<T: Pod>(&self, parts: &mut [(DeviceSliceMut<'_, T>, &[T])]) -> Result<()> {
        check_places(parts.iter().map(|(memory, _)| memory.as_slice()))?;
        let places = parts.iter().map(|(memory, data)| (memory.as_slice(), data.len()));
        check(self, places, "Context::write_batch", Location::caller())?;
        let mut copies = Copies::default();
        for (memory, data) in parts.iter() {
            copies.add(memory.as_slice(), data.as_ptr().cast_mut())?;
        }
        // SAFETY: the slices are borrowed over the call, which reads them.
        unsafe { copies.make(self, true) }
    }

    /// Copies many places on the device to slices of the host with one call; otherwise as
    /// [`write_batch`](Self::write_batch).
    ///
    /// # Errors
    ///
    /// As [`write_batch`](Self::write_batch).
    ///
    /// # Examples
    ///
    /// See [`write_batch`](Self::write_batch).
    #[doc(alias = "aclrtMemcpyBatch")]
    #[track_caller]
    pub fn read_batch<T: Pod>(&self, parts: &mut [(DeviceSlice<'_, T>, &mut [T])]) -> Result<()> {
        let places = parts.iter().map(|(memory, data)| (*memory, data.len()));
        check(self, places, "Context::read_batch", Location::caller())?;
        let mut copies = Copies::default();
        for (memory, data) in parts.iter_mut() {
            copies.add(*memory, data.as_mut_ptr())?;
        }
        // SAFETY: the slices are borrowed exclusively over the call, which writes them; all bytes are valid elements.
        unsafe { copies.make(self, false) }
    }
}
