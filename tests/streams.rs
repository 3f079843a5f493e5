//! Streams, events, copies and host functions outside captures.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use common::{assert_says, device, mock};
use racl::{ErrorKind, StreamOptions, op, sys};

#[test]
fn submitting_returns_before_the_work_is_done() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.upload(&[0_u8; 4]).unwrap();
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    assert!(!stream.is_complete().unwrap());
    mock::release(&stream).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [1; 4]);
    assert!(stream.is_complete().unwrap());
}

#[test]
fn flags_of_a_stream_reach_the_library() {
    let device = device();
    let ask = device.acl().table().aclrtStreamGetFlags().unwrap();
    let all = [
        (StreamOptions::new(), 0),
        (StreamOptions::new().fast_launch(), sys::ACL_STREAM_FAST_LAUNCH),
        (StreamOptions::new().fast_sync().priority(5), sys::ACL_STREAM_FAST_SYNC),
        (StreamOptions::new().fast_sync().long_queue().fast_launch(), 0b1011),
    ];
    for (options, want) in all {
        let stream = device.stream_with(options).unwrap();
        let mut flags = u32::MAX;
        // SAFETY: a live stream, and a place for one number.
        assert_eq!(unsafe { ask(stream.as_raw(), &raw mut flags) }, 0);
        assert_eq!(flags, want, "{options:?}");
        let mut buffer = device.upload(&[0_u8; 4]).unwrap();
        stream.fill_bytes(&mut buffer, 7).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [7; 4]);
    }
}

#[test]
fn streams_are_independent_until_an_event_orders_them() {
    let device = device();
    let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
    let mut order = device.upload(&[0_u32]).unwrap();
    mock::hold(&one).unwrap();
    one.fill_bytes(&mut order, 1).unwrap();
    let mut free = device.upload(&[0_u8]).unwrap();
    two.fill_bytes(&mut free, 7).unwrap();
    assert_eq!(free.to_vec().unwrap(), [7]);
    one.fork(&two).unwrap();
    two.fill_bytes(&mut order, 2).unwrap();
    mock::run_until_idle();
    assert!(!two.is_complete().unwrap());
    mock::release(&one).unwrap();
    two.synchronize().unwrap();
    assert_eq!(order.to_vec().unwrap(), [0x0202_0202]);
}

#[test]
fn a_wait_refers_to_the_record_before_it() {
    let device = device();
    let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
    let event = device.event().unwrap();
    two.wait(&event).unwrap();
    two.synchronize().unwrap();
    event.record(&one).unwrap();
    two.wait(&event).unwrap();
    one.synchronize().unwrap();
    mock::hold(&one).unwrap();
    let mut buffer = device.upload(&[0_u8]).unwrap();
    one.fill_bytes(&mut buffer, 1).unwrap();
    event.record(&one).unwrap();
    two.synchronize().unwrap();
    assert!(!event.is_complete().unwrap());
    mock::release(&one).unwrap();
    event.synchronize().unwrap();
    assert!(event.is_complete().unwrap());
}

#[test]
fn waits_with_a_limit_end_on_the_virtual_clock() {
    let device = device();
    let stream = device.stream().unwrap();
    let event = device.event().unwrap();
    mock::hold(&stream).unwrap();
    let mut buffer = device.upload(&[0_u8]).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    event.record(&stream).unwrap();
    let before = mock::now();
    let limit = Duration::from_secs(3600);
    assert_says(&stream.synchronize_timeout(limit).unwrap_err(), ErrorKind::Timeout, &["507046"]);
    assert!(mock::now() - before >= limit);
    assert_says(&event.synchronize_timeout(limit).unwrap_err(), ErrorKind::Timeout, &["507047"]);
    mock::release(&stream).unwrap();
    stream.synchronize_timeout(limit).unwrap();
    event.synchronize_timeout(limit).unwrap();
}

