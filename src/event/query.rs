//! Whether an event is reached.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::Event;
use crate::call::{Caller as _, call};
use crate::closure;
use crate::error::{Error, ErrorKind, Result};
use crate::progress::Progress;
use crate::retire;
use crate::retire::keepers;

/// How soon an event is asked again that is not reached: at first, and at last.
const QUERY_AGAIN: Range<Duration> = Duration::from_micros(50)..Duration::from_millis(5);

impl Event {
    /// Whether the latest record is reached; true for an event that was never recorded. Does not block.
    ///
    /// # Errors
    ///
    /// As [`Event::synchronize`]: work before the record that failed is reported here, and a host function that panicked.
    /// Where somebody was told so already, of work up to the record or behind it, an error of the same kind says this until
    /// the event is recorded again.
    #[doc(alias = "aclrtQueryEventStatus")]
    pub fn is_complete(&self) -> Result<bool> {
        let ended = self.has_ended()?;
        if !ended {
            return Ok(false);
        }
        let Some(position) = self.position() else { return Ok(self.is_held_long()) };
        if let (Some((progress, number)), _) = position {
            if !progress.is_noted(number) {
                return Ok(false);
            }
            if !closure::is_running() {
                progress.tell_panics((0, number))?;
            }
            progress.check_ended_well(number)?;
        }
        Ok(true)
    }

    /// Whether the latest record is reached; how the work before it ended is told once, as by waits, but for panics.
    pub(crate) fn has_ended(&self) -> Result<bool> {
        self.check_signalled()?;
        if !self.is_reached()? {
            return Ok(false);
        }
        // Where another thread records it, or has a stream wait for it, what is reached is known soon.
        let Some(position) = self.position() else { return Ok(self.is_held_long()) };
        if let (Some((progress, number)), _) = position {
            if progress.is_dropped_from() && !progress.has_completed(number) {
                // Whether it was dropped is known soon.
                return Ok(false);
            }
            progress.check_run(number)?;
            let may_ask = !closure::is_running() || self.has_limited_wait();
            if !progress.has_reported(number) && may_ask {
                // The query says that the work is over, not how it ended. Others may have recorded it again since.
                let told = self.outlast_within(Duration::from_millis(1)).map(drop);
                if told.as_ref().is_err_and(Error::is_not_done) {
                    return Ok(false);
                }
                retire::told_of_end(told)?;
            }
        }
        Ok(true)
    }

    /// Whether the latest record is reached, whatever became of the work before it.
    pub(crate) fn is_reached(&self) -> Result<bool> {
        let before = self.position().unwrap_or_default();
        let reached = self.query()?;
        if reached {
            self.passed(before, Progress::set_completed);
        } else {
            keepers::glance();
        }
        Ok(reached)
    }

    /// What the library says of the latest record; the caller may have the event's lock.
    pub(super) fn query(&self) -> Result<bool> {
        let mut status = acl_sys::aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_NOT_READY;
        // SAFETY: `status` is a place for one value; the handle is this value's own.
        unsafe { call!(&**self.context_inner(), aclrtQueryEventStatus(self.as_raw(), &raw mut status)) }?;
        match status {
            acl_sys::aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_COMPLETE => Ok(true),
            acl_sys::aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_NOT_READY => Ok(false),
            other => Err(Error::new(ErrorKind::UnknownValue, format!("event status {}", other.0))),
        }
    }

    /// Whether the library can wait for an event for a time.
    fn has_limited_wait(&self) -> bool {
        self.context_inner().table().aclrtSynchronizeEventWithTimeout().is_ok()
    }

    pub(super) fn wait_at_most(&self, ms: i32) -> Result<()> {
        if !self.has_limited_wait() {
            return self.query_at_most(ms);
        }
        // SAFETY: the handle is this value's own.
        unsafe { call!(&**self.context_inner(), aclrtSynchronizeEventWithTimeout(self.as_raw(), ms)) }
    }

    /// As [`Event::wait_at_most`], with a library that has no such wait, as up to CANN 9.0.
    fn query_at_most(&self, ms: i32) -> Result<()> {
        let limit = Duration::from_millis(ms.unsigned_abs().into());
        let (begun, mut step) = (Instant::now(), QUERY_AGAIN.start);
        while !self.is_reached()? {
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(Error::new(ErrorKind::Timeout, format!("an event is not reached after {ms} ms")));
            }
            retire::pause_for(step.min(left));
            step = (2 * step).min(QUERY_AGAIN.end);
        }
        // It blocks nobody any more, and tells how the work ended.
        // SAFETY: the handle is this value's own.
        unsafe { call!(&**self.context_inner(), aclrtSynchronizeEvent(self.as_raw())) }
    }
}

#[cfg(all(test, feature = "mock"))]
mod tests {
    use crate::{Acl, ErrorKind, mock};

    /// A thread that records it, or makes a stream wait for it, may be held up for as long as it likes.
    #[test]
    fn an_event_that_another_thread_has_says_nothing_of_work_that_failed() {
        let _alone = mock::exclusive();
        let context = Acl::mock().unwrap().device(0).unwrap().context().create_context().unwrap();
        let (stream, event) = (context.stream().unwrap(), context.event().unwrap());
        let mut buffer = context.alloc::<u8>(4).unwrap();
        mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        event.record(&stream).unwrap();
        mock::run_until_idle();
        let had = event.last().unwrap();
        let told = std::thread::scope(|scope| scope.spawn(|| event.is_complete()).join().unwrap());
        assert!(!told.unwrap());
        drop(had);
        assert_eq!(event.is_complete().unwrap_err().kind(), ErrorKind::DeviceFault);
        drop((stream, buffer));
        context.take_drop_errors();
    }
}
