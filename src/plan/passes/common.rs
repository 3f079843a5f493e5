//! The same work done twice.

use std::collections::HashMap;

use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::{Mode, Node, NodeKind, Recipe};

use super::edit::Edit;
use super::facts::Facts;

pub(super) const NAME: &str = "common_values";

/// Earlier work of one key that is looked at.
const MOST_COMPARED: usize = 16;

/// What must be equal for the same result: what is done, and with which values.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    what: What,
    cores: u16,
    accesses: Vec<(Mode, Operand)>,
}

#[derive(PartialEq, Eq, Hash)]
enum What {
    /// The first function that is told the same, by the bits of numbers: 0.0 and -0.0 differ.
    Function(u32),
    Other(String),
}

#[derive(PartialEq, Eq, Hash)]
enum Operand {
    /// Storage, layout and offset.
    Read(u32, u32, Extent),
    /// The layout of new memory.
    Written(u32),
}

/// Leaves out work that has been done already, and uses the first result in place of the others.
#[inline(never)]
pub(super) fn run(facts: &Facts<'_>) -> Edit {
    let recipe = facts.recipe;
    let mut edit = Edit::of(recipe);
    let mut known: HashMap<Key, Vec<u32>> = HashMap::new();
    let functions = functions(recipe);
    for (index, node) in recipe.nodes.iter().enumerate() {
        if !facts.only_computes(node) || !facts.writes_fresh(node) {
            continue;
        }
        let index = index as u32;
        let same = known.entry(key(recipe, (&functions, &edit), node)).or_default();
        match same.iter().find(|first| serves(facts, &edit, **first, index)) {
            Some(first) => {
                let first = *first;
                edit.remove(recipe, NAME, index, "its result is that of", Some(first));
                let pairs = recipe.accesses_of(node).iter().zip(recipe.accesses_of(&recipe.nodes[first as usize]));
                for (own, other) in pairs.filter(|(own, _)| own.mode.writes()) {
                    edit.replace(recipe.storage_of(own.value), recipe.storage_of(other.value));
                }
            }
            None if same.len() < MOST_COMPARED => same.push(index),
            None => {}
        }
    }
    edit
}

/// The first of those that are the same, for each function.
fn functions(recipe: &Recipe) -> Vec<u32> {
    let mut first = HashMap::new();
    (0..).zip(&recipe.functions).map(|(index, info)| *first.entry(info).or_insert(index)).collect()
}

fn key(recipe: &Recipe, (functions, edit): (&[u32], &Edit), node: &Node) -> Key {
    let what = match node.kind {
        NodeKind::Foreign(function) => What::Function(functions[function as usize]),
        kind => What::Other(format!("{kind:?}")),
    };
    let operand = |value: u32, mode: Mode| {
        let info = &recipe.values[value as usize];
        match mode {
            Mode::Write | Mode::Clobber => Operand::Written(info.layout),
            _ => Operand::Read(edit.storage(info.storage), info.layout, info.offset.clone()),
        }
    };
    let accesses = recipe.accesses_of(node).iter().map(|one| (one.mode, operand(one.value, one.mode)));
    Key { what, cores: node.cores, accesses: accesses.collect() }
}

/// Whether `first` is done before `later` starts, and read the same bytes. What it wrote nobody changes. Nor does
/// anybody change a result that was replaced: it is written once, before both read it or what is in its place.
fn serves(facts: &Facts<'_>, edit: &Edit, first: u32, later: u32) -> bool {
    let recipe = facts.recipe;
    let replaced = |value| edit.storage(recipe.storage_of(value)) != recipe.storage_of(value);
    let mut reads = recipe.accesses_of(&recipe.nodes[later as usize]).iter().filter(|one| one.mode.reads());
    facts.plan.order.before(first, later)
        && !reads.any(|one| !replaced(one.value) && facts.may_change(one.value, first, later))
}
