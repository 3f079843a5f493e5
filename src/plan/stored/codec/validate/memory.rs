//! Layouts, storages and the values in them.

use crate::op::MAX_RANK;
use crate::plan::recipe::callable::CallInfo;
use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::sound::{Facts, MOST_TOGETHER, Sizes};
use crate::plan::recipe::{Input, Recipe, StorageKind};
use crate::plan::stored::codec::error::{DecodeError, Part, invalid};
use crate::plan::symbols::dim::{Dim, MAX_SYMBOLS};

use super::inside::{ends_inside, is_multiple};

pub(super) fn check(recipe: &Recipe) -> Result<(), DecodeError> {
    let sizes = Sizes::of(recipe);
    let facts = layouts(recipe, &sizes)?;
    calls(recipe)?;
    storages(recipe, &sizes)?;
    values(recipe, &sizes, &facts)?;
    inputs(recipe, &facts)?;
    outputs(recipe, &facts)?;
    owners(recipe)
}

fn layouts(recipe: &Recipe, sizes: &Sizes) -> Result<Vec<Facts>, DecodeError> {
    let mut facts = Vec::with_capacity(recipe.layouts.len());
    for (index, layout) in recipe.layouts.iter().enumerate() {
        if layout.dims.len() > MAX_RANK || layout.strides.len() != layout.dims.len() {
            let (dims, strides) = (layout.dims.len(), layout.strides.len());
            return invalid(Part::Layout, index, format!("{dims} dimensions and {strides} strides"));
        }
        if let Some(dim) = layout.dims.iter().find(|dim| !sizes.is_sound_dim(**dim)) {
            return invalid(Part::Layout, index, format!("the dimension {dim:?}"));
        }
        if !layout.strides.iter().all(|stride| sizes.is_sound(stride)) {
            return invalid(Part::Layout, index, "a stride that memory cannot have");
        }
        match Facts::of(layout) {
            Some(known) => facts.push(known),
            None => return invalid(Part::Layout, index, "more elements than memory can have"),
        }
    }
    Ok(facts)
}

/// What is told of the symbols of plans that are called; which of them each run may give anew is for linking to tell.
fn calls(recipe: &Recipe) -> Result<(), DecodeError> {
    let sizes = Sizes::of_each_run(recipe);
    let is_sound = |dim: &Dim| sizes.is_sound_dim(*dim);
    let sound = |call: &CallInfo| call.symbols.len() <= MAX_SYMBOLS && call.symbols.iter().all(is_sound);
    match recipe.calls.iter().position(|call| !sound(call)) {
        Some(index) => invalid(Part::Call, index, "sizes that symbols cannot be"),
        None => Ok(()),
    }
}

fn storages(recipe: &Recipe, sizes: &Sizes) -> Result<(), DecodeError> {
    let mut total = 0_u64;
    for (index, storage) in recipe.storages.iter().enumerate() {
        total = match sizes.most(&storage.bytes).and_then(|most| total.checked_add(most)) {
            Some(total) if total < MOST_TOGETHER => total,
            _ => return invalid(Part::Storage, index, "more bytes than memory can have"),
        };
    }
    Ok(())
}

fn values(recipe: &Recipe, sizes: &Sizes, facts: &[Facts]) -> Result<(), DecodeError> {
    for (index, value) in recipe.values.iter().enumerate() {
        let (Some(storage), Some(layout), Some(facts)) = (
            recipe.storages.get(value.storage as usize),
            recipe.layouts.get(value.layout as usize),
            facts.get(value.layout as usize),
        ) else {
            return invalid(Part::Value, index, "a storage or layout that is not there");
        };
        if !sizes.is_sound(&value.offset) || !is_multiple(&value.offset, layout.dtype.size() as u64) {
            return invalid(Part::Value, index, "an offset that its type cannot have");
        }
        // No more elements than memory, either: strides that let them overlap come from no view.
        let inside = ends_inside(&value.offset, &facts.span, &storage.bytes, &sizes.bounds)
            && ends_inside(&Extent::Fixed(0), &facts.bytes, &storage.bytes, &sizes.bounds);
        if !inside {
            return invalid(Part::Value, index, "it is not inside its storage");
        }
    }
    Ok(())
}

/// Whether a value is all of its storage, which is of this kind.
fn is_whole(recipe: &Recipe, facts: &[Facts], value: u32, kind: StorageKind) -> bool {
    let Some(info) = recipe.values.get(value as usize) else { return false };
    let (storage, facts) = (&recipe.storages[info.storage as usize], &facts[info.layout as usize]);
    storage.kind == kind && info.offset == Extent::Fixed(0) && facts.dense && facts.bytes == storage.bytes
}

fn inputs(recipe: &Recipe, facts: &[Facts]) -> Result<(), DecodeError> {
    for (index, input) in recipe.inputs.iter().enumerate() {
        if !is_whole(recipe, facts, input.value, StorageKind::Input(index as u32)) {
            return invalid(Part::Input, index, "its value is not all of its memory");
        }
        let layout = recipe.layout_of(input.value);
        if input.class == Input::Frozen && layout.dims.iter().any(|dim| dim.as_fixed().is_none()) {
            return invalid(Part::Input, index, "a frozen input whose shape has symbols");
        }
    }
    Ok(())
}

fn outputs(recipe: &Recipe, facts: &[Facts]) -> Result<(), DecodeError> {
    for (index, output) in recipe.outputs.iter().enumerate() {
        if !is_whole(recipe, facts, output.value, StorageKind::Output(index as u32)) {
            return invalid(Part::Output, index, "its value is not all of its memory");
        }
    }
    Ok(())
}

/// That every input, output and constant has one storage, and constants its size.
fn owners(recipe: &Recipe) -> Result<(), DecodeError> {
    let mut owned =
        [vec![false; recipe.inputs.len()], vec![false; recipe.outputs.len()], vec![false; recipe.constants.len()]];
    for (index, storage) in recipe.storages.iter().enumerate() {
        let (kind, owner) = match storage.kind {
            StorageKind::Temporary | StorageKind::Once => continue,
            StorageKind::Input(owner) => (0, owner),
            StorageKind::Output(owner) => (1, owner),
            StorageKind::Constant(owner) => (2, owner),
        };
        match owned[kind].get_mut(owner as usize) {
            Some(owned) if !*owned => *owned = true,
            _ => return invalid(Part::Storage, index, format!("{:?} is not there or has one already", storage.kind)),
        }
        if let StorageKind::Constant(constant) = storage.kind
            && storage.bytes != Extent::Fixed(recipe.constants[constant as usize].len() as u64)
        {
            return invalid(Part::Constant, constant as usize, "other bytes than its storage has");
        }
    }
    match owned[2].iter().position(|owned| !owned) {
        Some(constant) => invalid(Part::Constant, constant, "no storage has it"),
        None => Ok(()),
    }
}
