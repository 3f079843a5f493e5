//! Host memory that kernels of a device read and write where it is.

use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use acl_sys::aclrtHostRegisterType;
use bytemuck::Pod;

use super::device_buffer::byte_len;
use super::visible::Visible;
use super::{Allocation, DeviceSlice};
use crate::call::{call, non_null};
use crate::context::{Context, ContextInner, GiveBack};
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::pool::TAIL;

/// Registered memory begins at a multiple of this (guide: memory management, aclrtHostRegister).
const PAGE: usize = 4096;

/// Host memory of `len` elements that kernels of the device reach over the bus, without a copy: for what is read once,
/// and for numbers that go to and fro. Zero at first.
///
/// It is an argument of kernels ([`KernelLaunch::arg`](crate::KernelLaunch::arg)), `&` to be read and `&mut` to be
/// written, and nothing else: copies and operators do not take it, since its device address is for kernels alone
/// (guide: memory management, aclrtHostRegister). The host reaches it by [`host`](Self::host), which waits for those
/// kernels, so host and device never race; a graph that uses it keeps it for itself as long as the graph lives. Dropped
/// while kernels use it, it is freed behind them. Any thread may use it.
///
/// C calls: `aclrtMallocHost`, `aclrtHostRegister`, `aclrtHostUnregister`, `aclrtFreeHost`.
///
/// # Examples
///
/// ```
/// let device = racl::Acl::mock()?.device(0)?;
/// let mut numbers = device.context().mapped::<u32>(3)?;
/// numbers.host()?.copy_from_slice(&[1, 2, 3]);
/// // … launches with `arg(&mut numbers)` …
/// assert_eq!(numbers.host()?, [1, 2, 3]); // waits for them
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclrtHostRegister")]
#[doc(alias = "cudaHostAllocMapped")]
pub struct MappedBuffer<T: Pod>(Visible<T>);

/// Pinned memory, of which a part is registered.
struct Registered {
    base: *mut c_void,
    start: *mut c_void,
    registered: AtomicBool,
}

// SAFETY: the addresses are only passed on; any thread may give pinned memory back.
unsafe impl Send for Registered {}
// SAFETY: as above.
unsafe impl Sync for Registered {}

impl GiveBack for Registered {
    /// What was done stays done when it is called again after an error.
    fn give_back(&self, context: &ContextInner) -> Result<()> {
        if self.registered.load(Ordering::Acquire) {
            // SAFETY: the address was registered for this value, and no submitted work uses the memory.
            unsafe { call!(context, aclrtHostUnregister(self.start)) }?;
            self.registered.store(false, Ordering::Release);
        }
        // SAFETY: the address came from `aclrtMallocHost` and is freed once.
        unsafe { call!(context, aclrtFreeHost(self.base)) }
    }

    fn left(&self) -> usize {
        if self.registered.load(Ordering::Acquire) { usize::MAX } else { 0 }
    }
}

impl Context {
    /// Host memory for `len` elements, every byte zero, that kernels of the device reach where it is. See
    /// [`MappedBuffer`]. [`Device::reaches_host_memory`](crate::Device::reaches_host_memory) tells which units of the
    /// device can.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for no elements or more bytes than an address space has;
    /// [`ErrorKind::OutOfMemory`] when the host cannot lock so much; [`ErrorKind::NotSupported`] where the driver or
    /// the card cannot; [`ErrorKind::MissingSymbol`] on a library without.
    #[doc(alias = "aclrtHostRegister")]
    pub fn mapped<T: Pod>(&self, len: usize) -> Result<MappedBuffer<T>> {
        let bytes = byte_len::<T>(len)?;
        let all = bytes.checked_add(TAIL + PAGE).filter(|all| *all <= isize::MAX as usize);
        let all = all.ok_or_else(|| Error::invalid(format!("{bytes} bytes do not fit an address space")))?;
        let (context, mut base) = (&**self.inner(), std::ptr::null_mut());
        // SAFETY: a place for one address.
        unsafe { call!(context, aclrtMallocHost(&raw mut base, all)) }
            .map_err(|error| error.context(format!("allocating {all} bytes of pinned host memory")))?;
        let base = non_null(base, "aclrtMallocHost")?;
        let start = base.wrapping_byte_add(base.addr().wrapping_neg() % PAGE);
        let own = Arc::new(Registered { base, start, registered: AtomicBool::new(false) });
        let owner: Arc<dyn GiveBack> = Arc::<Registered>::clone(&own);
        let found = register(context, &own, bytes + TAIL);
        let device = *found.as_ref().unwrap_or(&start);
        let allocation = Allocation::of_calls(self.inner(), device, bytes, 0, owner);
        found?;
        let host = NonNull::new(start.cast::<T>()).filter(|host| host.is_aligned());
        let host = host
            .ok_or_else(|| Error::new(ErrorKind::NotSupported, "host memory that is not aligned for the elements"))?;
        // SAFETY: the call gave over a page more than these bytes, and that is what lies before and behind them.
        unsafe { host.as_ptr().write_bytes(0, len) };
        // SAFETY: as above, the elements are zero now; they stay as long as the allocation, which gives them back.
        Ok(MappedBuffer(unsafe { Visible::new(allocation, host, len) }))
    }
}

/// The device's address of the memory.
fn register(context: &ContextInner, own: &Registered, bytes: usize) -> Result<*mut c_void> {
    let (mut device, kind) = (std::ptr::null_mut(), aclrtHostRegisterType::ACL_HOST_REGISTER_MAPPED);
    // SAFETY: the memory has as many bytes and is unregistered before it is freed; a place for one address.
    unsafe { call!(context, aclrtHostRegister(own.start, bytes as u64, kind, &raw mut device)) }
        .map_err(|error| error.context(format!("mapping {bytes} bytes of host memory")))?;
    own.registered.store(true, Ordering::Release);
    non_null(device, "aclrtHostRegister")
}

impl<T: Pod> MappedBuffer<T> {
    /// Number of elements.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always an element")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The memory for the host. Blocks: waits for kernels that use it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] while a graph or a capture has the memory; the error of work that is waited for.
    pub fn host(&mut self) -> Result<&mut [T]> {
        self.0.host()
    }

    /// The address for kernels of the device. Valid as long as this value.
    #[must_use]
    pub fn device_address(&self) -> *mut c_void {
        self.0.allocation().address()
    }

    /// The address for the host.
    pub(crate) fn host_address(&self) -> *mut T {
        self.0.host_address()
    }

    /// As an argument of kernels.
    pub(crate) fn for_kernels(&self) -> DeviceSlice<'_, T> {
        self.0.as_slice()
    }

    /// Waits for kernels that use the memory, and gives it back.
    ///
    /// # Errors
    ///
    /// The buffer and why: [`ErrorKind::InvalidArgument`] while a graph or a capture has the memory; the error of work
    /// that is waited for; what the library says. It is empty when the device has it no more and the host's memory could
    /// not be freed; another close, or its drop, tries again.
    #[doc(alias = "aclrtHostUnregister")]
    pub fn close(mut self) -> Result<(), Refused<Self>> {
        self.0.end().map_err(|error| Refused::new(self, error))
    }
}

impl<T: Pod> fmt::Debug for MappedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.device_address();
        f.debug_struct("MappedBuffer").field("address", &address).field("len", &self.len()).finish_non_exhaustive()
    }
}
