//! What went wrong on a device, and repairing it.

use acl_sys::{
    aclrtAicoreErrorType, aclrtErrorInfo, aclrtErrorInfoDetail, aclrtErrorType, aclrtMemUceInfo, aclrtMemUceInfoArray,
};

use super::Device;
use crate::call::call;
use crate::error::{Error, Refused, Result};

/// Room for memory errors in one answer (header: `MAX_MEM_UCE_INFO_ARRAY_SIZE`, `ACL_RT_MEM_UCE_INFO_MAX_NUM`).
const MOST: usize = acl_sys::MAX_MEM_UCE_INFO_ARRAY_SIZE as usize;
const IN_FAULT: usize = acl_sys::ACL_RT_MEM_UCE_INFO_MAX_NUM as usize;

/// What part of a device failed ([`DeviceFault::kind`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// Memory, with errors that it cannot correct itself.
    Memory,
    /// The L2 cache.
    L2,
    /// A core, for a reason that is not known.
    Core,
    /// A core, by what its kernel did.
    CoreSoftware,
    /// A core, by itself.
    CoreHardware,
    /// A link to another device.
    Link,
    /// A port of the L3 cache.
    L3Port,
    /// Something else; the number is the library's.
    Other(u32),
}

/// A range of memory with errors that it cannot correct itself (UCE).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemoryError {
    device: i32,
    address: usize,
    bytes: usize,
    reserved: [usize; 14],
}

impl MemoryError {
    /// The number of the device whose memory it is.
    #[must_use]
    pub fn device(&self) -> i32 {
        self.device
    }

    /// Where it begins, as an address of the device.
    #[must_use]
    pub fn address(&self) -> usize {
        self.address
    }

    /// Its size in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.bytes
    }

    fn of(device: i32, raw: &aclrtMemUceInfo) -> Self {
        Self { device, address: raw.addr.addr(), bytes: raw.len, reserved: raw.reserved }
    }

    fn raw(&self) -> aclrtMemUceInfo {
        let addr = std::ptr::without_provenance_mut(self.address);
        aclrtMemUceInfo { addr, len: self.bytes, reserved: self.reserved }
    }
}

/// The latest fault of a device ([`Device::fault`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceFault {
    device: i32,
    kind: FaultKind,
    repairable: bool,
    memory: Vec<MemoryError>,
}

impl DeviceFault {
    /// The number of the device that has it.
    #[must_use]
    pub fn device(&self) -> i32 {
        self.device
    }

    /// What failed.
    #[must_use]
    pub fn kind(&self) -> FaultKind {
        self.kind
    }

    /// Whether [`Device::repair`] may help.
    #[must_use]
    pub fn is_repairable(&self) -> bool {
        self.repairable
    }

    /// The ranges of memory, where it was memory that failed and the device tells them.
    #[must_use]
    pub fn memory(&self) -> &[MemoryError] {
        &self.memory
    }

    fn of(device: i32, raw: &aclrtErrorInfo) -> Option<Self> {
        type Type = aclrtErrorType;
        let detailed = raw.hasDetail != 0;
        let kind = match raw.errorType {
            Type::ACL_RT_NO_ERROR => return None,
            Type::ACL_RT_ERROR_MEMORY => FaultKind::Memory,
            Type::ACL_RT_ERROR_L2 => FaultKind::L2,
            // SAFETY: this is the detail of such a fault, and all of the union was set before the call.
            Type::ACL_RT_ERROR_AICORE if detailed => match unsafe { raw.detail.aicoreErrType } {
                aclrtAicoreErrorType::ACL_RT_AICORE_ERROR_SW => FaultKind::CoreSoftware,
                aclrtAicoreErrorType::ACL_RT_AICORE_ERROR_HW_LOCAL => FaultKind::CoreHardware,
                _ => FaultKind::Core,
            },
            Type::ACL_RT_ERROR_AICORE => FaultKind::Core,
            Type::ACL_RT_ERROR_LINK => FaultKind::Link,
            Type::ACL_RT_ERROR_L3_PORT => FaultKind::L3Port,
            other => FaultKind::Other(other.0),
        };
        let mut memory = Vec::new();
        if kind == FaultKind::Memory && detailed {
            // SAFETY: this is the detail of such a fault, and all of the union was set before the call.
            let known = unsafe { &raw.detail.uceInfo };
            memory.extend(known.memUceInfoArray.iter().take(known.arraySize).map(|raw| MemoryError::of(device, raw)));
        }
        Some(Self { device, kind, repairable: raw.tryRepair != 0, memory })
    }