#[test]
fn timing_events_measure_the_virtual_clock() {
    common::needs_mock("its clock is virtual");
    let device = device();
    let stream = device.stream().unwrap();
    let (start, end) = (device.timing_event().unwrap(), device.timing_event().unwrap());
    start.record(&stream).unwrap();
    stream.host_function(|| mock::advance(Duration::from_millis(250))).unwrap();
    end.record(&stream).unwrap();
    stream.synchronize().unwrap();
    let elapsed = end.elapsed_since(&start).unwrap();
    assert!(elapsed >= Duration::from_millis(250), "{elapsed:?}");
    assert_eq!(start.elapsed_since(&end).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn pinned_buffers_go_and_come_back() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u16>(3).unwrap();
    mock::hold(&stream).unwrap();
    let up = stream.upload(device.pinned_from(&[1_u16, 2, 3]).unwrap(), &mut buffer).unwrap();
    let down = stream.download(&buffer, device.pinned(3).unwrap()).unwrap();
    assert!(!up.is_complete().unwrap());
    mock::release(&stream).unwrap();
    assert_eq!(*down.wait().unwrap(), [1, 2, 3]);
    assert!(up.is_complete().unwrap());
    let mut pinned = up.wait().unwrap();
    pinned[0] = 9;
    let again = stream.upload(pinned, &mut buffer).unwrap();
    again.wait().unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [9, 2, 3]);
}

#[test]
fn parts_for_writing_go_to_two_threads() {
    let device = device();
    let mut buffer = device.alloc_zeroed::<u8>(200).unwrap();
    let (mut low, mut high) = buffer.split_at_mut(128).unwrap();
    std::thread::scope(|scope| {
        for (part, byte) in [(&mut low, 1), (&mut high, 2)] {
            let stream = device.stream().unwrap();
            scope.spawn(move || {
                let mut rest = part.slice_mut(8..).unwrap();
                stream.fill_bytes(&mut rest, byte).unwrap();
            });
        }
    });
    let got = buffer.to_vec().unwrap();
    let expected = [[0; 8].as_slice(), &[1; 120], &[0; 8], &[2; 64]].concat();
    assert_eq!(got, expected);
}

#[test]
fn parts_begin_and_end_where_they_are_asked_to() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.upload(&(0..64).collect::<Vec<u32>>()).unwrap();
    let start = buffer.address().addr();
    let part = buffer.slice(16..48).unwrap().slice(16..=17).unwrap();
    assert_eq!((part.address().addr() - start, part.size_bytes()), (128, 8));
    assert_eq!(part.to_vec().unwrap(), [32, 33]);
    let mut part = buffer.slice_mut(16..48).unwrap();
    let (mut low, high) = part.split_at_mut(16).unwrap();
    assert_eq!((low.address().addr() - start, high.address().addr() - start), (64, 128));
    stream.copy(&high, &mut low).unwrap();
    let lent = stream.upload(device.pinned_from(&[7; 3]).unwrap(), &mut part.slice_mut(29..).unwrap()).unwrap();
    lent.wait().unwrap();
    assert_eq!(part.slice(..2).unwrap().to_vec().unwrap(), [32, 33]);
    let mut all = buffer.into_shared();
    all.slice(..1).unwrap().write(&[9]).unwrap();
    all.slice(63..).unwrap().write(&[8]).unwrap();
    let got = all.to_vec().unwrap();
    assert_eq!((got[0], got[15], got[16], got[31], got[32]), (9, 15, 32, 47, 32));
    assert_eq!(got[44..49], [44, 7, 7, 7, 48]);
    assert_eq!(got[63], 8);
    all.write(&[1; 64]).unwrap();
    // A part that is the last handle owns its elements alone.
    let last = all.slice(60..).unwrap();
    drop(all);
    let last = last.into_buffer().unwrap();
    assert_eq!((last.len(), last.to_vec().unwrap()), (4, vec![1; 4]));
    last.close().unwrap();
}

