//! Accesses to one storage, found again by the bytes that they touch.

use std::collections::BTreeMap;

use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::uses::Use;
use crate::plan::recipe::{Access, Recipe};
use crate::plan::symbols::effort::spend;

use super::ranges::{Range, may_overlap_in, range};

/// A set of accesses. Finding those that share bytes with another one looks at few others where the storage is used
/// in small pieces.
pub(crate) struct Pieces<'a> {
    recipe: &'a Recipe,
    bounds: Vec<(u64, u64)>,
    /// Accesses to much of the storage, or to bytes that depend on symbols.
    wide: Vec<Piece>,
    /// Accesses to small known ranges, by first byte and number.
    narrow: BTreeMap<(u64, u32), Piece>,
    /// Longest of them.
    longest: u64,
    /// Ranges above this are wide.
    small: u64,
    count: u32,
}

/// An access and its bytes.
#[derive(Clone)]
pub(crate) struct Piece {
    pub(crate) node: u32,
    pub(crate) access: Access,
    range: Range,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(recipe: &'a Recipe, storage: u32) -> Self {
        let size = recipe.storages[storage as usize].bytes.as_fixed().unwrap_or(0);
        Self {
            recipe,
            bounds: recipe.bounds(),
            wide: Vec::new(),
            narrow: BTreeMap::new(),
            longest: 0,
            small: size / 8,
            count: 0,
        }
    }

    pub(crate) fn piece(&self, one: &Use) -> Piece {
        let access = self.recipe.access(one);
        Piece { node: one.node, access, range: range(self.recipe, access.value) }
    }

    /// Visits the accesses that may share bytes with `piece`, and forgets those for which `visit` says so.
    pub(crate) fn overlapping(&mut self, piece: &Piece, mut visit: impl FnMut(&Self, &Piece) -> bool) {
        if !spend(self.wide.len() as u64) {
            return;
        }
        let mut wide = std::mem::take(&mut self.wide);
        wide.retain(|earlier| !(self.overlap(earlier, piece) && visit(self, earlier)));
        self.wide = wide;
        let first = match piece.range.start {
            Extent::Fixed(start) => start.saturating_sub(self.longest),
            Extent::Symbolic(_) => 0,
        };
        let end = piece.range.end.as_fixed().unwrap_or(u64::MAX);
        let mut gone = Vec::new();
        for (key, earlier) in self.narrow.range((first, 0)..(end.max(first), 0)) {
            if !spend(1) {
                break;
            }
            if self.overlap(earlier, piece) && visit(self, earlier) {
                gone.push(*key);
            }
        }
        gone.iter().for_each(|key| drop(self.narrow.remove(key)));
    }

    fn overlap(&self, a: &Piece, b: &Piece) -> bool {
        may_overlap_in(self.recipe, (a.access.value, &a.range), (b.access.value, &b.range), &self.bounds)
    }

    /// Whether every byte of `covered` is certainly one of `by`.
    pub(crate) fn covers(&self, by: &Piece, covered: &Piece) -> bool {
        let values = &self.recipe.values;
        if values[by.access.value as usize] == values[covered.access.value as usize] {
            return true;
        }
        by.range.dense
            && by.range.start.is_at_most(&covered.range.start, &self.bounds)
            && covered.range.end.is_at_most(&by.range.end, &self.bounds)
    }

    pub(crate) fn insert(&mut self, piece: Piece) {
        match (&piece.range.start, &piece.range.end) {
            (Extent::Fixed(start), Extent::Fixed(end)) if end - start <= self.small => {
                self.longest = self.longest.max(end - start);
                self.narrow.insert((*start, self.count), piece);
                self.count += 1;
            }
            _ => self.wide.push(piece),
        }
    }
}
