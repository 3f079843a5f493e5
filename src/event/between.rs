//! Events between processes.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use acl_sys::{aclrtEvent, aclrtEventRecordedStatus, aclrtIpcEventHandle};

use crate::call::{call, non_null};
use crate::context::{Context, ContextInner, RawEvent};
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::retire::keepers;
use crate::stream::{Stream, Task, milliseconds};

/// An event that several processes have: each may record it, and wait for the latest record of any. It takes no part in
/// captures, and takes no time.
///
/// Any thread may use it. Dropping it never blocks: pending records and waits still take place. Work of one process is
/// not ordered behind that of another by anything but waits.
///
/// C calls: `aclrtCreateEventExWithFlag`, `aclrtIpcGetEventHandle`, `aclrtIpcOpenEventHandle`, and those of an
/// [`Event`](super::Event).
///
/// # Examples
///
/// ```
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let event = device.context().ipc_event()?;
/// let handle = event.handle()?.to_bytes(); // to be sent to another process, which opens it
/// let same = device.context().open_ipc_event(racl::IpcEventHandle::from_bytes(handle))?;
/// event.record(&stream)?;
/// same.synchronize()?;
/// # Ok::<(), racl::Error>(())
/// ```
pub struct IpcEvent(RawEvent);

/// What another process opens an [`IpcEvent`] with: 64 bytes to send there.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IpcEventHandle([u8; 64]);

impl IpcEventHandle {
    /// The handle whose bytes came from another process.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    /// The bytes to send.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 64] {
        self.0
    }
}

impl fmt::Debug for IpcEventHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IpcEventHandle(..)")
    }
}

impl Context {
    /// A new event that other processes can open.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`] on a chip, or with a driver, without them; [`ErrorKind::NoEvents`] when the device
    /// has none left.
    #[doc(alias = "ACL_EVENT_IPC")]
    pub fn ipc_event(&self) -> Result<IpcEvent> {
        RawEvent::create(self.inner(), acl_sys::ACL_EVENT_IPC).map(IpcEvent)
    }

    /// The event that another process made, or this one.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a handle that no process gave out; [`ErrorKind::Driver`] when its process is
    /// gone; [`ErrorKind::MissingSymbol`] on a library without.
    #[doc(alias = "aclrtIpcOpenEventHandle")]
    pub fn open_ipc_event(&self, handle: IpcEventHandle) -> Result<IpcEvent> {
        let mut raw = std::ptr::null_mut();
        let handle = aclrtIpcEventHandle { reserved: handle.0.map(|byte| std::ffi::c_char::from_ne_bytes([byte])) };
        // SAFETY: a value of 64 bytes, and a place for one handle.
        unsafe { call!(&**self.inner(), aclrtIpcOpenEventHandle(handle, &raw mut raw)) }?;
        non_null(raw, "aclrtIpcOpenEventHandle").map(|raw| IpcEvent(RawEvent::own(raw, self.inner())))
    }
}

impl IpcEvent {
    /// What another process opens the event with. The event must live as long as others use it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for an event that was opened itself.
    #[doc(alias = "aclrtIpcGetEventHandle")]
    pub fn handle(&self) -> Result<IpcEventHandle> {
        let mut handle = aclrtIpcEventHandle { reserved: [0; 64] };
        // SAFETY: a live handle, and a place for one value.
        unsafe { call!(&**self.0.context(), aclrtIpcGetEventHandle(self.as_raw(), &raw mut handle)) }?;
        Ok(IpcEventHandle(handle.reserved.map(|byte| byte.to_ne_bytes()[0])))
    }

    /// Marks the point that `stream` has reached with what it was given so far, for all processes. Returns when that is
    /// queued.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`] in a capture, which gives no graph then; [`ErrorKind::InvalidArgument`] for a stream
    /// of another library.
    #[doc(alias = "aclrtRecordEvent")]
    #[track_caller]
    pub fn record(&self, stream: &Stream) -> Result<()> {
        self.submit(stream, "event record", Location::caller(), |raw| {
            // SAFETY: both handles are live and belong to values borrowed here.
            unsafe { call!(&**stream.0.context(), aclrtRecordEvent(self.as_raw(), raw)) }
        })
    }

