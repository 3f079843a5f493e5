//! Which streams of a capture lead back to its origin: the rule that the end of a capture checks, with names.
//!
//! The runtime's guide on captures: the last task of every further stream must be an event record that another stream
//! of the capture waits for, and following these waits must lead to the origin.

use std::collections::HashMap;
use std::panic::Location;

/// The streams of one capture, numbered in the order in which they joined; 0 is the origin.
#[derive(Debug, Default)]
pub(crate) struct Joins {
    chains: Vec<Chain>,
    /// The latest record of each event: chain and number of tasks up to and with the record.
    records: HashMap<usize, (usize, u64)>,
    /// Waits that were seen: from chain, tasks at the record, to chain.
    edges: Vec<(usize, u64, usize)>,
}

#[derive(Debug, Default)]
struct Chain {
    /// Its stream could not join after all.
    void: bool,
    tasks: u64,
    last: Option<(&'static str, &'static Location<'static>)>,
}

/// A stream that does not lead back to the origin.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unjoined {
    /// Its number.
    pub(crate) chain: usize,
    /// What is wrong and what to do, to follow the name of the stream.
    pub(crate) text: String,
}

impl Joins {
    pub(crate) fn add_chain(&mut self) -> usize {
        self.chains.push(Chain::default());
        self.chains.len() - 1
    }

    /// The stream of `chain` does not take part after all.
    pub(crate) fn void(&mut self, chain: usize) {
        self.chains[chain].void = true;
    }

    pub(crate) fn is_void(&self, chain: usize) -> bool {
        self.chains[chain].void
    }

    pub(crate) fn task(&mut self, chain: usize, label: &'static str, location: &'static Location<'static>) {
        let chain = &mut self.chains[chain];
        chain.tasks += 1;
        chain.last = Some((label, location));
    }

    /// The task just added to `chain` was a record of `event`.
    pub(crate) fn record(&mut self, chain: usize, event: usize) {
        self.records.insert(event, (chain, self.chains[chain].tasks));
    }

    /// The task just added to `chain` was a wait for `event`.
    pub(crate) fn wait(&mut self, chain: usize, event: usize) {
        if let Some(&(from, tasks)) = self.records.get(&event)
            && from != chain
        {
            self.edges.push((from, tasks, chain));
        }
    }

    /// The first stream that does not lead back to the origin.
    pub(crate) fn unjoined(&self) -> Option<Unjoined> {
        (1..self.chains.len()).find(|&chain| !self.leads_back(chain, &mut vec![false; self.chains.len()])).map(
            |chain| {
                let text = self.explain(chain);
                Unjoined { chain, text }
            },
        )
    }

    fn leads_back(&self, chain: usize, seen: &mut [bool]) -> bool {
        if chain == 0 || self.chains[chain].void {
            return true;
        }
        if std::mem::replace(&mut seen[chain], true) {
            return false;
        }
        let tasks = self.chains[chain].tasks;
        let next = self.edges.iter().filter(|(from, at, _)| *from == chain && *at == tasks).map(|edge| edge.2);
        next.into_iter().any(|to| self.leads_back(to, seen))
    }

    fn explain(&self, chain: usize) -> String {
        let Chain { last, .. } = &self.chains[chain];
        let advice = "record an event after it and wait on the origin stream";
        match last {
            Some(("event wait", at)) => {
                format!("joined the capture at {}:{} and does nothing after it; {advice}", at.file(), at.line())
            }
            Some(("event record", at)) => {
                let place = format!("{}:{}", at.file(), at.line());
                format!(
                    "ends with an event record at {place}, which does not lead to the origin stream; wait for it there"
                )
            }
            Some((label, at)) => {
                format!("ends with {label} at {}:{}, which nothing waits for; {advice}", at.file(), at.line())
            }
            None => format!("has no work; {advice}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An origin that forks to one side stream through event 1.
    fn forked() -> (Joins, usize) {
        let here = Location::caller();
        let mut joins = Joins::default();
        let origin = joins.add_chain();
        joins.task(origin, "event record", here);
        joins.record(origin, 1);
        let side = joins.add_chain();
        joins.task(side, "event wait", here);
        joins.wait(side, 1);
        (joins, side)
    }

    #[test]
    fn a_record_that_the_origin_waits_for_joins() {
        let (mut joins, side) = forked();
        joins.task(side, "event record", Location::caller());
        joins.record(side, 2);
        joins.task(0, "event wait", Location::caller());
        joins.wait(0, 2);
        assert_eq!(joins.unjoined(), None);
    }

    #[test]
    fn work_after_the_record_undoes_the_join() {
        let (mut joins, side) = forked();
        joins.task(side, "event record", Location::caller());
        joins.record(side, 2);
        joins.task(0, "event wait", Location::caller());
        joins.wait(0, 2);
        joins.task(side, "matmul", Location::caller());
        let unjoined = joins.unjoined().unwrap();
        assert_eq!(unjoined.chain, side);
        assert!(unjoined.text.starts_with("ends with matmul at src/stream/joins.rs:"), "{}", unjoined.text);
    }

    #[test]
    fn a_stream_without_work_is_unjoined() {
        let (joins, side) = forked();
        assert_eq!(joins.unjoined().unwrap().chain, side);
    }

    #[test]
    fn a_join_through_another_side_stream_counts_when_that_one_leads_back() {
        let (mut joins, first) = forked();
        let second = joins.add_chain();
        joins.task(first, "event record", Location::caller());
        joins.record(first, 2);
        joins.task(second, "event wait", Location::caller());
        joins.wait(second, 2);
        assert!(joins.unjoined().is_some());
        joins.task(second, "event record", Location::caller());
        joins.record(second, 3);
        joins.task(0, "event wait", Location::caller());
        joins.wait(0, 3);
        assert_eq!(joins.unjoined(), None);
    }
}
