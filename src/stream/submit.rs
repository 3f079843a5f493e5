//! Submitting work: the one place that ties a C call to the buffers it uses and to the capture it is recorded in.

use std::ffi::c_void;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use acl_sys::{aclmdlRICaptureStatus, aclrtStream};

use super::{CaptureState, State, Stream, StreamInner};
use crate::allocation::{Allocation, Touch, not_free_standing};
use crate::call::{Caller as _, call};
use crate::closure::{is_running, may_run_on, refusal};
use crate::context::{Behind, ContextInner};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::Guard;
use crate::progress::Use;
use crate::retire;

/// One submission: what it is called in errors, where it was asked for, and the device memory it touches.
pub(crate) struct Task<'a> {
    pub(crate) label: &'static str,
    pub(crate) location: &'static Location<'static>,
    pub(crate) uses: &'a [Touch<'a>],
    /// Of an operator, and of nothing else.
    pub(crate) scratch: Option<Workspace<'a>>,
}

/// The workspace of an operator, if it has one.
#[derive(Clone, Copy)]
pub(crate) struct Workspace<'a>(pub(crate) Option<&'a Scratch>);

/// Scratch memory for work on a stream.
pub(crate) struct Scratch {
    memory: Arc<Allocation>,
    /// The id of the capture whose work alone has it, 0 for none.
    capture: u64,
}

impl Scratch {
    pub(crate) fn address(&self) -> *mut c_void {
        self.memory.address()
    }

    /// That what the stream is given with it now is of that capture, or of none as well.
    fn check(&self, state: &State) -> Result<()> {
        if self.capture == state.capture.as_ref().map_or(0, |capture| capture.id()) {
            return Ok(());
        }
        let text = "a capture of the stream began or ended on another thread while it was given an operator";
        Err(Error::new(ErrorKind::CaptureForbidden, text))
    }
}

impl<'a> Task<'a> {
    /// Everything that must stay allocated until the work is done.
    pub(crate) fn memory(&self) -> impl Iterator<Item = Touch<'a>> {
        self.uses.iter().copied().chain(self.workspace().map(|scratch| Touch::kept(&scratch.memory)))
    }

    fn workspace(&self) -> Option<&'a Scratch> {
        self.scratch.and_then(|Workspace(scratch)| scratch)
    }

    /// Its name, of an operator.
    pub(super) fn operator(&self) -> Option<&'static str> {
        self.scratch.map(|_| self.label)
    }
}

