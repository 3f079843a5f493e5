//! Work that is ended before its time. Aborts a device, which counts for the process, so one test at a time.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::task::{Context as Waiting, Poll, Waker};
use std::time::Duration;

use common::{assert_says, mock};
use racl::{CaptureMode, Device, ErrorKind, op};

const LIMIT: Duration = Duration::from_secs(10);

fn alone(test: impl FnOnce(&Device)) {
    common::needs_the_card_alone("it aborts a device");
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let device = common::direct_device();
    let context = device.context().create_context().unwrap();
    test(&device);
    mock::clear_failures();
    drop(context);
    assert!(device.context().take_drop_errors().is_empty());
}

#[test]
fn dropped_work_is_told_to_whoever_waits_for_it_and_the_stream_goes_on() {
    common::needs_mock("it ends work that the mock holds");
    alone(|device| {
        let (stream, early, late) = (device.stream().unwrap(), device.event().unwrap(), device.event().unwrap());
        let mut buffer = device.upload(&[1_u8; 4]).unwrap();
        early.record(&stream).unwrap();
        early.synchronize().unwrap();
        mock::hold(&stream).unwrap();
        stream.fill_bytes(&mut buffer, 2).unwrap();
        late.record(&stream).unwrap();
        let down = stream.download(&buffer, device.pinned::<u8>(4).unwrap()).unwrap();
        stream.abort().unwrap();
        mock::release(&stream).unwrap();
        early.synchronize().unwrap();
        for _ in 0..2 {
            assert_says(&late.synchronize().unwrap_err(), ErrorKind::Aborted, &["was dropped"]);
            assert_eq!(late.is_complete().unwrap_err().kind(), ErrorKind::Aborted);
        }
        let refused = down.wait().unwrap_err();
        assert_eq!(refused.error().kind(), ErrorKind::Aborted);
        drop(refused);
        stream.synchronize().unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [1; 4], "as it was");
        stream.fill_bytes(&mut buffer, 3).unwrap();
        late.record(&stream).unwrap();
        late.synchronize().unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [3; 4]);
        stream.close().unwrap();
        assert_eq!(mock::live_handles().pinned_allocations, 0);
    });
}

/// A query that fails once says nothing of the copy, which is over.
#[test]
fn the_buffer_of_a_dropped_copy_is_freed_though_the_library_does_not_tell_at_once() {
    alone(|device| {
        for (waits, call) in [
            (true, "aclrtQueryEventStatus"),
            (false, "aclrtQueryEventStatus"),
            (false, "aclrtSynchronizeEventWithTimeout"),
        ] {
            let context = device.context().create_context().unwrap();
            let (stream, buffer) = (context.stream().unwrap(), context.upload(&[1_u8; 4]).unwrap());
            mock::hold(&stream).unwrap();
            let down = stream.download(&buffer, context.pinned::<u8>(4).unwrap()).unwrap();
            stream.abort().unwrap();
            mock::release(&stream).unwrap();
            if waits {
                let refused = down.wait().unwrap_err();
                mock::fail(call, 1, 207_000).unwrap();
                drop(refused);
            } else {
                mock::fail(call, 1, 207_000).unwrap();
                drop(down);
            }
            mock::clear_failures();
            stream.synchronize().unwrap();
            drop((stream, buffer));
            context.take_drop_errors();
            context.close().unwrap();
            assert_eq!(mock::live_handles().pinned_allocations, 0, "{call}");
        }
    });
}

#[test]
fn who_waits_meanwhile_is_woken() {
    alone(|device| {
        let stream = device.stream().unwrap();
        mock::hold(&stream).unwrap();
        let mut buffer = device.alloc::<u8>(4).unwrap();
        stream.fill_bytes(&mut buffer, 2).unwrap();
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            let waits = stream.clone();
            scope.spawn(move || sender.send(waits.synchronize()).unwrap());
            // Until the thread waits, an abort has nobody to tell.
            let told = loop {
                stream.abort().unwrap();
                match receiver.recv_timeout(Duration::from_millis(5)) {
                    Ok(told) => break told,
                    Err(_) => stream.fill_bytes(&mut buffer, 2).unwrap(),
                }
            };
            if let Err(error) = told {
                assert_eq!(error.kind(), ErrorKind::Aborted);
            }
        });
        mock::release(&stream).unwrap();
    });
}

