//! Whether a choice among plans fits them.

use crate::op::DataType;
use crate::plan::overlap::ranges::may_overlap;
use crate::plan::recipe::callable::{CallInfo, Param};
use crate::plan::recipe::choice::{ChoiceInfo, ChoiceKind, MOST_ARMS, MOST_ROUNDS, is_condition};
use crate::plan::recipe::{Access, Recipe, is_updatable};
use crate::plan::symbols::dim::show_dims;

use super::fits::{Fits, check_info, check_operand, check_shape, dims_of_result, wrong_count};
use super::params::params_of_choice;
use super::sizes;

/// That there is a choice among these plans, whatever the operands are.
pub(crate) fn check_choice(recipe: &Recipe, choice: &ChoiceInfo) -> Fits {
    let fits = match (choice.kind, choice.arms.len()) {
        (ChoiceKind::If, 1 | 2) | (ChoiceKind::While(_), 1) => true,
        (ChoiceKind::Switch, arms) => (2..=MOST_ARMS + 1).contains(&arms),
        _ => false,
    };
    if !fits {
        let cases = choice.arms.len().saturating_sub(1);
        return Err(format!("{cases} cases, where 1 to {MOST_ARMS} are possible"));
    }
    if let ChoiceKind::While(Some(most)) = choice.kind
        && most.get() > MOST_ROUNDS
    {
        return Err(wrong_limit(most.get()));
    }
    for arm in &choice.arms {
        let info = recipe.calls.get(*arm as usize).ok_or_else(|| "a call that is not there".to_owned())?;
        if (info.times, info.carried, info.collapsed) != (1, 0, true) {
            return Err("a call that is none of a choice".to_owned());
        }
        check_info(recipe, info)?;
        check_no_numbers(recipe, info)?;
    }
    let first = call(recipe, choice, 0);
    choice.arms[1..].iter().try_for_each(|arm| check_alike(recipe, first, &recipe.calls[*arm as usize]))?;
    check_carried(recipe, choice)
}

/// That a loop cannot have this limit.
pub(crate) fn wrong_limit(rounds: u32) -> String {
    format!("{rounds} rounds at most, where 1 to {MOST_ROUNDS} are possible")
}

fn call<'a>(recipe: &'a Recipe, choice: &ChoiceInfo, arm: usize) -> &'a CallInfo {
    &recipe.calls[choice.arms[arm] as usize]
}

fn called<'a>(recipe: &'a Recipe, info: &CallInfo) -> &'a Recipe {
    recipe.called[info.callee as usize].0.recorded()
}

/// That no symbol is one that each run gives anew: work in bodies of graphs cannot be replaced.
fn check_no_numbers(recipe: &Recipe, info: &CallInfo) -> Fits {
    let mut powers = info.symbols.iter().map(|dim| dim.parts().2);
    match powers.any(|powers| recipe.symbols.iter().zip(powers).any(|(symbol, power)| power != 0 && symbol.each_run))
    {
        true => Err("a number that each run gives anew, which work of a choice cannot be told".to_owned()),
        false => Ok(()),
    }
}

/// That two arms take as many operands and give the same results.
fn check_alike(recipe: &Recipe, first: &CallInfo, other: &CallInfo) -> Fits {
    let (a, b) = (called(recipe, first), called(recipe, other));
    if (a.inputs.len(), a.outputs.len()) != (b.inputs.len(), b.outputs.len()) {
        let counts = |one: &Recipe| format!("{} inputs and {} outputs", one.inputs.len(), one.outputs.len());
        return Err(format!("a plan of {} beside one of {}", counts(b), counts(a)));
    }
    for index in 0..a.outputs.len() {
        if dims_of_result(recipe, first, index) != dims_of_result(recipe, other, index) {
            let (x, y) = (shown(recipe, first, index), shown(recipe, other, index));
            return Err(format!("an output {y} of one plan where the first has {x}"));
        }
    }
    Ok(())
}

/// An output of a plan that is called, by name, type and shape.
fn shown(recipe: &Recipe, info: &CallInfo, output: usize) -> String {
    let name = &called(recipe, info).outputs[output].name;
    match dims_of_result(recipe, info, output) {
        Some((dtype, dims)) => format!("{name:?}, {dtype:?} {}", show_dims(&dims, &recipe.symbol_names())),
        None => format!("{name:?}, of no shape that a plan can have"),
    }
}

/// How many of the first operands results take the place of.
pub(super) fn carried(recipe: &Recipe, choice: &ChoiceInfo) -> usize {
    let results = called(recipe, call(recipe, choice, 0)).outputs.len();
    match (choice.kind, choice.arms.len()) {
        (ChoiceKind::While(_), _) => results.saturating_sub(1),
        (ChoiceKind::If, 1) => results,
        _ => 0,
    }
}

/// That results which take the place of operands are like them.
fn check_carried(recipe: &Recipe, choice: &ChoiceInfo) -> Fits {
    let (info, carried) = (call(recipe, choice, 0), carried(recipe, choice));
    let body = called(recipe, info);
    let loops = choice.kind.is_loop();
    if loops && !body.outputs.first().is_some_and(|output| is_condition(body.layout_of(output.value))) {
        return Err("the first output of a body is the next condition: one integer or truth value".to_owned());
    }
    if carried > body.inputs.len() {
        return Err(format!("{carried} results in place of operands, of a plan of {} inputs", body.inputs.len()));
    }
    for (index, input) in body.inputs.iter().enumerate().take(carried) {
        let (output, layout) = (index + usize::from(loops), body.layout_of(input.value));
        let dims: Option<Vec<_>> = layout.dims.iter().map(|size| sizes::dim(*size, &info.symbols)).collect();
        if dims.clone().map(|dims| (layout.dtype, dims)) != dims_of_result(recipe, info, output) {
            let taken = dims.map_or_else(String::new, |dims| show_dims(&dims, &recipe.symbol_names()));
            let output = shown(recipe, info, output);
            let (name, dtype) = (&input.name, layout.dtype);
            return Err(format!("its output {output}, takes the place of its input {name:?}, {dtype:?} {taken}"));
        }
    }
    Ok(())
}

