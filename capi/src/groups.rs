//! Task groups: operators of captured graphs that are replaced between launches.

use std::ffi::c_void;

use racl::{Stream, TaskGroup};

use crate::arguments::null;
use crate::cancel::Uncancelled;
use crate::failure::{Failure, Result, discard, guard, heard};
use crate::handles::{alone, end, free, get, new};
use crate::objects::{Borrowed, racl_graph, racl_stream, racl_task_group};
use crate::status;
use crate::stream::give_and_make;

/// Gives a stream work, which it is handed. Another number than RACL_OK is what the function gives that called this, with
/// the last failure of this thread.
#[allow(non_camel_case_types)]
pub type racl_give_callback =
    Option<unsafe extern "C-unwind" fn(user: *mut c_void, stream: *const racl_stream) -> i32>;

type Give = unsafe extern "C-unwind" fn(*mut c_void, *const racl_stream) -> i32;

/// Runs a callback, and gives what it says of its failure.
fn run(function: Give, user: *mut c_void, stream: *const racl_stream) -> Result<()> {
    // SAFETY: by the header.
    let (done, said) = heard(|| unsafe { function(user, stream) });
    let code = match done {
        Ok(status::RACL_OK) => return Ok(()),
        Ok(code) => code,
        Err(payload) => {
            let failure = Failure::callback(&*payload);
            discard(payload);
            return Err(failure);
        }
    };
    Err(said.unwrap_or_else(|| Failure::own(code, format!("the function that gives a stream work gave {code}"))))
}

/// Records what `give` gives to a stream that captures, on this thread, as a group that racl_graph_update() can replace in
/// the graph: operators alone, in one group at a time. The capture gives no graph when this fails. RACL_NOT_CAPTURING for a
/// stream that captures nothing, RACL_NOT_SUPPORTED for other work than operators.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_stream_task_group(
    stream: *const racl_stream,
    give: racl_give_callback,
    user: *mut c_void,
    task_group: *mut *mut racl_task_group,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    let work = |own: &Stream| record(own, stream, give, user);
    // SAFETY: by the header.
    unsafe { give_and_make(stream, "racl_stream_task_group", task_group, work) }
}

fn record(
    own: &Stream,
    stream: *const racl_stream,
    function: racl_give_callback,
    user: *mut c_void,
) -> Result<TaskGroup> {
    let function = function.ok_or_else(|| null("what gives a stream work"))?;
    let mut failed = None;
    let group = own.task_group(|_| {
        failed = run(function, user, stream).err();
        Ok(())
    });
    let Some(failure) = failed else { return Ok(group?) };
    // Whatever its status: a part of the group may be recorded.
    own.spoil_capture("racl_stream_task_group", failure.message());
    Err(failure)
}

/// Replaces the operators of a group by what `give` gives to the stream it is handed, on this thread, from the next launch
/// on: as many, of the same kinds in the same order, on other tensors or with other numbers. Nothing of it runs now. Waits
/// for the last launch. The stream ends with the call, and not before: `give` gets RACL_BUSY for that.
///
/// RACL_INVALID_ARGUMENT for a group of another graph, and for another operator in the place of one of the group;
/// RACL_INTERNAL for operators that do not fit those of the group otherwise, as more of them. When
/// it fails after some work was given, racl_graph_launch() gives RACL_GRAPH_RUNNING until an update of the group succeeds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_graph_update(
    graph: *const racl_graph,
    task_group: *const racl_task_group,
    give: racl_give_callback,
    user: *mut c_void,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| {
        let (mut graph, group) = (alone(graph)?, get(task_group)?);
        let function = give.ok_or_else(|| null("what gives a stream work"))?;
        let mut failed = None;
        let updated = graph.value.update(&group, |stream| {
            if let Err(failure) = lend(stream, |handle| run(function, user, handle)) {
                // The update fails, whatever of it was given.
                stream.spoil_capture("racl_graph_update", failure.message());
                failed = Some(failure);
            }
            Ok(())
        });
        failed.map_or_else(|| Ok(updated?), Err)
    })
}

/// Hands a stream of racl to a function of C, and takes it back.
fn lend(stream: &Stream, work: impl FnOnce(*const racl_stream) -> Result<()>) -> Result<()> {
    let handle = new::<racl_stream>(Borrowed { value: stream.clone(), theirs: false })?;
    // The function is refused to end it, which another call uses as long.
    let used = get(handle)?;
    let done = work(handle);
    drop(used);
    let ended = end(handle, |lent| {
        drop(lent);
        Ok(())
    });
    done.and(ended)
}

/// Gives the handle back; what is in the graph stays there.
#[unsafe(no_mangle)]
pub extern "C" fn racl_task_group_free(task_group: *mut racl_task_group) -> i32 {
    guard(|| free(task_group))
}
