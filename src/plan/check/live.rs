//! Whether two accesses to a storage that share bytes may run at once.

use std::collections::HashMap;

use crate::plan::order::Order;
use crate::plan::overlap::ranges::{Range, may_overlap_in, range};
use crate::plan::overlap::steps::Steps;
use crate::plan::recipe::Recipe;
use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::uses::Use;
use crate::plan::symbols::effort::spend;
use crate::sort;

use super::groups;
use super::marks::Touched;
use super::tree::{Access, Tree};

/// The first use that comes in no order with an earlier one of the same bytes, where one of the two writes.
pub(super) fn first_unordered(recipe: &Recipe, order: &Order, uses: &[Use]) -> Option<usize> {
    // Most storages are used in a proper order as a whole: then no bytes need to be looked at.
    let mut all = Touched::default();
    let first = uses.iter().position(|one| {
        let writes = recipe.access(one).mode.writes();
        let open = all.is_open(order, one.node, writes);
        all.note(order, one.node, writes);
        open
    })?;
    let mut live = Live::new(recipe, order, uses);
    for (index, one) in uses.iter().enumerate() {
        if index >= first && live.is_open(one) {
            return Some(index);
        }
        live.note(one);
    }
    None
}

/// Forms of a larger group are sought by their first bytes, where these are known.
const SMALL_GROUP: usize = 64;

/// All accesses to the same bytes of the same form.
struct Form {
    value: u32,
    range: Range,
    /// None where symbols take part.
    steps: Option<Steps>,
    /// Forms of different groups have no byte in common; none for one that may share some with any.
    group: Option<u32>,
    touched: Touched,
}

impl Form {
    /// Whether the tree has it.
    fn has_no_gaps(&self) -> bool {
        self.steps.as_ref().is_some_and(|steps| steps.axes.is_empty())
    }
}

/// Forms that are compared with each other.
#[derive(Clone, Default)]
struct Group {
    all: Vec<u32>,
    /// Those that are not in the tree.
    others: Vec<u32>,
}

impl Group {
    fn push(&mut self, index: u32, form: &Form) {
        self.all.push(index);
        if !form.has_no_gaps() {
            self.others.push(index);
        }
    }
}

struct Live<'a> {
    recipe: &'a Recipe,
    order: &'a Order,
    bounds: Vec<(u64, u64)>,
    by_place: HashMap<(u32, &'a Extent), u32>,
    forms: Vec<Form>,
    /// Forms without gaps.
    tree: Tree,
    /// Forms with gaps by first byte, each with the last end so far.
    spread: Vec<(u32, u64)>,
    /// Forms with symbols.
    symbolic: Vec<u32>,
    groups: Vec<Group>,
    /// Forms without a group.
    loose: Group,
    /// Every access.
    all: Touched,
}

impl<'a> Live<'a> {
    fn new(recipe: &'a Recipe, order: &'a Order, uses: &[Use]) -> Self {
        let (mut by_place, mut forms) = (HashMap::new(), Vec::<Form>::new());
        let (mut ends, mut spread, mut symbolic) = (Vec::new(), Vec::new(), Vec::new());
        for one in uses {
            let value = recipe.access(one).value;
            let index = forms.len() as u32;
            if *by_place.entry(place(recipe, value)).or_insert(index) != index {
                continue;
            }
            let steps = Steps::of(recipe, value, &[]);
            match &steps {
                None => symbolic.push(index),
                Some(steps) if steps.axes.is_empty() => ends.extend([steps.start, steps.end()]),
                Some(steps) => spread.push((index, steps.end())),
            }
            let (range, touched) = (range(recipe, value), Touched::default());
            forms.push(Form { value, range, steps, group: None, touched });
        }
        let start = |form: u32| forms[form as usize].steps.as_ref().map_or(0, |steps| steps.start);
        sort::by_key(&mut spread, |(form, _)| start(*form));
        let mut last = 0;
        for (_, end) in &mut spread {
            last = last.max(*end);
            *end = last;
        }
        let (bounds, tree) = (recipe.bounds(), Tree::new(ends));
        let (mut groups, mut loose) = (Vec::new(), Group::default());
        // Those without gaps alone are found by the tree.
        if !spread.is_empty() || !symbolic.is_empty() {
            let values: Vec<u32> = forms.iter().map(|form| form.value).collect();
            let (of, count) = groups::groups(recipe, &values, &bounds);
            groups.resize(count, Group::default());
            for ((index, form), group) in (0..).zip(&mut forms).zip(of) {
                form.group = group;
                group.map_or(&mut loose, |group| &mut groups[group as usize]).push(index, form);
            }
        }
        let all = Touched::default();
        Self { recipe, order, bounds, by_place, forms, tree, spread, symbolic, groups, loose, all }
    }

