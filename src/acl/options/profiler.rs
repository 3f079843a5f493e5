//! What the library profiles of a whole program.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use acl_sys::aclprofAicoreMetrics;

use crate::error::{Error, Result};
use crate::text::quoted;

/// Which counters of the cores a profile reads; one set at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
#[doc(alias = "aclprofAicoreMetrics")]
pub enum CoreMetrics {
    /// None.
    #[default]
    None,
    /// How much of the time each kind of arithmetic took.
    Arithmetic,
    /// How much of the time each unit and each queue of copies took.
    Pipes,
    /// How much went to and from memory.
    MemoryBandwidth,
    /// How much went to and from the buffers of the matrix unit.
    BufferBandwidth,
    /// How often units waited for each other.
    Conflicts,
    /// How much went to and from the unified buffer.
    UnifiedBuffer,
    /// How often the L2 cache had what was asked for.
    L2Cache,
    /// How much of the time each unit really worked.
    PipeExecution,
    /// Which memory was reached.
    MemoryAccess,
}

impl CoreMetrics {
    pub(crate) fn raw(self) -> aclprofAicoreMetrics {
        match self {
            Self::None => aclprofAicoreMetrics::ACL_AICORE_NONE,
            Self::Arithmetic => aclprofAicoreMetrics::ACL_AICORE_ARITHMETIC_UTILIZATION,
            Self::Pipes => aclprofAicoreMetrics::ACL_AICORE_PIPE_UTILIZATION,
            Self::MemoryBandwidth => aclprofAicoreMetrics::ACL_AICORE_MEMORY_BANDWIDTH,
            Self::BufferBandwidth => aclprofAicoreMetrics::ACL_AICORE_L0B_AND_WIDTH,
            Self::Conflicts => aclprofAicoreMetrics::ACL_AICORE_RESOURCE_CONFLICT_RATIO,
            Self::UnifiedBuffer => aclprofAicoreMetrics::ACL_AICORE_MEMORY_UB,
            Self::L2Cache => aclprofAicoreMetrics::ACL_AICORE_L2_CACHE,
            Self::PipeExecution => aclprofAicoreMetrics::ACL_AICORE_PIPE_EXECUTE_UTILIZATION,
            Self::MemoryAccess => aclprofAicoreMetrics::ACL_AICORE_MEMORY_ACCESS,
        }
    }

    /// As a configuration has it.
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::None => return None,
            Self::Arithmetic => "ArithmeticUtilization",
            Self::Pipes => "PipeUtilization",
            Self::MemoryBandwidth => "Memory",
            Self::BufferBandwidth => "MemoryL0",
            Self::Conflicts => "ResourceConflictRatio",
            Self::UnifiedBuffer => "MemoryUB",
            Self::L2Cache => "L2Cache",
            Self::PipeExecution => "PipelineExecuteUtilization",
            Self::MemoryAccess => "MemoryAccess",
        })
    }
}

/// What a profile has of when tasks were submitted and ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "task_time")]
pub enum TaskTimes {
    /// Nothing.
    Off,
    /// The times alone: costs less. There are no counters of the cores then.
    Brief,
    /// The times and what is known of the operators, as where nothing is said.
    Full,
}

/// Which side of the last-level cache is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[doc(alias = "llc_profiling")]
pub enum CacheMode {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

/// What is sampled of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[doc(alias = "host_sys")]
pub enum HostData {
    /// Its processors.
    Processors,
    /// Its memory.
    Memory,
    /// Both.
    Both,
}

impl HostData {
    fn name(self) -> &'static str {
        match self {
            Self::Processors => "cpu",
            Self::Memory => "mem",
            Self::Both => "cpu,mem",
        }
    }
}

