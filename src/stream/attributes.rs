//! What a stream is told of itself: what it does after a failure, whether it looks for overflow, its tag.

use acl_sys::{aclrtStreamAttr, aclrtStreamAttrValue};

use super::{Ownership, Stream, StreamOptions};
use crate::call::call;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::theirs;

/// The mode in which nothing runs after a failure (guide: stream management, aclrtSetStreamFailureMode).
const STOP: u64 = 1;

/// What the tag of a stream is that was given none (observed on the open runtime).
const NO_TAG: u32 = u32::MAX;

impl Stream {
    /// The stream's priority, 0 (highest) to 7.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] on a library without the query; [`ErrorKind::InvalidHandle`] for a stream destroyed
    /// beside this crate.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::StreamOptions;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// assert_eq!(device.stream_with(StreamOptions::new().priority(3))?.priority()?, 3);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtStreamGetPriority")]
    pub fn priority(&self) -> Result<u32> {
        let mut priority = 0;
        // SAFETY: a live handle, and a place for one number.
        unsafe { call!(&**self.0.context(), aclrtStreamGetPriority(self.as_raw(), &raw mut priority)) }?;
        Ok(priority)
    }

    /// Lets nothing of the stream run any more once some of its work failed: what is queued is dropped, and what is
    /// submitted later is refused with the error. Without it the stream goes on behind the failure. For work that is
    /// submitted from now on, and for good. [`Context::abort_device`](crate::Context::abort_device) lets a stream that
    /// has stopped begin anew. Until somebody waits for it, work of other streams that has to follow its work, because of
    /// the memory that both use, is refused with that error too.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`] for streams of captures, which belong to their context, and on chips without the
    /// mode; [`ErrorKind::InvalidHandle`] for a stream destroyed beside this crate.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::StreamOptions;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream_with(StreamOptions::new().stop_on_failure())?;
    /// assert!(stream.stops_on_failure()?);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSetStreamFailureMode")]
    pub fn stop_on_failure(&self) -> Result<()> {
        self.check_own()?;
        // SAFETY: a live handle of this context, and a number.
        unsafe { call!(&**self.0.context(), aclrtSetStreamFailureMode(self.as_raw(), STOP)) }?;
        self.0.progress.set_stops();
        Ok(())
    }

    /// Whether [`stop_on_failure`](Self::stop_on_failure) was said.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] on a library without the query; otherwise as [`Stream::priority`].
    #[doc(alias = "aclrtGetStreamAttribute")]
    pub fn stops_on_failure(&self) -> Result<bool> {
        let value = self.attribute(aclrtStreamAttr::ACL_STREAM_ATTR_FAILURE_MODE)?;
        // SAFETY: the attribute is a number of this size, and all of the value was set before the call.
        Ok(unsafe { value.failureMode } == STOP)
    }

    /// Whether kernels of the stream that are submitted from now on note when a floating-point number overflows, for
    /// [`Stream::overflow_status`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::CaptureForbidden`] while the stream records a graph; [`ErrorKind::NotSupported`] for streams of
    /// captures, which belong to their context.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// stream.set_overflow_check(true)?;
    /// assert!(stream.checks_overflow()?);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSetStreamOverflowSwitch")]
    pub fn set_overflow_check(&self, on: bool) -> Result<()> {
        self.check_own()?;
        // SAFETY: a live handle of this context, and a number.
        unsafe { call!(&**self.0.context(), aclrtSetStreamOverflowSwitch(self.as_raw(), u32::from(on))) }
    }

    /// Whether kernels of the stream note overflow.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`] for a stream destroyed beside this crate.
    #[doc(alias = "aclrtGetStreamOverflowSwitch")]
    pub fn checks_overflow(&self) -> Result<bool> {
        let mut on = 0;
        // SAFETY: a live handle of this context, and a place for one number.
        unsafe { call!(&**self.0.context(), aclrtGetStreamOverflowSwitch(self.as_raw(), &raw mut on)) }?;
        Ok(on != 0)
    }

