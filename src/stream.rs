//! Streams: queues of work that the device executes in order.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use acl_sys::aclrtStream;

use crate::allocation::Allocation;
use crate::call::call;
use crate::closure::{self, Unrun};
use crate::context::{Context, ContextInner, RawEvent};
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::failures;
use crate::lock::{Guard, Lock};
use crate::progress::{Clock, Progress, Queue, Span, Use};
use crate::retire::keepers;

mod abort;
mod attributes;
mod before;
mod capture;
mod cores;
mod create;
mod elsewhere;
mod ending;
mod flow;
mod fork;
mod gather;
mod handle;
mod inherited;
mod joins;
mod marks;
mod order;
mod poll;
mod private;
mod room;
mod submit;
mod waits;
mod whole;

pub(crate) use capture::{CaptureState, HostSlot, InTurn, Keep, Operators, Taken};
pub use cores::{CoreLimit, Cores};
pub(crate) use cores::{device_cores, planned_cores};
pub use create::StreamOptions;
pub(crate) use ending::leave_failure;
pub(crate) use flow::Place;
pub(crate) use gather::{All, Gathered};
pub(crate) use handle::{Destroy, Handle};
pub(crate) use inherited::check_inherited;
pub use order::untracked;
pub(crate) use order::{Before, may_wait_long};
pub(crate) use private::Private;
pub use room::GraphNeeds;
pub(crate) use submit::{Named, Scratch, Task, Workspace};

/// A queue of work on a device: what is submitted to it runs in order, and independently of other streams.
///
/// Submitting returns before the work is done. Errors of the work itself come with a later synchronising call. Clones
/// are cheap and stand for the same stream. Any thread may submit; the order between threads is theirs to arrange.
///
/// # Order between streams
///
/// Eager work waits on the device for work of other streams that was submitted before and uses the same memory:
/// reading, for the writers of it; writing, for the readers as well. So do launches of graphs and plans, for all the
/// memory that they use. A slice or a view counts with the whole allocation behind it. Nothing is waited for on one
/// stream alone, nor twice; otherwise it costs the record of an event and a wait for it. [`untracked`] and
/// [`Context::set_tracking`] turn it off where a program orders by hand, with [`Stream::fork`] and its like; on the
/// mock, `racl::mock::check_races` tells of work that neither orders.
///
/// Not ordered by itself: work inside a capture with that on other streams of the same capture; what a host function
/// touches; [prefetches](Stream::prefetch); what other code submits to raw handles; work behind [a gate of a
/// plan](crate::plan::External) whose signal nobody has given yet, since the signal may be behind the work that would
/// wait; and two threads that submit at the same moment, but for launches of graphs that share a
/// [pool](crate::GraphPool).
///
/// The last clone to go waits for the stream's work and destroys the stream; one that records a graph is kept until
/// the capture ends. While work waits at [gates of a plan](crate::plan::External), a stream that is still busy is
/// destroyed later, by a thread that waits for its work. Explicit: [`Stream::close`].
///
/// C calls: `aclrtCreateStreamWithConfig`, `aclrtDestroyStream`, `aclrtSynchronizeStream`, `aclrtStreamQuery`,
/// `aclrtStreamWaitEvent`.
///
/// # Examples
///
/// ```
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let (main, side) = (device.stream()?, device.stream()?);
/// let event = device.event()?;
/// event.record(&main)?;
/// side.wait(&event)?;
/// side.synchronize()?;
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Clone)]
pub struct Stream(pub(crate) Arc<StreamInner>);

