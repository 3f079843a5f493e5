//! How a cache is set up.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::lock::say;
use crate::plan::{Decompositions, Options};
use crate::text::shown;

use super::traces::Traces;
use super::{CompileCache, Inner};

/// Environment variable with the root of caches.
const HOME: &str = "RACL_CACHE_HOME";
/// Environment variable that turns comparing on.
const VERIFY: &str = "RACL_CACHE_VERIFY";
/// The root below the working directory.
const DEFAULT_ROOT: &str = ".racl_cache";
const LOCK_TIMEOUT: Duration = Duration::from_secs(120);

/// Sets up a [`CompileCache`]; see [`CompileCache::builder`]. Setting is one store; nothing is looked at before
/// [`CacheBuilder::build`].
#[derive(Debug, Clone)]
#[must_use]
pub struct CacheBuilder {
    settings: Settings,
    root: Option<PathBuf>,
    world_size: Option<usize>,
    global_rank: Option<usize>,
    verify: Option<bool>,
}

#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) name: String,
    pub(super) options: Options,
    pub(super) dynamic: bool,
    pub(super) root: PathBuf,
    world_size: usize,
    global_rank: usize,
    tp_rank: Option<usize>,
    pp_rank: Option<usize>,
    pub(super) op_cache: bool,
    pub(super) decompositions: Decompositions,
    pub(super) salt: Option<String>,
    pub(super) strict: bool,
    pub(super) verify: bool,
    pub(super) lock_timeout: Duration,
}

impl CacheBuilder {
    pub(super) fn new(name: &str) -> Self {
        let settings = Settings {
            name: name.to_owned(),
            options: Options::default(),
            dynamic: true,
            root: PathBuf::new(),
            world_size: 1,
            global_rank: 0,
            tp_rank: None,
            pp_rank: None,
            op_cache: false,
            decompositions: Decompositions::new(),
            salt: None,
            strict: false,
            verify: false,
            lock_timeout: LOCK_TIMEOUT,
        };
        Self { settings, root: None, world_size: None, global_rank: None, verify: None }
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// The options that plans are built with.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::cache::CompileCache;
    /// use racl::plan::Options;
    ///
    /// let cache = CompileCache::builder("Model").options(Options::new().auto_streams(4)).build()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "config")]
    pub fn options(self, options: Options) -> Self {
        self.with(|settings| settings.options = options)
    }

    /// Whether plans may have symbols in their shapes; true without it. A symbol in a static cache is an error.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::cache::CompileCache;
    ///
    /// let cache = CompileCache::builder("Model").dynamic(false).build()?; // Model_static_…
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn dynamic(self, dynamic: bool) -> Self {
        self.with(|settings| settings.dynamic = dynamic)
    }

    /// The folder of all caches. Without it the environment variable `RACL_CACHE_HOME`, else `.racl_cache` below the
    /// working directory. It is made when something is stored.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::cache::CompileCache;
    ///
    /// let cache = CompileCache::builder("Model").cache_dir("/var/cache/model").build()?;
    /// assert_eq!(cache.root(), std::path::Path::new("/var/cache/model")); // made when something is stored
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn cache_dir(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = Some(root.into());
        self
    }

    /// Number of processes that work together. Without it the environment variable `WORLD_SIZE`, unless it is empty,
    /// else 1: then there is no folder for the rank.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::cache::CompileCache;
    ///
    /// // world8global_rank3_tp_rank1_pp_rank0
    /// let cache = CompileCache::builder("Model")
    ///     .world_size(8)
    ///     .global_rank(3)
    ///     .tp_rank(1)
    ///     .pp_rank(0)
    ///     .build()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn world_size(mut self, size: usize) -> Self {
        self.world_size = Some(size);
        self
    }

    /// Number of this process among them. Without it the environment variable `RANK`, when there are several; an
    /// empty one is none.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::cache::CompileCache;
    ///
    /// let refused = CompileCache::builder("Model").world_size(2).global_rank(2).build().unwrap_err();
    /// assert!(refused.to_string().contains("global rank 2 in a world of 2"));
    /// ```
    pub fn global_rank(mut self, rank: usize) -> Self {
        self.global_rank = Some(rank);
        self
    }

