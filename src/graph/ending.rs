//! How the capture of a graph ends, and that of a body inside it.

use std::sync::Arc;

use acl_sys::aclmdlRI;

use super::captured::Graph;
use super::groups::end_group;
use crate::call::call;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::say;
use crate::stream::{CaptureState, StreamInner};

/// The code for a capture that ends while a body lacks its own: what was wrong with the body was told before.
const BODY_MISSING: i32 = 107_045;

/// Ends what `origin` records, on the thread that began it. On success the streams are still in the capture.
pub(super) fn end(origin: &Arc<StreamInner>, state: &CaptureState) -> Result<aclmdlRI> {
    state.close();
    for body in state.cut() {
        end_body(&body);
    }
    state.drain();
    if let Some(stream) = state.cut_group()
        && let Err(error) = end_group(&stream)
    {
        say!(Debug, "a task group that its capture ended: {error}");
    }
    let mut raw = std::ptr::null_mut();
    // SAFETY: `raw` is a place for one handle, and this is the stream that the capture began on.
    let ended = unsafe { call!(&**origin.context(), aclmdlRICaptureEnd(origin.raw(), &raw mut raw)) };
    match ended {
        Ok(()) => Ok(raw),
        Err(error) => Err(explain(origin, state, error)),
    }
}

/// Ends the capture of a body, unless that was done.
pub(super) fn end_body(state: &CaptureState) -> Option<Result<()>> {
    let origin = state.origin()?;
    if !state.begin_end() {
        return None;
    }
    let ended = end(&origin, state).map(|_| state.release_streams());
    drop(state.take_sides());
    Some(ended)
}

fn explain(origin: &Arc<StreamInner>, state: &CaptureState, error: Error) -> Error {
    let error = match error.kind() {
        ErrorKind::CaptureUnjoined => match state.explain_unjoined() {
            Some(text) => error.with_detail(text),
            None => error,
        },
        _ => match state.failure() {
            Some(failure) if error.code() == Some(BODY_MISSING) => {
                Error::new(ErrorKind::CaptureInvalidated, failure).with_source(error)
            }
            Some(failure) => error.with_detail(failure),
            None => error,
        },
    };
    // A failing end usually frees the streams too. When it did not, a second try may; else they stay parked,
    // since work given to them would silently go into a graph that nobody gets.
    if origin.is_recording() && !end_again(origin, state) {
        origin.spoil();
        origin.context().record_drop_error(
            "a capture could not be ended; its streams are kept and refuse work",
            Error::new(ErrorKind::CaptureInvalidated, origin.name()),
        );
        return error;
    }
    state.release_streams();
    error
}

fn end_again(origin: &Arc<StreamInner>, state: &CaptureState) -> bool {
    let mut raw = std::ptr::null_mut();
    // SAFETY: as in `end`.
    let ended = unsafe { call!(&**origin.context(), aclmdlRICaptureEnd(origin.raw(), &raw mut raw)) };
    if ended.is_ok() && state.is_root() {
        drop(Graph::own(raw, origin.context(), state));
    }
    !origin.is_recording()
}
