//! Asking a stream how far it is, without blocking and without touching a capture.

use std::sync::Arc;

use acl_sys::{aclrtEventRecordedStatus, aclrtStreamStatus};

use super::StreamInner;
use crate::call::call;
use crate::context::{Events, RawEvent};
use crate::error::Result;
use crate::lock::{Lock, say};

/// At most one record under way, with the submission that it stands for.
#[derive(Default)]
pub(crate) struct Marker(Lock<Option<(RawEvent, u64)>>);

impl Marker {
    pub(super) fn clear(&self) {
        drop(self.0.lock().take());
    }
}

impl StreamInner {
    /// Updates what is known to be done. A stream that is never idle is asked through a record of its own.
    pub(crate) fn poll(&self) {
        if let Err(error) = self.try_poll() {
            say!(Warn, "asking {} how far it is: {error:#}", self.name());
        }
    }

    fn try_poll(&self) -> Result<()> {
        // A thread that submits may wait for room in the queue while it holds the lock; whoever polls must not wait
        // too.
        let Some(state) = self.state.try_lock() else { return Ok(()) };
        if state.capture.is_some() {
            return Ok(());
        }
        let submitted = self.progress.submitted();
        let mut status = aclrtStreamStatus::ACL_STREAM_STATUS_NOT_READY;
        // SAFETY: `status` is a place for one value; the stream is this value's own and does not capture.
        unsafe { call!(&*self.context, aclrtStreamQuery(self.raw, &raw mut status)) }?;
        if status == aclrtStreamStatus::ACL_STREAM_STATUS_COMPLETE {
            self.progress.set_completed(submitted);
            return Ok(());
        }
        let mut marker = self.marker.0.lock();
        let mut reusable = match marker.take() {
            Some((event, number)) => {
                if !reached(&event)? {
                    *marker = Some((event, number));
                    return Ok(());
                }
                self.progress.set_completed(number);
                event
            }
            None => Events::take(&self.context)?,
        };
        // SAFETY: both handles are live, and the stream does not capture while its lock is held.
        unsafe { call!(&*self.context, aclrtRecordEvent(reusable.raw(), self.raw)) }?;
        reusable.set_recorded((Arc::clone(&self.progress), submitted));
        *marker = Some((reusable, submitted));
        Ok(())
    }
}

fn reached(event: &RawEvent) -> Result<bool> {
    let mut status = aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_NOT_READY;
    // SAFETY: `status` is a place for one value; the event is live.
    unsafe { call!(&**event.context(), aclrtQueryEventStatus(event.raw(), &raw mut status)) }?;
    Ok(status == aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_COMPLETE)
}
