//! When futures are ready.

use std::sync::Arc;
use std::task::{Poll, Waker};

use racl::op::DataType::F32;
use racl::plan::{Frozen, Input, Mode, Plan, RunOptions};
use racl::{CaptureMode, ErrorKind};

use crate::alone;
use crate::common::{assert_says, device, mock};
use crate::executor::{Woken, assert_waits, block_on, poll};

#[test]
fn work_is_done_when_its_future_is_ready() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(64).unwrap();
    for round in 0..200 {
        stream.fill_bytes(&mut buffer, round).unwrap();
        block_on(stream.finished()).unwrap();
        assert!(stream.is_complete().unwrap());
        assert_eq!(buffer.to_vec().unwrap(), [round; 64]);
    }
}

#[test]
fn a_future_waits_for_what_is_held_and_wakes_once() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    mock::hold(&stream).unwrap();
    let mut buffer = device.alloc::<u8>(64).unwrap();
    stream.fill_bytes(&mut buffer, 7).unwrap();
    let mut finished = stream.finished();
    let (first, second) = (Woken::new(), Woken::new());
    assert_waits(&mut finished, &first.1);
    assert_waits(&mut finished, &second.1);
    assert_eq!((first.0.count(), second.0.count()), (0, 0));
    mock::release(&stream).unwrap();
    second.0.wait();
    assert!(matches!(poll(&mut finished, &second.1), Poll::Ready(Ok(()))));
    assert_eq!((first.0.count(), second.0.count()), (0, 1), "only who polled last is woken");
    let Poll::Ready(Err(again)) = poll(&mut finished, &second.1) else { panic!("it was ready") };
    assert_says(&again, ErrorKind::InvalidArgument, &["polled again"]);
    assert_eq!(buffer.to_vec().unwrap(), [7; 64]);
}

/// Whoever awaits it lets others have the executable, who signal.
#[test]
fn a_run_at_a_gate_is_awaited_while_others_signal() {
    let _alone = alone();
    let device = device();
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let mut gate = None;
    let plan = Plan::build(|g| {
        let it = *gate.insert(g.external("gate")?);
        g.wait_external(it)?;
        let x = g.input("x", [4], F32, Input::Static)?;
        g.output("y", g.abs(x)?)
    });
    let (gate, plan) = (gate.unwrap(), plan.unwrap());
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = plan.executable(&device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let mut bind = exe.bindings();
        for fails in [false, mode == Mode::Eager] {
            if fails {
                mock::fail_task("aclnnAbs", 1, 507_015).unwrap();
            }
            exe.run(&stream, &mut bind).unwrap();
            let (woken, waker) = Woken::new();
            let mut reached = exe.run_end().unwrap().expect("nobody signalled").reached();
            assert_waits(&mut reached, &waker);
            exe.signal(gate, &other).unwrap();
            woken.wait();
            let Poll::Ready(ended) = poll(&mut reached, &waker) else { panic!("it was woken") };
            assert_eq!(ended.err().map(|error| error.kind()), fails.then_some(ErrorKind::DeviceFault), "{mode:?}");
            assert!(exe.run_end().unwrap().is_none());
            let read = exe.output::<f32>(exe.output_id("y").unwrap()).and_then(|y| y.to_vec());
            assert_eq!(read.is_err(), fails, "a read knows of what the future was told");
            drop(stream.synchronize());
        }
        drop((bind, exe));
        drop(device.context().take_drop_errors());
    }
}

