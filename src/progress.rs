//! How far a stream is. Outlives the stream, so that nobody has to guess what became of its work.
//!
//! Seen from here a stream is a [`Queue`]: what waits for work, in a context or in its memory, needs no more of it.

use std::any::Any;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};
use crate::lock::{Guard, Lock, MayBeHeld, Signal};

mod beside;
mod chain;
mod clock;
mod eras;
mod failures;
mod going;
mod panicked;
mod passing;
mod takers;

pub(crate) use beside::Beside;
pub(crate) use chain::{Chain, Open};
pub(crate) use clock::Clock;
use eras::is_as_late;
pub(crate) use eras::{dropped, drops_here, is_same_stream, lose_order, unsure};
pub(crate) use failures::{Failed, Span, device_failures, note_device_failed};
pub(crate) use panicked::{Panic, no_panics, take_told, told_panics};
pub(crate) use passing::{Pass, Passes, Visit};

/// A stream.
pub(crate) trait Queue: Send + Sync + 'static {
    fn progress(&self) -> &Arc<Progress>;

    /// Waits until the submission with this number is done, for at most `limit` milliseconds, and reports errors of
    /// the work up to it.
    fn wait_for(&self, number: u64, limit: Option<i32>) -> Result<()>;

    /// As [`Queue::wait_for`], for somebody whose errors these are not: whoever waits for the queue next is told them.
    fn outlast(&self, number: u64, limit: Option<i32>) -> Result<()>;

    /// Asks how far it is, without blocking, and notes that.
    fn poll(&self);

    /// Its name and what of its work is not done, for errors. Waits for nothing.
    fn describe(&self) -> String;

    /// The handle in C.
    fn handle(&self) -> *mut c_void;

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// That no stream has, before or after; not 0.
fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Numbers of submissions: how many there were, and up to which they are known to be done.
pub(crate) struct Progress {
    /// That no other stream has, before or after; not 0.
    id: u64,
    /// As a moment between failures that the library told.
    born: u64,
    /// What the order between streams knows it by: another number after an abort, which drops waits too.
    era: AtomicU64,
    /// How many are about to drop its work, of which a part may be what others wait for: none is taken for done.
    dropping: AtomicUsize,
    /// Whether a failure drops what is behind it.
    stops: AtomicBool,
    /// What whoever submits has locked.
    lock: Weak<dyn MayBeHeld>,
    submitted: AtomicU64,
    completed: AtomicU64,
    /// The same of what is not taken for done yet.
    reached: AtomicU64,
    /// Up to which a call that waits has covered them, and so reported their errors.
    reported: AtomicU64,
    failures: failures::Failures,
    takers: takers::Takers,
    /// Submissions that may have been dropped.
    aborts: failures::Failures,
    /// How many drop work of it that is not noted yet.
    unnoted: AtomicUsize,
    panicked: panicked::Panicked,
    /// What helps its work along on other streams.
    beside: beside::Helpers,
    /// References to the stream for a moment, and to any of its context.
    passes: Passes,
    around: Arc<Passes>,
    /// What its stream is behind, for who must not wait for whoever submits.
    behind: Lock<Clock>,
    /// Its stream has memory of others, which may use it still.
    borrows: AtomicBool,
    end: Lock<End>,
    ended: Signal,
}

#[derive(Default)]
enum End {
    #[default]
    Alive,
    /// Its last handle is gone, and this one waits for its work.
    Left(Weak<dyn Queue>),
    /// The stream is gone and its work is done.
    Done,
    /// The stream could neither be waited for nor destroyed, so its work may run for ever. What it said of itself last.
    Lost(String),
}

