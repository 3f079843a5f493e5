//! Device memory, and copies of it.

use std::ffi::c_void;
use std::sync::Arc;

use racl::{DeviceBuffer, DeviceRead as _, Prefetch, SharedBuffer};

use crate::arguments::{Out, bytes, bytes_mut, null};
use crate::callback::{User, racl_release_callback};
use crate::cancel::Uncancelled;
use crate::failure::{Failure, Result, guard};
use crate::handles::{Kept, end, free, get};
use crate::objects::{racl_buffer, racl_context, racl_stream};
use crate::results::{answer, make};
use crate::stream::{give, give_and_make};

/// So many bytes of device memory, of the context's allocator. What they hold is not said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_buffer_new(
    context: *const racl_context,
    bytes: usize,
    buffer: *mut *mut racl_buffer,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    let work = || Ok(get(context)?.alloc::<u8>(bytes)?.into_shared());
    // SAFETY: by the header.
    unsafe { make(buffer, work) }
}

/// So many bytes of device memory for work of the stream: it may be what earlier work of the stream still uses, which later
/// work runs behind anyway, and for which copies from and to the host wait. While the stream captures, the graph has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_stream_alloc(
    stream: *const racl_stream,
    bytes: usize,
    buffer: *mut *mut racl_buffer,
) -> i32 {
    let work = |stream: &racl::Stream| Ok(stream.alloc::<u8>(bytes)?.into_shared());
    // SAFETY: by the header.
    unsafe { give_and_make(stream, "racl_stream_alloc", buffer, work) }
}

/// Device memory of other code: `bytes` from `address` on, of the context's device. It is left to its owner, which
/// keeps it until the handle, and every tensor, graph and stream that was given it, is done with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_buffer_ref(
    context: *const racl_context,
    address: *mut c_void,
    bytes: usize,
    buffer: *mut *mut racl_buffer,
) -> i32 {
    // SAFETY: by the header.
    unsafe { racl_buffer_ref_with(context, address, bytes, None, std::ptr::null_mut(), buffer) }
}

/// As racl_buffer_ref(), where the owner is told: `release`, which may be NULL, is given `user`, once, on any thread, when
/// neither racl nor work that racl gave to a stream uses the memory any more: with the last that has it, or, where work is
/// under way then, in the first call behind that work which waits for a stream, takes memory of the context or trims it.
/// It must not wait for work, nor take memory of the context. Not when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_buffer_ref_with(
    context: *const racl_context,
    address: *mut c_void,
    bytes: usize,
    release: racl_release_callback,
    user: *mut c_void,
    buffer: *mut *mut racl_buffer,
) -> i32 {
    let work = || {
        let context = get(context)?;
        if address.is_null() {
            return Err(null("an address of device memory"));
        }
        let user = Arc::new(User::new(user, release));
        // SAFETY: the header asks for such memory, which stays until `user` is released, and says what that may do.
        let theirs = unsafe { DeviceBuffer::<u8>::from_raw(address, bytes, &*context, Arc::clone(&user)) };
        Ok(theirs.inspect_err(|_| user.leave())?.into_shared())
    };
    // SAFETY: by the header.
    unsafe { make(buffer, work) }
}

/// A part of a buffer, which keeps the memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_buffer_slice(
    whole: *const racl_buffer,
    offset: usize,
    bytes: usize,
    part: *mut *mut racl_buffer,
) -> i32 {
    let work = || within(&*get(whole)?, offset, bytes);
    // SAFETY: by the header.
    unsafe { make(part, work) }
}

fn within(buffer: &SharedBuffer<u8>, offset: usize, bytes: usize) -> Result<SharedBuffer<u8>> {
    let beyond = || Failure::invalid(format!("{bytes} bytes from byte {offset} of a buffer on are too many"));
    Ok(buffer.slice(offset..offset.checked_add(bytes).ok_or_else(beyond)?)?)
}

