//! What ranks find each other by.

use std::fmt;

use acl_sys::{HCCL_ROOT_INFO_BYTES, HcclRootInfo};

use crate::call::collective;
use crate::context::Context;
use crate::error::{Error, Result};

/// What the ranks of a communicator find each other by: bytes that one of them makes and sends to the others, by a file,
/// a socket or whatever starts them.
///
/// It is good for one communicator. The process that made it has to be there until all ranks have met. The bytes hold
/// addresses of the machine: who has them may take a place among the ranks.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::collective::RootInfo;
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let root = RootInfo::new(&device)?;
/// let sent = root.as_bytes().to_vec();
/// assert_eq!(RootInfo::from_bytes(&sent)?, root); // in another process
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "HcclRootInfo")]
#[derive(Clone, PartialEq, Eq)]
pub struct RootInfo(Box<[u8]>);

impl RootInfo {
    /// The length in bytes.
    pub const BYTES: usize = HCCL_ROOT_INFO_BYTES as usize;

    /// A new one, made by the card of `context`, which has rank 0.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::LibraryNotFound`](crate::ErrorKind::LibraryNotFound) without libhccl, with the places that were
    /// searched; what the library says when it has no address to offer.
    #[doc(alias = "HcclGetRootInfo")]
    pub fn new(context: impl AsRef<Context>) -> Result<Self> {
        let mut info = HcclRootInfo { internal: [0; Self::BYTES] };
        // SAFETY: a place for the structure.
        unsafe { collective!(&**context.as_ref().inner(), HcclGetRootInfo(&raw mut info)) }?;
        Ok(Self(bytemuck::cast_slice::<_, u8>(&info.internal).into()))
    }

    /// The bytes, for the other ranks.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// From the bytes that another rank sent.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for another number of bytes. What is in them
    /// is seen when a communicator is made.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        if bytes.len() != Self::BYTES {
            return Err(Error::invalid(format!("{} bytes of a root information of {}", bytes.len(), Self::BYTES)));
        }
        Ok(Self(bytes.into()))
    }

    /// As the library takes it.
    pub(super) fn raw(&self) -> HcclRootInfo {
        let mut info = HcclRootInfo { internal: [0; Self::BYTES] };
        info.internal.copy_from_slice(bytemuck::cast_slice(&self.0));
        info
    }
}

impl AsRef<[u8]> for RootInfo {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl TryFrom<&[u8]> for RootInfo {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self> {
        Self::from_bytes(bytes)
    }
}

impl fmt::Debug for RootInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RootInfo({} bytes)", self.0.len())
    }
}
