//! Copies on the device within one memory. The device makes a large one in parts, in an order that nothing promises, so
//! what it would read behind having written it is refused.

use crate::error::{Error, Result};

/// Rows of one side of a copy: the address of the first, and the bytes from one to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) at: usize,
    pub(super) pitch: usize,
}

/// That a copy of `bytes` bytes does not read what it writes. Onto itself it may: that does nothing.
#[inline]
pub(super) fn check_apart(from: usize, to: usize, bytes: usize) -> Result<()> {
    if from.abs_diff(to) >= bytes || from == to { Ok(()) } else { Err(overlap()) }
}

/// The same of `height` rows of `width` bytes.
pub(super) fn check_rows_apart(from: Side, to: Side, width: usize, height: usize) -> Result<()> {
    if overlaps(from, to, width, height) { Err(overlap()) } else { Ok(()) }
}

#[cold]
fn overlap() -> Error {
    Error::invalid("a copy on the device whose target overlaps what it reads; one through other memory does it")
}

fn overlaps(from: Side, to: Side, width: usize, height: usize) -> bool {
    let end = |side: Side| side.at + side.pitch * (height - 1) + width;
    if from == to || end(from) <= to.at || end(to) <= from.at {
        return false;
    }
    if from.pitch == to.pitch {
        let (rows, rest) = (from.at.abs_diff(to.at) / to.pitch, from.at.abs_diff(to.at) % to.pitch);
        // A row lies beside two of the other side at most.
        return rows < height && rest < width || rows + 1 < height && to.pitch - rest < width;
    }
    let (mut from, mut to, mut left) = (from, to, [height; 2]);
    while left[0] > 0 && left[1] > 0 {
        if from.at.abs_diff(to.at) < width {
            return true;
        }
        let (earlier, rows) = if from.at < to.at { (&mut from, 0) } else { (&mut to, 1) };
        earlier.at += earlier.pitch;
        left[rows] -= 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_overlap_where_some_byte_is_of_both() {
        let bytes = |side: Side, width: usize, height: usize| {
            let rows = (0..height).flat_map(move |row| (0..width).map(move |byte| side.at + row * side.pitch + byte));
            rows.collect::<std::collections::BTreeSet<_>>()
        };
        let mut random = fastrand::Rng::with_seed(1);
        let mut seen = [0; 2];
        for _ in 0..20_000 {
            let (width, height) = (random.usize(1..6), random.usize(1..6));
            let pitch = |random: &mut fastrand::Rng| if height == 1 { width } else { width + random.usize(..8) };
            let from = Side { at: random.usize(..60), pitch: pitch(&mut random) };
            let to =
                Side { at: random.usize(..60), pitch: if random.bool() { from.pitch } else { pitch(&mut random) } };
            let expected = from != to && !bytes(from, width, height).is_disjoint(&bytes(to, width, height));
            assert_eq!(overlaps(from, to, width, height), expected, "{from:?}, {to:?}, {height} rows of {width}");
            seen[usize::from(expected)] += 1;
            let flat = from.at != to.at && from.at.abs_diff(to.at) < width;
            assert_eq!(check_apart(from.at, to.at, width).is_err(), flat);
        }
        assert!(seen.into_iter().all(|count| count > 2000), "{seen:?}");
    }
}
