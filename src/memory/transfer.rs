//! Pinned buffers that are with the device: given back after the copy, or kept by a graph.

use std::cell::Cell;
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use acl_sys::aclrtStream;
use bytemuck::Pod;

use super::PinnedBuffer;
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::event::{Event, EventKind};
use crate::progress::{Queue as _, Use};
use crate::retire::{self, Waited};
use crate::stream::{HostSlot, Stream, Task, leave_failure};

/// A pinned buffer that a copy uses.
///
/// [`Lent::wait`] waits for the copy and gives the buffer back, and so does awaiting the value. Dropping the value waits
/// too and frees the buffer, or leaves that to a thread while work waits at [gates of a plan](crate::plan::External) and
/// the copy is not done soon; a failure that it is told, the next wait for the stream tells, or the stream's drop. Leaking
/// it leaks the buffer. When the copy was recorded into a graph, the buffer belongs to
/// the graph: this value is then the key for [`Graph::host`](crate::Graph::host).
#[must_use = "the buffer comes back through `wait`"]
pub struct Lent<T: Pod>(Option<State<T>>);

enum State<T: Pod> {
    /// A wait for it may have failed, and told why.
    Flying {
        buffer: PinnedBuffer<T>,
        done: Done,
        told: bool,
        copy: Use,
    },
    Captured(HostSlot),
    /// The buffer is leaked, since its copy could not be waited for; why.
    Lost(ErrorKind, String),
}

/// Behind the copy.
enum Done {
    /// Nothing is allocated for a copy that nobody awaits.
    Own(Event),
    Shared(Arc<Event>),
}

impl Done {
    fn event(&self) -> &Event {
        match self {
            Self::Own(event) => event,
            Self::Shared(event) => event,
        }
    }
}

impl<T: Pod + Send> Lent<T> {
    /// Submits `copy`, which is given the host address of `buffer` and makes the C call of `task`.
    pub(crate) fn start(
        stream: &Stream,
        buffer: PinnedBuffer<T>,
        task: &Task<'_>,
        copy: impl FnOnce(&ContextInner, *mut c_void, aclrtStream) -> Result<()>,
    ) -> Result<Self, Refused<PinnedBuffer<T>>> {
        Self::start_several(stream, buffer, task, copy, false)
    }

    /// As [`Self::start`], for a call of `several` copies, of which some may be queued whatever it fails for. The copy of
    /// one buffer is cut into parts by the library, so what ends in the middle may have queued some of it, too.
    pub(super) fn start_several(
        stream: &Stream,
        mut buffer: PinnedBuffer<T>,
        task: &Task<'_>,
        copy: impl FnOnce(&ContextInner, *mut c_void, aclrtStream) -> Result<()>,
        several: bool,
    ) -> Result<Self, Refused<PinnedBuffer<T>>> {
        let inner = &stream.0;
        if let Err(error) = inner.check_thread() {
            return Err(Refused::new(buffer, error));
        }
        let done = match Event::create_in(inner.context(), EventKind::Order) {
            Ok(done) => done,
            Err(error) => return Err(Refused::new(buffer, stream.refuse((task.label, task.location), error))),
        };
        let host = buffer.as_mut_ptr().cast();
        if let Err(error) = inner.order(task.uses) {
            return Err(Refused::new(buffer, error));
        }
        let state = inner.lock();
        let submitted = inner.submit_locked(&state, task, |raw| copy(inner.context(), host, raw));
        let number = match submitted {
            Ok(number) => number,
            // What a capture has recorded never runs: the call has spoiled it.
            Err(error) if state.capture.is_none() && may_be_in_part(&error, several) => {
                // The stream may have some of it.
                let number = inner.progress().next();
                task.memory().for_each(|touch| touch.memory.used_by(inner, number, touch.how, &state.clock));
                drop(state);
                return Self::given_up(stream, buffer, number, error);
            }
            Err(error) => return Err(Refused::new(buffer, error)),
        };
        if let Some(capture) = &state.capture {
            return Ok(Self(Some(State::Captured(capture.keep_host_buffer(Box::new(buffer))))));
        }
        let recorded = done.record_locked(inner, &state, task.location);
        drop(state);
        if let Err(error) = recorded {
            // The copy is under way and nothing marks its end.
            return Self::given_up(stream, buffer, number, error);
        }
        Ok(Self(Some(State::Flying { buffer, done: Done::Own(done), told: false, copy: Use::new(inner, number) })))
    }

