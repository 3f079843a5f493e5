//! What a stream is told of itself: what it does after a failure, whether it looks for overflow, its tag.

use acl_sys::{aclrtStreamAttr, aclrtStreamAttrValue};

use super::{Ownership, Stream, StreamOptions};
use crate::call::call;
use crate::error::{Error, ErrorKind, Result};

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

fn empty() -> aclrtStreamAttrValue {
    aclrtStreamAttrValue { reserve: [0; 4] }
}
