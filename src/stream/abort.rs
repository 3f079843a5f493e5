//! Ending work before its time: of a stream, or of all streams of a device.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::{Stream, StreamInner, milliseconds};
use crate::call::{Caller as _, call, take_abort_refused};
use crate::closure;
use crate::context::{Context, ContextInner};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::Lock;
use crate::progress::{Clock, Pass, Progress, Use, lose_order, note_device_failed};
use crate::retire;

/// The streams of the process, for the end of a device's work. Those that are gone leave when the list grows.
static ALL: Lock<Vec<Known>> = Lock::new(Vec::new());

struct Known {
    stream: Weak<StreamInner>,
    progress: Arc<Progress>,
    /// By address. The context is there while its stream is.
    context: usize,
    device: i32,
    table: usize,
}

impl Known {
    fn of(stream: &Arc<StreamInner>) -> Self {
        let context = stream.context();
        Self {
            stream: Arc::downgrade(stream),
            progress: Arc::clone(&stream.progress),
            context: Arc::as_ptr(context).addr(),
            device: context.device(),
            table: std::ptr::from_ref(context.table()).addr(),
        }
    }
}

/// A new stream.
pub(super) fn note(stream: &Arc<StreamInner>) {
    let known = Known::of(stream);
    let mut all = ALL.lock();
    if all.len() == all.capacity() {
        all.retain(|known| !known.progress.is_over());
    }
    all.push(known);
}

/// What a stream is left to.
pub(super) fn note_heir(heir: &Arc<StreamInner>) {
    let mut all = ALL.lock();
    if let Some(known) = all.iter_mut().find(|known| Arc::ptr_eq(&known.progress, &heir.progress)) {
        known.stream = Arc::downgrade(heir);
    }
}

impl Stream {
    /// Drops the stream's work that has not run and ends what runs. Returns when that is over; the stream takes new
    /// work then. A hung stream is freed by it.
    ///
    /// Who waits for the stream meanwhile gets [`ErrorKind::Aborted`], and so does whoever waits, then or later, for
    /// an event, a copy or a future of work that was dropped, or was not known to be done. Waits for the stream itself
    /// tell of later work. What the work was to write is as it was, or half written. Host functions that were dropped
    /// are freed with the stream. Notifies that were recorded stay so until they are [reset](crate::Notify::reset), or
    /// until the next launch of a graph whose launch was dropped, which both records and waits for them. An executable
    /// that waits at external gates is to [begin anew](crate::plan::Executable::release_gates). Other streams
    /// that wait for records of this one may hang, or go on without; abort them as well. Waits are dropped too, and what
    /// this stream and others are given afterwards is ordered anew by the memory that it uses. Where it has memory that
    /// another stream gave up when there was too little, and may use still, it waits for that again.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::CaptureForbidden`] while the stream records a graph, and for one of a graph that is [built by
    /// hand](crate::GraphBuilder), which [`Graph::abort`](crate::Graph::abort) ends; [`ErrorKind::NotSupported`] in a
    /// host function and for streams that other code bound to a model; [`ErrorKind::MissingSymbol`] on a library that
    /// cannot.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::{ErrorKind, mock};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let (stream, done) = (device.stream()?, device.event()?);
    /// let mut buffer = device.upload(&[1_u8; 4])?;
    /// mock::hold(&stream)?;
    /// stream.fill_bytes(&mut buffer, 2)?;
    /// done.record(&stream)?;
    /// stream.abort()?;
    /// assert_eq!(done.synchronize().unwrap_err().kind(), ErrorKind::Aborted);
    /// mock::release(&stream)?;
    /// stream.synchronize()?;
    /// assert_eq!(buffer.to_vec()?, [1; 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtStreamAbort")]
    pub fn abort(&self) -> Result<()> {
        check_thread("the end of a stream's work")?;
        self.0.check_runs()?;
        if self.0.is_surely_capturing() {
            let text = format!("{} records a graph; end the capture before the stream's work", self.name());
            return Err(Error::new(ErrorKind::CaptureForbidden, text));
        }
        // Asked first; what cannot be asked is not known, and the next wait tells why.
        if let Err(error) = self.0.is_idle() {
            self.0.tell_later(error);
        }
        let progress = &self.0.progress;
        let unsure = Unsure::begin([progress]);
        let first = progress.completed();
        let unnoted = Unnoted::begin([progress]);
        // Not under the stream's lock: a thread that waits for room in the queue has it.
        // SAFETY: a live handle of this context.
        unsafe { call!(&**self.0.context(), aclrtStreamAbort(self.as_raw())) }?;
        let told = self.0.hand_on_failures();
        self.0.note_aborted(first);
        drop(unnoted);
        self.0.begin_anew(unsure);
        drop(told);
        Ok(())
    }
}

