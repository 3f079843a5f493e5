//! The compile cache: plans that were built, checked and planned once are loaded from disk at the next start.
//!
//! See [`CompileCache`].

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::context::Context;
use crate::error::Result;
use crate::plan::{Builder, Plan, Registry};

mod closure;
mod compile;
mod entry;
mod facts;
mod folder;
mod inspect;
mod key;
mod lock;
mod nearest;
mod parts;
mod removal;
mod salt;
mod settings;
mod signature;
mod store;
mod traces;

#[doc(hidden)]
pub use crate::text::printable;
pub use inspect::{Entry, Verdict, entries, readable_cache};
pub use settings::{CacheBuilder, default_root};
pub use signature::Signature;

/// Plans on disk.
///
/// What is stored is the checked recipe of a plan: operators, streams, events, memory and constants. A start that
/// finds it skips building, which is the user's code and this crate's checks of it. The captured graph itself cannot
/// be stored, since the runtime has no way to; each process captures it anew.
///
/// A cache has a name, and its functions are its plans, such as one for each phase of a model. Each is stored in
/// `<root>/<name>_<static|dynamic>_<hash>/[world<W>global_rank<R>][_tp_rank<T>][_pp_rank<P>]/<function>/`, as
/// `recipe.bin` with a `meta.json` for people. Nothing happens on disk before the first [`Func::compile`]. Deleting
/// any of it at any time is safe.
///
/// # When an entry is used
///
/// The hash in the name of the folder covers everything that is known without building. When one of these differs,
/// another entry is used, and the log (info) says which part it was:
///
/// | part | changes with |
/// |---|---|
/// | `format`, `crate`, `machine` | the version of this crate and of its files, the kind of processor |
/// | `features`, `headers` | what [`BUILD`](crate::BUILD) says of them; its commit is implied by the build id |
/// | `name`, `shapes` | the name of the cache, [`CacheBuilder::dynamic`] |
/// | `options`, `streams of dynamic plans` | [`CacheBuilder::options`], and the environment variable they look at |
/// | `operator cache` | [`CacheBuilder::op_cache`] |
/// | `decompositions` | names and versions of [`CacheBuilder::decompositions`] |
/// | `closure` | which closure or function builds: its type, as the compiler names and numbers it |
/// | `registry` | [`Func::registry`]: kinds, names, versions, attributes and needed cores |
/// | `inputs` | the [`Signature`]: names, types, ranks, classes, fixed dimensions, symbols with their bounds |
/// | `part "…"` | [`Func::part`]: what else the closure depends on |
/// | `library` | the mock's version, or the build id of the library; its interface version |
/// | `version of the toolkit`, `version of the runtime` | what the library tells of these packages |
/// | `version of the operators`, `version of the kernels` | the same |
/// | `version of the driver` | the same |
/// | `chip`, `cores`, `core limits` | the device, and what the process may use of it |
/// | `salt` | the build id of the executable, else its hash; or [`CacheBuilder::salt`] |
///
/// Of several other entries the log compares with the one that differs least, among those of the same function and
/// rank.
///
/// # What the key cannot see
///
/// The values that a closure captures: a number of layers from a file, a constant that is computed. They belong into
/// a [`Func::part`], with everything else that the plan depends on and that is not in the code. A closure that
/// captures something, without any part, is a warning, once: [`Func::ignore_captures`] says that the plan depends on
/// none of it. [`Func::inputs`] is no such word, since plans with the same inputs may differ.
///
/// ```
/// # use racl::op::DataType::F32;
/// # use racl::plan::{Builder, Input};
/// # use racl::cache::CompileCache;
/// # use racl::{Acl, cache::Status};
/// # let folder = std::env::temp_dir().join(format!("racl-doc-part-{}", std::process::id()));
/// # let device = Acl::mock()?.device(0)?;
/// # let cache = CompileCache::builder("Model").cache_dir(&folder).build()?;
/// let compile = |layers: usize, scale: f32| {
///     let func = cache.func("decode").part("layers", layers).part("scale", scale);
///     func.compile(&device, |g: &Builder| {
///         let mut x = g.input("x", [4], F32, Input::Copied)?;
///         for _ in 0..layers {
///             x = g.muls(x, scale)?;
///         }
///         g.output("y", x)
///     })
/// };
/// assert_eq!(compile(2, 0.5)?.operators(), 2);
/// assert_eq!(compile(3, 0.5)?.operators(), 3); // another entry, not the first one's plan
/// assert_eq!(cache.status("decode"), Some(Status::Miss));
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), racl::Error>(())
/// ```
///
/// Code in another shared library that the closure calls: the build id is that of the file that the closure is in. A
/// part with the version of that library, or a salt, covers it.
///
/// A closure behind a pointer has the type of the pointer, so that `&dyn Fn`, `Box<dyn FnOnce>` and `fn` pointers are
/// one closure whatever they point to. With a [`CacheBuilder::salt`], which stands for the build id, a change inside
/// of a closure is not seen either; and the compiler may number the same closure anew when it, or a version that the
/// crate depends on, is another, which costs a build.
///
/// [`CacheBuilder::verify`], or `RACL_CACHE_VERIFY=1` in the environment, builds all the same and names the first
/// operator that differs.
///
/// # One trace for each entry
///
/// A function has one plan. When it is compiled for other inputs than before in the same process, its entry is
/// removed with one warning, and the function goes on without the cache; [`CacheBuilder::strict`] makes that an
/// error. Other sizes for a symbol are no other inputs. Without a [`Signature`], by another closure, or by one that
/// captures what no part tells, the second compilation of a function builds again, to find out.
///
/// # Several processes
///
/// Ranks work in folders of their own. Of processes that want the same entry one builds, the others wait for it, up
/// to [`CacheBuilder::lock_timeout`]. When it turns out that the one can store nothing, because of the plan or of the
/// disk, the others build at once beside each other, and say why. Files are written beside their place and renamed,
/// so that no one ever sees half of one, and a process that dies leaves nothing that the next one does not repair.
///
/// The lock ends with the compilation, also when a child was forked meanwhile, which can neither store nor unlock.
/// Only when the process dies within the compilation, a child that it has forked and that started no other program
/// keeps the lock until it ends too.
///
/// # Trust
///
/// Files have the mode 0600, folders 0700, whatever the user's mask is. Before anything is loaded, owner and mode of
/// the file and of its folders up to the root are checked; below the root no symbolic link is followed. Any bytes are
/// safe to load: broken ones are cleared with a warning and built again. Whatever else is wrong (a folder of somebody
/// else's, one that cannot be written, a full disk) is a warning, and the plan is built and used without the cache.
/// Only files that a cache has written are ever replaced or removed, after a look at what they hold: a stored plan is
/// known by its first bytes, the readable file by the key, and each by the other when it is damaged.
///
/// # Examples
///
/// ```
/// use racl::cache::{Signature, Status};
/// use racl::op::DataType::F32;
/// use racl::plan::{Builder, Input};
/// use racl::cache::CompileCache;
/// use racl::Acl;
///
/// # let folder = std::env::temp_dir().join(format!("racl-doc-{}", std::process::id()));
/// let device = Acl::mock()?.device(0)?;
/// let mut inputs = Signature::new();
/// inputs.input("x", [2, 2], F32, Input::Copied)?;
/// let decode = |g: &Builder| {
///     let x = g.input("x", [2, 2], F32, Input::Copied)?;
///     let y = g.matmul(x, x)?;
///     g.output("y", y)
/// };
///
/// let cache = CompileCache::builder("Model").cache_dir(&folder).build()?;
/// let plan = cache.func("decode").inputs(&inputs).compile(&device, decode)?;
/// assert_eq!(cache.status("decode"), Some(Status::Miss));
///
/// // The next start.
/// let cache = CompileCache::builder("Model").cache_dir(&folder).build()?;
/// let plan = cache.func("decode").inputs(&inputs).compile(&device, decode)?;
/// assert_eq!(cache.status("decode"), Some(Status::Hit));
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Clone)]
#[doc(alias = "cache_compile")]
#[doc(alias = "compile_cache")]
pub struct CompileCache(Arc<Inner>);

