//! Runs whose work, or a part of it, was dropped by an abort.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use racl::op::DataType::F32;
use racl::plan::{External, Foreign, Frozen, Input, Mode, Plan, RunOptions};
use racl::{ErrorKind, Stream, op};

use crate::common::{Over, assert_says, mock};
use crate::{Alone, result};

const LIMIT: Duration = Duration::from_secs(10);

#[test]
fn updates_that_were_dropped_are_made_again() {
    crate::common::needs_the_card_alone("it aborts a device");
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Updatable)?;
        g.output("y", g.muls(x, 2.0)?)
    })
    .unwrap();
    for by_device in [true, false] {
        mock::stand_still(true);
        let stream = alone.stream();
        let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
        let (x, mut bind) = (exe.input("x").unwrap(), exe.bindings());
        let [first, second] = [1.0_f32, 10.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
        exe.run(&stream, bind.set(x, &first)).unwrap();
        stream.synchronize().unwrap();
        exe.run(&stream, bind.set(x, &second)).unwrap();
        if by_device {
            alone.device.context().abort_device(LIMIT).unwrap();
        } else {
            stream.abort().unwrap();
        }
        // Nothing needs it any more: its memory may be somebody else's.
        drop(first);
        let filled: Vec<_> = (0..8).map(|_| alone.device.upload_tensor(&[7.0_f32; 4], [4]).unwrap()).collect();
        for _ in 0..3 {
            exe.run(&stream, bind.set(x, &second)).unwrap();
            stream.synchronize().unwrap();
            assert_eq!(result(&exe, "y"), [20.0; 4], "by device: {by_device}");
        }
        mock::stand_still(false);
        drop((exe, filled, second));
    }
}

/// y = x + 0 behind a wait at a gate.
fn gated() -> (Plan, External) {
    let mut gate = None;
    let plan = Plan::build(|g| {
        let it = *gate.insert(g.external("ready")?);
        let x = g.input("x", [4], F32, Input::Static)?;
        g.wait_external(it)?;
        g.output("y", g.adds(x, 0.0)?)
    });
    (plan.unwrap(), gate.unwrap())
}

#[test]
fn a_run_behind_one_that_was_dropped_takes_no_signal_of_that() {
    crate::common::needs_the_card_alone("it aborts a device");
    let alone = Alone::new();
    for (mode, by_device) in [(Mode::Captured, false), (Mode::Captured, true), (Mode::Eager, false)] {
        let (plan, gate) = gated();
        let (stream, other) = (alone.stream(), alone.stream());
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let mut bind = exe.bindings();
        mock::hold(&stream).unwrap();
        exe.run(&stream, &mut bind).unwrap();
        exe.signal(gate, &other).unwrap();
        other.synchronize().unwrap();
        let aborted = if by_device { alone.device.context().abort_device(LIMIT) } else { stream.abort() };
        aborted.unwrap();
        mock::release(&stream).unwrap();
        for _ in 0..2 {
            let refused = exe.run(&stream, &mut bind).unwrap_err();
            assert_says(&refused, ErrorKind::Aborted, &["waits at gates", "release_gates"]);
        }
        assert_eq!(exe.release_gates().unwrap(), <[&str; 0]>::default());
        for _ in 0..2 {
            exe.run(&stream, &mut bind).unwrap();
            mock::run_until_idle();
            assert!(!stream.is_complete().unwrap(), "{mode:?}: the run did not wait for its signal");
            exe.signal(gate, &other).unwrap();
            stream.synchronize().unwrap();
        }
        assert!(alone.device.context().take_drop_errors().is_empty());
    }
}

