//! Failures that work has from other streams: it is behind work there that failed, and may have read what that left.
//!
//! The library tells each failure to who waits for the stream that it is of. Of the others only the streams know that are
//! made to wait, and of those that some task failed, whoever waits for what is behind it is told here, once for each.

use std::sync::Arc;

use super::StreamInner;
use super::abort::of_device;
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};
use crate::progress::{Clock, Pass, Progress};
use crate::retire;

impl StreamInner {
    /// That what the work up to `number`, which is over, is behind on other streams did not fail. In front of what the
    /// stream was given later, `clock` has what that much is behind; else all of it was waited for, since `moment`.
    #[inline]
    pub(super) fn check_inherited(
        &self,
        (before, number): (u64, u64),
        clock: Option<&Clock>,
        moment: u64,
    ) -> Result<()> {
        if self.context.failures.are_none() {
            Ok(())
        } else {
            self.look_for_inherited((before, number), clock, moment)
        }
    }

    #[cold]
    fn look_for_inherited(&self, (before, number): (u64, u64), clock: Option<&Clock>, moment: u64) -> Result<()> {
        if let Some(clock) = clock {
            return check_inherited(&self.context, (&self.progress, before, number), clock);
        }
        // Nobody is told any more of what failed before all was well.
        if let Some(id) = self.number() {
            self.context.failures.settle(id, moment);
        }
        let clock = self.state.try_lock().map(|state| state.clock.clone());
        // Who has it may wait for room behind the very work that this thread is to bring.
        let clock = clock.or_else(|| {
            retire::pause_for(retire::BRIEF);
            self.state.try_lock().map(|state| state.clock.clone())
        });
        clock.map_or(Ok(()), |clock| check_inherited(&self.context, (&self.progress, before, number), &clock))
    }

    /// Takes what the library has to say of failures that somebody was told of otherwise.
    pub(crate) fn take_told(&self) {
        if self.progress.failures() > 0 && !self.is_settled() {
            // Where the work is not over, it is told once more.
            drop(self.c_synchronize(Some(1)));
        }
    }

    /// That by which the library names the stream in failures.
    fn number(&self) -> Option<u32> {
        self.id().ok()?.try_into().ok()
    }
}

/// The same of the work of any stream: of what came behind `before`, whose order `clock` has.
#[cold]
pub(crate) fn check_inherited(
    context: &ContextInner,
    (progress, before, number): (&Progress, u64, u64),
    clock: &Clock,
) -> Result<()> {
    let mut told = Ok(());
    for other in of_device(context) {
        let (reported, submitted) = other.unreported();
        // Of what was told before, somebody knows.
        if std::ptr::eq(Arc::as_ptr(&other), progress) || !clock.covers(other.era(), reported.saturating_add(1)) {
            continue;
        }
        let Some(id) = number_of(&other) else { continue };
        let Some(failure) = context.failures.of_stream((id, other.born()), progress.era()) else { continue };
        // Whatever it is for a call, of work it is a failure.
        let kind = Some(ErrorKind::of_code(failure.code())).filter(|kind| kind.is_of_work());
        let kind = kind.unwrap_or(ErrorKind::DeviceFault);
        other.note_failed((reported, submitted), kind);
        // What came behind it may have it from that, too, and nobody is told again.
        progress.note_failed((before.min(number.saturating_sub(1)), progress.submitted()), kind);
        let text = format!("work of stream {id}, which this work is behind, failed");
        told = told.and(Err(Error::new(kind, text).with_source(failure)));
    }
    told
}

pub(super) fn number_of(progress: &Arc<Progress>) -> Option<u32> {
    let _pass = Pass::begin(progress);
    StreamInner::of(progress)?.number()
}
