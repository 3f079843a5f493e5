//! What a device is, where it is, and how it is.

use std::ffi::{CStr, CString, c_char};
use std::ops::RangeInclusive;

use acl_sys::{
    aclCannAttr, aclrtDevAttr, aclrtDevFeatureType, aclrtDeviceStatus, aclrtRunMode, aclrtUtilizationInfo, aclrtUuid,
};

use super::Device;
use crate::acl::Acl;
use crate::call::call;
use crate::error::{Error, Result};

/// How a card is built in ([`Device::form_factor`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FormFactor {
    /// Part of a pod.
    Pod,
    /// A module of an A+K server.
    AK,
    /// A module of an A+X server.
    AX,
    /// A card in a PCIe slot.
    PcieCard,
    /// A number that this crate has no name for.
    Other(i64),
}

/// Whether a device works ([`Device::status`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceStatus {
    /// It works.
    Normal,
    /// The driver reports it as broken.
    Abnormal,
    /// A number that this crate has no name for.
    Other(u32),
}

/// Where the program runs ([`Acl::run_mode`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunMode {
    /// On a host, with the device beside it.
    Host,
    /// On a processor of the device itself.
    Device,
    /// A number that this crate has no name for.
    Other(u32),
}

/// What a device may be able to do ([`Device::supports`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceFeature {
    /// Task groups of captured graphs can be updated whose kernels run on the cores, beside those on AI CPUs.
    TaskUpdate,
    /// Queues of shared buffers reach events of other devices.
    CrossDeviceQueues,
}

/// What the chip and the toolkit together can do ([`Acl::supports`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LibraryFeature {
    /// Operators give infinities and NaN where numbers are too large.
    InfNan,
    /// Operators take `bf16`.
    Bf16,
    /// Operators are compiled while the program runs, where there is no compiled one.
    JitCompile,
}

/// How busy the parts of a device are, in percent; none where the device does not tell ([`Device::utilization`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Utilization {
    /// Of the matrix cores.
    pub cube: Option<u32>,
    /// Of the vector cores.
    pub vector: Option<u32>,
    /// Of the AI CPUs.
    pub ai_cpu: Option<u32>,
    /// Of the memory.
    pub memory: Option<u32>,
}

/// The place of a device in a super pod ([`Device::super_pod`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SuperPod {
    /// Number of the super pod.
    pub id: i64,
    /// Number of the server in it.
    pub server_id: i64,
    /// Number of the device in it.
    pub device_id: i64,
}

/// Bytes of a PCI bus id with its end, of the longest form that any release writes.
const BUS_ID_BYTES: usize = 32;

impl Device {
    /// Number of AI CPUs, which run operators that no core can.
    ///
    /// # Errors
    ///
    /// As [`Device::attribute`].
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// assert!(device.ai_cpu_cores()? > 0);
    /// assert_eq!(device.total_memory_bytes()?, 64 << 30); // of the mock
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetDeviceInfo")]
    pub fn ai_cpu_cores(&self) -> Result<u64> {
        Ok(self.attribute(aclrtDevAttr::ACL_DEV_ATTR_AICPU_CORE_NUM)?.unsigned_abs())
    }

    /// Size of the device's memory in bytes, whoever uses it. [`memory_info`](Device::memory_info) tells what is free.
    ///
    /// # Errors
    ///
    /// As [`Device::attribute`].
    #[doc(alias = "aclrtGetDeviceInfo")]
    pub fn total_memory_bytes(&self) -> Result<u64> {
        Ok(self.attribute(aclrtDevAttr::ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE)?.unsigned_abs())
    }

    /// Number of the architecture that kernels are compiled for, such as 2201 for an Ascend 910B.
    ///
    /// # Errors
    ///
    /// As [`Device::attribute`].
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// assert_eq!(device.npu_arch()?, 2201); // of the mock
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetDeviceInfo")]
    pub fn npu_arch(&self) -> Result<u64> {
        Ok(self.attribute(aclrtDevAttr::ACL_DEV_ATTR_NPU_ARCH)?.unsigned_abs())
    }

