//! Memory that was given up while work may still use it, in a line for each stream that holds some back.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::panic::Location;

use super::allocator::Piece;
use crate::pool::{Known, Pool, Ready, Request, Taken};
use crate::progress::Use;
use crate::sort;

/// Entries of a line beyond which those of blocks that were taken meanwhile are looked for.
const CROWDED: usize = 64;

#[derive(Default)]
pub(super) struct Lines {
    /// By the address of the stream's progress, which the line keeps.
    by_stream: HashMap<usize, Line, BuildHasherDefault<Addresses>>,
    /// Lines from which on those without memory are looked for.
    crowded: usize,
}

/// Blocks that are looked at for room that several of them have together.
const LOOKS: usize = 4096;

/// What waits for one stream.
struct Line {
    /// The latest of the submissions that are waited for.
    last: Use,
    waiting: BinaryHeap<Waiting>,
    /// Blocks that wait for this stream alone; its later work may take them.
    ready: Option<Box<Ready>>,
    /// How many entries are there for blocks that were taken, or are a part of another one.
    taken: usize,
}

/// Memory that waits for the submission `number`.
struct Waiting {
    number: u64,
    what: What,
}

enum What {
    Ready(Known),
    /// And then for the others.
    Piece(Piece, Vec<Use>),
}

/// Addresses as their own hash.
#[derive(Default)]
pub(super) struct Addresses(u64);

