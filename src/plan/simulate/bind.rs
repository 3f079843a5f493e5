//! From what is given by name to the values of the symbols and the bytes of each input.

use crate::error::{Error, Result};
use crate::plan::recipe::{InputInfo, Recipe};
use crate::plan::symbols::values::{Shaped, Values, named, resolve};

use super::{Given, Simulated};

/// The values of the symbols, in their order.
pub(super) fn symbols(recipe: &Recipe, given: &Simulated) -> Result<Vec<usize>> {
    if let Some(mistake) = &given.mistake {
        return Err(Error::invalid(mistake.clone()));
    }
    let mut values = Values::default();
    for (name, value) in &given.symbols {
        let index = named("symbol", name, recipe.symbols.iter().map(|symbol| &symbol.name))?;
        values[index] = Some(*value);
    }
    let shaped = || {
        recipe.inputs.iter().filter_map(|InputInfo { name, value, .. }| {
            let (_, shape) = given.find(name)?.typed.as_ref()?;
            Some(Shaped { name, dims: &recipe.layout_of(*value).dims, shape })
        })
    };
    resolve(&recipe.symbols, values, shaped, "Simulated::symbol")
}

/// The bytes of each input, which fit a recipe whose symbols have values.
pub(super) fn inputs(recipe: &Recipe, fixed: &Recipe, given: &Simulated) -> Result<Vec<Vec<u8>>> {
    for (index, Given { name, .. }) in given.inputs.iter().enumerate() {
        named("input", name, recipe.inputs.iter().map(|input| &input.name))?;
        if given.inputs[..index].iter().any(|earlier| earlier.name == *name) {
            return Err(Error::invalid(format!("input {name:?} is given twice")));
        }
    }
    recipe.inputs.iter().map(|input| checked(fixed, input, given)).collect()
}

fn checked(fixed: &Recipe, input: &InputInfo, given: &Simulated) -> Result<Vec<u8>> {
    let (name, layout) = (&input.name, fixed.layout_of(input.value));
    let Some(one) = given.find(name) else {
        return Err(Error::invalid(format!("input {name:?} is missing: {:?} {:?}", layout.dtype, layout.dims)));
    };
    if let Some((dtype, _)) = one.typed.filter(|(dtype, _)| !layout.dtype.takes(*dtype)) {
        let text = format!("input {name:?} has elements of type {:?}; given are {dtype:?}", layout.dtype);
        return Err(Error::invalid(text));
    }
    let want = super::memory::size(fixed, input.value);
    if one.bytes.len() != want {
        let (dtype, dims, has) = (layout.dtype, &layout.dims, one.bytes.len());
        return Err(Error::invalid(format!(
            "input {name:?} of {dtype:?} {dims:?} has {want} bytes; given are {has}"
        )));
    }
    Ok(one.bytes.clone())
}
