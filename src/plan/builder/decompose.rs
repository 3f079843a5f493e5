//! Operators that the table of decompositions rewrites.

use crate::error::Result;
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::operator::Operator;

use super::decompositions::{Decompositions, Expected, Rewrite};
use super::{At, Builder, Value};

/// The table, and the operators whose rewrites are at work.
#[derive(Debug, Default)]
pub(super) struct Rewriting {
    pub(super) table: Decompositions,
    active: Vec<&'static str>,
}

impl Builder {
    /// The rewrite of an operator, if it has one.
    pub(super) fn rewrite_of(&self, operator: &Operator, at: At) -> Result<Option<(&'static str, Rewrite)>> {
        let found = self.rewriting.table.of(operator);
        match &found {
            Some((name, _)) if self.rewriting.active.contains(name) => {
                let path = self.rewriting.active.join(" → ");
                let text = format!("{name}: its decomposition leads back to it: {path} → {name}");
                self.wrong(FindingKind::Operand, at, text)
            }
            _ => Ok(found),
        }
    }

    /// Issues what an operator is rewritten to. What it has issued before an error stays.
    pub(super) fn rewritten(
        &mut self,
        operator: Operator,
        operands: &[Value],
        (name, rewrite): (&'static str, Rewrite),
        expected: &Expected,
        at: At,
    ) -> Result<Value> {
        let storages = self.recipe.storages.len();
        self.rewriting.active.push(name);
        let given = rewrite(self, operator, operands);
        self.rewriting.active.pop();
        let line = || format!("in the decomposition of {name} at {}:{}", at.file(), at.line());
        let value = given.map_err(|error| error.context(line()))?;
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
        Ok(value)
    }
}