pub(crate) struct StreamInner {
    raw: aclrtStream,
    ownership: Ownership,
    name: Lock<Option<String>>,
    state: Arc<Lock<State>>,
    /// The stream is destroyed or given back.
    released: AtomicBool,
    /// Something was begun on it that could not be ended: others are refused what they begin.
    spoilt: AtomicBool,
    progress: Arc<Progress>,
    /// A record that tells how far a busy stream is.
    marker: poll::Marker,
    /// An error of its work that was found and not told.
    untold: Lock<Option<Error>>,
    /// The first failure of its work that any wait was told of.
    fault: OnceLock<String>,
    /// Host functions that it may not have run.
    pub(crate) unrun: Unrun,
    /// The number of the latest event that others wait for.
    marked: AtomicU64,
    /// Whoever had it last waited for its work.
    waited: AtomicBool,
    context: Arc<ContextInner>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) capture: Option<Arc<CaptureState>>,
    workspace: Option<Arc<Allocation>>,
    /// What the stream's work is behind of others.
    pub(crate) clock: Clock,
    /// Its work needs memory only to be there, such as updates of graphs, which use it elsewhere.
    pub(crate) only_keeps: bool,
    /// Somebody asked how far it is while its queue may have been full.
    wants_marker: Cell<bool>,
    /// What it was given last, records of events and waits aside, and where.
    pub(crate) latest: Cell<Option<(submit::Named, u64)>>,
    /// What others wait for.
    marks: marks::Marks,
    /// What it was made to wait for because memory of its own may be used by that still.
    borrows: Vec<Use>,
    /// The event of its forks.
    forked: Option<Arc<RawEvent>>,
    /// What the stream is given replaces work of a graph, and runs when the graph does.
    updates: bool,
    /// Notes what that uses, where nobody else does.
    gathers: Option<Arc<Gathered>>,
    /// What it was for alone, once that is over; it gets no other work.
    over: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ownership {
    Owned,
    /// Goes back to the context's idle streams.
    Leased,
    /// The context's default stream.
    Default,
    /// Of a graph that is built by hand: what it is given runs when the graph does.
    Bound,
}

// SAFETY: the runtime's guide on threads lets any thread use a stream whose context it has made current, which every
// call here does first; the handle is only passed on.
unsafe impl Send for StreamInner {}
// SAFETY: the runtime locks each stream for submissions; fields have their own locks.
unsafe impl Sync for StreamInner {}

impl Stream {
    /// A handle that is not null, from other code.
    pub(crate) fn adopt(raw: aclrtStream, context: &Context) -> Self {
        Self::own(context.inner(), raw, Ownership::Owned)
    }

    /// The handle, once the stream is idle; it is not destroyed then.
    pub(crate) fn give_away(self) -> Result<aclrtStream, Refused<Self>> {
        self.give_after(|stream| stream.wait_for(stream.progress.submitted(), None))
    }

    /// The handle, once `wait` lets it go.
    fn give_after(self, wait: impl FnOnce(&StreamInner) -> Result<()>) -> Result<aclrtStream, Refused<Self>> {
        if self.0.ownership != Ownership::Owned {
            let text = "the default stream and streams of captures belong to their context, others to their graph";
            return Err(Refused::new(self, Error::new(ErrorKind::NotSupported, text)));
        }
        if let Err(error) = self.check_owners().and_then(|()| wait(&self.0)) {
            return Err(Refused::new(self, error));
        }
        self.end_alone(|inner| {
            inner.context.reports.leave(&inner.context, inner.raw)?;
            inner.put_away();
            inner.released.store(true, Ordering::Release);
            Ok(inner.raw)
        })
    }

    fn own(context: &Arc<ContextInner>, raw: aclrtStream, ownership: Ownership) -> Self {
        let state = Arc::<Lock<State>>::default();
        let stream = Self(Arc::new(StreamInner {
            raw,
            ownership,
            name: Lock::default(),
            released: AtomicBool::new(false),
            spoilt: AtomicBool::new(false),
            progress: Progress::new(&context.passes, &state),
            state,
            marker: poll::Marker::default(),
            untold: Lock::default(),
            fault: OnceLock::new(),
            unrun: Unrun::default(),
            marked: AtomicU64::new(0),
            waited: AtomicBool::new(false),
            context: Arc::clone(context),
        }));
        abort::note(&stream.0);
        stream
    }

    pub(crate) fn is_default(&self) -> bool {
        self.0.ownership == Ownership::Default
    }

