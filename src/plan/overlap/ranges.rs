//! Which bytes of a storage a value covers, and whether two values share some.

use crate::plan::recipe::Recipe;
use crate::plan::recipe::layout::Extent;
use crate::plan::symbols::poly::Bounds;

use super::boxes::are_apart;
use super::steps::{Steps, TooMany};

/// First byte and end of a value within its storage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Range {
    pub(crate) start: Extent,
    pub(crate) end: Extent,
    /// Whether every byte between belongs to it.
    pub(crate) dense: bool,
}

impl Range {
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Whether no byte of one can be one of the other, by their ends alone.
    pub(crate) fn is_apart(&self, other: &Self, bounds: Bounds<'_>) -> bool {
        self.is_empty()
            || other.is_empty()
            || self.end.is_at_most(&other.start, bounds)
            || other.end.is_at_most(&self.start, bounds)
    }
}

pub(crate) fn range(recipe: &Recipe, value: u32) -> Range {
    let info = &recipe.values[value as usize];
    let layout = recipe.layout_of(value);
    let whole = recipe.storages[info.storage as usize].bytes.clone();
    let end = layout.span().and_then(|span| info.offset.plus(&span)).unwrap_or(whole);
    Range { start: info.offset.clone(), end, dense: layout.is_dense() }
}

/// Whether two values may have a byte in common, for some values of the symbols.
pub(crate) fn may_overlap(recipe: &Recipe, a: u32, b: u32, bounds: Bounds<'_>) -> bool {
    recipe.storage_of(a) == recipe.storage_of(b)
        && may_overlap_in(recipe, (a, &range(recipe, a)), (b, &range(recipe, b)), bounds)
}

/// The same for two values of one storage with their ranges.
pub(crate) fn may_overlap_in(recipe: &Recipe, a: (u32, &Range), b: (u32, &Range), bounds: Bounds<'_>) -> bool {
    if a.1.is_apart(b.1, bounds) {
        return false;
    }
    if a.1.dense && b.1.dense {
        return true;
    }
    match common(recipe, a.0, b.0, &[]) {
        Common::Nothing => false,
        Common::Bytes { .. } | Common::TooMany => true,
        Common::Symbols => {
            // What is apart for the greatest values is apart for others.
            let largest = (Steps::largest(recipe, a.0, bounds), Steps::largest(recipe, b.0, bounds));
            !matches!((largest.0, largest.1), (Some(a), Some(b)) if a.common(&b) == Ok(None))
                && !are_apart(recipe, a.0, b.0, bounds)
        }
    }
}

/// What the bytes of two values have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Common {
    Nothing,
    Bytes {
        start: u64,
        end: u64,
    },
    /// Too many pieces to tell.
    TooMany,
    /// The places depend on symbols that have no value here.
    Symbols,
}

/// The first bytes that both values have, for these values of the symbols.
pub(crate) fn common(recipe: &Recipe, a: u32, b: u32, symbols: &[u64]) -> Common {
    let (Some(a), Some(b)) = (Steps::of(recipe, a, symbols), Steps::of(recipe, b, symbols)) else {
        return Common::Symbols;
    };
    match a.common(&b) {
        Ok(None) => Common::Nothing,
        Ok(Some((start, end))) => Common::Bytes { start, end },
        Err(TooMany) => Common::TooMany,
    }
}
