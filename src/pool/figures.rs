//! What memory a context has, in figures.

/// Memory of a context, as [`Context::memory_stats`](crate::Context::memory_stats) found it. Bytes, unless told
/// otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MemoryStats {
    /// What buffers, tensors, workspaces and graphs asked for and hold.
    pub allocated: Amount,
    /// The blocks that are held, with what rounding adds, and those that wait for work which may still use them.
    pub active: Amount,
    /// What the context has from the library, or from a [foreign allocator](crate::ForeignAllocator).
    pub reserved: Amount,
    /// Of [`allocated`](Self::allocated), what captures made for their graphs, which keep it: scratch memory of
    /// operators and [what a capturing stream allocates](crate::Stream::alloc). What several graphs of [a
    /// pool](crate::GraphPool) share counts once.
    pub graphs: Amount,
    /// Blocks of at most 1 MiB, which share segments of 2 MiB.
    pub small: MemoryClass,
    /// Larger blocks: up to 10 MiB they share segments of 20 MiB, beyond they have their own.
    pub large: MemoryClass,
    /// Memory that was allocated one by one, by the library or by a foreign allocator, and [memory of other
    /// code](crate::DeviceBuffer::from_raw).
    pub direct: MemoryClass,
    /// Calls of `aclrtMalloc` or `aclrtMallocPhysical`, or of the foreign allocator, that succeeded;
    /// and memory that other code made.
    pub device_allocations: u64,
    /// Calls of `aclrtFree` or `aclrtFreePhysical`, or of the foreign allocator, that succeeded.
    pub device_frees: u64,
    /// Allocations for which the device had too little at first: what was cached was given back, or work waited for.
    pub retries: u64,
    /// Those that failed in the end.
    pub out_of_memory: u64,
    waiting: usize,
}

/// An amount, and the greatest it was since the context was made, or since
/// [`Context::reset_peak_memory_stats`](crate::Context::reset_peak_memory_stats).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Amount {
    /// Now.
    pub now: usize,
    /// At most.
    pub peak: usize,
}

/// Memory of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MemoryClass {
    /// Allocations so far.
    pub allocations: u64,
    /// How many of them are held.
    pub held: usize,
    /// Bytes that they asked for.
    pub allocated: usize,
    /// Bytes of blocks that are held or wait for work.
    pub active: usize,
    /// Bytes that the library gave.
    pub reserved: usize,
    /// In how many pieces: segments, or what [`Allocator::Growing`](crate::Allocator::Growing) made them grow by.
    pub segments: usize,
}

impl MemoryStats {
    /// What was given up and waits for work that may still use it. Allocations for the stream of that work may have it.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// What is reserved and not in use: later allocations come from it.
    #[must_use]
    pub fn cached(&self) -> usize {
        self.reserved.now - self.active.now
    }
}

/// Which figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Small,
    Large,
    Direct,
}

impl MemoryClass {
    /// What is reserved and not in use.
    #[must_use]
    pub fn cached(&self) -> usize {
        self.reserved - self.active
    }
}

impl Amount {
    #[inline]
    fn add(&mut self, bytes: usize) {
        self.now += bytes;
        self.peak = self.peak.max(self.now);
    }
}

impl MemoryStats {
    pub(crate) fn reset_peaks(&mut self) {
        for amount in [&mut self.allocated, &mut self.active, &mut self.reserved, &mut self.graphs] {
            amount.peak = amount.now;
        }
    }

    #[inline]
    pub(super) fn class(&mut self, kind: Kind) -> &mut MemoryClass {
        match kind {
            Kind::Small => &mut self.small,
            Kind::Large => &mut self.large,
            Kind::Direct => &mut self.direct,
        }
    }

    pub(crate) fn count_graphs(&mut self, more: usize, fewer: usize) {
        self.graphs.add(more);
        self.graphs.now -= fewer;
    }

    pub(super) fn end_waits(&mut self) {
        self.waiting = 0;
    }

    /// Somebody holds a block of `block` bytes, of which it asked for `asked`.
    #[inline]
    pub(super) fn hold(&mut self, kind: Kind, asked: usize, block: usize) {
        self.allocated.add(asked);
        self.active.add(block);
        let class = self.class(kind);
        class.allocations += 1;
        class.held += 1;
        class.allocated += asked;
        class.active += block;
    }

    /// Its holder gave it up; it is active as long as it waits.
    #[inline]
    pub(super) fn give_up(&mut self, kind: Kind, asked: usize, block: usize) {
        self.allocated.now -= asked;
        self.waiting += block;
        let class = self.class(kind);
        class.held -= 1;
        class.allocated -= asked;
    }

    /// Its holder gave it up, and nothing uses it.
    #[inline]
    pub(super) fn give(&mut self, kind: Kind, asked: usize, block: usize) {
        self.allocated.now -= asked;
        self.active.now -= block;
        let class = self.class(kind);
        class.held -= 1;
        class.allocated -= asked;
        class.active -= block;
    }

    #[inline]
    pub(super) fn rest(&mut self, kind: Kind, block: usize) {
        self.active.now -= block;
        self.waiting -= block;
        self.class(kind).active -= block;
    }

    pub(super) fn reserve(&mut self, kind: Kind, bytes: usize) {
        self.device_allocations += 1;
        self.reserved.add(bytes);
        let class = self.class(kind);
        class.reserved += bytes;
        class.segments += 1;
    }

    /// What was to be given back is not.
    pub(super) fn keep_reserved(&mut self, kind: Kind, bytes: usize) {
        self.device_frees -= 1;
        // The device was asked for more meanwhile, maybe.
        self.reserved.add(bytes);
        let class = self.class(kind);
        class.reserved += bytes;
        class.segments += 1;
    }

    pub(super) fn unreserve(&mut self, kind: Kind, bytes: usize) {
        self.device_frees += 1;
        self.reserved.now -= bytes;
        let class = self.class(kind);
        class.reserved -= bytes;
        class.segments -= 1;
    }
}
