//! Which bytes were written.
//!
//! Bytes are numbered like a number with digits: with the strides of the values as weights, a column or a tile is a
//! range of each digit, however many pieces it has.

use std::collections::BTreeMap;

use crate::plan::overlap::steps::{Steps, TooMany};
use crate::plan::symbols::effort;

/// Steps that all additions and questions of one storage may take together.
const MOST_STEPS: u64 = 1 << 21;
/// Most different strides that become digits.
const MOST_DIGITS: usize = 4;

/// A range of each digit, the one of the largest weight first.
type Block = Vec<(u64, u64)>;

pub(super) struct Cover {
    /// The weight of each digit: each divides the one before; the last is 1.
    weights: Vec<u64>,
    written: Level,
    left: u64,
}

/// Ranges of one digit without overlap.
#[derive(Clone, PartialEq, Eq, Default)]
struct Level(BTreeMap<u64, Part>);

#[derive(Clone, PartialEq, Eq)]
struct Part {
    end: u64,
    /// What was written for each of these digits; none when it is all.
    inner: Option<Box<Level>>,
}

impl Cover {
    /// For bytes in these strides; what has others goes piece by piece.
    pub(super) fn new(mut strides: Vec<u64>) -> Self {
        strides.sort_unstable();
        strides.reverse();
        strides.dedup();
        let divide = strides.windows(2).all(|two| two[0] % two[1] == 0);
        if !divide || strides.len() > MOST_DIGITS {
            strides.clear();
        }
        strides.retain(|stride| *stride > 1);
        strides.push(1);
        Self { weights: strides, written: Level::default(), left: MOST_STEPS }
    }

    pub(super) fn add(&mut self, steps: &Steps) -> Result<(), TooMany> {
        for block in self.blocks(steps)? {
            self.written.add(&block, &self.weights, &mut self.left)?;
        }
        Ok(())
    }

    /// Takes bytes back, as if nothing had written them.
    pub(super) fn remove(&mut self, steps: &Steps) -> Result<(), TooMany> {
        for block in self.blocks(steps)? {
            self.written.remove(&block, &self.weights, &mut self.left)?;
        }
        Ok(())
    }

    /// The first of the bytes that were not written.
    pub(super) fn missing(&mut self, steps: &Steps) -> Result<Option<(u64, u64)>, TooMany> {
        let blocks = self.blocks(steps)?;
        let mut first: Option<(u64, u64)> = None;
        for block in &blocks {
            let missing = self.written.missing(block, &self.weights, &mut self.left)?;
            first = first.into_iter().chain(missing).min();
        }
        Ok(first)
    }

    fn blocks(&mut self, steps: &Steps) -> Result<Vec<Block>, TooMany> {
        if steps.is_empty() {
            return Ok(Vec::new());
        }
        let last = self.weights.len() - 1;
        let mut blocks = self.split(steps.start, steps.start + steps.run, last);
        for (stride, count) in steps.axes.iter().rev() {
            let digit = self.weights.iter().position(|weight| weight == stride);
            let more = digit.and_then(|digit| self.repeat(&blocks, digit, *count));
            let Some(more) = more else { return self.piece_by_piece(steps) };
            blocks = more;
        }
        spend(&mut self.left, blocks.len() as u64)?;
        Ok(blocks)
    }

    fn piece_by_piece(&mut self, steps: &Steps) -> Result<Vec<Block>, TooMany> {
        spend(&mut self.left, steps.pieces())?;
        let last = self.weights.len() - 1;
        Ok(steps.starts().flat_map(|start| self.split(start, start + steps.run, last)).collect())
    }

    /// Blocks of the numbers `from..to`, counted in the weight of `digit`.
    fn split(&self, from: u64, to: u64, digit: usize) -> Vec<Block> {
        if digit == 0 {
            return vec![vec![(from, to)]];
        }
        let size = self.weights[digit - 1] / self.weights[digit];
        let (low, high) = (from / size, to.div_ceil(size));
        let with = |above: (u64, u64), range: (u64, u64)| {
            self.split(above.0, above.1, digit - 1).into_iter().map(move |mut block| {
                block.push(range);
                block
            })
        };
        if low + 1 == high {
            return with((low, high), (from - low * size, to - low * size)).collect();
        }
        let (head, tail) = (from - low * size, to - (high - 1) * size);
        let (starts, ends) = (low + u64::from(head > 0), high - u64::from(tail < size));
        let mut blocks = Vec::new();
        if head > 0 {
            blocks.extend(with((low, low + 1), (head, size)));
        }
        if starts < ends {
            blocks.extend(with((starts, ends), (0, size)));
        }
        if tail < size {
            blocks.extend(with((high - 1, high), (0, tail)));
        }
        blocks
    }