    fn form(&self, one: &Use) -> usize {
        self.by_place[&place(self.recipe, self.recipe.access(one).value)] as usize
    }

    fn note(&mut self, one: &Use) {
        let (index, writes) = (self.form(one), self.recipe.access(one).mode.writes());
        let form = &mut self.forms[index];
        form.touched.note(self.order, one.node, writes);
        self.all.note(self.order, one.node, writes);
        if let Some(steps) = form.steps.as_ref().filter(|steps| steps.axes.is_empty()) {
            self.tree.note(self.order, &Access { node: one.node, writes, steps });
        }
    }

    /// Whether the use shares bytes with an earlier one that may run at once with it.
    fn is_open(&self, one: &Use) -> bool {
        let (form, writes) = (&self.forms[self.form(one)], self.recipe.access(one).mode.writes());
        if !self.all.is_open(self.order, one.node, writes) {
            return false;
        }
        let meets = |other: &u32| self.meets(one.node, writes, form, *other as usize);
        let group = form.group.map(|group| &self.groups[group as usize]);
        let Some(steps) = &form.steps else {
            return match group {
                Some(group) => group.all.iter().chain(&self.loose.all).any(meets),
                None => (0..self.forms.len() as u32).any(|other| meets(&other)),
            };
        };
        if steps.is_empty() {
            return false;
        }
        if self.tree.is_open(self.order, &Access { node: one.node, writes, steps }) {
            return true;
        }
        match group {
            Some(group) if group.others.len() <= SMALL_GROUP => {
                group.others.iter().chain(&self.loose.others).any(meets)
            }
            _ => self.near(steps).chain(&self.symbolic).any(meets),
        }
    }

    /// Forms with gaps that have bytes on both sides of one of these.
    fn near(&self, steps: &Steps) -> impl Iterator<Item = &u32> {
        let (start, end) = (steps.start, steps.end());
        let below = self.spread.partition_point(|(other, _)| {
            self.forms[*other as usize].steps.as_ref().is_some_and(|other| other.start < end)
        });
        self.spread[..below].iter().rev().take_while(move |(_, last)| *last > start).map(|(other, _)| other)
    }

    fn meets(&self, node: u32, writes: bool, form: &Form, other: usize) -> bool {
        if !spend(1) {
            return true;
        }
        let other = &self.forms[other];
        let is_apart = form.group.is_some() && other.group.is_some() && form.group != other.group;
        if is_apart || !other.touched.is_open(self.order, node, writes) {
            return false;
        }
        match (&form.steps, &other.steps) {
            (Some(a), Some(b)) => a.common(b) != Ok(None),
            _ => {
                let (a, b) = ((form.value, &form.range), (other.value, &other.range));
                may_overlap_in(self.recipe, a, b, &self.bounds)
            }
        }
    }
}

/// Layout and offset.
fn place(recipe: &Recipe, value: u32) -> (u32, &Extent) {
    let info = &recipe.values[value as usize];
    (info.layout, &info.offset)
}
