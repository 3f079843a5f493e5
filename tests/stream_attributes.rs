//! What streams are told of themselves. Lets calls of the mock fail and sets what counts for the process, so one test
//! at a time.

mod common;

use common::{assert_says, mock};
use racl::sys::{aclrtStreamAttr, aclrtStreamAttrValue};
use racl::{CaptureMode, Device, ErrorKind, OverflowMode, Stream, StreamOptions, op};

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

/// Whether a capture of the stream notes what operators are called.
fn names_operators(stream: &Stream) -> bool {
    let mut value = aclrtStreamAttrValue { reserve: [0; 4] };
    let get = stream.context().acl().table().aclrtGetStreamAttribute().unwrap();
    // SAFETY: a live stream, and a place for one value.
    let code = unsafe { get(stream.as_raw(), aclrtStreamAttr::ACL_STREAM_ATTR_CACHE_OP_INFO, &raw mut value) };
    assert_eq!(code, 0);
    // SAFETY: the attribute is a number of this size.
    unsafe { value.cacheOpInfoSwitch == 1 }
}

#[test]
fn operators_are_named_in_a_part_of_a_capture() {
    alone(|device| {
        let stream = device.stream().unwrap();
        let outside = stream.naming_operators(|_| -> racl::Result<()> { panic!("it is not done") }).unwrap_err();
        assert_says(&outside, ErrorKind::InvalidArgument, &["records none"]);
        let mut x = device.upload_tensor(&[1.0_f32], [1]).unwrap();
        let record = |s: &Stream| {
            assert!(!names_operators(s));
            let done = s.naming_operators(|s| {
                s.naming_operators(|s| op::adds_inplace(s, &mut x, 1.0))?;
                assert!(names_operators(s), "the outer one goes on");
                Ok(7)
            })?;
            assert!(!names_operators(s));
            assert_eq!(done, 7);
            let failed = s.naming_operators(|s| s.context().alloc::<u8>(0)).unwrap_err();
            assert!(failed.to_string().contains("zero bytes") && !names_operators(s), "{failed}");
            Ok(())
        };
        let mut graph = stream.capture(CaptureMode::ThreadLocal, record).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(x.to_vec().unwrap(), [2.0]);
        // Nor is the next capture, when one ends by a panic.
        let thrown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            stream
                .capture(CaptureMode::ThreadLocal, |s| s.naming_operators(|_| -> racl::Result<()> { panic!("mine") }))
        }));
        assert!(thrown.is_err());
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        assert!(!names_operators(capture.stream()));
        drop(capture);
    });
}

#[test]
fn each_call_about_the_names_of_operators_that_fails_is_told() {
    alone(|device| {
        let stream = device.stream().unwrap();
        let calls =
            [("aclrtGetStreamAttribute", 1, 0), ("aclrtSetStreamAttribute", 1, 0), ("aclrtSetStreamAttribute", 2, 1)];
        for (call, nth, done) in calls {
            let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
            let mut count = 0;
            mock::fail(call, nth, 107_000).unwrap();
            let work = |_: &Stream| {
                count += 1;
                Ok(())
            };
            let told = capture.stream().naming_operators(work).unwrap_err();
            assert_says(&told, ErrorKind::InvalidArgument, &[call, "107000"]);
            assert_eq!(count, done, "{call} {nth}");
            mock::clear_failures();
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
