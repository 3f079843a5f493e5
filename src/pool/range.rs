//! Segments that grow in place: a range of addresses, of which parts have memory.
//!
//! Memory comes in chunks, which go again one by one when nothing in them is in use, wherever they lie. What has none
//! is a hole; the first one reaches to the end of the range.

use std::collections::BTreeMap;
use std::panic::Location;

use super::blocks::{Block, NONE, State};
use super::figures::Kind;
use super::sizes::{Request, Size};
use super::{Pool, Taken};

/// Chunks of one growth: at most so many, unless they would be smaller than [`CHUNK`].
const CHUNKS: usize = 64;
const CHUNK: usize = 20 << 20;

/// A range of a pool.
#[derive(Debug)]
pub(super) struct Range {
    /// Its place among the segments.
    pub(super) segment: u32,
    /// Chunks are as many bytes, or a multiple.
    step: usize,
    /// By address.
    pub(super) chunks: BTreeMap<usize, Chunk>,
    /// By address.
    pub(super) holes: BTreeMap<usize, u32>,
}

/// Memory at some addresses of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    /// As the library names it.
    pub(crate) handle: usize,
}

/// Addresses that are to have memory. They are the caller's, until [`Pool::grow`] takes them back.
#[derive(Debug)]
#[must_use]
pub(crate) struct Growth {
    /// With free neighbours, which come first and last.
    id: u32,
    front: usize,
    back: usize,
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    step: usize,
}

/// A chunk that nothing uses and that goes.
#[derive(Debug)]
#[must_use]
pub(crate) struct Leaving {
    id: u32,
    pub(crate) chunk: Chunk,
}

/// A range that is no more, with the memory that it has still.
#[derive(Debug)]
#[must_use]
pub(crate) struct Spent {
    pub(crate) address: usize,
    pub(crate) chunks: Vec<Chunk>,
}

impl Growth {
    /// Where the chunks begin and how large they are.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (address, bytes) = (self.address, self.bytes);
        let most = (bytes / CHUNKS).max(CHUNK).next_multiple_of(self.step);
        (0..bytes).step_by(most).map(move |at| (address + at, most.min(bytes - at)))
    }
}

/// A hole, and what would be mapped there.
#[derive(Clone, Copy)]
struct Place {
    hole: u32,
    bytes: usize,
    /// What of it is enough.
    least: usize,
    takes_after: bool,
}

impl Pool {
    pub(crate) fn has_range(&self, request: Request) -> bool {
        self.range_of(request.size()).is_some()
    }

    /// Whether the segment is a range.
    pub(super) fn grows(&self, segment: u32) -> bool {
        self.ranges.iter().any(|range| range.segment == segment)
    }

    fn range_of(&self, size: Size) -> Option<usize> {
        self.ranges.iter().position(|range| self.segments[range.segment as usize].size == size)
    }

    /// Takes over `bytes` bytes of addresses for blocks like that of `request`, to which memory comes in multiples of
    /// `step` bytes. There is no such range yet.
    pub(crate) fn add_range(&mut self, request: Request, address: usize, bytes: usize, step: usize) {
        let hole = self.place_segment(request.size(), address, bytes, State::Hole);
        let segment = self.blocks.all[hole as usize].segment;
        self.ranges.push(Range { segment, step, chunks: BTreeMap::new(), holes: [(address, hole)].into() });
    }

    /// Where memory has to come to make room for `request`, as little as possible; none when no hole has room.
    pub(crate) fn plan_growth(&mut self, request: Request, least: bool) -> Option<Growth> {
        let at = self.range_of(request.size())?;
        let step = self.ranges[at].step;
        let places = self.ranges[at].holes.values().filter_map(|hole| self.place(*hole, request, step, least));
        let Place { hole, bytes, takes_after, .. } = places.min_by_key(|place| place.least)?;
        let Block { address, bytes: whole, before, after, .. } = self.blocks.all[hole as usize];
        self.ranges[at].holes.remove(&address);
        self.blocks.all[hole as usize].state = State::Moving;
        if bytes < whole {
            let rest = self.blocks.split(hole, bytes);
            self.put_hole(at, rest);
        }
        let (mut id, mut front, mut back) = (hole, 0, 0);
        if takes_after {
            back = self.reserve(after, request.size());
            self.blocks.join_before(after);
        }
        if self.blocks.is_free(before) {
            front = self.reserve(before, request.size());
            self.blocks.join_before(hole);
            id = before;
        }
        Some(Growth { id, front, back, address, bytes, step })
    }

