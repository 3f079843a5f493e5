//! Events that graphs and work beside them share.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use acl_sys::aclrtEvent;

use crate::call::{call, non_null};
use crate::context::{Context, ContextInner};
use crate::error::{Error, Refused, Result};
use crate::stream::{Destroy, Handle, Named, Stream};

/// A latch that work inside a captured graph and work outside of it share: a record sets it, waits let work through
/// while it is set, and a reset clears it. Where an [`Event`](crate::Event) inside a capture belongs to that capture
/// alone, each launch records, waits for and resets this one anew. It is what `torch.npu.ExternalEvent` is.
///
/// A graph usually waits and resets in front of what others prepare, such as parameters that another stream updates, and
/// the other stream records once for each launch. A record that is missing lets the launch wait for ever (or as long as
/// the library's limit of waits says); one too many lets the next launch through at once. Several streams that wait for
/// one record must not reset it themselves: the later ones would wait for ever.
///
/// Any thread may use it. Graphs keep it; they do not become part of a capture by it. The host can neither ask nor wait
/// for it: the library has no such call. Dropping it never blocks: work that still uses it has it until it is done. The
/// device has some tens of thousands, which are in use from creation on.
///
/// Eager work of this crate is [ordered](crate::Stream#order-between-streams) behind work on the same memory as usual;
/// nothing is told of the order that these events make. What a launch that waits reads is therefore written in
/// [`untracked`](crate::untracked): a tracked write waits for the launch, which waits for the record behind that write.
///
/// C calls: `aclrtCreateEventWithFlag` with `ACL_EVENT_EXTERNAL`, `aclrtDestroyEvent`, `aclrtRecordEvent`,
/// `aclrtStreamWaitEvent`, `aclrtResetEvent` (guide: captured graphs, task update).
///
/// # Examples
///
/// ```
/// use racl::CaptureMode;
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let (stream, side) = (device.stream()?, device.stream()?);
/// let (mut weights, mut seen) = (device.upload(&[0_u8; 4])?, device.upload(&[0_u8; 4])?);
/// let ready = device.context().external_event()?;
/// let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| {
///     s.wait_external(&ready, None)?;
///     ready.reset(s)?;
///     s.copy(&weights, &mut seen)
/// })?;
/// for step in 1..=3 {
///     graph.launch(&stream)?; // waits
///     racl::untracked(|| side.fill_bytes(&mut weights, step))?;
///     ready.record(&side)?;
///     assert_eq!(seen.to_vec()?, [step; 4]);
/// }
/// # Ok::<(), racl::Error>(())
/// ```
pub struct ExternalEvent(Arc<Handle>);

impl Context {
    /// A new external event, which is not set. See [`ExternalEvent`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoEvents`](crate::ErrorKind::NoEvents) when the device has none left.
    #[doc(alias = "aclrtCreateEventWithFlag")]
    pub fn external_event(&self) -> Result<ExternalEvent> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is a place for one handle.
        let created =
            unsafe { call!(&**self.inner(), aclrtCreateEventWithFlag(&raw mut raw, acl_sys::ACL_EVENT_EXTERNAL)) };
        created
            .and_then(|()| non_null(raw, "aclrtCreateEventWithFlag"))
            .map(|raw| ExternalEvent::own(raw, self.inner()))
    }
}

impl ExternalEvent {
    fn own(raw: aclrtEvent, context: &Arc<ContextInner>) -> Self {
        // SAFETY: the owner's only destroy, of a handle that no work uses any more.
        let destroy: Destroy = |context, raw| unsafe { call!(context, aclrtDestroyEvent(raw)) };
        Self(Handle::new(raw, "an external event", destroy, context))
    }

