//! The report for people.

use std::fmt::Write as _;

use crate::clean::line;
use crate::report::{
    Device, Feature, Function, Level, Library, Machine, PlaceState, Report, Runtime, Toolkit, Verdict,
};

/// Longer values are cut, but for --verbose.
const MOST_CHARS: usize = 300;

struct Text {
    out: String,
    verbose: bool,
}

/// The report as plain text, without anything that a terminal would act on.
pub(crate) fn render(report: &Report, verbose: bool) -> String {
    let mut text = Text { out: format!("racl-doctor {}\n{}\n", report.version, line(&report.racl.text)), verbose };
    text.library(report.library.as_ref());
    text.runtime(report.runtime.as_ref());
    text.devices(&report.devices);
    text.features(&report.features);
    text.machine(&report.machine);
    if verbose && !report.library_output.is_empty() {
        text.title("Written by the library");
        for written in report.library_output.lines() {
            text.item(written);
        }
    }
    if let Some(process) = report.process.as_deref().filter(|_| verbose) {
        text.title("The process that looked at the library");
        for known in process.lines() {
            text.item(known);
        }
    }
    text.problems(report);
    text.out
}

impl Text {
    fn title(&mut self, title: &str) {
        let _ = writeln!(self.out, "\n{title}");
    }

    fn item(&mut self, value: &str) {
        let mut value = line(value);
        if !self.verbose && value.chars().count() > MOST_CHARS {
            value = value.chars().take(MOST_CHARS).chain("…".chars()).collect();
        }
        let _ = writeln!(self.out, "  {value}");
    }

    fn row(&mut self, name: &str, value: impl AsRef<str>) {
        self.item(&format!("{name:<22} {}", value.as_ref()));
    }

    fn library(&mut self, library: Option<&Library>) {
        self.title("Library");
        let Some(library) = library else { return self.item("none") };
        self.row("name", &library.name);
        if let Some(file) = &library.file {
            self.row("file", file);
        }
        if let Some(toolkit) = &library.toolkit {
            self.row("toolkit", toolkit_text(toolkit));
        }
        let release = library.release.as_ref().map(|of| match of.oldest == of.newest {
            true => of.oldest.clone(),
            false => format!("{} or {}", of.oldest, of.newest),
        });
        self.row("looks like", release.as_deref().unwrap_or("no release that is known"));
        self.functions("missing of it", &library.missing);
        self.functions("newer than it", &library.newer);
        for family in &library.families {
            let files: Vec<_> = family.files.iter().map(|file| file.path.as_str()).collect();
            let refused = family.not_opened.join("; ");
            let place = match (family.found, files.is_empty()) {
                (0, _) if !refused.is_empty() => refused,
                (0, _) => format!("not found ({})", family.sonames.join(", ")),
                (_, true) => "built in".to_owned(),
                _ if refused.is_empty() => files.join(", "),
                _ => format!("{}; {refused}", files.join(", ")),
            };
            self.row(&family.name, format!("{:>4} of {:>4} functions: {place}", family.found, family.functions));
        }
    }

    fn functions(&mut self, name: &str, functions: &[Function]) {
        let mut families: Vec<(&str, usize)> = Vec::new();
        for family in functions.iter().map(|function| function.family.as_deref().unwrap_or("?")) {
            match families.iter_mut().find(|(known, _)| *known == family) {
                Some((_, count)) => *count += 1,
                None => families.push((family, 1)),
            }
        }
        let counts: Vec<_> = families.iter().map(|(family, count)| format!("{count} {family}")).collect();
        let none = if functions.is_empty() { "none".to_owned() } else { counts.join(", ") };
        self.row(name, none);
        for function in functions.iter().filter(|_| self.verbose).collect::<Vec<_>>() {
            self.item(&format!("  {}", function_text(function)));
        }
    }

    fn runtime(&mut self, runtime: Option<&Runtime>) {
        let Some(runtime) = runtime else { return };
        self.row("chip", runtime.soc.as_deref().unwrap_or("unknown"));
        self.row("interface", runtime.interface.as_deref().unwrap_or("unknown"));
        for package in &runtime.packages {
            self.row(&format!("version of {}", package.name), package.version.as_deref().unwrap_or("unknown"));
        }
    }

