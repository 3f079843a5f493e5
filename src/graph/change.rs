//! Changing single tasks of a captured graph.

use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use acl_sys::{
    aclmdlRIKernelTaskParams, aclmdlRITask, aclmdlRITaskParams, aclmdlRITaskType, aclmdlRIValueWaitTaskParams,
    aclmdlRIValueWriteTaskParams,
};

use super::captured::{Graph, Made};
use super::tasks::{GraphTask, TaskWork, no_params};
use crate::allocation::{Allocation, How, Launches as _};
use crate::call::call;
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::theirs;
use crate::memory::{DeviceFlag, ValueWait};

/// Changes of tasks of a graph in the making: [`Graph::change`] applies them.
///
/// Numbers that are written or waited for are changed here, kernels by
/// [`KernelLaunch::replace`](crate::KernelLaunch::replace).
pub struct GraphChange<'a> {
    graph: &'a Graph,
    changes: Vec<Change>,
}

struct Change {
    task: aclmdlRITask,
    how: To,
    uses: Uses,
}

enum To {
    Nothing,
    /// As the library has it already, of a change that failed afterwards.
    Disabled,
    /// Of the type of the task.
    Params(Box<aclmdlRITaskParams>),
    Kernel(Box<dyn KernelChange>),
}

/// What the tasks use that a change gave a graph.
#[derive(Default)]
pub(super) struct Uses {
    pub(super) memory: Vec<(Arc<Allocation>, How)>,
    others: Vec<Box<dyn Any + Send>>,
    /// The task does nothing, for good; `in_part` while the change that said so is not made.
    disabled: bool,
    /// The latest change failed, and the task may be as before or not.
    pub(super) in_part: bool,
}

/// Another kernel for a task, or the same with other arguments.
pub(crate) trait KernelChange {
    /// Parameters, whose pointers stay good while this value is not touched.
    fn params(&mut self) -> Result<aclmdlRIKernelTaskParams>;
}