    /// Rank within the group that shares the tensors of a layer: part of the folder, as in
    /// [`CacheBuilder::world_size`].
    pub fn tp_rank(self, rank: usize) -> Self {
        self.with(|settings| settings.tp_rank = Some(rank))
    }

    /// Rank within the group that shares the layers: part of the folder, as in [`CacheBuilder::world_size`].
    pub fn pp_rank(self, rank: usize) -> Self {
        self.with(|settings| settings.pp_rank = Some(rank))
    }

    /// Also stores what operators offer to be stored, such as tuned parameters. The operators of this crate offer
    /// nothing yet, which the log says once; the option is part of the key, so that plans with and without are kept
    /// apart.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::cache::CompileCache;
    ///
    /// let cache = CompileCache::builder("Model").op_cache(true).build()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "ge_cache")]
    pub fn op_cache(self, on: bool) -> Self {
        self.with(|settings| settings.op_cache = on)
    }

    /// Rewrites operators while plans are built.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::cache::CompileCache;
    /// use racl::plan::Decompositions;
    ///
    /// // x / sqrt(x); the version changes with what the closure does.
    /// let table = Decompositions::new().with("aclnnSqrt", 1, |g, _, operands| {
    ///     let below = g.rsqrt(operands[0])?;
    ///     g.mul(operands[0], below)
    /// })?;
    /// let cache = CompileCache::builder("Model").decompositions(&table).build()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "custom_decompositions")]
    pub fn decompositions(self, table: &Decompositions) -> Self {
        self.with(|settings| settings.decompositions = table.clone())
    }

    /// What identifies the code that builds the plans, in place of the build id of the running executable. Who gives
    /// one changes it with the code. Version, features and headers of this crate stay in the key; its commit, which a
    /// build id implies, does not: a salt with [`BUILD`](crate::BUILD)`.commit` has it.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::cache::CompileCache;
    ///
    /// let cache = CompileCache::builder("Model").salt(concat!("decoder 7, ", env!("CARGO_PKG_VERSION"))).build()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn salt(self, salt: impl Into<String>) -> Self {
        self.with(|settings| settings.salt = Some(salt.into()))
    }

    /// Makes it an error when a plan does not come from the cache and cannot go there: a second trace of a function,
    /// whose entry stays, and whatever is [`Status::Uncached`](super::Status::Uncached), which is built before the
    /// error is known. Without it both are warnings.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::HostFunction;
    /// use racl::cache::CompileCache;
    /// use racl::{Acl, ErrorKind};
    ///
    /// # let folder = std::env::temp_dir().join(format!("racl-doc-strict-{}", std::process::id()));
    /// let device = Acl::mock()?.device(0)?;
    /// let cache = CompileCache::builder("Model").cache_dir(&folder).strict(true).build()?;
    /// // No other start could find a closure without a name again.
    /// let refused = cache.func("log").compile(&device, |g| g.host_function(&HostFunction::unnamed(|_| {})));
    /// assert_eq!(refused.unwrap_err().kind(), ErrorKind::File);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn strict(self, on: bool) -> Self {
        self.with(|settings| settings.strict = on)
    }

    /// Builds also when there is an entry, and compares with what it gives, and reads back what is stored: for tests,
    /// and to find out whether a salt is good enough. Operators with their attributes, streams, events, the order of
    /// the work and the plan of the memory are compared. Without it the environment variable `RACL_CACHE_VERIFY`: 1
    /// is on; 0, nothing and no such variable are off.
    ///
    /// An entry that gives another plan than the closure is replaced, with a warning that names the first operator
    /// that differs; [`Status::Rebuilt`](super::Status::Rebuilt) has the text.
    pub fn verify(mut self, on: bool) -> Self {
        self.verify = Some(on);
        self
    }

    /// How long to wait for another process that builds the same plan, before building without storing; two minutes
    /// without it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use racl::cache::CompileCache;
    ///
    /// let cache = CompileCache::builder("Model").lock_timeout(Duration::from_secs(600)).build()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn lock_timeout(self, timeout: Duration) -> Self {
        self.with(|settings| settings.lock_timeout = timeout)
    }

    /// The cache. Nothing happens on disk before the first plan is compiled.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a name that is no name of a folder, an
    /// empty path, a rank that the world does not have or that nobody gave, and environment variables with other values
    /// than theirs.
    pub fn build(self) -> Result<CompileCache> {
        let Self { mut settings, root, world_size, global_rank, verify } = self;
        check_name("cache", &settings.name)?;
        settings.options.check()?;
        let world = match world_size {
            Some(size) => size,
            None => number_in("WORLD_SIZE", env::var_os("WORLD_SIZE"))?.unwrap_or(1),
        };
        let rank = match global_rank {
            None if world > 1 => number_in("RANK", env::var_os("RANK"))?.ok_or_else(|| {
                Error::invalid(format!("a world of {world} needs the rank of this process: global_rank() or RANK"))
            })?,
            given => given.unwrap_or(0),
        };
        if world == 0 {
            return Err(Error::invalid("a world of no process"));
        }
        for (what, rank) in [("global", Some(rank)), ("tp", settings.tp_rank), ("pp", settings.pp_rank)] {
            if let Some(rank) = rank.filter(|rank| *rank >= world) {
                return Err(Error::invalid(format!("{what} rank {rank} in a world of {world}")));
            }
        }
        (settings.world_size, settings.global_rank) = (world, rank);
        settings.verify = verify.map_or_else(verify_in_environment, Ok)?;
        let root = root.unwrap_or_else(default_root);
        settings.root = absolute(root)?;
        if settings.op_cache {
            say!(Info, "compile cache: op_cache is on, and no operator of this version offers anything to store");
        }
        Ok(CompileCache(Arc::new(Inner { settings, traces: Traces::default() })))
    }
}

