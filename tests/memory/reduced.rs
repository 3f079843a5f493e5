//! Reductions into memory.

use racl::half::{bf16, f16};
use racl::op::{Element, ReduceKind, reduce_into};
use racl::{CaptureMode, ErrorKind};

use crate::common::{assert_says, device};
use crate::exclusive;

fn reduced<T: Element>(kind: ReduceKind, to: &[T], from: &[T]) -> Vec<T> {
    let device = device();
    let stream = device.stream().unwrap();
    let (from, mut to) = (device.upload(from).unwrap(), device.upload(to).unwrap());
    reduce_into(&stream, &from, &mut to, kind).unwrap();
    to.to_vec().unwrap()
}

#[test]
fn each_kind_of_each_type() {
    let _alone = exclusive();
    use ReduceKind::{Max, Min, Sum};
    assert_eq!(reduced(Sum, &[1.5_f32, -2.0], &[0.25, 4.0]), [1.75, 2.0]);
    assert_eq!(reduced(Max, &[1.5_f32, -2.0], &[0.25, 4.0]), [1.5, 4.0]);
    assert_eq!(reduced(Min, &[1.5_f32, -2.0], &[0.25, 4.0]), [0.25, -2.0]);
    let halves = |values: [f32; 2]| values.map(f16::from_f32);
    assert_eq!(reduced(Sum, &halves([1.5, 2048.0]), &halves([0.5, 1.0])), halves([2.0, 2048.0]));
    let brains = |values: [f32; 2]| values.map(bf16::from_f32);
    assert_eq!(reduced(Max, &brains([1.5, -3.0]), &brains([0.5, 1.0])), brains([1.5, 1.0]));
    assert_eq!(reduced(Min, &[-100_i8, 5], &[100, 4]), [-100, 4]);
    assert_eq!(reduced(Sum, &[30_000_i16, -7], &[1000, 7]), [31_000, 0]);
    assert_eq!(reduced(Sum, &[1_i32 << 30, -7], &[1 << 29, 9]), [(1 << 30) + (1 << 29), 2]);
}

#[test]
fn a_part_is_reduced_into_a_part() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let from = device.upload(&[10, 20, 30]).unwrap();
    let mut to = device.upload(&[1, 2, 3]).unwrap();
    reduce_into(&stream, &from.slice(1..).unwrap(), &mut to.slice_mut(..2).unwrap(), ReduceKind::Sum).unwrap();
    assert_eq!(to.to_vec().unwrap(), [21, 32, 3]);
}

#[test]
fn each_replay_reduces_again() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let (from, mut to) = (device.upload(&[2_i32]).unwrap(), device.upload(&[1_i32]).unwrap());
    let mut graph =
        stream.capture(CaptureMode::ThreadLocal, |s| reduce_into(s, &from, &mut to, ReduceKind::Sum)).unwrap();
    graph.launch(&stream).unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(to.to_vec().unwrap(), [5]);
}

#[test]
fn what_cannot_be_reduced_is_refused() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let (from, mut to) = (device.upload(&[2_i32, 3]).unwrap(), device.upload(&[1_i32]).unwrap());
    let error = reduce_into(&stream, &from, &mut to, ReduceKind::Sum).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["2 elements reduced into 1"]);
    let (from, mut to) = (device.upload(&[2_u32]).unwrap(), device.upload(&[1_u32]).unwrap());
    let error = reduce_into(&stream, &from, &mut to, ReduceKind::Sum).unwrap_err();
    assert_says(&error, ErrorKind::NotSupported, &["aclrtReduceAsync", "207000"]);
    let (from, mut to) = (device.upload(&[2_i64]).unwrap(), device.upload(&[1_i64]).unwrap());
    let error = reduce_into(&stream, &from, &mut to, ReduceKind::Sum).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["aclrtReduceAsync", "100000"]);
    assert_eq!(to.to_vec().unwrap(), [1]);
}

#[test]
fn memory_is_not_reduced_into_what_it_shares() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let all = device.upload(&[1_i32, 2, 3, 4]).unwrap().into_shared();
    for (from, to) in [(0..3, 1..4), (1..4, 0..3), (0..4, 0..4)] {
        let (from, mut to) = (all.slice(from).unwrap(), all.slice(to).unwrap());
        let error = reduce_into(&stream, &from, &mut to, ReduceKind::Sum).unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["shares"]);
    }
    let (from, mut to) = (all.slice(0..2).unwrap(), all.slice(2..4).unwrap());
    reduce_into(&stream, &from, &mut to, ReduceKind::Sum).unwrap();
    assert_eq!(all.to_vec().unwrap(), [1, 2, 4, 6]);
}
