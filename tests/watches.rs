//! Functions that hear what becomes of streams and devices. They hear of the whole process, so one test at a time.

mod common;

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{assert_says, mock};
use racl::{AbortStage, Acl, DeviceState, ErrorKind, StreamState};

fn alone(test: impl FnOnce(&Acl)) {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    racl::set_end_on_drop(true);
    test(&common::acl());
    mock::clear_failures();
}

#[test]
fn streams_are_heard_of_from_their_beginning_to_their_end() {
    alone(|acl| {
        let device = acl.device(0).unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let inside = Arc::clone(&heard);
        let watch = acl.watch_streams(move |stream, state| inside.lock().unwrap().push((stream, state))).unwrap();
        let stream = device.stream().unwrap();
        let handle = stream.as_raw().addr();
        drop(stream);
        let want = [(handle, StreamState::Created), (handle, StreamState::Destroying)];
        assert_eq!(*heard.lock().unwrap(), want);
        watch.end().unwrap();
        assert_eq!(Arc::strong_count(&heard), 1, "what the function owns is gone");
        drop(device.stream().unwrap());
        assert_eq!(heard.lock().unwrap().len(), 2);
    });
}

#[test]
fn devices_are_heard_of_when_they_open_and_when_they_are_reset() {
    alone(|acl| {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let inside = Arc::clone(&heard);
        let watch = acl.watch_devices(move |device, state| inside.lock().unwrap().push((device, state))).unwrap();
        acl.device(0).unwrap().close().unwrap();
        let want = [DeviceState::Opening, DeviceState::Opened, DeviceState::Resetting, DeviceState::Reset];
        assert_eq!(*heard.lock().unwrap(), want.map(|state| (0, state)));
        drop(watch);
    });
}

#[test]
fn several_hear_and_a_panic_harms_nobody() {
    alone(|acl| {
        let device = acl.device(0).unwrap();
        let heard = Arc::new(Mutex::new(0));
        let inside = Arc::clone(&heard);
        let panics = acl.watch_streams(|_, _| panic!("on purpose")).unwrap();
        let counts = acl.watch_streams(move |_, _| *inside.lock().unwrap() += 1).unwrap();
        device.stream().unwrap().close().unwrap();
        assert_eq!(*heard.lock().unwrap(), 2);
        drop((panics, counts));
    });
}

/// What the function owns goes where the last call of it ends, which is in the library's hands.
#[test]
fn a_watch_that_ends_during_a_call_ends_what_it_owns_and_a_panic_there_harms_nobody() {
    common::needs_function("aclrtRegStreamStateCallback");
    struct PanicsInDrop(Sender<()>);
    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
            panic!("on purpose");
        }
    }
    alone(|acl| {
        let device = acl.device(0).unwrap();
        let (called, calls) = channel();
        let (go_on, goes_on) = channel::<()>();
        let (dropped, drops) = channel();
        let goes_on = Mutex::new(goes_on);
        let owned = PanicsInDrop(dropped);
        let watch = acl.watch_streams(move |_, _| {
            let _owned = &owned;
            called.send(()).unwrap();
            goes_on.lock().unwrap().recv().unwrap();
        });
        let other = std::thread::spawn(move || device.stream().map(drop));
        calls.recv().unwrap();
        watch.unwrap().end().unwrap();
        assert!(drops.try_recv().is_err(), "a call goes on");
        go_on.send(()).unwrap();
        drops.recv().unwrap();
        other.join().unwrap().unwrap();
    });
}

#[test]
fn aborts_are_heard_of_before_and_after_and_can_be_refused() {
    common::needs_the_card_alone("it aborts a device");
    alone(|acl| {
        let device = acl.device(0).unwrap();
        let limit = Duration::from_secs(3);
        let heard = Arc::new(Mutex::new(Vec::new()));
        let inside = Arc::clone(&heard);
        let watch = acl
            .watch_aborts(move |device, stage, limit| {
                inside.lock().unwrap().push((device, stage, limit));
                true
            })
            .unwrap();
        device.context().abort_device(limit).unwrap();
        let want = [(0, AbortStage::Before, limit), (0, AbortStage::After, limit)];
        assert_eq!(*heard.lock().unwrap(), want);
        for refuses in [AbortStage::Before, AbortStage::After] {
            let refuse = acl.watch_aborts(move |_, stage, _| stage != refuses).unwrap();
            assert_eq!(device.context().abort_device(limit).unwrap_err().kind(), ErrorKind::Aborted);
            drop(refuse);
        }
        let panics = acl.watch_aborts(|_, _, _| panic!("on purpose")).unwrap();
        assert_eq!(device.context().abort_device(limit).unwrap_err().code(), Some(107_035));
        drop(panics);
        watch.end().unwrap();
        let count = heard.lock().unwrap().len();
        device.context().abort_device(limit).unwrap();
        assert_eq!((heard.lock().unwrap().len(), Arc::strong_count(&heard)), (count, 1));
        device.stream().unwrap().synchronize().unwrap();
    });
}

#[test]
fn a_watch_that_fails_is_told_and_keeps_nothing() {
    alone(|acl| {
        for call in ["aclrtRegStreamStateCallback", "aclrtRegDeviceStateCallback", "aclrtSetDeviceTaskAbortCallback"]
        {
            let owned = Arc::new(());
            let watch = |owned: Arc<()>| {
                if call.contains("Stream") {
                    acl.watch_streams(move |_, _| drop(Arc::clone(&owned)))
                } else if call.contains("Abort") {
                    acl.watch_aborts(move |_, _, _| Arc::strong_count(&owned) > 0)
                } else {
                    acl.watch_devices(move |_, _| drop(Arc::clone(&owned)))
                }
            };
            mock::fail(call, 1, 507_000).unwrap();
            assert_says(&watch(Arc::clone(&owned)).unwrap_err(), ErrorKind::Internal, &[call]);
            assert_eq!(Arc::strong_count(&owned), 1);
            let begun = watch(Arc::clone(&owned)).unwrap();
            mock::fail(call, 1, 507_000).unwrap();
            assert_says(&begun.end().unwrap_err(), ErrorKind::Internal, &[call]);
            assert_eq!(Arc::strong_count(&owned), 1);
        }
        acl.device(0).unwrap().stream().unwrap().synchronize().unwrap();
    });
}

#[test]
fn an_abort_that_was_refused_has_dropped_nothing() {
    common::needs_the_card_alone("it aborts a device");
    alone(|acl| {
        let device = acl.device(0).unwrap();
        let (stream, context) = (device.stream().unwrap(), device.context());
        let (over, runs) = (context.event().unwrap(), context.event().unwrap());
        let mut buffer = device.upload(&[1_u8; 4]).unwrap();
        let refuse = acl.watch_aborts(|_, stage, _| stage != AbortStage::Before).unwrap();
        stream.fill_bytes(&mut buffer, 2).unwrap();
        over.record(&stream).unwrap();
        // It is done, and nobody has asked.
        mock::run_until_idle();
        mock::hold(&stream).unwrap();
        stream.fill_bytes(&mut buffer, 3).unwrap();
        runs.record(&stream).unwrap();
        let limit = Duration::from_secs(3);
        assert_eq!(context.abort_device(limit).unwrap_err().kind(), ErrorKind::Aborted);
        mock::release(&stream).unwrap();
        over.synchronize().unwrap();
        runs.synchronize().unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [3; 4]);
        drop(refuse);
    });
}
