//! Events that are kept for the next use. Counts calls of the mock, so one test at a time.

mod common;

use std::time::Duration;

use common::{assert_says, device, mock};
use racl::{CaptureMode, Context, ErrorKind, Stream, TimingEvent, op};

const CREATE: &str = "aclrtCreateEventExWithFlag";
const DESTROY: &str = "aclrtDestroyEvent";

/// On a context of its own, whose events are gone afterwards.
fn alone(test: impl FnOnce(&Context)) {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let device = device();
    let context = device.context().create_context().unwrap();
    test(&context);
    mock::clear_failures();
    context.close().unwrap();
    assert_eq!(mock::live_handles().events, 0);
}

#[test]
fn a_thousand_copies_forks_and_joins_need_a_few_events() {
    alone(|context| {
        let (one, two) = (context.stream().unwrap(), context.stream().unwrap());
        let mut pinned = context.pinned::<u32>(16).unwrap();
        let mut buffer = context.upload(&[0_u32; 16]).unwrap();
        for turn in 0..1000_u32 {
            pinned.copy_from_slice(&[turn; 16]);
            let lent = one.upload(pinned, &mut buffer).unwrap();
            one.fork(&two).unwrap();
            let back = two.download(&buffer, context.pinned::<u32>(16).unwrap()).unwrap();
            one.join(&two).unwrap();
            assert_eq!(back.wait().unwrap()[..], [turn; 16]);
            pinned = lent.wait().unwrap();
            one.synchronize().unwrap();
        }
        // Two copies, a fork and a join at a time; what asks a stream how far it is has one more each.
        assert!(mock::calls(CREATE) <= 6, "{} events were made", mock::calls(CREATE));
        assert_eq!(mock::calls(DESTROY), 0);
    });
}

/// As a fork, with an event that goes then. Streams keep that of their forks.
fn order(from: &Stream, to: &Stream) {
    let event = from.context().event().unwrap();
    event.record(from).unwrap();
    to.wait(&event).unwrap();
}

#[test]
fn an_event_whose_record_is_not_done_is_not_used_again() {
    alone(|context| {
        let (held, free, other) = (context.stream().unwrap(), context.stream().unwrap(), context.stream().unwrap());
        mock::hold(&held).unwrap();
        order(&held, &other);
        let before = mock::calls(CREATE);
        let event = context.event().unwrap();
        assert_eq!(mock::calls(CREATE), before + 1);
        // As one that was made anew: nothing is behind it.
        assert!(event.is_complete().unwrap());
        event.synchronize().unwrap();
        drop(event);
        // Neither holds up the other, and the one that is done serves again and again.
        for _ in 0..10 {
            order(&free, &free);
            free.synchronize().unwrap();
        }
        assert_eq!(mock::calls(CREATE), before + 1);
        assert!(!other.is_complete().unwrap());
        mock::release(&held).unwrap();
        other.synchronize().unwrap();
        held.synchronize().unwrap();
        let all: Vec<_> = (0..2).map(|_| context.event().unwrap()).collect();
        assert_eq!(mock::calls(CREATE), before + 1, "both are free");
        drop(all);
    });
}

#[test]
fn a_stream_forks_again_and_again_with_one_event() {
    alone(|context| {
        let (one, others) = (context.stream().unwrap(), [context.stream().unwrap(), context.stream().unwrap()]);
        let mut x = context.zeros::<f32>([1]).unwrap();
        for round in 0..100 {
            op::adds_inplace(&one, &mut x, 1.0).unwrap();
            let held = round % 2 == 0;
            if held {
                mock::hold(&one).unwrap();
            }
            others.iter().for_each(|other| one.fork(other).unwrap());
            let complete = || others.iter().all(|other| other.is_complete().unwrap());
            assert!(!held || !complete());
            if held {
                mock::release(&one).unwrap();
            }
            others.iter().for_each(|other| other.synchronize().unwrap());
            assert!(complete() && one.is_complete().unwrap());
        }
        assert_eq!(x.to_vec().unwrap(), [100.0]);
        assert_eq!((mock::calls("aclrtRecordEvent"), mock::calls("aclrtStreamWaitEvent")), (200, 200));
        assert_eq!((mock::calls(CREATE), mock::calls(DESTROY)), (1, 0));
    });
}

