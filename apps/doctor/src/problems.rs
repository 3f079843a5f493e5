//! What is wrong, and what to do about it.

use std::collections::BTreeSet;
use std::path::Path;

use racl::sys::{Library as Family, symbol_info};

use crate::report::{Device, Feature, Function, Level, Library, Machine, PlaceState, Problem, Runtime, Verdict};

const SOURCE_ENVIRONMENT: &str = "source the set_env.sh of the toolkit, or set ASCEND_TOOLKIT_HOME to its folder; \
     RACL_LIBRARY names a library file itself";
const GROUP: &str = "add the user to the group of the device files (usually HwHiAiUser) and log in again; in a \
     container, pass the devices on with --device";
const DRIVER: &str = "install the driver and firmware of the card, check them with npu-smi info; in a container, \
     mount /usr/local/Ascend/driver and pass /dev/davinci*, /dev/davinci_manager, /dev/devmm_svm and /dev/hisi_hdc on";

/// What the problems are looked for in.
pub(crate) struct Facts<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) library: Option<&'a Library>,
    pub(crate) runtime: Option<&'a Runtime>,
    pub(crate) features: &'a [Feature],
    pub(crate) devices: &'a [Device],
    pub(crate) stops: &'a [(String, String)],
}

/// All problems, those first that keep everything from working.
pub(crate) fn find(facts: &Facts<'_>) -> Vec<Problem> {
    let mut found = Found(Vec::new());
    stops(facts, &mut found);
    devices(facts, &mut found);
    if let Some(library) = facts.library {
        self::library(library, facts, &mut found);
    }
    features(facts, &mut found);
    toolkits(facts.machine, &mut found);
    variables(facts.machine, &mut found);
    cache(facts.machine, &mut found);
    found.0.sort_by_key(|problem| problem.level as u8);
    found.0
}

pub(crate) fn verdict(problems: &[Problem]) -> Verdict {
    match problems.iter().map(|problem| problem.level).min_by_key(|level| *level as u8) {
        Some(Level::Error) => Verdict::Unusable,
        Some(Level::Warning) => Verdict::Warnings,
        _ => Verdict::Well,
    }
}

struct Found(Vec<Problem>);

impl Found {
    fn error(&mut self, id: &'static str, text: impl Into<String>, advice: impl Into<String>) {
        self.0.push(Problem { level: Level::Error, id, text: text.into(), advice: advice.into() });
    }

    fn warn(&mut self, id: &'static str, text: impl Into<String>, advice: impl Into<String>) {
        self.0.push(Problem { level: Level::Warning, id, text: text.into(), advice: advice.into() });
    }

    fn note(&mut self, id: &'static str, text: impl Into<String>, advice: impl Into<String>) {
        self.0.push(Problem { level: Level::Note, id, text: text.into(), advice: advice.into() });
    }
}

fn stops(facts: &Facts<'_>, found: &mut Found) {
    for (id, text) in facts.stops {
        match id.as_str() {
            "no-library" => found.error("no-library", text, no_library(facts.machine)),
            "not-initialised" => found.error("not-initialised", text, driver_advice(facts.machine)),
            "no-devices" => found.error("no-devices", text, driver_advice(facts.machine)),
            // The devices have told what they have by then.
            "library-hung" if facts.runtime.is_some() => found.warn("library-hung", text, "look at npu-smi info"),
            "library-crashed" if facts.runtime.is_some() => {
                found.warn("library-crashed", text, "check that driver and toolkit are made for each other");
            }
            "devices-skipped" => found.warn("devices-skipped", text, driver_advice(facts.machine)),
            "not-ended" => found.warn("not-ended", text, "look at the log of the driver (npu-smi, dmesg)"),
            "library-hung" => found.error("library-hung", text, DRIVER),
            "library-crashed" => found.error(
                "library-crashed",
                text,
                "the library is broken, or not made for this driver or machine: install a toolkit that fits",
            ),
            _ => found.error("no-process", text, "let this program start itself: it needs /proc and a free process"),
        }
    }
}

fn variable<'a>(machine: &'a Machine, name: &str) -> Option<&'a str> {
    machine.environment.iter().find(|variable| variable.name == name).map(|variable| variable.value.as_str())
}

fn no_library(machine: &Machine) -> String {
    match variable(machine, "RACL_LIBRARY").filter(|value| !value.is_empty() && *value != "system") {
        Some("mock") => "unset RACL_LIBRARY; for the mock, build this program with its feature `mock`".to_owned(),
        Some(_) => "let RACL_LIBRARY name libascendcl.so of an installed toolkit, or unset it".to_owned(),
        None if machine.toolkits.iter().any(|place| place.state == PlaceState::HasLibrary) => {
            "a toolkit is there and its library does not load: add its lib64 and the driver's \
             (/usr/local/Ascend/driver/lib64) to LD_LIBRARY_PATH, which its set_env.sh does"
                .to_owned()
        }
        None => format!("install the CANN toolkit; if it is installed, {SOURCE_ENVIRONMENT}"),
    }
}

