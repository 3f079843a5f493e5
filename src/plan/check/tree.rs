//! Accesses to ranges without gaps, found by any range that they share bytes with.

use crate::plan::order::Order;
use crate::plan::overlap::steps::Steps;

use super::marks::Touched;

/// A binary tree over the ranges between all ends.
pub(super) struct Tree {
    ends: Vec<u64>,
    nodes: Vec<Marked>,
}

#[derive(Clone, Default)]
struct Marked {
    /// Accesses to all bytes of the node.
    whole: Touched,
    /// Accesses to some of them.
    some: Touched,
}

/// An access: the node, whether it writes, and its bytes.
pub(super) struct Access<'a> {
    pub(super) node: u32,
    pub(super) writes: bool,
    pub(super) steps: &'a Steps,
}

impl Tree {
    /// For accesses that start and end at these bytes.
    pub(super) fn new(mut ends: Vec<u64>) -> Self {
        ends.sort_unstable();
        ends.dedup();
        let leaves = ends.len().saturating_sub(1).next_power_of_two();
        Self { nodes: vec![Marked::default(); 2 * leaves], ends }
    }

    fn leaves(&self) -> usize {
        self.ends.len().saturating_sub(1)
    }

    /// Notes an access without gaps.
    pub(super) fn note(&mut self, order: &Order, access: &Access<'_>) {
        let find = |byte: u64| self.ends.partition_point(|end| *end < byte);
        let (from, to) = (find(access.steps.start), find(access.steps.end()));
        self.note_in(order, access, (from, to), 1, (0, self.nodes.len() / 2));
    }

    fn note_in(
        &mut self,
        order: &Order,
        access: &Access<'_>,
        (from, to): (usize, usize),
        node: usize,
        (low, high): (usize, usize),
    ) {
        if to <= low || high <= from {
            return;
        }
        self.nodes[node].some.note(order, access.node, access.writes);
        if from <= low && high <= to {
            return self.nodes[node].whole.note(order, access.node, access.writes);
        }
        let middle = usize::midpoint(low, high);
        self.note_in(order, access, (from, to), 2 * node, (low, middle));
        self.note_in(order, access, (from, to), 2 * node + 1, (middle, high));
    }

    /// Whether an access to some of the same bytes may run at once with this one, which may have gaps.
    pub(super) fn is_open(&self, order: &Order, access: &Access<'_>) -> bool {
        self.is_open_in(order, access, 1, (0, self.nodes.len() / 2))
    }

    fn is_open_in(&self, order: &Order, access: &Access<'_>, node: usize, (low, high): (usize, usize)) -> bool {
        let high_end = high.min(self.leaves());
        if low >= high_end
            || !self.nodes[node].some.is_open(order, access.node, access.writes)
            || !access.steps.touches(self.ends[low], self.ends[high_end])
        {
            return false;
        }
        if self.nodes[node].whole.is_open(order, access.node, access.writes) {
            return true;
        }
        let middle = usize::midpoint(low, high);
        high - low > 1
            && (self.is_open_in(order, access, 2 * node, (low, middle))
                || self.is_open_in(order, access, 2 * node + 1, (middle, high)))
    }
}
