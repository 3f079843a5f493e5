//! Order between streams that use the same memory.
//!
//! Before work goes to a stream, the stream is made to wait for the last writer of what it reads and for all users of
//! what it writes, with an event recorded at the end of their stream. Nothing can wait in a circle: the event is
//! recorded before the wait is submitted, so that whatever it stands for was submitted earlier and can only depend on
//! what is earlier still. What failed or was dropped may have been such a wait: all that streams are sure of ends then, and
//! later work waits again. The exceptions are told by `retire::AtGates`: work that waits at a gate of a plan for a
//! signal that is still to come, maybe from the very stream that would wait. Nobody waits for that; the gate is the
//! order.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::elsewhere::may_be_missing;
use super::marks::Mark;
use super::{State, Stream, StreamInner};
use crate::allocation::{How, Touch};
use crate::by_plan::ByPlan;
use crate::call::call;
use crate::context::{Events, RawEvent, waits_may_end};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{Guard, say, theirs};
use crate::progress::{Clock, Pass, Progress, Queue, Use};
use crate::retire;

/// How soon a stream's lock is tried again that another thread has.
const LOCKED_AGAIN: Duration = Duration::from_micros(100);

thread_local! {
    /// The scopes in which this thread orders work by itself.
    static BY_HAND: Cell<usize> = const { Cell::new(0) };
}

/// A scope in which this thread orders its work by itself.
struct ByHand(());

impl ByHand {
    fn begin() -> Self {
        BY_HAND.set(BY_HAND.get() + 1);
        Self(())
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        BY_HAND.set(BY_HAND.get() - 1);
    }
}

/// Runs `work`, in which eager work that this thread submits is not ordered with other streams by the memory that it
/// uses: only by events, host functions and waits of the program. For programs that know their order and save the
/// waits, and for streams that use different parts of one allocation at the same time. It holds for this thread and
/// all contexts; nested scopes are one.
///
/// Work of two streams that touches the same memory, one of them writing, and that no event orders runs in any order or
/// at once: what is read then is undefined, and no call reports it. On the mock, `racl::mock::check_races` shows what
/// is missing, or `MOCK_ACL_RACES=report` in the environment. Later work outside of the scope is ordered after what was
/// submitted inside.
///
/// # Examples
///
/// ```
/// use racl::op;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let (main, side) = (device.stream()?, device.stream()?);
/// let mut x = device.upload_tensor(&[1.0_f32, 2.0], [2])?;
/// racl::untracked(|| {
///     op::adds_inplace(&main, &mut x, 1.0)?;
///     main.fork(&side)?; // the order is the program's own
///     op::muls_inplace(&side, &mut x, 10.0)
/// })?;
/// assert_eq!(x.to_vec()?, [20.0, 30.0]);
/// # Ok::<(), racl::Error>(())
/// ```
pub fn untracked<T>(work: impl FnOnce() -> T) -> T {
    let _scope = ByHand::begin();
    theirs(work)
}

impl StreamInner {
    /// Whether what this thread gives to streams is ordered by the memory that it uses.
    pub(super) fn is_ordered(&self) -> bool {
        BY_HAND.get() == 0 && !ByPlan::is_here() && self.context.is_tracking()
    }

