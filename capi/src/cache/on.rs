//! With the feature.

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use racl::cache::{CompileCache, Origin, Status};
use racl::plan::{Builder, Options, Plan, Registry};
use racl::sys::CodeFiles;

use super::{
    RACL_CACHE_ABANDONED, RACL_CACHE_FAILED, RACL_CACHE_HIT, RACL_CACHE_MISS, RACL_CACHE_NONE, RACL_CACHE_REBUILT,
    RACL_CACHE_STATIC, RACL_CACHE_STRICT, RACL_CACHE_UNCACHED, RACL_CACHE_VERIFY, RACL_COMPILE_IGNORE_USER, Sized_,
    racl_cache_options, racl_cache_stats, racl_compile,
};
use crate::arguments::{self, list, null, sized, text};
use crate::builder;
use crate::failure::{Failure, Result, discard, heard};
use crate::handles::{alone, end, get, new};
use crate::objects::{racl_builder, racl_cache, racl_context, racl_foreign, racl_host_function, racl_registry};
use crate::recording::Recording;
use crate::status;

pub(crate) struct Caches {
    cache: CompileCache,
    /// The caller says what identifies the code that builds plans.
    is_salted: bool,
    counted: Mutex<Counted>,
}

#[derive(Default)]
struct Counted {
    stats: racl_cache_stats,
    /// What the last compilation of each function was, RACL_CACHE_..., and why.
    last: HashMap<String, (i32, String)>,
}

impl Caches {
    /// Counts one compilation. One that was refused at once is none of the function. racl knows nothing of what the
    /// callback said.
    fn count(&self, function: &str, status: Option<Status>, said: Option<&Failure>) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(status) = status else {
            counted.stats.failed += 1;
            return;
        };
        let (number, why) = told_status(status);
        let stats = &mut counted.stats;
        let counter = match number {
            RACL_CACHE_HIT => &mut stats.hits,
            RACL_CACHE_MISS => &mut stats.misses,
            RACL_CACHE_REBUILT => &mut stats.rebuilt,
            RACL_CACHE_FAILED => &mut stats.failed,
            _ => &mut stats.uncached,
        };
        *counter += 1;
        let why = said.map_or(why, |failure| failure.message().to_owned());
        counted.last.insert(function.to_owned(), (number, why));
    }
}

fn told_status(status: Status) -> (i32, String) {
    match status {
        Status::Hit => (RACL_CACHE_HIT, String::new()),
        Status::Miss => (RACL_CACHE_MISS, String::new()),
        Status::Rebuilt(why) => (RACL_CACHE_REBUILT, why),
        Status::Abandoned(why) => (RACL_CACHE_ABANDONED, why),
        Status::Uncached(why) => (RACL_CACHE_UNCACHED, why),
        Status::Failed(why) => (RACL_CACHE_FAILED, why),
        other => (RACL_CACHE_UNCACHED, other.to_string()),
    }
}

pub(crate) type Registries = Registry;

/// A registry, or an empty one for NULL.
pub(crate) fn registry(registry: *const racl_registry) -> Result<Registry> {
    if registry.is_null() {
        return Ok(Registry::new());
    }
    Ok(alone(registry)?.clone())
}

/// What a struct says.
///
/// # Safety
///
/// As [`sized`].
unsafe fn told<T: Sized_>(place: *const T) -> Result<T> {
    // SAFETY: as here.
    unsafe { sized(place) }?.ok_or_else(|| null(T::WHAT))
}

