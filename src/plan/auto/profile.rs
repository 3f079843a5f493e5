//! What of a device is in use when.

use std::collections::VecDeque;

/// How much of each resource: matrix cores, vector cores, thousandths of the memory's bandwidth.
pub(super) type Use = [u32; 3];

/// Place of the bandwidth in a [`Use`].
pub(super) const MEMORY: usize = 2;

/// Most of the bandwidth that one operator, or prefetches beside others, may use: work that hardly uses memory has
/// room beside them.
pub(super) const MOST_BANDWIDTH: u32 = 900;

/// Pieces of time that are remembered; work is not put in front of them.
const MOST_PIECES: usize = 512;

/// Use over time, in nanoseconds.
pub(super) struct Profile {
    has: Use,
    /// From when on how much is used; from the last on nothing is.
    pieces: VecDeque<(u64, Use)>,
}

impl Profile {
    pub(super) fn new(has: Use) -> Self {
        Self { has, pieces: VecDeque::from([(0, [0; 3])]) }
    }

    /// The first time from `ready` on at which there is room for `time`.
    pub(super) fn earliest(&self, ready: u64, time: u64, wanted: Use) -> u64 {
        let mut at = ready.max(self.pieces[0].0);
        let mut piece = self.piece(at);
        while let Some(&(start, used)) = self.pieces.get(piece) {
            if start >= at.saturating_add(time) {
                break;
            }
            piece += 1;
            if self.lacks(used, wanted).is_some() {
                at = self.pieces.get(piece).map_or(at, |(start, _)| *start);
            }
        }
        at
    }

    /// The resource of which there is too little first when work starts at `at`, if there is one.
    pub(super) fn lacking(&self, at: u64, time: u64, wanted: Use) -> Option<usize> {
        let pieces = self.pieces.range(self.piece(at)..).take_while(|(start, _)| *start < at.saturating_add(time));
        pieces.filter_map(|(_, used)| self.lacks(*used, wanted)).next()
    }

    fn lacks(&self, used: Use, wanted: Use) -> Option<usize> {
        (0..wanted.len()).find(|one| wanted[*one] > 0 && used[*one].saturating_add(wanted[*one]) > self.has[*one])
    }

    pub(super) fn take(&mut self, at: u64, time: u64, wanted: Use) {
        let (first, end) = (self.split(at), self.split(at.saturating_add(time)));
        for (_, used) in self.pieces.range_mut(first..end) {
            for (used, wanted) in used.iter_mut().zip(wanted) {
                *used = used.saturating_add(wanted);
            }
        }
        while self.pieces.len() > MOST_PIECES {
            self.pieces.pop_front();
        }
    }

    /// Bytes that idle bandwidth could move between two times, at `rate` bytes a microsecond for all of it.
    pub(super) fn idle(&self, from: u64, to: u64, rate: u64) -> u64 {
        let moved = self.idle_pieces(from, to).map(|(start, end, idle)| bytes(end - start, idle, rate));
        moved.fold(0, u64::saturating_add)
    }

    /// Lets idle bandwidth from `from` on move so many bytes; when that is done.
    pub(super) fn fill(&mut self, from: u64, to: u64, mut left: u64, rate: u64) -> u64 {
        let mut done = from;
        let pieces: Vec<_> = self.idle_pieces(from, to).collect();
        for (start, end, idle) in pieces.into_iter().filter(|(.., idle)| *idle > 0) {
            let moved = bytes(end - start, idle, rate).min(left);
            let time = duration(moved, idle, rate).min(end - start);
            self.take(start, time, [0, 0, idle]);
            (left, done) = (left - moved, start + time);
            if left == 0 {
                break;
            }
        }
        done
    }

    fn idle_pieces(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64, u32)> {
        let ends = self.pieces.iter().skip(1).map(|(start, _)| *start).chain([u64::MAX]);
        let pieces = self.pieces.iter().zip(ends).skip(self.piece(from));
        pieces.take_while(move |((start, _), _)| *start < to).filter_map(move |((start, used), end)| {
            let (start, end) = ((*start).max(from), end.min(to));
            (start < end).then(|| (start, end, MOST_BANDWIDTH.saturating_sub(used[MEMORY])))
        })
    }

    /// The piece that a time is in.
    fn piece(&self, at: u64) -> usize {
        self.pieces.partition_point(|(start, _)| *start <= at).saturating_sub(1)
    }

    /// Makes a piece begin at a time, unless that is in front of all; gives it.
    fn split(&mut self, at: u64) -> usize {
        let piece = self.piece(at);
        let (start, used) = self.pieces[piece];
        if start >= at {
            return piece;
        }
        self.pieces.insert(piece + 1, (at, used));
        piece + 1
    }
}

/// Bytes that some thousandths of the bandwidth move in a time.
fn bytes(time: u64, share: u32, rate: u64) -> u64 {
    let all = u128::from(time) * u128::from(share) * u128::from(rate) / 1_000_000;
    u64::try_from(all).unwrap_or(u64::MAX)
}

/// Time that some thousandths of the bandwidth take.
pub(super) fn duration(bytes: u64, share: u32, rate: u64) -> u64 {
    let all = (u128::from(bytes) * 1_000_000).div_ceil(u128::from(share) * u128::from(rate));
    u64::try_from(all).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_starts_where_there_is_room_for_all_of_it() {
        let mut profile = Profile::new([4, 8, 1000]);
        profile.take(10, 10, [3, 0, 0]);
        profile.take(30, 10, [0, 8, 0]);
        assert_eq!(profile.earliest(0, 10, [2, 0, 0]), 0);
        assert_eq!(profile.earliest(0, 11, [2, 0, 0]), 20);
        assert_eq!(profile.earliest(5, 50, [1, 0, 0]), 5);
        assert_eq!(profile.earliest(5, 26, [2, 1, 0]), 40, "between the two is too little time");
        assert_eq!(profile.earliest(35, 1, [0, 0, 1000]), 35);
        assert_eq!((profile.lacking(15, 1, [2, 0, 0]), profile.lacking(25, 1, [2, 9, 0])), (Some(0), Some(1)));
        assert_eq!(profile.lacking(20, 10, [4, 8, 1]), None);
    }

    #[test]
    fn idle_bandwidth_is_what_others_leave_and_is_used_once() {
        let mut profile = Profile::new([4, 8, 1000]);
        profile.take(0, 1000, [0, 0, 900]);
        profile.take(1000, 1000, [0, 0, 400]);
        // Half of 1,000 bytes a microsecond in the second microsecond, nine tenths in the third.
        assert_eq!(profile.idle(0, 3000, 1000), 500 + 900);
        assert_eq!(profile.fill(0, 3000, 950, 1000), 2500);
        assert_eq!(profile.idle(0, 3000, 1000), 450);
        assert_eq!(profile.idle(2400, 2600, 1000), 90);
    }
}
