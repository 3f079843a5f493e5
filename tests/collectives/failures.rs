//! What goes wrong between ranks.

use std::sync::Barrier;
use std::time::Duration;

use racl::ErrorKind;
use racl::collective::{Communicator, CommunicatorOptions, Reduction, RootInfo};

use crate::common::{assert_says, device_at, mock, needs_mock};
use crate::{Rank, alone, run};

/// That the stream tells a failure with this code, and the communicator why; it stays broken.
fn broken(rank: &Rank, code: i32, kind: ErrorKind, parts: &[&str]) {
    let error = rank.stream.synchronize().unwrap_err();
    assert_eq!(error.code(), Some(code), "{error}");
    let why = rank.ranks.async_error().unwrap().expect("it is broken");
    assert_says(&why, kind, parts);
    rank.ranks.barrier(&rank.stream).unwrap();
    assert!(rank.stream.synchronize().is_err());
    assert!(rank.ranks.async_error().unwrap().is_some());
}

#[test]
fn ranks_that_differ_are_told() {
    let (acl, _alone) = alone();
    needs_mock("a card hangs there");
    type Body = fn(&Rank);
    let differ: [(&str, Body); 4] = [
        ("counts", |rank| {
            let mut x = rank.device.upload(&vec![0_i32; 2 + rank.me()]).unwrap();
            rank.ranks.all_reduce_in_place(&rank.stream, &mut x, Reduction::Sum).unwrap();
        }),
        ("types", |rank| {
            if rank.me() == 0 {
                let mut x = rank.device.upload(&[0_i32; 2]).unwrap();
                rank.ranks.all_reduce_in_place(&rank.stream, &mut x, Reduction::Sum).unwrap();
            } else {
                let mut x = rank.device.upload(&[0_f32; 2]).unwrap();
                rank.ranks.all_reduce_in_place(&rank.stream, &mut x, Reduction::Sum).unwrap();
            }
        }),
        ("reductions", |rank| {
            let reduction = if rank.me() == 0 { Reduction::Max } else { Reduction::Min };
            let mut x = rank.device.upload(&[0_i32; 2]).unwrap();
            rank.ranks.all_reduce_in_place(&rank.stream, &mut x, reduction).unwrap();
        }),
        ("operations", |rank| {
            let mut x = rank.device.upload(&[0_i32; 2]).unwrap();
            if rank.me() == 0 {
                rank.ranks.barrier(&rank.stream).unwrap();
            } else {
                rank.ranks.all_reduce_in_place(&rank.stream, &mut x, Reduction::Sum).unwrap();
            }
        }),
    ];
    for (what, body) in differ {
        let met = Barrier::new(2);
        run(&acl, 2, |rank| {
            body(rank);
            let error = rank.stream.synchronize().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Internal, "{what}: {error}");
            let why = rank.ranks.async_error().unwrap().unwrap();
            assert!(matches!(why.kind(), ErrorKind::InvalidArgument | ErrorKind::Communication), "{what}: {why}");
            met.wait(); // a rank that goes away first is told otherwise
        });
    }
}

#[test]
fn a_rank_that_goes_away_is_told() {
    let (acl, _alone) = alone();
    needs_mock("a card hangs there");
    run(&acl, 2, |rank| {
        if rank.me() == 0 {
            rank.ranks.barrier(&rank.stream).unwrap();
            broken(rank, 507_022, ErrorKind::Communication, &["rank 1 went away"]);
        }
    });
}

#[test]
fn an_operation_has_a_time_limit() {
    let (acl, _alone) = alone();
    needs_mock("a card hangs there");
    let root = RootInfo::new(acl.device(0).unwrap().context()).unwrap();
    let (met, over) = (Barrier::new(2), Barrier::new(2));
    let options = CommunicatorOptions::new().time_limit(Duration::from_secs(1));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let ranks = options.init(acl.device(1).unwrap().context(), &root, 1, 2).unwrap();
            met.wait();
            over.wait();
            drop(ranks);
        });
        let device = acl.device(0).unwrap();
        let ranks = options.init(device.context(), &root, 0, 2).unwrap();
        let rank = Rank { stream: device.stream().unwrap(), device, ranks };
        met.wait();
        rank.ranks.barrier(&rank.stream).unwrap();
        broken(&rank, 107_020, ErrorKind::Timeout, &["rank 1 did not come"]);
        over.wait();
    });
}

#[test]
fn a_communicator_whose_stream_is_aborted_is_broken() {
    let (_acl, _alone) = alone();
    needs_mock("a card hangs there");
    let (zero, one) = (device_at(0), device_at(1));
    let ranks = Communicator::all(&[zero.context(), one.context()]).unwrap();
    let here = zero.stream().unwrap();
    ranks[0].barrier(&here).unwrap();
    mock::run_until_idle(); // it has begun, and waits
    here.abort().unwrap();
    assert_eq!(ranks[0].async_error().unwrap().unwrap().kind(), ErrorKind::Internal);
    ranks[0].barrier(&here).unwrap();
    assert!(here.synchronize().is_err());
    assert!(ranks[1].async_error().unwrap().is_none()); // which has not come yet
}
