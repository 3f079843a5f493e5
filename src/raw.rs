//! Handles from and to other code. `as_raw` of each type lends a handle; the functions here move it.

use acl_sys::{aclmdlRI, aclrtEvent, aclrtStream};

use crate::context::Context;
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::event::{Event, TimingEvent};
use crate::graph::Graph;
use crate::stream::Stream;

mod communicator;
mod context;
mod memory;

impl Stream {
    /// Takes over a stream that other code made in `context`; it is destroyed with the last clone.
    ///
    /// # Safety
    ///
    /// 1. `raw` is null or was made by the library of `context`, in that context.
    /// 2. It is not capturing, and no other code destroys it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`] for a null pointer, which would stand for the default stream.
    pub unsafe fn from_raw(raw: aclrtStream, context: impl AsRef<Context>) -> Result<Self> {
        not_null(raw, "a null stream; use Context::default_stream for it")?;
        Ok(Self::adopt(raw, context.as_ref()))
    }

    /// Waits for the stream's work and gives the handle away: the caller destroys the stream.
    ///
    /// # Errors
    ///
    /// As [`Stream::close`]; [`ErrorKind::NotSupported`] for a default stream, which belongs to its context.
    pub fn into_raw(self) -> Result<aclrtStream, Refused<Self>> {
        self.give_away()
    }

    /// As [`Stream::into_raw`], in the way of a drop: it waits for the work as long as one, and the error of work that
    /// failed goes to [`Context::take_drop_errors`]. For handles that are lent and go back to their owner, whatever
    /// became of the work.
    ///
    /// # Errors
    ///
    /// The stream, and [`ErrorKind::Timeout`] when its work is not done by the [limit of drops](crate::set_drop_limit),
    /// or not soon where it may wait at a [gate of a plan](crate::plan::External), or in a host function;
    /// [`ErrorKind::InvalidArgument`] while something else, such as a capture, has the stream; otherwise as
    /// [`Stream::into_raw`], but for errors of the work.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let context = stream.context();
    /// stream.host_function(|| panic!("no more room"))?;
    /// let raw = stream.give_back()?;
    /// assert!(context.take_drop_errors()[0].to_string().contains("no more room"));
    /// // Its owner destroys it.
    /// # // SAFETY: the handle was just given away, and has no other owner.
    /// drop(unsafe { racl::Stream::from_raw(raw, &device) }?);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn give_back(self) -> Result<aclrtStream, Refused<Self>> {
        self.give_back_handle()
    }
}

impl Event {
    /// Takes over an event that other code made in `context` with `aclrtCreateEventExWithFlag` and the flag
    /// `ACL_EVENT_SYNC`; it is destroyed with the value. It counts as never recorded.
    ///
    /// # Safety
    ///
    /// 1. `raw` is null or such an event of the library of `context`.
    /// 2. No other code destroys it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`] for a null pointer.
    pub unsafe fn from_raw(raw: aclrtEvent, context: impl AsRef<Context>) -> Result<Self> {
        not_null(raw, "a null event")?;
        Ok(Self::adopt(raw, context.as_ref()))
    }

    /// An event that other code made in `context`, and goes on to record and to wait for: a point at which its streams
    /// and those of this crate follow each other. It is left to that code when the value goes. The latest record, by
    /// whomever, counts for waits and for whether it is reached. Work that is behind such a wait counts as ordered for
    /// the library alone: where this crate [orders](crate::Context::set_tracking) work on memory by itself, it does so
    /// besides.
    ///
    /// Captures refuse it ([`ErrorKind::CaptureForbidden`]), futures too ([`ErrorKind::NotSupported`]).
    ///
    /// # Safety
    ///
    /// 1. `raw` is null or an event of the library of `context` that was made with the flag `ACL_EVENT_SYNC`, alone or
    ///    with `ACL_EVENT_TIME_LINE`.
    /// 2. Other code does not destroy it before this value is gone.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`] for a null pointer.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let (theirs, ours) = (device.stream()?, device.stream()?);
    /// let event = device.event()?; // stands for one of another framework, and `theirs` for its stream
    /// // SAFETY: an event of this library, made to order streams, which outlives the value.
    /// let shared = unsafe { racl::Event::from_raw_shared(event.as_raw(), &device) }?;
    /// event.record(&theirs)?;
    /// ours.wait(&shared)?; // behind what `theirs` was given
    /// shared.record(&ours)?;
    /// theirs.wait(&event)?;
    /// shared.synchronize()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub unsafe fn from_raw_shared(raw: aclrtEvent, context: impl AsRef<Context>) -> Result<Self> {
        not_null(raw, "a null event")?;
        Ok(Self::share(raw, context.as_ref()))
    }

    /// Gives the handle away: the caller destroys the event.
    #[must_use = "nobody destroys the event otherwise"]
    pub fn into_raw(self) -> aclrtEvent {
        self.give_away()
    }
}