#[test]
fn copies_on_the_device_run_in_order() {
    let device = device();
    let stream = device.stream().unwrap();
    let from = device.upload(&(0..100).collect::<Vec<u64>>()).unwrap();
    let mut to = device.alloc_zeroed::<u64>(100).unwrap();
    stream.copy(&from, &mut to).unwrap();
    stream.fill_bytes(&mut to.slice_mut(8..16).unwrap(), 0xff).unwrap();
    let got = to.to_vec().unwrap();
    assert_eq!(got[..8], [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(got[8..16], [u64::MAX; 8]);
    assert_eq!(got[16..], (16..100).collect::<Vec<u64>>());
}

#[test]
fn host_functions_run_in_order_and_are_freed_once() {
    let device = device();
    let stream = device.stream().unwrap();
    let (sender, receiver) = mpsc::channel();
    let held = Arc::new(AtomicUsize::new(0));
    for number in 0..10 {
        let (sender, held) = (sender.clone(), Arc::clone(&held));
        stream
            .host_function(move || {
                held.fetch_add(1, Ordering::Relaxed);
                sender.send(number).unwrap();
            })
            .unwrap();
    }
    stream.synchronize().unwrap();
    drop(sender);
    assert_eq!(receiver.iter().collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
    assert_eq!(Arc::strong_count(&held), 1);
    assert_eq!(held.load(Ordering::Relaxed), 10);
}

#[test]
fn host_functions_may_own_what_they_use_however_many_are_queued() {
    let device = device();
    let stream = device.stream().unwrap();
    for _ in 0..3000 {
        let mut buffer = device.alloc::<u8>(8).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        stream.host_function(move || drop(buffer.slice_mut(..))).unwrap();
    }
    stream.synchronize().unwrap();
}

#[test]
fn a_panic_of_a_host_function_is_reported_by_the_next_wait() {
    let device = device();
    let stream = device.stream().unwrap();
    stream.host_function(|| panic!("on purpose")).unwrap();
    assert_says(&stream.synchronize().unwrap_err(), ErrorKind::CallbackPanicked, &["on purpose"]);
    stream.synchronize().unwrap();
    let mut graph =
        stream.capture(racl::CaptureMode::ThreadLocal, |s| s.host_function(|| panic!("in a graph"))).unwrap();
    graph.launch(&stream).unwrap();
    assert_says(&stream.synchronize().unwrap_err(), ErrorKind::CallbackPanicked, &["in a graph"]);
    graph.launch(&stream).unwrap();
    assert_says(&graph.wait().unwrap_err(), ErrorKind::CallbackPanicked, &["in a graph"]);
}

#[test]
fn a_panic_is_told_by_a_wait_for_an_event_behind_it() {
    let device = device();
    let (stream, event, before) = (device.stream().unwrap(), device.event().unwrap(), device.event().unwrap());
    let mut buffer = device.alloc::<u8>(8).unwrap();
    let capture = |s: &racl::Stream| s.host_function(|| panic!("on purpose"));
    let mut graph = stream.capture(racl::CaptureMode::ThreadLocal, capture).unwrap();
    for launched in [false, true] {
        before.record(&stream).unwrap();
        if launched { graph.launch(&stream) } else { capture(&stream) }.unwrap();
        event.record(&stream).unwrap();
        mock::run_until_idle();
        before.synchronize().unwrap();
        assert!(before.is_complete().unwrap());
        let told = event.synchronize().unwrap_err();
        assert_says(&told, ErrorKind::CallbackPanicked, &["on purpose"]);
        event.synchronize().unwrap();
        stream.synchronize().unwrap();
        let again = [stream.is_complete().unwrap_err().kind(), event.is_complete().unwrap_err().kind()];
        assert_eq!(again, [ErrorKind::CallbackPanicked; 2]);
        stream.fill_bytes(&mut buffer, 1).unwrap();
        stream.synchronize().unwrap();
        assert!(stream.is_complete().unwrap());
    }
}

#[test]
fn a_panic_in_a_graph_is_told_by_the_stream_of_that_launch() {
    let device = device();
    let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
    let (mut runs, mut buffer) = (0, device.alloc::<u8>(8).unwrap());
    let second = move || {
        runs += 1;
        assert!(runs != 2, "on purpose");
    };
    let mut graph = one.capture(racl::CaptureMode::ThreadLocal, |s| s.host_function(second)).unwrap();
    graph.launch(&one).unwrap();
    one.synchronize().unwrap();
    graph.launch(&two).unwrap();
    mock::run_until_idle();
    one.synchronize().unwrap();
    assert!(one.is_complete().unwrap());
    assert_says(&two.synchronize().unwrap_err(), ErrorKind::CallbackPanicked, &["on purpose"]);
    assert_eq!(two.is_complete().unwrap_err().kind(), ErrorKind::CallbackPanicked);
    two.fill_bytes(&mut buffer, 1).unwrap();
    two.synchronize().unwrap();
    assert!(two.is_complete().unwrap());
}

#[test]
fn an_event_behind_a_panic_that_nobody_was_told_says_so() {
    let device = device();
    let (stream, event) = (device.stream().unwrap(), device.event().unwrap());
    stream.host_function(|| panic!("on purpose")).unwrap();
    event.record(&stream).unwrap();
    // On older libraries a thread of its own runs the function.
    let told = loop {
        match event.is_complete() {
            Ok(false) => drop(mock::run_until_idle()),
            told => break told,
        }
    };
    assert_says(&told.unwrap_err(), ErrorKind::CallbackPanicked, &["on purpose"]);
    stream.synchronize().unwrap();
    assert_eq!(event.is_complete().unwrap_err().kind(), ErrorKind::CallbackPanicked);
    event.record(&stream).unwrap();
    stream.synchronize().unwrap();
    assert!(event.is_complete().unwrap());
}

#[test]
fn a_stream_whose_work_runs_is_not_given_back_for_an_error() {
    let _alone = mock::exclusive();
    let device = device();
    let (stream, mut buffer) = (device.stream().unwrap(), device.alloc_zeroed::<u8>(8).unwrap());
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    (1..9).for_each(|nth| mock::fail("aclrtSynchronizeStreamWithTimeout", nth, 507_000).unwrap());
    let refused = stream.give_back().unwrap_err();
    mock::clear_failures();
    assert_eq!(refused.error().kind(), ErrorKind::Internal);
    let stream = refused.into_value();
    mock::release(&stream).unwrap();
    let raw = stream.give_back().unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [1; 8]);
    // SAFETY: the handle was given back, and has no other owner.
    drop(unsafe { racl::Stream::from_raw(raw, &device) }.unwrap());
}

#[test]
fn a_panic_in_a_graph_that_is_gone_is_told() {
    let device = device();
    let (stream, buffer) = (device.stream().unwrap(), device.alloc_zeroed::<u8>(8).unwrap());
    let capture = |panics: bool| {
        stream.capture(racl::CaptureMode::ThreadLocal, |s| s.host_function(move || assert!(!panics, "on purpose")))
    };
    let (mut gone, mut other) = (capture(true).unwrap(), capture(false).unwrap());
    gone.launch(&stream).unwrap();
    // Waits, and tells nobody.
    drop(stream.download(&buffer, device.pinned(8).unwrap()).unwrap());
    drop(gone);
    other.launch(&stream).unwrap();
    assert_says(&stream.synchronize().unwrap_err(), ErrorKind::CallbackPanicked, &["on purpose"]);
}

#[test]
fn who_asks_after_a_graph_told_its_panic_is_told_too() {
    let device = device();
    let (stream, event) = (device.stream().unwrap(), device.event().unwrap());
    let (before, mut buffer) = (device.event().unwrap(), device.alloc::<u8>(8).unwrap());
    let mut graph =
        stream.capture(racl::CaptureMode::ThreadLocal, |s| s.host_function(|| panic!("on purpose"))).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    before.record(&stream).unwrap();
    before.synchronize().unwrap();
    graph.launch(&stream).unwrap();
    event.record(&stream).unwrap();
    mock::run_until_idle();
    assert_says(&graph.wait().unwrap_err(), ErrorKind::CallbackPanicked, &["on purpose"]);
    for asked in [stream.is_complete(), event.is_complete(), stream.is_complete()] {
        assert_eq!(asked.unwrap_err().kind(), ErrorKind::CallbackPanicked);
    }
    assert!(before.is_complete().unwrap());
}

#[test]
fn a_panic_whose_payload_panics_again_is_caught() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("once more");
        }
    }
    let device = device();
    let stream = device.stream().unwrap();
    stream.host_function(|| std::panic::panic_any(Bomb)).unwrap();
    assert_says(&stream.synchronize().unwrap_err(), ErrorKind::CallbackPanicked, &["no message"]);
}

