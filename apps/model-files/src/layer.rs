//! The tensors of a layer in one piece of device memory, so that one prefetch moves them.

use std::ops::Range;

use racl::{Device, DeviceBuffer, op};

/// Elements of which every tensor of a layer starts at a multiple: 512 bytes of 32-bit floats, which suits the device.
const ALIGNMENT: usize = 128;
/// Elements that an upload moves at once.
const UPLOAD_ELEMENTS: usize = 1 << 20;

/// So many elements from the first aligned one at or after `start`.
#[must_use]
pub fn aligned(start: usize, elements: usize) -> Range<usize> {
    let start = start.next_multiple_of(ALIGNMENT);
    start..start + elements
}

/// In pieces, so that a library which stages an upload in memory of its own needs little of it.
///
/// # Errors
///
/// Those of the allocation and of the copies.
pub fn upload<T: op::Element>(device: &Device, data: &[T]) -> racl::Result<DeviceBuffer<T>> {
    let mut buffer = device.alloc(data.len())?;
    for (index, piece) in data.chunks(UPLOAD_ELEMENTS).enumerate() {
        let start = index * UPLOAD_ELEMENTS;
        buffer.slice_mut(start..start + piece.len())?.write(piece)?;
    }
    Ok(buffer)
}
