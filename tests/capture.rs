//! Captured graphs: what they keep, how they replay, and what giving up leaves behind.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{assert_says, device, mock};
use racl::{CaptureMode, Error, ErrorKind, Prefetch, Result, op};

#[test]
fn recording_executes_nothing_and_replays_execute_everything() {
    let device = device();
    let stream = device.stream().unwrap();
    let one = device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let mut sum = device.zeros::<f32>([4]).unwrap();
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut sum, &one)).unwrap();
    assert_eq!(sum.to_vec().unwrap(), [0.0; 4]);
    for turn in 1..=3 {
        graph.launch(&stream).unwrap();
        assert_eq!(sum.to_vec().unwrap(), [turn as f32; 4]);
    }
}

#[test]
fn every_mode_captures() {
    let device = device();
    for mode in [CaptureMode::Global, CaptureMode::ThreadLocal, CaptureMode::Relaxed] {
        // A context of its own: the restriction of a global capture holds for everything in a context.
        let context = device.context().create_context().unwrap();
        let stream = context.stream().unwrap();
        let mut buffer = context.upload(&[0_u8; 4]).unwrap();
        let mut graph = stream.capture(mode, |s| s.fill_bytes(&mut buffer, 3)).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [3; 4], "{mode:?}");
    }
}

#[test]
fn side_streams_fork_prefetch_and_join() {
    let device = device();
    let stream = device.stream().unwrap();
    let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    let mut left = device.zeros::<f32>([2, 2]).unwrap();
    let mut right = device.zeros::<f32>([2, 2]).unwrap();
    let mut both = device.zeros::<f32>([2, 2]).unwrap();
    let mut graph = stream
        .capture(CaptureMode::ThreadLocal, |s| {
            let (one, two) = (s.side("1")?, s.side("2")?);
            assert_eq!(one, s.side("1")?);
            s.fork(&one)?;
            one.fork(&two)?;
            two.prefetch(&a, Prefetch::all())?;
            op::mm(&one, &a, &a, &mut left)?;
            op::muls(s, &a, 10.0, &mut right)?;
            one.join(&two)?;
            s.join(&one)?;
            op::add(s, &left, &right, &mut both)
        })
        .unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(both.to_vec().unwrap(), [17.0, 30.0, 45.0, 62.0]);
}

#[test]
fn a_hundred_replays_agree_bit_for_bit() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    let data: Vec<f32> = (0..64 * 64).map(|_| random.f32()).collect();
    let a = device.upload_tensor(&data, [64, 64]).unwrap();
    let mut out = device.zeros::<f32>([64, 64]).unwrap();
    op::matmul(&stream, &a, &a, &mut out).unwrap();
    let eager = out.to_vec().unwrap();
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| op::matmul(s, &a, &a, &mut out)).unwrap();
    for _ in 0..100 {
        graph.launch(&stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), eager);
    }
}

#[test]
fn a_pinned_buffer_is_read_at_each_replay_and_reached_through_the_graph() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut middle = device.alloc::<i32>(4).unwrap();
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    let input = capture.stream().upload(device.pinned::<i32>(4).unwrap(), &mut middle).unwrap();
    let output = capture.stream().download(&middle, device.pinned::<i32>(4).unwrap()).unwrap();
    let mut graph = capture.finish().unwrap();
    for turn in 0..3 {
        graph.host(&input).unwrap().fill(turn);
        graph.launch(&stream).unwrap();
        assert_eq!(*graph.host(&output).unwrap(), [turn; 4]);
    }
    let refused = input.wait().unwrap_err();
    assert_eq!(refused.error().kind(), ErrorKind::InvalidArgument);
    assert!(refused.to_string().contains("Graph::host"));
    // Still the key.
    assert_eq!(*graph.host(&refused.into_value()).unwrap(), [2; 4]);
}

#[test]
fn sides_belong_to_a_capture_and_have_names() {
    let device = device();
    let stream = device.stream().unwrap();
    let refused = stream.side("1").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    assert!(refused.to_string().contains("captures nothing"), "{refused}");
    let mut buffers = [device.alloc_zeroed::<u8>(8).unwrap(), device.alloc_zeroed::<u8>(8).unwrap()];
    let mut graph = stream
        .capture(CaptureMode::ThreadLocal, |s| {
            let one = s.side("1")?;
            assert_eq!((s.side("1")?.as_raw(), s.as_raw()), (one.as_raw(), stream.as_raw()));
            s.fork(&one)?;
            // Any stream of the capture has the same ones.
            let two = one.side("2")?;
            assert_eq!(s.side("2")?.as_raw(), two.as_raw());
            assert_ne!(two.as_raw(), one.as_raw());
            one.fork(&two)?;
            one.fill_bytes(&mut buffers[0], 1)?;
            two.fill_bytes(&mut buffers[1], 2)?;
            s.join(&one)?;
            s.join(&two)
        })
        .unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!([buffers[0].to_vec().unwrap(), buffers[1].to_vec().unwrap()], [[1; 8], [2; 8]]);
    assert!(stream.side("1").is_err(), "the capture has ended");
}

