//! Notifies that count.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use acl_sys::{
    aclrtCntNotify, aclrtCntNotifyRecordInfo, aclrtCntNotifyRecordMode, aclrtCntNotifyWaitInfo,
    aclrtCntNotifyWaitMode,
};

use super::seconds;
use crate::call::{call, non_null};
use crate::context::Context;
use crate::error::{Refused, Result};
use crate::stream::{Destroy, Handle, Stream};

/// A number of 32 bits that streams change and wait for. Otherwise as a [`Notify`](super::Notify). Chips of the 950
/// series have it.
///
/// C calls: `aclrtCntNotifyCreate`, `aclrtCntNotifyDestroy`, `aclrtCntNotifyRecord`, `aclrtCntNotifyWaitWithTimeout`,
/// `aclrtCntNotifyReset`.
///
/// # Examples
///
/// ```
/// use racl::{CountUpdate, CountWait};
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let (one, two, last) = (device.stream()?, device.stream()?, device.stream()?);
/// let arrived = device.context().counting_notify()?;
/// last.wait_count(&arrived, CountWait::at_least(2).clears())?;
/// arrived.record(&one, CountUpdate::Add(1))?;
/// assert!(!last.is_complete()?);
/// arrived.record(&two, CountUpdate::Add(1))?;
/// last.synchronize()?;
/// # Ok::<(), racl::Error>(())
/// ```
pub struct CountingNotify(Arc<Handle>);

/// What a record does with the number of a [`CountingNotify`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CountUpdate {
    /// It becomes this.
    Set(u32),
    /// This is added; the sum wraps.
    Add(u32),
    /// It gets the bits of this as well.
    Or(u32),
    /// It keeps the bits of this only.
    And(u32),
}

/// What a stream waits for with a [`CountingNotify`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountWait {
    mode: aclrtCntNotifyWaitMode,
    value: u32,
    limit: Option<Duration>,
    clears: bool,
}

impl CountWait {
    const fn new(mode: aclrtCntNotifyWaitMode, value: u32) -> Self {
        Self { mode, value, limit: None, clears: false }
    }

    /// Until the number is smaller than `value`.
    #[must_use]
    pub const fn less(value: u32) -> Self {
        Self::new(aclrtCntNotifyWaitMode::ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE, value)
    }

    /// Until the number is `value`.
    #[must_use]
    pub const fn equal(value: u32) -> Self {
        Self::new(aclrtCntNotifyWaitMode::ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, value)
    }

    /// Until the number is greater than `value`.
    #[must_use]
    pub const fn greater(value: u32) -> Self {
        Self::new(aclrtCntNotifyWaitMode::ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE, value)
    }

    /// Until the number is `value` or greater.
    #[must_use]
    pub const fn at_least(value: u32) -> Self {
        Self::new(aclrtCntNotifyWaitMode::ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, value)
    }

    /// Until the number has all bits of `bits`.
    #[must_use]
    pub const fn all_bits(bits: u32) -> Self {
        Self::new(aclrtCntNotifyWaitMode::ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE, bits)
    }

    /// At most so long, in whole seconds, rounded up, counted on the device; without it as long as it takes.
    #[must_use]
    pub const fn limit(self, limit: Duration) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// The number becomes 0 when the wait is over.
    #[must_use]
    pub const fn clears(self) -> Self {
        Self { clears: true, ..self }
    }
}

impl Context {
    /// A new counting notify, at 0. See [`CountingNotify`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) on a chip without them;
    /// [`ErrorKind::NoEvents`](crate::ErrorKind::NoEvents) when the device has none left;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without them.
    #[doc(alias = "aclrtCntNotifyCreate")]
    pub fn counting_notify(&self) -> Result<CountingNotify> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is a place for one handle.
        unsafe { call!(&**self.inner(), aclrtCntNotifyCreate(&raw mut raw, 0)) }?;
        // SAFETY: the owner's only destroy, of a handle that no work uses any more.
        let destroy: Destroy = |context, raw| unsafe { call!(context, aclrtCntNotifyDestroy(raw)) };
        let raw = non_null(raw, "aclrtCntNotifyCreate")?;
        Ok(CountingNotify(Handle::new(raw, "a counting notify", destroy, self.inner())))
    }
}

