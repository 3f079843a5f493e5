//! Who keeps what alive, and when it is freed. The tests count live objects and calls, so each runs alone.

mod common;

use common::direct_device as device;
use common::mock;
use racl::{CaptureMode, ErrorKind, Prefetch, op};

#[test]
fn a_graph_keeps_the_buffers_that_it_uses() {
    let _alone = mock::exclusive();
    let device = device().context().create_context().unwrap();
    let stream = device.stream().unwrap();
    let before = mock::live_handles().device_allocations;
    let mut out = device.zeros::<f32>([8]).unwrap();
    let mut graph = {
        let a = device.upload_tensor(&[2.0_f32; 8], [8]).unwrap();
        let b = device.upload_tensor(&[3.0_f32; 8], [8]).unwrap();
        stream.capture(CaptureMode::ThreadLocal, |s| op::mul(s, &a, &b, &mut out)).unwrap()
    };
    assert_eq!(mock::live_handles().device_allocations, before + 3);
    graph.launch(&stream).unwrap();
    assert_eq!(out.to_vec().unwrap(), [6.0; 8]);
    drop(graph);
    assert_eq!(mock::live_handles().device_allocations, before + 1);
}

#[test]
fn a_stream_that_captures_is_kept_until_the_end() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let side = device.stream().unwrap();
    let mut buffer = device.upload(&[0_u8; 4]).unwrap();
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    capture.stream().fork(&side).unwrap();
    side.fill_bytes(&mut buffer, 5).unwrap();
    capture.stream().join(&side).unwrap();
    let destroyed = mock::calls("aclrtDestroyStream");
    drop(side);
    drop(stream);
    assert_eq!(mock::calls("aclrtDestroyStream"), destroyed);
    let mut graph = capture.finish().unwrap();
    assert_eq!(mock::calls("aclrtDestroyStream"), destroyed + 2);
    let other = device.stream().unwrap();
    graph.launch(&other).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [5; 4]);
}

#[test]
fn a_replay_is_one_call_however_many_operators() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let one = device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let mut sum = device.zeros::<f32>([4]).unwrap();
    let mut graph = stream
        .capture(CaptureMode::ThreadLocal, |s| (0..500).try_for_each(|_| op::add_inplace(s, &mut sum, &one)))
        .unwrap();
    graph.launch(&stream).unwrap();
    let names: Vec<_> = racl::sys::Table::names().map(|(name, _)| name).collect();
    let total = || names.iter().map(|name| mock::calls(name)).sum::<u64>();
    let before = total();
    graph.launch(&stream).unwrap();
    assert_eq!(total() - before, 1);
    assert_eq!(sum.to_vec().unwrap(), [1000.0; 4]);
}

#[test]
fn side_streams_are_used_again_by_the_next_capture() {
    let _alone = mock::exclusive();
    let device = device().context().create_context().unwrap();
    let stream = device.stream().unwrap();
    let record = || {
        stream
            .capture(CaptureMode::ThreadLocal, |s| {
                let side = s.side("1")?;
                s.fork(&side)?;
                s.join(&side)
            })
            .unwrap()
    };
    drop(record());
    let streams = mock::live_handles().streams;
    let graphs: Vec<_> = (0..5).map(|_| record()).collect();
    assert_eq!(mock::live_handles().streams, streams);
    drop(graphs);
}

#[test]
fn a_buffer_dropped_while_a_stream_uses_it_is_freed_after_that_work() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let before = mock::live_handles().device_allocations;
    let mut buffer = device.alloc::<u8>(64).unwrap();
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    drop(buffer);
    assert_eq!(mock::live_handles().device_allocations, before + 1);
    mock::release(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(mock::live_handles().device_allocations, before);
}

#[test]
fn a_buffer_that_idle_streams_used_is_freed_at_once() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let before = mock::live_handles().device_allocations;
    let mut buffer = device.alloc::<u8>(64).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    stream.synchronize().unwrap();
    drop(buffer);
    assert_eq!(mock::live_handles().device_allocations, before);
}