#[test]
fn a_key_of_another_graph_opens_nothing() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<i32>(4).unwrap();
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    let input = capture.stream().upload(device.pinned::<i32>(4).unwrap(), &mut buffer).unwrap();
    let _graph = capture.finish().unwrap();
    let mut other = stream.capture(CaptureMode::ThreadLocal, |_| Ok(())).unwrap();
    assert_eq!(other.host(&input).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let eager = stream.upload(device.pinned::<i32>(4).unwrap(), &mut buffer).unwrap();
    assert_eq!(other.host(&eager).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn host_functions_run_at_each_replay_and_are_freed_with_the_graph() {
    let device = device();
    let stream = device.stream().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let inside = Arc::clone(&count);
    let mut graph = stream
        .capture(CaptureMode::ThreadLocal, |s| {
            s.host_function(move || {
                inside.fetch_add(1, Ordering::Relaxed);
            })
        })
        .unwrap();
    assert_eq!(count.load(Ordering::Relaxed), 0);
    for _ in 0..3 {
        graph.launch(&stream).unwrap();
    }
    graph.wait().unwrap();
    assert_eq!(count.load(Ordering::Relaxed), 3);
    drop(graph);
    assert_eq!(Arc::strong_count(&count), 1);
}

#[test]
fn giving_up_a_capture_frees_the_stream() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.upload(&[1_u8; 4]).unwrap();
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    capture.stream().fill_bytes(&mut buffer, 2).unwrap();
    drop(capture);
    assert!(!stream.is_capturing());
    assert_eq!(buffer.to_vec().unwrap(), [1; 4]);
    stream.fill_bytes(&mut buffer, 3).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [3; 4]);
}

/// With a side stream in it that does not lead back.
#[test]
fn a_detached_capture_ends_on_any_thread_and_gives_a_graph_there_where_it_is_relaxed() {
    let device = device();
    for mode in [CaptureMode::Global, CaptureMode::ThreadLocal, CaptureMode::Relaxed] {
        let context = device.context().create_context().unwrap();
        let stream = context.stream().unwrap();
        let mut buffer = context.upload(&[0_u8; 4]).unwrap();
        let begin = || {
            let stream = stream.clone();
            // The thread is gone when this returns.
            std::thread::spawn(move || stream.begin_capture(mode).unwrap().detach()).join().unwrap()
        };
        let capture = begin();
        let side = stream.side("1").unwrap();
        stream.fork(&side).unwrap();
        side.fill_bytes(&mut buffer, 1).unwrap();
        drop((capture, side));
        assert!(!stream.is_capturing(), "{mode:?}");
        stream.fill_bytes(&mut buffer, 2).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [2; 4], "{mode:?}");

        let capture = begin();
        assert_eq!(capture.ends_here(), mode == CaptureMode::Relaxed);
        stream.fill_bytes(&mut buffer, 3).unwrap();
        match capture.attach() {
            Ok(capture) => {
                capture.finish().unwrap().launch(&stream).unwrap();
                assert_eq!((mode, buffer.to_vec().unwrap()), (CaptureMode::Relaxed, vec![3; 4]));
            }
            Err(refused) => {
                assert_eq!(refused.error().kind(), ErrorKind::CaptureWrongThread, "{mode:?}");
                assert!(stream.is_capturing());
            }
        }
        let capture = stream.begin_capture(mode).unwrap().detach().attach().unwrap();
        drop(capture.finish().unwrap());
        assert!(context.take_drop_errors().is_empty(), "{mode:?}");
        drop(buffer);
        stream.close().unwrap();
        context.close().unwrap();
    }
}

#[test]
fn an_error_of_the_closure_ends_the_capture() {
    let device = device();
    let stream = device.stream().unwrap();
    let error = stream
        .capture(CaptureMode::ThreadLocal, |s| {
            let side = s.side("1")?;
            s.fork(&side)?;
            fail_by_hand()
        })
        .unwrap_err();
    assert!(error.to_string().contains("outside a buffer"), "{error}");
    assert!(!stream.is_capturing());
    stream.synchronize().unwrap();
}

fn fail_by_hand() -> Result<()> {
    device().alloc::<u8>(1)?.slice(2..).map(|_| ())
}

#[test]
fn a_panic_of_the_closure_ends_the_capture() {
    let device = device();
    let stream = device.stream().unwrap();
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _ = stream.capture(CaptureMode::ThreadLocal, |_| -> Result<()> { panic!("on purpose") });
    }));
    assert!(caught.is_err());
    assert!(!stream.is_capturing());
    stream.synchronize().unwrap();
}