    fn raw(&self) -> aclrtErrorInfo {
        type Type = aclrtErrorType;
        let mut raw = no_fault();
        let core = match self.kind {
            FaultKind::CoreSoftware => aclrtAicoreErrorType::ACL_RT_AICORE_ERROR_SW,
            FaultKind::CoreHardware => aclrtAicoreErrorType::ACL_RT_AICORE_ERROR_HW_LOCAL,
            _ => aclrtAicoreErrorType::ACL_RT_AICORE_ERROR_UNKNOWN,
        };
        raw.errorType = match self.kind {
            FaultKind::Memory => Type::ACL_RT_ERROR_MEMORY,
            FaultKind::L2 => Type::ACL_RT_ERROR_L2,
            FaultKind::Core | FaultKind::CoreSoftware | FaultKind::CoreHardware => {
                raw.detail.aicoreErrType = core;
                Type::ACL_RT_ERROR_AICORE
            }
            FaultKind::Link => Type::ACL_RT_ERROR_LINK,
            FaultKind::L3Port => Type::ACL_RT_ERROR_L3_PORT,
            FaultKind::Other(number) => aclrtErrorType(number),
        };
        raw.tryRepair = u8::from(self.repairable);
        raw.hasDetail = u8::from(!self.memory.is_empty() || raw.errorType == Type::ACL_RT_ERROR_AICORE);
        if self.kind == FaultKind::Memory {
            let mut known =
                aclrtMemUceInfoArray { arraySize: self.memory.len(), memUceInfoArray: [none(); IN_FAULT] };
            known.memUceInfoArray.iter_mut().zip(&self.memory).for_each(|(place, error)| *place = error.raw());
            raw.detail.uceInfo = known;
        }
        raw
    }
}

fn none() -> aclrtMemUceInfo {
    aclrtMemUceInfo { addr: std::ptr::null_mut(), len: 0, reserved: [0; 14] }
}

fn no_fault() -> aclrtErrorInfo {
    let uce = aclrtMemUceInfoArray { arraySize: 0, memUceInfoArray: [none(); IN_FAULT] };
    aclrtErrorInfo {
        tryRepair: 0,
        hasDetail: 0,
        reserved: [0; 2],
        errorType: aclrtErrorType::ACL_RT_NO_ERROR,
        detail: aclrtErrorInfoDetail { uceInfo: uce },
    }
}

impl Device {
    /// The latest fault of the device, if there was one since the last repair.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query;
    /// [`ErrorKind::Driver`](crate::ErrorKind::Driver) when the driver does not answer.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// if let Some(fault) = device.fault()? {
    ///     println!("{:?} failed", fault.kind());
    ///     if fault.is_repairable() {
    ///         device.abort_device(std::time::Duration::from_secs(10))?;
    ///         device.repair(&fault)?;
    ///     }
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetErrorVerbose")]
    pub fn fault(&self) -> Result<Option<DeviceFault>> {
        let mut raw = no_fault();
        // SAFETY: `raw` is a place for one answer.
        unsafe { call!(&**self.context().inner(), aclrtGetErrorVerbose(self.id(), &raw mut raw)) }?;
        Ok(DeviceFault::of(self.id(), &raw))
    }

