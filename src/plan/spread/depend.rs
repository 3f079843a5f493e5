//! Which work needs which earlier work to be done, by the bytes that they share.

use crate::plan::overlap::pieces::Pieces;
use crate::plan::recipe::Recipe;
use crate::plan::recipe::uses::{Use, Uses};

/// Pairs of a node and one that must be done before it; sorted. Pairs that follow from others may be left out.
pub(super) fn dependencies(recipe: &Recipe) -> Vec<(u32, u32)> {
    let uses = Uses::of(recipe);
    let mut all = Vec::new();
    for storage in 0..recipe.storages.len() as u32 {
        let used = uses.storage(storage);
        if used.iter().any(|one| recipe.access(one).mode.writes()) {
            of_storage(recipe, storage, used, &mut all);
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Reads and writes are kept apart, since reads are never compared with each other: many may read one value.
fn of_storage(recipe: &Recipe, storage: u32, used: &[Use], all: &mut Vec<(u32, u32)>) {
    let (mut reads, mut writes) = (Pieces::new(recipe, storage), Pieces::new(recipe, storage));
    for one in used {
        let (piece, is_write) = (writes.piece(one), recipe.access(one).mode.writes());
        let mut depend = |pieces: &Pieces<'_>, earlier: &crate::plan::overlap::pieces::Piece| {
            if earlier.node == one.node {
                return false;
            }
            all.push((one.node, earlier.node));
            // Whatever depends on it depends on this write too.
            is_write && pieces.covers(&piece, earlier)
        };
        writes.overlapping(&piece, &mut depend);
        if is_write {
            reads.overlapping(&piece, &mut depend);
            writes.insert(piece);
        } else {
            reads.insert(piece);
        }
    }
}