    /// Whether this is a share of a card that was split.
    ///
    /// # Errors
    ///
    /// As [`Device::attribute`].
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// assert!(!device.is_virtual()?);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetDeviceInfo")]
    pub fn is_virtual(&self) -> Result<bool> {
        Ok(self.attribute(aclrtDevAttr::ACL_DEV_ATTR_IS_VIRTUAL)? != 0)
    }

    /// How the card is built in.
    ///
    /// # Errors
    ///
    /// As [`Device::attribute`]; older cards do not tell.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// match device.form_factor() {
    ///     Ok(form) => println!("{form:?}"),
    ///     Err(error) => assert_eq!(error.kind(), racl::ErrorKind::NotSupported),
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetDeviceInfo")]
    pub fn form_factor(&self) -> Result<FormFactor> {
        Ok(match self.attribute(aclrtDevAttr::ACL_DEV_ATTR_DEVICE_FORM_FACTOR)? {
            0 => FormFactor::Pod,
            1 => FormFactor::AK,
            2 => FormFactor::AX,
            3 => FormFactor::PcieCard,
            other => FormFactor::Other(other),
        })
    }

    /// The place of the device in its super pod.
    ///
    /// # Errors
    ///
    /// As [`Device::attribute`]: a device that is in none does not tell.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// assert_eq!(device.super_pod().unwrap_err().kind(), racl::ErrorKind::NotSupported); // of the mock
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetDeviceInfo")]
    pub fn super_pod(&self) -> Result<SuperPod> {
        Ok(SuperPod {
            id: self.attribute(aclrtDevAttr::ACL_DEV_ATTR_SUPER_POD_ID)?,
            server_id: self.attribute(aclrtDevAttr::ACL_DEV_ATTR_SUPER_POD_SERVER_ID)?,
            device_id: self.attribute(aclrtDevAttr::ACL_DEV_ATTR_SUPER_POD_DEVICE_ID)?,
        })
    }

    /// Whether the device, with its driver and firmware, has a feature.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) from a library that does not know the
    /// feature; [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on one without the query.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::DeviceFeature;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// assert!(device.supports(DeviceFeature::TaskUpdate)?);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetDeviceCapability")]
    pub fn supports(&self, feature: DeviceFeature) -> Result<bool> {
        let feature = match feature {
            DeviceFeature::TaskUpdate => aclrtDevFeatureType::ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV,
            DeviceFeature::CrossDeviceQueues => aclrtDevFeatureType::ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV,
        };
        let mut value = 0;
        // SAFETY: `value` is a place for one number.
        unsafe { call!(&**self.0.inner(), aclrtGetDeviceCapability(self.id(), feature, &raw mut value)) }?;
        Ok(value != 0)
    }

    /// Whether the device works, as its driver says.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query;
    /// [`ErrorKind::Driver`](crate::ErrorKind::Driver) when the driver does not answer.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::DeviceStatus;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// assert_eq!(device.status()?, DeviceStatus::Normal);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtQueryDeviceStatus")]
    pub fn status(&self) -> Result<DeviceStatus> {
        let mut status = aclrtDeviceStatus::ACL_RT_DEVICE_STATUS_END;
        // SAFETY: `status` is a place for one value.
        unsafe { call!(&**self.0.inner(), aclrtQueryDeviceStatus(self.id(), &raw mut status)) }?;
        Ok(match status {
            aclrtDeviceStatus::ACL_RT_DEVICE_STATUS_NORMAL => DeviceStatus::Normal,
            aclrtDeviceStatus::ACL_RT_DEVICE_STATUS_ABNORMAL => DeviceStatus::Abnormal,
            other => DeviceStatus::Other(other.0),
        })
    }

