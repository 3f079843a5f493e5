//! The error of every fallible call: which C call failed, with which code, what the library said, and in what
//! context.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

mod code;
mod kind;
mod refused;
mod thrown;

pub(crate) use code::phrase_of;
pub use kind::ErrorKind;
pub use refused::Refused;
pub use thrown::Thrown;

/// Result of every fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: a kind to match on, and for a failed C call its name, number and the library's message.
///
/// `{}` is one line with the number, `{:#}` adds the chain of contexts, the library's full message, what it logged and
/// the source.
/// The value is one word wide, `Send`, `Sync` and made without calling the library.
///
/// # Examples
///
/// ```
/// use racl::{Acl, ErrorKind};
///
/// let acl = Acl::mock()?;
/// let error = acl.device(99).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidDevice);
/// assert_eq!(error.code(), Some(107001));
/// assert!(error.to_string().starts_with("aclrtSetDevice failed: no such device (107001)"));
/// # Ok::<(), racl::Error>(())
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    code: Option<i32>,
    call: Option<&'static str>,
    detail: Option<String>,
    message: Option<String>,
    context: Vec<String>,
    log: Vec<String>,
    source: Option<Source>,
}

enum Source {
    Cause(Box<dyn StdError + Send + Sync>),
    /// One that a function of the program gave, which may be told more than once.
    Given(Arc<dyn StdError + Send + Sync>),
    List(Box<dyn List>),
}

/// The code of a graph that cannot be executed, and of a wait for a graph or a model that failed.
const NOT_READY: i32 = 507_011;

/// The codes of a stream that was not idle in time, and of an event that was not reached. Work that failed by a time-out
/// of its own has others.
const NOT_DONE: [i32; 2] = [507_046, 507_047];

/// A source that is several things, of which the error's own text tells the first.
pub(crate) trait List: StdError + Send + Sync {
    fn len(&self) -> usize;

    fn get(&self, index: usize) -> &dyn fmt::Display;
}

