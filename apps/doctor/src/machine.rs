//! Environment, folders, device files and the user: all that is known without loading a library.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use racl::cache::CompileCache;
use racl::cache::default_root;
use racl::sys::{self, Library};
use rustix::fs::{Access, access};
use rustix::process;

use crate::clean::text_of;
use crate::report::{Cache, DeviceFile, Driver, Group, Machine, Place, PlaceState, User, Variable};

/// Where the driver is installed unless its own file says otherwise.
const DRIVER: &str = "usr/local/Ascend";
/// Files of this kind have a few lines.
const MOST_BYTES: u64 = 1 << 20;

/// `root` stands for `/` in paths of device files, of the driver and of the system.
pub(crate) fn look(root: &Path) -> Machine {
    let groups = group_names(root);
    Machine {
        environment: environment(),
        toolkits: sys::toolkit_places().iter().map(place).collect(),
        driver: driver(root),
        device_files: device_files(root, &groups),
        user: user(&groups),
        cache: cache(&default_root()),
    }
}

pub(crate) fn shown(path: &Path) -> String {
    text_of(path.as_os_str()).0
}

fn is_of_interest(name: &str) -> bool {
    const PREFIXES: [&str; 4] = ["ASCEND_", "RACL_", "MOCK_ACL_", "ACL_"];
    const NAMES: [&str; 7] = [
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "HOME",
        "RANK",
        "WORLD_SIZE",
        "RUST_LOG",
        "ENABLE_DYNAMIC_SHAPE_MULTI_STREAM",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || NAMES.contains(&name)
}

fn environment() -> Vec<Variable> {
    let all = env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let mut found: Vec<_> = all
        .filter(|(name, _)| is_of_interest(name))
        .map(|(name, value)| {
            let (value, is_text) = text_of(&value);
            Variable { name, value, is_text }
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn place(place: &sys::Place) -> Place {
    let lib = place.root.join("lib64");
    let has = |name: &&str| lib.join(name).exists();
    let state = match fs::read_dir(&lib) {
        Ok(_) if Library::Runtime.sonames().iter().any(has) => PlaceState::HasLibrary,
        Ok(_) => PlaceState::NoLibrary,
        Err(_) if place.root.is_dir() && !lib.exists() => PlaceState::NoLibrary,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => PlaceState::NotReadable,
        Err(_) => PlaceState::NoFolder,
    };
    let toolkit = sys::Toolkit::at(&place.root);
    let (version, version_trouble) = told(toolkit.version);
    Place {
        folder: shown(&place.root),
        variable: place.variable,
        state,
        version,
        version_file: toolkit.version_file.as_deref().map(shown),
        version_trouble,
        dangling: dangling(&lib),
    }
}

fn told(version: Result<String, String>) -> (Option<String>, Option<String>) {
    match version {
        Ok(version) => (Some(version).filter(|version| !version.is_empty()), None),
        Err(why) => (None, Some(why)),
    }
}

fn dangling(lib: &Path) -> Vec<String> {
    let names = Library::ALL.into_iter().flat_map(Library::sonames).map(|name| lib.join(name));
    names.filter(|path| path.is_symlink() && !path.exists()).map(|path| shown(&path)).collect()
}

/// The start of a file that is one; a pipe would wait for a writer.
fn read(path: &Path) -> Option<String> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn driver(root: &Path) -> Driver {
    let text = read(&root.join("etc/ascend_install.info")).unwrap_or_default();
    let named = text.lines().find_map(|line| line.trim().strip_prefix("Driver_Install_Path_Param="));
    let base = named.map_or(DRIVER, |path| path.trim().trim_start_matches('/'));
    let found = sys::Toolkit::at(root.join(base).join("driver"));
    let (version, version_trouble) = told(found.version);
    Driver {
        folder: shown(&found.root),
        version,
        version_file: found.version_file.as_deref().map(shown),
        version_trouble,
    }
}

fn device_files(root: &Path, groups: &BTreeMap<u32, String>) -> Vec<DeviceFile> {
    let is_one = |name: &str| name.starts_with("davinci") || matches!(name, "devmm_svm" | "hisi_hdc");
    let entries = fs::read_dir(root.join("dev")).into_iter().flatten().filter_map(Result::ok);
    let mut paths: Vec<PathBuf> =
        entries.filter(|entry| entry.file_name().to_str().is_some_and(is_one)).map(|entry| entry.path()).collect();
    // By length first: davinci2 comes before davinci10.
    paths.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    paths.iter().filter_map(|path| device_file(path, groups)).collect()
}

fn device_file(path: &Path, groups: &BTreeMap<u32, String>) -> Option<DeviceFile> {
    let about = fs::metadata(path).ok()?;
    Some(DeviceFile {
        path: shown(path),
        mode: format!("{:04o}", about.mode() & 0o7777),
        owner: about.uid(),
        group: about.gid(),
        group_name: groups.get(&about.gid()).cloned(),
        readable: access(path, Access::READ_OK).is_ok(),
        writable: access(path, Access::WRITE_OK).is_ok(),
    })
}

fn group_names(root: &Path) -> BTreeMap<u32, String> {
    let text = read(&root.join("etc/group")).unwrap_or_default();
    let fields = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
    fields.filter_map(|line| Some((line.get(2)?.parse().ok()?, (*line.first()?).to_owned()))).collect()
}

fn user(names: &BTreeMap<u32, String>) -> User {
    let mut ids: Vec<_> = process::getgroups().unwrap_or_default().iter().map(|group| group.as_raw()).collect();
    ids.push(process::getegid().as_raw());
    ids.sort_unstable();
    ids.dedup();
    let groups = ids.into_iter().map(|gid| Group { gid, name: names.get(&gid).cloned() }).collect();
    User { uid: process::geteuid().as_raw(), groups }
}

/// Nothing is made: the nearest folder that is there has to let this user make the others.
fn cache(folder: &Path) -> Cache {
    let named = folder.ancestors().map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path });
    let trouble = match named.into_iter().find(|path| path.symlink_metadata().is_ok()) {
        None => Some("there is no folder above it".to_owned()),
        Some(path) => match access(path, Access::WRITE_OK | Access::EXEC_OK) {
            Err(error) => Some(format!("{}: {error}", shown(path))),
            Ok(()) if !path.is_dir() => Some(format!("{} is no folder", shown(path))),
            Ok(()) if path == folder => untrusted(path),
            Ok(()) => None,
        },
    };
    // The rest of what every start reads from the environment.
    let trouble = trouble.or_else(|| Some(CompileCache::builder("doctor").build().err()?.to_string()));
    Cache { folder: shown(folder), writable: trouble.is_none(), trouble }
}

/// Why a cache would not use its root. A link has to be this user's too.
fn untrusted(path: &Path) -> Option<String> {
    let me = process::geteuid().as_raw();
    let about = fs::metadata(path).ok()?;
    let owners = [path.symlink_metadata().ok()?.uid(), about.uid()];
    match owners.into_iter().find(|owner| *owner != me) {
        Some(owner) => Some(format!("it belongs to user {owner}, not to user {me}")),
        None if about.mode() & 0o022 != 0 => Some("others can write to it".to_owned()),
        None => None,
    }
}