impl Hasher for Addresses {
    fn finish(&self) -> u64 {
        // The upper bits choose too.
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_usize(&mut self, address: usize) {
        self.0 = address as u64 >> 4;
    }
}

impl Ord for Waiting {
    /// A heap gives its greatest first: the earliest submission.
    fn cmp(&self, other: &Self) -> Ordering {
        other.number.cmp(&self.number)
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Waiting {}

impl Line {
    fn stand(&mut self, pool: &mut Pool, id: u32, number: u64) {
        let ready = self.ready.get_or_insert_default();
        let known = pool.ready(ready, id, number);
        if self.taken > CROWDED && self.taken > self.waiting.len() / 2 {
            self.waiting.retain(|entry| !matches!(entry.what, What::Ready(known) if !pool.is_ready(known)));
            self.taken = 0;
        }
        self.waiting.push(Waiting { number, what: What::Ready(known) });
    }

    /// The next entry, without those of blocks that were taken.
    fn first(&mut self, pool: &Pool) -> Option<&Waiting> {
        while let Some(Waiting { what: What::Ready(known), .. }) = self.waiting.peek()
            && !pool.is_ready(*known)
        {
            self.waiting.pop();
            self.taken = self.taken.saturating_sub(1);
        }
        self.waiting.peek()
    }
}

impl Lines {
    /// Puts memory into the line of a stream that is not done; gives it back when there is none.
    pub(super) fn stand(&mut self, pool: &mut Pool, piece: Piece, mut streams: Vec<Use>) -> Option<Piece> {
        streams.retain(|stream| !stream.is_done());
        let Some(stream) = streams.pop() else { return Some(piece) };
        let number = stream.number();
        let line = self.line(stream);
        match piece {
            Piece::Block(id) if streams.is_empty() => line.stand(pool, id, number),
            piece => line.waiting.push(Waiting { number, what: What::Piece(piece, streams) }),
        }
        None
    }

    fn line(&mut self, stream: Use) -> &mut Line {
        let key = stream.stream_key();
        if self.by_stream.len() > self.crowded && !self.by_stream.contains_key(&key) {
            self.by_stream.retain(|_, line| !line.waiting.is_empty());
            self.crowded = 16 + 2 * self.by_stream.len();
        }
        let number = stream.number();
        let line = self.by_stream.entry(key).or_insert_with(|| Line {
            last: stream,
            waiting: BinaryHeap::new(),
            ready: None,
            taken: 0,
        });
        line.last.renew(number);
        line
    }

    /// A block for later work of the stream with this key, and what work of it may still use the block.
    #[inline]
    pub(super) fn take(
        &mut self,
        pool: &mut Pool,
        key: usize,
        request: Request,
        place: &'static Location<'static>,
    ) -> Option<(Taken, Use)> {
        let line = self.by_stream.get_mut(&key)?;
        let again = pool.take_ready(line.ready.as_mut()?, request, place)?;
        line.taken += 1;
        if let Some(rest) = again.rest {
            line.stand(pool, rest, again.number);
        }
        Some((again.taken, line.last.at(again.number)))
    }

    /// Makes one block of some that lie side by side, which later work of the stream with this key may take, where they
    /// are large enough for the request together. It is that of the latest work that uses any of them. Looks at so many
    /// at most, since others wait meanwhile.
    pub(super) fn join(&mut self, pool: &mut Pool, key: usize, request: Request) {
        let Some(line) = self.by_stream.get_mut(&key) else { return };
        let Some(ready) = line.ready.as_mut() else { return };
        let mut looks = LOOKS;
        let found = line.waiting.iter().find_map(|entry| match &entry.what {
            _ if looks == 0 => None,
            What::Ready(known) => pool.is_side_by_side(ready, *known, request, &mut looks).then_some(*known),
            What::Piece(..) => None,
        });
        let Some((known, number, count)) = found.and_then(|known| pool.join_ready(ready, known, request)) else {
            return;
        };
        // Those for each of the former blocks are about nothing any more.
        line.taken += count;
        line.waiting.push(Waiting { number, what: What::Ready(known) });
    }

    /// The streams other than that with this key which gave up a block that is large enough, the oldest first, with the
    /// submission that may still use it.
    pub(super) fn elsewhere(&mut self, pool: &Pool, key: usize, request: Request) -> Vec<Use> {
        let others = self.by_stream.iter_mut().filter(|(known, _)| **known != key);
        let mut found: Vec<_> = others
            .filter_map(|(_, line)| Some(line.last.at(pool.next_ready(line.ready.as_mut()?, request)?)))
            .collect();
        sort::by_key(&mut found, Use::stream);
        found
    }

    /// A block for somebody who follows `before`: as [`Lines::take`], unless later work of that stream may use it.
    pub(super) fn take_after(
        &mut self,
        pool: &mut Pool,
        before: &Use,
        request: Request,
        place: &'static Location<'static>,
    ) -> Option<Taken> {
        let key = before.stream_key();
        let number = pool.next_ready(self.by_stream.get_mut(&key)?.ready.as_mut()?, request)?;
        let follows = number <= before.number();
        let (taken, _) = follows.then(|| self.take(pool, key, request, place))??;
        Some(taken)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_stream.values().all(|line| line.waiting.is_empty())
    }

    /// The streams that hold memory back, as far as is known.
    pub(super) fn busy(&mut self, pool: &Pool) -> Vec<Use> {
        let held = self.by_stream.values_mut().filter_map(|line| {
            let number = line.first(pool)?.number;
            (!line.last.is_done_at(number)).then(|| line.last.clone())
        });
        held.collect()
    }

    /// Puts the blocks back that no stream uses any more, and takes out other such memory. How much it was, too.
    pub(super) fn take_idle(&mut self, pool: &mut Pool) -> (Vec<Piece>, u64) {
        let (mut moved, mut blocks) = (Vec::new(), 0);
        for line in self.by_stream.values_mut() {
            while let Some(number) = line.first(pool).map(|first| first.number)
                && line.last.is_done_at(number)
            {
                match line.waiting.pop().map(|entry| entry.what) {
                    Some(What::Piece(piece, others)) => moved.push((piece, others)),
                    Some(What::Ready(known)) => {
                        line.ready.iter_mut().for_each(|ready| pool.rest_ready(ready, known));
                        blocks += 1;
                    }
                    None => {}
                }
            }
        }
        let mut direct = Vec::new();
        for (piece, others) in moved {
            match self.stand(pool, piece, others) {
                Some(Piece::Block(id)) => {
                    pool.rest(id);
                    blocks += 1;
                }
                idle => direct.extend(idle),
            }
        }
        (direct, blocks)
    }

    /// What is in lines and is no block.
    pub(super) fn into_pieces(self) -> impl Iterator<Item = Piece> {
        self.by_stream.into_values().flat_map(|line| line.waiting).filter_map(|entry| match entry.what {
            What::Piece(piece @ Piece::Direct(_), _) => Some(piece),
            _ => None,
        })
    }
}