/// Which may last, and others give the stream work meanwhile.
#[test]
fn a_stream_is_free_while_another_thread_waits_for_an_event_to_come_back() {
    alone(|context| {
        let (hung, first, other) = (context.stream().unwrap(), context.stream().unwrap(), context.stream().unwrap());
        let mut x = context.zeros::<f32>([1]).unwrap();
        let mut y = context.zeros::<f32>([1]).unwrap();
        mock::hold(&hung).unwrap();
        let mut graph = hung.capture(CaptureMode::ThreadLocal, |s| op::adds_inplace(s, &mut y, 1.0)).unwrap();
        graph.launch(&hung).unwrap();
        // Goes on a thread, which is done once the stream goes on.
        racl::set_drop_limit(Duration::from_millis(1));
        drop(graph);
        racl::set_drop_limit(Duration::from_secs(10));
        mock::hold(&first).unwrap();
        op::adds_inplace(&first, &mut x, 1.0).unwrap();
        let asked = mock::calls(CREATE);
        mock::fail(CREATE, 1, 207_007).unwrap();
        std::thread::scope(|scope| {
            // Has to follow the first stream, by an event.
            let follows = scope.spawn(|| op::adds_inplace(&other, &mut x, 1.0));
            while mock::calls(CREATE) == asked {
                std::thread::yield_now();
            }
            op::adds_inplace(&first, &mut y, 1.0).unwrap();
            mock::release(&hung).unwrap();
            follows.join().unwrap().unwrap();
        });
        mock::release(&first).unwrap();
        other.synchronize().unwrap();
        assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![2.0], vec![2.0]));
        context.take_drop_errors();
    });
}

#[test]
fn events_for_time_and_events_of_an_open_capture_are_not_kept() {
    alone(|context| {
        drop(context.timing_event().unwrap());
        assert_eq!((mock::calls(CREATE), mock::calls(DESTROY)), (1, 1));
        let (stream, side) = (context.stream().unwrap(), context.stream().unwrap());
        let mut a = context.zeros::<f32>([4]).unwrap();
        let b = context.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
        let mut graph = stream
            .capture(CaptureMode::ThreadLocal, |s| {
                s.fork(&side)?;
                op::add_inplace(&side, &mut a, &b)?;
                // Beside the capture: an event of it would pull this stream in.
                let (x, y) = (context.stream()?, context.stream()?);
                x.fork(&y)?;
                assert!(!y.is_capturing());
                s.join(&side)
            })
            .unwrap();
        assert_eq!(mock::calls(DESTROY), 3);
        graph.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(a.to_vec().unwrap(), [1.0; 4]);
    });
}

#[test]
fn kept_events_go_where_the_device_has_no_other() {
    alone(|context| {
        drop((0..3).map(|_| context.event().unwrap()).collect::<Vec<_>>());
        assert_eq!(mock::live_handles().events, 3);
        mock::fail(CREATE, 1, 207_007).unwrap();
        let time = context.timing_event().unwrap();
        assert_eq!(mock::live_handles().events, 1);
        mock::fail(CREATE, 1, 207_007).unwrap();
        assert_eq!(context.event().unwrap_err().kind(), ErrorKind::NoEvents, "nothing is left to go");
        drop(time);
    });
}

#[test]
fn an_event_that_cannot_be_asked_is_destroyed() {
    alone(|context| {
        let (held, other) = (context.stream().unwrap(), context.stream().unwrap());
        mock::hold(&held).unwrap();
        order(&held, &other);
        mock::fail("aclrtQueryEventStatus", 1, 107_000).unwrap();
        let event = context.event().unwrap();
        assert_eq!((mock::calls(CREATE), mock::calls(DESTROY)), (2, 1));
        assert_eq!(context.take_drop_errors().len(), 1);
        mock::release(&held).unwrap();
        other.synchronize().unwrap();
        drop(event);
    });
}

#[test]
fn an_event_that_is_closed_is_destroyed() {
    alone(|context| {
        context.event().unwrap().close().unwrap();
        assert_eq!(mock::calls(DESTROY), 1);
    });
}

