//! Addresses that stand in device memory.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use acl_sys::aclrtMemcpyKind;
use bytemuck::Pod;

use super::{KIND, check_held, copied_bytes, place};
use crate::allocation::{Allocation, Touch};
use crate::call::call;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::memory::SharedBuffer;
use crate::memory::apart::check_apart;
use crate::stream::Stream;

/// A place in device memory whose address stands in device memory itself, where copies look it up when they run
/// ([`Stream::copy_pointed`]). So copies that a graph holds, at fixed distances from the place, move with it.
///
/// It keeps the memory, and so does a graph with a copy of it. Any thread may use it.
///
/// C calls: `aclrtMemcpyAsyncWithOffset`, `aclrtMemcpy`.
///
/// # Examples
///
/// ```
/// use racl::CaptureMode;
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let pages = device.upload(&[[1; 16], [2; 16], [3; 16]])?.into_shared();
/// let out = device.alloc_zeroed::<[i32; 16]>(1)?.into_shared();
/// let (mut page, target) = (device.context().device_pointer(&pages)?, device.context().device_pointer(&out)?);
/// let mut fetch = stream.capture(CaptureMode::ThreadLocal, |s| s.copy_pointed((&page, 1), (&target, 0), 1))?;
/// fetch.launch(&stream)?;
/// assert_eq!(out.to_vec()?, [[2; 16]]);
/// page.point_to(1)?;
/// fetch.launch(&stream)?;
/// assert_eq!(out.to_vec()?, [[3; 16]]);
/// # Ok::<(), racl::Error>(())
/// ```
pub struct DevicePointer<T: Pod> {
    /// Where the address stands.
    cell: Arc<Allocation>,
    memory: SharedBuffer<T>,
    /// The element that it leads to.
    at: usize,
    /// How many elements from there on copies may touch that a graph has.
    reach: AtomicUsize,
}

impl Context {
    /// A pointer in device memory to the first element of `memory`. Blocks until it is there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for memory of another device, or without
    /// elements, or whose address is no multiple of 64 bytes; otherwise as [`Context::upload`].
    #[track_caller]
    pub fn device_pointer<T: Pod>(&self, memory: &SharedBuffer<T>) -> Result<DevicePointer<T>> {
        self.inner().check_memory(memory.allocation().context(), || "memory".to_owned())?;
        copied_bytes::<T>(memory.len().min(1))?;
        let cell = Allocation::new(self.inner(), size_of::<u64>())?;
        let mut made = DevicePointer { cell, memory: memory.clone(), at: 0, reach: AtomicUsize::new(0) };
        made.point_to(0)?;
        Ok(made)
    }
}

impl<T: Pod> DevicePointer<T> {
    /// The element that it leads to.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }

    /// Lets it lead to element `position` of its memory, for copies from now on, also those of graphs that are launched
    /// later. Blocks: waits for copies that were queued or launched before, then writes the address.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for an element that the memory does not have
    /// or whose address is no multiple of 64 bytes, and where a copy of a graph would reach beyond the memory: the
    /// pointer stays as it was. The error of work that is waited for;
    /// [`ErrorKind::CaptureForbidden`](crate::ErrorKind::CaptureForbidden) when a capture of this context does not
    /// allow blocking copies.
    #[track_caller]
    pub fn point_to(&mut self, position: usize) -> Result<()> {
        let target = place(&self.memory, position, 1)?;
        self.cell.context().check_may_block("DevicePointer::point_to", Location::caller())?;
        self.cell.wait_idle()?;
        if Arc::strong_count(&self.cell) == 1 {
            // No graph has a copy, and no capture.
            *self.reach.get_mut() = 0;
        }
        check_held(&self.memory, position, *self.reach.get_mut())?;
        let address = (target.expose_provenance() as u64).to_ne_bytes();
        let (to, from, bytes) = (self.cell.address(), address.as_ptr().cast(), address.len());
        let kind = aclrtMemcpyKind::ACL_MEMCPY_HOST_TO_DEVICE;
        // SAFETY: the cell has as many bytes, and no submitted work reads them; the call blocks until it has read.
        unsafe { call!(&**self.cell.context(), aclrtMemcpy(to, bytes, from, bytes, kind)) }?;
        self.at = position;
        Ok(())
    }

