//! How far each stream has come with work on some bytes.

use crate::plan::order::Order;
use crate::plan::symbols::effort::spend;

/// The last work of each stream, by its position; sorted by stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks(Vec<(u16, u32)>);

impl Marks {
    fn raise(&mut self, tag: u16, position: u32) {
        match self.0.binary_search_by_key(&tag, |(tag, _)| *tag) {
            Ok(index) => self.0[index].1 = self.0[index].1.max(position),
            Err(index) => self.0.insert(index, (tag, position)),
        }
    }

    /// Whether some of it may not be done when `node` starts.
    fn is_open(&self, order: &Order, node: u32) -> bool {
        if !spend(self.0.len() as u64) {
            return true;
        }
        let own = order.tag(node);
        self.0.iter().any(|(tag, position)| *tag != own && *position > order.known(*tag, node))
    }
}

/// Reads and writes of some bytes, in the order of issue. Nothing is ever taken off: what comes in no order with a
/// write that is hidden by a later one comes in no order with the later one either, or those two do not.
#[derive(Debug, Clone, Default)]
pub(super) struct Touched {
    reads: Marks,
    writes: Marks,
}

impl Touched {
    pub(super) fn note(&mut self, order: &Order, node: u32, writes: bool) {
        let marks = if writes { &mut self.writes } else { &mut self.reads };
        marks.raise(order.tag(node), order.position(node));
    }

    /// Whether something that must not run at once with an access of `node` may.
    pub(super) fn is_open(&self, order: &Order, node: u32, writes: bool) -> bool {
        self.writes.is_open(order, node) || (writes && self.reads.is_open(order, node))
    }
}