#[test]
fn a_future_of_dropped_work_says_so() {
    common::needs_mock("it ends work that the mock holds");
    alone(|device| {
        let stream = device.stream().unwrap();
        let mut buffer = device.alloc::<u8>(4).unwrap();
        mock::hold(&stream).unwrap();
        stream.fill_bytes(&mut buffer, 2).unwrap();
        let mut future = std::pin::pin!(stream.finished());
        let mut waiting = Waiting::from_waker(Waker::noop());
        assert!(future.as_mut().poll(&mut waiting).is_pending());
        stream.abort().unwrap();
        mock::release(&stream).unwrap();
        let ended = loop {
            match future.as_mut().poll(&mut waiting) {
                Poll::Ready(ended) => break ended,
                Poll::Pending => std::thread::yield_now(),
            }
        };
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::Aborted);
    });
}

#[test]
fn an_abort_of_an_idle_stream_spoils_nothing() {
    alone(|device| {
        let (stream, event) = (device.stream().unwrap(), device.event().unwrap());
        let mut buffer = device.upload(&[1_u8; 4]).unwrap();
        stream.fill_bytes(&mut buffer, 2).unwrap();
        event.record(&stream).unwrap();
        mock::run_until_idle();
        stream.abort().unwrap();
        event.synchronize().unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [2; 4]);
    });
}

#[test]
fn streams_of_captures_and_host_functions_are_not_aborted() {
    common::needs_mock("it ends work that the mock holds");
    alone(|device| {
        let stream = device.stream().unwrap();
        let mut buffer = device.alloc_zeroed::<u8>(4).unwrap();
        let mut graph = stream
            .capture(CaptureMode::ThreadLocal, |s| {
                assert_says(&s.abort().unwrap_err(), ErrorKind::CaptureForbidden, &["records a graph"]);
                s.fill_bytes(&mut buffer, 4)
            })
            .unwrap();
        graph.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        let (sender, receiver) = mpsc::channel();
        let (inside, whole) = (stream.clone(), device.clone());
        stream.host_function(move || sender.send((inside.abort(), whole.abort_device(LIMIT))).unwrap()).unwrap();
        stream.synchronize().unwrap();
        let (one, all) = receiver.recv().unwrap();
        assert_says(&one.unwrap_err(), ErrorKind::NotSupported, &["host function"]);
        assert_says(&all.unwrap_err(), ErrorKind::NotSupported, &["host function"]);
        assert_eq!(buffer.to_vec().unwrap(), [4; 4]);
    });
}

#[test]
fn a_graph_and_operators_go_on_after_an_abort() {
    alone(|device| {
        let stream = device.stream().unwrap();
        let a = device.upload_tensor(&[1.0_f32, 2.0], [2]).unwrap();
        let mut out = device.zeros::<f32>([2]).unwrap();
        let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| op::add(s, &a, &a, &mut out)).unwrap();
        mock::hold(&stream).unwrap();
        graph.launch(&stream).unwrap();
        stream.abort().unwrap();
        mock::release(&stream).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(out.to_vec().unwrap(), [0.0; 2]);
        graph.launch(&stream).unwrap();
        graph.wait().unwrap();
        assert_eq!(out.to_vec().unwrap(), [2.0, 4.0]);
    });
}

#[test]
fn the_abort_of_a_device_ends_the_work_of_all_its_contexts() {
    common::needs_the_card_alone("it aborts a device");
    alone(|device| {
        let other = device.context().create_context().unwrap();
        let (one, two) = (device.stream().unwrap(), other.stream().unwrap());
        let (mut x, mut y) = (device.upload(&[1_u8; 4]).unwrap(), other.upload(&[1_u8; 4]).unwrap());
        let (first, second) = (device.event().unwrap(), other.event().unwrap());
        for (stream, buffer, event) in [(&one, &mut x, &first), (&two, &mut y, &second)] {
            mock::hold(stream).unwrap();
            stream.fill_bytes(buffer, 2).unwrap();
            event.record(stream).unwrap();
        }
        device.abort_device(LIMIT).unwrap();
        for (stream, buffer, event) in [(&one, &mut x, &first), (&two, &mut y, &second)] {
            mock::release(stream).unwrap();
            assert_eq!(event.synchronize().unwrap_err().kind(), ErrorKind::Aborted);
            stream.synchronize().unwrap();
            assert_eq!(buffer.to_vec().unwrap(), [1; 4]);
            stream.fill_bytes(buffer, 5).unwrap();
            assert_eq!(buffer.to_vec().unwrap(), [5; 4]);
        }
        drop((second, two, y));
        other.close().unwrap();
    });
}

