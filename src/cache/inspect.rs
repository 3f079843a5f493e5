//! Entries for people: listed, shown, checked and removed.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::{Error, ErrorKind, Result};
use crate::plan::Plan;

use super::entry::{self, META, Meta, RECIPE};
use super::folder::{Folder, Trouble};
use super::key::hex;
use super::lock::LOCK;
use super::settings::is_rank_folder;
use super::store::{Place, split_entry_folder};

/// How long a removal waits for a process that is at work on the entry.
const PATIENCE: Duration = Duration::from_secs(5);

/// One stored plan.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Entry {
    /// The folder.
    pub path: PathBuf,
    /// Name of the cache.
    pub name: String,
    /// Name of the function.
    pub function: String,
    /// Folder of the rank, if there are several.
    pub rank: Option<String>,
    /// Whether there is a plan. Where none could be stored, or one was abandoned, only a lock file is left.
    pub is_stored: bool,
    /// Size of the stored plan; 0 when it cannot be read.
    pub bytes: u64,
    /// When it was stored, as far as known.
    pub written: Option<SystemTime>,
    /// Number of operators, as far as known.
    pub operators: Option<u64>,
    /// The parts of the key, by name.
    pub parts: Vec<(String, String)>,
    place: Place,
}

impl Entry {
    /// Reads all of it, as a start would, foreign code aside.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::File`] with the reason for which a start would not use it.
    pub fn verify(&self) -> Result<()> {
        let folder = self.place.open(false).map_err(|trouble| file_error(&self.path, trouble))?;
        let path = self.path.join(RECIPE);
        let bytes = folder.read(RECIPE, entry::read_plan).map_err(|trouble| file_error(&path, trouble))?;
        let bytes = bytes.map_err(|why| broken(&path, &why))?;
        let parts = entry::split(&bytes).map_err(|why| broken(&path, &why))?;
        let known = Plan::check_bytes(parts.plan).map_err(|why| broken(&path, &why))?;
        if known != parts.recipe {
            return Err(broken(&path, "its hash is that of another plan"));
        }
        let hash = self.place.levels[0].rsplit('_').next().unwrap_or_default();
        if hex(&parts.key[..16]) != hash {
            return Err(broken(&path, "it belongs into another folder"));
        }
        Ok(())
    }

    /// Removes the files that a cache has written there, and the folders that are empty then.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::File`] when a process is at work on it, or when the folder is none of this user's.
    pub fn remove(&self) -> Result<()> {
        self.place.remove(PATIENCE).map_err(|why| Error::new(ErrorKind::File, why))
    }
}

fn broken(path: &Path, why: &str) -> Error {
    Error::new(ErrorKind::File, format!("{}: {why}", path.display()))
}

fn file_error(path: &Path, trouble: Trouble) -> Error {
    match trouble {
        Trouble::Absent => broken(path, "it is not there"),
        Trouble::Refused(why) => Error::new(ErrorKind::File, why),
    }
}

/// The entries below the root of caches, sorted by path; none when there is no such folder. What else lies there is
/// left out.
///
/// # Errors
///
/// [`ErrorKind::File`] for a root that is not to be trusted or cannot be read.
///
/// # Examples
///
/// ```
/// use racl::op::DataType::F32;
/// use racl::plan::Input;
/// use racl::{Acl, CompileCache, cache};
///
/// # let folder = std::env::temp_dir().join(format!("racl-doc-entries-{}", std::process::id()));
/// let device = Acl::mock()?.device(0)?;
/// let cache = CompileCache::builder("Model").cache_dir(&folder).build()?;
/// cache.func("decode").compile(&device, |g| {
///     let x = g.input("x", [4], F32, Input::Copied)?;
///     let y = g.tanh(x)?;
///     g.output("y", y)
/// })?;
///
/// let found = cache::entries(cache.root())?;
/// assert_eq!((found[0].function.as_str(), found[0].operators), ("decode", Some(1)));
/// found[0].verify()?;
/// found[0].remove()?;
/// assert!(cache::entries(cache.root())?.is_empty());
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), racl::Error>(())
/// ```
pub fn entries(root: impl AsRef<Path>) -> Result<Vec<Entry>> {
    let root = root.as_ref();
    let folder = match Folder::root(root, false) {
        Err(Trouble::Absent) => return Ok(Vec::new()),
        other => other.map_err(|trouble| file_error(root, trouble))?,
    };
    let mut found = Vec::new();
    for name in folder.names().map_err(|trouble| file_error(root, trouble))? {
        let Some(cache) = split_entry_folder(&name) else { continue };
        let Ok(inner) = folder.child(&name, false) else { continue };
        for below in inner.names().unwrap_or_default() {
            let levels = vec![name.clone(), below.clone()];
            if !is_rank_folder(&below) {
                found.extend(entry_at(root, cache, levels));
                continue;
            }
            let functions = inner.child(&below, false).and_then(|rank| rank.names());
            for function in functions.unwrap_or_default() {
                let levels = levels.iter().cloned().chain([function]).collect();
                found.extend(entry_at(root, cache, levels));
            }
        }
    }
    Ok(found)
}

