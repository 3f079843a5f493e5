//! Which work produced a value: what a wait for the value waits for.

use std::collections::HashMap;

use crate::plan::overlap::ranges::{may_overlap, range};
use crate::plan::recipe::Recipe;

use super::NONE;

#[derive(Default)]
pub(super) struct Producers {
    /// The last node that wrote each value, or the value that it is a view of when it was made.
    own: Vec<u32>,
    /// Writes to memory that other values may share, by storage: of each value and stream the last.
    shared: HashMap<u32, Vec<Write>>,
    /// The value that has the newest memory as a whole.
    newest: Option<u32>,
}

struct Write {
    value: u32,
    node: u32,
    /// Bytes that it is certainly within.
    within: (u64, u64),
}

/// First byte and end of a value, as far as they are known.
fn within(recipe: &Recipe, value: u32) -> (u64, u64) {
    let range = range(recipe, value);
    (range.start.as_fixed().unwrap_or(0), range.end.as_fixed().unwrap_or(u64::MAX))
}

impl Producers {
    /// A new value that is the whole of new memory.
    pub(super) fn push_new(&mut self) {
        self.newest = Some(self.own.len() as u32);
        self.own.push(NONE);
    }

    /// A new value that is a view of `value`.
    pub(super) fn push_view(&mut self, value: u32) {
        self.own.push(self.own(value));
    }

    pub(super) fn truncate(&mut self, values: usize) {
        self.own.truncate(values);
    }

    /// The last node that wrote the value itself.
    fn own(&self, value: u32) -> u32 {
        self.own[value as usize]
    }

    /// `node` writes `value`.
    pub(super) fn wrote(&mut self, recipe: &Recipe, value: u32, node: u32) {
        let storage = recipe.storage_of(value);
        // Of a value that was made for this very node nobody has a view yet.
        let is_last = value as usize + 1 == self.own.len() && storage as usize + 1 == recipe.storages.len();
        let is_new = is_last && self.newest == Some(value) && self.own[value as usize] == NONE;
        if !is_new {
            let tag = |node: u32| recipe.nodes[node as usize].tag;
            let writes = self.shared.entry(storage).or_default();
            let mut last = writes.iter_mut().rev().take(4);
            match last.find(|write| write.value == value && tag(write.node) == tag(node)) {
                Some(write) => write.node = node,
                None => writes.push(Write { value, node, within: within(recipe, value) }),
            }
        }
        self.own[value as usize] = node;
    }

    /// The nodes that wrote bytes of `value`: of each stream the last.
    pub(super) fn of(&self, recipe: &Recipe, value: u32) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        let tag = |node: u32| recipe.nodes[node as usize].tag;
        let mut add = |node: u32| match found.iter_mut().find(|known| tag(**known) == tag(node)) {
            Some(known) => *known = node.max(*known),
            None => found.push(node),
        };
        if self.own(value) != NONE {
            add(self.own(value));
        }
        let Some(writes) = self.shared.get(&recipe.storage_of(value)) else { return found };
        let (bounds, (start, end)) = (recipe.bounds(), within(recipe, value));
        for write in writes.iter().filter(|write| write.within.0 < end && start < write.within.1) {
            if write.value == value || may_overlap(recipe, write.value, value, &bounds) {
                add(write.node);
            }
        }
        found
    }
}
