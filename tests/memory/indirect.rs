//! Copies whose places stand in device memory.

use racl::{CaptureMode, ErrorKind};

use crate::common::{assert_says, device, direct_device, mock};
use crate::exclusive;

/// 16 elements of 4 bytes are a row of 64 bytes.
const ROW: usize = 16;

fn rows(values: &[i32]) -> Vec<i32> {
    values.iter().flat_map(|value| [*value; ROW]).collect()
}

#[test]
fn a_copy_goes_where_its_descriptor_says() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let from = device.upload(&rows(&[1, 2, 3])).unwrap().into_shared();
    let to = device.upload(&rows(&[0, 0, 0])).unwrap().into_shared();
    let mut copy = device.context().copy_descriptor(&from, &to, ROW).unwrap();
    assert_eq!(copy.len(), ROW);
    stream.copy_described(&copy).unwrap();
    copy.set(2 * ROW, ROW).unwrap();
    stream.copy_described(&copy).unwrap();
    assert_eq!(to.to_vec().unwrap(), rows(&[1, 3, 0]));
}

#[test]
fn a_graph_reads_the_descriptor_at_each_launch_and_keeps_all_memory() {
    let _alone = exclusive();
    let device = direct_device();
    let stream = device.stream().unwrap();
    let from = device.upload(&rows(&[1, 2, 3])).unwrap().into_shared();
    let to = device.upload(&rows(&[0, 0, 0])).unwrap().into_shared();
    let mut copy = device.context().copy_descriptor(&from, &to, ROW).unwrap();
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.copy_described(&copy)).unwrap();
    for (at, expected) in [(0, [3, 0, 0]), (2, [3, 0, 3]), (1, [3, 3, 3])] {
        copy.set(2 * ROW, at * ROW).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(to.to_vec().unwrap(), rows(&expected));
    }
    // What it copies is in order with other streams, wherever it goes.
    let (mut last, other) = (to.slice(2 * ROW..).unwrap(), device.stream().unwrap());
    mock::hold(&stream).unwrap();
    graph.launch(&stream).unwrap();
    other.fill_words(&mut last, 9).unwrap();
    mock::run_until_idle();
    assert!(!other.is_complete().unwrap());
    mock::release(&stream).unwrap();
    assert_eq!(to.to_vec().unwrap(), rows(&[3, 3, 9]));

    let before = mock::live_handles().device_allocations;
    drop((copy, from, last));
    assert_eq!(mock::live_handles().device_allocations, before, "the graph has all three");
    graph.launch(&stream).unwrap();
    assert_eq!(to.to_vec().unwrap(), rows(&[3, 3, 9]));
    drop(graph);
    assert_eq!(mock::live_handles().device_allocations, before - 2);
}

#[test]
fn a_descriptor_is_changed_behind_the_copies_that_read_it() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let from = device.upload(&rows(&[1, 2])).unwrap().into_shared();
    let to = device.upload(&rows(&[0, 0])).unwrap().into_shared();
    let mut copy = device.context().copy_descriptor(&from, &to, ROW).unwrap();
    mock::hold(&stream).unwrap();
    stream.copy_described(&copy).unwrap();
    std::thread::scope(|scope| {
        let moved = scope.spawn(|| copy.set(ROW, ROW).map(|()| &copy));
        mock::release(&stream).unwrap();
        stream.copy_described(moved.join().unwrap().unwrap()).unwrap();
    });
    assert_eq!(to.to_vec().unwrap(), rows(&[1, 2]));
}

#[test]
fn places_outside_of_the_memory_are_refused() {
    let _alone = exclusive();
    let device = device();
    let (context, stream) = (device.context(), device.stream().unwrap());
    let from = device.upload(&rows(&[1, 2])).unwrap().into_shared();
    let to = device.upload(&rows(&[0])).unwrap().into_shared();
    let mut copy = context.copy_descriptor(&from, &to, ROW).unwrap();
    for (source, target) in [(ROW + 1, 0), (0, 1), (2 * ROW, 0), (usize::MAX, 0), (0, usize::MAX)] {
        let error = copy.set(source, target).unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["16 elements from"]);
    }
    assert_says(&copy.set(1, 0).unwrap_err(), ErrorKind::InvalidArgument, &["no multiple of 64"]);
    // As it was.
    stream.copy_described(&copy).unwrap();
    assert_eq!(to.to_vec().unwrap(), rows(&[1]));
    let error = context.copy_descriptor(&from, &to, 0).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["zero bytes"]);
    let error = context.copy_descriptor(&from, &to, ROW + 1).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["17 elements from 0"]);
    let error = context.copy_descriptor(&from, &to, 1 << 31).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["4 GiB at most"]);
    for call in ["aclrtGetMemcpyDescSize", "aclrtSetMemcpyDesc"] {
        mock::fail(call, 1, 507_000).unwrap();
        assert_says(&context.copy_descriptor(&from, &to, 1).unwrap_err(), ErrorKind::Internal, &[call]);
    }
    mock::fail("aclrtMemcpyAsyncWithDesc", 1, 507_000).unwrap();
    let error = stream.copy_described(&copy).unwrap_err();
    assert_says(&error, ErrorKind::Internal, &["aclrtMemcpyAsyncWithDesc"]);
}

