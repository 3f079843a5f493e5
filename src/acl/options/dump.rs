//! What the library dumps into files: operands of operators, and the rest that a configuration can ask for.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};
use crate::text::quoted;

/// Which operands of operators are dumped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
#[doc(alias = "dump_mode")]
pub enum DumpTensors {
    /// What operators read.
    Inputs,
    /// What operators wrote.
    #[default]
    Outputs,
    /// Both.
    All,
}

/// Whose operands are dumped: an operator is what a program calls, and may be several kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "dump_level")]
pub enum DumpLevel {
    /// Operators': fewer files.
    Operator,
    /// Kernels'.
    Kernel,
    /// Both, as the library does where it is told nothing.
    All,
}

/// What is dumped of each operand in place of its elements, as tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "dump_stats")]
pub enum DumpStatistic {
    /// The greatest element.
    Maximum,
    /// The least element.
    Minimum,
    /// Their mean.
    Average,
    /// How many are no numbers.
    NotANumber,
    /// How many are negative infinity.
    NegativeInfinity,
    /// How many are positive infinity.
    PositiveInfinity,
    /// The square root of the sum of their squares.
    L2Norm,
}

impl DumpStatistic {
    fn name(self) -> &'static str {
        match self {
            Self::Maximum => "Max",
            Self::Minimum => "Min",
            Self::Average => "Avg",
            Self::NotANumber => "Nan",
            Self::NegativeInfinity => "Negative Inf",
            Self::PositiveInfinity => "Positive Inf",
            Self::L2Norm => "L2norm",
        }
    }
}

/// Which operands are dumped, and where they go.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct DumpOptions {
    folder: PathBuf,
    tensors: DumpTensors,
    operators: bool,
    models: Vec<(String, Vec<String>)>,
    level: Option<DumpLevel>,
    steps: Option<Vec<RangeInclusive<u64>>>,
    statistics: Option<Vec<DumpStatistic>>,
}

impl DumpOptions {
    /// The outputs of all operators, into `folder`, which is there already.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            tensors: DumpTensors::Outputs,
            operators: true,
            models: Vec::new(),
            level: None,
            steps: None,
            statistics: None,
        }
    }

    /// Which operands.
    pub fn tensors(mut self, tensors: DumpTensors) -> Self {
        self.tensors = tensors;
        self
    }

    /// Whether operators that a program calls one by one are dumped; the mock dumps all there are.
    #[doc(alias = "dump_op_switch")]
    pub fn operators(mut self, on: bool) -> Self {
        self.operators = on;
        self
    }

    /// An offline model to dump, by its name in the file, and which of its layers; none for all. Without effect on the
    /// mock.
    #[doc(alias = "dump_list")]
    pub fn model(mut self, name: &str, layers: &[&str]) -> Self {
        self.models.push((name.to_owned(), owned(layers)));
        self
    }

    /// Whose operands; without effect on the mock.
    #[doc(alias = "dump_level")]
    pub fn level(mut self, level: DumpLevel) -> Self {
        self.level = Some(level);
        self
    }

    /// Which iterations of a training, in place of all; without effect on the mock.
    #[doc(alias = "dump_step")]
    pub fn steps(mut self, steps: &[RangeInclusive<u64>]) -> Self {
        self.steps = Some(steps.to_vec());
        self
    }

    /// Figures of the operands in place of their elements; on cards of the A2 series, and without effect on the mock.
    #[doc(alias = "dump_data")]
    #[doc(alias = "dump_stats")]
    pub fn statistics(mut self, statistics: &[DumpStatistic]) -> Self {
        self.statistics = Some(statistics.to_vec());
        self
    }

    /// What the library would refuse, or take for something else.
    pub(crate) fn check(&self) -> Result<()> {
        check_folder(&self.folder)?;
        for steps in self.steps.iter().flatten() {
            if steps.is_empty() {
                let text = format!("a dump of the iterations {} to {}", steps.start(), steps.end());
                return Err(Error::invalid(text));
            }
        }
        if self.steps.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::invalid("a dump of no iterations"));
        }
        if self.statistics.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::invalid("a dump of no statistics"));
        }
        if let Some((_, layers)) = self.models.iter().find(|(name, _)| name.is_empty()) {
            return Err(Error::invalid(format!("a dump of a model without a name, of the layers {layers:?}")));
        }
        Ok(())
    }

    /// The section of the configuration, as the library reads it.
    pub(crate) fn section(&self) -> String {
        let mode = match self.tensors {
            DumpTensors::Inputs => "input",
            DumpTensors::Outputs => "output",
            DumpTensors::All => "all",
        };
        let switch = if self.operators { "on" } else { "off" };
        let models: Vec<_> = self.models.iter().map(|(name, layers)| model_json(name, layers)).collect();
        let rest = format!("\"dump_op_switch\":\"{switch}\",\"dump_list\":[{}]", models.join(","));
        let more = self.level_json() + &self.steps_json() + &self.statistics_json();
        format!("{{{},\"dump_mode\":\"{mode}\",{rest}{more}}}", path_json(&self.folder))
    }

    fn level_json(&self) -> String {
        let name = self.level.map(|level| match level {
            DumpLevel::Operator => "op",
            DumpLevel::Kernel => "kernel",
            DumpLevel::All => "all",
        });
        name.map_or_else(String::new, |name| format!(",\"dump_level\":\"{name}\""))
    }

    fn steps_json(&self) -> String {
        let Some(steps) = &self.steps else { return String::new() };
        let parts = steps.iter().map(|steps| match (steps.start(), steps.end()) {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first}-{last}"),
        });
        format!(",\"dump_step\":\"{}\"", parts.collect::<Vec<_>>().join("|"))
    }

    fn statistics_json(&self) -> String {
        let Some(statistics) = &self.statistics else { return String::new() };
        let names: Vec<_> = statistics.iter().map(|statistic| quoted(statistic.name())).collect();
        format!(",\"dump_data\":\"stats\",\"dump_stats\":[{}]", names.join(","))
    }
}

