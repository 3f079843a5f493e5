//! How the latest run ended, as far as anybody was told.
//!
//! The library tells each failure once, to whoever waits first: a read of an output, or the user on a stream, an event
//! or the whole device. Whoever reads an output later would get numbers of the run before.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, ErrorKind, Result};
use crate::progress::{Progress, Span, device_failures};
use crate::retire::has_notes;
use crate::stream::Stream;

/// The latest run.
#[derive(Default)]
pub(super) struct Outcome {
    /// What it submitted, by stream.
    parts: Vec<(Arc<Progress>, Span)>,
    device: i32,
    /// Failures of the device that were told before it.
    before: u64,
    /// A read of an output was told that it failed.
    told: AtomicBool,
    /// Everything of it was waited for, and nothing had failed.
    good: AtomicBool,
    /// What may have failed.
    may_fail: Option<Arc<str>>,
}

impl Outcome {
    /// Of no run yet, with what may fail in each.
    pub(super) fn of(may_fail: Option<Arc<str>>) -> Self {
        Self { may_fail, ..Self::default() }
    }

    /// A run on `stream` begins. Whoever has the outputs of the one before keeps what is known of it.
    pub(super) fn begin(latest: &mut Arc<Self>, stream: &Stream) {
        if Arc::get_mut(latest).is_none() {
            *latest = Arc::new(Self::of(latest.may_fail.clone()));
        }
        if let Some(own) = Arc::get_mut(latest) {
            own.begin_at(stream);
        }
    }

    fn begin_at(&mut self, stream: &Stream) {
        (*self.told.get_mut(), *self.good.get_mut()) = (false, false);
        self.device = stream.0.context().device();
        self.before = device_failures(self.device);
        let progress = stream.0.progress();
        let after = progress.submitted();
        self.parts.truncate(1);
        match self.parts.first_mut() {
            Some((known, span)) if Arc::ptr_eq(known, progress) => span.0 = after,
            _ => self.parts = vec![(Arc::clone(progress), (after, after))],
        }
    }

    /// It goes to `stream` as well.
    pub(super) fn add(latest: &mut Arc<Self>, stream: &Stream) {
        let progress = stream.0.progress();
        let after = progress.submitted();
        if let Some(own) = Arc::get_mut(latest) {
            own.parts.push((Arc::clone(progress), (after, after)));
        }
    }

    /// All of it is submitted, or nothing more is.
    pub(super) fn end(latest: &mut Arc<Self>) {
        let parts = Arc::get_mut(latest).map(|own| &mut own.parts);
        for (progress, span) in parts.into_iter().flatten() {
            span.1 = progress.submitted();
        }
    }

    /// Notes what a read of an output was told; with what may have failed.
    pub(super) fn told(&self, error: Error) -> Error {
        let passes = [ErrorKind::CaptureForbidden, ErrorKind::NotSupported, ErrorKind::Timeout, ErrorKind::Deadlock];
        if error.is_of_work() || !passes.contains(&error.kind()) {
            self.told.store(true, Ordering::Release);
        }
        match &self.may_fail {
            Some(text) if error.is_of_work() => error.context_in_front(&**text),
            _ => error,
        }
    }

    /// Whoever began it may have been told that work failed.
    pub(super) fn was_told(&self, done: &Result<()>) {
        if done.as_ref().is_err_and(Error::is_of_work) {
            self.told.store(true, Ordering::Release);
        }
    }

    /// Those of its host functions.
    pub(super) fn tell_panics(&self) -> Result<()> {
        let panics = self.parts.iter().try_for_each(|(progress, span)| progress.tell_panics(*span));
        panics.map_err(|error| self.told(error))
    }

    /// That nobody was told that it failed; panics of its host functions are told here, and that it was aborted.
    pub(super) fn check(&self) -> Result<()> {
        self.tell_panics()?;
        self.tell_dropped()?;
        if self.has_failed() { Err(Error::invalid(self.why("an output of a run that failed"))) } else { Ok(()) }
    }

    /// That nothing of it was dropped, unless somebody was told that it failed.
    pub(super) fn tell_dropped(&self) -> Result<()> {
        if self.told.load(Ordering::Acquire) || self.good.load(Ordering::Acquire) || !self.was_dropped() {
            return Ok(());
        }
        Err(self.told(Error::new(
            ErrorKind::Aborted,
            "the run was dropped, or may have been: a stream of it was aborted",
        )))
    }

    /// Whether some of it may have been dropped.
    pub(super) fn was_dropped(&self) -> bool {
        self.parts.iter().any(|(progress, span)| !is_known(progress, *span) || progress.has_dropped(*span))
    }

    /// The text, with what may have failed, of a run that did.
    pub(super) fn why(&self, text: &str) -> String {
        match &self.may_fail {
            Some(why) if self.has_failed() => format!("{text}: {why}"),
            _ => text.to_owned(),
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        if self.told.load(Ordering::Acquire) {
            return true;
        }
        // Whoever reads an output is told.
        if self.good.load(Ordering::Acquire) || self.parts.iter().any(|(of, span)| of.has_untold_panic(*span)) {
            return false;
        }
        // Of no run: failures that were told before say nothing of it.
        if self.parts.is_empty() {
            return false;
        }
        if !self.parts.iter().all(|(progress, span)| is_known(progress, *span)) {
            return true;
        }
        // In this order: what is reported after that is not taken for good.
        let over = self.parts.iter().all(|(progress, span)| progress.has_reported(span.1));
        let device = device_failures(self.device) != self.before;
        let failed = device || self.parts.iter().any(|(progress, span)| progress.has_failed(*span));
        if over && !failed {
            self.good.store(true, Ordering::Release);
        }
        failed
    }
}

/// Whether it is noted how much of `span` was dropped; what was known to be done before is not.
fn is_known(progress: &Progress, span: Span) -> bool {
    progress.has_completed(span.1) || has_notes(progress)
}