    /// Repairs what [`fault`](Self::fault) gave, once no work of the device runs
    /// ([`Context::abort_device`](crate::Context::abort_device)). What was in the memory is lost.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a fault of another device;
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) for one that cannot be repaired;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library that cannot.
    #[doc(alias = "aclrtRepairError")]
    pub fn repair(&self, fault: &DeviceFault) -> Result<()> {
        self.check_own(fault.device)?;
        let raw = fault.raw();
        // SAFETY: `raw` is a fault as the library gives it, and outlives the call.
        unsafe { call!(&**self.context().inner(), aclrtRepairError(self.id(), &raw const raw)) }
    }

    /// Ranges of the device's memory with errors that it cannot correct itself, at most 128.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) on a chip without the query;
    /// [`ErrorKind::Driver`](crate::ErrorKind::Driver) when the driver does not answer.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let errors = device.memory_errors()?;
    /// assert!(errors.is_empty());
    /// device.repair_memory(&errors)?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetMemUceInfo")]
    pub fn memory_errors(&self) -> Result<Vec<MemoryError>> {
        let (mut all, mut count) = (vec![none(); MOST], 0);
        let place = all.as_mut_ptr();
        // SAFETY: room for so many answers, and a place for their number.
        unsafe { call!(&**self.context().inner(), aclrtGetMemUceInfo(self.id(), place, MOST, &raw mut count)) }?;
        Ok(all.iter().take(count).map(|raw| MemoryError::of(self.id(), raw)).collect())
    }

    /// Repairs ranges of [`memory_errors`](Self::memory_errors), once no work of the device runs. What was in them is
    /// lost.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for more than 128, and those of another device;
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) on a chip that cannot.
    #[doc(alias = "aclrtMemUceRepair")]
    pub fn repair_memory(&self, errors: &[MemoryError]) -> Result<()> {
        if errors.is_empty() {
            return Ok(());
        }
        if errors.len() > MOST {
            return Err(Error::invalid(format!("{} memory errors at once, of {MOST} at most", errors.len())));
        }
        errors.iter().try_for_each(|error| self.check_own(error.device))?;
        let mut all: Vec<_> = errors.iter().map(MemoryError::raw).collect();
        let (list, count) = (all.as_mut_ptr(), all.len());
        // SAFETY: a list of so many ranges.
        unsafe { call!(&**self.context().inner(), aclrtMemUceRepair(self.id(), list, count)) }
    }

    fn check_own(&self, of: i32) -> Result<()> {
        if of == self.id() {
            return Ok(());
        }
        Err(Error::invalid(format!("a fault of device {of}, to be repaired on device {}", self.id())))
    }

    /// As [`Device::close`], but the device is reset although other code of the process has it open: its streams,
    /// events and memory are gone. Blocks until the device is reset, without waiting for its work.
    ///
    /// # Safety
    ///
    /// No other code of the process uses the device, or anything that it made there, from now on, before it opens the
    /// device anew: the library may read handles that are gone.
    ///
    /// # Errors
    ///
    /// The device and why, as [`Device::close`]; [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a
    /// library that cannot.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// // SAFETY: this program has no other code that uses devices.
    /// unsafe { device.close_by_force() }?;
    /// assert!(!acl.is_device_open(0)?);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtResetDeviceForce")]
    pub unsafe fn close_by_force(self) -> Result<(), Refused<Self>> {
        // SAFETY: the caller's promise.
        unsafe { self.0.close_by_force() }.map_err(|refused| refused.map(Self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_given_back_as_it_came() {
        assert_eq!(DeviceFault::of(3, &no_fault()), None);
        let error = MemoryError { device: 3, address: 0x1000, bytes: 64, reserved: [3; 14] };
        let kinds = [
            (FaultKind::Memory, vec![error; 2]),
            (FaultKind::Memory, Vec::new()),
            (FaultKind::Core, Vec::new()),
            (FaultKind::CoreSoftware, Vec::new()),
            (FaultKind::CoreHardware, Vec::new()),
            (FaultKind::L2, Vec::new()),
            (FaultKind::Link, Vec::new()),
            (FaultKind::L3Port, Vec::new()),
            (FaultKind::Other(77), Vec::new()),
        ];
        for (kind, memory) in kinds {
            let fault = DeviceFault { device: 3, kind, repairable: memory.len() == 2, memory };
            assert_eq!(DeviceFault::of(3, &fault.raw()).as_ref(), Some(&fault));
        }
    }

    #[test]
    fn more_ranges_than_there_is_room_for_are_not_read() {
        let mut raw = no_fault();
        (raw.errorType, raw.hasDetail) = (aclrtErrorType::ACL_RT_ERROR_MEMORY, 1);
        raw.detail.uceInfo = aclrtMemUceInfoArray { arraySize: usize::MAX, memUceInfoArray: [none(); IN_FAULT] };
        assert_eq!(DeviceFault::of(0, &raw).map(|fault| fault.memory.len()), Some(IN_FAULT));
    }

    #[test]
    fn a_device_repairs_what_is_its_own() {
        let device = crate::Acl::mock().unwrap().device(0).unwrap();
        let error = |device| MemoryError { device, address: 0x1000, bytes: 64, reserved: [0; 14] };
        let refused = device.repair_memory(&[error(0), error(1)]).unwrap_err();
        assert!(refused.code().is_none() && refused.to_string().contains("a fault of device 1"), "{refused}");
        let fault = DeviceFault { device: 1, kind: FaultKind::L2, repairable: true, memory: Vec::new() };
        let refused = device.repair(&fault).unwrap_err();
        assert!(refused.code().is_none() && refused.to_string().contains("on device 0"), "{refused}");
    }
}
