//! Who reads memory waits for the work that uses it, not for what its stream waits for later: that may be to come from
//! the reader.

mod common;

use std::sync::mpsc;
use std::time::Duration;

use common::mock;
use racl::{CaptureMode, Context, CountUpdate, CountWait, DeviceFlag, Stream, ValueWait};

/// Far more than any of this takes.
const LIMIT: Duration = Duration::from_secs(60);

/// `test` is given a stream, one that brings what the first waits for, and a flag that nobody has set.
fn with_streams(test: fn(&Context, &Stream, &Stream, &DeviceFlag)) {
    common::needs_mock("it hangs where it fails");
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let (sender, done) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let context = common::device().context().create_context().unwrap();
        let (stream, other) = (context.stream().unwrap(), context.stream().unwrap());
        let flag = context.flag(0).unwrap();
        test(&context, &stream, &other, &flag);
        other.write_value(&flag, 1).unwrap();
        stream.synchronize().unwrap();
        drop((stream, other, flag));
        assert!(context.take_drop_errors().is_empty());
        context.close().unwrap();
        sender.send(()).unwrap();
    });
    let waited = done.recv_timeout(LIMIT);
    assert_ne!(waited, Err(mpsc::RecvTimeoutError::Timeout), "it waits for what it is to bring itself");
    thread.join().unwrap();
}

#[test]
fn work_in_front_of_a_wait_for_a_value_is_read_before_the_value_is_there() {
    with_streams(|context, stream, _, flag| {
        let mut buffer = context.upload(&[0_u8; 64]).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        stream.wait_value(flag, ValueWait::AtLeast(1)).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [1; 64]);
        assert!(!stream.is_complete().unwrap());
        drop(buffer);
    });
}

#[test]
fn so_is_work_in_front_of_a_wait_for_a_notify() {
    with_streams(|context, stream, other, _| {
        let mut buffer = context.upload(&[0_u8; 64]).unwrap();
        let notify = context.notify().unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        stream.wait_notify(&notify, None).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [1; 64]);
        notify.record(other).unwrap();
    });
}

#[test]
fn so_is_work_in_front_of_a_stream_that_waits_for_such_a_stream() {
    with_streams(|context, stream, _, flag| {
        let (behind, forked) = (context.stream().unwrap(), context.stream().unwrap());
        let mut buffers = [(); 2].map(|()| context.upload(&[0_u8; 64]).unwrap());
        behind.fill_bytes(&mut buffers[0], 1).unwrap();
        forked.fill_bytes(&mut buffers[1], 1).unwrap();
        stream.wait_value(flag, ValueWait::AtLeast(1)).unwrap();
        let event = context.event().unwrap();
        event.record(stream).unwrap();
        behind.wait(&event).unwrap();
        stream.fork(&forked).unwrap();
        buffers.iter().for_each(|buffer| assert_eq!(buffer.to_vec().unwrap(), [1; 64]));
        assert!(!behind.is_complete().unwrap() && !forked.is_complete().unwrap());
        context.stream().unwrap().write_value(flag, 1).unwrap();
        behind.synchronize().unwrap();
        forked.synchronize().unwrap();
    });
}

#[test]
fn later_waits_and_what_others_wait_for_do_not_hide_it() {
    with_streams(|context, stream, other, flag| {
        let [mut first, mut second] = [(); 2].map(|()| context.upload(&[0_u8; 64]).unwrap());
        stream.fill_bytes(&mut first, 1).unwrap();
        stream.wait_value(flag, ValueWait::AtLeast(1)).unwrap();
        stream.fill_bytes(&mut second, 2).unwrap();
        stream.wait_value(flag, ValueWait::AtLeast(1)).unwrap();
        // It follows the second fill.
        let behind = context.stream().unwrap();
        behind.fill_bytes(&mut second, 3).unwrap();
        assert_eq!(first.to_vec().unwrap(), [1; 64]);
        other.write_value(flag, 1).unwrap();
        assert_eq!(second.to_vec().unwrap(), [3; 64]);
        // Nothing waits any more, and the next wait is the first again.
        stream.fill_bytes(&mut first, 4).unwrap();
        stream.synchronize().unwrap();
        let next = context.flag(0).unwrap();
        stream.fill_bytes(&mut first, 5).unwrap();
        stream.wait_value(&next, ValueWait::AtLeast(1)).unwrap();
        assert_eq!(first.to_vec().unwrap(), [5; 64]);
        other.write_value(&next, 1).unwrap();
        stream.synchronize().unwrap();
    });
}

