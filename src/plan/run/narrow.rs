//! Operators that may find more than their result holds, and loops that may have no end, for the errors of runs: a device
//! tells that a task failed, and in a graph not which.

use std::sync::Arc;

use crate::plan::recipe::choice::ChoiceKind;
use crate::plan::recipe::finds::{self, Finds};
use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::{Access, Node, NodeKind, Recipe};

/// What may be wrong with a run whose work failed: none where every result has room for the most that can be found, and
/// every loop has a limit.
pub(super) fn narrow(recipe: &Recipe) -> Option<Arc<str>> {
    let those = |which: &dyn Fn(&Node) -> bool, what: &str| {
        let nodes = (0..).zip(&recipe.nodes).filter(|(_, node)| which(node));
        let found: Vec<String> = nodes.map(|(index, _)| recipe.describe(index)).collect();
        match &found[..] {
            [] => None,
            [one] => Some(format!("{one} {what}")),
            all => Some(format!("one of these {what}: {}", all.join(", "))),
        }
    };
    let full = those(&|node| may_overflow(recipe, node), "may have found more than its result holds");
    let endless =
        those(&|node| node.kind == NodeKind::Begin(ChoiceKind::While(None)), "may have gone on without an end");
    let all: Vec<String> = full.into_iter().chain(endless).collect();
    (!all.is_empty()).then(|| all.join("; ").into())
}

fn may_overflow(recipe: &Recipe, node: &Node) -> bool {
    let Some(finds) = finds::of(recipe, node) else { return false };
    let accesses = recipe.accesses_of(node);
    let elements = |one: &Access| recipe.layout_of(one.value).elements();
    let (Some(from), Some(to)) = (accesses.first(), accesses.iter().find(|one| one.mode.writes())) else {
        return false;
    };
    let most = match finds {
        Finds::Places => {
            let rank = recipe.layout_of(from.value).dims.len() as u64;
            elements(from).and_then(|all| all.times(&Extent::Fixed(rank)))
        }
        Finds::Chosen => chosen(recipe, accesses),
        Finds::Parts => elements(from),
    };
    let bounds = recipe.bounds();
    let has_room = |most: Extent, room: Extent| most.is_at_most(&room, &bounds);
    !most.zip(elements(to)).is_some_and(|(most, room)| has_room(most, room))
}

/// The most that a mask can choose: all elements of what both broadcast to.
fn chosen(recipe: &Recipe, accesses: &[Access]) -> Option<Extent> {
    let dims = |at: usize| Some(&recipe.layout_of(accesses.get(at)?.value).dims);
    let (x, mask) = (dims(0)?, dims(1)?);
    let (long, short) = if x.len() < mask.len() { (mask, x) } else { (x, mask) };
    let mut most = Extent::Fixed(1);
    for (at, dim) in long.iter().rev().enumerate() {
        let other = short.len().checked_sub(at + 1).map(|at| short[at]);
        let wide = other.filter(|_| dim.as_fixed() == Some(1)).unwrap_or(*dim);
        most = most.times(&Extent::of_dim(wide)?)?;
    }
    Some(most)
}
