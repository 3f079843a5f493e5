//! Pinned memory of the host, and copies from and to it on a stream.

use std::ffi::c_void;

use racl::{Lent, PinnedBuffer, Refused};

use crate::cancel::Uncancelled;
use crate::failure::{Failure, Result, guard};
use crate::handles::{Kept, alone, end, free, get};
use crate::objects::{HostState, racl_buffer, racl_context, racl_host, racl_stream};
use crate::results::{answer, make};
use crate::status;
use crate::stream::give;

/// So many bytes of pinned host memory, which are zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_host_new(context: *const racl_context, bytes: usize, host: *mut *mut racl_host) -> i32 {
    let _uncancelled = Uncancelled::new();
    let work = || Ok(HostState::Here(get(context)?.pinned::<u8>(bytes)?));
    // SAFETY: by the header.
    unsafe { make(host, work) }
}

fn here(state: &mut HostState) -> Result<&mut PinnedBuffer<u8>> {
    match state {
        HostState::Here(buffer) => Ok(buffer),
        HostState::Lent(_) => Err(with_a_copy()),
        HostState::Lost => Err(lost()),
    }
}

fn with_a_copy() -> Failure {
    Failure::own(status::RACL_BUSY, "host memory that a copy has: racl_host_wait() gives it back")
}

fn lost() -> Failure {
    Failure::own(status::RACL_DEVICE_LOST, "host memory whose copy failed and may still run")
}

/// Where the memory is. RACL_BUSY while a copy has it: until racl_host_wait() the program must not touch it then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_host_data(host: *const racl_host, data: *mut *mut c_void) -> i32 {
    let work = || here(&mut *alone(host)?).map(|buffer| buffer.as_mut_ptr().cast());
    // SAFETY: by the header.
    unsafe { answer(data, "an address", work) }
}

/// Its bytes. RACL_BUSY while a copy has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_host_size(host: *const racl_host, bytes: *mut usize) -> i32 {
    let work = || here(&mut *alone(host)?).map(|buffer| buffer.len());
    // SAFETY: by the header.
    unsafe { answer(bytes, "a size", work) }
}

/// Lends the memory to a copy.
fn lend(
    state: &mut HostState,
    copy: impl FnOnce(PinnedBuffer<u8>) -> Result<Lent<u8>, Refused<PinnedBuffer<u8>>>,
) -> Result<()> {
    match std::mem::replace(state, HostState::Lost) {
        HostState::Here(buffer) => match copy(buffer) {
            Ok(lent) => {
                // Where its call failed, and earlier work was not over in time, nobody knows what of it may run.
                lent.check_begun()?;
                *state = HostState::Lent(lent);
                Ok(())
            }
            Err(refused) => {
                let (buffer, error) = refused.into_parts();
                *state = HostState::Here(buffer);
                Err(error.into())
            }
        },
        other => {
            let failure = if matches!(other, HostState::Lost) { lost() } else { with_a_copy() };
            *state = other;
            Err(failure)
        }
    }
}

/// Copies host memory to a buffer of the same size when the stream gets there. The memory is the copy's until
/// racl_host_wait(). RACL_CAPTURE_FORBIDDEN on a stream that captures.
#[unsafe(no_mangle)]
pub extern "C" fn racl_stream_upload(
    stream: *const racl_stream,
    to: *const racl_buffer,
    from: *const racl_host,
) -> i32 {
    guard(|| {
        give(stream, "racl_stream_upload", |stream| {
            let (mut to, mut from) = ((*get(to)?).clone(), alone(from)?);
            not_capturing(stream)?;
            lend(&mut from, |buffer| stream.upload(buffer, &mut to))
        })
    })
}

/// Copies a buffer to host memory of the same size when the stream gets there; otherwise as racl_stream_upload().
#[unsafe(no_mangle)]
pub extern "C" fn racl_stream_download(
    stream: *const racl_stream,
    to: *const racl_host,
    from: *const racl_buffer,
) -> i32 {
    guard(|| {
        give(stream, "racl_stream_download", |stream| {
            let (mut to, from) = (alone(to)?, get(from)?);
            not_capturing(stream)?;
            lend(&mut to, |buffer| stream.download(&*from, buffer))
        })
    })
}

/// A graph would keep the memory, and replays use it at any time.
fn not_capturing(stream: &racl::Stream) -> Result<()> {
    if stream.is_capturing() {
        let text = "a copy of host memory in a capture; copy before a launch, into a buffer that the graph reads";
        return Err(Failure::own(status::RACL_CAPTURE_FORBIDDEN, text));
    }
    Ok(())
}

/// Waits until the copy that has the memory is done; returns at once when none has. Gives the error of the copy, or of
/// work before it on the stream; a second call may give the memory back then.
#[unsafe(no_mangle)]
pub extern "C" fn racl_host_wait(host: *const racl_host) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| {
        let mut state = alone(host)?;
        match std::mem::replace(&mut *state, HostState::Lost) {
            HostState::Lent(lent) => match lent.wait() {
                Ok(buffer) => {
                    *state = HostState::Here(buffer);
                    Ok(())
                }
                Err(refused) => {
                    let (lent, error) = refused.into_parts();
                    *state = HostState::Lent(lent);
                    Err(error.into())
                }
            },
            HostState::Lost => Err(lost()),
            here => {
                *state = here;
                Ok(())
            }
        }
    })
}

/// Gives the handle back. The memory is freed when its copy is done: here, after a wait of at most as long as
/// racl_free_limit_set() says, or later by a thread of racl. It is kept for good where nobody will know that.
#[unsafe(no_mangle)]
pub extern "C" fn racl_host_free(host: *mut racl_host) -> i32 {
    guard(|| free(host))
}

/// Waits for its copy and frees the memory; the handle stays when that fails.
#[unsafe(no_mangle)]
pub extern "C" fn racl_host_close(host: *mut racl_host) -> i32 {
    let status = racl_host_wait(host);
    if status != status::RACL_OK {
        return status;
    }
    guard(|| {
        end(host, |state| match state {
            HostState::Here(buffer) => buffer.close().map_err(|refused| Kept::of(refused, HostState::Here)),
            HostState::Lent(lent) => Err(Kept::new(HostState::Lent(lent), with_a_copy())),
            HostState::Lost => Err(Kept::new(HostState::Lost, lost())),
        })
    })
}
