//! Physical memory, to be mapped to addresses that are reserved (guide: memory management, virtual memory).

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use acl_sys::{
    aclrtDrvMemHandle, aclrtMemAllocationType, aclrtMemAttr, aclrtMemGranularityOptions, aclrtMemHandleType,
    aclrtMemLocation, aclrtMemLocationType, aclrtPhysicalMemProp,
};

use crate::call::{call, non_null};
use crate::context::{Context, ContextInner, PlaceKind};
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::{Error, Refused, Result};
use crate::retire;

mod key;

pub use key::PhysicalKey;

/// Physical memory of a device. It has no address until a [`GrowableBuffer`](super::GrowableBuffer) maps it, and may be
/// mapped in several, here and in other processes ([`export`](Self::export)): then their content is the same, and the
/// order of work that uses it is the program's.
///
/// What is mapped stays when this value goes (guide: memory management, aclrtFreePhysical). Any thread may use it. It
/// is not counted among the [statistics](Context::memory_stats) of the context, nor against its limit.
///
/// C calls: `aclrtMallocPhysical`, `aclrtFreePhysical`, `aclrtMemRetainAllocationHandle`,
/// `aclrtMemGetAllocationPropertiesFromHandle` and those of sharing.
///
/// # Examples
///
/// ```
/// let device = racl::Acl::mock()?.device(0)?;
/// let context = device.context();
/// let memory = context.physical_memory(context.memory_granularity()?)?;
/// let (mut one, mut other) = (context.reserve::<u8>(1 << 30)?, context.reserve::<u8>(1 << 30)?);
/// one.map(&memory)?;
/// other.map(&memory)?;
/// one.slice_mut(..2)?.write(&[1, 2])?;
/// assert_eq!(other.slice(..2)?.to_vec()?, [1, 2]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclrtDrvMemHandle")]
#[doc(alias = "aclrtFreePhysical")]
#[doc(alias = "cuMemCreate")]
pub struct PhysicalMemory {
    /// Null once it was freed.
    raw: aclrtDrvMemHandle,
    bytes: usize,
    /// Of the memory, where that is of another device than the handle.
    owner: Option<Arc<ContextInner>>,
    context: Arc<ContextInner>,
}

// SAFETY: the handle is only passed on; the runtime's guide on contexts lets any thread that makes a context current
// use what belongs to it, and every call here does so first.
unsafe impl Send for PhysicalMemory {}
// SAFETY: as above; the runtime locks its list of memory.
unsafe impl Sync for PhysicalMemory {}

/// What the library knows of physical memory ([`PhysicalMemory::properties`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "aclrtPhysicalMemProp")]
pub struct PhysicalProperties {
    /// Where it lies.
    pub place: PlaceKind,
    /// Of which pages it is.
    pub pages: PageKind,
}

/// Pages of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "aclrtMemAttr")]
pub enum PageKind {
    /// Of the usual size.
    Normal,
    /// Large ones, of 2 MiB.
    Huge,
    /// Of 1 GiB.
    Huge1G,
    /// A kind that this crate has no name for, by its number in C.
    Other(u32),
}

impl PageKind {
    fn of(attribute: aclrtMemAttr) -> Self {
        match attribute {
            aclrtMemAttr::ACL_HBM_MEM_NORMAL | aclrtMemAttr::ACL_DDR_MEM_NORMAL | aclrtMemAttr::ACL_MEM_NORMAL => {
                Self::Normal
            }
            aclrtMemAttr::ACL_HBM_MEM_HUGE | aclrtMemAttr::ACL_DDR_MEM_HUGE | aclrtMemAttr::ACL_MEM_HUGE => {
                Self::Huge
            }
            aclrtMemAttr::ACL_HBM_MEM_HUGE1G | aclrtMemAttr::ACL_MEM_HUGE1G => Self::Huge1G,
            aclrtMemAttr(other) => Self::Other(other),
        }
    }
}

/// Large pages of the context's device.
fn property(context: &ContextInner) -> aclrtPhysicalMemProp {
    let id = context.device().cast_unsigned();
    aclrtPhysicalMemProp {
        handleType: aclrtMemHandleType::ACL_MEM_HANDLE_TYPE_NONE,
        allocationType: aclrtMemAllocationType::ACL_MEM_ALLOCATION_TYPE_PINNED,
        memAttr: aclrtMemAttr::ACL_HBM_MEM_HUGE,
        location: aclrtMemLocation { id, type_: aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_DEVICE },
        reserve: 0,
    }
}

impl Context {
    /// Bytes of which [physical memory](Self::physical_memory) is a multiple.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] up to CANN 9.1, where it is 2 MiB.
    #[doc(alias = "aclrtMemGetAllocationGranularity")]
    pub fn memory_granularity(&self) -> Result<usize> {
        let (mut property, mut bytes) = (property(self.inner()), 0);
        let option = aclrtMemGranularityOptions::ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED;
        let (wanted, given) = (&raw mut property, &raw mut bytes);
        // SAFETY: a property, and a place for one number.
        unsafe { call!(&**self.inner(), aclrtMemGetAllocationGranularity(wanted, option, given)) }?;
        Ok(bytes.max(1))
    }