impl Error {
    /// An error of this crate, found before any C call. Not put into its callers, as its likes below: they are many.
    #[cold]
    #[inline(never)]
    pub(crate) fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            code: None,
            call: None,
            detail: Some(detail.into()),
            message: None,
            context: Vec::new(),
            log: Vec::new(),
            source: None,
        }))
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, detail)
    }

    /// A C call that returned `code`.
    pub(crate) fn from_call(call: &'static str, code: i32, message: Option<String>) -> Self {
        let kind = match ErrorKind::of_code(code) {
            // Of a wait it says that a replay failed, of a launch or a change that the graph is not ready for it.
            ErrorKind::DeviceFault if code == NOT_READY && call.starts_with("aclmdlRI") => ErrorKind::GraphRunning,
            kind => kind,
        };
        Self(Box::new(Inner {
            kind,
            code: Some(code),
            call: Some(call),
            detail: None,
            message,
            context: Vec::new(),
            log: Vec::new(),
            source: None,
        }))
    }

    /// A call of HCCL that returned `code`.
    pub(crate) fn from_collective(call: &'static str, code: u32, message: Option<String>) -> Self {
        let number = i32::try_from(code).unwrap_or(i32::MAX);
        let mut error = Self::from_call(call, number, message);
        error.0.kind = ErrorKind::of_collective_code(code);
        error
    }

    /// The same to be told once more, but for its source.
    pub(crate) fn again(&self) -> Self {
        Self(Box::new(Inner {
            detail: self.0.detail.clone(),
            message: self.0.message.clone(),
            context: self.0.context.clone(),
            log: self.0.log.clone(),
            source: None,
            ..*self.0
        }))
    }

    /// A C call that returned a null pointer instead of an object.
    pub(crate) fn from_null(call: &'static str, message: Option<String>) -> Self {
        Self(Box::new(Inner {
            kind: ErrorKind::OperatorArgument,
            code: None,
            call: Some(call),
            detail: None,
            message,
            context: Vec::new(),
            log: Vec::new(),
            source: None,
        }))
    }

    /// The same error of another kind, where the caller knows what the code is about.
    pub(crate) fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// The same error with `source` as its cause.
    #[cold]
    #[inline(never)]
    pub(crate) fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(Source::Cause(source.into()));
        self
    }

    /// The same error with this cause, which is its [source](std::error::Error::source) then in place of what that was:
    /// for those that functions of the program make, as that of [`Launch::error`](crate::plan::Launch::error).
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::{Builder, Foreign, Options};
    /// use racl::ErrorKind;
    ///
    /// let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
    /// let odd = Foreign::new("mine.odd", 1, move |launch| {
    ///     Err(launch.error(ErrorKind::NotSupported, "no kernel for this chip").because(missing()))
    /// });
    /// # let _ = odd;
    /// ```
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn because(self, cause: impl StdError + Send + Sync + 'static) -> Self {
        self.with_source(cause)
    }

    /// As [`Self::because`], of what a function threw.
    pub(crate) fn because_given(mut self, cause: Arc<dyn StdError + Send + Sync>) -> Self {
        self.0.source = Some(Source::Given(cause));
        self
    }

    /// The same error about all of `list`.
    pub(crate) fn with_list(mut self, list: impl List + 'static) -> Self {
        self.0.source = Some(Source::List(Box::new(list)));
        self
    }

    pub(crate) fn list(&self) -> Option<&(dyn List + 'static)> {
        match &self.0.source {
            Some(Source::List(list)) => Some(&**list),
            _ => None,
        }
    }

    /// The same error with this crate's own explanation, which replaces the library's in the short form.
    #[cold]
    #[inline(never)]
    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// The same error with a line that says what was going on.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn context(mut self, what: impl Into<String>) -> Self {
        self.0.context.push(what.into());
        self
    }

    /// The same error with such a line in front of the others, so that the short form has it.
    #[cold]
    #[inline(never)]
    pub(crate) fn context_in_front(mut self, what: impl Into<String>) -> Self {
        self.0.context.insert(0, what.into());
        self
    }

    /// The same error with what the library logged of it.
    #[cold]
    #[inline(never)]
    pub(crate) fn with_log(mut self, lines: Vec<String>) -> Self {
        self.0.log = lines;
        self
    }

    /// This crate's own explanation, without the kind and the context.
    pub(crate) fn detail(&self) -> &str {
        self.0.detail.as_deref().unwrap_or_default()
    }

    /// What went wrong, to match on.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The number that the C call returned, `None` when this crate found the error.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.0.code
    }

    /// Whether an error of a wait may be about the work that was waited for, and not about the call alone. Also that a
    /// wait of that work itself took too long.
    pub(crate) fn is_of_work(&self) -> bool {
        self.kind().is_of_work() || (self.kind() == ErrorKind::Timeout && !self.is_not_done())
    }

    /// Whether a wait with a limit says that the work was not done in time, and nothing of how it ended.
    pub(crate) fn is_not_done(&self) -> bool {
        // One without a code is of a wait that this crate makes where the library has none.
        self.code().map_or(self.kind() == ErrorKind::Timeout, |code| NOT_DONE.contains(&code))
    }

    /// Name of the C call that reported the error. An asynchronous failure is reported by a later synchronising call.
    #[must_use]
    pub fn call(&self) -> Option<&'static str> {
        self.0.call
    }

    /// What the library said about it, copied when the error was made.
    #[must_use]
    pub fn library_message(&self) -> Option<&str> {
        self.0.message.as_deref()
    }

    /// What the library had logged as errors when a wait found that work failed on the device, or a communicator told that
    /// it is broken or could not be destroyed: the last lines that its
    /// logs of this process got since the failure before, ten of the host's at most and ten of the device's, each behind
    /// `host: ` or `device 0: `. They may say which unit of the chip failed, and at which address.
    ///
    /// A line is told once, by the first error behind it, and by all waits that are told the same failure since their work is
    /// behind it on other streams, with that of its own stream; one that the library writes later is in the next error, and
    /// in reports ([`Acl::report`](crate::Acl::report)). There are none where the logs cannot be read, where
    /// [`set_error_logs`](crate::set_error_logs) is off. Of a failure that this crate reminds of later, such as
    /// [`Event::is_complete`](crate::Event::is_complete) does, they are those of the error that was told first.
    ///
    /// `{:#}` shows them, `{}` does not.
    ///
    /// # Examples
    ///
    /// ```
    /// let error = racl::Acl::mock()?.device(99).unwrap_err();
    /// assert!(error.log_lines().is_empty()); // the device did not fail
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn log_lines(&self) -> &[String] {
        &self.0.log
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        match (inner.call, inner.code) {
            (Some(call), Some(code)) => write!(f, "{call} failed: {} ({code})", phrase_of(code, inner.kind))?,
            (Some(call), None) => write!(f, "{call} failed: {}", inner.kind)?,
            _ => write!(f, "{}", inner.kind)?,
        }
        if let Some(what) = inner.context.first() {
            write!(f, " [{what}]")?;
        }
        let message = inner.message.as_deref().map(first_line);
        if let Some(text) = inner.detail.as_deref().or(message) {
            write!(f, ": {text}")?;
        }
        if let (None, Some(advice)) = (&inner.detail, inner.kind.advice()) {
            write!(f, "; {advice}")?;
        }
        if f.alternate() {
            self.write_chain(f)?;
        }
        Ok(())
    }
}

