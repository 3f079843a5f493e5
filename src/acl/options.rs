//! What the library is told when it is initialised.

use std::ffi::CString;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Acl, take_named};
use crate::error::{Error, ErrorKind, Result};

/// What the library is told when it is initialised, for [`Acl::init_with`]: the contents of the configuration that
/// `aclInit` reads, typed where it concerns this crate. What is not said stays as the library has it.
///
/// # Examples
///
/// ```
/// use racl::InitOptions;
///
/// let options = InitOptions::new().stack_bytes(64 << 10).section("dump", r#"{"dump_scene":"lite_exception"}"#);
/// assert_eq!(options.to_json(), r#"{"StackSize":{"aicore_stack_size":65536},"dump":{"dump_scene":"lite_exception"}}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct InitOptions {
    sections: Vec<(String, String)>,
}

impl InitOptions {
    /// Nothing said.
    pub const fn new() -> Self {
        Self { sections: Vec::new() }
    }

    /// Size of the stack of each core in bytes, which the library rounds up to 16 KiB; 32 KiB at first. Kernels of large
    /// functions need more; what the chip cannot have is refused when a device is opened.
    #[doc(alias = "aicore_stack_size")]
    pub fn stack_bytes(self, bytes: u32) -> Self {
        self.section("StackSize", &format!("{{\"aicore_stack_size\":{bytes}}}"))
    }

    /// Bytes for each core of what kernels print, from 1 KiB to 64 MiB.
    #[doc(alias = "simd_printf_fifo_size_per_core")]
    pub fn print_buffer_bytes(self, bytes: u32) -> Self {
        self.section("simd_printf_fifo_size_per_core", &bytes.to_string())
    }

    /// The device that threads of other code get which choose none.
    pub fn default_device(self, id: u32) -> Self {
        self.section("defaultDevice", &format!("{{\"default_device\":\"{id}\"}}"))
    }

    /// How many operators by name (`aclop…`) the library keeps compiled.
    #[doc(alias = "max_opqueue_num")]
    pub fn kept_operators(self, count: u32) -> Self {
        self.section("max_opqueue_num", &format!("\"{count}\""))
    }

    /// Any other section of the configuration, such as `dump` or `profiler`, with its value as JSON, passed on as it is.
    /// A section that was said before is replaced.
    pub fn section(mut self, name: &str, json: &str) -> Self {
        self.sections.retain(|(known, _)| known != name);
        self.sections.push((name.to_owned(), json.to_owned()));
        self
    }

    /// The configuration as the library gets it.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = String::from("{");
        for (index, (name, json)) in self.sections.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(text, "{comma}\"{}\":{json}", name.escape_default());
        }
        text + "}"
    }
}

impl Acl {
    /// As [`Acl::init`], with options. They count when this is what initialises the library of the process: a later call
    /// is given the same library if it asks for the same.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyInitialized`] when the library is initialised already, by this crate with other options or by
    /// other code, which is left as it is; [`ErrorKind::InvalidArgument`], [`ErrorKind::File`] or
    /// [`ErrorKind::Internal`] for a configuration that the library does not take, or another one than it had earlier
    /// in the life of the process; [`ErrorKind::File`] when it cannot be written to the folder for temporary files, from
    /// which the library reads it. Otherwise as [`Acl::init`].
    #[doc(alias = "aclInit")]
    pub fn init_with(options: &InitOptions) -> Result<Self> {
        take_named(std::env::var_os(super::LIBRARY).as_deref(), |choice| Self::start_with(choice, Some(options)))
    }

    /// As [`Acl::mock`], with options; see [`Acl::init_with`].
    ///
    /// # Errors
    ///
    /// As [`Acl::init_with`].
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::{Acl, ErrorKind, InitOptions};
    ///
    /// let options = InitOptions::new().stack_bytes(64 << 10);
    /// let acl = Acl::mock_with(&options)?;
    /// drop(acl);
    /// let same = Acl::mock_with(&options)?;
    /// let refused = Acl::mock_with(&InitOptions::new()).unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::AlreadyInitialized);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[cfg(feature = "mock")]
    #[doc(alias = "aclInit")]
    pub fn mock_with(options: &InitOptions) -> Result<Self> {
        Self::start_with(super::Choice::Mock, Some(options))
    }
}

/// Why options are refused.
pub(super) fn too_late(by: &str) -> Error {
    let text = format!("the library is initialised by {by}; options count only for who initialises it");
    Error::new(ErrorKind::AlreadyInitialized, text)
}

/// A file that the library reads; removed when it has.
pub(crate) struct ConfigFile(PathBuf);

impl ConfigFile {
    pub(crate) fn write(json: &str) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("racl-init-{}-{next}.json", std::process::id()));
        // One that is left of a process of the same number, or that somebody else put there, is never written to.
        let _ = fs::remove_file(&path);
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let failed = |error: std::io::Error| {
            let text = format!("the configuration cannot be written to {}: {error}", path.display());
            Error::new(ErrorKind::File, text).with_source(error)
        };
        let mut file = file.map_err(failed)?;
        let written = Self(path.clone());
        file.write_all(json.as_bytes()).map_err(failed)?;
        Ok(written)
    }

    pub(crate) fn path(&self) -> Result<CString> {
        let bytes = self.0.as_os_str().as_encoded_bytes();
        CString::new(bytes).map_err(|error| {
            let text = format!("a folder for temporary files with a zero byte: {}", self.0.display());
            Error::new(ErrorKind::File, text).with_source(error)
        })
    }
}

impl Drop for ConfigFile {
    fn drop(&mut self) {
        // It is of no use to anybody, and no harm, where it cannot be removed.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::InitOptions;

    #[test]
    fn a_section_is_said_once() {
        let options =
            InitOptions::new().default_device(1).kept_operators(9).print_buffer_bytes(1024).default_device(2);
        let want =
            r#"{"max_opqueue_num":"9","simd_printf_fifo_size_per_core":1024,"defaultDevice":{"default_device":"2"}}"#;
        assert_eq!(options.to_json(), want);
        assert_eq!(InitOptions::new().to_json(), "{}");
    }
}