    /// The context that the stream belongs to.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::from_inner(&self.0.context)
    }

    /// The raw handle, null for a default stream whose handle the library does not give. Valid as long as this value;
    /// work submitted beside this crate is not tracked by it. Other code must not capture with it, since work that a
    /// graph repeats would be taken for done: [`begin_capture`](Self::begin_capture) does.
    #[must_use]
    pub fn as_raw(&self) -> aclrtStream {
        self.0.raw
    }

    /// Gives the stream a name, which errors use.
    pub fn set_name(&self, name: impl Into<String>) {
        *self.0.name.lock() = Some(name.into());
    }

    /// The name given to the stream, else its number.
    #[must_use]
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// The runtime's number of the stream, as in its logs.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`] for a stream destroyed beside this crate.
    #[doc(alias = "aclrtStreamGetId")]
    pub fn id(&self) -> Result<i32> {
        self.0.id()
    }

    /// True while the stream records a graph.
    #[must_use]
    pub fn is_capturing(&self) -> bool {
        // Whoever submits behind a host function may hold the lock until that is over.
        if closure::is_running() { self.0.is_surely_capturing() } else { self.0.lock().capture.is_some() }
    }

    /// Waits for the stream's work and destroys the stream now.
    ///
    /// # Errors
    ///
    /// The stream and why: [`ErrorKind::InvalidArgument`] while other clones or a capture hold it, and inside a wait of
    /// this thread for its work, as where a host function is freed; the error of its work, which is reported once, so
    /// that a second try goes on; [`ErrorKind::InvalidHandle`] and the like when it cannot be destroyed.
    #[doc(alias = "aclrtDestroyStream")]
    pub fn close(self) -> Result<(), Refused<Self>> {
        match self.check_owners().and_then(|()| self.0.end_work()) {
            Ok(()) => self.end_alone(StreamInner::release),
            Err(error) => Err(Refused::new(self, error)),
        }
    }
}

impl StreamInner {
    pub(crate) fn raw(&self) -> aclrtStream {
        self.raw
    }

    pub(crate) fn context(&self) -> &Arc<ContextInner> {
        &self.context
    }

