//! Several copies with one call.

use racl::{CaptureMode, DeviceBuffer, DeviceWrite as _, ErrorKind, PinnedBuffer, Result, Stream};

use crate::common::{assert_says, device, mock};
use crate::exclusive;

#[test]
fn a_batch_moves_its_parts_and_nothing_else() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let (mut a, mut b) = (device.upload(&[9_i64; 3]).unwrap(), device.upload(&[9_i64; 2]).unwrap());
    let host = device.pinned_from(&[1, 2, 3, 4, 5]).unwrap();
    let (low, mut high) = a.split_at_mut(1).unwrap();
    let mut parts = [(low, 4..5), (high.slice_mut(1..1).unwrap(), 5..5), (b.slice_mut(1..).unwrap(), 0..1)];
    let host = stream.upload_batch(host, &mut parts).unwrap().wait().unwrap();
    assert_eq!(a.to_vec().unwrap(), [5, 9, 9]);
    assert_eq!(b.to_vec().unwrap(), [9, 1]);
    let parts = [(b.slice(..).unwrap(), 0..2), (a.slice(..1).unwrap(), 3..4)];
    let host = stream.download_batch(&parts, host).unwrap().wait().unwrap();
    assert_eq!(*host, [9, 1, 3, 5, 5]);
}

#[test]
fn one_call_is_made_for_all() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffers: Vec<_> = (0..10).map(|_| device.alloc::<u8>(1).unwrap()).collect();
    let host = device.pinned_from(&[0_u8, 1, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap();
    let before = mock::calls("aclrtMemcpyBatchAsync");
    let mut parts: Vec<_> =
        buffers.iter_mut().enumerate().map(|(at, one)| (one.slice_mut(..).unwrap(), at..at + 1)).collect();
    stream.upload_batch(host, &mut parts).unwrap().wait().unwrap();
    assert_eq!(mock::calls("aclrtMemcpyBatchAsync") - before, 1);
    let all: Vec<u8> = buffers.iter().flat_map(|one| one.to_vec().unwrap()).collect();
    assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn parts_that_do_not_fit_are_refused_and_nothing_is_lost() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut memory = device.upload(&[7_u8; 4]).unwrap();
    let host = || device.pinned_from(&[1_u8, 2, 3]).unwrap();
    let upload = |part: std::ops::Range<usize>, memory: &mut DeviceBuffer<u8>| {
        let refused = stream.upload_batch(host(), &mut [(memory.slice_mut(..2).unwrap(), part)]).unwrap_err();
        let (host, error) = refused.into_parts();
        assert_eq!(*host, [1, 2, 3]);
        error
    };
    assert_says(&upload(0..3, &mut memory), ErrorKind::InvalidArgument, &["3 elements on the host and 2"]);
    assert_says(&upload(2..4, &mut memory), ErrorKind::InvalidArgument, &["outside a buffer of 3"]);
    #[expect(clippy::reversed_empty_ranges, reason = "what the test is about")]
    let backwards = 2..0;
    assert_says(&upload(backwards, &mut memory), ErrorKind::InvalidArgument, &["outside a buffer of 3"]);
    let error = stream.upload_batch(host(), &mut []).unwrap_err().into_error();
    assert_says(&error, ErrorKind::InvalidArgument, &["without an element"]);
    let parts = [(memory.slice(..2).unwrap(), 0..2), (memory.slice(..2).unwrap(), 1..3)];
    let error = stream.download_batch(&parts, host()).unwrap_err().into_error();
    assert_says(&error, ErrorKind::InvalidArgument, &["0..2", "1..3", "overlap"]);
    stream.synchronize().unwrap();
    assert_eq!(memory.to_vec().unwrap(), [7; 4]);
}

#[test]
fn places_that_overlap_are_not_written_by_one_batch() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let memory = device.upload(&[7_u8; 4]).unwrap().into_shared();
    let (mut first, mut second) = (memory.slice(0..3).unwrap(), memory.slice(2..4).unwrap());
    let host = device.pinned_from(&[1_u8, 2, 3, 4, 5]).unwrap();
    let mut parts = [(second.as_mut_slice(), 3..5), (first.as_mut_slice(), 0..3)];
    let (host, error) = stream.upload_batch(host, &mut parts).unwrap_err().into_parts();
    assert_says(&error, ErrorKind::InvalidArgument, &["of the device, which overlap"]);
    let mut parts = [(first.as_mut_slice(), &host[..3]), (second.as_mut_slice(), &host[3..])];
    let error = device.context().write_batch(&mut parts).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["of the device, which overlap"]);
    assert_eq!(memory.to_vec().unwrap(), [7; 4]);
    // Side by side they may be.
    let mut first = memory.slice(0..2).unwrap();
    let mut parts = [(first.as_mut_slice(), &host[..2]), (second.as_mut_slice(), &host[3..])];
    device.context().write_batch(&mut parts).unwrap();
    assert_eq!(memory.to_vec().unwrap(), [1, 2, 4, 5]);
}

/// A batch to one memory, of one element each.
fn upload(stream: &Stream, memory: &mut DeviceBuffer<u8>, host: PinnedBuffer<u8>) -> Result<PinnedBuffer<u8>> {
    let (low, high) = memory.split_at_mut(1)?;
    Ok(stream.upload_batch(host, &mut [(low, 1..2), (high, 0..1)])?.wait()?)
}

