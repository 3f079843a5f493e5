//! Threads in waits that may be told of failed work: the library tells each failure once, and whoever waits next hears of
//! none. Between the end of such a call and its note, nobody may take the work for good.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::Progress;
use crate::lock::{Lock, Signal, ThreadNumber};

/// A wait for work that is over returns at once, or when its thread is given a processor.
const MOST: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(super) struct Takers {
    count: AtomicUsize,
    /// Of each the thread, and up to which submission it waits.
    all: Lock<Vec<(ThreadNumber, u64)>>,
    left: Signal,
}

/// While it lives, this thread may be told of a failure, and have noted it nowhere.
pub(crate) struct Taker<'a> {
    of: &'a Takers,
    number: u64,
}

impl Progress {
    /// This thread waits for the work up to that submission.
    pub(crate) fn takes(&self, number: u64) -> Taker<'_> {
        let of = &self.takers;
        of.all.lock().push((ThreadNumber::here(), number));
        of.count.fetch_add(1, Ordering::SeqCst);
        Taker { of, number }
    }

    /// Whether everybody has noted what waits for the work up to that submission, which is over, told them. They are
    /// waited for a moment; whoever is told no asks again later.
    #[inline]
    pub(crate) fn is_noted(&self, number: u64) -> bool {
        self.takers.count.load(Ordering::SeqCst) == 0 || self.takers.wait(number, MOST)
    }
}

impl Takers {
    #[cold]
    fn wait(&self, number: u64, limit: Duration) -> bool {
        let (own, begun) = (ThreadNumber::here(), Instant::now());
        let mut all = self.all.lock();
        // Those who wait for later work may do so for long, and this thread would wait for itself.
        while all.iter().any(|(thread, upto)| *thread != own && *upto <= number) {
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return false;
            }
            all = self.left.wait_timeout(all, left);
        }
        true
    }
}

impl Drop for Taker<'_> {
    fn drop(&mut self) {
        let mut all = self.of.all.lock();
        let this = (ThreadNumber::here(), self.number);
        if let Some(place) = all.iter().rposition(|known| *known == this) {
            all.swap_remove(place);
        }
        self.of.count.fetch_sub(1, Ordering::SeqCst);
        self.of.left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;
    use crate::error::ErrorKind;
    use crate::progress::Passes;

    #[test]
    fn work_is_good_only_when_whoever_waits_for_it_has_noted_what_it_was_told() {
        let progress = Progress::new(&Arc::<Passes>::default(), &Arc::new(Lock::new(())));
        assert!(progress.is_noted(5), "nobody waits");
        let (noted, (taking, taken)) = (AtomicBool::new(false), channel());
        thread::scope(|scope| {
            scope.spawn(|| {
                let _taker = progress.takes(5);
                taking.send(()).unwrap();
                // Until the other one waits, or did not.
                while progress.takers.all.try_lock().is_none_or(|all| all.len() < 2) {
                    thread::yield_now();
                }
                progress.note_failed((4, 5), ErrorKind::DeviceFault);
                noted.store(true, Ordering::SeqCst);
            });
            taken.recv().unwrap();
            // Its own wait, and one for later work, do not count.
            let _own = progress.takes(5);
            assert!(progress.is_noted(4));
            while !progress.is_noted(5) {}
            assert!(noted.load(Ordering::SeqCst));
            assert_eq!(progress.check_ended_well(5).unwrap_err().kind(), ErrorKind::DeviceFault);
        });
        assert!(progress.takers.all.lock().is_empty() && progress.is_noted(u64::MAX));
    }

    #[test]
    fn nobody_is_waited_for_without_an_end() {
        let progress = Progress::new(&Arc::<Passes>::default(), &Arc::new(Lock::new(())));
        let (done, over) = channel::<()>();
        thread::scope(|scope| {
            let (taking, taken) = channel();
            let progress = &progress;
            scope.spawn(move || {
                let _taker = progress.takes(5);
                taking.send(()).unwrap();
                let _ = over.recv();
            });
            taken.recv().unwrap();
            assert!(!progress.takers.wait(5, Duration::ZERO) && progress.takers.wait(4, Duration::ZERO));
            drop(done);
        });
        assert!(progress.is_noted(5));
    }
}