    /// Makes the stream wait for work of other streams that work with these `uses` has to follow. In a capture nothing
    /// is done: what its graph has to follow is seen to when it is launched.
    #[inline]
    pub(crate) fn order(self: &Arc<Self>, uses: &[Touch<'_>]) -> Result<()> {
        let id = self.progress.era();
        if uses.iter().all(|touch| touch.memory.is_in_order(id)) && !self.progress.borrows() {
            return Ok(());
        }
        self.order_after(uses.iter().copied()).map(drop)
    }

    /// As [`StreamInner::order`], without a look whether it is needed. False when something is not waited for, because
    /// the program orders by itself or a gate does.
    #[cold]
    pub(crate) fn order_after<'a>(self: &Arc<Self>, uses: impl Iterator<Item = Touch<'a>>) -> Result<bool> {
        if self.progress.borrows() {
            self.follow_lenders()?;
        }
        if !self.is_ordered() {
            return Ok(false);
        }
        let clock = {
            let state = self.lock();
            if state.capture.is_some() || state.only_keeps {
                return Ok(false);
            }
            state.clock.clone()
        };
        let id = self.progress.era();
        let mut before = Vec::new();
        for touch in uses.filter(|touch| touch.how != How::Kept && !touch.memory.is_in_order(id)) {
            touch.memory.uses_before(id, touch.how, &mut before);
        }
        before.retain(|one| !clock.covers(one.stream(), one.number()));
        let mut marks = Vec::with_capacity(before.len());
        let mut whole = true;
        for one in &before {
            let mark = mark_of(one)?;
            whole &= mark.is_some() || one.is_done();
            marks.extend(mark);
        }
        for (index, mark) in marks.iter().enumerate() {
            let covers =
                |other: &(usize, &Told)| other.0 != index && other.1.mark.clock.covers(mark.stream, mark.mark.number);
            // None is behind a later one that is behind it: marks are made one after another.
            if !marks.iter().enumerate().any(|other| covers(&other)) {
                self.follow(mark)?;
            }
        }
        Ok(whole)
    }

    /// Makes the stream, which is to have memory that another one gave up, wait for the submission `before` of that.
    /// False where nobody may wait on the device, or a call failed: whoever asks waits on the host then.
    pub(crate) fn follow_for_memory(&self, before: &Use) -> bool {
        if !self.is_ordered() || self.check_thread().is_err() {
            return false;
        }
        if before.is_done() {
            return true;
        }
        // The wait must be there as long as the memory, which nobody else is kept from.
        if self.progress.stops() || waits_may_end() {
            return false;
        }
        let runs = |state: &State| state.capture.is_none() && !state.updates && !state.only_keeps;
        if !runs(&self.lock()) {
            return false;
        }
        let Ok(told) = mark_of_lender(before, Instant::now() + retire::BRIEF) else { return false };
        let Some(told) = told else { return before.is_done() };
        if may_be_missing((told.stream, told.mark.number), &told.mark.clock) {
            return false;
        }
        if !self.has_room() {
            self.poll();
        }
        // A wait of its own: one by way of a third stream goes when that is aborted.
        if !self.has_room() && self.lock().clock.covers(told.stream, told.mark.number) {
            return false;
        }
        let followed = self.wait_behind(&told, &mut self.lock());
        let mut state = self.lock();
        let follows = followed.is_ok() && runs(&state) && state.clock.covers(before.stream(), before.number());
        if follows {
            self.borrow(&mut state, before);
        }
        follows
    }

    /// It has memory of that stream, which uses it up to there; nothing else knows of that.
    pub(super) fn borrow(&self, state: &mut State, before: &Use) {
        state.borrows.retain(|one| !one.is_done());
        match state.borrows.iter_mut().find(|one| one.stream_key() == before.stream_key()) {
            Some(known) => known.renew(before.number()),
            None => state.borrows.push(before.clone()),
        }
        self.progress.set_borrows(true);
    }

    /// Makes the stream wait for those whose memory it has, where it is not behind them any more: whoever orders by himself
    /// does not know of that memory.
    #[cold]
    fn follow_lenders(&self) -> Result<()> {
        let lost: Vec<_> = {
            let mut state = self.lock();
            if state.capture.is_some() || state.only_keeps {
                return Ok(());
            }
            state.borrows.retain(|one| !one.is_done() && !one.is_lost());
            self.progress.set_borrows(!state.borrows.is_empty());
            let clock = &state.clock;
            state.borrows.iter().filter(|one| !clock.covers(one.stream(), one.number())).cloned().collect()
        };
        lost.iter().try_for_each(|one| self.follow_lender(one))
    }