#[test]
fn a_buffer_used_on_two_streams_waits_for_both() {
    let _alone = mock::exclusive();
    let device = device();
    let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
    let before = mock::live_handles().device_allocations;
    let buffer = device.upload(&[1_u8; 64]).unwrap();
    mock::hold(&one).unwrap();
    mock::hold(&two).unwrap();
    one.prefetch(&buffer, Prefetch::all()).unwrap();
    two.prefetch(&buffer, Prefetch::all()).unwrap();
    drop(buffer);
    mock::release(&one).unwrap();
    one.synchronize().unwrap();
    assert_eq!(mock::live_handles().device_allocations, before + 1);
    mock::release(&two).unwrap();
    two.synchronize().unwrap();
    assert_eq!(mock::live_handles().device_allocations, before);
}

#[test]
fn memory_of_a_busy_stream_comes_back_without_a_wait() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let before = mock::live_handles().device_allocations;
    for _ in 0..1000 {
        let mut buffer = device.alloc::<u8>(64).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        mock::run_until_idle();
    }
    let now = mock::live_handles().device_allocations;
    assert!(now - before < 10, "{} buffers wait to be freed", now - before);
}

#[test]
fn memory_that_waits_is_waited_for_when_the_device_is_full() {
    common::needs_the_card_alone("it uses up what the card has");
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let (_, total) = device.memory_info().unwrap();
    let most = total / 4 * 3;
    for _ in 0..3 {
        let buffer = device.alloc::<u8>(most).unwrap();
        stream.prefetch(&buffer, Prefetch::bytes(1)).unwrap();
    }
}

#[test]
fn views_keep_the_memory() {
    let _alone = mock::exclusive();
    let device = device();
    let before = mock::live_handles().device_allocations;
    let tensor = device.upload_tensor(&[1, 2, 3, 4], [2, 2]).unwrap();
    let view = tensor.transposed(0, 1).unwrap();
    drop(tensor);
    assert_eq!(view.to_vec().unwrap(), [1, 3, 2, 4]);
    drop(view);
    assert_eq!(mock::live_handles().device_allocations, before);
}

#[test]
fn a_lent_buffer_that_is_dropped_waits_and_one_that_is_forgotten_leaks() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(8).unwrap();
    let before = mock::live_handles().pinned_allocations;
    let lent = stream.upload(device.pinned_from(&[1_u8; 8]).unwrap(), &mut buffer).unwrap();
    drop(lent);
    assert_eq!(mock::live_handles().pinned_allocations, before);
    assert_eq!(buffer.to_vec().unwrap(), [1; 8]);
    let lent = stream.upload(device.pinned_from(&[2_u8; 8]).unwrap(), &mut buffer).unwrap();
    std::mem::forget(lent);
    assert_eq!(mock::live_handles().pinned_allocations, before + 1);
    assert_eq!(buffer.to_vec().unwrap(), [2; 8]);
}

#[test]
fn scratch_memory_belongs_to_the_stream_and_goes_with_it() {
    let _alone = mock::exclusive();
    let device = device();
    let before = mock::live_handles().device_allocations;
    let a = device.zeros::<f32>([8, 16]).unwrap();
    let mut out = device.zeros::<f32>([8, 16]).unwrap();
    let stream = device.stream().unwrap();
    for _ in 0..10 {
        op::softmax(&stream, &a.clone(), 0, &mut out).unwrap();
    }
    stream.synchronize().unwrap();
    let held = mock::live_handles().device_allocations;
    assert!(held <= before + 3, "{held}");
    drop(stream);
    assert_eq!(mock::live_handles().device_allocations, before + 2);
}

#[test]
fn operators_leave_no_descriptions_behind() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let a = device.zeros::<f32>([2, 3]).unwrap();
    let mut out = device.zeros::<f32>([2, 2]).unwrap();
    let counts = || {
        let live = mock::live_handles();
        (live.tensors, live.scalars, live.arrays, live.lists, live.executors)
    };
    // The context keeps the number one from the first operator that scales.
    op::adds(&stream, &a, 1.0, &mut a.clone()).unwrap();
    device.context().clear_operator_cache();
    let before = counts();
    op::adds(&stream, &a, 1.0, &mut a.clone()).unwrap();
    op::reduce_sum(&stream, &a, &[1], false, &mut device.zeros([2]).unwrap()).unwrap();
    assert!(op::matmul(&stream, &a, &a, &mut out).is_err());
    stream.synchronize().unwrap();
    assert_ne!(counts(), before, "executors are kept");
    device.context().clear_operator_cache();
    assert_eq!(counts(), before);
}

