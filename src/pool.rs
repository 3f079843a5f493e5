//! Memory in segments that are divided into blocks. Only the arithmetic: who gives segments and who waits for work is
//! told from outside.
//!
//! A request takes the best of a few blocks of the smallest class of sizes that has any; the rest of the block becomes
//! a block of its own. A block that is given back merges with its free neighbours. All of it is constant work.

use std::panic::Location;

use crate::sort;

mod bins;
mod blocks;
mod figures;
mod range;
mod sizes;
#[cfg(test)]
mod tests;

use bins::Bins;
use blocks::{Block, Blocks, NONE, State};
use figures::Kind;
pub use figures::{Amount, MemoryClass, MemoryStats};
pub(crate) use range::{Chunk, Growth, Spent};
use range::{Leaving, Range};
use sizes::Size;
pub(crate) use sizes::{Request, TAIL};

/// The blocks of one context.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    blocks: Blocks,
    free: Sorted,
    segments: Vec<Segment>,
    /// Places of segments that are gone.
    vacant: Vec<u32>,
    /// Those of the segments that grow in place.
    ranges: Vec<Range>,
    /// Chunks that could not be unmapped: nobody has their addresses, and the next who unmaps tries again.
    stuck: Vec<Leaving>,
    pub(crate) figures: MemoryStats,
    /// Keys of [`Ready`] so far.
    keys: u32,
    /// Bytes that were given up so far while work might use them.
    pub(crate) given_up: u64,
    /// Bytes that came back so far, of blocks, of other memory, and of segments that went to the library.
    pub(crate) returned: u64,
}

/// Blocks that one stream may take before its work is done.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    sorted: Sorted,
    /// By which its blocks know each other, from the first one on.
    key: u32,
}

#[derive(Debug, Default)]
struct Sorted {
    small: Bins,
    large: Bins,
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    /// 0 once it is gone.
    bytes: usize,
    address: usize,
    size: Size,
    /// The block at its start.
    first: u32,
}

/// A segment out of which nothing is in use, and which is no part of the pool any more.
pub(crate) struct Whole {
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    size: Size,
}

/// A block as it was at one of its turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    id: u32,
    turn: u32,
}

/// A block for somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) id: u32,
    pub(crate) address: usize,
}

/// A block that was ready.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Again {
    pub(crate) taken: Taken,
    /// The submission that may still use it.
    pub(crate) number: u64,
    /// What is left of it, to be made [ready](Pool::ready) again.
    pub(crate) rest: Option<u32>,
}

/// Who holds memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Holder {
    pub(crate) bytes: usize,
    pub(crate) place: &'static Location<'static>,
}

impl Sorted {
    #[inline]
    fn of(&mut self, size: Size) -> &mut Bins {
        match size {
            Size::Small => &mut self.small,
            Size::Large => &mut self.large,
        }
    }
}

impl Pool {
    #[inline]
    fn size_of(&self, id: u32) -> Size {
        self.segments[self.blocks.all[id as usize].segment as usize].size
    }

    /// A free block; none when there is none so large.
    #[inline]
    pub(crate) fn take(&mut self, request: Request, place: &'static Location<'static>) -> Option<Taken> {
        let size = request.size();
        let free = self.free.of(size);
        let id = free.find(&self.blocks.all, request.block)?;
        let Block { bytes: whole, segment, before, .. } = self.blocks.all[id as usize];
        let rest = whole - request.block;
        let id = if rest > 0 && size.splits(rest) {
            let front = self.blocks.cut(id, request.block);
            free.sort(&mut self.blocks.all, id);
            if before == NONE {
                self.segments[segment as usize].first = front;
            }
            front
        } else {
            free.remove(&mut self.blocks.all, id);
            id
        };
        let block = &mut self.blocks.all[id as usize];
        (block.state, block.asked, block.place) = (State::Held, request.bytes, place);
        let (address, bytes) = (block.address, block.bytes);
        self.figures.hold(size.kind(), request.bytes, bytes);
        Some(Taken { id, address })
    }

