//! Which types may cross threads, and which may not.

use racl::collective::{Batch, Communicator, CommunicatorOptions, Group, RootInfo};
use racl::dlpack::Managed;
use racl::plan::{Bindings, Executable, HostOutputs, Plan, Pool};
use racl::profiling::{Dump, HostRange, Profile, Step};
use racl::{
    Acl, Capture, Condition, Context, CopyDescriptor, CoreLimit, CountingNotify, DetachedCapture, Device,
    DeviceBuffer, DeviceCoreLimit, DeviceFlag, DevicePointer, DeviceSlice, DeviceSliceMut, Error, Event,
    ExternalEvent, Finished, GivenBack, Graph, GraphBuilder, GraphChange, GraphNeeds, GraphPool, GraphTask,
    GrowableBuffer, HostView, IpcEvent, Kernel, KernelBinary, KernelLaunch, Label, LabelList, Lent, ManagedBuffer,
    MappedBuffer, MemoryExport, Model, ModelDescription, ModelFinished, ModelOptions, ModelRun, Notify,
    PhysicalMemory, PinnedBuffer, Prefetch, Reached, Refused, SharedBuffer, Stream, TaskFailure, TaskGroup, Tensor,
    Thrown, TimingEvent, Watch,
};

trait AmbiguousIfSend<A> {
    fn check() {}
}
impl<T: ?Sized> AmbiguousIfSend<()> for T {}
struct IsSend;
impl<T: ?Sized + Send> AmbiguousIfSend<IsSend> for T {}

trait AmbiguousIfSync<A> {
    fn check() {}
}
impl<T: ?Sized> AmbiguousIfSync<()> for T {}
struct IsSync;
impl<T: ?Sized + Sync> AmbiguousIfSync<IsSync> for T {}

fn send<T: Send>() {}
fn sync<T: Sync>() {}

#[test]
fn plans_are_shared_and_executables_move_between_threads() {
    send::<Plan>();
    sync::<Plan>();
    send::<Executable>();
    send::<HostOutputs>();
    send::<Bindings>();
    send::<Pool>();
    sync::<Pool>();
}

#[test]
fn communicators_are_shared_and_what_is_not_queued_yet_stays_on_its_thread() {
    send::<Communicator>();
    sync::<Communicator>();
    send::<RootInfo>();
    sync::<RootInfo>();
    send::<CommunicatorOptions>();
    let _ = <Batch<'_> as AmbiguousIfSend<_>>::check;
    let _ = <Group<'_> as AmbiguousIfSend<_>>::check;
}

#[test]
fn models_are_shared_and_their_runs_move_between_threads() {
    send::<Model>();
    sync::<Model>();
    send::<ModelDescription>();
    sync::<ModelDescription>();
    send::<ModelOptions>();
    sync::<ModelOptions>();
    send::<ModelFinished<'_>>();
    sync::<ModelFinished<'_>>();
    send::<ModelRun<'_>>();
    sync::<ModelRun<'_>>();
}

#[test]
fn profiles_and_dumps_may_end_on_another_thread() {
    send::<Profile>();
    sync::<Profile>();
    send::<HostRange>();
    sync::<HostRange>();
    send::<Step>();
    send::<Dump>();
    sync::<Dump>();
}

#[test]
fn futures_move_between_the_threads_of_an_executor() {
    fn unpin<T: Unpin>() {}
    send::<Finished>();
    sync::<Finished>();
    unpin::<Finished>();
    send::<Reached>();
    sync::<Reached>();
    unpin::<Reached>();
    send::<racl::plan::RunReached>();
    sync::<racl::plan::RunReached>();
    unpin::<racl::plan::RunReached>();
    send::<racl::plan::Arrived<'static>>();
    unpin::<racl::plan::Arrived<'static>>();
    send::<GivenBack<f32>>();
    unpin::<GivenBack<f32>>();
}

