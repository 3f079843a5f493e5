//! Submissions to several streams, each behind the one before.

use std::{iter, option, vec};

use super::{Queue, Use};

/// What was open of a [`Chain`]. Of one submission alone, which is the rule, it allocates nothing.
pub(crate) type Open<Q = dyn Queue> = iter::Chain<vec::IntoIter<Use<Q>>, option::IntoIter<Use<Q>>>;

/// What came one after another on the device, the latest behind the others. What is behind something that was dropped,
/// or of which something failed, may be over before what that was behind.
pub(crate) struct Chain<Q>(Vec<Use<Q>>);

impl<Q> Default for Chain<Q> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<Q: Queue> Chain<Q> {
    /// One that was made to wait for the latest.
    pub(crate) fn add(&mut self, next: Use<Q>) {
        // A stream's earlier work is done before its later, or was dropped.
        self.0.retain(|one| !one.is_done() && one.stream_key() != next.stream_key());
        self.0.push(next);
    }

    pub(crate) fn last(&self) -> Option<&Use<Q>> {
        self.0.last()
    }

    /// The latest is a later submission to its stream.
    pub(crate) fn renew(&mut self, number: u64) {
        if let Some(last) = self.0.last_mut() {
            last.renew(number);
        }
    }

    /// What the next has to follow: the latest, and what it does not stand for.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Use<Q>> {
        self.passed_over().chain(self.last())
    }

    /// The same for who lets go of the chain, each as `to` makes of it.
    pub(crate) fn open_now<R: ?Sized>(&self, to: impl Fn(&Use<Q>) -> Use<R>) -> Open<R> {
        let passed_over: Vec<_> = self.passed_over().map(&to).collect();
        passed_over.into_iter().chain(self.last().map(&to))
    }

    /// What the latest does not stand for, though it comes before.
    pub(crate) fn passed_over(&self) -> impl Iterator<Item = &Use<Q>> {
        let dropped = self.0.iter().rposition(Use::may_be_out_of_order);
        self.0[..dropped.unwrap_or(0)].iter().filter(|one| !one.is_done())
    }
}