    /// Gives a buffer back that work of the stream may use, up to the submission `number`, once all of that is done: within
    /// the limit of drops, else a thread has it until then. It is leaked when that cannot be waited for. How other work
    /// ended is told to whoever waits for the stream next.
    fn given_up(
        stream: &Stream,
        buffer: PinnedBuffer<T>,
        number: u64,
        error: Error,
    ) -> Result<Self, Refused<PinnedBuffer<T>>> {
        let lost = State::Lost(error.kind(), error.to_string());
        let text = match retire::wait(|limit| stream.0.outlast(number, limit)) {
            Ok(Waited::Done) => return Err(Refused::new(buffer, error)),
            Ok(other) => {
                retire::leave(other, (buffer.into_bytes(), Use::new(&stream.0, number)), free_behind);
                "a copy that may be queued in part, whose pinned buffer stays with it"
            }
            Err(_) => {
                std::mem::forget(buffer);
                "a pinned buffer is leaked, its copy cannot be waited for"
            }
        };
        // Nobody may ask the value.
        stream.0.context().record_drop_error(text, error);
        Ok(Self(Some(lost)))
    }
}

impl<T: Pod> Lent<T> {
    /// Waits for the copy and gives the buffer back.
    ///
    /// # Errors
    ///
    /// This value and why ([`Refused`]): the error of the copy or of work before it on the stream, host functions that
    /// panicked among that, which is reported once, so that a second try may give the buffer; dropped instead, the value
    /// frees the buffer, or a thread does once the copy is over, and it is leaked when that cannot be waited for.
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when a graph has the buffer, for which the value
    /// stays the key.
    pub fn wait(self) -> Result<PinnedBuffer<T>, Refused<Self>> {
        let waited = self.copy_done().and_then(|done| done.synchronize());
        self.ended(waited)
    }

    /// As [`Lent::wait`], and leaves panics of host functions before the copy to others.
    pub(crate) fn outlast(self) -> Result<PinnedBuffer<T>, Refused<Self>> {
        let waited = self.copy_done().and_then(Event::outlast).map(drop);
        self.ended(waited)
    }

    /// The same for who has no use for what was copied: the buffer also of a copy that was dropped by an abort, of which
    /// whoever waits for the stream is told.
    pub(crate) fn wait_to_reuse(self) -> Result<PinnedBuffer<T>, Refused<Self>> {
        self.outlast().or_else(|refused| {
            let (mut lent, error) = refused.into_parts();
            let over = error.kind() == ErrorKind::Aborted && lent.is_over().is_ok_and(|over| over);
            match lent.0.take() {
                Some(State::Flying { buffer, .. }) if over => Ok(buffer),
                state => {
                    lent.0 = state;
                    Err(Refused::new(lent, error))
                }
            }
        })
    }

    /// The event behind the copy.
    fn copy_done(&self) -> Result<&Event> {
        match &self.0 {
            Some(State::Flying { done, .. }) => Ok(done.event()),
            Some(State::Captured(_)) => {
                Err(Error::invalid("the buffer belongs to a graph; reach it through Graph::host"))
            }
            Some(State::Lost(kind, why)) => Err(lost(*kind, why)),
            None => Err(Error::new(ErrorKind::Internal, "a copy without an end")),
        }
    }

    /// The same, for whoever waits for it on another thread.
    pub(crate) fn share_done(&mut self) -> Result<Arc<Event>> {
        self.copy_done()?;
        let Some(State::Flying { buffer, done, told, copy }) = self.0.take() else {
            return Err(Error::new(ErrorKind::Internal, "a copy without an end"));
        };
        let event = match done {
            Done::Own(event) => Arc::new(event),
            Done::Shared(event) => event,
        };
        self.0 = Some(State::Flying { buffer, done: Done::Shared(Arc::clone(&event)), told, copy });
        Ok(event)
    }

    /// After a wait for the copy.
    pub(crate) fn ended(mut self, waited: Result<()>) -> Result<PinnedBuffer<T>, Refused<Self>> {
        let waited = waited.and_then(|()| self.copy_done().map(drop)).and_then(|()| self.check_not_dropped());
        match (waited, self.0.take()) {
            (Ok(()), Some(State::Flying { buffer, .. })) => Ok(buffer),
            (waited, mut state) => {
                let error = waited.err().unwrap_or_else(|| Error::new(ErrorKind::Internal, "a copy without an end"));
                if let Some(State::Flying { told, .. }) = &mut state {
                    // One that was refused says nothing of the copy.
                    *told |= error.is_of_work();
                }
                self.0 = state;
                Err(Refused::new(self, error))
            }
        }
    }

