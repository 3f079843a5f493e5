//! The accesses to a storage that later ones still have to be compared with.

use std::collections::BTreeMap;

use crate::plan::layout::Extent;
use crate::plan::order::Order;
use crate::plan::ranges::{Common, Range, common, range};
use crate::plan::recipe::{Access, Recipe};
use crate::plan::uses::Use;

/// Accesses so far, without those that a later one stands for: whatever is ordered after a write that covers them is
/// ordered after them too.
pub(super) struct Live<'a> {
    recipe: &'a Recipe,
    /// None when all uses are on one stream, so that everything is ordered.
    order: Option<&'a Order>,
    bounds: Vec<(u64, u64)>,
    /// Accesses to much of the storage, or to bytes that depend on symbols.
    wide: Vec<Entry>,
    /// Accesses to small known ranges, by first byte and number.
    narrow: BTreeMap<(u64, u32), Entry>,
    /// Longest of them.
    longest: u64,
    /// Ranges above this are wide.
    small: u64,
    count: u32,
}

#[derive(Clone)]
struct Entry {
    node: u32,
    access: Access,
    range: Range,
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
        let size = recipe.storages[storage as usize].bytes.as_fixed().unwrap_or(0);
        Self {
            recipe,
            order,
            bounds: recipe.bounds(),
            wide: Vec::new(),
            narrow: BTreeMap::new(),
            longest: 0,
            small: size / 8,
            count: 0,
        }
    }

    pub(super) fn add(&mut self, one: &Use) -> Met {
        let entry = self.entry(one);
        let mut met = Met::default();
        let mut wide = std::mem::take(&mut self.wide);
        wide.retain(|earlier| !self.meet(earlier, &entry, &mut met));
        self.wide = wide;
        let first = match entry.range.start {
            Extent::Fixed(start) => start.saturating_sub(self.longest),
            Extent::Symbolic(_) => 0,
        };
        let end = entry.range.end.as_fixed().unwrap_or(u64::MAX);
        let mut gone = Vec::new();
        for (key, earlier) in self.narrow.range((first, 0)..(end, 0)) {
            if self.meet(earlier, &entry, &mut met) {
                gone.push(*key);
            }
        }
        gone.iter().for_each(|key| drop(self.narrow.remove(key)));
        self.insert(entry);
        met
    }

    fn entry(&self, one: &Use) -> Entry {
        let access = self.recipe.access(one);
        Entry { node: one.node, access, range: range(self.recipe, access.value) }
    }

    /// Compares a later access with an earlier one; true when it stands for it from now on.
    fn meet(&self, earlier: &Entry, later: &Entry, met: &mut Met) -> bool {
        if earlier.node == later.node || !self.overlap(earlier, later) {
            return false;
        }
        let (was, is) = (earlier.access.mode, later.access.mode);
        met.written |= was.writes();
        let ordered = self.order.is_none_or(|order| order.before(earlier.node, later.node));
        if (was.writes() || is.writes()) && !ordered {
            met.unordered = true;
            return false;
        }
        let covers = later.range.dense
            && later.range.start.is_at_most(&earlier.range.start, &self.bounds)
            && earlier.range.end.is_at_most(&later.range.end, &self.bounds);
        // A write stays known, for the question whether anything was written, until another one covers it.
        ordered && covers && (is.writes() || !was.writes())
    }

    fn overlap(&self, a: &Entry, b: &Entry) -> bool {
        let (x, y) = (&a.range, &b.range);
        let apart = x.end.is_at_most(&y.start, &self.bounds) || y.end.is_at_most(&x.start, &self.bounds);
        if apart || x.start == x.end || y.start == y.end {
            return false;
        }
        (x.dense && y.dense) || common(self.recipe, a.access.value, b.access.value) != Common::Nothing
    }

    fn insert(&mut self, entry: Entry) {
        match (&entry.range.start, &entry.range.end) {
            (Extent::Fixed(start), Extent::Fixed(end)) if end - start <= self.small => {
                self.longest = self.longest.max(end - start);
                self.narrow.insert((*start, self.count), entry);
                self.count += 1;
            }
            _ => self.wide.push(entry),
        }
    }
}
