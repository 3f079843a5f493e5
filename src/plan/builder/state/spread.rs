//! Spreading the work of a plan over several streams.
//!
//! Work keeps its order of issue. Each piece of it goes to the stream whose last work it needs, or else to the one
//! with the least; where it needs work of other streams it waits for events right behind that, unless its stream
//! knows already that it is done.

use std::collections::BTreeSet;

use crate::plan::recipe::{EventInfo, Node, NodeKind, ORIGIN, Recipe, Tag};

mod clocks;
mod depend;
#[cfg(test)]
mod tests;

use clocks::Clocks;

/// Order of work that its accesses do not show.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wishes {
    /// Pairs of a node and one that must be done before it.
    pub(crate) after: Vec<(u32, u32)>,
    /// Nodes that come after all earlier and before all later ones, in their order.
    pub(crate) fences: Vec<u32>,
}

/// Spreads a recipe whose work is all on the origin over at most so many streams. One that has other streams or
/// prefetches, or in which nothing can run at once, gives none. With the recipe comes the new position of each node.
pub(crate) fn spread(recipe: &Recipe, wishes: &Wishes, streams: usize) -> Option<(Recipe, Vec<u32>)> {
    let keeps = |node: &Node| matches!(node.kind, NodeKind::Wait(_) | NodeKind::Prefetch { .. });
    if recipe.tags.len() != 1 || streams < 2 || recipe.nodes.iter().any(keeps) {
        return None;
    }
    let mut spread = Spread::new(recipe, streams);
    spread.assign_all(wishes);
    if spread.used == 1 {
        return None;
    }
    let (events, joins) = spread.join_all();
    Some(place(recipe.clone(), &spread.steps, &events, &joins))
}

/// A node on its stream, and the nodes whose events it waits for.
struct Step {
    stream: u16,
    waits: Vec<Awaited>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    /// The start of the plan.
    Start,
    Node(u32),
}

struct Spread<'a> {
    recipe: &'a Recipe,
    clocks: Clocks,
    steps: Vec<Step>,
    /// The last work of each stream.
    last: Vec<Option<u32>>,
    /// Streams by how much work they have.
    loads: BTreeSet<(usize, u16)>,
    used: usize,
    fence: Option<u32>,
}

impl<'a> Spread<'a> {
    fn new(recipe: &'a Recipe, streams: usize) -> Self {
        let streams = streams.min(usize::from(u16::MAX)).min(recipe.nodes.len().max(1));
        Self {
            recipe,
            clocks: Clocks::new(streams),
            steps: Vec::with_capacity(recipe.nodes.len()),
            last: vec![None; streams],
            loads: (0..streams as u16).map(|stream| (0, stream)).collect(),
            used: 1,
            fence: None,
        }
    }

    fn assign_all(&mut self, wishes: &Wishes) {
        let mut pairs = depend::dependencies(self.recipe);
        pairs.extend(&wishes.after);
        pairs.sort_unstable();
        let mut pairs = pairs.into_iter().peekable();
        for (index, node) in self.recipe.nodes.iter().enumerate() {
            let index = index as u32;
            let mut needs = Vec::new();
            while let Some((_, need)) = pairs.next_if(|(node, _)| *node == index) {
                needs.push(need);
            }
            let outside =
                matches!(node.kind, NodeKind::Host(_) | NodeKind::ExternalWait(_) | NodeKind::ExternalRecord(_));
            if outside || wishes.fences.binary_search(&index).is_ok() {
                needs.extend(self.last.iter().flatten());
                self.assign(index, ORIGIN, needs);
                self.fence = Some(index);
            } else {
                needs.extend(self.fence);
                let stream = self.stream_for(node, &needs);
                self.assign(index, stream, needs);
            }
        }
    }

    /// The stream whose last work is the latest that is needed, or else the one with the least work; of several such
    /// one that has something that is needed, which takes no event then.
    fn stream_for(&self, node: &Node, needs: &[u32]) -> u16 {
        if matches!(node.kind, NodeKind::Record(_)) {
            return ORIGIN;
        }
        let ends = needs.iter().filter(|need| {
            let stream = self.steps[**need as usize].stream;
            self.last[usize::from(stream)] == Some(**need)
        });
        if let Some(latest) = ends.max() {
            return self.steps[*latest as usize].stream;
        }
        let Some(&(least, first)) = self.loads.first() else { return ORIGIN };
        let mut known = needs.iter().rev().map(|need| self.steps[*need as usize].stream);
        known.find(|stream| self.loads.contains(&(least, *stream))).unwrap_or(first)
    }

