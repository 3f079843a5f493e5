//! What handles stand for.

use racl::op::AnyTensor;
use racl::plan::{Foreign, HostFunction, Plan, Pool, Simulation};
use racl::{Acl, Context, DetachedCapture, Graph, Lent, PinnedBuffer, SharedBuffer, Stream, TaskGroup};

use crate::bindings::Binding;
use crate::cache::{Caches, Registries};
use crate::errors::Entry;
use crate::event::AnyEvent;
use crate::executable::Executables;
use crate::handles::{Handle, Shared, Single};
use crate::host_outputs::Taken;
use crate::recording::Recording;

/// An AscendCL library that is initialised.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_library(());

/// A device as streams and memory of it see it: its primary context, or one of the program's own.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_context(());

/// A queue of work on a device.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_stream(());

/// A point in the work of a stream.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_event(());

/// Memory of a device, or a part of it.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_buffer(());

/// Pinned memory of the host, which copies on a stream take.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_host(());

/// A capture that has not ended.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_capture(());

/// Work that was recorded and can be launched.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_graph(());

/// A shape over a buffer: an operand of operators.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_tensor(());

/// A plan that is being recorded.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_builder(());

/// A checked plan: work as data. Any thread may use it, several at once.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_plan(());

/// A plan with memory on a device, which runs.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_executable(());

/// What runs of an executable are given.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_bindings(());

/// What a plan left in memory of the host.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_simulation(());

/// Plans on disk.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_cache(());

/// Foreign operators and host functions that stored plans find by name.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_registry(());

/// A host function of plans.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_host_function(());

/// A foreign operator of plans.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_foreign(());

/// Host outputs of one run.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_host_outputs(());

/// Temporary memory that executables share.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_pool(());

/// Operators of a captured graph that can be replaced.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_task_group(());

/// A list of errors.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct racl_errors(());

macro_rules! objects {
    ($($handle:ident = $name:ident: $way:ident($value:ty), $what:literal;)*) => {
        $(
            // SAFETY: each has a kind of its own name here.
            unsafe impl Handle for $handle {
                type Value = $value;
                const KIND: Kind = Kind::$name;
                const WHAT: &'static str = $what;
            }

            impl $way for $handle {}
        )*

        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($name,)*
        }

        impl Kind {
            pub(crate) const ALL: &[Self] = &[$(Self::$name),*];

            pub(crate) fn what(self) -> &'static str {
                match self {
                    $(Self::$name => $what,)*
                }
            }
        }
    };
}

objects! {
    racl_library = Library: Shared(Acl), "a library";
    racl_context = Context: Shared(Context), "a context";
    racl_stream = Stream: Shared(Borrowed<Stream>), "a stream";
    racl_event = Event: Shared(AnyEvent), "an event";
    racl_buffer = Buffer: Shared(SharedBuffer<u8>), "a buffer";
    racl_host = Host: Single(HostState), "host memory";
    racl_capture = Capture: Single(DetachedCapture), "a capture";
    racl_graph = Graph: Single(Borrowed<Graph>), "a graph";
    racl_tensor = Tensor: Shared(AnyTensor), "a tensor";
    racl_builder = Builder: Single(Recording), "a builder";
    racl_plan = Plan: Shared(Plan), "a plan";
    racl_executable = Executable: Single(Executables), "an executable";
    racl_bindings = Bindings: Single(Binding), "bindings";
    racl_simulation = Simulation: Shared(Simulation), "a simulation";
    racl_cache = Cache: Shared(Caches), "a cache";
    racl_registry = Registry: Single(Registries), "a registry";
    racl_host_function = HostFunction: Shared(HostFunction), "a host function";
    racl_foreign = Foreign: Shared(Foreign), "a foreign operator";
    racl_host_outputs = HostOutputs: Single(Taken), "host outputs";
    racl_pool = Pool: Shared(Pool), "a pool";
    racl_task_group = TaskGroup: Shared(TaskGroup), "a task group";
    racl_errors = Errors: Shared(Vec<Entry>), "a list of errors";
}

/// An object that may be another's.
pub(crate) struct Borrowed<T> {
    pub(crate) value: T,
    /// It is not destroyed here.
    pub(crate) theirs: bool,
}

/// Pinned memory, and where it is.
pub(crate) enum HostState {
    Here(PinnedBuffer<u8>),
    /// With a copy.
    Lent(Lent<u8>),
    /// A copy failed and may still run: the memory is kept from everybody.
    Lost,
}
