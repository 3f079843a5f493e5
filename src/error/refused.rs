//! A call that took a value and failed: the value comes back beside the error.

use std::fmt;

use super::Error;

/// Why a call failed that takes a value, and the value, which it gives back: [`Stream::close`](crate::Stream::close)
/// and its like, [`Stream::upload`](crate::Stream::upload), [`Lent::wait`](crate::Lent::wait).
///
/// With `?` it becomes a plain [`Error`], and the value is dropped. It reads as the error does, and has its source. One
/// word wide; it may cross threads if the value may.
///
/// # Examples
///
/// ```
/// use racl::{ErrorKind, Result};
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let clone = stream.clone();
/// let refused = stream.close().unwrap_err();
/// assert_eq!(refused.error().kind(), ErrorKind::InvalidArgument); // the clone has the stream too
/// let stream = refused.into_value();
/// drop(clone);
/// stream.close()?; // the error alone, here
/// # Ok::<(), racl::Error>(())
/// ```
pub struct Refused<T>(Box<(T, Error)>);

impl<T> Refused<T> {
    pub(crate) fn new(value: T, error: Error) -> Self {
        Self(Box::new((value, error)))
    }

    /// Why the call failed.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.0.1
    }

    /// What the call was given.
    #[must_use]
    pub fn value(&self) -> &T {
        &self.0.0
    }

    /// Why the call failed; the value is dropped.
    #[must_use]
    pub fn into_error(self) -> Error {
        self.0.1
    }

    /// What the call was given, to try again or to use otherwise.
    #[must_use]
    pub fn into_value(self) -> T {
        self.0.0
    }

    /// Both.
    #[must_use]
    pub fn into_parts(self) -> (T, Error) {
        *self.0
    }

    /// The same error about a value that holds this one.
    pub(crate) fn map<U>(self, value: impl FnOnce(T) -> U) -> Refused<U> {
        let (inner, error) = self.into_parts();
        Refused::new(value(inner), error)
    }
}

impl<T> From<Refused<T>> for Error {
    fn from(refused: Refused<T>) -> Self {
        refused.into_error()
    }
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error().fmt(f)
    }
}

impl<T> fmt::Debug for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("error", self.error()).finish_non_exhaustive()
    }
}

impl<T> std::error::Error for Refused<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error().source()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::error::Error as _;

    use super::*;

    /// Neither `Debug` nor shared between threads.
    struct Value<'a>(&'a Cell<bool>);

    impl Drop for Value<'_> {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }

    #[test]
    fn it_reads_as_the_error_does_and_gives_the_value_back() {
        let error = || Error::invalid("no").with_source(fmt::Error).context("closing");
        let dropped = Cell::new(false);
        let refused = Refused::new(Value(&dropped), error());
        assert_eq!(refused.to_string(), error().to_string());
        assert_eq!(format!("{refused:#}"), format!("{:#}", error()));
        assert!(refused.source().is_some_and(|source| source.is::<fmt::Error>()));
        assert!(format!("{refused:?}").contains("closing"));
        assert!(!refused.value().0.get());
        let (value, error) = refused.into_parts();
        assert!(!dropped.get());
        drop(value);
        assert_eq!(error.detail(), "no");
    }

    #[test]
    fn a_question_mark_drops_the_value() {
        let dropped = Cell::new(false);
        let fails = || -> crate::error::Result<()> {
            Err(Refused::new(Value(&dropped), Error::invalid("no")))?;
            Ok(())
        };
        assert_eq!(fails().unwrap_err().detail(), "no");
        assert!(dropped.get());
    }

    #[test]
    fn it_is_one_word_wide() {
        assert_eq!(size_of::<Refused<[u64; 40]>>(), size_of::<usize>());
    }
}