/// How much is dumped of an operator that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "dump_scene")]
pub enum FaultDetail {
    /// Its operands and its scratch memory.
    Brief,
    /// As [`FaultDetail::Brief`], by the name that older releases know as well.
    Lite,
    /// Shapes, types, formats and attributes as well.
    Normal,
    /// The memory of the cores, their registers and the calls under way as well. The library stops the core meanwhile,
    /// also for other processes, and ends the program once the files are written.
    Detailed,
}

/// What kernels say by themselves, and is dumped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "dump_kernel_data")]
pub enum KernelOutput {
    /// All of it.
    All,
    /// What they print.
    Prints,
    /// Tensors that they dump.
    Tensors,
    /// Conditions that did not hold.
    Assertions,
    /// Moments that they print.
    Timestamps,
}

/// What the library dumps from its initialisation on, for [`InitOptions::dump`](crate::InitOptions::dump). The library
/// takes one kind at a time. [`Acl::dump`](crate::Acl::dump) dumps a part of a program.
///
/// # Examples
///
/// ```
/// use racl::{FaultDetail, InitDump, InitOptions};
///
/// let faults = InitDump::Faults { detail: FaultDetail::Brief, folder: None };
/// let options = InitOptions::new().dump(faults);
/// assert_eq!(options.to_json(), r#"{"dump":{"dump_scene":"aic_err_brief_dump"}}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub enum InitDump {
    /// What operators read or wrote.
    Operands(DumpOptions),
    /// Operators that fail on the device. `folder` counts where neither `NPU_COLLECT_PATH` nor `ASCEND_WORK_PATH` is
    /// set; without any it is the current folder.
    Faults {
        /// How much.
        detail: FaultDetail,
        /// Where to.
        folder: Option<PathBuf>,
    },
    /// Operators of which a number overflowed, with their operands.
    Overflows {
        /// Where to.
        folder: PathBuf,
    },
    /// What operators of an offline model wrote, each time when one of others is done: who writes over it.
    Watched {
        /// Where to.
        folder: PathBuf,
        /// The names of those that are watched.
        watched: Vec<String>,
        /// Behind which others; none for all of the model.
        behind: Vec<String>,
    },
    /// What kernels print and assert. `ASCEND_DUMP_PATH` and `ASCEND_WORK_PATH` go before the folder.
    Kernels {
        /// Where to.
        folder: PathBuf,
        /// Which of it.
        output: Vec<KernelOutput>,
    },
}

impl From<DumpOptions> for InitDump {
    fn from(options: DumpOptions) -> Self {
        Self::Operands(options)
    }
}

impl InitDump {
    pub(super) fn check(&self) -> Result<()> {
        match self {
            Self::Operands(options) => options.check(),
            Self::Faults { folder, .. } => folder.as_deref().map_or(Ok(()), check_folder),
            Self::Overflows { folder } => check_folder(folder),
            Self::Watched { folder, watched, behind } => {
                if watched.is_empty() || watched.iter().chain(behind).any(String::is_empty) {
                    let text = format!("a dump that watches {watched:?} behind {behind:?}: operators have names");
                    return Err(Error::invalid(text));
                }
                check_folder(folder)
            }
            Self::Kernels { output, .. } if output.is_empty() => {
                Err(Error::invalid("a dump of nothing that kernels say"))
            }
            Self::Kernels { folder, .. } => check_folder(folder),
        }
    }