/// # Safety
///
/// What the struct names is there.
pub(super) unsafe fn open(options: *const racl_cache_options) -> Result<Caches> {
    // SAFETY: as here.
    let options = unsafe { told(options) }?;
    // SAFETY: by the header.
    let mut builder = CompileCache::builder(unsafe { text(options.name, "the name of a cache") }?);
    if !options.folder.is_null() {
        // SAFETY: by the header.
        builder = builder.cache_dir(unsafe { arguments::path(options.folder, "the folder of a cache") }?);
    }
    if !options.salt.is_null() {
        // SAFETY: by the header.
        builder = builder.salt(unsafe { text(options.salt, "the salt of a cache") }?);
    }
    let known = RACL_CACHE_STATIC | RACL_CACHE_STRICT | RACL_CACHE_VERIFY;
    if options.flags & !known != 0 {
        return Err(Failure::invalid(format!("unknown flags {:#x} of a cache", options.flags)));
    }
    // SAFETY: by the header.
    builder = builder.options(unsafe { builder::options(options.plans) }?);
    builder = builder.dynamic(options.flags & RACL_CACHE_STATIC == 0).strict(options.flags & RACL_CACHE_STRICT != 0);
    if options.flags & RACL_CACHE_VERIFY != 0 {
        builder = builder.verify(true);
    }
    if options.world_size != 0 {
        builder = builder.world_size(options.world_size as usize).global_rank(options.global_rank as usize);
    }
    if options.lock_timeout != 0 {
        builder = builder.lock_timeout(Duration::from_nanos(options.lock_timeout));
    }
    Ok(Caches { cache: builder.build()?, is_salted: !options.salt.is_null(), counted: Mutex::default() })
}

pub(super) fn folder(cache: *const racl_cache) -> Result<Vec<u8>> {
    Ok(get(cache)?.cache.root().as_os_str().as_encoded_bytes().to_owned())
}

/// # Safety
///
/// What the struct names is there.
pub(super) unsafe fn compile(
    cache: *const racl_cache,
    context: *const racl_context,
    what: *const racl_compile,
) -> Result<Plan> {
    let (cache, context) = (get(cache)?, get(context)?);
    // SAFETY: as here.
    let what = unsafe { told(what) }?;
    // SAFETY: by the header.
    let name = unsafe { text(what.function, "the name of a function") }?;
    let build = what.build.ok_or_else(|| null("what builds a plan"))?;
    if what.flags & !RACL_COMPILE_IGNORE_USER != 0 {
        return Err(Failure::invalid(format!("unknown flags {:#x} of a compilation", what.flags)));
    }
    let mut function = cache.cache.func(name).registry(&registry(what.registry)?);
    // SAFETY: by the header.
    for part in unsafe { list(what.parts, what.part_count, "parts") }? {
        // SAFETY: by the header.
        let name = unsafe { text(part.name, "the name of a part") }?;
        // SAFETY: by the header.
        function = function.part(name, unsafe { text(part.value, "the value of a part") }?);
    }
    if what.flags & RACL_COMPILE_IGNORE_USER != 0 {
        function = function.ignore_captures();
    }
    let code = build as *const ();
    let offset = offset(code);
    let identity = match offset {
        Some(offset) => format!("a function of C, {offset:#x} bytes into its file"),
        None => "a function of C in no file".to_owned(),
    };
    let mut captured = if what.user.is_null() { 0 } else { size_of_val(&what.user) };
    if let Some(why) = unknown(&cache, &what, offset) {
        function = function.unstored(why);
        captured = 0;
    }
    // Whose memory it is in says nothing of code that no loader put there.
    let origin =
        Origin { code: if offset.is_some() { code } else { std::ptr::null() }, identity: &identity, captured };
    let mut failure = None;
    let (plan, status) = function.compile_from(&*context, origin, &mut |g| {
        // SAFETY: by the header.
        lend(g, |builder| unsafe { build(what.user, builder) }).or_else(|why| {
            failure = Some(why);
            // Any error ends the compilation; the failure is what the caller hears of.
            g.symbol("", 1..=1).map(drop)
        })
    });
    cache.count(name, status, failure.as_ref());
    match (failure, plan) {
        (Some(failure), _) => Err(failure),
        (None, plan) => Ok(plan?),
    }
}

