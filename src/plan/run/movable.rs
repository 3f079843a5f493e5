//! Updatable inputs of a captured graph: where each of them is, and which operators use it. A run looks at the addresses of
//! all, and at the operators of those that moved.

use std::sync::Arc;

use crate::error::Result;
use crate::memory::{Allocation, How};
use crate::plan::recipe::{Access, Input, InputInfo, Node, Recipe, StorageKind};

use super::bindings::Bindings;
use super::executable::missing;
use super::piece::Pieces;

pub(super) struct Movable {
    input: u32,
    storage: u32,
    /// What the plan does with its memory.
    pub(super) how: How,
    /// Where it is, as the latest run said, or the capture.
    address: usize,
    /// Whose operators use it.
    pub(super) groups: Vec<u32>,
}

/// What a plan does with an input, which is among those that are `written`, in rising order, or is read.
pub(super) fn how(written: &[u32], input: u32) -> How {
    if written.binary_search(&input).is_ok() { How::Written } else { How::Read }
}

/// The updatable inputs of a recipe, which are in `pieces`; `written` are those inputs that are written.
pub(super) fn all(recipe: &Recipe, pieces: &Pieces, written: &[u32]) -> Vec<Movable> {
    let inputs = recipe.inputs.iter().enumerate().filter(|(_, input)| input.class == Input::Updatable);
    let movable = |(index, input): (usize, &InputInfo)| {
        let storage = recipe.storage_of(input.value);
        let address = pieces[storage as usize].as_ref().map_or(0, |piece| piece.address().addr());
        let how = how(written, index as u32);
        Movable { input: index as u32, storage, how, address, groups: Vec::new() }
    };
    inputs.map(movable).collect()
}

/// Which of the inputs the operator of a node uses, each once, by their place among them; they have its `group` then.
pub(super) fn used_by(recipe: &Recipe, node: &Node, inputs: &mut [Movable], group: usize) -> Vec<u32> {
    let place = |access: &Access| match recipe.storages[recipe.storage_of(access.value) as usize].kind {
        StorageKind::Input(of) => inputs.binary_search_by_key(&of, |input| input.input).ok(),
        _ => None,
    };
    let mut used: Vec<_> = recipe.accesses_of(node).iter().filter_map(place).map(|place| place as u32).collect();
    used.sort_unstable();
    used.dedup();
    used.iter().for_each(|place| inputs[*place as usize].groups.push(group as u32));
    used
}

impl Movable {
    /// Its memory, if it has any.
    pub(super) fn memory<'a>(&self, pieces: &'a Pieces) -> Option<&'a Arc<Allocation>> {
        pieces[self.storage as usize].as_ref().map(|piece| &piece.allocation)
    }

    /// Takes what it is given now; true where that is somewhere else than before.
    pub(super) fn moves_to(&mut self, recipe: &Recipe, bind: &Bindings, pieces: &mut Pieces) -> Result<bool> {
        let index = self.input as usize;
        let bound = bind.bound[index].as_ref().ok_or_else(|| missing(&recipe.inputs[index].name))?;
        let moved = bind.addresses[index] != self.address;
        // Memory of other code may be another value at the same address.
        if moved || !self.memory(pieces).is_some_and(|known| Arc::ptr_eq(known, &bound.allocation)) {
            self.address = bound.address();
            pieces[self.storage as usize] = Some(bound.piece());
        }
        Ok(moved)
    }
}
