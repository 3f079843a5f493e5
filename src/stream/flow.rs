//! How control goes through the streams of a graph that is built by hand, so that the graph is over when its work is.
//!
//! A card takes such a graph for done when one stream gets to its end, whatever the others do. So each piece of
//! control that runs beside others, from the first stream or from one that another stream started, has to come to the
//! end of the stream it began on, once, where whoever started it waits for it. Jumps only move control; what they lead
//! to has to lead on.

use std::sync::Arc;

use crate::allocation::Allocation;
use crate::error::{Error, Result};
use crate::lock::Lock;

/// Where a label stands, once it does: the number of the build, and that of the stream there.
pub(crate) type Place = Arc<Lock<Option<(u64, usize)>>>;

/// The streams of one graph by number; the first is the one that starts with it.
pub(crate) struct Flow {
    build: u64,
    lines: Vec<Line>,
}

/// One stream.
#[derive(Default)]
struct Line {
    name: String,
    entry: Entry,
    /// Tasks so far, and which of them is a jump that is always taken.
    tasks: u64,
    jump: u64,
    /// It has a label, a switch or a jump: what comes now may run any number of times.
    turns: bool,
    /// Streams that it started.
    started: Vec<usize>,
    /// Where its jumps lead.
    to_lines: Vec<usize>,
    to_labels: Vec<Place>,
    /// The number that it writes at its end.
    flag: Option<Arc<Allocation>>,
}

/// How control comes to the begin of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Entry {
    /// Not at all, or at labels in it only.
    #[default]
    Nowhere,
    /// With the graph.
    First,
    /// Beside the stream that started it.
    Started,
    /// By switches.
    Switched,
}

/// What is to be added at the end of one stream.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) line: usize,
    /// Numbers to wait for, of the streams that it started.
    pub(crate) waits: Vec<Arc<Allocation>>,
    /// The number to write; the first stream has none.
    pub(crate) writes: Option<Arc<Allocation>>,
}

impl Flow {
    pub(crate) fn new(build: u64) -> Self {
        Self { build, lines: Vec::new() }
    }

    pub(crate) fn add(&mut self, name: String) {
        let entry = if self.lines.is_empty() { Entry::First } else { Entry::Nowhere };
        self.lines.push(Line { name, entry, ..Line::default() });
    }

    pub(crate) fn task(&mut self, line: usize) {
        self.lines[line].tasks += 1;
    }

    /// The next task of `from` starts `to`, which writes `flag` at its end.
    pub(crate) fn start(&mut self, from: usize, to: usize, flag: &Arc<Allocation>) -> Result<()> {
        let (name, other) = (&self.lines[from].name, &self.lines[to].name);
        let refuse = |why: &str| Err(Error::invalid(format!("stream {name:?} starts {other:?}, {why}")));
        if from == to {
            return refuse("which is itself");
        }
        match self.lines[to].entry {
            Entry::Nowhere => {}
            Entry::First => return refuse("which starts with the graph"),
            Entry::Started => return refuse("which is started elsewhere; one that runs several times is jumped to"),
            Entry::Switched => return refuse("which a switch leads to"),
        }
        if self.lines[from].turns {
            return refuse("behind a label, a switch or a jump, where it might do so several times: before those");
        }
        if !matches!(self.lines[from].entry, Entry::First | Entry::Started) {
            return refuse("and was not started itself: streams are started from the first one on");
        }
        self.lines[from].started.push(to);
        self.lines[to].entry = Entry::Started;
        self.lines[to].flag = Some(Arc::clone(flag));
        Ok(())
    }

    /// The next task of `from` leads to the begin of `to`, or not.
    pub(crate) fn switch(&mut self, from: usize, to: usize) -> Result<()> {
        if matches!(self.lines[to].entry, Entry::First | Entry::Started) {
            let (name, other) = (&self.lines[from].name, &self.lines[to].name);
            let text =
                format!("stream {name:?} switches to {other:?}, which starts by itself: jump to a label in it");
            return Err(Error::invalid(text));
        }
        self.lines[to].entry = Entry::Switched;
        self.lines[from].turns = true;
        self.lines[from].to_lines.push(to);
        Ok(())
    }

