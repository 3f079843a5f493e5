//! Marks and ranges of a program in a profile.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_void};
use std::fmt;
use std::panic::Location;
use std::ptr;

use acl_sys::{aclrtStream, mstxRangeId};

use super::session::text_of;
use super::tools::{self, Domain, HostPart};
use crate::acl::Acl;
use crate::call::{Caller as _, call, check, check_not_locked, value};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{Guard, Lock, say, theirs};
use crate::retire;
use crate::stream::{Stream, Task};

/// The longest message in bytes.
const LONGEST: usize = 127;

/// What the library answers while nothing records marks.
const NOT_RECORDED: i32 = -1;

/// The ranges that are open. It is held during calls with stamps, so that a profile ends between two of them: the
/// runtime's guide wants each stamp destroyed before `aclprofStop`.
static OPEN: Lock<Open> = Lock::new(Open { begun: 0, ranges: BTreeMap::new() });

struct Open {
    /// How many ranges there were.
    begun: u64,
    ranges: BTreeMap<u64, OpenRange>,
}

/// An open range of the library.
struct OpenRange {
    id: u32,
    stamp: Stamp,
}

impl OpenRange {
    fn end(self) -> Result<bool> {
        // SAFETY: the number of a range that was begun and has not ended; a stale one gives a code.
        recorded(unsafe { call!(&self.stamp.acl, aclprofRangeStop(self.id)) })
    }
}

impl Open {
    /// Takes out those of one library.
    fn take(&mut self, acl: &Acl) -> BTreeMap<u64, OpenRange> {
        let (own, others) =
            std::mem::take(&mut self.ranges).into_iter().partition(|(_, range)| range.stamp.is_of(acl));
        self.ranges = others;
        own
    }
}

/// Waits for who has the ranges, unless that may wait for this thread, which has the process locked.
fn open() -> Result<Guard<'static, Open>> {
    check_not_locked()?;
    Ok(OPEN.lock())
}

/// Ends the ranges of the profile that `stop` stops. No mark is under way meanwhile.
pub(super) fn end_ranges(acl: &Acl, stop: impl FnOnce() -> Result<()>) -> Result<()> {
    let mut open = open()?;
    let mut ended = Ok(());
    for range in open.take(acl).into_values() {
        ended = ended.and(range.end().map(drop));
    }
    ended.and(stop())
}

/// A profile is about to begin: ranges of one before it, which other code had, can no longer be ended.
pub(super) fn forget_ranges(acl: &Acl) {
    std::mem::forget(OPEN.lock().take(acl));
}

/// A range of the host in a profile, from [`Acl::profile_range`] until it ends or is dropped, or the profile ends. It
/// may end on another thread. Where nothing records marks it is without effect. In a profile of other code, end it
/// before that ends. For tools of mstx the range lasts until it ends itself.
#[must_use = "the range ends when this is dropped"]
pub struct HostRange {
    /// Its number among the open ones.
    range: Option<u64>,
    /// What tools of mstx have of it.
    tools: Option<HostPart>,
}

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

/// A stamp, destroyed with this value, while [`OPEN`] is held.
struct Stamp {
    raw: *mut c_void,
    acl: Acl,
}

// SAFETY: the runtime's guide lets a range end on another thread than it began on.
unsafe impl Send for Stamp {}

impl Stamp {
    /// None where nothing records marks.
    fn new(acl: &Acl, message: &CStr) -> Result<Option<Self>> {
        // SAFETY: the call takes nothing.
        let raw = unsafe { value!(acl, aclprofCreateStamp()) }?;
        if raw.is_null() {
            return Ok(None);
        }
        let stamp = Self { raw, acl: acl.clone() };
        let length = message.count_bytes() as u32;
        // SAFETY: a live stamp and a text of that length, which is copied.
        let told = unsafe { call!(acl, aclprofSetStampTraceMessage(raw, message.as_ptr(), length)) };
        Ok(recorded(told)?.then_some(stamp))
    }

    fn is_of(&self, acl: &Acl) -> bool {
        std::ptr::eq(self.acl.table(), acl.table())
    }
}