    pub(crate) fn lock(&self) -> Guard<'_, State> {
        self.state.lock()
    }

    pub(crate) fn name(&self) -> String {
        if let Some(name) = &*self.name.lock() {
            return format!("stream {name:?}");
        }
        self.id().map_or_else(|_| "a stream".to_owned(), |id| format!("stream {id}"))
    }

    pub(crate) fn id(&self) -> Result<i32> {
        let mut id = 0;
        // SAFETY: `id` is a place for one number; null stands for the default stream.
        unsafe { call!(&*self.context, aclrtStreamGetId(self.raw, &raw mut id)) }?;
        Ok(id)
    }

    pub(crate) fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// That what it is given runs by itself: for the library, a stream whose work is stored is always done.
    #[inline]
    pub(crate) fn check_runs(&self) -> Result<()> {
        if self.ownership == Ownership::Bound { Err(self.runs_with_graph()) } else { Ok(()) }
    }

    #[cold]
    fn runs_with_graph(&self) -> Error {
        let text = format!(
            "{} is one of a graph that is built by hand, and runs when that does: wait for the graph, or the stream \
             that it was launched on",
            self.name()
        );
        Error::new(ErrorKind::CaptureForbidden, text)
    }

    /// Notes that something begun on it cannot be ended. It goes to nobody else.
    pub(crate) fn spoil(&self) {
        self.spoilt.store(true, Ordering::Release);
    }

    pub(crate) fn is_spoilt(&self) -> bool {
        self.spoilt.load(Ordering::Acquire)
    }

    pub(crate) fn synchronize(&self, limit: Option<i32>) -> Result<()> {
        self.wait_and_tell((self.progress.submitted(), None), || self.c_synchronize(limit))
    }

    /// Waits for the work up to a submission, and tells what went wrong with it and beside it. With what that much is
    /// behind on other streams, where it is not all.
    fn wait_and_tell(&self, (number, clock): (u64, Option<&Clock>), wait: impl Fn() -> Result<()>) -> Result<()> {
        let (before, moment) = (self.progress.unreported().0, failures::now());
        let mut result = wait();
        if result.as_ref().is_err_and(|error| error.kind() == ErrorKind::DeviceFault) {
            // The fault was told; that everything behind it is done as well is what a second wait says.
            let again = wait();
            if again.as_ref().map_or_else(|error| error.kind() == ErrorKind::DeviceFault, |()| true) {
                self.progress.set_reported(number);
            }
        } else if result.is_ok() {
            self.progress.set_reported(number);
        }
        result = result.map_err(|error| self.explain_wait(error));
        // Not where the work goes on: what its functions owned may wait for it in turn.
        if !result.as_ref().is_err_and(Error::is_not_done) {
            self.context.spent.bury();
        }
        result?;
        self.context.reclaim.collect(&self.context);
        self.progress.check_helpers()?;
        self.untold.lock().take().map_or(Ok(()), Err)?;
        self.check_inherited((before, number), clock, moment)?;
        self.progress.tell_panics((0, u64::MAX))
    }

    /// What a synchronisation would say besides what the library does, and of panics.
    pub(crate) fn tell_what_is_left(&self) -> Result<()> {
        self.context.spent.bury();
        self.untold.lock().take().map_or(Ok(()), Err)
    }

    fn c_synchronize(&self, limit: Option<i32>) -> Result<()> {
        self.check_thread()?;
        self.c_wait(limit)
    }

    fn c_wait(&self, limit: Option<i32>) -> Result<()> {
        let span = self.progress.unreported();
        let _taker = self.progress.takes(span.1);
        let wait = |limit: Option<i32>| match limit {
            // SAFETY: the handle is this value's own; a stale one gives a code.
            None => unsafe { call!(&*self.context, aclrtSynchronizeStream(self.raw)) },
            Some(ms) => {
                // SAFETY: as above.
                unsafe { call!(&*self.context, aclrtSynchronizeStreamWithTimeout(self.raw, ms)) }
            }
        };
        let waited = if limit.is_some() { wait(limit) } else { keepers::wait_long(wait) };
        waited.map_err(|error| self.note_fault(error, span))
    }

    /// The task whose failure the error reports, where the library told, and what the program submitted.
    fn name_task(&self, error: Error, span: Span) -> Error {
        let id = || self.id().ok()?.try_into().ok();
        let error = self.context.explain(error, id);
        let latest = error.task_failure().and_then(|_| self.state.try_lock()?.latest.get());
        let Some(((label, place), number)) = latest else { return error };
        let (file, line, count) = (place.file(), place.line(), span.1 - span.0);
        match number > span.0 && number <= span.1 {
            false => error,
            true if count == 1 => error.context(format!("the task is of {label} at {file}:{line}")),
            true => error
                .context(format!("the task is of the last {count} submissions, such as {label} at {file}:{line}")),
        }
    }

    /// The library tells each failure once, to whoever waits first. Work that was submitted since the wait began may be
    /// what failed, and is known to have before anything else is asked.
    fn note_fault(&self, error: Error, span: Span) -> Error {
        let of_work = error.is_of_work();
        let number = of_work.then(|| self.progress.note_failed((span.0, self.progress.submitted()), error.kind()));
        let error = self.name_task(error, span);
        if let Some(number) = number {
            self.progress.note_log(number, &error);
        }
        if error.kind() == ErrorKind::DeviceFault {
            self.fault.get_or_init(|| error.to_string());
        }
        error
    }

    /// What some wait was told of failed work.
    pub(crate) fn fault(&self) -> Option<String> {
        self.fault.get().cloned()
    }

    /// What went wrong when all work is done and some of it failed, or nobody knows. A later wait tells it.
    pub(crate) fn find_failure(&self) -> Option<(ErrorKind, String)> {
        // Others say nothing of the work: it is not done, or its context is gone.
        let error = self.c_synchronize(Some(1)).err().filter(|error| error.is_of_work())?;
        Some(self.tell_later(error))
    }

    /// Keeps what somebody was told of work of this stream for the next wait, or for its drop; gives the kind and the
    /// text.
    pub(crate) fn tell_later(&self, error: Error) -> (ErrorKind, String) {
        let told = (error.kind(), error.to_string());
        self.untold.lock().get_or_insert(error);
        told
    }

    fn explain_wait(&self, error: Error) -> Error {
        match error.kind() {
            ErrorKind::CaptureForbidden => {
                let name = self.name();
                error.with_detail(format!("{name} records a graph; wait for it after the capture has ended"))
            }
            ErrorKind::DeviceFault => error.context("the failed work was submitted earlier"),
            _ => error,
        }
    }

    /// Whether what `span` has of it is done.
    fn is_complete(&self, span: Span) -> Result<bool> {
        let idle = self.is_idle_up_to(span.1).map_err(|error| self.note_fault(error, span));
        let idle = idle.map_err(|error| self.explain_wait(error))?;
        if !idle {
            keepers::glance();
        }
        Ok(idle)
    }

    /// Whether all work is done, whatever became of it.
    pub(crate) fn is_idle(&self) -> Result<bool> {
        self.is_idle_up_to(self.progress.submitted())
    }

    // Two dozen instructions of a query are the call of this.
    #[inline(always)]
    fn is_idle_up_to(&self, number: u64) -> Result<bool> {
        let mut status = acl_sys::aclrtStreamStatus::ACL_STREAM_STATUS_NOT_READY;
        // SAFETY: `status` is a place for one value; the handle is this value's own.
        unsafe { call!(&*self.context, aclrtStreamQuery(self.raw, &raw mut status)) }?;
        match status {
            acl_sys::aclrtStreamStatus::ACL_STREAM_STATUS_COMPLETE => {
                self.progress.set_completed(number);
                Ok(true)
            }
            acl_sys::aclrtStreamStatus::ACL_STREAM_STATUS_NOT_READY => Ok(false),
            other => Err(Error::new(ErrorKind::UnknownValue, format!("stream status {}", other.0))),
        }
    }
}