    /// The blocks `count` times, each a step of `digit` further; none when one has several larger digits.
    fn repeat(&self, blocks: &[Block], digit: usize, count: u64) -> Option<Vec<Block>> {
        let mut all = Vec::new();
        for block in blocks {
            let (above, rest) = block.split_at(digit);
            if above.iter().any(|(from, to)| to - from != 1) {
                return None;
            }
            let sum = |value: fn(&u64, &u64) -> u64| {
                move |((from, to), weight): (&(u64, u64), &u64)| value(from, to) * (weight / self.weights[digit])
            };
            let base: u64 = above.iter().zip(&self.weights).map(sum(|from, _| *from)).sum();
            let (from, to) = (base + rest[0].0, base + rest[0].1 + count - 1);
            all.extend(self.split(from, to, digit).into_iter().map(|mut block| {
                block.extend_from_slice(&rest[1..]);
                block
            }));
        }
        Some(all)
    }
}

fn spend(left: &mut u64, steps: u64) -> Result<(), TooMany> {
    *left = left.checked_sub(steps).filter(|_| effort::spend(steps)).ok_or(TooMany)?;
    Ok(())
}

/// Whether a block has all that the digits below the first weight can be.
fn is_all(block: &[(u64, u64)], weights: &[u64]) -> bool {
    let sizes = weights.windows(2).map(|two| two[0] / two[1]);
    block.iter().zip(sizes).all(|((from, to), size)| *from == 0 && *to == size)
}

/// First byte and number of bytes of the first piece of a block.
fn first_piece(block: &[(u64, u64)], weights: &[u64]) -> (u64, u64) {
    let Some(((from, to), rest)) = block.split_first() else { return (0, 1) };
    if is_all(rest, weights) {
        return (from * weights[0], (to - from) * weights[0]);
    }
    let (start, bytes) = first_piece(rest, &weights[1..]);
    (from * weights[0] + start, bytes)
}

impl Part {
    /// Takes a block of the digits below away; whether something stays.
    fn keeps(&mut self, block: &[(u64, u64)], weights: &[u64], left: &mut u64) -> Result<bool, TooMany> {
        let all = Self { end: weights[0] / weights[1], inner: None };
        let inner = self.inner.get_or_insert_with(|| Box::new(Level(BTreeMap::from([(0, all)]))));
        inner.remove(block, &weights[1..], left)?;
        Ok(!inner.0.is_empty())
    }
}

impl Level {
    fn add(&mut self, block: &[(u64, u64)], weights: &[u64], left: &mut u64) -> Result<(), TooMany> {
        let Some((&(from, to), rest)) = block.split_first() else { return Ok(()) };
        self.cut(from, left)?;
        self.cut(to, left)?;
        if is_all(rest, weights) {
            let hidden: Vec<u64> = self.0.range(from..to).map(|(start, _)| *start).collect();
            spend(left, hidden.len() as u64)?;
            hidden.iter().for_each(|start| drop(self.0.remove(start)));
            self.0.insert(from, Part { end: to, inner: None });
        } else {
            let size = weights[0] / weights[1];
            let (mut at, mut gaps) = (from, Vec::new());
            for (start, part) in self.0.range_mut(from..to) {
                spend(left, 1)?;
                if *start > at {
                    gaps.push((at, *start));
                }
                at = part.end;
                if let Some(inner) = &mut part.inner {
                    inner.add(rest, &weights[1..], left)?;
                    if inner.is_all(size) {
                        part.inner = None;
                    }
                }
            }
            if at < to {
                gaps.push((at, to));
            }
            for (start, end) in gaps {
                let mut inner = Box::<Self>::default();
                inner.add(rest, &weights[1..], left)?;
                self.0.insert(start, Part { end, inner: Some(inner) });
            }
        }
        self.join(from, to, left)
    }

    fn remove(&mut self, block: &[(u64, u64)], weights: &[u64], left: &mut u64) -> Result<(), TooMany> {
        let Some((&(from, to), rest)) = block.split_first() else { return Ok(()) };
        self.cut(from, left)?;
        self.cut(to, left)?;
        let parts: Vec<u64> = self.0.range(from..to).map(|(start, _)| *start).collect();
        spend(left, parts.len() as u64)?;
        let goes = is_all(rest, weights);
        for start in parts {
            let Some(part) = self.0.get_mut(&start) else { continue };
            if goes || !part.keeps(rest, weights, left)? {
                self.0.remove(&start);
            }
        }
        self.join(from, to, left)
    }

    fn is_all(&self, size: u64) -> bool {
        self.0.get(&0).is_some_and(|part| part.end == size && part.inner.is_none())
    }

    /// Makes a part end at `at`, where one goes on.
    fn cut(&mut self, at: u64, left: &mut u64) -> Result<(), TooMany> {
        let Some((start, part)) = self.0.range_mut(..at).next_back() else { return Ok(()) };
        if *start >= at || part.end <= at {
            return Ok(());
        }
        spend(left, part.inner.as_ref().map_or(1, |inner| inner.0.len() as u64))?;
        let rest = part.clone();
        part.end = at;
        self.0.insert(at, rest);
        Ok(())
    }

