//! Making streams: for good, from the idle ones of a context, and its default stream.

use std::sync::Arc;

use acl_sys::aclrtStream;

use super::{Ownership, Stream};
use crate::call::{Caller as _, call};
use crate::context::{Context, ContextInner, Idle};
use crate::error::{Error, ErrorKind, Result, ResultExt as _};

/// How a stream is made, for [`Context::stream_with`].
///
/// Streams on which a synchronising call returns before the work is done are left out: those for AI CPUs
/// (`ACL_STREAM_CPU_SCHEDULE`) and for code on the device (`ACL_STREAM_DEVICE_USE_ONLY`). Those for graphs that are
/// built by hand (`ACL_STREAM_PERSISTENT`) come from a [`GraphBuilder`](crate::GraphBuilder). The guide on streams has
/// what each flag does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamOptions {
    priority: u32,
    flags: u32,
    pub(super) stops: bool,
    pub(super) overflow: bool,
    pub(super) tag: Option<u32>,
}

impl StreamOptions {
    /// Those of [`Context::stream`]: the highest priority and no flag.
    #[must_use]
    pub const fn new() -> Self {
        Self { priority: 0, flags: 0, stops: false, overflow: false, tag: None }
    }

    /// A priority, 0 (highest) to 7.
    #[must_use]
    pub const fn priority(self, priority: u32) -> Self {
        Self { priority, ..self }
    }

    /// What a launch needs on the device is set aside when the stream is made: more memory and a slower start, and
    /// faster launches.
    #[must_use]
    #[doc(alias = "ACL_STREAM_FAST_LAUNCH")]
    pub const fn fast_launch(self) -> Self {
        self.flag(acl_sys::ACL_STREAM_FAST_LAUNCH)
    }

    /// A thread that synchronises with the stream asks again and again instead of sleeping: sooner back, and one core
    /// of the host at work meanwhile.
    #[must_use]
    #[doc(alias = "ACL_STREAM_FAST_SYNC")]
    pub const fn fast_sync(self) -> Self {
        self.flag(acl_sys::ACL_STREAM_FAST_SYNC)
    }

    /// A longer queue, on chips that have one.
    #[must_use]
    #[doc(alias = "ACL_STREAM_HUGE")]
    pub const fn long_queue(self) -> Self {
        self.flag(acl_sys::ACL_STREAM_HUGE)
    }

    /// See [`Stream::stop_on_failure`].
    #[must_use]
    #[doc(alias = "aclrtSetStreamFailureMode")]
    pub const fn stop_on_failure(self) -> Self {
        Self { stops: true, ..self }
    }

    /// See [`Stream::set_overflow_check`].
    #[must_use]
    #[doc(alias = "aclrtSetStreamOverflowSwitch")]
    pub const fn overflow_check(self) -> Self {
        Self { overflow: true, ..self }
    }

    /// See [`Stream::set_tag`].
    #[must_use]
    #[doc(alias = "ACL_STREAM_ATTR_USER_CUSTOM_TAG")]
    pub const fn tag(self, tag: u32) -> Self {
        Self { tag: Some(tag), ..self }
    }

    const fn flag(self, flag: u32) -> Self {
        Self { flags: self.flags | flag, ..self }
    }
}

impl Context {
    /// A new stream of the highest priority. See [`Stream`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoStreams`](crate::ErrorKind::NoStreams) when the device has none left.
    #[doc(alias = "aclrtCreateStream")]
    pub fn stream(&self) -> Result<Stream> {
        Stream::create(self, StreamOptions::new())
    }

    /// A new stream with a priority or flags. Returns when the stream is there; any thread may call it.
    ///
    /// # Errors
    ///
    /// As [`Context::stream`]; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a priority above
    /// 7, which the C call would clamp silently; [`ErrorKind::NotSupported`] when the chip lacks a flag, and when the
    /// library ignored one, as far as it can be asked (`aclrtStreamGetFlags`). What else was asked for fails as the
    /// methods of streams that the options name; the stream is destroyed then.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::StreamOptions;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream_with(StreamOptions::new().priority(2).fast_launch().fast_sync())?;
    /// stream.synchronize()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtCreateStreamWithConfig")]
    #[doc(alias = "aclrtStreamGetFlags")]
    pub fn stream_with(&self, options: StreamOptions) -> Result<Stream> {
        Stream::create(self, options)
    }

