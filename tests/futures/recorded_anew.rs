//! Futures of events that are recorded anew before they are ready.

use std::sync::Arc;
use std::task::Waker;

use racl::{CaptureMode, ErrorKind, Stream};

use crate::alone;
use crate::common::{device, mock};
use crate::executor::{Woken, assert_waits, block_on};

/// Streams of which the first is held, with work in front of a record.
fn held() -> ([Stream; 2], Arc<racl::Event>) {
    let device = device();
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let event = Arc::new(device.event().unwrap());
    let mut buffer = device.alloc::<u8>(64).unwrap();
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    event.record(&stream).unwrap();
    ([stream, other], event)
}

#[test]
fn a_record_on_another_stream_that_is_reached_first_is_another_one() {
    let _alone = alone();
    for polled in [false, true] {
        let ([stream, other], event) = held();
        let (woken, waker) = Woken::new();
        let mut reached = event.reached();
        if polled {
            assert_waits(&mut reached, &waker);
        }
        event.record(&other).unwrap();
        other.synchronize().unwrap();
        assert!(event.is_complete().unwrap());
        block_on(event.reached()).unwrap();
        assert_waits(&mut reached, &waker);
        assert_eq!(woken.count(), 0);
        mock::release(&stream).unwrap();
        block_on(reached).unwrap();
    }
}

#[test]
fn a_record_in_a_capture_is_another_one() {
    let _alone = alone();
    for polled in [false, true] {
        let ([stream, other], event) = held();
        let mut reached = event.reached();
        if polled {
            assert_waits(&mut reached, Waker::noop());
        }
        let graph = other.capture(CaptureMode::ThreadLocal, |s| event.record(s)).unwrap();
        assert_eq!(event.is_complete().unwrap_err().kind(), ErrorKind::CaptureDependency);
        assert_waits(&mut reached, Waker::noop());
        mock::release(&stream).unwrap();
        block_on(reached).unwrap();
        drop(graph);
    }
}

#[test]
fn a_later_record_of_the_same_stream_is_one_of_both() {
    let _alone = alone();
    let ([stream, other], event) = held();
    let mut reached = event.reached();
    mock::hold(&other).unwrap();
    let mut buffer = stream.context().alloc::<u8>(64).unwrap();
    other.fill_bytes(&mut buffer, 2).unwrap();
    other.fork(&stream).unwrap();
    event.record(&stream).unwrap();
    mock::release(&stream).unwrap();
    let mut later = event.reached();
    assert_waits(&mut reached, Waker::noop());
    assert_waits(&mut later, Waker::noop());
    mock::release(&other).unwrap();
    block_on(reached).unwrap();
    block_on(later).unwrap();
}

#[test]
fn what_fails_before_is_told_behind_another_record() {
    let _alone = alone();
    let device = device();
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let event = Arc::new(device.event().unwrap());
    let mut buffer = device.alloc::<u8>(64).unwrap();
    mock::hold(&stream).unwrap();
    mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    event.record(&stream).unwrap();
    let reached = event.reached();
    event.record(&other).unwrap();
    mock::release(&stream).unwrap();
    assert_eq!(block_on(reached).unwrap_err().kind(), ErrorKind::DeviceFault);
    stream.synchronize().unwrap();
    other.synchronize().unwrap();
}