/// The folder, also when the process changes its own later. Without a working directory it stays as it is: a cache that
/// cannot be used ends no program.
fn absolute(root: PathBuf) -> Result<PathBuf> {
    if root.as_os_str().is_empty() {
        return Err(Error::invalid("a compile cache without a folder: the path is empty"));
    }
    match std::path::absolute(&root) {
        Ok(absolute) => Ok(absolute),
        Err(error) => {
            say!(Warn, "compile cache: {} stays relative, there is no working directory: {error}", shown(&root));
            Ok(root)
        }
    }
}

impl Settings {
    pub(super) fn shapes(&self) -> &'static str {
        if self.dynamic { "dynamic" } else { "static" }
    }

    /// The folder of this rank, if there are several.
    pub(super) fn rank_folder(&self) -> Option<String> {
        let world = (self.world_size > 1).then(|| format!("world{}global_rank{}", self.world_size, self.global_rank));
        let tp = self.tp_rank.map(|rank| format!("tp_rank{rank}"));
        let pp = self.pp_rank.map(|rank| format!("pp_rank{rank}"));
        let parts: Vec<String> = [world, tp, pp].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("_"))
    }
}

/// The folder of all caches where a builder names none: the environment variable `RACL_CACHE_HOME`, else
/// `.racl_cache`, which is below the working directory.
#[must_use]
pub fn default_root() -> PathBuf {
    let home = env::var_os(HOME).filter(|home| !home.is_empty());
    home.map_or_else(|| DEFAULT_ROOT.into(), PathBuf::from)
}

/// Whether a folder has the name of a rank's.
pub(super) fn is_rank_folder(name: &str) -> bool {
    fn number(text: &str) -> Option<&str> {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        (rest.len() < text.len()).then_some(rest)
    }
    let mut rest = name;
    if let Some(after) = rest.strip_prefix("world").and_then(number).and_then(|text| text.strip_prefix("global_rank"))
    {
        let Some(after) = number(after) else { return false };
        rest = after;
    }
    for prefix in ["tp_rank", "pp_rank"] {
        let text = if rest.len() < name.len() { rest.strip_prefix('_').unwrap_or(rest) } else { rest };
        if let Some(after) = text.strip_prefix(prefix).and_then(number) {
            rest = after;
        }
    }
    rest.is_empty() && !name.is_empty()
}

