//! Memory: device buffers and their parts, pinned host buffers, and the copies between them.

mod apart;
mod batch;
mod behind;
mod between;
mod copy;
mod device_buffer;
mod flag;
mod growable;
mod indirect;
mod managed;
mod mapped;
#[cfg(feature = "mock")]
mod order_alone;
mod overflow;
mod peer;
mod physical;
mod pinned;
mod rows;
mod shared;
mod slice;
mod transfer;
mod visible;
mod words;

pub(crate) use crate::allocation::{Allocation, How, Touch};
pub use between::{MemoryExport, MemoryKey, MemoryLink};
pub use device_buffer::DeviceBuffer;
pub use flag::{DeviceFlag, ValueWait};
pub use growable::{GrowableBuffer, MemoryAccess};
pub use indirect::{CopyDescriptor, DevicePointer};
pub use managed::{ManagedAdvice, ManagedBuffer, ManagedPlace};
pub use mapped::MappedBuffer;
#[cfg(feature = "mock")]
#[doc(hidden)]
pub use order_alone::order_alone;
pub use physical::{PageKind, PhysicalKey, PhysicalMemory, PhysicalProperties};
pub use pinned::PinnedBuffer;
pub use rows::Rows;
pub use shared::SharedBuffer;
pub use slice::{DeviceRead, DeviceSlice, DeviceSliceMut, DeviceWrite};
pub use transfer::Lent;
