//! A report of a process and its library, for people who have to find out what went wrong on somebody's machine.

use std::fmt::{self, Write as _};
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use acl_sys::aclCANNPackageName;

use crate::acl::Acl;
use crate::built::BUILD;
use crate::call::forget_binding;
use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::failures;
use crate::recent;
use crate::requirement::Requirement;
use crate::sort;

/// Lines of the library's log that are shown, and bytes at its end that are looked at.
const LOG_LINES: usize = 40;
const LOG_BYTES: u64 = 1 << 16;

/// What this process knows of itself, as text: what racl was built from, the library with its versions, the devices
/// that are open, with facts of those that this crate has open, what the library lacks, the environment variables that
/// matter, the calls that failed last, with what the library said of them, the tasks that failed last, as far as it
/// told ([`TaskFailure`](crate::TaskFailure)), and the last lines of the library's own log of this process. To be sent
/// with a question, or written where a program fails.
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
        let log = log_folder().map(|folder| logs_of(&folder, std::process::id()));
        section(&mut text, "the library's log", log.unwrap_or_default());
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

/// Where the runtime logs (guide: `ASCEND_PROCESS_LOG_PATH`, else below the home folder).
fn log_folder() -> Option<PathBuf> {
    let named = std::env::var_os("ASCEND_PROCESS_LOG_PATH").filter(|path| !path.is_empty());
    named.map(PathBuf::from).or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join("ascend/log")))
}

/// The last lines of the newest log of a process in each folder: errors are in the first one, events in the second.
fn logs_of(folder: &Path, process: u32) -> Vec<String> {
    let parts = ["debug/plog", "run/plog"].iter();
    parts.filter_map(|part| newest_of(&folder.join(part), process)).flatten().collect()
}

fn newest_of(folder: &Path, process: u32) -> Option<Vec<String>> {
    let start = format!("plog-{process}_");
    let logs = fs::read_dir(folder).ok()?.flatten();
    let logs = logs.filter(|entry| entry.file_name().to_string_lossy().starts_with(&start));
    let path =
        logs.map(|entry| entry.path()).max_by_key(|path| fs::metadata(path).and_then(|m| m.modified()).ok())?;
    let mut file = File::open(&path).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(LOG_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(LOG_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<_> = text.lines().collect();
    let last = lines[lines.len().saturating_sub(LOG_LINES)..].iter().map(|&line| line.to_owned());
    Some(std::iter::once(path.display().to_string()).chain(last).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_logs_of_a_process_end_a_report() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(logs_of(folder.path(), 7), [""; 0]);
        let logs = folder.path().join("debug/plog");
        fs::create_dir_all(&logs).unwrap();
        let lines: Vec<_> = (0..10_000).map(|number| format!("line {number}")).collect();
        fs::write(logs.join("plog-7_1.log"), lines.join("\n")).unwrap();
        fs::write(logs.join("plog-77_2.log"), "of another process").unwrap();
        // What runs without an error is logged elsewhere, and later.
        let events = folder.path().join("run/plog");
        fs::create_dir_all(&events).unwrap();
        fs::write(events.join("plog-7_3.log"), "an event").unwrap();
        let shown = logs_of(folder.path(), 7);
        assert!(shown[0].ends_with("debug/plog/plog-7_1.log"), "{}", shown[0]);
        assert_eq!(shown[1..=LOG_LINES], lines[10_000 - LOG_LINES..]);
        assert!(shown[LOG_LINES + 1].ends_with("run/plog/plog-7_3.log"));
        assert_eq!(shown[LOG_LINES + 2..], ["an event"]);
    }

    #[test]
    fn a_section_without_lines_says_so() {
        let mut text = String::new();
        section(&mut text, "a", ["one\ntwo".to_owned()]);
        section(&mut text, "b", []);
        assert_eq!(text, "a\n  one\n  two\nb\n  none\n");
    }
}