#[test]
fn host_outputs_are_awaited_while_later_runs_are_held() {
    let _alone = alone();
    let device = device();
    let (stream, later) = (device.stream().unwrap(), device.stream().unwrap());
    let plan = Plan::build(|g| {
        let x = g.input("x", [2], F32, Input::Host)?;
        let b = g.scope("side", |g| g.muls(x, 2.0))?;
        let a = g.abs(x)?;
        g.join("side")?;
        g.output_to_host("y", g.add(a, b)?)
    });
    let plan = plan.unwrap();
    for mode in [Mode::Captured, Mode::Eager] {
        for fails in [false, true] {
            let options = RunOptions::new().mode(mode).host_output_buffers(2);
            let mut exe = plan.executable(&device, &options, Frozen::new()).unwrap();
            let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
            if fails && mode == Mode::Eager {
                mock::fail_task("aclnnMuls", 1, 507_015).unwrap();
            } else if fails {
                mock::fail_task("aclrtMemcpyAsync", 1, 507_015).unwrap();
            }
            mock::hold(&stream).unwrap();
            exe.run(&stream, bind.host(x, &[1.0_f32, 2.0], [2])).unwrap();
            let mut outputs = exe.take_host_outputs().unwrap();
            mock::hold(&later).unwrap();
            exe.run(&later, bind.host(x, &[5.0_f32, 6.0], [2])).unwrap();
            let (woken, waker) = Woken::new();
            {
                let mut arrived = outputs.arrived();
                assert_waits(&mut arrived, &waker);
            }
            let mut arrived = outputs.arrived();
            assert_waits(&mut arrived, &waker);
            mock::release(&stream).unwrap();
            let ended = loop {
                match poll(&mut arrived, &waker) {
                    Poll::Ready(ended) => break ended,
                    Poll::Pending => woken.wait(),
                }
            };
            assert!(!later.is_complete().unwrap(), "the later run is held");
            assert_eq!(ended.is_err(), fails, "{mode:?}: {ended:?}");
            match outputs.read::<f32>(y) {
                Ok(y) => assert!(!fails && y == [3.0, 6.0], "{mode:?}: {y:?}"),
                Err(error) => assert!(fails, "{mode:?}: {error}"),
            }
            mock::release(&later).unwrap();
            drop((later.synchronize(), stream.synchronize()));
            mock::clear_failures();
            drop((outputs, exe));
            drop(device.context().take_drop_errors());
        }
    }
}

#[test]
fn work_behind_the_point_is_not_waited_for() {
    let _alone = alone();
    let device = device();
    let (stream, side) = (device.stream().unwrap(), device.stream().unwrap());
    let mut buffer = device.alloc::<u8>(64).unwrap();
    mock::hold(&side).unwrap();
    let opens = device.event().unwrap();
    opens.record(&side).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    let finished = stream.finished();
    stream.wait(&opens).unwrap();
    stream.fill_bytes(&mut buffer, 2).unwrap();
    block_on(finished).unwrap();
    assert!(!stream.is_complete().unwrap());
    mock::release(&side).unwrap();
    block_on(stream.finished()).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [2; 64]);
}

/// The thread waits for the later point already when it is told of the earlier one, which the later one needs.
#[test]
fn the_earlier_of_two_is_told_though_the_later_was_polled_first() {
    let _alone = alone();
    let device = device();
    let (stream, side) = (device.stream().unwrap(), device.stream().unwrap());
    mock::hold(&side).unwrap();
    mock::hold(&stream).unwrap();
    let opens = device.event().unwrap();
    opens.record(&side).unwrap();
    let mut early = stream.finished();
    stream.wait(&opens).unwrap();
    let mut late = stream.finished();
    let (woken_late, woken_early) = (Woken::new(), Woken::new());
    assert_waits(&mut late, &woken_late.1);
    assert_waits(&mut early, &woken_early.1);
    mock::release(&stream).unwrap();
    woken_early.0.wait();
    assert!(matches!(poll(&mut early, &woken_early.1), Poll::Ready(Ok(()))));
    assert_eq!(woken_late.0.count(), 0);
    mock::release(&side).unwrap();
    block_on(late).unwrap();
}

#[test]
fn a_thousand_futures_of_one_stream_are_ready_in_any_order() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(64).unwrap();
    mock::hold(&stream).unwrap();
    let mut all: Vec<_> = (0..1000)
        .map(|_| {
            stream.fill_bytes(&mut buffer, 1).unwrap();
            stream.finished()
        })
        .collect();
    fastrand::Rng::with_seed(4).shuffle(&mut all);
    all.iter_mut().for_each(|one| assert_waits(one, Waker::noop()));
    mock::release(&stream).unwrap();
    all.into_iter().for_each(|one| block_on(one).unwrap());
}

