//! How far a stream is. Outlives the stream, so that nobody has to guess what became of its work.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum End {
    #[default]
    Alive,
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
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = if lost { End::Lost } else { End::Done };
        self.ended.notify_all();
    }

    /// Blocks until the stream, which goes away on another thread, is gone: at most as long as `limit`.
    fn wait_end(&self, limit: Duration) -> Result<()> {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let alive = |end: &mut End| *end == End::Alive;
        let (end, _) = self.ended.wait_timeout_while(end, limit, alive).unwrap_or_else(PoisonError::into_inner);
        match *end {
            End::Done => Ok(()),
            End::Lost => Err(Error::new(ErrorKind::DeviceLost, "the stream is gone and could not be waited for")),
            End::Alive => {
                let text = format!("its stream, which goes away on another thread, is not done after {limit:?}");
                Err(Error::new(ErrorKind::Timeout, text))
            }
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

    /// Waits until the submission is done, and reports errors of the work up to it.
    pub(crate) fn wait(&self) -> Result<()> {
        match self.stream.upgrade() {
            _ if self.is_settled() => Ok(()),
            Some(stream) => stream.wait_for(self.number),
            None => self.progress.wait_end(Duration::MAX),
        }
    }

    /// The stream, while the submission may still run. Waits for one that goes away, at most as long as `limit`.
    pub(crate) fn running(&self, limit: Duration) -> Result<Option<(Arc<StreamInner>, u64)>> {
        if self.is_done() {
            return Ok(None);
        }
        match self.stream.upgrade() {
            Some(stream) => Ok(Some((stream, self.number))),
            None => self.progress.wait_end(limit).map(|()| None),
        }
    }

    /// Asks the stream how far it is, without blocking.
    pub(crate) fn poll(&self) {
        if !self.is_done()
            && let Some(stream) = self.stream.upgrade()
        {
            stream.poll();
        }
    }
}