    /// How busy the device is at the moment, with the work of all processes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query. What the device
    /// does not tell is none of the value, and no error.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let busy = device.utilization()?;
    /// assert_eq!((busy.cube, busy.memory), (Some(0), None)); // of the mock
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetDeviceUtilizationRate")]
    pub fn utilization(&self) -> Result<Utilization> {
        let mut raw = aclrtUtilizationInfo {
            cubeUtilization: -1,
            vectorUtilization: -1,
            aicpuUtilization: -1,
            memoryUtilization: -1,
            utilizationExtend: std::ptr::null_mut(),
        };
        // SAFETY: `raw` is a place for one answer without an extension.
        unsafe { call!(&**self.0.inner(), aclrtGetDeviceUtilizationRate(self.id(), &raw mut raw)) }?;
        let percent = |value: i32| u32::try_from(value).ok();
        Ok(Utilization {
            cube: percent(raw.cubeUtilization),
            vector: percent(raw.vectorUtilization),
            ai_cpu: percent(raw.aicpuUtilization),
            memory: percent(raw.memoryUtilization),
        })
    }

    /// The UUID of the device, which is the same in every process and after a restart.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) on a chip without one;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// assert_eq!(device.uuid()?, *b"mock-acl device0");
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtDeviceGetUuid")]
    pub fn uuid(&self) -> Result<[u8; 16]> {
        let mut uuid = aclrtUuid { bytes: [0; 16] };
        // SAFETY: `uuid` is a place for one answer.
        unsafe { call!(&**self.0.inner(), aclrtDeviceGetUuid(self.id(), &raw mut uuid)) }?;
        Ok(uuid.bytes.map(|byte| byte.to_ne_bytes()[0]))
    }

    /// Where the device is on the PCI bus, as `domain:bus:device.function` in hexadecimal. [`Acl::device_at`] goes
    /// back.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) where the device is on no such bus;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// assert_eq!(device.pci_bus_id()?, "0000:c0:00.0"); // of the mock
    /// assert_eq!(acl.device_at("0000:c0:00.0")?.id(), 0);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtDeviceGetPCIBusId")]
    pub fn pci_bus_id(&self) -> Result<String> {
        let mut text = [0 as c_char; BUS_ID_BYTES];
        let (place, len) = (text.as_mut_ptr(), i32::try_from(text.len() - 1).unwrap_or(i32::MAX));
        // SAFETY: `place` has room for `len` characters, and a zero behind them.
        unsafe { call!(&**self.0.inner(), aclrtDeviceGetPCIBusId(self.id(), place, len)) }?;
        // SAFETY: the last character is zero whatever was written.
        Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// Number of the device among those of the machine that this process may see, whatever
    /// `ASCEND_RT_VISIBLE_DEVICES` leaves of them; tools of the driver use it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// assert_eq!((device.logical_id()?, device.physical_id()?), (0, 0));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetLogicDevIdByUserDevId")]
    pub fn logical_id(&self) -> Result<i32> {
        let mut id = 0;
        // SAFETY: `id` is a place for one number.
        unsafe { call!(&**self.0.inner(), aclrtGetLogicDevIdByUserDevId(self.id(), &raw mut id)) }?;
        Ok(id)
    }

    /// Number of the device in the machine, the same in every container.
    ///
    /// # Errors
    ///
    /// As [`Device::logical_id`].
    #[doc(alias = "aclrtGetPhyDevIdByUserDevId")]
    pub fn physical_id(&self) -> Result<i32> {
        let mut id = 0;
        // SAFETY: `id` is a place for one number.
        unsafe { call!(&**self.0.inner(), aclrtGetPhyDevIdByUserDevId(self.id(), &raw mut id)) }?;
        Ok(id)
    }

    /// Priorities that streams of the device can have, from the highest, which is the smallest number, to the lowest.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query; those that have
    /// none take 0 to 7.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// assert_eq!(device.stream_priorities()?, 0..=7);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtDeviceGetStreamPriorityRange")]
    pub fn stream_priorities(&self) -> Result<RangeInclusive<u32>> {
        let (mut least, mut greatest) = (0, 0);
        let inner = &**self.0.inner();
        // SAFETY: two places for one number each.
        unsafe { call!(inner, aclrtDeviceGetStreamPriorityRange(&raw mut least, &raw mut greatest)) }?;
        Ok(greatest.unsigned_abs()..=least.unsigned_abs())
    }
}

impl Acl {
    /// Whether chip and toolkit have a feature.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) from a library that does not know the
    /// feature; [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on one without the query.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(racl::Acl::mock()?.supports(racl::LibraryFeature::Bf16)?);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclGetCannAttribute")]
    pub fn supports(&self, feature: LibraryFeature) -> Result<bool> {
        let feature = match feature {
            LibraryFeature::InfNan => aclCannAttr::ACL_CANN_ATTR_INF_NAN,
            LibraryFeature::Bf16 => aclCannAttr::ACL_CANN_ATTR_BF16,
            LibraryFeature::JitCompile => aclCannAttr::ACL_CANN_ATTR_JIT_COMPILE,
        };
        let mut value = 0;
        // SAFETY: `value` is a place for one number.
        unsafe { call!(self, aclGetCannAttribute(feature, &raw mut value)) }?;
        Ok(value != 0)
    }

