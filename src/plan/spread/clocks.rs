//! What each stream knows to be done.

/// A clock for each stream: up to which of its works each other stream is known to be done. Works between two waits
/// of a stream share one.
pub(super) struct Clocks {
    streams: usize,
    clocks: Vec<u32>,
    /// The clock that each stream has now.
    current: Vec<u32>,
    /// Number of works of each stream.
    done: Vec<u32>,
    /// Stream, number from 1 on, and clock of each work.
    works: Vec<(u16, u32, u32)>,
}

impl Clocks {
    pub(super) fn new(streams: usize) -> Self {
        Self {
            streams,
            clocks: vec![0; streams],
            current: vec![0; streams],
            done: vec![0; streams],
            works: Vec::new(),
        }
    }

    /// The next work is on this stream; gives the number of works that it has now.
    pub(super) fn run(&mut self, stream: u16) -> usize {
        let done = &mut self.done[usize::from(stream)];
        *done += 1;
        self.works.push((stream, *done, self.current[usize::from(stream)]));
        *done as usize
    }

    /// Makes `stream` know that the work is done; false when it did already.
    pub(super) fn learn(&mut self, stream: u16, work: u32) -> bool {
        let (from, number, clock) = self.works[work as usize];
        let at = self.current[usize::from(stream)] as usize * self.streams;
        if from == stream || self.clocks[at + usize::from(from)] >= number {
            return false;
        }
        let (theirs, new) = (clock as usize * self.streams, self.clocks.len());
        self.clocks.extend_from_within(at..at + self.streams);
        for other in 0..self.streams {
            self.clocks[new + other] = self.clocks[new + other].max(self.clocks[theirs + other]);
        }
        self.clocks[new + usize::from(from)] = number;
        self.current[usize::from(stream)] = (new / self.streams) as u32;
        true
    }
}
