//! What is in a graph: its streams, and their tasks with their parameters.

use std::ffi::c_void;
use std::fmt;

use acl_sys::{
    aclmdlRITask, aclmdlRITaskParams, aclmdlRITaskType, aclrtEvent, aclrtFuncHandle, aclrtStream, aclrtTaskGrp,
};

use super::captured::Graph;
use super::groups::TaskGroup;
use crate::call::call;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::ValueWait;

/// A task of a graph, as it was when [`Graph::tasks`] looked. [`Graph::change`] changes some.
#[derive(Clone)]
#[doc(alias = "aclmdlRITask")]
pub struct GraphTask {
    raw: aclmdlRITask,
    graph: u64,
    stream: usize,
    number: u32,
    work: TaskWork,
    group: aclrtTaskGrp,
}

// SAFETY: the handle is only passed on, in calls for its graph, of which there is one at a time.
unsafe impl Send for GraphTask {}
// SAFETY: as above; it is not changed.
unsafe impl Sync for GraphTask {}

/// What a task of a graph does, with its parameters. Addresses are of device memory, and handles are those of the
/// library: they are to be compared, with `as_raw` of the values of this crate, and not to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias = "aclmdlRITaskParams")]
pub enum TaskWork {
    /// A kernel or an operator.
    Kernel(KernelTask),
    /// The record of an event.
    EventRecord(EventTask),
    /// A wait for an event.
    EventWait(EventTask),
    /// An event is reset.
    EventReset(EventTask),
    /// A number is written, as by [`Stream::write_value`](crate::Stream::write_value).
    ValueWrite {
        /// Where.
        address: *mut c_void,
        /// What.
        value: u64,
    },
    /// A wait for a number, as by [`Stream::wait_value`](crate::Stream::wait_value).
    ValueWait {
        /// Where it is.
        address: *mut c_void,
        /// Until when.
        until: ValueWait,
    },
    /// Anything else: copies, fills, prefetches, host functions, and tasks that the library added. It does not tell
    /// more.
    Other,
}

/// A kernel in a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias = "aclmdlRIKernelTaskParams")]
pub struct KernelTask {
    /// Its function; null where the library does not tell, as of operators.
    pub function: aclrtFuncHandle,
    /// How many blocks; 0 where the library does not tell.
    pub blocks: u32,
    /// Bytes of its arguments.
    pub argument_bytes: usize,
    /// Whether the arguments are in device memory of the program.
    pub arguments_in_memory: bool,
}

/// An event in a graph. Those of captures are of the graph, with the handles of the events that were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias = "aclmdlRIEventRecordTaskParams")]
#[doc(alias = "aclmdlRIEventWaitTaskParams")]
#[doc(alias = "aclmdlRIEventResetTaskParams")]
pub struct EventTask {
    /// The event.
    pub event: aclrtEvent,
    /// The flags that it was made with.
    pub event_flags: u32,
    /// The flags of the record, the wait or the reset.
    pub flags: u32,
}

impl GraphTask {
    /// The number of its stream, from 0, in the order in which the library has them, which is not that of the program.
    #[must_use]
    pub fn stream(&self) -> usize {
        self.stream
    }

    /// The library's number of the task in its graph.
    #[must_use]
    #[doc(alias = "aclmdlRITaskGetSeqId")]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// What it does.
    #[must_use]
    #[doc(alias = "aclmdlRITaskGetType")]
    #[doc(alias = "aclmdlRITaskGetParams")]
    pub fn work(&self) -> TaskWork {
        self.work
    }

    /// Whether it is in this group. Always false of tasks that are [`TaskWork::Other`].
    #[must_use]
    pub fn is_in(&self, group: &TaskGroup) -> bool {
        !self.group.is_null() && self.group == group.as_raw() && self.graph == group.capture()
    }

    pub(crate) fn raw(&self) -> aclmdlRITask {
        self.raw
    }
}

impl Graph {
    /// The tasks of the graph, stream by stream, and in their order there. A card has more of some work than calls were
    /// made: of host functions, of events. Returns at once; a launch may run.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`] on devices, and with drivers, that do not tell; [`ErrorKind::UnknownValue`] for
    /// parameters that make no sense; [`ErrorKind::MissingSymbol`] on a library that cannot tell, up to CANN 9.1.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::{CaptureMode, TaskWork, ValueWait};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let flag = device.context().flag(0)?;
    /// let graph = stream.capture(CaptureMode::ThreadLocal, |s| {
    ///     s.wait_value(&flag, ValueWait::Equal(3))?;
    ///     s.write_value(&flag, 4)
    /// })?;
    /// let tasks = graph.tasks()?;
    /// assert!(matches!(tasks[0].work(), TaskWork::ValueWait { until: ValueWait::Equal(3), .. }));
    /// assert!(matches!(tasks[1].work(), TaskWork::ValueWrite { value: 4, .. }));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRIGetStreams")]
    #[doc(alias = "aclmdlRIGetTasksByStream")]
    pub fn tasks(&self) -> Result<Vec<GraphTask>> {
        let mut all = Vec::new();
        for (index, stream) in self.raw_streams()?.into_iter().enumerate() {
            for raw in self.raw_tasks(stream)? {
                all.push(self.task(raw, index)?);
            }
        }
        Ok(all)
    }

    /// How many streams the graph has: those of the capture, or those that were made for it.
    ///
    /// # Errors
    ///
    /// As [`tasks`](Self::tasks).
    #[doc(alias = "aclmdlRIGetStreams")]
    pub fn stream_count(&self) -> Result<usize> {
        Ok(self.raw_streams()?.len())
    }

