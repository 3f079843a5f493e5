//! Entries for people: listed, shown, checked and removed.

use std::fmt::{self, Write as _};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::{Error, ErrorKind, Result};
use crate::plan::{Code, Plan};

use super::entry::{self, META, Meta, RECIPE};
use super::folder::{Folder, Trouble};
use super::key::hex;
use super::lock::LOCK;
use super::settings::{check_name, is_rank_folder};
use super::store::{Found, Place, split_entry_folder};
use crate::text::{printable, shown};

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
    /// Name of the function; empty for a folder above those of functions that no start would go into.
    pub function: String,
    /// Folder of the rank, if there are several.
    pub rank: Option<String>,
    /// Whether there is a plan. Where none could be stored, or one was abandoned, only a lock file is left.
    pub is_stored: bool,
    /// Size of the stored plan; 0 when it cannot be read.
    pub bytes: u64,
    /// When it was stored; when its files were changed, where nothing says more.
    pub written: Option<SystemTime>,
    /// Number of operators, as far as known.
    pub operators: Option<u64>,
    /// The parts of the key, by name.
    pub parts: Vec<(String, String)>,
    place: Place,
}

/// What a start would do that wants an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Load the plan.
    Load,
    /// Build and store a plan; there is none.
    Build,
    /// Clear what is there, build again and store.
    Rebuild(String),
    /// Leave everything as it is, build, and go on without the cache.
    Refuse(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load => f.write_str("would be loaded"),
            Self::Build => f.write_str("would be built and stored"),
            Self::Rebuild(why) => write!(f, "would be cleared and built again: {why}"),
            Self::Refuse(why) => write!(f, "would be built without the cache: {why}"),
        }
    }
}

impl Entry {
    /// Loads the entry the way a start does, foreign code aside, and says what a start would do.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let hash = self.place.hash();
        match self.place.load(|key| hex(&key[..16]) == hash, Code::None) {
            Found::Plan(..) => Verdict::Load,
            Found::Refused(why) => Verdict::Refuse(why),
            found => match (self.place.check(), found) {
                (Err(why), _) => Verdict::Refuse(why),
                (Ok(()), Found::Broken(why) | Found::Unbound(why)) => Verdict::Rebuild(why),
                (Ok(()), _) => Verdict::Build,
            },
        }
    }

    /// That a start would load it: [`Entry::verdict`] as a result.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::File`] with the reason for which a start would not use it.
    pub fn verify(&self) -> Result<()> {
        match self.verdict() {
            Verdict::Load => Ok(()),
            Verdict::Build => Err(broken(&self.path, "no plan is stored")),
            Verdict::Rebuild(why) => Err(broken(&self.path.join(RECIPE), &why)),
            Verdict::Refuse(why) => Err(Error::new(ErrorKind::File, why)),
        }
    }

    /// Removes the files that a cache has written there, and the folders that are empty then.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::File`] when a process is at work on it, when the folder or a file is none of this user's or a
    /// link, and when neither of the files there is one that a cache has written; then nothing is removed.
    pub fn remove(&self) -> Result<()> {
        self.place.remove(PATIENCE).map_err(|why| Error::new(ErrorKind::File, why))
    }

    /// What a start cannot go into.
    fn closed(place: Place, cache: &str) -> Self {
        let is_rank = |name: &&String| is_rank_folder(name);
        let function = place.levels.iter().skip(1).find(|name| !is_rank_folder(name));
        Self {
            path: place.path(),
            name: cache.to_owned(),
            function: function.cloned().unwrap_or_default(),
            rank: place.levels.get(1).filter(is_rank).cloned(),
            is_stored: false,
            bytes: 0,
            written: None,
            operators: None,
            parts: Vec::new(),
            place,
        }
    }
}

fn broken(path: &Path, why: &str) -> Error {
    Error::new(ErrorKind::File, format!("{}: {}", shown(path), printable(why)))
}

fn file_error(path: &Path, trouble: Trouble) -> Error {
    match trouble {
        Trouble::Absent => broken(path, "it is not there"),
        Trouble::Refused(why) => Error::new(ErrorKind::File, why),
    }
}

/// The entries below the root of caches, sorted by path; none when there is no such folder. Folders that no start
/// would go into are among them, since a start stops there; what else lies there is left out.
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
/// use racl::cache::CompileCache;
/// use racl::{Acl, cache};
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
        let Some(cache) = split_entry_folder(&name).filter(|cache| check_name("cache", cache).is_ok()) else {
            continue;
        };
        let place = Place { root: root.to_owned(), levels: vec![name.clone()] };
        Walk { cache, found: &mut found }.below(&folder, &place);
    }
    Ok(found)
}

/// The entries of one cache and key.
struct Walk<'a> {
    cache: &'a str,
    found: &'a mut Vec<Entry>,
}

impl Walk<'_> {
    /// What is in the last folder of `place`, which is in `above`.
    fn below(&mut self, above: &Folder, place: &Place) {
        let Some(name) = place.levels.last() else { return };
        let folder = match above.child(name, false) {
            Ok(folder) => folder,
            Err(Trouble::Absent) => return,
            // Whatever is in there, no start gets at it.
            Err(Trouble::Refused(_)) if above.has_folder_or_link(name) => {
                return self.found.push(Entry::closed(place.clone(), self.cache));
            }
            Err(Trouble::Refused(_)) => return,
        };
        let names = folder.names().unwrap_or_default();
        let has_ranks = place.levels.len() == 1;
        if has_ranks || is_rank_folder(name) {
            for name in names.iter().filter(|name| check_name("function", name).is_ok()) {
                if has_ranks || !is_rank_folder(name) {
                    let levels = place.levels.iter().chain([name]).cloned().collect();
                    self.below(&folder, &Place { root: place.root.clone(), levels });
                }
            }
        } else if names.iter().any(|name| [RECIPE, META, LOCK].contains(&name.as_str())) {
            self.found.push(self.entry(place, &folder, &names));
        }
    }

    fn entry(&self, place: &Place, folder: &Folder, names: &[String]) -> Entry {
        let meta = folder.read(META, entry::read_meta_file).ok().flatten().unwrap_or_default();
        let Meta { parts, written, operators, .. } = meta;
        let changed = || [RECIPE, META, LOCK].into_iter().find_map(|name| folder.modified(name));
        Entry {
            is_stored: names.iter().any(|name| name == RECIPE),
            bytes: folder.size(RECIPE).unwrap_or(0),
            written: written.or_else(changed),
            operators,
            parts: parts.into_iter().collect(),
            ..Entry::closed(place.clone(), self.cache)
        }
    }
}

/// A stored plan as text: what is known about it, and its recipe. `path` is the folder of the entry or its
/// `recipe.bin`. Control characters are shown as escapes.
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
/// use racl::cache::CompileCache;
/// use racl::{Acl, cache};
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
/// assert!(text.contains("aclnnTanh") && text.contains("# chip: "), "{text}");
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
        let _ = writeln!(text, "# {}", printable(&format!("{name}: {value}")));
    }
    let _ = writeln!(text, "# key {}", hex(&parts.key));
    let _ = writeln!(text, "# recipe {}, {} bytes", hex(&parts.recipe), bytes.len());
    let recipe = Plan::text_of_bytes(parts.plan).map_err(|why| broken(&file, &why))?;
    for line in recipe.lines() {
        let _ = writeln!(text, "{}", printable(line));
    }
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
