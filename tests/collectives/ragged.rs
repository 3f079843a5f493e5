//! Operations where each rank has another length.

use std::ops::Range;

use racl::collective::Reduction;

use crate::{Rank, alone, run};

/// Rank `rank` has as many elements; rank 1 has none.
const COUNTS: [usize; 4] = [3, 0, 5, 1];

/// In the order of the ranks with a gap of one, or from the last rank to the first.
fn ranges(count: usize, backwards: bool) -> (Vec<Range<usize>>, usize) {
    let mut at = 0;
    let mut found = vec![0..0; count];
    for index in 0..count {
        let rank = if backwards { count - 1 - index } else { index };
        found[rank] = at..at + COUNTS[rank];
        at += COUNTS[rank] + 1;
    }
    (found, at)
}

fn own(rank: &Rank) -> Vec<i32> {
    (0..COUNTS[rank.me()]).map(|index| (100 * rank.me() + index) as i32).collect()
}

#[test]
fn gathered_parts_go_where_their_ranges_say() {
    let (acl, _alone) = alone();
    for backwards in [false, true] {
        run(&acl, 4, |rank| {
            let (to, len) = ranges(4, backwards);
            let send = rank.device.upload(&[own(rank), vec![-9]].concat()).unwrap().into_shared();
            let send = send.slice(..COUNTS[rank.me()]).unwrap();
            let mut recv = rank.device.upload(&vec![-1; len]).unwrap();
            rank.ranks.all_gather_v(&rank.stream, &send, &mut recv, &to).unwrap();
            let mut expected = vec![-1; len];
            for (other, range) in to.iter().enumerate() {
                range.clone().enumerate().for_each(|(index, at)| expected[at] = (100 * other + index) as i32);
            }
            assert_eq!(recv.to_vec().unwrap(), expected);
        });
    }
}

#[test]
fn reduced_parts_have_the_length_of_their_ranges() {
    let (acl, _alone) = alone();
    run(&acl, 4, |rank| {
        let (from, len) = ranges(4, true);
        let all: Vec<i64> = (0..len).map(|at| (at * (rank.me() + 1)) as i64).collect();
        let send = rank.device.upload(&all).unwrap();
        let recv = rank.device.upload(&[0_i64; 8]).unwrap().into_shared();
        let mut part = recv.slice(..COUNTS[rank.me()]).unwrap();
        rank.ranks.reduce_scatter_v(&rank.stream, &send, &mut part, &from, Reduction::Sum).unwrap();
        // 1 + 2 + 3 + 4 times the place.
        let mut expected: Vec<_> = from[rank.me()].clone().map(|at| 10 * at as i64).collect();
        expected.resize(8, 0);
        assert_eq!(recv.to_vec().unwrap(), expected);
    });
}

/// How much rank `from` sends to rank `to`.
fn count(from: usize, to: usize) -> usize {
    (from * 2 + to) % 4
}

fn element(from: usize, to: usize, index: usize) -> u16 {
    (from * 100 + to * 10 + index) as u16
}

#[test]
fn each_rank_gets_what_the_others_have_for_it() {
    let (acl, _alone) = alone();
    run(&acl, 4, |rank| {
        let me = rank.me();
        let parts = |each: &dyn Fn(usize) -> usize| {
            let mut at = 0;
            let ranges = (0..4).map(|other| {
                at += each(other);
                at - each(other)..at
            });
            (ranges.collect::<Vec<_>>(), at)
        };
        let (sent, length) = parts(&|to| count(me, to));
        let (received, room) = parts(&|from| count(from, me));
        let data: Vec<u16> =
            (0..4).flat_map(|to| (0..count(me, to)).map(move |index| element(me, to, index))).collect();
        assert_eq!(data.len(), length);
        let expected: Vec<u16> =
            (0..4).flat_map(|from| (0..count(from, me)).map(move |index| element(from, me, index))).collect();
        let send = rank.device.upload(&data).unwrap();
        let mut recv = rank.device.upload(&vec![0_u16; room]).unwrap();
        rank.ranks.all_to_all_v(&rank.stream, &send, &sent, &mut recv, &received).unwrap();
        assert_eq!(recv.to_vec().unwrap(), expected);

        let matrix: Vec<_> = (0..16).map(|pair| count(pair / 4, pair % 4)).collect();
        let mut again = rank.device.upload(&vec![0_u16; room]).unwrap();
        rank.ranks.all_to_all_vc(&rank.stream, &send, &mut again, &matrix).unwrap();
        assert_eq!(again.to_vec().unwrap(), expected);
    });
}