/// Its bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_buffer_size(buffer: *const racl_buffer, bytes: *mut usize) -> i32 {
    let work = || Ok(get(buffer)?.len());
    // SAFETY: by the header.
    unsafe { answer(bytes, "a size", work) }
}

/// Its address on the device, for calls of AscendCL beside racl, which racl knows nothing of.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_buffer_address(buffer: *const racl_buffer, address: *mut *mut c_void) -> i32 {
    let work = || Ok(get(buffer)?.address());
    // SAFETY: by the header.
    unsafe { answer(address, "an address", work) }
}

/// Copies from the host. Waits for work that uses the memory, and until the copy is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_buffer_write(
    buffer: *const racl_buffer,
    offset: usize,
    data: *const c_void,
    size: usize,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| {
        let mut part = within(&*get(buffer)?, offset, size)?;
        // SAFETY: by the header.
        Ok(part.write(unsafe { bytes(data, size, "data to write") }?)?)
    })
}

/// Copies to the host. Waits for work that writes the memory, and until the copy is done. RACL_INVALID_ARGUMENT for more
/// than there is; the status of that work's failure where it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_buffer_read(
    buffer: *const racl_buffer,
    offset: usize,
    data: *mut c_void,
    size: usize,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| {
        let part = within(&*get(buffer)?, offset, size)?;
        // SAFETY: by the header.
        Ok(part.as_slice().read(unsafe { bytes_mut(data, size, "a place for data") }?)?)
    })
}

/// Copies between two buffers of a device when the stream gets there; all of them, which have one size. In a capture it
/// becomes part of the graph.
#[unsafe(no_mangle)]
pub extern "C" fn racl_stream_copy(
    stream: *const racl_stream,
    to: *const racl_buffer,
    from: *const racl_buffer,
) -> i32 {
    guard(|| {
        give(stream, "racl_stream_copy", |stream| {
            let mut to = (*get(to)?).clone();
            Ok(stream.copy(&*get(from)?, &mut to)?)
        })
    })
}

/// Sets every byte of a buffer when the stream gets there. In a capture it becomes part of the graph.
#[unsafe(no_mangle)]
pub extern "C" fn racl_stream_fill(stream: *const racl_stream, buffer: *const racl_buffer, byte: u8) -> i32 {
    guard(|| give(stream, "racl_stream_fill", |stream| Ok(stream.fill_bytes(&mut (*get(buffer)?).clone(), byte)?)))
}

/// Brings bytes of a buffer into the L2 cache when the stream gets there: `bytes` of them at most, 0 for all, from byte
/// `offset` on. `fetched`, which may be NULL, gets how many were asked for. In a capture it becomes part of the graph.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_stream_prefetch(
    stream: *const racl_stream,
    buffer: *const racl_buffer,
    offset: usize,
    bytes: usize,
    fetched: *mut usize,
) -> i32 {
    let what = if bytes == 0 { Prefetch::all() } else { Prefetch::bytes(bytes) };
    guard(|| {
        // SAFETY: by the header.
        let fetched = unsafe { Out::if_asked(fetched, 0, "a size") };
        give(stream, "racl_stream_prefetch", |stream| {
            let fetched = fetched?;
            let count = stream.prefetch(&*get(buffer)?, what.offset(offset))?;
            if let Some(place) = fetched {
                place.set(count);
            }
            Ok(())
        })
    })
}

/// Gives the handle back. The memory is freed when nothing has it any more and work that uses it is done, without a
/// wait.
#[unsafe(no_mangle)]
pub extern "C" fn racl_buffer_free(buffer: *mut racl_buffer) -> i32 {
    guard(|| free(buffer))
}

/// Waits for work that uses the memory and frees it. RACL_INVALID_ARGUMENT while parts, tensors or graphs share it; the
/// handle stays then.
#[unsafe(no_mangle)]
pub extern "C" fn racl_buffer_close(buffer: *mut racl_buffer) -> i32 {
    guard(|| end(buffer, |buffer| buffer.close().map_err(|refused| Kept::of(refused, |buffer| buffer))))
}
