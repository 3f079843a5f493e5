//! What streams are told of themselves. Lets calls of the mock fail and sets what counts for the process, so one test
//! at a time.

mod common;

use common::{assert_says, mock};
use racl::{CaptureMode, Device, ErrorKind, OverflowMode, StreamOptions, op};

fn alone(test: impl FnOnce(&Device)) {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let device = common::device();
    test(&device);
    mock::clear_failures();
}

#[test]
fn options_reach_the_stream() {
    alone(|device| {
        let plain = device.stream().unwrap();
        assert_eq!((plain.priority().unwrap(), plain.tag().unwrap()), (0, None));
        assert!(!plain.stops_on_failure().unwrap() && !plain.checks_overflow().unwrap());
        let options = StreamOptions::new().priority(6).stop_on_failure().overflow_check().tag(0);
        let stream = device.stream_with(options).unwrap();
        assert_eq!((stream.priority().unwrap(), stream.tag().unwrap()), (6, Some(0)));
        assert!(stream.stops_on_failure().unwrap() && stream.checks_overflow().unwrap());
        stream.set_overflow_check(false).unwrap();
        assert!(!stream.checks_overflow().unwrap());
        stream.stop_on_failure().unwrap(); // again
        assert!(!plain.stops_on_failure().unwrap(), "a mode of the stream alone");
    });
}

#[test]
fn a_stream_whose_option_fails_is_destroyed() {
    alone(|device| {
        let options = StreamOptions::new().stop_on_failure().overflow_check().tag(1);
        for call in ["aclrtSetStreamFailureMode", "aclrtSetStreamOverflowSwitch", "aclrtSetStreamAttribute"] {
            mock::fail(call, 1, 207_000).unwrap();
            assert_says(&device.stream_with(options).unwrap_err(), ErrorKind::NotSupported, &[call, "207000"]);
            assert_eq!(mock::live_handles().streams, 0);
        }
        let wrong = device.stream_with(StreamOptions::new().tag(u32::MAX)).unwrap_err();
        assert_says(&wrong, ErrorKind::InvalidArgument, &["4294967295", "stands for none"]);
        assert_eq!(mock::live_handles().streams, 0);
        let stream = device.stream().unwrap();
        for call in ["aclrtStreamGetPriority", "aclrtGetStreamAttribute", "aclrtGetStreamOverflowSwitch"] {
            mock::fail(call, 1, 507_000).unwrap();
            let asked = [
                stream.priority().map(drop),
                stream.stops_on_failure().map(drop),
                stream.checks_overflow().map(drop),
            ];
            assert_eq!(asked.iter().filter(|asked| asked.is_err()).count(), 1, "{call}: {asked:?}");
        }
    });
}

/// What a stream refuses that stopped uses nothing: other streams go on with the memory.
#[test]
fn memory_of_work_that_a_stopped_stream_refused_is_as_before() {
    alone(|device| {
        let (stopped, other) = (device.stream().unwrap(), device.stream().unwrap());
        stopped.stop_on_failure().unwrap();
        let mut x = device.zeros::<f32>([4]).unwrap();
        let mut bytes = device.upload(&[0_u8; 4]).unwrap();
        let mut graph = other.capture(CaptureMode::ThreadLocal, |s| op::adds_inplace(s, &mut x, 1.0)).unwrap();
        mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
        stopped.fill_bytes(&mut bytes, 1).unwrap();
        stopped.synchronize().unwrap_err();
        for round in 1..=2_u8 {
            let refused = [stopped.fill_bytes(&mut bytes, 9), graph.launch(&stopped), other.fork(&stopped)];
            for refused in refused {
                assert_eq!(refused.unwrap_err().kind(), ErrorKind::DeviceFault);
            }
            other.fill_bytes(&mut bytes, round).unwrap();
            graph.launch(&other).unwrap();
        }
        assert_eq!((bytes.to_vec().unwrap(), x.to_vec().unwrap()), (vec![2; 4], vec![2.0; 4]));
    });
}