#[test]
fn handles_and_memory_can_be_used_from_any_thread() {
    send::<Acl>();
    sync::<Acl>();
    send::<Device>();
    sync::<Device>();
    send::<Context>();
    sync::<Context>();
    send::<Stream>();
    sync::<Stream>();
    send::<Condition>();
    sync::<Condition>();
    send::<Event>();
    sync::<Event>();
    send::<ExternalEvent>();
    sync::<ExternalEvent>();
    send::<Notify>();
    sync::<Notify>();
    send::<CountingNotify>();
    sync::<CountingNotify>();
    send::<GraphNeeds>();
    sync::<GraphNeeds>();
    send::<TimingEvent>();
    sync::<TimingEvent>();
    send::<IpcEvent>();
    sync::<IpcEvent>();
    send::<GraphBuilder>();
    sync::<GraphBuilder>();
    send::<GraphTask>();
    sync::<GraphTask>();
    send::<Label>();
    sync::<Label>();
    send::<LabelList>();
    sync::<LabelList>();
    send::<TaskGroup>();
    sync::<TaskGroup>();
    send::<KernelBinary>();
    sync::<KernelBinary>();
    send::<Kernel>();
    sync::<Kernel>();
    send::<KernelLaunch<'static>>();
    send::<TaskFailure>();
    sync::<TaskFailure>();
    send::<CopyDescriptor<f32>>();
    sync::<CopyDescriptor<f32>>();
    send::<DevicePointer<f32>>();
    sync::<DevicePointer<f32>>();
    send::<GrowableBuffer<f32>>();
    sync::<GrowableBuffer<f32>>();
    send::<ManagedBuffer<f32>>();
    sync::<ManagedBuffer<f32>>();
    send::<MappedBuffer<f32>>();
    sync::<MappedBuffer<f32>>();
    send::<MemoryExport>();
    sync::<MemoryExport>();
    send::<PhysicalMemory>();
    sync::<PhysicalMemory>();
    send::<DeviceFlag>();
    sync::<DeviceFlag>();
    send::<DeviceCoreLimit>();
    sync::<DeviceCoreLimit>();
    send::<Watch>();
    sync::<Watch>();
    send::<Managed>();
    sync::<Managed>();
    send::<DeviceBuffer<f32>>();
    sync::<DeviceBuffer<f32>>();
    send::<SharedBuffer<f32>>();
    sync::<SharedBuffer<f32>>();
    send::<DeviceSlice<'static, f32>>();
    sync::<DeviceSlice<'static, f32>>();
    send::<DeviceSliceMut<'static, f32>>();
    sync::<DeviceSliceMut<'static, f32>>();
    send::<PinnedBuffer<f32>>();
    sync::<PinnedBuffer<f32>>();
    send::<Tensor<f32>>();
    sync::<Tensor<f32>>();
    send::<Lent<f32>>();
    send::<Error>();
    sync::<Error>();
    send::<Thrown>();
    sync::<Thrown>();
    send::<Refused<Stream>>();
    sync::<Refused<Stream>>();
    send::<Refused<Graph>>();
    send::<Prefetch>();
    send::<Graph>();
    send::<DetachedCapture>();
    send::<GraphPool>();
    sync::<GraphPool>();
}

/// These lines do not compile when the type has the trait after all.
#[test]
fn a_graph_is_used_by_one_thread_at_a_time_and_a_capture_stays_on_its_thread() {
    let _ = <CoreLimit as AmbiguousIfSend<_>>::check;
    let _ = <Graph as AmbiguousIfSync<_>>::check;
    let _ = <GraphChange<'static> as AmbiguousIfSend<_>>::check;
    let _ = <Executable as AmbiguousIfSync<_>>::check;
    let _ = <Capture as AmbiguousIfSend<_>>::check;
    let _ = <Capture as AmbiguousIfSync<_>>::check;
    let _ = <DetachedCapture as AmbiguousIfSync<_>>::check;
    let _ = <HostView<'static, f32> as AmbiguousIfSync<_>>::check;
    let _ = <Refused<Graph> as AmbiguousIfSync<_>>::check;
}

