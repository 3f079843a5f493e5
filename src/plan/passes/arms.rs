//! Plans among which others choose: each goes through the passes by itself.

use crate::error::Result;
use crate::plan::builder::Built;
use crate::plan::checked::Plan;
use crate::plan::checked::change::Change;
use crate::plan::checked::choices_fit;
use crate::plan::recipe::callable::Callable as _;
use crate::plan::recipe::{Mode, Recipe};
use crate::sort;

use super::{PassMode, Passes};

/// The plans among which it chooses, by their numbers.
fn chosen(recipe: &Recipe) -> Vec<usize> {
    let arms = recipe.choices.iter().flat_map(|choice| &choice.arms);
    let mut chosen: Vec<usize> = arms.map(|arm| recipe.calls[*arm as usize].callee as usize).collect();
    sort::plain(&mut chosen);
    chosen.dedup();
    chosen
}

/// What it does with each input.
fn params(plan: &Plan) -> Vec<(Mode, bool, bool)> {
    plan.0.facts().params.iter().map(|param| (param.mode, param.aligned, param.left)).collect()
}

/// The plan with what passes make of those among which it chooses; none where that is nothing.
pub(super) fn run(plan: &Plan, passes: &Passes) -> Result<Option<Plan>> {
    let form = plan.0.inlined();
    // Each run does the work on weights that a plan which is chosen has.
    let passes = passes.relaid_weights(PassMode::Off).blocked_weights(PassMode::Off);
    let mut called = form.recipe.called.clone();
    let mut changes: Vec<Change> = Vec::new();
    for index in chosen(&form.recipe) {
        let Some(arm) = Plan::of_callee(&called[index]) else { continue };
        // Without the dead work that alone uses an operand, where that keeps it from being used otherwise.
        for passes in [passes, passes.dead_values(PassMode::Off)] {
            let better = arm.optimise(&passes)?;
            if better.changes.is_empty() {
                break;
            }
            // What the choice was told of its operands holds for what they become.
            if params(&better.plan) == params(&arm) {
                called[index] = better.plan.callee();
                changes.extend(better.changes);
                break;
            }
        }
    }
    if changes.is_empty() {
        return Ok(None);
    }
    let recipe = Recipe { called, ..form.recipe.clone() };
    if !choices_fit(&recipe) {
        return Ok(None);
    }
    let (recorded, written) = (&plan.0.recorded.recipe, plan.0.inlined_positions());
    let lints = plan.0.lints.iter().filter_map(|lint| lint.moved((recorded, &recipe), &written)).collect();
    let bodies = form.bodies.clone();
    let changes = plan.0.changes.iter().cloned().chain(changes).collect();
    Plan::of_changed(Built { plan: plan.0.id, recipe, bodies, lints }, changes).map(Some)
}