/// A profile of a whole program, for [`InitOptions::profiler`](crate::InitOptions::profiler): from the initialisation
/// on until the library ends. [`Acl::profile`](crate::Acl::profile) has parts of a program.
///
/// The mock checks the section and records nothing.
///
/// # Examples
///
/// ```
/// use racl::profiling::CoreMetrics;
/// use racl::{InitOptions, InitProfiler, TaskTimes};
///
/// let profiler = InitProfiler::new("profiles").metrics(CoreMetrics::Pipes).task_times(TaskTimes::Full);
/// let want = r#"{"profiler":{"switch":"on","output":"profiles","aic_metrics":"PipeUtilization","task_time":"on"}}"#;
/// assert_eq!(InitOptions::new().profiler(profiler).to_json(), want);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[doc(alias = "aic_metrics")]
pub struct InitProfiler {
    folder: PathBuf,
    /// Keys with their values as JSON, in the order in which they were first said.
    values: Vec<(&'static str, String)>,
    /// What a number may not be.
    refused: Vec<(&'static str, String)>,
}

impl InitProfiler {
    /// Task times and calls, into a new folder inside of `folder`, which the library makes where it is not there.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), values: Vec::new(), refused: Vec::new() }
    }

    /// Counters of the cores, which need [`TaskTimes::Full`].
    #[doc(alias = "aic_metrics")]
    pub fn metrics(mut self, metrics: CoreMetrics) -> Self {
        match metrics.name() {
            Some(name) => self.with("aic_metrics", quoted(name)),
            None => {
                self.values.retain(|(key, _)| *key != "aic_metrics");
                self
            }
        }
    }

    /// What is recorded of tasks.
    #[doc(alias = "task_time")]
    pub fn task_times(self, times: TaskTimes) -> Self {
        let name = match times {
            TaskTimes::Off => "off",
            TaskTimes::Brief => "l0",
            TaskTimes::Full => "on",
        };
        self.with("task_time", quoted(name))
    }

    /// Whether calls of AscendCL are recorded; they are where nothing is said.
    #[doc(alias = "ascendcl")]
    pub fn calls(self, on: bool) -> Self {
        self.switch("ascendcl", on)
    }

    /// Whether calls of the runtime below it are; they are where nothing is said.
    #[doc(alias = "runtime_api")]
    pub fn runtime_calls(self, on: bool) -> Self {
        self.switch("runtime_api", on)
    }

    /// Whether operators on the CPUs of the device are.
    #[doc(alias = "aicpu")]
    pub fn cpu_operators(self, on: bool) -> Self {
        self.switch("aicpu", on)
    }

    /// Whether it is how often the L2 cache had what was asked for.
    #[doc(alias = "l2")]
    pub fn l2_cache(self, on: bool) -> Self {
        self.switch("l2", on)
    }

    /// Whether marks and ranges of the program are.
    #[doc(alias = "msproftx")]
    pub fn marks(self, on: bool) -> Self {
        self.switch("msproftx", on)
    }

    /// How large the files may become together, in MB, from 200; the oldest go first.
    pub fn storage_limit(self, megabytes: u32) -> Self {
        let value = quoted(&format!("{megabytes}MB"));
        self.number("storage_limit", megabytes, 200..=u32::MAX, value)
    }

    /// How often memory of the device is sampled, in Hz, 1 to 100.
    #[doc(alias = "sys_hardware_mem_freq")]
    pub fn memory_frequency(self, hertz: u32) -> Self {
        self.number("sys_hardware_mem_freq", hertz, 1..=100, hertz.to_string())
    }

    /// Which side of the last-level cache is counted; needs [`InitProfiler::memory_frequency`].
    #[doc(alias = "llc_profiling")]
    pub fn cache_mode(self, mode: CacheMode) -> Self {
        let name = match mode {
            CacheMode::Read => "read",
            CacheMode::Write => "write",
        };
        self.with("llc_profiling", quoted(name))
    }

    /// How often network ports are sampled, in Hz, 1 to 100.
    #[doc(alias = "sys_io_sampling_freq")]
    pub fn network_frequency(self, hertz: u32) -> Self {
        self.number("sys_io_sampling_freq", hertz, 1..=100, hertz.to_string())
    }

    /// How often links between chips are sampled, in Hz, 1 to 50.
    #[doc(alias = "sys_interconnection_freq")]
    pub fn link_frequency(self, hertz: u32) -> Self {
        self.number("sys_interconnection_freq", hertz, 1..=50, hertz.to_string())
    }

    /// How often units for media are sampled, in Hz, 1 to 100.
    #[doc(alias = "dvpp_freq")]
    pub fn media_frequency(self, hertz: u32) -> Self {
        self.number("dvpp_freq", hertz, 1..=100, hertz.to_string())
    }

    /// What is sampled of this process on the host.
    #[doc(alias = "host_sys")]
    pub fn host(self, data: HostData) -> Self {
        self.with("host_sys", quoted(data.name()))
    }

    /// What is sampled of the host as a whole and of all its processes, and how often, in Hz, 1 to 50.
    #[doc(alias = "host_sys_usage")]
    pub fn whole_host(self, data: HostData, hertz: u32) -> Self {
        let with = self.with("host_sys_usage", quoted(data.name()));
        with.number("host_sys_usage_freq", hertz, 1..=50, hertz.to_string())
    }

    fn switch(self, key: &'static str, on: bool) -> Self {
        self.with(key, quoted(if on { "on" } else { "off" }))
    }

    fn with(mut self, key: &'static str, json: String) -> Self {
        match self.values.iter_mut().find(|(known, _)| *known == key) {
            Some((_, value)) => *value = json,
            None => self.values.push((key, json)),
        }
        self
    }

    fn number(mut self, key: &'static str, number: u32, range: RangeInclusive<u32>, json: String) -> Self {
        self.refused.retain(|(known, _)| *known != key);
        if !range.contains(&number) {
            let (least, most) = (range.start(), range.end());
            self.refused.push((key, format!("{key} of a profile is {number}, which is not {least} to {most}")));
        }
        self.with(key, json)
    }

    fn value(&self, key: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| *known == key).map(|(_, value)| value.as_str())
    }