    /// The next task of `line` is this label.
    pub(crate) fn label(&mut self, line: usize, place: &Place) -> Result<()> {
        let mut place = place.lock();
        if place.is_some() {
            return Err(Error::invalid("a label that has its place already: it stands in one place of one graph"));
        }
        *place = Some((self.build, line));
        self.lines[line].turns = true;
        Ok(())
    }

    /// The next task of `line` leads to one of these labels.
    pub(crate) fn jump<'a>(&mut self, line: usize, labels: impl Iterator<Item = &'a Place>) {
        let line = &mut self.lines[line];
        line.to_labels.extend(labels.cloned());
        line.turns = true;
        line.jump = line.tasks + 1;
    }

    /// All jumps, by number of stream.
    fn jumps(&self) -> Result<Vec<(usize, usize)>> {
        let mut jumps = Vec::new();
        for (from, line) in self.lines.iter().enumerate() {
            jumps.extend(line.to_lines.iter().map(|to| (from, *to)));
            for place in &line.to_labels {
                match *place.lock() {
                    Some((build, to)) if build == self.build => jumps.push((from, to)),
                    _ => {
                        let text =
                            format!("stream {:?} jumps to a label that stands nowhere in this graph", line.name);
                        return Err(Error::invalid(text));
                    }
                }
            }
        }
        Ok(jumps)
    }

    /// What ends each stream, those first that others wait for, and the first stream last; an error where control would
    /// get lost or be in two places.
    pub(crate) fn ends(&self) -> Result<Vec<End>> {
        let jumps = self.jumps()?;
        for (number, line) in self.lines.iter().enumerate() {
            let labelled = jumps.iter().any(|(_, to)| *to == number);
            if line.entry == Entry::Nowhere && !labelled {
                let text = format!("nothing starts stream {:?}, and nothing jumps to it", line.name);
                return Err(Error::invalid(text));
            }
        }
        let roots = self.roots(&jumps)?;
        for (number, line) in self.lines.iter().enumerate() {
            let jumps_last = line.jump > 0 && line.jump == line.tasks;
            if roots[number] == number && jumps_last {
                let text = format!(
                    "stream {:?} ends with a jump, and its end is that of what it started with: put a label there",
                    line.name
                );
                return Err(Error::invalid(text));
            }
            if roots[number] != number && !jumps_last {
                let text = format!(
                    "stream {:?} does not end with a jump: from its end nothing leads to that of stream {:?}, where \
                     the graph goes on",
                    line.name, self.lines[roots[number]].name
                );
                return Err(Error::invalid(text));
            }
        }
        // Who was started comes behind who started it.
        let mut order: Vec<usize> = vec![0];
        let mut next = 0;
        while let Some(line) = order.get(next).copied() {
            order.extend(&self.lines[line].started);
            next += 1;
        }
        let flag = |line: &usize| self.lines[*line].flag.clone();
        let end = |line: usize| End {
            line,
            waits: self.lines[line].started.iter().filter_map(flag).collect(),
            writes: flag(&line),
        };
        Ok(order.into_iter().rev().map(end).collect())
    }

    /// For each stream the one whose control comes to it: the one stream among those that jumps connect which starts.
    fn roots(&self, jumps: &[(usize, usize)]) -> Result<Vec<usize>> {
        let mut group: Vec<usize> = (0..self.lines.len()).collect();
        for (from, to) in jumps {
            let (one, other) = (group[*from], group[*to]);
            group.iter_mut().filter(|member| **member == other).for_each(|member| *member = one);
        }
        let mut roots = vec![None; self.lines.len()];
        for (number, line) in self.lines.iter().enumerate() {
            if !matches!(line.entry, Entry::First | Entry::Started) {
                continue;
            }
            if let Some(other) = roots[group[number]].replace(number) {
                let (one, other): (&str, &str) = (&self.lines[other].name, &line.name);
                let text = format!("jumps connect the streams {one:?} and {other:?}, which run beside each other");
                return Err(Error::invalid(text));
            }
        }
        let root_of = |(number, line): (usize, &Line)| {
            let text = || format!("only streams that nothing starts lead to stream {:?}", line.name);
            roots[group[number]].ok_or_else(|| Error::invalid(text()))
        };
        self.lines.iter().enumerate().map(root_of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(names: &[&str]) -> Flow {
        let mut flow = Flow::new(7);
        names.iter().for_each(|name| flow.add((*name).to_owned()));
        flow
    }

    fn label(flow: &mut Flow, line: usize) -> Place {
        let place = Place::default();
        flow.label(line, &place).unwrap();
        flow.task(line);
        place
    }

    fn jump(flow: &mut Flow, line: usize, to: &[&Place]) {
        flow.jump(line, to.iter().copied());
        flow.task(line);
    }

    #[track_caller]
    fn says<T: std::fmt::Debug>(result: Result<T>, part: &str) {
        let text = result.unwrap_err().to_string();
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }

    #[test]
    fn one_stream_ends_where_it_ends() {
        let ends = flow(&["first"]).ends().unwrap();
        assert!(matches!(&ends[..], [End { line: 0, waits, writes: None }] if waits.is_empty()));
    }

    #[test]
    fn streams_that_nothing_reaches_are_told() {
        says(flow(&["first", "idle"]).ends(), "nothing starts stream \"idle\"");
        let mut circle = flow(&["first", "a", "b"]);
        circle.switch(1, 2).unwrap();
        circle.switch(2, 1).unwrap();
        says(circle.ends(), "only streams that nothing starts");
    }

    #[test]
    fn a_stream_that_is_jumped_to_leads_back() {
        let mut branch = flow(&["first", "other"]);
        branch.switch(0, 1).unwrap();
        branch.task(0);
        branch.task(1);
        says(branch.ends(), "\"other\" does not end with a jump");
        let back = label(&mut branch, 0);
        jump(&mut branch, 1, &[&back]);
        assert_eq!(branch.ends().unwrap().len(), 1);
        branch.task(1);
        says(branch.ends(), "\"other\" does not end with a jump");
    }

    #[test]
    fn the_end_of_the_first_stream_is_reached() {
        let mut flow = flow(&["first"]);
        let begin = label(&mut flow, 0);
        jump(&mut flow, 0, &[&begin]);
        says(flow.ends(), "ends with a jump");
        label(&mut flow, 0);
        assert_eq!(flow.ends().unwrap().len(), 1);
    }

    #[test]
    fn control_is_in_one_place() {
        // `ends` compares no allocations here: what was started has none without a device.
        let mut both = flow(&["first", "beside"]);
        both.lines[1].entry = Entry::Started;
        both.lines[0].started.push(1);
        assert_eq!(both.ends().unwrap().iter().map(|end| end.line).collect::<Vec<_>>(), [1, 0]);
        says(both.switch(0, 1), "starts by itself");
        let place = label(&mut both, 0);
        jump(&mut both, 1, &[&place]);
        says(both.ends(), "run beside each other");
    }

    #[test]
    fn labels_stand_once_and_in_the_graph_that_jumps_to_them() {
        let mut one = flow(&["first"]);
        let place = label(&mut one, 0);
        says(one.label(0, &place), "its place already");
        let mut other = Flow::new(8);
        other.add("first".to_owned());
        jump(&mut other, 0, &[&place]);
        says(other.ends(), "stands nowhere in this graph");
        let mut nowhere = flow(&["first"]);
        jump(&mut nowhere, 0, &[&Place::default()]);
        says(nowhere.ends(), "stands nowhere in this graph");
    }
}
