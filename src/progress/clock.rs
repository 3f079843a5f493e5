//! Which work of other streams a stream is behind.

use std::sync::Arc;

use super::{is_as_late, is_same_stream};

/// More streams than a program has at a time; beyond it what was learnt first is forgotten, which costs a wait.
const MOST: usize = 256;

/// For each era of a stream the latest submission that all later work follows; shared until it changes.
#[derive(Clone, Default)]
pub(crate) struct Clock(Option<Arc<Vec<(u64, u64)>>>);

impl Clock {
    fn known(&self) -> &[(u64, u64)] {
        self.0.as_ref().map_or(&[], |known| known)
    }

    /// Whether the submission `number` of the stream of this era may come before: it did when there had been fewer
    /// failures.
    pub(crate) fn may_cover(&self, stream: u64, number: u64) -> bool {
        self.known().iter().any(|(id, upto)| is_same_stream(*id, stream) && *upto >= number)
    }

    /// Whether the submission `number` of the stream of this era surely comes before.
    pub(crate) fn covers(&self, stream: u64, number: u64) -> bool {
        self.known().iter().any(|(id, upto)| *id == stream && *upto >= number)
    }

    /// The same as `other` from now on.
    #[inline]
    pub(crate) fn renew(&mut self, other: &Self) {
        let same = match (&self.0, &other.0) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (own, other) => own.is_none() && other.is_none(),
        };
        if !same {
            self.0.clone_from(&other.0);
        }
    }

    /// Later work follows that submission.
    fn raise(&mut self, stream: u64, number: u64) {
        let is_known =
            |(id, upto): &(u64, u64)| is_same_stream(*id, stream) && is_as_late(*id, stream) && *upto >= number;
        if self.known().iter().any(is_known) {
            return;
        }
        let known = Arc::make_mut(self.0.get_or_insert_default());
        if let Some(older) = known.iter_mut().find(|(id, upto)| *id == stream && *upto < number) {
            older.1 = number;
            return;
        }
        known.retain(|(id, upto)| !is_same_stream(*id, stream) || !is_as_late(stream, *id) || *upto > number);
        if known.len() >= MOST {
            known.remove(0);
        }
        known.push((stream, number));
    }

    /// Later work follows that submission, and what its stream was behind at that time; whether that is new.
    #[inline]
    pub(crate) fn follow(&mut self, (stream, number): (u64, u64), behind: &Self) -> bool {
        let is_new = !self.covers(stream, number);
        if is_new {
            self.raise(stream, number);
            self.join(behind);
        }
        is_new
    }

    /// Later work follows all that `other` is behind.
    fn join(&mut self, other: &Self) {
        if self.0.is_none() {
            self.0.clone_from(&other.0);
            return;
        }
        for (stream, number) in other.known() {
            self.raise(*stream, *number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_knows_the_latest_of_each_stream() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        assert!(!a.covers(1, 1));
        a.raise(1, 5);
        a.raise(1, 3);
        assert!(a.covers(1, 5) && !a.covers(1, 6) && !a.covers(2, 1));
        let before = a.clone();
        b.raise(2, 7);
        b.raise(1, 6);
        a.join(&b);
        assert!(a.covers(2, 7) && a.covers(1, 6));
        assert!(before.covers(1, 5) && !before.covers(1, 6), "a snapshot stays as it is");
    }

    #[test]
    fn what_was_known_before_a_failure_is_possible_behind_it_and_not_certain() {
        let failure = 1 << 36;
        let (mut clock, mut later) = (Clock::default(), Clock::default());
        clock.raise(1, 5);
        assert!(clock.may_cover(1 + failure, 5) && !clock.covers(1 + failure, 5) && !clock.may_cover(2 + failure, 5));
        later.raise(1 + failure, 3);
        later.join(&clock);
        assert!(later.may_cover(1 + failure, 5) && later.covers(1 + failure, 3) && !later.covers(1 + failure, 4));
        later.raise(1 + failure, 7);
        clock.join(&later);
        assert!(clock.covers(1 + failure, 7) && clock.may_cover(1, 7));
        clock.join(&later);
        assert_eq!(clock.known().iter().filter(|(id, _)| *id == 1 + failure).count(), 1);
    }

    #[test]
    fn it_forgets_what_it_learnt_first() {
        let mut clock = Clock::default();
        (1..=MOST as u64 + 1).for_each(|stream| clock.raise(stream, 1));
        assert!(!clock.covers(1, 1) && clock.covers(2, 1) && clock.covers(MOST as u64 + 1, 1));
    }
}