impl Progress {
    /// Of a stream whose context counts in `around` who has one of its streams for a moment.
    pub(crate) fn new<L: Send + 'static>(around: &Arc<Passes>, lock: &Arc<Lock<L>>) -> Arc<Self> {
        let id = next_id();
        let lock: Weak<Lock<L>> = Arc::downgrade(lock);
        Arc::new(Self {
            id,
            born: crate::failures::now(),
            era: AtomicU64::new(id),
            dropping: AtomicUsize::new(0),
            stops: AtomicBool::new(false),
            lock,
            submitted: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            reached: AtomicU64::new(0),
            reported: AtomicU64::new(0),
            failures: failures::Failures::default(),
            takers: takers::Takers::default(),
            aborts: failures::Failures::default(),
            unnoted: AtomicUsize::new(0),
            panicked: panicked::Panicked::default(),
            beside: beside::Helpers::default(),
            passes: Passes::default(),
            around: Arc::clone(around),
            behind: Lock::default(),
            borrows: AtomicBool::new(false),
            end: Lock::default(),
            ended: Signal::default(),
        })
    }

    /// Whether somebody is submitting. Where not, all notes of what was submitted are there, and whoever submits next
    /// sees all that was stored before this was asked.
    pub(crate) fn is_submitting(&self) -> bool {
        self.lock.upgrade().is_some_and(|lock| lock.is_held())
    }

    /// Who has the stream for a moment.
    pub(crate) fn passes(&self) -> &Passes {
        &self.passes
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }

    /// The number of a submission that was just made; the caller holds the stream's lock.
    pub(crate) fn next(&self) -> u64 {
        let number = self.submitted.load(Ordering::Relaxed) + 1;
        self.submitted.store(number, Ordering::Release);
        number
    }

    /// How many submissions are not known to be done.
    pub(crate) fn open(&self) -> u64 {
        self.submitted().saturating_sub(self.completed.load(Ordering::Acquire))
    }

    pub(crate) fn has_completed(&self, number: u64) -> bool {
        self.completed.load(Ordering::Acquire) >= number
    }

    /// Up to which they are known to be done.
    pub(crate) fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    pub(crate) fn set_completed(&self, number: u64) {
        if self.is_dropping() {
            self.reached.fetch_max(number, Ordering::AcqRel);
            return;
        }
        self.completed.fetch_max(number, Ordering::AcqRel);
    }

    pub(crate) fn has_reported(&self, number: u64) -> bool {
        self.reported.load(Ordering::Acquire) >= number
    }

    pub(crate) fn set_reported(&self, number: u64) {
        if self.is_dropping() {
            return;
        }
        self.set_completed(number);
        self.reported.fetch_max(number, Ordering::AcqRel);
    }

    /// What a wait that begins now reports on.
    pub(crate) fn unreported(&self) -> Span {
        (self.reported.load(Ordering::Acquire), self.submitted())
    }

    /// Work of `span` failed: somebody was told so, or a host function panicked. Gives its number.
    pub(crate) fn note_failed(&self, span: Span, kind: ErrorKind) -> u64 {
        let number = self.failures.note(span, kind);
        lose_order();
        number
    }

    /// The failure of that number has the lines of the log that the error has, for whoever is reminded.
    pub(crate) fn note_log(&self, number: u64, error: &Error) {
        self.failures.log(number, error.log_lines());
    }

    /// That nobody was told of a failure which may be that of the submission with this number, or of work before it.
    #[inline]
    pub(crate) fn check_ended_well(&self, number: u64) -> Result<()> {
        if self.failures.count() == 0 { Ok(()) } else { self.check_told(number) }
    }

    #[cold]
    fn check_told(&self, number: u64) -> Result<()> {
        let span = (number.saturating_sub(1), number);
        let panics = &self.panicked;
        let panicked =
            || (panics.has_untold_up_to(number) || panics.were_told(span)).then_some(ErrorKind::CallbackPanicked);
        let panicked = || panicked().map(|kind| (kind, Arc::default()));
        let Some((kind, lines)) = self.failures.find(span).or_else(panicked) else { return Ok(()) };
        let text = match kind {
            ErrorKind::CallbackPanicked => "of the stream, or of a graph that was launched there, by then or before",
            _ => "work of the stream or beside it failed, by then or before, as another call was told",
        };
        Err(Error::new(kind, text).with_log(lines.to_vec()))
    }

    /// Whether somebody was told that work failed which may be of `span`.
    pub(crate) fn has_failed(&self, span: Span) -> bool {
        self.failures.touch(span)
    }

    /// How often somebody was told that work failed.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.count()
    }

    /// What work that may be of `span` failed with, of what was noted when there had been so many failures.
    pub(crate) fn failed_since(&self, count: u64, span: Span) -> Option<Failed> {
        self.failures.find_since(count, span)
    }

    /// Work of `span` may have been dropped.
    pub(crate) fn note_aborted(&self, span: Span) {
        self.aborts.note(span, ErrorKind::Aborted);
        self.note_failed(span, ErrorKind::Aborted);
    }

    /// That the submission with this number was not dropped, as far as is noted.
    #[inline]
    pub(crate) fn check_run(&self, number: u64) -> Result<()> {
        if self.aborts.count() == 0 { Ok(()) } else { self.check_noted(number) }
    }

    #[cold]
    fn check_noted(&self, number: u64) -> Result<()> {
        if self.has_dropped((number.saturating_sub(1), number)) { Err(dropped()) } else { Ok(()) }
    }

    /// From now on whoever waits for work of the stream is told what went wrong with `helper`, once.
    pub(crate) fn add_helper<B: Beside>(&self, helper: &Arc<B>) {
        self.beside.add(helper);
    }

    /// After a wait that succeeded: what went wrong with those that helped the work along. They are asked, without
    /// blocking.
    #[inline]
    pub(crate) fn check_helpers(&self) -> Result<()> {
        let span = self.unreported();
        self.beside.check().inspect_err(|error| self.note_log(self.note_failed((0, span.1), error.kind()), error))
    }

    /// The stream is gone; where it is `lost`, with work that may run still, what it said of itself.
    pub(crate) fn finish(&self, lost: Option<String>) {
        let is_done = lost.is_none();
        if is_done {
            self.set_reported(u64::MAX);
        }
        *self.end() = lost.map_or(End::Done, End::Lost);
        if is_done {
            // Once more: who drops its work at this moment looks for the word of it.
            self.set_reported(u64::MAX);
        }
        self.ended.notify_all();
    }

    /// The last handle is gone; `heir` waits for the work.
    pub(crate) fn leave_to<Q: Queue>(&self, heir: &Arc<Q>) {
        let heir: Weak<Q> = Arc::downgrade(heir);
        *self.end() = End::Left(heir);
        self.ended.notify_all();
    }

    fn end(&self) -> Guard<'_, End> {
        self.end.lock()
    }

    /// Since when there is the stream, as a moment between failures that the library told.
    pub(crate) fn born(&self) -> u64 {
        self.born
    }

    /// Whether the stream is gone, and with it whoever could be asked about its work.
    pub(crate) fn is_over(&self) -> bool {
        matches!(*self.end(), End::Done | End::Lost(_))
    }

    /// Whether the stream is gone although its work may run still.
    fn is_lost(&self) -> bool {
        matches!(*self.end(), End::Lost(_))
    }

    /// What a lost stream said of itself.
    fn last_words(&self) -> Option<String> {
        match &*self.end() {
            End::Lost(words) => Some(words.clone()),
            _ => None,
        }
    }

    fn heir(&self) -> Option<Arc<dyn Queue>> {
        match &*self.end() {
            End::Left(heir) => heir.upgrade(),
            _ => None,
        }
    }

    /// Blocks until the stream, which goes away on another thread, is gone, or left to what is given: at most as long
    /// as `limit`. Refused where it goes away on this one.
    fn wait_end(&self, limit: Duration) -> Result<Option<Arc<dyn Queue>>> {
        let begun = Instant::now();
        let mut end = self.end();
        loop {
            match &*end {
                End::Done => return Ok(None),
                End::Lost(words) => {
                    let text = format!("the stream is gone and could not be waited for: {words}");
                    return Err(Error::new(ErrorKind::DeviceLost, text));
                }
                End::Left(heir) => {
                    if let Some(heir) = heir.upgrade() {
                        return Ok(Some(heir));
                    }
                }
                End::Alive => {}
            }
            if self.goes_here() {
                let text = "its stream is just being dropped on this thread, which would wait for itself";
                return Err(Error::new(ErrorKind::Timeout, text));
            }
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                let text = format!("its stream, which goes away on another thread, is not done after {limit:?}");
                return Err(Error::new(ErrorKind::Timeout, text));
            }
            end = self.ended.wait_timeout(end, left);
        }
    }
}

