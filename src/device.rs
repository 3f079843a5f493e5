//! Devices.

use std::fmt;

use acl_sys::{aclDeviceInfo, aclrtDevAttr};

use crate::acl::Acl;
use crate::call::call;
use crate::context::Context;
use crate::error::{Refused, Result};

mod facts;
mod faults;
mod mapping;
mod modes;
mod peers;

pub use facts::{DeviceFeature, DeviceStatus, FormFactor, LibraryFeature, RunMode, SuperPod, Utilization};
pub use faults::{DeviceFault, FaultKind, MemoryError};
pub use mapping::DeviceUnit;
pub use modes::OverflowMode;
pub use peers::DeviceLink;

/// A device, open, with its primary [`Context`]. Streams, events and memory are made from it directly; what else a
/// context can do is done with [`Device::context`], and functions that ask for a context take a device as well.
///
/// Clones are cheap; opening the same device twice gives the same context, with all that it keeps. What is made from it
/// keeps it open. When the last value is dropped the device stays open for the next one, and for the caches of the
/// runtime; [`Device::close`] and [`Acl::close`](crate::Acl::close) reset it, and dropping does with
/// [`set_end_on_drop`](crate::set_end_on_drop).
///
/// C calls: `aclrtSetDevice`, `aclrtResetDevice`, `aclrtGetDeviceInfo`.
///
/// # Examples
///
/// ```
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// println!("{} MiB of L2 cache", device.l2_cache_bytes()? >> 20);
/// let stream = device.stream()?;
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Clone)]
#[doc(alias = "aclrtSetDevice")]
#[doc(alias = "aclrtResetDevice")]
pub struct Device(Context);

impl Acl {
    /// The device with this number, with its primary context. See [`Device`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidDevice`](crate::ErrorKind::InvalidDevice) for a number outside [`Acl::device_count`].
    #[doc(alias = "aclrtSetDevice")]
    pub fn device(&self, id: i32) -> Result<Device> {
        Device::open(self, id)
    }
}

impl Device {
    fn open(acl: &Acl, id: i32) -> Result<Self> {
        Ok(Self(Context::primary(acl, id)?))
    }

    /// The primary context.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0
    }

    /// Gives the device back now; see [`Context::close`].
    ///
    /// # Errors
    ///
    /// The device and why, as [`Context::close`].
    #[doc(alias = "aclrtResetDevice")]
    pub fn close(self) -> Result<(), Refused<Self>> {
        self.0.close().map_err(|refused| refused.map(Self))
    }

    /// The library that the device is used through.
    #[must_use]
    pub fn acl(&self) -> &Acl {
        self.0.acl()
    }

    /// Number of the device among those that the process sees, from 0.
    #[must_use]
    pub fn id(&self) -> i32 {
        self.0.device_id()
    }

    /// Any attribute of the device by the runtime's number of it, such as
    /// [`ACL_DEV_ATTR_L2_CACHE_SIZE`](aclrtDevAttr::ACL_DEV_ATTR_L2_CACHE_SIZE). Units are the runtime's; sizes are
    /// bytes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) or
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for one that the device does not have;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::sys::aclrtDevAttr;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let cores = device.attribute(aclrtDevAttr::ACL_DEV_ATTR_AICORE_CORE_NUM)?;
    /// assert_eq!(cores, 24); // of the mock
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetDeviceInfo")]
    pub fn attribute(&self, attribute: aclrtDevAttr) -> Result<i64> {
        self.0.device_attribute(attribute)
    }

    /// Size of the L2 cache in bytes: what prefetches fill. Two queries are tried, because releases differ in which
    /// of them answers.
    ///
    /// # Errors
    ///
    /// Those of the first query when neither answers: [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) or
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) on a device without the number;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// assert_eq!(device.l2_cache_bytes()?, 192 << 20); // of the mock
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclGetDeviceCapability")]
    pub fn l2_cache_bytes(&self) -> Result<u64> {
        self.0.l2_cache_bytes()
    }

    /// Number of cores that multiply matrices.
    ///
    /// # Errors
    ///
    /// As [`Device::attribute`].
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// assert_eq!(device.cube_cores()?, 24); // of the mock
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetDeviceInfo")]
    pub fn cube_cores(&self) -> Result<u64> {
        self.0.cube_cores()
    }

    /// Number of cores that compute on vectors.
    ///
    /// # Errors
    ///
    /// As [`Device::attribute`].
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// assert_eq!(device.vector_cores()?, 48); // of the mock
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetDeviceInfo")]
    pub fn vector_cores(&self) -> Result<u64> {
        self.0.vector_cores()
    }
}

impl AsRef<Context> for Device {
    fn as_ref(&self) -> &Context {
        &self.0
    }
}

impl Context {
    fn device_attribute(&self, attribute: aclrtDevAttr) -> Result<i64> {
        let mut value = 0;
        let id = self.device_id().unsigned_abs();
        // SAFETY: `value` is a place for one number.
        unsafe { call!(&**self.inner(), aclrtGetDeviceInfo(id, attribute, &raw mut value)) }?;
        Ok(value)
    }

    /// See [`Device::cube_cores`]; of the context's device, also where [other code made](Self::from_raw) the context.
    ///
    /// # Errors
    ///
    /// As [`Device::attribute`].
    #[doc(alias = "aclrtGetDeviceInfo")]
    pub fn cube_cores(&self) -> Result<u64> {
        Ok(self.device_attribute(aclrtDevAttr::ACL_DEV_ATTR_CUBE_CORE_NUM)?.try_into().unwrap_or(0))
    }

    /// See [`Device::vector_cores`], and [`Context::cube_cores`](Self::cube_cores).
    ///
    /// # Errors
    ///
    /// As [`Device::attribute`].
    #[doc(alias = "aclrtGetDeviceInfo")]
    pub fn vector_cores(&self) -> Result<u64> {
        Ok(self.device_attribute(aclrtDevAttr::ACL_DEV_ATTR_VECTOR_CORE_NUM)?.try_into().unwrap_or(0))
    }

    /// See [`Device::l2_cache_bytes`], and [`Context::cube_cores`](Self::cube_cores).
    ///
    /// # Errors
    ///
    /// As [`Device::l2_cache_bytes`].
    #[doc(alias = "aclGetDeviceCapability")]
    pub fn l2_cache_bytes(&self) -> Result<u64> {
        let mut value = 0_i64;
        let (id, what) = (self.device_id().unsigned_abs(), aclDeviceInfo::ACL_DEVICE_INFO_L2_SIZE);
        // SAFETY: `value` is a place for one number.
        let asked = unsafe { call!(&**self.inner(), aclGetDeviceCapability(id, what, &raw mut value)) };
        match asked {
            Ok(()) => Ok(value.unsigned_abs()),
            Err(error) => {
                let other = self.device_attribute(aclrtDevAttr::ACL_DEV_ATTR_L2_CACHE_SIZE);
                other.map(i64::unsigned_abs).map_err(|_| error)
            }
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("id", &self.id()).finish_non_exhaustive()
    }
}
