//! Executables on other threads, wrong streams, and failures in the middle of eager runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use racl::op::DataType::F32;
use racl::plan::{Cores, Frozen, Input, Mode, OnMove, Plan, RunOptions, Scope};
use racl::{CaptureMode, ErrorKind};

use crate::common::{assert_says, mock};
use crate::kernels::{FAIL, PANIC, WORK, copy_as_told};
use crate::{Alone, give, result};

/// y = copy(x) + copy(x), the copy on a side stream with a core limit, an event and gates between the two.
fn told(now: &Arc<AtomicU32>) -> Plan {
    let kernel = copy_as_told(now);
    Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let gate = g.external("gate")?;
        let a = g.empty([4], F32)?;
        let limit = Scope::new().cores(Cores { cube: 1, vector: 1 });
        g.scope_with("side", Scope::new(), |g| g.wait_external(gate))?;
        g.scope_with("work", limit, |g| g.foreign(&kernel, &[x], &[a]))?;
        g.record_external(gate)?;
        g.join("side")?;
        g.join("work")?;
        let y = g.add(a, a)?;
        g.output("y", y)
    })
    .unwrap()
}

#[test]
fn code_of_the_user_that_fails_or_panics_leaves_an_executable_that_works() {
    let alone = Alone::new();
    let stream = alone.stream();
    for mode in [Mode::Captured, Mode::Eager] {
        let now = Arc::new(AtomicU32::new(WORK));
        let options = RunOptions::new().mode(mode).force_recapture();
        let mut exe = told(&now).executable(&alone.device, &options, Frozen::new()).unwrap();
        for (turn, how) in [WORK, FAIL, WORK, PANIC, WORK, FAIL, PANIC, WORK].into_iter().enumerate() {
            now.store(how, Ordering::Relaxed);
            let x = alone.device.upload_tensor(&[turn as f32; 4], [4]).unwrap();
            let mut bind = give(&exe, "x", &x);
            let done = catch_unwind(AssertUnwindSafe(|| exe.run(&stream, &mut bind)));
            match how {
                WORK => {
                    done.unwrap().unwrap();
                    assert_eq!(result(&exe, "y"), [2.0 * turn as f32; 4], "{mode:?}");
                }
                FAIL => {
                    let parts = ["foreign operator \"test.told\" (#", "stream \"work\", tests/plans/lifetimes.rs:"];
                    let error = done.unwrap().unwrap_err();
                    assert!(parts.iter().all(|part| format!("{error:#}").contains(part)), "{error:#}");
                }
                _ => assert_eq!(*done.unwrap_err().downcast::<&str>().unwrap(), "told to panic"),
            }
            // Nothing holds the stream up, and no core limit is left behind on this thread.
            stream.synchronize().unwrap();
            mock::log_launches(true);
            racl::op::abs(&stream, &x, &mut x.clone()).unwrap();
            stream.synchronize().unwrap();
            let cubes: Vec<_> = mock::launches().iter().map(|launch| launch.cube_cores).collect();
            mock::log_launches(false);
            assert_eq!(cubes, [alone.device.cube_cores().unwrap() as u32]);
        }
        assert_eq!(exe.counters().replays + exe.counters().eager, 4);
    }
    assert!(alone.device.context().take_drop_errors().is_empty());
}

/// y = 2 x
fn twice() -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let y = g.muls(x, 2.0)?;
        g.output("y", y)
    })
    .unwrap()
}

#[test]
fn an_executable_runs_and_ends_on_another_thread() {
    let alone = Alone::new();
    for mode in [Mode::Captured, Mode::Eager] {
        let plan = twice();
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let x = alone.device.upload_tensor(&[4.0_f32; 4], [4]).unwrap();
        let (mut bind, stream) = (give(&exe, "x", &x), alone.stream());
        exe.run(&stream, &mut bind).unwrap();
        let there = std::thread::spawn(move || {
            exe.run(&stream, &mut bind).unwrap();
            bind.key(1);
            exe.run(&stream, &mut bind).unwrap();
            result(&exe, "y")
        });
        assert_eq!(there.join().unwrap(), [8.0; 4]);
    }
    assert!(alone.device.context().take_drop_errors().is_empty());
}

#[test]
fn the_default_stream_runs_plans_and_a_capturing_one_refuses() {
    crate::common::needs_function("aclrtCtxGetCurrentDefaultStream");
    let alone = Alone::new();
    for mode in [Mode::Captured, Mode::Eager] {
        let plan = twice();
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let x = alone.device.upload_tensor(&[4.0_f32; 4], [4]).unwrap();
        let mut bind = give(&exe, "x", &x);
        for _ in 0..2 {
            exe.run(&alone.device.default_stream().unwrap(), &mut bind).unwrap();
            assert_eq!(result(&exe, "y"), [8.0; 4]);
        }
        let stream = alone.stream();
        let capture = stream.begin_capture(CaptureMode::Relaxed).unwrap();
        let error = exe.run(&stream, &mut bind).unwrap_err();
        assert_says(&error, ErrorKind::CaptureForbidden, &["records a graph"]);
        // Whoever recorded it may not look at the error: a graph without the run would be another one.
        let lost = capture.finish().unwrap_err();
        assert_says(&lost, ErrorKind::CaptureInvalidated, &["plan run at", "records a graph"]);
        exe.run(&stream, &mut bind).unwrap();
        assert_eq!(result(&exe, "y"), [8.0; 4]);
    }
}

