//! How communicators end.

use std::sync::{Barrier, mpsc};
use std::time::Duration;

use racl::collective::{Communicator, Reduction};
use racl::{Acl, CaptureMode, Device, ErrorKind, Stream};

use crate::alone;
use crate::common::{assert_says, device_at, mock, needs_mock};

struct Two {
    devices: [Device; 2],
    streams: [Stream; 2],
    ranks: [Communicator; 2],
}

fn two(_acl: &Acl) -> Two {
    let devices = [0, 1].map(device_at);
    let ranks = Communicator::all(&[devices[0].context(), devices[1].context()]).unwrap();
    let streams = [0, 1].map(|device: usize| devices[device].stream().unwrap());
    Two { devices, streams, ranks: ranks.try_into().unwrap() }
}

fn communicators() -> u64 {
    mock::live_handles().library_objects
}

#[test]
fn an_abort_ends_what_waits_for_a_rank_that_never_comes() {
    let (acl, _alone) = alone();
    needs_mock("a card hangs there");
    let before = communicators();
    let two = two(&acl);
    let mut sum = two.devices[0].upload(&[1, 2]).unwrap();
    two.ranks[0].all_reduce_in_place(&two.streams[0], &mut sum, Reduction::Sum).unwrap();
    let done = two.devices[0].event().unwrap();
    done.record(&two.streams[0]).unwrap();
    assert!(!two.streams[0].is_complete().unwrap());
    two.ranks[0].abort().unwrap();
    assert_eq!(done.synchronize().unwrap_err().kind(), ErrorKind::Aborted);
    two.streams[0].synchronize().unwrap();
    assert_eq!(communicators(), before + 1);
    assert!(two.ranks[0].as_raw().is_null());

    let refused = two.ranks[0].all_reduce_in_place(&two.streams[0], &mut sum, Reduction::Sum).unwrap_err();
    assert_says(&refused, ErrorKind::Aborted, &["the communicator was aborted"]);
    assert_eq!(two.ranks[0].async_error().unwrap_err().kind(), ErrorKind::Aborted);
    assert_eq!(two.ranks[0].subgroup(&[0], 1).unwrap_err().kind(), ErrorKind::Aborted);
    two.ranks[0].abort().unwrap(); // once more is nothing

    // The other rank finds that this one has gone, and what stream and memory do otherwise goes on.
    two.ranks[1].barrier(&two.streams[1]).unwrap();
    assert!(two.streams[1].synchronize().is_err());
    two.streams[0].fill_bytes(&mut sum, 0).unwrap();
    assert_eq!(sum.to_vec().unwrap(), [0, 0]);
    drop(two);
    assert_eq!(communicators(), before);
}

#[test]
fn a_thread_that_waits_is_freed_by_an_abort() {
    let (acl, _alone) = alone();
    needs_mock("a card hangs there");
    let two = two(&acl);
    two.ranks[0].barrier(&two.streams[0]).unwrap();
    let (told, begun) = mpsc::channel();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            told.send(()).unwrap();
            two.streams[0].synchronize()
        });
        begun.recv().unwrap();
        two.ranks[0].abort().unwrap();
        // It was waiting, or came after the abort.
        let ended = waits.join().unwrap();
        assert!(ended.as_ref().map_or_else(|error| error.kind() == ErrorKind::Aborted, |()| true), "{ended:?}");
    });
}

#[test]
fn a_drop_in_the_middle_neither_blocks_nor_destroys_too_early() {
    let (acl, _alone) = alone();
    let before = communicators();
    let Two { devices, streams, ranks } = two(&acl);
    let [zero, one] = ranks;
    let mut here = devices[0].upload(&[1, 2]).unwrap();
    let mut there = devices[1].upload(&[10, 20]).unwrap();
    zero.all_reduce_in_place(&streams[0], &mut here, Reduction::Sum).unwrap();
    drop(zero); // its operation waits for the other rank, which comes now
    one.all_reduce_in_place(&streams[1], &mut there, Reduction::Sum).unwrap();
    assert_eq!(here.to_vec().unwrap(), [11, 22]);
    assert_eq!(there.to_vec().unwrap(), [11, 22]);
    drop(one);
    while communicators() != before {
        streams[0].synchronize().unwrap(); // collects the thread that destroys it
    }
    assert!(devices[0].context().take_drop_errors().is_empty());
}

