//! The memory plan: where each temporary of a recipe lies in one arena. Uses recipes and their order; whatever runs or
//! shows a plan has its places from here.
//!
//! Two temporaries share bytes only when every use of one happens before every use of the other, by stream order and
//! events. Results that the caller keeps are no temporaries.

use std::fmt;

use crate::sort;

use super::order::Order;
use super::recipe::uses::Uses;
use super::recipe::{Recipe, Storage, StorageKind};

mod by_size;
mod conflicts;
mod gaps;

use gaps::Gaps;

/// Start of each piece (guide: memory management, aclrtMalloc, memory that is divided by the user).
pub(crate) const ALIGNMENT: u64 = 64;
/// What follows each piece, since operators may read past the end of what they were given (same source).
const TAIL: u64 = 32;

/// Places and figures.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct MemoryPlan {
    /// First byte of each storage in the arena; [`MemoryPlan::ELSEWHERE`] for those that are not in it.
    pub(crate) offsets: Vec<u64>,
    /// Bytes of the arena.
    pub(crate) peak: u64,
    /// Bytes of all temporaries.
    pub(crate) sum: u64,
    /// Bytes of the largest set of temporaries that are live at once when work runs in the order of issue.
    pub(crate) bound: u64,
}

impl MemoryPlan {
    pub(crate) const ELSEWHERE: u64 = u64::MAX;

    pub(crate) fn report(&self) -> MemoryReport {
        MemoryReport { peak: self.peak, sum: self.sum, lower_bound: self.bound }
    }
}

/// What the temporaries of a plan need, in bytes, the padding of each included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryReport {
    /// The arena.
    pub peak: u64,
    /// All temporaries without sharing.
    pub sum: u64,
    /// The largest set that is live at once when work runs in the order of issue: no plan can do with less.
    pub lower_bound: u64,
}

impl fmt::Display for MemoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |part: u64, whole: u64| if whole == 0 { 100.0 } else { part as f64 * 100.0 / whole as f64 };
        write!(
            f,
            "{} bytes: {:.1} % of {} without sharing, {:.1} % of the least possible {}",
            self.peak,
            percent(self.peak, self.sum),
            self.sum,
            percent(self.peak, self.lower_bound),
            self.lower_bound
        )
    }
}

/// A temporary: its size with padding, and its first use in the order of issue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Temporary {
    pub(super) bytes: u64,
    pub(super) storage: u32,
    pub(super) first: u32,
    /// Its first span, and how many it has.
    span: u32,
    spans: u32,
}

/// First and last use on one stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) first: u32,
    pub(super) last: u32,
}

/// The temporaries that are used at all, in the order of their first use.
pub(super) struct Temporaries<'a> {
    pub(super) all: Vec<Temporary>,
    spans: Vec<Span>,
    pub(super) order: &'a Order,
}

impl Temporaries<'_> {
    /// The uses of a temporary on each stream that has one.
    pub(super) fn spans(&self, one: &Temporary) -> &[Span] {
        &self.spans[one.span as usize..(one.span + one.spans) as usize]
    }

    /// The last use of a temporary in the order of issue.
    pub(super) fn last(&self, one: &Temporary) -> u32 {
        self.spans(one).iter().map(|span| span.last).max().unwrap_or(one.first)
    }

    /// Whether every use of `a` is done before any of `b` starts.
    fn before(&self, a: &Temporary, b: &Temporary) -> bool {
        self.spans(a).iter().all(|a| self.spans(b).iter().all(|b| self.order.before(a.last, b.first)))
    }
}

