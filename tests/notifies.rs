//! Notifies and events that processes share. Counts calls of the mock and lets some fail, so one test at a time.

mod common;

use std::time::Duration;

use common::{assert_says, mock};
use racl::{CaptureMode, Context, CountUpdate, CountWait, ErrorKind, IpcEventHandle};
use racl::{Notify, NotifyKey, Result, Stream};

const DESTROY: &str = "aclrtDestroyNotify";

/// On a context of its own, which can be closed afterwards.
fn alone(test: impl FnOnce(&Context)) {
    alone_and_after(test, || ());
}

/// `after` looks at what the end of the context left.
fn alone_and_after(test: impl FnOnce(&Context), after: impl FnOnce()) {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let context = common::device().context().create_context().unwrap();
    test(&context);
    mock::clear_failures();
    assert!(context.take_drop_errors().is_empty());
    context.close().unwrap();
    after();
}

#[test]
fn a_signal_lets_one_wait_through_whichever_came_first() {
    alone(|context| {
        let (giver, taker) = (context.stream().unwrap(), context.stream().unwrap());
        let notify = context.notify().unwrap();
        taker.wait_notify(&notify, None).unwrap();
        assert!(!taker.is_complete().unwrap());
        notify.record(&giver).unwrap();
        taker.synchronize().unwrap();
        notify.record(&giver).unwrap();
        giver.synchronize().unwrap();
        taker.wait_notify(&notify, None).unwrap();
        taker.synchronize().unwrap();
        taker.wait_notify(&notify, None).unwrap();
        assert!(!taker.is_complete().unwrap(), "the one before took the signal");
        notify.record(&giver).unwrap();
        taker.synchronize().unwrap();
        notify.record(&giver).unwrap();
        giver.synchronize().unwrap();
        notify.reset().unwrap();
        taker.wait_notify(&notify, None).unwrap();
        assert!(!taker.is_complete().unwrap(), "a reset took it");
        notify.record(&giver).unwrap();
        taker.synchronize().unwrap();
        notify.close().unwrap();
    });
}

#[test]
fn a_wait_that_takes_too_long_is_told_by_the_stream() {
    alone(|context| {
        let (stream, notify) = (context.stream().unwrap(), context.notify().unwrap());
        for none in [Duration::ZERO, Duration::MAX] {
            let refused = stream.wait_notify(&notify, Some(none)).unwrap_err();
            assert_says(&refused, ErrorKind::InvalidArgument, &["a time limit"]);
        }
        let before = mock::now();
        stream.wait_notify(&notify, Some(Duration::from_millis(1))).unwrap();
        assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::Timeout);
        assert!(mock::now() - before >= Duration::from_secs(1), "a whole second");
        stream.synchronize().unwrap();
        let count = context.counting_notify().unwrap();
        stream.wait_count(&count, CountWait::equal(1).limit(Duration::from_secs(2))).unwrap();
        assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::Timeout);
    });
}

#[test]
fn work_that_is_not_done_keeps_its_notify() {
    // The end of the context waits for the thread that has it.
    let destroyed = || assert_eq!(mock::calls(DESTROY), 1);
    let uses = |context: &Context| {
        let (giver, taker) = (context.stream().unwrap(), context.stream().unwrap());
        let notify = context.notify().unwrap();
        mock::hold(&giver).unwrap();
        notify.record(&giver).unwrap();
        taker.wait_notify(&notify, None).unwrap();
        let refused = notify.close().unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["work that is not done uses a notify"]);
        drop(refused);
        assert_eq!(mock::calls(DESTROY), 0);
        mock::release(&giver).unwrap();
        taker.synchronize().unwrap();
        giver.synchronize().unwrap();
        drop((giver, taker));
    };
    alone_and_after(uses, destroyed);
}

#[test]
fn a_graph_keeps_its_notify_and_gives_a_signal_at_each_launch() {
    alone(|context| {
        let (giver, taker) = (context.stream().unwrap(), context.stream().unwrap());
        let (notify, count) = (context.notify().unwrap(), context.counting_notify().unwrap());
        let mut graph = giver
            .capture(CaptureMode::ThreadLocal, |s| {
                notify.record(s)?;
                count.record(s, CountUpdate::Add(1))
            })
            .unwrap();
        for launches in 1..3 {
            graph.launch(&giver).unwrap();
            taker.wait_notify(&notify, None).unwrap();
            taker.wait_count(&count, CountWait::equal(launches)).unwrap();
            taker.synchronize().unwrap();
        }
        let refused = notify.close().unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["a graph uses a notify"]);
        drop((refused, count));
        assert_eq!(mock::calls(DESTROY), 0);
        graph.launch(&giver).unwrap();
        graph.close().unwrap();
        assert_eq!(mock::calls(DESTROY), 1);
    });
}