    pub(super) fn section(&self) -> String {
        match self {
            Self::Operands(options) => options.section(),
            Self::Faults { detail, folder } => {
                let folder = folder.as_deref().map_or_else(String::new, |folder| path_json(folder) + ",");
                format!("{{{folder}\"dump_scene\":\"{}\"}}", scene(*detail))
            }
            Self::Overflows { folder } => format!("{{{},\"dump_debug\":\"on\"}}", path_json(folder)),
            Self::Watched { folder, watched, behind } => {
                let behind = if behind.is_empty() { String::new() } else { list_json("layer", behind) + "," };
                let list = behind + &list_json("watcher_nodes", watched);
                let path = path_json(folder);
                format!("{{\"dump_list\":[{{{list}}}],{path},\"dump_mode\":\"output\",\"dump_scene\":\"watcher\"}}")
            }
            Self::Kernels { folder, output } => {
                let output: Vec<_> = output.iter().map(|output| output_name(*output)).collect();
                format!("{{\"dump_kernel_data\":\"{}\",{}}}", output.join(","), path_json(folder))
            }
        }
    }
}

fn scene(detail: FaultDetail) -> &'static str {
    match detail {
        FaultDetail::Brief => "aic_err_brief_dump",
        FaultDetail::Lite => "lite_exception",
        FaultDetail::Normal => "aic_err_norm_dump",
        FaultDetail::Detailed => "aic_err_detail_dump",
    }
}

fn output_name(output: KernelOutput) -> &'static str {
    match output {
        KernelOutput::All => "all",
        KernelOutput::Prints => "printf",
        KernelOutput::Tensors => "tensor",
        KernelOutput::Assertions => "assert",
        KernelOutput::Timestamps => "timestamp",
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn model_json(name: &str, layers: &[String]) -> String {
    let layers = if layers.is_empty() { String::new() } else { String::from(",") + &list_json("layer", layers) };
    format!("{{\"model_name\":{}{layers}}}", quoted(name))
}

fn list_json(key: &str, names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| quoted(name)).collect();
    format!("\"{key}\":[{}]", names.join(","))
}

/// A folder that was checked is Unicode.
fn path_json(folder: &Path) -> String {
    format!("\"dump_path\":{}", quoted(&folder.to_string_lossy()))
}

/// The library asks for a folder that is there (guide: initialisation, `dump_path`).
fn check_folder(folder: &Path) -> Result<()> {
    if folder.to_str().is_none() {
        return Err(Error::invalid(format!("the folder {} of a dump is no Unicode", folder.display())));
    }
    if !folder.is_dir() {
        let text = format!("the folder {} for a dump is not there", folder.display());
        return Err(Error::new(ErrorKind::File, text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_is_json_whatever_is_in_it() {
        let options = DumpOptions::new("/a \"b\"\\\n").model("m", &["x", "y"]).model("n", &[]).operators(false);
        let want = "{\"dump_path\":\"/a \\\"b\\\"\\\\\\u000a\",\"dump_mode\":\"output\",\
                    \"dump_op_switch\":\"off\",\"dump_list\":[{\"model_name\":\"m\",\"layer\":[\"x\",\"y\"]},\
                    {\"model_name\":\"n\"}]}";
        assert_eq!(options.section(), want);
    }

    #[test]
    fn iterations_levels_and_statistics_are_written_as_the_guide_has_them() {
        let options = DumpOptions::new("/d")
            .level(DumpLevel::Operator)
            .steps(&[0..=0, 3..=5])
            .statistics(&[DumpStatistic::Maximum, DumpStatistic::NegativeInfinity]);
        let want = r#"{"dump_path":"/d","dump_mode":"output","dump_op_switch":"on","dump_list":[],"dump_level":"op","dump_step":"0|3-5","dump_data":"stats","dump_stats":["Max","Negative Inf"]}"#;
        assert_eq!(options.section(), want);
    }

    #[test]
    fn each_kind_is_a_section_of_its_own() {
        let folder = PathBuf::from("/d");
        let sections = [
            (InitDump::Overflows { folder: folder.clone() }, r#"{"dump_path":"/d","dump_debug":"on"}"#),
            (
                InitDump::Faults { detail: FaultDetail::Normal, folder: Some(folder.clone()) },
                r#"{"dump_path":"/d","dump_scene":"aic_err_norm_dump"}"#,
            ),
            (
                InitDump::Watched { folder: folder.clone(), watched: owned(&["C", "D"]), behind: owned(&["A", "B"]) },
                r#"{"dump_list":[{"layer":["A","B"],"watcher_nodes":["C","D"]}],"dump_path":"/d","dump_mode":"output","dump_scene":"watcher"}"#,
            ),
            (
                InitDump::Kernels { folder, output: vec![KernelOutput::Prints, KernelOutput::Assertions] },
                r#"{"dump_kernel_data":"printf,assert","dump_path":"/d"}"#,
            ),
        ];
        for (dump, want) in sections {
            assert_eq!(dump.section(), want);
        }
    }
}
