//! The launch of a graph that may still run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::allocation::Launches;
use crate::error::{ErrorKind, Result};
use crate::lock::{Guard, Lock};
use crate::progress::{Chain, Open, Progress, Use, is_same_stream};
use crate::retire;
use crate::stream::StreamInner;

/// Where a graph was launched last; shared with the memory that it uses.
#[derive(Default)]
pub(crate) struct InFlight {
    /// The [era](crate::progress::Progress::era) of its stream, 0 for none, and its number there: the next launch on that
    /// stream changes the number alone, without the lock. Launches come one at a time, since they have the graph to themselves.
    stream: AtomicU64,
    number: AtomicU64,
    /// Each waited for the one before.
    launches: Lock<Chain<StreamInner>>,
    /// Another stream used memory of the graph since the last launch.
    disturbed: AtomicBool,
    /// The stream and the number of a launch that was told to be dropped.
    told: Lock<Option<(usize, u64)>>,
}

impl InFlight {
    fn known(&self) -> Guard<'_, Chain<StreamInner>> {
        let mut known = self.launches.lock();
        known.renew(self.number.load(Ordering::Acquire));
        known
    }

    fn last_use(&self) -> Option<Use<StreamInner>> {
        self.known().last().cloned()
    }

    /// Earlier launches that may run still though the last one is over.
    fn passed_over(&self) -> Vec<Use<StreamInner>> {
        self.known().passed_over().cloned().collect()
    }

    /// Whether the last launch went to the stream of this era.
    #[inline]
    pub(crate) fn is_last(&self, era: u64) -> bool {
        self.stream.load(Ordering::Relaxed) == era
    }

    /// Whether another stream used memory of the graph since this was asked last, or since the last launch.
    pub(crate) fn take_disturbed(&self) -> bool {
        self.disturbed.load(Ordering::Relaxed) && self.disturbed.swap(false, Ordering::Relaxed)
    }

    /// The same, without taking note.
    #[inline]
    pub(crate) fn is_disturbed(&self) -> bool {
        self.disturbed.load(Ordering::Relaxed)
    }

    pub(crate) fn set_disturbed(&self) {
        self.disturbed.store(true, Ordering::Relaxed);
    }

    /// A launch that was ordered by the stream's `era`.
    #[inline]
    pub(crate) fn launched(&self, stream: &Arc<StreamInner>, (era, number): (u64, u64)) {
        if self.is_last(era) {
            return self.number.store(number, Ordering::Release);
        }
        self.launched_elsewhere(stream, (era, number));
    }

    #[inline(never)]
    fn launched_elsewhere(&self, stream: &Arc<StreamInner>, (era, number): (u64, u64)) {
        let mut known = self.known();
        known.add(Use::of(stream, number));
        self.number.store(number, Ordering::Release);
        self.stream.store(era, Ordering::Release);
    }

    /// Does `work` with the stream of each launch that may run.
    pub(crate) fn with_running(&self, mut work: impl FnMut(&(Arc<StreamInner>, u64)) -> Result<()>) -> Result<()> {
        let open = self.known().open_now(Use::clone);
        for launch in open {
            let _pass = launch.pass();
            if let Some(running) = launch.running(Duration::MAX)? {
                work(&running)?;
            }
        }
        Ok(())
    }

    /// The last launch, for errors.
    pub(crate) fn describe(&self) -> String {
        let stream = self.last_use().and_then(|last| last.of_any().describe());
        stream.map_or_else(|| "the last launch".to_owned(), |stream| format!("a launch on {stream}"))
    }

    /// Whether a launch may still run.
    pub(crate) fn may_run(&self) -> bool {
        self.last_use().is_some_and(|last| !last.is_done()) || !self.passed_over().is_empty()
    }

    /// Waits for the last launch, for at most `limit` milliseconds, and reports its errors. Then as long for each that
    /// it does not stand for.
    pub(crate) fn wait_within(&self, limit: Option<i32>) -> Result<()> {
        self.last_use().map_or(Ok(()), |last| last.wait(limit))?;
        self.passed_over().iter().try_for_each(|launch| launch.wait(limit))
    }

    /// That no work of the last launch, which is over, was dropped.
    pub(crate) fn check_not_dropped(&self) -> Result<()> {
        self.last_use().map_or(Ok(()), |last| retire::check_not_dropped(last.progress(), last.number()))
    }

    /// The same, told once for each launch.
    pub(crate) fn tell_dropped(&self) -> Result<()> {
        let Some(last) = self.last_use() else { return Ok(()) };
        let launch = (last.stream_key(), last.number());
        if *self.told.lock() == Some(launch) {
            return Ok(());
        }
        self.check_not_dropped().inspect_err(|_| *self.told.lock() = Some(launch))
    }

    /// Waits, at most for so many milliseconds, until the last launch is over, which was aborted: the next wait for its
    /// stream tells that.
    pub(crate) fn outlast_abort(&self, limit: i32) -> Result<()> {
        let Some(last) = self.last_use() else { return Ok(()) };
        let _pass = last.pass();
        let Some((stream, number)) = last.running(Duration::ZERO)? else { return Ok(()) };
        let until = Instant::now() + Duration::from_millis(limit.unsigned_abs().into());
        loop {
            match stream.wait_for(number, Some(limit)) {
                // Each stream of the graph may tell it.
                Err(error) if error.kind() == ErrorKind::Aborted && Instant::now() < until => {
                    stream.tell_later(error);
                    retire::pause_for(Duration::from_millis(1));
                }
                waited => return waited,
            }
        }
    }

    /// The stream of the last launch, which may be gone, and its number there.
    pub(crate) fn last_launch(&self) -> Option<(Arc<Progress>, u64)> {
        self.last_use().map(|last| (Arc::clone(last.progress()), last.number()))
    }

    /// Whether there is nothing to wait for and to report.
    pub(crate) fn is_settled(&self) -> bool {
        self.last_use().as_ref().is_none_or(Use::is_settled) && self.passed_over().is_empty()
    }
}

impl Launches for InFlight {
    fn wait(&self) -> Result<()> {
        self.wait_within(None)
    }

    fn open(&self) -> Open {
        self.known().open_now(Use::of_any)
    }

    fn disturb(&self, stream: u64) {
        // Without the lock: work on memory of many graphs asks each of them.
        let last = self.stream.load(Ordering::Acquire);
        if last != 0 && !is_same_stream(last, stream) {
            self.set_disturbed();
        }
    }
}
