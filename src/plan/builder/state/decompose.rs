//! Operators that the table of decompositions rewrites.

use crate::error::Result;
use crate::plan::builder::Value;
use crate::plan::builder::decompositions::{Decompositions, Expected, Operation, Rewrite};
use crate::plan::check::finding::FindingKind;

use super::{At, State};

/// The table, and the operators whose rewrites are at work.
#[derive(Debug, Default)]
pub(super) struct Rewriting {
    pub(super) table: Decompositions,
    active: Vec<&'static str>,
}

/// An operator that has a decomposition.
pub(in crate::plan) struct Decomposed {
    /// Its name in C, and what is issued in its place.
    pub(in crate::plan) rewrite: (&'static str, Rewrite),
    pub(in crate::plan) operation: Operation,
    /// What it reads.
    pub(in crate::plan) operands: Vec<Value>,
    pub(in crate::plan) expected: Expected,
}

impl State {
    /// The rewrite of an operator, if it has one.
    pub(super) fn rewrite_of(&self, name: &str, at: At) -> Result<Option<(&'static str, Rewrite)>> {
        let found = self.rewriting.table.of(name);
        match &found {
            Some((name, _)) if self.rewriting.active.contains(name) => {
                let path = self.rewriting.active.join(" → ");
                let text = format!("{name}: its decomposition leads back to it: {path} → {name}");
                self.wrong(FindingKind::Operand, at, text)
            }
            _ => Ok(found),
        }
    }

    /// Begins a rewrite, which [`State::end_rewrite`] ends. Gives how many pieces of memory there are now.
    pub(in crate::plan) fn begin_rewrite(&mut self, name: &'static str) -> usize {
        self.rewriting.active.push(name);
        self.recipe.storages.len()
    }

    pub(in crate::plan) fn end_rewrite(&mut self) {
        self.rewriting.active.pop();
    }

    /// That a rewrite gave a new value of the type and shape that are wanted.
    pub(in crate::plan) fn check_rewritten(
        &self,
        name: &str,
        (value, storages): (Value, usize),
        expected: &Expected,
        at: At,
    ) -> Result<()> {
        self.check(value, "the decomposition's result", at)?;
        let layout = self.recipe.layout_of(value.index);
        if (layout.dtype, &layout.dims) != (expected.0, &expected.1) {
            let (want, got) = (self.show(&expected.1), self.show(&layout.dims));
            let text = format!(
                "the decomposition of {name} gives {:?} {got}, the operator {:?} {want}",
                layout.dtype, expected.0
            );
            return self.wrong(FindingKind::Operand, at, text);
        }
        if (self.recipe.storage_of(value.index) as usize) < storages {
            let text = format!("the decomposition of {name} gives a value that was there before it, not a new one");
            return self.wrong(FindingKind::Operand, at, text);
        }
        Ok(())
    }
}
