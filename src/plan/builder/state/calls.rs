//! Calls of other plans.

use std::collections::HashMap;

use crate::error::Result;
use crate::plan::builder::Value;
use crate::plan::builder::options::Single;
use crate::plan::calls::{
    bind, check_info, check_operands, check_pieces, dims_of_result, params_of_call, pieces_of_call, wrong_count,
};
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::callable::{CallInfo, Callee};
use crate::plan::recipe::{Access, Mode, NodeKind, Recipe, StorageKind};
use crate::plan::symbols::dim::Dim;

use super::{At, State, Used};

/// What calls were recorded so far.
#[derive(Default)]
pub(super) struct Calls {
    infos: HashMap<CallInfo, u32>,
    /// How much all of them are when they are written out.
    pub(super) pieces: u64,
}

/// How much of a recipe there was before a call.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    storages: usize,
    values: usize,
    called: usize,
    calls: usize,
    choices: usize,
}

/// How a plan is to be called.
pub(in crate::plan) struct Asked<'a> {
    pub(in crate::plan) callee: &'a Callee,
    pub(in crate::plan) operands: &'a [Value],
    /// What its symbols are, by name.
    pub(in crate::plan) symbols: &'a [(&'a str, Dim)],
    pub(in crate::plan) times: u32,
    pub(in crate::plan) carried: usize,
}

impl State {
    /// Issues a call, and gives its results. One that is asked for no times is checked like others, and not issued.
    pub(in crate::plan) fn call(&mut self, asked: &Asked<'_>, at: At) -> Result<Vec<Value>> {
        for operand in asked.operands {
            self.check(*operand, "call", at)?;
        }
        let called = asked.callee.0.recorded();
        if asked.operands.len() != called.inputs.len() {
            return self.not_callable(wrong_count(called, asked.operands.len()), at);
        }
        let before = self.counts();
        let collapsed = self.options.single == Single::Collapse;
        let issued = self.info(asked, collapsed, at).and_then(|call| self.issue_call(asked, call, at));
        if issued.is_err() || asked.times == 0 {
            self.forget_calls(before);
        }
        issued
    }

    pub(super) fn counts(&self) -> Counts {
        let Recipe { storages, values, called, calls, choices, .. } = &self.recipe;
        Counts {
            storages: storages.len(),
            values: values.len(),
            called: called.len(),
            calls: calls.len(),
            choices: choices.len(),
        }
    }

    /// Takes back what a call or a choice made that was not issued.
    pub(super) fn forget_calls(&mut self, before: Counts) {
        self.recipe.storages.truncate(before.storages);
        self.recipe.values.truncate(before.values);
        self.producers.truncate(before.values);
        self.recipe.called.truncate(before.called);
        self.recipe.calls.truncate(before.calls);
        self.recipe.choices.truncate(before.choices);
        self.calls.infos.retain(|_, call| (*call as usize) < before.calls);
    }

    pub(in crate::plan) fn not_callable<T>(&self, text: impl AsRef<str>, at: At) -> Result<T> {
        self.wrong(FindingKind::Call, at, format_args!("call: {}", text.as_ref()))
    }

    /// Makes the results and issues the call.
    fn issue_call(&mut self, asked: &Asked<'_>, call: u32, at: At) -> Result<Vec<Value>> {
        let (facts, called) = (asked.callee.0.facts(), asked.callee.0.recorded());
        let mut uses: Vec<Used> = Vec::with_capacity(called.inputs.len() + called.outputs.len());
        let info = &self.recipe.calls[call as usize];
        let modes = params_of_call(&self.recipe, info).iter().map(|param| param.mode).collect::<Vec<_>>();
        uses.extend(asked.operands.iter().copied().zip(modes));
        for output in 0..called.outputs.len() {
            let result = dims_of_result(&self.recipe, &self.recipe.calls[call as usize], output);
            let Some((dtype, dims)) = result else {
                return self.not_callable("a result of a shape that no plan can have", at);
            };
            uses.push((self.memory(StorageKind::Temporary, &dims, dtype, at)?, Mode::Write));
        }
        let accesses: Vec<Access> =
            uses.iter().map(|(value, mode)| Access { value: value.index, mode: *mode }).collect();
        if let Err(text) = check_operands(&self.recipe, &self.recipe.calls[call as usize], &accesses) {
            return self.not_callable(text, at);
        }
        if asked.times == 0 {
            return Ok(Vec::new());
        }
        let pieces = pieces_of_call(&self.recipe, &self.recipe.calls[call as usize]);
        let pieces = self.more_pieces(pieces, at)?;
        let node = self.emit(NodeKind::Call(call), &uses, at)?;
        self.calls.pieces = pieces;
        if facts.unnamed {
            self.lint_unnamed_in(node);
        }
        Ok(uses[called.inputs.len()..].iter().map(|(value, _)| *value).collect())
    }