/// What a call is named in errors, and where it was made.
pub(crate) type Named = (&'static str, &'static Location<'static>);

impl Stream {
    /// A call that was refused before it reached the library: a capture of this stream lacks it then, and gives no
    /// graph, and so does an update of a graph, which fails, whatever becomes of the error.
    pub(crate) fn refuse(&self, what: Named, error: Error) -> Error {
        // A thread that has the process locked, or that runs a host function, must not wait for one whose call waits
        // for the unlock, or for room in a queue behind that function. What is missing then is missing behind the work
        // of that thread, in no order with it.
        let state = if is_running() { self.lock_soon() } else { Some(self.0.lock()) };
        let Some(state) = state else { return error };
        let Some(capture) = state.capture.clone() else { return state.lacks(what, error) };
        drop(state);
        capture.lacks(what, error)
    }

    /// That the stream records no graph; else what is to be done elsewhere.
    pub(crate) fn check_eager(&self, what: &str) -> Result<()> {
        if !self.is_capturing() {
            return Ok(());
        }
        let text = format!("{} records a graph; {what} on another stream, or after it", self.name());
        Err(Error::new(ErrorKind::CaptureForbidden, text))
    }

    /// The lock, unless somebody has it for longer than it takes to look whether it is held.
    fn lock_soon(&self) -> Option<Guard<'_, State>> {
        self.lock_between(|| retire::pause_for(Duration::from_micros(50)))
    }

    /// As [`lock_soon`](Self::lock_soon), with a pause between looks.
    fn lock_between(&self, mut pause: impl FnMut()) -> Option<Guard<'_, State>> {
        (0..8).find_map(|_| {
            let state = self.0.state.try_lock();
            if state.is_none() {
                pause();
            }
            state
        })
    }

    /// Lets the capture fail that the stream is in, when it ends: `what` was to be given to it, and could not, because
    /// of `why`. For code that checks by itself what it gives to streams, such as bindings of other languages; the
    /// methods of this crate that refuse something do so by themselves. Nothing happens outside a capture.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::{CaptureMode, ErrorKind};
    ///
    /// let stream = racl::Acl::mock()?.device(0)?.stream()?;
    /// let refused = stream.capture(CaptureMode::ThreadLocal, |s| {
    ///     s.spoil_capture("my operator", "it takes no such argument");
    ///     Ok(()) // the error may be forgotten
    /// });
    /// let error = refused.unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::CaptureInvalidated);
    /// assert!(error.to_string().contains("my operator"));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn spoil_capture(&self, what: &'static str, why: &str) {
        self.refuse((what, Location::caller()), Error::new(ErrorKind::InvalidArgument, why));
    }

    /// Whether code beside this crate captures the stream, which may be one of its own. Work that this crate gives to
    /// it then becomes part of a graph for which nothing is kept. Asks the library; false where that cannot tell.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`] for a stream that was destroyed beside this crate.
    ///
    /// # Examples
    ///
    /// ```
    /// let stream = racl::Acl::mock()?.device(0)?.stream()?;
    /// let capture = stream.begin_capture(racl::CaptureMode::ThreadLocal)?;
    /// assert!(!stream.is_captured_by_others()?);
    /// capture.finish()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRICaptureGetInfo")]
    pub fn is_captured_by_others(&self) -> Result<bool> {
        let context = &**self.0.context();
        if self.is_capturing() || !context.table().has("aclmdlRICaptureGetInfo") {
            return Ok(false);
        }
        let mut status = aclmdlRICaptureStatus::ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        let (mut graph, raw) = (std::ptr::null_mut(), self.as_raw());
        // SAFETY: two places for one value each; a stale handle gives a code.
        unsafe { call!(context, aclmdlRICaptureGetInfo(raw, &raw mut status, &raw mut graph)) }?;
        Ok(status != aclmdlRICaptureStatus::ACL_MODEL_RI_CAPTURE_STATUS_NONE)
    }
}

impl StreamInner {
    /// Makes the C call of `task` and registers it: with the capture while the stream records, else with the buffers,
    /// so that none is freed before the work is done. Gives the number of the submission. Before, the stream is made to
    /// wait for [what the work has to follow](Self::order) on others.
    ///
    /// The stream's lock is held over the call, so a capture cannot begin or end in between.
    pub(crate) fn submit(
        self: &Arc<Self>,
        task: &Task<'_>,
        call: impl FnOnce(aclrtStream) -> Result<()>,
    ) -> Result<u64> {
        self.check_thread()?;
        self.order(task.uses)?;
        let state = self.lock();
        self.submit_locked(&state, task, call)
    }

    /// As [`StreamInner::submit`], for who has the lock, and has called [`StreamInner::order`] before it.
    #[inline]
    pub(crate) fn submit_locked(
        self: &Arc<Self>,
        state: &State,
        task: &Task<'_>,
        call: impl FnOnce(aclrtStream) -> Result<()>,
    ) -> Result<u64> {
        // Under the lock, so that the capture to which a cell belongs cannot have ended since.
        if let Some(scratch) = task.workspace() {
            scratch.check(state)?;
        }
        if state.capture.is_none() && task.uses.iter().any(|touch| touch.memory.is_of_capture()) {
            return Err(not_free_standing());
        }
        let number = self.submit_free_standing(state, task, call)?;
        state.latest.set(Some(((task.label, task.location), number)));
        Ok(number)
    }

