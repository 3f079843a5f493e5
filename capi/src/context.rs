//! Contexts: a device as its streams see it.

use std::ffi::c_void;
use std::time::Duration;

use racl::Context;

use crate::arguments::{Out, Sized_, fill, null, whether};
use crate::cancel::Uncancelled;
use crate::failure::guard;
use crate::handles::{Kept, end, free, get};
use crate::objects::{racl_context, racl_library};
use crate::results::{answer, answer_if_asked, make};

/// What the allocator of a context did and holds.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_memory_stats {
    /// sizeof(racl_memory_stats).
    pub size: usize,
    /// Bytes that buffers, scratch memory and graphs asked for and hold.
    pub allocated: usize,
    /// The most that was since the context was made, or since racl_context_reset_peaks().
    pub allocated_peak: usize,
    /// Bytes that the context has from the AscendCL library.
    pub reserved: usize,
    /// The most of them.
    pub reserved_peak: usize,
    /// Bytes that were given up and wait for work that may still use them.
    pub waiting: usize,
    /// Allocations by the AscendCL library that succeeded.
    pub device_allocations: u64,
    /// Frees by it.
    pub device_frees: u64,
    /// Allocations that found too little at first.
    pub retries: u64,
    /// Those that failed in the end.
    pub out_of_memory: u64,
}

// SAFETY: integers alone, the first of them a size.
unsafe impl Sized_ for racl_memory_stats {
    const WHAT: &'static str = "racl_memory_stats";
    const ZERO: Self = Self {
        size: 0,
        allocated: 0,
        allocated_peak: 0,
        reserved: 0,
        reserved_peak: 0,
        waiting: 0,
        device_allocations: 0,
        device_frees: 0,
        retries: 0,
        out_of_memory: 0,
    };
}

/// The primary context of a device, which it opens. Each call gives a handle of the same one. RACL_INVALID_DEVICE for a
/// number of no device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_context_primary(
    library: *const racl_library,
    device: i32,
    context: *mut *mut racl_context,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    let work = || {
        let device = get(library)?.device(device)?;
        Ok(device.context().clone())
    };
    // SAFETY: by the header.
    unsafe { make(context, work) }
}

/// A context of its own on the device of another one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_context_new(beside: *const racl_context, context: *mut *mut racl_context) -> i32 {
    let _uncancelled = Uncancelled::new();
    let work = || Ok(get(beside)?.create_context()?);
    // SAFETY: by the header.
    unsafe { make(context, work) }
}

/// An aclrtContext of other code, made by the AscendCL library of `library`, which stays that code's: neither freeing
/// nor closing the handle destroys it or resets its device. The handle and all that was made in it go before the context
/// does. It is the current context of the calling thread afterwards. Each call gives a handle with memory and an order
/// between streams of its own; memory of one is memory of the device for the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_context_ref(
    library: *const racl_library,
    raw: *mut c_void,
    context: *mut *mut racl_context,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    let work = || {
        if raw.is_null() {
            return Err(null("an aclrtContext"));
        }
        // SAFETY: the header asks for a context of this library, which outlives the handle.
        Ok(unsafe { Context::from_raw(&*get(library)?, raw) }?)
    };
    // SAFETY: by the header.
    unsafe { make(context, work) }
}

/// The number of its device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_context_device(context: *const racl_context, device: *mut i32) -> i32 {
    let work = || Ok(get(context)?.device_id());
    // SAFETY: by the header.
    unsafe { answer(device, "a device's number", work) }
}

/// Its aclrtContext, which stays racl's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_context_raw(context: *const racl_context, raw: *mut *mut c_void) -> i32 {
    let work = || Ok(get(context)?.as_raw());
    // SAFETY: by the header.
    unsafe { answer(raw, "a raw handle", work) }
}

/// Makes it the current context of the calling thread, for calls of AscendCL beside racl.
#[unsafe(no_mangle)]
pub extern "C" fn racl_context_bind(context: *const racl_context) -> i32 {
    guard(|| Ok(get(context)?.bind()?))
}

/// Waits for all work of the context. Gives the error of work that failed.
#[unsafe(no_mangle)]
pub extern "C" fn racl_context_synchronize(context: *const racl_context) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| Ok(get(context)?.synchronize()?))
}

/// Bytes of device memory that are free, and all of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_context_memory_info(
    context: *const racl_context,
    free: *mut usize,
    total: *mut usize,
) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        let free = unsafe { Out::new(free, 0, "free bytes") };
        // SAFETY: by the header.
        let total = unsafe { Out::new(total, 0, "all bytes") };
        let (to_free, to_total) = (free?, total?);
        let (free, total) = get(context)?.memory_info()?;
        to_free.set(free);
        to_total.set(total);
        Ok(())
    })
}

/// What its allocator did and holds. Set `size` of the struct first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_context_memory_stats(
    context: *const racl_context,
    stats: *mut racl_memory_stats,
) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        unsafe { fill(stats, racl_memory_stats::ZERO) }?;
        let all = get(context)?.memory_stats();
        let value = racl_memory_stats {
            size: 0,
            allocated: all.allocated.now,
            allocated_peak: all.allocated.peak,
            reserved: all.reserved.now,
            reserved_peak: all.reserved.peak,
            waiting: all.waiting(),
            device_allocations: all.device_allocations,
            device_frees: all.device_frees,
            retries: all.retries,
            out_of_memory: all.out_of_memory,
        };
        // SAFETY: by the header.
        unsafe { fill(stats, value) }
    })
}