fn driver_advice(machine: &Machine) -> String {
    if machine.device_files.iter().any(|file| !file.readable || !file.writable) {
        return GROUP.to_owned();
    }
    if machine.driver.version_file.is_none() || machine.device_files.is_empty() {
        return DRIVER.to_owned();
    }
    let visible = variable(machine, "ASCEND_RT_VISIBLE_DEVICES");
    let hidden = visible.map(|value| format!("ASCEND_RT_VISIBLE_DEVICES is {value:?}: unset it, or name devices; "));
    format!("{}look at npu-smi info and the log of the driver", hidden.unwrap_or_default())
}

fn devices(facts: &Facts<'_>, found: &mut Found) {
    let Some(runtime) = facts.runtime else { return };
    let usable = facts.devices.iter().filter(|device| device.error.is_none()).count();
    for (id, error) in facts.devices.iter().filter_map(|device| Some((device.id, device.error.as_ref()?))) {
        let (text, advice) = (format!("device {id}: {error}"), driver_advice(facts.machine));
        if usable == 0 {
            found.error("device-failed", text, advice);
        } else {
            found.warn("device-failed", text, advice);
        }
    }
    let stopped = facts.stops.iter().any(|(id, _)| id == "no-devices");
    if runtime.devices == 0 && !stopped {
        found.error("no-devices", "the library sees no device", driver_advice(facts.machine));
    }
    // A device that works needs no explanation of files.
    let refused = facts.machine.device_files.iter().filter(|file| !file.readable || !file.writable);
    let refused: Vec<_> = refused.map(|file| format!("{} (mode {})", file.path, file.mode)).collect();
    if !refused.is_empty() && !facts.library.is_some_and(|library| library.is_mock) {
        found.warn("device-files", format!("not both readable and writable: {}", refused.join(", ")), GROUP);
    }
}

fn library(library: &Library, facts: &Facts<'_>, found: &mut Found) {
    if library.simulates {
        found.note(
            "simulated",
            "the library is mock-acl, which simulates devices: nothing here is about a card",
            "nothing, if the mock is meant; else start a shell without its set_env.sh and without RACL_LIBRARY",
        );
    }
    if let Some(mixed) = &library.mixed {
        found.warn(
            "mixed-toolkits",
            mixed,
            "take both from one installation: start a fresh shell and source one set_env.sh, without another toolkit \
             in LD_LIBRARY_PATH",
        );
    }
    if library.release.is_none() {
        found.warn(
            "release-unknown",
            "the library has too few functions of every release from CANN 8.1 on",
            "install CANN 8.1 or newer",
        );
    }
    if !library.missing.is_empty() {
        let text = format!(
            "functions of {} that the library lacks: {}",
            library.release.as_ref().map_or("the release", |release| release.oldest.as_str()),
            library.missing.len()
        );
        let advice = "nothing, unless a feature is missing; --verbose names them";
        found.note("functions-missing", text, advice);
    }
    let Some(own) = &library.toolkit else { return };
    for name in ["ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH", "ASCEND_OPP_PATH"] {
        let Some(folder) = variable(facts.machine, name).filter(|value| !value.is_empty()) else { continue };
        if leads_to(Path::new(folder), &own.folder) {
            continue;
        }
        let known = |version: &Option<String>| version.clone().unwrap_or_else(|| "version unknown".to_owned());
        let toolkit = facts.machine.toolkits.iter().find(|place| place.variable == Some(name));
        let version = toolkit.and_then(|place| place.version.clone());
        if version.is_some() && version == own.version {
            continue;
        }
        let text = format!(
            "the library is that of {} ({}), {name} names {} ({})",
            own.folder,
            known(&own.version),
            folder,
            known(&version)
        );
        found.warn(
            "other-toolkit",
            text,
            format!("let {name} and the library be of one installation: source its set_env.sh"),
        );
    }
}

/// Whether a folder belongs to the toolkit in `root`, of which it may hold links only. One that is not there does.
fn leads_to(folder: &Path, root: &str) -> bool {
    let Ok(itself) = folder.canonicalize() else { return true };
    let parts = ["lib64/libascendcl.so", "lib64/libacl_rt.so", "runtime"];
    let parts = parts.iter().filter_map(|part| folder.join(part).canonicalize().ok());
    parts.chain([itself]).any(|path| path.starts_with(root))
}

