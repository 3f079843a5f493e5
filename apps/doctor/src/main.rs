//! Looks into a machine with Ascend NPUs: toolkit, library, driver, devices, and what racl can do there.
#![forbid(unsafe_code)]
#![allow(clippy::print_stderr)]

mod clean;
mod machine;
mod probe;
mod problems;
mod report;
mod text;
mod watch;

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use racl::Requirement;

use report::{Feature, Report, SCHEMA, Verdict};

/// Looks into a machine with Ascend NPUs: toolkit, library, driver, devices, and what racl can do there.
///
/// Changes nothing. The library is loaded in a process of its own, so that one that crashes or hangs is reported too.
#[derive(Debug, Parser)]
#[command(name = "racl-doctor", version, after_help = CODES)]
struct Arguments {
    /// One JSON object instead of text; its fields are in README.md
    #[arg(long)]
    json: bool,

    /// Name every function that is missing, and show long values and the library's own output
    #[arg(short, long)]
    verbose: bool,

    /// Also write everything into this file, as text and as JSON, to be sent to who shall help
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,

    /// Look at the built-in mock instead of the library of the machine
    #[cfg(feature = "mock")]
    #[arg(long)]
    mock: bool,

    /// How long the library may take for one step, such as opening a device
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=9999))]
    timeout: u64,

    /// Look for device files, driver and groups below this folder instead of /
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,

    /// In the process that loads the library: the first device to open
    #[arg(long, hide = true, value_name = "DEVICE")]
    probe_from: Option<u32>,
}

const CODES: &str = "\
Exit code:
  0   all is well
  1   usable, with warnings
  2   nothing is usable: no library, no initialisation or no device
  64  a wrong command line
  74  the report, or the file of --write, could not be written

Environment:
  RACL_LIBRARY  the AscendCL library: a path, `system` for the installed one, or `mock` for the built-in mock";

const WRONG_USAGE: u8 = 64;
const NOT_WRITTEN: u8 = 74;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = if error.use_stderr() { WRONG_USAGE } else { 0 };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    #[cfg(feature = "mock")]
    let mock = arguments.mock;
    #[cfg(not(feature = "mock"))]
    let mock = false;
    if let Some(first) = arguments.probe_from {
        probe::run(mock, first);
        return ExitCode::SUCCESS;
    }
    let report = examine(&arguments, mock);
    let written = arguments.write.as_ref().map_or(Ok(()), |path| write_file(&report, path));
    if let (Err(error), Some(path)) = (&written, &arguments.write) {
        let _ = writeln!(io::stderr(), "error: {}: {error}", clean::line(&path.to_string_lossy()));
    }
    let text = match arguments.json {
        true => json(&report),
        false => Ok(text::render(&report, arguments.verbose)),
    };
    let mut out = io::stdout().lock();
    match text.and_then(|text| out.write_all(text.as_bytes())).and_then(|()| out.flush()) {
        // Whoever reads has read enough.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(NOT_WRITTEN)
        }
        _ if written.is_err() => ExitCode::from(NOT_WRITTEN),
        _ => ExitCode::from(report.exit_code),
    }
}

fn json(report: &Report) -> io::Result<String> {
    Ok(clean::json(&serde_json::to_string_pretty(report)?) + "\n")
}

/// All that is known, for people and for programs, in place of a file that is there.
fn write_file(report: &Report, path: &Path) -> io::Result<()> {
    let text = text::render(report, true);
    fs::write(path, format!("{text}\nThe same for programs\n{}", json(report)?))
}

fn examine(arguments: &Arguments, mock: bool) -> Report {
    let machine = machine::look(&arguments.root);
    let mut findings = watch::look(mock, Duration::from_secs(arguments.timeout));
    if findings.features.is_empty() {
        findings.features = Requirement::all().iter().map(unknown).collect();
    }
    let cache = findings.features.iter_mut().find(|feature| feature.name == "compile-cache");
    if let Some(feature) = cache.filter(|_| !machine.cache.writable) {
        feature.available = Some(false);
    }
    let facts = problems::Facts {
        machine: &machine,
        library: findings.library.as_ref(),
        runtime: findings.runtime.as_ref(),
        features: &findings.features,
        devices: &findings.devices,
        stops: &findings.stops,
    };
    let problems = problems::find(&facts);
    let verdict = problems::verdict(&problems);
    Report {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        racl: report::Built::of(&racl::BUILD),
        verdict,
        exit_code: match verdict {
            Verdict::Well => 0,
            Verdict::Warnings => 1,
            Verdict::Unusable => 2,
        },
        problems,
        library: findings.library,
        runtime: findings.runtime,
        devices: findings.devices,
        features: findings.features,
        machine,
        library_output: findings.output,
        process: findings.process,
    }
}

fn unknown(part: &Requirement) -> Feature {
    Feature {
        name: part.name().to_owned(),
        what: part.what().to_owned(),
        available: None,
        missing: Vec::new(),
        missing_optional: Vec::new(),
    }
}
