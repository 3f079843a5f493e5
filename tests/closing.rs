//! Closing streams and contexts while other threads have them for a moment.

#[path = "common/mod.rs"]
mod common;
#[path = "common/watchdog.rs"]
mod watchdog;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use common::{Over, assert_says, direct_device as device, mock};
use racl::{CaptureMode, ErrorKind, Refused, StreamOptions, op, sys};

/// Does something when it is dropped.
struct Last<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for Last<F> {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|last| last());
    }
}

/// Waits until `function` was called once more than `before`.
fn called_after(function: &str, before: u64) {
    while mock::calls(function) == before {
        thread::yield_now();
    }
}

#[test]
fn a_stream_is_closed_while_another_thread_waits_for_its_work() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(8).unwrap();
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    let raw = stream.as_raw().addr();
    let waits = "aclrtSynchronizeStream";
    let before = mock::calls(waits);
    thread::scope(|scope| {
        let other = scope.spawn(move || buffer.close().map_err(racl::Refused::into_error));
        called_after(waits, before);
        let inside = mock::calls(waits);
        let releases = scope.spawn(move || {
            called_after(waits, inside);
            // SAFETY: the mock checks any handle.
            unsafe { sys::mock::mock_acl_release_stream(std::ptr::without_provenance_mut(raw)) };
        });
        let closed = stream.close();
        // Lets the others go when it was refused.
        if let Err(refused) = closed {
            let (stream, error) = refused.into_parts();
            mock::release(&stream).unwrap();
            stream.synchronize().unwrap();
            panic!("{error:#}");
        }
        other.join().unwrap().unwrap();
        releases.join().unwrap();
    });
}

#[test]
fn streams_and_contexts_are_closed_while_another_thread_aborts_the_device() {
    common::needs_the_card_alone("it aborts a device");
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    let device = device();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let ends = Over::at_end(&over);
        let aborts = scope.spawn(|| {
            while !over.load(Ordering::Acquire) {
                device.context().abort_device(Duration::from_secs(10)).unwrap();
            }
        });
        let refused = (0..200).find_map(|round| {
            let context = device.context().create_context().unwrap();
            let stream = context.stream().unwrap();
            if round % 2 == 0 {
                stream.close().err().map(racl::Refused::into_error)
            } else {
                drop(stream);
                context.close().err().map(racl::Refused::into_error)
            }
        });
        drop(ends);
        aborts.join().unwrap();
        assert!(refused.is_none(), "{refused:?}");
    });
}

#[test]
fn owners_are_refused_at_once_while_others_wait() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(8).unwrap();
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    let before = mock::calls("aclrtSynchronizeStream");
    thread::scope(|scope| {
        let other = scope.spawn(move || buffer.close().map_err(racl::Refused::into_error));
        called_after("aclrtSynchronizeStream", before);
        let clone = stream.clone();
        let (stream, error) = stream.close().unwrap_err().into_parts();
        assert_says(&error, ErrorKind::InvalidArgument, &["1 other handles or captures hold"]);
        mock::release(&stream).unwrap();
        other.join().unwrap().unwrap();
        drop(clone);
        stream.close().unwrap();
    });
}

/// A host function that has run goes with the next wait, or with the next stream that is closed, whichever comes first.
#[test]
fn a_stream_that_is_let_go_is_asked_no_more() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    let device = device();
    let [stream, third, one, two] = [(); 4].map(|()| device.stream().unwrap());
    let event = device.event().unwrap();
    let x = device.zeros::<f32>([4]).unwrap();
    device.synchronize().unwrap();
    // There are failures, so that whoever waits in vain asks for the numbers of its stream and of others.
    for failing in [&one, &two] {
        mock::fail_task("aclnnAbs", 1, 507_015).unwrap();
        op::abs(failing, &x, &mut x.clone()).unwrap();
        mock::run_until_idle();
    }
    event.record(&stream).unwrap();
    stream.synchronize().unwrap();
    let ask = move || {
        mock::fail("aclrtSynchronizeEvent", 1, 507_015).unwrap();
        let before = mock::calls("aclrtStreamGetId");
        let error = event.synchronize().unwrap_err();
        (mock::calls("aclrtStreamGetId") - before, error.kind(), error.task_failure().is_some())
    };
    assert_eq!(ask(), (1 + 4, ErrorKind::DeviceFault, false));
    let asked = Arc::new(Mutex::new(None));
    let inside = Arc::clone(&asked);
    let last = Last(Some(move || *inside.lock().unwrap() = Some(ask())));
    third.host_function(move || assert!(last.0.is_some())).unwrap();
    mock::run_until_idle();
    stream.close().unwrap();
    assert_eq!(*asked.lock().unwrap(), Some((3, ErrorKind::DeviceFault, false)));
    mock::clear_failures();
    let _ = (one.synchronize(), two.synchronize());
}

