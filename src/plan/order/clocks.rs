//! What each stream knows of the others: positions by stream, with equal parts shared.

/// Numbers of a block.
const WIDTH: usize = 8;
const BITS: u32 = WIDTH.trailing_zeros();

/// Clocks: for each stream, up to which position it is done. A clock is a tree of blocks; the same block may be part
/// of many clocks, so that a clock that learns of one stream costs few blocks however many streams there are. Clock
/// and block 0 know of nothing.
#[derive(Debug)]
pub(crate) struct Clocks {
    width: usize,
    /// Levels of blocks above those with positions.
    height: u32,
    blocks: Vec<u32>,
}

impl Clocks {
    /// For so many streams.
    pub(crate) fn new(streams: usize) -> Self {
        let mut height = 0;
        while WIDTH << (BITS * height) < streams {
            height += 1;
        }
        let width = if height == 0 { streams } else { WIDTH };
        Self { width, height, blocks: vec![0; width] }
    }

    /// For any number of streams, see [`Clocks::grow`].
    pub(crate) fn growing() -> Self {
        Self { width: WIDTH, height: 0, blocks: vec![0; WIDTH] }
    }

    /// Makes room for more streams; all clocks that are in use get new numbers.
    pub(crate) fn grow<'a>(&mut self, streams: usize, mut clocks: impl FnMut(&mut dyn FnMut(&mut u32)) + 'a) {
        while WIDTH << (BITS * self.height) < streams {
            self.height += 1;
            clocks(&mut |clock| {
                if *clock != 0 {
                    let mut block = [0; WIDTH];
                    block[0] = *clock;
                    *clock = self.push(&block);
                }
            });
        }
    }

    pub(crate) fn shrink(&mut self) {
        self.blocks.shrink_to_fit();
    }

    /// Up to which position `stream` is done.
    pub(crate) fn get(&self, clock: u32, stream: u16) -> u32 {
        let slot = |block: u32, level| {
            self.blocks[block as usize * self.width + (usize::from(stream) >> (BITS * level)) % WIDTH]
        };
        (0..=self.height).rev().fold(clock, slot)
    }

    /// A clock that knows what both know, and that `stream` has come to `position`; `clock` itself if that is
    /// nothing new.
    pub(crate) fn joined(&mut self, clock: u32, other: u32, stream: u16, position: u32) -> u32 {
        let first_new = (self.blocks.len() / self.width) as u32;
        let both = self.merged(clock, other, self.height);
        if self.get(both, stream) >= position {
            both
        } else {
            self.set(both, stream, position, self.height, first_new)
        }
    }

    fn merged(&mut self, a: u32, b: u32, level: u32) -> u32 {
        match (a, b) {
            _ if a == b => return a,
            (_, 0) => return a,
            (0, _) => return b,
            _ => {}
        }
        let (mut block, mut is_a, mut is_b) = ([0; WIDTH], true, true);
        for (i, slot) in block.iter_mut().enumerate().take(self.width) {
            let (x, y) = (self.blocks[a as usize * self.width + i], self.blocks[b as usize * self.width + i]);
            *slot = if level == 0 { x.max(y) } else { self.merged(x, y, level - 1) };
            (is_a, is_b) = (is_a && *slot == x, is_b && *slot == y);
        }
        match (is_a, is_b) {
            (true, _) => a,
            (_, true) => b,
            _ => self.push(&block),
        }
    }

    /// Sets a position in a copy; blocks from `first_new` on are nobody else's.
    fn set(&mut self, block: u32, stream: u16, position: u32, level: u32, first_new: u32) -> u32 {
        let mut block = block;
        if block < first_new {
            let mut copy = [0; WIDTH];
            let at = block as usize * self.width;
            copy[..self.width].copy_from_slice(&self.blocks[at..at + self.width]);
            block = self.push(&copy);
        }
        let slot = block as usize * self.width + (usize::from(stream) >> (BITS * level)) % WIDTH;
        self.blocks[slot] = match level {
            0 => position,
            _ => self.set(self.blocks[slot], stream, position, level - 1, first_new),
        };
        block
    }

    fn push(&mut self, block: &[u32; WIDTH]) -> u32 {
        if self.blocks.len() == self.blocks.capacity() {
            self.blocks.reserve_exact((self.blocks.len() / 8).max(64));
        }
        self.blocks.extend_from_slice(&block[..self.width]);
        (self.blocks.len() / self.width - 1) as u32
    }
}

