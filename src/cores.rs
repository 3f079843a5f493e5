//! Limits of cores outside plans: for what a thread submits, and for a whole device.
//!
//! A limit counts for kernels that are planned while it holds (guide: device management, resource limits), so operators
//! that are kept for later calls are told apart by it, or planned again.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use acl_sys::aclrtDevResLimitType;

use crate::call::{Caller as _, call};
use crate::context::{Context, forget_operators};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::lock::Lock;
use crate::op::plan_for_cores;
use crate::plan::Cores;
use crate::stream::Stream;

const CUBE: aclrtDevResLimitType = aclrtDevResLimitType::ACL_RT_DEV_RES_CUBE_CORE;
const VECTOR: aclrtDevResLimitType = aclrtDevResLimitType::ACL_RT_DEV_RES_VECTOR_CORE;

thread_local! {
    /// Whether a limit of [`Stream::limit_cores`] holds on this thread.
    static LIMITED: Cell<bool> = const { Cell::new(false) };
}

/// Devices with a limit of [`Device::limit_cores`], by the address of their table and their number.
static DEVICES: Lock<Vec<(usize, i32)>> = Lock::new(Vec::new());

/// Sets what is not 0.
fn set_each(cores: Cores, set: impl Fn(aclrtDevResLimitType, u32) -> Result<()>) -> Result<()> {
    let all = [(CUBE, cores.cube), (VECTOR, cores.vector)];
    all.into_iter().filter(|(_, value)| *value != 0).try_for_each(|(kind, value)| set(kind, value))
}

fn check_some(cores: Cores) -> Result<()> {
    if cores == Cores::default() { Err(Error::invalid("a limit to no number of cores at all")) } else { Ok(()) }
}

/// What the thread that made it submits to any stream of the context has at most so many cores, until this goes; see
/// [`Stream::limit_cores`].
#[derive(Debug)]
#[must_use = "the limit ends when it is dropped"]
pub struct CoreLimit {
    stream: Stream,
    ended: bool,
    /// The library keeps it for the thread.
    _of_thread: PhantomData<*mut ()>,
}

impl Stream {
    /// Limits the operators and kernels that this thread submits from now on to so many cores of the device, so that
    /// work on other streams has the rest; 0 leaves a number as it is. Returns at once. In a capture it counts for what
    /// is captured meanwhile, at every replay. A run of a plan with limits of its own inside it ends it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for more cores than the device has, for none
    /// at all, and while another limit holds on this thread;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without such limits.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::Cores;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let limit = stream.limit_cores(Cores { cube: 8, vector: 0 })?;
    /// assert_eq!(device.context().thread_cores()?, Cores { cube: 8, vector: 48 }); // of the mock
    /// limit.end()?;
    /// assert_eq!(device.context().thread_cores()?.cube, 24);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSetStreamResLimit")]
    #[doc(alias = "aclrtUseStreamResInCurrentThread")]
    pub fn limit_cores(&self, cores: Cores) -> Result<CoreLimit> {
        check_some(cores)?;
        if LIMITED.get() {
            return Err(Error::invalid("another limit of cores holds on this thread"));
        }
        // From here on its end undoes what was set.
        let mut limit = CoreLimit { stream: self.clone(), ended: false, _of_thread: PhantomData };
        LIMITED.set(true);
        if let Err(error) = limit.begin(cores) {
            return Err(match limit.undo() {
                Ok(()) => error,
                Err(second) => error.with_detail(format!("and it could not be undone: {second}")),
            });
        }
        Ok(limit)
    }

    /// How many cores work of this stream has where [`limit_cores`](Self::limit_cores) of it holds: its limit, else that
    /// of the device.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without such limits;
    /// [`ErrorKind::InvalidHandle`](crate::ErrorKind::InvalidHandle) for a stream destroyed beside this crate.
    #[doc(alias = "aclrtGetStreamResLimit")]
    pub fn core_limit(&self) -> Result<Cores> {
        let ask = |kind: aclrtDevResLimitType| -> Result<u32> {
            let mut value = 0;
            // SAFETY: a live handle of this context, and a place for one number.
            unsafe { call!(&**self.0.context(), aclrtGetStreamResLimit(self.as_raw(), kind, &raw mut value)) }?;
            Ok(value)
        };
        Ok(Cores { cube: ask(CUBE)?, vector: ask(VECTOR)? })
    }
}

