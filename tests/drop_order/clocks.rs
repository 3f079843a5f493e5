//! Which work is known to be done: by the host, and by the streams that wait for others.

use std::collections::{BTreeMap, BTreeSet};

/// How far each stream is.
type Clock = BTreeMap<usize, u64>;

#[derive(Debug, Default)]
pub(crate) struct Clocks {
    /// Behind what was given to each stream, and of events and notifies at their last record.
    at: BTreeMap<usize, Clock>,
    host: Clock,
    /// By whom, and how late, memory and graphs were used.
    users: BTreeMap<usize, Clock>,
}

fn join(into: &mut Clock, from: &Clock) {
    for (&stream, &place) in from {
        let known = into.entry(stream).or_default();
        *known = place.max(*known);
    }
}

impl Clocks {
    /// An address or a handle that is given out again is another thing.
    pub(crate) fn forget(&mut self, one: usize) {
        self.at.remove(&one);
        self.users.remove(&one);
        self.host.remove(&one);
    }

    pub(crate) fn uses(&mut self, stream: usize, used: &BTreeSet<usize>) {
        let place = self.at.entry(stream).or_default().entry(stream).or_default();
        *place += 1;
        for &one in used {
            self.users.entry(one).or_default().insert(stream, *place);
        }
    }

    pub(crate) fn recorded(&mut self, event: usize, stream: usize) {
        let now = self.at.get(&stream).cloned().unwrap_or_default();
        self.at.insert(event, now);
    }

    pub(crate) fn waits(&mut self, stream: usize, event: usize) {
        let past = self.at.get(&event).cloned().unwrap_or_default();
        join(self.at.entry(stream).or_default(), &past);
    }

    /// Of a stream all that it has, of an event what was before its record.
    pub(crate) fn host_sees(&mut self, one: usize) {
        if let Some(past) = self.at.get(&one) {
            join(&mut self.host, past);
        }
    }

    pub(crate) fn host_sees_all(&mut self) {
        self.at.values().for_each(|past| join(&mut self.host, past));
    }

    /// Streams whose work uses it and that nobody waited for.
    pub(crate) fn unseen_users(&self, one: usize) -> Vec<usize> {
        let users = self.users.get(&one).into_iter().flatten();
        users
            .filter(|(stream, place)| self.host.get(stream).is_none_or(|seen| seen < *place))
            .map(|(s, _)| *s)
            .collect()
    }
}