    fn submit(
        &self,
        stream: &Stream,
        label: &'static str,
        location: &'static Location<'static>,
        call: impl FnOnce(acl_sys::aclrtStream) -> Result<()>,
    ) -> Result<()> {
        stream.0.check_thread()?;
        let checked = stream.0.context().check_library(self.0.context(), "an event");
        checked.map_err(|error| stream.refuse((label, location), error))?;
        let task = Task { label, location, uses: &[], scratch: None };
        // Another thread must not begin a capture in between.
        let state = stream.0.lock();
        if let Some(capture) = &state.capture {
            let text = "events between processes take no part in captures";
            return Err(capture.poison(&task, Error::new(ErrorKind::NotSupported, text)));
        }
        stream.0.submit_locked(&state, &task, call).map(drop)
    }

    /// Blocks until the latest record of any process is reached; returns at once for an event that was never recorded.
    ///
    /// # Errors
    ///
    /// The error of the work before the record, or behind it where that has failed by then, if it is this process's;
    /// [`ErrorKind::Internal`] when the process that recorded it is gone.
    #[doc(alias = "aclrtSynchronizeEvent")]
    pub fn synchronize(&self) -> Result<()> {
        let (context, event) = (&**self.0.context(), self.as_raw());
        keepers::wait_long(|limit| match limit {
            // SAFETY: the handle is this value's own.
            None => unsafe { call!(context, aclrtSynchronizeEvent(event)) },
            // SAFETY: as above.
            Some(ms) => unsafe { call!(context, aclrtSynchronizeEventWithTimeout(event, ms)) },
        })
    }

    /// As [`IpcEvent::synchronize`], for at most `limit`, in whole milliseconds, rounded up.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Timeout`] when the record is not reached by then; [`ErrorKind::InvalidArgument`] for no time at
    /// all or more than 24 days; [`ErrorKind::MissingSymbol`] on a library without the call.
    #[doc(alias = "aclrtSynchronizeEventWithTimeout")]
    pub fn synchronize_timeout(&self, limit: Duration) -> Result<()> {
        let ms = milliseconds(limit)?;
        // SAFETY: the handle is this value's own.
        let waited = unsafe { call!(&**self.0.context(), aclrtSynchronizeEventWithTimeout(self.as_raw(), ms)) };
        keepers::look_after(ms, waited)
    }

    /// Whether the latest record of any process is reached; true for an event that was never recorded. Does not block.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`] for one destroyed beside this crate.
    #[doc(alias = "aclrtQueryEventStatus")]
    pub fn is_complete(&self) -> Result<bool> {
        let mut status = aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_NOT_READY;
        // SAFETY: `status` is a place for one value; the handle is this value's own.
        unsafe { call!(&**self.0.context(), aclrtQueryEventStatus(self.as_raw(), &raw mut status)) }?;
        match status {
            aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_COMPLETE => Ok(true),
            aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_NOT_READY => Ok(false),
            other => Err(Error::new(ErrorKind::UnknownValue, format!("event status {}", other.0))),
        }
    }

    pub(crate) fn context_inner(&self) -> &Arc<ContextInner> {
        self.0.context()
    }

    /// The raw handle. Valid as long as this value.
    #[must_use]
    pub fn as_raw(&self) -> aclrtEvent {
        self.0.raw()
    }

    /// Destroys the event now, for this process.
    ///
    /// # Errors
    ///
    /// The event and what `aclrtDestroyEvent` returns.
    #[doc(alias = "aclrtDestroyEvent")]
    pub fn close(mut self) -> Result<(), Refused<Self>> {
        match self.0.destroy() {
            Ok(()) => Ok(()),
            Err(error) => Err(Refused::new(self, error)),
        }
    }
}

impl Stream {
    /// Makes later work of this stream wait for the latest record of `event`, whichever process made it. Returns when
    /// that is queued.
    ///
    /// # Errors
    ///
    /// As [`IpcEvent::record`].
    #[doc(alias = "aclrtStreamWaitEvent")]
    #[track_caller]
    pub fn wait_ipc(&self, event: &IpcEvent) -> Result<()> {
        let location = Location::caller();
        let wait = |raw| {
            // SAFETY: both handles are live and belong to values borrowed here.
            unsafe { call!(&**self.0.context(), aclrtStreamWaitEvent(raw, event.as_raw())) }
        };
        self.wait_elsewhere(|| event.submit(self, "event wait", location, wait))
    }
}

impl fmt::Debug for IpcEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IpcEvent").field("raw", &self.as_raw()).finish_non_exhaustive()
    }
}