    fn devices(&mut self, devices: &[Device]) {
        self.title("Devices");
        if devices.is_empty() {
            self.item("none");
        }
        for device in devices {
            let value = device.error.clone().unwrap_or_else(|| device_text(device));
            self.row(&format!("device {}", device.id), value);
        }
    }

    fn features(&mut self, features: &[Feature]) {
        self.title("Features of racl");
        for feature in features {
            let state = match feature.available {
                Some(true) => "there",
                Some(false) => "MISSING",
                None => "unknown",
            };
            self.row(&feature.name, format!("{state:<8} {}", feature.what));
            let lacks = |functions: &[Function]| functions.iter().map(function_text).collect::<Vec<_>>().join(", ");
            if self.verbose && !feature.missing.is_empty() {
                self.item(&format!("  needs {}", lacks(&feature.missing)));
            }
            if self.verbose && !feature.missing_optional.is_empty() {
                self.item(&format!("  would use {}", lacks(&feature.missing_optional)));
            }
        }
    }

    fn machine(&mut self, machine: &Machine) {
        self.title("Toolkits");
        for place in &machine.toolkits {
            let state = match place.state {
                PlaceState::HasLibrary => "has a library",
                PlaceState::NoLibrary => "no library in lib64",
                PlaceState::NoFolder => "no such folder",
                PlaceState::NotReadable => "not readable",
            };
            let version = place.version.as_deref().map_or_else(String::new, |version| format!(", version {version}"));
            self.row(place.variable.unwrap_or("usual place"), format!("{}: {state}{version}", place.folder));
        }
        self.title("Driver and device files");
        let version = machine.driver.version.as_deref().unwrap_or("no version found");
        self.row("driver", format!("{}: {version}", machine.driver.folder));
        if machine.device_files.is_empty() {
            self.row("device files", "none (/dev/davinci*, /dev/davinci_manager)");
        }
        for file in &machine.device_files {
            let group = file.group_name.clone().unwrap_or_else(|| file.group.to_string());
            let may = match (file.readable, file.writable) {
                (true, true) => "usable",
                _ => "NOT usable by this user",
            };
            self.row(&file.path, format!("mode {}, owner {}, group {group}: {may}", file.mode, file.owner));
        }
        let groups = machine.user.groups.iter();
        let groups: Vec<_> =
            groups.map(|group| group.name.clone().unwrap_or_else(|| group.gid.to_string())).collect();
        self.row("user", format!("{}, groups {}", machine.user.uid, groups.join(" ")));
        let trouble = machine.cache.trouble.as_deref();
        self.row("compile caches", format!("{}: {}", machine.cache.folder, trouble.unwrap_or("writable")));
        self.title("Environment");
        for variable in &machine.environment {
            self.row(&variable.name, &variable.value);
        }
    }

    fn problems(&mut self, report: &Report) {
        self.title("Problems");
        if report.problems.is_empty() {
            self.item("none");
        }
        for problem in &report.problems {
            let level = match problem.level {
                Level::Error => "error",
                Level::Warning => "warning",
                Level::Note => "note",
            };
            self.item(&format!("{level} ({}): {}", problem.id, problem.text));
            self.item(&format!("  do: {}", problem.advice));
        }
        let verdict = match report.verdict {
            Verdict::Well => "all is well",
            Verdict::Warnings => "usable, with warnings",
            Verdict::Unusable => "nothing is usable",
        };
        let _ = writeln!(self.out, "\n{verdict}");
    }
}

fn toolkit_text(toolkit: &Toolkit) -> String {
    format!("{} ({})", toolkit.folder, toolkit.version.as_deref().unwrap_or("version unknown"))
}

fn function_text(function: &Function) -> String {
    let since = function.since.as_deref().map_or_else(String::new, |since| format!(" ({since})"));
    format!("{}{since}", function.name)
}

fn device_text(device: &Device) -> String {
    let number = |value: Option<u64>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
    let mib = |bytes: Option<u64>| number(bytes.map(|bytes| bytes >> 20));
    let mut text = format!("{} of {} MiB free", mib(device.memory_free), mib(device.memory_total));
    let (cube, vector) = (number(device.cube_cores), number(device.vector_cores));
    let _ = write!(text, ", {cube} cube and {vector} vector cores, {} MiB of L2", mib(device.l2_bytes));
    let (streams, events) = (device.streams_left.map(u64::from), device.events_left.map(u64::from));
    let _ = write!(text, ", {} streams and {} events left", number(streams), number(events));
    text
}
