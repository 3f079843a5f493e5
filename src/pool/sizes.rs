//! Sizes of blocks and segments, and the classes by which free blocks are found.

use super::figures::Kind;

/// Blocks start at multiples of this from the start of their segment, and are as long.
pub(super) const UNIT: usize = 512;
/// What an operator may read behind the end of what it was given (guide: memory management, aclrtMalloc, memory that is
/// divided by the user).
pub(crate) const TAIL: usize = 32;
/// Large memory comes in pages of this size.
const PAGE: usize = 2 << 20;
/// Blocks up to here are small.
const SMALL: usize = 1 << 20;
/// Larger blocks up to here share segments.
const SHARED: usize = 10 << 20;
/// How large those are.
const SHARED_SEGMENT: usize = 20 << 20;

/// Sizes of one power of two are told apart in so many steps, as a power of two.
const STEPS: u32 = 4;
/// One class for each size up to here, in units.
const EXACT: usize = 1 << STEPS;
/// Enough for an address space.
pub(super) const CLASSES: usize = EXACT * 36;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// As the caller said.
    pub(super) bytes: usize,
    /// With the tail, in whole units.
    pub(super) block: usize,
}

/// Which blocks a segment is divided into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Small,
    Large,
}

impl Request {
    /// None for more than an address space has.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        let block = bytes.checked_next_multiple_of(TAIL)?.checked_add(TAIL)?.checked_next_multiple_of(UNIT)?;
        (block <= isize::MAX as usize - 2 * PAGE).then_some(Self { bytes, block })
    }

    #[inline]
    pub(super) fn size(&self) -> Size {
        if self.block <= SMALL { Size::Small } else { Size::Large }
    }

    /// Bytes of a segment for it. A unit is left out of the last page, for what the call adds itself.
    pub(crate) fn segment(&self) -> usize {
        match self.size() {
            Size::Small => PAGE - UNIT,
            Size::Large if self.block < SHARED => SHARED_SEGMENT - UNIT,
            Size::Large => (self.block + UNIT).next_multiple_of(PAGE) - UNIT,
        }
    }

    /// Bytes by which a range grows for it, where `need` bytes are missing, in whole steps of `step` bytes; no more
    /// than that where memory is short.
    pub(super) fn growth(&self, need: usize, step: usize, least: bool) -> usize {
        let shares = self.size() == Size::Large && self.block < SHARED && !least;
        need.max(if shares { SHARED_SEGMENT } else { 1 }).next_multiple_of(step)
    }

    /// As [`Self::segment`], where memory is short: no more than this request needs.
    pub(crate) fn least_segment(&self) -> usize {
        (self.block + UNIT).next_multiple_of(PAGE) - UNIT
    }
}

impl Size {
    #[inline]
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Small => Kind::Small,
            Self::Large => Kind::Large,
        }
    }

    /// Whether what is left of a block is worth a block of its own.
    #[inline]
    pub(super) fn splits(self, rest: usize) -> bool {
        match self {
            Self::Small => rest >= UNIT,
            Self::Large => rest > SMALL,
        }
    }
}

/// The class of a block. Greater classes hold greater blocks.
#[inline]
pub(super) fn class_of(bytes: usize) -> usize {
    let units = bytes / UNIT;
    if units < EXACT {
        return units;
    }
    let power = units.ilog2();
    let step = (units >> (power - STEPS)) - EXACT;
    EXACT + (((power - STEPS) as usize) << STEPS) + step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_its_tail_and_whole_units() {
        let block = |bytes| Request::new(bytes).unwrap().block;
        assert_eq!([1, 480, 481, 512].map(block), [512, 512, 1024, 1024]);
        // 32 bytes behind the end, rounded up to 32 first.
        for bytes in 1..5000 {
            assert!(block(bytes) >= bytes.next_multiple_of(32) + 32 && block(bytes).is_multiple_of(512));
        }
        assert!(Request::new(usize::MAX).is_none() && Request::new(usize::MAX - 600).is_none());
    }

    #[test]
    fn segments_are_whole_pages_less_one_unit() {
        let segment = |bytes| Request::new(bytes).unwrap().segment();
        assert_eq!(segment(64), (2 << 20) - 512);
        assert_eq!(segment(1 << 20), (20 << 20) - 512);
        assert_eq!(segment(64 << 20), (66 << 20) - 512);
        for bytes in (1..40 << 20).step_by(77_777) {
            let request = Request::new(bytes).unwrap();
            assert!(request.segment() >= request.block && request.least_segment() >= request.block);
            assert!(request.least_segment() <= request.segment());
        }
    }

    #[test]
    fn classes_grow_with_the_size() {
        let mut last = 0;
        for units in 1..100_000 {
            let class = class_of(units * UNIT);
            assert!(class == last || class == last + 1, "{units} units");
            last = class;
        }
        assert!(class_of(isize::MAX as usize) < 2 * CLASSES);
        assert!(class_of(1 << 43) < CLASSES);
    }
}
