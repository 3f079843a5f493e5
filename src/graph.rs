//! Captured graphs: work that was recorded once and is replayed with one call.

mod capture;
mod captured;
mod host;
mod in_flight;
mod pool;

pub use capture::{Capture, CaptureMode};
pub use captured::Graph;
pub use host::HostView;
pub use pool::GraphPool;