/// Begins the peaks of racl_context_memory_stats() anew.
#[unsafe(no_mangle)]
pub extern "C" fn racl_context_reset_peaks(context: *const racl_context) -> i32 {
    guard(|| {
        get(context)?.reset_peak_memory_stats();
        Ok(())
    })
}

/// Gives cached memory back to the AscendCL library until at most `keep` bytes are cached; `freed`, which may be NULL,
/// gets the bytes that were given back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_context_trim(context: *const racl_context, keep: usize, freed: *mut usize) -> i32 {
    let _uncancelled = Uncancelled::new();
    let work = || Ok(get(context)?.trim_memory(keep));
    // SAFETY: by the header.
    unsafe { answer_if_asked(freed, work) }
}

/// The most bytes that the context has at a time from the AscendCL library; 0 for what the device has. Allocations beyond
/// it give RACL_OUT_OF_MEMORY once what is cached is given back and what work held is waited for. Below what the context
/// has already, it counts for what comes.
#[unsafe(no_mangle)]
pub extern "C" fn racl_context_set_memory_limit(context: *const racl_context, bytes: usize) -> i32 {
    guard(|| {
        get(context)?.set_memory_limit((bytes != 0).then_some(bytes));
        Ok(())
    })
}

/// Whether work of the context's streams, and launches of graphs on them, wait by themselves for work of other streams
/// that uses the same memory: 1, as a context begins, or 0, for a program that puts its streams in order by events. It
/// counts for work that is given to streams from then on, by any thread.
#[unsafe(no_mangle)]
pub extern "C" fn racl_context_set_tracking(context: *const racl_context, on: i32) -> i32 {
    guard(|| {
        get(context)?.set_tracking(whether(on, "work of a context waits by itself")?);
        Ok(())
    })
}

/// Whether the host looks at indices before it gives an operator that uses them to a stream of the context: 0, as a
/// context begins unless RACL_CHECK_INDICES in the environment is 1, or 1, for tests and while a program is written,
/// since it waits for all work that uses their memory, for ever where that waits for the calling thread. One out of
/// range is RACL_INVALID_ARGUMENT of racl_operator() then, with its place, and nothing is queued; otherwise a kernel of
/// a card may read, or write, other memory of the device. Operators of captures and of runs of plans are not looked at.
/// It counts for what is given to streams from then on, by any thread.
#[unsafe(no_mangle)]
pub extern "C" fn racl_context_set_index_checks(context: *const racl_context, on: i32) -> i32 {
    guard(|| {
        get(context)?.set_index_checks(whether(on, "indices are looked at")?);
        Ok(())
    })
}

/// Drops the work of all streams of the device, of all contexts and of other code in this process, and ends what runs, so
/// that the process can go on after a failure: as racl_stream_abort() for each of them. Returns when that is over, or
/// after so many nanoseconds, in whole milliseconds, rounded up: RACL_TIMEOUT or RACL_ABORTED then. RACL_INVALID_ARGUMENT
/// for no time and for more than 36 minutes, RACL_NOT_SUPPORTED in a host function, RACL_MISSING_SYMBOL on a library that
/// cannot.
#[unsafe(no_mangle)]
pub extern "C" fn racl_context_abort_device(context: *const racl_context, nanoseconds: u64) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| Ok(get(context)?.abort_device(Duration::from_nanos(nanoseconds))?))
}

/// What a device has. 0 for what its library does not tell.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_device_info {
    /// sizeof(racl_device_info).
    pub size: usize,
    /// Cores that multiply matrices.
    pub cube_cores: u64,
    /// Cores that compute on vectors.
    pub vector_cores: u64,
    /// Bytes of the L2 cache, which prefetches fill.
    pub l2_cache_bytes: u64,
}

// SAFETY: integers alone, the first of them a size.
unsafe impl Sized_ for racl_device_info {
    const WHAT: &'static str = "racl_device_info";
    const ZERO: Self = Self { size: 0, cube_cores: 0, vector_cores: 0, l2_cache_bytes: 0 };
}

/// 0 for what a library, or a device, does not have.
fn or_zero(told: racl::Result<u64>) -> crate::failure::Result<u64> {
    use racl::ErrorKind::{InvalidArgument, MissingSymbol, NotSupported};
    let is_unknown = |error: &racl::Error| matches!(error.kind(), InvalidArgument | MissingSymbol | NotSupported);
    Ok(told.or_else(|error| if is_unknown(&error) { Ok(0) } else { Err(error) })?)
}

/// What the device of the context has. Set `size` of the struct first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_context_device_info(context: *const racl_context, info: *mut racl_device_info) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        unsafe { fill(info, racl_device_info::ZERO) }?;
        let context = get(context)?;
        let value = racl_device_info {
            size: 0,
            cube_cores: or_zero(context.cube_cores())?,
            vector_cores: or_zero(context.vector_cores())?,
            l2_cache_bytes: or_zero(context.l2_cache_bytes())?,
        };
        // SAFETY: by the header.
        unsafe { fill(info, value) }
    })
}

/// Gives the handle back. A primary context stays open for the next racl_context_primary().
#[unsafe(no_mangle)]
pub extern "C" fn racl_context_free(context: *mut racl_context) -> i32 {
    guard(|| free(context))
}

/// Ends the context: a primary one gives the device back, which may reset it. RACL_INVALID_ARGUMENT while objects of it
/// are alive; the handle stays then, as it does when the library refuses.
#[unsafe(no_mangle)]
pub extern "C" fn racl_context_close(context: *mut racl_context) -> i32 {
    guard(|| end(context, |context| context.close().map_err(|refused| Kept::of(refused, |context| context))))
}
