//! Devices that reach each other's memory.

use super::Device;
use crate::call::call;
use crate::error::{Result, ResultExt as _};

/// How two devices are linked ([`Device::link_to`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceLink {
    /// HCCS, the link between cards of a server.
    Hccs,
    /// HCCS through a switch.
    HccsSwitch,
    /// SIO, between the dies of one card.
    Sio,
    /// One PCIe switch.
    OnePcieSwitch,
    /// Several PCIe switches.
    PcieSwitches,
    /// The PCIe bridge of one processor.
    HostBridge,
    /// The link between processors of the host.
    System,
    /// A number that this crate has no name for.
    Other(u64),
}

impl DeviceLink {
    fn of(number: u64) -> Self {
        let named = [
            (acl_sys::ACL_RT_DEVS_TOPOLOGY_HCCS, Self::Hccs),
            (acl_sys::ACL_RT_DEVS_TOPOLOGY_HCCS_SW, Self::HccsSwitch),
            (acl_sys::ACL_RT_DEVS_TOPOLOGY_SIO, Self::Sio),
            (acl_sys::ACL_RT_DEVS_TOPOLOGY_PIX, Self::OnePcieSwitch),
            (acl_sys::ACL_RT_DEVS_TOPOLOGY_PIB, Self::PcieSwitches),
            (acl_sys::ACL_RT_DEVS_TOPOLOGY_PHB, Self::HostBridge),
            (acl_sys::ACL_RT_DEVS_TOPOLOGY_SYS, Self::System),
        ];
        named.into_iter().find(|(known, _)| u64::from(*known) == number).map_or(Self::Other(number), |(_, link)| link)
    }
}

impl Device {
    /// Whether this device can reach the memory of `peer`, once [`enable_peer_access`](Self::enable_peer_access) says
    /// so. A device reaches its own.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a device of another library;
    /// [`ErrorKind::Driver`](crate::ErrorKind::Driver) when the driver does not answer.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let here = acl.device(0)?;
    /// assert!(here.can_access_peer(&here)?);
    /// if acl.device_count()? > 1 {
    ///     let there = acl.device(1)?;
    ///     if here.can_access_peer(&there)? {
    ///         here.enable_peer_access(&there)?;
    ///     }
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtDeviceCanAccessPeer")]
    pub fn can_access_peer(&self, peer: &Self) -> Result<bool> {
        self.check_peer(peer)?;
        if peer.id() == self.id() {
            return Ok(true);
        }
        let mut can = 0;
        // SAFETY: `can` is a place for one number.
        unsafe { call!(&**self.0.inner(), aclrtDeviceCanAccessPeer(&raw mut can, self.id(), peer.id())) }?;
        Ok(can != 0)
    }

    /// Lets work of this device reach the memory of `peer`, in this direction only, for the whole process, until
    /// [`disable_peer_access`](Self::disable_peer_access) or a reset of the device. Any number of times. Blocks until
    /// the driver has done it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for this device itself and for one of another
    /// library; [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) or
    /// [`ErrorKind::Driver`](crate::ErrorKind::Driver) for devices without a link.
    #[doc(alias = "aclrtDeviceEnablePeerAccess")]
    pub fn enable_peer_access(&self, peer: &Self) -> Result<()> {
        self.check_peer(peer)?;
        // SAFETY: takes numbers.
        unsafe { call!(&**self.0.inner(), aclrtDeviceEnablePeerAccess(peer.id(), 0)) }
            .context_with(|| format!("from device {} to device {}", self.id(), peer.id()))
    }

    /// Ends what [`enable_peer_access`](Self::enable_peer_access) began, for the whole process. Work that still uses
    /// memory of `peer` fails on the device, so wait for it before.
    ///
    /// # Errors
    ///
    /// As [`enable_peer_access`](Self::enable_peer_access).
    #[doc(alias = "aclrtDeviceDisablePeerAccess")]
    pub fn disable_peer_access(&self, peer: &Self) -> Result<()> {
        self.check_peer(peer)?;
        // SAFETY: takes a number.
        unsafe { call!(&**self.0.inner(), aclrtDeviceDisablePeerAccess(peer.id())) }
            .context_with(|| format!("from device {} to device {}", self.id(), peer.id()))
    }

    /// Whether work of this device reaches the memory of `peer` now. A device reaches its own.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a device of another library;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query.
    #[doc(alias = "aclrtDevicePeerAccessStatus")]
    pub fn has_peer_access(&self, peer: &Self) -> Result<bool> {
        self.check_peer(peer)?;
        if peer.id() == self.id() {
            return Ok(true);
        }
        let mut enabled = 0;
        // SAFETY: `enabled` is a place for one number.
        unsafe { call!(&**self.0.inner(), aclrtDevicePeerAccessStatus(self.id(), peer.id(), &raw mut enabled)) }?;
        Ok(enabled != 0)
    }

    /// How this device and `peer` are linked.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a device of another library;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::DeviceLink;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// assert_eq!(device.link_to(&device)?, DeviceLink::Hccs); // of the mock
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetDevicesTopo")]
    pub fn link_to(&self, peer: &Self) -> Result<DeviceLink> {
        self.check_peer(peer)?;
        let (here, there) = (self.id().unsigned_abs(), peer.id().unsigned_abs());
        let mut link = 0;
        // SAFETY: `link` is a place for one number.
        unsafe { call!(&**self.0.inner(), aclrtGetDevicesTopo(here, there, &raw mut link)) }?;
        Ok(DeviceLink::of(link))
    }

    fn check_peer(&self, peer: &Self) -> Result<()> {
        self.0.inner().check_library(peer.0.inner(), "a device")
    }
}

#[cfg(test)]
mod tests {
    use super::DeviceLink;

    #[test]
    fn links_without_a_name_keep_their_number() {
        assert_eq!(DeviceLink::of(0x40), DeviceLink::HccsSwitch);
        assert_eq!(DeviceLink::of(0x10), DeviceLink::System);
        assert_eq!(DeviceLink::of(0x80), DeviceLink::Other(0x80));
        assert_eq!(DeviceLink::of(3), DeviceLink::Other(3));
    }
}
