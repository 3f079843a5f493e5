//! What the order between streams costs, for `benches/`.

use std::array;

use super::{DeviceBuffer, DeviceRead as _, Touch};
use crate::error::Result;
use crate::stream::Stream;

/// What a submission to `stream` that writes the first of `buffers` and reads the others does for the order between
/// streams, and to keep the memory, without the submission.
///
/// # Errors
///
/// As for submissions, where the stream has to follow others.
#[doc(hidden)]
pub fn order_alone<const N: usize>(stream: &Stream, buffers: &[DeviceBuffer<u8>; N]) -> Result<()> {
    let uses: [Touch<'_>; N] = array::from_fn(|index| {
        let memory = buffers[index].as_slice().allocation();
        if index == 0 { Touch::written(memory) } else { Touch::read(memory) }
    });
    stream.0.order_alone(&uses)
}
