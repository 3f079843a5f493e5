//! A report of a process and its library, for people who have to find out what went wrong on somebody's machine.

use std::fmt::{self, Write as _};
use std::fs;
use std::path::Path;
use std::time::Duration;

use acl_sys::aclCANNPackageName;

use crate::acl::Acl;
use crate::built::BUILD;
use crate::call::forget_binding;
use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::failures;
use crate::logs;
use crate::recent;
use crate::requirement::Requirement;
use crate::sort;

/// What this process knows of itself, as text: what racl was built from, the library with its versions, the devices
/// that are open, with facts of those that this crate has open, what the library lacks, the environment variables that
/// matter, the calls that failed last, with what the library said of them, the tasks that failed last, as far as it
/// told ([`TaskFailure`](crate::TaskFailure)), and the last lines of the library's own logs of this process, of the host
/// and of the devices. To be sent with a question, or written where a program fails.
///
/// It asks the library and changes nothing; what cannot be had is left out or says why. Environment variables are shown
/// as they are: only those whose names begin with `ASCEND_`, `ACL_`, `HCCL_`, `RACL_` or `MOCK_ACL_`, and
/// `LD_LIBRARY_PATH`. The program `racl-doctor` tells more of a machine, without a program that runs.
///
/// # Examples
///
/// ```
/// let acl = racl::Acl::mock()?;
/// assert!(acl.device(99).is_err());
/// let report = acl.report();
/// assert!(report.to_string().contains("aclrtSetDevice failed: no such device (107001)"));
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report(String);

impl Acl {
    /// A [`Report`] of the process as it is now. Any thread may ask, also after failures.
    #[must_use]
    #[doc(alias = "aclGetRecentErrMsg")]
    pub fn report(&self) -> Report {
        // Taken first: asking may fail, too.
        let (calls, tasks) = (recent::all(), failures::latest());
        let mut text = String::new();
        section(&mut text, "racl", [BUILD.to_string()]);
        section(&mut text, "library", library(self));
        // Other code goes on with the context that it made current.
        let devices = self.beside(|| {
            // It may have done so without telling this crate.
            forget_binding();
            devices(self)
        });
        let devices = devices.unwrap_or_else(|error| vec![format!("not known: {error}")]);
        section(&mut text, "devices", devices);
        section(&mut text, "missing functions", missing(self));
        section(&mut text, "environment", environment());
        section(&mut text, "calls that failed last", calls.into_iter().map(aged));
        section(&mut text, "tasks that failed last", tasks.into_iter().map(aged));
        section(&mut text, "the library's log", logs::last_lines());
        Report(text)
    }
}

impl Report {
    /// Writes the report to a file, in place of one that is there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::File`] when it cannot be written.
    ///
    /// # Examples
    ///
    /// ```
    /// let path = std::env::temp_dir().join(format!("racl-report-{}.txt", std::process::id()));
    /// racl::Acl::mock()?.report().write(&path)?;
    /// assert!(std::fs::read_to_string(&path).unwrap().starts_with("racl\n"));
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        fs::write(path, &self.0).map_err(|error| {
            let text = format!("a report cannot be written to {}: {error}", path.display());
            Error::new(ErrorKind::File, text).with_source(error)
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A heading and its lines, each of which may be several.
fn section(text: &mut String, name: &str, lines: impl IntoIterator<Item = String>) {
    let _ = writeln!(text, "{name}");
    let mut none = true;
    for line in lines.into_iter().flat_map(|lines| lines.lines().map(str::to_owned).collect::<Vec<_>>()) {
        none = false;
        let _ = writeln!(text, "  {line}");
    }
    if none {
        let _ = writeln!(text, "  none");
    }
}

fn aged((age, text): (Duration, String)) -> String {
    format!("{:.1} s ago: {text}", age.as_secs_f64())
}

fn told(what: &str, answer: Result<impl fmt::Display>) -> String {
    match answer {
        Ok(value) => format!("{what}: {value}"),
        Err(error) => format!("{what}: not known: {error}"),
    }
}

fn library(acl: &Acl) -> Vec<String> {
    let runtime = acl.version().map(|(major, minor, patch)| format!("{major}.{minor}.{patch}"));
    let mut lines = vec![acl.library(), told("runtime", runtime), told("chip", acl.soc_name())];
    for (name, package) in
        [("CANN", aclCANNPackageName::ACL_PKG_NAME_CANN), ("driver", aclCANNPackageName::ACL_PKG_NAME_DRIVER)]
    {
        if let Ok(version) = acl.package_version(package) {
            lines.push(format!("{name}: {version}"));
        }
    }
    lines.extend(acl.mixed_toolkits().map(|mixed| format!("mixed toolkits: {mixed}")));
    lines
}

/// Those that this crate has open are asked; others would be opened by a question.
fn devices(acl: &Acl) -> Vec<String> {
    let count = acl.device_count();
    let all = count.as_ref().copied().unwrap_or_default();
    let mut lines = vec![told("number", count)];
    for id in (0..all as i32).filter(|id| acl.is_device_open(*id).unwrap_or(false)) {
        if !Context::has_primary(acl, id) {
            lines.push(format!("device {id}: open by other code"));
            continue;
        }
        match acl.device(id) {
            Ok(device) => lines.push(format!("device {id}: {}", facts(&device))),
            Err(error) => lines.push(format!("device {id}: {error}")),
        }
    }
    lines
}

fn facts(device: &Device) -> String {
    let status = device.status().map_or_else(|_| "status not known".to_owned(), |status| format!("{status:?}"));
    let memory = device.memory_info().map_or_else(
        |error| format!("memory not known: {error}"),
        |(free, total)| format!("{free} of {total} bytes free"),
    );
    let fault = match device.fault() {
        Ok(Some(fault)) => format!(", latest fault: {fault:?}"),
        Ok(None) | Err(_) => String::new(),
    };
    format!("{status}, {memory}{fault}")
}

fn missing(acl: &Acl) -> Vec<String> {
    let parts = Requirement::all().iter().map(|part| (part.name(), part.missing(acl.table())));
    let lacking = parts.filter(|(_, missing)| !missing.is_empty());
    lacking.map(|(name, missing)| format!("{name}: {}", missing.join(" "))).collect()
}

fn environment() -> Vec<String> {
    const STARTS: [&str; 5] = ["ASCEND_", "ACL_", "HCCL_", "RACL_", "MOCK_ACL_"];
    let mut found: Vec<_> = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .filter(|(name, _)| name == "LD_LIBRARY_PATH" || STARTS.iter().any(|start| name.starts_with(start)))
        .map(|(name, value)| format!("{name}={}", value.escape_debug()))
        .collect();
    sort::plain(&mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_without_lines_says_so() {
        let mut text = String::new();
        section(&mut text, "a", ["one\ntwo".to_owned()]);
        section(&mut text, "b", []);
        assert_eq!(text, "a\n  one\n  two\nb\n  none\n");
    }
}