#[test]
fn no_more_than_a_thousand_and_twenty_four_are_kept() {
    alone(|context| {
        let events: Vec<_> = (0..1100).map(|_| context.event().unwrap()).collect();
        assert_eq!(mock::calls(CREATE), 1100);
        drop(events);
        assert_eq!((mock::live_handles().events, mock::calls(DESTROY)), (1024, 1100 - 1024));
        let again: Vec<_> = (0..1024).map(|_| context.event().unwrap()).collect();
        assert_eq!(mock::calls(CREATE), 1100, "those that are kept are used again");
        let more = context.event().unwrap();
        assert_eq!(mock::calls(CREATE), 1101);
        drop((again, more));
        assert_eq!(mock::live_handles().events, 1024);
    });
}

/// For the library it stays one of the capture, whatever records it elsewhere, and draws who waits for it in.
#[test]
fn an_event_of_a_capture_is_recorded_nowhere_else_meanwhile() {
    alone(|context| {
        let [first, other, third] = [(); 3].map(|()| context.stream().unwrap());
        let event = context.event().unwrap();
        // Also where it was recorded elsewhere before.
        event.record(&other).unwrap();
        other.synchronize().unwrap();
        let capture = first.begin_capture(CaptureMode::Relaxed).unwrap();
        event.record(&first).unwrap();
        for stream in [&other, &context.default_stream().unwrap()] {
            let refused = event.record(stream).unwrap_err();
            assert_says(&refused, ErrorKind::CaptureForbidden, &["a capture that is not over"]);
        }
        let mut buffer = context.upload(&[0_u8; 8]).unwrap();
        third.fill_bytes(&mut buffer, 7).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [7; 8], "it is in no capture");
        first.wait(&event).unwrap();
        drop(capture.finish().unwrap());
        event.record(&other).unwrap();
        third.wait(&event).unwrap();
        third.synchronize().unwrap();
    });
}

/// What the library keeps of it is not known: it is no event for the next order of two streams.
#[test]
fn an_event_whose_record_in_a_capture_failed_is_one_of_that_capture() {
    alone(|context| {
        let [first, other, third] = [(); 3].map(|()| context.stream().unwrap());
        let event = context.event().unwrap();
        event.record(&other).unwrap();
        other.synchronize().unwrap();
        let ended = first.capture(CaptureMode::Relaxed, |s| {
            drop(s.task_group(|s| event.record(s)).unwrap_err());
            assert_eq!(event.record(&other).unwrap_err().kind(), ErrorKind::CaptureForbidden);
            drop(event);
            other.fork(&third)?;
            third.synchronize()
        });
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::CaptureInvalidated);
    });
}

#[test]
fn a_stream_that_the_library_took_in_is_known_to_capture_though_its_wait_failed() {
    alone(|context| {
        let (first, other) = (context.stream().unwrap(), context.stream().unwrap());
        let event = context.event().unwrap();
        let mut buffer = context.upload(&[0_u8; 8]).unwrap();
        let capture = first.begin_capture(CaptureMode::Relaxed).unwrap();
        event.record(&first).unwrap();
        let group = first.task_group(|_| {
            other.wait(&event).unwrap_err();
            Ok(())
        });
        drop(group);
        assert!(other.is_capturing(), "the library gives what it gets to the graph");
        drop(other.fill_bytes(&mut buffer, 7));
        assert!(capture.finish().is_err());
        assert!(!other.is_capturing());
        other.fill_bytes(&mut buffer, 9).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [9; 8]);
    });
}

#[test]
fn times_of_records_in_captures_are_not_those_of_records_before() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let (start, end) = (context.timing_event().unwrap(), context.timing_event().unwrap());
        let record = |s: &Stream| start.record(s).and_then(|()| end.record(s));
        record(&stream).unwrap();
        stream.synchronize().unwrap();
        end.elapsed_since(&start).unwrap();
        let mut graph = stream.capture(CaptureMode::ThreadLocal, record).unwrap();
        graph.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        let told = [end.elapsed_since(&start), start.elapsed_since(&end), end.timestamp(), start.timestamp()];
        for refused in told {
            assert_says(&refused.unwrap_err(), ErrorKind::CaptureDependency, &["was last recorded in a capture"]);
        }
        record(&stream).unwrap();
        stream.synchronize().unwrap();
        end.elapsed_since(&start).unwrap();
    });
}

