//! Some of the work of a recipe by itself, on constants.

use std::collections::{HashMap, HashSet};

use crate::error::{Error, ErrorKind, Result};
use crate::plan::memory;
use crate::plan::order::Order;
use crate::plan::recipe::function::Body;
use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::uses::Uses;
use crate::plan::recipe::{Node, ORIGIN, Recipe, StorageKind};

use super::machine::Machine;
use super::memory::Memory;

/// The bytes of each storage that these nodes write, in the order of issue. They read constants, and what nodes before
/// them write; sizes and numbers have no symbols; what they write is all of its memory. Storages of work that cannot be
/// computed on the host have no bytes.
pub(crate) fn computed(recipe: &Recipe, bodies: &[Body], nodes: &[u32]) -> Result<HashMap<u32, Vec<u8>>> {
    let part = part_of(recipe, nodes);
    let unordered = |_| Error::new(ErrorKind::Internal, "work without events in no order");
    let (order, uses) = (Order::of(&part).map_err(unordered)?, Uses::of(&part));
    let plan = memory::plan(&part, &order, &uses)
        .ok_or_else(|| Error::new(ErrorKind::OutOfMemory, "constants that do not fit any memory"))?;
    let mut machine = Machine::new(&part, bodies, Memory::new(&part, &plan, &[], 0)?, Vec::new());
    let mut results: HashMap<u32, Vec<u8>> = HashMap::new();
    let mut missing: HashSet<u32> = HashSet::new();
    for (index, node) in part.nodes.iter().enumerate() {
        let accesses = part.accesses_of(node);
        let written = accesses.iter().filter(|one| one.mode.writes()).map(|one| part.storage_of(one.value));
        let reads_missing = accesses.iter().any(|one| missing.contains(&part.storage_of(one.value)));
        let keep = &mut |written: super::Written<'_>| {
            results.insert(part.storage_of(written.value), written.bytes.to_vec());
        };
        if reads_missing || machine.step(index as u32, keep).is_err() {
            missing.extend(written);
        }
    }
    results.retain(|storage, _| !missing.contains(storage));
    Ok(results)
}

/// The recipe with these nodes alone, and without all that they do not need.
fn part_of(recipe: &Recipe, nodes: &[u32]) -> Recipe {
    let mut part = recipe.clone();
    part.nodes = nodes.iter().map(|node| Node { tag: ORIGIN, ..recipe.nodes[*node as usize] }).collect();
    let accesses = part.nodes.iter().flat_map(|node| recipe.accesses_of(node));
    let used: HashSet<u32> = accesses.map(|access| recipe.storage_of(access.value)).collect();
    for (index, storage) in part.storages.iter_mut().enumerate() {
        if !used.contains(&(index as u32)) {
            (storage.kind, storage.bytes) = (StorageKind::Temporary, Extent::Fixed(0));
        }
    }
    part.tags.truncate(1);
    (part.symbols, part.inputs, part.outputs, part.events, part.reserved) = Default::default();
    part
}
