//! How a device computes.

use acl_sys::aclrtFloatOverflowMode;

use super::Device;
use crate::call::call;
use crate::error::{Error, Result};

/// What floating-point numbers become that are too large ([`Device::set_overflow_mode`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OverflowMode {
    /// The largest number of the type, and the overflow is noted.
    Saturate,
    /// Infinities and NaN, as IEEE 754 has them.
    InfNan,
    /// A number that this crate has no name for.
    Other(u32),
}

impl Device {
    /// What becomes of numbers that are too large.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query.
    #[doc(alias = "aclrtGetDeviceSatMode")]
    pub fn overflow_mode(&self) -> Result<OverflowMode> {
        let mut mode = aclrtFloatOverflowMode::ACL_RT_OVERFLOW_MODE_UNDEF;
        // SAFETY: `mode` is a place for one value.
        unsafe { call!(&**self.context().inner(), aclrtGetDeviceSatMode(&raw mut mode)) }?;
        Ok(match mode {
            aclrtFloatOverflowMode::ACL_RT_OVERFLOW_MODE_SATURATION => OverflowMode::Saturate,
            aclrtFloatOverflowMode::ACL_RT_OVERFLOW_MODE_INFNAN => OverflowMode::InfNan,
            other => OverflowMode::Other(other.0),
        })
    }

    /// Sets what becomes of numbers that are too large, for streams that the process makes from now on.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a mode without a name;
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) on a chip that has one mode only.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::OverflowMode;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// device.set_overflow_mode(OverflowMode::Saturate)?;
    /// assert_eq!(device.overflow_mode()?, OverflowMode::Saturate);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSetDeviceSatMode")]
    pub fn set_overflow_mode(&self, mode: OverflowMode) -> Result<()> {
        let mode = match mode {
            OverflowMode::Saturate => aclrtFloatOverflowMode::ACL_RT_OVERFLOW_MODE_SATURATION,
            OverflowMode::InfNan => aclrtFloatOverflowMode::ACL_RT_OVERFLOW_MODE_INFNAN,
            OverflowMode::Other(number) => {
                return Err(Error::invalid(format!("overflow mode {number} has no name")));
            }
        };
        // SAFETY: takes a value.
        unsafe { call!(&**self.context().inner(), aclrtSetDeviceSatMode(mode)) }
    }
}
