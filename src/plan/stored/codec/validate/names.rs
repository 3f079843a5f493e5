//! Names, source places and small numbers.

use std::collections::HashSet;

use crate::plan::builder::ORIGIN_TAG;
use crate::plan::recipe::Recipe;
use crate::plan::stored::codec::error::{DecodeError, Part, invalid};
use crate::plan::symbols::dim::MAX_SYMBOLS;

const LOWEST_PRIORITY: u32 = 7;
const GREATEST_SYMBOL: u64 = 1 << 31;
/// The whole of the L2 cache, in thousandths.
const WHOLE_CACHE: u32 = 1000;

pub(super) fn check(recipe: &Recipe) -> Result<(), DecodeError> {
    symbols(recipe)?;
    tags(recipe)?;
    distinct(Part::External, recipe.externals.iter())?;
    distinct(Part::Input, recipe.inputs.iter().map(|input| &input.name))?;
    distinct(Part::Output, recipe.outputs.iter().map(|output| &output.name))?;
    if let Some(index) = recipe.events.iter().position(|event| event.name.as_ref().is_some_and(String::is_empty)) {
        return invalid(Part::Event, index, "an empty name");
    }
    if let Some(index) = recipe.functions.iter().position(|info| info.name().is_some_and(str::is_empty)) {
        return invalid(Part::Function, index, "an empty name");
    }
    let files = recipe.places.files.len();
    if let Some(index) = recipe.places.all.iter().position(|(file, ..)| *file as usize >= files) {
        return invalid(Part::Place, index, "a source file that is not there");
    }
    if recipe.prefetch_cap > WHOLE_CACHE {
        return invalid(Part::PrefetchCap, 0, format!("{} thousandths", recipe.prefetch_cap));
    }
    Ok(())
}

fn distinct<'a>(part: Part, names: impl ExactSizeIterator<Item = &'a String>) -> Result<(), DecodeError> {
    let mut seen = HashSet::with_capacity(names.len());
    for (index, name) in names.enumerate() {
        if name.is_empty() || !seen.insert(name) {
            return invalid(part, index, format!("the name {name:?} is empty or taken"));
        }
    }
    Ok(())
}

fn symbols(recipe: &Recipe) -> Result<(), DecodeError> {
    if recipe.symbols.len() > MAX_SYMBOLS {
        return invalid(Part::Symbol, MAX_SYMBOLS, format!("more than {MAX_SYMBOLS}"));
    }
    for (index, symbol) in recipe.symbols.iter().enumerate() {
        if symbol.least > symbol.greatest || symbol.greatest > GREATEST_SYMBOL {
            return invalid(Part::Symbol, index, format!("the bounds {} to {}", symbol.least, symbol.greatest));
        }
    }
    distinct(Part::Symbol, recipe.symbols.iter().map(|symbol| &symbol.name))
}

fn tags(recipe: &Recipe) -> Result<(), DecodeError> {
    if recipe.tags.first().is_none_or(|origin| origin.name != ORIGIN_TAG || origin.priority != 0) {
        return invalid(Part::Tag, 0, "not that of the origin");
    }
    if let Some(index) = recipe.tags.iter().position(|tag| tag.priority > LOWEST_PRIORITY) {
        return invalid(Part::Tag, index, format!("a priority above {LOWEST_PRIORITY}"));
    }
    distinct(Part::Tag, recipe.tags.iter().map(|tag| &tag.name))
}
