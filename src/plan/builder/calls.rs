//! Calls of other plans and choices among them, for the room that has plans to call.

use super::state::{Asked, At, Choosing};
use super::{Builder, Value};
use crate::error::Result;
use crate::plan::check::finding::FindingKind;

impl Builder {
    /// Issues a call, and gives its results.
    pub(in crate::plan) fn call_of(&self, asked: &Asked<'_>, at: At) -> Result<Vec<Value>> {
        self.state().call(asked, at)
    }

    /// Issues a choice, and gives its results.
    pub(in crate::plan) fn choose_of(&self, asked: &Choosing<'_>, at: At) -> Result<Vec<Value>> {
        self.state().choose(asked, at)
    }

    /// The error of a choice that was made at `at`.
    pub(in crate::plan) fn not_chosen<T>(&self, text: String, at: At) -> Result<T> {
        self.state().wrong(FindingKind::Call, at, text)
    }

    /// The error of a call that was made at `at`.
    pub(in crate::plan) fn not_callable<T>(&self, text: &str, at: At) -> Result<T> {
        self.state().not_callable(text, at)
    }
}
