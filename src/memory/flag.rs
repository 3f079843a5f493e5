//! Numbers in device memory that streams write and wait for.

use std::ffi::c_void;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use acl_sys::aclrtMemcpyKind;

use super::{Allocation, SharedBuffer, Touch};
use crate::call::call;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::stream::{Stream, Task};

/// A number of 64 bits in device memory that streams write and wait for in their order, and that the host reads and
/// writes at any time: a doorbell between the host, streams and graphs. Unlike an [`Event`](crate::Event) it keeps its
/// value, and any number of waits see it.
///
/// Work on it is no use of memory that streams are [ordered](Stream#order-between-streams) by; that is what it is for.
/// Work behind a wait whose value nobody writes does not run, and neither does whatever is ordered behind that;
/// [`Stream::abort`] ends it. Clones stand for the same number, and any thread may use them; work and graphs that use it
/// keep it.
///
/// C calls: `aclrtValueWrite`, `aclrtValueWait`, `aclrtMemcpy`.
///
/// # Examples
///
/// ```
/// use racl::ValueWait;
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let (one, two) = (device.stream()?, device.stream()?);
/// let flag = device.context().flag(0)?;
/// two.wait_value(&flag, ValueWait::AtLeast(2))?;
/// one.write_value(&flag, 1)?;
/// one.synchronize()?;
/// assert!(!two.is_complete()?);
/// flag.set(2)?; // from the host
/// two.synchronize()?;
/// assert_eq!(flag.value()?, 2);
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Clone)]
pub struct DeviceFlag(SharedBuffer<u64>);

/// Until when a stream waits for a [`DeviceFlag`]; the number in it is `n` here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueWait {
    /// `n - value` is not negative as a signed number: so many steps of a counter, which may wrap.
    AtLeast(u64),
    /// `n == value`.
    Equal(u64),
    /// `n & value != 0`.
    And(u64),
    /// `!(n | value) != 0`.
    Nor(u64),
}

impl ValueWait {
    /// The number, and how it is compared.
    pub(crate) fn raw(self) -> (u64, u32) {
        match self {
            Self::AtLeast(value) => (value, acl_sys::ACL_STREAM_WAIT_VALUE_GEQ),
            Self::Equal(value) => (value, acl_sys::ACL_STREAM_WAIT_VALUE_EQ),
            Self::And(value) => (value, acl_sys::ACL_STREAM_WAIT_VALUE_AND),
            Self::Nor(value) => (value, acl_sys::ACL_STREAM_WAIT_VALUE_NOR),
        }
    }

    pub(crate) fn of(value: u64, how: u32) -> Result<Self> {
        match how {
            acl_sys::ACL_STREAM_WAIT_VALUE_GEQ => Ok(Self::AtLeast(value)),
            acl_sys::ACL_STREAM_WAIT_VALUE_EQ => Ok(Self::Equal(value)),
            acl_sys::ACL_STREAM_WAIT_VALUE_AND => Ok(Self::And(value)),
            acl_sys::ACL_STREAM_WAIT_VALUE_NOR => Ok(Self::Nor(value)),
            other => Err(Error::new(ErrorKind::UnknownValue, format!("a wait for a number of kind {other}"))),
        }
    }
}

impl Context {
    /// A new flag with this value. Returns when it is there.
    ///
    /// # Errors
    ///
    /// As [`Context::upload`].
    #[track_caller]
    pub fn flag(&self, value: u64) -> Result<DeviceFlag> {
        Ok(DeviceFlag(self.upload(&[value])?.into_shared()))
    }
}

impl DeviceFlag {
    /// The number now, whatever streams are at. Blocks for one small copy.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::CaptureForbidden`](crate::ErrorKind::CaptureForbidden) on a thread that may not make blocking
    /// copies while a graph is recorded.
    #[doc(alias = "aclrtMemcpy")]
    #[track_caller]
    pub fn value(&self) -> Result<u64> {
        let mut value = 0_u64;
        let to = (&raw mut value).cast::<c_void>();
        self.copy(to, self.address(), aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_HOST)?;
        Ok(value)
    }

    /// Writes the number now, whatever streams are at: those that wait for it go on. Blocks for one small copy.
    ///
    /// # Errors
    ///
    /// As [`DeviceFlag::value`].
    #[doc(alias = "aclrtMemcpy")]
    #[track_caller]
    pub fn set(&self, value: u64) -> Result<()> {
        let mut value = value;
        let from = (&raw mut value).cast::<c_void>();
        self.copy(self.address(), from, aclrtMemcpyKind::ACL_MEMCPY_HOST_TO_DEVICE)
    }

    #[track_caller]
    fn copy(&self, to: *mut c_void, from: *mut c_void, kind: aclrtMemcpyKind) -> Result<()> {
        self.0.allocation().context().check_may_block("a copy of a flag", Location::caller())?;
        let bytes = size_of::<u64>();
        // SAFETY: both sides have eight bytes that live as long as the call; the device changes whole words.
        unsafe { call!(&**self.0.allocation().context(), aclrtMemcpy(to, bytes, from, bytes, kind)) }
    }

    /// Where it is: as in [`Graph::tasks`](crate::Graph::tasks).
    #[must_use]
    pub fn address(&self) -> *mut c_void {
        self.0.allocation().address()
    }

    pub(crate) fn memory(&self) -> &Arc<Allocation> {
        self.0.allocation()
    }
}

impl Stream {
    /// Writes `value` to `flag` when the stream gets there. Returns when that is queued. In a capture it becomes part of
    /// the graph.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a flag of another device;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without, up to CANN 8.3.
    #[doc(alias = "aclrtValueWrite")]
    #[track_caller]
    pub fn write_value(&self, flag: &DeviceFlag, value: u64) -> Result<()> {
        self.submit_value(flag, "value write", Location::caller(), |raw| {
            // SAFETY: eight aligned bytes of device memory, which are registered with the stream.
            unsafe { call!(&**self.0.context(), aclrtValueWrite(flag.address(), value, 0, raw)) }
        })
    }

    /// Makes later work of this stream wait until `flag` is as `until` says. Returns when that is queued. In a capture
    /// it becomes part of the graph.
    ///
    /// # Errors
    ///
    /// As [`write_value`](Self::write_value).
    #[doc(alias = "aclrtValueWait")]
    #[track_caller]
    pub fn wait_value(&self, flag: &DeviceFlag, until: ValueWait) -> Result<()> {
        let (value, mode) = until.raw();
        let location = Location::caller();
        let wait = |raw| {
            // SAFETY: eight aligned bytes of device memory, which are registered with the stream.
            unsafe { call!(&**self.0.context(), aclrtValueWait(flag.address(), value, mode, raw)) }
        };
        self.wait_elsewhere(|| self.submit_value(flag, "value wait", location, wait))
    }

    fn submit_value(
        &self,
        flag: &DeviceFlag,
        label: &'static str,
        location: &'static Location<'static>,
        call: impl FnOnce(acl_sys::aclrtStream) -> Result<()>,
    ) -> Result<()> {
        let memory = flag.0.allocation();
        let checked = self.check_device(memory.context());
        checked.map_err(|error| self.refuse((label, location), error))?;
        let task = Task { label, location, uses: &[Touch::kept(memory)], scratch: None };
        self.0.submit(&task, call).map(drop)
    }
}

impl fmt::Debug for DeviceFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceFlag").field("address", &self.address()).finish_non_exhaustive()
    }
}
