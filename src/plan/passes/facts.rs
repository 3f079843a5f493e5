//! What passes ask of a recipe.

use crate::plan::checked::Form;
use crate::plan::overlap::ranges::may_overlap;
use crate::plan::recipe::function::works_together;
use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::uses::Use;
use crate::plan::recipe::{Access, FunctionKind, Mode, Node, NodeKind, Recipe, StorageKind};

use super::called::Called;
use super::made::Lacking;

/// A checked plan with what is known of it.
pub(super) struct Facts<'a> {
    pub(super) plan: &'a Form,
    pub(super) recipe: &'a Recipe,
    /// Of the symbols.
    pub(super) bounds: Vec<(u64, u64)>,
    /// Storages that work beside the plan may use, which `record_stream` tells.
    reserved: Vec<bool>,
    /// Storages of which something is prefetched.
    touched: Vec<bool>,
    /// Work that tells somebody outside how far the plan is, or is told something: inputs may be others then. By
    /// stream, in the order of each.
    gates: Vec<Vec<u32>>,
    /// Whether foreign operators only compute.
    pub(super) foreign: bool,
    /// Operators that no pass may make.
    pub(super) lacking: Lacking,
}

/// Uses of one memory that are looked at; memory with more of them may change at any time.
pub(super) const MOST_USES: usize = 10_000;

impl<'a> Facts<'a> {
    pub(super) fn of(plan: &'a Form, (foreign, lacking): (bool, Lacking)) -> Self {
        let recipe = &plan.recipe;
        let mut reserved = vec![false; recipe.storages.len()];
        recipe.reserved.iter().for_each(|(storage, _)| reserved[*storage as usize] = true);
        let mut touched = vec![false; recipe.storages.len()];
        for access in recipe.accesses.iter().filter(|access| access.mode == Mode::Touch) {
            touched[recipe.storage_of(access.value) as usize] = true;
        }
        let is_gate = |index: &u32| {
            recipe.has_inside(recipe.nodes[*index as usize].kind, |_, kind| {
                matches!(kind, NodeKind::ExternalWait(_) | NodeKind::ExternalRecord(_) | NodeKind::Host(_))
            })
        };
        let mut gates = vec![Vec::new(); recipe.tags.len()];
        for index in (0..recipe.nodes.len() as u32).filter(is_gate) {
            gates[usize::from(recipe.nodes[index as usize].tag)].push(index);
        }
        gates.retain(|of_stream| !of_stream.is_empty());
        Self { plan, recipe, bounds: recipe.bounds(), reserved, touched, gates, foreign, lacking }
    }

    /// Whether all that a node does is to compute what it writes, from what it reads and is told.
    pub(super) fn only_computes(&self, node: &Node) -> bool {
        match node.kind {
            NodeKind::Copy | NodeKind::FillBytes(_) => true,
            NodeKind::Foreign(function) => {
                let info = &self.recipe.functions[function as usize];
                match (info.kind(), info.name()) {
                    (FunctionKind::Operator, Some(name)) => !works_together(name),
                    (FunctionKind::Foreign, Some(_)) => self.foreign,
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// The name in C of the operator of a node, and what it is told.
    pub(super) fn called(&self, node: u32) -> Option<Called<'a>> {
        Called::of(self.plan, &self.recipe.nodes[node as usize])
    }

    pub(super) fn overlap(&self, a: u32, b: u32) -> bool {
        may_overlap(self.recipe, a, b, &self.bounds)
    }

    pub(super) fn kind(&self, value: u32) -> StorageKind {
        self.recipe.storages[self.recipe.storage_of(value) as usize].kind
    }

    /// Whether a value is memory that is written once, when an executable is made.
    pub(super) fn is_once(&self, value: u32) -> bool {
        self.kind(value) == StorageKind::Once
    }

    /// Whether a value is memory of the plan alone.
    pub(super) fn is_temporary(&self, value: u32) -> bool {
        self.kind(value) == StorageKind::Temporary && !self.reserved[self.recipe.storage_of(value) as usize]
    }

    /// Whether some of the memory of a value is prefetched.
    pub(super) fn is_touched(&self, value: u32) -> bool {
        self.touched[self.recipe.storage_of(value) as usize]
    }

    /// Whether two values are the same part of the same memory, seen alike.
    pub(super) fn is_same(&self, a: u32, b: u32) -> bool {
        self.recipe.values[a as usize] == self.recipe.values[b as usize]
    }

    /// Whether a value is all of its memory, without gaps.
    pub(super) fn is_whole(&self, value: u32) -> bool {
        let (info, layout) = (&self.recipe.values[value as usize], self.recipe.layout_of(value));
        info.offset == Extent::Fixed(0)
            && layout.is_dense()
            && layout.bytes().as_ref() == Some(&self.recipe.storages[info.storage as usize].bytes)
    }

    /// Whether this is the one write to a temporary, all of it: nobody else changes it.
    pub(super) fn is_fresh(&self, access: &Access) -> bool {
        let writes = || {
            let uses = self.plan.uses.storage(self.recipe.storage_of(access.value));
            uses.iter().filter(|one| self.recipe.access(one).mode.writes())
        };
        access.mode == Mode::Write
            && self.is_temporary(access.value)
            && self.is_whole(access.value)
            && writes().take(2).count() == 1
    }

    /// Whether all that a node writes is fresh, and it writes something.
    pub(super) fn writes_fresh(&self, node: &Node) -> bool {
        let mut writes = self.recipe.accesses_of(node).iter().filter(|one| one.mode != Mode::Read).peekable();
        writes.peek().is_some() && writes.all(|one| self.is_fresh(one))
    }

    /// Whether nobody but a later node itself uses the memory of a value from the start of an earlier one on, until the
    /// later one is done.
    pub(super) fn is_unused(&self, value: u32, earlier: u32, later: u32) -> bool {
        let order = &self.plan.order;
        let between = |node: u32| !order.before(node, earlier) && !order.before(later, node);
        let uses = self.plan.uses.storage(self.recipe.storage_of(value));
        let used =
            |one: &Use| one.node != later && between(one.node) && self.overlap(value, self.recipe.access(one).value);
        !self.is_seen_between(value, earlier, later) && uses.len() <= MOST_USES && !uses.iter().any(used)
    }

    /// Whether somebody outside may use the memory of a value, told by work between two nodes.
    fn is_seen_between(&self, value: u32, earlier: u32, later: u32) -> bool {
        let order = &self.plan.order;
        if self.reserved[self.recipe.storage_of(value) as usize] {
            // By work that the plan does not know.
            return true;
        }
        let outside = matches!(self.kind(value), StorageKind::Input(_) | StorageKind::Output(_));
        // Of those of a stream, the first are before the earlier node and the last behind the later one.
        let between = |gates: &Vec<u32>| {
            let first = gates.partition_point(|gate| order.before(*gate, earlier));
            gates.get(first).is_some_and(|gate| !order.before(later, *gate))
        };
        outside && self.gates.iter().any(between)
    }

    /// Whether the bytes of a value may differ between the start of one node and that of another one behind it.
    pub(super) fn may_change(&self, value: u32, earlier: u32, later: u32) -> bool {
        let order = &self.plan.order;
        let between = |node: u32| !order.before(node, earlier) && !order.before(later, node);
        if self.is_seen_between(value, earlier, later) {
            return true;
        }
        let uses = self.plan.uses.storage(self.recipe.storage_of(value));
        if uses.len() > MOST_USES {
            return true;
        }
        uses.iter().any(|one| {
            let access = self.recipe.access(one);
            access.mode.writes() && between(one.node) && self.overlap(value, access.value)
        })
    }
}
