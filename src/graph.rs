//! Captured graphs: work that was recorded once and is replayed with one call.

mod capture;
mod captured;
mod host;
mod joins;
pub(crate) mod state;

pub use capture::{Capture, CaptureMode};
pub use captured::Graph;
pub use host::HostView;