    /// The same copy, of bytes.
    pub(crate) fn into_bytes(mut self) -> Lent<u8> {
        Lent(self.0.take().map(|state| match state {
            State::Flying { buffer, done, told, copy } => {
                State::Flying { buffer: buffer.into_bytes(), done, told, copy }
            }
            State::Captured(slot) => State::Captured(slot),
            State::Lost(kind, why) => State::Lost(kind, why),
        }))
    }

    /// Tells whoever asks for errors of drops that the copy lasts longer than these wait.
    pub(crate) fn tell_late(&self) {
        if let Some(State::Flying { buffer, copy, .. }) = &self.0 {
            let late = retire::late(&describe(copy, buffer.size_bytes()));
            buffer.context().record_drop_error("a pinned buffer that goes away", late);
        }
    }

    /// Whether the copy is done; false for a buffer that a graph has. Does not block.
    ///
    /// # Errors
    ///
    /// The error of the stream, and for a buffer that was lost when its copy could not be waited for, why that was.
    pub fn is_complete(&self) -> Result<bool> {
        match &self.0 {
            Some(State::Flying { done, copy, .. }) => {
                let ended = done.event().is_complete()? && !copy.is_dropped_from();
                if ended { copy.progress().check_run(copy.number()).map(|()| true) } else { Ok(false) }
            }
            Some(State::Lost(kind, why)) => Err(lost(*kind, why)),
            Some(State::Captured(_)) | None => Ok(false),
        }
    }

    /// That the copy, which is over, was not dropped: an abort may have come between it and what marks its end.
    fn check_not_dropped(&self) -> Result<()> {
        match &self.0 {
            Some(State::Flying { copy, .. }) => retire::check_not_dropped(copy.progress(), copy.number()),
            _ => Ok(()),
        }
    }

    /// Whether the copy is over, whatever became of it.
    pub(crate) fn is_over(&self) -> Result<bool> {
        match &self.0 {
            Some(State::Flying { done, .. }) => done.event().is_reached(),
            Some(State::Lost(kind, why)) => Err(lost(*kind, why)),
            Some(State::Captured(_)) | None => Ok(false),
        }
    }

    /// That the copy is under way, or was: not where its call failed and the buffer could not be given back.
    #[doc(hidden)]
    pub fn check_begun(&self) -> Result<()> {
        match &self.0 {
            Some(State::Lost(kind, why)) => Err(lost(*kind, why)),
            _ => Ok(()),
        }
    }

    pub(crate) fn slot(&self) -> Option<&HostSlot> {
        match &self.0 {
            Some(State::Captured(slot)) => Some(slot),
            _ => None,
        }
    }
}

/// What is said of a buffer that is leaked.
fn lost(kind: ErrorKind, why: &str) -> Error {
    Error::new(kind, format!("the buffer was lost when its copy could not be waited for: {why}"))
}

/// Whether a copy, or some of `several`, may be queued in part although the call failed: not where the library or the card
/// has no such call, and one copy not where the call tells what became of other work.
fn may_be_in_part(error: &Error, several: bool) -> bool {
    use ErrorKind::{
        Driver, Internal, MissingSymbol, NoEvents, NoStreams, NotSupported, Other, OutOfMemory, Timeout,
    };
    match error.kind() {
        MissingSymbol | NotSupported => false,
        OutOfMemory | NoStreams | NoEvents | Timeout | Driver | Internal | Other => true,
        _ => several,
    }
}

/// Frees a buffer once the work `last` is done, on a thread.
fn free_behind((buffer, last): (PinnedBuffer<u8>, Use)) {
    let failed = Cell::new(None);
    let is_used = || {
        // A stream that failed cannot be asked without a wait.
        match retire::wait_moment(|limit| last.outlast(limit)) {
            Err(error) if error.kind() != ErrorKind::CaptureForbidden => failed.set(Some(error)),
            _ => return !last.is_done() && !last.is_lost(),
        }
        false
    };
    let tell = || {
        let late = retire::late(&describe(&last, buffer.size_bytes()));
        buffer.context().record_drop_error("a pinned buffer that goes away", late);
    };
    retire::outlast(is_used, tell);
    if last.is_done() {
        return;
    }
    if let Some(error) = failed.take() {
        buffer.context().record_drop_error("a pinned buffer is leaked, its copy cannot be waited for", error);
    }
    std::mem::forget(buffer);
}

/// A copy that is not done, for errors.
fn describe(copy: &Use, bytes: usize) -> String {
    let stream = copy.describe().unwrap_or_else(|| "a stream that is gone".to_owned());
    format!("a copy of {bytes} bytes on {stream}")
}

