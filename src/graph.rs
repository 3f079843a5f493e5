//! Captured graphs: work that was recorded once and is replayed with one call.

mod bodies;
mod capture;
mod captured;
mod condition;
mod ending;
mod groups;
mod host;
mod in_flight;
mod pool;

pub use capture::{Capture, CaptureMode};
pub use captured::Graph;
pub use condition::Condition;
pub use groups::TaskGroup;
pub(crate) use groups::{OpenUpdate, record as record_group};
pub use host::HostView;
pub use pool::GraphPool;
