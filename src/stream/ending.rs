//! How a stream ends: destroyed or given back, at once, by a drop, or by a thread that waits for its work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use acl_sys::aclrtStream;

use super::{Ownership, Stream, StreamInner};
use crate::call::call;
use crate::closure;
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::progress::{Pass, Progress, Queue as _};
use crate::retire::{self, Waited};

impl Stream {
    fn others(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }

    /// That nobody else has it, but for a moment; nor this thread, which would wait for itself.
    pub(super) fn check_owners(&self) -> Result<()> {
        let passes = self.0.progress.passes();
        if passes.has_own() {
            let text =
                format!("this thread is inside a wait for work of {}, or asks it; close it afterwards", self.name());
            return Err(Error::invalid(text));
        }
        self.refuse_for(passes.owners(|| self.others()))
    }

    /// Ends a stream that nobody else has any more: who had it for a moment, such as to wait for work that is done now,
    /// is waited for. Who would ask it from here on finds it gone, unless its end fails.
    pub(super) fn end_alone<T>(self, end: impl FnOnce(&StreamInner) -> Result<T>) -> Result<T, Refused<Self>> {
        let until = retire::deadline();
        let mut shared = self;
        let alone = loop {
            let limit = until.saturating_duration_since(Instant::now());
            let passes = shared.0.progress.passes();
            let others = passes.wait_alone(limit, |passing| passing, || shared.others());
            if let Err(error) = shared.refuse_for(others) {
                return Err(Refused::new(shared, error));
            }
            // Somebody may have come in between.
            match Arc::try_unwrap(shared.0) {
                Ok(alone) => break alone,
                Err(again) => shared = Self(again),
            }
        };
        match end(&alone) {
            Ok(done) => Ok(done),
            Err(error) => {
                let back = Arc::new(alone);
                super::abort::note_heir(&back);
                back.progress.leave_to(&back);
                Err(Refused::new(Self(back), error))
            }
        }
    }

    /// As [`Stream::give_away`] in the way of a drop: it waits as long as one, and what became of the work is told as
    /// an error of one.
    pub(crate) fn give_back_handle(self) -> Result<aclrtStream, Refused<Self>> {
        self.give_after(StreamInner::end_for_owner)
    }

    fn refuse_for(&self, others: usize) -> Result<()> {
        match others {
            0 => Ok(()),
            others => Err(Error::invalid(format!("{others} other handles or captures hold {}", self.name()))),
        }
    }
}

impl StreamInner {
    /// Waits for the work, and tells what became of it.
    pub(super) fn end_work(&self) -> Result<()> {
        let settled = self.is_settled() && self.untold.lock().is_none();
        if settled { Ok(()) } else { self.synchronize(None) }
    }

