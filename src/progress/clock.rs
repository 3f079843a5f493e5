//! Which work of other streams a stream is behind.

use std::sync::Arc;

/// More streams than a program has at a time; beyond it what was learnt first is forgotten, which costs a wait.
const MOST: usize = 256;

/// For each stream the latest submission that all later work follows; shared until it changes.
#[derive(Clone, Default)]
pub(crate) struct Clock(Option<Arc<Vec<(u64, u64)>>>);

impl Clock {
    fn known(&self) -> &[(u64, u64)] {
        self.0.as_ref().map_or(&[], |known| known)
    }

    /// Whether the submission `number` of the stream with this id comes before.
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
        if self.covers(stream, number) {
            return;
        }
        let known = Arc::make_mut(self.0.get_or_insert_default());
        if let Some((_, upto)) = known.iter_mut().find(|(id, _)| *id == stream) {
            *upto = number;
            return;
        }
        if known.len() >= MOST {
            known.remove(0);
        }
        known.push((stream, number));
    }

    /// Later work follows that submission, and what its stream was behind at that time.
    #[inline]
    pub(crate) fn follow(&mut self, (stream, number): (u64, u64), behind: &Self) {
        if !self.covers(stream, number) {
            self.raise(stream, number);
            self.join(behind);
        }
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
    fn it_forgets_what_it_learnt_first() {
        let mut clock = Clock::default();
        (1..=MOST as u64 + 1).for_each(|stream| clock.raise(stream, 1));
        assert!(!clock.covers(1, 1) && clock.covers(2, 1) && clock.covers(MOST as u64 + 1, 1));
    }
}