impl Context {
    /// Drops the work of all streams of the device, of all contexts and of other code in this process, and ends what
    /// runs, so that the process can go on after a failure. Returns when that is over, or after `limit`, in whole
    /// milliseconds, rounded up. As [`Stream::abort`] for each of them; streams that
    /// [stopped](Stream::stop_on_failure) begin anew.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for no time at all, or more than the library takes, some 36 minutes; [`ErrorKind::NotSupported`] in a host
    /// function; [`ErrorKind::Timeout`] or [`ErrorKind::Aborted`] when the work does not end in time;
    /// [`ErrorKind::Aborted`] when a function of [`Acl::watch_aborts`](crate::Acl::watch_aborts) refused: before it,
    /// nothing was dropped;
    /// [`ErrorKind::MissingSymbol`] on a library that cannot.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use std::time::{Duration, Instant};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// device.context().abort_device(Duration::from_secs(10))?;
    /// device.stream()?.synchronize()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtDeviceTaskAbort")]
    pub fn abort_device(&self, limit: Duration) -> Result<()> {
        check_thread("the end of a device's work")?;
        let ms = milliseconds(limit).map_err(|_| too_long(limit))?.unsigned_abs();
        let inner = &**self.inner();
        let streams = of_device(inner);
        // What is done is none of what is dropped.
        for stream in &streams {
            let _pass = Pass::begin(stream);
            StreamInner::of(stream).iter().for_each(|stream| stream.poll());
        }
        take_abort_refused();
        let unsure = Unsure::begin(&streams);
        let streams: Vec<_> = streams.into_iter().map(|stream| (stream.completed(), stream)).collect();
        let unnoted = Unnoted::begin(streams.iter().map(|(_, stream)| stream));
        // SAFETY: takes numbers.
        let done = unsafe { call!(inner, aclrtDeviceTaskAbort(self.device_id(), ms)) };
        // A function of the program that was asked before.
        if done.is_err() && take_abort_refused() {
            return done;
        }
        if done.as_ref().is_err_and(|error| !error.kind().is_of_work() && error.kind() != ErrorKind::Timeout) {
            return done;
        }
        for (first, stream) in &streams {
            let _pass = Pass::begin(stream);
            match StreamInner::of(stream) {
                Some(stream) => stream.note_aborted(*first),
                None => note_aborted(stream, *first),
            }
        }
        note_device_failed(self.device_id());
        drop(unnoted);
        for (_, stream) in &streams {
            let _pass = Pass::begin(stream);
            if let Some(stream) = StreamInner::of(stream) {
                match done {
                    // What it had been made to wait for is over as well.
                    Ok(()) => drop(stream.forget_order()),
                    Err(_) => drop(stream.follow_again()),
                }
            }
        }
        drop(unsure);
        inner.failures.forget();
        done
    }
}

fn too_long(limit: Duration) -> Error {
    Error::invalid(format!("a time limit of {limit:?}: more than zero and at most some 36 minutes"))
}

/// How far the streams of the device are, also of those that are just being dropped.
pub(super) fn of_device(context: &ContextInner) -> Vec<Arc<Progress>> {
    let (device, table) = (context.device(), std::ptr::from_ref(context.table()).addr());
    all_with(|known| known.device == device && known.table == table)
}

/// The same of those that something is behind of which `clock` has the order.
pub(super) fn in_front_of(clock: &Clock, context: &ContextInner) -> Vec<Arc<Progress>> {
    let (device, table) = (context.device(), std::ptr::from_ref(context.table()).addr());
    all_with(|known| known.device == device && known.table == table && clock.may_cover(known.progress.era(), 1))
}

/// The same of one context.
pub(super) fn of_context(context: &ContextInner) -> Vec<Arc<Progress>> {
    let context = std::ptr::from_ref(context).addr();
    all_with(|known| known.context == context)
}

fn all_with(is_one: impl Fn(&Known) -> bool) -> Vec<Arc<Progress>> {
    let mut all: Vec<_> =
        ALL.lock().iter().filter(|known| is_one(known)).map(|known| Arc::clone(&known.progress)).collect();
    all.retain(|progress| !progress.is_over());
    all
}

/// While it lives nothing of these streams is taken for done: what is dropped may have been a wait for work that goes
/// on, of which memory here is a part.
struct Unsure(Vec<Arc<Progress>>);

impl Unsure {
    fn begin<'a>(streams: impl IntoIterator<Item = &'a Arc<Progress>>) -> Self {
        let streams: Vec<_> = streams.into_iter().map(Arc::clone).collect();
        streams.iter().for_each(|stream| stream.begin_dropping());
        Self(streams)
    }
}

