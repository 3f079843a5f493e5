//! Copies whose places stand in device memory: a captured one goes elsewhere at each replay.

use std::ffi::c_void;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use acl_sys::{aclrtMemcpyKind, aclrtStream};
use bytemuck::Pod;

use super::apart::check_apart;
use super::copy::DEVICE_ALIGNMENT;
use super::device_buffer::byte_len;
use super::{Allocation, SharedBuffer};
use crate::allocation::Touch;
use crate::call::call;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::stream::{Stream, Task};

mod pointer;

pub use pointer::DevicePointer;

/// The only kind that these copies have.
const KIND: aclrtMemcpyKind = aclrtMemcpyKind::ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;

/// Most bytes of one copy (implementation of the open runtime).
const MOST: usize = 4 << 30;

/// A copy of `len` elements that is written down in device memory: where from and where to is read there when the copy
/// runs. So one that a graph holds goes elsewhere at each launch, after [`set`](Self::set), without an update of the
/// graph: into the next row of a cache, out of the page that a request has.
///
/// It keeps both memories, and so does a graph that has the copy. The number of elements stays what it is, and both
/// places always lie in the memories that it was made with. Any thread may use it. Dropped while work uses it, its own
/// memory is freed behind that.
///
/// C calls: `aclrtGetMemcpyDescSize`, `aclrtSetMemcpyDesc`, `aclrtMemcpyAsyncWithDesc`.
///
/// # Examples
///
/// ```
/// use racl::CaptureMode;
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let (row, cache) = (device.alloc_zeroed::<i32>(16)?.into_shared(), device.alloc_zeroed::<i32>(48)?.into_shared());
/// let mut append = device.context().copy_descriptor(&row, &cache, 16)?;
/// let mut step = stream.capture(CaptureMode::ThreadLocal, |s| s.copy_described(&append))?;
/// for (at, value) in [(0, 7), (16, 8), (32, 9)] {
///     stream.fill_words(&mut row.clone(), value)?;
///     append.set(0, at)?;
///     step.launch(&stream)?;
/// }
/// assert_eq!(cache.to_vec()?, [[7; 16], [8; 16], [9; 16]].concat());
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclrtSetMemcpyDesc")]
pub struct CopyDescriptor<T: Pod> {
    /// Where it is written down.
    memory: Arc<Allocation>,
    from: SharedBuffer<T>,
    to: SharedBuffer<T>,
    len: usize,
    /// The first places overlap, and none were set since.
    overlaps: bool,
}

/// That memory holds `len` elements from `start` on.
fn check_held<T: Pod>(memory: &SharedBuffer<T>, start: usize, len: usize) -> Result<()> {
    if start.checked_add(len).is_none_or(|end| end > memory.len()) {
        return Err(Error::invalid(format!("{len} elements from {start} on, of memory with {}", memory.len())));
    }
    Ok(())
}

/// Where they are.
fn place<T: Pod>(memory: &SharedBuffer<T>, start: usize, len: usize) -> Result<*mut c_void> {
    check_held(memory, start, len)?;
    let address = memory.address().wrapping_byte_add(start * size_of::<T>());
    if !address.addr().is_multiple_of(DEVICE_ALIGNMENT) {
        let text = format!("a copy on the device at an address that is no multiple of {DEVICE_ALIGNMENT}");
        return Err(Error::invalid(text));
    }
    Ok(address)
}

/// A number of bytes that one such copy may have.
fn copied_bytes<T: Pod>(len: usize) -> Result<usize> {
    let bytes = byte_len::<T>(len)?;
    if bytes > MOST {
        return Err(Error::invalid(format!("a copy of {bytes} bytes; one takes 4 GiB at most")));
    }
    Ok(bytes)
}

impl Context {
    /// A copy of the first `len` elements of `from` to the first ones of `to`, to be made by
    /// [`Stream::copy_described`] as often as one likes; [`CopyDescriptor::set`] moves the places. Blocks until it is
    /// written down.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for no elements, more than either memory has or than 4 GiB, memory of another
    /// device, and addresses that are not multiples of 64 bytes; [`ErrorKind::MissingSymbol`] up to CANN 9.1;
    /// [`ErrorKind::NotSupported`] on a card without; as [`Context::alloc`] where the memory for it cannot be had; and
    /// [`ErrorKind::CaptureForbidden`] when a capture of this context does not allow blocking copies.
    #[doc(alias = "aclrtGetMemcpyDescSize")]
    #[track_caller]
    pub fn copy_descriptor<T: Pod>(
        &self,
        from: &SharedBuffer<T>,
        to: &SharedBuffer<T>,
        len: usize,
    ) -> Result<CopyDescriptor<T>> {
        let bytes_of = copied_bytes::<T>(len)?;
        for side in [from, to] {
            self.inner().check_memory(side.allocation().context(), || "memory".to_owned())?;
        }
        let mut bytes = 0;
        // SAFETY: a place for one number.
        unsafe { call!(&**self.inner(), aclrtGetMemcpyDescSize(KIND, &raw mut bytes)) }?;
        let memory = Allocation::new(self.inner(), bytes.max(1))?;
        let mut made = CopyDescriptor { memory, from: from.clone(), to: to.clone(), len, overlaps: false };
        let [from, to] = made.places(0, 0)?;
        made.write(from, to)?;
        made.overlaps = check_apart(from.addr(), to.addr(), bytes_of).is_err();
        Ok(made)
    }
}

