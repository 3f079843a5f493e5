//! Copies and fills in the order of a stream.

use std::ffi::c_void;
use std::panic::Location;
use std::sync::Arc;

use acl_sys::aclrtMemcpyKind;
use bytemuck::Pod;

use super::apart::check_apart;
use super::{Allocation, DeviceRead, DeviceSlice, DeviceWrite, Lent, PinnedBuffer};
use crate::allocation::Touch;
use crate::call::call;
use crate::context::ContextInner;
use crate::error::{Error, Refused, Result};
use crate::stream::{Stream, Task};

/// Alignment that the copy engine asks of device addresses on both sides.
pub(super) const DEVICE_ALIGNMENT: usize = 64;

/// That a copy has as many elements on both sides.
pub(super) fn check_lengths(from: usize, to: usize) -> Result<()> {
    if from == to { Ok(()) } else { Err(Error::invalid(format!("a copy of {from} elements to {to}"))) }
}

impl Stream {
    /// Copies `from` to `to` when the stream gets there. Returns when the copy is queued. The pinned buffer is with
    /// the device meanwhile: the result gives it back ([`Lent::wait`]). In a capture the buffer moves into the graph,
    /// each replay reads it anew, and the host reaches it through [`Graph::host`](crate::Graph::host).
    ///
    /// # Errors
    ///
    /// The buffer and why ([`Refused`]): [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for
    /// different lengths or memory of another device; [`ErrorKind::NoEvents`](crate::ErrorKind::NoEvents) when no event
    /// is left to mark the end; [`ErrorKind::InvalidHandle`](crate::ErrorKind::InvalidHandle) for a stream destroyed
    /// beside this crate; [`ErrorKind::CaptureInvalidated`](crate::ErrorKind::CaptureInvalidated) when the stream's
    /// capture is ending. A copy that fails on the device is reported by a later synchronising call. Where the call
    /// may have queued a part of the copy before it failed, the stream is waited for, up to [the limit of
    /// drops](crate::set_drop_limit): past it the call succeeds, and waits for
    /// the value, which comes without the buffer, say why; so do the errors of drops. The buffer is freed behind the copy.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let mut buffer = device.alloc::<f32>(2)?;
    /// let lent = stream.upload(device.pinned_from(&[1.0, 2.0])?, &mut buffer)?;
    /// let pinned = lent.wait()?;
    /// assert_eq!(buffer.to_vec()?, *pinned);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpyAsync")]
    #[track_caller]
    pub fn upload<T: Pod + Send>(
        &self,
        from: PinnedBuffer<T>,
        to: &mut impl DeviceWrite<Element = T>,
    ) -> Result<Lent<T>, Refused<PinnedBuffer<T>>> {
        let (location, to) = (Location::caller(), to.as_slice());
        let checked = to.check_len(from.len()).and_then(|()| self.check_device(from.context()));
        if let Err(error) = checked.and_then(|()| self.check_device(to.context_inner())) {
            return Err(Refused::new(from, self.refuse(("upload", location), error)));
        }
        let (bytes, kind) = (to.size_bytes(), aclrtMemcpyKind::ACL_MEMCPY_HOST_TO_DEVICE);
        let task = Task { label: "upload", location, uses: &[Touch::written(to.allocation())], scratch: None };
        Lent::start(self, from, &task, |context: &ContextInner, host, raw| {
            // SAFETY: both sides have `bytes` bytes; the pinned one is owned by the transfer until the copy is done,
            // the device one is registered with the stream.
            unsafe { call!(context, aclrtMemcpyAsync(to.address(), bytes, host, bytes, kind, raw)) }
        })
    }

    /// Copies `from` to `to` when the stream gets there; otherwise as [`Stream::upload`]. In a capture each replay
    /// writes the pinned buffer anew.
    ///
    /// # Errors
    ///
    /// As [`Stream::upload`].
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let buffer = device.upload(&[1.0_f32, 2.0])?;
    /// let lent = stream.download(&buffer, device.pinned(2)?)?;
    /// assert_eq!(*lent.wait()?, [1.0, 2.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpyAsync")]
    #[track_caller]
    pub fn download<T: Pod + Send>(
        &self,
        from: &impl DeviceRead<Element = T>,
        to: PinnedBuffer<T>,
    ) -> Result<Lent<T>, Refused<PinnedBuffer<T>>> {
        let (location, from) = (Location::caller(), from.as_slice());
        let checked = from.check_len(to.len()).and_then(|()| self.check_device(to.context()));
        if let Err(error) = checked.and_then(|()| self.check_device(from.context_inner())) {
            return Err(Refused::new(to, self.refuse(("download", location), error)));
        }
        let (bytes, kind) = (from.size_bytes(), aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_HOST);
        let task = Task { label: "download", location, uses: &[Touch::read(from.allocation())], scratch: None };
        Lent::start(self, to, &task, |context: &ContextInner, host, raw| {
            // SAFETY: as for `upload`, in the other direction.
            unsafe { call!(context, aclrtMemcpyAsync(host, bytes, from.address(), bytes, kind, raw)) }
        })
    }

