//! What futures are told of work that failed.

use std::sync::Arc;
use std::task::{Poll, Wake, Waker};

use racl::ErrorKind;

use crate::alone;
use crate::common::{assert_says, device, mock};
use crate::executor::{Woken, assert_waits, block_on, poll};

const DEVICE_FAULT: i32 = 507_015;

/// Held, so that nobody is told before all are made.
#[test]
fn each_future_behind_the_work_is_told_and_none_that_is_made_later() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(64).unwrap();
    mock::hold(&stream).unwrap();
    mock::fail_task("aclrtMemsetAsync", 1, DEVICE_FAULT).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    let event = Arc::new(device.event().unwrap());
    event.record(&stream).unwrap();
    let mut behind = [stream.finished(), stream.finished(), stream.finished()];
    behind.iter_mut().for_each(|one| assert_waits(one, Waker::noop()));
    let mut reached = event.reached();
    assert_waits(&mut reached, Waker::noop());
    mock::release(&stream).unwrap();
    for one in behind {
        assert_eq!(block_on(one).unwrap_err().kind(), ErrorKind::DeviceFault);
    }
    assert_eq!(block_on(reached).unwrap_err().kind(), ErrorKind::DeviceFault);
    stream.fill_bytes(&mut buffer, 2).unwrap();
    block_on(stream.finished()).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [2; 64]);
}

#[test]
fn a_failure_that_another_wait_was_told_of_is_told_as_well() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(64).unwrap();
    let before = stream.finished();
    block_on(before).unwrap();
    mock::fail_task("aclrtMemsetAsync", 1, DEVICE_FAULT).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    let finished = stream.finished();
    assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::DeviceFault);
    let error = block_on(finished).unwrap_err();
    assert_says(&error, ErrorKind::DeviceFault, &["another wait was told"]);
    block_on(stream.finished()).unwrap();
}

#[test]
fn a_host_function_that_panicked_before_the_point_was_marked_is_told() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    stream.host_function(|| panic!("on purpose")).unwrap();
    mock::run_until_idle();
    assert_says(&block_on(stream.finished()).unwrap_err(), ErrorKind::CallbackPanicked, &["on purpose"]);
    block_on(stream.finished()).unwrap();
}

#[test]
fn a_future_of_an_event_tells_a_host_function_in_front_of_the_record_that_panicked() {
    let _alone = alone();
    let device = device();
    let (stream, before) = (device.stream().unwrap(), Arc::new(device.event().unwrap()));
    let event = Arc::new(device.event().unwrap());
    for asked_later in [true, false] {
        mock::hold(&stream).unwrap();
        before.record(&stream).unwrap();
        stream.host_function(|| panic!("on purpose")).unwrap();
        event.record(&stream).unwrap();
        let (first, mut reached) = (before.reached(), event.reached());
        if !asked_later {
            assert_waits(&mut reached, Waker::noop());
        }
        mock::release(&stream).unwrap();
        mock::run_until_idle();
        block_on(first).unwrap();
        assert_says(&block_on(reached).unwrap_err(), ErrorKind::CallbackPanicked, &["on purpose"]);
        block_on(event.reached()).unwrap();
        stream.synchronize().unwrap();
    }
}

#[test]
fn a_wait_for_a_copy_tells_a_host_function_in_front_of_it_that_panicked() {
    let _alone = alone();
    let device = device();
    let (stream, buffer) = (device.stream().unwrap(), device.upload(&[1_u8; 64]).unwrap());
    let copy = || {
        stream.host_function(|| panic!("on purpose")).unwrap();
        stream.download(&buffer, device.pinned(64).unwrap()).unwrap()
    };
    let by_await = copy();
    let (lent, error) = block_on(by_await.into_future()).unwrap_err().into_parts();
    assert_says(&error, ErrorKind::CallbackPanicked, &["on purpose"]);
    assert_eq!(*block_on(lent.into_future()).unwrap(), [1; 64]);
    let (lent, error) = copy().wait().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::CallbackPanicked, &["on purpose"]);
    assert_eq!(*lent.wait().unwrap(), [1; 64]);
    stream.synchronize().unwrap();
    // Nobody has the buffer that is dropped.
    drop(copy());
    assert_says(&stream.synchronize().unwrap_err(), ErrorKind::CallbackPanicked, &["on purpose"]);
}

