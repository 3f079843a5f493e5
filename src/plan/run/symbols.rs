//! The values of the symbols of a run: from the shapes of what it is given.

use crate::error::{Error, Result};
use crate::plan::Inner;

use super::bindings::Bindings;

/// The value of each symbol, in order.
pub(super) fn resolve(plan: &Inner, bind: &Bindings) -> Result<Vec<usize>> {
    let symbols = &plan.recipe.symbols;
    let mut values = bind.symbols.clone();
    values.resize(symbols.len(), None);
    for (index, input) in bind.recipe.inputs.iter().enumerate() {
        let bound = bind.bound[index].as_ref().and_then(|bound| bound.tensor.map(|(_, shape)| shape));
        let Some(shape) = bound.or(bind.host[index].shape) else { continue };
        for (dim, size) in input.dims.iter().zip(shape.iter()) {
            let Some(symbol) = dim.as_symbol() else { continue };
            match values[symbol].replace(*size) {
                Some(known) if known != *size => {
                    let (name, input) = (&symbols[symbol].name, &input.name);
                    return Err(Error::invalid(format!(
                        "symbol {name:?} is {known} elsewhere and {size} in the shape {shape} of input {input:?}"
                    )));
                }
                _ => {}
            }
        }
    }
    values
        .iter()
        .zip(symbols)
        .map(|(value, symbol)| {
            value.ok_or_else(|| {
                let name = &symbol.name;
                Error::invalid(format!("no input says what symbol {name:?} is; Bindings::symbol does"))
            })
        })
        .collect()
}

/// That every dimension of what was given is what the symbols make of it.
pub(super) fn check_shapes(bind: &Bindings, symbols: &[usize]) -> Result<()> {
    let values: Vec<u64> = symbols.iter().map(|value| *value as u64).collect();
    for (index, input) in bind.recipe.inputs.iter().enumerate() {
        let bound = bind.bound[index].as_ref().and_then(|bound| bound.tensor.map(|(_, shape)| shape));
        let Some(shape) = bound.or(bind.host[index].shape) else { continue };
        let sizes: Vec<Option<u64>> = input.dims.iter().map(|dim| dim.value(&values)).collect();
        if !sizes.iter().zip(shape.iter()).all(|(want, size)| *want == Some(*size as u64)) {
            let (name, dims) = (&input.name, &input.shown);
            let sizes: Vec<u64> = sizes.into_iter().flatten().collect();
            return Err(Error::invalid(format!(
                "input {name:?}: expected {dims}, which is {sizes:?} here, got {shape}"
            )));
        }
    }
    Ok(())
}
