//! Checks of a recipe: order of overlapping accesses, lifetimes, and waits that nobody can end.

use std::collections::HashSet;

use super::effort::spend;
use super::finding::{Finding, FindingKind};
use super::order::{Broken, Order};
use super::ranges::{Common, common, range};
use super::recipe::{Cores, NodeKind, ORIGIN, Recipe, StorageKind};
use super::uses::{Use, Uses};

mod gates;
mod live;

use live::Live;

/// Most findings of one check; a plan that is this wrong needs no complete list.
const MOST: usize = 1000;

/// Everything that can be told without a device. The order and the uses serve the memory plan too.
pub(crate) fn check(recipe: &Recipe, order: &Order, uses: &Uses) -> Vec<Finding> {
    let mut findings = Vec::new();
    for storage in 0..recipe.storages.len() as u32 {
        accesses(recipe, order, uses, storage, &mut findings);
    }
    outputs(recipe, uses, &mut findings);
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
    let kind = recipe.storages[storage as usize].kind;
    let needs_write = matches!(kind, StorageKind::Temporary | StorageKind::Output(_));
    let several = all.iter().any(|one| order.tag(one.node) != order.tag(all[0].node));
    if !several && !needs_write {
        return;
    }
    let mut live = Live::new(recipe, storage, several.then_some(order));
    let mut unordered = false;
    for one in all {
        let met = live.add(one);
        unordered |= met.unordered;
        let unwritten =
            recipe.access(one).mode.reads() && !met.written && !is_empty(recipe, recipe.access(one).value);
        if needs_write && unwritten && findings.len() < MOST {
            let text = format!("{} reads memory that nothing has written", recipe.describe(one.node));
            findings.push(Finding::new(FindingKind::ReadBeforeWrite, text).at(&[one.node]));
        }
    }
    if unordered {
        unordered_pairs(recipe, order, uses, storage, findings);
    }
}

fn is_empty(recipe: &Recipe, value: u32) -> bool {
    let range = range(recipe, value);
    range.start == range.end
}

/// Pairs of accesses that are compared for one list of findings; the first ones found stand for the rest.
const MOST_COMPARED: usize = 20_000_000;

/// Every unordered pair of a storage that has one.
fn unordered_pairs(recipe: &Recipe, order: &Order, uses: &Uses, storage: u32, findings: &mut Vec<Finding>) {
    let all = uses.storage(storage);
    let bounds = recipe.bounds();
    let (mut found, mut compared) = (HashSet::new(), 0);
    let mut writes: Vec<&Use> = Vec::new();
    for (i, later) in all.iter().enumerate() {
        let is_write = recipe.access(later).mode.writes();
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
            if !super::ranges::may_overlap(recipe, values.0, values.1, &bounds) {
                continue;
            }
            if findings.len() >= MOST || (compared > MOST_COMPARED && !found.is_empty()) {
                return;
            }
            found.insert(pair);
            let text = unordered_text(recipe, earlier, later);
            findings.push(Finding::new(FindingKind::UnorderedAccess, text).at(&[pair.0, pair.1]));
        }
        if is_write {
            writes.push(later);
        }
    }
}

fn unordered_text(recipe: &Recipe, earlier: &Use, later: &Use) -> String {
    let verb = |one: &Use| if recipe.access(one).mode.writes() { "writes" } else { "reads" };
    let (was, is) = (recipe.access(earlier).value, recipe.access(later).value);
    let bytes = match common(recipe, was, is) {
        Common::Bytes { start, end } => format!("bytes {start}..{end}"),
        _ => "bytes".to_owned(),
    };
    let storage = &recipe.storages[recipe.storage_of(is) as usize];
    let memory = match storage.kind {
        StorageKind::Input(input) => format!("input {:?}", recipe.inputs[input as usize].name),
        StorageKind::Output(output) => format!("output {:?}", recipe.outputs[output as usize].name),
        StorageKind::Temporary | StorageKind::Constant(_) => {
            format!("the value of {} bytes", storage.bytes.show())
        }
    };
    let stream = |node: u32| match recipe.nodes[node as usize].tag {
        ORIGIN => "the origin stream".to_owned(),
        tag => format!("stream {:?}", recipe.tags[usize::from(tag)].name),
    };
    format!(
        "{} {} {bytes} of {memory} that {} {}, in no order: record an event after the former on {} and wait for it before \
         the latter on {}",
        recipe.describe(earlier.node),
        verb(earlier),
        recipe.describe(later.node),
        verb(later),
        stream(earlier.node),
        stream(later.node),
    )
}

fn outputs(recipe: &Recipe, uses: &Uses, findings: &mut Vec<Finding>) {
    for output in &recipe.outputs {
        let storage = recipe.storage_of(output.value);
        let written = uses.storage(storage).iter().any(|one| recipe.access(one).mode.writes());
        if !written && !is_empty(recipe, output.value) {
            let text = format!("output {:?} is written by nothing", output.name);
            findings.push(Finding::new(FindingKind::ReadBeforeWrite, text));
        }
    }
}

/// Pairs of operators that may run at once and need more cores together than there are.
pub(crate) fn core_demand(recipe: &Recipe, order: &Order, has: Cores) -> Vec<Finding> {
    let needs = |node: u32| match recipe.nodes[node as usize].kind {
        NodeKind::Foreign(function) => recipe.functions[function as usize].needs,
        _ => Cores::default(),
    };
    let demanding: Vec<u32> =
        (0..recipe.nodes.len() as u32).filter(|node| needs(*node) != Cores::default()).collect();
    let mut findings = Vec::new();
    for (i, later) in demanding.iter().enumerate() {
        let b = needs(*later);
        for earlier in demanding[..i].iter().filter(|earlier| !order.ordered(**earlier, *later)) {
            let a = needs(*earlier);
            let (cube, vector) = (a.cube.saturating_add(b.cube), a.vector.saturating_add(b.vector));
            if (cube <= has.cube && vector <= has.vector) || findings.len() >= MOST {
                continue;
            }
            let text = format!(
                "{} and {} may run at once and need {cube} matrix and {vector} vector cores together, of {} and {}: each \
                 could wait for the other's",
                recipe.describe(*earlier),
                recipe.describe(*later),
                has.cube,
                has.vector
            );
            findings.push(Finding::new(FindingKind::CoreDeadlock, text).at(&[*earlier, *later]));
        }
    }
    findings
}
