//! Events that are kept for the next use. Counts calls of the mock, so one test at a time.

mod common;

use std::time::Duration;

use common::{device, mock};
use racl::{CaptureMode, Context, ErrorKind, Stream, op};

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