    /// How much the calls are with this much more.
    pub(super) fn more_pieces(&self, more: u64, at: At) -> Result<u64> {
        let pieces = self.calls.pieces.saturating_add(more);
        check_pieces(pieces).map(|()| pieces).or_else(|text| self.not_callable(text, at))
    }

    pub(super) fn lint_unnamed_in(&mut self, node: u32) {
        self.lint(FindingKind::Unnamed, &[node], |recipe, nodes| {
            let call = recipe.describe(nodes[0]);
            format!("{call} has a closure without a name, so that the plan cannot be stored")
        });
    }

    /// The number of calls like this; one that is new is checked.
    pub(super) fn info(&mut self, asked: &Asked<'_>, collapsed: bool, at: At) -> Result<u32> {
        let symbols = self.symbols_of(asked, at)?;
        let Ok(carried) = u16::try_from(asked.carried) else {
            return self.not_callable(format!("{} values that are carried", asked.carried), at);
        };
        let known = self.recipe.called.iter().position(|callee| callee.is(asked.callee));
        let callee = known.unwrap_or(self.recipe.called.len()) as u32;
        let info = CallInfo { callee, symbols, times: asked.times.max(1), carried, collapsed };
        if let Some(known) = self.calls.infos.get(&info) {
            return Ok(*known);
        }
        if known.is_none() {
            self.recipe.called.push(asked.callee.clone());
        }
        match check_info(&self.recipe, &info) {
            Ok(()) if collapsed => self.check_limits(at)?,
            Ok(()) => self.add_streams(asked.callee, at)?,
            Err(text) => return self.not_callable(text, at),
        }
        let index = self.recipe.calls.len() as u32;
        self.recipe.calls.push(info.clone());
        self.calls.infos.insert(info, index);
        Ok(index)
    }

    fn symbols_of(&self, asked: &Asked<'_>, at: At) -> Result<Vec<Dim>> {
        let called = asked.callee.0.recorded();
        let mut told = vec![None; called.symbols.len()];
        for (name, dim) in asked.symbols {
            let Some(index) = called.symbols.iter().position(|symbol| symbol.name == *name) else {
                let known: Vec<_> = called.symbols.iter().map(|symbol| format!("{:?}", symbol.name)).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return self.not_callable(format!("it has no symbol {name:?}; its symbols are {known}"), at);
            };
            let dim = dim.usable().or_else(|error| self.wrong(FindingKind::Operand, at, error.detail()))?;
            self.check_dim(dim, at)?;
            told[index] = Some(dim);
        }
        let dims = asked.operands.iter().map(|operand| &self.recipe.layout_of(operand.index).dims[..]);
        bind(called, dims, told).or_else(|text| self.not_callable(text, at))
    }

    /// Takes the tags of a plan, as if its scopes were written here.
    fn add_streams(&mut self, callee: &Callee, at: At) -> Result<()> {
        let facts = callee.0.facts();
        if let (Single::Strict, Some(tag)) = (self.options.single, facts.tags.first()) {
            let text = format!("call of a plan with the stream {:?} with the option single_stream", tag.name);
            return self.wrong(FindingKind::Options, at, text);
        }
        self.check_limits(at)?;
        for tag in &facts.tags {
            let Some(known) = self.tags.get(&tag.name) else { continue };
            let has = self.recipe.tags[usize::from(*known)].priority;
            if has != tag.priority {
                let (name, wants) = (&tag.name, tag.priority);
                let text = format!("call: its stream {name:?} has the priority {wants}, the one here {has}");
                return self.wrong(FindingKind::Name, at, text);
            }
        }
        for tag in &facts.tags {
            if !self.tags.contains_key(&tag.name) {
                self.new_tag(&tag.name, tag.priority, at)?;
            }
        }
        Ok(())
    }

    fn check_limits(&self, at: At) -> Result<()> {
        let limits: usize = self.recipe.called.iter().map(|callee| callee.0.facts().cores).sum();
        if limits + self.recipe.cores.len() >= usize::from(u16::MAX) {
            return self.wrong(FindingKind::CoreLimit, at, "call: more core limits than can be numbered");
        }
        Ok(())
    }
}