/// The entry in a folder that has at least one file of ours.
fn entry_at(root: &Path, cache: &str, levels: Vec<String>) -> Option<Entry> {
    let place = Place { root: root.to_owned(), levels };
    let folder = place.open(false).ok()?;
    let names = folder.names().ok()?;
    if !names.iter().any(|name| [RECIPE, META, LOCK].contains(&name.as_str())) {
        return None;
    }
    let meta = folder.read(META, entry::read_meta_file).ok().flatten().unwrap_or_default();
    let Meta { parts, written, operators } = meta;
    let rank = (place.levels.len() == 3).then(|| place.levels[1].clone());
    Some(Entry {
        path: place.path(),
        name: cache.to_owned(),
        function: place.levels.last().cloned().unwrap_or_default(),
        rank,
        is_stored: names.iter().any(|name| name == RECIPE),
        bytes: folder.size(RECIPE).unwrap_or(0),
        written,
        operators,
        parts: parts.into_iter().collect(),
        place,
    })
}

/// A stored plan as text: what is known about it, and its recipe. `path` is the folder of the entry or its
/// `recipe.bin`.
///
/// # Errors
///
/// [`ErrorKind::File`] for a path that is not there, a symbolic link, and a file that is no stored plan.
///
/// # Examples
///
/// ```
/// use racl::op::DataType::F32;
/// use racl::plan::Input;
/// use racl::{Acl, CompileCache, cache};
///
/// # let folder = std::env::temp_dir().join(format!("racl-doc-readable-{}", std::process::id()));
/// let device = Acl::mock()?.device(0)?;
/// let cache = CompileCache::builder("Model").cache_dir(&folder).build()?;
/// cache.func("decode").compile(&device, |g| {
///     let x = g.input("x", [4], F32, Input::Copied)?;
///     let y = g.tanh(x)?;
///     g.output("y", y)
/// })?;
///
/// let entry = &cache::entries(cache.root())?[0];
/// let text = cache::readable_cache(&entry.path)?;
/// assert!(text.contains("tanh") && text.contains("# chip: "), "{text}");
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), racl::Error>(())
/// ```
pub fn readable_cache(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    let about = path.symlink_metadata().map_err(|error| broken(path, &error.to_string()))?;
    if about.is_symlink() {
        return Err(broken(path, "it is a symbolic link, which is not followed"));
    }
    let folder = if about.is_dir() { path } else { path.parent().unwrap_or_else(|| Path::new(".")) };
    let file = if about.is_dir() { path.join(RECIPE) } else { path.to_owned() };
    let bytes = read_plain(&file, entry::read_plan).map_err(|error| broken(&file, &error.to_string()))?;
    let bytes = bytes.map_err(|why| broken(&file, &why))?;
    let parts = entry::split(&bytes).map_err(|why| broken(&file, &why))?;
    let mut text = String::new();
    let meta = read_plain(&folder.join(META), entry::read_meta_file).ok().flatten();
    for (name, value) in meta.unwrap_or_default().parts {
        // Writing to a string does not fail.
        let _ = writeln!(text, "# {name}: {value}");
    }
    let _ = writeln!(text, "# key {}", hex(&parts.key));
    let _ = writeln!(text, "# recipe {}, {} bytes", hex(&parts.recipe), bytes.len());
    text.push_str(&Plan::text_of_bytes(parts.plan).map_err(|why| broken(&file, &why))?);
    Ok(text)
}

/// A regular file of anybody's, not through a link.
fn read_plain<T>(path: &Path, read: impl FnOnce(&File, u64) -> io::Result<T>) -> io::Result<T> {
    use rustix::fs::{FileType, Mode, OFlags, fstat, open};
    let fd = open(path, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    let about = fstat(&fd)?;
    if FileType::from_raw_mode(about.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("it is no regular file"));
    }
    read(&File::from(fd), u64::try_from(about.st_size).unwrap_or(0))
}