#[test]
fn an_abort_that_fails_drops_nothing() {
    common::needs_the_card_alone("it aborts a device");
    alone(|device| {
        let (stream, event) = (device.stream().unwrap(), device.event().unwrap());
        let mut buffer = device.upload(&[1_u8; 4]).unwrap();
        mock::hold(&stream).unwrap();
        stream.fill_bytes(&mut buffer, 2).unwrap();
        event.record(&stream).unwrap();
        mock::fail("aclrtStreamAbort", 1, 207_000).unwrap();
        assert_says(&stream.abort().unwrap_err(), ErrorKind::NotSupported, &["aclrtStreamAbort", "207000"]);
        mock::fail("aclrtDeviceTaskAbort", 1, 207_000).unwrap();
        assert_says(&device.abort_device(LIMIT).unwrap_err(), ErrorKind::NotSupported, &["aclrtDeviceTaskAbort"]);
        for wrong in [Duration::ZERO, Duration::from_secs(2161)] {
            assert_eq!(device.abort_device(wrong).unwrap_err().kind(), ErrorKind::InvalidArgument, "{wrong:?}");
        }
        mock::release(&stream).unwrap();
        event.synchronize().unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [2; 4]);
    });
}

#[test]
fn a_graph_whose_launch_was_dropped_says_so() {
    common::needs_mock("it ends work that the mock holds, again and again");
    alone(|device| {
        let context = device.context();
        for by_device in [true, false] {
            let stream = context.stream().unwrap();
            let mut memory = context.upload(&[1_u32; 16]).unwrap().into_shared();
            let capture = stream.begin_capture(CaptureMode::Relaxed).unwrap();
            let lent = capture.stream().download(&memory, context.pinned(16).unwrap()).unwrap();
            let mut graph = capture.finish().unwrap();
            graph.launch(&stream).unwrap();
            graph.wait().unwrap();
            memory.write(&[2; 16]).unwrap();
            mock::hold(&stream).unwrap();
            graph.launch(&stream).unwrap();
            let aborted = if by_device { context.abort_device(LIMIT) } else { stream.abort() };
            aborted.unwrap();
            mock::release(&stream).unwrap();
            assert_eq!(graph.host(&lent).map(|view| view[0]).unwrap_err().kind(), ErrorKind::Aborted);
            // That is told once: what the graph reads may be written for the next launch.
            assert_eq!(graph.host(&lent).unwrap()[..], [1; 16]);
            graph.wait().unwrap();
            graph.launch(&stream).unwrap();
            assert_eq!(graph.host(&lent).unwrap()[..], [2; 16]);
            graph.wait().unwrap();
        }
    });
}

/// A thread aborts again and again, so that aborts come between a copy and what marks its end.
#[test]
fn copies_that_were_dropped_say_so() {
    common::needs_mock("it ends work that the mock holds, again and again");
    alone(|device| {
        let context = device.context();
        for by_device in [true, false] {
            let (stream, stop) = (context.stream().unwrap(), AtomicBool::new(false));
            std::thread::scope(|scope| {
                let _over = common::Over::at_end(&stop);
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let _ = if by_device { context.abort_device(LIMIT) } else { stream.abort() };
                        std::thread::yield_now();
                    }
                });
                for number in 1..5_000_u32 {
                    let buffer = context.upload(&[number; 16]).unwrap();
                    let Ok(copy) = stream.download(&buffer, context.pinned_from(&[0; 16]).unwrap()) else { continue };
                    if let Ok(read) = copy.wait() {
                        assert_eq!(read[..], [number; 16]);
                    }
                    let Ok(copy) = stream.download(&buffer, context.pinned_from(&[0; 16]).unwrap()) else { continue };
                    while let Ok(false) = copy.is_complete() {}
                    if let Ok(read) = copy.wait() {
                        assert_eq!(read[..], [number; 16]);
                    }
                }
            });
        }
        context.take_drop_errors();
    });
}
