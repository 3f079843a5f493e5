//! Checks of a recipe, and the findings they give: order of overlapping accesses, lifetimes, and waits that nobody can
//! end. Uses recipes, their overlaps and their order; [`Plan`](super::Plan) is what has passed it.

use std::collections::HashSet;

use super::order::{Broken, Order};
use super::overlap::ranges::may_overlap;
use super::recipe::Recipe;
use super::recipe::callable::Behind;
use super::recipe::uses::{Use, Uses};
use super::symbols::effort::spend;

mod cores;
mod cover;
mod crowd;
pub(crate) mod finding;
mod gates;
mod groups;
mod live;
mod marks;
mod symbolic;
#[cfg(test)]
mod tests;
mod text;
mod tree;
mod written;

pub(crate) use cores::{alone, core_demand};
use finding::{Finding, FindingKind};

/// Most findings of one check; a plan that is this wrong needs no complete list.
const MOST: usize = 1000;

/// Everything that can be told without a device. The order and the uses serve the memory plan too.
pub(crate) fn check(recipe: &Recipe, order: &Order, uses: &Uses) -> Vec<Finding> {
    let mut findings = Vec::new();
    for storage in 0..recipe.storages.len() as u32 {
        accesses(recipe, order, uses, storage, &mut findings);
    }
    gates::check(recipe, order, &mut findings);
    findings
}

/// What of its inputs and its outputs a plan that has passed may not have written, for who calls it: inputs first.
pub(crate) fn behind(recipe: &Recipe, uses: &Uses) -> Vec<Behind> {
    let inputs = recipe.inputs.iter().map(|input| written::behind_input(recipe, uses, input.value));
    inputs.chain(recipe.outputs.iter().map(|output| written::behind_output(recipe, uses, output.value))).collect()
}

/// Waits at gates that may not end.
pub(crate) fn gates(recipe: &Recipe, order: &Order) -> Vec<Finding> {
    let mut findings = Vec::new();
    gates::check(recipe, order, &mut findings);
    findings
}

/// What is wrong with a recipe whose order cannot be told.
pub(crate) fn broken(recipe: &Recipe, broken: Broken) -> Finding {
    let (kind, node, text) = match broken {
        Broken::Wait(node) => (FindingKind::WaitBeforeRecord, node, "comes before the record"),
        Broken::Record(node) => (FindingKind::RecordedTwice, node, "comes a second time"),
    };
    Finding::new(kind, format!("{} {text}", recipe.describe(node))).at(&[node])
}

fn accesses(recipe: &Recipe, order: &Order, uses: &Uses, storage: u32, findings: &mut Vec<Finding>) {
    let all = uses.storage(storage);
    let several = all.iter().any(|one| order.tag(one.node) != order.tag(all[0].node));
    if several
        && all.iter().any(|one| recipe.access(one).mode.writes())
        && let Some(first) = live::first_unordered(recipe, order, all)
    {
        unordered_pairs(recipe, order, all, first, findings);
    }
    written::check(recipe, uses, storage, findings);
}

/// Pairs of accesses that are compared for one list of findings; the first ones found stand for the rest.
const MOST_COMPARED: usize = 4_000_000;

/// Every unordered pair of a storage; `first` is the first use that is the later one of such a pair.
fn unordered_pairs(recipe: &Recipe, order: &Order, all: &[Use], first: usize, findings: &mut Vec<Finding>) {
    let bounds = recipe.bounds();
    let (mut found, mut compared) = (HashSet::new(), 0);
    let is_write = |one: &&Use| recipe.access(one).mode.writes();
    let mut writes: Vec<&Use> = all[..first].iter().filter(is_write).collect();
    for (i, later) in all.iter().enumerate().skip(first) {
        let is_write = is_write(&later);
        // Reads are compared with writes only.
        let earlier: &mut dyn Iterator<Item = &Use> =
            if is_write { &mut all[..i].iter() } else { &mut writes.iter().copied() };
        for earlier in earlier {
            compared += 1;
            if !spend(1) {
                return;
            }
            let pair = (earlier.node, later.node);
            if pair.0 == pair.1 || order.ordered(pair.0, pair.1) || found.contains(&pair) {
                continue;
            }
            let values = (recipe.access(earlier).value, recipe.access(later).value);
            if !may_overlap(recipe, values.0, values.1, &bounds) {
                continue;
            }
            if findings.len() >= MOST || (compared > MOST_COMPARED && !found.is_empty()) {
                return;
            }
            found.insert(pair);
            let text = text::unordered(recipe, earlier, later);
            findings.push(Finding::new(FindingKind::UnorderedAccess, text).at(&[pair.0, pair.1]));
        }
        if is_write {
            writes.push(later);
        }
    }
}
