//! What the rest of the crate relies on, checked of a recipe that came from anywhere.
//!
//! A builder keeps these rules as it records. Each loop here runs over one part, and nothing is indexed before its
//! index was checked.

use crate::plan::recipe::Recipe;

use super::error::{DecodeError, Part, invalid};

mod inside;
mod memory;
mod names;
mod nodes;

pub(crate) fn validate(recipe: &Recipe) -> Result<(), DecodeError> {
    numbers(recipe)?;
    names::check(recipe)?;
    memory::check(recipe)?;
    nodes::check(recipe)?;
    match recipe.wrong_once() {
        Some((node, why)) => invalid(Part::Node, node as usize, why),
        None => Ok(()),
    }
}

/// That every entry has a number that the crate can hold.
fn numbers(recipe: &Recipe) -> Result<(), DecodeError> {
    let counts = [
        (Part::Event, recipe.events.len()),
        (Part::External, recipe.externals.len()),
        (Part::Storage, recipe.storages.len()),
        (Part::Layout, recipe.layouts.len()),
        (Part::Value, recipe.values.len()),
        (Part::Access, recipe.accesses.len()),
        (Part::Node, recipe.nodes.len()),
        (Part::File, recipe.places.files.len()),
        (Part::Place, recipe.places.all.len()),
        (Part::Input, recipe.inputs.len()),
        (Part::Output, recipe.outputs.len()),
        (Part::Constant, recipe.constants.len()),
        (Part::Function, recipe.functions.len()),
        (Part::Prefetch, recipe.prefetches.len()),
        (Part::Call, recipe.calls.len()),
        (Part::Choice, recipe.choices.len()),
    ];
    for (part, count) in counts {
        if count >= u32::MAX as usize {
            return invalid(part, count, "more of them than can be numbered");
        }
    }
    // The last number stands for several streams in the memory plan, and core limits are counted from 1.
    for (part, count) in [(Part::Tag, recipe.tags.len()), (Part::CoreLimit, recipe.cores.len())] {
        if count > usize::from(u16::MAX) {
            return invalid(part, count, "more of them than can be numbered");
        }
    }
    Ok(())
}