#[test]
fn work_between_waits_is_read_before_the_next_of_them_ends() {
    with_streams(|context, stream, other, _| {
        let steps = context.flag(0).unwrap();
        let mut buffers = [(); 6].map(|()| context.upload(&[0_u8; 64]).unwrap());
        for (index, buffer) in buffers.iter_mut().enumerate() {
            stream.wait_value(&steps, ValueWait::AtLeast(index as u64 + 1)).unwrap();
            stream.fill_bytes(buffer, index as u8 + 1).unwrap();
        }
        for (index, buffer) in buffers.iter().enumerate() {
            other.write_value(&steps, index as u64 + 1).unwrap();
            assert_eq!(buffer.to_vec().unwrap(), [index as u8 + 1; 64]);
        }
    });
}

#[test]
fn so_is_work_in_front_of_memory_that_such_a_stream_writes_behind_its_wait() {
    with_streams(|context, stream, _, flag| {
        let behind = context.stream().unwrap();
        let [mut read, mut written, mut copied] = [(); 3].map(|()| context.upload(&[0_u8; 64]).unwrap());
        behind.fill_bytes(&mut read, 1).unwrap();
        stream.wait_value(flag, ValueWait::AtLeast(1)).unwrap();
        stream.fill_bytes(&mut written, 2).unwrap();
        behind.copy(&written, &mut copied).unwrap();
        assert_eq!(read.to_vec().unwrap(), [1; 64]);
        assert!(!behind.is_complete().unwrap());
        context.stream().unwrap().write_value(flag, 1).unwrap();
        assert_eq!(copied.to_vec().unwrap(), [2; 64]);
    });
}

#[test]
fn so_is_work_in_front_of_a_wait_for_a_count() {
    with_streams(|context, stream, other, _| {
        let mut buffer = context.upload(&[0_u8; 64]).unwrap();
        let count = context.counting_notify().unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        stream.wait_count(&count, CountWait::equal(1)).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [1; 64]);
        count.record(other, CountUpdate::Set(1)).unwrap();
        stream.synchronize().unwrap();
    });
}

/// A mark takes as much room as a wait.
#[test]
fn waits_that_fit_a_queue_still_do() {
    with_streams(|_, stream, _, flag| {
        (0..1_600).for_each(|_| stream.wait_value(flag, ValueWait::AtLeast(1)).unwrap());
    });
}

#[test]
fn so_is_work_in_front_of_a_graph_that_waits() {
    with_streams(|context, stream, other, flag| {
        let mut buffer = context.upload(&[0_u8; 64]).unwrap();
        let mut graph = stream
            .capture(CaptureMode::ThreadLocal, |stream| stream.wait_value(flag, ValueWait::AtLeast(1)))
            .unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        graph.launch(stream).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [1; 64]);
        other.write_value(flag, 1).unwrap();
        stream.synchronize().unwrap();
    });
}

#[test]
fn a_failure_in_front_is_told_to_who_reads() {
    with_streams(|context, stream, _, flag| {
        let mut buffer = context.upload(&[0_u8; 64]).unwrap();
        mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        stream.wait_value(flag, ValueWait::AtLeast(1)).unwrap();
        assert_eq!(buffer.to_vec().unwrap_err().kind(), racl::ErrorKind::DeviceFault);
        assert_eq!(context.take_drop_errors().len(), 0);
    });
}
