//! What a function of the program panics with, to say more than a text.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;

/// Why a host function fails, where an error is to be told and not a text alone. Whoever waits for the work gets
/// [`ErrorKind::CallbackPanicked`](crate::ErrorKind::CallbackPanicked) with the text, and the cause as its
/// [source](std::error::Error::source). Where several functions failed that are told at once, it has the cause of the first
/// one that has any.
///
/// Any thread may make and throw one.
///
/// # Examples
///
/// ```
/// use std::error::Error as _;
///
/// let stream = racl::Acl::mock()?.device(0)?.stream()?;
/// stream.host_function(|| {
///     let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
///     racl::Thrown::new("the results were not written").because(full).throw()
/// })?;
/// let error = stream.synchronize().unwrap_err();
/// assert!(error.to_string().ends_with("the results were not written"));
/// assert!(error.source().is_some_and(|cause| cause.is::<std::io::Error>()));
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Clone)]
pub struct Thrown {
    text: String,
    cause: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Thrown {
    /// One with this text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), cause: None }
    }

    /// The same with its cause.
    #[must_use]
    pub fn because(self, cause: impl StdError + Send + Sync + 'static) -> Self {
        Self { cause: Some(Arc::new(cause)), ..self }
    }

    /// What went wrong.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it came from, if that was said.
    #[must_use]
    pub fn cause(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.cause.as_deref()
    }

    /// Panics with it, without the message that a panic writes.
    pub fn throw(self) -> ! {
        resume_unwind(Box::new(self))
    }

    pub(crate) fn into_cause(self) -> Option<Arc<dyn StdError + Send + Sync>> {
        self.cause
    }

    /// What a function panicked with, whatever that is.
    pub(crate) fn of(payload: &(dyn Any + Send)) -> Self {
        if let Some(thrown) = payload.downcast_ref::<Self>() {
            return thrown.clone();
        }
        let text = payload.downcast_ref::<&str>().copied();
        Self::new(text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message"))
    }
}

impl fmt::Debug for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thrown").field("text", &self.text).field("cause", &self.cause).finish()
    }
}