    /// The device at a place of the PCI bus, such as `0000:c1:00.0`, open.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidDevice`](crate::ErrorKind::InvalidDevice) where there is none that the process sees;
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a text that is no such place;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query. Otherwise as
    /// [`Acl::device`].
    #[doc(alias = "aclrtDeviceGetByPCIBusId")]
    pub fn device_at(&self, pci_bus_id: &str) -> Result<Device> {
        let text = CString::new(pci_bus_id).map_err(|error| {
            Error::invalid(format!("a PCI bus id with a zero byte: {pci_bus_id:?}")).with_source(error)
        })?;
        let mut id = 0;
        // SAFETY: a NUL-terminated string that outlives the call, and a place for one number.
        unsafe { call!(self, aclrtDeviceGetByPCIBusId(text.as_ptr(), &raw mut id)) }?;
        self.device(id)
    }

    /// Where this program runs: beside the device, or on it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Driver`](crate::ErrorKind::Driver) or [`ErrorKind::Internal`](crate::ErrorKind::Internal) on a
    /// machine without a driver.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(racl::Acl::mock()?.run_mode()?, racl::RunMode::Host);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetRunMode")]
    pub fn run_mode(&self) -> Result<RunMode> {
        let mut mode = aclrtRunMode::ACL_HOST;
        // SAFETY: `mode` is a place for one value.
        unsafe { call!(self, aclrtGetRunMode(&raw mut mode)) }?;
        Ok(match mode {
            aclrtRunMode::ACL_HOST => RunMode::Host,
            aclrtRunMode::ACL_DEVICE => RunMode::Device,
            other => RunMode::Other(other.0),
        })
    }

    /// The number of this process as the machine has it, also in a container that numbers its own: what shared memory
    /// and notifies are given to.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(racl::Acl::mock()?.process_id()?, std::process::id()); // of the mock
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtDeviceGetBareTgid")]
    pub fn process_id(&self) -> Result<u32> {
        let mut id = 0;
        // SAFETY: `id` is a place for one number.
        unsafe { call!(self, aclrtDeviceGetBareTgid(&raw mut id)) }?;
        Ok(id.unsigned_abs())
    }

    /// Whether some code of this process has the device with this number open, this crate or other.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidDevice`](crate::ErrorKind::InvalidDevice) for a number outside [`Acl::device_count`];
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// let acl = racl::Acl::mock()?;
    /// assert!(!acl.is_device_open(0)?);
    /// let device = acl.device(0)?;
    /// assert!(acl.is_device_open(0)?);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetPrimaryCtxState")]
    pub fn is_device_open(&self, id: i32) -> Result<bool> {
        let mut active = 0;
        // SAFETY: null for what is reserved, and a place for one number.
        unsafe { call!(self, aclrtGetPrimaryCtxState(id, std::ptr::null_mut(), &raw mut active)) }?;
        Ok(active != 0)
    }
}