    /// Where nobody may wait on the device, the host does as long as a drop.
    fn follow_lender(&self, before: &Use) -> Result<()> {
        let missing = |told: &Told| may_be_missing((told.stream, told.mark.number), &told.mark.clock);
        match mark_of_lender(before, as_a_drop())? {
            Some(told) if !missing(&told) => self.follow(&told),
            _ if before.is_done() => Ok(()),
            _ => {
                let limit = retire::drop_limit_ms();
                before.outlast(Some(limit)).map_err(|error| self.tell_order(error))
            }
        }
    }

    /// Makes the stream, which does not capture, wait for work of another one that it must not overtake, whatever the
    /// program orders by itself. False while that waits for a signal that nobody has given yet.
    pub(crate) fn follow_always(&self, before: &Use) -> Result<bool> {
        let pass = before.pass();
        // One that is just being dropped is waited for until it is left to somebody.
        let Some(queue) = before.owner()? else { return Ok(true) };
        let Some(told) = told_of(queue, before, pass)? else { return Ok(before.is_done()) };
        self.follow(&told)?;
        Ok(true)
    }

    /// The same by a wait of its own, also where it is behind that.
    pub(super) fn follow_again_always(&self, before: &Use) -> Result<bool> {
        let Some(told) = mark_of_lender(before, as_a_drop())? else { return Ok(before.is_done()) };
        self.wait_behind(&told, &mut self.lock())?;
        Ok(true)
    }

    /// Makes the stream wait for a mark of another one, unless it is behind that.
    fn follow(&self, told: &Told) -> Result<()> {
        let mut state = self.lock();
        if state.clock.covers(told.stream, told.mark.number) { Ok(()) } else { self.wait_behind(told, &mut state) }
    }

    /// The same in any case; not in a capture.
    fn wait_behind(&self, Told { other, stream, mark, .. }: &Told, state: &mut State) -> Result<()> {
        if state.capture.is_some() {
            return Ok(());
        }
        if let Err(error) = self.mark_before_held(state, &other.progress, &mark.clock) {
            say!(Warn, "marking what {} was given before a wait: {error:#}", self.name());
        }
        // SAFETY: both handles are live.
        unsafe { call!(&*self.context, aclrtStreamWaitEvent(self.raw, mark.event.raw())) }
            .map_err(|error| other.tell_order(error))?;
        // A task like others: the stream is not done before it.
        self.progress.next();
        // Where it was dropped meanwhile, nothing is certain.
        if other.progress.check_run(mark.number).is_ok() {
            self.is_behind(state, (*stream, mark.number), &mark.clock);
        }
        Ok(())
    }

    /// It was made to wait for that submission of another one.
    #[inline]
    pub(crate) fn is_behind(&self, state: &mut State, submission: (u64, u64), clock: &Clock) {
        if state.clock.follow(submission, clock) {
            self.progress.note_behind(submission, clock);
        }
    }

    fn tell_order(&self, error: Error) -> Error {
        error.context(format!("ordering work after that of {}", self.name()))
    }

    /// An event behind the submission `number`; none where that is done, or work in between waits for a signal that may
    /// still be to come.
    fn mark(&self, number: u64) -> Result<Option<Mark>> {
        Events::with_room(|| self.mark_now(number))
    }

    fn mark_now(&self, number: u64) -> Result<Option<Mark>> {
        // Before the lock, which a thread that waits for room in the queue has.
        self.check_thread()?;
        let Some(mut state) = self.lock_for_mark(number)? else { return Ok(None) };
        if let Some(mark) = state.marks.behind(number) {
            return Ok(Some(mark.clone()));
        }
        if retire::is_held(self.progress.era(), &state.clock) {
            return Ok(None);
        }
        if state.capture.is_some() {
            // What was done before it began has no mark: another thread may have found that since somebody asked.
            if self.progress.has_completed(number) {
                return Ok(None);
            }
            let text = "the stream records a graph, and work of before cannot be waited for";
            return Err(Error::new(ErrorKind::CaptureForbidden, text));
        }
        self.mark_here(&mut state).map(Some)
    }

