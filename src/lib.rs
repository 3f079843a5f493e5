//! Safe Rust for Ascend NPUs: devices, streams, events, memory, captured graphs, prefetch and operators.
//!
//! On an NPU the host often cannot issue operators as fast as the device finishes them. AscendCL, the C runtime of
//! CANN, can record what streams are told and replay it with one call; inside such a graph, side streams and events
//! let work overlap, and a prefetch moves weights into the L2 cache while other work runs. This crate makes that
//! safe.
//!
//! ```
//! use racl::{Acl, CaptureMode, Prefetch, op};
//!
//! let acl = Acl::mock()?; // Acl::init() finds the library of the machine
//! let device = acl.device(0)?;
//! let main = device.stream()?;
//! let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
//! let w = device.upload_tensor(&[1.0_f32, 0.0, 0.0, 1.0], [2, 2])?;
//! let mut sum = device.zeros::<f32>([2, 2])?;
//! let mut out = device.zeros::<f32>([2, 2])?;
//!
//! let mut graph = main.capture(CaptureMode::ThreadLocal, |s| {
//!     let side = s.side("1")?;
//!     s.fork(&side)?;
//!     side.prefetch(&w, Prefetch::all())?;
//!     op::add(s, &a, &a, &mut sum)?;
//!     op::matmul(s, &sum, &w, &mut out)?;
//!     s.join(&side)
//! })?;
//! graph.launch(&main)?;
//! assert_eq!(out.to_vec()?, [2.0, 4.0, 6.0, 8.0]);
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # Threads
//!
//! Everything except [`Graph`] (one thread at a time) and [`Capture`] (the thread that began it) can be used from any
//! thread. The runtime binds contexts to threads; each call here binds the right one.
//!
//! Dropping a stream, a graph or an executable waits for its work, unless a [gate of a plan](plan::External) may hold
//! that up: then a thread of this crate waits and destroys it. A later call that waits, or that finds too few streams
//! left, collects it; [`Context::close`] refuses while it is not done. Such a thread never keeps a process from its
//! end. The same becomes of work that is not done after [ten seconds](set_drop_limit), with an error among those of
//! drops.
//!
//! # Errors
//!
//! Work fails where it runs, later than the call that submitted it; the next synchronising call reports it: a wait for its
//! stream, or for an event, copy or memory of it, and, once for each stream, one for work that [is behind
//! it](Stream::synchronize) on another stream. A call that takes a value and fails gives it back, in a [`Refused`], of which `?` leaves the error.
//! Destructors log their errors and keep them for [`Context::take_drop_errors`].

#![cfg_attr(docsrs, feature(doc_cfg))]

mod acl;
mod allocation;
#[cfg(feature = "ndarray")]
mod arrays;
mod built;
mod by_plan;
#[cfg(feature = "cache")]
pub mod cache;
mod call;
mod callback;
mod closure;
pub mod collective;
#[cfg(doctest)]
mod compile_fail;
mod context;
mod cores;
mod device;
#[cfg(feature = "dlpack")]
pub mod dlpack;
mod error;
mod event;
mod failures;
mod future;
mod graph;
mod kernel;
mod lock;
mod logs;
mod memory;
#[cfg(feature = "mock")]
pub mod mock;
mod model;
mod notify;
pub mod op;
pub mod plan;
mod pool;
mod prefetch;
pub mod profiling;
mod progress;
mod raw;
mod recent;
mod report;
mod requirement;
mod retire;
mod shortcuts;
mod snapshot;
mod sort;
mod stream;
mod text;

pub use acl_sys as sys;
pub use bytemuck;
pub use half;
#[cfg(feature = "ndarray")]
pub use ndarray;

pub use acl::{
    AbortStage, Acl, CacheMode, DeviceState, ErrorScope, EventMode, FaultDetail, HostData, InitDump, InitOptions,
    InitProfiler, KernelOutput, StreamState, TaskTimes, Watch, set_end_on_drop,
};
pub use built::{BUILD, Build};
pub use call::set_verify_context;
pub use context::{Allocator, Context, ForeignAllocator, Place, PlaceKind, SystemOption};
pub use cores::DeviceCoreLimit;
pub use device::{
    Device, DeviceFault, DeviceFeature, DeviceLink, DeviceStatus, DeviceUnit, FaultKind, FormFactor, LibraryFeature,
    MemoryError, OverflowMode, RunMode, SuperPod, Utilization,
};
pub use error::{Error, ErrorKind, Refused, Result, ResultExt, Thrown};
pub use event::{Event, ExternalEvent, IpcEvent, IpcEventHandle, TimingEvent};
pub use failures::TaskFailure;
pub use future::{Finished, GivenBack, Reached};
pub use graph::{
    Capture, CaptureMode, Comparable, Comparison, Condition, DetachedCapture, EventTask, Graph, GraphBuilder,
    GraphChange, GraphPool, GraphTask, HostView, KernelTask, Label, LabelList, TaskGroup, TaskWork,
};
pub use kernel::{
    BinaryCore, BinaryOptions, CpuKernels, Kernel, KernelArgument, KernelAttributes, KernelBinary, KernelCores,
    KernelEngine, KernelKind, KernelLaunch, KernelParameter, Schedule,
};
pub use logs::set_error_logs;
#[cfg(feature = "mock")]
#[doc(hidden)]
pub use memory::order_alone;
pub use memory::{
    CopyDescriptor, DeviceBuffer, DeviceFlag, DevicePointer, DeviceRead, DeviceSlice, DeviceSliceMut, DeviceWrite,
    GrowableBuffer, Lent, ManagedAdvice, ManagedBuffer, ManagedPlace, MappedBuffer, MemoryAccess, MemoryExport,
    MemoryKey, MemoryLink, PageKind, PhysicalKey, PhysicalMemory, PhysicalProperties, PinnedBuffer, Rows,
    SharedBuffer, ValueWait,
};
pub use model::{
    ColorConversion, ImageFormat, ImageSteps, Model, ModelDescription, ModelFinished, ModelFormat, ModelGears,
    ModelInput, ModelKey, ModelOptions, ModelOutput, ModelRun, ModelSize, ModelTensor, OutputShapes, Preprocessing,
};
pub use notify::{CountUpdate, CountWait, CountingNotify, Notify, NotifyKey};
pub use op::tensor::Tensor;
pub use pool::{Amount, MemoryClass, MemoryStats};
pub use prefetch::{Prefetch, Prefetchable};
pub use report::Report;
pub use requirement::Requirement;
pub use retire::set_drop_limit;
pub use snapshot::{ProcessBackup, ProcessLock, SnapshotStage, SnapshotWatch};
pub use stream::{CoreLimit, GraphNeeds, Stream, StreamOptions, untracked};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
mod book;
