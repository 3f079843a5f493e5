//! Wrong arguments, handles, streams and sizes give errors that name what is wrong and what to do.

mod common;

use std::time::Duration;

use common::{assert_says, device, mock};
use racl::{CaptureMode, Context, ErrorKind, Prefetch, Stream, StreamOptions, op};

#[test]
fn an_unknown_device_is_named() {
    let acl = common::acl();
    for id in [-1, 1, i32::MAX] {
        let error = acl.device(id).unwrap_err();
        assert_says(&error, ErrorKind::InvalidDevice, &["aclrtSetDevice", "107001", &format!("device {id}")]);
    }
}

#[test]
fn a_null_stream_is_refused() {
    let device = device();
    // SAFETY: null is what the test is about; the function documents it.
    let error = unsafe { Stream::from_raw(std::ptr::null_mut(), &device) }.unwrap_err();
    assert_says(&error, ErrorKind::InvalidHandle, &["null stream", "default_stream"]);
}

#[test]
fn a_stale_stream_is_an_error() {
    let device = device();
    let stream = device.stream().unwrap();
    let raw = stream.as_raw();
    stream.close().unwrap();
    // SAFETY: breaks the contract on purpose; the mock recognises stale handles.
    let stale = unsafe { Stream::from_raw(raw, &device) }.unwrap();
    let error = stale.synchronize().unwrap_err();
    assert_says(&error, ErrorKind::InvalidHandle, &["aclrtSynchronizeStream", "107017"]);
    assert!(stale.is_complete().is_err());
    let error = stale.begin_capture(CaptureMode::Relaxed).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidHandle);
}

#[test]
fn a_handle_of_another_kind_is_an_error() {
    let device = device();
    let event = device.event().unwrap();
    // SAFETY: breaks the contract on purpose; the mock recognises foreign handles.
    let foreign = unsafe { Stream::from_raw(event.as_raw(), &device) }.unwrap();
    assert_says(&foreign.synchronize().unwrap_err(), ErrorKind::InvalidHandle, &["107017"]);
}

#[test]
fn a_handle_that_is_no_handle_at_all_is_an_error() {
    let device = device();
    let mut bytes = [0_u64; 64];
    // SAFETY: breaks the contract on purpose; the mock looks handles up and never follows them.
    let junk = unsafe { Stream::from_raw(bytes.as_mut_ptr().cast(), &device) }.unwrap();
    assert_says(&junk.synchronize().unwrap_err(), ErrorKind::InvalidHandle, &["107017"]);
}

#[test]
fn the_default_stream_cannot_capture() {
    let device = device();
    let stream = device.default_stream().unwrap();
    let error = stream.begin_capture(CaptureMode::Global).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotSupported | ErrorKind::InvalidArgument), "{error}");
    let text = error.to_string();
    assert!(text.contains("default stream") && text.contains("Context::stream"), "{text}");
}

/// What the program did in its belief that the work is done is not known.
#[test]
fn waiting_for_a_stream_that_records_is_an_error_and_the_capture_gives_no_graph() {
    let device = device();
    let stream = device.stream().unwrap();
    stream.set_name("decode");
    let mut buffer = device.upload(&[0_u8; 8]).unwrap();
    let limit = Duration::from_secs(600);
    let waits: [fn(&Stream, Duration) -> racl::Result<()>; 3] = [
        |stream, _| stream.synchronize(),
        |stream, limit| stream.synchronize_timeout(limit),
        |stream, _| stream.is_complete().map(drop),
    ];
    let names = ["Stream::synchronize", "Stream::synchronize_timeout", "Stream::is_complete"];
    for (wait, name) in waits.into_iter().zip(names) {
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        let parts = ["107027", "stream \"decode\" records a graph"];
        assert_says(&wait(capture.stream(), limit).unwrap_err(), ErrorKind::CaptureForbidden, &parts);
        capture.stream().fill_bytes(&mut buffer, 9).unwrap();
        let place = format!("{name} at tests/bad_input.rs:");
        assert_says(&capture.finish().unwrap_err(), ErrorKind::CaptureInvalidated, &[&place, "107027"]);
    }
    stream.synchronize().unwrap();
}

#[test]
fn waiting_for_the_device_beside_a_capture_that_does_not_mind_is_refused_by_the_library_alone() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.upload(&[0_u8; 8]).unwrap();
    let capture = stream.begin_capture(CaptureMode::Relaxed).unwrap();
    assert_says(&device.synchronize().unwrap_err(), ErrorKind::CaptureForbidden, &["107027"]);
    capture.stream().fill_bytes(&mut buffer, 9).unwrap();
    let mut graph = capture.finish().unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [9; 8]);
}

