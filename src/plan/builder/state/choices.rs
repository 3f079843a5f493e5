//! Choices among other plans.

use crate::error::Result;
use crate::plan::builder::Value;
use crate::plan::calls::{
    check_choice, check_choice_operands, dims_of_result, params_of_choice, pieces_of_choice, wrong_count,
};
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::callable::Callee;
use crate::plan::recipe::choice::{ChoiceInfo, ChoiceKind};
use crate::plan::recipe::{Access, Mode, NodeKind, StorageKind};

use super::{Asked, At, State, Used};

/// A choice that is to be made.
pub(in crate::plan) struct Choosing<'a> {
    /// What it is called in messages.
    pub(in crate::plan) what: &'static str,
    pub(in crate::plan) kind: ChoiceKind,
    pub(in crate::plan) condition: Value,
    pub(in crate::plan) arms: &'a [Callee],
    pub(in crate::plan) operands: &'a [Value],
    /// How many results are wanted, beside the condition of a loop.
    pub(in crate::plan) results: usize,
}

impl State {
    /// Issues a choice, and gives its results; those of a loop begin with its last condition.
    pub(in crate::plan) fn choose(&mut self, asked: &Choosing<'_>, at: At) -> Result<Vec<Value>> {
        for value in asked.operands.iter().chain([&asked.condition]) {
            self.check(*value, asked.what, at)?;
        }
        for arm in asked.arms {
            let called = arm.0.recorded();
            if asked.operands.len() != called.inputs.len() {
                return self.no_choice(asked, wrong_count(called, asked.operands.len()), at);
            }
            let results = called.outputs.len().saturating_sub(usize::from(asked.kind.is_loop()));
            if asked.results != results {
                let (wanted, outputs) = (asked.results, called.outputs.len());
                return self.no_choice(asked, format!("{wanted} results of a plan of {outputs} outputs"), at);
            }
        }
        let before = self.counts();
        let issued = self.choice(asked, at).and_then(|choice| self.issue_choice(asked, choice, at));
        if issued.is_err() {
            self.forget_calls(before);
        }
        issued
    }

    fn no_choice<T>(&self, asked: &Choosing<'_>, text: impl AsRef<str>, at: At) -> Result<T> {
        self.wrong(FindingKind::Call, at, format_args!("{}: {}", asked.what, text.as_ref()))
    }

    /// The number of a choice like this, which is checked.
    fn choice(&mut self, asked: &Choosing<'_>, at: At) -> Result<u32> {
        let mut arms = Vec::with_capacity(asked.arms.len());
        for callee in asked.arms {
            let call = Asked { callee, operands: asked.operands, symbols: &[], times: 1, carried: 0 };
            arms.push(self.info(&call, true, at)?);
        }
        let choice = ChoiceInfo { kind: asked.kind, arms };
        if let Err(text) = check_choice(&self.recipe, &choice) {
            return self.no_choice(asked, text, at);
        }
        let known = self.recipe.choices.iter().position(|known| *known == choice);
        Ok(known.unwrap_or_else(|| {
            self.recipe.choices.push(choice);
            self.recipe.choices.len() - 1
        }) as u32)
    }

    /// Makes the results and issues the choice.
    fn issue_choice(&mut self, asked: &Choosing<'_>, index: u32, at: At) -> Result<Vec<Value>> {
        let choice = self.recipe.choices[index as usize].clone();
        let params = params_of_choice(&self.recipe, &choice);
        let given = [asked.condition].into_iter().chain(asked.operands.iter().copied());
        let mut uses: Vec<Used> = given.zip(params).map(|(value, param)| (value, param.mode)).collect();
        let (first, results) = (choice.arms[0] as usize, asked.arms[0].0.recorded().outputs.len());
        for output in 0..results {
            let Some((dtype, dims)) = dims_of_result(&self.recipe, &self.recipe.calls[first], output) else {
                return self.no_choice(asked, "a result of a shape that no plan can have", at);
            };
            uses.push((self.memory(StorageKind::Temporary, &dims, dtype, at)?, Mode::Write));
        }
        let accesses: Vec<Access> =
            uses.iter().map(|(value, mode)| Access { value: value.index, mode: *mode }).collect();
        if let Err(text) = check_choice_operands(&self.recipe, &choice, &accesses) {
            return self.no_choice(asked, text, at);
        }
        let pieces = self.more_pieces(pieces_of_choice(&self.recipe, &choice, uses.len()), at)?;
        let node = self.emit(NodeKind::Choose(index), &uses, at)?;
        self.calls.pieces = pieces;
        if asked.arms.iter().any(|arm| arm.0.facts().unnamed) {
            self.lint_unnamed_in(node);
        }
        Ok(uses[uses.len() - results..].iter().map(|(value, _)| *value).collect())
    }
}
