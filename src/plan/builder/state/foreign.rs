//! Foreign operators and host functions in a plan.

use std::panic::Location;

use crate::error::Result;
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::function::{Body, Code, Foreign, HostFunction};
use crate::plan::recipe::{FunctionInfo, NodeKind, StorageKind};

use super::{At, State, Used};
use crate::plan::builder::Value;

impl State {
    #[track_caller]
    pub(in crate::plan) fn foreign(&mut self, operator: &Foreign, reads: &[Value], writes: &[Value]) -> Result<()> {
        let at = Location::caller();
        for value in reads.iter().chain(writes) {
            self.check(*value, "foreign operator", at)?;
        }
        if writes.iter().any(|value| self.is_constant(*value)) {
            return self.wrong(FindingKind::Operand, at, "a foreign operator that writes a constant");
        }
        self.check_function(&operator.info(), "foreign operator", at)?;
        let uses: Vec<Used> = reads
            .iter()
            .map(|value| Self::read(*value))
            .chain(writes.iter().map(|value| Self::write(*value)))
            .collect();
        let function = self.function(operator.info(), Code::Foreign(operator.body.clone()).into());
        let node = self.emit(NodeKind::Foreign(function), &uses, at)?;
        self.lint_unnamed(function, node, at);
        Ok(())
    }

    #[track_caller]
    pub(in crate::plan) fn host_function(&mut self, function: &HostFunction) -> Result<()> {
        let at = Location::caller();
        self.check_function(&function.info(), "host function", at)?;
        let index = self.function(function.info(), Code::Host(function.body.clone()).into());
        let node = self.emit(NodeKind::Host(index), &[], at)?;
        self.lint_unnamed(index, node, at);
        Ok(())
    }

    fn check_function(&self, info: &FunctionInfo, what: &str, at: At) -> Result<()> {
        match info.name() {
            Some("") => self.wrong(
                FindingKind::Name,
                at,
                format_args!("a {what} with an empty name; unnamed makes one without"),
            ),
            _ => Ok(()),
        }
    }

    pub(super) fn is_constant(&self, value: Value) -> bool {
        let storage = self.recipe.storage_of(value.index);
        matches!(self.recipe.storages[storage as usize].kind, StorageKind::Constant(_))
    }

    fn function(&mut self, info: FunctionInfo, body: Body) -> u32 {
        let last = self.recipe.functions.last();
        if last.is_some_and(|last| last.name().is_some() && *last == info) && same_body(self.bodies.last(), &body) {
            return self.recipe.functions.len() as u32 - 1;
        }
        self.recipe.functions.push(info);
        self.bodies.push(body);
        self.recipe.functions.len() as u32 - 1
    }

    fn lint_unnamed(&mut self, function: u32, node: u32, at: At) {
        if self.recipe.functions[function as usize].name().is_some() {
            return;
        }
        let place = self.place(at);
        self.lint(FindingKind::Unnamed, &[node], move |recipe, _| {
            let place = recipe.places.show(place);
            format!(
                "the closure at {place} has no name, so the plan cannot be stored; Foreign::new and \
                 HostFunction::new give one"
            )
        });
    }
}

fn same_body(last: Option<&Body>, body: &Body) -> bool {
    match (last.and_then(Body::code), body.code()) {
        (Some(Code::Foreign(a)), Some(Code::Foreign(b))) => std::sync::Arc::ptr_eq(&a.launch, &b.launch),
        (Some(Code::Host(a)), Some(Code::Host(b))) => std::sync::Arc::ptr_eq(a, b),
        _ => false,
    }
}