#[test]
fn a_side_stream_left_unjoined_is_named_with_its_last_operator() {
    let device = device();
    let stream = device.stream().unwrap();
    let a = device.zeros::<f32>([4, 4]).unwrap();
    let mut out = device.zeros::<f32>([4, 4]).unwrap();
    let mut line = 0;
    let error = stream
        .capture(CaptureMode::ThreadLocal, |s| {
            let side = s.side("1")?;
            s.fork(&side)?;
            line = line!() + 1;
            op::matmul(&side, &a, &a, &mut out)
        })
        .unwrap_err();
    let place = format!("stream \"1\" ends with matmul at tests/bad_input.rs:{line}, which nothing waits for");
    let parts = ["aclmdlRICaptureEnd failed: stream not joined (107025): ", &place, "wait on the origin stream"];
    assert_says(&error, ErrorKind::CaptureUnjoined, &parts);
    assert!(!stream.is_capturing());
    stream.synchronize().unwrap();
}

#[test]
fn a_side_stream_that_only_forks_is_named() {
    let device = device();
    let stream = device.stream().unwrap();
    let error = stream
        .capture(CaptureMode::ThreadLocal, |s| {
            let side = s.side("idle")?;
            s.fork(&side)
        })
        .unwrap_err();
    assert_says(&error, ErrorKind::CaptureUnjoined, &["stream \"idle\" joined the capture at tests/bad_input.rs:"]);
}

#[test]
fn a_wait_before_the_record_is_found_while_recording() {
    let device = device();
    let stream = device.stream().unwrap();
    let event = device.event().unwrap();
    let error = stream.capture(CaptureMode::ThreadLocal, |s| s.wait(&event)).unwrap_err();
    assert_says(&error, ErrorKind::CaptureDependency, &["never recorded", "record it before"]);
}

#[test]
fn a_wait_for_work_outside_the_capture_is_an_error() {
    let device = device();
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let event = device.event().unwrap();
    event.record(&other).unwrap();
    let error = stream.capture(CaptureMode::ThreadLocal, |s| s.wait(&event)).unwrap_err();
    assert_says(&error, ErrorKind::CaptureDependency, &["aclrtStreamWaitEvent", "107024"]);
}

#[test]
fn an_event_of_another_capture_is_an_error_and_neither_gives_a_graph() {
    let device = device();
    let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
    let event = device.event().unwrap();
    let first = one.begin_capture(CaptureMode::Relaxed).unwrap();
    let second = two.begin_capture(CaptureMode::Relaxed).unwrap();
    event.record(first.stream()).unwrap();
    assert_says(&second.stream().wait(&event).unwrap_err(), ErrorKind::CaptureInvalidated, &["107032"]);
    assert_eq!(first.finish().unwrap_err().kind(), ErrorKind::CaptureInvalidated);
    assert_eq!(second.finish().unwrap_err().kind(), ErrorKind::CaptureInvalidated);
    one.synchronize().unwrap();
}

#[test]
fn a_stream_captures_one_graph_at_a_time() {
    let device = device();
    let stream = device.stream().unwrap();
    let capture = stream.begin_capture(CaptureMode::Relaxed).unwrap();
    let error = stream.begin_capture(CaptureMode::Relaxed).unwrap_err();
    assert_says(&error, ErrorKind::CaptureForbidden, &["107027", "end that capture first"]);
    capture.finish().unwrap();
}

#[test]
fn a_graph_cannot_be_launched_into_a_capture() {
    let device = device();
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let mut graph = stream.capture(CaptureMode::Relaxed, |_| Ok(())).unwrap();
    let capture = other.begin_capture(CaptureMode::Relaxed).unwrap();
    let refused = graph.launch(capture.stream()).unwrap_err();
    assert_says(&refused, ErrorKind::CaptureForbidden, &["records a graph"]);
    assert_says(
        &capture.finish().unwrap_err(),
        ErrorKind::CaptureInvalidated,
        &["graph launch at tests/bad_input.rs"],
    );
    graph.launch(&other).unwrap();
}

#[test]
fn prefetches_of_nothing_or_past_the_end_are_refused() {
    let device = device();
    let stream = device.stream().unwrap();
    let buffer = device.alloc::<u8>(100).unwrap();
    let error = stream.prefetch(&buffer, Prefetch::bytes(0)).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["0 bytes", "at least one"]);
    for offset in [100, 101, usize::MAX] {
        let error = stream.prefetch(&buffer, Prefetch::bytes(10).offset(offset)).unwrap_err();
        let parts = [&format!("offset {offset} of 100 bytes"), "less than the size"];
        assert_says(&error, ErrorKind::InvalidArgument, &parts);
    }
    let empty = buffer.slice(5..5).unwrap();
    assert!(stream.prefetch(&empty, Prefetch::all()).is_err());
}

#[test]
fn sizes_of_zero_and_beyond_the_address_space_are_refused() {
    let device = device();
    assert_says(&device.alloc::<f32>(0).unwrap_err(), ErrorKind::InvalidArgument, &["zero bytes"]);
    assert_says(&device.pinned::<f32>(0).unwrap_err(), ErrorKind::InvalidArgument, &["zero bytes"]);
    let error = device.alloc::<f64>(usize::MAX / 4).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["do not fit an address space"]);
    let error = device.alloc::<u8>(1 << 50).unwrap_err();
    assert_says(&error, ErrorKind::OutOfMemory, &["aclrtMalloc", "207001", "allocating 1125899906842624 bytes"]);
}