    /// The end of `len` elements from `start` behind the place on, which can be copied now.
    fn end(&self, start: usize, len: usize) -> Result<usize> {
        let end = start.checked_add(len).filter(|end| *end <= self.memory.len() - self.at);
        end.ok_or_else(|| {
            let (at, all) = (self.at, self.memory.len());
            Error::invalid(format!("{len} elements from {start} behind element {at} on, of memory with {all}"))
        })
    }

    /// Copies up to that element can be made wherever it leads later.
    fn extend(&self, end: usize) {
        self.reach.fetch_max(end, Ordering::AcqRel);
    }
}

impl Stream {
    /// Copies `len` elements on the device when the stream gets there, from so many elements behind where the one
    /// pointer leads then to so many behind where the other one does. Returns when that is queued. In a capture it
    /// becomes part of the graph, which follows the pointers anew at each launch.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for elements that a memory does not have
    /// behind the pointer, none or more than 4 GiB, addresses that are not multiples of 64 bytes, places that overlap
    /// without being the same (in a capture it is for the caller that they do not at any launch), and memory of another device; [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) up to CANN 9.1; otherwise as
    /// [`Stream::copy_described`].
    ///
    /// # Examples
    ///
    /// See [`DevicePointer`].
    #[doc(alias = "aclrtMemcpyAsyncWithOffset")]
    #[track_caller]
    pub fn copy_pointed<T: Pod>(
        &self,
        from: (&DevicePointer<T>, usize),
        to: (&DevicePointer<T>, usize),
        len: usize,
    ) -> Result<()> {
        let named = ("copy_pointed", Location::caller());
        let checked = copied_bytes::<T>(len).and_then(|bytes| {
            // Before the lock, which a thread that waits for room in the queue has.
            self.0.check_thread()?;
            for (pointer, offset) in [from, to] {
                pointer.end(offset, len)?;
                place(&pointer.memory, pointer.at + offset, len)?;
            }
            let address = |(pointer, offset): (&DevicePointer<T>, usize)| {
                pointer.memory.address().addr() + (pointer.at + offset) * size_of::<T>()
            };
            // A graph goes by where they lead when it is launched.
            let captures = self.0.lock().capture.is_some();
            if !captures {
                check_apart(address(from), address(to), bytes)?;
            }
            Ok((bytes, captures))
        });
        let (bytes, captures) = checked.map_err(|error| self.refuse(named, error))?;
        let uses = [
            Touch::read(&from.0.cell),
            Touch::read(&to.0.cell),
            Touch::read(from.0.memory.allocation()),
            Touch::written(to.0.memory.allocation()),
        ];
        let (source, target) = (from.0.cell.address().cast(), to.0.cell.address().cast());
        let (read, written) = (from.1 * size_of::<T>(), to.1 * size_of::<T>());
        self.submit_indirect(named, &uses, |raw| {
            let context = &**self.0.context();
            // SAFETY: both cells hold addresses of memory that has `bytes` bytes from the offsets on, wherever they
            // lead as long as this copy may run; all four are registered with the stream.
            unsafe {
                call!(context, aclrtMemcpyAsyncWithOffset(target, bytes, written, source, bytes, read, KIND, raw))
            }
        })?;
        // Eager copies are waited for before one of them leads elsewhere.
        if captures || self.0.lock().capture.is_some() {
            [from, to].into_iter().for_each(|(pointer, offset)| pointer.extend(offset + len));
        }
        Ok(())
    }
}

impl<T: Pod> fmt::Debug for DevicePointer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DevicePointer")
            .field("memory", &self.memory)
            .field("position", &self.at)
            .finish_non_exhaustive()
    }
}