struct Inner {
    settings: settings::Settings,
    traces: traces::Traces,
}

impl CompileCache {
    /// Sets up a cache: the name of a model, by which its folders are called.
    pub fn builder(name: &str) -> CacheBuilder {
        CacheBuilder::new(name)
    }

    /// One plan of the cache, by name.
    pub fn func(&self, name: &str) -> Func {
        Func {
            cache: self.clone(),
            name: name.to_owned(),
            inputs: None,
            registry: None,
            parts: Vec::new(),
            ignores_captures: false,
            unstored: None,
        }
    }

    /// The folder of all caches.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.0.settings.root
    }

    /// What the last compilation of a function was, of several at once the one that ended last; `None` before the
    /// first.
    #[must_use]
    pub fn status(&self, function: &str) -> Option<Status> {
        self.0.traces.status(function)
    }
}

impl fmt::Debug for CompileCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = &self.0.settings;
        f.debug_struct("CompileCache")
            .field("name", &settings.name)
            .field("root", &settings.root)
            .finish_non_exhaustive()
    }
}

/// One plan of a [`CompileCache`]: what it depends on, then [`Func::compile`].
///
/// # Examples
///
/// ```
/// use racl::cache::{Signature, Status};
/// use racl::op::DataType::F32;
/// use racl::plan::{Foreign, Input, Registry};
/// use racl::cache::CompileCache;
/// use racl::Acl;
///
/// # let folder = std::env::temp_dir().join(format!("racl-doc-func-{}", std::process::id()));
/// let device = Acl::mock()?.device(0)?;
/// let mut inputs = Signature::new();
/// inputs.input("x", [8], F32, Input::Copied)?;
/// let kernel = Foreign::new("mine.scale", 1, |launch| {
///     // aclrtLaunchKernel and its like
///     assert_eq!(launch.bytes(0), 32);
///     Ok(())
/// });
/// let heads = 4; // read from a file, say
///
/// let cache = CompileCache::builder("Model").cache_dir(&folder).build()?;
/// let func = cache.func("decode").inputs(&inputs).registry(&Registry::new().foreign(&kernel)).part("heads", heads);
/// let plan = func.compile(&device, |g| {
///     let x = g.input("x", [8], F32, Input::Copied)?;
///     let y = g.empty([8], F32)?;
///     for _ in 0..heads {
///         g.foreign(&kernel, &[x], &[y])?;
///     }
///     g.output("y", y)
/// })?;
/// assert_eq!((plan.operators(), func.status()), (4, Some(Status::Miss)));
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Func {
    cache: CompileCache,
    name: String,
    inputs: Option<Signature>,
    registry: Option<Registry>,
    parts: Vec<(String, String)>,
    ignores_captures: bool,
    /// Why the plan is built and not stored.
    unstored: Option<String>,
}