    /// A block that the work of one stream alone may still use, for later work of that stream.
    pub(crate) fn take_ready(
        &mut self,
        ready: &mut Ready,
        request: Request,
        place: &'static Location<'static>,
    ) -> Option<Again> {
        let size = request.size();
        let id = ready.sorted.of(size).find(&self.blocks.all, request.block)?;
        ready.sorted.of(size).remove(&mut self.blocks.all, id);
        let whole = self.blocks.all[id as usize].bytes;
        let rest = whole - request.block;
        let rest = (rest > 0 && size.splits(rest)).then(|| self.blocks.split(id, request.block));
        if let Some(rest) = rest {
            self.blocks.all[rest as usize].state = State::Waiting;
        }
        let block = &mut self.blocks.all[id as usize];
        (block.state, block.asked, block.place) = (State::Held, request.bytes, place);
        block.turn = block.turn.wrapping_add(1);
        let Block { address, bytes, number, .. } = *block;
        self.figures.rest(size.kind(), bytes);
        self.figures.hold(size.kind(), request.bytes, bytes);
        Some(Again { taken: Taken { id, address }, number, rest })
    }

    /// The submission that may still use the block which [`Pool::take_ready`] would take.
    pub(crate) fn next_ready(&self, ready: &mut Ready, request: Request) -> Option<u64> {
        let id = ready.sorted.of(request.size()).find(&self.blocks.all, request.block)?;
        Some(self.blocks.all[id as usize].number)
    }

    /// Gives a block back that no work uses.
    #[inline]
    pub(crate) fn give(&mut self, id: u32) {
        let block = &mut self.blocks.all[id as usize];
        debug_assert_eq!(block.state, State::Held, "a block is given back once");
        block.state = State::Free;
        block.turn = block.turn.wrapping_add(1);
        let (asked, bytes, segment) = (block.asked, block.bytes, block.segment);
        let size = self.segments[segment as usize].size;
        self.figures.give(size.kind(), asked, bytes);
        self.returned += bytes as u64;
        self.merge(id, size);
    }

    /// The holder of a block gave it up, and work may still use it.
    #[inline]
    pub(crate) fn give_up(&mut self, id: u32) {
        let size = self.size_of(id);
        let block = &mut self.blocks.all[id as usize];
        debug_assert_eq!(block.state, State::Held, "a block is given up once");
        block.state = State::Waiting;
        let (asked, bytes) = (block.asked, block.bytes);
        self.figures.give_up(size.kind(), asked, bytes);
        self.given_up += bytes as u64;
    }

    /// Nothing uses a block any more that was given up and is not [ready](Self::ready).
    #[inline]
    pub(crate) fn rest(&mut self, id: u32) {
        let block = &mut self.blocks.all[id as usize];
        debug_assert_eq!(block.state, State::Waiting, "a block rests once");
        block.state = State::Free;
        block.turn = block.turn.wrapping_add(1);
        let (bytes, segment) = (block.bytes, block.segment);
        let size = self.segments[segment as usize].size;
        self.figures.rest(size.kind(), bytes);
        self.returned += bytes as u64;
        self.merge(id, size);
    }

    /// Puts a block that is free, and in no list, into one, with its free neighbours.
    #[inline]
    fn merge(&mut self, id: u32, size: Size) {
        let Block { before, after, segment, .. } = self.blocks.all[id as usize];
        let free = self.free.of(size);
        if self.blocks.is_free(before) {
            self.blocks.join_before(id);
            if self.blocks.is_free(after) {
                free.remove(&mut self.blocks.all, after);
                self.blocks.join_before(after);
            }
            free.sort(&mut self.blocks.all, before);
        } else if self.blocks.is_free(after) {
            self.blocks.join_after(id);
            free.sort(&mut self.blocks.all, after);
            if before == NONE {
                self.segments[segment as usize].first = after;
            }
        } else {
            free.insert(&mut self.blocks.all, id);
        }
    }

