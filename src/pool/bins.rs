//! Blocks that can be taken, in a list for each class of sizes.

use super::blocks::{Block, NONE};
use super::sizes::{CLASSES, class_of};

const WORDS: usize = CLASSES.div_ceil(64);

/// How many blocks of one class are compared: the best of them is taken.
const COMPARED: usize = 8;
/// One that is larger than what is asked for by no more than such a part is as good as any.
const NEAR: usize = 32;

/// Lists of blocks, the latest first. The links are in the blocks.
#[derive(Debug)]
pub(super) struct Bins {
    heads: Box<[u32; CLASSES]>,
    /// Which lists have any.
    any: [u64; WORDS],
}

impl Default for Bins {
    fn default() -> Self {
        Self { heads: Box::new([NONE; CLASSES]), any: [0; WORDS] }
    }
}

/// The last class has everything beyond.
#[inline]
fn bin_of(bytes: usize) -> usize {
    class_of(bytes).min(CLASSES - 1)
}

const _: () = assert!(CLASSES <= u16::MAX as usize);

impl Bins {
    #[inline]
    pub(super) fn insert(&mut self, blocks: &mut [Block], id: u32) {
        let bin = bin_of(blocks[id as usize].bytes);
        self.put(blocks, id, bin);
    }

    fn put(&mut self, blocks: &mut [Block], id: u32, bin: usize) {
        let head = std::mem::replace(&mut self.heads[bin], id);
        if head == NONE {
            self.any[bin / 64] |= 1 << (bin % 64);
        } else {
            blocks[head as usize].newer = id;
        }
        let block = &mut blocks[id as usize];
        (block.newer, block.older, block.bin) = (NONE, head, bin as u16);
    }

    #[inline]
    pub(super) fn remove(&mut self, blocks: &mut [Block], id: u32) {
        let Block { newer, older, bin, .. } = blocks[id as usize];
        if older != NONE {
            blocks[older as usize].newer = newer;
        }
        if newer != NONE {
            blocks[newer as usize].older = older;
            return;
        }
        let bin = usize::from(bin);
        self.heads[bin] = older;
        if older == NONE {
            self.any[bin / 64] &= !(1 << (bin % 64));
        }
    }

    /// A block in one of the lists has another size since: it mostly stays where it is.
    #[inline]
    pub(super) fn sort(&mut self, blocks: &mut [Block], id: u32) {
        let Block { bytes, bin: former, .. } = blocks[id as usize];
        let bin = bin_of(bytes);
        if bin != usize::from(former) {
            self.remove(blocks, id);
            self.put(blocks, id, bin);
        }
    }

    /// A block of at least `bytes` bytes: of the smallest class that has some, the best of a few.
    #[inline]
    pub(super) fn find(&self, blocks: &[Block], bytes: usize) -> Option<u32> {
        let own = bin_of(bytes);
        let first = self.next(own)?;
        let found = self.best(blocks, first, bytes);
        // Where none of those that are compared is large enough.
        if found.is_none() && first == own { self.best(blocks, self.next(own + 1)?, bytes) } else { found }
    }

    fn best(&self, blocks: &[Block], bin: usize, bytes: usize) -> Option<u32> {
        let (mut at, mut best) = (self.heads[bin], None);
        let mut size = usize::MAX;
        // Those of the last class are of many sizes: all are looked at.
        let most = if bin == CLASSES - 1 { usize::MAX } else { COMPARED };
        for _ in 0..most {
            let Some(block) = blocks.get(at as usize) else { break };
            if block.bytes >= bytes && block.bytes - bytes <= bytes / NEAR {
                return Some(at);
            }
            if block.bytes >= bytes && block.bytes < size {
                (best, size) = (Some(at), block.bytes);
            }
            at = block.older;
        }
        best
    }

    /// The first list from `bin` on that has any.
    #[inline]
    fn next(&self, bin: usize) -> Option<usize> {
        if bin >= CLASSES {
            return None;
        }
        let mut word = bin / 64;
        let mut bits = self.any[word] & (u64::MAX << (bin % 64));
        while bits == 0 {
            word += 1;
            bits = *self.any.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }
}
