//! Where two plans differ, for whoever compares a stored one with one that was built.

use std::fmt::Debug;

use crate::plan::dump::told_text;
use crate::plan::recipe::{Access, Cores, FunctionInfo, Node, NodeKind, ORIGIN, Recipe};
use crate::plan::symbols::dim::show_dims;

use super::codec::recipe_hash;

/// The first operator that differs and how, or the first other part; places in the caller's source do not count.
pub(crate) fn first_difference(a: &Recipe, b: &Recipe) -> Option<String> {
    if recipe_hash(a) == recipe_hash(b) {
        return None;
    }
    let text = operators(a, b).or_else(|| parts(a, b));
    Some(text.unwrap_or_else(|| "the plans differ in something that no operator uses".to_owned()))
}

fn differs(what: &str, a: impl Debug + PartialEq, b: impl Debug + PartialEq) -> Option<String> {
    let (a, b) = (format!("{a:?}"), format!("{b:?}"));
    (a != b).then(|| format!("{what} {a} in one and {b} in the other"))
}

#[inline(never)]
fn operators(a: &Recipe, b: &Recipe) -> Option<String> {
    for (index, (x, y)) in a.nodes.iter().zip(&b.nodes).enumerate() {
        if let Some(text) = node(a, x, b, y) {
            return Some(format!("operator #{index} ({}, {}): {text}", a.label(x), stream(a, x)));
        }
    }
    let (known, count, longer) = match a.nodes.len() < b.nodes.len() {
        true => (a.nodes.len(), b.nodes.len(), b),
        false => (b.nodes.len(), a.nodes.len(), a),
    };
    let next = longer.nodes.get(known)?;
    let (label, stream) = (longer.label(next), stream(longer, next));
    Some(format!("operator #{known} ({label}, {stream}): one plan ends before it, the other has {count}"))
}

fn stream(recipe: &Recipe, node: &Node) -> String {
    match node.tag {
        ORIGIN => "the origin stream".to_owned(),
        tag => format!("stream {:?}", recipe.tags[usize::from(tag)].name),
    }
}

#[inline(never)]
fn node(a: &Recipe, x: &Node, b: &Recipe, y: &Node) -> Option<String> {
    let (was, is) = (a.label(x), b.label(y));
    if was != is {
        return Some(format!("it is {was} in one and {is} in the other"));
    }
    attributes(a, x, b, y)
        .or_else(|| {
            let (was, is) = (stream(a, x), stream(b, y));
            (was != is).then(|| format!("it is on {was} in one and on {is} in the other"))
        })
        .or_else(|| differs("the core limit is", limit(a, x), limit(b, y)))
        .or_else(|| accesses(a, x, b, y))
}

#[inline(never)]
fn attributes(a: &Recipe, x: &Node, b: &Recipe, y: &Node) -> Option<String> {
    match (x.kind, y.kind) {
        (NodeKind::Foreign(p) | NodeKind::Host(p), NodeKind::Foreign(q) | NodeKind::Host(q)) => {
            function(&a.functions[p as usize], &b.functions[q as usize])
        }
        (NodeKind::Prefetch(p), NodeKind::Prefetch(q)) => {
            differs("it fetches", a.prefetches.get(p as usize), b.prefetches.get(q as usize))
        }
        // As bytes, which tell every number apart and are equal for the same one that is none.
        (x, y) if postcard::to_allocvec(&x) != postcard::to_allocvec(&y) => {
            Some(format!("its attributes are {x:?} in one and {y:?} in the other"))
        }
        _ => None,
    }
}

fn function(a: &FunctionInfo, b: &FunctionInfo) -> Option<String> {
    differs("its version is", a.version(), b.version())
        .or_else(|| differs("it needs", a.needs(), b.needs()))
        .or_else(|| told(a, b))
        .or_else(|| differs("its attributes are", a.attributes(), b.attributes()))
        .or_else(|| differs("it is told", a.later(), b.later()))
}

/// What operators of the library are told, where it is not the same.
fn told(a: &FunctionInfo, b: &FunctionInfo) -> Option<String> {
    let text = |info: &FunctionInfo| info.recorded().map(|recorded| told_text(recorded));
    let (was, is) = (text(a)?, text(b)?);
    (was != is).then(|| format!("it is told {was} in one and {is} in the other"))
}

fn limit(recipe: &Recipe, node: &Node) -> Option<Cores> {
    node.cores.checked_sub(1).and_then(|index| recipe.cores.get(usize::from(index)).copied())
}

#[inline(never)]
fn accesses(a: &Recipe, x: &Node, b: &Recipe, y: &Node) -> Option<String> {
    let (p, q) = (a.accesses_of(x), b.accesses_of(y));
    for (index, (x, y)) in p.iter().zip(q).enumerate() {
        let what = format!("access {index} is to");
        let (was, is) = (shape(a, *x), shape(b, *y));
        if was != is {
            return Some(format!("{what} {was} in one and to {is} in the other"));
        }
        if let Some(text) = differs(&what, place(a, *x), place(b, *y)) {
            return Some(text);
        }
    }
    differs("the number of its accesses is", p.len(), q.len())
}

/// Type, shape and strides.
fn shape(recipe: &Recipe, access: Access) -> String {
    let layout = recipe.layout_of(access.value);
    let dims = show_dims(&layout.dims, &recipe.symbol_names());
    let gaps = if layout.is_dense() { String::new() } else { format!(" with strides {:?}", layout.strides) };
    format!("{:?} {dims}{gaps}", layout.dtype)
}

fn place(recipe: &Recipe, access: Access) -> impl Debug + PartialEq + '_ {
    let value = &recipe.values[access.value as usize];
    let storage = &recipe.storages[value.storage as usize];
    (access.mode, access.value, value.storage, &value.offset, storage.kind, &storage.bytes)
}

#[inline(never)]
fn parts(a: &Recipe, b: &Recipe) -> Option<String> {
    each("symbol", &a.symbols, &b.symbols)
        .or_else(|| each("input", &a.inputs, &b.inputs))
        .or_else(|| each("output", &a.outputs, &b.outputs))
        .or_else(|| each("stream", &a.tags, &b.tags))
        .or_else(|| each("event", &a.events, &b.events))
        .or_else(|| each("external gate", &a.externals, &b.externals))
        .or_else(|| constants(a, b))
        .or_else(|| each("storage", &a.storages, &b.storages))
        .or_else(|| each("reservation", &a.reserved, &b.reserved))
        .or_else(|| differs("the prefetch cap is", a.prefetch_cap, b.prefetch_cap))
}

fn each<T: Debug + PartialEq>(what: &str, a: &[T], b: &[T]) -> Option<String> {
    let pairs = a.iter().zip(b).enumerate();
    let mut texts = pairs.filter_map(|(index, (x, y))| differs(&format!("{what} {index} is"), x, y));
    texts.next().or_else(|| differs(&format!("the number of {what}s is"), a.len(), b.len()))
}

fn constants(a: &Recipe, b: &Recipe) -> Option<String> {
    let index = a.constants.iter().zip(&b.constants).position(|(x, y)| x != y);
    index
        .map(|index| format!("constant {index} has other bytes"))
        .or_else(|| differs("the number of constants is", a.constants.len(), b.constants.len()))
}
