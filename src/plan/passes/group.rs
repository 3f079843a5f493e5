//! Work that one operator can do: found from its last node backwards, and what must hold for it.

use crate::op::DataType;
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::recipe::{Access, StorageKind};
use crate::plan::symbols::dim::Dim;

use super::called::Called;
use super::edit::Edit;
use super::facts::Facts;
use super::replacing::Replacing;

/// Readers of one result that are looked at: inner results of what is looked for have few.
const MOST_READERS: usize = 32;

/// The nodes of a group without its last one.
#[derive(Clone)]
pub(super) struct Group<'f> {
    pub(super) facts: &'f Facts<'f>,
    last: u32,
    inner: Vec<u32>,
}

impl<'f> Group<'f> {
    pub(super) fn of(facts: &'f Facts<'f>, last: u32) -> Self {
        Self { facts, last, inner: Vec::new() }
    }

    /// The operator that makes what is read, all of it and as it is read, when it is one of these; it joins the group.
    pub(super) fn made_by(&mut self, read: Access, names: &[&str]) -> Option<Called<'f>> {
        let recipe = self.facts.recipe;
        let uses = self.facts.plan.uses.storage(recipe.storage_of(read.value));
        if uses.len() > MOST_READERS {
            return None;
        }
        let write = uses.iter().find(|one| recipe.access(one).mode.writes())?;
        let written = recipe.access(write);
        let call = self.facts.called(write.node).filter(|call| call.is(names))?;
        if write.node >= self.last || !self.facts.is_fresh(&written) || !self.facts.is_same(written.value, read.value)
        {
            return None;
        }
        if !self.inner.contains(&write.node) {
            self.inner.push(write.node);
        }
        Some(call)
    }

    /// The same where some operator makes it; what is read itself where none of these does.
    pub(super) fn through(
        &mut self,
        read: Access,
        name: &str,
        fits: impl Fn(&Called<'f>) -> Option<Access>,
    ) -> Access {
        let mut longer = self.clone();
        match longer.made_by(read, &[name]).and_then(|call| fits(&call)) {
            Some(from) => {
                *self = longer;
                from
            }
            None => read,
        }
    }

    /// Whether the last node can do all of it: nobody else reads what the others make, but those of `kept`, which the
    /// last node makes, after it; all are on one stream with one limit of cores, what they read stays as it is until
    /// the last one starts, and is not what that writes.
    pub(super) fn is_closed(&self, kept: &[u32]) -> bool {
        let (facts, recipe) = (self.facts, self.facts.recipe);
        let node = |index: u32| &recipe.nodes[index as usize];
        let all = || self.inner.iter().chain([&self.last]).copied();
        let own = |index: u32| index == self.last || self.inner.contains(&index);
        let accesses = |index: u32| recipe.accesses_of(node(index)).iter();
        let writes = |index: u32| accesses(index).filter(|one| one.mode.writes()).map(move |one| (index, one));
        let inner_writes = || self.inner.iter().flat_map(|index| writes(*index));
        let storage = |value: u32| recipe.storage_of(value);
        let is_inner = |value: u32| inner_writes().any(|(_, one)| storage(one.value) == storage(value));
        let is_written_last = |value: u32| {
            kept.iter().any(|kept| storage(*kept) == storage(value))
                || accesses(self.last).any(|one| one.mode.writes() && storage(one.value) == storage(value))
        };
        let before = |a, b| facts.plan.order.before(a, b);
        let is_hidden = |(writer, one): (u32, &Access)| {
            let users = || facts.plan.uses.storage(storage(one.value)).iter().map(|one| one.node);
            let is_kept = kept.iter().any(|kept| storage(*kept) == storage(one.value));
            facts.is_fresh(one)
                && !facts.is_touched(one.value)
                && users().all(|user| own(user) || (is_kept && before(self.last, user)))
                && users().all(|user| user == writer || before(writer, user))
        };
        let stays = |index: u32, value: u32| index == self.last || !facts.may_change(value, index, self.last);
        all().all(|index| (node(index).tag, node(index).cores) == (node(self.last).tag, node(self.last).cores))
            && all().all(|index| facts.only_computes(node(index)))
            && inner_writes().all(is_hidden)
            && all().all(|index| {
                let mut outside = accesses(index).filter(|one| one.mode.reads() && !is_inner(one.value));
                outside.all(|one| !is_written_last(one.value) && stays(index, one.value))
            })
    }

    /// Whether some of it is part of what an edit changes already.
    pub(super) fn is_taken(&self, edit: &Edit) -> bool {
        self.inner.iter().chain([&self.last]).any(|node| edit.changes_node(*node))
    }

    /// How many nodes it has besides the last one.
    pub(super) fn len(&self) -> usize {
        self.inner.len()
    }

    /// Whether one of the nodes besides the last one writes to a storage.
    pub(super) fn makes(&self, storage: u32) -> bool {
        let recipe = self.facts.recipe;
        let mut writes = self.inner.iter().flat_map(|index| recipe.accesses_of(&recipe.nodes[*index as usize]));
        writes.any(|one| one.mode.writes() && recipe.storage_of(one.value) == storage)
    }

    /// Leaves all but the last node out, and lets that do the work; not where it would read what one of them makes, nor
    /// where the library lacks the operator.
    pub(super) fn replace(&self, edit: &mut Edit, pass: &'static str, why: &'static str, replacing: Replacing) {
        let storage = |one: &Access| edit.storage_of(self.facts.recipe, one.value);
        let reads_own = replacing.accesses.iter().any(|one| one.mode.reads() && self.makes(storage(one)));
        if !reads_own && !self.facts.lacking.has(replacing.recorded.name()) {
            self.leave_out(edit, pass, why);
            edit.call(self.facts.recipe, self.last, replacing);
        }
    }

    fn leave_out(&self, edit: &mut Edit, pass: &'static str, why: &'static str) {
        let mut inner = self.inner.clone();
        inner.sort_unstable();
        inner.into_iter().for_each(|node| edit.remove(self.facts.recipe, pass, node, why, Some(self.last)));
    }

    /// Whether a value is a constant of the plan.
    pub(super) fn constant(&self, value: u32) -> Option<&'f [u8]> {
        match self.facts.kind(value) {
            StorageKind::Constant(constant) => Some(&self.facts.recipe.constants[constant as usize]),
            _ => None,
        }
    }
}

