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
        let evicts = self.options.on_full == OnFull::EvictLeastRecent;
        let (mut form, mut why) = (self.form, None);
        while evicts && self.store.len() > 0 && budget::is_short(&self.plan.0, &self.context, form)? {
            self.evict();
        }
        loop {
            if self.origin.0.is_spoilt() {
                self.origin = Stream::lease(self.context.inner())?;
            }
            match self.record(Arc::clone(sized), key.clone(), bound, (form, at)) {
                Err(Failed { error, .. }) if evicts && self.store.len() > 0 && none_left(&error) => self.evict(),
                Err(Failed { error, in_arm: true }) if self.may_be_in_parts(sized) => {
                    (form, why) = (Form::Segments, Some(error));
                }
                done => return done.map_err(|failed| in_place_of(failed.error, why)),
            }
        }
    }

    /// Whether the host can choose among arms, each a graph of its own, where one graph cannot have them all.
    fn may_be_in_parts(&self, sized: &Sized) -> bool {
        Form::Segments.check_waits(sized.recipe(&self.plan.0)).is_ok()
    }
}

fn none_left(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NoStreams | ErrorKind::NoEvents | ErrorKind::OutOfMemory)
}

/// What is wrong with a capture in parts, which one graph could not be, as `why` says.
fn in_place_of(error: Error, why: Option<Error>) -> Error {
    match why {
        Some(why) => error.context(format!("captured in parts, since one graph cannot have them all: {why}")),
        None => error,
    }
}