#[test]
fn nothing_runs_behind_a_failure_where_the_stream_stops() {
    common::needs_the_card_alone("it aborts a device");
    alone(|device| {
        for stops in [false, true] {
            let stream = device.stream().unwrap();
            if stops {
                stream.stop_on_failure().unwrap();
            }
            let mut buffer = device.upload(&[0_u8; 8]).unwrap();
            mock::hold(&stream).unwrap();
            mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
            let (mut first, mut second) = buffer.split_at_mut(4).unwrap();
            stream.fill_bytes(&mut first, 1).unwrap();
            stream.fill_bytes(&mut second, 2).unwrap();
            mock::release(&stream).unwrap();
            assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::DeviceFault);
            let later = stream.fill_bytes(&mut first, 3);
            if stops {
                assert_says(&later.unwrap_err(), ErrorKind::DeviceFault, &["507015"]);
                device.abort_device(std::time::Duration::from_secs(1)).unwrap();
                stream.fill_bytes(&mut first, 3).unwrap();
            } else {
                later.unwrap();
            }
            stream.synchronize().unwrap();
            let second = if stops { 0 } else { 2 };
            assert_eq!(buffer.to_vec().unwrap(), [3, 3, 3, 3, second, second, second, second], "stops: {stops}");
        }
    });
}

#[test]
fn attributes_wait_for_the_end_of_a_capture() {
    common::needs_function("aclrtSetStreamAttribute");
    alone(|device| {
        let stream = device.stream().unwrap();
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        for refused in [stream.set_overflow_check(true), stream.set_tag(1)] {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::CaptureForbidden);
        }
        let side = capture.stream().side("1").unwrap();
        for refused in [side.stop_on_failure(), side.set_overflow_check(true), side.set_tag(1)] {
            assert_says(&refused.unwrap_err(), ErrorKind::NotSupported, &["belong to their context"]);
        }
        drop(side);
        capture.finish().unwrap();
        stream.set_tag(1).unwrap();
    });
}

#[test]
fn the_status_of_overflow_is_read_in_the_order_of_the_stream() {
    alone(|device| {
        let stream = device.stream().unwrap();
        stream.set_overflow_check(true).unwrap();
        let mut status = device.upload(&[1_u32; 16]).unwrap();
        mock::hold(&stream).unwrap();
        stream.overflow_status(&mut status).unwrap();
        stream.reset_overflow_status().unwrap();
        assert!(!stream.is_complete().unwrap());
        mock::release(&stream).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(status.to_vec().unwrap(), [0; 16]);
        assert!(!stream.has_overflowed().unwrap());
        let short = stream.overflow_status(&mut device.alloc::<u8>(63).unwrap()).unwrap_err();
        assert_says(&short, ErrorKind::InvalidArgument, &["63 bytes", "it has 64"]);
        for call in ["aclrtGetOverflowStatus", "aclrtResetOverflowStatus"] {
            mock::fail(call, 1, 507_000).unwrap();
            let both = [stream.has_overflowed().map(drop), stream.reset_overflow_status()];
            assert_eq!(both.iter().filter(|asked| asked.is_err()).count(), 1, "{call}: {both:?}");
        }
    });
}

#[test]
fn a_capture_that_asks_for_overflow_gives_no_graph() {
    alone(|device| {
        let stream = device.stream().unwrap();
        let mut status = device.alloc::<u8>(64).unwrap();
        let asked = stream.capture(CaptureMode::ThreadLocal, |s| s.overflow_status(&mut status)).unwrap_err();
        assert_eq!(asked.kind(), ErrorKind::CaptureForbidden);
        for wrong in [1, 2] {
            let ended = stream.capture(CaptureMode::ThreadLocal, |s| {
                let refused = if wrong == 1 {
                    s.reset_overflow_status().unwrap_err()
                } else {
                    s.overflow_status(&mut device.alloc::<u8>(8)?).unwrap_err()
                };
                assert!(matches!(refused.kind(), ErrorKind::CaptureForbidden | ErrorKind::InvalidArgument));
                Ok(())
            });
            assert!(ended.is_err(), "swallowing the error does not help");
        }
    });
}

#[test]
fn the_mode_of_overflow_is_kept() {
    common::needs_mock("it lets a call fail");
    alone(|device| {
        assert_eq!(device.overflow_mode().unwrap(), OverflowMode::InfNan); // of the mock
        device.set_overflow_mode(OverflowMode::Saturate).unwrap();
        assert_eq!(device.overflow_mode().unwrap(), OverflowMode::Saturate);
        assert_eq!(device.set_overflow_mode(OverflowMode::Other(9)).unwrap_err().kind(), ErrorKind::InvalidArgument);
        mock::fail("aclrtSetDeviceSatMode", 1, 207_000).unwrap();
        assert_eq!(device.set_overflow_mode(OverflowMode::InfNan).unwrap_err().kind(), ErrorKind::NotSupported);
        mock::fail("aclrtGetDeviceSatMode", 1, 507_000).unwrap();
        assert_eq!(device.overflow_mode().unwrap_err().kind(), ErrorKind::Internal);
    });
}