/// How far into its file a function is, of those that a loader put into memory: what is made while a program runs, as
/// closures of libffi are, may lie in a mapping of a file that says nothing of it.
fn offset(code: *const ()) -> Option<usize> {
    #[repr(C)]
    struct DlInfo([*const c_void; 4]);
    unsafe extern "C" {
        fn dladdr(address: *const c_void, info: *mut DlInfo) -> c_int;
    }
    let mut info = DlInfo([std::ptr::null(); 4]);
    // SAFETY: any address may be asked for; the place has the size of what is written.
    let is_loaded = unsafe { dladdr(code.cast(), &raw mut info) } != 0;
    is_loaded.then(|| CodeFiles::read().ok()?.offset(code.addr())).flatten()
}

/// Why a plan is not stored: what the key does not tell from something else, and nobody said anything of.
fn unknown(cache: &Caches, what: &racl_compile, offset: Option<usize>) -> Option<&'static str> {
    if what.part_count != 0 {
        return None;
    }
    if offset.is_none() && !cache.is_salted {
        return Some(
            "its function is in no file, as those of scripts are, so that nothing tells whether it changed: the salt \
             of racl_cache_options says so, or parts do",
        );
    }
    let is_told = what.user.is_null() || what.flags & RACL_COMPILE_IGNORE_USER != 0;
    (!is_told).then_some(
        "its function is given a `user`, of which the key knows nothing: parts tell what the plan depends on, or \
         RACL_COMPILE_IGNORE_USER that it is none of that",
    )
}

/// Hands a builder of racl to a function of C, and takes it back.
fn lend(g: &Builder, work: impl FnOnce(*mut racl_builder) -> i32) -> Result<()> {
    let own = Plan::builder(Options::new());
    own.swap(g);
    let mut recording = Recording::new(own);
    recording.is_lent = true;
    let handle = new::<racl_builder>(recording)?;
    // A panic must not leave the handle behind.
    let (done, said) = heard(|| work(handle));
    let code = done.unwrap_or_else(|payload| {
        discard(payload);
        status::RACL_CALLBACK_PANICKED
    });
    let failure = (code != status::RACL_OK)
        .then(|| said.unwrap_or_else(|| Failure::own(code, format!("the function that builds a plan gave {code}"))));
    let mut back = None;
    let ended = end(handle, |recording| {
        back = Some(recording);
        Ok(())
    });
    if let Some(recording) = back {
        recording.builder.swap(g);
    }
    // What the function says tells more than that another thread uses what it was lent.
    failure.map_or(ended, Err)
}

/// # Safety
///
/// `function` is null or a text.
pub(super) unsafe fn status(cache: *const racl_cache, function: *const c_char) -> Result<(i32, String)> {
    let cache = get(cache)?;
    // SAFETY: as here.
    let function = unsafe { text(function, "the name of a function") }?;
    let counted = cache.counted.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(counted.last.get(function).cloned().unwrap_or((RACL_CACHE_NONE, String::new())))
}

pub(super) fn counted(cache: *const racl_cache) -> Result<racl_cache_stats> {
    let cache = get(cache)?;
    let counted = cache.counted.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(counted.stats)
}

pub(super) fn new_registry() -> Result<Registries> {
    Ok(Registries::default())
}

fn add(registry: *const racl_registry, more: impl FnOnce(Registry) -> Registry) -> Result<()> {
    let mut registry = alone(registry)?;
    let with = more(registry.clone());
    if with.len() == registry.len() {
        return Err(Failure::invalid("a function of this name is registered already"));
    }
    *registry = with;
    Ok(())
}

pub(super) fn add_host_function(registry: *const racl_registry, function: *const racl_host_function) -> Result<()> {
    let function = get(function)?;
    add(registry, |registry| registry.host_function(&function))
}

pub(super) fn add_foreign(registry: *const racl_registry, foreign: *const racl_foreign) -> Result<()> {
    let foreign = get(foreign)?;
    add(registry, |registry| registry.foreign(&foreign))
}