#[test]
fn counts_are_changed_and_waited_for_in_every_way() {
    alone(|context| {
        let (giver, taker) = (context.stream().unwrap(), context.stream().unwrap());
        let count = context.counting_notify().unwrap();
        let steps = [
            (CountUpdate::Set(6), CountWait::equal(6), CountWait::less(6)),
            (CountUpdate::Add(3), CountWait::greater(8), CountWait::greater(9)),
            (CountUpdate::Or(4), CountWait::at_least(13), CountWait::at_least(14)),
            (CountUpdate::And(5), CountWait::all_bits(5), CountWait::all_bits(7)),
            (CountUpdate::Add(u32::MAX), CountWait::less(5).clears(), CountWait::equal(4)),
        ];
        for (update, holds, fails) in steps {
            count.record(&giver, update).unwrap();
            giver.synchronize().unwrap();
            taker.wait_count(&count, holds).unwrap();
            taker.synchronize().unwrap();
            taker.wait_count(&count, fails).unwrap();
            assert!(!taker.is_complete().unwrap(), "{update:?} and {fails:?}");
            taker.abort().unwrap();
        }
        count.record(&giver, CountUpdate::Set(9)).unwrap();
        count.reset(&giver).unwrap();
        taker.wait_count(&count, CountWait::equal(0)).unwrap();
        giver.synchronize().unwrap();
        taker.synchronize().unwrap();
    });
}

/// Of two streams of a graph one gives a signal, behind `gate`, which the other takes, behind `hold`, and tells so.
fn hand_over(first: &Stream, other: &Stream, [gate, inner, hold, passed]: [&Notify; 4]) -> Result<()> {
    other.wait_notify(gate, None)?;
    inner.record(other)?;
    first.wait_notify(hold, None)?;
    first.wait_notify(inner, None)?;
    passed.record(first)
}

#[test]
fn a_launch_takes_no_signal_of_one_that_was_aborted() {
    alone(|context| {
        for by_hand in [false, true] {
            let notifies = [(); 4].map(|()| context.notify().unwrap());
            let all @ [gate, _, hold, passed] = notifies.each_ref();
            let [stream, giver, taker] = [(); 3].map(|()| context.stream().unwrap());
            let mut graph = if by_hand {
                let mut builder = context.build_graph().unwrap();
                let (first, other) = (builder.first().clone(), builder.stream("other").unwrap());
                first.start(&other).unwrap();
                hand_over(&first, &other, all).unwrap();
                builder.finish().unwrap()
            } else {
                let record = |s: &Stream| {
                    let side = s.side("side")?;
                    s.fork(&side)?;
                    hand_over(s, &side, all)?;
                    s.join(&side)
                };
                stream.capture(CaptureMode::ThreadLocal, record).unwrap()
            };
            graph.launch(&stream).unwrap();
            gate.record(&giver).unwrap();
            mock::run_until_idle();
            if by_hand {
                graph.abort().unwrap();
            } else {
                stream.abort().unwrap();
            }
            // Given to the next launch, by the program.
            hold.record(&giver).unwrap();
            giver.synchronize().unwrap();
            graph.launch(&stream).unwrap();
            taker.wait_notify(passed, None).unwrap();
            mock::run_until_idle();
            assert!(!taker.is_complete().unwrap(), "by hand: {by_hand}");
            gate.record(&giver).unwrap();
            taker.synchronize().unwrap();
            let told = stream.synchronize();
            assert_eq!(told.err().map(|error| error.kind()), by_hand.then_some(ErrorKind::Aborted));
            stream.synchronize().unwrap();
            // Whole launches clear nothing.
            let before = mock::calls("aclrtNotifyBatchReset");
            hold.record(&giver).unwrap();
            gate.record(&giver).unwrap();
            graph.launch(&stream).unwrap();
            stream.synchronize().unwrap();
            assert_eq!(mock::calls("aclrtNotifyBatchReset"), before);
        }
    });
}