impl<T: Pod> CopyDescriptor<T> {
    /// How many elements each copy has.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always an element")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Lets copies from now on, also those of graphs that are launched later, be from element `from` of the one memory
    /// to element `to` of the other. Blocks: waits for copies that were queued or launched before, then writes the
    /// places down.
    ///
    /// What other threads queue or launch meanwhile copies from the former or the new place, and to either.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a place where a memory has not as many elements, whose address is no
    /// multiple of 64 bytes, or that overlaps the other one without being the same: the copy stays as it was. The error of work that is waited for;
    /// [`ErrorKind::CaptureForbidden`] when a capture of this context does not allow blocking copies.
    #[doc(alias = "aclrtSetMemcpyDesc")]
    #[track_caller]
    pub fn set(&mut self, from: usize, to: usize) -> Result<()> {
        let [from, to] = self.places(from, to)?;
        check_apart(from.addr(), to.addr(), copied_bytes::<T>(self.len)?)?;
        self.write(from, to)?;
        self.overlaps = false;
        Ok(())
    }

    fn places(&self, from: usize, to: usize) -> Result<[*mut c_void; 2]> {
        Ok([place(&self.from, from, self.len)?, place(&self.to, to, self.len)?])
    }

    #[track_caller]
    fn write(&self, from: *mut c_void, to: *mut c_void) -> Result<()> {
        self.memory.context().check_may_block("the write of a descriptor", Location::caller())?;
        let bytes = copied_bytes::<T>(self.len)?;
        self.memory.wait_idle()?;
        let (context, at, none) = (&**self.memory.context(), self.memory.address(), std::ptr::null_mut());
        // SAFETY: the memory has what the library asked for, and no submitted work reads it; both sides have `bytes`
        // bytes and stay as long as this value, and as whatever has the copy, which keeps them.
        unsafe { call!(context, aclrtSetMemcpyDesc(at, KIND, from, to, bytes, none)) }
    }
}

impl Stream {
    /// Makes the copy that `copy` says then, when the stream gets there. Returns when that is queued. In a capture it
    /// becomes part of the graph, which reads the places anew at each launch.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for memory of another device, and for first places that overlap without being the
    /// same while none were [set](CopyDescriptor::set); [`ErrorKind::NotSupported`] on the default stream of an older
    /// library, which has no handle; otherwise as [`Stream::copy`].
    ///
    /// # Examples
    ///
    /// See [`CopyDescriptor`].
    #[doc(alias = "aclrtMemcpyAsyncWithDesc")]
    #[track_caller]
    pub fn copy_described<T: Pod>(&self, copy: &CopyDescriptor<T>) -> Result<()> {
        let uses =
            [Touch::read(&copy.memory), Touch::read(copy.from.allocation()), Touch::written(copy.to.allocation())];
        let at = copy.memory.address();
        if copy.overlaps {
            let text = "a copy by descriptor whose first places overlap; CopyDescriptor::set moves them";
            return Err(self.refuse(("copy_described", Location::caller()), Error::invalid(text)));
        }
        self.submit_indirect(("copy_described", Location::caller()), &uses, |raw| {
            // SAFETY: a copy was written down at the address, whose places lie in memory that is registered with the
            // stream, as the address is.
            unsafe { call!(&**self.0.context(), aclrtMemcpyAsyncWithDesc(at, KIND, raw)) }
        })
    }

    /// Submits a copy whose places stand in device memory.
    fn submit_indirect(
        &self,
        named: (&'static str, &'static Location<'static>),
        uses: &[Touch<'_>],
        call: impl FnOnce(aclrtStream) -> Result<()>,
    ) -> Result<()> {
        let checked = uses.iter().try_for_each(|touch| self.check_device(touch.memory.context()));
        let checked = checked.and_then(|()| {
            if self.as_raw().is_null() {
                let text = "a copy by descriptor on a default stream without a handle";
                return Err(Error::new(ErrorKind::NotSupported, text));
            }
            Ok(())
        });
        checked.map_err(|error| self.refuse(named, error))?;
        let task = Task { label: named.0, location: named.1, uses, scratch: None };
        self.0.submit(&task, call).map(drop)
    }
}

impl<T: Pod> fmt::Debug for CopyDescriptor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopyDescriptor")
            .field("from", &self.from)
            .field("to", &self.to)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