/// Plans the temporaries of a recipe whose sizes are known; none when they do not fit any memory.
pub(crate) fn plan(recipe: &Recipe, order: &Order, uses: &Uses) -> Option<MemoryPlan> {
    let temporaries = temporaries(recipe, order, uses)?;
    let sum = temporaries.all.iter().try_fold(0_u64, |sum, one| sum.checked_add(one.bytes))?;
    let ends = by_end(&temporaries);
    let bound = largest_live_set(&temporaries, &ends);
    let mut places = Gaps::place(&temporaries, &ends);
    drop(ends);
    // Looking at all conflicts costs more; it is worth it where the fast way wastes memory.
    if places.peak > bound + bound / 32
        && let Some(other) = by_size::place(&temporaries)
        && other.peak < places.peak
    {
        places = other;
    }
    // The spans go before there are more offsets: the memory of a plan counts at its largest.
    let Temporaries { all, spans, .. } = temporaries;
    drop(spans);
    let mut offsets = vec![MemoryPlan::ELSEWHERE; recipe.storages.len()];
    for (one, offset) in all.iter().zip(places.offsets) {
        offsets[one.storage as usize] = offset;
    }
    Some(MemoryPlan { offsets, peak: places.peak, sum, bound })
}

/// Offsets of temporaries, in their order.
pub(super) struct Places {
    pub(super) offsets: Vec<u64>,
    pub(super) peak: u64,
}

pub(super) fn padded(bytes: u64) -> Option<u64> {
    bytes.checked_next_multiple_of(TAIL)?.checked_add(TAIL)?.checked_next_multiple_of(ALIGNMENT)
}

fn temporaries<'a>(recipe: &Recipe, order: &'a Order, uses: &Uses) -> Option<Temporaries<'a>> {
    let mut reserved = recipe.reserved.clone();
    reserved.sort_unstable();
    let is_one = |(index, storage): (usize, &Storage)| {
        storage.kind == StorageKind::Temporary && !uses.storage(index as u32).is_empty()
    };
    let count = recipe.storages.iter().enumerate().filter(|one| is_one(*one)).count();
    let mut all = Vec::with_capacity(count);
    let mut spans: Vec<Span> = Vec::with_capacity(count);
    for (index, storage) in recipe.storages.iter().enumerate().filter(|one| is_one(*one)) {
        let index = index as u32;
        let kept = reserved.partition_point(|(storage, _)| *storage < index);
        let kept = reserved[kept..].iter().take_while(|(storage, _)| *storage == index).map(|(_, node)| *node);
        let start = spans.len();
        let mut first = u32::MAX;
        for node in uses.storage(index).iter().map(|one| one.node).chain(kept) {
            first = first.min(node);
            let tag = order.tag(node);
            match spans[start..].iter_mut().find(|known| order.tag(known.first) == tag) {
                Some(known) => (known.first, known.last) = (known.first.min(node), known.last.max(node)),
                None => spans.push(Span { first: node, last: node }),
            }
        }
        let bytes = padded(storage.bytes.as_fixed()?)?;
        let (span, spans) = (start as u32, (spans.len() - start) as u32);
        all.push(Temporary { bytes, storage: index, first, span, spans });
    }
    sort::by_key(&mut all, |one| one.first);
    Some(Temporaries { all, spans, order })
}

/// Temporaries in the order of their last use.
fn by_end(temporaries: &Temporaries<'_>) -> Vec<u32> {
    let mut sorted: Vec<u32> = (0..temporaries.all.len() as u32).collect();
    sort::by_key(&mut sorted, |index| temporaries.last(&temporaries.all[*index as usize]));
    sorted
}

/// The greatest sum of sizes that are live at one node, nodes running in the order of issue.
fn largest_live_set(temporaries: &Temporaries<'_>, ends: &[u32]) -> u64 {
    let mut ended = ends.iter().map(|end| &temporaries.all[*end as usize]).peekable();
    let (mut live, mut most) = (0_u64, 0);
    for one in &temporaries.all {
        while let Some(gone) = ended.next_if(|gone| temporaries.last(gone) < one.first) {
            live -= gone.bytes;
        }
        // No overflow: at most the sum, which is known to fit.
        live += one.bytes;
        most = most.max(live);
    }
    most
}

#[cfg(test)]
mod tests;
