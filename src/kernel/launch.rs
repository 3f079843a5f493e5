//! Launches of kernels.

use std::ffi::c_void;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use acl_sys::{aclrtLaunchKernelCfg, aclrtStream};
use bytemuck::Pod;

use super::argument::{Arguments, Block, KernelArgument, number};
use super::attributes::{KernelEngine, Schedule};
use super::function::Kernel;
use super::in_graph::{Place, Replacement};
use super::parts::{All, Whole};
use crate::allocation::Touch;
use crate::call::call;
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{GraphChange, GraphTask, TaskWork};
use crate::memory::{DeviceRead, DeviceSlice, DeviceWrite};
use crate::stream::Stream;

/// A launch of a [`Kernel`] in the making: arguments in their order, and how it is to run. [`submit`](Self::submit)
/// queues it.
///
/// Memory that is given as `&` or `&mut` is kept until the launch is done, and by a graph that records it; other
/// streams are [ordered](Stream#order-between-streams) with it. Limits of cores are those of the stream
/// ([`Stream::limit_cores`]).
///
/// C calls: `aclrtLaunchKernelWithHostArgs`; on releases without it `aclrtKernelArgsInit`, `aclrtKernelArgsAppend`,
/// `aclrtKernelArgsAppendPlaceHolder`, `aclrtKernelArgsGetPlaceHolderBuffer`, `aclrtKernelArgsFinalize`,
/// `aclrtLaunchKernelWithConfig`. With arguments in device memory `aclrtLaunchKernelV2`, without attributes
/// `aclrtLaunchKernel`.
#[must_use = "nothing is launched before `submit`"]
#[doc(alias = "aclrtLaunchKernelCfg")]
pub struct KernelLaunch<'a> {
    stream: &'a Stream,
    blocks: u32,
    arguments: Arguments<'a>,
}

impl<'a> KernelLaunch<'a> {
    #[inline]
    pub(super) fn new(kernel: &'a Kernel, stream: &'a Stream) -> Self {
        Self { stream, blocks: 1, arguments: Arguments::new(kernel) }
    }

    // How large a value is, is known where this is no call.
    #[inline(always)]
    fn with(mut self, add: impl FnOnce(&mut Self) -> Result<()>) -> Self {
        if self.arguments.parts.wrong.is_none()
            && let Err(error) = add(&mut self)
        {
            self.arguments.parts.wrong = Some(error);
        }
        self
    }

    /// How often the kernel runs: each block has a number, and does its part. Up to 65,535; one at first.
    #[inline(always)]
    pub fn blocks(mut self, blocks: u32) -> Self {
        self.blocks = blocks;
        self
    }

    /// The next argument: see [`KernelArgument`]. Where the kernel declares its parameters the sizes must be theirs.
    #[doc(alias = "aclrtKernelArgsAppend")]
    #[inline(always)]
    pub fn arg(self, argument: impl KernelArgument<'a>) -> Self {
        self.with(|launch| argument.put(&mut launch.arguments))
    }

    /// The next argument: the address of a copy of `data` that goes along with the launch, such as a tiling structure.
    /// A few kilobytes at most are well placed there. A graph has the copy.
    #[doc(alias = "aclrtKernelArgsAppendPlaceHolder")]
    #[doc(alias = "aclrtPlaceHolderInfo")]
    pub fn data<T: Pod>(self, data: &[T]) -> Self {
        self.with(|launch| launch.arguments.data(bytemuck::cast_slice(data).to_vec()))
    }

    /// The next argument: an address, of which nothing is known here.
    pub fn address(self, address: *mut c_void) -> Self {
        self.with(|launch| launch.arguments.address(address))
    }

    /// All arguments at once, as the kernel has them: a `#[repr(C)]` struct. Memory whose addresses are in it is told
    /// by [`also_reads`](Self::also_reads) and [`also_writes`](Self::also_writes).
    pub fn all_args<T: Pod>(self, arguments: &T) -> Self {
        self.with(|launch| {
            let bytes = bytemuck::bytes_of(arguments);
            launch.set_whole(Whole::Host, bytes.len())?;
            launch.arguments.parts.block.set_whole(bytes);
            Ok(())
        })
    }

