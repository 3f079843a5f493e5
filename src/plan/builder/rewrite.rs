//! Operators that the table of decompositions rewrites.

use crate::error::Result;
use crate::lock::theirs;
use crate::op::{Call, Stands, stands};
use crate::plan::recipe::quantity::Quantity;

use super::state::Decomposed;
use super::{Builder, Value};

/// Ends the rewrite also when it panics.
struct Open<'a>(&'a Builder);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.state().end_rewrite();
    }
}

impl Builder {
    /// Issues an operator, or what it is rewritten to, with numbers that are known later.
    pub(super) fn record_told(&self, call: &Call<'_>, told: &[(String, Vec<Quantity>)]) -> Result<()> {
        let decomposed = self.state().record_call(call, told)?;
        let Some(decomposed) = decomposed else { return Ok(()) };
        let value = self.rewritten(&decomposed, call)?;
        match stands(call).as_slice().iter().find(|(_, access)| access.writes()) {
            Some((Stands::Value(out), _)) => self.state().copy_elements(value, (*out).into(), call.location),
            Some((Stands::Awaited(awaited), _)) => {
                awaited.fill(value.into());
                Ok(())
            }
            _ => unreachable!("an operator that is rewritten has one result"),
        }
    }

    /// Issues what an operator is rewritten to. What it has issued before an error stays.
    fn rewritten(&self, decomposed: &Decomposed, call: &Call<'_>) -> Result<Value> {
        let (Decomposed { rewrite: (name, rewrite), operation, operands, expected }, at) =
            (decomposed, call.location);
        let storages = self.state().begin_rewrite(name);
        let open = Open(self);
        let given = theirs(|| rewrite(self, operation, operands));
        drop(open);
        let line = || format!("in the decomposition of {name} at {}:{}", at.file(), at.line());
        let value = given.map_err(|error| error.context(line()))?;
        self.state().check_rewritten(name, (value, storages), expected, at)?;
        Ok(value)
    }
}
