//! The memory plan: where each temporary of a recipe lies in one arena.
//!
//! Two temporaries share bytes only when every use of one happens before every use of the other, by stream order and
//! events. Results that the caller keeps are no temporaries.

use super::order::Order;
use super::recipe::{Recipe, StorageKind};
use super::uses::Uses;

mod gaps;
mod pairwise;
#[cfg(test)]
mod tests;

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

    pub(crate) fn report(&self) -> super::MemoryReport {
        super::MemoryReport { peak: self.peak, sum: self.sum, lower_bound: self.bound }
    }
}

/// A temporary: its size with padding, and its first and last use on each stream.
#[derive(Debug, Clone)]
pub(super) struct Temporary {
    pub(super) storage: u32,
    pub(super) bytes: u64,
    /// Nodes: first and last use on each stream that has one.
    pub(super) spans: Vec<(u32, u32)>,
    /// Nodes: first and last use in the order of issue.
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Temporary {
    /// Whether every use of this one is done before any of `other` starts.
    fn before(&self, other: &Self, order: &Order) -> bool {
        self.spans.iter().all(|(_, last)| other.spans.iter().all(|(first, _)| order.before(*last, *first)))
    }
}

/// Plans the temporaries of a recipe whose sizes are known; none when they do not fit any memory.
pub(crate) fn plan(recipe: &Recipe, order: &Order, uses: &Uses) -> Option<MemoryPlan> {
    let temporaries = temporaries(recipe, order, uses)?;
    let sum = temporaries.iter().try_fold(0_u64, |sum, one| sum.checked_add(one.bytes))?;
    let bound = largest_live_set(&temporaries, recipe.nodes.len());
    let mut places = Gaps::place(&temporaries, order, recipe.nodes.len());
    // Comparing all pairs costs more; it is worth it where the fast way wastes memory.
    if places.peak > bound + bound / 32
        && let Some(other) = pairwise::place(&temporaries, order)
        && other.peak < places.peak
    {
        places = other;
    }
    let mut offsets = vec![MemoryPlan::ELSEWHERE; recipe.storages.len()];
    for (one, offset) in temporaries.iter().zip(places.offsets) {
        offsets[one.storage as usize] = offset;
    }
    Some(MemoryPlan { offsets, peak: places.peak, sum, bound })
}

/// Offsets of temporaries, in their order.
pub(super) struct Places {
    pub(super) offsets: Vec<u64>,
    pub(super) peak: u64,
}

fn padded(bytes: u64) -> Option<u64> {
    bytes.checked_next_multiple_of(TAIL)?.checked_add(TAIL)?.checked_next_multiple_of(ALIGNMENT)
}

/// The temporaries that are used at all, in the order of their first use.
fn temporaries(recipe: &Recipe, order: &Order, uses: &Uses) -> Option<Vec<Temporary>> {
    let mut reserved = recipe.reserved.clone();
    reserved.sort_unstable();
    let mut all = Vec::new();
    for (index, storage) in recipe.storages.iter().enumerate() {
        let index = index as u32;
        let used = uses.storage(index);
        if storage.kind != StorageKind::Temporary || used.is_empty() {
            continue;
        }
        let kept = reserved.partition_point(|(storage, _)| *storage < index);
        let kept = reserved[kept..].iter().take_while(|(storage, _)| *storage == index).map(|(_, node)| *node);
        let mut spans: Vec<(u32, u32)> = Vec::with_capacity(1);
        let (mut first, mut last) = (u32::MAX, 0);
        for node in used.iter().map(|one| one.node).chain(kept) {
            (first, last) = (first.min(node), last.max(node));
            let tag = order.tag(node);
            match spans.iter_mut().find(|(known, _)| order.tag(*known) == tag) {
                Some((from, to)) => (*from, *to) = ((*from).min(node), (*to).max(node)),
                None => spans.push((node, node)),
            }
        }
        all.push(Temporary { storage: index, bytes: padded(storage.bytes.as_fixed()?)?, spans, first, last });
    }
    all.sort_by_key(|one| one.first);
    Some(all)
}

/// The greatest sum of sizes that are live at one node, nodes running in the order of issue.
fn largest_live_set(temporaries: &[Temporary], nodes: usize) -> u64 {
    let mut change = vec![0_i128; nodes + 1];
    for one in temporaries {
        change[one.first as usize] += i128::from(one.bytes);
        change[one.last as usize + 1] -= i128::from(one.bytes);
    }
    let (mut live, mut most) = (0, 0);
    for step in change {
        live += step;
        most = most.max(live);
    }
    u64::try_from(most).unwrap_or(u64::MAX)
}
