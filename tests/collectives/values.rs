//! Numbers of all types and reductions, computed anew here.

use racl::collective::{Reducible, Reduction};
use racl::half::{bf16, f16};
use racl::op::Element;
use racl::{Acl, ErrorKind};

use crate::{Rank, alone, run};

/// Small numbers, which every type holds exactly.
pub(crate) trait Small: Element {
    fn of(number: i64) -> Self;
}
macro_rules! small {
    ($($whole:ty)*) => {$(impl Small for $whole { fn of(number: i64) -> Self { number as $whole } })*};
}
small!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
impl Small for f16 {
    fn of(number: i64) -> Self {
        Self::from_f64(number as f64)
    }
}
impl Small for bf16 {
    fn of(number: i64) -> Self {
        Self::from_f64(number as f64)
    }
}

const LENGTHS: [usize; 3] = [1, 7, 1000];
const REDUCTIONS: [Reduction; 4] = [Reduction::Sum, Reduction::Product, Reduction::Max, Reduction::Min];

/// Element `index` of rank `rank`: from -2 to 2.
fn number(rank: usize, index: usize) -> i64 {
    ((index * 7 + rank * 3 + index * rank) % 5) as i64 - 2
}

fn numbers<T: Small>(rank: usize, len: usize) -> Vec<T> {
    (0..len).map(|index| T::of(number(rank, index))).collect()
}

fn reduced(reduction: Reduction, ranks: usize, index: usize) -> i64 {
    let each = (0..ranks).map(|rank| number(rank, index));
    match reduction {
        Reduction::Sum => each.sum(),
        Reduction::Product => each.product(),
        Reduction::Max => each.max().unwrap(),
        Reduction::Min => each.min().unwrap(),
        _ => unreachable!("there are four"),
    }
}

fn expected<T: Small>(reduction: Reduction, ranks: usize, range: std::ops::Range<usize>) -> Vec<T> {
    range.map(|index| T::of(reduced(reduction, ranks, index))).collect()
}

fn all_reductions<T: Small + Reducible>(rank: &Rank, reductions: &[Reduction]) {
    let (ranks, stream, size) = (&rank.ranks, &rank.stream, rank.ranks.size() as usize);
    for &reduction in reductions {
        for len in LENGTHS {
            let all = len * size;
            let send = rank.device.upload(&numbers::<T>(rank.me(), all)).unwrap();
            let mut recv = rank.device.alloc::<T>(all).unwrap();
            ranks.all_reduce(stream, &send, &mut recv, reduction).unwrap();
            assert_eq!(recv.to_vec().unwrap(), expected::<T>(reduction, size, 0..all), "{reduction:?} {len}");

            let mut own = rank.device.upload(&numbers::<T>(rank.me(), all)).unwrap();
            ranks.all_reduce_in_place(stream, &mut own, reduction).unwrap();
            assert_eq!(own.to_vec().unwrap(), expected::<T>(reduction, size, 0..all));

            let root = len % size;
            ranks.reduce(stream, &send, &mut recv, reduction, root as u32).unwrap();
            stream.synchronize().unwrap();
            if rank.me() == root {
                assert_eq!(recv.to_vec().unwrap(), expected::<T>(reduction, size, 0..all));
            }

            let mut part = rank.device.alloc::<T>(len).unwrap();
            ranks.reduce_scatter(stream, &send, &mut part, reduction).unwrap();
            let own = rank.me() * len..(rank.me() + 1) * len;
            assert_eq!(part.to_vec().unwrap(), expected::<T>(reduction, size, own));
        }
    }
}

fn moves<T: Small>(rank: &Rank) {
    let (ranks, stream, size) = (&rank.ranks, &rank.stream, rank.ranks.size() as usize);
    for len in LENGTHS {
        let own = numbers::<T>(rank.me(), len);
        let send = rank.device.upload(&own).unwrap();
        let mut all = rank.device.alloc::<T>(len * size).unwrap();
        ranks.all_gather(stream, &send, &mut all).unwrap();
        let gathered: Vec<T> = (0..size).flat_map(|other| numbers::<T>(other, len)).collect();
        assert_eq!(all.to_vec().unwrap(), gathered);

        let root = (len % size) as u32;
        let mut same = rank.device.upload(&own).unwrap();
        ranks.broadcast(stream, &mut same, root).unwrap();
        assert_eq!(same.to_vec().unwrap(), numbers::<T>(root as usize, len));

        let parts = rank.device.upload(&numbers::<T>(rank.me(), len * size)).unwrap();
        let mut part = rank.device.alloc::<T>(len).unwrap();
        let sends = (rank.ranks.rank() == root).then_some(&parts as _);
        ranks.scatter(stream, sends, &mut part, root).unwrap();
        let from_root = &numbers::<T>(root as usize, len * size)[rank.me() * len..][..len];
        assert_eq!(part.to_vec().unwrap(), from_root);

        ranks.all_to_all(stream, &parts, &mut all).unwrap();
        let each = (0..size).flat_map(|other| numbers::<T>(other, len * size)[rank.me() * len..][..len].to_vec());
        assert_eq!(all.to_vec().unwrap(), each.collect::<Vec<_>>());
    }
}

