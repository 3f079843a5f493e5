//! An executor of one thread, and wakers that tell what happens to them.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Counts how often it was woken.
#[derive(Default)]
pub(crate) struct Woken {
    count: Mutex<usize>,
    more: Condvar,
    pub(crate) seen: AtomicUsize,
}

impl Woken {
    pub(crate) fn new() -> (Arc<Self>, Waker) {
        let woken = Arc::<Self>::default();
        let waker = Arc::clone(&woken).into();
        (woken, waker)
    }

    /// Blocks until it was woken once more than the last time.
    pub(crate) fn wait(&self) {
        let seen = self.seen.fetch_add(1, Ordering::Relaxed);
        let count = self.count.lock().unwrap();
        drop(self.more.wait_while(count, |count| *count <= seen).unwrap());
    }

    pub(crate) fn count(&self) -> usize {
        *self.count.lock().unwrap()
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        *self.count.lock().unwrap() += 1;
        self.more.notify_all();
    }
}

/// Runs it on this thread.
pub(crate) fn block_on<F: Future>(work: F) -> F::Output {
    let (woken, waker) = Woken::new();
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(&waker)) {
            return done;
        }
        woken.wait();
    }
}

pub(crate) fn poll<F: Future + Unpin>(work: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(work).poll(&mut Context::from_waker(waker))
}

/// That it is not ready.
#[track_caller]
pub(crate) fn assert_waits<F: Future + Unpin>(work: &mut F, waker: &Waker) {
    assert!(poll(work, waker).is_pending());
}