    /// All arguments at once, read from device memory when the kernel runs, and in every replay of a graph: what is
    /// written there in between counts. The launch reads that memory, which begins at a multiple of 8 bytes.
    #[doc(alias = "aclrtLaunchKernel")]
    #[doc(alias = "aclrtLaunchKernelV2")]
    pub fn args_in(self, memory: &'a impl DeviceRead<Element = u8>) -> Self {
        self.with(|launch| {
            let memory = memory.as_slice();
            launch.arguments.parts.uses.push(Touch::read(memory.allocation()));
            launch.set_whole(Whole::Device(memory), memory.size_bytes())
        })
    }

    fn set_whole(&mut self, whole: Whole<'a>, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Err(Error::invalid(format!("no bytes of arguments for kernel {:?}", self.name())));
        }
        if let Whole::Device(memory) = &whole
            && !memory.address().cast::<u64>().is_aligned()
        {
            let text =
                format!("arguments of kernel {:?} at {:p}, which is no multiple of 8", self.name(), memory.address());
            return Err(Error::invalid(text));
        }
        number(bytes)?;
        self.arguments.check_block(bytes)?;
        self.arguments.parts.whole = whole;
        Ok(())
    }

    /// The kernel reads this memory, whose address it has from elsewhere.
    pub fn also_reads(mut self, memory: &'a impl DeviceRead) -> Self {
        self.arguments.parts.uses.push(Touch::read(memory.as_slice().allocation()));
        self
    }

    /// The kernel reads and writes this memory, whose address it has from elsewhere.
    pub fn also_writes(mut self, memory: &'a mut impl DeviceWrite) -> Self {
        let memory = &*memory;
        self.arguments.parts.uses.push(Touch::written(memory.as_slice().allocation()));
        self
    }

    /// How the blocks start; at first as the kernel says.
    #[doc(alias = "ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE")]
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.arguments.parts.attributes.schedule(schedule);
        self
    }

    /// The cores that run it, on chips where either kind may: those of the 310P.
    #[doc(alias = "ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE")]
    pub fn engine(mut self, engine: KernelEngine) -> Self {
        self.arguments.parts.attributes.engine(engine);
        self
    }

    /// The number of the first block, where another launch has those before, on other cores: on the 310P.
    #[doc(alias = "ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET")]
    pub fn block_offset(mut self, offset: u32) -> Self {
        self.arguments.parts.attributes.block_offset(offset);
        self
    }

    /// Whether the device may read the task ahead of its time; it may at first.
    #[doc(alias = "ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH")]
    pub fn task_prefetch(mut self, on: bool) -> Self {
        self.arguments.parts.attributes.task_prefetch(on);
        self
    }

    /// Whether dumps of operators have this launch, while they are on.
    #[doc(alias = "ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP")]
    pub fn dump(mut self, on: bool) -> Self {
        self.arguments.parts.attributes.dump(on);
        self
    }

    /// Whether profiles have this launch, while one is taken.
    #[doc(alias = "ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING")]
    pub fn profile(mut self, on: bool) -> Self {
        self.arguments.parts.attributes.profile(on);
        self
    }

    /// Bytes of memory on the core that the kernel divides itself: for kernels of threads (SIMT), on chips with such
    /// cores.
    #[doc(alias = "ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE")]
    pub fn dynamic_memory(mut self, bytes: u32) -> Self {
        self.arguments.parts.attributes.dynamic_memory(bytes);
        self
    }

    /// How long the kernel may take: microseconds, rounded up; on releases without conditional graphs, up to CANN 9.0,
    /// which may have no finer limit, whole seconds, rounded up, 65,535 at most. None for as long as it takes. A
    /// launch that takes longer fails on the device, with code 507014 or its like. At first the limit is that of the
    /// process ([`Context::set_operator_limit`](crate::Context::set_operator_limit)).
    #[doc(alias = "ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT")]
    #[doc(alias = "ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US")]
    pub fn limit(self, limit: impl Into<Option<Duration>>) -> Self {
        self.with(|launch| {
            let fine = launch.stream.0.context().has_fine_limits();
            launch.arguments.parts.attributes.limit(limit.into(), fine)
        })
    }

    fn name(&self) -> &'a str {
        self.arguments.kernel.name()
    }

    /// Queues the launch. Returns when that is done, with the arguments copied; in a capture it becomes part of the
    /// graph. A kernel that fails is reported by a later call that waits, and its error names it
    /// ([`Error::task_failure`]).
    ///
    /// # Safety
    ///
    /// The kernel is code from elsewhere, and the device believes it.
    ///
    /// 1. The arguments are those that the kernel takes, in number, order, type and meaning. Sizes are checked where
    ///    the kernel declares them; nothing else is.
    /// 2. With these arguments and so many blocks it reads and writes no memory but its own variables, what is given as
    ///    `&` or by [`also_reads`](Self::also_reads), which it only reads, and what is given as `&mut` or by
    ///    [`also_writes`](Self::also_writes): inside of the part that was given.
    /// 3. Memory that it reaches otherwise, by [`address`](Self::address) or an address in memory, stays as long as the
    ///    work, and as long as each graph that records it; the caller orders work on it, and on variables of the binary
    ///    that are not told.
    /// 4. Where blocks wait for each other, [`Schedule::Batch`] is set, or the kernel's own.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for arguments that are not those which the kernel declares, more than 128, 4 GiB
    /// of them, no blocks or more than 65,535, more blocks in a batch than there are cores, memory or a kernel of
    /// another device or library; [`ErrorKind::InvalidHandle`] for a stream or a binary destroyed beside this crate;
    /// [`ErrorKind::NotSupported`] for a [limit](Self::limit) that the release does not have;
    /// [`ErrorKind::MissingSymbol`] on a library that launches no kernels; inside an update of a graph as that says. A
    /// capture gives no graph then.
    #[doc(alias = "aclrtLaunchKernelWithHostArgs")]
    #[doc(alias = "aclrtLaunchKernelWithConfig")]
    #[track_caller]
    #[inline(always)]
    pub unsafe fn submit(mut self) -> Result<()> {
        self.queue(Location::caller())
    }

    #[inline(never)]
    fn queue(&mut self, location: &'static Location<'static>) -> Result<()> {
        let named = ("kernel launch", location);
        let stream = self.stream;
        self.check().map_err(|error| stream.refuse(named, error))?;
        let Self { blocks, arguments: Arguments { kernel, parts }, .. } = self;
        let (kernel, All { block, uses, whole, attributes, .. }) = (*kernel, &mut **parts);
        let launched = kernel.inner().handle.submit(stream, named, uses.as_slice(), |context, stream| {
            let list = attributes.list();
            let mut config = aclrtLaunchKernelCfg { attrs: list.as_mut_ptr(), numAttrs: list.len() };
            let config = if list.is_empty() { std::ptr::null_mut() } else { &raw mut config };
            Launch { context, kernel, blocks: *blocks, stream, config }.call(whole, block)
        });
        launched.map_err(|error| error.context(format!("launching kernel {:?}", kernel.name())))
    }

    /// Lets a kernel of a captured graph be this launch from the next launch of the graph on: another kernel of the
    /// same kind, or the same with other arguments. The graph keeps its memory and its code. A launch that says no
    /// attribute leaves those of before; one that says some says all of them. The stream says nothing but the device.
    ///
    /// # Safety
    ///
    /// As for [`submit`](Self::submit), at each launch of the graph.
    ///
    /// # Errors
    ///
    /// As of [`submit`](Self::submit) for arguments; [`ErrorKind::InvalidArgument`] for a task that is no kernel, or
    /// of another graph, and for a graph of another device or library; [`ErrorKind::NotSupported`] for a task whose
    /// function the library does not tell, as of operators, and for [data](Self::data) that goes along with the
    /// launch. What the library refuses is told by [`Graph::change`](crate::Graph::change).
    #[doc(alias = "aclmdlRITaskSetParams")]
    #[doc(alias = "aclmdlRIKernelTaskParams")]
    pub unsafe fn replace(mut self, change: &mut GraphChange<'_>, task: &GraphTask) -> Result<()> {
        self.check()?;
        match task.work() {
            TaskWork::Kernel(kernel) if !kernel.function.is_null() => {}
            TaskWork::Kernel(_) => {
                let text = "a kernel of an operator is replaced with its group, by Graph::update";
                return Err(Error::new(ErrorKind::NotSupported, text));
            }
            _ => return Err(Error::invalid("a task that is no kernel")),
        }
        let Arguments { kernel, mut parts } = self.arguments;
        let All { block, uses, whole, attributes, .. } = &mut *parts;
        let handle = &kernel.inner().handle;
        let what = || format!("kernel {:?}", kernel.name());
        let context = change.graph().context_inner();
        context.check_memory(handle.context(), what)?;
        for touch in uses.as_slice() {
            context.check_memory(touch.memory.context(), || "memory".to_owned())?;
            touch.memory.check_free_standing()?;
        }
        if !block.data.is_empty() {
            let text = format!("data that goes along with {}, in place of a task of a graph", what());
            return Err(Error::new(ErrorKind::NotSupported, text));
        }
        let place = match whole {
            Whole::Device(memory) => Place::Device(memory.address(), memory.size_bytes()),
            Whole::Host => Place::Host(block.bytes.as_slice().to_vec()),
            Whole::No => {
                block.joined()?;
                Place::Host(block.bytes.as_slice().to_vec())
            }
        };
        let replacement = Replacement {
            function: kernel.as_raw(),
            blocks: self.blocks,
            attributes: attributes.list().to_vec(),
            config: aclrtLaunchKernelCfg { attrs: std::ptr::null_mut(), numAttrs: 0 },
            arguments: place,
        };
        let memory = uses.as_slice().iter().map(|touch| (Arc::clone(touch.memory), touch.how)).collect();
        change.set_kernel(task, Box::new(replacement), memory, vec![Box::new(Arc::clone(handle))])
    }

    fn check(&mut self) -> Result<()> {
        if let Some(error) = self.arguments.parts.wrong.take() {
            return Err(error);
        }
        if self.blocks == 0 || self.blocks > 65_535 {
            let text = format!("{} blocks of kernel {:?}, which may have 1 to 65,535", self.blocks, self.name());
            return Err(Error::invalid(text));
        }
        match &self.arguments.parts.whole {
            Whole::No => self.arguments.check()?,
            _ if self.arguments.parts.block.parts.len() > 0 => {
                let text = format!("kernel {:?} is given all arguments, and some one by one", self.name());
                return Err(Error::invalid(text));
            }
            _ => {}
        }
        self.arguments
            .parts
            .uses
            .as_slice()
            .iter()
            .try_for_each(|touch| self.stream.check_device(touch.memory.context()))
    }
}