/// The least of a number that each stream has for its position, over whole clocks: what blocks have in common is
/// looked at once.
pub(crate) struct Least<'a, F> {
    clocks: &'a Clocks,
    streams: usize,
    number: F,
    /// For position 0 everywhere, by level and place.
    start: Vec<Vec<u32>>,
    /// By block; [`Least::UNKNOWN`] until it is asked for.
    known: Vec<u32>,
}

impl<'a, F: Fn(u16, u32) -> u32> Least<'a, F> {
    /// In place of a number, which is never that large.
    const UNKNOWN: u32 = u32::MAX - 1;

    /// `number` gives that of a stream at a position; `u32::MAX` for none.
    pub(crate) fn new(clocks: &'a Clocks, streams: usize, number: F) -> Self {
        let mut start: Vec<Vec<u32>> = Vec::new();
        // Clocks of one block are looked at as they are.
        if clocks.height > 0 {
            let mut level: Vec<u32> = (0..streams).map(|stream| number(stream as u16, 0)).collect();
            for _ in 0..clocks.height {
                level = level.chunks(WIDTH).map(|some| some.iter().copied().min().unwrap_or(u32::MAX)).collect();
                start.push(level.clone());
            }
        }
        let blocks = if clocks.height > 0 { clocks.blocks.len() / WIDTH } else { 0 };
        Self { clocks, streams, number, start, known: vec![Self::UNKNOWN; blocks] }
    }

    /// Over all streams but one.
    pub(crate) fn without(&mut self, clock: u32, own: u16) -> u32 {
        let (mut block, mut least) = (clock, u32::MAX);
        for level in (0..=self.clocks.height).rev() {
            let path = usize::from(own) >> (BITS * level);
            let first = path - path % WIDTH;
            for place in (first..first + self.clocks.width).filter(|place| *place != path) {
                least = least.min(self.slot(block, level, place));
            }
            block = self.clocks.blocks[block as usize * self.clocks.width + path % WIDTH];
        }
        least
    }

    /// Over the streams of a slot, which is at `place` among all of its level.
    fn slot(&mut self, block: u32, level: u32, place: usize) -> u32 {
        if place << (BITS * level) >= self.streams {
            return u32::MAX;
        }
        let inner = self.clocks.blocks[block as usize * self.clocks.width + place % WIDTH];
        match level {
            0 => (self.number)(place as u16, inner),
            _ if inner == 0 => self.start[level as usize - 1][place],
            _ if self.known[inner as usize] != Self::UNKNOWN => self.known[inner as usize],
            _ => {
                let slots = WIDTH * place..WIDTH * (place + 1);
                let least = slots.map(|slot| self.slot(inner, level - 1, slot)).min().unwrap_or(u32::MAX);
                self.known[inner as usize] = least;
                least
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::builder::tests::generate::Dice;

    #[test]
    fn clocks_know_what_vectors_know() {
        for streams in [1, 5, 8, 9, 70, 600] {
            let mut dice = Dice(streams as u64);
            let (mut fixed, mut growing) = (Clocks::new(streams), Clocks::growing());
            let mut plain = vec![vec![0; streams]];
            let mut clocks = vec![(0, 0)];
            for step in 1..400_u32 {
                let (a, b) = (dice.index(plain.len()), dice.index(plain.len()));
                let stream = dice.index(streams.min(1 + step as usize));
                growing.grow(stream + 1, |see| clocks.iter_mut().for_each(|(_, clock)| see(clock)));
                let mut both: Vec<u32> = plain[a].iter().zip(&plain[b]).map(|(x, y)| *x.max(y)).collect();
                both[stream] = both[stream].max(step);
                plain.push(both);
                let next = (
                    fixed.joined(clocks[a].0, clocks[b].0, stream as u16, step),
                    growing.joined(clocks[a].1, clocks[b].1, stream as u16, step),
                );
                clocks.push(next);
            }
            growing.grow(streams, |see| clocks.iter_mut().for_each(|(_, clock)| see(clock)));
            let number = |stream: u16, position: u32| (u32::from(stream) * 7919 + position * 31) % 1009;
            let mut least = Least::new(&fixed, streams, number);
            for (plain, (one, other)) in plain.iter().zip(&clocks) {
                let own = dice.index(streams);
                let others = (0..streams).filter(|stream| *stream != own);
                let expected = others.map(|stream| number(stream as u16, plain[stream])).min();
                assert_eq!(least.without(*one, own as u16), expected.unwrap_or(u32::MAX));
                let of =
                    |clocks: &Clocks, clock| (0..streams as u16).map(|i| clocks.get(clock, i)).collect::<Vec<_>>();
                assert!(of(&fixed, *one) == *plain && of(&growing, *other) == *plain);
            }
        }
    }
}