#[test]
fn handles_of_one_default_stream_are_equal() {
    let device = device();
    assert_eq!(device.default_stream().unwrap(), device.default_stream().unwrap());
    assert_ne!(device.default_stream().unwrap(), device.stream().unwrap());
}

#[test]
fn the_default_stream_runs_work_and_graphs() {
    common::needs_function("aclrtCtxGetCurrentDefaultStream");
    let device = device();
    let (default, stream) = (device.default_stream().unwrap(), device.stream().unwrap());
    let mut buffer = device.upload(&[0_u8; 2]).unwrap();
    default.fill_bytes(&mut buffer, 1).unwrap();
    default.synchronize().unwrap();
    let mut graph = stream.capture(racl::CaptureMode::Relaxed, |s| s.fill_bytes(&mut buffer, 2)).unwrap();
    graph.launch(&default).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [2; 2]);
}

#[test]
fn many_threads_use_one_device() {
    let device = device();
    let workers: Vec<_> = (0..8)
        .map(|number| {
            let device = device.clone();
            thread::spawn(move || {
                let stream = device.stream()?;
                let one = device.upload_tensor(&[1_i32; 64], [64])?;
                let mut sum = device.zeros::<i32>([64])?;
                for _ in 0..100 {
                    op::add_inplace(&stream, &mut sum, &one)?;
                }
                op::muls(&stream, &sum.clone(), number, &mut sum)?;
                sum.to_vec()
            })
        })
        .collect();
    for (number, worker) in workers.into_iter().enumerate() {
        assert_eq!(worker.join().unwrap().unwrap(), [100 * number as i32; 64]);
    }
}

