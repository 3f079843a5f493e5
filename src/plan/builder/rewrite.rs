//! Operators that the table of decompositions rewrites.

use crate::error::Result;
use crate::plan::recipe::operator::Operator;

use super::decompositions::{Expected, Rewrite};
use super::state::At;
use super::{Builder, Value};

/// Ends the rewrite also when it panics.
struct Open<'a>(&'a Builder);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.state().end_rewrite();
    }
}

impl Builder {
    /// Issues what an operator is rewritten to. What it has issued before an error stays.
    pub(super) fn rewritten(
        &self,
        operator: Operator,
        operands: &[Value],
        (name, rewrite): (&'static str, Rewrite),
        expected: &Expected,
        at: At,
    ) -> Result<Value> {
        let storages = self.state().begin_rewrite(name);
        let open = Open(self);
        let given = rewrite(self, operator, operands);
        drop(open);
        let line = || format!("in the decomposition of {name} at {}:{}", at.file(), at.line());
        let value = given.map_err(|error| error.context(line()))?;
        self.state().check_rewritten(name, (value, storages), expected, at)?;
        Ok(value)
    }
}