/// Milliseconds, as the library takes them.
fn most(limit: Option<i32>) -> Duration {
    limit.map_or(Duration::MAX, |ms| Duration::from_millis(ms.unsigned_abs().into()))
}

/// A submission that something depends on, of a queue whose type is known where it is made.
pub(crate) struct Use<Q: ?Sized = dyn Queue> {
    queue: Weak<Q>,
    progress: Arc<Progress>,
    number: u64,
}

impl<Q: ?Sized> Clone for Use<Q> {
    fn clone(&self) -> Self {
        Self { queue: Weak::clone(&self.queue), progress: Arc::clone(&self.progress), number: self.number }
    }
}

impl Use {
    pub(crate) fn new<Q: Queue>(queue: &Arc<Q>, number: u64) -> Self {
        let weak: Weak<Q> = Arc::downgrade(queue);
        Self { queue: weak, progress: Arc::clone(queue.progress()), number }
    }

    /// The queue, unless it is gone; waits for nothing. Whoever keeps it for a moment has [a pass](Use::pass).
    pub(crate) fn queue(&self) -> Option<Arc<dyn Queue>> {
        self.queue.upgrade().or_else(|| self.progress.heir())
    }

    /// [What the queue says of itself](Queue::describe), or said when it was lost; nothing of one that is done.
    pub(crate) fn describe(&self) -> Option<String> {
        let _pass = self.pass();
        self.queue().map(|queue| queue.describe()).or_else(|| self.progress.last_words())
    }

