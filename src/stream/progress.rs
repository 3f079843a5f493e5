//! How far a stream is. Outlives the stream, so that nobody has to guess what became of its work.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::StreamInner;
use crate::error::{Error, ErrorKind, Result};

/// Numbers of submissions: how many there were, and up to which they are known to be done.
#[derive(Default)]
pub(crate) struct Progress {
    submitted: AtomicU64,
    completed: AtomicU64,
    /// Up to which a call that waits has covered them, and so reported their errors.
    reported: AtomicU64,
    end: Mutex<End>,
    ended: Condvar,
}

#[derive(Default)]
enum End {
    #[default]
    Alive,
    /// Its last handle is gone, and this one waits for its work.
    Left(Weak<StreamInner>),
    /// The stream is gone and its work is done.
    Done,
    /// The stream could neither be waited for nor destroyed, so its work may run for ever.
    Lost,
}

impl Progress {
    pub(crate) fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }

    /// The number of a submission that was just made; the caller holds the stream's lock.
    pub(super) fn next(&self) -> u64 {
        let number = self.submitted.load(Ordering::Relaxed) + 1;
        self.submitted.store(number, Ordering::Release);
        number
    }

    pub(crate) fn has_completed(&self, number: u64) -> bool {
        self.completed.load(Ordering::Acquire) >= number
    }

    pub(crate) fn set_completed(&self, number: u64) {
        self.completed.fetch_max(number, Ordering::AcqRel);
    }

    pub(crate) fn has_reported(&self, number: u64) -> bool {
        self.reported.load(Ordering::Acquire) >= number
    }

    pub(crate) fn set_reported(&self, number: u64) {
        self.set_completed(number);
        self.reported.fetch_max(number, Ordering::AcqRel);
    }

    /// The stream is gone.
    pub(super) fn finish(&self, lost: bool) {
        if !lost {
            self.set_reported(u64::MAX);
        }
        *self.end() = if lost { End::Lost } else { End::Done };
        self.ended.notify_all();
    }

    /// The last handle is gone; `heir` waits for the work.
    pub(super) fn leave_to(&self, heir: &Arc<StreamInner>) {
        *self.end() = End::Left(Arc::downgrade(heir));
        self.ended.notify_all();
    }

    fn end(&self) -> MutexGuard<'_, End> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn heir(&self) -> Option<Arc<StreamInner>> {
        match &*self.end() {
            End::Left(heir) => heir.upgrade(),
            _ => None,
        }
    }

    /// Blocks until the stream, which goes away on another thread, is gone, or left to what is given: at most as long
    /// as `limit`.
    fn wait_end(&self, limit: Duration) -> Result<Option<Arc<StreamInner>>> {
        let begun = Instant::now();
        let mut end = self.end();
        loop {
            match &*end {
                End::Done => return Ok(None),
                End::Lost => {
                    let text = "the stream is gone and could not be waited for";
                    return Err(Error::new(ErrorKind::DeviceLost, text));
                }
                End::Left(heir) => {
                    if let Some(heir) = heir.upgrade() {
                        return Ok(Some(heir));
                    }
                }
                End::Alive => {}
            }
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                let text = format!("its stream, which goes away on another thread, is not done after {limit:?}");
                return Err(Error::new(ErrorKind::Timeout, text));
            }
            end = self.ended.wait_timeout(end, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A submission that something depends on.
#[derive(Clone)]
pub(crate) struct Use {
    stream: Weak<StreamInner>,
    progress: Arc<Progress>,
    number: u64,
}

impl Use {
    pub(crate) fn new(stream: &Arc<StreamInner>, number: u64) -> Self {
        Self { stream: Arc::downgrade(stream), progress: Arc::clone(stream.progress()), number }
    }

    pub(crate) fn is_of(&self, stream: &StreamInner) -> bool {
        Arc::ptr_eq(&self.progress, stream.progress())
    }

    /// A later submission of the same stream.
    pub(crate) fn renew(&mut self, number: u64) {
        self.number = self.number.max(number);
    }

    pub(crate) fn is_done(&self) -> bool {
        self.progress.has_completed(self.number)
    }

    /// Done, and its errors told.
    pub(crate) fn is_settled(&self) -> bool {
        self.progress.has_reported(self.number)
    }

    /// The stream, also when only its work is left of it.
    fn stream(&self) -> Option<Arc<StreamInner>> {
        self.stream.upgrade().or_else(|| self.progress.heir())
    }

    /// Waits until the submission is done, for at most `limit` milliseconds, and reports errors of the work up to it.
    pub(crate) fn wait(&self, limit: Option<i32>) -> Result<()> {
        if self.is_settled() {
            return Ok(());
        }
        let gone = || self.progress.wait_end(Duration::MAX);
        let stream = self.stream().map_or_else(gone, |stream| Ok(Some(stream)))?;
        stream.map_or(Ok(()), |stream| stream.wait_for(self.number, limit))
    }

    /// The stream, while the submission may still run. Waits for one that goes away, at most as long as `limit`.
    pub(crate) fn running(&self, limit: Duration) -> Result<Option<(Arc<StreamInner>, u64)>> {
        if self.is_done() {
            return Ok(None);
        }
        let gone = || self.progress.wait_end(limit);
        let stream = self.stream().map_or_else(gone, |stream| Ok(Some(stream)))?;
        Ok(stream.map(|stream| (stream, self.number)))
    }

    /// Asks the stream how far it is, without blocking.
    pub(crate) fn poll(&self) {
        if !self.is_done()
            && let Some(stream) = self.stream()
        {
            stream.poll();
        }
    }
}
