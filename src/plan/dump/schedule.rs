//! A model of when the work of a plan runs, and what memory it needs then.

use crate::plan::recipe::{Node, NodeKind, PrefetchInfo, Recipe};
use crate::sort;

use super::arena::Temporary;
use super::is_sync;

/// How wide an operator is in [`Plan::to_svg`](crate::plan::Plan::to_svg). A model, not a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Width {
    /// Each takes one step.
    #[default]
    Equal,
    /// As many steps as it touches bytes, twelve for the one that touches most and one at least.
    Bytes,
}

/// Steps of the operator that touches most bytes.
const WIDEST: f64 = 12.0;

/// Start and end of each node, in steps.
pub(super) struct Schedule {
    pub(super) spans: Vec<(f64, f64)>,
    pub(super) end: f64,
    /// Steps of all operators.
    pub(super) work: f64,
}

impl Schedule {
    /// Each node starts when the one before it on its stream, and the record that it waits for, are done. Records and
    /// waits take no time; what a gate waits for is not known.
    pub(super) fn of(recipe: &Recipe, widths: Width) -> Self {
        let steps = steps(recipe, widths);
        let mut streams = vec![0.0_f64; recipe.tags.len()];
        let mut recorded = vec![0.0; recipe.events.len()];
        let mut spans = Vec::with_capacity(recipe.nodes.len());
        for (node, steps) in recipe.nodes.iter().zip(&steps) {
            let stream = &mut streams[usize::from(node.tag)];
            let start = match node.kind {
                NodeKind::Wait(event) => stream.max(recorded[event as usize]),
                _ => *stream,
            };
            *stream = start + steps;
            if let NodeKind::Record(event) = node.kind {
                recorded[event as usize] = start;
            }
            spans.push((start, *stream));
        }
        Self { end: streams.into_iter().fold(0.0, f64::max), work: steps.iter().sum(), spans }
    }
}

fn steps(recipe: &Recipe, widths: Width) -> Vec<f64> {
    let touched: Vec<u64> = match widths {
        Width::Equal => vec![0; recipe.nodes.len()],
        Width::Bytes => recipe.nodes.iter().map(|node| bytes(recipe, node)).collect(),
    };
    let most = touched.iter().copied().max().unwrap_or(0).max(1) as f64;
    let one = |(node, touched): (&Node, u64)| match is_sync(node.kind) {
        true => 0.0,
        false => (touched as f64 / most * WIDEST).max(1.0),
    };
    recipe.nodes.iter().zip(touched).map(one).collect()
}

/// Bytes that a node reads, writes or prefetches.
fn bytes(recipe: &Recipe, node: &Node) -> u64 {
    let sizes = recipe.accesses_of(node).iter();
    let sizes = sizes.filter_map(|access| recipe.layout_of(access.value).bytes()?.as_fixed());
    let all = sizes.fold(0, u64::saturating_add);
    match node.kind {
        NodeKind::Prefetch(prefetch) => {
            let PrefetchInfo { offset, max_bytes } = recipe.prefetches[prefetch as usize];
            all.saturating_sub(offset).min(max_bytes)
        }
        _ => all,
    }
}

/// Live bytes from each time on, until the next; the last is 0.
pub(super) fn live(temporaries: &[Temporary], spans: &[(f64, f64)]) -> Vec<(f64, u64)> {
    let mut changes: Vec<(f64, i128)> = Vec::with_capacity(2 * temporaries.len());
    for one in temporaries {
        let times = one.nodes.iter().map(|node| spans[*node as usize]);
        let (start, end) = times.fold((f64::MAX, 0.0_f64), |(a, b), (x, y)| (a.min(x), b.max(y)));
        changes.push((start, i128::from(one.bytes)));
        changes.push((end, -i128::from(one.bytes)));
    }
    sort::by(&mut changes, |a, b| a.0.total_cmp(&b.0));
    let mut steps: Vec<(f64, u64)> = Vec::new();
    let mut now = 0_i128;
    for (time, change) in changes {
        now += change;
        let bytes = u64::try_from(now).unwrap_or(0);
        match steps.last_mut() {
            Some((last, known)) if *last == time => *known = bytes,
            _ => steps.push((time, bytes)),
        }
    }
    steps
}