impl Drop for Unsure {
    fn drop(&mut self) {
        self.0.iter().for_each(|stream| stream.end_dropping());
    }
}

/// While it lives whoever was told that work of these streams is over waits for the note of what was dropped.
struct Unnoted(Vec<Arc<Progress>>);

impl Unnoted {
    fn begin<'a>(streams: impl IntoIterator<Item = &'a Arc<Progress>>) -> Self {
        let streams: Vec<_> = streams.into_iter().map(Arc::clone).collect();
        streams.iter().for_each(|stream| stream.begin_unnoted());
        // Who follows one of them from here on may be behind nothing; what was dropped is noted as a failure afterwards.
        lose_order();
        Self(streams)
    }
}

impl Drop for Unnoted {
    fn drop(&mut self) {
        self.0.iter().for_each(|stream| stream.end_unnoted());
    }
}

/// Work that was submitted after `first` may have been dropped.
fn note_aborted(progress: &Progress, first: u64) {
    let span = (first, progress.submitted());
    if span.0 < span.1 {
        progress.note_aborted(span);
    }
}

fn check_thread(what: &str) -> Result<()> {
    if !closure::is_running() {
        return Ok(());
    }
    Err(closure::refusal(format!("{what} is asked for in a host function, which is a part of it")))
}

impl StreamInner {
    /// The stream of this progress, while it is there, for a moment: the caller has a [`Pass`]. Not to be called under a
    /// lock: the stream may end with what this gives.
    pub(crate) fn of(progress: &Arc<Progress>) -> Option<Arc<Self>> {
        let all = ALL.lock();
        all.iter().find(|known| Arc::ptr_eq(&known.progress, progress)).and_then(|known| known.stream.upgrade())
    }

    /// Work that was submitted after `first` may have been dropped, also what another thread is just submitting.
    fn note_aborted(&self, first: u64) {
        let _state = self.lock();
        note_aborted(&self.progress, first);
    }

    /// Behind a drop of its work: it is behind nothing any more, and no mark of it stands for anything. Gives what it was
    /// made to wait for because of its memory.
    fn forget_order(&self) -> Vec<Use> {
        let mut state = self.lock();
        state.clock = Clock::default();
        self.progress.forget_behind();
        self.marked.store(0, Ordering::Release);
        let kept = (std::mem::take(&mut state.marks), state.forked.take());
        self.progress.begin_era();
        let borrows = std::mem::take(&mut state.borrows);
        self.progress.set_borrows(false);
        drop(state);
        drop(kept);
        self.marker.clear();
        borrows
    }

    /// As [`forget_order`](Self::forget_order), and makes the stream wait again where memory that it has may be used by
    /// another still. Where that cannot be, its work counts as done when the other's is.
    fn begin_anew(self: &Arc<Self>, unsure: Unsure) {
        let borrows = self.follow_again();
        if borrows.is_empty() {
            return;
        }
        let (context, since) = (Arc::clone(&self.context), Instant::now());
        retire::on_thread((unsure, context, borrows), move |(unsure, context, borrows)| {
            let is_used = || {
                borrows.iter().for_each(Use::poll);
                // Two streams that had memory of each other must not wait for each other for ever.
                let is_late = since.elapsed() > retire::drop_limit();
                let is_over = |before: &Use| before.is_done() || (is_late && before.is_reached());
                borrows.iter().any(|before| !is_over(before) && !before.is_lost())
            };
            let tell = || {
                let late = retire::late(&format!("work of {},", Use::describe_open(&borrows)));
                context.record_drop_error("memory of an aborted stream, which other work uses", late);
            };
            retire::outlast(is_used, tell);
            drop(unsure);
        });
    }

    /// Makes it wait again for what uses its memory; gives what it could not be made to wait for.
    fn follow_again(&self) -> Vec<Use> {
        let mut borrows = self.forget_order();
        borrows.retain(|before| {
            before.poll();
            let asked = self.follow_again_always(before);
            let mut state = self.lock();
            let covers = state.capture.is_none() && state.clock.covers(before.stream(), before.number());
            let follows = before.is_done() || (asked.is_ok_and(|follows| follows) && covers);
            // Where it does not, later work tries again.
            self.borrow(&mut state, before);
            !follows
        });
        borrows
    }

    /// Whether it captures. A thread that submits may hold the lock until the very work is dropped that is to be: one
    /// that has it for longer than a moment is not waited for, and the library says what it takes.
    pub(super) fn is_surely_capturing(&self) -> bool {
        let until = Instant::now() + retire::BRIEF;
        loop {
            if let Some(state) = self.state.try_lock() {
                return state.capture.is_some();
            }
            if Instant::now() >= until {
                return false;
            }
            retire::pause_for(Duration::from_millis(1));
        }
    }
}