#[test]
fn the_device_stays_open_while_an_executable_lives() {
    let Alone { device, _watched, _lock } = Alone::new();
    racl::set_end_on_drop(true);
    let mut exe = twice().capture(&device, Frozen::new()).unwrap();
    let stream = device.stream().unwrap();
    let x = device.upload_tensor(&[4.0_f32; 4], [4]).unwrap();
    let mut bind = give(&exe, "x", &x);
    drop((device, x));
    exe.run(&stream, &mut bind).unwrap();
    drop(stream);
    assert_eq!(result(&exe, "y"), [8.0; 4]);
    assert_eq!(mock::calls("aclrtResetDevice"), 0);
    drop((exe, bind));
    assert_eq!(mock::calls("aclrtResetDevice"), 1);
    racl::set_end_on_drop(false);
}

/// t += 1 in the memory of the caller.
fn increment() -> Plan {
    Plan::build(|g| {
        let t = g.input("t", [4], F32, Input::Tracked(OnMove::Recapture))?;
        let more = g.adds(t, 1.0)?;
        g.copy(more, t)
    })
    .unwrap()
}

#[test]
fn an_executable_that_goes_in_flight_takes_nothing_of_the_run_along() {
    let alone = Alone::new();
    for mode in [Mode::Captured, Mode::Eager] {
        let stream = alone.stream();
        let t = alone.device.upload_tensor(&[4.0_f32; 4], [4]).unwrap();
        let mut exe = increment().executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        mock::hold(&stream).unwrap();
        for _ in 0..3 {
            exe.run(&stream, &mut give(&exe, "t", &t)).unwrap();
        }
        let there = std::thread::spawn(move || drop(exe));
        if mode == Mode::Eager {
            // Work of eager runs belongs to the stream.
            there.join().unwrap();
            mock::release(&stream).unwrap();
        } else {
            mock::release(&stream).unwrap();
            there.join().unwrap();
            assert!(stream.is_complete().unwrap());
        }
        // What the executable gave back is used for something else meanwhile.
        let others: Vec<_> = (0..8).map(|_| alone.device.upload_tensor(&[99.0_f32; 4], [4]).unwrap()).collect();
        assert_eq!(t.to_vec().unwrap(), [7.0; 4], "{mode:?}");
        drop(others);
        assert!(alone.device.context().take_drop_errors().is_empty());
    }
}

#[test]
fn what_a_chip_does_not_have_is_told_and_the_plan_runs_without() {
    const NOT_SUPPORTED: i32 = 207_000;
    let alone = Alone::new();
    let now = Arc::new(AtomicU32::new(WORK));
    // What cannot be asked is not checked.
    for question in ["aclrtGetStreamAvailableNum", "aclrtGetEventAvailNum", "aclrtGetDeviceResLimit"] {
        mock::fail(question, 1, NOT_SUPPORTED).unwrap();
        told(&now).eager(&alone.device, Frozen::new()).unwrap_or_else(|error| panic!("{question}: {error:#}"));
        mock::clear_failures();
    }
    let stream = alone.stream();
    let x = alone.device.upload_tensor(&[4.0_f32; 4], [4]).unwrap();
    // A chip without captures; the same plan works eagerly there.
    mock::fail("aclmdlRICaptureBegin", 1, NOT_SUPPORTED).unwrap();
    let error = twice().capture(&alone.device, Frozen::new()).unwrap_err();
    assert_says(&error, ErrorKind::NotSupported, &["aclmdlRICaptureBegin"]);
    let mut exe = twice().eager(&alone.device, Frozen::new()).unwrap();
    exe.run(&stream, &mut give(&exe, "x", &x)).unwrap();
    assert_eq!(result(&exe, "y"), [8.0; 4]);
    // Without core limits, and without waits for values: the error has the operator, and nothing is held up.
    for call in ["aclrtSetStreamResLimit", "aclrtValueWait"] {
        for mode in [Mode::Captured, Mode::Eager] {
            let options = RunOptions::new().mode(mode);
            let run = || {
                let mut exe = told(&now).executable(&alone.device, &options, Frozen::new())?;
                exe.run(&stream, &mut give(&exe, "x", &x)).map(|()| result(&exe, "y"))
            };
            mock::fail(call, 1, NOT_SUPPORTED).unwrap();
            let error = run().unwrap_err();
            let text = format!("{error:#}");
            assert!(error.kind() == ErrorKind::NotSupported && text.contains(call), "{text}");
            stream.synchronize().unwrap();
            assert_eq!(run().unwrap(), [8.0; 4]);
        }
    }
}
