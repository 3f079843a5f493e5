//! Graphs: work that was recorded once, or put together, and is replayed with one call.

mod abort;
mod awaited;
mod bodies;
mod build;
mod capture;
mod captured;
mod change;
mod condition;
mod detached;
mod ending;
mod given;
mod going;
mod groups;
mod host;
mod in_flight;
mod label;
mod names;
mod pool;
mod steer;
mod tasks;

pub use build::GraphBuilder;
pub use capture::{Capture, CaptureMode};
pub use captured::Graph;
pub use change::GraphChange;
pub(crate) use change::KernelChange;
pub use condition::Condition;
pub use detached::DetachedCapture;
pub use groups::TaskGroup;
pub(crate) use groups::{OpenUpdate, record as record_group};
pub use host::HostView;
pub use label::{Label, LabelList};
pub use pool::GraphPool;
pub use steer::{Comparable, Comparison};
pub use tasks::{EventTask, GraphTask, KernelTask, TaskWork};