#[test]
fn an_error_that_was_swallowed_while_recording_is_reported_at_the_end() {
    let device = device();
    let stream = device.stream().unwrap();
    let event = device.event().unwrap();
    let error: Error = stream
        .capture(CaptureMode::ThreadLocal, |s| {
            let _ = s.wait(&event);
            Ok(())
        })
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CaptureInvalidated);
    assert!(error.to_string().contains("event wait at tests/capture.rs:"), "{error}");
}

#[test]
fn a_launch_on_another_stream_waits_for_the_launch_before() {
    let device = device();
    let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
    let one = device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let mut sum = device.zeros::<f32>([4]).unwrap();
    let mut graph = first.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut sum, &one)).unwrap();
    mock::hold(&first).unwrap();
    graph.launch(&first).unwrap();
    graph.launch(&second).unwrap();
    mock::run_until_idle();
    assert!(!second.is_complete().unwrap());
    mock::release(&first).unwrap();
    second.synchronize().unwrap();
    assert_eq!(sum.to_vec().unwrap(), [2.0; 4]);
}

#[test]
fn a_graph_writes_its_trace() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(4).unwrap();
    let graph = stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 1)).unwrap();
    let path = std::env::temp_dir().join(format!("racl-trace-{}.json", std::process::id()));
    graph.write_trace(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(text.trim_start().starts_with('[') && text.contains("\"ph\""), "{text}");
    assert!(graph.write_trace("/nonexistent/folder/trace.json").is_err());
}

#[test]
fn a_call_that_was_refused_leaves_no_graph_whatever_became_of_its_error() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut bytes = device.alloc::<u8>(64).unwrap();
    let mut other = device.alloc::<u8>(32).unwrap();
    let (a, b) = (device.zeros::<f32>([2, 3]).unwrap(), device.zeros::<f32>([2, 2]).unwrap());
    let mut out = device.zeros::<f32>([2, 2]).unwrap();
    let pinned = || device.pinned::<u8>(8).unwrap();
    let mut refuse = |number: usize, s: &racl::Stream| match number {
        0 => ("matmul", op::matmul(s, &a, &b, &mut out).is_err()),
        1 => ("add", op::add(s, &a, &b, &mut out).is_err()),
        2 => ("copy", s.copy(&other, &mut bytes).is_err()),
        3 => ("copy", s.copy(&bytes.slice(1..33).unwrap(), &mut other).is_err()),
        4 => ("prefetch", s.prefetch(&bytes, Prefetch::bytes(1).offset(64)).is_err()),
        5 => ("upload", s.upload(pinned(), &mut bytes).is_err()),
        _ => ("download", s.download(&bytes, pinned()).is_err()),
    };
    for number in 0..7 {
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        let (label, refused) = refuse(number, capture.stream());
        assert!(refused, "{label}");
        let error = capture.finish().unwrap_err();
        assert_says(&error, ErrorKind::CaptureInvalidated, &[label, "tests/capture.rs:", "could not be recorded"]);
        // Beside a capture such a call changes nothing.
        assert!(refuse(number, &stream).1);
        stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut device.alloc::<u8>(4)?, 1)).unwrap();
    }
}

#[test]
fn an_event_of_a_capture_signals_nothing_outside() {
    let device = device();
    let (stream, outside) = (device.stream().unwrap(), device.stream().unwrap());
    let event = device.event().unwrap();
    let mut buffer = device.alloc::<u8>(4).unwrap();
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    capture.stream().fill_bytes(&mut buffer, 1).unwrap();
    event.record(capture.stream()).unwrap();
    let mut graph = capture.finish().unwrap();
    mock::hold(&stream).unwrap();
    graph.launch(&stream).unwrap();
    let answers = [
        outside.wait(&event).map(|()| true),
        event.is_complete(),
        event.synchronize().map(|()| true),
        event.synchronize_timeout(std::time::Duration::from_secs(1)).map(|()| true),
    ];
    // A later capture cannot follow an earlier one either.
    let later = device.stream().unwrap();
    let inside = later.capture(CaptureMode::Relaxed, |s| s.wait(&event)).unwrap_err();
    mock::release(&stream).unwrap();
    assert_eq!(inside.kind(), ErrorKind::CaptureDependency, "{inside:#}");
    for answer in answers {
        assert_says(&answer.unwrap_err(), ErrorKind::CaptureDependency, &["recorded in a capture"]);
    }
    // Recorded after the launch it stands for it.
    event.record(&stream).unwrap();
    outside.wait(&event).unwrap();
    event.synchronize().unwrap();
    assert!(event.is_complete().unwrap());
}
