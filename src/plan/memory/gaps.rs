//! Placing temporaries in the order of issue, each into the best gap that earlier ones left.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::order::Order;

use super::{Places, Temporaries, Temporary};

/// Gaps that are looked at for one temporary, on its own stream and on others.
const TRIES: usize = 8;
/// Neighbouring gaps that are looked at together when no single one fits.
const RUN: usize = 256;
/// In place of a stream: a gap that several streams used.
const SEVERAL: u16 = u16::MAX;

/// Free bytes, and the last uses of what was there.
struct Gap {
    bytes: u64,
    /// The last use on each stream.
    last: Vec<u32>,
}

pub(super) struct Gaps<'a> {
    temporaries: &'a Temporaries<'a>,
    order: &'a Order,
    by_offset: BTreeMap<u64, Gap>,
    /// The same by stream and size.
    by_size: BTreeMap<u16, BTreeSet<(u64, u64)>>,
    top: u64,
}

impl<'a> Gaps<'a> {
    pub(super) fn place(temporaries: &'a Temporaries<'a>, ends: &[u32]) -> Places {
        let order = temporaries.order;
        let mut gaps = Self { temporaries, order, by_offset: BTreeMap::new(), by_size: BTreeMap::new(), top: 0 };
        let all = &temporaries.all;
        let mut offsets = vec![0; all.len()];
        let mut ended = ends.iter().map(|end| *end as usize).peekable();
        for (index, one) in all.iter().enumerate() {
            while let Some(gone) = ended.next_if(|gone| temporaries.last(&all[*gone]) < one.first) {
                gaps.free(offsets[gone], &all[gone]);
            }
            offsets[index] = gaps.take(one);
        }
        Places { offsets, peak: gaps.top }
    }

    fn owner(&self, last: &[u32]) -> u16 {
        match last {
            [only] => self.order.tag(*only),
            _ => SEVERAL,
        }
    }

    /// Whether `one` may use bytes whose last uses were these.
    fn usable(&self, last: &[u32], one: &Temporary) -> bool {
        let spans = self.temporaries.spans(one);
        last.iter().all(|last| spans.iter().all(|span| self.order.before(*last, span.first)))
    }

    fn take(&mut self, one: &Temporary) -> u64 {
        match self.fitting(one).or_else(|| self.join_neighbours(one)) {
            Some(offset) => {
                let gap = self.remove(offset);
                if gap.bytes > one.bytes {
                    self.insert(offset + one.bytes, Gap { bytes: gap.bytes - one.bytes, last: gap.last });
                }
                offset
            }
            None => self.extend(one),
        }
    }

    /// The smallest gap that fits, first of the own stream, then of several, then of others.
    fn fitting(&self, one: &Temporary) -> Option<u64> {
        let own = self.order.tag(one.first);
        let others = self.by_size.keys().copied().filter(|tag| *tag != own && *tag != SEVERAL);
        let mut tries = 4 * TRIES;
        for tag in [own, SEVERAL].into_iter().chain(others) {
            let Some(sizes) = self.by_size.get(&tag) else { continue };
            for (_, offset) in sizes.range((one.bytes, 0)..).take(TRIES) {
                if self.usable(&self.by_offset[offset].last, one) {
                    return Some(*offset);
                }
                tries -= 1;
                if tries == 0 {
                    return None;
                }
            }
        }
        None
    }

    /// Joins neighbouring gaps that are usable together, if that makes one that fits.
    fn join_neighbours(&mut self, one: &Temporary) -> Option<u64> {
        let (mut start, mut end) = (0, 0);
        let mut found = None;
        for (offset, gap) in self.by_offset.iter().rev().take(RUN) {
            if !self.usable(&gap.last, one) {
                (start, end) = (0, 0);
                continue;
            }
            if end == 0 || offset + gap.bytes != start {
                end = offset + gap.bytes;
            }
            start = *offset;
            if end - start >= one.bytes {
                found = Some((start, end));
                break;
            }
        }
        let (start, end) = found?;
        self.merge(start, end);
        Some(start)
    }

    /// Makes one gap of those between `start` and `end`.
    fn merge(&mut self, start: u64, end: u64) {
        let inside: Vec<u64> = self.by_offset.range(start..end).map(|(offset, _)| *offset).collect();
        let mut last: Vec<u32> = Vec::new();
        for offset in inside {
            let gap = self.remove(offset);
            for use_ in gap.last {
                keep_later(&mut last, use_, self.order);
            }
        }
        self.insert(start, Gap { bytes: end - start, last });
    }

    /// New bytes at the top, together with a gap that ends there.
    fn extend(&mut self, one: &Temporary) -> u64 {
        let highest = self.by_offset.last_key_value();
        let below = highest.filter(|(offset, gap)| **offset + gap.bytes == self.top && self.usable(&gap.last, one));
        let offset = below.map_or(self.top, |(offset, _)| *offset);
        if offset != self.top {
            self.remove(offset);
        }
        self.top = offset + one.bytes;
        offset
    }

    /// Gives the bytes of a temporary back, together with neighbours that were free before its last use.
    fn free(&mut self, offset: u64, one: &Temporary) {
        let mut last: Vec<u32> = self.temporaries.spans(one).iter().map(|span| span.last).collect();
        last.sort_unstable();
        let (mut start, mut end) = (offset, offset + one.bytes);
        let below = self.by_offset.range(..offset).next_back().map(|(at, gap)| (*at, at + gap.bytes));
        if let Some((at, below_end)) = below
            && below_end == start
            && self.joins(&self.by_offset[&at].last, &last)
        {
            self.remove(at);
            start = at;
        }
        if let Some(above) = self.by_offset.get(&end)
            && self.joins(&above.last, &last)
        {
            end += self.remove(end).bytes;
        }
        self.insert(start, Gap { bytes: end - start, last });
    }

    /// Whether two gaps become one: both were used on one stream alone, the same, or last at the same nodes. Others
    /// stay apart, since a gap is free for a stream only once all of it is.
    fn joins(&self, was: &[u32], now: &[u32]) -> bool {
        was == now || (self.owner(was) != SEVERAL && self.owner(was) == self.owner(now))
    }

    fn insert(&mut self, offset: u64, gap: Gap) {
        self.by_size.entry(self.owner(&gap.last)).or_default().insert((gap.bytes, offset));
        self.by_offset.insert(offset, gap);
    }

    fn remove(&mut self, offset: u64) -> Gap {
        let gap = self.by_offset.remove(&offset).expect("the gap is known");
        let owner = self.owner(&gap.last);
        if let Some(sizes) = self.by_size.get_mut(&owner) {
            sizes.remove(&(gap.bytes, offset));
            // Streams without a gap would be looked at for each temporary.
            if sizes.is_empty() {
                self.by_size.remove(&owner);
            }
        }
        gap
    }
}

/// Adds a last use; of two on one stream the later one stays.
fn keep_later(last: &mut Vec<u32>, node: u32, order: &Order) {
    match last.iter_mut().find(|known| order.tag(**known) == order.tag(node)) {
        Some(known) if order.position(node) > order.position(*known) => *known = node,
        Some(_) => {}
        None => last.push(node),
    }
}
