//! Whether floating-point numbers overflowed in the work of a stream.

use std::panic::Location;

use super::{DeviceWrite, Touch};
use crate::call::call;
use crate::error::{Error, Result};
use crate::stream::{Stream, Task};

/// Bytes of a status (guide: error handling, aclrtGetOverflowStatus).
const STATUS_BYTES: usize = 64;

impl Stream {
    /// Writes the overflow status of the work so far to `into`, 64 bytes of device memory, when the stream gets there.
    /// Returns when that is queued. All bytes are zero where nothing overflowed since the status was reset. It is kept
    /// where [`set_overflow_check`](Self::set_overflow_check) is on and the chip saturates
    /// ([`Device::set_overflow_mode`](crate::Device::set_overflow_mode)).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for another length, or memory of another
    /// device; [`ErrorKind::CaptureForbidden`](crate::ErrorKind::CaptureForbidden) in a capture, which gives no graph
    /// then.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut status = device.alloc::<u8>(64)?;
    /// stream.overflow_status(&mut status)?;
    /// assert_eq!(status.to_vec()?, [0; 64]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetOverflowStatus")]
    #[track_caller]
    pub fn overflow_status(&self, into: &mut impl DeviceWrite) -> Result<()> {
        let location = Location::caller();
        let into = into.as_slice();
        let checked = if into.size_bytes() == STATUS_BYTES {
            self.check_device(into.context_inner())
        } else {
            Err(Error::invalid(format!("an overflow status of {} bytes: it has {STATUS_BYTES}", into.size_bytes())))
        };
        checked.map_err(|error| self.refuse(("overflow status", location), error))?;
        let uses = &[Touch::written(into.allocation())];
        let task = Task { label: "overflow status", location, uses, scratch: None };
        self.0.submit(&task, |raw| {
            // SAFETY: the memory has 64 bytes on this device and is registered with the stream.
            unsafe { call!(&**self.0.context(), aclrtGetOverflowStatus(into.address(), STATUS_BYTES, raw)) }
        })?;
        Ok(())
    }

    /// Sets the overflow status back when the stream gets there. Returns when that is queued.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::CaptureForbidden`](crate::ErrorKind::CaptureForbidden) in a capture, which gives no graph then.
    #[doc(alias = "aclrtResetOverflowStatus")]
    #[track_caller]
    pub fn reset_overflow_status(&self) -> Result<()> {
        let task = Task { label: "overflow reset", location: Location::caller(), uses: &[], scratch: None };
        self.0.submit(&task, |raw| {
            // SAFETY: a live handle of this context.
            unsafe { call!(&**self.0.context(), aclrtResetOverflowStatus(raw)) }
        })?;
        Ok(())
    }

    /// Whether something overflowed in the work so far, since the status was reset. Blocks until the work is done.
    ///
    /// # Errors
    ///
    /// As [`overflow_status`](Self::overflow_status) and [`Stream::synchronize`].
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// stream.set_overflow_check(true)?;
    /// assert!(!stream.has_overflowed()?);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetOverflowStatus")]
    #[track_caller]
    pub fn has_overflowed(&self) -> Result<bool> {
        let mut status = self.context().alloc::<u8>(STATUS_BYTES)?;
        self.overflow_status(&mut status)?;
        Ok(status.to_vec()?.iter().any(|byte| *byte != 0))
    }
}
