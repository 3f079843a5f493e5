//! Numbers in device memory that streams write and wait for. Lets calls of the mock fail, so one test at a time.

mod common;

use common::{assert_says, mock};
use racl::{CaptureMode, Device, ErrorKind, ValueWait};

fn alone(test: impl FnOnce(&Device)) {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let device = common::direct_device();
    test(&device);
    mock::clear_failures();
    assert!(device.context().take_drop_errors().is_empty());
}

#[test]
fn streams_wait_for_values_in_every_way() {
    alone(|device| {
        let stream = device.stream().unwrap();
        let high = 1_u64 << 63;
        let cases = [
            (ValueWait::AtLeast(5), 6, 4),
            // A counter that has wrapped.
            (ValueWait::AtLeast(u64::MAX), 2, u64::MAX - 1),
            (ValueWait::AtLeast(5), high + 4, high + 5),
            (ValueWait::Equal(5), 5, 6),
            (ValueWait::And(0b110), 0b1010, 0b1001),
            (ValueWait::Nor(u64::MAX << 1), 0b10, 1),
        ];
        for (until, holds, fails) in cases {
            let flag = device.context().flag(fails).unwrap();
            stream.wait_value(&flag, until).unwrap();
            assert!(!stream.is_complete().unwrap(), "{until:?} of {fails}");
            flag.set(holds).unwrap();
            stream.synchronize().unwrap();
            assert_eq!(flag.value().unwrap(), holds);
        }
    });
}

#[test]
fn a_write_is_in_the_order_of_its_stream_and_of_no_other() {
    alone(|device| {
        let (writer, waiter) = (device.stream().unwrap(), device.stream().unwrap());
        let flag = device.context().flag(0).unwrap();
        // The wait is submitted first; the write does not come behind it.
        waiter.wait_value(&flag, ValueWait::Equal(7)).unwrap();
        mock::hold(&writer).unwrap();
        writer.write_value(&flag, 7).unwrap();
        assert_eq!(flag.clone().value().unwrap(), 0);
        assert!(!waiter.is_complete().unwrap());
        mock::release(&writer).unwrap();
        waiter.synchronize().unwrap();
        assert_eq!(flag.value().unwrap(), 7);
    });
}

#[test]
fn a_graph_waits_for_the_host_at_each_launch() {
    alone(|device| {
        let stream = device.stream().unwrap();
        let (bell, done) = (device.context().flag(0).unwrap(), device.context().flag(0).unwrap());
        let mut graph = stream
            .capture(CaptureMode::ThreadLocal, |s| {
                s.wait_value(&bell, ValueWait::Equal(1))?;
                s.write_value(&bell, 0)?;
                s.write_value(&done, 1)
            })
            .unwrap();
        for _ in 0..2 {
            graph.launch(&stream).unwrap();
            assert!(!stream.is_complete().unwrap());
            bell.set(1).unwrap();
            stream.synchronize().unwrap();
            assert_eq!((bell.value().unwrap(), done.value().unwrap()), (0, 1));
            done.set(0).unwrap();
        }
        // The graph keeps them.
        let other = done.clone();
        drop((bell, done));
        other.set(5).unwrap();
        graph.close().unwrap();
    });
}

#[test]
fn a_flag_lives_as_long_as_work_that_waits_for_it() {
    alone(|device| {
        let stream = device.stream().unwrap();
        let before = mock::live_handles().device_allocations;
        let flag = device.context().flag(0).unwrap();
        stream.wait_value(&flag, ValueWait::Equal(1)).unwrap();
        let other = flag.clone();
        drop(flag);
        other.set(1).unwrap();
        drop(other);
        stream.synchronize().unwrap();
        stream.wait_value(&device.context().flag(0).unwrap(), ValueWait::Equal(1)).unwrap();
        assert_eq!(mock::live_handles().device_allocations, before + 1, "nobody can write it, and it is kept");
        stream.abort().unwrap();
        stream.synchronize().unwrap();
        assert_eq!(mock::live_handles().device_allocations, before);
    });
}

#[test]
fn each_call_that_fails_is_told_and_spoils_a_capture() {
    alone(|device| {
        let stream = device.stream().unwrap();
        let flag = device.context().flag(3).unwrap();
        for call in ["aclrtValueWrite", "aclrtValueWait"] {
            mock::fail(call, 1, 207_000).unwrap();
            let both = [stream.write_value(&flag, 1), stream.wait_value(&flag, ValueWait::Equal(1))];
            let told: Vec<_> = both.into_iter().filter_map(Result::err).collect();
            assert_eq!(told.len(), 1, "{call}");
            assert_says(&told[0], ErrorKind::NotSupported, &[call, "207000"]);
            flag.set(1).unwrap();
            stream.synchronize().unwrap();
        }
        mock::fail("aclrtValueWrite", 1, 207_000).unwrap();
        let ended = stream.capture(CaptureMode::ThreadLocal, |s| {
            s.write_value(&flag, 1).unwrap_err();
            Ok(())
        });
        assert!(ended.is_err());
        flag.set(3).unwrap();
        mock::fail("aclrtMemcpy", 1, 507_899).unwrap();
        assert_says(&flag.value().unwrap_err(), ErrorKind::Driver, &["aclrtMemcpy"]);
        mock::fail("aclrtMemcpy", 1, 507_899).unwrap();
        assert_says(&flag.set(4).unwrap_err(), ErrorKind::Driver, &["aclrtMemcpy"]);
        assert_eq!(flag.value().unwrap(), 3);
    });
}
