//! Memory: device buffers and their parts, pinned host buffers, and the copies between them.

mod batch;
mod behind;
mod copy;
mod device_buffer;
mod flag;
mod overflow;
mod pinned;
mod rows;
mod shared;
mod slice;
mod transfer;

pub(crate) use crate::allocation::{Allocation, How, Touch};
pub use device_buffer::DeviceBuffer;
pub use flag::{DeviceFlag, ValueWait};
pub use pinned::PinnedBuffer;
pub use rows::Rows;
pub use shared::SharedBuffer;
pub use slice::{DeviceRead, DeviceSlice, DeviceSliceMut, DeviceWrite};
pub use transfer::Lent;