/// Both orders of two operands.
pub(super) fn orders(call: &Called<'_>) -> Option<[(Access, Access); 2]> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    Some([(a, b), (b, a)])
}

pub(super) fn dtype(facts: &Facts<'_>, value: u32) -> DataType {
    facts.recipe.layout_of(value).dtype
}

pub(super) fn dims<'f>(facts: &Facts<'f>, value: u32) -> &'f [Dim] {
    &facts.recipe.layout_of(value).dims
}

/// Both halves of a value in a dimension: whether these are views of it, or what an operator splits it into.
pub(super) fn are_halves(facts: &Facts<'_>, whole: u32, (first, second): (u32, u32), dim: usize) -> bool {
    halved(facts, whole, first, dim).is_some_and(|step| {
        let (values, at) = (&facts.recipe.values, |value: u32| &facts.recipe.values[value as usize]);
        let (a, b) = (at(first), at(second));
        values[whole as usize].offset == a.offset
            && (a.storage, a.layout) == (b.storage, b.layout)
            && a.offset.plus(&step).as_ref() == Some(&b.offset)
    })
}

/// Bytes between two halves in a dimension, where a value has the layout of one.
fn halved(facts: &Facts<'_>, whole: u32, half: u32, dim: usize) -> Option<Extent> {
    let (all, part) = (facts.recipe.layout_of(whole), facts.recipe.layout_of(half));
    let fits = facts.recipe.storage_of(whole) == facts.recipe.storage_of(half)
        && (all.dtype, &all.strides) == (part.dtype, &part.strides)
        && doubled(part, dim).is_some_and(|layout| layout.dims == all.dims);
    if fits { step(part, dim) } else { None }
}

/// Bytes from the first element to what would be next in a dimension.
pub(super) fn step(layout: &Layout, dim: usize) -> Option<Extent> {
    let elements = Extent::of_dim(*layout.dims.get(dim)?)?.times(&layout.strides[dim])?;
    elements.times(&Extent::Fixed(layout.dtype.size() as u64))
}

/// The layout with twice the size in a dimension.
pub(super) fn doubled(layout: &Layout, dim: usize) -> Option<Layout> {
    let mut layout = layout.clone();
    let size = layout.dims.get_mut(dim)?;
    *size = (*size * 2).usable().ok()?;
    Some(layout)
}