/// What every call of a launch takes.
struct Launch<'a> {
    context: &'a ContextInner,
    kernel: &'a Kernel,
    blocks: u32,
    stream: aclrtStream,
    /// Null, or attributes that outlive the call.
    config: *mut aclrtLaunchKernelCfg,
}

impl Launch<'_> {
    fn call(&self, whole: &Whole<'_>, block: &mut Block) -> Result<()> {
        match whole {
            Whole::Device(memory) => return self.in_memory(memory),
            Whole::Host => block.parts.push((0, number(block.bytes.len())?)),
            Whole::No => {}
        }
        if self.context.has_host_arguments() { self.with_block(block) } else { self.with_list(block) }
    }

    fn in_memory(&self, memory: &DeviceSlice<'_, u8>) -> Result<()> {
        let (function, address, bytes) = (self.kernel.as_raw(), memory.address().cast_const(), memory.size_bytes());
        if self.config.is_null() {
            // SAFETY: live handles; the memory is registered with the work, and the rest is the promise of whoever
            // submits.
            return unsafe {
                call!(self.context, aclrtLaunchKernel(function, self.blocks, address, bytes, self.stream))
            };
        }
        // SAFETY: as above; the attributes outlive the call.
        unsafe {
            call!(self.context, aclrtLaunchKernelV2(function, self.blocks, address, bytes, self.config, self.stream))
        }
    }

    fn with_block(&self, block: &mut Block) -> Result<()> {
        let mut places = block.joined()?;
        let bytes = block.bytes.as_mut_slice();
        let (bytes, size) = (bytes.as_mut_ptr().cast(), bytes.len());
        let (first, count) = match places.len() {
            0 => (std::ptr::null_mut(), 0),
            count => (places.as_mut_ptr(), count),
        };
        // SAFETY: live handles; `size` bytes and `count` places in them that the call copies; memory in the arguments
        // is registered with the work, and the rest is the promise of whoever submits.
        unsafe {
            call!(
                self.context,
                aclrtLaunchKernelWithHostArgs(
                    self.kernel.as_raw(),
                    self.blocks,
                    self.stream,
                    self.config,
                    bytes,
                    size,
                    first,
                    count
                )
            )
        }
    }

    /// The same with a list, which the library makes anew for this thread, and copies when it launches.
    fn with_list(&self, block: &mut Block) -> Result<()> {
        let (context, function) = (self.context, self.kernel.as_raw());
        let data = std::mem::take(&mut block.data);
        if block.bytes.len() == 0 {
            block.joined()?;
        }
        let mut list = std::ptr::null_mut();
        // SAFETY: a live handle, and a place for one handle.
        unsafe { call!(context, aclrtKernelArgsInit(function, &raw mut list)) }?;
        let mut places = Vec::with_capacity(data.len());
        for (index, &(offset, size)) in block.parts.as_slice().iter().enumerate() {
            let (offset, size) = (offset as usize, size as usize);
            let mut place = std::ptr::null_mut();
            if data.iter().any(|(at, _)| *at == index) {
                // SAFETY: the list of above, and a place for one handle.
                unsafe { call!(context, aclrtKernelArgsAppendPlaceHolder(list, &raw mut place)) }?;
                places.push(place);
                continue;
            }
            let value = block.bytes.as_mut_slice()[offset..offset + size].as_mut_ptr().cast();
            // SAFETY: as above, with `size` bytes, which the call copies.
            unsafe { call!(context, aclrtKernelArgsAppend(list, value, size, &raw mut place)) }?;
        }
        for (place, (_, data)) in places.into_iter().zip(&data) {
            let (mut room, size) = (std::ptr::null_mut(), data.len());
            // SAFETY: a placeholder of that list, and a place for one address.
            unsafe { call!(context, aclrtKernelArgsGetPlaceHolderBuffer(list, place, size, &raw mut room)) }?;
            if room.is_null() {
                return Err(Error::new(ErrorKind::UnknownValue, "no room for data behind an argument"));
            }
            // SAFETY: the library gave room for so many bytes, which nobody else has.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), room.cast::<u8>(), size) };
        }
        // SAFETY: the list of above.
        unsafe { call!(context, aclrtKernelArgsFinalize(list)) }?;
        // SAFETY: as for `with_block`; the list is that of this thread still.
        unsafe {
            call!(
                context,
                aclrtLaunchKernelWithConfig(
                    function,
                    self.blocks,
                    self.stream,
                    self.config,
                    list,
                    std::ptr::null_mut()
                )
            )
        }
    }
}

impl fmt::Debug for KernelLaunch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelLaunch")
            .field("kernel", &self.name())
            .field("blocks", &self.blocks)
            .field("arguments", &self.arguments.parts.block.parts.as_slice())
            .finish_non_exhaustive()
    }
}
