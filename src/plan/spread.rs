//! Spreading the work of a plan over several streams. Uses recipes and overlaps; the builder and the automatic overlap
//! say which stream each work goes to, here it gets its events.
//!
//! Work keeps its order of issue. Where it needs work of other streams it waits for events right behind that, unless
//! its stream knows already that it is done; the origin waits for the end of every stream.

use crate::plan::recipe::function::works_together;
use crate::plan::recipe::{Cores, EventInfo, FunctionKind, Node, NodeKind, ORIGIN, Ordered, Recipe, Tag};

mod clocks;
mod depend;
pub(crate) mod evenly;
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

impl Wishes {
    /// The fences of a recipe with pairs that are known apart from it. Work that needs cores is one, too: nobody
    /// knows here how many there are.
    pub(crate) fn with_fences(after: &[(u32, u32)], recipe: &Recipe) -> Self {
        let is_fence = |node: &Node| {
            node.ordered == Ordered::Fence
                || works_with_others(recipe, node.kind)
                || waits_for_cores(recipe, node.kind)
        };
        let nodes = (0..).zip(&recipe.nodes);
        let fences = nodes.filter(|(_, node)| is_fence(node)).map(|(index, _)| index);
        Self { after: after.to_vec(), fences: fences.collect() }
    }
}

/// Says where work goes, which it is asked about in the order of issue.
pub(crate) trait Choose {
    /// The stream of a node that needs these nodes; at most one more than those that have work.
    fn stream(&mut self, node: u32, needs: &[u32], spread: &Placed) -> u16;

    /// The node is on this stream, which some nodes have to be: those outside of the plan are on the origin.
    fn put(&mut self, node: u32, stream: u16, needs: &[u32]);
}

/// Work that has its place.
pub(crate) struct Placed {
    streams: Vec<u16>,
    /// The last work of each stream that has some; the origin is one.
    last: Vec<Option<u32>>,
}

impl Placed {
    /// The stream of a node that was placed.
    pub(crate) fn stream(&self, node: u32) -> u16 {
        self.streams[node as usize]
    }

    /// Whether a node that was placed is the last of its stream.
    pub(crate) fn is_last(&self, node: u32) -> bool {
        self.last[usize::from(self.stream(node))] == Some(node)
    }

    /// Number of streams with work, the origin included.
    pub(crate) fn used(&self) -> usize {
        self.last.len()
    }
}

/// Work on its streams, with what it waits for.
pub(crate) struct Spread<'a> {
    recipe: &'a Recipe,
    clocks: Clocks,
    placed: Placed,
    /// The nodes whose events each node waits for.
    waits: Vec<Vec<Awaited>>,
    fence: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    /// The start of the plan.
    Start,
    Node(u32),
}

/// Whether somebody outside of the plan may see how far it is.
pub(crate) fn is_outside(recipe: &Recipe, kind: NodeKind) -> bool {
    recipe.has_inside(kind, |_, kind| {
        matches!(kind, NodeKind::Host(_) | NodeKind::ExternalWait(_) | NodeKind::ExternalRecord(_))
    })
}

/// Whether operators that work with other devices are in a node: all devices have to come to them in one order.
pub(crate) fn works_with_others(recipe: &Recipe, kind: NodeKind) -> bool {
    recipe.has_inside(kind, |recipe, kind| {
        let NodeKind::Foreign(function) = kind else { return false };
        let info = &recipe.functions[function as usize];
        info.kind() == FunctionKind::Operator && info.name().is_some_and(works_together)
    })
}

/// Whether a node cannot go on without cores that it says, for which two of them on different streams could wait for
/// ever.
pub(crate) fn waits_for_cores(recipe: &Recipe, kind: NodeKind) -> bool {
    recipe.has_inside(kind, |recipe, kind| {
        let NodeKind::Foreign(function) = kind else { return false };
        recipe.functions[function as usize].needs() != Cores::default()
    })
}

/// Whether all work of a recipe is on the origin and waits for nothing.
pub(crate) fn is_on_one_stream(recipe: &Recipe) -> bool {
    recipe.tags.len() == 1 && !recipe.nodes.iter().any(|node| matches!(node.kind, NodeKind::Wait(_)))
}

/// Spreads the work of a recipe that is [on one stream](is_on_one_stream) over at most so many.
pub(crate) fn spread<'a>(recipe: &'a Recipe, wishes: &Wishes, streams: usize, choose: &mut dyn Choose) -> Spread<'a> {
    let mut spread = Spread {
        recipe,
        clocks: Clocks::new(streams.max(1)),
        placed: Placed { streams: Vec::with_capacity(recipe.nodes.len()), last: vec![None] },
        waits: Vec::with_capacity(recipe.nodes.len()),
        fence: None,
    };
    spread.assign_all(wishes, choose);
    spread
}

