//! Plans: a graph as data, checked before a device sees it.
//!
//! A [`Builder`] records operators, streams, events, prefetches and inputs by class. [`Plan::build`] checks the
//! result: every pair of accesses to the same bytes must be in some order, by stream or by event, or the plan is
//! refused with both operators, the bytes and the event that would order them. A plan is plain data; it runs eagerly
//! on real streams, as a captured graph, or simulated on the host, with the same numbers.

mod builder;
mod check;
mod checked;
mod dump;
mod memory;
mod order;
mod overlap;
mod recipe;
mod rules;
mod run;
mod simulate;
#[cfg(feature = "cache")]
mod stored;
mod symbols;

pub use builder::decompositions::Decompositions;
pub use builder::options::Options;
pub use builder::{After, Builder, External, Fork, Inferred, ORIGIN_TAG, Scope, TaggedEvent, Telling, Value};
pub use check::finding::{Finding, FindingKind};
pub use checked::Plan;
pub use dump::Width;
pub use memory::MemoryReport;
pub use recipe::function::{Foreign, HostFunction, Launch};
pub use recipe::operator::{Number, Operator, Order as DimOrder, Reduction};
pub use recipe::quantity::{IntoQuantities, Quantity};
pub use recipe::{Cores, Input, OnMove};
#[cfg(feature = "cache")]
pub(crate) use run::device_cores;
pub use run::{
    Bindable, Bindings, Buckets, Counters, Executable, Frozen, InputId, Mode, OnFull, Output, OutputId, Pool,
    RunOptions,
};
pub use simulate::{Simulated, Simulation};
#[cfg(feature = "cache")]
pub use stored::Registry;
#[cfg(feature = "cache")]
pub(crate) use stored::{Code, NotLoaded};
#[cfg(feature = "cache")]
pub(crate) use symbols::dim::show_dims;
pub use symbols::dim::{Dim, IntoDims, MAX_SYMBOLS};