/// The first of two was dropped, and the second took its signal.
#[test]
fn a_run_behind_two_takes_no_signal_of_one_that_was_dropped() {
    let alone = Alone::new();
    let (plan, gate) = gated();
    let (first, second, other) = (alone.stream(), alone.stream(), alone.stream());
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let mut bind = exe.bindings();
    exe.run(&first, &mut bind).unwrap();
    exe.run(&second, &mut bind).unwrap();
    first.abort().unwrap();
    exe.signal(gate, &other).unwrap();
    second.synchronize().unwrap();
    exe.signal(gate, &other).unwrap();
    other.synchronize().unwrap();
    assert_eq!(exe.run(&second, &mut bind).unwrap_err().kind(), ErrorKind::Aborted);
    exe.release_gates().unwrap();
    exe.run(&second, &mut bind).unwrap();
    mock::run_until_idle();
    assert!(!second.is_complete().unwrap());
    exe.signal(gate, &other).unwrap();
    second.synchronize().unwrap();
}

#[test]
fn others_are_ordered_behind_runs_that_follow_a_dropped_one() {
    let alone = Alone::new();
    let (plan, gate) = gated();
    let (stream, other, reader) = (alone.stream(), alone.stream(), alone.stream());
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let mut bind = exe.bindings();
    exe.run(&stream, &mut bind).unwrap();
    stream.abort().unwrap();
    // No signal was given, so there is none that it could take.
    exe.run(&stream, &mut bind).unwrap();
    mock::hold(&other).unwrap();
    exe.signal(gate, &other).unwrap();
    let mut copy = alone.device.upload_tensor(&[9.0_f32; 4], [4]).unwrap();
    exe.output::<f32>(exe.output_id("y").unwrap()).unwrap().copy_to(&reader, &mut copy).unwrap();
    mock::run_until_idle();
    assert!(!reader.is_complete().unwrap(), "the copy did not wait for the run");
    mock::release(&other).unwrap();
    assert_eq!(copy.to_vec().unwrap(), [0.0; 4]);
}

#[test]
fn runs_under_way_with_updates_go_on_after_an_abort() {
    crate::common::needs_the_card_alone("it aborts a device");
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Updatable)?;
        g.output("y", g.muls(x, 2.0)?)
    })
    .unwrap();
    mock::stand_still(true);
    let stream = alone.stream();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let (x, mut bind) = (exe.input("x").unwrap(), exe.bindings());
    let tensors = [1.0_f32, 10.0, 100.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
    exe.run(&stream, bind.set(x, &tensors[0])).unwrap();
    exe.run(&stream, bind.set(x, &tensors[1])).unwrap();
    alone.device.context().abort_device(LIMIT).unwrap();
    let _ = stream.synchronize();
    exe.run(&stream, bind.set(x, &tensors[2])).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(result(&exe, "y"), [200.0; 4]);
    mock::stand_still(false);
    drop(exe);
    alone.device.context().take_drop_errors();
}

#[test]
fn signals_that_are_under_way_are_waited_for_before_gates_begin_anew() {
    let alone = Alone::new();
    let (plan, gate) = gated();
    let (stream, other) = (alone.stream(), alone.stream());
    let options = RunOptions::new().signal_limit(Duration::from_millis(20));
    let mut exe = plan.executable(&alone.device, &options, Frozen::new()).unwrap();
    let mut bind = exe.bindings();
    exe.run(&stream, &mut bind).unwrap();
    mock::hold(&other).unwrap();
    exe.signal(gate, &other).unwrap();
    stream.abort().unwrap();
    assert_eq!(exe.release_gates().unwrap_err().kind(), ErrorKind::Timeout);
    assert_eq!(exe.run(&stream, &mut bind).unwrap_err().kind(), ErrorKind::Aborted);
    mock::release(&other).unwrap();
    other.synchronize().unwrap();
    exe.release_gates().unwrap();
    exe.run(&stream, &mut bind).unwrap();
    mock::run_until_idle();
    assert!(!stream.is_complete().unwrap());
    exe.signal(gate, &other).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn whoever_reads_first_is_told_that_the_run_was_dropped() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Host)?;
        let y = g.muls(x, 2.0)?;
        g.output("there", g.adds(y, 1.0)?)?;
        g.output_to_host("y", y)
    })
    .unwrap();
    for mode in [Mode::Captured, Mode::Eager] {
        for reads in 0..3 {
            let stream = alone.stream();
            let options = RunOptions::new().mode(mode).host_output_buffers(2);
            let mut exe = plan.executable(&alone.device, &options, Frozen::new()).unwrap();
            let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
            let there = exe.output_id("there").unwrap();
            mock::hold(&stream).unwrap();
            exe.run(&stream, bind.host(x, &[1.0_f32; 4], [4])).unwrap();
            let mut taken = (reads == 0).then(|| exe.take_host_outputs().unwrap());
            stream.abort().unwrap();
            mock::release(&stream).unwrap();
            let mut read = || match (&mut taken, reads) {
                (Some(taken), _) => taken.read::<f32>(y),
                (None, 1) => exe.host_output(y),
                _ => exe.output::<f32>(there).and_then(|there| there.to_vec()),
            };
            assert_says(&read().unwrap_err(), ErrorKind::Aborted, &["aborted"]);
            assert_eq!(read().unwrap_err().kind(), ErrorKind::InvalidArgument, "{mode:?} {reads}");
            drop(taken);
            exe.run(&stream, bind.host(x, &[3.0_f32; 4], [4])).unwrap();
            assert_eq!(exe.host_output::<f32>(y).unwrap(), [6.0; 4]);
        }
    }
}

