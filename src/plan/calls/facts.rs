//! What a caller has to know of a plan.

use std::borrow::Cow;

use crate::plan::recipe::callable::{Behind, Facts, Param};
use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::unread::is_unread;
use crate::plan::recipe::uses::Use;
use crate::plan::recipe::{Input, Mode, Node, NodeKind, Recipe, StorageKind, Tag};

use super::choices::own_pieces;
use super::params::{params_of_call, params_of_choice, pieces_of_call};

/// What is known of an input so far.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Whether its first use writes all of it.
    first: Option<bool>,
    reads: bool,
    writes: bool,
    stays: bool,
    aligned: bool,
    left: bool,
}

impl Seen {
    fn param(self) -> Param {
        let mode = match self {
            Self { first: Some(true), .. } => Mode::Write,
            Self { writes: true, .. } => Mode::ReadWrite,
            Self { reads: true, .. } => Mode::Read,
            _ => Mode::Touch,
        };
        Param { mode, stays: self.stays, aligned: self.aligned, left: self.left }
    }
}

/// `behind` is what the checks know of its inputs and outputs.
pub(crate) fn facts(recipe: &Recipe, behind: Vec<Behind>) -> Facts {
    let callees: Vec<&Facts> = recipe.called.iter().map(|callee| callee.0.facts()).collect();
    let (pieces, operators) = amounts(recipe, &callees);
    Facts {
        params: params(recipe),
        behind,
        refused: refused(recipe),
        tags: tags(recipe, &callees),
        cores: recipe.cores.len() + callees.iter().map(|facts| facts.cores).sum::<usize>(),
        pieces,
        operators,
        depth: callees.iter().map(|facts| facts.depth + 1).max().unwrap_or(0),
        chooses: !recipe.choices.is_empty() || callees.iter().any(|facts| facts.chooses),
        once: recipe.once(),
        unnamed: recipe.functions.iter().any(|info| info.name().is_none())
            || callees.iter().any(|facts| facts.unnamed),
    }
}

/// Pieces of all kinds, and work, with the calls written out.
fn amounts(recipe: &Recipe, callees: &[&Facts]) -> (u64, u64) {
    let own =
        [recipe.nodes.len(), recipe.accesses.len(), recipe.values.len(), recipe.storages.len(), recipe.events.len()];
    let mut pieces: u64 = own.iter().map(|count| *count as u64).sum();
    let mut operators = 0_u64;
    for node in recipe.nodes.iter().filter(|node| !node.kind.is_sync()) {
        let calls = match node.kind {
            NodeKind::Call(ref call) => std::slice::from_ref(call),
            NodeKind::Choose(choice) => {
                let choice = &recipe.choices[choice as usize];
                pieces = pieces.saturating_add(own_pieces(choice, usize::from(node.count)));
                &choice.arms
            }
            _ => {
                operators = operators.saturating_add(1);
                continue;
            }
        };
        for call in calls {
            let info = &recipe.calls[*call as usize];
            let (times, callee) = (u64::from(info.times), callees[info.callee as usize]);
            pieces = pieces.saturating_add(pieces_of_call(recipe, info));
            operators = operators.saturating_add(callee.operators.saturating_mul(times));
        }
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
    for (index, node) in recipe.nodes.iter().enumerate() {
        let known = params_of(recipe, node);
        for (place, access) in recipe.accesses_of(node).iter().enumerate() {
            let storage = recipe.storage_of(access.value) as usize;
            let StorageKind::Input(input) = recipe.storages[storage].kind else { continue };
            let seen = &mut seen[input as usize];
            if let Some(param) = known.get(place) {
                seen.stays |= param.stays;
                seen.aligned |= param.aligned;
            } else {
                seen.stays |= !matches!(node.kind, NodeKind::Foreign(_));
                seen.aligned |= node.kind == NodeKind::Copy;
            }
            let one = Use { node: index as u32, access: node.first + place as u32 };
            if access.mode == Mode::Touch || is_unread(recipe, &one) {
                continue;
            }
            // Asked where it matters, for an input may be read by all operators.
            let whole = || is_whole(recipe, access.value);
            seen.first.get_or_insert_with(|| access.mode.only_writes() && whole());
            let leaves = access.mode == Mode::Clobber || known.get(place).is_some_and(|param| param.left);
            seen.left = (leaves && whole()) || (seen.left && (leaves || !access.mode.writes()));
            seen.reads |= access.mode.reads();
            seen.writes |= access.mode.writes();
        }
    }
    seen.into_iter().map(Seen::param).collect()
}

/// What a node that calls plans does with its operands.
fn params_of<'a>(recipe: &'a Recipe, node: &Node) -> Cow<'a, [Param]> {
    match node.kind {
        NodeKind::Call(call) => params_of_call(recipe, &recipe.calls[call as usize]),
        NodeKind::Choose(choice) => Cow::Owned(params_of_choice(recipe, &recipe.choices[choice as usize])),
        _ => Cow::Borrowed(&[]),
    }
}

/// Whether a value is certainly all of its storage.
fn is_whole(recipe: &Recipe, value: u32) -> bool {
    let (info, layout) = (&recipe.values[value as usize], recipe.layout_of(value));
    info.offset == Extent::Fixed(0)
        && layout.is_dense()
        && layout.bytes().as_ref() == Some(&recipe.storages[info.storage as usize].bytes)
}
