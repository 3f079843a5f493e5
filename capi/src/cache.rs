//! The compile cache, and registries of code that stored plans find by name. Builds without the cache have the
//! functions too, which say so.

use std::ffi::{c_char, c_void};

use crate::arguments::{Out, Sized_, fill};
use crate::builder::racl_plan_options;
use crate::cancel::Uncancelled;
use crate::failure::guard;
use crate::handles::free;
use crate::objects::{
    racl_builder, racl_cache, racl_context, racl_foreign, racl_host_function, racl_plan, racl_registry,
};
use crate::results::{make, tell};

#[cfg(feature = "cache")]
#[path = "cache/on.rs"]
mod of;
#[cfg(not(feature = "cache"))]
#[path = "cache/off.rs"]
mod of;

pub(crate) use of::*;

/// Plans of sizes that are known (1); else dynamic ones. It is a part of the key.
pub const RACL_CACHE_STATIC: u32 = 1;
/// What stands in the way of caching is an error, instead of a plan that is not cached.
pub const RACL_CACHE_STRICT: u32 = 2;
/// Plans that were loaded are built as well, and compared.
pub const RACL_CACHE_VERIFY: u32 = 4;

/// How a cache is set up.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_cache_options {
    /// sizeof(racl_cache_options).
    pub size: usize,
    /// The name of a model, by which folders are called: letters, digits, '_', '-' and '.'.
    pub name: *const c_char,
    /// The folder of all caches; NULL for that of the environment variable RACL_CACHE_HOME, else ".racl_cache".
    pub folder: *const c_char,
    /// What identifies the code that builds plans; NULL for the files that the program and the callbacks came from. Plans
    /// of scripts need one, see racl_build_callback.
    pub salt: *const c_char,
    /// How plans are built, or NULL.
    pub plans: *const racl_plan_options,
    /// RACL_CACHE_... put together.
    pub flags: u32,
    /// How many processes work together; 0 for what the environment variable WORLD_SIZE says, else 1.
    pub world_size: u32,
    /// Which of them this one is, where world_size is not 0.
    pub global_rank: u32,
    /// Nanoseconds to wait for another process that builds the same plan; 0 for two minutes.
    pub lock_timeout: u64,
}

// SAFETY: integers and pointers alone, the first of them a size.
unsafe impl Sized_ for racl_cache_options {
    const WHAT: &'static str = "racl_cache_options";
    const ZERO: Self = Self {
        size: 0,
        name: std::ptr::null(),
        folder: std::ptr::null(),
        salt: std::ptr::null(),
        plans: std::ptr::null(),
        flags: 0,
        world_size: 0,
        global_rank: 0,
        lock_timeout: 0,
    };
}

/// A cache of plans on disk. RACL_NOT_SUPPORTED in a build without it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_cache_new(options: *const racl_cache_options, cache: *mut *mut racl_cache) -> i32 {
    let _uncancelled = Uncancelled::new();
    // SAFETY: by the header.
    let work = || unsafe { of::open(options) };
    // SAFETY: by the header.
    unsafe { make(cache, work) }
}

/// Gives the handle back; what is stored stays.
#[unsafe(no_mangle)]
pub extern "C" fn racl_cache_free(cache: *mut racl_cache) -> i32 {
    guard(|| free(cache))
}

/// Copies the folder of the caches to `text`, as racl_library_name() does with a name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_cache_folder(
    cache: *const racl_cache,
    text: *mut c_char,
    size: usize,
    needed: *mut usize,
) -> i32 {
    // SAFETY: by the header.
    unsafe { tell(text, size, needed, || of::folder(cache)) }
}

/// Records a plan: it is lent a builder, which ends with the call, and not before (RACL_BUSY). Another number than RACL_OK is what
/// racl_cache_compile() gives, with the last failure of this thread.
///
/// The key has the code of a function that the program or a library of it was loaded with. One that is made while the
/// program runs, as cffi and ctypes of Python make them of functions of scripts, has no such code, and nothing tells an
/// edited script from what it was: such a plan is built and not stored, unless the cache has a `salt` or the compilation
/// has parts, which change with the script. So is one whose function is given a `user`, without parts and without
/// RACL_COMPILE_IGNORE_USER. racl_cache_status() says RACL_CACHE_UNCACHED then, and why; with RACL_CACHE_STRICT that is an
/// error.
#[allow(non_camel_case_types)]
pub type racl_build_callback =
    Option<unsafe extern "C-unwind" fn(user: *mut c_void, builder: *mut racl_builder) -> i32>;

/// One thing that a plan depends on.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_part {
    /// What it is called.
    pub name: *const c_char,
    /// Its value, as text.
    pub value: *const c_char,
}

/// The program has told all that `user` says of the plan, or it says nothing.
pub const RACL_COMPILE_IGNORE_USER: u32 = 1;

/// What racl_cache_compile() compiles.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_compile {
    /// sizeof(racl_compile).
    pub size: usize,
    /// The name of the plan, one for each that the program has.
    pub function: *const c_char,
    /// Records the plan when it is not stored.
    pub build: racl_build_callback,
    /// What it is given.
    pub user: *mut c_void,
    /// Where a stored plan finds its foreign operators and host functions, or NULL.
    pub registry: *const racl_registry,
    /// What the plan depends on that the code alone does not say, such as sizes that were read from a file.
    pub parts: *const racl_part,
    /// How many.
    pub part_count: usize,
    /// RACL_COMPILE_... put together.
    pub flags: u32,
}