#[test]
fn each_replay_of_a_captured_batch_reads_the_buffer_anew() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut memory = device.alloc_zeroed::<u8>(2).unwrap();
    let mut lent = None;
    let mut graph = stream
        .capture(CaptureMode::ThreadLocal, |s| {
            let (low, high) = memory.split_at_mut(1)?;
            lent = Some(s.upload_batch(device.pinned_from(&[1, 2])?, &mut [(low, 1..2), (high, 0..1)])?);
            Ok(())
        })
        .unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(memory.to_vec().unwrap(), [2, 1]);
    graph.host(&lent.unwrap()).unwrap().copy_from_slice(&[8, 9]);
    graph.launch(&stream).unwrap();
    assert_eq!(memory.to_vec().unwrap(), [9, 8]);
}

#[test]
fn a_batch_that_fails_gives_the_buffer_back_and_spoils_a_capture() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut memory = device.upload(&[7_u8; 2]).unwrap();
    mock::fail("aclrtMemcpyBatchAsync", 1, 107_000).unwrap();
    let (low, high) = memory.split_at_mut(1).unwrap();
    let host = device.pinned_from(&[1, 2]).unwrap();
    let (host, error) = stream.upload_batch(host, &mut [(low, 1..2), (high, 0..1)]).unwrap_err().into_parts();
    assert_says(&error, ErrorKind::InvalidArgument, &["aclrtMemcpyBatchAsync", "107000", "a batch of 2 copies"]);
    assert!(!error.to_string().contains("copy 0"), "{error}");
    let host = upload(&stream, &mut memory, host).unwrap();
    assert_eq!((memory.to_vec().unwrap(), &*host), (vec![2, 1], &[1, 2][..]));

    mock::fail("aclrtMemcpyBatchAsync", 1, 107_000).unwrap();
    let refused = stream.capture(CaptureMode::ThreadLocal, |s| {
        let (low, high) = memory.split_at_mut(1)?;
        let dropped = s.upload_batch(device.pinned_from(&[1, 2])?, &mut [(low, 1..2), (high, 0..1)]);
        assert!(dropped.is_err());
        Ok(())
    });
    assert_says(&refused.unwrap_err(), ErrorKind::CaptureInvalidated, &["upload_batch"]);
}

#[test]
fn a_batch_on_the_device_that_fails_is_reported_and_frees_nothing_early() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut memory = device.alloc_zeroed::<u8>(2).unwrap();
    mock::fail_task("aclrtMemcpyAsync", 1, 507_015).unwrap();
    let host = device.pinned_from(&[1, 2]).unwrap();
    let error = upload(&stream, &mut memory, host).unwrap_err();
    assert_says(&error, ErrorKind::DeviceFault, &["507015"]);
}

#[test]
fn a_batch_that_fails_behind_other_failed_work_gives_the_buffer_back() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut memory = device.upload(&[7_u8; 4]).unwrap();
    mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
    stream.fill_bytes(&mut memory, 1).unwrap();
    mock::fail("aclrtMemcpyBatchAsync", 1, 107_000).unwrap();
    let parts = &mut [(memory.slice_mut(..2).unwrap(), 0..2)];
    let refused = stream.upload_batch(device.pinned_from(&[1_u8, 2, 3]).unwrap(), parts).unwrap_err();
    let (host, error) = refused.into_parts();
    assert_says(&error, ErrorKind::InvalidArgument, &["aclrtMemcpyBatchAsync", "a batch of 1 copies"]);
    assert_eq!(*host, [1, 2, 3]);
    // That of the other work is told to whoever waits for it.
    assert_says(&stream.synchronize().unwrap_err(), ErrorKind::DeviceFault, &["507015"]);
}

#[test]
fn a_batch_of_the_host_waits_for_work_and_is_one_call() {
    let _alone = exclusive();
    let device = device();
    let (context, stream) = (device.context(), device.stream().unwrap());
    let (mut a, mut b) = (device.upload(&[9_i64; 3]).unwrap(), device.upload(&[9_i64; 2]).unwrap());
    stream.fill_bytes(&mut a, 0).unwrap();
    let before = mock::calls("aclrtMemcpyBatch");
    let (low, mut high) = a.split_at_mut(1).unwrap();
    let mut parts = [(low, &[5_i64][..]), (high.slice_mut(1..1).unwrap(), &[]), (b.slice_mut(..).unwrap(), &[1, 2])];
    context.write_batch(&mut parts).unwrap();
    assert_eq!(a.to_vec().unwrap(), [5, 0, 0]);
    stream.fill_bytes(&mut b.slice_mut(1..).unwrap(), 0).unwrap();
    let (mut x, mut y) = ([7; 2], [7; 1]);
    let mut parts = [(b.slice(..).unwrap(), &mut x[..]), (a.slice(..1).unwrap(), &mut y[..])];
    context.read_batch(&mut parts).unwrap();
    assert_eq!((x, y), ([1, 0], [5]));
    assert_eq!(mock::calls("aclrtMemcpyBatch") - before, 2);
}

#[test]
fn a_batch_of_the_host_that_does_not_fit_copies_nothing() {
    let _alone = exclusive();
    let device = device();
    let context = device.context();
    let mut memory = device.upload(&[7_u8; 4]).unwrap();
    let (low, high) = memory.split_at_mut(2).unwrap();
    let error = context.write_batch(&mut [(low, &[1, 2]), (high, &[3])]).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["1 elements on the host and 2"]);
    let error = context.write_batch::<u8>(&mut []).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["without an element"]);
    mock::fail("aclrtMemcpyBatch", 1, 507_000).unwrap();
    let error = context.write_batch(&mut [(memory.slice_mut(..1).unwrap(), &[1])]).unwrap_err();
    assert_says(&error, ErrorKind::Internal, &["aclrtMemcpyBatch", "a batch of 1 copies"]);
    assert_eq!(memory.to_vec().unwrap(), [7; 4]);
}