impl Context {
    /// How many cores the operators have that this thread plans now.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without limits of cores.
    #[doc(alias = "aclrtGetResInCurrentThread")]
    pub fn thread_cores(&self) -> Result<Cores> {
        let ask = |kind: aclrtDevResLimitType| {
            let mut value = 0;
            // SAFETY: a place for one number.
            unsafe { call!(&**self.inner(), aclrtGetResInCurrentThread(kind, &raw mut value)) }.map(|()| value)
        };
        Ok(Cores { cube: ask(CUBE)?, vector: ask(VECTOR)? })
    }
}

impl CoreLimit {
    /// Ends the limit now.
    ///
    /// # Errors
    ///
    /// What the library says; it is not tried again.
    #[doc(alias = "aclrtUnuseStreamResInCurrentThread")]
    #[doc(alias = "aclrtResetStreamResLimit")]
    pub fn end(mut self) -> Result<()> {
        self.undo()
    }

    fn begin(&self, cores: Cores) -> Result<()> {
        let (context, raw) = (&**self.stream.0.context(), self.stream.as_raw());
        // SAFETY: takes a live handle of this context and numbers.
        set_each(cores, |kind, value| unsafe { call!(context, aclrtSetStreamResLimit(raw, kind, value)) })?;
        // SAFETY: takes a live handle of this context.
        unsafe { call!(context, aclrtUseStreamResInCurrentThread(raw)) }?;
        plan_for_cores(cores.cube, cores.vector);
        Ok(())
    }

    fn undo(&mut self) -> Result<()> {
        self.ended = true;
        LIMITED.set(false);
        plan_for_cores(0, 0);
        let (context, raw) = (&**self.stream.0.context(), self.stream.as_raw());
        // SAFETY: takes a live handle of this context.
        let unused = unsafe { call!(context, aclrtUnuseStreamResInCurrentThread(raw)) };
        // SAFETY: as above.
        let reset = unsafe { call!(context, aclrtResetStreamResLimit(raw)) };
        unused.and(reset)
    }
}

impl Drop for CoreLimit {
    fn drop(&mut self) {
        if !self.ended
            && let Err(error) = self.undo()
        {
            self.stream.0.context().record_drop_error("ending the core limit of a stream", error);
        }
    }
}

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
        let ask = |kind: aclrtDevResLimitType| -> Result<u32> {
            let mut value = 0;
            // SAFETY: a place for one number.
            unsafe { call!(&**self.context().inner(), aclrtGetDeviceResLimit(self.id(), kind, &raw mut value)) }?;
            Ok(value)
        };
        Ok(Cores { cube: ask(CUBE)?, vector: ask(VECTOR)? })
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
    /// ```
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
        check_some(cores)?;
        let former = self.core_limit()?;
        self.claim()?;
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
}

impl DeviceCoreLimit {
    /// Ends the limit now.
    ///
    /// # Errors
    ///
    /// What the library says; it is not tried again.
    #[doc(alias = "aclrtResetDeviceResLimit")]
    pub fn end(mut self) -> Result<()> {
        self.undo()
    }

    fn set(&self, cores: Cores) -> Result<()> {
        let (context, device) = (&**self.device.context().inner(), self.device.id());
        // SAFETY: takes numbers.
        let done =
            set_each(cores, |kind, value| unsafe { call!(context, aclrtSetDeviceResLimit(device, kind, value)) });
        forget_operators(context, device);
        done
    }

    fn undo(&mut self) -> Result<()> {
        self.ended = true;
        let done = self.back();
        DEVICES.lock().retain(|known| *known != self.device.key());
        done
    }

    /// A limit that other code had set stays one.
    fn back(&self) -> Result<()> {
        let whole = (self.device.cube_cores()?, self.device.vector_cores()?);
        if whole != (self.former.cube.into(), self.former.vector.into()) {
            return self.set(self.former);
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