    pub(super) fn check(&self) -> Result<()> {
        check_folder(&self.folder)?;
        if let Some((_, text)) = self.refused.first() {
            return Err(Error::invalid(text));
        }
        if self.value("llc_profiling").is_some() && self.value("sys_hardware_mem_freq").is_none() {
            return Err(Error::invalid("a profile of the last-level cache needs a frequency for memory"));
        }
        let times = self.value("task_time").is_none_or(|value| value == "\"on\"");
        if self.value("aic_metrics").is_some() && !times {
            return Err(Error::invalid("a profile has counters of the cores with TaskTimes::Full alone"));
        }
        Ok(())
    }

    pub(super) fn section(&self) -> String {
        let folder = quoted(&self.folder.to_string_lossy());
        let values: Vec<_> = self.values.iter().map(|(key, value)| format!(",\"{key}\":{value}")).collect();
        format!("{{\"switch\":\"on\",\"output\":{folder}{}}}", values.concat())
    }
}

/// The guide names characters that the path of a profile cannot have.
fn check_folder(folder: &Path) -> Result<()> {
    let refused = |c: char| c.is_control() || "\"'\\%><|&$;`".contains(c);
    match folder.to_str() {
        Some("") => Err(Error::invalid("the folder of a profile is empty")),
        Some(text) if text.contains(refused) => {
            Err(Error::invalid(format!("the folder {text:?} of a profile has a character that the library refuses")))
        }
        Some(_) => Ok(()),
        None => Err(Error::invalid(format!("the folder {} of a profile is no Unicode", folder.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_is_a_key_as_the_guide_has_it() {
        let all = InitProfiler::new("p")
            .calls(false)
            .runtime_calls(true)
            .cpu_operators(true)
            .l2_cache(true)
            .marks(true)
            .storage_limit(200)
            .memory_frequency(100)
            .cache_mode(CacheMode::Write)
            .network_frequency(1)
            .link_frequency(50)
            .media_frequency(7)
            .host(HostData::Both)
            .whole_host(HostData::Memory, 50)
            .calls(true);
        let want = concat!(
            r#"{"switch":"on","output":"p","ascendcl":"on","runtime_api":"on","aicpu":"on","l2":"on","msproftx":"on","#,
            r#""storage_limit":"200MB","sys_hardware_mem_freq":100,"llc_profiling":"write","#,
            r#""sys_io_sampling_freq":1,"sys_interconnection_freq":50,"dvpp_freq":7,"host_sys":"cpu,mem","#,
            r#""host_sys_usage":"mem","host_sys_usage_freq":50}"#
        );
        assert_eq!(all.section(), want);
        all.check().unwrap();
    }

    #[test]
    fn what_the_library_would_refuse_is_refused_and_named() {
        let good = || InitProfiler::new("p");
        let wrong = [
            (good().storage_limit(199), "storage_limit of a profile is 199, which is not 200 to 4294967295"),
            (good().memory_frequency(101), "sys_hardware_mem_freq of a profile is 101"),
            (good().network_frequency(0), "sys_io_sampling_freq of a profile is 0"),
            (good().link_frequency(51), "sys_interconnection_freq of a profile is 51"),
            (good().media_frequency(0), "dvpp_freq of a profile is 0"),
            (good().whole_host(HostData::Both, 51), "host_sys_usage_freq of a profile is 51"),
            (good().cache_mode(CacheMode::Read), "needs a frequency"),
            (good().metrics(CoreMetrics::Pipes).task_times(TaskTimes::Brief), "TaskTimes::Full alone"),
            (InitProfiler::new(""), "is empty"),
            (InitProfiler::new("a|b"), "\"a|b\""),
            (InitProfiler::new("a\nb"), "\"a\\nb\""),
        ];
        for (profiler, want) in wrong {
            let error = profiler.check().unwrap_err();
            assert!(error.to_string().contains(want), "{error}");
        }
        good().storage_limit(1).storage_limit(300).check().unwrap();
        good().metrics(CoreMetrics::Pipes).metrics(CoreMetrics::None).task_times(TaskTimes::Off).check().unwrap();
    }
}
