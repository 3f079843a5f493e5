//! Operators that stand in place of others: calls of [`op::aclnn`](crate::op::aclnn) on values of a recipe.

use std::sync::Arc;

use crate::error::Result;
use crate::op::{self, Recorded, Recorder, Token};
use crate::plan::builder::Value;
use crate::plan::recipe::{Access, Mode};

/// An operator with its tensors.
pub(super) struct Replacing {
    pub(super) recorded: Arc<Recorded>,
    pub(super) accesses: Vec<Access>,
}

impl Replacing {
    /// What the call of a function of [`op::aclnn`](crate::op::aclnn) would be; its operands are [`value`]s.
    pub(super) fn of(call: impl FnOnce(&Recorder) -> Result<()>) -> Result<Self> {
        let (recorded, tensors) = op::recorded(call)?;
        let access = |(token, access): (Token, op::Access)| Access { value: token.index, mode: access.into() };
        Ok(Self { recorded: Arc::new(recorded), accesses: tensors.into_iter().map(access).collect() })
    }

    /// The same, told to leave its last result.
    pub(super) fn leaving_the_last(mut self) -> Self {
        self.accesses.iter_mut().last().into_iter().for_each(|last| last.mode = Mode::Clobber);
        self
    }
}

/// A value of the recipe, by its number, where a tensor stands.
pub(super) fn value(index: u32) -> Value {
    Token { owner: 0, index, version: 0 }.into()
}