impl CountingNotify {
    /// Changes the number when `stream` gets there. Returns when that is queued.
    ///
    /// # Errors
    ///
    /// As [`Notify::record`](super::Notify::record).
    #[doc(alias = "aclrtCntNotifyRecord")]
    #[track_caller]
    pub fn record(&self, stream: &Stream, update: CountUpdate) -> Result<()> {
        type Mode = aclrtCntNotifyRecordMode;
        let (mode, value) = match update {
            CountUpdate::Set(value) => (Mode::ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, value),
            CountUpdate::Add(value) => (Mode::ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, value),
            CountUpdate::Or(value) => (Mode::ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE, value),
            CountUpdate::And(value) => (Mode::ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE, value),
        };
        let mut info = aclrtCntNotifyRecordInfo { mode, value };
        self.0.submit(stream, ("count record", Location::caller()), &[], |context, raw| {
            // SAFETY: both handles are live, the work keeps the notify, and `info` is read in the call.
            unsafe { call!(context, aclrtCntNotifyRecord(self.as_raw(), raw, &raw mut info)) }
        })
    }

    /// Sets the number to 0 when `stream` gets there. Returns when that is queued.
    ///
    /// # Errors
    ///
    /// As [`Notify::record`](super::Notify::record).
    #[doc(alias = "aclrtCntNotifyReset")]
    #[track_caller]
    pub fn reset(&self, stream: &Stream) -> Result<()> {
        self.0.submit(stream, ("count reset", Location::caller()), &[], |context, raw| {
            // SAFETY: both handles are live, and the work keeps the notify.
            unsafe { call!(context, aclrtCntNotifyReset(self.as_raw(), raw)) }
        })
    }

    /// The device's number of the notify, as in the runtime's logs.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`](crate::ErrorKind::InvalidHandle) for one destroyed beside this crate.
    #[doc(alias = "aclrtCntNotifyGetId")]
    pub fn id(&self) -> Result<u32> {
        let mut id = 0;
        // SAFETY: a live handle, and a place for one number.
        unsafe { call!(&**self.0.context(), aclrtCntNotifyGetId(self.as_raw(), &raw mut id)) }?;
        Ok(id)
    }

    /// The raw handle. Valid as long as this value; work given to it beside this crate is not tracked by it.
    #[must_use]
    pub fn as_raw(&self) -> aclrtCntNotify {
        self.0.raw()
    }

    /// Destroys the notify now.
    ///
    /// # Errors
    ///
    /// As [`Notify::close`](super::Notify::close).
    #[doc(alias = "aclrtCntNotifyDestroy")]
    pub fn close(self) -> Result<(), Refused<Self>> {
        Handle::close(self.0).map_err(|refused| refused.map(Self))
    }
}

impl Stream {
    /// Makes later work of this stream wait until the number of `notify` is as `wait` says. Returns when that is
    /// queued.
    ///
    /// # Errors
    ///
    /// As [`wait_notify`](Self::wait_notify).
    #[doc(alias = "aclrtCntNotifyWaitWithTimeout")]
    #[track_caller]
    pub fn wait_count(&self, notify: &CountingNotify, wait: CountWait) -> Result<()> {
        let named = ("count wait", Location::caller());
        let timeout = seconds(wait.limit).map_err(|error| self.refuse(named, error))?;
        let (mode, value, clears) = (wait.mode, wait.value, wait.clears);
        let mut info = aclrtCntNotifyWaitInfo { mode, value, timeout, isClear: u8::from(clears), rsv: [0; 3] };
        let wait = |context: &_, raw| {
            // SAFETY: both handles are live, the work keeps the notify, and `info` is read in the call.
            unsafe { call!(context, aclrtCntNotifyWaitWithTimeout(notify.as_raw(), raw, &raw mut info)) }
        };
        self.wait_elsewhere(|| notify.0.submit(self, named, &[], wait))
    }
}

impl fmt::Debug for CountingNotify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountingNotify").field("raw", &self.0.raw()).finish_non_exhaustive()
    }
}