#[test]
fn events_are_awaited() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let event = Arc::new(device.event().unwrap());
    assert!(poll(&mut event.reached(), Waker::noop()).is_ready(), "one that was never recorded");
    let mut buffer = device.alloc::<u8>(64).unwrap();
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut buffer, 3).unwrap();
    event.record(&stream).unwrap();
    let mut reached = event.reached();
    assert_waits(&mut reached, Waker::noop());
    // The future keeps it.
    drop(event);
    mock::release(&stream).unwrap();
    block_on(reached).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [3; 64]);
}

#[test]
fn copies_give_their_buffers_back() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let numbers: Vec<f32> = (0..1000).map(|index| index as f32).collect();
    let mut buffer = device.alloc::<f32>(1000).unwrap();
    let back = block_on(async {
        let sent = stream.upload(device.pinned_from(&numbers)?, &mut buffer).map_err(racl::Refused::into_error)?;
        let pinned = sent.await?;
        let came = stream.download(&buffer, device.pinned(1000)?).map_err(racl::Refused::into_error)?;
        assert_eq!(*pinned, *numbers);
        Ok::<_, racl::Error>(came.await?)
    });
    assert_eq!(*back.unwrap(), *numbers);
}

#[test]
fn launches_and_runs_are_awaited_by_their_stream() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(64).unwrap();
    let mut graph = stream.capture(CaptureMode::Relaxed, |s| s.fill_bytes(&mut buffer, 9)).unwrap();
    graph.launch(&stream).unwrap();
    block_on(stream.finished()).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [9; 64]);

    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Host)?;
        g.output_to_host("y", g.adds(x, 1.0)?)
    });
    let mut exe = plan.unwrap().capture(&device, Frozen::new()).unwrap();
    let (x, y) = (exe.input("x").unwrap(), exe.output_id("y").unwrap());
    let mut bind = exe.bindings();
    exe.run(&stream, bind.host(x, &[1.0_f32, 2.0, 3.0, 4.0], [4])).unwrap();
    block_on(stream.finished()).unwrap();
    assert_eq!(exe.host_output::<f32>(y).unwrap(), [2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn captures_are_not_awaited() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let event = Arc::new(device.event().unwrap());
    let mut buffer = device.alloc::<u8>(64).unwrap();
    let mut graph = stream
        .capture(CaptureMode::Relaxed, |s| {
            let error = block_on(s.finished()).unwrap_err();
            assert_says(&error, ErrorKind::CaptureForbidden, &["records a graph"]);
            event.record(s)?;
            let error = block_on(event.reached()).unwrap_err();
            assert_says(&error, ErrorKind::CaptureForbidden, &["in a capture"]);
            let lent = s.upload(device.pinned_from(&[4_u8; 64])?, &mut buffer).map_err(racl::Refused::into_error)?;
            let refused = block_on(lent.into_future()).unwrap_err();
            assert_says(refused.error(), ErrorKind::InvalidArgument, &["belongs to a graph"]);
            Ok(())
        })
        .unwrap();
    let error = block_on(event.reached()).unwrap_err();
    assert_says(&error, ErrorKind::CaptureDependency, &["in a capture"]);
    graph.launch(&stream).unwrap();
    block_on(stream.finished()).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [4; 64]);
}

/// What waits on another thread has let go of everything by the time that somebody is told.
#[test]
fn a_context_can_be_closed_by_whoever_was_told() {
    let _alone = alone();
    let device = device();
    for _ in 0..20 {
        let context = device.context().create_context().unwrap();
        let stream = context.stream().unwrap();
        mock::hold(&stream).unwrap();
        let mut finished = stream.finished();
        let (woken, waker) = Woken::new();
        assert_waits(&mut finished, &waker);
        mock::release(&stream).unwrap();
        woken.wait();
        assert!(matches!(poll(&mut finished, &waker), Poll::Ready(Ok(()))));
        drop(finished);
        stream.close().unwrap();
        context.close().unwrap();
    }
}

#[test]
fn the_stream_may_go_before_its_future() {
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(64).unwrap();
    stream.fill_bytes(&mut buffer, 5).unwrap();
    let finished = stream.finished();
    drop(stream);
    block_on(finished).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [5; 64]);
}
