//! Comparing results bit for bit.

use std::error::Error;

/// Fails, naming the first place, where `got` is not exactly `want`.
pub(crate) fn same<T: bytemuck::Pod + std::fmt::Debug>(
    what: &str,
    got: &[T],
    want: &[T],
) -> Result<(), Box<dyn Error>> {
    if bytemuck::cast_slice::<T, u8>(got) == bytemuck::cast_slice::<T, u8>(want) {
        return Ok(());
    }
    let differs = |(g, w): (&T, &T)| bytemuck::bytes_of(g) != bytemuck::bytes_of(w);
    match got.iter().zip(want).position(differs) {
        Some(at) => Err(format!("{what}: element {at} is {:?}, in order it is {:?}", got[at], want[at]).into()),
        None => Err(format!("{what}: {} elements, in order there are {}", got.len(), want.len()).into()),
    }
}