    /// The one stream whose submission `number` may still use a block may take it.
    pub(crate) fn ready(&mut self, ready: &mut Ready, id: u32, number: u64) -> Known {
        if ready.key == 0 {
            self.keys = self.keys.wrapping_add(1).max(1);
            ready.key = self.keys;
        }
        let size = self.size_of(id);
        let block = &mut self.blocks.all[id as usize];
        debug_assert_eq!(block.state, State::Waiting);
        (block.state, block.number, block.key) = (State::Ready, number, ready.key);
        let known = Known { id, turn: block.turn };
        ready.sorted.of(size).insert(&mut self.blocks.all, id);
        known
    }

    /// Whether a ready block and those behind it that the same stream may take are large enough together. Takes what it
    /// looks at off `looks`, and stops at none.
    pub(crate) fn is_side_by_side(&self, ready: &Ready, known: Known, request: Request, looks: &mut usize) -> bool {
        *looks = looks.saturating_sub(1);
        if !self.is_ready(known) || self.size_of(known.id) != request.size() {
            return false;
        }
        let (mut id, mut bytes) = (known.id, 0);
        loop {
            let block = &self.blocks.all[id as usize];
            bytes += block.bytes;
            if bytes >= request.block {
                return id != known.id;
            }
            id = block.after;
            if *looks == 0 || !self.blocks.is_ready_for(id, ready.key) {
                return false;
            }
            *looks -= 1;
        }
    }

    /// Makes one block of a ready one and of as many behind it as the request takes: the latest work of any may use it
    /// then. How many they were, too; none where they are not enough.
    pub(crate) fn join_ready(
        &mut self,
        ready: &mut Ready,
        known: Known,
        request: Request,
    ) -> Option<(Known, u64, usize)> {
        let mut looks = usize::MAX;
        if !self.is_side_by_side(ready, known, request, &mut looks) {
            return None;
        }
        let (id, size) = (known.id, self.size_of(known.id));
        ready.sorted.of(size).remove(&mut self.blocks.all, id);
        let (mut number, mut count) = (self.blocks.all[id as usize].number, 1);
        while self.blocks.all[id as usize].bytes < request.block {
            let after = self.blocks.all[id as usize].after;
            ready.sorted.of(size).remove(&mut self.blocks.all, after);
            number = number.max(self.blocks.all[after as usize].number);
            self.blocks.join_before(after);
            count += 1;
        }
        let block = &mut self.blocks.all[id as usize];
        block.number = number;
        // What stands for the former block is about nothing any more.
        block.turn = block.turn.wrapping_add(1);
        let known = Known { id, turn: block.turn };
        ready.sorted.of(size).insert(&mut self.blocks.all, id);
        Some((known, number, count))
    }

    /// Whether the block is still ready as it was.
    pub(crate) fn is_ready(&self, known: Known) -> bool {
        let block = &self.blocks.all[known.id as usize];
        block.turn == known.turn && block.state == State::Ready
    }

    /// The work that used a ready block is done; nothing when somebody took it meanwhile.
    pub(crate) fn rest_ready(&mut self, ready: &mut Ready, known: Known) {
        if !self.is_ready(known) {
            return;
        }
        let size = self.size_of(known.id);
        ready.sorted.of(size).remove(&mut self.blocks.all, known.id);
        self.blocks.all[known.id as usize].state = State::Waiting;
        self.rest(known.id);
    }

    /// Takes over a segment of `bytes` bytes that was made for `request`.
    pub(crate) fn add_segment(&mut self, request: Request, address: usize, bytes: usize) {
        let first = self.place_segment(request.size(), address, bytes, State::Free);
        self.free.of(request.size()).insert(&mut self.blocks.all, first);
        self.figures.reserve(request.size().kind(), bytes);
    }

