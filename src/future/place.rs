//! Where the thread that waits and the future meet.

use std::mem;
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::error::{Error, Result};
use crate::lock::{Lock, caught, say, theirs};

/// Wakers are code of the user: they are cloned, woken and dropped without the lock.
pub(super) struct Place(Lock<State>);

enum State {
    /// The future may have gone.
    Waits(Option<Waker>),
    Told(Result<()>),
    Taken,
}

impl Place {
    pub(super) fn new(waker: &Waker) -> Arc<Self> {
        Arc::new(Self(Lock::new(State::Waits(Some(theirs(|| waker.clone()))))))
    }

    pub(super) fn poll(&self, waker: &Waker) -> Poll<Result<()>> {
        let waker = theirs(|| waker.clone());
        let (told, old) = {
            let mut state = self.0.lock();
            match mem::replace(&mut *state, State::Taken) {
                State::Waits(old) => {
                    *state = State::Waits(Some(waker));
                    (Poll::Pending, old)
                }
                State::Told(ended) => (Poll::Ready(ended), Some(waker)),
                State::Taken => {
                    (Poll::Ready(Err(Error::invalid("a future that was ready is polled again"))), Some(waker))
                }
            }
        };
        theirs(|| drop(old));
        told
    }

    /// The future goes; gives what it was told and nobody heard.
    pub(super) fn leave(&self) -> Result<()> {
        let old = mem::replace(&mut *self.0.lock(), State::Taken);
        if let State::Told(ended) = old { ended } else { Ok(()) }
    }

    /// Tells the future, and gives who is to be woken; what it is told comes back when it has gone.
    pub(super) fn tell(&self, ended: Result<()>) -> Result<Option<Waker>> {
        let mut state = self.0.lock();
        if let State::Taken = *state {
            return ended.map(|()| None);
        }
        match mem::replace(&mut *state, State::Told(ended)) {
            State::Waits(waker) => Ok(waker),
            State::Told(_) | State::Taken => Ok(None),
        }
    }
}

/// Runs code of the user.
pub(super) fn wake(waker: Waker) {
    if caught(|| waker.wake()).is_none() {
        say!(Error, "the waker of a future panicked");
    }
}