    /// [The queue's handle](Queue::handle), unless it is gone.
    pub(crate) fn handle(&self) -> Option<*mut c_void> {
        let _pass = self.pass();
        self.queue().map(|queue| queue.handle())
    }

    /// Where nothing of `all` is known to run any more, but the streams of some are lost: why `what`, which they use,
    /// stays for ever.
    pub(crate) fn check_lost(all: &[Self], what: &str) -> Result<()> {
        if !all.iter().any(Self::is_lost) {
            return Ok(());
        }
        let streams = Self::describe_open(all);
        let text =
            format!("work may use {what} for ever, which stays; its stream could not be waited for: {streams}");
        Err(Error::new(ErrorKind::DeviceLost, text))
    }

    /// What those of `all` say of themselves that are not done.
    pub(crate) fn describe_open(all: &[Self]) -> String {
        let open = all.iter().filter(|one| !one.is_done());
        open.filter_map(Self::describe).collect::<Vec<_>>().join(", ")
    }

    /// The queue, while the submission may still run. Waits for one that goes away on another thread.
    pub(crate) fn owner(&self) -> Result<Option<Arc<dyn Queue>>> {
        if self.is_done() {
            return Ok(None);
        }
        match self.queue.upgrade() {
            Some(queue) => Ok(Some(queue)),
            None => self.progress.wait_end(Duration::MAX),
        }
    }
}

impl<Q: Queue + ?Sized> Use<Q> {
    /// For who has the queue for a moment, dropped behind it.
    #[inline]
    pub(crate) fn pass(&self) -> Pass {
        Pass::begin(&self.progress)
    }

    /// What the order between streams knows the stream by.
    pub(crate) fn stream(&self) -> u64 {
        self.progress.era()
    }

    /// Whether that is an era of its stream since the last abort.
    pub(crate) fn is_of_era(&self, stream: u64) -> bool {
        is_same_stream(self.stream(), stream)
    }

    /// An earlier submission of the same queue.
    pub(crate) fn at(&self, number: u64) -> Self {
        Self { number, ..self.clone() }
    }

    /// Whether somebody is [submitting](Progress::is_submitting) to the queue.
    pub(crate) fn is_submitting(&self) -> bool {
        self.progress.is_submitting()
    }

    pub(crate) fn is_of(&self, queue: &impl Queue) -> bool {
        Arc::ptr_eq(&self.progress, queue.progress())
    }