/// After a wait that failed: frees the buffer when the copy is over all the same, as it is when the device reported a
/// fault of earlier work. Else a thread has it until then. A buffer of which nobody can tell that stays with the device.
fn free_when_done<T: Pod>(buffer: PinnedBuffer<T>, done: &Event, copy: Use) {
    if copy.is_done() || done.is_reached().unwrap_or(false) {
        return;
    }
    match retire::wait_briefly(|limit| copy.outlast(limit)) {
        Ok(true) => {}
        Ok(false) => retire::on_thread((buffer.into_bytes(), copy), free_behind),
        Err(error) => {
            let text = "a pinned buffer is leaked, its copy cannot be waited for";
            buffer.context().record_drop_error(text, error);
            std::mem::forget(buffer);
        }
    }
}

impl<T: Pod> Drop for Lent<T> {
    fn drop(&mut self) {
        let Some(State::Flying { buffer, done, told, copy }) = self.0.take() else { return };
        if told {
            return free_when_done(buffer, done.event(), copy);
        }
        let wait = |limit: Option<i32>| match limit {
            Some(ms) => done.event().outlast_within(Duration::from_millis(ms.unsigned_abs().into())).map(drop),
            None => done.event().outlast().map(drop),
        };
        match retire::wait(wait) {
            Ok(Waited::Done) => {}
            Ok(other) => {
                if let Some(error) = other.told(|| describe(&copy, buffer.size_bytes())) {
                    buffer.context().record_drop_error("a pinned buffer that goes away", error);
                }
                retire::leave(other, Self(Some(State::Flying { buffer, done, told, copy })).into_bytes(), drop);
            }
            Err(error) => {
                let context = Arc::clone(buffer.context());
                let progress = Arc::clone(copy.progress());
                free_when_done(buffer, done.event(), copy);
                leave_failure(&progress, &context, ("waiting for a copy whose pinned buffer goes away", error));
            }
        }
    }
}

impl<T: Pod> fmt::Debug for Lent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.0 {
            Some(State::Flying { .. }) => "flying",
            Some(State::Captured(_)) => "captured",
            Some(State::Lost(..)) => "lost",
            None => "done",
        };
        f.debug_tuple("Lent").field(&state).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;
    use std::time::Instant;

    use acl_sys::aclrtMemcpyKind;

    use super::*;
    use crate::call::call;
    use crate::memory::Touch;
    use crate::{Acl, mock};

    /// The library cuts a copy into parts, and what fails in the middle has queued those before.
    #[test]
    fn a_buffer_of_a_copy_that_fails_in_the_middle_comes_back_behind_its_parts() -> Result<()> {
        let context = Acl::mock()?.device(0)?.context().create_context()?;
        let (stream, target) = (context.stream()?, context.alloc::<u8>(8)?);
        let memory = target.slice(..)?;
        let task = Task {
            label: "in parts",
            location: Location::caller(),
            uses: &[Touch::written(memory.allocation())],
            scratch: None,
        };
        let in_part = |kind: ErrorKind| {
            let (kind_of, address) = (aclrtMemcpyKind::ACL_MEMCPY_HOST_TO_DEVICE, memory.address());
            Lent::start(&stream, context.pinned_from(&[7_u8; 8])?, &task, |context, host, raw| {
                // SAFETY: both sides have 8 bytes, which stay until the stream is done.
                unsafe { call!(context, aclrtMemcpyAsync(address, 8, host, 8, kind_of, raw)) }?;
                Err(Error::new(kind, "the second part"))
            })
            .map_err(|refused| refused.into_parts().1)
            .map(Some)
            .or_else(|error| if error.kind() == kind { Ok(None) } else { Err(error) })
        };
        // One that was waited for is back.
        assert!(in_part(ErrorKind::Internal)?.is_none());
        mock::hold(&stream)?;
        let lent = retire::until(Instant::now(), || in_part(ErrorKind::OutOfMemory))?;
        let lost = lent.expect("the copy is held, so its buffer cannot be back").wait().unwrap_err().into_parts().1;
        assert!(lost.kind() == ErrorKind::OutOfMemory && lost.to_string().contains("the second part"), "{lost}");
        mock::release(&stream)?;
        stream.synchronize()?;
        assert_eq!(target.to_vec()?, [7; 8]);
        drop(target);
        stream.close()?;
        // The thread that had the buffer is done with it.
        context.close()?;
        Ok(())
    }
}
