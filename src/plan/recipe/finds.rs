//! Operators of the library whose results are as large as what they find.

use super::uses::Use;
use super::{Node, Recipe};

/// What an operator finds in its first tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finds {
    /// Indices of elements: as many for each as the operand has dimensions.
    Places,
    /// Elements that a mask chooses.
    Chosen,
    /// Elements, or slices.
    Parts,
}

/// None where the sizes of all results are known.
pub(crate) fn of(recipe: &Recipe, node: &Node) -> Option<Finds> {
    match recipe.operator(node)? {
        "aclnnNonzero" | "aclnnNonzeroV2" => Some(Finds::Places),
        "aclnnMaskedSelect" => Some(Finds::Chosen),
        "aclnnUnique" | "aclnnUnique2" | "aclnnUniqueDim" | "aclnnUniqueConsecutive" => Some(Finds::Parts),
        _ => None,
    }
}

/// Whether an operator writes as much of its result as it finds, and leaves the rest.
pub(crate) fn writes_what_it_finds(recipe: &Recipe, one: &Use) -> bool {
    let node = &recipe.nodes[one.node as usize];
    let writes = || (node.first..=one.access).filter(|at| recipe.accesses[*at as usize].mode.writes());
    // What says where each element went has one for each of them, and is the second result of those that tell it.
    recipe.access(one).mode.writes()
        && of(recipe, node).is_some_and(|finds| finds != Finds::Parts || writes().count() != 2)
}