fn each_type(acl: &Acl, count: usize) {
    run(acl, count, |rank| {
        all_reductions::<i8>(rank, &REDUCTIONS);
        all_reductions::<i16>(rank, &[Reduction::Sum, Reduction::Max, Reduction::Min]);
        all_reductions::<i32>(rank, &REDUCTIONS);
        all_reductions::<i64>(rank, &REDUCTIONS);
        all_reductions::<f16>(rank, &REDUCTIONS);
        all_reductions::<bf16>(rank, &[Reduction::Sum, Reduction::Max, Reduction::Min]);
        all_reductions::<f32>(rank, &REDUCTIONS);
        moves::<i8>(rank);
        moves::<i16>(rank);
        moves::<i32>(rank);
        moves::<i64>(rank);
        moves::<u8>(rank);
        moves::<u16>(rank);
        moves::<u32>(rank);
        moves::<u64>(rank);
        moves::<f16>(rank);
        moves::<bf16>(rank);
        moves::<f32>(rank);
        moves::<f64>(rank);
        rank.ranks.barrier(&rank.stream).unwrap();
        rank.stream.synchronize().unwrap();
    });
}

#[test]
fn three_ranks_have_the_right_numbers() {
    let (acl, _alone) = alone();
    each_type(&acl, 3);
}

#[test]
fn a_rank_alone_has_the_right_numbers() {
    let (acl, _alone) = alone();
    each_type(&acl, 1);
}

#[test]
fn four_ranks_have_the_right_numbers() {
    let (acl, _alone) = alone();
    each_type(&acl, 4);
}

#[test]
fn products_that_hccl_lacks_are_refused() {
    let (acl, _alone) = alone();
    run(&acl, 1, |rank| {
        let mut x = rank.device.upload(&[1_i16]).unwrap();
        let error = rank.ranks.all_reduce_in_place(&rank.stream, &mut x, Reduction::Product).unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::NotSupported, Some(5)), "{error}");
        let mut x = rank.device.upload(&[bf16::ONE]).unwrap();
        let error = rank.ranks.all_reduce_in_place(&rank.stream, &mut x, Reduction::Product).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotSupported);
    });
}

#[test]
fn tensors_and_parts_of_buffers_are_taken() {
    let (acl, _alone) = alone();
    run(&acl, 2, |rank| {
        let me = rank.me() as f32;
        let send = rank.device.upload_tensor(&[me, 1.0, 2.0, 3.0], [2, 2]).unwrap();
        let mut recv = rank.device.zeros::<f32>([4, 2]).unwrap();
        rank.ranks.all_gather(&rank.stream, &send, &mut recv.narrow(0, 0..4).unwrap()).unwrap();
        assert_eq!(recv.to_vec().unwrap(), [0.0, 1.0, 2.0, 3.0, 1.0, 1.0, 2.0, 3.0]);
        let row = recv.narrow(0, 2..3).unwrap();
        rank.ranks.all_reduce(&rank.stream, &row, &mut recv.narrow(0, 3..4).unwrap(), Reduction::Sum).unwrap();
        assert_eq!(recv.to_vec().unwrap()[6..], [2.0, 2.0]);
        let columns = send.transposed(0, 1).unwrap();
        let error = rank.ranks.all_reduce(&rank.stream, &columns, &mut recv, Reduction::Sum).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);

        let mut memory = rank.device.upload(&[1_i32, 2, 3, 4]).unwrap();
        rank.ranks.all_reduce_in_place(&rank.stream, &mut memory.slice_mut(1..3).unwrap(), Reduction::Sum).unwrap();
        assert_eq!(memory.to_vec().unwrap(), [1, 4, 6, 4]);
    });
}

#[test]
fn nothing_is_reduced_and_moved_at_once() {
    let (acl, _alone) = alone();
    run(&acl, 2, |rank| {
        let memory = rank.device.upload(&[1_i32, 2]).unwrap().into_shared();
        let mut none = memory.slice(2..).unwrap();
        rank.ranks.all_reduce_in_place(&rank.stream, &mut none, Reduction::Sum).unwrap();
        rank.ranks.broadcast(&rank.stream, &mut none, 0).unwrap();
        rank.stream.synchronize().unwrap();
        assert_eq!(memory.to_vec().unwrap(), [1, 2]);
    });
}
