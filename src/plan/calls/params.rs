//! What calls and choices do with their operands.

use std::borrow::Cow;

use crate::plan::recipe::callable::{Behind, CallInfo, Param};
use crate::plan::recipe::choice::ChoiceInfo;
use crate::plan::recipe::{Mode, Node, NodeKind, Recipe};

use super::choices::carried;

impl Param {
    /// Of a result: made for this, or as good.
    pub(super) const RESULT: Self = Self { mode: Mode::Write, stays: true, aligned: true, left: false };
    /// Of what is copied before it is used.
    pub(super) const COPIED: Self = Self { mode: Mode::Read, stays: true, aligned: true, left: false };
    /// Of what has other memory, in which all is written before it is read.
    const REPLACED: Self = Self { mode: Mode::Touch, stays: true, aligned: false, left: false };
}

fn params<'a>(recipe: &'a Recipe, info: &CallInfo) -> &'a [Param] {
    &recipe.called[info.callee as usize].0.facts().params
}

/// Whether a call works on other memory than an operand: of what is carried and written, every step has its own.
pub(super) fn is_moved(recipe: &Recipe, info: &CallInfo, index: usize) -> bool {
    index < usize::from(info.carried) && params(recipe, info)[index].mode.writes()
}

/// Whether that memory is a copy of the operand.
pub(super) fn is_copied(recipe: &Recipe, info: &CallInfo, index: usize) -> bool {
    is_moved(recipe, info, index) && !params(recipe, info)[index].mode.only_writes()
}

/// What a call does with its operands.
pub(crate) fn params_of_call<'a>(recipe: &'a Recipe, info: &CallInfo) -> Cow<'a, [Param]> {
    let mut all = Cow::Borrowed(params(recipe, info));
    for index in (0..all.len().min(info.carried.into())).filter(|index| is_moved(recipe, info, *index)) {
        let copied = is_copied(recipe, info, index);
        all.to_mut()[index] = if copied { Param::COPIED } else { Param::REPLACED };
    }
    all
}

/// How much a call is when it is written out; a copy has a node, two accesses, a value and memory.
pub(crate) fn pieces_of_call(recipe: &Recipe, info: &CallInfo) -> u64 {
    let copied = (0..params(recipe, info).len()).filter(|index| is_copied(recipe, info, *index)).count();
    let pieces = recipe.called[info.callee as usize].0.facts().pieces;
    pieces.saturating_mul(info.times.into()).saturating_add(5 * copied as u64)
}

/// What a choice that [`check_choice`](super::check_choice) has passed does with its condition and its operands. What an
/// arm writes may stay as it was, so that it has to be there before.
pub(crate) fn params_of_choice(recipe: &Recipe, choice: &ChoiceInfo) -> Vec<Param> {
    let facts: Vec<_> = choice.arms.iter().map(|arm| params(recipe, &recipe.calls[*arm as usize])).collect();
    let carried = carried(recipe, choice);
    let operand = |index: usize| {
        let all = || facts.iter().map(|params| params[index]);
        let own = choice.kind.is_loop() && index < carried;
        let mode = match () {
            () if own => Mode::Read,
            () if all().any(|param| param.mode.writes()) => Mode::ReadWrite,
            () if index < carried || all().any(|param| param.mode.reads()) => Mode::Read,
            () => Mode::Touch,
        };
        let aligned = index < carried || all().any(|param| param.aligned);
        Param { mode, stays: true, aligned, left: !own && all().any(|param| param.left) }
    };
    std::iter::once(Param::COPIED).chain((0..facts[0].len()).map(operand)).collect()
}

/// Whether an operand of a node, if that is a call or a choice, holds anything behind it.
pub(crate) fn leaves(recipe: &Recipe, node: &Node, place: usize) -> bool {
    let left = |info: &CallInfo, index: usize| params(recipe, info).get(index).is_some_and(|param| param.left);
    match node.kind {
        NodeKind::Call(call) => {
            let info = &recipe.calls[call as usize];
            left(info, place) && !is_moved(recipe, info, place)
        }
        NodeKind::Choose(choice) => {
            let choice = &recipe.choices[choice as usize];
            let Some(index) = place.checked_sub(1) else { return false };
            let own = choice.kind.is_loop() && index < carried(recipe, choice);
            !own && choice.arms.iter().any(|arm| left(&recipe.calls[*arm as usize], index))
        }
        _ => false,
    }
}

/// What a node, if it is a call or a choice, does not write of an operand or a result that it counts as having written.
pub(crate) fn behind(recipe: &Recipe, node: &Node, place: usize) -> Behind {
    let of = |info: &CallInfo, index: usize| {
        let all = &recipe.called[info.callee as usize].0.facts().behind;
        all.get(index).copied().unwrap_or_default()
    };
    match node.kind {
        NodeKind::Call(call) => {
            let info = &recipe.calls[call as usize];
            // What is carried has other memory, of which the results are the last.
            let moved = place < params(recipe, info).len() && is_moved(recipe, info, place);
            if moved { Behind::default() } else { of(info, place) }
        }
        NodeKind::Choose(choice) => {
            let choice = &recipe.choices[choice as usize];
            let Some(index) = place.checked_sub(1) else { return Behind::default() };
            if choice.kind.is_loop() && index < carried(recipe, choice) {
                return Behind::default();
            }
            let each = choice.arms.iter().map(|arm| of(&recipe.calls[*arm as usize], index));
            each.fold(Behind::default(), |all, one| Behind {
                found: all.found || one.found,
                in_part: all.in_part || one.in_part,
            })
        }
        _ => Behind::default(),
    }
}

/// Whether a node does the work of a plan again on the same operands.
pub(crate) fn repeats(recipe: &Recipe, node: &Node) -> bool {
    match node.kind {
        NodeKind::Call(call) => recipe.calls[call as usize].times > 1,
        NodeKind::Choose(choice) => recipe.choices[choice as usize].kind.is_loop(),
        _ => false,
    }
}
