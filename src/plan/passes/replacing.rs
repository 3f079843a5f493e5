//! Operators that stand in place of others: calls of [`op::aclnn`](crate::op::aclnn) on values of a recipe.

use std::cell::RefCell;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::op::{self, Call, Destination, Place, Record, Recorded, Stands, Token};
use crate::plan::builder::Value;
use crate::plan::recipe::Access;

/// An operator with its tensors.
pub(super) struct Replacing {
    pub(super) recorded: Arc<Recorded>,
    pub(super) accesses: Vec<Access>,
}

impl Replacing {
    /// What the call of a function of [`op::aclnn`](crate::op::aclnn) would be; its operands are [`value`]s.
    pub(super) fn of(call: impl FnOnce(&Recorder) -> Result<()>) -> Result<Self> {
        let recorder = Recorder(RefCell::new(None));
        call(&recorder)?;
        recorder.0.into_inner().ok_or_else(|| odd("no operator"))
    }
}

/// A value of the recipe, by its number, where a tensor stands.
pub(super) fn value(index: u32) -> Value {
    Token { owner: 0, index, version: 0 }.into()
}

/// Stands where a stream does.
pub(super) struct Recorder(RefCell<Option<Replacing>>);

impl Destination for Recorder {
    fn place(&self) -> Place<'_> {
        Place::Recorder(self)
    }
}

impl Record for Recorder {
    #[allow(private_interfaces)]
    fn record(&self, call: &Call<'_>) -> Result<()> {
        let access = |(stands, access): (Stands<'_>, op::Access)| match stands {
            Stands::Value(token) => Ok(Access { value: token.index, mode: access.into() }),
            _ => Err(odd("an operand that is no value")),
        };
        let accesses = op::stands(call).into_iter().map(access).collect::<Result<_>>()?;
        *self.0.borrow_mut() = Some(Replacing { recorded: Arc::new(Recorded::of(call)?), accesses });
        Ok(())
    }
}

fn odd(what: &str) -> Error {
    Error::new(ErrorKind::Internal, format!("a pass called {what}"))
}
