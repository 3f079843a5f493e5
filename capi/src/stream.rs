//! Streams.

use std::ffi::{c_char, c_void};

use racl::{Stream, StreamOptions};

use crate::arguments::{Out, Sized_, limit, null, sized, text};
use crate::cancel::Uncancelled;
use crate::failure::{Failure, guard};
use crate::handles::{Handle, Kept, end, get, get_here, reserve};
use crate::objects::{Borrowed, racl_context, racl_event, racl_stream};
use crate::results::{answer, make};
use crate::status;

/// What a launch needs is set aside when the stream is made.
pub const RACL_STREAM_FAST_LAUNCH: u32 = 1;
/// Waits for the stream ask again and again instead of sleeping.
pub const RACL_STREAM_FAST_SYNC: u32 = 2;
/// A longer queue, on chips that have one.
pub const RACL_STREAM_LONG_QUEUE: u32 = 4;
/// The first task that fails stops the stream.
pub const RACL_STREAM_STOP_ON_FAILURE: u32 = 8;

/// How a stream is made.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_stream_options {
    /// sizeof(racl_stream_options).
    pub size: usize,
    /// 0 (highest) to 7.
    pub priority: u32,
    /// RACL_STREAM_... put together.
    pub flags: u32,
}

// SAFETY: integers alone, the first of them a size.
unsafe impl Sized_ for racl_stream_options {
    const WHAT: &'static str = "racl_stream_options";
    const ZERO: Self = Self { size: 0, priority: 0, flags: 0 };
}

impl racl_stream_options {
    fn options(self) -> Result<StreamOptions, Failure> {
        let mut options = StreamOptions::new().priority(self.priority);
        let mut left = self.flags;
        let mut take = |flag: u32| {
            let has = left & flag != 0;
            left &= !flag;
            has
        };
        if take(RACL_STREAM_FAST_LAUNCH) {
            options = options.fast_launch();
        }
        if take(RACL_STREAM_FAST_SYNC) {
            options = options.fast_sync();
        }
        if take(RACL_STREAM_LONG_QUEUE) {
            options = options.long_queue();
        }
        if take(RACL_STREAM_STOP_ON_FAILURE) {
            options = options.stop_on_failure();
        }
        if left == 0 { Ok(options) } else { Err(Failure::invalid(format!("unknown flags {left:#x} of a stream"))) }
    }
}

fn own(value: Stream) -> Borrowed<Stream> {
    Borrowed { value, theirs: false }
}

/// Gives the stream work. What is refused before racl sees it spoils a capture, as what racl refuses does; but for what
/// another thread has at this moment, which is tried again.
pub(crate) fn give<T>(
    stream: *const racl_stream,
    what: &'static str,
    work: impl FnOnce(&Stream) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let stream = get_here(stream)?;
    if stream.theirs && stream.value.is_captured_by_others()? {
        return Err(captured());
    }
    let done = work(&stream.value);
    if let Err(failure) = &done
        && failure.status != status::RACL_BUSY
    {
        stream.value.spoil_capture(what, failure.message());
    }
    done
}

/// The same for work that gives a handle. What is wrong with the place of that is found inside, where it spoils a capture:
/// the work is not given then.
///
/// # Safety
///
/// `place` is null, or may be written until the call is over.
pub(crate) unsafe fn give_and_make<H: Handle>(
    stream: *const racl_stream,
    what: &'static str,
    place: *mut *mut H,
    work: impl FnOnce(&Stream) -> Result<H::Value, Failure>,
) -> i32 {
    guard(|| {
        // SAFETY: as here.
        let out = unsafe { Out::new(place, std::ptr::null_mut(), H::WHAT) };
        give(stream, what, |stream| {
            let (out, reserved) = (out?, reserve::<H>()?);
            out.set(reserved.fill(work(stream)?));
            Ok(())
        })
    })
}

fn captured() -> Failure {
    let text = "a stream in a capture of other code, for whose graph racl keeps nothing";
    Failure::own(status::RACL_CAPTURE_FORBIDDEN, text)
}

/// A new stream; `options` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_stream_new(
    context: *const racl_context,
    options: *const racl_stream_options,
    stream: *mut *mut racl_stream,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    let work = || {
        let context = get(context)?;
        // SAFETY: by the header.
        let options = unsafe { sized(options) }?;
        let stream = match options {
            Some(options) => context.stream_with(options.options()?)?,
            None => context.stream()?,
        };
        Ok(own(stream))
    };
    // SAFETY: by the header.
    unsafe { make(stream, work) }
}

/// The default stream of a context, which stays the context's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_stream_default(context: *const racl_context, stream: *mut *mut racl_stream) -> i32 {
    let work = || Ok(own(get(context)?.default_stream()?));
    // SAFETY: by the header.
    unsafe { make(stream, work) }
}

/// An aclrtStream of other code, made in this context by the same AscendCL library. It is left to its owner when the
/// handle is freed, which must be before it is destroyed. racl does not know what the owner gives to it meanwhile.
/// RACL_CAPTURE_FORBIDDEN, now and for work that it is to be given later, while the stream is in a capture that other
/// code began, since racl would keep nothing for the graph.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_stream_ref(
    context: *const racl_context,
    raw: *mut c_void,
    stream: *mut *mut racl_stream,
) -> i32 {
    let work = || {
        if raw.is_null() {
            return Err(null("an aclrtStream; racl_stream_default() gives the default one"));
        }
        // SAFETY: the header asks for a stream of this context; it is given away again, and not destroyed.
        let value = unsafe { Stream::from_raw(raw, &*get(context)?) }?;
        match value.is_captured_by_others() {
            Ok(false) => Ok(Borrowed { value, theirs: true }),
            other => {
                // It is not this library's to destroy.
                value.into_raw().map(drop).unwrap_or_else(std::mem::forget);
                Err(other.err().map_or_else(captured, Failure::from))
            }
        }
    };
    // SAFETY: by the header.
    unsafe { make(stream, work) }
}

