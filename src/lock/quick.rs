//! A mutex that is let go with a plain store.
//!
//! Each submission takes the lock of its stream, most of them one more, and nearly always nobody else wants it. There
//! the standard mutex pays for two atomic exchanges, this one for one: who lets it go only looks whether somebody
//! waits. That look may come too early for one who just began to, so whoever waits looks again, at the latest after
//! [`AGAIN`].

use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A wake-up that was lost costs at most this.
const AGAIN: Duration = Duration::from_millis(1);

/// Most are held for less than this many looks, and what was let go is seen by then.
const LOOKS: usize = 100;

#[derive(Default)]
pub(super) struct Quick<T> {
    gate: Gate,
    value: UnsafeCell<T>,
}

/// What is the same for every type of value, so that waiting is compiled once.
#[derive(Default)]
struct Gate {
    taken: AtomicBool,
    waiting: AtomicU32,
    turn: Mutex<()>,
    released: Condvar,
}

// SAFETY: one thread at a time gets to the value, which moves between threads so: `taken` is exchanged from false to
// true with acquire by whoever gets there, and stored false with release by the same when it is done.
unsafe impl<T: Send> Sync for Quick<T> {}

/// The right to the value of a [`Quick`].
pub(super) struct Taken<'a, T> {
    lock: &'a Quick<T>,
    /// Stays on its thread.
    _here: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives `&T` alone.
unsafe impl<T: Sync> Sync for Taken<'_, T> {}

impl<T> Quick<T> {
    pub(super) const fn new(value: T) -> Self {
        Self { gate: Gate::new(), value: UnsafeCell::new(value) }
    }

    #[inline]
    pub(super) fn lock(&self) -> Taken<'_, T> {
        if !self.gate.take() {
            self.gate.wait();
        }
        Taken { lock: self, _here: PhantomData }
    }

    #[inline]
    pub(super) fn try_lock(&self) -> Option<Taken<'_, T>> {
        self.gate.take().then(|| Taken { lock: self, _here: PhantomData })
    }

    pub(super) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl Gate {
    const fn new() -> Self {
        Self {
            taken: AtomicBool::new(false),
            waiting: AtomicU32::new(0),
            turn: Mutex::new(()),
            released: Condvar::new(),
        }
    }

    /// Whether it was free, and is the caller's now.
    #[inline]
    fn take(&self) -> bool {
        !self.taken.swap(true, Ordering::Acquire)
    }

    /// Until it is the caller's.
    #[cold]
    #[inline(never)]
    fn wait(&self) {
        if self.look() {
            return;
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
        while !self.look() {
            let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            if self.take() {
                break;
            }
            drop(self.released.wait_timeout(turn, AGAIN));
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// As [`take`](Self::take) some times, without an exchange while it is taken, which would disturb who has it.
    fn look(&self) -> bool {
        (0..LOOKS).any(|_| {
            if self.taken.load(Ordering::Relaxed) {
                spin_loop();
                return false;
            }
            self.take()
        })
    }

    #[inline]
    fn give(&self) {
        self.taken.store(false, Ordering::Release);
        if self.waiting.load(Ordering::Relaxed) != 0 {
            self.wake();
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        drop(self.turn.lock());
        self.released.notify_one();
    }
}

impl<'a, T> Taken<'a, T> {
    /// Lets it go, for whoever takes it again.
    pub(super) fn release(self) -> &'a Quick<T> {
        self.lock
    }
}

impl<T> Drop for Taken<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.gate.give();
    }
}

impl<T> Deref for Taken<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard is there, so no other thread has the value, and `&mut` of it needs the guard itself.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Taken<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, with the guard borrowed for as long.
        unsafe { &mut *self.lock.value.get() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::thread;

    use super::*;

    const THREADS: usize = 6;
    const ROUNDS: usize = 20_000;

    /// Two numbers that are equal whenever nobody has the lock, and that nobody else sees apart.
    fn count(pair: &Quick<(usize, usize)>, pause: impl Fn(usize)) {
        for round in 0..ROUNDS {
            let mut pair = pair.lock();
            pair.0 += 1;
            pause(round);
            pair.1 += 1;
            assert_eq!(pair.0, pair.1);
        }
    }

    #[test]
    fn one_thread_at_a_time() {
        let (pair, begin) = (Quick::new((0, 0)), Barrier::new(THREADS));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    begin.wait();
                    // Some are preempted inside, so that others give up looking.
                    count(&pair, |round| {
                        if round % 100 == 0 {
                            thread::yield_now();
                        }
                    });
                });
            }
        });
        assert_eq!(*pair.lock(), (THREADS * ROUNDS, THREADS * ROUNDS));
        assert_eq!(pair.gate.waiting.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn all_that_wait_are_let_in() {
        let lock = Quick::new(0);
        let (done, ended) = channel();
        thread::scope(|scope| {
            let held = lock.lock();
            for _ in 0..THREADS {
                let (lock, done) = (&lock, done.clone());
                scope.spawn(move || {
                    *lock.lock() += 1;
                    done.send(()).unwrap();
                });
            }
            while lock.gate.waiting.load(Ordering::Relaxed) < THREADS as u32 {
                thread::yield_now();
            }
            assert!(lock.try_lock().is_none());
            assert_eq!(ended.recv_timeout(4 * AGAIN), Err(RecvTimeoutError::Timeout));
            drop(held);
            (0..THREADS).for_each(|_| ended.recv().unwrap());
        });
        assert_eq!((*lock.lock(), lock.gate.waiting.load(Ordering::Relaxed)), (THREADS, 0));
    }

    #[test]
    fn a_look_that_came_too_early_keeps_nobody_out() {
        let lock = Quick::new(());
        thread::scope(|scope| {
            let held = lock.lock();
            let waits = scope.spawn(|| drop(lock.lock()));
            while lock.gate.waiting.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
            // As if it had seen nobody.
            lock.gate.taken.store(false, Ordering::Release);
            std::mem::forget(held);
            waits.join().unwrap();
        });
    }

    #[test]
    fn a_panic_lets_go() {
        let lock = Quick::new(5);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            *lock.lock() = 6;
            let _held = lock.lock();
            panic!("on purpose");
        }));
        assert!(ended.is_err());
        assert_eq!(lock.try_lock().map(|held| *held), Some(6));
    }
}
