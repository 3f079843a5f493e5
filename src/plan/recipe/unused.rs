//! Entries that no node of a recipe uses.

use super::{NodeKind, Recipe};

/// New numbers for the entries of a list, in the order in which they are asked for.
struct Renumbered<'a, T> {
    old: &'a [T],
    numbers: Vec<Option<usize>>,
    kept: Vec<T>,
}

impl<'a, T: Copy> Renumbered<'a, T> {
    fn of(old: &'a [T]) -> Self {
        Self { old, numbers: vec![None; old.len()], kept: Vec::with_capacity(old.len()) }
    }

    /// Where an entry is now.
    fn now(&mut self, old: usize) -> usize {
        *self.numbers[old].get_or_insert_with(|| {
            self.kept.push(self.old[old]);
            self.kept.len() - 1
        })
    }
}

impl Recipe {
    /// Leaves out what prefetches that are gone asked for, and core limits under which nothing runs; what is left is in
    /// the order of the nodes. So a recipe that lost some work equals one that never had it.
    pub(crate) fn drop_unused(&mut self) {
        if !self.prefetches.is_empty() {
            let mut prefetches = Renumbered::of(&self.prefetches);
            for node in &mut self.nodes {
                if let NodeKind::Prefetch(prefetch) = &mut node.kind {
                    *prefetch = prefetches.now(*prefetch as usize) as u32;
                }
            }
            self.prefetches = prefetches.kept;
        }
        if !self.cores.is_empty() {
            let mut cores = Renumbered::of(&self.cores);
            for node in self.nodes.iter_mut().filter(|node| node.cores > 0) {
                node.cores = cores.now(usize::from(node.cores) - 1) as u16 + 1;
            }
            self.cores = cores.kept;
        }
    }
}