    fn raw_streams(&self) -> Result<Vec<aclrtStream>> {
        let (context, graph) = (&**self.context_inner(), self.as_raw());
        let mut count = 0;
        // SAFETY: a live graph and a place for a number; without places nothing else is written.
        unsafe { call!(context, aclmdlRIGetStreams(graph, std::ptr::null_mut(), &raw mut count)) }?;
        let mut all = places(count, "streams")?;
        // SAFETY: as above, and as many places as `count` says.
        unsafe { call!(context, aclmdlRIGetStreams(graph, all.as_mut_ptr(), &raw mut count)) }?;
        Ok(there(all, count))
    }

    fn raw_tasks(&self, stream: aclrtStream) -> Result<Vec<aclmdlRITask>> {
        let context = &**self.context_inner();
        let mut count = 0;
        // SAFETY: a stream of a live graph, and a place for a number; without places nothing else is written.
        unsafe { call!(context, aclmdlRIGetTasksByStream(stream, std::ptr::null_mut(), &raw mut count)) }?;
        let mut all = places(count, "tasks")?;
        // SAFETY: as above, and as many places as `count` says.
        unsafe { call!(context, aclmdlRIGetTasksByStream(stream, all.as_mut_ptr(), &raw mut count)) }?;
        Ok(there(all, count))
    }

    fn task(&self, raw: aclmdlRITask, stream: usize) -> Result<GraphTask> {
        let context = &**self.context_inner();
        let (mut number, mut kind) = (0, aclmdlRITaskType::ACL_MODEL_RI_TASK_DEFAULT);
        // SAFETY: a task of a live graph, and a place for one number.
        unsafe { call!(context, aclmdlRITaskGetSeqId(raw, &raw mut number)) }?;
        // SAFETY: as above, and a place for a type.
        unsafe { call!(context, aclmdlRITaskGetType(raw, &raw mut kind)) }?;
        let (work, group) = match kind {
            // Those have no parameters.
            aclmdlRITaskType::ACL_MODEL_RI_TASK_DEFAULT => (TaskWork::Other, std::ptr::null_mut()),
            kind => {
                let mut params = no_params();
                // SAFETY: as above, and a place for parameters.
                unsafe { call!(context, aclmdlRITaskGetParams(raw, &raw mut params)) }?;
                (work_of(kind, &params)?, params.taskGrp)
            }
        };
        Ok(GraphTask { raw, graph: self.capture_id(), stream, number, work, group })
    }

    /// That a task is one of this graph.
    pub(crate) fn check_task(&self, task: &GraphTask) -> Result<()> {
        if task.graph == self.capture_id() { Ok(()) } else { Err(Error::invalid("a task of another graph")) }
    }
}

/// More than any graph has.
const MOST: usize = 1 << 24;

fn places(count: u32, what: &str) -> Result<Vec<*mut c_void>> {
    match usize::try_from(count) {
        Ok(count) if count <= MOST => Ok(vec![std::ptr::null_mut(); count]),
        _ => Err(Error::new(ErrorKind::UnknownValue, format!("a graph with {count} {what}"))),
    }
}

/// The places that were filled.
fn there(mut all: Vec<*mut c_void>, count: u32) -> Vec<*mut c_void> {
    all.truncate(count as usize);
    all.retain(|handle| !handle.is_null());
    all
}

/// Zero everywhere.
pub(super) fn no_params() -> aclmdlRITaskParams {
    // SAFETY: numbers, and pointers that are null.
    unsafe { std::mem::zeroed() }
}

fn work_of(kind: aclmdlRITaskType, params: &aclmdlRITaskParams) -> Result<TaskWork> {
    let params = &params.__bindgen_anon_1;
    let event = |event, event_flags, flags| EventTask { event, event_flags, flags };
    Ok(match kind {
        aclmdlRITaskType::ACL_MODEL_RI_TASK_KERNEL => {
            // SAFETY: the member that belongs to the type; any bytes are a value of it.
            let task = unsafe { params.kernelTaskParams };
            TaskWork::Kernel(KernelTask {
                function: task.funcHandle,
                blocks: task.numBlocks,
                argument_bytes: task.argsSize,
                arguments_in_memory: !task.args.is_null() && task.isHostArgs == 0,
            })
        }
        aclmdlRITaskType::ACL_MODEL_RI_TASK_EVENT_RECORD => {
            // SAFETY: as above.
            let task = unsafe { params.eventRecordTaskParams };
            TaskWork::EventRecord(event(task.event, task.eventFlag, task.recordFlag))
        }
        aclmdlRITaskType::ACL_MODEL_RI_TASK_EVENT_WAIT => {
            // SAFETY: as above.
            let task = unsafe { params.eventWaitTaskParams };
            TaskWork::EventWait(event(task.event, task.eventFlag, task.waitFlag))
        }
        aclmdlRITaskType::ACL_MODEL_RI_TASK_EVENT_RESET => {
            // SAFETY: as above.
            let task = unsafe { params.eventResetTaskParams };
            TaskWork::EventReset(event(task.event, task.eventFlag, task.resetFlag))
        }
        aclmdlRITaskType::ACL_MODEL_RI_TASK_VALUE_WRITE => {
            // SAFETY: as above.
            let task = unsafe { params.valueWriteTaskParams };
            TaskWork::ValueWrite { address: task.devAddr, value: task.value }
        }
        aclmdlRITaskType::ACL_MODEL_RI_TASK_VALUE_WAIT => {
            // SAFETY: as above.
            let task = unsafe { params.valueWaitTaskParams };
            TaskWork::ValueWait { address: task.devAddr, until: ValueWait::of(task.value, task.flag)? }
        }
        // Of a release to come.
        _ => TaskWork::Other,
    })
}

impl fmt::Debug for GraphTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphTask")
            .field("stream", &self.stream)
            .field("number", &self.number)
            .field("work", &self.work)
            .finish_non_exhaustive()
    }
}