#[test]
fn one_stream_takes_work_from_many_threads() {
    let device = device();
    let stream = device.stream().unwrap();
    let one = device.upload_tensor(&[1_i32; 16], [16]).unwrap();
    let sum = device.zeros::<i32>([16]).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut sum = sum.clone();
                for _ in 0..250 {
                    op::add_inplace(&stream, &mut sum, &one).unwrap();
                }
            });
        }
    });
    assert_eq!(sum.to_vec().unwrap(), [1000; 16]);
}

#[test]
fn contexts_have_streams_of_their_own() {
    let device = device();
    let other = device.context().create_context().unwrap();
    let (here, there) = (device.stream().unwrap(), other.stream().unwrap());
    let mut buffer = other.alloc::<u8>(4).unwrap();
    there.fill_bytes(&mut buffer, 1).unwrap();
    here.synchronize().unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [1; 4]);
    // Memory belongs to the device, so a stream of another context of the same device may use it.
    here.fill_bytes(&mut buffer, 2).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [2; 4]);
}

#[test]
fn code_that_changes_the_thread_s_context_is_answered_by_bind() {
    let device = device();
    let other = device.context().create_context().unwrap();
    let stream = device.stream().unwrap();
    let function = device.acl().table().aclrtSetCurrentContext().unwrap();
    // SAFETY: the context is live.
    assert_eq!(unsafe { function(other.as_raw()) }, 0);
    let mut buffer = device.alloc::<u8>(4).unwrap();
    assert_eq!(stream.fill_bytes(&mut buffer, 1).unwrap_err().kind(), ErrorKind::WrongContext);
    device.context().bind().unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn handles_go_to_other_code_and_come_back() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(4).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    let graph = stream.capture(racl::CaptureMode::Relaxed, |s| s.fill_bytes(&mut buffer, 2)).unwrap();
    let event = device.event().unwrap();
    let (raw_event, raw_graph) = (event.into_raw(), graph.into_raw().unwrap());
    let clone = stream.clone();
    let (stream, error) = stream.into_raw().unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    drop(clone);
    let raw_stream = stream.into_raw().unwrap();
    // SAFETY: the handles were given away above, and `buffer` lives as long as the graph.
    let stream = unsafe { racl::Stream::from_raw(raw_stream, &device) }.unwrap();
    // SAFETY: as above.
    let event = unsafe { racl::Event::from_raw(raw_event, &device) }.unwrap();
    // SAFETY: as above.
    let mut graph = unsafe { racl::Graph::from_raw(raw_graph, &device) }.unwrap();
    graph.launch(&stream).unwrap();
    event.record(&stream).unwrap();
    event.synchronize().unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [2; 4]);
    assert!(device.default_stream().unwrap().into_raw().is_err());
    // SAFETY: null is what this is about; the function documents it.
    let refused = unsafe { racl::Event::from_raw(std::ptr::null_mut(), &device) }.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidHandle);
    // SAFETY: as above.
    let refused = unsafe { racl::Graph::from_raw(std::ptr::null_mut(), &device) }.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidHandle);
}

#[test]
fn initialisations_share_the_library() {
    let (one, two) = (common::acl(), common::acl());
    let device = one.device(0).unwrap();
    drop(one);
    assert_eq!(two.is_mock(), common::is_mock());
    assert!(!two.is_mock() || two.to_string().starts_with("mock-acl "));
    drop(two);
    device.stream().unwrap().synchronize().unwrap();
}
