//! Events.

use std::ffi::c_void;
use std::ops::Deref;

use racl::{Event, TimingEvent};

use crate::arguments::{limit, null, whether};
use crate::cancel::Uncancelled;
use crate::failure::{Failure, guard};
use crate::handles::{free, get};
use crate::objects::{racl_context, racl_event, racl_stream};
use crate::results::{answer, make};
use crate::stream::give;

/// What a handle of an event is one of.
#[derive(Debug)]
pub(crate) enum AnyEvent {
    Order(Event),
    Timing(TimingEvent),
}

impl AnyEvent {
    fn timing(&self) -> Result<&TimingEvent, Failure> {
        match self {
            Self::Timing(event) => Ok(event),
            Self::Order(_) => Err(Failure::invalid("a time of an event that takes none")),
        }
    }
}

impl Deref for AnyEvent {
    type Target = Event;

    fn deref(&self) -> &Event {
        match self {
            Self::Order(event) => event,
            Self::Timing(event) => event.as_event(),
        }
    }
}

/// A new event. With `timing` 1 it takes the time too, and recording it costs more; with 0 captures take it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_event_new(
    context: *const racl_context,
    timing: i32,
    event: *mut *mut racl_event,
) -> i32 {
    let work = || {
        let context = get(context)?;
        Ok(if whether(timing, "an event takes the time")? {
            AnyEvent::Timing(context.timing_event()?)
        } else {
            AnyEvent::Order(context.event()?)
        })
    };
    // SAFETY: by the header.
    unsafe { make(event, work) }
}

/// An aclrtEvent of other code, made in this context by the same AscendCL library with the flag ACL_EVENT_SYNC, alone or
/// with ACL_EVENT_TIME_LINE. That code goes on to record it and to wait for it: what counts for waits, and for whether it
/// is done, is the latest record, by whomever. It is left to its owner when the handle is freed, which must be before it
/// is destroyed. Captures refuse it (RACL_CAPTURE_FORBIDDEN), now and where other code records it in one of its own;
/// racl_event_elapsed() does too (RACL_INVALID_ARGUMENT).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_event_ref(
    context: *const racl_context,
    raw: *mut c_void,
    event: *mut *mut racl_event,
) -> i32 {
    let work = || {
        if raw.is_null() {
            return Err(null("an aclrtEvent"));
        }
        // SAFETY: the header asks for such an event of this context, which outlives the handle.
        Ok(AnyEvent::Order(unsafe { Event::from_raw_shared(raw, &*get(context)?) }?))
    };
    // SAFETY: by the header.
    unsafe { make(event, work) }
}

/// Its aclrtEvent, which stays racl's, or its owner's. Of an event that racl made other code may wait for the latest record
/// that racl made. It must not record it: racl takes what it recorded itself for done when the event is, whatever was
/// recorded since. Nor may it be recorded or waited for in a capture of other code, since racl would take work for done
/// that a graph repeats. racl_event_ref() is for events that other code makes and records. Nothing refuses either.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_event_raw(event: *const racl_event, raw: *mut *mut c_void) -> i32 {
    let work = || Ok(get(event)?.as_raw());
    // SAFETY: by the header.
    unsafe { answer(raw, "a raw handle", work) }
}

/// Marks the point that the stream has reached with what it was given so far.
#[unsafe(no_mangle)]
pub extern "C" fn racl_event_record(event: *const racl_event, stream: *const racl_stream) -> i32 {
    guard(|| give(stream, "racl_event_record", |stream| Ok(get(event)?.record(stream)?)))
}

/// Waits until the latest record is done, or for so many nanoseconds: RACL_TIMEOUT then. Limits as for
/// racl_stream_synchronize(). RACL_CALLBACK_PANICKED, once, where a host function in front of the record failed.
#[unsafe(no_mangle)]
pub extern "C" fn racl_event_synchronize(event: *const racl_event, nanoseconds: i64) -> i32 {
    let _uncancelled = Uncancelled::new();
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
    let work = || Ok(i32::from(get(event)?.is_complete()?));
    // SAFETY: by the header.
    unsafe { answer(is_complete, "an answer", work) }
}

/// Nanoseconds between the records of two events that take the time. Both must be done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_event_elapsed(
    start: *const racl_event,
    end: *const racl_event,
    nanoseconds: *mut u64,
) -> i32 {
    let work = || {
        let (start, end) = (get(start)?, get(end)?);
        let elapsed = end.timing()?.elapsed_since(start.timing()?)?;
        Ok(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
    };
    // SAFETY: by the header.
    unsafe { answer(nanoseconds, "a time", work) }
}

/// Gives the event back; one of other code is left to it.
#[unsafe(no_mangle)]
pub extern "C" fn racl_event_free(event: *mut racl_event) -> i32 {
    guard(|| free(event))
}