#[test]
fn a_prefetch_of_four_gibibytes_and_more_goes_out_as_several_calls() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let bytes = (5 << 30) + 7;
    let buffer = device.alloc::<u8>(bytes).unwrap();
    let (calls, (tasks, total)) = (mock::calls("aclrtCmoAsync"), mock::prefetched());
    assert_eq!(stream.prefetch(&buffer, Prefetch::all()).unwrap(), bytes);
    stream.synchronize().unwrap();
    assert_eq!(mock::calls("aclrtCmoAsync") - calls, 2);
    assert_eq!(mock::prefetched(), (tasks + 2, total + bytes as u64));
    assert_eq!(stream.prefetch(&buffer, Prefetch::bytes(10).offset(bytes - 4)).unwrap(), 4);
}

#[test]
fn a_captured_prefetch_runs_at_each_replay() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let buffer = device.alloc::<u8>(1000).unwrap();
    let mut graph =
        stream.capture(CaptureMode::ThreadLocal, |s| s.prefetch(&buffer, Prefetch::bytes(600)).map(|_| ())).unwrap();
    let (tasks, total) = mock::prefetched();
    graph.launch(&stream).unwrap();
    graph.launch(&stream).unwrap();
    graph.wait().unwrap();
    assert_eq!(mock::prefetched(), (tasks + 2, total + 1200));
}

#[test]
fn everything_is_gone_when_the_last_value_goes() {
    let _alone = mock::exclusive();
    let before = mock::live_handles();
    {
        let device = device();
        let stream = device.stream().unwrap();
        let event = device.timing_event().unwrap();
        let mut buffer = device.alloc::<u8>(64).unwrap();
        event.record(&stream).unwrap();
        let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 1)).unwrap();
        graph.launch(&stream).unwrap();
        // Parents first: children keep what they need.
        drop(device);
        drop(stream);
        drop(buffer);
        drop(graph);
    }
    assert_eq!(mock::live_handles(), before);
}

#[test]
fn a_graph_whose_work_is_held_is_not_freed_before_it_ran() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.upload(&[0_u8; 4]).unwrap();
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 1)).unwrap();
    mock::hold(&stream).unwrap();
    graph.launch(&stream).unwrap();
    let waiter = std::thread::spawn(move || drop(graph));
    assert_eq!(mock::live_handles().graphs, 1);
    mock::release(&stream).unwrap();
    waiter.join().unwrap();
    assert_eq!(mock::live_handles().graphs, 0);
    assert_eq!(buffer.to_vec().unwrap(), [1; 4]);
}

#[test]
fn a_stream_that_cannot_be_waited_for_keeps_what_its_work_uses() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(64).unwrap();
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    let input = capture.stream().upload(device.pinned(64).unwrap(), &mut buffer).unwrap();
    let mut graph = capture.finish().unwrap();
    mock::hold(&stream).unwrap();
    graph.launch(&stream).unwrap();
    mock::fail("aclrtSynchronizeStreamWithTimeout", 1, 507_000).unwrap();
    mock::fail("aclrtDestroyStream", 1, 507_000).unwrap();
    drop(stream);
    assert_eq!(device.context().take_drop_errors().len(), 2);
    assert_eq!(graph.host(&input).unwrap_err().kind(), ErrorKind::DeviceLost);
    let before = mock::live_handles();
    drop((graph, buffer));
    assert_eq!(mock::live_handles(), before, "memory that work may still use was freed");
    assert_eq!(device.context().take_drop_errors().len(), 1);
    drop(device);
    mock::reset().unwrap();
}

/// Until the C function was called this often.
fn until_called(function: &str, times: u64) {
    while mock::calls(function) < times {
        std::thread::yield_now();
    }
}

