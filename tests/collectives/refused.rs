//! What is refused before the library sees it.

use racl::collective::Reduction;
use racl::{CaptureMode, ErrorKind, Result};

use crate::common::assert_says;
use crate::{Rank, alone, run};

#[track_caller]
fn invalid(done: Result<()>, parts: &[&str]) {
    assert_says(&done.unwrap_err(), ErrorKind::InvalidArgument, parts);
}

fn lengths(rank: &Rank) {
    let (ranks, stream) = (&rank.ranks, &rank.stream);
    let (three, mut four) = (rank.device.upload(&[0_i32; 3]).unwrap(), rank.device.upload(&[0_i32; 4]).unwrap());
    let mut also = rank.device.upload(&[0_i32; 3]).unwrap();
    let sum = Reduction::Sum;
    invalid(ranks.all_reduce(stream, &three, &mut four, sum), &["all_reduce: 4 elements"]);
    invalid(ranks.reduce(stream, &three, &mut four, sum, 0), &["reduce"]);
    invalid(ranks.all_gather(stream, &three, &mut four), &["all_gather: 4 elements, where 2 ranks have 3 each"]);
    invalid(ranks.reduce_scatter(stream, &three, &mut four, sum), &["reduce_scatter"]);
    invalid(ranks.all_to_all(stream, &three, &mut also), &["all_to_all"]);
    invalid(ranks.all_to_all(stream, &four, &mut also), &["all_to_all"]);
    if rank.me() == 0 {
        invalid(ranks.scatter(stream, Some(&three), &mut four, 0), &["scatter"]);
        invalid(ranks.scatter(stream, None, &mut four, 0), &["sends"]);
    }
    for root in [2, u32::MAX] {
        invalid(ranks.broadcast(stream, &mut four, root), &["of 2 ranks"]);
        invalid(ranks.reduce(stream, &three, &mut also, sum, root), &["of 2 ranks"]);
        invalid(ranks.scatter(stream, Some(&four), &mut also, root), &["of 2 ranks"]);
        invalid(ranks.send(stream, &four, root), &["of 2 ranks"]);
        invalid(ranks.receive(stream, &mut four, root), &["of 2 ranks"]);
    }
}

fn lists(rank: &Rank) {
    let (ranks, stream) = (&rank.ranks, &rank.stream);
    let (two, mut four) = (rank.device.upload(&[0_i32; 2]).unwrap(), rank.device.upload(&[0_i32; 4]).unwrap());
    invalid(ranks.all_gather_v(stream, &two, &mut four, std::slice::from_ref(&(0..2))), &["1 ranges for 2 ranks"]);
    invalid(ranks.all_gather_v(stream, &two, &mut four, &[0..2, 3..5]), &["3..5"]);
    invalid(ranks.all_gather_v(stream, &two, &mut four, &[0..2, 1..3]), &["overlap"]);
    invalid(ranks.all_gather_v(stream, &two, &mut four, &[0..1, 1..2]), &["rank", "has 1"]);
    let sum = Reduction::Sum;
    let mut also = rank.device.upload(&[0_i32; 2]).unwrap();
    invalid(ranks.reduce_scatter_v(stream, &four, &mut also, &[0..1, 1..2], sum), &["has 1"]);
    invalid(ranks.reduce_scatter_v(stream, &four, &mut also, &[0..2, 2..5], sum), &["2..5"]);
    invalid(ranks.all_to_all_v(stream, &two, &[0..1, 1..3], &mut four, &[0..1, 1..2]), &["sent", "1..3"]);
    invalid(ranks.all_to_all_v(stream, &two, &[0..1, 1..2], &mut four, &[0..2, 1..2]), &["received", "overlap"]);
    invalid(ranks.all_to_all_vc(stream, &two, &mut four, &[1, 1, 1]), &["3 counts"]);
    invalid(ranks.all_to_all_vc(stream, &two, &mut four, &[1, 2, 2, 1]), &["more than the buffers have"]);
    invalid(ranks.all_to_all_vc(stream, &two, &mut four, &[usize::MAX; 4]), &["more than"]);
}

fn memory(rank: &Rank) {
    let (ranks, stream) = (&rank.ranks, &rank.stream);
    let shared = rank.device.upload(&[0_i32; 4]).unwrap().into_shared();
    let (low, mut high) = (shared.slice(..2).unwrap(), shared.slice(1..3).unwrap());
    invalid(ranks.all_reduce(stream, &low, &mut high, Reduction::Sum), &["share memory"]);
    invalid(ranks.all_gather(stream, &low, &mut shared.clone()), &["share memory"]);
    // The same memory on both sides is in place.
    ranks.all_reduce(stream, &low, &mut low.clone(), Reduction::Sum).unwrap();

    let acl = rank.device.context().acl().clone();
    let other = acl.device(3).unwrap();
    let mut foreign = other.upload(&[0_i32; 2]).unwrap();
    let parts = ["memory of device 3"];
    invalid(ranks.all_reduce(stream, &low, &mut foreign, Reduction::Sum), &parts);
    invalid(ranks.broadcast(stream, &mut foreign, 0), &parts);
    let away = other.stream().unwrap();
    invalid(ranks.barrier(&away), &["a communicator of device", "device 3"]);
    invalid(ranks.broadcast(&away, &mut foreign, 0), &["a communicator of device"]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (acl, _alone) = alone();
    run(&acl, 2, |rank| {
        lengths(rank);
        lists(rank);
        memory(rank);
        // Nothing of it was queued.
        rank.ranks.barrier(&rank.stream).unwrap();
        rank.stream.synchronize().unwrap();
        assert!(rank.ranks.async_error().unwrap().is_none());
    });
}

#[test]
fn a_refused_operation_ends_the_capture() {
    let (acl, _alone) = alone();
    run(&acl, 1, |rank| {
        let (one, mut two) = (rank.device.upload(&[1]).unwrap(), rank.device.upload(&[1, 2]).unwrap());
        let captured = rank.stream.capture(CaptureMode::ThreadLocal, |stream| {
            let _ = rank.ranks.all_reduce(stream, &one, &mut two, Reduction::Sum);
            Ok(())
        });
        assert_says(&captured.unwrap_err(), ErrorKind::CaptureInvalidated, &["all_reduce"]);
    });
}

#[test]
fn host_functions_queue_nothing() {
    let (acl, _alone) = alone();
    run(&acl, 1, |rank| {
        let (told, kinds) = std::sync::mpsc::channel();
        std::thread::scope(|_| {
            let ranks = std::sync::Arc::new(rank.ranks.subgroup(&[0], 1).unwrap().unwrap());
            let (inside, other) = (std::sync::Arc::clone(&ranks), rank.device.stream().unwrap());
            rank.stream
                .host_function(move || {
                    let barrier = inside.barrier(&other).unwrap_err().kind();
                    told.send([barrier, inside.abort().unwrap_err().kind()]).unwrap();
                })
                .unwrap();
            rank.stream.synchronize().unwrap();
            assert_eq!(kinds.recv().unwrap(), [ErrorKind::NotSupported; 2]);
        });
    });
}