    /// As [`StreamInner::submit_locked`], for work that names no memory, or only such as anything may use. It is not noted
    /// as the latest.
    // A record, a wait and a launch are two dozen instructions longer where it is called.
    #[inline(always)]
    pub(crate) fn submit_free_standing(
        self: &Arc<Self>,
        state: &State,
        task: &Task<'_>,
        call: impl FnOnce(aclrtStream) -> Result<()>,
    ) -> Result<u64> {
        if let Some(capture) = &state.capture {
            return self.submit_captured(capture, task, call);
        }
        // One branch for both.
        if state.only_keeps | state.wants_marker.get() {
            return self.submit_rarely(state, task, call);
        }
        self.submit_now(state, task, call)
    }

    #[inline(never)]
    fn submit_rarely(
        self: &Arc<Self>,
        state: &State,
        task: &Task<'_>,
        call: impl FnOnce(aclrtStream) -> Result<()>,
    ) -> Result<u64> {
        if state.only_keeps {
            return self.submit_kept(state, task, call);
        }
        self.mark_for_others(state);
        self.submit_now(state, task, call)
    }

    #[inline(always)]
    fn submit_now(
        self: &Arc<Self>,
        state: &State,
        task: &Task<'_>,
        call: impl FnOnce(aclrtStream) -> Result<()>,
    ) -> Result<u64> {
        match call(self.raw) {
            // After the call: a synchronisation that runs meanwhile must not count this work as done.
            Ok(()) => Ok(self.submitted(state, task)),
            Err(error) => Err(self.not_submitted(state, task, error)),
        }
    }