    /// The lock; none where whoever has it may wait for room behind work that waits for a signal that nobody has given
    /// yet, and there is no mark behind `number`: the signal may come from who asks.
    fn lock_for_mark(&self, number: u64) -> Result<Option<Guard<'_, State>>> {
        let until = retire::deadline();
        loop {
            if let Some(state) = self.state.try_lock() {
                return Ok(Some(state));
            }
            match retire::is_held_itself(self.progress.era()) {
                None => return Ok(Some(self.lock())),
                Some(true) if self.marked.load(Ordering::Acquire) < number => return Ok(None),
                Some(true) if Instant::now() >= until => {
                    return Err(retire::not_back("waits for room in a stream that waits at a gate"));
                }
                Some(_) => retire::pause_for(LOCKED_AGAIN),
            }
        }
    }

    /// Marks what the stream was given so far, unless it is done and everybody knows how it ended: before a capture, or
    /// work that waits at a gate, behind which no mark can be made.
    pub(crate) fn mark_busy(&self, state: &mut State) -> Result<()> {
        let submitted = self.progress.submitted();
        if state.capture.is_some()
            || self.progress.has_reported(submitted)
            || state.marks.behind(submitted).is_some()
            || retire::is_held(self.progress.era(), &state.clock)
        {
            return Ok(());
        }
        self.mark_here(state).map(drop)
    }

    /// As [`mark_busy`](Self::mark_busy), where the stream is about to wait for another one, which is behind `clock` and
    /// may wait at a gate itself, or for what nobody may bring.
    #[inline]
    pub(crate) fn mark_before_held(&self, state: &mut State, other: &Progress, clock: &Clock) -> Result<()> {
        if may_wait_long(other, clock) { self.mark_busy(state) } else { Ok(()) }
    }

    fn mark_here(&self, state: &mut State) -> Result<Mark> {
        let waits = may_be_missing((self.progress.era(), u64::MAX), &state.clock);
        let own = state.marks.make_room(waits);
        let (event, number) = self.record_again(own, Progress::submitted)?;
        let mark = Mark { event, number, clock: state.clock.clone() };
        state.marks.set(mark.clone());
        self.marked.store(number, Ordering::Release);
        Ok(mark)
    }

    /// Records an event that the stream has, or one of the context; gives it with the number of the submission that it
    /// stands for. The caller has the stream's lock, and it does not capture.
    pub(super) fn record_again(
        &self,
        own: Option<Arc<RawEvent>>,
        number: impl FnOnce(&Progress) -> u64,
    ) -> Result<(Arc<RawEvent>, u64)> {
        // An event that another thread is about to wait for is left to it: a later record may be behind a gate.
        let own = own.filter(|event| Arc::strong_count(event) == 1);
        let mut event = own.map_or_else(|| Events::take_now(&self.context).map(Arc::new), Ok)?;
        // SAFETY: both handles are live, and the stream does not capture while its lock is held.
        unsafe { call!(&*self.context, aclrtRecordEvent(event.raw(), self.raw)) }?;
        let number = number(&self.progress);
        if let Some(event) = Arc::get_mut(&mut event) {
            event.set_recorded(&self.progress, number);
        }
        Ok((event, number))
    }
}

/// Whether a stream that is behind `clock` may wait at a gate, or for what nobody may bring.
#[inline]
pub(crate) fn may_wait_long(stream: &Progress, clock: &Clock) -> bool {
    retire::is_held(stream.era(), clock) || may_be_missing((stream.era(), u64::MAX), clock)
}

/// A mark, of a stream that is kept until it was waited for.
struct Told {
    other: Arc<StreamInner>,
    /// The era of that stream.
    stream: u64,
    mark: Mark,
    /// Dropped behind the stream.
    _pass: Pass,
}

/// What to wait for when work has to follow the submission; none when that is done or must not be waited for.
fn mark_of(before: &Use) -> Result<Option<Told>> {
    let pass = before.pass();
    before.owner()?.map_or(Ok(None), |queue| told_of(queue, before, pass))
}