#[test]
fn memory_of_a_stream_that_is_going_away_is_kept_until_it_is_gone() {
    let _alone = mock::exclusive();
    let device = device();
    let (gate, stream) = (device.stream().unwrap(), device.stream().unwrap());
    let mut buffer = device.upload(&[1_u8; 64]).unwrap();
    let capture = gate.begin_capture(CaptureMode::Relaxed).unwrap();
    let output = capture.stream().download(&buffer, device.pinned::<u8>(64).unwrap()).unwrap();
    let mut graph = capture.finish().unwrap();
    mock::hold(&gate).unwrap();
    gate.prefetch(&buffer, Prefetch::all()).unwrap();
    gate.fork(&stream).unwrap();
    stream.fill_bytes(&mut buffer, 7).unwrap();
    graph.launch(&stream).unwrap();
    let waits = mock::calls("aclrtSynchronizeStreamWithTimeout");
    let dropper = std::thread::spawn(move || drop(stream));
    until_called("aclrtSynchronizeStreamWithTimeout", waits + 1);
    let before = mock::live_handles().device_allocations;
    let extra = device.alloc::<u8>(64).unwrap();
    drop(extra);
    drop(buffer);
    assert_eq!(mock::live_handles().device_allocations, before);
    let opener = {
        let gate = gate.clone();
        std::thread::spawn(move || mock::release(&gate).unwrap())
    };
    assert_eq!(*graph.host(&output).unwrap(), [7; 64]);
    opener.join().unwrap();
    dropper.join().unwrap();
}

#[test]
fn a_buffer_can_be_dropped_while_its_stream_waits_for_room() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut used = device.alloc::<u8>(64).unwrap();
    let mut other = device.alloc::<u8>(64).unwrap();
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut used, 1).unwrap();
    let calls = mock::calls("aclrtMemsetAsync");
    let submitter = {
        let stream = stream.clone();
        std::thread::spawn(move || (0..2013).for_each(|_| stream.fill_bytes(&mut other, 2).unwrap()))
    };
    until_called("aclrtMemsetAsync", calls + 2013);
    drop(used);
    mock::release(&stream).unwrap();
    submitter.join().unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn a_refused_host_function_may_own_memory_in_use() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(64).unwrap();
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    mock::fail("aclrtLaunchHostFunc", 1, 207_000).unwrap();
    let refused = stream.host_function(move || assert!(!buffer.is_empty())).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotSupported);
    mock::release(&stream).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn a_host_function_that_owns_its_stream_lets_it_go() {
    let _alone = mock::exclusive();
    let device = device();
    let before = mock::live_handles().streams;
    let stream = device.stream().unwrap();
    let own = stream.clone();
    stream.host_function(move || assert!(!own.is_capturing())).unwrap();
    drop(stream);
    device.synchronize().unwrap();
    assert_eq!(mock::live_handles().streams, before);
}

#[test]
fn pinned_memory_from_before_a_reset_is_nobody_else_s() {
    let _alone = mock::exclusive();
    let device_before = device();
    let mut old = device_before.pinned_from(&[1_u64; 8]).unwrap();
    mock::reset().unwrap();
    let device_after = common::acl().device(0).unwrap_or(device_before);
    device_after.context().bind().ok();
    if let Ok(mut new) = device_after.pinned_from(&[2_u64; 8]) {
        new[0] = 3;
        old[0] = 4;
        assert_eq!((new[0], old[0]), (3, 4));
    }
    assert_eq!(old[1..], [1; 7]);
    drop(old);
    mock::reset().unwrap();
}

#[test]
fn a_created_context_keeps_the_primary_one() {
    let _alone = mock::exclusive();
    racl::set_end_on_drop(true);
    let context = device().context().create_context().unwrap();
    let resets = mock::calls("aclrtResetDevice");
    let mut buffer = context.upload(&[1_u8; 4]).unwrap();
    context.stream().unwrap().fill_bytes(&mut buffer, 2).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [2; 4]);
    assert_eq!(mock::calls("aclrtResetDevice"), resets);
    drop((buffer, context));
    assert_eq!(mock::calls("aclrtResetDevice"), resets + 1);
    racl::set_end_on_drop(false);
}

#[test]
fn values_from_before_a_reset_report_errors_and_do_not_crash() {
    common::needs_mock("it uses mock::reset");
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let event = device.event().unwrap();
    let mut buffer = device.alloc::<u8>(4).unwrap();
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 1)).unwrap();
    mock::reset().unwrap();
    assert!(graph.launch(&stream).is_err());
    assert!(stream.synchronize().is_err());
    assert!(event.synchronize().is_err());
    assert!(buffer.to_vec().is_err());
    drop((graph, buffer, event, stream));
    assert!(!device.context().take_drop_errors().is_empty());
    drop(device);
}

