//! Marks and ranges of a program in a profile.

use std::ffi::{CString, c_void};
use std::fmt;
use std::panic::Location;

use super::session::text_of;
use crate::acl::Acl;
use crate::call::{call, value};
use crate::error::{Error, Result};
use crate::lock::say;
use crate::stream::{Stream, Task};

/// The longest message in bytes.
const LONGEST: usize = 127;

/// What the library answers while nothing records marks.
const NOT_RECORDED: i32 = -1;

/// A range of the host in a profile, from [`Acl::profile_range`] until it ends or is dropped. It may end on another
/// thread. Where nothing records marks it is without effect.
#[must_use = "the range ends when this is dropped"]
pub struct HostRange {
    /// The number of the range, and the stamp that it was begun with.
    range: Option<(u32, *mut c_void)>,
    acl: Acl,
}

// SAFETY: the runtime's guide lets a range end on another thread than it began on.
unsafe impl Send for HostRange {}
// SAFETY: nothing is done with a shared one.
unsafe impl Sync for HostRange {}

/// A message as the library takes it.
fn message_of(text: &str) -> Result<CString> {
    if text.is_empty() || text.len() > LONGEST {
        let bytes = text.len();
        return Err(Error::invalid(format!("a mark of {bytes} bytes: at least 1 and at most {LONGEST}")));
    }
    text_of(text.as_bytes(), "a mark")
}

/// Whether it was recorded.
fn recorded(called: Result<()>) -> Result<bool> {
    match called {
        Ok(()) => Ok(true),
        Err(error) if error.code() == Some(NOT_RECORDED) => Ok(false),
        Err(error) => Err(error),
    }
}

/// A stamp, destroyed with this value.
struct Stamp<'a>(*mut c_void, &'a Acl);

impl<'a> Stamp<'a> {
    /// None where nothing records marks.
    fn new(acl: &'a Acl, text: &str) -> Result<Option<Self>> {
        let message = message_of(text)?;
        // SAFETY: the call takes nothing.
        let raw = unsafe { value!(acl, aclprofCreateStamp()) }?;
        if raw.is_null() {
            return Ok(None);
        }
        let stamp = Self(raw, acl);
        let length = message.count_bytes() as u32;
        // SAFETY: a live stamp and a text of that length, which is copied.
        let told = unsafe { call!(acl, aclprofSetStampTraceMessage(raw, message.as_ptr(), length)) };
        Ok(recorded(told)?.then_some(stamp))
    }

    fn into_raw(self) -> *mut c_void {
        let raw = self.0;
        std::mem::forget(self);
        raw
    }
}

impl Drop for Stamp<'_> {
    fn drop(&mut self) {
        // SAFETY: the stamp is this value's own and destroyed once; the call gives nothing.
        if let Err(error) = unsafe { value!(self.1, aclprofDestroyStamp(self.0)) } {
            say!(Error, "destroying a stamp of a profile: {error:#}");
        }
    }
}

impl Acl {
    /// Marks this moment of this thread in a profile that records marks. False where none does, which is no error.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for no text, a zero byte, or more than 127
    /// bytes; [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without profiles.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// acl.profile_mark("model loaded")?; // into the profile, if there is one
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclprofMark")]
    pub fn profile_mark(&self, text: &str) -> Result<bool> {
        let Some(stamp) = Stamp::new(self, text)? else { return Ok(false) };
        // SAFETY: a live stamp.
        recorded(unsafe { call!(self, aclprofMark(stamp.0)) })
    }

    /// Begins a range of the host in a profile that records marks; it ends with what is given.
    ///
    /// # Errors
    ///
    /// As [`Acl::profile_mark`].
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let _range = acl.profile_range("prepare")?;
    /// // … until here
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclprofRangeStart")]
    pub fn profile_range(&self, text: &str) -> Result<HostRange> {
        let mut range = HostRange { range: None, acl: self.clone() };
        let Some(stamp) = Stamp::new(self, text)? else { return Ok(range) };
        let mut id = 0;
        // SAFETY: a live stamp, and a place for one number.
        let begun = recorded(unsafe { call!(self, aclprofRangeStart(stamp.0, &raw mut id)) })?;
        range.range = begun.then(|| (id, stamp.into_raw()));
        Ok(range)
    }
}

impl HostRange {
    /// Whether it is recorded.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.range.is_some()
    }

    /// Ends the range now. False where the profile has ended meanwhile.
    ///
    /// # Errors
    ///
    /// What the library says.
    #[doc(alias = "aclprofRangeStop")]
    pub fn end(mut self) -> Result<bool> {
        self.finish()
    }

    fn finish(&mut self) -> Result<bool> {
        let Some((id, stamp)) = self.range.take() else { return Ok(false) };
        let _stamp = Stamp(stamp, &self.acl);
        // SAFETY: the number of a range that was begun and has not ended; a stale one gives a code.
        recorded(unsafe { call!(&self.acl, aclprofRangeStop(id)) })
    }
}

impl Drop for HostRange {
    fn drop(&mut self) {
        if let Err(error) = self.finish() {
            say!(Error, "ending a range of a profile: {error:#}");
        }
    }
}

impl fmt::Debug for HostRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostRange").field("recorded", &self.is_recorded()).finish_non_exhaustive()
    }
}

impl Stream {
    /// Marks where this stream gets to in a profile that records marks: the host's mark comes at once, that of the
    /// device in its turn. False where nothing records, which is no error. In a capture the mark becomes part of the
    /// graph, if marks are recorded then, and comes with each launch.
    ///
    /// # Errors
    ///
    /// As [`Acl::profile_mark`].
    #[doc(alias = "aclprofMarkEx")]
    #[track_caller]
    pub fn mark(&self, text: &str) -> Result<bool> {
        let named = ("profile mark", Location::caller());
        let message = message_of(text).map_err(|error| self.refuse(named, error))?;
        let mut marked = Ok(false);
        let task = Task { label: named.0, location: named.1, uses: &[], scratch: None };
        self.0.submit(&task, |raw| {
            let (text, length) = (message.as_ptr(), message.count_bytes());
            // SAFETY: a text that ends with a zero, its length, and a live stream; the text is copied.
            marked = recorded(unsafe { call!(&**self.0.context(), aclprofMarkEx(text, length, raw)) });
            // A capture lacks no work without it.
            Ok(())
        })?;
        marked
    }

    /// Runs `work`, which is given this stream, between two marks: `text begin` and `text end`.
    ///
    /// # Errors
    ///
    /// As [`Stream::mark`], for texts of up to 121 bytes; otherwise what `work` gives.
    #[track_caller]
    pub fn marked<T>(&self, text: &str, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        self.mark(&format!("{text} begin"))?;
        let done = work(self);
        self.mark(&format!("{text} end")).and(done)
    }
}