impl TimingEvent {
    /// As [`Event::from_raw`], for an event that was made with the flags `ACL_EVENT_SYNC` and `ACL_EVENT_TIME_LINE`.
    ///
    /// # Safety
    ///
    /// 1. `raw` is null or such an event of the library of `context`.
    /// 2. No other code destroys it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`] for a null pointer.
    pub unsafe fn from_raw(raw: aclrtEvent, context: impl AsRef<Context>) -> Result<Self> {
        not_null(raw, "a null event")?;
        Ok(Self::adopt(raw, context.as_ref()))
    }

    /// Gives the handle away: the caller destroys the event.
    ///
    /// # Errors
    ///
    /// The event, and [`ErrorKind::InvalidArgument`] while a future, or a clone of [`as_event`](Self::as_event), holds it.
    pub fn into_raw(self) -> Result<aclrtEvent, Refused<Self>> {
        self.give_away()
    }
}

impl Graph {
    /// Takes over a graph that other code captured in `context`; it is destroyed with the value.
    ///
    /// # Safety
    ///
    /// 1. `raw` is null or a graph of the library of `context`, made in that context, that is not capturing or
    ///    running.
    /// 2. What its work uses (memory, functions) stays alive as long as the value: this one knows nothing of it.
    /// 3. No other code launches or destroys it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`] for a null pointer.
    pub unsafe fn from_raw(raw: aclmdlRI, context: impl AsRef<Context>) -> Result<Self> {
        not_null(raw, "a null graph")?;
        Ok(Self::adopt(raw, context.as_ref()))
    }

    /// Waits for the last launch and gives the handle away: the caller destroys the graph, and the streams of one that
    /// was built by hand go with it. What it uses is kept until then, and freed by another thread soon after; on a
    /// library that does not tell when a graph is destroyed (`aclmdlRIDestroyRegisterCallback`), up to CANN 9.1, it is
    /// never freed.
    ///
    /// # Errors
    ///
    /// The graph and the error of its last launch.
    #[doc(alias = "aclmdlRIDestroyRegisterCallback")]
    pub fn into_raw(self) -> Result<aclmdlRI, Refused<Self>> {
        self.give_away()
    }

    /// As [`Graph::into_raw`], in the way of a drop: it waits for the last launch as long as one, and the error of one
    /// that failed goes to [`Context::take_drop_errors`]. For graphs that are lent and go back to their owner, whatever
    /// became of the work.
    ///
    /// # Errors
    ///
    /// The graph, and [`ErrorKind::Timeout`] when its last launch is not done by the
    /// [limit of drops](crate::set_drop_limit), or not soon where it may wait at a
    /// [gate of a plan](crate::plan::External), or in a host function; otherwise what the wait says that is no error of
    /// the work, such as [`ErrorKind::DeviceLost`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::{CaptureMode, Graph};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let (stream, context) = (device.stream()?, device.context());
    /// let raw = stream.capture(CaptureMode::ThreadLocal, |s| s.host_function(|| panic!("no more room")))?.into_raw()?;
    /// # // SAFETY: the graph was just given away, and what it uses stays until it is destroyed.
    /// let mut lent = unsafe { Graph::from_raw(raw, context) }?;
    /// lent.launch(&stream)?;
    /// let raw = lent.give_back()?; // its owner destroys it
    /// # let _ = (stream.synchronize(), context.take_drop_errors());
    /// # // SAFETY: as before.
    /// # drop(unsafe { Graph::from_raw(raw, context) }?);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn give_back(self) -> Result<aclmdlRI, Refused<Self>> {
        self.give_back_handle()
    }
}

fn not_null(raw: *mut std::ffi::c_void, text: &str) -> Result<()> {
    if raw.is_null() { Err(Error::new(ErrorKind::InvalidHandle, text)) } else { Ok(()) }
}