    /// Sets the event when `stream` gets there; nothing changes where it is set. Returns when that is queued.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a stream of another device or library;
    /// [`ErrorKind::InvalidHandle`](crate::ErrorKind::InvalidHandle) for one destroyed beside this crate;
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) for one of a graph that is
    /// [built by hand](crate::GraphBuilder), whose abort would leave the event as it is.
    #[doc(alias = "aclrtRecordEvent")]
    #[track_caller]
    pub fn record(&self, stream: &Stream) -> Result<()> {
        let named = ("external event record", Location::caller());
        check_captured(stream, named)?;
        self.0.submit(stream, named, &[], |context, raw| {
            // SAFETY: both handles are live, and the work keeps the event.
            unsafe { call!(context, aclrtRecordEvent(self.as_raw(), raw)) }
        })
    }

    /// Clears the event when `stream` gets there. Returns when that is queued.
    ///
    /// # Errors
    ///
    /// As [`ExternalEvent::record`].
    #[doc(alias = "aclrtResetEvent")]
    #[track_caller]
    pub fn reset(&self, stream: &Stream) -> Result<()> {
        let named = ("external event reset", Location::caller());
        check_captured(stream, named)?;
        self.0.submit(stream, named, &[], |context, raw| {
            // SAFETY: as in `record`.
            unsafe { call!(context, aclrtResetEvent(self.as_raw(), raw)) }
        })
    }

    /// The raw handle. Valid as long as this value; work given to it beside this crate is not tracked by it.
    #[must_use]
    pub fn as_raw(&self) -> aclrtEvent {
        self.0.raw()
    }

    /// Destroys the event now.
    ///
    /// # Errors
    ///
    /// The event and why: [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) while work or a graph uses
    /// it; otherwise what the library says.
    #[doc(alias = "aclrtDestroyEvent")]
    pub fn close(self) -> Result<(), Refused<Self>> {
        Handle::close(self.0).map_err(|refused| refused.map(Self))
    }
}

impl Stream {
    /// Makes later work of this stream wait until `event` is set, which stays so. Returns when that is queued. `limit`, in
    /// whole seconds, rounded up, is counted on the device; none waits as long as the library's limit of waits says, which
    /// is for ever unless somebody sets one.
    ///
    /// # Errors
    ///
    /// As [`ExternalEvent::record`]; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for no time at all
    /// or more than 68 years. A wait that takes too long is an error of the stream's work, of kind
    /// [`ErrorKind::Timeout`](crate::ErrorKind::Timeout), which the next wait for it tells.
    #[doc(alias = "aclrtStreamWaitEvent")]
    #[doc(alias = "aclrtStreamWaitEventWithTimeout")]
    #[track_caller]
    pub fn wait_external(&self, event: &ExternalEvent, limit: Option<Duration>) -> Result<()> {
        let named = ("external event wait", Location::caller());
        let limit = limit.map(seconds).transpose().map_err(|error| self.refuse(named, error))?;
        check_captured(self, named)?;
        let wait = |context: &_, raw| match limit {
            // SAFETY: both handles are live, and the work keeps the event.
            None => unsafe { call!(context, aclrtStreamWaitEvent(raw, event.as_raw())) },
            Some(seconds) => {
                // SAFETY: the same.
                unsafe { call!(context, aclrtStreamWaitEventWithTimeout(raw, event.as_raw(), seconds)) }
            }
        };
        self.wait_elsewhere(|| event.0.submit(self, named, &[], wait))
    }
}

impl fmt::Debug for ExternalEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExternalEvent").field("raw", &self.0.raw()).finish_non_exhaustive()
    }
}

/// That a graph which is recorded here, if any, is a captured one.
fn check_captured(stream: &Stream, named: Named) -> Result<()> {
    stream.0.check_thread()?;
    let checked = {
        let state = stream.0.lock();
        state.capture.as_ref().map_or(Ok(()), |capture| capture.check_recorded("an external event"))
    };
    checked.map_err(|error| stream.refuse(named, error))
}

/// Whole seconds, rounded up.
fn seconds(limit: Duration) -> Result<i32> {
    match i32::try_from(limit.as_nanos().div_ceil(1_000_000_000)) {
        Ok(seconds) if seconds > 0 => Ok(seconds),
        _ => Err(Error::invalid(format!("a time limit of {limit:?}: more than zero and at most 68 years"))),
    }
}
