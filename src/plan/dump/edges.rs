//! Where the data of a node comes from.

use crate::plan::overlap::ranges::{Range, may_overlap, range};
use crate::plan::recipe::{Recipe, StorageKind};
use crate::plan::symbols::poly::Bounds;

/// Most earlier writers of a piece of memory that are looked at for one operand.
const MOST: usize = 256;

/// What an operand holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Node(u32),
    /// What was in the storage before.
    Storage(u32),
}

/// Source and node of each flow of data; the nodes in the order of issue, each flow once.
pub(super) fn data(recipe: &Recipe) -> Vec<(Source, u32)> {
    let mut writers: Vec<Vec<(u32, u32)>> = vec![Vec::new(); recipe.storages.len()];
    let bounds = recipe.bounds();
    let mut flows = Vec::new();
    for (index, node) in recipe.nodes.iter().enumerate() {
        let accesses = recipe.accesses_of(node);
        let mut sources = Vec::new();
        for access in accesses.iter().filter(|access| !access.mode.only_writes()) {
            let writers = &writers[recipe.storage_of(access.value) as usize];
            sources_of(recipe, &bounds, writers, access.value, &mut sources);
        }
        sources.sort_unstable();
        sources.dedup();
        flows.extend(sources.into_iter().map(|source| (source, index as u32)));
        for access in accesses.iter().filter(|access| access.mode.writes()) {
            writers[recipe.storage_of(access.value) as usize].push((index as u32, access.value));
        }
    }
    flows
}

/// The latest writers of the bytes of a value, back to where each byte has one.
fn sources_of(recipe: &Recipe, bounds: Bounds<'_>, writers: &[(u32, u32)], value: u32, sources: &mut Vec<Source>) {
    let mut open = fixed(&range(recipe, value)).map(|piece| vec![piece]);
    for (writer, written) in writers.iter().rev().take(MOST) {
        let whole = recipe.values[*written as usize] == recipe.values[value as usize];
        let written_range = range(recipe, *written);
        let piece = fixed(&written_range);
        let hidden = match (&open, piece) {
            (Some(open), Some((start, end))) => !open.iter().any(|(from, to)| start < *to && *from < end),
            _ => false,
        };
        if hidden || (!whole && !may_overlap(recipe, *written, value, bounds)) {
            continue;
        }
        sources.push(Source::Node(*writer));
        if let (Some(open), Some(piece), true) = (&mut open, piece, written_range.dense) {
            subtract(open, piece);
        }
        if whole || open.as_ref().is_some_and(Vec::is_empty) || covers(&written_range, &range(recipe, value), bounds)
        {
            return;
        }
    }
    let storage = recipe.storage_of(value);
    if matches!(recipe.storages[storage as usize].kind, StorageKind::Input(_) | StorageKind::Constant(_)) {
        sources.push(Source::Storage(storage));
    }
}

fn fixed(range: &Range) -> Option<(u64, u64)> {
    Some((range.start.as_fixed()?, range.end.as_fixed()?))
}

fn subtract(open: &mut Vec<(u64, u64)>, (start, end): (u64, u64)) {
    let rest = |(from, to): (u64, u64)| [(from, to.min(start)), (from.max(end), to)];
    *open = open.iter().copied().flat_map(rest).filter(|(from, to)| from < to).collect();
}

/// Whether every byte of `inner` is one of `outer`, as far as that is easy to tell.
fn covers(outer: &Range, inner: &Range, bounds: Bounds<'_>) -> bool {
    outer.dense && outer.start.is_at_most(&inner.start, bounds) && inner.end.is_at_most(&outer.end, bounds)
}