    fn assign(&mut self, index: u32, stream: u16, mut needs: Vec<u32>) {
        let mut waits = Vec::new();
        // The latest first: what they have waited for themselves is known then.
        needs.sort_unstable_by(|a, b| b.cmp(a));
        for need in needs {
            if self.clocks.learn(stream, need) {
                waits.push(Awaited::Node(need));
            }
        }
        let last = &mut self.last[usize::from(stream)];
        if stream != ORIGIN && last.is_none() {
            self.used += 1;
            if waits.is_empty() {
                waits.push(Awaited::Start);
            }
        }
        *last = Some(index);
        let load = self.clocks.run(stream);
        self.loads.remove(&(load - 1, stream));
        self.loads.insert((load, stream));
        self.steps.push(Step { stream, waits });
    }

    /// The number of the event behind each node, if it has one, and the nodes that the origin waits for at the end.
    fn join_all(&mut self) -> (Vec<Option<u32>>, Vec<u32>) {
        let mut ends: Vec<u32> = self.last[1..].iter().flatten().copied().collect();
        ends.sort_unstable_by(|a, b| b.cmp(a));
        ends.retain(|end| self.clocks.learn(ORIGIN, *end));
        let mut events = vec![None; self.recipe.nodes.len()];
        let waited = self.steps.iter().flat_map(|step| &step.waits);
        let waited = waited.filter_map(|wait| if let Awaited::Node(node) = wait { Some(*node) } else { None });
        let mut next = self.recipe.events.len() as u32;
        for node in waited.chain(ends.iter().copied()) {
            events[node as usize].get_or_insert_with(|| {
                next += 1;
                next - 1
            });
        }
        (events, ends)
    }
}

/// The recipe with its nodes on their streams, the events behind them and the waits before them; and where each
/// node is now.
fn place(mut recipe: Recipe, steps: &[Step], events: &[Option<u32>], joins: &[u32]) -> (Recipe, Vec<u32>) {
    let streams = steps.iter().map(|step| step.stream).max().unwrap_or(ORIGIN);
    recipe.tags.extend((1..=streams).map(|stream| Tag { name: format!("auto {stream}"), priority: 0 }));
    let more = events.iter().flatten().count();
    recipe.events.extend((0..more).map(|_| EventInfo { name: None }));
    let nodes = std::mem::take(&mut recipe.nodes);
    let (mut placed, mut positions) = (Vec::with_capacity(nodes.len() + 2 * more), Vec::with_capacity(nodes.len()));
    let sync = |kind, tag: u16, place| Node { kind, first: 0, place, count: 0, tag, cores: 0 };
    let start = recipe.events.len() as u32;
    if steps.iter().any(|step| step.waits.contains(&Awaited::Start)) {
        recipe.events.push(EventInfo { name: None });
        placed.push(sync(NodeKind::Record(start), ORIGIN, nodes[0].place));
    }
    for ((node, step), event) in nodes.iter().zip(steps).zip(events) {
        for wait in &step.waits {
            let event = match wait {
                Awaited::Start => start,
                Awaited::Node(node) => events[*node as usize].unwrap_or(start),
            };
            placed.push(sync(NodeKind::Wait(event), step.stream, node.place));
        }
        positions.push(placed.len() as u32);
        placed.push(Node { tag: step.stream, ..*node });
        placed.extend(event.map(|event| sync(NodeKind::Record(event), step.stream, node.place)));
    }
    for end in joins {
        let event = events[*end as usize].unwrap_or(start);
        placed.push(sync(NodeKind::Wait(event), ORIGIN, nodes[*end as usize].place));
    }
    // Nobody knows on which stream the work is that the memory is kept for.
    let end = placed.len() as u32 - 1;
    recipe.reserved.iter_mut().for_each(|(_, node)| *node = end);
    recipe.nodes = placed;
    (recipe, positions)
}
