//! Asking a stream how far it is, without blocking and without touching a capture.

use std::time::{Duration, Instant};

use acl_sys::{aclrtEventRecordedStatus, aclrtStreamStatus};

use super::{State, StreamInner};
use crate::call::call;
use crate::closure;
use crate::context::{Events, RawEvent};
use crate::error::Result;
use crate::lock::{Lock, say};
use crate::retire;

/// Up to how many submissions that are not known to be done there is room in the queue for a record. A queue takes some
/// 2,000 tasks, and a submission may be several.
const SHALLOW: u64 = 256;

/// Beyond how many there may be none, where each is one task or two.
const DEEP: u64 = 1024;

/// At most one record under way, with the submission that it stands for.
#[derive(Default)]
pub(crate) struct Marker(Lock<Option<(RawEvent, u64)>>);

impl Marker {
    pub(super) fn clear(&self) {
        drop(self.0.lock().take());
    }
}

impl StreamInner {
    /// Waits until the submission with this number is done, for at most `limit` milliseconds, and reports errors of
    /// the work up to it.
    pub(crate) fn wait_for(&self, number: u64, limit: Option<i32>) -> Result<()> {
        if self.progress.has_reported(number) {
            return Ok(());
        }
        if let Some(mark) = self.mark_in_front(number) {
            return self.wait_for_mark(&mark, limit);
        }
        match self.synchronize(limit) {
            // The work is done; how it ended is told after the capture.
            Err(_) if self.progress.has_completed(number) && self.captures(limit) => Ok(()),
            waited => waited,
        }
    }

    /// Whether the stream captures; not where another thread has its lock for as many milliseconds, which may wait for
    /// room in the queue.
    fn captures(&self, limit: Option<i32>) -> bool {
        let Some(ms) = limit else { return self.lock().capture.is_some() };
        let until = Instant::now() + Duration::from_millis(ms.unsigned_abs().into());
        loop {
            match self.state.try_lock() {
                Some(state) => return state.capture.is_some(),
                None if Instant::now() >= until => return false,
                None => retire::pause_for(Duration::from_micros(100)),
            }
        }
    }

    /// Updates what is known to be done. A stream that is never idle is asked through a record of its own.
    pub(crate) fn poll(&self) {
        if let Err(error) = self.try_poll() {
            say!(Warn, "asking {} how far it is: {error:#}", self.name());
        }
    }

    /// How its work ended, which is over. A host function frees nothing that the program owns meanwhile.
    pub(super) fn ask_how_it_ended(&self) -> Result<()> {
        if !closure::is_running() {
            return retire::wait_moment(|limit| self.synchronize(limit));
        }
        retire::told_of_end(self.c_wait(Some(1)))
    }

    /// Whether there surely is room in the queue for a task.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.progress.open() <= SHALLOW
    }

    /// Whether the queue may be full, as far as is known of its work.
    pub(crate) fn may_be_full(&self) -> bool {
        self.progress.open() > DEEP
    }

    fn try_poll(&self) -> Result<()> {
        // A thread that submits may wait for room in the queue while it holds the lock; whoever polls must not wait
        // too.
        let Some(state) = self.state.try_lock() else { return Ok(()) };
        if state.capture.is_some() {
            // Of what was given before. Later work is of the capture.
            if let Some(mark) = state.marks.behind(self.progress.completed() + 1)
                && reached(&mark.event)?
            {
                self.progress.set_completed(mark.number);
            }
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
        let former = match marker.take() {
            Some((event, number)) => {
                if !reached(&event)? {
                    *marker = Some((event, number));
                    return Ok(());
                }
                self.progress.set_completed(number);
                Some(event)
            }
            None => None,
        };
        // A record waits for room, which there may never be again. Whoever gives the stream work waits for room anyway.
        if !self.has_room() {
            state.wants_marker.set(true);
            return Ok(());
        }
        *marker = Some(self.record_marker(former)?);
        Ok(())
    }

    /// Records how far the stream is before it is given more work, for who asked while its queue may have been full. The
    /// caller holds the stream's lock, and `state` captures nothing.
    #[cold]
    pub(super) fn mark_for_others(&self, state: &State) {
        state.wants_marker.set(false);
        // Who clears it must not wait for room.
        let former = self.marker.0.lock().take();
        match self.record_marker(former.map(|(event, _)| event)) {
            Ok(recorded) => *self.marker.0.lock() = Some(recorded),
            Err(error) => say!(Warn, "recording how far {} is: {error:#}", self.name()),
        }
    }

    fn record_marker(&self, event: Option<RawEvent>) -> Result<(RawEvent, u64)> {
        let submitted = self.progress.submitted();
        let mut event = event.map_or_else(|| Events::take_now(&self.context), Ok)?;
        // SAFETY: both handles are live, and the stream does not capture while its lock is held.
        unsafe { call!(&*self.context, aclrtRecordEvent(event.raw(), self.raw)) }?;
        event.set_recorded(&self.progress, submitted);
        Ok((event, submitted))
    }
}

pub(super) fn reached(event: &RawEvent) -> Result<bool> {
    let mut status = aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_NOT_READY;
    // SAFETY: `status` is a place for one value; the event is live.
    unsafe { call!(&**event.context(), aclrtQueryEventStatus(event.raw(), &raw mut status)) }?;
    Ok(status == aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_COMPLETE)
}

#[cfg(all(test, feature = "mock"))]
mod tests {
    use crate::{Acl, ErrorKind, Result, mock};

    /// Others wait for a stream's work, such as the end of a context whose memory it uses.
    #[test]
    fn what_others_are_told_of_its_work_is_told_to_who_waits_for_the_stream() -> Result<()> {
        let _alone = mock::exclusive();
        let context = Acl::mock()?.device(0)?.context().create_context()?;
        let stream = context.stream()?;
        let mut buffer = context.alloc::<u8>(4)?;
        let codes = [(507_899, ErrorKind::Driver), (107_020, ErrorKind::Timeout), (507_015, ErrorKind::DeviceFault)];
        for (code, kind) in codes {
            mock::fail_task("aclrtMemsetAsync", 1, code)?;
            stream.fill_bytes(&mut buffer, 1)?;
            let all = stream.0.progress.submitted();
            crate::progress::Use::new(&stream.0, all).outlast(None)?;
            assert!(stream.0.progress.has_completed(all), "{kind:?}");
            assert_eq!(stream.synchronize().map_err(|error| error.kind()), Err(kind));
            stream.synchronize()?;
        }
        Ok(())
    }
}