/// That a name can be that of a folder.
pub(super) fn check_name(what: &str, name: &str) -> Result<()> {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if name.is_empty() || name.len() > 100 || name.starts_with('.') || !name.bytes().all(good) {
        return Err(Error::invalid(format!(
            "{what} {name:?}: a name has 1 to 100 letters, digits, '_', '-' and '.', and begins with no '.'"
        )));
    }
    Ok(())
}

fn verify_in_environment() -> Result<bool> {
    match env::var_os(VERIFY) {
        None => Ok(false),
        Some(value) if value == "1" => Ok(true),
        Some(value) if value.is_empty() || value == "0" => Ok(false),
        Some(value) => Err(Error::invalid(format!("{VERIFY}={}: neither 0 nor 1", Quoted(&value)))),
    }
}

/// An empty variable is none: so scripts leave it out.
fn number_in(variable: &str, value: Option<OsString>) -> Result<Option<usize>> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    let number = value.to_str().and_then(|text| text.trim().parse().ok());
    number.map(Some).ok_or_else(|| Error::invalid(format!("{variable}={}: no number", Quoted(&value))))
}

struct Quoted<'a>(&'a std::ffi::OsStr);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_has_a_folder_and_a_single_process_has_none() {
        let folder = |world, rank, tp: Option<usize>, pp: Option<usize>| {
            let mut builder = CacheBuilder::new("m").world_size(world).global_rank(rank).cache_dir("/nowhere");
            (builder.settings.tp_rank, builder.settings.pp_rank) = (tp, pp);
            builder.build().map(|cache| cache.0.settings.rank_folder())
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(folder(1, 0, None, None).unwrap(), None);
        assert_eq!(folder(2, 1, None, None).unwrap(), text("world2global_rank1"));
        assert_eq!(folder(8, 5, Some(1), Some(2)).unwrap(), text("world8global_rank5_tp_rank1_pp_rank2"));
        assert_eq!(folder(8, 5, None, Some(2)).unwrap(), text("world8global_rank5_pp_rank2"));
        assert_eq!(folder(1, 0, Some(0), None).unwrap(), text("tp_rank0"));
        for (world, rank, tp, pp) in
            [(0, 0, None, None), (2, 2, None, None), (2, 0, Some(2), None), (4, 0, None, Some(9))]
        {
            assert!(folder(world, rank, tp, pp).is_err());
        }
    }

    #[test]
    fn folders_of_ranks_are_known_by_their_names() {
        for name in [
            "world2global_rank1",
            "world8global_rank5_tp_rank1_pp_rank2",
            "tp_rank0",
            "tp_rank0_pp_rank1",
            "pp_rank3",
        ] {
            assert!(is_rank_folder(name), "{name}");
        }
        for name in ["", "decode", "world2", "world2global_rank", "tp_rank", "tp_rank0_x", "world2global_rank1_"] {
            assert!(!is_rank_folder(name), "{name}");
        }
    }

    #[test]
    fn an_empty_variable_counts_as_none() {
        let number = |text: &str| number_in("WORLD_SIZE", Some(text.into()));
        assert_eq!(number_in("WORLD_SIZE", None).unwrap(), None);
        assert_eq!(number("").unwrap(), None);
        assert_eq!(number("8").unwrap(), Some(8));
        assert!(number("x").unwrap_err().to_string().contains("WORLD_SIZE=\"x\": no number"));
    }

    #[test]
    fn names_that_are_no_folders_are_refused() {
        for name in ["", ".", "..", ".x", "a/b", "a b", "ä", &"x".repeat(101)] {
            assert!(CacheBuilder::new(name).build().is_err(), "{name:?}");
        }
    }
}
