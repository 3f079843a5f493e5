//! Where plans of equal recipes differ in what is told from the recipe: nowhere, unless loading goes another way than
//! building.

use crate::plan::memory::MemoryPlan;
use crate::plan::order::Order;
use crate::plan::recipe::Recipe;

/// The first piece of work that waits for other work in one plan than in the other.
pub(crate) fn order_difference(recipe: &Recipe, a: &Order, b: &Order) -> Option<String> {
    let streams = recipe.tags.len() as u16;
    let same = |node: &u32| {
        let place = |order: &Order| (order.tag(*node), order.position(*node));
        place(a) == place(b)
            && (0..streams).all(|tag| tag == a.tag(*node) || a.known(tag, *node) == b.known(tag, *node))
    };
    let node = (0..recipe.nodes.len() as u32).find(|node| !same(node))?;
    Some(format!("operator #{node} ({}): other work comes before it", recipe.label(&recipe.nodes[node as usize])))
}

/// The first memory that lies elsewhere; none in place of a plan is memory that does not fit.
pub(crate) fn memory_difference(a: Option<MemoryPlan>, b: Option<MemoryPlan>) -> Option<String> {
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (None, None) => return None,
        _ => return Some("the memory of one plan fits, that of the other does not".to_owned()),
    };
    let pairs = a.offsets.iter().zip(&b.offsets).enumerate();
    let moved = pairs.into_iter().find(|(_, (x, y))| x != y);
    let text = |(index, (x, y))| format!("storage {index} is at byte {x} in one and at byte {y} in the other");
    moved.map(text).or_else(|| (a != b).then(|| format!("the memory plans are {a:?} and {b:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::DataType::F32;
    use crate::plan::{Input, Plan};

    /// Two streams; the wait at the end is before or behind the last operator of the origin.
    fn plan(early: bool) -> Plan {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            let side = g.scope("side", |g| g.tanh(x))?;
            if early {
                g.join("side")?;
            }
            let y = g.abs(x)?;
            if !early {
                g.join("side")?;
            }
            let z = g.add(side, y)?;
            g.output("z", z)
        });
        plan.unwrap()
    }

    #[test]
    fn another_order_or_place_is_named() {
        let (early, late) = (plan(true), plan(false));
        assert_eq!(early.difference(&plan(true)), None);
        let text = order_difference(&early.0.recipe, &early.0.order, &late.0.order).unwrap();
        assert!(text.starts_with("operator #") && text.ends_with("other work comes before it"), "{text}");
        let places =
            |offsets: [u64; 2], peak| MemoryPlan { offsets: offsets.to_vec(), peak, ..MemoryPlan::default() };
        let text = memory_difference(Some(places([0, 64], 128)), Some(places([0, 128], 192)));
        assert_eq!(text.unwrap(), "storage 1 is at byte 64 in one and at byte 128 in the other");
        assert!(memory_difference(Some(places([0, 64], 128)), Some(places([0, 64], 192))).is_some());
        assert!(memory_difference(Some(places([0, 64], 128)), None).is_some());
        assert_eq!(memory_difference(None, None), None);
    }
}