#[test]
fn a_panic_is_told_once_by_a_wait_and_a_future_that_is_dropped() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    mock::hold(&stream).unwrap();
    stream.host_function(|| panic!("on purpose")).unwrap();
    let (mut finished, woken) = (stream.finished(), Woken::new());
    assert_waits(&mut finished, &woken.1);
    mock::release(&stream).unwrap();
    let first = stream.synchronize();
    woken.0.wait();
    drop(finished);
    // Whichever was first took it: the wait, or the future, for which the next wait tells it.
    let told = [first, stream.synchronize()];
    let errors: Vec<_> = told.iter().filter_map(|told| told.as_ref().err()).collect();
    assert_eq!(errors.len(), 1, "{told:?}");
    assert_says(errors[0], ErrorKind::CallbackPanicked, &["on purpose"]);
}

#[test]
fn a_host_function_that_panicked_is_told_once() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    stream.host_function(|| panic!("on purpose")).unwrap();
    let error = block_on(stream.finished()).unwrap_err();
    assert_says(&error, ErrorKind::CallbackPanicked, &["on purpose"]);
    assert_eq!(stream.is_complete().unwrap_err().kind(), ErrorKind::CallbackPanicked);
    block_on(stream.finished()).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn a_copy_that_failed_gives_the_buffer_at_the_second_try() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let buffer = device.upload(&[1_u8; 64]).unwrap();
    mock::fail_task("aclrtMemcpyAsync", 1, DEVICE_FAULT).unwrap();
    let lent = stream.download(&buffer, device.pinned(64).unwrap()).unwrap();
    let (lent, error) = block_on(lent.into_future()).unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::DeviceFault);
    assert_eq!(block_on(lent.into_future()).unwrap().len(), 64);
}

#[test]
fn an_event_that_cannot_be_made_or_recorded_is_told_when_it_is_awaited() {
    let _alone = alone();
    let device = device();
    let context = device.context().create_context().unwrap();
    let stream = context.stream().unwrap();
    mock::fail("aclrtCreateEventExWithFlag", 1, 207_007).unwrap();
    let finished = stream.finished();
    assert_says(&block_on(finished).unwrap_err(), ErrorKind::NoEvents, &["aclrtCreateEventExWithFlag"]);
    mock::fail("aclrtRecordEvent", 1, 507_000).unwrap();
    assert_says(&block_on(stream.finished()).unwrap_err(), ErrorKind::Internal, &["aclrtRecordEvent"]);
    block_on(stream.finished()).unwrap();
}

/// Whoever is told has gone by then, before it is asked or after.
#[test]
fn what_a_dropped_future_was_told_the_stream_tells() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(64).unwrap();
    for waits_to_be_told in [false, true] {
        mock::hold(&stream).unwrap();
        mock::fail_task("aclrtMemsetAsync", 1, DEVICE_FAULT).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        let mut finished = stream.finished();
        let (woken, waker) = Woken::new();
        assert_waits(&mut finished, &waker);
        if waits_to_be_told {
            mock::release(&stream).unwrap();
            woken.wait();
        }
        drop(finished);
        mock::release(&stream).unwrap();
        let error = stream.synchronize().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DeviceFault);
        stream.synchronize().unwrap();
    }
}

/// Of the user, and on a thread that goes on waiting for others.
struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("on purpose");
    }
}

#[test]
fn a_waker_that_panics_harms_nobody_else() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    mock::hold(&stream).unwrap();
    let (mut one, mut other) = (stream.finished(), stream.finished());
    assert_waits(&mut one, &Arc::new(Panics).into());
    let (woken, waker) = Woken::new();
    assert_waits(&mut other, &waker);
    mock::release(&stream).unwrap();
    woken.wait();
    assert!(matches!(poll(&mut other, &waker), Poll::Ready(Ok(()))));
    assert!(matches!(poll(&mut one, &waker), Poll::Ready(Ok(()))));
}

/// The work that would be waited for is behind the function.
#[test]
fn a_host_function_does_not_await_its_own_stream() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let (own, other) = (stream.clone(), device.stream().unwrap().finished());
    let other = std::sync::Mutex::new(other);
    stream
        .host_function(move || {
            let refused = block_on(own.finished());
            let waits = poll(&mut *other.lock().unwrap(), Waker::noop()).is_pending();
            sender.send((refused.map_err(|error| error.kind()), waits)).unwrap();
        })
        .unwrap();
    block_on(stream.finished()).unwrap();
    assert_eq!(receiver.recv().unwrap(), (Err(ErrorKind::NotSupported), true));
}