impl Drop for Stamp {
    fn drop(&mut self) {
        // SAFETY: the stamp is this value's own and destroyed once; the call gives nothing.
        if let Err(error) = unsafe { value!(&self.acl, aclprofDestroyStamp(self.raw)) } {
            say!(Error, "destroying a stamp of a profile: {error:#}");
        }
    }
}

impl Acl {
    /// Marks this moment of this thread in a profile that records marks. False where none does, which is no error.
    /// Tools of mstx are told too, in the domain `racl`, where the machine has `libms_tools_ext.so`; they do not say
    /// whether they took it.
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
    #[doc(alias = "mstxMarkA")]
    pub fn profile_mark(&self, text: &str) -> Result<bool> {
        let message = message_of(text)?;
        let marked = self.mark_host(&message)?;
        if let Some(domain) = tools::domain(self) {
            // SAFETY: no stream.
            unsafe { domain.mark(self, &message, ptr::null_mut()) }?;
        }
        Ok(marked)
    }

    fn mark_host(&self, message: &CStr) -> Result<bool> {
        let _open = open()?;
        let Some(stamp) = Stamp::new(self, message)? else { return Ok(false) };
        // SAFETY: a live stamp.
        recorded(unsafe { call!(self, aclprofMark(stamp.raw)) })
    }

    /// Begins a range of the host in a profile that records marks, and for tools of mstx as [`Acl::profile_mark`]; it
    /// ends with what is given.
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
    #[doc(alias = "mstxRangeStartA")]
    pub fn profile_range(&self, text: &str) -> Result<HostRange> {
        let message = message_of(text)?;
        // Ends what it has, where the tools' part fails.
        let mut begun = HostRange { range: self.begin_range(&message)?, tools: None };
        begun.tools = HostPart::start(self, &message)?;
        Ok(begun)
    }

    /// The number of the range, where a profile records it.
    fn begin_range(&self, message: &CStr) -> Result<Option<u64>> {
        let mut open = open()?;
        let Some(stamp) = Stamp::new(self, message)? else { return Ok(None) };
        let mut id = 0;
        // SAFETY: a live stamp, and a place for one number.
        if !recorded(unsafe { call!(self, aclprofRangeStart(stamp.raw, &raw mut id)) })? {
            return Ok(None);
        }
        open.begun += 1;
        let number = open.begun;
        open.ranges.insert(number, OpenRange { id, stamp });
        Ok(Some(number))
    }
}

impl HostRange {
    /// Whether it is recorded, by a profile or a tool of mstx.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.range.is_some() || self.tools.is_some()
    }

    /// Ends the range now. False where the profile has ended meanwhile, and the range with it.
    ///
    /// # Errors
    ///
    /// What the library says. [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) while this thread has the
    /// [process locked](Acl::lock_process): the range ends once that is unlocked.
    #[doc(alias = "aclprofRangeStop")]
    #[doc(alias = "mstxRangeEnd")]
    pub fn end(mut self) -> Result<bool> {
        self.finish()
    }

    fn finish(&mut self) -> Result<bool> {
        if !self.is_recorded() {
            return Ok(false);
        }
        let ended = {
            let mut open = open()?;
            // The library may end with the last value of it, and not while the lock is held.
            let end = |range: OpenRange| (range.stamp.acl.clone(), range.end());
            self.range.take().map(|number| open.ranges.remove(&number).map(end))
        };
        let of_tools = self.tools.take().map_or(Ok(()), HostPart::end);
        let of_profile = match ended {
            None => Ok(true),
            Some(None) => Ok(false),
            Some(Some((_, done))) => done,
        };
        of_profile.and_then(|done| of_tools.map(|()| done))
    }
}

