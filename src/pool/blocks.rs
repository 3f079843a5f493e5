//! The blocks of all segments, in a table.

use std::panic::Location;

/// No block.
pub(super) const NONE: u32 = u32::MAX;

/// A part of a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) address: usize,
    pub(super) bytes: usize,
    /// The neighbours in the segment.
    pub(super) before: u32,
    pub(super) after: u32,
    /// The neighbours in the list of its class.
    pub(super) newer: u32,
    pub(super) older: u32,
    pub(super) segment: u32,
    /// How often it changed hands: what remembers the block with another number means an earlier one.
    pub(super) turn: u32,
    pub(super) state: State,
    /// The class in whose list it is, when it is in one.
    pub(super) bin: u16,
    /// Of the submission that may still use it, once it is ready.
    pub(super) number: u64,
    /// Of the stream that may take it then.
    pub(super) key: u32,
    /// What its holder asked for, and where.
    pub(super) asked: usize,
    pub(super) place: &'static Location<'static>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Not a block: a place in the table.
    Vacant,
    Free,
    Held,
    /// Given up, and work may still use it.
    Waiting,
    /// As before, and the only work is of one stream, which may take it.
    Ready,
    /// Addresses of a range without memory.
    Hole,
    /// Addresses of a range to which memory comes, or from which it goes, at this moment.
    Moving,
}

/// All blocks. Places of blocks that are gone are used again.
#[derive(Debug)]
pub(super) struct Blocks {
    pub(super) all: Vec<Block>,
    /// The places, linked by `older`.
    vacant: u32,
}

impl Default for Blocks {
    fn default() -> Self {
        Self { all: Vec::new(), vacant: NONE }
    }
}

impl Blocks {
    #[inline]
    pub(super) fn add(&mut self, block: Block) -> u32 {
        let id = self.vacant;
        let Some(place) = self.all.get_mut(id as usize) else {
            self.all.push(block);
            return u32::try_from(self.all.len() - 1).expect("memory for so many blocks");
        };
        self.vacant = place.older;
        let turn = place.turn;
        *place = Block { turn: turn.wrapping_add(1), ..block };
        id
    }

    #[inline]
    pub(super) fn remove(&mut self, id: u32) {
        let place = &mut self.all[id as usize];
        place.turn = place.turn.wrapping_add(1);
        place.state = State::Vacant;
        place.older = self.vacant;
        self.vacant = id;
    }

    /// Cuts a block, which keeps the first `bytes` bytes; gives what is left, in the same state and in no list.
    pub(super) fn split(&mut self, id: u32, bytes: usize) -> u32 {
        let block = self.all[id as usize];
        let rest =
            self.add(Block { address: block.address + bytes, bytes: block.bytes - bytes, before: id, ..block });
        if block.after != NONE {
            self.all[block.after as usize].before = rest;
        }
        let block = &mut self.all[id as usize];
        (block.bytes, block.after) = (bytes, rest);
        rest
    }

    /// Cuts the first `bytes` bytes off a block, which keeps its lists; gives them as a block that is in none.
    #[inline]
    pub(super) fn cut(&mut self, id: u32, bytes: usize) -> u32 {
        let block = self.all[id as usize];
        let front = self.add(Block { bytes, after: id, ..block });
        if block.before != NONE {
            self.all[block.before as usize].after = front;
        }
        let block = &mut self.all[id as usize];
        (block.address, block.bytes, block.before) = (block.address + bytes, block.bytes - bytes, front);
        front
    }

    /// A block, which is in no list, goes into the one before it.
    #[inline]
    pub(super) fn join_before(&mut self, id: u32) {
        let Block { bytes, before, after, .. } = self.all[id as usize];
        if after != NONE {
            self.all[after as usize].before = before;
        }
        let block = &mut self.all[before as usize];
        (block.bytes, block.after) = (block.bytes + bytes, after);
        self.remove(id);
    }

    /// A block, which is in no list, goes into the one behind it.
    #[inline]
    pub(super) fn join_after(&mut self, id: u32) {
        let Block { address, bytes, before, after, .. } = self.all[id as usize];
        if before != NONE {
            self.all[before as usize].after = after;
        }
        let block = &mut self.all[after as usize];
        (block.address, block.bytes, block.before) = (address, block.bytes + bytes, before);
        self.remove(id);
    }

    #[inline]
    pub(super) fn is_ready_for(&self, id: u32, key: u32) -> bool {
        self.all.get(id as usize).is_some_and(|block| block.state == State::Ready && block.key == key)
    }

    #[inline]
    pub(super) fn is_free(&self, id: u32) -> bool {
        self.all.get(id as usize).is_some_and(|block| block.state == State::Free)
    }
}
