//! What is reported. The names of the fields are those of `--json`, documented in README.md.

use serde::{Deserialize, Serialize};

/// Raised when a field changes its meaning or goes; new fields do not raise it.
pub(crate) const SCHEMA: u32 = 1;

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) schema: u32,
    pub(crate) version: &'static str,
    pub(crate) racl: Built,
    pub(crate) verdict: Verdict,
    pub(crate) exit_code: u8,
    pub(crate) problems: Vec<Problem>,
    pub(crate) library: Option<Library>,
    pub(crate) runtime: Option<Runtime>,
    pub(crate) devices: Vec<Device>,
    pub(crate) features: Vec<Feature>,
    pub(crate) machine: Machine,
    /// What the library wrote while it was looked at.
    pub(crate) library_output: String,
    /// What the process that looked at the library knew of itself at its end.
    pub(crate) process: Option<String>,
}

/// What racl inside this program was built from.
#[derive(Debug, Serialize)]
pub(crate) struct Built {
    pub(crate) version: &'static str,
    pub(crate) commit: Option<&'static str>,
    pub(crate) features: &'static [&'static str],
    pub(crate) headers: &'static str,
    pub(crate) toolkit: Option<&'static str>,
    /// All of it, for people.
    pub(crate) text: String,
}

impl Built {
    pub(crate) fn of(build: &racl::Build) -> Self {
        let racl::Build { version, commit, features, headers, toolkit, .. } = *build;
        Self { version, commit, features, headers, toolkit, text: build.to_string() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Well,
    Warnings,
    Unusable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Error,
    Warning,
    Note,
}

#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    pub(crate) level: Level,
    pub(crate) id: &'static str,
    pub(crate) text: String,
    pub(crate) advice: String,
}

/// What needs no library.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) environment: Vec<Variable>,
    pub(crate) toolkits: Vec<Place>,
    pub(crate) driver: Driver,
    pub(crate) device_files: Vec<DeviceFile>,
    pub(crate) user: User,
    pub(crate) cache: Cache,
}

#[derive(Debug, Serialize)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) is_text: bool,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Place {
    pub(crate) folder: String,
    pub(crate) variable: Option<&'static str>,
    pub(crate) state: PlaceState,
    pub(crate) version: Option<String>,
    pub(crate) version_file: Option<String>,
    pub(crate) version_trouble: Option<String>,
    /// Links in `lib64` that lead nowhere.
    pub(crate) dangling: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PlaceState {
    HasLibrary,
    NoLibrary,
    NoFolder,
    NotReadable,
}

#[derive(Debug, Serialize)]
pub(crate) struct Driver {
    pub(crate) folder: String,
    pub(crate) version: Option<String>,
    pub(crate) version_file: Option<String>,
    pub(crate) version_trouble: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct DeviceFile {
    pub(crate) path: String,
    pub(crate) mode: String,
    pub(crate) owner: u32,
    pub(crate) group: u32,
    pub(crate) group_name: Option<String>,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct User {
    pub(crate) uid: u32,
    pub(crate) groups: Vec<Group>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Group {
    pub(crate) gid: u32,
    pub(crate) name: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Cache {
    pub(crate) folder: String,
    pub(crate) writable: bool,
    pub(crate) trouble: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Library {
    pub(crate) name: String,
    pub(crate) is_mock: bool,
    pub(crate) simulates: bool,
    pub(crate) file: Option<String>,
    pub(crate) toolkit: Option<Toolkit>,
    pub(crate) release: Option<Release>,
    pub(crate) families: Vec<Family>,
    pub(crate) missing: Vec<Function>,
    pub(crate) newer: Vec<Function>,
    pub(crate) mixed: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Toolkit {
    pub(crate) folder: String,
    pub(crate) version: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Release {
    pub(crate) oldest: String,
    pub(crate) newest: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Family {
    pub(crate) name: String,
    pub(crate) sonames: Vec<String>,
    pub(crate) functions: usize,
    pub(crate) found: usize,
    pub(crate) files: Vec<FamilyFile>,
    /// Files that are there and did not open, each with the reason.
    pub(crate) not_opened: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FamilyFile {
    pub(crate) path: String,
    pub(crate) functions: usize,
    pub(crate) toolkit: Option<Toolkit>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) family: Option<String>,
    /// The first release that declares it.
    pub(crate) since: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Feature {
    pub(crate) name: String,
    pub(crate) what: String,
    /// Not known without a library.
    pub(crate) available: Option<bool>,
    pub(crate) missing: Vec<Function>,
    pub(crate) missing_optional: Vec<Function>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Runtime {
    pub(crate) interface: Option<String>,
    pub(crate) soc: Option<String>,
    pub(crate) devices: u32,
    pub(crate) packages: Vec<Package>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Device {
    pub(crate) id: u32,
    /// Why it cannot be used.
    pub(crate) error: Option<String>,
    pub(crate) memory_free: Option<u64>,
    pub(crate) memory_total: Option<u64>,
    pub(crate) cube_cores: Option<u64>,
    pub(crate) vector_cores: Option<u64>,
    pub(crate) l2_bytes: Option<u64>,
    pub(crate) streams_left: Option<u32>,
    pub(crate) events_left: Option<u32>,
}

/// What the process that loads the library tells, one a line.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// What it does from now on.
    Step(String),
    Library(Library),
    Features(Vec<Feature>),
    Runtime(Runtime),
    Device(Device),
    /// What it knows of itself, as text.
    Process(String),
    /// It cannot go on.
    Failed {
        id: String,
        text: String,
    },
    End,
}
