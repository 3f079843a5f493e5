//! Sorting that is compiled once: the standard library's is some kilobytes of code for each type and each order.
//!
//! For lists that are short, or sorted where time does not matter. The others are of numbers or pairs of them, which
//! several places have.

use std::cmp::Ordering;
use std::mem;

/// Up to here a list is sorted where it is, without memory of its own.
const FEW: usize = 16;

/// As [`slice::sort`].
pub(crate) fn plain<T: Ord>(list: &mut [T]) {
    by(list, T::cmp);
}

/// As [`slice::sort_by_key`].
pub(crate) fn by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    by(list, |a, b| key(a).cmp(&key(b)));
}

/// As [`slice::sort_by`].
pub(crate) fn by<T>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let len = list.len();
    sort(&mut Compared { list, compare }, len);
}

/// A list and its order.
trait Places {
    fn compare(&self, a: usize, b: usize) -> Ordering;

    fn swap(&mut self, a: usize, b: usize);
}

struct Compared<'a, T, C> {
    list: &'a mut [T],
    compare: C,
}

impl<T, C: Fn(&T, &T) -> Ordering> Places for Compared<'_, T, C> {
    fn compare(&self, a: usize, b: usize) -> Ordering {
        (self.compare)(&self.list[a], &self.list[b])
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.list.swap(a, b);
    }
}

fn sort(list: &mut dyn Places, len: usize) {
    if len <= FEW {
        for end in 1..len {
            let mut at = end;
            while at > 0 && list.compare(at - 1, at).is_gt() {
                list.swap(at - 1, at);
                at -= 1;
            }
        }
        return;
    }
    let mut from: Vec<usize> = (0..len).collect();
    from.sort_by(|a, b| list.compare(*a, *b));
    for start in 0..len {
        // What was at `start` moves along until it is where it belongs.
        let mut to = start;
        loop {
            let next = mem::replace(&mut from[to], to);
            if next == start {
                break;
            }
            list.swap(to, next);
            to = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::*;

    /// Keys that come several times, with where each was.
    fn list(len: usize) -> Vec<(u8, usize)> {
        let mut dice = fastrand::Rng::with_seed(len as u64);
        (0..len).map(|at| (dice.u8(..8), at)).collect()
    }

    #[test]
    fn lists_of_all_lengths_are_sorted_as_the_standard_library_does() {
        for len in (0..3 * FEW).chain([1000]) {
            let (mut ours, mut theirs) = (list(len), list(len));
            by_key(&mut ours, |(key, _)| Reverse(*key));
            theirs.sort_by_key(|(key, _)| Reverse(*key));
            assert_eq!(ours, theirs);
            plain(&mut ours);
            theirs.sort();
            assert_eq!(ours, theirs);
            let mut sorted = ours.clone();
            plain(&mut sorted);
            assert_eq!(ours, sorted);
        }
    }
}
