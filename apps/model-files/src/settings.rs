//! The configuration of a model, a config.json: settings by name, each checked where it is read.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::error::Error;

/// The largest size: far above every real model, and low enough that no product of sizes overflows.
pub const MOST: u64 = 1 << 20;

/// A file of settings.
#[derive(Debug)]
pub struct Settings {
    path: PathBuf,
    value: Value,
}

impl Settings {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// [`Error::Read`]; [`Error::Config`] when it is not JSON.
    pub fn read(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        let text = fs::read_to_string(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
        match serde_json::from_str(&text) {
            Ok(value) => Ok(Self { path, value }),
            Err(error) => Err(Error::Config { path, reason: format!("not JSON: {error}") }),
        }
    }

    /// That the file is an object, so that settings which are not there were left out.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] when it is not.
    pub fn object(self) -> Result<Self, Error> {
        if self.value.is_object() { Ok(self) } else { Err(self.wrong("not a JSON object")) }
    }

    /// The error for what cannot be used.
    pub fn wrong(&self, reason: impl Into<String>) -> Error {
        Error::Config { path: self.path.clone(), reason: reason.into() }
    }

    /// The setting `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.value.get(key)
    }

    /// That the setting is `supported`.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] when it is another, or missing.
    pub fn expect(&self, key: &str, supported: impl Into<Value>) -> Result<(), Error> {
        let supported = supported.into();
        if self.get(key) == Some(&supported) {
            return Ok(());
        }
        Err(self.unfit(key, &format!("only {supported} is supported")))
    }

    /// As [`Settings::expect`], of a setting that is `supported` when it is left out.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] when it is another.
    pub fn expect_if_given(&self, key: &str, supported: impl Into<Value>) -> Result<(), Error> {
        self.get(key).map_or(Ok(()), |_| self.expect(key, supported))
    }

    /// A size from 1 to [`MOST`].
    ///
    /// # Errors
    ///
    /// [`Error::Config`] when it is something else, or missing.
    pub fn size(&self, key: &str) -> Result<usize, Error> {
        let size = self.get(key).and_then(Value::as_u64).filter(|size| (1..=MOST).contains(size));
        let size = size.and_then(|size| usize::try_from(size).ok());
        size.ok_or_else(|| self.unfit(key, &format!("a positive number up to {MOST} is needed")))
    }

    /// As [`Settings::size`], or `default` when it is left out or null.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] when it is something else.
    pub fn size_or(&self, key: &str, default: usize) -> Result<usize, Error> {
        match self.get(key) {
            None | Some(Value::Null) => Ok(default),
            Some(_) => self.size(key),
        }
    }

    /// A number above 0, or `default` when it is left out.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] when it is something else, or missing without a default.
    pub fn number(&self, key: &str, default: Option<f64>) -> Result<f64, Error> {
        let found = self.get(key);
        let number = if found.is_none() { default } else { found.and_then(Value::as_f64) };
        number.filter(|number| *number > 0.0).ok_or_else(|| self.unfit(key, "a positive number is needed"))
    }

    /// True or false; false when it is left out.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] when it is something else.
    pub fn flag(&self, key: &str) -> Result<bool, Error> {
        match self.get(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.unfit(key, "true or false is needed")),
        }
    }

    fn unfit(&self, key: &str, needed: &str) -> Error {
        let found = self.get(key).map_or("missing".to_owned(), Value::to_string);
        self.wrong(format!("{key} is {found}, and {needed}"))
    }
}
