//! Temporary memory that several executables share.

use racl::plan::Pool;

use crate::failure::guard;
use crate::handles::{free, get};
use crate::objects::{racl_context, racl_pool};
use crate::results::{answer, make};

/// Memory for the temporaries of several executables on the device of a context, which racl_run_options name. Their runs
/// are ordered one behind the other on the device, on whatever streams they are, and the memory grows to what the largest
/// of them needs. A run that waits at a gate holds up those behind it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_pool_new(context: *const racl_context, pool: *mut *mut racl_pool) -> i32 {
    let work = || Ok(Pool::new(&*get(context)?));
    // SAFETY: by the header.
    unsafe { make(pool, work) }
}

/// Bytes that it has for temporaries now; scratch memory of operators in captured graphs comes on top.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_pool_size(pool: *const racl_pool, bytes: *mut usize) -> i32 {
    let work = || Ok(get(pool)?.bytes());
    // SAFETY: by the header.
    unsafe { answer(bytes, "a size", work) }
}

/// Gives the handle back; executables keep the pool.
#[unsafe(no_mangle)]
pub extern "C" fn racl_pool_free(pool: *mut racl_pool) -> i32 {
    guard(|| free(pool))
}
