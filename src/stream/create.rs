//! Making streams: for good, from the idle ones of a context, and its default stream.

use std::sync::Arc;

use acl_sys::aclrtStream;

use super::{Ownership, Stream};
use crate::call::{Caller as _, call};
use crate::context::{Context, ContextInner};
use crate::error::{Error, ErrorKind, Result, ResultExt as _};
use crate::retire;

/// How a stream is made.
#[derive(Debug, Clone, Copy, Default)]
struct Options {
    priority: u32,
    flags: u32,
}

impl Context {
    /// A new stream of the highest priority. See [`Stream`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoStreams`](crate::ErrorKind::NoStreams) when the device has none left.
    #[doc(alias = "aclrtCreateStream")]
    pub fn stream(&self) -> Result<Stream> {
        Stream::create(self, Options::default())
    }

    /// A new stream with a priority, 0 (highest, the default) to 7.
    ///
    /// # Errors
    ///
    /// As [`Context::stream`]; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a priority above
    /// 7, which the C call would clamp silently.
    #[doc(alias = "aclrtCreateStreamWithConfig")]
    pub fn stream_with_priority(&self, priority: u32) -> Result<Stream> {
        Stream::create(self, Options { priority, ..Options::default() })
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
    fn create(context: &Context, options: Options) -> Result<Self> {
        if options.priority > 7 {
            let priority = options.priority;
            return Err(Error::invalid(format!("stream priority {priority}: 0 (highest) to 7 are possible")));
        }
        let raw = create_raw(context.inner(), options)?;
        Ok(Self::own(context.inner(), raw, Ownership::Owned))
    }

    /// As [`Stream::lease`] for priority 0; others are made anew, since idle streams have none.
    pub(crate) fn lease_with_priority(context: &Context, priority: u32) -> Result<Self> {
        match priority {
            0 => Self::lease(context.inner()),
            _ => Self::create(context, Options { priority, ..Options::default() }),
        }
    }

    /// A stream of the context's idle ones, or a new one; given back when the last clone goes.
    pub(crate) fn lease(context: &Arc<ContextInner>) -> Result<Self> {
        let raw = match context.idle_streams.take() {
            Some(raw) => raw,
            None => create_raw(context, Options::default())?,
        };
        Ok(Self::own(context, raw, Ownership::Leased))
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

fn create_raw(context: &ContextInner, options: Options) -> Result<aclrtStream> {
    let mut raw = std::ptr::null_mut();
    let Options { priority, flags } = options;
    // SAFETY: `raw` is a place for one handle.
    let mut create = || unsafe { call!(context, aclrtCreateStreamWithConfig(&raw mut raw, priority, flags)) };
    let mut created = create();
    // Streams of what was dropped may become free.
    let none_left = |created: &Result<()>| created.as_ref().is_err_and(|error| error.kind() == ErrorKind::NoStreams);
    while none_left(&created) && (context.idle_streams.shrink(context, 0) || retire::collect()) {
        created = create();
    }
    created.context_with(|| "creating a stream".to_owned())?;
    Ok(raw)
}