#[test]
fn lengths_that_differ_are_refused_and_the_buffer_comes_back() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u16>(4).unwrap();
    assert_says(&buffer.write(&[1; 3]).unwrap_err(), ErrorKind::InvalidArgument, &["3 elements", "4 on the device"]);
    assert_says(&buffer.read(&mut [0; 5]).unwrap_err(), ErrorKind::InvalidArgument, &["5 elements"]);
    let refused = stream.upload(device.pinned_from(&[7_u16; 3]).unwrap(), &mut buffer).unwrap_err();
    assert_eq!(refused.error().kind(), ErrorKind::InvalidArgument);
    assert_eq!(*refused.into_value(), [7; 3]);
    let small = device.alloc::<u16>(3).unwrap();
    assert!(stream.copy(&small, &mut buffer).is_err());
    let range = buffer.slice(2..9).unwrap_err();
    assert_says(&range, ErrorKind::InvalidArgument, &["outside a buffer of 4 elements"]);
}

#[test]
fn copies_on_the_device_need_aligned_addresses() {
    let device = device();
    let stream = device.stream().unwrap();
    let from = device.upload(&[1_u8; 64]).unwrap();
    let mut to = device.alloc::<u8>(63).unwrap();
    let error = stream.copy(&from.slice(1..).unwrap(), &mut to).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["multiples of 64"]);
}

#[test]
fn a_stream_of_another_context_is_named() {
    let device = device();
    let other: Context = device.context().create_context().unwrap();
    let (here, there) = (device.stream().unwrap(), other.stream().unwrap());
    let mut graph = here.capture(CaptureMode::Relaxed, |_| Ok(())).unwrap();
    let error = graph.launch(&there).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongContext, "{error}");
    graph.launch(&here).unwrap();
    here.synchronize().unwrap();
}

#[test]
fn shapes_that_do_not_fit_name_the_operator() {
    let device = device();
    let stream = device.stream().unwrap();
    let a = device.zeros::<f32>([2, 3]).unwrap();
    let mut out = device.zeros::<f32>([2, 2]).unwrap();
    let error = op::matmul(&stream, &a, &a, &mut out).unwrap_err();
    assert_says(&error, ErrorKind::OperatorArgument, &["aclnnMatmulGetWorkspaceSize", "161002"]);
    let error = op::add(&stream, &a, &out.clone(), &mut out).unwrap_err();
    assert_says(&error, ErrorKind::OperatorArgument, &["aclnnAddGetWorkspaceSize"]);
    assert_says(&device.zeros::<f32>([1; 9]).unwrap_err(), ErrorKind::InvalidArgument, &["9 dimensions"]);
    assert!(device.upload_tensor(&[1.0_f32; 5], [2, 3]).is_err());
    assert!(a.transposed(0, 2).is_err());
    assert!(a.narrow(1, 2..4).is_err());
    assert!(a.reshaped([7]).is_err());
}

#[test]
fn an_index_outside_the_table_is_reported_by_the_next_wait() {
    // Which task failed is not told without it.
    common::needs_function("aclrtExceptionInfoCallbackRegister");
    let device = device();
    let stream = device.stream().unwrap();
    let table = device.zeros::<f32>([4, 2]).unwrap();
    let indices = device.upload_tensor(&[0_i64, 4], [2]).unwrap();
    let mut out = device.zeros::<f32>([2, 2]).unwrap();
    op::embedding(&stream, &table, &indices, &mut out).unwrap();
    let error = stream.synchronize().unwrap_err();
    assert_says(&error, ErrorKind::DeviceFault, &["507015", "[task "]);
    assert!(!error.to_string().contains("function handle"), "a text of what racl asked about the task: {error}");
    assert!(format!("{error:#}").contains("submitted earlier"), "{error:#}");
    stream.synchronize().unwrap();
}

#[test]
fn priorities_and_time_limits_are_checked() {
    let device = device();
    assert_says(
        &device.stream_with(StreamOptions::new().priority(8)).unwrap_err(),
        ErrorKind::InvalidArgument,
        &["priority 8", "0 (highest)"],
    );
    let stream = device.stream_with(StreamOptions::new().priority(7)).unwrap();
    let none = std::time::Duration::ZERO;
    assert_says(&stream.synchronize_timeout(none).unwrap_err(), ErrorKind::InvalidArgument, &["more than zero"]);
    let long = std::time::Duration::from_secs(86_400 * 30);
    assert!(stream.synchronize_timeout(long).is_err());
}

#[test]
fn the_mock_refuses_names_that_it_does_not_have() {
    assert_eq!(mock::fail("aclrtNoSuchCall", 1, 1).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(mock::calls("aclrtNoSuchCall"), 0);
}