    /// What of the hole is mapped for `request`, if it has room.
    fn place(&self, hole: u32, request: Request, step: usize, least: bool) -> Option<Place> {
        let Block { bytes: whole, before, after, .. } = self.blocks.all[hole as usize];
        let bytes_of = |id: u32| if self.blocks.is_free(id) { self.blocks.all[id as usize].bytes } else { 0 };
        let need = request.block.saturating_sub(bytes_of(before));
        if need > whole + bytes_of(after) {
            return None;
        }
        let bytes = request.growth(need, step, least).min(whole);
        let enough = request.growth(need, step, true).min(whole);
        Some(Place { hole, bytes, least: enough, takes_after: need > whole })
    }

    /// Takes a free block out of its list. Its size.
    fn reserve(&mut self, id: u32, size: Size) -> usize {
        self.free.of(size).remove(&mut self.blocks.all, id);
        let block = &mut self.blocks.all[id as usize];
        (block.state, block.turn) = (State::Moving, block.turn.wrapping_add(1));
        block.bytes
    }

    /// The chunks are there, from the start of the growth on. A block for `request` when there are all of them; what is
    /// there is free otherwise.
    pub(crate) fn grow(
        &mut self,
        growth: Growth,
        chunks: &[Chunk],
        request: Request,
        place: &'static Location<'static>,
    ) -> Option<Taken> {
        let size = request.size();
        let at = self.range_of(size)?;
        let mut mapped = 0;
        for chunk in chunks {
            mapped += chunk.bytes;
            self.figures.reserve(size.kind(), chunk.bytes);
            self.ranges[at].chunks.insert(chunk.address, *chunk);
        }
        if mapped == growth.bytes {
            return Some(self.hold_front(growth.id, request, place));
        }
        let mut id = growth.id;
        if growth.front + mapped > 0 {
            id = self.blocks.split(id, growth.front + mapped);
            self.free_moved(growth.id);
        }
        if growth.back > 0 {
            let back = self.blocks.split(id, growth.bytes - mapped);
            self.free_moved(back);
        }
        self.put_hole(at, id);
        None
    }

    fn free_moved(&mut self, id: u32) {
        let block = &mut self.blocks.all[id as usize];
        block.state = State::Free;
        let segment = block.segment;
        self.merge(id, self.segments[segment as usize].size);
    }

    /// A block at the start of one that is in no list; what is left of it is free.
    fn hold_front(&mut self, id: u32, request: Request, place: &'static Location<'static>) -> Taken {
        let rest = self.blocks.all[id as usize].bytes - request.block;
        if rest > 0 && request.size().splits(rest) {
            let rest = self.blocks.split(id, request.block);
            self.free_moved(rest);
        }
        let block = &mut self.blocks.all[id as usize];
        (block.state, block.asked, block.place) = (State::Held, request.bytes, place);
        let (address, bytes) = (block.address, block.bytes);
        self.figures.hold(request.size().kind(), request.bytes, bytes);
        Taken { id, address }
    }

    /// Makes a hole of a block in no list, with the holes beside it.
    fn put_hole(&mut self, at: usize, id: u32) {
        let is_hole = |pool: &Self, id: u32| pool.blocks.all.get(id as usize).is_some_and(|b| b.state == State::Hole);
        self.blocks.all[id as usize].state = State::Hole;
        let Block { before, after, .. } = self.blocks.all[id as usize];
        if is_hole(self, after) {
            let address = self.blocks.all[after as usize].address;
            self.ranges[at].holes.remove(&address);
            self.blocks.join_before(after);
        }
        if is_hole(self, before) {
            self.blocks.join_before(id);
        } else {
            self.ranges[at].holes.insert(self.blocks.all[id as usize].address, id);
        }
    }