#[test]
fn an_external_event_is_set_until_it_is_reset() {
    alone(|context| {
        let [giver, taker, other] = [(); 3].map(|()| context.stream().unwrap());
        let event = context.external_event().unwrap();
        for stream in [&taker, &other] {
            stream.wait_external(&event, None).unwrap();
        }
        assert!(!taker.is_complete().unwrap() && !other.is_complete().unwrap());
        event.record(&giver).unwrap();
        taker.synchronize().unwrap();
        other.synchronize().unwrap();
        taker.wait_external(&event, None).unwrap();
        taker.synchronize().unwrap();
        event.reset(&taker).unwrap();
        taker.wait_external(&event, None).unwrap();
        assert!(!taker.is_complete().unwrap(), "a reset cleared it");
        event.record(&giver).unwrap();
        taker.synchronize().unwrap();
        event.close().unwrap();
        for none in [Duration::ZERO, Duration::MAX] {
            let event = context.external_event().unwrap();
            let refused = taker.wait_external(&event, Some(none)).unwrap_err();
            assert_says(&refused, ErrorKind::InvalidArgument, &["a time limit"]);
        }
        let event = context.external_event().unwrap();
        let before = mock::now();
        taker.wait_external(&event, Some(Duration::from_millis(1))).unwrap();
        assert_eq!(taker.synchronize().unwrap_err().kind(), ErrorKind::Timeout);
        assert!(mock::now() - before >= Duration::from_secs(1), "a whole second");
    });
}

#[test]
fn each_launch_waits_for_an_external_event_and_sets_one() {
    alone(|context| {
        let [stream, side, taker] = [(); 3].map(|()| context.stream().unwrap());
        let (ready, done) = (context.external_event().unwrap(), context.external_event().unwrap());
        let (from, mut to) = (context.upload(&[0_u8; 4]).unwrap(), context.upload(&[0_u8; 4]).unwrap());
        let record = |s: &Stream| {
            s.wait_external(&ready, None)?;
            ready.reset(s)?;
            s.copy(&from, &mut to)?;
            done.record(s)
        };
        let mut graph = stream.capture(CaptureMode::ThreadLocal, record).unwrap();
        let mut given = from.into_shared();
        for launch in 1..4_u8 {
            graph.launch(&stream).unwrap();
            taker.wait_external(&done, None).unwrap();
            done.reset(&taker).unwrap();
            mock::run_until_idle();
            assert!(!stream.is_complete().unwrap() && !taker.is_complete().unwrap(), "{launch}");
            racl::untracked(|| side.fill_bytes(&mut given, launch)).unwrap();
            ready.record(&side).unwrap();
            taker.synchronize().unwrap();
            assert_eq!(to.to_vec().unwrap(), [launch; 4]);
        }
        for event in [ready, done] {
            let refused = event.close().unwrap_err();
            assert_says(refused.error(), ErrorKind::InvalidArgument, &["a graph uses an external event"]);
        }
        let before = mock::calls("aclrtDestroyEvent");
        graph.close().unwrap();
        assert!(mock::calls("aclrtDestroyEvent") >= before + 2);
    });
}

#[test]
fn work_that_is_not_done_keeps_its_external_event() {
    alone(|context| {
        let (giver, taker) = (context.stream().unwrap(), context.stream().unwrap());
        let event = context.external_event().unwrap();
        mock::hold(&giver).unwrap();
        event.record(&giver).unwrap();
        taker.wait_external(&event, None).unwrap();
        let refused = event.close().unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["work that is not done uses an external event"]);
        drop(refused);
        mock::release(&giver).unwrap();
        taker.synchronize().unwrap();
        giver.synchronize().unwrap();

        // Streams of all contexts of a card take it.
        let event = context.external_event().unwrap();
        let elsewhere = common::device().stream().unwrap();
        taker.wait_external(&event, None).unwrap();
        event.record(&elsewhere).unwrap();
        taker.synchronize().unwrap();
        drop(elsewhere);
    });
}

#[test]
fn keys_and_handles_lead_to_the_same_signal() {
    alone(|context| {
        let (giver, taker) = (context.stream().unwrap(), context.stream().unwrap());
        let notify = context.notify().unwrap();
        for allowed in [&[std::process::id()][..], &[]] {
            let key: NotifyKey = notify.export(allowed).unwrap().to_string().parse().unwrap();
            let same = context.import_notify(&key).unwrap();
            same.record(&giver).unwrap();
            taker.wait_notify(&notify, None).unwrap();
            taker.synchronize().unwrap();
            assert_eq!(same.export(allowed).unwrap_err().kind(), ErrorKind::InvalidArgument, "imported itself");
        }
        let event = context.ipc_event().unwrap();
        let same = context.open_ipc_event(event.handle().unwrap()).unwrap();
        assert!(same.is_complete().unwrap(), "never recorded");
        mock::hold(&giver).unwrap();
        event.record(&giver).unwrap();
        taker.wait_ipc(&same).unwrap();
        assert!(!same.is_complete().unwrap() && !taker.is_complete().unwrap());
        mock::release(&giver).unwrap();
        same.synchronize().unwrap();
        taker.synchronize().unwrap();
        assert_eq!(same.handle().unwrap_err().kind(), ErrorKind::InvalidArgument, "opened itself");
    });
}