#[test]
fn a_close_inside_a_wait_for_the_same_work_is_refused_at_once() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    let device = device();
    let context = device.context().create_context().unwrap();
    let stream = context.stream().unwrap();
    let mut buffer = context.alloc::<u8>(8).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let (inside, handles) = (Arc::clone(&told), (stream.clone(), context.clone()));
    let last = Last(Some(move || {
        let errors = [handles.0.close().map_err(Refused::into_error), handles.1.close().map_err(Refused::into_error)];
        inside.lock().unwrap().extend(errors.map(Result::unwrap_err));
    }));
    mock::hold(&stream).unwrap();
    stream.host_function(move || assert!(last.0.is_some())).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    mock::release(&stream).unwrap();
    mock::run_until_idle();
    drop(stream);
    // Frees the function while it waits.
    buffer.close().unwrap();
    let told = told.lock().unwrap();
    assert_says(&told[0], ErrorKind::InvalidArgument, &["this thread is inside a wait for work of stream"]);
    assert_says(&told[1], ErrorKind::InvalidArgument, &["this thread is inside a wait for work of the context"]);
    context.close().unwrap();
}

#[test]
fn a_stream_that_could_not_be_closed_is_as_before() {
    common::needs_the_card_alone("it aborts a device");
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    let device = device();
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let (mut x, mut y) = (device.upload(&[1_u8; 8]).unwrap(), device.alloc::<u8>(8).unwrap());
    let event = device.event().unwrap();
    event.record(&stream).unwrap();
    mock::fail("aclrtDestroyStream", 1, 507_000).unwrap();
    let (stream, error) = stream.close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::Internal, &["aclrtDestroyStream"]);
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut x, 7).unwrap();
    other.copy(&x, &mut y).unwrap();
    assert!(!other.is_complete().unwrap(), "ordered behind it");
    device.context().abort_device(Duration::from_secs(10)).unwrap();
    event.record(&stream).unwrap();
    mock::release(&stream).unwrap();
    event.synchronize().unwrap();
    stream.close().unwrap();
    assert_eq!(x.to_vec().unwrap(), [1; 8], "its work was dropped as well");
}

/// Work before it failed and the stream stops there, or the work was dropped.
#[test]
fn a_host_function_that_its_stream_never_reaches_is_freed_with_it() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    let device = device();
    for (aborts, closes) in [(false, false), (false, true), (true, false), (true, true)] {
        let stream = device.stream_with(StreamOptions::new().stop_on_failure()).unwrap();
        let x = device.zeros::<f32>([4]).unwrap();
        stream.synchronize().unwrap();
        let (ran, owned) = (Arc::new(AtomicBool::new(false)), Arc::new(()));
        let (runs, inside) = (Arc::clone(&ran), Arc::clone(&owned));
        mock::hold(&stream).unwrap();
        if !aborts {
            mock::fail_task("aclnnAbs", 1, 507_015).unwrap();
            op::abs(&stream, &x, &mut x.clone()).unwrap();
        }
        stream
            .host_function(move || {
                runs.store(true, Ordering::Release);
                assert_eq!(Arc::strong_count(&inside), 2);
            })
            .unwrap();
        if aborts {
            stream.abort().unwrap();
        }
        mock::release(&stream).unwrap();
        assert_eq!(stream.synchronize().is_err(), !aborts);
        assert_eq!(Arc::strong_count(&owned), 2, "it might run yet");
        if closes {
            // The first of them may tell of the failure once more.
            let _ = stream.synchronize();
            stream.close().unwrap();
        } else {
            drop(stream);
        }
        assert_eq!((Arc::strong_count(&owned), ran.load(Ordering::Acquire)), (1, false), "{aborts}, {closes}");
        mock::run_until_idle();
        assert!(!ran.load(Ordering::Acquire));
    }
    let _ = device.context().take_drop_errors();
    mock::clear_failures();
}

/// The end of the stream failed otherwise than by its work, so what it launched is not known to be over.
#[test]
fn what_a_host_function_owns_that_is_never_reached_may_wait_for_its_stream() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    let device = device();
    let stream = device.stream_with(StreamOptions::new().stop_on_failure()).unwrap();
    let recorder = device.stream().unwrap();
    let x = device.zeros::<f32>([4]).unwrap();
    let mut graph = recorder.capture(CaptureMode::ThreadLocal, |s| op::abs(s, &x, &mut x.clone())).unwrap();
    let owned = Arc::new(());
    let inside = Arc::clone(&owned);
    mock::fail_task("aclnnAbs", 1, 507_015).unwrap();
    op::abs(&stream, &x, &mut x.clone()).unwrap();
    graph.launch(&stream).unwrap();
    let kept = (graph, inside);
    stream
        .host_function(move || {
            let _ = &kept;
        })
        .unwrap();
    mock::run_until_idle();
    for wait in ["aclrtSynchronizeStream", "aclrtSynchronizeStreamWithTimeout"] {
        mock::fail(wait, 1, 507_000).unwrap();
    }
    drop(stream);
    mock::clear_failures();
    assert_eq!(Arc::strong_count(&owned), 1, "{:?}", device.context().take_drop_errors());
    drop((recorder, x));
    let _ = device.context().take_drop_errors();
}
