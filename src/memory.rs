//! Memory: device buffers, pinned host buffers, and the copies between them.

mod behind;
mod close;
mod copy;
mod device_buffer;
mod pinned;
mod transfer;

pub(crate) use crate::allocation::{Allocation, How, Touch};
pub use device_buffer::DeviceBuffer;
pub use pinned::PinnedBuffer;
pub use transfer::Lent;
