//! How two other allocators choose and divide memory, as far as it decides what they reserve: PyTorch's caching
//! allocator for CUDA, and RMM's pool with its coalescing best fit. Written from their documented behaviour, in numbers
//! alone: no memory.
//!
//! With both, memory belongs to a stream. What a trace allocates for none in particular is of the first stream that is
//! said to use it, as a program for either would have it.

use std::collections::{BTreeMap, BTreeSet};

use super::traces::{Step, Trace};

const MIB: usize = 1 << 20;

/// The two.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Requests are rounded to 512 bytes. Up to 1 MiB they come from segments of 2 MiB, below 10 MiB from such of
    /// 20 MiB, others from their own, rounded to 2 MiB. A small block is always cut, a large one when more than 1 MiB
    /// is left. Segments are of one stream, whose later work may have a block as soon as it is given up; where other
    /// streams used it too, once an event says that they are done.
    Torch,
    /// Requests are rounded to 256 bytes and always cut. The pool grows by what it has already, or by the request. What
    /// is given up is in the list of the stream that used it last. Where that of a stream has nothing for a request, it
    /// waits on the device for an event of another one, and has all of that one's list as well.
    Rmm,
}

struct Block {
    bytes: usize,
    /// In whose list it is.
    free: Option<usize>,
    /// That blocks merge inside.
    segment: usize,
}

/// A free block: its stream, whether it is of a small segment, its size and address.
type Free = (usize, bool, usize, usize);

/// The memory of one such allocator.
pub(crate) struct Policy {
    kind: Kind,
    /// By address.
    blocks: BTreeMap<usize, Block>,
    free: BTreeSet<Free>,
    /// Segments that are divided into small blocks.
    small: BTreeSet<usize>,
    reserved: usize,
    next: usize,
}

impl Policy {
    pub(crate) fn torch() -> Self {
        Self::new(Kind::Torch)
    }

    pub(crate) fn rmm() -> Self {
        Self::new(Kind::Rmm)
    }

    fn new(kind: Kind) -> Self {
        let (blocks, free, small) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Self { kind, blocks, free, small, reserved: 0, next: 1 << 40 }
    }

    /// Reserved peak over allocated peak.
    pub(crate) fn replay(mut self, trace: &Trace) -> f64 {
        let home = homes(trace);
        // Addresses of what is held, or was given up and is used still.
        let mut held = vec![None; trace.names];
        for step in &trace.steps {
            match *step {
                Step::Alloc(name, bytes, _) => held[name] = Some(self.alloc(home[name], bytes)),
                Step::GiveUp(name, ref streams) => {
                    if self.kind == Kind::Rmm || streams.iter().all(|stream| *stream == home[name]) {
                        let stream = streams.last().copied().unwrap_or(home[name]);
                        self.give(held[name].take().expect("memory that is held"), stream);
                    }
                }
                Step::Free(name) => {
                    if let Some(address) = held[name].take() {
                        self.give(address, home[name]);
                    }
                }
            }
        }
        self.reserved as f64 / trace.peak() as f64
    }

    fn alloc(&mut self, stream: usize, bytes: usize) -> usize {
        let bytes = bytes.next_multiple_of(if self.kind == Kind::Torch { 512 } else { 256 });
        let small = self.kind == Kind::Torch && bytes <= MIB;
        let found = self.find(stream, small, bytes).unwrap_or_else(|| self.grow(stream, small, bytes));
        self.free.remove(&found);
        let (.., size, address) = found;
        let rest = size - bytes;
        let segment = self.blocks[&address].segment;
        let cut = rest > 0 && (self.kind == Kind::Rmm || small || rest > MIB);
        self.blocks.insert(address, Block { bytes: if cut { bytes } else { size }, free: None, segment });
        if cut {
            self.blocks.insert(address + bytes, Block { bytes: rest, free: Some(stream), segment });
            self.free.insert((stream, small, rest, address + bytes));
        }
        address
    }

    fn find(&mut self, stream: usize, small: bool, bytes: usize) -> Option<Free> {
        let best = |free: &BTreeSet<Free>| {
            let from = (stream, small, bytes, 0);
            free.range(from..(stream, small, usize::MAX, 0)).next().copied()
        };
        let mut found = best(&self.free);
        while found.is_none() && self.kind == Kind::Rmm {
            let &(other, ..) = self.free.iter().find(|(other, ..)| *other != stream)?;
            let list: Vec<Free> = self.free.iter().filter(|(of, ..)| *of == other).copied().collect();
            for block in list {
                self.free.remove(&block);
                self.give(block.3, stream);
            }
            found = best(&self.free);
        }
        found
    }

    fn grow(&mut self, stream: usize, small: bool, bytes: usize) -> Free {
        let size = match self.kind {
            Kind::Torch if small => 2 * MIB,
            Kind::Torch if bytes < 10 * MIB => 20 * MIB,
            Kind::Torch => bytes.next_multiple_of(2 * MIB),
            Kind::Rmm => bytes.max(self.reserved),
        };
        let address = self.next;
        self.next += size + MIB;
        self.reserved += size;
        self.blocks.insert(address, Block { bytes: size, free: Some(stream), segment: address });
        if small {
            self.small.insert(address);
        }
        self.free.insert((stream, small, size, address));
        (stream, small, size, address)
    }

    /// Puts a block that is in no list into that of a stream, with its neighbours there.
    fn give(&mut self, mut address: usize, stream: usize) {
        let Block { mut bytes, segment, .. } = self.blocks.remove(&address).expect("a block that is held");
        let small = self.small.contains(&segment);
        let after = address + bytes;
        if let Some(next) = self.blocks.get(&after).filter(|next| next.merges(stream, segment)) {
            bytes += next.bytes;
            self.free.remove(&(stream, small, next.bytes, after));
            self.blocks.remove(&after);
        }
        let before = self.blocks.range(..address).next_back().map(|(at, block)| (*at, block));
        if let Some((at, block)) = before.filter(|(_, block)| block.merges(stream, segment)) {
            self.free.remove(&(stream, small, block.bytes, at));
            bytes += block.bytes;
            address = at;
        }
        self.blocks.insert(address, Block { bytes, free: Some(stream), segment });
        self.free.insert((stream, small, bytes, address));
    }
}

impl Block {
    fn merges(&self, stream: usize, segment: usize) -> bool {
        self.free == Some(stream) && self.segment == segment
    }
}

/// The stream of each allocation.
fn homes(trace: &Trace) -> Vec<usize> {
    let mut homes = vec![None; trace.names];
    for step in &trace.steps {
        match *step {
            Step::Alloc(name, _, stream) => homes[name] = stream,
            Step::GiveUp(name, ref streams) => homes[name] = homes[name].or(streams.first().copied()),
            Step::Free(_) => {}
        }
    }
    homes.into_iter().map(|home| home.unwrap_or(0)).collect()
}