/// Whole milliseconds, rounded up, in the range that the C calls take.
pub(crate) fn milliseconds(limit: Duration) -> Result<i32> {
    let ms = limit.as_nanos().div_ceil(1_000_000);
    match i32::try_from(ms) {
        Ok(ms) if ms > 0 => Ok(ms),
        _ => Err(Error::invalid(format!("a time limit of {limit:?}: more than zero and at most 24 days"))),
    }
}

impl Queue for StreamInner {
    fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    fn wait_for(&self, number: u64, limit: Option<i32>) -> Result<()> {
        self.wait_for(number, limit)
    }

    fn outlast(&self, number: u64, limit: Option<i32>) -> Result<()> {
        // The capture is nobody's business here.
        if self.state.try_lock().is_some_and(|state| state.capture.is_some()) {
            return Err(Error::new(ErrorKind::CaptureForbidden, "the stream records a graph"));
        }
        let mut told = None;
        // The library tells a failure once. That the work is done as well is what a second wait says.
        let waited = match self.wait_for(number, limit) {
            Err(error) if error.is_of_work() => {
                told = Some(error);
                self.wait_for(number, limit)
            }
            waited => waited,
        };
        let waited = match waited {
            // Another thread may have found out since the limit has passed.
            Err(error) if self.progress.has_completed(number) && !error.is_not_done() => {
                told.get_or_insert(error);
                Ok(())
            }
            waited => waited,
        };
        if let Some(error) = told {
            self.tell_later(error);
        }
        waited
    }

    fn poll(&self) {
        self.poll();
    }

    fn handle(&self) -> aclrtStream {
        self.raw
    }

    fn describe(&self) -> String {
        let (name, open) = (self.name(), self.progress.open());
        // Who submits may wait for room in the queue, with the lock.
        let latest = self.state.try_lock().and_then(|state| state.latest.get());
        match latest {
            Some(((label, place), _)) if open > 0 => {
                let (file, line) = (place.file(), place.line());
                format!("{name} (submissions not known to be done: {open}; the latest: {label} at {file}:{line})")
            }
            _ => name,
        }
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("raw", &self.0.raw)
            .field("ownership", &self.0.ownership)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Stream {
    /// Whether both stand for the same stream.
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&self.0, &other.0);
        Arc::ptr_eq(a, b) || (a.raw == b.raw && a.context.id() == b.context.id())
    }
}

impl Eq for Stream {}