    /// The default stream of this context. It has no implicit order with other streams, cannot record a graph and is
    /// never destroyed by this crate.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::WrongContext`] when the device was reset beside this crate.
    #[doc(alias = "aclrtCtxGetCurrentDefaultStream")]
    pub fn default_stream(&self) -> Result<Stream> {
        Stream::default_of(self)
    }
}

impl Stream {
    fn create(context: &Context, options: StreamOptions) -> Result<Self> {
        if options.priority > 7 {
            let priority = options.priority;
            return Err(Error::invalid(format!("stream priority {priority}: 0 (highest) to 7 are possible")));
        }
        let raw = create_raw(context.inner(), options)?;
        // From here on the stream goes with the value.
        let stream = Self::own(context.inner(), raw, Ownership::Owned);
        stream.check_flags(options.flags).and_then(|()| stream.apply(options)).map(|()| stream)
    }

    /// That the stream has the flags, which a library that does not know them ignores; releases that cannot be asked
    /// are believed.
    fn check_flags(&self, wanted: u32) -> Result<()> {
        let context = &**self.0.context();
        if wanted == 0 || context.table().aclrtStreamGetFlags().is_err() {
            return Ok(());
        }
        let mut flags = 0;
        // SAFETY: `flags` is a place for one number; the stream is live.
        unsafe { call!(context, aclrtStreamGetFlags(self.as_raw(), &raw mut flags)) }?;
        match wanted & !flags {
            0 => Ok(()),
            lacks => Err(Error::new(ErrorKind::NotSupported, format!("the library ignored stream flags {lacks:#x}"))),
        }
    }

    /// As [`Stream::lease`] for priority 0; others are made anew, since idle streams have none.
    pub(crate) fn lease_with_priority(context: &Context, priority: u32) -> Result<Self> {
        match priority {
            0 => Self::lease(context.inner()),
            _ => Self::create(context, StreamOptions::new().priority(priority)),
        }
    }

    /// A new stream that stores what it is given, for a graph that is built by hand.
    pub(crate) fn storing(context: &Arc<ContextInner>) -> Result<Self> {
        let options = StreamOptions::new().flag(acl_sys::ACL_STREAM_PERSISTENT);
        Ok(Self::own(context, create_raw(context, options)?, Ownership::Bound))
    }

    /// A stream of the context's idle ones, or a new one; given back when the last clone goes.
    pub(crate) fn lease(context: &Arc<ContextInner>) -> Result<Self> {
        Ok(Self::own(context, Self::lease_raw(context)?, Ownership::Leased))
    }

    /// As [`Stream::lease`], for the context itself.
    pub(crate) fn lease_raw(context: &ContextInner) -> Result<aclrtStream> {
        context.idle_streams.take().map_or_else(|| create_raw(context, StreamOptions::new()), Ok)
    }

    fn default_of(context: &Context) -> Result<Self> {
        let inner = context.inner();
        inner.bind()?;
        let mut raw = std::ptr::null_mut();
        if inner.table().aclrtCtxGetCurrentDefaultStream().is_ok() {
            // SAFETY: `raw` is a place for one handle.
            unsafe { call!(&**inner, aclrtCtxGetCurrentDefaultStream(&raw mut raw)) }?;
        }
        Ok(Self::own(inner, raw, Ownership::Default))
    }
}

fn create_raw(context: &ContextInner, options: StreamOptions) -> Result<aclrtStream> {
    let mut raw = std::ptr::null_mut();
    let StreamOptions { priority, flags, .. } = options;
    // SAFETY: `raw` is a place for one handle.
    let create = || unsafe { call!(context, aclrtCreateStreamWithConfig(&raw mut raw, priority, flags)) };
    let created = Idle::with_room(context, create);
    created.context_with(|| match flags {
        0 => "creating a stream".to_owned(),
        _ => format!("creating a stream with flags {flags:#x}"),
    })?;
    Ok(raw)
}
