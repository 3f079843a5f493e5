//! Closing streams and contexts while other threads have them for a moment.

#[path = "common/mod.rs"]
mod common;
#[path = "common/watchdog.rs"]
mod watchdog;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::{assert_says, direct_device as device, mock};
use racl::{ErrorKind, sys};

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
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    let device = device();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
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
        over.store(true, Ordering::Release);
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