#[test]
fn a_wait_for_a_copy_that_fails_can_be_made_again() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(3).unwrap();
    let lent = stream.upload(device.pinned_from(&[7; 3]).unwrap(), &mut buffer).unwrap();
    mock::fail("aclrtSynchronizeEvent", 1, 507_000).unwrap();
    let refused = lent.wait().unwrap_err();
    assert_eq!(refused.error().kind(), ErrorKind::Internal);
    assert_eq!(*refused.into_value().wait().unwrap(), [7; 3]);
    // Given up, the buffer is freed once the copy is over, and nothing is said a second time.
    let lent = stream.upload(device.pinned_from(&[8; 3]).unwrap(), &mut buffer).unwrap();
    stream.synchronize().unwrap();
    let pinned = mock::live_handles().pinned_allocations;
    mock::fail("aclrtSynchronizeEvent", 1, 507_000).unwrap();
    assert_eq!(lent.wait().map_err(racl::Error::from).unwrap_err().kind(), ErrorKind::Internal);
    assert_eq!(mock::live_handles().pinned_allocations, pinned - 1);
    assert!(device.context().take_drop_errors().is_empty());
}

#[test]
fn closing_gives_the_error_and_the_value_back() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let clone = stream.clone();
    let (stream, error) = stream.close().unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    drop(clone);
    let graph = stream.capture(CaptureMode::ThreadLocal, |_| Ok(())).unwrap();
    mock::fail("aclmdlRIDestroy", 1, 107_037).unwrap();
    let (graph, error) = graph.close().unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::GraphRunning);
    graph.close().unwrap();
    let event = device.event().unwrap();
    mock::fail("aclrtDestroyEvent", 1, 507_000).unwrap();
    let (event, error) = event.close().unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::Internal);
    event.close().unwrap();
    mock::fail("aclrtDestroyStream", 1, 507_000).unwrap();
    let (stream, error) = stream.close().unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::Internal);
    stream.close().unwrap();
    let shared = device.alloc::<u8>(64).unwrap().into_shared();
    let slice = shared.slice(..8).unwrap();
    let (shared, error) = shared.close().unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let (shared, error) = shared.into_buffer().unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    drop(slice);
    let mut buffer = shared.into_buffer().unwrap();
    let stream = device.stream().unwrap();
    let graph = stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 1)).unwrap();
    let (buffer, error) = buffer.close().unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    drop((graph, stream));
    mock::fail("aclrtFree", 1, 507_000).unwrap();
    let (buffer, _) = buffer.close().unwrap_err().into_parts();
    buffer.close().unwrap();
    mock::fail("aclrtFreeHost", 1, 507_000).unwrap();
    let (pinned, _) = device.pinned_from(&[7_u8; 3]).unwrap().close().unwrap_err().into_parts();
    assert_eq!(*pinned, [7; 3]);
    pinned.close().unwrap();
    let error = device.clone().close().unwrap_err().into_error();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    mock::fail("aclrtResetDevice", 1, 507_000).unwrap();
    let (device, error) = device.close().unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::Internal);
    device.close().unwrap();
}

#[test]
fn streams_of_captures_are_given_back_to_the_device() {
    let _alone = mock::exclusive();
    let context = device().context().create_context().unwrap();
    let origin = context.stream().unwrap();
    let before = context.streams_left().unwrap();
    let capture = origin.begin_capture(CaptureMode::Relaxed).unwrap();
    let sides: Vec<_> = (0..900).map(|number| capture.stream().side(&number.to_string()).unwrap()).collect();
    for side in &sides {
        capture.stream().fork(side).unwrap();
        capture.stream().join(side).unwrap();
    }
    drop(sides);
    drop(capture.finish().unwrap());
    let kept = before - context.streams_left().unwrap();
    assert!((1..=64).contains(&kept), "{kept} idle streams are kept");
    // Streams that the user makes come before idle ones.
    let one_left = |limit: &u32| {
        mock::limit_streams(Some(*limit)).unwrap();
        context.streams_left().unwrap() > 0
    };
    let full = (1..4096).find(one_left).unwrap() - 1;
    mock::limit_streams(Some(full)).unwrap();
    let made: Vec<_> = (0..kept).map(|_| context.stream()).collect();
    mock::limit_streams(None).unwrap();
    made.into_iter().for_each(|stream| drop(stream.unwrap()));
}
