//! Where the temporaries are in the arena, and who uses them.

use crate::plan::memory::{MemoryPlan, padded};
use crate::plan::recipe::uses::Uses;
use crate::plan::recipe::{Recipe, StorageKind};

/// A temporary in the arena.
pub(super) struct Temporary {
    pub(super) storage: u32,
    pub(super) offset: u64,
    /// With its padding.
    pub(super) bytes: u64,
    /// The nodes that use it, and those until which it stays reserved.
    pub(super) nodes: Vec<u32>,
}

/// The temporaries of a recipe without symbols.
pub(super) fn temporaries(recipe: &Recipe, uses: &Uses, plan: &MemoryPlan) -> Vec<Temporary> {
    let mut nodes: Vec<Vec<u32>> = (0..recipe.storages.len() as u32)
        .map(|storage| uses.storage(storage).iter().map(|one| one.node).collect())
        .collect();
    for (storage, node) in &recipe.reserved {
        nodes[*storage as usize].push(*node);
    }
    let all = recipe.storages.iter().zip(&plan.offsets).zip(nodes).enumerate();
    let placed = all.filter(|(_, ((storage, offset), _))| {
        storage.kind == StorageKind::Temporary && **offset != MemoryPlan::ELSEWHERE
    });
    placed
        .map(|(index, ((storage, offset), nodes))| Temporary {
            storage: index as u32,
            offset: *offset,
            bytes: storage.bytes.as_fixed().and_then(padded).unwrap_or(0),
            nodes,
        })
        .collect()
}
