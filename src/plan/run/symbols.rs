//! The values of the symbols of a run: from the shapes of what it is given.

use crate::error::Result;
use crate::plan::checked::Inner;
use crate::plan::symbols::values::{Shaped, resolve as solve};

use super::bindings::Bindings;

/// The value of each symbol, in order.
pub(super) fn resolve(plan: &Inner, bind: &Bindings) -> Result<Vec<usize>> {
    if plan.recipe.symbols.is_empty() {
        return Ok(Vec::new());
    }
    let shaped = || {
        bind.recipe.inputs.iter().enumerate().filter_map(|(index, input)| {
            let bound = bind.bound[index].as_ref().and_then(|bound| bound.tensor.as_ref().map(|(_, shape)| shape));
            let shape = bound.or(bind.host[index].shape.as_ref())?;
            Some(Shaped { name: &input.name, dims: &input.dims, shape })
        })
    };
    solve(&plan.recipe.symbols, bind.symbols, shaped, "Bindings::symbol")
}
