//! Which thread this is, and whether it has come to its end.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// One thread of the process, that of no other one before or after. [`std::thread::ThreadId`] is not to be had any more
/// where destructors of the thread's own values run, from which programs in C may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadNumber(u64);

thread_local! {
    /// Without a destructor, so that it stays to the end.
    static OWN: Cell<u64> = const { Cell::new(0) };
}

impl ThreadNumber {
    /// That of the calling thread.
    pub(crate) fn here() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // Asked for once: in a shared library that is a call.
        OWN.with(|own| {
            if own.get() == 0 {
                own.set(NEXT.fetch_add(1, Ordering::Relaxed));
            }
            Self(own.get())
        })
    }
}

struct Lives;

impl Drop for Lives {
    /// To have a destructor is what it is for.
    fn drop(&mut self) {}
}

thread_local! {
    static LIVES: Lives = const { Lives };
}

/// Whether values of this thread are destroyed that are made now: no longer once it destroys those that it has. Known from
/// the first call on, which is when the thread makes its first call of the library.
pub(crate) fn is_alive() -> bool {
    LIVES.try_with(|_| ()).is_ok()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn each_thread_has_a_number_of_its_own_for_good() {
        let own = ThreadNumber::here();
        let others = [thread::spawn(ThreadNumber::here), thread::spawn(ThreadNumber::here)];
        let [one, other] = others.map(|thread| thread.join().unwrap());
        assert!(own == ThreadNumber::here() && one != own && other != own && one != other);
    }
}