impl Error {
    fn write_chain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        for what in inner.context.iter().skip(1) {
            write!(f, "\n  {what}")?;
        }
        if let Some(message) = &inner.message {
            write!(f, "\n  the library says: {message}")?;
        }
        inner.log.iter().try_for_each(|line| write!(f, "\n  in the log of the {line}"))?;
        // The text above has the first one.
        if let Some(list) = self.list() {
            (1..list.len()).try_for_each(|index| write!(f, "\n  also: {}", list.get(index)))?;
        }
        let mut cause = self.source().filter(|_| self.list().is_none());
        while let Some(error) = cause {
            write!(f, "\n  because: {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self.0.source.as_ref()? {
            Source::Cause(cause) => Some(&**cause),
            Source::Given(cause) => Some(&**cause),
            // The error itself says what a single one does.
            Source::List(list) => (list.len() != 1).then_some(&**list),
        }
    }
}

impl From<acl_sys::MissingSymbol> for Error {
    #[cold]
    #[inline(never)]
    fn from(missing: acl_sys::MissingSymbol) -> Self {
        Self::new(ErrorKind::MissingSymbol, missing.to_string())
    }
}

#[cfg(any(feature = "dlopen", feature = "link"))]
impl From<acl_sys::LoadError> for Error {
    fn from(error: acl_sys::LoadError) -> Self {
        Self::new(ErrorKind::LibraryNotFound, crate::text::printable(&error.to_string()))
    }
}

/// Adds a line of context to the error of a result.
pub trait ResultExt<T> {
    /// The same result; an error gets the line that `what` gives.
    ///
    /// # Errors
    ///
    /// The error of `self`, with the line added.
    fn context_with(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T> ResultExt<T> for Result<T> {
    fn context_with(self, what: impl FnOnce() -> String) -> Self {
        self.map_err(|error| error.context(what()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_word_and_can_cross_threads() {
        fn is_send_sync<T: Send + Sync + 'static>() {}
        is_send_sync::<Error>();
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }

    #[test]
    fn the_short_form_is_one_line_with_call_number_and_context() {
        let error = Error::from_call("aclrtMalloc", 207_001, Some("EL0004: no memory\nsecond line".into()))
            .context("while allocating 64 MiB on device 0")
            .context("while loading weights");
        assert_eq!(
            error.to_string(),
            "aclrtMalloc failed: out of memory (207001) [while allocating 64 MiB on device 0]: EL0004: no memory"
        );
        let long = format!("{error:#}");
        assert!(long.contains("second line") && long.contains("while loading weights"), "{long}");
    }

    #[test]
    fn an_own_explanation_outranks_the_library() {
        let error =
            Error::from_call("aclmdlRICaptureEnd", 107_025, Some("EE1001".into())).with_detail("stream \"1\"");
        assert_eq!(error.to_string(), "aclmdlRICaptureEnd failed: stream not joined (107025): stream \"1\"");
    }
}