    /// Waits for the work of a stream that goes back to its owner.
    fn end_for_owner(&self) -> Result<()> {
        let settled = self.is_settled() && self.untold.lock().is_none();
        match if settled { Ok(Waited::Done) } else { retire::wait(|limit| self.synchronize(limit)) } {
            Ok(Waited::Done) => Ok(()),
            Ok(_) => {
                let text = format!("work of {} is not done; it goes back to its owner later", self.describe());
                Err(Error::new(ErrorKind::Timeout, text))
            }
            // However it ended, it is over.
            Err(error) if error.is_of_work() && self.progress.open() == 0 => {
                self.tell_of_end(error);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the work is over soon. A failure of it is told as one of the drop.
    pub(crate) fn ends_soon(&self) -> bool {
        self.is_settled()
            || retire::wait_briefly(|limit| self.synchronize(limit)).unwrap_or_else(|error| {
                self.tell_of_end(error);
                true
            })
    }

    /// Everything submitted is done and its errors told.
    pub(crate) fn is_settled(&self) -> bool {
        self.progress.has_reported(self.progress.submitted()) && !self.progress.has_panics()
    }

    /// Frees what the stream kept for itself; before the stream is gone.
    pub(super) fn put_away(&self) {
        self.context.spent.bury();
        let kept = {
            let mut state = self.lock();
            (state.workspace.take(), std::mem::take(&mut state.marks), state.forked.take())
        };
        drop(kept);
        self.marker.clear();
    }

    /// Destroys the stream or gives it back, once. The runtime waits for work first, says its guide on streams.
    pub(super) fn release(&self) -> Result<()> {
        if self.released.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.put_away();
        let idle = self.progress.has_completed(self.progress.submitted());
        let (context, raw) = (&*self.context, self.raw);
        // One that is not idle needs its host functions run before it can go.
        let left = !idle || self.ownership == Ownership::Default || self.leave_reports();
        let result = match self.ownership {
            Ownership::Default if !idle => {
                Err(Error::new(ErrorKind::DeviceLost, "work of the default stream is lost"))
            }
            Ownership::Default => Ok(()),
            Ownership::Leased if idle && left && !self.is_spoilt() && context.idle_streams.give_back(raw) => Ok(()),
            // SAFETY: this is the owner's only destroy; no capture holds the stream, since one would hold this value.
            _ => unsafe { call!(context, aclrtDestroyStream(raw)) }.inspect(|()| context.reports.forget(raw)),
        };
        if result.is_err() {
            self.released.store(false, Ordering::Release);
        }
        result
    }

    /// The stream is gone. Frees host functions that it never came to: the library runs none of them any more. What they
    /// own may wait for its work, and knows that it is gone.
    fn finish(&self, lost: Option<String>) {
        self.progress.finish(lost);
        if !self.released.load(Ordering::Acquire) {
            return;
        }
        self.unrun.take().into_iter().for_each(|function| self.context.spent.add(function));
        self.context.spent.bury();
    }

    /// Whether no thread runs its host functions any more.
    fn leave_reports(&self) -> bool {
        let left = self.context.reports.leave(&self.context, self.raw);
        left.map_err(|error| self.context.record_drop_error("ending the callbacks of a stream", error)).is_ok()
    }

    /// The stream, whose last handle goes, as something that others find: who waits for its work, orders work behind it or
    /// aborts it.
    fn heir(&mut self) -> Arc<Self> {
        let heir = Arc::new(Self {
            raw: self.raw,
            ownership: self.ownership,
            name: std::mem::take(&mut self.name),
            state: Arc::clone(&self.state),
            released: AtomicBool::new(false),
            spoilt: AtomicBool::new(self.is_spoilt()),
            progress: Arc::clone(&self.progress),
            marker: std::mem::take(&mut self.marker),
            untold: std::mem::take(&mut self.untold),
            fault: std::mem::take(&mut self.fault),
            unrun: std::mem::take(&mut self.unrun),
            marked: AtomicU64::new(self.marked.load(Ordering::Acquire)),
            waited: AtomicBool::new(false),
            context: Arc::clone(&self.context),
        });
        super::abort::note_heir(&heir);
        self.progress.leave_to(&heir);
        heir
    }

    /// Waits for the work of a stream that nobody has any more, on a thread where that takes long. Gives what went wrong.
    fn outlast(self: Arc<Self>) -> Vec<Error> {
        let failed = match retire::wait(|limit| self.synchronize(limit)) {
            Ok(Waited::Done) => self.waited_for(Ok(())),
            Err(error) => self.waited_for(Err(error)),
            Ok(other) => {
                let told = other.told(|| format!("work of {}", self.describe()));
                retire::leave(other, self, |heir| {
                    let failed = heir.waited_for(heir.synchronize(None));
                    failed.into_iter().for_each(|error| heir.tell_of_end(error));
                });
                return told.into_iter().collect();
            }
        };
        let passes = self.progress.passes();
        if !passes.has_own() {
            // Who asked it meanwhile would end it in the midst of something else.
            passes.wait_alone(retire::BRIEF, |passing| passing, || Arc::strong_count(&self) - 1);
        }
        failed
    }

    /// Behind a wait for all of its work, which tells no panic where it was told of failed work. Gives what went wrong.
    fn waited_for(&self, waited: Result<()>) -> Vec<Error> {
        let mut failed: Vec<_> = waited.err().into_iter().collect();
        if !failed.is_empty() && self.progress.has_panics() {
            failed.extend(retire::wait_moment(|limit| self.synchronize(limit)).err());
        }
        self.waited.store(true, Ordering::Release);
        failed
    }

    /// Destroys a stream that nobody waits for any more, and tells what went wrong.
    fn end(&self) {
        // Found by somebody else who waited for it meanwhile.
        let found = [self.tell_what_is_left(), self.progress.tell_panics((0, u64::MAX))];
        let released = self.release();
        let open = released.is_err() && !self.progress.has_completed(self.progress.submitted());
        let lost = open.then(|| self.describe());
        self.finish(lost);
        found.into_iter().filter_map(Result::err).for_each(|error| self.tell_of_end(error));
        if let Err(error) = released {
            self.context.record_drop_error("destroying a stream", error);
        }
    }

    /// As [`Self::tell_later`]; gives the error back where something else is kept.
    fn keep_untold(&self, error: Error) -> Option<Error> {
        match &mut *self.untold.lock() {
            Some(_) => Some(error),
            none => {
                *none = Some(error);
                None
            }
        }
    }

    fn tell_of_end(&self, error: Error) {
        self.context.record_drop_error("waiting for a stream that goes away", error);
    }
}

/// Nobody heard what a drop was told of work of this stream: its next wait tells it, or
/// [`Context::take_drop_errors`](crate::Context::take_drop_errors) where it is gone or has something else to tell.
pub(crate) fn leave_failure(of: &Arc<Progress>, context: &ContextInner, (what, error): (&str, Error)) {
    // Each stream knows itself what an abort dropped.
    let is_told = error.is_of_work() && error.kind() != ErrorKind::Aborted;
    let _pass = Pass::begin(of);
    let stream = if is_told { StreamInner::of(of) } else { None };
    let left = match stream {
        Some(stream) => stream.keep_untold(error),
        None => Some(error),
    };
    if let Some(error) = left {
        context.record_drop_error(what, error);
    }
}

impl Drop for StreamInner {
    fn drop(&mut self) {
        if self.released.load(Ordering::Acquire) {
            return self.finish(None);
        }
        // What it tells, and what it frees, may ask for memory that its work uses.
        let _going = self.progress.going();
        let settled = self.is_settled() && self.untold.get_mut().is_none();
        if (settled || *self.waited.get_mut()) && !closure::is_running() {
            return self.end();
        }
        let failed = self.heir().outlast();
        failed.into_iter().for_each(|error| self.tell_of_end(error));
    }
}
