//! Choices in a plan that is written out: their arms between brackets, or one node that stays.

use crate::plan::recipe::callable::CallInfo;
use crate::plan::recipe::choice::{ChoiceInfo, ChoiceKind};
use crate::plan::recipe::{Access, Mode, Node, NodeKind, Recipe};
use crate::plan::symbols::dim::Dim;

use super::{CHECKED, Place, Writing, sizes};

impl Writing<'_> {
    /// Writes the arms of a choice. Both brackets use all that an arm may use, so that it is there for each round, and
    /// other streams see the choice as one piece of work.
    pub(super) fn choose(&mut self, choice: u32, node: &Node, accesses: &[Access]) {
        let recipe = self.recipe;
        let choice = &recipe.choices[choice as usize];
        let inputs = recipe.called[recipe.calls[choice.arms[0] as usize].callee as usize].0.recorded().inputs.len();
        let (given, results) = accesses.split_at(1 + inputs);
        let held = match choice.kind {
            ChoiceKind::While(_) => self.carry(node, given, results),
            ChoiceKind::If | ChoiceKind::Switch => given.to_vec(),
        };
        let bracket = |kind| Node { kind, ..*node };
        self.push(bracket(NodeKind::Begin(choice.kind)), held.iter().copied());
        for (index, call) in choice.arms.iter().enumerate() {
            if index > 0 {
                self.push(bracket(NodeKind::Case), std::iter::empty());
            }
            match choice.kind {
                ChoiceKind::While(_) => self.round(*call as usize, node, &given[1..], results),
                ChoiceKind::If | ChoiceKind::Switch => self.arm(*call as usize, node, &given[1..], results),
            }
        }
        if choice.kind == ChoiceKind::If && choice.arms.len() == 1 {
            self.push(bracket(NodeKind::Case), std::iter::empty());
            given[1..].iter().zip(results).for_each(|(from, to)| self.copy(node, from.value, to.value));
        }
        self.push(bracket(NodeKind::End), held.iter().copied());
    }

    /// Copies the condition and what is carried to the memory of the results, where a loop has them.
    fn carry(&mut self, node: &Node, given: &[Access], results: &[Access]) -> Vec<Access> {
        let (carried, condition) = (results.len() - 1, results[0].value);
        self.copy(node, given[0].value, condition);
        given[1..].iter().zip(&results[1..]).for_each(|(from, to)| self.copy(node, from.value, to.value));
        let changed = results[1..].iter().map(|access| Access { mode: Mode::ReadWrite, ..*access });
        let first = Access { value: condition, mode: Mode::Read };
        [first].into_iter().chain(changed).chain(given[1 + carried..].iter().copied()).collect()
    }

    fn arm(&mut self, call: usize, node: &Node, operands: &[Access], results: &[Access]) {
        let places =
            |accesses: &[Access]| -> Vec<Place> { accesses.iter().map(|access| self.place(access.value)).collect() };
        let (from, to) = (places(operands), places(results));
        self.once(call, node, (&from, &to), true);
    }

    /// One round of a loop. Its results are copied to where the next one finds them: it may read what was there until
    /// its end.
    fn round(&mut self, call: usize, node: &Node, operands: &[Access], results: &[Access]) {
        let body = self.prepare(call);
        let carried = results.len() - 1;
        let from = results[1..].iter().chain(&operands[carried..]).map(|access| self.place(access.value));
        let (from, to): (Vec<Place>, _) = (from.collect(), self.between(call, body));
        self.once(call, node, (&from, &to), true);
        for (to, result) in to.into_iter().zip(results) {
            let value = self.value(result.value, to);
            self.copy(node, value, result.value);
        }
    }

    /// A copy of bytes between whole values.
    pub(super) fn copy(&mut self, node: &Node, from: u32, to: u32) {
        let accesses = [Access { value: from, mode: Mode::Read }, Access { value: to, mode: Mode::Write }];
        self.push(Node { kind: NodeKind::Copy, ..*node }, accesses.into_iter());
    }

    /// The choice of a recipe in the new one, with `by` in place of its symbols.
    pub(super) fn keep(&mut self, of: &Recipe, choice: u32, by: Option<&[Dim]>) -> u32 {
        let new = &mut self.new;
        let mut call = |arm: &u32| {
            let (info, symbols) = (&of.calls[*arm as usize], of.calls[*arm as usize].symbols.iter());
            let callee = &of.called[info.callee as usize];
            let known = new.called.iter().position(|known| known.is(callee));
            let index = known.unwrap_or_else(|| {
                new.called.push(callee.clone());
                new.called.len() - 1
            });
            let told = |size: &Dim| by.map_or(*size, |by| sizes::dim(*size, by).expect(CHECKED));
            let (callee, symbols) = (index as u32, symbols.map(told).collect());
            known_or_new(&mut new.calls, CallInfo { callee, symbols, ..info.clone() })
        };
        let choice = &of.choices[choice as usize];
        let arms = choice.arms.iter().map(&mut call).collect();
        known_or_new(&mut new.choices, ChoiceInfo { kind: choice.kind, arms })
    }
}

fn known_or_new<T: PartialEq>(all: &mut Vec<T>, one: T) -> u32 {
    let known = all.iter().position(|known| *known == one);
    known.unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    }) as u32
}
