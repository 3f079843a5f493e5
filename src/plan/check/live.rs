//! Whether two accesses to a storage that share bytes may run at once.

use std::collections::HashMap;

use crate::plan::effort::spend;
use crate::plan::layout::Extent;
use crate::plan::order::Order;
use crate::plan::ranges::{Range, may_overlap_in, range};
use crate::plan::recipe::Recipe;
use crate::plan::steps::Steps;
use crate::plan::uses::Use;

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

/// All accesses to the same bytes of the same form.
struct Form {
    value: u32,
    range: Range,
    /// None where symbols take part.
    steps: Option<Steps>,
    touched: Touched,
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
            forms.push(Form { value, range: range(recipe, value), steps, touched: Touched::default() });
        }
        let start = |form: u32| forms[form as usize].steps.as_ref().map_or(0, |steps| steps.start);
        spread.sort_by_key(|(form, _)| start(*form));
        let mut last = 0;
        for (_, end) in &mut spread {
            last = last.max(*end);
            *end = last;
        }
        Self { recipe, order, bounds: recipe.bounds(), by_place, forms, tree: Tree::new(ends), spread, symbolic }
    }

    fn form(&self, one: &Use) -> usize {
        self.by_place[&place(self.recipe, self.recipe.access(one).value)] as usize
    }

    fn note(&mut self, one: &Use) {
        let (index, writes) = (self.form(one), self.recipe.access(one).mode.writes());
        let form = &mut self.forms[index];
        form.touched.note(self.order, one.node, writes);
        if let Some(steps) = form.steps.as_ref().filter(|steps| steps.axes.is_empty()) {
            self.tree.note(self.order, &Access { node: one.node, writes, steps });
        }
    }

    /// Whether the use shares bytes with an earlier one that may run at once with it.
    fn is_open(&self, one: &Use) -> bool {
        let (form, writes) = (&self.forms[self.form(one)], self.recipe.access(one).mode.writes());
        let Some(steps) = &form.steps else {
            return (0..self.forms.len()).any(|other| self.meets(one.node, writes, form, other));
        };
        if steps.is_empty() {
            return false;
        }
        let end = steps.end();
        let below = self.spread.partition_point(|(other, _)| {
            self.forms[*other as usize].steps.as_ref().is_some_and(|other| other.start < end)
        });
        let near = self.spread[..below].iter().rev().take_while(|(_, last)| *last > steps.start);
        let mut others = near.map(|(other, _)| other).chain(&self.symbolic);
        self.tree.is_open(self.order, &Access { node: one.node, writes, steps })
            || others.any(|other| self.meets(one.node, writes, form, *other as usize))
    }

    fn meets(&self, node: u32, writes: bool, form: &Form, other: usize) -> bool {
        if !spend(1) {
            return true;
        }
        let other = &self.forms[other];
        if !other.touched.is_open(self.order, node, writes) {
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
