//! Failures that work has from other streams: it is behind work there that failed, and may have read what that left.
//!
//! The library tells each failure to who waits for the stream that it is of. Of the others only the streams know that are
//! made to wait, and of those that some task failed, whoever waits for what is behind it is told here, once for each.

use std::sync::Arc;

use super::StreamInner;
use super::abort::{in_front_of, of_device};
use super::leave_failure;
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};
use crate::failures;
use crate::progress::{Clock, Pass, Progress, no_panics};

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
        if self.context.failures.are_none() && no_panics() {
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
        if !self.context.failures.are_none()
            && let Some(id) = self.number()
        {
            self.context.failures.settle(id, moment);
        }
        check_inherited(&self.context, (&self.progress, before, number), &self.progress.behind())
    }

    /// Before an abort ends the order of the stream: who is behind work of it that failed is told by its next wait. Gives
    /// those, which may go with that.
    pub(super) fn hand_on_failures(&self) -> Vec<(Arc<Self>, Pass)> {
        let context = &*self.context;
        if context.failures.are_none() && no_panics() {
            return Vec::new();
        }
        let mut all = Vec::new();
        let moment = failures::now();
        for other in of_device(context) {
            let pass = Pass::begin(&other);
            let (told, submitted) = other.unreported();
            let failed = check_one(context, &self.progress, (&other, told, submitted), &other.behind());
            if let (Err(error), Some(stream)) = (failed, Self::of(&other)) {
                stream.tell_later(error);
                all.push((stream, pass));
            }
        }
        if let Some(id) = self.number() {
            context.failures.pass_over(id, moment);
        }
        all
    }

    /// Takes what the library has to say of failures that somebody was told of otherwise.
    pub(crate) fn take_told(&self) {
        if self.progress.failures() > 0 && !self.is_settled() {
            // Where the work is not over, it is told once more.
            drop(self.c_synchronize(Some(1)));
        }
    }

    /// The same of a stream of the program: its next wait tells that still, and no other call.
    pub(crate) fn set_told_aside(&self) {
        if self.progress.failures() > 0
            && !self.is_settled()
            && let Err(error) = self.c_synchronize(Some(1))
            && error.is_of_work()
        {
            let error = self.explain_wait(error);
            leave_failure(&self.progress, &self.context, ("a run that goes on behind a failure", error));
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
    for other in in_front_of(clock, context) {
        told = told.and(check_one(context, &other, (progress, before, number), clock));
    }
    told
}

/// The same of what it has from one other stream.
fn check_one(
    context: &ContextInner,
    other: &Arc<Progress>,
    (progress, before, number): (&Progress, u64, u64),
    clock: &Clock,
) -> Result<()> {
    check_panics(other, (progress, before, number), clock)?;
    let (reported, submitted) = other.unreported();
    // Of what was told before, somebody knows.
    if std::ptr::eq(Arc::as_ptr(other), progress) || !clock.may_cover(other.era(), reported.saturating_add(1)) {
        return Ok(());
    }
    let Some(id) = number_of(other) else { return Ok(()) };
    let Some((failure, lines)) = context.failures.of_stream((id, other.born()), progress.id()) else { return Ok(()) };
    // Whatever it is for a call, of work it is a failure.
    let kind = Some(ErrorKind::of_code(failure.code())).filter(|kind| kind.is_of_work());
    let kind = kind.unwrap_or(ErrorKind::DeviceFault);
    let of_other = other.note_failed((reported, submitted), kind);
    // What came behind it may have it from that, too, and nobody is told again.
    let own = progress.note_failed((before.min(number.saturating_sub(1)), progress.submitted()), kind);
    let text = format!("work of stream {id}, which this work is behind, failed");
    let error = Error::new(kind, text).with_source(failure).with_log(lines);
    other.note_log(of_other, &error);
    progress.note_log(own, &error);
    Err(error)
}

/// The same of functions of the host that panicked there.
fn check_panics(
    other: &Arc<Progress>,
    (progress, before, number): (&Progress, u64, u64),
    clock: &Clock,
) -> Result<()> {
    if std::ptr::eq(Arc::as_ptr(other), progress) {
        return Ok(());
    }
    let covers = |submission| clock.may_cover(other.era(), submission);
    let Some(thrown) = other.inherited_panic(progress.id(), covers) else { return Ok(()) };
    progress.note_failed((before.min(number.saturating_sub(1)), progress.submitted()), ErrorKind::CallbackPanicked);
    let text = format!("a host function that this work is behind, on another stream, failed: {}", thrown.text());
    let error = Error::new(ErrorKind::CallbackPanicked, text);
    Err(match thrown.into_cause() {
        Some(cause) => error.because_given(cause),
        None => error,
    })
}

impl ContextInner {
    /// The task whose failure the error of a wait reports, where the library told; `id` asks for the number of the stream
    /// that was waited for.
    pub(crate) fn explain(&self, error: Error, id: impl FnOnce() -> Option<u32>) -> Error {
        self.failures.explain(error, id, || of_device(self).iter().filter_map(number_of).collect())
    }
}

pub(super) fn number_of(progress: &Arc<Progress>) -> Option<u32> {
    let _pass = Pass::begin(progress);
    StreamInner::of(progress)?.number()
}

#[cfg(all(test, feature = "mock"))]
mod tests {
    use std::sync::mpsc::channel;

    use super::failures::now;
    use crate::{Acl, ErrorKind, mock, op};

    /// Whoever submits has the stream's lock as long as there is no room in its queue.
    #[test]
    fn a_wait_tells_it_also_while_another_thread_submits() {
        let _alone = mock::exclusive();
        let context = Acl::mock().unwrap().device(0).unwrap().context().create_context().unwrap();
        let (first, second) = (context.stream().unwrap(), context.stream().unwrap());
        let (x, mut y) = (context.zeros::<f32>([4]).unwrap(), context.zeros::<f32>([4]).unwrap());
        mock::fail_task("aclnnAbs", 1, 507_015).unwrap();
        op::abs(&first, &x, &mut y).unwrap();
        first.fork(&second).unwrap();
        mock::run_until_idle();
        let ((locked, is_locked), (over, until)) = (channel(), channel::<()>());
        std::thread::scope(|scope| {
            let submits = &second;
            scope.spawn(move || {
                let _state = submits.0.lock();
                locked.send(()).unwrap();
                let _ = until.recv();
            });
            is_locked.recv().unwrap();
            let number = second.0.progress.submitted();
            let told = second.0.check_inherited((0, number), None, now());
            drop(over);
            assert_eq!(told.unwrap_err().kind(), ErrorKind::DeviceFault);
        });
        drop((first.synchronize(), second));
        context.take_drop_errors();
    }
}