impl Spread<'_> {
    fn assign_all(&mut self, wishes: &Wishes, choose: &mut dyn Choose) {
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
            let stream = if is_outside(self.recipe, node.kind) || wishes.fences.binary_search(&index).is_ok() {
                needs.extend(self.placed.last.iter().flatten());
                self.fence = Some(index);
                ORIGIN
            } else {
                needs.extend(self.fence);
                match node.kind {
                    NodeKind::Record(_) => ORIGIN,
                    _ => choose.stream(index, &needs, &self.placed),
                }
            };
            choose.put(index, stream, &needs);
            self.assign(index, stream, needs);
        }
    }

    fn assign(&mut self, index: u32, stream: u16, mut needs: Vec<u32>) {
        let mut waits = Vec::new();
        // The latest first: what they have waited for themselves is known then.
        needs.sort_unstable();
        for need in needs.into_iter().rev() {
            if self.clocks.learn(stream, need) {
                waits.push(Awaited::Node(need));
            }
        }
        if usize::from(stream) == self.placed.last.len() {
            self.placed.last.push(None);
        }
        let last = &mut self.placed.last[usize::from(stream)];
        if stream != ORIGIN && last.is_none() && waits.is_empty() {
            waits.push(Awaited::Start);
        }
        *last = Some(index);
        self.clocks.run(stream);
        self.placed.streams.push(stream);
        self.waits.push(waits);
    }

    /// Number of streams with work, the origin included.
    pub(crate) fn used(&self) -> usize {
        self.placed.used()
    }

    /// The stream of each node.
    pub(crate) fn streams(&self) -> &[u16] {
        &self.placed.streams
    }

    /// The number of the event behind each node, if it has one, and the nodes that the origin waits for at the end.
    fn join_all(&mut self) -> (Vec<Option<u32>>, Vec<u32>) {
        let mut ends: Vec<u32> = self.placed.last[1..].iter().flatten().copied().collect();
        ends.sort_unstable();
        ends.reverse();
        ends.retain(|end| self.clocks.learn(ORIGIN, *end));
        let mut events = vec![None; self.recipe.nodes.len()];
        let waited = self.waits.iter().flatten();
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

    /// The recipe with its nodes on their streams, the events behind them and the waits before them; and where each
    /// node is now. `names` has those of the streams beside the origin.
    pub(crate) fn place(mut self, names: impl Fn(u16) -> String) -> (Recipe, Vec<u32>) {
        let (events, joins) = self.join_all();
        let mut recipe = self.recipe.clone();
        let used = self.used() as u16;
        recipe.tags.extend((1..used).map(|stream| Tag { name: names(stream), priority: 0 }));
        let more = events.iter().flatten().count();
        recipe.events.extend((0..more).map(|_| EventInfo { name: None }));
        let nodes = std::mem::take(&mut recipe.nodes);
        let (mut placed, mut positions) =
            (Vec::with_capacity(nodes.len() + 2 * more), Vec::with_capacity(nodes.len()));
        let start = recipe.events.len() as u32;
        if self.waits.iter().any(|waits| waits.contains(&Awaited::Start)) {
            recipe.events.push(EventInfo { name: None });
            placed.push(Node::bare(NodeKind::Record(start), ORIGIN, nodes[0].place));
        }
        for ((node, (waits, stream)), event) in nodes.iter().zip(self.waits.iter().zip(self.streams())).zip(&events) {
            for wait in waits {
                let event = match wait {
                    Awaited::Start => start,
                    Awaited::Node(node) => events[*node as usize].unwrap_or(start),
                };
                placed.push(Node::bare(NodeKind::Wait(event), *stream, node.place));
            }
            positions.push(placed.len() as u32);
            placed.push(Node { tag: *stream, ..*node });
            placed.extend(event.map(|event| Node::bare(NodeKind::Record(event), *stream, node.place)));
        }
        for end in joins {
            let event = events[end as usize].unwrap_or(start);
            placed.push(Node::bare(NodeKind::Wait(event), ORIGIN, nodes[end as usize].place));
        }
        // Nobody knows on which stream the work is that the memory is kept for.
        let end = (placed.len() as u32).saturating_sub(1);
        recipe.reserved.iter_mut().for_each(|(_, node)| *node = end);
        recipe.nodes = placed;
        (recipe, positions)
    }
}
