//! The accesses to a storage that later ones still have to be compared with.

use crate::plan::order::Order;
use crate::plan::pieces::{Piece, Pieces};
use crate::plan::recipe::Recipe;
use crate::plan::uses::Use;

/// Accesses so far, without those that a later one stands for: whatever is ordered after a write that covers them is
/// ordered after them too.
pub(super) struct Live<'a> {
    /// None when all uses are on one stream, so that everything is ordered.
    order: Option<&'a Order>,
    pieces: Pieces<'a>,
}

/// What an access met among the earlier ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Met {
    /// A conflicting one in no order with it.
    pub(super) unordered: bool,
    /// A write to some of its bytes.
    pub(super) written: bool,
}

impl<'a> Live<'a> {
    pub(super) fn new(recipe: &'a Recipe, storage: u32, order: Option<&'a Order>) -> Self {
        Self { order, pieces: Pieces::new(recipe, storage) }
    }

    pub(super) fn add(&mut self, one: &Use) -> Met {
        let (piece, order) = (self.pieces.piece(one), self.order);
        let mut met = Met::default();
        self.pieces.overlapping(&piece, |pieces, earlier| meet(pieces, order, earlier, &piece, &mut met));
        self.pieces.insert(piece);
        met
    }
}

/// Compares a later access with an earlier one; true when it stands for it from now on.
fn meet(pieces: &Pieces<'_>, order: Option<&Order>, earlier: &Piece, later: &Piece, met: &mut Met) -> bool {
    if earlier.node == later.node {
        return false;
    }
    let (was, is) = (earlier.access.mode, later.access.mode);
    met.written |= was.writes();
    let ordered = order.is_none_or(|order| order.before(earlier.node, later.node));
    if (was.writes() || is.writes()) && !ordered {
        met.unordered = true;
        return false;
    }
    // A write stays known, for the question whether anything was written, until another one covers it.
    ordered && (is.writes() || !was.writes()) && pieces.covers(later, earlier)
}