// SAFETY: integers and pointers alone, the first of them a size; a pointer to a function may be NULL.
unsafe impl Sized_ for racl_compile {
    const WHAT: &'static str = "racl_compile";
    const ZERO: Self = Self {
        size: 0,
        function: std::ptr::null(),
        build: None,
        user: std::ptr::null_mut(),
        registry: std::ptr::null(),
        parts: std::ptr::null(),
        part_count: 0,
        flags: 0,
    };
}

/// The plan from disk, where the same was compiled before; else it is built by `build`, on this thread, and stored. The
/// key has the versions of racl, of the library, of the device and its software, the code of `build` and its file, the
/// registry, and the parts. A hit may call `build` as well: from the second compilation of an entry in a process on, to see
/// that it records the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_cache_compile(
    cache: *const racl_cache,
    context: *const racl_context,
    what: *const racl_compile,
    plan: *mut *mut racl_plan,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    // SAFETY: by the header.
    let work = || unsafe { of::compile(cache, context, what) };
    // SAFETY: by the header.
    unsafe { make(plan, work) }
}

/// Nothing was compiled.
pub const RACL_CACHE_NONE: i32 = 0;
/// The plan came from disk.
pub const RACL_CACHE_HIT: i32 = 1;
/// It was built and stored.
pub const RACL_CACHE_MISS: i32 = 2;
/// What was stored was no good; it was built and stored anew.
pub const RACL_CACHE_REBUILT: i32 = 3;
/// The function makes different plans under one key, and is not cached any more.
pub const RACL_CACHE_ABANDONED: i32 = 4;
/// It could not be stored, or nothing tells it from others, see racl_build_callback.
pub const RACL_CACHE_UNCACHED: i32 = 5;
/// There is no plan.
pub const RACL_CACHE_FAILED: i32 = 6;

/// What the last compilation of a function was, RACL_CACHE_..., and why, as racl_library_name() gives a name. Of several
/// at once it is the one that ended last; one that was refused before anything was looked for is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_cache_status(
    cache: *const racl_cache,
    function: *const c_char,
    status: *mut i32,
    why: *mut c_char,
    size: usize,
    needed: *mut usize,
) -> i32 {
    // SAFETY: by the header.
    let place = unsafe { Out::new(status, RACL_CACHE_NONE, "a status") };
    let work = || {
        let place = place?;
        // SAFETY: by the header.
        let (status, text) = unsafe { of::status(cache, function) }?;
        place.set(status);
        Ok(text)
    };
    // SAFETY: by the header.
    unsafe { tell(why, size, needed, work) }
}

/// How often what came of compilations with this handle.
#[derive(Debug, Clone, Copy, Default)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_cache_stats {
    /// sizeof(racl_cache_stats).
    pub size: usize,
    /// RACL_CACHE_HIT.
    pub hits: u64,
    /// RACL_CACHE_MISS.
    pub misses: u64,
    /// RACL_CACHE_REBUILT.
    pub rebuilt: u64,
    /// RACL_CACHE_ABANDONED and RACL_CACHE_UNCACHED.
    pub uncached: u64,
    /// RACL_CACHE_FAILED, and what was refused before anything was compiled.
    pub failed: u64,
}

// SAFETY: integers alone, the first of them a size.
unsafe impl Sized_ for racl_cache_stats {
    const WHAT: &'static str = "racl_cache_stats";
    const ZERO: Self = Self { size: 0, hits: 0, misses: 0, rebuilt: 0, uncached: 0, failed: 0 };
}

/// How often what came of compilations with this handle. Set `size` of the struct first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_cache_count(cache: *const racl_cache, stats: *mut racl_cache_stats) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        unsafe { fill(stats, racl_cache_stats::ZERO) }?;
        let value = of::counted(cache)?;
        // SAFETY: by the header.
        unsafe { fill(stats, value) }
    })
}

/// A registry, with nothing in it. RACL_NOT_SUPPORTED in a build without the cache.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_registry_new(registry: *mut *mut racl_registry) -> i32 {
    // SAFETY: by the header.
    unsafe { make(registry, of::new_registry) }
}

/// Adds a host function, by its name: a plan that was stored with another version does not find it.
#[unsafe(no_mangle)]
pub extern "C" fn racl_registry_add_host_function(
    registry: *const racl_registry,
    function: *const racl_host_function,
) -> i32 {
    guard(|| of::add_host_function(registry, function))
}

/// Adds a foreign operator, as racl_registry_add_host_function().
#[unsafe(no_mangle)]
pub extern "C" fn racl_registry_add_foreign(registry: *const racl_registry, foreign: *const racl_foreign) -> i32 {
    guard(|| of::add_foreign(registry, foreign))
}

/// Gives the handle back; plans that were loaded keep what they found.
#[unsafe(no_mangle)]
pub extern "C" fn racl_registry_free(registry: *mut racl_registry) -> i32 {
    guard(|| free(registry))
}

/// What a build without the cache says.
#[cfg(not(feature = "cache"))]
pub(crate) fn off() -> crate::failure::Failure {
    crate::failure::Failure::own(crate::status::RACL_NOT_SUPPORTED, "the compile cache was not compiled in")
}