impl Func {
    /// States the inputs of the plan: part of the key, and checked against the plan.
    pub fn inputs(mut self, inputs: &Signature) -> Self {
        self.inputs = Some(inputs.clone());
        self
    }

    /// Where a stored plan finds its foreign operators and host functions again; what they are is part of the key. A
    /// plan that needs others is not stored.
    pub fn registry(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// Something else that the closure depends on, such as a number of layers: part of the key. Plans with different
    /// parts are kept side by side. A second value for a name is an error of [`Func::compile`].
    pub fn part(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.parts.push((name.to_owned(), value.to_string()));
        self
    }

    /// Says that nothing which the closure captures changes the plan, such as a counter or a channel: no warning, and
    /// no second build to find out. When it is not true, a start with other values loads the plan of the first ones.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::Input;
    /// use racl::cache::CompileCache;
    /// use racl::Acl;
    ///
    /// # let folder = std::env::temp_dir().join(format!("racl-doc-captures-{}", std::process::id()));
    /// let device = Acl::mock()?.device(0)?;
    /// let cache = CompileCache::builder("Model").cache_dir(&folder).build()?;
    /// let mut builds = 0;
    /// cache.func("decode").ignore_captures().compile(&device, |g| {
    ///     builds += 1;
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     let y = g.tanh(x)?;
    ///     g.output("y", y)
    /// })?;
    /// assert_eq!(builds, 1);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn ignore_captures(mut self) -> Self {
        self.ignores_captures = true;
        self
    }

