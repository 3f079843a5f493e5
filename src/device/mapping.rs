//! Which units of a device reach memory of the host.

use acl_sys::{aclrtHacType, aclrtHostMemMapCapability};

use super::Device;
use crate::call::call;
use crate::error::{Error, ErrorKind, Result};

/// A unit of a device that may reach memory of the host ([`Device::reaches_host_memory`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "aclrtHacType")]
pub enum DeviceUnit {
    /// The scheduler of tasks.
    Scheduler,
    /// The CPUs of the device.
    Cpu,
    /// Cube cores.
    Cube,
    /// Vector cores.
    Vector,
    /// Copies over PCIe.
    PcieDma,
    /// Copies over the network.
    Rdma,
    /// Copies within and between devices.
    Sdma,
    /// Media.
    Dvpp,
    /// Copies over UB.
    Udma,
    /// Collective communication.
    Ccu,
}

impl Device {
    /// Whether `unit` of this device reaches memory of the host that is [mapped](crate::Context::mapped).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] up to CANN 9.1; [`ErrorKind::UnknownValue`] for an answer that this crate does not
    /// know.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::DeviceUnit;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// assert!(device.reaches_host_memory(DeviceUnit::Vector)?); // of the mock
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtHostMemMapCapabilities")]
    pub fn reaches_host_memory(&self, unit: DeviceUnit) -> Result<bool> {
        let kind = match unit {
            DeviceUnit::Scheduler => aclrtHacType::ACL_RT_HAC_TYPE_STARS,
            DeviceUnit::Cpu => aclrtHacType::ACL_RT_HAC_TYPE_AICPU,
            DeviceUnit::Cube => aclrtHacType::ACL_RT_HAC_TYPE_AIC,
            DeviceUnit::Vector => aclrtHacType::ACL_RT_HAC_TYPE_AIV,
            DeviceUnit::PcieDma => aclrtHacType::ACL_RT_HAC_TYPE_PCIEDMA,
            DeviceUnit::Rdma => aclrtHacType::ACL_RT_HAC_TYPE_RDMA,
            DeviceUnit::Sdma => aclrtHacType::ACL_RT_HAC_TYPE_SDMA,
            DeviceUnit::Dvpp => aclrtHacType::ACL_RT_HAC_TYPE_DVPP,
            DeviceUnit::Udma => aclrtHacType::ACL_RT_HAC_TYPE_UDMA,
            DeviceUnit::Ccu => aclrtHacType::ACL_RT_HAC_TYPE_CCU,
        };
        let mut answer = aclrtHostMemMapCapability::ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
        let (device, place) = (self.id().unsigned_abs(), &raw mut answer);
        // SAFETY: `answer` is a place for one value.
        unsafe { call!(&**self.context().inner(), aclrtHostMemMapCapabilities(device, kind, place)) }?;
        match answer {
            aclrtHostMemMapCapability::ACL_RT_HOST_MEM_MAP_SUPPORTED => Ok(true),
            aclrtHostMemMapCapability::ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED => Ok(false),
            other => {
                let text = format!("{} for whether {unit:?} reaches memory of the host", other.0);
                Err(Error::new(ErrorKind::UnknownValue, text))
            }
        }
    }
}