/// Its aclrtStream, which stays racl's, or its owner's. Other code may give work to it, which racl does not know: what the
/// work uses stays until it is done, by that code's care. It must begin no capture with a stream that racl made, nor bring
/// it into one: racl would count work as done that a graph repeats, and keep nothing for the graph. racl_capture_begin()
/// captures such a stream; racl_stream_ref() is for those that other code makes. Nothing refuses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_stream_raw(stream: *const racl_stream, raw: *mut *mut c_void) -> i32 {
    let work = || Ok(get(stream)?.value.as_raw());
    // SAFETY: by the header.
    unsafe { answer(raw, "a raw handle", work) }
}

/// Names the stream, for errors and traces, which call it by its number otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_stream_set_name(stream: *const racl_stream, name: *const c_char) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        get(stream)?.value.set_name(unsafe { text(name, "the name of a stream") }?);
        Ok(())
    })
}

/// Whether it records a graph, in a capture of racl or of other code: 1 or 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_stream_is_capturing(stream: *const racl_stream, is_capturing: *mut i32) -> i32 {
    let work = || {
        let stream = get(stream)?;
        Ok(i32::from(stream.value.is_capturing() || stream.value.is_captured_by_others()?))
    };
    // SAFETY: by the header.
    unsafe { answer(is_capturing, "an answer", work) }
}

/// Drops the stream's work that has not run and ends what runs, such as a task that hangs. Returns when that is over; the
/// stream takes new work then. Who waits for the stream meanwhile, or later for an event or a copy of work that was
/// dropped, gets RACL_ABORTED, and what that work was to write is as it was, or half written. Other streams that wait for
/// records of this one may hang: abort them as well. RACL_CAPTURE_FORBIDDEN while it records a graph, RACL_NOT_SUPPORTED in
/// a host function, RACL_MISSING_SYMBOL on a library that cannot.
#[unsafe(no_mangle)]
pub extern "C" fn racl_stream_abort(stream: *const racl_stream) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| Ok(get(stream)?.value.abort()?))
}

/// Waits until its work is done, or for so many nanoseconds, at most 24 days of them: RACL_TIMEOUT then, and the work
/// goes on. Below 0 without a limit; 0 is none, racl_stream_is_complete() does not wait. Gives the error of work that
/// failed; RACL_CAPTURE_FORBIDDEN while it records a graph, whose capture gives none then.
#[unsafe(no_mangle)]
pub extern "C" fn racl_stream_synchronize(stream: *const racl_stream, nanoseconds: i64) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| {
        let stream = get(stream)?;
        match limit(nanoseconds) {
            Some(limit) => stream.value.synchronize_timeout(limit)?,
            None => stream.value.synchronize()?,
        }
        Ok(())
    })
}

/// Whether its work is done: 1 or 0. Does not wait. Gives the error of work that failed, also one that somebody was told
/// already, until the stream has done later work. While it records a graph as racl_stream_synchronize().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_stream_is_complete(stream: *const racl_stream, is_complete: *mut i32) -> i32 {
    let work = || Ok(i32::from(get(stream)?.value.is_complete()?));
    // SAFETY: by the header.
    unsafe { answer(is_complete, "an answer", work) }
}

/// Lets what the stream is given from now on wait until the event's latest record is done.
#[unsafe(no_mangle)]
pub extern "C" fn racl_stream_wait(stream: *const racl_stream, event: *const racl_event) -> i32 {
    guard(|| give(stream, "racl_stream_wait", |stream| Ok(stream.wait(&*get(event)?)?)))
}

/// Gives the handle back. A stream of racl's own is destroyed when nothing uses it any more, after a wait for its work
/// of at most 10 seconds, see racl_free_limit_set(), and later when that goes on. One of other code is waited for as
/// long and left to its owner, also where its work failed: racl_context_take_errors() has the error then. It stays,
/// with its handle, where that work is not done (RACL_TIMEOUT), which is told at once where it may wait at a gate of a
/// plan, and while a capture or a graph of racl has it (RACL_INVALID_ARGUMENT).
#[unsafe(no_mangle)]
pub extern "C" fn racl_stream_free(stream: *mut racl_stream) -> i32 {
    guard(|| {
        if stream.is_null() {
            return Ok(());
        }
        end(stream, |stream| {
            if !stream.theirs {
                return Ok(());
            }
            let left = stream.value.give_back().map(drop);
            left.map_err(|refused| Kept::of(refused, |value| Borrowed { value, theirs: true }))
        })
    })
}

/// Waits for its work and destroys the stream. The handle stays when that fails, as while something uses the stream.
/// RACL_INVALID_ARGUMENT for one of other code.
#[unsafe(no_mangle)]
pub extern "C" fn racl_stream_close(stream: *mut racl_stream) -> i32 {
    guard(|| {
        end(stream, |stream| {
            if stream.theirs {
                let text = "a stream of other code is its owner's to destroy";
                return Err(Kept::new(stream, Failure::invalid(text)));
            }
            stream.value.close().map_err(|refused| Kept::of(refused, own))
        })
    })
}
