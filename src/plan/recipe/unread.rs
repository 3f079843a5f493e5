//! Operands that an operator of the library takes and does not look at.

use crate::op::Told;

use super::uses::Use;
use super::{NodeKind, Recipe};

/// By C name without `aclnn`, with the place of the operand and, where that decides, the parameter whose number is 0 or 1
/// then.
const UNREAD: [(&str, u32, Option<usize>); 3] = [
    // Made for the gradient by a forward step that does not write it either.
    ("LogSigmoidBackward", 2, None),
    // All is dropped, or nothing (guide: the page of each).
    ("DropoutBackward", 1, Some(2)),
    ("DropoutDoMask", 1, Some(2)),
];

/// Whether what is there does not matter to the operator that takes it.
pub(crate) fn is_unread(recipe: &Recipe, one: &Use) -> bool {
    let node = &recipe.nodes[one.node as usize];
    let place = one.access - node.first;
    let NodeKind::Foreign(function) = node.kind else { return false };
    // Most operands are none of these, and need no look at a name.
    if !UNREAD.iter().any(|(_, operand, _)| *operand == place) {
        return false;
    }
    let Some(recorded) = recipe.functions.get(function as usize).and_then(|info| info.recorded()) else {
        return false;
    };
    let own = recorded.name().strip_prefix("aclnn");
    UNREAD.iter().any(|(name, operand, parameter)| {
        Some(*name) == own
            && *operand == place
            && parameter.is_none_or(|at| is_all_or_nothing(recorded.told().get(at)))
            && recipe.functions[function as usize].later().is_empty()
    })
}

fn is_all_or_nothing(told: Option<&Told>) -> bool {
    let Some(Told::Number(bits)) = told else { return false };
    let number = f64::from_bits(*bits);
    number == 0.0 || number == 1.0
}