/// That condition, operands and results fit a choice that [`check_choice`] has passed.
pub(crate) fn check_choice_operands(recipe: &Recipe, choice: &ChoiceInfo, accesses: &[Access]) -> Fits {
    let params = params_of_choice(recipe, choice);
    let body = called(recipe, call(recipe, choice, 0));
    let Some((given, results)) = accesses.split_at_checked(params.len()).filter(|(given, _)| !given.is_empty())
    else {
        return Err(wrong_count(body, accesses.len().saturating_sub(1)));
    };
    if results.len() != body.outputs.len() {
        return Err(format!("{} results of a plan that has {}", results.len(), body.outputs.len()));
    }
    let name = |place: usize| match place.checked_sub(1) {
        None => "its condition".to_owned(),
        Some(input) => format!("its input {:?}", body.inputs[input].name),
    };
    check_condition(recipe, choice, given[0].value)?;
    for (place, (access, param)) in given.iter().zip(&params).enumerate() {
        if is_updatable(recipe, access.value) {
            return Err(format!("{} is an updatable input, which a choice cannot use", name(place)));
        }
        check_operand(recipe, access, *param, || name(place))?;
    }
    for result in results {
        check_operand(recipe, result, Param::RESULT, || "a result".into())?;
    }
    for arm in &choice.arms {
        check_arm(recipe, &recipe.calls[*arm as usize], &given[1..], results)?;
    }
    check_apart(recipe, given, results, name)
}

/// Most arms, the last of which is for all other numbers, of a choice by a byte with a sign: the device knows no signs,
/// and takes negative ones for numbers from 128 on.
const MOST_SIGNED_ARMS: usize = 129;

fn check_condition(recipe: &Recipe, choice: &ChoiceInfo, value: u32) -> Fits {
    let layout = recipe.layout_of(value);
    if !is_condition(layout) {
        let dims = show_dims(&layout.dims, &recipe.symbol_names());
        return Err(format!("its condition is {:?} {dims}, and not one integer or truth value", layout.dtype));
    }
    if choice.kind == ChoiceKind::Switch && layout.dtype == DataType::I8 && choice.arms.len() > MOST_SIGNED_ARMS {
        let cases = choice.arms.len() - 1;
        return Err(format!("its condition is I8, whose negative numbers count from 128 on, beside {cases} cases"));
    }
    let body = called(recipe, call(recipe, choice, 0));
    let next = body.outputs.first().map(|output| body.layout_of(output.value).dtype);
    match next.filter(|next| choice.kind.is_loop() && *next != layout.dtype) {
        Some(next) => Err(format!("its condition is {:?}, and the next one {next:?}", layout.dtype)),
        None => Ok(()),
    }
}

fn check_arm(recipe: &Recipe, info: &CallInfo, operands: &[Access], results: &[Access]) -> Fits {
    let body = called(recipe, info);
    let inputs = body.inputs.iter().map(|input| (input.value, &*input.name));
    let outputs = body.outputs.iter().map(|output| (output.value, &*output.name));
    let mut pairs = inputs.zip(operands).chain(outputs.zip(results));
    pairs.try_for_each(|(wanted, access)| check_shape(recipe, body, info, wanted, access.value))
}

/// That nothing which an arm writes shares memory with anything else. The condition is read before all of it.
fn check_apart(recipe: &Recipe, given: &[Access], results: &[Access], name: impl Fn(usize) -> String) -> Fits {
    let bounds = recipe.bounds();
    let shares = |a: &Access, b: &Access| may_overlap(recipe, a.value, b.value, &bounds);
    for (place, written) in given.iter().enumerate().filter(|(_, access)| access.mode.writes()) {
        let other = |(other, access): (usize, &Access)| other > 0 && other != place && shares(access, written);
        if let Some(other) = given.iter().enumerate().position(other) {
            return Err(format!("{}, which it writes, shares memory with {}", name(place), name(other)));
        }
    }
    for (index, result) in results.iter().enumerate() {
        let others = given.iter().chain(&results[..index]);
        if { others }.any(|other| shares(other, result)) {
            return Err("a result shares memory with something else".to_owned());
        }
    }
    Ok(())
}

/// How much a choice adds to a plan that is written out, beside its arms: brackets, and copies of what is carried.
pub(super) fn own_pieces(choice: &ChoiceInfo, accesses: usize) -> u64 {
    (8 * accesses + 2 * choice.arms.len() + 8) as u64
}

/// How much a choice is when it is written out.
pub(crate) fn pieces_of_choice(recipe: &Recipe, choice: &ChoiceInfo, accesses: usize) -> u64 {
    let pieces = |arm: &u32| {
        let info = &recipe.calls[*arm as usize];
        recipe.called[info.callee as usize].0.facts().pieces
    };
    choice.arms.iter().map(pieces).fold(own_pieces(choice, accesses), u64::saturating_add)
}