#[test]
fn a_timing_event_orders_streams_and_moves_as_a_handle_once_nothing_else_has_it() {
    alone(|context| {
        let (stream, other) = (context.stream().unwrap(), context.stream().unwrap());
        let (start, end) = (context.timing_event().unwrap(), context.timing_event().unwrap());
        start.record(&stream).unwrap();
        mock::hold(&stream).unwrap();
        end.record(&stream).unwrap();
        other.wait(end.as_event()).unwrap();
        assert!(!end.is_complete().unwrap() && !other.is_complete().unwrap());
        let future = end.as_event().reached();
        let refused = end.close().unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["held elsewhere"]);
        let refused = refused.into_value().into_raw().unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["held elsewhere"]);
        drop(future);
        mock::release(&stream).unwrap();
        other.synchronize().unwrap();
        let raw = refused.into_value().into_raw().unwrap();
        assert_eq!(mock::calls(DESTROY), 0);
        // SAFETY: it was just given away.
        let end = unsafe { TimingEvent::from_raw(raw, context) }.unwrap();
        end.record(&stream).unwrap();
        end.synchronize_timeout(Duration::from_secs(20)).unwrap();
        end.elapsed_since(&start).unwrap();
        end.close().unwrap();
        assert_eq!(mock::calls(DESTROY), 1);
        // SAFETY: null is asked about.
        let none = unsafe { TimingEvent::from_raw(std::ptr::null_mut(), context) };
        assert_eq!(none.unwrap_err().kind(), ErrorKind::InvalidHandle);
    });
}

/// The library waits for no stream that records; an event was recorded in front of the capture.
#[test]
fn what_a_stream_did_before_it_records_is_waited_for() {
    alone(|context| {
        let (stream, other) = (context.stream().unwrap(), context.stream().unwrap());
        let mut buffer = context.upload(&[0_u8; 8]).unwrap();
        let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 7)).unwrap();
        let notify = context.notify().unwrap();
        mock::hold(&stream).unwrap();
        graph.launch(&stream).unwrap();
        notify.record(&stream).unwrap();
        let capture = stream.begin_capture(CaptureMode::Relaxed).unwrap();
        mock::release(&stream).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [7; 8], "a blocking read");
        graph.launch(&other).unwrap();
        other.synchronize().unwrap();
        notify.close().unwrap();
        graph.close().unwrap();
        drop(capture.finish().unwrap());
        assert!(context.take_drop_errors().is_empty());
    });
}

#[test]
fn a_graph_that_goes_while_its_stream_records_is_destroyed() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut buffer = context.upload(&[0_u8; 8]).unwrap();
        let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 7)).unwrap();
        graph.launch(&stream).unwrap();
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        drop(graph);
        assert!(context.take_drop_errors().is_empty());
        drop(capture.finish().unwrap());
        assert_eq!(mock::live_handles().graphs, 0);
        assert_eq!(buffer.to_vec().unwrap(), [7; 8]);
    });
}

#[test]
fn a_failure_of_before_is_told_to_whoever_reads_in_a_capture() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut buffer = context.upload(&[0_u8; 8]).unwrap();
        for is_known in [false, true] {
            mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
            stream.fill_bytes(&mut buffer, 7).unwrap();
            mock::run_until_idle();
            if is_known {
                // Asks the stream how far it is, not how the work ended.
                drop(context.alloc::<u8>(1 << 20).unwrap());
                let notify = context.notify().unwrap();
                notify.record(&stream).unwrap();
                mock::run_until_idle();
                drop(notify);
            }
            let capture = stream.begin_capture(CaptureMode::Relaxed).unwrap();
            assert_eq!(buffer.to_vec().unwrap_err().kind(), ErrorKind::DeviceFault, "known to be over: {is_known}");
            drop(capture);
            drop(stream.synchronize());
        }
    });
}
