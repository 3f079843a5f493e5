//! Events.

use std::ffi::c_void;

use crate::arguments::{Out, limit};
use crate::failure::{Failure, guard};
use crate::handles::{free, get, new};
use crate::objects::{racl_context, racl_event, racl_stream};
use crate::stream::give;

/// A new event. With `timing` 1 it takes the time too, and recording it costs more; with 0 captures take it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_event_new(
    context: *const racl_context,
    timing: i32,
    event: *mut *mut racl_event,
) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        let out = unsafe { Out::new(event, std::ptr::null_mut(), "an event") }?;
        let context = get(context)?;
        let event = match timing {
            0 => context.event()?,
            1 => context.timing_event()?,
            other => return Err(Failure::invalid(format!("{other} for whether an event takes the time"))),
        };
        out.set(new(event)?);
        Ok(())
    })
}

/// Its aclrtEvent, which stays racl's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_event_raw(event: *const racl_event, raw: *mut *mut c_void) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        let out = unsafe { Out::new(raw, std::ptr::null_mut(), "a raw handle") }?;
        out.set(get(event)?.as_raw());
        Ok(())
    })
}

/// Marks the point that the stream has reached with what it was given so far.
#[unsafe(no_mangle)]
pub extern "C" fn racl_event_record(event: *const racl_event, stream: *const racl_stream) -> i32 {
    guard(|| give(stream, "racl_event_record", |stream| Ok(get(event)?.record(stream)?)))
}

/// Waits until the latest record is done, or for so many nanoseconds: RACL_TIMEOUT then. Limits as for
/// racl_stream_synchronize().
#[unsafe(no_mangle)]
pub extern "C" fn racl_event_synchronize(event: *const racl_event, nanoseconds: i64) -> i32 {
    guard(|| {
        let event = get(event)?;
        match limit(nanoseconds) {
            Some(limit) => event.synchronize_timeout(limit)?,
            None => event.synchronize()?,
        }
        Ok(())
    })
}

/// Whether the latest record is done: 1 or 0; 1 for an event that was not recorded. Does not wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_event_is_complete(event: *const racl_event, is_complete: *mut i32) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        let out = unsafe { Out::new(is_complete, 0, "an answer") }?;
        out.set(i32::from(get(event)?.is_complete()?));
        Ok(())
    })
}

/// Nanoseconds between the records of two events that take the time. Both must be done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_event_elapsed(
    start: *const racl_event,
    end: *const racl_event,
    nanoseconds: *mut u64,
) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        let out = unsafe { Out::new(nanoseconds, 0, "a time") }?;
        let elapsed = get(end)?.elapsed_since(&*get(start)?)?;
        out.set(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX));
        Ok(())
    })
}

/// Gives the event back.
#[unsafe(no_mangle)]
pub extern "C" fn racl_event_free(event: *mut racl_event) -> i32 {
    guard(|| free(event))
}