    /// Makes neighbours one that are the same.
    fn join(&mut self, from: u64, to: u64, left: &mut u64) -> Result<(), TooMany> {
        let first = self.0.range(..from).next_back().map_or(from, |(start, _)| *start);
        let parts = self.0.range(first..=to);
        let mut gone = Vec::new();
        let mut last: Option<(u64, &Part)> = None;
        let mut ends: Vec<(u64, u64)> = Vec::new();
        for (start, part) in parts {
            spend(left, 1)?;
            match last {
                Some((kept, before))
                    if ends.last().map(|end| end.1) == Some(*start) && before.inner == part.inner =>
                {
                    gone.push(*start);
                    ends.pop();
                    ends.push((kept, part.end));
                }
                _ => {
                    last = Some((*start, part));
                    ends.push((*start, part.end));
                }
            }
        }
        gone.iter().for_each(|start| drop(self.0.remove(start)));
        for (start, end) in ends {
            if let Some(part) = self.0.get_mut(&start) {
                part.end = end;
            }
        }
        Ok(())
    }

    /// First byte and end of bytes of the block that are not there, from the start of the level.
    fn missing(&self, block: &[(u64, u64)], weights: &[u64], left: &mut u64) -> Result<Option<(u64, u64)>, TooMany> {
        let Some((&(from, to), rest)) = block.split_first() else { return Ok(None) };
        let gap = |from: u64, to: u64| {
            let mut block = block.to_vec();
            block[0] = (from, to);
            let (start, bytes) = first_piece(&block, weights);
            (start, start + bytes)
        };
        let first = self.0.range(..=from).next_back().map_or(from, |(start, _)| *start);
        let mut at = from;
        for (start, part) in self.0.range(first..to) {
            spend(left, 1)?;
            if part.end <= from {
                continue;
            }
            if *start > at {
                return Ok(Some(gap(at, *start)));
            }
            if let Some(inner) = &part.inner
                && let Some((start, end)) = inner.missing(rest, &weights[1..], left)?
            {
                return Ok(Some((at * weights[0] + start, at * weights[0] + end)));
            }
            at = part.end;
        }
        Ok((at < to).then(|| gap(at, to)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::builder::tests::generate::Dice;

    /// A view of an array of `sizes`: a random part of each dimension.
    fn part(dice: &mut Dice, sizes: &[u64], element: u64) -> Steps {
        let mut start = 0;
        let (mut stride, mut axes) = (1, Vec::new());
        for size in sizes.iter().rev() {
            let from = u64::from(dice.below(*size as u32));
            let count = 1 + u64::from(dice.below((size - from) as u32));
            start += from * stride;
            axes.push((Some(count), Some(stride)));
            stride *= size;
        }
        Steps::new(start * element, element, axes.into_iter()).unwrap()
    }

    #[test]
    fn what_is_missing_is_what_no_byte_of_was_written_or_was_taken_back() {
        let (mut all, mut some) = (0, 0);
        for seed in 0..4000 {
            let mut dice = Dice(seed);
            let shapes: [&[u64]; 5] = [&[24], &[4, 6], &[2, 3, 4], &[6, 4], &[3, 8]];
            let used = [shapes[dice.index(5)], shapes[dice.index(5)]];
            let parts = (0..12).map(|_| {
                let sizes = used[dice.index(2)];
                part(&mut dice, sizes, 2)
            });
            let parts: Vec<Steps> = parts.collect();
            let strides = parts.iter().flat_map(|one| one.axes.iter().map(|axis| axis.0)).collect();
            let (mut cover, mut written) = (Cover::new(strides), [false; 48]);
            for one in &parts {
                let bytes = || one.starts().flat_map(|start| start..start + one.run);
                let missing = cover.missing(one).unwrap();
                let expected = bytes().find(|byte| !written[*byte as usize]);
                assert_eq!(missing.map(|(start, _)| start), expected, "seed {seed}");
                if let Some((start, end)) = missing {
                    let is_missing = |byte| !written[byte as usize] && bytes().any(|one| one == byte);
                    assert!(start < end && (start..end).all(is_missing), "seed {seed}: {start}..{end}");
                }
                *(if missing.is_some() { &mut some } else { &mut all }) += 1;
                let adds = dice.chance(800);
                if adds {
                    cover.add(one).unwrap();
                } else {
                    cover.remove(one).unwrap();
                }
                bytes().for_each(|byte| written[byte as usize] = adds);
            }
        }
        assert!(all > 1000 && some > 1000, "{all} {some}");
    }

    #[test]
    fn columns_of_many_rows_are_few_blocks() {
        let column = |at: u64| Steps::new(4 * at, 4, [(Some(1 << 30), Some(1000))].into_iter()).unwrap();
        let mut cover = Cover::new(vec![4000]);
        (0..1000).for_each(|at| cover.add(&column(at * 7 % 1000)).unwrap());
        let whole = Steps::new(0, 4, [(Some(1000 << 30), Some(1))].into_iter()).unwrap();
        assert_eq!(cover.missing(&whole), Ok(None));
        assert_eq!(cover.written.0.len(), 1);
    }
}
