//! Kernels as tasks of graphs: what they were launched with, and others in their place.

use std::ffi::c_void;
use std::time::Duration;

use acl_sys::{
    aclmdlRIKernelTaskParams, aclrtEngineType, aclrtFuncHandle, aclrtLaunchKernelAttr, aclrtLaunchKernelAttrId as Id,
    aclrtLaunchKernelAttrValue as Value, aclrtLaunchKernelCfg,
};

use super::attributes::{KernelEngine, Schedule};
use super::function::Kernel;
use crate::call::call;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{Graph, GraphTask, KernelChange, KernelTask, TaskWork};

/// What a kernel in a graph was launched with, beside its arguments: see [`Graph::kernel_attributes`]. What the library
/// does not tell, or not for the chip, is `None`; what the launch did not say is as the library has it then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
#[doc(alias = "aclrtLaunchKernelAttrValue")]
pub struct KernelAttributes {
    /// [`KernelLaunch::schedule`](crate::KernelLaunch::schedule).
    pub schedule: Option<Schedule>,
    /// [`KernelLaunch::dynamic_memory`](crate::KernelLaunch::dynamic_memory), in bytes.
    pub dynamic_memory: Option<u32>,
    /// [`KernelLaunch::engine`](crate::KernelLaunch::engine).
    pub engine: Option<KernelEngine>,
    /// [`KernelLaunch::block_offset`](crate::KernelLaunch::block_offset).
    pub block_offset: Option<u32>,
    /// [`KernelLaunch::task_prefetch`](crate::KernelLaunch::task_prefetch).
    pub task_prefetch: Option<bool>,
    /// [`KernelLaunch::dump`](crate::KernelLaunch::dump).
    pub dump: Option<bool>,
    /// [`KernelLaunch::profile`](crate::KernelLaunch::profile).
    pub profile: Option<bool>,
    /// [`KernelLaunch::limit`](crate::KernelLaunch::limit), where it has one of its own.
    pub limit: Option<Duration>,
}

impl Kernel {
    /// Whether a task of a graph runs this kernel. Never, for the library, where it tells no functions.
    #[must_use]
    pub fn is_run_by(&self, task: &GraphTask) -> bool {
        matches!(task.work(), TaskWork::Kernel(KernelTask { function, .. }) if function == self.as_raw())
    }
}

impl Graph {
    /// What a kernel of this graph was launched with. Returns at once.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a task that is no kernel, or one of another graph;
    /// [`ErrorKind::MissingSymbol`] on a library that cannot tell, up to CANN 9.1.
    #[doc(alias = "aclmdlRIKernelTaskGetAttribute")]
    pub fn kernel_attributes(&self, task: &GraphTask) -> Result<KernelAttributes> {
        self.check_task(task)?;
        if !matches!(task.work(), TaskWork::Kernel(_)) {
            return Err(Error::invalid("attributes of a task that is no kernel"));
        }
        let ask = |id| self.attribute(task, id);
        let small = |id| ask(id).map(|value| value.map(|[first, ..]| first & 0xFF));
        let flag = |id| small(id).map(|value| value.map(|value| value != 0));
        let number = |id| ask(id).map(|value| value.map(|[first, ..]| first));
        let schedule = match small(Id::ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE)? {
            Some(0) => Some(Schedule::Normal),
            Some(1) => Some(Schedule::Batch),
            _ => None,
        };
        let engine = match number(Id::ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE)?.map(aclrtEngineType) {
            Some(aclrtEngineType::ACL_RT_ENGINE_TYPE_AIC) => Some(KernelEngine::Cube),
            Some(aclrtEngineType::ACL_RT_ENGINE_TYPE_AIV) => Some(KernelEngine::Vector),
            _ => None,
        };
        let seconds = ask(Id::ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT)?.map_or(0, |[first, ..]| first & 0xFFFF);
        let us = ask(Id::ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US)?
            .map_or(0, |[low, high, ..]| u64::from(low) | u64::from(high) << 32);
        let limit = match us {
            0 => Duration::from_secs(seconds.into()),
            us => Duration::from_micros(us),
        };
        Ok(KernelAttributes {
            schedule,
            dynamic_memory: number(Id::ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE)?,
            engine,
            block_offset: number(Id::ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET)?,
            // The number says that it is not to be.
            task_prefetch: flag(Id::ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH)?.map(|off| !off),
            dump: flag(Id::ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP)?,
            profile: flag(Id::ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING)?,
            limit: Some(limit).filter(|limit| !limit.is_zero()),
        })
    }

    fn attribute(&self, task: &GraphTask, id: Id) -> Result<Option<[u32; 4]>> {
        let mut value = Value { rsv: [0; 4] };
        // SAFETY: a task of this live graph, and a place for a value.
        let asked =
            unsafe { call!(&**self.context_inner(), aclmdlRIKernelTaskGetAttribute(task.raw(), id, &raw mut value)) };
        match asked {
            // SAFETY: every byte of the value was set before the call, and any bytes are numbers.
            Ok(()) => Ok(Some(unsafe { value.rsv })),
            Err(error) if matches!(error.kind(), ErrorKind::NotSupported | ErrorKind::InvalidArgument) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A launch in place of a task.
pub(super) struct Replacement {
    pub(super) function: aclrtFuncHandle,
    pub(super) blocks: u32,
    pub(super) attributes: Vec<aclrtLaunchKernelAttr>,
    pub(super) config: aclrtLaunchKernelCfg,
    pub(super) arguments: Place,
}

/// Where arguments are.
pub(super) enum Place {
    Host(Vec<u8>),
    Device(*mut c_void, usize),
}

impl KernelChange for Replacement {
    fn params(&mut self) -> Result<aclmdlRIKernelTaskParams> {
        self.config = aclrtLaunchKernelCfg { attrs: self.attributes.as_mut_ptr(), numAttrs: self.attributes.len() };
        let (args, size, is_host) = match &mut self.arguments {
            Place::Host(bytes) => (bytes.as_mut_ptr().cast(), bytes.len(), 1),
            Place::Device(address, size) => (*address, *size, 0),
        };
        Ok(aclmdlRIKernelTaskParams {
            funcHandle: self.function,
            cfg: if self.attributes.is_empty() { std::ptr::null_mut() } else { &raw mut self.config },
            args,
            isHostArgs: is_host,
            argsSize: size,
            numBlocks: self.blocks,
            rsv: [0; 10],
        })
    }
}
