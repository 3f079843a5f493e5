//! Notifies: signals that one stream gives and one stream takes, and that processes can share.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use acl_sys::aclrtNotify;

use crate::call::{call, non_null};
use crate::context::{Context, ContextInner};
use crate::error::{Error, Refused, Result};
use crate::stream::{Destroy, Handle, Stream};

mod between;
mod counting;

pub use between::NotifyKey;
pub use counting::{CountUpdate, CountWait, CountingNotify};

/// A signal that is given by one stream and taken by one wait, in any order: a record sets it, and the wait that it lets
/// through clears it. Unlike an [`Event`](crate::Event) it needs no new record to be waited for, and no wait for it is
/// made before a record in vain; one that nobody records is waited for as long as the wait says.
///
/// Any thread may use it. In a capture records and waits become part of the graph, which keeps the notify; they make no
/// stream part of the capture. Dropping it never blocks: work that still uses it has it until it is done.
///
/// Eager work of this crate is [ordered](crate::Stream#order-between-streams) behind work on the same memory as usual,
/// so that what is behind a wait holds up whatever comes after it; nothing is told of the order that notifies make.
///
/// C calls: `aclrtCreateNotify`, `aclrtDestroyNotify`, `aclrtRecordNotify`, `aclrtWaitAndResetNotify`.
///
/// # Examples
///
/// ```
/// let device = racl::Acl::mock()?.device(0)?;
/// let (giver, taker) = (device.stream()?, device.stream()?);
/// let notify = device.context().notify()?;
/// taker.wait_notify(&notify, None)?;
/// assert!(!taker.is_complete()?);
/// notify.record(&giver)?;
/// taker.synchronize()?;
/// # Ok::<(), racl::Error>(())
/// ```
pub struct Notify(Arc<Handle>);

impl Context {
    /// A new notify, which is not set. See [`Notify`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoEvents`](crate::ErrorKind::NoEvents) when the device has none left;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without them.
    #[doc(alias = "aclrtCreateNotify")]
    pub fn notify(&self) -> Result<Notify> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is a place for one handle.
        let created = unsafe {
            call!(&**self.inner(), aclrtCreateNotify(&raw mut raw, u64::from(acl_sys::ACL_NOTIFY_DEFAULT)))
        };
        created.and_then(|()| non_null(raw, "aclrtCreateNotify")).map(|raw| Notify::own(raw, self.inner()))
    }
}

impl Notify {
    fn own(raw: aclrtNotify, context: &Arc<ContextInner>) -> Self {
        // SAFETY: the owner's only destroy, of a handle that no work uses any more.
        let destroy: Destroy = |context, raw| unsafe { call!(context, aclrtDestroyNotify(raw)) };
        Self(Handle::new(raw, "a notify", destroy, context))
    }

    /// Sets the notify when `stream` gets there. Returns when that is queued. Set twice before a wait it is set once.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a stream of another device or library;
    /// [`ErrorKind::InvalidHandle`](crate::ErrorKind::InvalidHandle) for one destroyed beside this crate.
    #[doc(alias = "aclrtRecordNotify")]
    #[track_caller]
    pub fn record(&self, stream: &Stream) -> Result<()> {
        let capture = self.0.submit_into(stream, ("notify record", Location::caller()), &[], |context, raw| {
            // SAFETY: both handles are live, and the work keeps the notify.
            unsafe { call!(context, aclrtRecordNotify(self.as_raw(), raw)) }
        })?;
        capture.iter().for_each(|capture| capture.note_notify(&self.0, false));
        Ok(())
    }

    /// Clears the notify now, whatever streams are at.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library that cannot.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let notify = device.context().notify()?;
    /// notify.record(&stream)?;
    /// stream.synchronize()?;
    /// notify.reset()?;
    /// stream.wait_notify(&notify, None)?;
    /// assert!(!stream.is_complete()?);
    /// stream.abort()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtNotifyBatchReset")]
    pub fn reset(&self) -> Result<()> {
        let mut raw = self.as_raw();
        // SAFETY: a list of one live handle.
        unsafe { call!(&**self.0.context(), aclrtNotifyBatchReset(&raw mut raw, 1)) }
    }

    /// The device's number of the notify, as in the runtime's logs.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the query.
    #[doc(alias = "aclrtGetNotifyId")]
    pub fn id(&self) -> Result<u32> {
        let mut id = 0;
        // SAFETY: a live handle, and a place for one number.
        unsafe { call!(&**self.0.context(), aclrtGetNotifyId(self.as_raw(), &raw mut id)) }?;
        Ok(id)
    }

    /// The raw handle. Valid as long as this value; work given to it beside this crate is not tracked by it.
    #[must_use]
    pub fn as_raw(&self) -> aclrtNotify {
        self.0.raw()
    }

    /// Destroys the notify now.
    ///
    /// # Errors
    ///
    /// The notify and why: [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) while work or a graph uses
    /// it; otherwise what the library says.
    #[doc(alias = "aclrtDestroyNotify")]
    pub fn close(self) -> Result<(), Refused<Self>> {
        Handle::close(self.0).map_err(|refused| refused.map(Self))
    }
}

impl Stream {
    /// Makes later work of this stream wait until `notify` is set, and clears it then. Returns when that is queued.
    /// `limit`, in whole seconds, rounded up, is counted on the device; none waits as long as it takes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a notify of another device or library, and
    /// for no time at all or more than 136 years. A wait that takes too long is an error of the stream's work, of kind
    /// [`ErrorKind::Timeout`](crate::ErrorKind::Timeout), which the next wait for it tells.
    #[doc(alias = "aclrtWaitAndResetNotify")]
    #[track_caller]
    pub fn wait_notify(&self, notify: &Notify, limit: Option<Duration>) -> Result<()> {
        let named = ("notify wait", Location::caller());
        let seconds = seconds(limit).map_err(|error| self.refuse(named, error))?;
        let wait = |context: &_, raw| {
            // SAFETY: both handles are live, and the work keeps the notify.
            unsafe { call!(context, aclrtWaitAndResetNotify(notify.as_raw(), raw, seconds)) }
        };
        let capture = self.wait_elsewhere(|| notify.0.submit_into(self, named, &[], wait))?;
        capture.iter().for_each(|capture| capture.note_notify(&notify.0, true));
        Ok(())
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").field("raw", &self.0.raw()).finish_non_exhaustive()
    }
}

/// Whole seconds, rounded up, where 0 stands for no limit.
fn seconds(limit: Option<Duration>) -> Result<u32> {
    let Some(limit) = limit else { return Ok(0) };
    match u32::try_from(limit.as_nanos().div_ceil(1_000_000_000)) {
        Ok(seconds) if seconds > 0 => Ok(seconds),
        _ => Err(Error::invalid(format!("a time limit of {limit:?}: more than zero and at most 136 years"))),
    }
}