    /// Gives the stream a number of the program's own, which the runtime's tools show with its work.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for 4,294,967,295, which stands for none; [`ErrorKind::CaptureForbidden`] while
    /// the stream records a graph; [`ErrorKind::NotSupported`] for streams of captures;
    /// [`ErrorKind::MissingSymbol`] on a library without attributes of streams.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// assert_eq!(stream.tag()?, None);
    /// stream.set_tag(7)?;
    /// assert_eq!(stream.tag()?, Some(7));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSetStreamAttribute")]
    pub fn set_tag(&self, tag: u32) -> Result<()> {
        if tag == NO_TAG {
            return Err(Error::invalid(format!("the tag {tag} of a stream stands for none")));
        }
        self.check_own()?;
        let what = aclrtStreamAttr::ACL_STREAM_ATTR_USER_CUSTOM_TAG;
        let mut value = empty();
        value.userCustomTag = tag;
        // SAFETY: a live handle of this context, and a value whose field for the attribute is set.
        unsafe { call!(&**self.0.context(), aclrtSetStreamAttribute(self.as_raw(), what, &raw mut value)) }
    }

    /// The number that [`set_tag`](Self::set_tag) gave.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] on a library without the query; otherwise as [`Stream::priority`].
    #[doc(alias = "aclrtGetStreamAttribute")]
    pub fn tag(&self) -> Result<Option<u32>> {
        let value = self.attribute(aclrtStreamAttr::ACL_STREAM_ATTR_USER_CUSTOM_TAG)?;
        // SAFETY: the attribute is a number of this size, and all of the value was set before the call.
        Ok(Some(unsafe { value.userCustomTag }).filter(|tag| *tag != NO_TAG))
    }

    /// Records what `work` submits to this stream with what its operators are called, while it captures: a profile that begins
    /// behind the capture can name them in replays then. A profile that is there already names them without it. What is
    /// noted of them goes with the graph. The mock's profiles name operators of graphs either way.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] where the stream does not capture, and on a library that has attributes of streams
    /// but not this one; [`ErrorKind::MissingSymbol`] on one without them. `work` is not done then. Its own error; where
    /// it has none, that of the call which ends this.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::{CaptureMode, op};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut x = device.upload_tensor(&[1.0_f32], [1])?;
    /// let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| {
    ///     s.naming_operators(|s| op::adds_inplace(s, &mut x, 1.0))
    /// })?;
    /// graph.launch(&stream)?;
    /// assert_eq!(x.to_vec()?, [2.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSetStreamAttribute")]
    pub fn naming_operators<R>(&self, work: impl FnOnce(&Self) -> Result<R>) -> Result<R> {
        if !self.is_capturing() {
            return Err(Error::invalid("operators are named for a graph, and the stream records none"));
        }
        let what = aclrtStreamAttr::ACL_STREAM_ATTR_CACHE_OP_INFO;
        // SAFETY: the attribute is a number of this size, and all of the value was set before the call.
        let before = unsafe { self.attribute(what)?.cacheOpInfoSwitch };
        self.set_naming(1)?;
        let naming = Naming { stream: self, before };
        let done = theirs(|| work(self))?;
        std::mem::forget(naming);
        self.set_naming(before).map(|()| done)
    }

    fn set_naming(&self, switch: u32) -> Result<()> {
        let what = aclrtStreamAttr::ACL_STREAM_ATTR_CACHE_OP_INFO;
        let mut value = empty();
        value.cacheOpInfoSwitch = switch;
        // SAFETY: a live handle of this context, and a value whose field for the attribute is set.
        unsafe { call!(&**self.0.context(), aclrtSetStreamAttribute(self.as_raw(), what, &raw mut value)) }
    }

    fn attribute(&self, what: aclrtStreamAttr) -> Result<aclrtStreamAttrValue> {
        let mut value = empty();
        // SAFETY: a live handle, and a place for one value.
        unsafe { call!(&**self.0.context(), aclrtGetStreamAttribute(self.as_raw(), what, &raw mut value)) }?;
        Ok(value)
    }

    /// Not a stream that others get next.
    fn check_own(&self) -> Result<()> {
        if self.0.ownership != Ownership::Leased {
            return Ok(());
        }
        let text = "streams that a capture made belong to their context, which gives them to others";
        Err(Error::new(ErrorKind::NotSupported, text))
    }

    /// What is said of a stream once it is made.
    pub(super) fn apply(&self, options: StreamOptions) -> Result<()> {
        if options.stops {
            self.stop_on_failure()?;
        }
        if options.overflow {
            self.set_overflow_check(true)?;
        }
        options.tag.map_or(Ok(()), |tag| self.set_tag(tag))
    }
}

/// Ends what work that failed, or panicked, was to be named by.
struct Naming<'s> {
    stream: &'s Stream,
    before: u32,
}

impl Drop for Naming<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.stream.set_naming(self.before) {
            self.stream.0.context().record_drop_error("ending the names of operators in a capture", error);
        }
    }
}

fn empty() -> aclrtStreamAttrValue {
    aclrtStreamAttrValue { reserve: [0; 4] }
}