#[test]
fn a_descriptor_is_not_written_in_a_capture() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let memory = device.upload(&rows(&[1, 2])).unwrap().into_shared();
    let mut copy = device.context().copy_descriptor(&memory, &memory, ROW).unwrap();
    let mut told = None;
    let graph = stream.capture(CaptureMode::Global, |_| {
        told = copy.set(0, ROW).err();
        Ok(())
    });
    assert_says(&told.unwrap(), ErrorKind::CaptureForbidden, &["the write of a descriptor at", file!()]);
    assert_says(&graph.unwrap_err(), ErrorKind::CaptureInvalidated, &["the write of a descriptor at", file!()]);
}

#[test]
fn copies_follow_pointers_and_stay_in_the_memory() {
    let _alone = exclusive();
    let device = device();
    let (context, stream) = (device.context(), device.stream().unwrap());
    let from = device.upload(&rows(&[1, 2, 3, 4])).unwrap().into_shared();
    let to = device.upload(&rows(&[0, 0])).unwrap().into_shared();
    let (mut source, target) = (context.device_pointer(&from).unwrap(), context.device_pointer(&to).unwrap());
    stream.copy_pointed((&source, ROW), (&target, 0), ROW).unwrap();
    source.point_to(2 * ROW).unwrap();
    assert_eq!(source.position(), 2 * ROW);
    stream.copy_pointed((&source, ROW), (&target, ROW), ROW).unwrap();
    assert_eq!(to.to_vec().unwrap(), rows(&[2, 4]));
    for (offset, len) in [(ROW, 2 * ROW), (2 * ROW, ROW), (usize::MAX, ROW), (0, usize::MAX / 4)] {
        let error = stream.copy_pointed((&source, offset), (&target, 0), len).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    }
    let error = stream.copy_pointed((&source, 1), (&target, 0), 1).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["no multiple of 64"]);
    for position in [4 * ROW, usize::MAX, 1] {
        let error = source.point_to(position).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    }
    assert_eq!(source.position(), 2 * ROW);
    source.point_to(3 * ROW).unwrap();
    mock::fail("aclrtMemcpyAsyncWithOffset", 1, 507_000).unwrap();
    let error = stream.copy_pointed((&source, 0), (&target, 0), ROW).unwrap_err();
    assert_says(&error, ErrorKind::Internal, &["aclrtMemcpyAsyncWithOffset"]);
}

#[test]
fn a_pointer_cannot_lead_a_copy_of_a_graph_out_of_its_memory() {
    let _alone = exclusive();
    let device = device();
    let (context, stream) = (device.context(), device.stream().unwrap());
    let from = device.upload(&rows(&[1, 2, 3, 4])).unwrap().into_shared();
    let to = device.upload(&rows(&[0])).unwrap().into_shared();
    let (mut source, target) = (context.device_pointer(&from).unwrap(), context.device_pointer(&to).unwrap());
    let capture = |s: &racl::Stream| s.copy_pointed((&source, ROW), (&target, 0), ROW);
    let mut graph = stream.capture(CaptureMode::ThreadLocal, capture).unwrap();
    for (at, value) in [(0, 2), (2, 4), (1, 3)] {
        source.point_to(at * ROW).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(to.to_vec().unwrap(), rows(&[value]));
    }
    // Copies that are over, or were refused, need nothing of it later.
    source.point_to(0).unwrap();
    stream.copy_pointed((&source, 2 * ROW), (&target, 0), ROW).unwrap();
    stream.copy_pointed((&source, 3 * ROW), (&target, ROW), ROW).unwrap_err();
    source.point_to(2 * ROW).unwrap();
    source.point_to(ROW).unwrap();
    let error = source.point_to(3 * ROW).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["32 elements from 48"]);
    graph.launch(&stream).unwrap();
    assert_eq!(to.to_vec().unwrap(), rows(&[3]));
    drop(graph);
    source.point_to(3 * ROW).unwrap();
}

#[test]
fn copies_whose_places_overlap_are_refused() {
    let _alone = exclusive();
    let device = device();
    let (context, stream) = (device.context(), device.stream().unwrap());
    let mut all = device.upload(&rows(&[1, 2, 3, 4])).unwrap().into_shared();
    let says = |error: &racl::Error| assert_says(error, ErrorKind::InvalidArgument, &["overlaps what it reads"]);
    let mut copy = context.copy_descriptor(&all, &all, 2 * ROW).unwrap();
    says(&copy.set(0, ROW).unwrap_err());
    says(&copy.set(2 * ROW, ROW).unwrap_err());
    let (from, to) = (context.device_pointer(&all).unwrap(), context.device_pointer(&all).unwrap());
    says(&stream.copy_pointed((&from, 0), (&to, ROW), 2 * ROW).unwrap_err());
    stream.copy_described(&copy).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(all.to_vec().unwrap(), rows(&[1, 2, 3, 4]));
    // Those that it is made with count once it is used.
    let (low, high) = (all.slice(..3 * ROW).unwrap(), all.slice(ROW..).unwrap());
    let mut first = context.copy_descriptor(&low, &high, 2 * ROW).unwrap();
    let error = stream.copy_described(&first).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["first places overlap"]);
    first.set(0, ROW).unwrap();
    stream.copy_described(&first).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(all.to_vec().unwrap(), rows(&[1, 2, 1, 2]));
    all.write(&rows(&[1, 2, 3, 4])).unwrap();
    copy.set(0, 2 * ROW).unwrap();
    stream.copy_described(&copy).unwrap();
    stream.copy_pointed((&from, ROW), (&to, 0), ROW).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(all.to_vec().unwrap(), rows(&[2, 2, 1, 2]));
}
