//! From a recipe to bytes.

use serde::Serialize;

use crate::plan::check::finding::Finding;
use crate::plan::recipe::callable::Callee;
use crate::plan::recipe::wire::CoresPart;
use crate::plan::recipe::{Node, Recipe};

use super::lints::FindingPart;

/// Bytes so far.
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    fn put(&mut self, item: &impl Serialize) {
        let bytes = std::mem::take(&mut self.0);
        self.0 = postcard::to_extend(item, bytes).expect("memory takes every byte, and no type here refuses");
    }

    fn list<'a, T: 'a, W: Serialize>(&mut self, items: &'a [T], wire: impl Fn(&'a T) -> W) {
        self.put(&items.len());
        items.iter().for_each(|item| self.put(&wire(item)));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.put(&bytes.len());
        self.0.extend_from_slice(bytes);
    }

    /// Everything but the places in the caller's source: what the hash of a recipe covers.
    fn recipe(&mut self, recipe: &Recipe) {
        self.list(&recipe.symbols, |symbol| symbol);
        self.list(&recipe.tags, |tag| tag);
        self.list(&recipe.events, |event| event);
        self.list(&recipe.externals, |external| external);
        self.list(&recipe.storages, |storage| storage);
        self.list(&recipe.layouts, |layout| layout);
        self.list(&recipe.values, |value| value);
        self.list(&recipe.accesses, |access| access);
        self.list(&recipe.nodes, |node| Node { place: 0, ..*node });
        self.list(&recipe.inputs, |input| input);
        self.list(&recipe.outputs, |output| output);
        self.put(&recipe.constants.len());
        recipe.constants.iter().for_each(|constant| self.bytes(constant));
        self.list(&recipe.functions, |function| function);
        self.list(&recipe.cores, |cores| CoresPart(*cores));
        self.list(&recipe.reserved, |reserved| reserved);
        self.list(&recipe.prefetches, |prefetch| prefetch);
        self.put(&recipe.prefetch_cap);
        self.list(&recipe.calls, |call| call);
        self.list(&recipe.choices, |choice| choice);
    }

    /// The plans that a recipe calls, with those that they call, then the recipe. Each says which of those before it
    /// it calls.
    pub(super) fn all(&mut self, callees: &[Callee], recipe: &Recipe) {
        let index = |callee: &Callee| callees.iter().position(|known| known.is(callee));
        self.put(&callees.len());
        for recipe in callees.iter().map(|callee| callee.0.recorded()).chain([recipe]) {
            let called: Vec<usize> = recipe.called.iter().filter_map(index).collect();
            self.list(&called, |index| *index);
            self.recipe(recipe);
        }
    }

    pub(super) fn places(&mut self, recipe: &Recipe) {
        self.list(&recipe.places.files, |file| file);
        self.list(&recipe.places.all, |place| place);
        self.list(&recipe.nodes, |node| node.place);
    }

    pub(super) fn lints(&mut self, lints: &[Finding]) {
        self.list(lints, |lint| FindingPart(lint.clone()));
    }
}