impl Graph {
    /// Changes tasks of a captured graph one by one, from the next launch on: `work` tells which, and how. Waits for
    /// the last launch, and returns when the graph is changed. An error of `work` changes nothing. What the tasks use
    /// from now on is kept by the graph; what it was captured with it keeps as long as it lives.
    ///
    /// Whole groups of kernels, of operators too, are replaced by [`Graph::update`], on more releases.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`] for a graph that was built by hand; the error of the last launch, and that of
    /// `work`; [`ErrorKind::NotSupported`] on devices, and with drivers, that cannot; [`ErrorKind::MissingSymbol`] on
    /// a library without, up to CANN 9.1. When the library refuses a change, what of those up to that one is made is
    /// unknown: launches are refused, [`ErrorKind::GraphRunning`], until the same tasks are changed again, and some
    /// libraries launch the graph never again.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::{CaptureMode, TaskWork};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let (one, other) = (device.context().flag(0)?, device.context().flag(0)?);
    /// let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| {
    ///     s.write_value(&one, 1)?;
    ///     s.write_value(&one, 2)
    /// })?;
    /// let tasks = graph.tasks()?;
    /// graph.change(|change| {
    ///     change.write_value(&tasks[0], &other, 5)?;
    ///     change.disable(&tasks[1])
    /// })?;
    /// graph.launch(&stream)?;
    /// graph.wait()?;
    /// assert_eq!((one.value()?, other.value()?), (0, 5));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRIUpdate")]
    #[doc(alias = "aclmdlRITaskSetParams")]
    pub fn change(&mut self, work: impl FnOnce(&mut GraphChange<'_>) -> Result<()>) -> Result<()> {
        if self.made() == Made::ByHand {
            return Err(Error::new(ErrorKind::NotSupported, "changes of tasks of a graph that was built by hand"));
        }
        let mut change = GraphChange { graph: self, changes: Vec::new() };
        theirs(|| work(&mut change))?;
        let mut changes = change.changes;
        if changes.is_empty() {
            return Ok(());
        }
        self.in_flight.wait()?;
        let context = Arc::clone(self.context_inner());
        let mut count = 0;
        let made = changes.iter_mut().try_for_each(|change| change.make(&context).inspect(|()| count += 1));
        let made = made.and_then(|()| {
            // SAFETY: a live graph that does not run; `&mut self` excludes another call for it.
            unsafe { call!(&*context, aclmdlRIUpdate(self.as_raw())) }
        });
        self.take_over_changes(changes, count, made.is_ok());
        made.map_err(|error| error.context("changing tasks of a graph"))
    }

    /// Of the changes the first `count` were made; one more was tried, where there is one.
    fn take_over_changes(&mut self, changes: Vec<Change>, count: usize, whole: bool) {
        let mut former = Vec::new();
        for (at, Change { task, how, uses }) in changes.into_iter().take(count + 1).enumerate() {
            for (memory, how) in &uses.memory {
                memory.used_by_graph(&self.in_flight, *how);
            }
            let known = self.changed.entry(task.addr()).or_default();
            if whole {
                former.push(std::mem::replace(known, uses));
            } else {
                // The task may be as before, or not.
                known.memory.extend(uses.memory);
                known.others.extend(uses.others);
                known.disabled |= uses.disabled && at < count;
                known.in_part = true;
            }
            drop(how);
        }
        // The next launch looks at all memory anew.
        self.in_flight.set_disturbed();
    }
}

impl GraphChange<'_> {
    /// The graph that is changed.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        self.graph
    }

    /// Lets a task that [writes a number](TaskWork::ValueWrite) write `value` to `flag`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for another task, one of another graph, one that was disabled before, and a flag
    /// of another device or library.
    #[doc(alias = "aclmdlRIValueWriteTaskParams")]
    pub fn write_value(&mut self, task: &GraphTask, flag: &DeviceFlag, value: u64) -> Result<()> {
        let memory = self.memory_of(flag)?;
        // SAFETY: the address is that of a flag, which the graph keeps from now on.
        unsafe { self.write_value_at(task, flag.address(), value) }?;
        self.keep(memory);
        Ok(())
    }

    /// Lets a task that [waits for a number](TaskWork::ValueWait) wait until `flag` is as `until` says.
    ///
    /// # Errors
    ///
    /// As [`write_value`](Self::write_value).
    #[doc(alias = "aclmdlRIValueWaitTaskParams")]
    pub fn wait_value(&mut self, task: &GraphTask, flag: &DeviceFlag, until: ValueWait) -> Result<()> {
        let memory = self.memory_of(flag)?;
        // SAFETY: the address is that of a flag, which the graph keeps from now on.
        unsafe { self.wait_value_at(task, flag.address(), until) }?;
        self.keep(memory);
        Ok(())
    }

    /// As [`write_value`](Self::write_value), to an address.
    ///
    /// # Safety
    ///
    /// 1. Eight bytes of device memory of the graph's device are there, at a multiple of 8, as long as the graph lives.
    /// 2. The caller orders launches of the graph with whatever else uses them.
    ///
    /// # Errors
    ///
    /// As [`write_value`](Self::write_value), and for an address that is null or no multiple of 8.
    pub unsafe fn write_value_at(&mut self, task: &GraphTask, address: *mut c_void, value: u64) -> Result<()> {
        check_address(address)?;
        if !matches!(task.work(), TaskWork::ValueWrite { .. }) {
            return Err(Error::invalid("a task that writes no number"));
        }
        let mut params = no_params();
        params.type_ = aclmdlRITaskType::ACL_MODEL_RI_TASK_VALUE_WRITE;
        params.__bindgen_anon_1.valueWriteTaskParams = aclmdlRIValueWriteTaskParams { devAddr: address, value };
        self.push(task, To::Params(Box::new(params)), Uses::default())
    }

    /// As [`wait_value`](Self::wait_value), of an address.
    ///
    /// # Safety
    ///
    /// As [`write_value_at`](Self::write_value_at).
    ///
    /// # Errors
    ///
    /// As [`write_value_at`](Self::write_value_at).
    pub unsafe fn wait_value_at(&mut self, task: &GraphTask, address: *mut c_void, until: ValueWait) -> Result<()> {
        check_address(address)?;
        if !matches!(task.work(), TaskWork::ValueWait { .. }) {
            return Err(Error::invalid("a task that waits for no number"));
        }
        let (value, flag) = until.raw();
        let mut params = no_params();
        params.type_ = aclmdlRITaskType::ACL_MODEL_RI_TASK_VALUE_WAIT;
        params.__bindgen_anon_1.valueWaitTaskParams = aclmdlRIValueWaitTaskParams { devAddr: address, value, flag };
        self.push(task, To::Params(Box::new(params)), Uses::default())
    }

    /// Lets a task do nothing: a kernel, or one that writes a number or waits for one. It stays so.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for another task, one of another graph, and one that was disabled before, unless the
    /// change that did so failed.
    #[doc(alias = "aclmdlRITaskDisable")]
    pub fn disable(&mut self, task: &GraphTask) -> Result<()> {
        match task.work() {
            TaskWork::Kernel(_) | TaskWork::ValueWrite { .. } | TaskWork::ValueWait { .. } => {
                self.push(task, To::Nothing, Uses { disabled: true, ..Uses::default() })
            }
            _ => Err(Error::invalid(
                "a task that cannot be disabled: kernels, writes of numbers and waits for them can",
            )),
        }
    }

    /// Lets a task that is a kernel run another one. Whoever calls this promises what a launch of it needs.
    pub(crate) fn set_kernel(
        &mut self,
        task: &GraphTask,
        kernel: Box<dyn KernelChange>,
        memory: Vec<(Arc<Allocation>, How)>,
        others: Vec<Box<dyn Any + Send>>,
    ) -> Result<()> {
        self.push(task, To::Kernel(kernel), Uses { memory, others, ..Uses::default() })
    }

    /// One task is changed once: the last time counts.
    fn push(&mut self, task: &GraphTask, mut how: To, uses: Uses) -> Result<()> {
        self.graph.check_task(task)?;
        // To the library it is none that can be changed, and trying that would spoil the graph.
        if let Some(known) = self.graph.changed.get(&task.raw().addr()).filter(|known| known.disabled) {
            if !known.in_part || !matches!(how, To::Nothing) {
                return Err(Error::invalid("a task that was disabled before, which holds for good"));
            }
            how = To::Disabled;
        }
        self.changes.retain(|known| known.task != task.raw());
        self.changes.push(Change { task: task.raw(), how, uses });
        Ok(())
    }

    fn memory_of(&self, flag: &DeviceFlag) -> Result<Arc<Allocation>> {
        let memory = flag.memory();
        self.graph.context_inner().check_memory(memory.context(), || "a flag".to_owned())?;
        Ok(Arc::clone(memory))
    }

    /// For the change that was told last.
    fn keep(&mut self, memory: Arc<Allocation>) {
        if let Some(change) = self.changes.last_mut() {
            change.uses.memory.push((memory, How::Kept));
        }
    }
}

fn check_address(address: *mut c_void) -> Result<()> {
    if address.is_null() || !address.cast::<u64>().is_aligned() {
        return Err(Error::invalid(format!("a number at {address:p}, which has to be at a multiple of 8 bytes")));
    }
    Ok(())
}

impl Change {
    fn make(&mut self, context: &ContextInner) -> Result<()> {
        let mut params = match &mut self.how {
            // SAFETY: a task of a live graph that does not run.
            To::Nothing => return unsafe { call!(context, aclmdlRITaskDisable(self.task)) },
            To::Disabled => return Ok(()),
            To::Params(params) => **params,
            To::Kernel(kernel) => {
                let mut params = no_params();
                params.type_ = aclmdlRITaskType::ACL_MODEL_RI_TASK_KERNEL;
                params.__bindgen_anon_1.kernelTaskParams = kernel.params()?;
                params
            }
        };
        // SAFETY: as above; the parameters are those of the task's type, and what they point to is there during the
        // call. The graph keeps the memory that they name, or whoever told of the change promises it.
        unsafe { call!(context, aclmdlRITaskSetParams(self.task, &raw mut params)) }
    }
}

impl fmt::Debug for GraphChange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphChange").field("changes", &self.changes.len()).finish_non_exhaustive()
    }
}