    /// The same for every use of one queue, and for no other queue while this value lives.
    pub(crate) fn stream_key(&self) -> usize {
        Arc::as_ptr(&self.progress).addr()
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether it [may be](Progress::may_be_out_of_order) done before what it was behind.
    pub(crate) fn may_be_out_of_order(&self) -> bool {
        self.progress.may_be_out_of_order(self.number)
    }

    /// How far its queue is.
    pub(crate) fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// Whether [somebody drops](Progress::is_dropped_from) work of its queue just now.
    pub(crate) fn is_dropped_from(&self) -> bool {
        self.progress.is_dropped_from()
    }

    /// Whether the submission `number` of the same queue is done.
    pub(crate) fn is_done_at(&self, number: u64) -> bool {
        self.progress.has_completed(number)
    }

    /// A later submission of the same queue.
    pub(crate) fn renew(&mut self, number: u64) {
        self.number = self.number.max(number);
    }

    pub(crate) fn is_done(&self) -> bool {
        self.progress.has_completed(self.number)
    }

    /// Done, or would be, if its work were not being dropped.
    pub(crate) fn is_reached(&self) -> bool {
        self.is_done() || self.progress.reached.load(Ordering::Acquire) >= self.number
    }

    /// Done, and its errors told.
    pub(crate) fn is_settled(&self) -> bool {
        self.progress.has_reported(self.number)
    }

    /// Waits until the submission is done, for at most `limit` milliseconds, and reports errors of the work up to it.
    pub(crate) fn wait(&self, limit: Option<i32>) -> Result<()> {
        if self.is_settled() {
            return Ok(());
        }
        let _pass = self.pass();
        if let Some(queue) = self.queue.upgrade() {
            return queue.wait_for(self.number, limit);
        }
        self.progress.wait_end(most(limit))?.map_or(Ok(()), |heir| heir.wait_for(self.number, limit))
    }

    /// Waits until the submission is done, for at most `limit` milliseconds. How it ended is told to others.
    pub(crate) fn outlast(&self, limit: Option<i32>) -> Result<()> {
        if self.is_done() {
            return Ok(());
        }
        let _pass = self.pass();
        if let Some(queue) = self.queue.upgrade() {
            return queue.outlast(self.number, limit);
        }
        self.progress.wait_end(most(limit))?.map_or(Ok(()), |heir| heir.outlast(self.number, limit))
    }

    /// Whether nobody will ever know that the submission is done: its stream could neither be waited for nor destroyed.
    pub(crate) fn is_lost(&self) -> bool {
        !self.is_done() && self.progress.is_lost()
    }

    /// Asks the queue how far it is, without blocking.
    pub(crate) fn poll(&self) {
        if self.is_done() {
            return;
        }
        let _pass = self.pass();
        if let Some(queue) = self.queue.upgrade() {
            queue.poll();
        } else if let Some(heir) = self.progress.heir() {
            heir.poll();
        }
    }
}

impl<Q: Queue> Use<Q> {
    /// Of a queue of any type.
    pub(crate) fn of_any(&self) -> Use {
        let queue: Weak<Q> = Weak::clone(&self.queue);
        Use { queue, progress: Arc::clone(&self.progress), number: self.number }
    }

    /// As [`Use::new`], for who needs the queue back.
    pub(crate) fn of(queue: &Arc<Q>, number: u64) -> Self {
        Self { queue: Arc::downgrade(queue), progress: Arc::clone(queue.progress()), number }
    }

    /// The queue, while the submission may still run. Waits for one that goes away, at most as long as `limit`.
    pub(crate) fn running(&self, limit: Duration) -> Result<Option<(Arc<Q>, u64)>> {
        if self.is_done() {
            return Ok(None);
        }
        if let Some(queue) = self.queue.upgrade() {
            return Ok(Some((queue, self.number)));
        }
        let Some(heir) = self.progress.wait_end(limit)? else { return Ok(None) };
        let heir = heir.into_any().downcast();
        let heir = heir.map_err(|_| Error::new(ErrorKind::Internal, "a queue was left to one of another kind"))?;
        Ok(Some((heir, self.number)))
    }
}