macro_rules! both {
    ($($type:ty),* $(,)?) => {{ $(send::<$type>(); sync::<$type>();)* }};
}

#[test]
fn what_a_library_tells_and_is_told_crosses_threads() {
    use racl::{
        AbortStage, Amount, BinaryCore, BinaryOptions, Build, CaptureMode, ColorConversion, CountUpdate, CountWait,
        CpuKernels, DeviceFault, DeviceFeature, DeviceLink, DeviceState, DeviceStatus, ErrorKind, FaultKind,
        FormFactor, ImageFormat, ImageSteps, InitOptions, IpcEventHandle, KernelCores, KernelEngine, KernelKind,
        KernelParameter, LibraryFeature, MemoryClass, MemoryError, MemoryStats, ModelFormat, ModelGears, ModelSize,
        ModelTensor, NotifyKey, OutputShapes, OverflowMode, Place, PlaceKind, Preprocessing, Report, Requirement,
        Rows, RunMode, Schedule, SnapshotStage, SnapshotWatch, StreamOptions, StreamState, SuperPod, SystemOption,
        Utilization, ValueWait,
    };
    both!(
        AbortStage,
        Amount,
        BinaryCore,
        BinaryOptions,
        Build,
        CaptureMode,
        ColorConversion,
        CountUpdate,
        CountWait,
        CpuKernels,
        DeviceFault,
        DeviceFeature,
        DeviceLink,
        DeviceState,
        DeviceStatus,
        ErrorKind,
        FaultKind,
        FormFactor,
        ImageFormat,
        ImageSteps,
        InitOptions,
        IpcEventHandle,
        KernelCores,
        KernelEngine,
        KernelKind,
        KernelParameter,
        LibraryFeature,
        MemoryClass,
        MemoryError,
        MemoryStats,
        ModelFormat,
        ModelGears,
        ModelSize,
        ModelTensor,
        NotifyKey,
        OutputShapes,
        OverflowMode,
        Place,
        PlaceKind,
        Preprocessing,
        Report,
        Requirement,
        Rows,
        RunMode,
        Schedule,
        SnapshotStage,
        SnapshotWatch,
        StreamOptions,
        StreamState,
        SuperPod,
        SystemOption,
        Utilization,
        ValueWait,
    );
    use racl::{
        Allocator, Comparison, DeviceUnit, EventTask, KernelAttributes, KernelTask, ManagedAdvice, ManagedPlace,
        MemoryAccess, MemoryKey, MemoryLink, PageKind, PhysicalKey, PhysicalProperties, TaskWork,
    };
    both!(Allocator, Comparison, DeviceUnit, KernelAttributes, ManagedAdvice, ManagedPlace, MemoryAccess);
    both!(MemoryKey, MemoryLink, PageKind, PhysicalKey, PhysicalProperties, racl::profiling::DumpChunk<'static>);
    // They name handles, which are the graph's.
    let _ = <KernelTask as AmbiguousIfSend<_>>::check;
    let _ = <EventTask as AmbiguousIfSend<_>>::check;
    let _ = <TaskWork as AmbiguousIfSend<_>>::check;
    use racl::collective::{Determinism, Expansion, Reduction};
    use racl::profiling::{CoreMetrics, DumpLevel, DumpOptions, DumpStatistic, DumpTensors};
    use racl::profiling::{ProfileData, ProfileOptions, ProfileSetting};
    use racl::{CacheMode, ErrorScope, EventMode, FaultDetail, HostData, InitDump, InitProfiler};
    use racl::{KernelOutput, TaskTimes};
    both!(Determinism, Expansion, Reduction);
    both!(CoreMetrics, DumpLevel, DumpOptions, DumpStatistic, DumpTensors, ProfileData, ProfileOptions);
    both!(CacheMode, ErrorScope, EventMode, FaultDetail, HostData, InitDump, InitProfiler, KernelOutput);
    both!(ProfileSetting, TaskTimes);
}

#[test]
fn what_plans_are_made_of_crosses_threads_and_their_builder_stays() {
    use racl::plan::{
        Buckets, Builder, Change, Cores, Counters, Dim, External, Finding, Foreign, Frozen, HostFunction, InputId,
        MemoryReport, Optimised, Options, OutputId, Passes, Registry, RunEnd, RunOptions, Scope, Simulated,
        Simulation, Value, Work,
    };
    both!(
        Buckets,
        Change,
        Cores,
        Counters,
        Dim,
        External,
        Finding,
        Foreign,
        Frozen,
        HostFunction,
        InputId,
        MemoryReport,
        Optimised,
        Options,
        OutputId,
        Passes,
        Registry,
        RunEnd,
        RunOptions,
        Scope,
        Simulated,
        Simulation,
        Value,
        Work,
    );
    use racl::plan::{
        After, Choice, Decompositions, FindingKind, Fork, Found, FoundId, Inferred, Launch, Mode, Number, OnFull,
        OnMove, Operation, PassMode, Planned, Quantity, TaggedEvent, Telling, Width,
    };
    both!(After<'static>, Choice<'static>, Decompositions, FindingKind, Fork, Found, FoundId, Mode, Number, OnFull);
    both!(OnMove, Operation, PassMode, Planned, Quantity, TaggedEvent, Width, racl::plan::Input);
    send::<Builder>();
    send::<Inferred>();
    let _ = <Builder as AmbiguousIfSync<_>>::check;
    let _ = <Inferred as AmbiguousIfSync<_>>::check;
    let _ = <Telling<'static> as AmbiguousIfSend<_>>::check;
    let _ = <Telling<'static> as AmbiguousIfSync<_>>::check;
    // The addresses of its arguments are those of memory that is used on the thread that submits.
    let _ = <Launch<'static> as AmbiguousIfSend<_>>::check;
    use racl::plan::auto::{Auto, Moved, Overlapped, Prefetched, Rates, Reason, Target, Unfetched};
    both!(Auto, Moved, Overlapped, Prefetched, Rates, Reason, Target, Unfetched, racl::plan::auto::Report);
}

#[test]
fn outputs_of_a_run_are_read_from_any_thread() {
    both!(racl::plan::Output<'static, f32>, racl::plan::AnyOutput<'static>);
}

#[test]
fn what_operators_are_given_crosses_threads_and_what_records_them_moves() {
    use racl::op::{
        Access, AnyTensor, Argument, DataType, ElementType, Footprint, Format, OperatorCache, Probe, Scalar,
    };
    use racl::op::{Attention, BatchNorm, CubeMath, GeluForm, GroupNorm, LayerNorm, Mask, Reduce, ReduceKind};
    use racl::op::{RotaryForm, Shape, Used, Window};
    both!(Access, AnyTensor, DataType, ElementType, Footprint, Format, OperatorCache, Scalar, Shape, Used);
    both!(Attention<'static>, BatchNorm<'static, f32>, GroupNorm<'static, f32>, LayerNorm<'static, f32>);
    both!(CubeMath, GeluForm, Mask<'static>, Reduce, ReduceKind, RotaryForm, Window<2>);
    send::<Probe>();
    let _ = <Probe as AmbiguousIfSync<_>>::check;
    // Its operands may be those of a plan that is built.
    let _ = <Argument<'static> as AmbiguousIfSend<_>>::check;
    let _ = <Argument<'static> as AmbiguousIfSync<_>>::check;
}

/// Those of other code hold addresses, and say nothing of threads; [`Managed`] does.
#[test]
fn structures_of_dlpack_stay_unless_they_are_plain() {
    use racl::dlpack::{DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor};
    both!(DLDataType, DLDevice, DLPackVersion);
    let _ = <DLTensor as AmbiguousIfSend<_>>::check;
    let _ = <DLTensor as AmbiguousIfSync<_>>::check;
    let _ = <DLManagedTensor as AmbiguousIfSend<_>>::check;
    let _ = <DLManagedTensor as AmbiguousIfSync<_>>::check;
    let _ = <DLManagedTensorVersioned as AmbiguousIfSend<_>>::check;
    let _ = <DLManagedTensorVersioned as AmbiguousIfSync<_>>::check;
}

/// These lines do not compile when the type has the trait after all.
#[test]
fn the_lock_of_a_process_stays_on_its_thread() {
    use racl::{ProcessBackup, ProcessLock};
    let _ = <ProcessLock as AmbiguousIfSend<_>>::check;
    let _ = <ProcessLock as AmbiguousIfSync<_>>::check;
    let _ = <ProcessBackup as AmbiguousIfSend<_>>::check;
    let _ = <ProcessBackup as AmbiguousIfSync<_>>::check;
}

#[cfg(feature = "cache")]
#[test]
fn caches_can_be_used_from_any_thread() {
    use racl::cache::{CacheBuilder, Entry, Func, Origin, Signature, Status, Verdict};
    send::<racl::cache::CompileCache>();
    sync::<racl::cache::CompileCache>();
    send::<Func>();
    sync::<Func>();
    send::<(CacheBuilder, Entry, Signature, Status)>();
    sync::<(CacheBuilder, Entry, Signature, Status)>();
    both!(Verdict);
    // It has an address of the program's code.
    let _ = <Origin<'static> as AmbiguousIfSend<_>>::check;
}

/// Names that stand here for no type: traits, constants, and what has no type of its own.
const NO_TYPES: [&str; 34] = [
    "BUILD",
    "Bindable",
    "Comparable",
    "DeviceRead",
    "DeviceWrite",
    "Element",
    "Elements",
    "Float",
    "Floats",
    "ForeignAllocator",
    "Index",
    "Indices",
    "IntoDims",
    "IntoQuantities",
    "IntoShape",
    "KernelArgument",
    "MAX_RANK",
    "MAX_SYMBOLS",
    "ModelInput",
    "ModelKey",
    "ModelOutput",
    "Numeric",
    "Numerics",
    "ORIGIN_TAG",
    "Of",
    "On",
    "Operand",
    "Prefetchable",
    "RecvBuffer",
    "Reducible",
    "Result",
    "ResultExt",
    "SendBuffer",
    "Submit",
];

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// What a source shows: the capitalised names of its `pub use`, and its public types.
fn shown(source: &str) -> Vec<&str> {
    let mut all = Vec::new();
    for part in source.split("\npub ").skip(1) {
        match part.split_once(' ') {
            Some(("use", rest)) => {
                let used = rest.split(';').next().unwrap_or_default();
                all.extend(words(used).filter(|word| word.starts_with(char::is_uppercase)));
            }
            Some(("struct" | "enum" | "union" | "type", rest)) => all.extend(words(rest).next()),
            _ => {}
        }
    }
    all
}

#[test]
fn each_public_type_stands_here() {
    let here: Vec<_> = words(include_str!("auto_traits.rs")).collect();
    let sources = [
        include_str!("../src/lib.rs"),
        include_str!("../src/cache.rs"),
        include_str!("../src/collective.rs"),
        include_str!("../src/dlpack.rs"),
        include_str!("../src/model.rs"),
        include_str!("../src/op.rs"),
        include_str!("../src/op/nn.rs"),
        include_str!("../src/plan.rs"),
        include_str!("../src/plan/auto.rs"),
        include_str!("../src/profiling.rs"),
    ];
    let all: Vec<_> = sources.into_iter().flat_map(shown).collect();
    assert!(
        ["Acl", "Communicator", "Func", "Managed", "Model", "Plan", "Probe", "Profile", "Window"]
            .iter()
            .all(|name| all.contains(name)),
        "{all:?}"
    );
    let missing: Vec<_> = all.into_iter().filter(|name| !here.contains(name)).collect();
    assert!(missing.is_empty(), "neither tested above nor among the exceptions: {missing:?}");
    assert!(NO_TYPES.iter().all(|name| sources.iter().any(|source| words(source).any(|word| word == *name))));
}
