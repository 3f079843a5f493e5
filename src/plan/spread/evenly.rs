//! Spreading that knows nothing of the work but what it needs.

use std::collections::BTreeSet;

use crate::plan::recipe::{NodeKind, ORIGIN, Recipe};

use super::{Choose, Placed, Wishes, is_on_one_stream};

/// Spreads a recipe whose work is all on the origin over at most so many streams. One that has other streams or
/// prefetches, or in which nothing can run at once, gives none. With the recipe comes the new position of each node.
pub(crate) fn spread(recipe: &Recipe, wishes: &Wishes, streams: usize) -> Option<(Recipe, Vec<u32>)> {
    let fetches = recipe.nodes.iter().any(|node| matches!(node.kind, NodeKind::Prefetch(_)));
    if streams < 2 || fetches || !is_on_one_stream(recipe) {
        return None;
    }
    let streams = streams.min(usize::from(u16::MAX)).min(recipe.nodes.len().max(1));
    let spread = super::spread(recipe, wishes, streams, &mut Evenly::new(streams));
    (spread.used() > 1).then(|| spread.place(|stream| format!("auto {stream}")))
}

/// Each piece of work goes to the stream whose last work it needs, or else to the one with the least.
struct Evenly {
    /// Number of works of each stream.
    done: Vec<usize>,
    /// Streams by how much work they have.
    loads: BTreeSet<(usize, u16)>,
}

impl Evenly {
    fn new(streams: usize) -> Self {
        Self { done: vec![0; streams], loads: (0..streams as u16).map(|stream| (0, stream)).collect() }
    }
}

impl Choose for Evenly {
    /// The stream whose last work is the latest that is needed, or else the one with the least work; of several such
    /// one that has something that is needed, which takes no event then.
    fn stream(&mut self, _: u32, needs: &[u32], spread: &Placed) -> u16 {
        if let Some(latest) = needs.iter().filter(|need| spread.is_last(**need)).max() {
            return spread.stream(*latest);
        }
        let Some(&(least, first)) = self.loads.first() else { return ORIGIN };
        let mut known = needs.iter().rev().map(|need| spread.stream(*need));
        known.find(|stream| self.loads.contains(&(least, *stream))).unwrap_or(first)
    }

    fn put(&mut self, _: u32, stream: u16, _: &[u32]) {
        let done = &mut self.done[usize::from(stream)];
        self.loads.remove(&(*done, stream));
        *done += 1;
        self.loads.insert((*done, stream));
    }
}