    /// The block that the segment is then, in no list.
    fn place_segment(&mut self, size: Size, address: usize, bytes: usize, state: State) -> u32 {
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.segments.push(Segment { bytes: 0, address: 0, size, first: NONE });
            u32::try_from(self.segments.len() - 1).expect("memory for so many segments")
        });
        let first = self.blocks.add(Block {
            address,
            bytes,
            before: NONE,
            after: NONE,
            newer: NONE,
            older: NONE,
            segment: place,
            turn: 0,
            state,
            bin: 0,
            number: 0,
            key: 0,
            asked: 0,
            place: Location::caller(),
        });
        self.segments[place as usize] = Segment { bytes, address, size, first };
        first
    }

    /// Takes segments out of which no block is in use, the latest first, until what is left of the reserved memory is
    /// at most `keep` bytes.
    pub(crate) fn take_segments(&mut self, keep: usize) -> Vec<Whole> {
        let mut taken = Vec::new();
        for place in (0..self.segments.len()).rev() {
            if self.figures.reserved.now <= keep {
                break;
            }
            let Segment { bytes, address, size, first } = self.segments[place];
            if bytes == 0
                || self.grows(place as u32)
                || !self.blocks.is_free(first)
                || self.blocks.all[first as usize].bytes < bytes
            {
                continue;
            }
            self.free.of(size).remove(&mut self.blocks.all, first);
            self.blocks.remove(first);
            self.segments[place].bytes = 0;
            self.vacant.push(place as u32);
            self.figures.unreserve(size.kind(), bytes);
            taken.push(Whole { address, bytes, size });
        }
        taken
    }

    /// A segment that was taken out could not be freed.
    pub(crate) fn put_back(&mut self, Whole { address, bytes, size }: Whole) {
        let first = self.place_segment(size, address, bytes, State::Free);
        self.free.of(size).insert(&mut self.blocks.all, first);
        self.figures.keep_reserved(size.kind(), bytes);
    }

    /// Whatever waits for work does so no more, and nobody holds anything: every segment is free. Gives the ranges,
    /// which are no more.
    pub(crate) fn rest_all(&mut self) -> Vec<Spent> {
        let ranges = self.end_ranges();
        self.free = Sorted::default();
        self.blocks = Blocks::default();
        self.figures.end_waits();
        for kind in [Kind::Small, Kind::Large] {
            let class = self.figures.class(kind);
            let (asked, active) = (class.allocated, class.active);
            (class.held, class.allocated, class.active) = (0, 0, 0);
            self.figures.allocated.now -= asked;
            self.figures.active.now -= active;
        }
        let segments = std::mem::take(&mut self.segments);
        self.vacant.clear();
        for Segment { bytes, address, size, .. } in segments.into_iter().filter(|segment| segment.bytes > 0) {
            let first = self.place_segment(size, address, bytes, State::Free);
            self.free.of(size).insert(&mut self.blocks.all, first);
        }
        ranges
    }

    /// Memory that somebody holds and that is no block. Where no bytes of it are the context's it does not count, here
    /// and below.
    pub(crate) fn hold_direct(&mut self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.figures.reserve(Kind::Direct, bytes);
        self.figures.hold(Kind::Direct, bytes, bytes);
    }

    /// Its holder gave it up.
    pub(crate) fn give_up_direct(&mut self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.figures.give_up(Kind::Direct, bytes, bytes);
        self.given_up += bytes as u64;
    }

    /// It is no more.
    pub(crate) fn end_direct(&mut self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.returned += bytes as u64;
        self.figures.rest(Kind::Direct, bytes);
        self.figures.unreserve(Kind::Direct, bytes);
    }

    /// The largest blocks that are held, at most `most`.
    pub(crate) fn largest(&self, most: usize) -> Vec<Holder> {
        let held = self.blocks.all.iter().filter(|block| block.state == State::Held);
        let mut all: Vec<_> = held.map(|block| Holder { bytes: block.asked, place: block.place }).collect();
        sort::by_key(&mut all, |holder| std::cmp::Reverse(holder.bytes));
        all.truncate(most);
        all
    }
}
