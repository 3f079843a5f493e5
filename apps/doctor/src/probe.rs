//! The process that loads the library: whatever becomes of it, the one that started it reports.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;

use racl::sys::{self, CodeFiles, SymbolInfo, Table, aclCANNPackageName, symbol_info};
use racl::{Acl, Requirement};
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::machine::shown;
use crate::report::{
    Device, Family, FamilyFile, Feature, Function, Library, Message, Package, Release, Runtime, Toolkit,
};

/// In front of each message, since the library may write to standard output as well.
pub(crate) const MARK: &str = "racl-doctor-probe ";

/// More devices than any machine has.
const MOST_DEVICES: u32 = 1024;

/// Why there is nothing more to tell: an id of a problem, and a text.
type Stop = (&'static str, String);

/// Tells everything, with devices from number `first` on; those before it are known, as is the library.
pub(crate) fn run(mock: bool, first: u32) {
    // Best effort: nobody reads what is told otherwise.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    match look(mock, first) {
        Ok(()) => tell(&Message::End),
        Err((id, text)) => tell(&Message::Failed { id: id.to_owned(), text }),
    }
}

fn tell(message: &Message) {
    let Ok(text) = serde_json::to_string(message) else { return };
    let mut out = io::stdout().lock();
    // The library's own output may have left an open line. Nobody to tell: nothing more to do.
    if writeln!(out, "\n{MARK}{text}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

fn step(name: impl Into<String>) {
    tell(&Message::Step(name.into()));
}

fn look(mock: bool, first: u32) -> Result<(), Stop> {
    if first == 0 {
        step("loading the library");
        let table = table(mock).map_err(|error| ("no-library", format!("{error:#}")))?;
        step("looking up its functions");
        tell(&Message::Library(library(&table)));
        tell(&Message::Features(Requirement::all().iter().map(|part| feature(part, &table)).collect()));
    }
    step("initialising the library");
    let acl = open(mock).map_err(|error| ("not-initialised", format!("{error:#}")))?;
    let count = acl.device_count().map_err(|error| ("no-devices", format!("{error:#}")))?;
    if first == 0 {
        tell(&Message::Runtime(runtime(&acl, count)));
    }
    for id in first..count.min(MOST_DEVICES) {
        step(format!("device {id}"));
        tell(&Message::Device(device(&acl, id)));
    }
    step("writing a report");
    tell(&Message::Process(acl.report().to_string()));
    step("ending the library");
    acl.close().map_err(|refused| ("not-ended", format!("{refused:#}")))
}

#[cfg(feature = "mock")]
fn table(mock: bool) -> racl::Result<Table> {
    if mock { Ok(Table::mock()) } else { Acl::load() }
}

#[cfg(feature = "mock")]
fn open(mock: bool) -> racl::Result<Acl> {
    if mock { Acl::mock() } else { Acl::init() }
}

#[cfg(not(feature = "mock"))]
fn table(_mock: bool) -> racl::Result<Table> {
    Acl::load()
}

#[cfg(not(feature = "mock"))]
fn open(_mock: bool) -> racl::Result<Acl> {
    Acl::init()
}

fn toolkit(toolkit: &sys::Toolkit) -> Toolkit {
    let version = toolkit.version.clone().ok().filter(|version| !version.is_empty());
    Toolkit { folder: shown(&toolkit.root), version }
}

fn function(symbol: &SymbolInfo) -> Function {
    Function {
        name: symbol.name.to_owned(),
        family: Some(format!("{:?}", symbol.library)),
        since: symbol.first().map(|release| release.to_string()),
    }
}

fn named(name: &str) -> Function {
    symbol_info(name)
        .map_or_else(|| Function { name: name.to_owned(), family: None, since: None }, |symbol| function(&symbol))
}

fn library(table: &Table) -> Library {
    let fit = table.fit();
    let listed = |symbols: &[SymbolInfo]| symbols.iter().map(function).collect();
    // Read when the libraries of all families are open.
    let files = CodeFiles::read().ok();
    let place = |symbol: &str| files.as_ref()?.of(table.address_of(symbol)?);
    let file = place("aclInit").filter(|_| !table.is_mock());
    Library {
        name: table.describe(),
        is_mock: table.is_mock(),
        simulates: table.simulates(),
        file: file.map(shown),
        toolkit: file.and_then(sys::Toolkit::of_file).map(|found| toolkit(&found)),
        families: sys::Library::ALL.iter().map(|of| family(*of, table, &place)).collect(),
        missing: fit.as_ref().map_or_else(Vec::new, |fit| listed(&fit.missing)),
        newer: fit.as_ref().map_or_else(Vec::new, |fit| listed(&fit.newer)),
        release: fit.map(|fit| Release { oldest: fit.oldest.to_string(), newest: fit.newest.to_string() }),
        mixed: table.mixed_toolkits().map(|mixed| mixed.to_string()),
    }
}

fn family<'a>(of: sys::Library, table: &Table, place: &impl Fn(&str) -> Option<&'a Path>) -> Family {
    let symbols = SymbolInfo::all().filter(|symbol| symbol.library == of);
    let (mut functions, mut found) = (0, 0);
    let mut files: BTreeMap<&Path, usize> = BTreeMap::new();
    for symbol in symbols {
        functions += 1;
        found += usize::from(table.has(symbol.name));
        if let Some(path) = place(symbol.name).filter(|_| !table.is_mock()) {
            *files.entry(path).or_default() += 1;
        }
    }
    let file = |(path, functions): (&Path, usize)| FamilyFile {
        path: shown(path),
        functions,
        toolkit: sys::Toolkit::of_file(path).map(|found| toolkit(&found)),
    };
    Family {
        name: format!("{of:?}"),
        sonames: of.sonames().iter().map(|&name| name.to_owned()).collect(),
        functions,
        found,
        files: files.into_iter().map(file).collect(),
        not_opened: table.not_opened(of),
    }
}

fn feature(part: &Requirement, table: &Table) -> Feature {
    let missing: Vec<_> = part.missing(table).into_iter().map(named).collect();
    Feature {
        name: part.name().to_owned(),
        what: part.what().to_owned(),
        available: Some(missing.is_empty()),
        missing,
        missing_optional: part.optional().iter().filter(|name| !table.has(name)).map(|name| named(name)).collect(),
    }
}

fn runtime(acl: &Acl, devices: u32) -> Runtime {
    let packages = [
        ("toolkit", aclCANNPackageName::ACL_PKG_NAME_CANN),
        ("runtime", aclCANNPackageName::ACL_PKG_NAME_RUNTIME),
        ("operators", aclCANNPackageName::ACL_PKG_NAME_OPP),
        ("kernels", aclCANNPackageName::ACL_PKG_NAME_OPP_KERNEL),
        ("driver", aclCANNPackageName::ACL_PKG_NAME_DRIVER),
    ];
    let version = |(name, package)| Package {
        name: String::from(name),
        version: acl.package_version(package).ok().filter(|version| !version.is_empty()),
    };
    Runtime {
        interface: acl.version().ok().map(|(major, minor, patch)| format!("{major}.{minor}.{patch}")),
        soc: acl.soc_name().ok(),
        devices,
        packages: packages.into_iter().map(version).collect(),
    }
}

fn device(acl: &Acl, id: u32) -> Device {
    let opened = i32::try_from(id).map_or_else(
        |_| Err("its number is beyond those of the interface".to_owned()),
        |number| acl.device(number).map_err(|error| format!("{error:#}")),
    );
    let device = match opened {
        Ok(device) => device,
        Err(error) => return Device { id, error: Some(error), ..Device::default() },
    };
    let memory = device.memory_info();
    let told = Device {
        id,
        error: memory.as_ref().err().map(|error| format!("{error:#}")),
        memory_free: memory.as_ref().ok().map(|(free, _)| *free as u64),
        memory_total: memory.as_ref().ok().map(|(_, total)| *total as u64),
        cube_cores: device.cube_cores().ok(),
        vector_cores: device.vector_cores().ok(),
        l2_bytes: device.l2_cache_bytes().ok(),
        streams_left: device.context().streams_left().ok(),
        events_left: device.context().events_left().ok(),
    };
    match device.close() {
        Err(refused) => Device { error: told.error.or(Some(format!("{refused:#}"))), ..told },
        Ok(()) => told,
    }
}
