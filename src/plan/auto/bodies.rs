//! Plans that call others: the work of each plan that is called overlaps by itself, once, and the calls stay.

use std::time::Duration;

use crate::error::Result;
use crate::plan::Plan;
use crate::plan::builder::Built;
use crate::plan::calls;
use crate::plan::recipe::callable::{CallInfo, Callee};
use crate::plan::recipe::{NodeKind, Recipe, StorageKind, is_updatable};
use crate::plan::spread::is_on_one_stream;

use super::report::Report;
use super::{Auto, Overlapped, fetch};

/// How each call is made, in the order of issue.
fn calls(recipe: &Recipe) -> impl Iterator<Item = &CallInfo> {
    recipe.nodes.iter().filter_map(|node| match node.kind {
        NodeKind::Call(call) => Some(&recipe.calls[call as usize]),
        _ => None,
    })
}

/// Whether some plan can be changed by itself: there are calls, and no streams that theirs would come beside.
pub(super) fn has_some(recipe: &Recipe) -> bool {
    calls(recipe).any(|info| !info.collapsed) && is_on_one_stream(recipe) && !fetch::has_some(recipe)
}

/// What becomes of a plan that is called, and how much sooner one run of it ends.
struct Better {
    callee: u32,
    sooner: Duration,
}

/// The plan with what becomes of those that it calls. `report` is that of the plan as it was.
pub(super) fn overlap(plan: &Plan, auto: &Auto, symbols: &[u64], mut report: Report) -> Result<Overlapped> {
    let old = &plan.0.recorded;
    let mut recipe = old.recipe.clone();
    let (mut seen, mut better) = (Vec::new(), Vec::new());
    for info in calls(&old.recipe) {
        if info.collapsed || seen.contains(&info.callee) || is_chosen(&old.recipe, info.callee) {
            continue;
        }
        seen.push(info.callee);
        let Some(body) = Plan::of_callee(&recipe.called[info.callee as usize]) else { continue };
        let found = body.overlap(&auto.of_body(&old.recipe, info, symbols))?;
        if found.plan.callee().is(&body.callee()) {
            report.add(found.report);
        } else if put(&mut recipe, info.callee, found.plan.callee()) {
            let sooner = found.report.before.saturating_sub(found.report.after);
            better.push(Better { callee: info.callee, sooner });
            report.add(found.report);
        } else {
            report.add(found.report.too_large());
        }
    }
    let sooner = |info: &CallInfo| {
        let known = better.iter().find(|one| one.callee == info.callee);
        known.map_or(Duration::ZERO, |one| one.sooner.saturating_mul(info.times))
    };
    report.after = report.before.saturating_sub(calls(&old.recipe).map(sooner).sum());
    if better.is_empty() {
        return Ok(Overlapped { plan: plan.clone(), report });
    }
    let lints = plan.0.lints.iter().filter_map(|lint| lint.moved((&old.recipe, &recipe), Some)).collect();
    let built = Built { plan: plan.0.id, recipe, bodies: old.bodies.clone(), lints };
    let plan = Plan::of_changed(built, plan.0.changes.clone())?;
    report.arena.1 = super::change::arena(&plan, symbols)?;
    Ok(Overlapped { plan, report })
}

/// Whether a choice or a loop has a plan, all of whose work goes to one stream.
fn is_chosen(recipe: &Recipe, callee: u32) -> bool {
    let mut arms = recipe.choices.iter().flat_map(|choice| &choice.arms);
    arms.any(|arm| recipe.calls[*arm as usize].callee == callee)
}

/// Puts a plan in the place of another that is called, unless some call would not fit then, or all be too large.
pub(super) fn put(recipe: &mut Recipe, callee: u32, plan: Callee) -> bool {
    let before = std::mem::replace(&mut recipe.called[callee as usize], plan);
    let fits = fits(recipe);
    if !fits {
        recipe.called[callee as usize] = before;
    }
    fits
}

/// Whether all calls fit what they call, and all of it together is no larger than a plan can be.
fn fits(recipe: &Recipe) -> bool {
    recipe.nodes.iter().all(|node| match node.kind {
        NodeKind::Call(call) => {
            let info = &recipe.calls[call as usize];
            calls::check_info(recipe, info).is_ok()
                && calls::check_operands(recipe, info, recipe.accesses_of(node)).is_ok()
        }
        _ => true,
    }) && calls::check_whole(recipe).is_ok()
}

impl Auto {
    /// The same for a plan that `recipe` calls, for the sizes that it has there.
    fn of_body(&self, recipe: &Recipe, info: &CallInfo, symbols: &[u64]) -> Self {
        let called = recipe.called[info.callee as usize].0.recorded();
        let values =
            info.symbols.iter().map(|size| size.value(symbols).and_then(|value| usize::try_from(value).ok()));
        let sizes = called.symbols.iter().zip(values);
        let at = sizes.filter_map(|(symbol, value)| Some((symbol.name.clone(), value?))).collect();
        let inputs = 0..called.inputs.len();
        let is_bound =
            |input: &usize| operands(recipe, info.callee, *input).any(|value| self.is_bound(recipe, value));
        let bound = inputs.filter(is_bound).map(|input| input as u32).collect();
        Self { at, bound, ..self.clone() }
    }

    /// Whether each run gives a value anew, so that no prefetch can have its address.
    fn is_bound(&self, recipe: &Recipe, value: u32) -> bool {
        match recipe.storages[recipe.storage_of(value) as usize].kind {
            StorageKind::Input(input) => is_updatable(recipe, value) || self.bound.contains(&input),
            _ => false,
        }
    }
}

/// What each call of a plan gives for an input.
fn operands(recipe: &Recipe, callee: u32, input: usize) -> impl Iterator<Item = u32> {
    recipe.nodes.iter().filter_map(move |node| match node.kind {
        NodeKind::Call(call) if recipe.calls[call as usize].callee == callee => {
            Some(recipe.accesses_of(node).get(input)?.value)
        }
        _ => None,
    })
}
