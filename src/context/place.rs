//! Where an address lies.

use std::ffi::c_void;

use acl_sys::{aclrtMemLocation, aclrtMemLocationType, aclrtPtrAttributes};

use super::Context;
use crate::call::call;
use crate::error::Result;

/// What the library knows of an address: [`Context::place_of`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "aclrtPtrAttributes")]
pub struct Place {
    /// Where it lies.
    pub kind: PlaceKind,
    /// Bytes of a page there; zero where the library does not say.
    pub page_bytes: u32,
}

/// Where an address lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "aclrtMemLocationType")]
pub enum PlaceKind {
    /// Pinned memory of the host.
    Host,
    /// Memory of the device with this number.
    Device(u32),
    /// Memory that the library does not know, such as any other of the host.
    Unregistered,
    /// Memory that moves between host and device by itself.
    Managed,
    /// Memory of this node of the host.
    HostNode(u32),
    /// A place that this crate has no name for, by its number in C.
    Other(u32),
}

impl From<aclrtMemLocation> for PlaceKind {
    fn from(location: aclrtMemLocation) -> Self {
        match location.type_ {
            aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_HOST => Self::Host,
            aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_DEVICE => Self::Device(location.id),
            aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_UNREGISTERED => Self::Unregistered,
            aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_MANAGED => Self::Managed,
            aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_HOST_NUMA => Self::HostNode(location.id),
            other => Self::Other(other.0),
        }
    }
}

impl Context {
    /// Where an address lies: one of the host, of a device, or of neither. The library looks it up, and the address is
    /// not followed. Not for the device's address of host memory that is mapped (guide: memory management,
    /// aclrtPointerGetAttributes).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for null;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) before CANN 9.0.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::PlaceKind;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let memory = device.alloc::<u8>(16)?;
    /// assert_eq!(device.context().place_of(memory.address())?.kind, PlaceKind::Device(0));
    /// let own = [0_u8; 16];
    /// assert_eq!(device.context().place_of(own.as_ptr().cast())?.kind, PlaceKind::Unregistered);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtPointerGetAttributes")]
    #[expect(clippy::not_unsafe_ptr_arg_deref, reason = "the library looks the address up and does not follow it")]
    pub fn place_of(&self, address: *const c_void) -> Result<Place> {
        let unknown = aclrtMemLocation { id: 0, type_: aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_UNREGISTERED };
        let mut found = aclrtPtrAttributes { location: unknown, pageSize: 0, rsv: [0; 4] };
        // SAFETY: a place for the attributes; the address is looked up.
        unsafe { call!(&**self.inner(), aclrtPointerGetAttributes(address, &raw mut found)) }?;
        Ok(Place { kind: found.location.into(), page_bytes: found.pageSize })
    }
}