impl Drop for HostRange {
    fn drop(&mut self) {
        if self.is_recorded() && retire::is_refused() {
            return retire::on_thread(Self { range: self.range.take(), tools: self.tools.take() }, drop);
        }
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
    /// graph, if marks are recorded then, and comes with each launch. Tools of mstx are told as by
    /// [`Acl::profile_mark`].
    ///
    /// # Errors
    ///
    /// As [`Acl::profile_mark`].
    #[doc(alias = "aclprofMarkEx")]
    #[doc(alias = "mstxMarkA")]
    #[track_caller]
    pub fn mark(&self, text: &str) -> Result<bool> {
        self.mark_for(text, tools::domain(&**self.0.context()))
    }

    /// In a profile, and for tools in the domain.
    #[track_caller]
    fn mark_for(&self, text: &str, domain: Option<Domain>) -> Result<bool> {
        let named = ("profile mark", Location::caller());
        let message = message_of(text).map_err(|error| self.refuse(named, error))?;
        let (mut marked, mut told) = (Ok(false), Ok(()));
        let context = &**self.0.context();
        let task = Task { label: named.0, location: named.1, uses: &[], scratch: None };
        self.0.submit(&task, |raw| {
            let (text, length) = (message.as_ptr(), message.count_bytes());
            // SAFETY: a text that ends with a zero, its length, and a live stream; the text is copied.
            let code = unsafe { value!(context, aclprofMarkEx(text, length, raw)) };
            // No failure where nothing records, and no entry among those that reports show.
            marked = code.and_then(|code| match code {
                NOT_RECORDED => Ok(false),
                code => check(context.table(), "aclprofMarkEx", code).map(|()| true),
            });
            if let Some(domain) = domain {
                // SAFETY: a live stream.
                told = unsafe { domain.mark(context, &message, raw) };
            }
            // A capture lacks no work without it.
            Ok(())
        })?;
        marked.and_then(|marked| told.map(|()| marked))
    }

    /// Runs `work`, which is given this stream, between two marks: `text begin` and `text end`. For tools of mstx it is a
    /// range, `text`, of the host and of the stream; in a capture that comes with each launch, as the marks do.
    ///
    /// # Errors
    ///
    /// As [`Stream::mark`], for texts of up to 121 bytes; otherwise what `work` gives.
    #[doc(alias = "mstxRangeStartA")]
    #[doc(alias = "mstxRangeEnd")]
    #[track_caller]
    pub fn marked<T>(&self, text: &str, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let range = self.begin_for_tools(text)?;
        self.mark_for(&format!("{text} begin"), None)?;
        let done = theirs(|| work(self));
        let ended = match range {
            Some(range) => range.end(),
            None => Ok(()),
        };
        let end = self.mark_for(&format!("{text} end"), None);
        let value = done?;
        ended.and(end).map(|_| value)
    }

    #[track_caller]
    fn begin_for_tools(&self, text: &str) -> Result<Option<StreamRange<'_>>> {
        let context = &**self.0.context();
        let Some(domain) = tools::domain(context) else { return Ok(None) };
        let message = text_of(text.as_bytes(), "a mark")?;
        // SAFETY: a live stream.
        let id = self.for_tools(|raw| unsafe { domain.start(context, &message, raw) })?;
        Ok(id.map(|id| StreamRange { stream: self, domain, id, is_open: true }))
    }

    /// A call of mstx with this stream, in its turn.
    #[track_caller]
    fn for_tools<T>(&self, call: impl FnOnce(aclrtStream) -> Result<T>) -> Result<T> {
        let task = Task { label: "profile range", location: Location::caller(), uses: &[], scratch: None };
        let mut told = Err(Error::new(ErrorKind::Internal, "a range of a stream was not told to tools"));
        self.0.submit(&task, |raw| {
            told = call(raw);
            // A capture lacks no work without it.
            Ok(())
        })?;
        told
    }
}

/// What tools of mstx have of a range of a stream; it ends at the latest with this, where the work panics.
struct StreamRange<'a> {
    stream: &'a Stream,
    domain: Domain,
    id: mstxRangeId,
    is_open: bool,
}

impl StreamRange<'_> {
    /// In the stream's turn.
    #[track_caller]
    fn end(mut self) -> Result<()> {
        let (stream, domain, id) = (self.stream, self.domain, self.id);
        stream.for_tools(|_| {
            self.is_open = false;
            domain.end(&**stream.0.context(), id)
        })
    }
}

impl Drop for StreamRange<'_> {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        if let Err(error) = self.domain.end(&**self.stream.0.context(), self.id) {
            say!(Error, "ending a range of {}: {error:#}", self.stream.name());
        }
    }
}
