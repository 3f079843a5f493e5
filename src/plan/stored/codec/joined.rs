//! Whether the origin waits for the end of every other stream, without which a capture cannot end.

use crate::plan::order::Order;
use crate::plan::recipe::{ORIGIN, Recipe};

/// A stream whose last node the end of the origin does not wait for.
pub(super) fn open_tag(recipe: &Recipe, order: &Order) -> Option<u16> {
    let mut last: Vec<Option<u32>> = vec![None; recipe.tags.len()];
    for (index, node) in recipe.nodes.iter().enumerate() {
        last[usize::from(node.tag)] = Some(index as u32);
    }
    let end = last[usize::from(ORIGIN)];
    let joined = |node: u32| end.is_some_and(|end| order.reaches(order.tag(node), order.position(node), end));
    last.into_iter().flatten().find(|node| order.tag(*node) != ORIGIN && !joined(*node)).map(|node| order.tag(node))
}
