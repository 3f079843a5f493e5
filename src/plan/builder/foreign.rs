//! Foreign operators and host functions in a plan.

use std::panic::Location;

use crate::error::Result;
use crate::plan::finding::FindingKind;
use crate::plan::function::{Body, Foreign, HostFunction};
use crate::plan::recipe::{Access, FunctionInfo, NodeKind, StorageKind};

use super::{At, Builder, Value};

impl Builder {
    /// Issues a foreign operator that reads and writes the bytes of these values; one that is in both lists is read
    /// and written. [`Builder::bytes`] gives a part of a value.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a value of another plan, a constant to write, and
    /// an operator with an empty name.
    #[track_caller]
    pub fn foreign(&mut self, operator: &Foreign, reads: &[Value], writes: &[Value]) -> Result<()> {
        let at = Location::caller();
        for value in reads.iter().chain(writes) {
            self.check(*value, "foreign operator", at)?;
        }
        if writes.iter().any(|value| self.is_constant(*value)) {
            return self.wrong(FindingKind::Operand, at, "a foreign operator that writes a constant");
        }
        self.check_function(&operator.info(), "foreign operator", at)?;
        let accesses: Vec<Access> = reads
            .iter()
            .map(|value| Self::read(*value))
            .chain(writes.iter().map(|value| Self::write(*value)))
            .collect();
        let function = self.function(operator.info(), Body::Foreign(operator.body.clone()));
        let node = self.emit(NodeKind::Foreign(function), &accesses, at)?;
        self.lint_unnamed(function, node, at);
        Ok(())
    }

    /// Issues a function that runs on the host when the stream gets there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a function with an empty name, and in a plan of
    /// more than 2³² operators.
    #[track_caller]
    pub fn host_function(&mut self, function: &HostFunction) -> Result<()> {
        let at = Location::caller();
        self.check_function(&function.info(), "host function", at)?;
        let index = self.function(function.info(), Body::Host(function.body.clone()));
        let node = self.emit(NodeKind::Host(index), &[], at)?;
        self.lint_unnamed(index, node, at);
        Ok(())
    }

    fn check_function(&self, info: &FunctionInfo, what: &str, at: At) -> Result<()> {
        match info.name.as_deref() {
            Some("") => self.wrong(
                FindingKind::Name,
                at,
                format_args!("a {what} with an empty name; unnamed makes one without"),
            ),
            _ => Ok(()),
        }
    }

    fn is_constant(&self, value: Value) -> bool {
        let storage = self.recipe.storage_of(value.index);
        matches!(self.recipe.storages[storage as usize].kind, StorageKind::Constant(_))
    }

    fn function(&mut self, info: FunctionInfo, body: Body) -> u32 {
        let last = self.recipe.functions.last();
        if last.is_some_and(|last| last.name.is_some() && *last == info) && same_body(self.bodies.last(), &body) {
            return self.recipe.functions.len() as u32 - 1;
        }
        self.recipe.functions.push(info);
        self.bodies.push(body);
        self.recipe.functions.len() as u32 - 1
    }

    fn lint_unnamed(&mut self, function: u32, node: u32, at: At) {
        if self.recipe.functions[function as usize].name.is_some() {
            return;
        }
        self.lint(FindingKind::Unnamed, &[node], move |_, _| {
            let (file, line) = (at.file(), at.line());
            format!(
                "the closure at {file}:{line} has no name, so the plan cannot be stored; Foreign::new and \
                 HostFunction::new give one"
            )
        });
    }
}

fn same_body(last: Option<&Body>, body: &Body) -> bool {
    match (last, body) {
        (Some(Body::Foreign(a)), Body::Foreign(b)) => std::sync::Arc::ptr_eq(&a.launch, &b.launch),
        (Some(Body::Host(a)), Body::Host(b)) => std::sync::Arc::ptr_eq(a, b),
        _ => false,
    }
}