    /// Takes chunks out in which nothing is in use, those at the highest addresses first, until what is left of the
    /// reserved memory is at most `keep` bytes.
    pub(crate) fn take_chunks(&mut self, keep: usize) -> Vec<Leaving> {
        let mut leaving = self.take_stuck(keep);
        for at in 0..self.ranges.len() {
            let size = self.segments[self.ranges[at].segment as usize].size;
            // A chunk that goes lies in one free block, so mostly nothing has to be looked at.
            let least = 1 << self.ranges[at].step.ilog2();
            if self.figures.reserved.now <= keep || self.free.of(size).find(&self.blocks.all, least).is_none() {
                continue;
            }
            let all: Vec<_> = self.ranges[at].chunks.values().rev().copied().collect();
            let mut free = self.free_blocks(at);
            for chunk in all {
                let (from, end) = (chunk.address, chunk.address + chunk.bytes);
                let Some((&start, &id)) = free.range(..=from).next_back() else { continue };
                if self.figures.reserved.now <= keep || start + self.blocks.all[id as usize].bytes < end {
                    continue;
                }
                let last = self.reserve(id, size) - (end - start);
                if last > 0 {
                    let last = self.blocks.split(id, end - start);
                    self.free_moved(last);
                }
                let mut gone = id;
                if start < from {
                    gone = self.blocks.split(id, from - start);
                    self.free_moved(id);
                } else {
                    free.remove(&start);
                }
                self.ranges[at].chunks.remove(&from);
                self.figures.unreserve(size.kind(), chunk.bytes);
                leaving.push(Leaving { id: gone, chunk });
            }
        }
        leaving
    }

    /// Those that stayed although nothing is in use there.
    fn take_stuck(&mut self, keep: usize) -> Vec<Leaving> {
        if self.figures.reserved.now <= keep {
            return Vec::new();
        }
        let stuck = std::mem::take(&mut self.stuck);
        for Leaving { id, chunk } in &stuck {
            let segment = self.blocks.all[*id as usize].segment;
            if let Some(range) = self.ranges.iter_mut().find(|range| range.segment == segment) {
                range.chunks.remove(&chunk.address);
            }
            self.figures.unreserve(self.segments[segment as usize].size.kind(), chunk.bytes);
        }
        stuck
    }

    /// The free blocks of a range, by address.
    fn free_blocks(&self, at: usize) -> BTreeMap<usize, u32> {
        let mut id = self.segments[self.ranges[at].segment as usize].first;
        let mut free = BTreeMap::new();
        while id != NONE {
            let block = &self.blocks.all[id as usize];
            if block.state == State::Free {
                free.insert(block.address, id);
            }
            id = block.after;
        }
        free
    }

    /// The memory of a chunk is gone, or could not be taken away: then the addresses are for nobody until it is.
    pub(crate) fn left(&mut self, leaving: Leaving, gone: bool) {
        let Leaving { id, chunk } = leaving;
        let segment = self.blocks.all[id as usize].segment;
        let Some(at) = self.ranges.iter().position(|range| range.segment == segment) else { return };
        if gone {
            self.put_hole(at, id);
        } else {
            self.ranges[at].chunks.insert(chunk.address, chunk);
            self.figures.keep_reserved(self.segments[segment as usize].size.kind(), chunk.bytes);
            self.stuck.push(leaving);
        }
    }

    /// Ends the ranges, whose blocks the caller forgets.
    pub(super) fn end_ranges(&mut self) -> Vec<Spent> {
        let ranges = std::mem::take(&mut self.ranges);
        self.stuck.clear();
        let end = |Range { segment, chunks, .. }: Range| {
            let segment = &mut self.segments[segment as usize];
            segment.bytes = 0;
            let kind: Kind = segment.size.kind();
            chunks.values().for_each(|chunk| self.figures.unreserve(kind, chunk.bytes));
            Spent { address: segment.address, chunks: chunks.into_values().collect() }
        };
        ranges.into_iter().map(end).collect()
    }
}
