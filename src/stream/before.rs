//! Work of before a capture, while the stream records: the library refuses to wait for the stream then, and may end the
//! capture for it, but answers of an event that was recorded in front of the capture. So does work in front of a wait for
//! a signal that is to come, maybe from who asks.

use std::time::{Duration, Instant};

use acl_sys::aclmdlRICaptureStatus;

use super::elsewhere::may_be_missing;
use super::marks::Mark;
use super::{StreamInner, poll};
use crate::call::{Caller as _, call};
use crate::context::RawEvent;
use crate::error::{Error, ErrorKind, Result};
use crate::retire::{self, is_held, keepers};

/// How soon an event is asked again that is not reached.
const ASKED_AGAIN: Duration = Duration::from_micros(200);
/// How often the lock is tried of a stream that somebody gives work.
const LOOKS: usize = 8;

impl StreamInner {
    /// Whether the library says that the stream records.
    pub(crate) fn is_recording(&self) -> bool {
        let mut status = aclmdlRICaptureStatus::ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        let mut raw = std::ptr::null_mut();
        // SAFETY: two places for one value each; the handle is the stream's own.
        let asked = unsafe { call!(&*self.context, aclmdlRICaptureGetInfo(self.raw, &raw mut status, &raw mut raw)) };
        asked.is_ok() && status != aclmdlRICaptureStatus::ACL_MODEL_RI_CAPTURE_STATUS_NONE
    }

    /// The mark behind the submission `number` where the stream records, or
    /// what it was given later may wait for a signal.
    pub(super) fn mark_in_front(&self, number: u64) -> Option<Mark> {
        for _ in 0..LOOKS {
            if let Some(state) = self.state.try_lock() {
                let mark = state.marks.behind(number)?;
                let era = self.progress.era();
                let waits = || is_held(era, &state.clock) || may_be_missing((era, u64::MAX), &state.clock);
                let is_needed = state.capture.is_some() || (mark.number < self.progress.submitted() && waits());
                return is_needed.then(|| mark.clone());
            }
            retire::pause_for(Duration::from_micros(50));
        }
        None
    }

    /// Waits for the submissions that a mark is behind, as [`StreamInner::synchronize`].
    pub(super) fn wait_for_mark(&self, Mark { event, number, clock }: &Mark, limit: Option<i32>) -> Result<()> {
        self.wait_and_tell((*number, Some(clock)), || {
            let span = (self.progress.unreported().0, *number);
            let _taker = self.progress.takes(*number);
            let wait = |limit: Option<i32>| match limit {
                // SAFETY: the event is held by the caller.
                None => unsafe { call!(&*self.context, aclrtSynchronizeEvent(event.raw())) },
                Some(ms) => self.wait_at_most(event, ms),
            };
            let waited = if limit.is_some() { wait(limit) } else { keepers::wait_long(wait) };
            waited.map_err(|error| self.note_fault(error, span))
        })
    }

    fn wait_at_most(&self, event: &RawEvent, ms: i32) -> Result<()> {
        if self.context.table().aclrtSynchronizeEventWithTimeout().is_ok() {
            // SAFETY: as in `wait_for_mark`.
            return unsafe { call!(&*self.context, aclrtSynchronizeEventWithTimeout(event.raw(), ms)) };
        }
        let until = Instant::now() + Duration::from_millis(ms.unsigned_abs().into());
        while !poll::reached(event)? {
            if Instant::now() >= until {
                return Err(Error::new(ErrorKind::Timeout, format!("an event is not reached after {ms} ms")));
            }
            retire::pause_for(ASKED_AGAIN);
        }
        // SAFETY: as in `wait_for_mark`. It blocks nobody any more, and tells how the work ended.
        unsafe { call!(&*self.context, aclrtSynchronizeEvent(event.raw())) }
    }
}