#[test]
fn keys_and_handles_that_nobody_gave_are_refused() {
    common::needs_function("aclrtNotifyImportByKey");
    alone(|context| {
        for text in ["", "a\0b", &"x".repeat(65)] {
            assert_eq!(text.parse::<NotifyKey>().unwrap_err().kind(), ErrorKind::InvalidArgument, "{text:?}");
        }
        let key: NotifyKey = "x".repeat(64).parse().unwrap();
        assert_eq!(context.import_notify(&key).unwrap_err().kind(), ErrorKind::InvalidArgument);
        let handle = IpcEventHandle::from_bytes([7; 64]);
        assert_eq!(context.open_ipc_event(handle).unwrap_err().kind(), ErrorKind::InvalidArgument);
        let notify = context.notify().unwrap();
        assert_says(&notify.export(&[u32::MAX]).unwrap_err(), ErrorKind::InvalidArgument, &["a process above"]);
    });
}

#[test]
fn a_capture_takes_no_event_between_processes() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let event = context.ipc_event().unwrap();
        for wait in [false, true] {
            let ended = stream.capture(CaptureMode::ThreadLocal, |s| {
                let refused = if wait { s.wait_ipc(&event) } else { event.record(s) };
                assert_says(&refused.unwrap_err(), ErrorKind::NotSupported, &["no part in captures"]);
                Ok(())
            });
            assert!(ended.is_err(), "the capture lacks it");
        }
    });
}

#[test]
fn each_call_that_fails_is_told() {
    alone(|context| {
        let makes =
            ["aclrtCreateNotify", "aclrtCntNotifyCreate", "aclrtCreateEventExWithFlag", "aclrtCreateEventWithFlag"];
        for call in makes {
            mock::fail(call, 1, 207_009).unwrap();
            let made = [
                context.notify().map(drop),
                context.counting_notify().map(drop),
                context.ipc_event().map(drop),
                context.external_event().map(drop),
            ];
            let errors: Vec<_> = made.into_iter().filter_map(Result::err).collect();
            assert_eq!(errors.len(), 1, "{call}");
            assert_says(&errors[0], ErrorKind::NoEvents, &[call, "207009"]);
        }
        let (notify, count) = (context.notify().unwrap(), context.counting_notify().unwrap());
        for call in [DESTROY, "aclrtCntNotifyDestroy"] {
            mock::fail(call, 1, 507_000).unwrap();
        }
        let (notify, count) = (notify.close().unwrap_err(), count.close().unwrap_err());
        assert_says(notify.error(), ErrorKind::Internal, &[DESTROY]);
        assert_says(count.error(), ErrorKind::Internal, &["aclrtCntNotifyDestroy"]);
        mock::fail(DESTROY, 1, 507_000).unwrap();
        drop(notify);
        let told = context.take_drop_errors();
        assert_eq!(told.len(), 1);
        assert_says(&told[0], ErrorKind::Internal, &[DESTROY, "destroying a notify"]);
        count.into_value().close().unwrap();
    });
}

#[test]
fn a_timestamp_is_told_of_events_that_were_reached() {
    common::needs_function("aclrtEventGetTimestamp");
    alone(|context| {
        let stream = context.stream().unwrap();
        let (first, second) = (context.timing_event().unwrap(), context.timing_event().unwrap());
        assert_eq!(first.timestamp().unwrap_err().kind(), ErrorKind::Internal, "never recorded");
        first.record(&stream).unwrap();
        stream.synchronize().unwrap();
        mock::advance(Duration::from_millis(3));
        second.record(&stream).unwrap();
        stream.synchronize().unwrap();
        let passed = second.timestamp().unwrap() - first.timestamp().unwrap();
        assert!(passed >= Duration::from_millis(3), "{passed:?}");
        mock::fail("aclrtEventGetTimestamp", 1, 107_006).unwrap();
        assert_eq!(first.timestamp().unwrap_err().kind(), ErrorKind::InvalidArgument);
    });
}
