//! How two other allocators choose and divide memory, as far as it decides what they reserve: PyTorch's caching
//! allocator for CUDA, and RMM's pool with its coalescing best fit. Written from their documented behaviour, in numbers
//! alone: no memory.

use std::collections::{BTreeMap, BTreeSet};

use super::traces::{Step, Trace};

const MIB: usize = 1 << 20;

/// The two.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Requests are rounded to 512 bytes. Up to 1 MiB they come from segments of 2 MiB, below 10 MiB from such of
    /// 20 MiB, others from their own, rounded to 2 MiB. A small block is always cut, a large one when more than 1 MiB
    /// is left.
    Torch,
    /// Requests are rounded to 256 bytes and always cut. The pool grows by what it has already, or by the request.
    Rmm,
}

struct Block {
    bytes: usize,
    free: bool,
    /// That blocks merge inside.
    segment: usize,
}

/// The memory of one such allocator.
pub(crate) struct Policy {
    kind: Kind,
    /// By address.
    blocks: BTreeMap<usize, Block>,
    /// By whether it is of a small segment, size and address.
    free: BTreeSet<(bool, usize, usize)>,
    /// Those that are divided into small blocks.
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
        let mut held = vec![(0, 0); trace.names];
        let (mut now, mut peak) = (0, 0);
        for step in &trace.steps {
            match *step {
                Step::Alloc(name, bytes) => {
                    held[name] = (self.alloc(bytes), bytes);
                    now += bytes;
                    peak = peak.max(now);
                }
                Step::Free(name) => {
                    let (address, bytes) = held[name];
                    self.give(address);
                    now -= bytes;
                }
            }
        }
        self.reserved as f64 / peak as f64
    }

    fn alloc(&mut self, bytes: usize) -> usize {
        let bytes = bytes.next_multiple_of(if self.kind == Kind::Torch { 512 } else { 256 });
        let small = self.kind == Kind::Torch && bytes <= MIB;
        let from = (small, bytes, 0);
        let found = self.free.range(from..(small, usize::MAX, 0)).next().copied();
        let (_, size, address) = found.unwrap_or_else(|| self.grow(small, bytes));
        self.free.remove(&(small, size, address));
        let rest = size - bytes;
        let segment = self.blocks[&address].segment;
        let cut = rest > 0 && (self.kind == Kind::Rmm || small || rest > MIB);
        self.blocks.insert(address, Block { bytes: if cut { bytes } else { size }, free: false, segment });
        if cut {
            self.blocks.insert(address + bytes, Block { bytes: rest, free: true, segment });
            self.free.insert((small, rest, address + bytes));
        }
        address
    }

    fn grow(&mut self, small: bool, bytes: usize) -> (bool, usize, usize) {
        let size = match self.kind {
            Kind::Torch if small => 2 * MIB,
            Kind::Torch if bytes < 10 * MIB => 20 * MIB,
            Kind::Torch => bytes.next_multiple_of(2 * MIB),
            Kind::Rmm => bytes.max(self.reserved),
        };
        let address = self.next;
        self.next += size + MIB;
        self.reserved += size;
        self.blocks.insert(address, Block { bytes: size, free: true, segment: address });
        if small {
            self.small.insert(address);
        }
        self.free.insert((small, size, address));
        (small, size, address)
    }

    fn give(&mut self, mut address: usize) {
        let Block { mut bytes, segment, .. } = self.blocks.remove(&address).expect("a block that is held");
        let small = self.small.contains(&segment);
        let after = address + bytes;
        if let Some(next) = self.blocks.get(&after).filter(|next| next.free && next.segment == segment) {
            bytes += next.bytes;
            self.free.remove(&(small, next.bytes, after));
            self.blocks.remove(&after);
        }
        let before = self.blocks.range(..address).next_back().map(|(at, block)| (*at, block));
        if let Some((at, block)) = before.filter(|(_, block)| block.free && block.segment == segment) {
            self.free.remove(&(small, block.bytes, at));
            bytes += block.bytes;
            address = at;
        }
        self.blocks.insert(address, Block { bytes, free: true, segment });
        self.free.insert((small, bytes, address));
    }
}
