//! Captures that do without something: graphs of earlier runs, or an arm that the library refuses.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::stream::Stream;

use super::bindings::Bound;
use super::budget;
use super::choose::Form;
use super::executable::Executable;
use super::issue::At;
use super::options::OnFull;
use super::sized::Sized;
use super::store::{Captured, Key};

/// Why there is no graph.
pub(super) struct Failed {
    pub(super) error: Error,
    /// Whether the host may choose in its place, since it is an arm that the library refuses.
    pub(super) in_arm: bool,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self { error, in_arm: false }
    }
}

impl Executable {
    /// Captures a graph. Where the device has nothing left for it, graphs go that were used longest ago, as at the
    /// limit.
    pub(super) fn record_somehow(
        &mut self,
        sized: &Arc<Sized>,
        key: &Key,
        bound: &[Option<Bound>],
        at: At,
    ) -> Result<Captured> {
        if self.origin.0.is_spoilt() {
            self.origin = Stream::lease(self.context.inner())?;
        }
        let evicts = self.options.on_full == OnFull::EvictLeastRecent;
        while evicts && self.store.len() > 0 && budget::is_short(&self.plan.0, &self.context, self.form)? {
            self.evict();
        }
        loop {
            let none_left = |error: &Error| {
                matches!(error.kind(), ErrorKind::NoStreams | ErrorKind::NoEvents | ErrorKind::OutOfMemory)
            };
            match self.record(Arc::clone(sized), key.clone(), bound, (self.form, at)) {
                Err(Failed { error, .. }) if evicts && self.store.len() > 0 && none_left(&error) => self.evict(),
                Err(Failed { error, in_arm: true }) => return self.record_in_parts(sized, key, bound, at, error),
                other => return other.map_err(|failed| failed.error),
            }
        }
    }

    /// Captures a graph for each arm, among which the host chooses, where an arm cannot be part of one graph, as `why` says.
    fn record_in_parts(
        &mut self,
        sized: &Arc<Sized>,
        key: &Key,
        bound: &[Option<Bound>],
        at: At,
        why: Error,
    ) -> Result<Captured> {
        let form = Form::Segments;
        if form.check_waits(sized.recipe(&self.plan.0)).is_err()
            || budget::check(&self.plan.0, &self.context, form, true).is_err()
        {
            return Err(why);
        }
        if self.origin.0.is_spoilt() {
            self.origin = Stream::lease(self.context.inner())?;
        }
        self.record(Arc::clone(sized), key.clone(), bound, (form, at)).map_err(|failed| failed.error)
    }
}