#[test]
fn memory_that_is_dropped_in_the_middle_stays() {
    let (acl, _alone) = alone();
    let two = two(&acl);
    mock::hold(&two.streams[0]).unwrap();
    let send = two.devices[0].upload(&[7_u64; 64]).unwrap();
    let mut recv = two.devices[0].alloc::<u64>(128).unwrap();
    two.ranks[0].all_gather(&two.streams[0], &send, &mut recv).unwrap();
    drop(send);
    let other = two.devices[0].upload(&[9_u64; 64]).unwrap(); // not in its place
    let send = two.devices[1].upload(&[8_u64; 64]).unwrap();
    let mut there = two.devices[1].alloc::<u64>(128).unwrap();
    two.ranks[1].all_gather(&two.streams[1], &send, &mut there).unwrap();
    mock::release(&two.streams[0]).unwrap();
    let expected = [[7_u64; 64], [8; 64]].concat();
    assert_eq!((recv.to_vec().unwrap(), there.to_vec().unwrap()), (expected.clone(), expected));
    assert_eq!(other.to_vec().unwrap(), [9; 64]);
}

#[test]
fn close_tells_who_uses_it() {
    let (acl, _alone) = alone();
    let before = communicators();
    let Two { streams, ranks, .. } = two(&acl);
    let [zero, one] = ranks;
    zero.barrier(&streams[0]).unwrap();
    let refused = zero.close().unwrap_err();
    assert_says(refused.error(), ErrorKind::InvalidArgument, &["work that is not done"]);
    let zero = refused.into_value();
    one.barrier(&streams[1]).unwrap();
    streams.iter().for_each(|stream| stream.synchronize().unwrap());
    let graph = streams[0].capture(CaptureMode::ThreadLocal, |stream| zero.barrier(stream)).unwrap();
    let refused = zero.close().unwrap_err();
    assert_says(refused.error(), ErrorKind::InvalidArgument, &["a graph uses the communicator"]);
    drop(graph);
    refused.into_value().close().unwrap();
    one.close().unwrap();
    assert_eq!(communicators(), before);
}

#[test]
fn an_abort_leaves_graphs_what_they_need() {
    let (acl, _alone) = alone();
    let before = communicators();
    let Two { streams, ranks, devices } = two(&acl);
    let [zero, one] = ranks;
    let mut graph = streams[0].capture(CaptureMode::ThreadLocal, |stream| zero.barrier(stream)).unwrap();
    graph.launch(&streams[0]).unwrap();
    zero.abort().unwrap();
    assert_eq!(communicators(), before + 2);
    // The launch, which waited for the other rank, is ended with its stream; the graph keeps the communicator.
    streams[0].synchronize().unwrap();
    assert_eq!(graph.launch(&streams[0]).unwrap_err().kind(), ErrorKind::Aborted);
    drop(zero);
    assert_eq!(communicators(), before + 2);
    drop(graph);
    drop(one);
    assert_eq!(communicators(), before);
    drop(devices);
}

#[test]
fn an_abort_waits_for_nobody_longer_than_drops_do() {
    let (acl, _alone) = alone();
    racl::set_drop_limit(Duration::from_millis(50));
    let two = two(&acl);
    // The library says that it is in use, and does not stop.
    for nth in 1..200 {
        mock::fail("HcclCommDestroy", nth, 20).unwrap();
    }
    let late = two.ranks[0].abort().unwrap_err();
    assert_says(&late, ErrorKind::Timeout, &["still uses the communicator"]);
    mock::clear_failures();
    two.ranks[0].abort().unwrap();
    assert!(two.ranks[0].as_raw().is_null());
    racl::set_drop_limit(Duration::from_secs(10));
}

