//! Names of what has none in a recipe. They depend on few other nodes, so that a change of a plan changes few lines.

use std::collections::HashMap;
use std::sync::Arc;

use crate::op::Recorded;
use crate::plan::recipe::function::Body;
use crate::plan::recipe::{Node, NodeKind, Recipe, StorageKind};

use super::{is_sync, what};

/// Names by index.
pub(super) struct Names {
    pub(super) symbols: Vec<String>,
    pub(super) streams: Vec<String>,
    /// Of operators: what they compute and a number, such as `aclnnMatmul.3`. Records and waits have theirs by event.
    pub(super) nodes: Vec<String>,
    pub(super) storages: Vec<String>,
    pub(super) events: Vec<String>,
    pub(super) externals: Vec<String>,
    /// The node that records each event.
    pub(super) records: Vec<Option<u32>>,
    /// The operators among the functions; none of one that this version of the crate does not know.
    pub(super) told: Vec<Option<Arc<Recorded>>>,
}

impl Names {
    /// Of a recipe with the bodies of its functions, or without any.
    pub(super) fn of(recipe: &Recipe, bodies: &[Body]) -> Self {
        let mut names = Self {
            symbols: recipe.symbols.iter().map(|symbol| plain(&symbol.name)).collect(),
            streams: recipe.tags.iter().map(|tag| plain(&tag.name)).collect(),
            nodes: Vec::new(),
            storages: Vec::new(),
            events: Vec::new(),
            externals: recipe.externals.iter().map(|name| plain(name)).collect(),
            records: vec![None; recipe.events.len()],
            told: recipe.functions.iter().zip(bodies).map(|(info, body)| body.operator(info).cloned()).collect(),
        };
        for (index, node) in recipe.nodes.iter().enumerate() {
            if let NodeKind::Record(event) = node.kind {
                names.records[event as usize] = Some(index as u32);
            }
        }
        let operators = operators(recipe);
        names.events = events(recipe, &operators, &names);
        names.nodes = nodes(recipe, operators, &names.events);
        names.storages = storages(recipe, &names.nodes);
        names
    }
}

/// The name itself where nothing else can be meant, else in quotes.
fn plain(name: &str) -> String {
    let usual = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if !name.is_empty() && name.chars().all(usual) { name.to_owned() } else { format!("{name:?}") }
}

/// Each kind of operator is counted for itself: one more of them moves only the numbers of its kind.
fn operators(recipe: &Recipe) -> Vec<Option<String>> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut name = |node: &Node| {
        let what = what(recipe, node);
        let count = counts.entry(what).or_default();
        *count += 1;
        format!("{}.{}", plain(what), *count - 1)
    };
    recipe.nodes.iter().map(|node| (!is_sync(node.kind)).then(|| name(node))).collect()
}

/// Events have their tag as name; others that of the operator that they come after.
fn events(recipe: &Recipe, operators: &[Option<String>], names: &Names) -> Vec<String> {
    let mut last: Vec<String> = names.streams.iter().map(|stream| format!("@{stream}:start")).collect();
    let mut after = vec!["@never".to_owned(); recipe.events.len()];
    for (node, operator) in recipe.nodes.iter().zip(operators) {
        match (node.kind, operator) {
            (NodeKind::Record(event), _) => after[event as usize].clone_from(&last[usize::from(node.tag)]),
            (_, Some(name)) => last[usize::from(node.tag)] = format!("@{name}"),
            _ => {}
        }
    }
    let bases = recipe.events.iter().zip(after);
    let bases = bases.map(|(event, after)| event.name.as_ref().map_or(after, |name| format!("{name:?}")));
    numbered(bases.collect())
}

/// The second of a name and those that follow get a number.
fn numbered(mut names: Vec<String>) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for name in &mut names {
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            *name = format!("{name}#{}", *count - 1);
        }
    }
    names
}

fn nodes(recipe: &Recipe, operators: Vec<Option<String>>, events: &[String]) -> Vec<String> {
    let sync = |node: &Node| match node.kind {
        NodeKind::Record(event) => format!("record {}", events[event as usize]),
        NodeKind::Wait(event) => format!("wait {}", events[event as usize]),
        _ => what(recipe, node).to_owned(),
    };
    let named = recipe.nodes.iter().zip(operators);
    named.map(|(node, operator)| operator.unwrap_or_else(|| sync(node))).collect()
}

/// Temporaries have the name of the operator that writes them first.
fn storages(recipe: &Recipe, nodes: &[String]) -> Vec<String> {
    let mut writers = vec![None; recipe.storages.len()];
    for (node, name) in recipe.nodes.iter().zip(nodes) {
        for access in recipe.accesses_of(node).iter().filter(|access| access.mode.writes()) {
            writers[recipe.storage_of(access.value) as usize].get_or_insert(name);
        }
    }
    let named = recipe.storages.iter().zip(writers).map(|(storage, writer)| match storage.kind {
        StorageKind::Input(input) => format!("in:{}", plain(&recipe.inputs[input as usize].name)),
        StorageKind::Output(output) => format!("out:{}", plain(&recipe.outputs[output as usize].name)),
        StorageKind::Constant(constant) => format!("const:{constant}"),
        StorageKind::Temporary | StorageKind::Once => {
            writer.map_or_else(|| "%unused".to_owned(), |name| format!("%{name}"))
        }
    });
    numbered(named.collect())
}
