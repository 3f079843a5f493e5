//! What the library is told when it is initialised.

use std::ffi::CString;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Acl, take_named};
use crate::error::{Error, ErrorKind, Result};
use crate::text::quoted;

mod dump;
mod profiler;

pub use dump::{DumpLevel, DumpOptions, DumpStatistic, DumpTensors, FaultDetail, InitDump, KernelOutput};
pub use profiler::{CacheMode, CoreMetrics, HostData, InitProfiler, TaskTimes};

/// Whose errors the library's texts of errors are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[doc(alias = "err_msg_mode")]
pub enum ErrorScope {
    /// Those of the thread that asks, as where nothing is said.
    Thread,
    /// Those of all threads: an error of this crate may then have the text of another thread's.
    Process,
}

/// Where the library keeps the events of captured graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[doc(alias = "event_mode")]
pub enum EventMode {
    /// In memory: as many as that has room for, as where nothing is said.
    Memory,
    /// In the device: as many as it has, and faster.
    Hardware,
}

/// What the library is told when it is initialised, for [`Acl::init_with`]: the contents of the configuration that
/// `aclInit` reads. What is not said stays as the library has it, and what is said again replaces what was. What the
/// library would refuse, or take for something else, is refused before it is asked.
///
/// On the mock the stack of cores, the print buffer, the default device, the scope of errors and dumps of operands and
/// faults have an effect; the rest is checked.
///
/// # Examples
///
/// ```
/// use racl::{ErrorScope, InitOptions};
///
/// let options = InitOptions::new().stack_bytes(64 << 10).errors(ErrorScope::Process);
/// assert_eq!(options.to_json(), r#"{"StackSize":{"aicore_stack_size":65536},"err_msg_mode":"1"}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct InitOptions {
    sections: Vec<(String, String)>,
    /// Sizes of the section `StackSize`.
    stacks: Vec<(&'static str, u32)>,
    /// Why the section of a name is refused.
    refused: Vec<(&'static str, String)>,
    dump: Option<InitDump>,
    profiler: Option<InitProfiler>,
}

/// Names of sections that are typed.
const DUMP: &str = "dump";
const PROFILER: &str = "profiler";
const STACKS: &str = "StackSize";

/// What the guide takes.
const PRINTS: RangeInclusive<u32> = 1 << 10..=64 << 20;
const THREAD_PRINTS: RangeInclusive<u32> = 1 << 20..=64 << 20;

impl InitOptions {
    /// Nothing said.
    pub const fn new() -> Self {
        Self { sections: Vec::new(), stacks: Vec::new(), refused: Vec::new(), dump: None, profiler: None }
    }

    /// Size of the stack of each core in bytes, which the library rounds up to 16 KiB; 32 KiB at first. Kernels of large
    /// functions need more; what the chip cannot have is refused when a device is opened.
    #[doc(alias = "aicore_stack_size")]
    pub fn stack_bytes(self, bytes: u32) -> Self {
        self.stack("aicore_stack_size", bytes)
    }

    /// Size of the stack of each thread of SIMT kernels in bytes, which the library rounds up to 128; of the 950 chips.
    #[doc(alias = "simt_stack_size")]
    pub fn thread_stack_bytes(self, bytes: u32) -> Self {
        self.stack("simt_stack_size", bytes)
    }

    /// The same for the stack on which diverging threads of SIMT kernels are kept.
    #[doc(alias = "simt_divergence_stack_size")]
    pub fn divergence_stack_bytes(self, bytes: u32) -> Self {
        self.stack("simt_divergence_stack_size", bytes)
    }

    /// Bytes for each core of what kernels print, from 1 KiB to 64 MiB.
    #[doc(alias = "simd_printf_fifo_size_per_core")]
    pub fn print_buffer_bytes(self, bytes: u32) -> Self {
        self.size("simd_printf_fifo_size_per_core", bytes, &PRINTS)
    }

    /// Bytes of what SIMT kernels print, from 1 MiB to 64 MiB; of the 950 chips.
    #[doc(alias = "simt_printf_fifo_size")]
    pub fn thread_print_buffer_bytes(self, bytes: u32) -> Self {
        self.size("simt_printf_fifo_size", bytes, &THREAD_PRINTS)
    }

    /// The device that threads of other code get which choose none.
    pub fn default_device(self, id: u32) -> Self {
        self.section("defaultDevice", &format!("{{\"default_device\":\"{id}\"}}"))
    }

    /// How many operators by name (`aclop…`) the library keeps compiled; one at least.
    #[doc(alias = "max_opqueue_num")]
    pub fn kept_operators(self, count: u32) -> Self {
        const NAME: &str = "max_opqueue_num";
        let mut with = self.section(NAME, &format!("\"{count}\""));
        if count == 0 {
            with.refused.push((NAME, "operators by name of which none is kept".to_owned()));
        }
        with
    }

    /// Whose errors the library tells of, where other code asks it. This crate asks right after a call that failed.
    #[doc(alias = "err_msg_mode")]
    pub fn errors(self, scope: ErrorScope) -> Self {
        let mode = match scope {
            ErrorScope::Thread => "0",
            ErrorScope::Process => "1",
        };
        self.section("err_msg_mode", &quoted(mode))
    }

    /// Where events of captured graphs are kept.
    #[doc(alias = "event_mode")]
    pub fn graph_events(self, mode: EventMode) -> Self {
        let mode = match mode {
            EventMode::Memory => "0",
            EventMode::Hardware => "1",
        };
        self.section("acl_graph", &format!("{{\"event_mode\":\"{mode}\"}}"))
    }

    /// What is dumped into files from the beginning on. Beside a profile it spoils the times of that.
    #[doc(alias = "dump_path")]
    #[doc(alias = "dump_scene")]
    pub fn dump(mut self, dump: impl Into<InitDump>) -> Self {
        let dump = dump.into();
        self = self.section(DUMP, &dump.section());
        self.dump = Some(dump);
        self
    }

    /// What is profiled, from the beginning to the end.
    pub fn profiler(mut self, profiler: InitProfiler) -> Self {
        self = self.section(PROFILER, &profiler.section());
        self.profiler = Some(profiler);
        self
    }

    /// Any other section of the configuration, with its value as JSON, passed on as it is. A section that was said
    /// before is replaced.
    pub fn section(mut self, name: &str, json: &str) -> Self {
        self.sections.retain(|(known, _)| known != name);
        self.sections.push((name.to_owned(), json.to_owned()));
        self.refused.retain(|(known, _)| *known != name);
        match name {
            DUMP => self.dump = None,
            PROFILER => self.profiler = None,
            STACKS => self.stacks.clear(),
            _ => {}
        }
        self
    }

    fn stack(mut self, key: &'static str, bytes: u32) -> Self {
        let mut stacks = std::mem::take(&mut self.stacks);
        stacks.retain(|(known, _)| *known != key);
        stacks.push((key, bytes));
        let sizes: Vec<_> = stacks.iter().map(|(key, bytes)| format!("\"{key}\":{bytes}")).collect();
        self = self.section(STACKS, &format!("{{{}}}", sizes.join(",")));
        self.stacks = stacks;
        self
    }

    fn size(self, name: &'static str, bytes: u32, range: &RangeInclusive<u32>) -> Self {
        let mut with = self.section(name, &bytes.to_string());
        if !range.contains(&bytes) {
            let (least, most) = (range.start(), range.end());
            with.refused.push((name, format!("{name} of {bytes} bytes, which are not {least} to {most}")));
        }
        with
    }

    /// The configuration as the library gets it.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = String::from("{");
        for (index, (name, json)) in self.sections.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(text, "{comma}{}:{json}", quoted(name));
        }
        text + "}"
    }

    /// The same, where the library would take it.
    pub(super) fn checked(&self) -> Result<String> {
        if let Some((_, text)) = self.refused.first() {
            return Err(Error::invalid(text));
        }
        self.dump.as_ref().map_or(Ok(()), InitDump::check)?;
        self.profiler.as_ref().map_or(Ok(()), InitProfiler::check)?;
        Ok(self.to_json())
    }
}