#[test]
fn an_abort_does_not_destroy_what_a_stream_that_did_not_end_uses() {
    let (acl, _alone) = alone();
    let before = communicators();
    let two = two(&acl);
    two.ranks[0].barrier(&two.streams[0]).unwrap();
    mock::fail("aclrtStreamAbort", 1, 507_899).unwrap();
    mock::fail("aclrtStreamAbort", 2, 507_899).unwrap();
    let refused = two.ranks[0].abort().unwrap_err();
    assert_eq!(refused.call(), Some("aclrtStreamAbort"), "{refused}");
    mock::clear_failures();
    assert_eq!(communicators(), before + 2);
    assert!(!two.ranks[0].as_raw().is_null());
    assert_eq!(two.ranks[0].barrier(&two.streams[0]).unwrap_err().kind(), ErrorKind::Aborted);
    two.ranks[0].abort().unwrap(); // tries again
    assert!(two.ranks[0].as_raw().is_null());
    assert_eq!(communicators(), before + 1);
    two.streams[0].synchronize().unwrap();
}

#[test]
fn an_abort_leaves_a_communicator_to_a_stream_that_captures() {
    let (acl, _alone) = alone();
    let before = communicators();
    let two = two(&acl);
    two.ranks[0].barrier(&two.streams[0]).unwrap();
    let captured = two.streams[0].capture(CaptureMode::ThreadLocal, |_| {
        let refused = two.ranks[0].abort().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::CaptureForbidden, "{refused}");
        assert_eq!(communicators(), before + 2);
        Ok(())
    });
    drop(captured);
    two.ranks[0].abort().unwrap();
    assert_eq!(communicators(), before + 1);
}

#[test]
fn an_operation_that_is_being_queued_is_ended_before_the_communicator_goes() {
    let (acl, _alone) = alone();
    needs_mock("a card hangs there");
    for _ in 0..20 {
        let before = communicators();
        let two = two(&acl);
        let met = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                met.wait();
                while two.ranks[0].barrier(&two.streams[0]).is_ok() {}
            });
            met.wait();
            two.ranks[0].abort().unwrap();
            // All that was queued before was ended, so nothing waits for a rank that has no communicator.
            assert!(two.ranks[0].as_raw().is_null());
        });
        // One that came when the communicator was broken already is told, if the device had it before it was ended.
        if let Err(error) = two.streams[0].synchronize() {
            assert!(error.code() == Some(507_000) && format!("{error:#}").contains("barrier at "), "{error:#}");
            two.streams[0].synchronize().unwrap();
        }
        assert_eq!(communicators(), before + 1);
    }
}

#[test]
fn a_drop_does_not_wait_for_a_library_that_still_uses_it() {
    let (acl, _alone) = alone();
    let before = communicators();
    let Two { devices, streams, ranks } = two(&acl);
    let [zero, one] = ranks;
    for nth in 1..=200 {
        mock::fail("HcclCommDestroy", nth, 20).unwrap();
    }
    drop(zero); // in the time limit of drops it would be asked some 200 times
    assert_eq!(communicators(), before + 2);
    mock::clear_failures();
    drop(one);
    while communicators() != before {
        streams[0].synchronize().unwrap(); // collects the thread that destroys it
    }
    assert!(devices[0].context().take_drop_errors().is_empty());
}

#[test]
fn an_abort_does_not_wait_for_a_thread_that_waits_for_room() {
    let (acl, _alone) = alone();
    needs_mock("a card hangs there");
    let two = two(&acl);
    let stream = &two.streams[0];
    let event = two.devices[0].event().unwrap();
    two.ranks[0].barrier(stream).unwrap();
    mock::limit_events(Some(1)).unwrap();
    let before = mock::calls("aclrtRecordEvent");
    std::thread::scope(|scope| {
        // The second record waits for the first, which is behind the barrier; this thread has the stream's lock.
        let records = scope.spawn(|| event.record(stream).and_then(|()| event.record(stream)));
        while mock::calls("aclrtRecordEvent") < before + 2 {
            std::thread::yield_now();
        }
        two.ranks[0].abort().unwrap();
        records.join().unwrap().unwrap();
    });
    mock::limit_events(None).unwrap();
    stream.synchronize().unwrap();
}
