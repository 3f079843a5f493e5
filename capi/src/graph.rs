//! Captures and graphs.

use std::ffi::{c_char, c_void};

use racl::{CaptureMode, Graph};

use crate::arguments::{self, null};
use crate::cancel::Uncancelled;
use crate::failure::{Failure, guard};
use crate::handles::{Kept, alone, end, free, get};
use crate::objects::{Borrowed, racl_capture, racl_context, racl_graph, racl_stream};
use crate::results::{answer, make};
use crate::stream::give;

/// Blocking copies are refused on all threads while a capture is active.
pub const RACL_CAPTURE_GLOBAL: i32 = 0;
/// They are refused on the thread that captures.
pub const RACL_CAPTURE_THREAD_LOCAL: i32 = 1;
/// They are refused nowhere.
pub const RACL_CAPTURE_RELAXED: i32 = 2;

/// Begins to record what the stream is given, instead of executing it. Other streams join by racl_stream_wait() for an
/// event that was recorded on it, and must lead back to it the same way. The capture gives its graph on this thread, a relaxed one on any.
/// What its streams are refused meanwhile is missing in the graph, so that there is none: racl_capture_end() gives
/// RACL_CAPTURE_INVALIDATED then. After RACL_BUSY nothing is missing, and the call may be tried again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_capture_begin(
    stream: *const racl_stream,
    mode: i32,
    capture: *mut *mut racl_capture,
) -> i32 {
    let work = || {
        let stream = get(stream)?;
        let mode = match mode {
            RACL_CAPTURE_GLOBAL => CaptureMode::Global,
            RACL_CAPTURE_THREAD_LOCAL => CaptureMode::ThreadLocal,
            RACL_CAPTURE_RELAXED => CaptureMode::Relaxed,
            other => return Err(Failure::invalid(format!("{other} for the mode of a capture"))),
        };
        Ok(stream.value.begin_capture(mode)?.detach())
    };
    // SAFETY: by the header.
    unsafe { make(capture, work) }
}

/// Ends the capture and gives its graph. The handle of the capture is gone then, also when the capture gives no graph;
/// it stays on another thread than that which began it (RACL_CAPTURE_WRONG_THREAD), unless the capture is
/// RACL_CAPTURE_RELAXED, which ends on any, and with a bad place for the graph or none for its handle (RACL_NO_HANDLES).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_capture_end(capture: *mut racl_capture, graph: *mut *mut racl_graph) -> i32 {
    let _uncancelled = Uncancelled::new();
    let work = || {
        let mut finished = None;
        end(capture, |capture| {
            let capture = capture.attach().map_err(|refused| Kept::of(refused, |capture| capture))?;
            finished = Some(capture.finish());
            Ok(())
        })?;
        let graph = finished.unwrap_or_else(|| unreachable!("the end of the capture was tried"));
        Ok(Borrowed { value: graph?, theirs: false })
    };
    // SAFETY: by the header.
    unsafe { make(graph, work) }
}

/// An aclmdlRI of other code, which was captured in this context with the same AscendCL library and is in no capture. What
/// it uses is that code's to keep; racl does not know it, so that work on the same memory has to be ordered with launches
/// by streams and events. Nobody else launches it while there is a handle, and it outlives the handle. It is left to its
/// owner when the handle is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_graph_ref(
    context: *const racl_context,
    raw: *mut c_void,
    graph: *mut *mut racl_graph,
) -> i32 {
    let work = || {
        if raw.is_null() {
            return Err(null("an aclmdlRI"));
        }
        // SAFETY: the header asks for a graph of this context that nobody else launches; it is given away again.
        let value = unsafe { Graph::from_raw(raw, &*get(context)?) }?;
        Ok(Borrowed { value, theirs: true })
    };
    // SAFETY: by the header.
    unsafe { make(graph, work) }
}

/// Ends the capture without a graph, on any thread, also when that which began it is gone: its streams are free again. Of
/// one that ends on another thread, and is not RACL_CAPTURE_RELAXED, the AscendCL library keeps what it recorded.
#[unsafe(no_mangle)]
pub extern "C" fn racl_capture_free(capture: *mut racl_capture) -> i32 {
    guard(|| free(capture))
}

/// Queues one execution of all that was recorded. It is ordered behind the launch before, and behind other work of racl
/// that uses the same memory.
#[unsafe(no_mangle)]
pub extern "C" fn racl_graph_launch(graph: *const racl_graph, stream: *const racl_stream) -> i32 {
    guard(|| give(stream, "racl_graph_launch", |stream| Ok(alone(graph)?.value.launch(stream)?)))
}

/// Waits until the last launch is done. Gives the error of work that failed.
#[unsafe(no_mangle)]
pub extern "C" fn racl_graph_wait(graph: *const racl_graph) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| Ok(alone(graph)?.value.wait()?))
}

/// Ends the launch that runs, of a graph of other code that it built by hand: the next wait for it gives RACL_ABORTED, and
/// what it was to write is as it was, or half written. Nothing happens when no launch runs. RACL_NOT_SUPPORTED for a graph
/// that was captured by racl: racl_stream_abort() of the stream that it was launched on ends its work.
#[unsafe(no_mangle)]
pub extern "C" fn racl_graph_abort(graph: *const racl_graph) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| Ok(alone(graph)?.value.abort()?))
}

/// Its aclmdlRI, which stays racl's, or its owner's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_graph_raw(graph: *const racl_graph, raw: *mut *mut c_void) -> i32 {
    let work = || Ok(alone(graph)?.value.as_raw());
    // SAFETY: by the header.
    unsafe { answer(raw, "a raw handle", work) }
}

/// Writes what is in the graph as a trace (JSON) that chrome://tracing and Perfetto show.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_graph_write_trace(graph: *const racl_graph, path: *const c_char) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| {
        let graph = alone(graph)?;
        // SAFETY: by the header.
        Ok(graph.value.write_trace(unsafe { arguments::path(path, "a path") }?)?)
    })
}

/// Gives the handle back. The graph is destroyed, with all that it keeps, when its last launch is done, after a wait of
/// at most 10 seconds, see racl_free_limit_set(), and later when it goes on. One of other code is waited for as long and
/// left to its owner, also where its work failed: racl_context_take_errors() has the error then, as it has what failed in
/// launches of any graph that nobody was told before, which a later wait for their stream does not give again. It stays, with its
/// handle, where its last launch is not done (RACL_TIMEOUT).
#[unsafe(no_mangle)]
pub extern "C" fn racl_graph_free(graph: *mut racl_graph) -> i32 {
    guard(|| {
        if graph.is_null() {
            return Ok(());
        }
        end(graph, |graph| {
            if !graph.theirs {
                return Ok(());
            }
            let left = graph.value.give_back().map(drop);
            left.map_err(|refused| Kept::of(refused, |value| Borrowed { value, theirs: true }))
        })
    })
}

/// Waits for the last launch and destroys the graph; the handle stays when that fails. RACL_INVALID_ARGUMENT for a graph
/// of other code, which racl_graph_free() gives back.
#[unsafe(no_mangle)]
pub extern "C" fn racl_graph_close(graph: *mut racl_graph) -> i32 {
    guard(|| {
        end(graph, |graph| {
            if graph.theirs {
                let text = "a graph of other code, which racl_graph_free() gives back";
                return Err(Kept::new(graph, Failure::invalid(text)));
            }
            graph.value.close().map_err(|refused| Kept::of(refused, |value| Borrowed { value, theirs: false }))
        })
    })
}