    /// What [`submit`](Self::submit) does beside the call and its number.
    #[cfg(feature = "mock")]
    pub(crate) fn order_alone(self: &Arc<Self>, uses: &[Touch<'_>]) -> Result<()> {
        self.order(uses)?;
        let (state, number) = (self.lock(), self.progress.submitted());
        uses.iter().for_each(|touch| touch.memory.used_by(self, number, touch.how, &state.clock));
        Ok(())
    }

    #[inline(always)]
    fn submitted(self: &Arc<Self>, state: &State, task: &Task<'_>) -> u64 {
        let number = self.progress.next();
        for touch in task.memory() {
            touch.memory.used_by(self, number, touch.how, &state.clock);
        }
        number
    }

    /// Whether a call that failed so may have queued a part of its work, as an operator of several kernels does. A stream that
    /// stopped runs none of it.
    pub(crate) fn may_have_part(&self, error: &Error) -> bool {
        let has_stopped = self.progress.stops() && error.kind() == ErrorKind::DeviceFault;
        error.kind().may_be_in_part() && !has_stopped
    }

    #[cold]
    fn not_submitted(self: &Arc<Self>, state: &State, task: &Task<'_>, error: Error) -> Error {
        if self.may_have_part(&error) {
            self.submitted(state, task);
        }
        error
    }

    #[inline(never)]
    fn submit_captured(
        self: &Arc<Self>,
        capture: &CaptureState,
        task: &Task<'_>,
        call: impl FnOnce(aclrtStream) -> Result<()>,
    ) -> Result<u64> {
        capture.check_open()?;
        capture.check_takes(self, task.uses).map_err(|error| capture.poison(task, error))?;
        match call(self.raw) {
            Ok(()) => {
                capture.record(self, task);
                Ok(0)
            }
            Err(error) => Err(capture.poison(task, error)),
        }
    }

    /// Not on a thread that runs a host function of this stream: it may have to wait for room in the queue, or for a
    /// thread that does.
    pub(crate) fn check_thread(&self) -> Result<()> {
        if !may_run_on(self.key()) {
            return Ok(());
        }
        let text = "a host function gives work to its own stream, or waits for it, which is behind the function";
        Err(refusal(text))
    }

    /// The same for every handle of this stream, and for no other one.
    pub(crate) fn key(&self) -> usize {
        Arc::as_ptr(&self.progress).addr()
    }

    /// Gives the stream other scratch memory and takes what it had: that of a graph while its work is updated, and its
    /// own afterwards.
    pub(crate) fn swap_workspace(&self, other: Option<Arc<Allocation>>, updates: bool) -> Option<Arc<Allocation>> {
        let mut state = self.lock();
        state.updates = updates;
        std::mem::replace(&mut state.workspace, other)
    }

    /// Memory for work on this stream, which does not capture: earlier work of it may use the memory still, unless the
    /// work is for a graph, which runs when it is launched, in no order with the work of this stream so far.
    #[track_caller]
    pub(crate) fn allocate(self: &Arc<Self>, bytes: usize) -> Result<Arc<Allocation>> {
        if self.lock().updates {
            return Allocation::new(&self.context, bytes);
        }
        self.allocate_behind(&self.context, bytes)
    }

    #[track_caller]
    fn allocate_behind(self: &Arc<Self>, context: &Arc<ContextInner>, bytes: usize) -> Result<Arc<Allocation>> {
        let last = || Use::new(self, self.progress.submitted());
        let follow = |before: &Use| self.follow_for_memory(before);
        let behind = Behind { key: self.key(), raw: self.raw, last: &last, follow: &follow };
        Allocation::behind(context, bytes, &behind)
    }

    /// Memory of `context` for work of this stream and then of others: earlier work of the stream may use it still,
    /// unless nothing would make other streams wait for that.
    #[track_caller]
    pub(crate) fn allocate_for_all(
        self: &Arc<Self>,
        context: &Arc<ContextInner>,
        bytes: usize,
    ) -> Result<Arc<Allocation>> {
        let knows = {
            let state = self.lock();
            let free = state.capture.is_none() && !state.updates;
            free && self.is_ordered() && !retire::is_held(self.progress.era(), &state.clock)
        };
        if !knows {
            return Allocation::new(context, bytes);
        }
        self.allocate_behind(context, bytes)
    }

    /// Scratch memory for work on this stream of at least `bytes` bytes: reused by the next work of the stream, which
    /// runs after it. A capture has that of its pool, which its graph keeps.
    pub(crate) fn workspace(self: &Arc<Self>, bytes: usize) -> Result<Scratch> {
        self.check_thread()?;
        let (found, capture) = {
            let state = self.lock();
            let own = state.workspace.as_ref().filter(|workspace| workspace.bytes() >= bytes);
            match &state.capture {
                Some(capture) => (capture.workspace(self, bytes), Some(Arc::clone(capture))),
                None => (own.cloned(), None),
            }
        };
        let of_capture = capture.as_ref().map_or(0, |capture| capture.id());
        if let Some(memory) = found {
            return Ok(Scratch { memory, capture: of_capture });
        }
        self.context.bind()?;
        let grown = bytes.checked_next_power_of_two().unwrap_or(bytes).max(4096);
        let memory = match &capture {
            // A graph runs when it is launched, in no order with the work of this stream so far.
            Some(_) => Allocation::new(&self.context, grown),
            None => self.allocate(grown),
        }?;
        match capture {
            Some(capture) => capture.set_workspace(self, &memory),
            None => {
                // Dropped outside the lock: freeing may have to ask this stream how far it is.
                let former = self.lock().workspace.replace(Arc::clone(&memory));
                drop(former);
            }
        }
        Ok(Scratch { memory, capture: of_capture })
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;
    use crate::allocation::How;
    use crate::{Acl, ErrorKind, mock};

    #[test]
    fn work_that_fails_behind_its_first_part_counts() -> Result<()> {
        const BYTES: usize = 1 << 20;
        let context = Acl::mock()?.device(0)?.context().create_context()?;
        let stream = context.stream()?;
        mock::hold(&stream)?;
        let memory = Allocation::new(context.inner(), BYTES)?;
        let address = memory.address();
        let uses = [Touch::new(&memory, How::Written)];
        let task = Task { label: "two parts", location: Location::caller(), uses: &uses, scratch: None };
        let refuse = |kind| move |_| Err(Error::new(kind, "nothing was queued"));
        for kind in [ErrorKind::InvalidArgument, ErrorKind::OperatorArgument, ErrorKind::MissingSymbol] {
            assert_eq!(stream.0.submit(&task, refuse(kind)).unwrap_err().kind(), kind);
        }
        assert!(stream.0.is_settled());
        let begun = stream.0.submit(&task, |raw| {
            // SAFETY: the memory is there until the work is done, and the stream is this one's.
            unsafe { call!(&*stream.0.context, aclrtMemsetAsync(address, BYTES, 7, BYTES, raw)) }?;
            Err(Error::new(ErrorKind::Operator, "the second of its kernels"))
        });
        assert_eq!(begun.unwrap_err().kind(), ErrorKind::Operator);
        assert!(!stream.0.is_settled());
        drop(memory);
        let other = Allocation::new(context.inner(), BYTES)?;
        assert_ne!(other.address(), address, "memory that is written still");
        mock::release(&stream)?;
        stream.synchronize()?;
        drop(other);
        stream.close()?;
        context.close()?;
        Ok(())
    }

    #[test]
    fn a_lock_that_is_held_for_a_moment_is_waited_for_and_no_longer() -> Result<()> {
        let context = Acl::mock()?.device(0)?.context().create_context()?;
        let stream = context.stream()?;
        let mut held = Some(stream.0.lock());
        let mut looks = 0;
        let soon = stream.lock_between(|| {
            looks += 1;
            held.take_if(|_| looks == 3);
        });
        assert!(soon.is_some() && looks == 3, "{looks}");
        let mut looks = 0;
        assert!(stream.lock_between(|| looks += 1).is_none() && looks == 8, "{looks}");
        Ok(())
    }

    /// The order of the look and of the note cannot be had by a test: who holds the lock may be anywhere between.
    #[test]
    fn memory_is_not_taken_over_while_its_first_stream_is_given_something() -> Result<()> {
        let context = Acl::mock()?.device(0)?.context().create_context()?;
        let (first, other) = (context.stream()?, context.stream()?);
        let memory = Allocation::new(context.inner(), 64)?;
        let read = |stream: &Stream| {
            let uses = [Touch::new(&memory, How::Read)];
            let task = Task { label: "a read", location: Location::caller(), uses: &uses, scratch: None };
            stream.0.submit(&task, |_| Ok(())).map(drop)
        };
        read(&first)?;
        first.synchronize()?;
        let submits = first.0.lock();
        read(&other)?;
        assert!(!memory.is_in_order(other.0.progress.era()) && !memory.is_in_order(first.0.progress.era()));
        drop(submits);
        read(&other)?;
        assert!(memory.is_in_order(other.0.progress.era()));
        other.synchronize()
    }

    /// Somebody else may begin or end a capture while scratch memory is looked for.
    #[test]
    fn scratch_memory_is_of_one_capture_or_of_none() -> Result<()> {
        let stream = Acl::mock()?.device(0)?.stream()?;
        let give = |scratch: &Scratch| {
            let task = Task {
                label: "operator",
                location: Location::caller(),
                uses: &[],
                scratch: Some(Workspace(Some(scratch))),
            };
            stream.0.submit(&task, |_| Ok(())).map(drop)
        };
        let eager = stream.0.workspace(64)?;
        give(&eager)?;
        let capture = stream.begin_capture(crate::CaptureMode::Relaxed)?;
        assert_eq!(give(&eager).unwrap_err().kind(), ErrorKind::CaptureForbidden);
        let captured = stream.0.workspace(64)?;
        assert_ne!(captured.address(), eager.address());
        give(&captured)?;
        drop(capture);
        assert_eq!(give(&captured).unwrap_err().kind(), ErrorKind::CaptureForbidden);
        give(&eager)
    }
}