/// As long as a drop waits.
fn as_a_drop() -> Instant {
    retire::deadline().max(Instant::now() + retire::BRIEF)
}

/// As [`mark_of`], of a stream whose memory is used: mostly there is a mark, which takes no room, also for a host function
/// of that stream. Whoever has its lock may wait for room, and is waited for until that moment.
fn mark_of_lender(before: &Use, until: Instant) -> Result<Option<Told>> {
    let pass = before.pass();
    let Some(queue) = before.owner()? else { return Ok(None) };
    let other = stream_of(Arc::clone(&queue))?;
    loop {
        if before.is_done() {
            return Ok(None);
        }
        let looked = other.state.try_lock().map(|state| state.marks.behind(before.number()).cloned());
        match looked {
            Some(Some(mark)) => return Ok(Some(Told { other, stream: before.stream(), mark, _pass: pass })),
            Some(None) => break,
            None => {}
        }
        if Instant::now() >= until {
            return Err(retire::not_back("waits for room in a stream whose memory is used"));
        }
        retire::pause_for(LOCKED_AGAIN);
    }
    other.check_thread().map_err(|error| other.tell_order(error))?;
    if other.may_be_full() {
        other.poll();
    }
    // A record would wait for room, behind what may not end.
    if other.may_be_full() {
        return Ok(None);
    }
    drop(other);
    told_of(queue, before, pass)
}

fn stream_of(queue: Arc<dyn Queue>) -> Result<Arc<StreamInner>> {
    let other = queue.into_any().downcast();
    other.map_err(|_| Error::new(ErrorKind::Internal, "memory used by a queue that is no stream"))
}

/// As [`mark_of`], of a stream that is there.
fn told_of(queue: Arc<dyn Queue>, before: &Use, pass: Pass) -> Result<Option<Told>> {
    let other = stream_of(queue)?;
    let mark = other.mark(before.number()).map_err(|error| other.tell_order(error))?;
    Ok(mark.map(|mark| Told { other, stream: before.stream(), mark, _pass: pass }))
}

/// What a stream was given before a host function.
pub(crate) struct Before {
    progress: Arc<Progress>,
    number: u64,
}

impl Before {
    /// The function runs.
    pub(crate) fn is_done(&self) {
        self.progress.set_completed(self.number);
    }
}

impl StreamInner {
    /// What the stream was given so far; the caller has its lock.
    pub(crate) fn before(&self) -> Before {
        Before { progress: Arc::clone(&self.progress), number: self.progress.submitted() }
    }
}

impl Stream {
    /// Before work that waits at a gate of a plan.
    pub(crate) fn mark_before_gate(&self) -> Result<()> {
        self.0.check_thread()?;
        Events::with_room(|| {
            let mut state = self.0.lock();
            self.0.mark_busy(&mut state)
        })
    }
}

#[cfg(all(test, feature = "mock"))]
mod tests {
    use super::*;
    use crate::graph::CaptureMode;
    use crate::{Acl, mock};

    /// Another thread saw work that was not done, and the stream is waited for and captures before that thread asks.
    #[test]
    fn work_that_was_done_before_a_capture_is_not_waited_for() {
        let _alone = mock::exclusive();
        let device = Acl::mock().unwrap().device(0).unwrap();
        let stream = device.stream().unwrap();
        let mut bytes = device.alloc::<u8>(8).unwrap();
        stream.fill_bytes(&mut bytes, 1).unwrap();
        let last = Use::new(&stream.0, stream.0.progress.submitted());
        stream.synchronize().unwrap();
        let capture = stream.begin_capture(CaptureMode::Relaxed).unwrap();
        assert!(stream.0.mark(last.number()).unwrap().is_none());
        let told = told_of(last.queue().unwrap(), &last, last.pass()).unwrap();
        assert!(told.is_none());
        drop(capture);
    }
}
