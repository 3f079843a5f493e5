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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::generate::Dice;

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
            for (plain, (one, other)) in plain.iter().zip(&clocks) {
                let of =
                    |clocks: &Clocks, clock| (0..streams as u16).map(|i| clocks.get(clock, i)).collect::<Vec<_>>();
                assert!(of(&fixed, *one) == *plain && of(&growing, *other) == *plain);
            }
        }
    }
}