impl Acl {
    /// As [`Acl::init`], with options. They count when this is what initialises the library of the process: a later call
    /// is given the same library if it asks for the same.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyInitialized`] when the library is initialised already, by this crate with other options or by
    /// other code, which is left as it is; [`ErrorKind::InvalidArgument`] for what the options' own functions say that
    /// the library does not take, and [`ErrorKind::File`] for the folder of a dump that is not there, before the library
    /// is asked; these or [`ErrorKind::Internal`] for a configuration that it does not take, or another one than it had
    /// earlier in the life of the process; [`ErrorKind::File`] when it cannot be written to the folder for temporary
    /// files, from which the library reads it. Otherwise as [`Acl::init`].
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
    use super::*;

    #[test]
    fn what_the_guide_does_not_take_is_refused_until_it_is_said_again() {
        let wrong = [
            (InitOptions::new().print_buffer_bytes(1023), "1023 bytes, which are not 1024 to 67108864"),
            (InitOptions::new().print_buffer_bytes((64 << 20) + 1), "67108865 bytes"),
            (InitOptions::new().thread_print_buffer_bytes(1024), "1024 bytes, which are not 1048576 to 67108864"),
            (InitOptions::new().kept_operators(0), "none is kept"),
            (InitOptions::new().profiler(InitProfiler::new("")), "is empty"),
        ];
        for (options, want) in wrong {
            let error = options.checked().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.to_string().contains(want), "{error}");
        }
        InitOptions::new()
            .kept_operators(0)
            .print_buffer_bytes(0)
            .kept_operators(1)
            .print_buffer_bytes(1024)
            .checked()
            .unwrap();
        InitOptions::new().profiler(InitProfiler::new("")).section("profiler", "{}").checked().unwrap();
    }

    #[test]
    fn a_section_is_said_once() {
        let options =
            InitOptions::new().default_device(1).kept_operators(9).print_buffer_bytes(1024).default_device(2);
        let want =
            r#"{"max_opqueue_num":"9","simd_printf_fifo_size_per_core":1024,"defaultDevice":{"default_device":"2"}}"#;
        assert_eq!(options.to_json(), want);
        assert_eq!(InitOptions::new().to_json(), "{}");
        let stacks = InitOptions::new().stack_bytes(1).thread_stack_bytes(2).divergence_stack_bytes(3).stack_bytes(4);
        let want = r#"{"StackSize":{"simt_stack_size":2,"simt_divergence_stack_size":3,"aicore_stack_size":4}}"#;
        assert_eq!(stacks.to_json(), want);
        let replaced = stacks.section("StackSize", "{}").thread_stack_bytes(5);
        assert_eq!(replaced.to_json(), r#"{"StackSize":{"simt_stack_size":5}}"#);
        assert_eq!(InitOptions::new().section("a \"b\"\n", "1").to_json(), r#"{"a \"b\"\u000a":1}"#);
    }
}
