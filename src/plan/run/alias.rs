//! Inputs that share memory. A plan is checked as if each had its own, so one that is written must not overlap
//! another.

use crate::error::{Error, Result};
use crate::plan::recipe::{Input, Recipe, StorageKind};

use super::bindings::Bindings;
use super::piece::Piece;

/// The inputs whose memory, outside the executable, a plan writes.
pub(super) fn written(recipe: &Recipe) -> Vec<u32> {
    let mut written = vec![false; recipe.inputs.len()];
    for access in recipe.accesses.iter().filter(|access| access.mode.writes()) {
        if let StorageKind::Input(input) = recipe.storages[recipe.storage_of(access.value) as usize].kind {
            written[input as usize] = true;
        }
    }
    let own = |input: u32| matches!(recipe.inputs[input as usize].class, Input::Copied | Input::Host);
    (0..recipe.inputs.len() as u32).filter(|input| written[*input as usize] && !own(*input)).collect()
}

/// That no written input has a byte in common with another one.
pub(super) fn check(written: &[u32], fixed: &[Option<Piece>], bind: &Bindings) -> Result<()> {
    let range = |index: usize| {
        let fixed = fixed[index].as_ref().map(|piece| (piece.address().addr(), piece.bytes));
        let own = matches!(bind.recipe.inputs[index].class, Input::Copied | Input::Host);
        let bound = bind.bound[index].as_ref().filter(|_| !own).map(|bound| (bound.address(), bound.bytes));
        fixed.or(bound)
    };
    for index in written {
        let Some((start, bytes)) = range(*index as usize) else { continue };
        for other in (0..bind.recipe.inputs.len()).filter(|other| *other != *index as usize) {
            let Some((from, more)) = range(other) else { continue };
            if start < from + more && from < start + bytes {
                let (a, b) = (&bind.recipe.inputs[*index as usize].name, &bind.recipe.inputs[other].name);
                return Err(Error::invalid(format!(
                    "input {a:?}, which the plan writes, shares memory with input {b:?}; the plan was checked as if each \
                     had its own"
                )));
            }
        }
    }
    Ok(())
}

/// That memory of copied inputs, which somebody got, is bound to these alone: runs copy over it before they read.
pub(super) fn check_lent(lent: &[(u32, Piece)], bind: &Bindings) -> Result<()> {
    for (owner, piece) in lent {
        let start = piece.address().addr();
        for (index, bound) in bind.bound.iter().enumerate().filter(|(index, _)| *index != *owner as usize) {
            let Some(bound) = bound else { continue };
            if start < bound.address() + bound.bytes && bound.address() < start + piece.bytes {
                let (a, b) = (&bind.recipe.inputs[index].name, &bind.recipe.inputs[*owner as usize].name);
                return Err(Error::invalid(format!(
                    "input {a:?} is given the memory of the copied input {b:?}, which takes that of a run"
                )));
            }
        }
    }
    Ok(())
}