    /// Copies `from` to `to` on the device when the stream gets there. Returns when the copy is queued. In a capture
    /// it becomes part of the graph. [`op::copy`](crate::op::copy()) also takes strided views.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for different lengths, memory of another
    /// device ([`copy_peer`](Self::copy_peer) takes it), an address that is not a multiple of 64 bytes (a slice),
    /// which the copy engine asks for, or parts of one memory that overlap, unless they are the same: the device makes a
    /// large copy in parts, in no order that is promised;
    /// [`ErrorKind::InvalidHandle`](crate::ErrorKind::InvalidHandle) for a stream destroyed beside this crate;
    /// [`ErrorKind::CaptureInvalidated`](crate::ErrorKind::CaptureInvalidated) when the
    /// stream's capture is ending. A copy that fails on the device is reported by a later synchronising call.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let from = device.upload(&[1, 2, 3])?;
    /// let mut to = device.alloc(3)?;
    /// stream.copy(&from, &mut to)?;
    /// assert_eq!(to.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpyAsync")]
    #[track_caller]
    pub fn copy<T: Pod>(
        &self,
        from: &impl DeviceRead<Element = T>,
        to: &mut impl DeviceWrite<Element = T>,
    ) -> Result<()> {
        let (location, from, to) = (Location::caller(), from.as_slice(), to.as_slice());
        let sides = [(from.allocation(), from.address()), (to.allocation(), to.address())];
        self.check_copy(&from, &to)
            .and_then(|()| self.copy_bytes(sides, to.size_bytes(), location))
            .map_err(|error| self.refuse(("copy", location), error))
    }

    /// Sets every byte of `memory` to `byte` when the stream gets there. Returns when the fill is queued. In a
    /// capture it becomes part of the graph. [`op::fill`](crate::op::fill) sets elements.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for memory of another device;
    /// [`ErrorKind::InvalidHandle`](crate::ErrorKind::InvalidHandle) for a stream destroyed beside this crate;
    /// [`ErrorKind::CaptureInvalidated`](crate::ErrorKind::CaptureInvalidated) when the stream's capture is ending. A
    /// fill that fails on the device is reported by a later synchronising call.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let mut buffer = device.alloc::<u16>(2)?;
    /// stream.fill_bytes(&mut buffer, 0xAB)?;
    /// assert_eq!(buffer.to_vec()?, [0xABAB; 2]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemsetAsync")]
    #[track_caller]
    pub fn fill_bytes(&self, memory: &mut impl DeviceWrite, byte: u8) -> Result<()> {
        let location = Location::caller();
        let checked = self.check_device(memory.as_slice().context_inner());
        checked.map_err(|error| self.refuse(("fill_bytes", location), error))?;
        let memory = memory.as_slice();
        self.set_bytes((memory.allocation(), memory.address()), byte, memory.size_bytes(), location)
    }

    fn check_copy<T: Pod>(&self, from: &DeviceSlice<'_, T>, to: &DeviceSlice<'_, T>) -> Result<()> {
        check_lengths(from.len(), to.len())?;
        self.check_device(from.context_inner())?;
        self.check_device(to.context_inner())
    }

    /// Copies `bytes` bytes, which both memories of this device have from their addresses on.
    pub(crate) fn copy_bytes(
        &self,
        [(source, from), (target, to)]: [(&Arc<Allocation>, *mut c_void); 2],
        bytes: usize,
        location: &'static Location<'static>,
    ) -> Result<()> {
        // The library lays a cell of a graph out itself, for copies too.
        let is_aligned = |memory: &Arc<Allocation>, address: *mut c_void| {
            address.addr().is_multiple_of(DEVICE_ALIGNMENT) || memory.capture().is_some()
        };
        if !is_aligned(source, from) || !is_aligned(target, to) {
            let text = format!("a copy on the device between addresses that are not multiples of {DEVICE_ALIGNMENT}");
            return Err(Error::invalid(text));
        }
        check_apart(from.addr(), to.addr(), bytes)?;
        let kind = aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_DEVICE;
        let task =
            Task { label: "copy", location, uses: &[Touch::read(source), Touch::written(target)], scratch: None };
        self.0.submit(&task, |raw| {
            // SAFETY: both sides have `bytes` bytes on this device and are registered with the stream.
            unsafe { call!(&**self.0.context(), aclrtMemcpyAsync(to, bytes, from, bytes, kind, raw)) }
        })?;
        Ok(())
    }

    /// Sets `bytes` bytes, which the memory of this device has from its address on.
    pub(crate) fn set_bytes(
        &self,
        (memory, address): (&Arc<Allocation>, *mut c_void),
        byte: u8,
        bytes: usize,
        location: &'static Location<'static>,
    ) -> Result<()> {
        let task = Task { label: "fill_bytes", location, uses: &[Touch::written(memory)], scratch: None };
        self.0.submit(&task, |raw| {
            // SAFETY: the memory has `bytes` bytes from the address on and is registered with the stream.
            unsafe { call!(&**self.0.context(), aclrtMemsetAsync(address, bytes, i32::from(byte), bytes, raw)) }
        })?;
        Ok(())
    }

    /// That memory of `other` can be used by this stream.
    #[inline]
    pub(crate) fn check_device(&self, other: &Arc<ContextInner>) -> Result<()> {
        if Arc::ptr_eq(self.0.context(), other) { Ok(()) } else { self.check_other(other) }
    }

    #[cold]
    fn check_other(&self, other: &Arc<ContextInner>) -> Result<()> {
        self.0.context().check_memory(other, || "memory".to_owned())
    }
}