    /// The plan is built, and neither looked for nor stored: for code that no key tells from other code, which bindings
    /// to other languages meet. [`Status::Uncached`] has the reason, which is an error in a
    /// [strict](CacheBuilder::strict) cache.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::cache::{CompileCache, Status};
    /// use racl::op::DataType::F32;
    /// use racl::plan::Input;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let cache = CompileCache::builder("doc").cache_dir(folder.path()).build()?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let func = cache.func("abs").unstored("a script without a version");
    /// let plan = func.compile(&device, |g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     g.output("y", g.abs(x)?)
    /// })?;
    /// let why = "a script without a version".to_owned();
    /// assert_eq!((plan.operators(), func.status()), (1, Some(Status::Uncached(why))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unstored(mut self, why: impl Into<String>) -> Self {
        self.unstored = Some(why.into());
        self
    }

    /// The plan for the device of `context`: from disk, else built by `work`, checked and stored.
    /// [`CompileCache::status`] says which. `work` is not called when there is an entry, so it hands out nothing:
    /// inputs, outputs and gates ([`Plan::external`](crate::plan::Plan::external)) are found by name.
    ///
    /// # Errors
    ///
    /// Those of `work`, and of [`Plan::build`]. [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for
    /// a name that is no name of a folder, inputs of the plan that are not those stated, a symbol in a static cache,
    /// a mistake in the registry, a part that is given twice, and in strict mode a second trace. What is wrong with
    /// files is no error, but in strict mode, where a plan that is not cached is
    /// [`ErrorKind::File`](crate::ErrorKind::File).
    #[doc(alias = "cache_compile")]
    pub fn compile<F: FnOnce(&Builder) -> Result<()>>(&self, context: impl AsRef<Context>, work: F) -> Result<Plan> {
        let mut work = Some(work);
        let work: &mut compile::Work<'_> = &mut |g| match work.take() {
            Some(work) => work(g),
            None => Err(compile::asked_twice()),
        };
        self.run(context.as_ref(), &closure::Closure::of::<F>(), work).0
    }

    /// What the last compilation of the function was, of several at once the one that ended last; `None` before the
    /// first.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        self.cache.status(&self.name)
    }

    /// As [`Func::compile`], for code that is no closure of Rust, as bindings to other languages have it: what a key
    /// needs to know of it is told. Also gives what this compilation was, whatever others of the function are meanwhile;
    /// nothing where it was refused before anything was looked for.
    ///
    /// # Errors
    ///
    /// The plan's are those of [`Func::compile`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::cache::{CompileCache, Origin, Status};
    /// use racl::op::DataType::F32;
    /// use racl::plan::Input;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let cache = CompileCache::builder("doc").cache_dir(folder.path()).build()?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let script = Origin { code: std::ptr::null(), identity: "net.txt 1", captured: 0 };
    /// let (plan, status) = cache.func("abs").compile_from(&device, script, &mut |g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     g.output("y", g.abs(x)?)
    /// });
    /// assert_eq!((plan?.operators(), status), (1, Some(Status::Miss)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compile_from(
        &self,
        context: impl AsRef<Context>,
        origin: Origin<'_>,
        work: &mut dyn FnMut(&Builder) -> Result<()>,
    ) -> (Result<Plan>, Option<Status>) {
        self.run(context.as_ref(), &closure::Closure::told(origin), work)
    }
}

/// What a key is told of code that builds a plan, where that is no closure of Rust.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// An address of it. The file that it was loaded from is a part of the key, as the program's own is; null for code
    /// that is in no file.
    pub code: *const (),
    /// What tells it from other code of the same file, in every process.
    pub identity: &'a str,
    /// How many bytes it is given beside the builder, of which the key knows nothing. Where it is any, and
    /// [`Func::part`] tells of none, a warning says so, as for a closure that captures.
    pub captured: usize,
}

/// What a compilation was.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// Loaded; nothing was built, unless to compare.
    Hit,
    /// Built and stored; there was no entry.
    Miss,
    /// Built and stored in place of an entry that could not be used.
    Rebuilt(String),
    /// Built; the function has more than one trace, so that it has no entry any more.
    Abandoned(String),
    /// Built; nothing could be stored.
    Uncached(String),
    /// No plan: the compilation gave this error.
    Failed(String),
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hit => f.write_str("hit"),
            Self::Miss => f.write_str("miss"),
            Self::Rebuilt(why) => write!(f, "rebuilt: {why}"),
            Self::Abandoned(why) => write!(f, "abandoned: {why}"),
            Self::Uncached(why) => write!(f, "not cached: {why}"),
            Self::Failed(why) => write!(f, "failed: {why}"),
        }
    }
}

static STEPS: OnceLock<fn(&str, &str)> = OnceLock::new();

/// Calls `observer` at each step of writing, with the file and the step: for tests that end the process there.
#[doc(hidden)]
pub fn observe_steps(observer: fn(&str, &str)) {
    // The first observer stays.
    let _ = STEPS.set(observer);
}

fn step(file: &str, what: &str) {
    if let Some(observer) = STEPS.get() {
        observer(file, what);
    }
}
