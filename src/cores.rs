//! Limits of cores for a whole device.
//!
//! A limit counts for kernels that are planned while it holds (guide: device management, resource limits), so operators
//! that were kept for later calls are planned again.

use std::fmt;

use crate::call::{Caller as _, call, check_not_locked};
use crate::context::forget_operators;
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::Lock;
use crate::retire;
use crate::stream::{Cores, device_cores};

/// Devices with a limit of [`Device::limit_cores`], by the address of their table and their number.
static DEVICES: Lock<Vec<(usize, i32)>> = Lock::new(Vec::new());

/// The whole process has at most so many cores of a device, until this goes; see [`Device::limit_cores`].
#[must_use = "the limit ends when it is dropped"]
pub struct DeviceCoreLimit {
    device: Device,
    /// What was set before.
    former: Cores,
    ended: bool,
}

impl Device {
    /// How many cores of the device work of this process has: the limit that was set, else all.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without limits of cores.
    #[doc(alias = "aclrtGetDeviceResLimit")]
    pub fn core_limit(&self) -> Result<Cores> {
        device_cores(self.context())
    }

    /// Limits all work that this process submits to the device from now on to so many cores, that of other code
    /// included; 0 leaves a number as it is. Returns at once. The end of the value brings the former limit back. Graphs
    /// keep the cores that they were captured with.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for more cores than the device has, for none
    /// at all, and while another value of this function holds for the device;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without such limits.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::plan::Cores;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let limit = device.limit_cores(Cores { cube: 12, vector: 24 })?;
    /// assert_eq!(device.core_limit()?, Cores { cube: 12, vector: 24 });
    /// limit.end()?;
    /// assert_eq!(device.core_limit()?, Cores { cube: 24, vector: 48 }); // of the mock
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSetDeviceResLimit")]
    pub fn limit_cores(&self, cores: Cores) -> Result<DeviceCoreLimit> {
        cores.check_some()?;
        self.claim()?;
        // Not before: what another limit ends meanwhile would be brought back.
        let former = self.core_limit().inspect_err(|_| self.unclaim())?;
        let mut limit = DeviceCoreLimit { device: self.clone(), former, ended: false };
        if let Err(error) = limit.set(cores) {
            return Err(match limit.undo() {
                Ok(()) => error,
                Err(second) => error.with_detail(format!("and it could not be undone: {second}")),
            });
        }
        Ok(limit)
    }

    fn key(&self) -> (usize, i32) {
        (std::ptr::from_ref(self.context().inner().table()).addr(), self.id())
    }

    fn claim(&self) -> Result<()> {
        let mut devices = DEVICES.lock();
        if devices.contains(&self.key()) {
            return Err(Error::invalid(format!("another limit of cores holds for device {}", self.id())));
        }
        devices.push(self.key());
        Ok(())
    }

    fn unclaim(&self) {
        DEVICES.lock().retain(|known| *known != self.key());
    }
}

impl DeviceCoreLimit {
    /// Ends the limit now.
    ///
    /// # Errors
    ///
    /// What the library says; it is not tried again. [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) while
    /// this thread has the [process locked](crate::Acl::lock_process): it ends once that is unlocked.
    #[doc(alias = "aclrtResetDeviceResLimit")]
    pub fn end(mut self) -> Result<()> {
        check_not_locked()?;
        self.undo()
    }

    fn set(&self, cores: Cores) -> Result<()> {
        let (context, device) = (&**self.device.context().inner(), self.device.id());
        // SAFETY: takes numbers.
        let done = cores.set(|kind, value| unsafe { call!(context, aclrtSetDeviceResLimit(device, kind, value)) });
        forget_operators(context, device);
        done
    }

    fn undo(&mut self) -> Result<()> {
        self.ended = true;
        let done = self.back();
        self.device.unclaim();
        done
    }

    /// A limit that other code had set stays one.
    fn back(&self) -> Result<()> {
        let whole = self.device.cube_cores().and_then(|cube| Ok((cube, self.device.vector_cores()?)));
        match whole {
            Ok(whole) if whole == (self.former.cube.into(), self.former.vector.into()) => {}
            Ok(_) => return self.set(self.former),
            // An older library does not tell. As many as there are limit nothing.
            Err(error) if error.kind() == ErrorKind::MissingSymbol => return self.set(self.former),
            Err(error) => return Err(error),
        }
        let (context, device) = (&**self.device.context().inner(), self.device.id());
        // SAFETY: takes a number.
        let done = unsafe { call!(context, aclrtResetDeviceResLimit(device)) };
        forget_operators(context, device);
        done
    }
}

impl Drop for DeviceCoreLimit {
    fn drop(&mut self) {
        if !self.ended && retire::must_leave() {
            self.ended = true;
            let heir = Self { device: self.device.clone(), former: self.former, ended: false };
            return retire::on_thread(heir, drop);
        }
        if !self.ended
            && let Err(error) = self.undo()
        {
            self.device.context().inner().record_drop_error("ending the core limit of a device", error);
        }
    }
}

impl fmt::Debug for DeviceCoreLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceCoreLimit").field("device", &self.device.id()).finish_non_exhaustive()
    }
}