/// More of them are one problem: the library is not what it should be.
const MOST_FEATURES: usize = 8;

fn features(facts: &Facts<'_>, found: &mut Found) {
    let missing: Vec<_> = facts.features.iter().filter(|feature| !feature.missing.is_empty()).collect();
    if missing.len() > MOST_FEATURES {
        let names: Vec<_> = missing.iter().map(|feature| feature.name.as_str()).collect();
        let text = format!("the library lacks functions for {}", names.join(", "));
        return found.warn("feature-missing", text, "install CANN 8.1 or newer; --verbose names the functions");
    }
    for feature in missing {
        let names: Vec<_> = feature.missing.iter().map(|function| function.name.as_str()).take(3).collect();
        let more = feature.missing.len() - names.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let text = format!("{}: the library lacks {}{more}", feature.name, names.join(", "));
        found.warn("feature-missing", text, feature_advice(&feature.missing, facts.library));
    }
}

fn feature_advice(missing: &[Function], library: Option<&Library>) -> String {
    let refused = not_opened(missing, library);
    if !refused.is_empty() {
        return format!(
            "put right what does not open, with the toolkit of its own version and the set_env.sh of that: {}",
            refused.join("; ")
        );
    }
    let symbols = missing.iter().filter_map(|function| symbol_info(&function.name));
    let others = symbols.filter(|symbol| !matches!(symbol.library, Family::OperatorBase | Family::Operators));
    match others.map(|symbol| symbol.first()).max() {
        None => {
            "install the operators of the toolkit's own version (libnnopbase.so and libopapi*.so in its lib64), and \
             see that LD_LIBRARY_PATH has their folder"
                .to_owned()
        }
        Some(since) => {
            let since = since.map_or_else(|| "newer ones".to_owned(), |since| format!("{since} and newer"));
            format!("do without, or take a library that has it ({since}); its calls give an error, the rest works")
        }
    }
}

/// What is there and does not open of the families of these functions.
fn not_opened<'a>(missing: &[Function], library: Option<&'a Library>) -> Vec<&'a str> {
    let needed = |name: &str| missing.iter().any(|function| function.family.as_deref() == Some(name));
    let families = library.into_iter().flat_map(|library| &library.families);
    families
        .filter(|family| needed(&family.name))
        .flat_map(|family| family.not_opened.iter().map(String::as_str))
        .collect()
}

fn toolkits(machine: &Machine, found: &mut Found) {
    let mut seen = BTreeSet::new();
    for place in machine.toolkits.iter().filter(|place| seen.insert(&place.folder)) {
        let folder = &place.folder;
        let named = place.variable.filter(|name| *name != "HOME");
        let what = named.map_or_else(|| folder.clone(), |name| format!("{name}={folder}"));
        match place.state {
            PlaceState::NoFolder if named.is_some() => found.warn(
                "toolkit-folder",
                format!("{what}: there is no such folder, or no way to it"),
                SOURCE_ENVIRONMENT,
            ),
            PlaceState::NoLibrary => found.warn(
                "toolkit-incomplete",
                format!("{what}: lib64 has neither libascendcl.so nor libacl_rt.so"),
                "install the toolkit again, or name the folder of another one",
            ),
            PlaceState::NotReadable => found.warn(
                "toolkit-folder",
                format!("{what}: this user may not read it"),
                "let everybody read the toolkit (chmod -R a+rX), or name another one",
            ),
            _ => {}
        }
        if let Some(why) = &place.version_trouble {
            let file = place.version_file.as_deref().unwrap_or(folder);
            let advice = "install the toolkit again: its files are damaged";
            found.warn("version-file", format!("{file}: {why}"), advice);
        }
        if !place.dangling.is_empty() {
            let text = format!("links to nothing: {}", place.dangling.join(", "));
            found.warn("toolkit-incomplete", text, "install what they lead to, or the toolkit again");
        }
    }
}

fn variables(machine: &Machine, found: &mut Found) {
    for variable in machine.environment.iter().filter(|variable| !variable.is_text) {
        let text = format!("{}={} is no UTF-8", variable.name, variable.value);
        found.warn("variable", text, "give a value in UTF-8");
    }
    if variable(machine, "HOME").is_none_or(str::is_empty) {
        found.note(
            "variable",
            "HOME is not set",
            "set it if the toolkit lies below it; the library keeps its logs there",
        );
    }
}

fn cache(machine: &Machine, found: &mut Found) {
    if let Some(trouble) = &machine.cache.trouble {
        found.warn(
            "cache-folder",
            format!("compile caches cannot be kept in {}: {trouble}", machine.cache.folder),
            "set RACL_CACHE_HOME to a folder of this user's own (chmod 700), and right the variable that is named",
        );
    }
}
