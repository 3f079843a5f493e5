//! The accesses of a recipe, storage by storage, in the order of issue.

use super::{Access, Mode, Recipe};

/// An access of a node to a storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) node: u32,
    /// Its place among the accesses of the recipe; [`Recipe::access`] has it.
    pub(crate) access: u32,
}

/// All accesses, sorted by storage; prefetches are none.
#[derive(Debug)]
pub(crate) struct Uses {
    all: Vec<Use>,
    /// First use of each storage, and the end.
    starts: Vec<u32>,
}

impl Uses {
    pub(crate) fn of(recipe: &Recipe) -> Self {
        let mut starts = vec![0_u32; recipe.storages.len() + 1];
        let counted = |access: &Access| access.mode != Mode::Touch;
        for node in &recipe.nodes {
            for access in recipe.accesses_of(node).iter().filter(|access| counted(access)) {
                starts[recipe.storage_of(access.value) as usize + 1] += 1;
            }
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let none = Use { node: 0, access: 0 };
        let mut all = vec![none; starts.last().map_or(0, |end| *end as usize)];
        // Each start moves to its end, which is the start of the next.
        for (index, node) in recipe.nodes.iter().enumerate() {
            for (access, at) in recipe.accesses_of(node).iter().zip(node.first..).filter(|(one, _)| counted(one)) {
                let slot = &mut starts[recipe.storage_of(access.value) as usize];
                all[*slot as usize] = Use { node: index as u32, access: at };
                *slot += 1;
            }
        }
        starts.rotate_right(1);
        starts[0] = 0;
        Self { all, starts }
    }

    pub(crate) fn storage(&self, storage: u32) -> &[Use] {
        let storage = storage as usize;
        &self.all[self.starts[storage] as usize..self.starts[storage + 1] as usize]
    }
}
