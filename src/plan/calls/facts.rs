//! What a caller has to know of a plan.

use crate::plan::recipe::callable::{Callee, Facts, Param};
use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::{Input, Mode, Node, NodeKind, Recipe, StorageKind, Tag};

/// What is known of an input so far.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Whether its first use writes all of it.
    first: Option<bool>,
    reads: bool,
    writes: bool,
    stays: bool,
    aligned: bool,
}

impl Seen {
    fn param(self) -> Param {
        let mode = match self {
            Self { first: Some(true), .. } => Mode::Write,
            Self { writes: true, .. } => Mode::ReadWrite,
            Self { reads: true, .. } => Mode::Read,
            _ => Mode::Touch,
        };
        Param { mode, stays: self.stays, aligned: self.aligned }
    }
}

pub(crate) fn facts(recipe: &Recipe) -> Facts {
    let callees: Vec<&Facts> = recipe.called.iter().map(|callee| callee.0.facts()).collect();
    let (pieces, operators) = amounts(recipe, &callees);
    Facts {
        params: params(recipe),
        refused: refused(recipe),
        tags: tags(recipe, &callees),
        cores: recipe.cores.len() + callees.iter().map(|facts| facts.cores).sum::<usize>(),
        pieces,
        operators,
        depth: callees.iter().map(|facts| facts.depth + 1).max().unwrap_or(0),
        unnamed: recipe.functions.iter().any(|info| info.name.is_none()) || callees.iter().any(|facts| facts.unnamed),
    }
}

/// Pieces of all kinds, and work, with the calls written out.
fn amounts(recipe: &Recipe, callees: &[&Facts]) -> (u64, u64) {
    let own =
        [recipe.nodes.len(), recipe.accesses.len(), recipe.values.len(), recipe.storages.len(), recipe.events.len()];
    let mut pieces: u64 = own.iter().map(|count| *count as u64).sum();
    let mut operators = 0_u64;
    for node in recipe.nodes.iter().filter(|node| !node.kind.is_sync()) {
        let NodeKind::Call(call) = node.kind else {
            operators = operators.saturating_add(1);
            continue;
        };
        let info = &recipe.calls[call as usize];
        let (times, callee) = (u64::from(info.times), callees[info.callee as usize]);
        pieces = pieces.saturating_add(callee.pieces.saturating_mul(times));
        operators = operators.saturating_add(callee.operators.saturating_mul(times));
    }
    (pieces, operators)
}

fn tags(recipe: &Recipe, callees: &[&Facts]) -> Vec<Tag> {
    let mut all: Vec<Tag> = recipe.tags.iter().skip(1).cloned().collect();
    for tag in callees.iter().flat_map(|facts| &facts.tags) {
        if !all.contains(tag) {
            all.push(tag.clone());
        }
    }
    all
}

fn refused(recipe: &Recipe) -> Option<String> {
    for input in &recipe.inputs {
        let class = match input.class {
            Input::Host => "in host memory",
            Input::Updatable => "updatable",
            Input::Frozen | Input::Static | Input::Copied | Input::Tracked(_) => continue,
        };
        return Some(format!("its input {:?} is {class}", input.name));
    }
    if let Some(output) = recipe.outputs.iter().find(|output| output.host) {
        return Some(format!("its output {:?} goes to host memory", output.name));
    }
    recipe.externals.first().map(|gate| format!("it has the external gate {gate:?}"))
}

fn params(recipe: &Recipe) -> Vec<Param> {
    let mut seen = vec![Seen::default(); recipe.inputs.len()];
    for node in &recipe.nodes {
        let callee = callee_of(recipe, node).map(|callee| callee.0.facts());
        for (place, access) in recipe.accesses_of(node).iter().enumerate() {
            let storage = recipe.storage_of(access.value) as usize;
            let StorageKind::Input(input) = recipe.storages[storage].kind else { continue };
            let seen = &mut seen[input as usize];
            if let Some(param) = callee.and_then(|facts| facts.params.get(place)) {
                seen.stays |= param.stays;
                seen.aligned |= param.aligned;
            } else {
                seen.stays |= !matches!(node.kind, NodeKind::Op(_) | NodeKind::Foreign(_));
                seen.aligned |= node.kind == NodeKind::Copy;
            }
            if access.mode == Mode::Touch {
                continue;
            }
            seen.first.get_or_insert(access.mode == Mode::Write && is_whole(recipe, access.value));
            seen.reads |= access.mode.reads();
            seen.writes |= access.mode.writes();
        }
    }
    seen.into_iter().map(Seen::param).collect()
}

/// The plan that a node calls.
fn callee_of<'a>(recipe: &'a Recipe, node: &Node) -> Option<&'a Callee> {
    let NodeKind::Call(call) = node.kind else { return None };
    recipe.called.get(recipe.calls[call as usize].callee as usize)
}

/// Whether a value is certainly all of its storage.
fn is_whole(recipe: &Recipe, value: u32) -> bool {
    let (info, layout) = (&recipe.values[value as usize], recipe.layout_of(value));
    info.offset == Extent::Fixed(0)
        && layout.is_dense()
        && layout.bytes().as_ref() == Some(&recipe.storages[info.storage as usize].bytes)
}