/// A thread aborts again and again, so that aborts come in the midst of runs.
#[test]
fn outputs_of_runs_that_were_dropped_in_part_say_so() {
    crate::common::needs_the_card_alone("it aborts a device");
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [64], F32, Input::Host)?;
        g.output_to_host("y", g.muls(x, 2.0)?)
    })
    .unwrap();
    for by_device in [true, false] {
        let (stream, stop) = (alone.stream(), AtomicBool::new(false));
        let options = RunOptions::new().host_output_buffers(2);
        let mut exe = plan.executable(&alone.device, &options, Frozen::new()).unwrap();
        let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
        std::thread::scope(|scope| {
            let _over = Over::at_end(&stop);
            scope.spawn(|| aborts(&alone, &stream, by_device, &stop));
            for number in 1..5_000 {
                let value = number as f32;
                let read = exe
                    .run(&stream, bind.host(x, &[value; 64], [64]))
                    .and_then(|()| exe.take_host_outputs()?.read::<f32>(y));
                if let Ok(read) = read {
                    assert_eq!(read, [2.0 * value; 64]);
                }
            }
        });
    }
    alone.device.context().take_drop_errors();
}

fn aborts(alone: &Alone, stream: &Stream, by_device: bool, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let _ = if by_device { alone.device.context().abort_device(LIMIT) } else { stream.abort() };
        std::thread::yield_now();
    }
}

#[test]
fn what_a_foreign_operator_gives_to_another_stream_is_ordered() {
    let alone = Alone::new();
    for mode in [Mode::Eager, Mode::Captured] {
        let (stream, mine, producer) = (alone.stream(), alone.stream(), alone.stream());
        let shared = alone.device.context().zeros::<f32>([4]).unwrap();
        let (own, there) = (mine.clone(), Mutex::new(shared.clone()));
        let foreign = Foreign::unnamed(move |_| op::muls_inplace(&own, &mut *there.lock().unwrap(), 10.0));
        let plan = Plan::build(|g| {
            let (x, y) = (g.input("x", [4], F32, Input::Static)?, g.empty([4], F32)?);
            g.foreign(&foreign, &[x], &[y])?;
            g.output("y", y)
        })
        .unwrap();
        mock::hold(&producer).unwrap();
        op::fill(&producer, &mut shared.clone(), 5.0).unwrap();
        // A graph is recorded here, and the operator runs then.
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        exe.run(&stream, &mut exe.bindings()).unwrap();
        mock::run_until_idle();
        mock::release(&producer).unwrap();
        assert_eq!(shared.to_vec().unwrap(), [50.0; 4], "{mode:?}");
    }
}