    /// Physical memory of this context's device, in large pages; its content is undefined. See [`PhysicalMemory`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for no bytes, or no multiple of the [granularity](Self::memory_granularity);
    /// [`ErrorKind::OutOfMemory`] when the device has too little: memory that the context
    /// [keeps](Self::trim_memory) is not given back for it; [`ErrorKind::MissingSymbol`] on a library without.
    #[doc(alias = "aclrtMallocPhysical")]
    pub fn physical_memory(&self, bytes: usize) -> Result<PhysicalMemory> {
        if bytes == 0 {
            return Err(Error::invalid("physical memory of zero bytes"));
        }
        let (property, mut raw) = (property(self.inner()), std::ptr::null_mut());
        // SAFETY: a place for one handle, and a property that lives as long as the call.
        unsafe { call!(&**self.inner(), aclrtMallocPhysical(&raw mut raw, bytes, &raw const property, 0)) }
            .map_err(|error| error.context(format!("{bytes} bytes of physical memory")))?;
        non_null(raw, "aclrtMallocPhysical").map(|raw| PhysicalMemory::own(raw, bytes, self.inner()))
    }
}

impl PhysicalMemory {
    pub(super) fn own(raw: aclrtDrvMemHandle, bytes: usize, context: &Arc<ContextInner>) -> Self {
        Self { raw, bytes, owner: None, context: Arc::clone(context) }
    }

    /// What is mapped at an address where a mapping of `bytes` bytes begins.
    pub(super) fn mapped_at(
        address: *mut c_void,
        bytes: usize,
        context: &Arc<ContextInner>,
        owner: Option<Arc<ContextInner>>,
    ) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: a place for one handle; the address is looked up.
        unsafe { call!(&**context, aclrtMemRetainAllocationHandle(address, &raw mut raw)) }?;
        let mut handle = Self::own(non_null(raw, "aclrtMemRetainAllocationHandle")?, bytes, context);
        handle.owner = owner;
        Ok(handle)
    }

    /// The context without which the memory goes, for a user on the device of `user`, which has that device's.
    pub(super) fn owner(&self, user: &ContextInner) -> Option<Arc<ContextInner>> {
        let owner = self.owner.as_ref().unwrap_or(&self.context);
        (owner.device() != user.device()).then(|| Arc::clone(owner))
    }

    pub(super) fn context(&self) -> &Arc<ContextInner> {
        &self.context
    }

    /// Its bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.bytes
    }

    /// The raw handle. Valid as long as this value.
    #[must_use]
    pub fn as_raw(&self) -> aclrtDrvMemHandle {
        self.raw
    }

    /// Where it lies, and of which pages it is.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] up to CANN 9.1.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::{PageKind, PlaceKind};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let memory = device.context().physical_memory(2 << 20)?;
    /// let known = memory.properties()?;
    /// assert_eq!((known.place, known.pages), (PlaceKind::Device(0), PageKind::Huge));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemGetAllocationPropertiesFromHandle")]
    pub fn properties(&self) -> Result<PhysicalProperties> {
        let mut known = property(&self.context);
        let place = &raw mut known;
        // SAFETY: a live handle, and a place for its properties.
        unsafe { call!(&*self.context, aclrtMemGetAllocationPropertiesFromHandle(self.raw, place)) }?;
        Ok(PhysicalProperties { place: known.location.into(), pages: PageKind::of(known.memAttr) })
    }

    /// Frees the memory now, or once nothing maps it any more.
    ///
    /// # Errors
    ///
    /// This value and [`ErrorKind::InvalidHandle`] when it was freed beside this crate.
    #[doc(alias = "aclrtFreePhysical")]
    pub fn close(mut self) -> Result<(), Refused<Self>> {
        match self.free() {
            Ok(()) => Ok(()),
            Err(error) => Err(Refused::new(self, error)),
        }
    }

    fn free(&mut self) -> Result<()> {
        if !self.raw.is_null() {
            // SAFETY: the handle is this value's own, and is freed once; one that is not live gives a code.
            unsafe { call!(&*self.context, aclrtFreePhysical(self.raw)) }?;
            self.raw = std::ptr::null_mut();
        }
        Ok(())
    }
}

impl Drop for PhysicalMemory {
    fn drop(&mut self) {
        if !self.raw.is_null() && retire::must_leave() {
            let mut heir =
                Self::own(std::mem::replace(&mut self.raw, std::ptr::null_mut()), self.bytes, &self.context);
            heir.owner = self.owner.take();
            return retire::on_thread(heir, drop);
        }
        if let Err(error) = self.free() {
            self.context.record_drop_error("freeing physical memory", error);
        }
    }
}

impl fmt::Debug for PhysicalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PhysicalMemory").field("raw", &self.raw).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}
