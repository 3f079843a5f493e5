//! Runs and reads that would wait for ever for a run at a gate that nobody signalled.

use std::time::Duration;

use racl::op::DataType::F32;
use racl::plan::{External, Input, Mode, Plan, RunOptions};
use racl::{ErrorKind, StreamOptions};

use crate::Alone;
use crate::common::{assert_says, mock};
use crate::gates::{make, opened};

/// y = x + 1 after "ready" was signalled, from and to the host.
fn host_plan() -> (Plan, External) {
    let mut gate = None;
    let plan = Plan::build(|g| {
        let ready = *gate.insert(g.external("ready")?);
        let x = g.input("x", [2], F32, Input::Host)?;
        g.wait_external(ready)?;
        g.output_to_host("y", g.adds(x, 1.0)?)
    });
    (plan.unwrap(), gate.unwrap())
}

#[track_caller]
fn is_a_deadlock(error: &racl::Error, what: &str, (waits, signals): (u64, u64)) {
    let counts = format!("\"ready\": it was waited for {waits} times and signalled {signals} times");
    assert_says(error, ErrorKind::Deadlock, &[what, &counts]);
}

#[test]
fn a_run_that_would_wait_for_ever_for_one_at_a_gate_is_refused_until_that_is_signalled() {
    let alone = Alone::new();
    for mode in [Mode::Captured, Mode::Eager] {
        for buffers in [None, Some(1), Some(2), Some(6)] {
            let (plan, ready) = host_plan();
            let (stream, other) = (alone.stream(), alone.stream());
            let mut options = RunOptions::new().mode(mode);
            if let Some(buffers) = buffers {
                options = options.host_output_buffers(buffers);
            }
            let mut exe = make(&alone, &plan, &options);
            let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
            // Each is let go once the one in front of it is, so that there is always one that waits.
            let (mut runs, mut signals) = (0, 0);
            for _ in 0..20 {
                let refused = loop {
                    match exe.run(&stream, bind.host(x, &[runs as f32; 2], [2])) {
                        Ok(()) => runs += 1,
                        Err(error) => break error,
                    }
                    assert!(runs - signals < 10, "{mode:?} {buffers:?}: {runs} runs, {signals} signals");
                };
                is_a_deadlock(&refused, "another run would wait for the host memory", (runs, signals));
                let unread = exe.host_output::<f32>(y).unwrap_err();
                is_a_deadlock(&unread, "the output comes from a run", (runs, signals));
                exe.signal(ready, &other).unwrap();
                signals += 1;
                // What a signal was given for is over soon, and is waited for.
                mock::run_until_idle();
            }
            assert!(runs > 20, "{mode:?} {buffers:?}: {runs}");
            for _ in signals..runs {
                exe.signal(ready, &other).unwrap();
                mock::run_until_idle();
            }
            assert_eq!(exe.host_output::<f32>(y).unwrap(), [runs as f32; 2], "{mode:?} {buffers:?}");
            drop(exe);
            opened(&alone, &[]);
        }
    }
}

#[test]
fn runs_whose_signals_are_given_wait_for_one_another() {
    let alone = Alone::new();
    for mode in [Mode::Captured, Mode::Eager] {
        let (plan, ready) = host_plan();
        let (stream, other) = (alone.stream(), alone.stream());
        let mut exe = make(&alone, &plan, &RunOptions::new().mode(mode).host_output_buffers(2));
        let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
        for run in 0..20 {
            exe.run(&stream, bind.host(x, &[run as f32; 2], [2])).unwrap();
            exe.signal(ready, &other).unwrap();
            // A gate keeps one signal: the next one comes when it is taken.
            mock::run_until_idle();
        }
        assert_eq!(exe.host_output::<f32>(y).unwrap(), [20.0; 2]);
    }
}

#[test]
fn signals_in_front_of_the_runs_that_take_them_are_counted() {
    let alone = Alone::new();
    let (plan, ready) = host_plan();
    let (stream, other) = (alone.stream(), alone.stream());
    let mut exe = make(&alone, &plan, &RunOptions::new());
    let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
    mock::hold(&other).unwrap();
    for _ in 0..2 {
        exe.signal(ready, &other).unwrap();
    }
    for run in 0..2 {
        exe.run(&stream, bind.host(x, &[run as f32; 2], [2])).unwrap();
    }
    mock::release(&other).unwrap();
    mock::run_until_idle();
    // Whether the second one was lost is not known.
    if !stream.is_complete().unwrap() {
        exe.signal(ready, &other).unwrap();
    }
    assert_eq!(exe.host_output::<f32>(y).unwrap(), [2.0; 2]);
}

#[test]
fn waits_that_were_let_through_are_none_that_are_owed() {
    let alone = Alone::new();
    for mode in [Mode::Captured, Mode::Eager] {
        let (plan, ready) = host_plan();
        let stream = alone.stream();
        let mut exe = make(&alone, &plan, &RunOptions::new().mode(mode).signal_limit(Duration::from_millis(1)));
        let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
        bind.host(x, &[1.0_f32; 2], [2]);
        exe.run(&stream, &mut bind).unwrap();
        assert_eq!(exe.release_gates().unwrap(), ["ready"]);
        stream.synchronize().unwrap();
        assert!(exe.release_gates().unwrap().is_empty());
        exe.signal(ready, &stream).unwrap();
        exe.run(&stream, &mut bind).unwrap();
        assert_eq!(exe.host_output::<f32>(y).unwrap(), [2.0; 2]);
        let refused = (0..20).find_map(|_| exe.run(&stream, &mut bind).err());
        assert_eq!(refused.unwrap().kind(), ErrorKind::Deadlock, "{mode:?}");
        assert_eq!(exe.release_gates().unwrap(), ["ready"], "{mode:?}");
        drop(exe);
        alone.device.context().take_drop_errors();
    }
}

#[test]
fn gates_that_graphs_of_the_program_signal_are_waited_for() {
    let alone = Alone::new();
    let (plan, ready) = host_plan();
    let (stream, other) = (alone.stream(), alone.stream());
    let mut exe = make(&alone, &plan, &RunOptions::new());
    let capture = other.begin_capture(racl::CaptureMode::Relaxed).unwrap();
    exe.signal(ready, &other).unwrap();
    let mut signals = capture.finish().unwrap();
    let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
    for run in 0..10 {
        exe.run(&stream, bind.host(x, &[run as f32; 2], [2])).unwrap();
        signals.launch(&other).unwrap();
        assert_eq!(exe.host_output::<f32>(y).unwrap(), [run as f32 + 1.0; 2]);
    }
}

#[test]
fn after_a_run_that_failed_nobody_knows_what_waits() {
    let alone = Alone::new();
    let (plan, ready) = host_plan();
    let (stream, other) = (alone.stream(), alone.stream());
    let mut exe = make(&alone, &plan, &RunOptions::new().mode(Mode::Eager));
    let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
    mock::fail("aclrtMemcpyAsync", 1, 507_000).unwrap();
    let failed = exe.run(&stream, bind.host(x, &[0.0_f32; 2], [2])).unwrap_err();
    mock::clear_failures();
    assert!(format!("{failed:#}").contains("aclrtMemcpyAsync"), "{failed}");
    exe.run(&stream, bind.host(x, &[1.0_f32; 2], [2])).unwrap();
    // What was submitted of the first one may wait too, and is not what the count says.
    while !stream.is_complete().unwrap() {
        exe.signal(ready, &other).unwrap();
        mock::run_until_idle();
    }
    assert_eq!(exe.host_output::<f32>(y).unwrap(), [2.0; 2]);
}

#[test]
fn failures_from_before_an_executable_say_nothing_of_it() {
    crate::common::needs_the_card_alone("it aborts a device");
    let alone = Alone::new();
    alone.device.context().abort_device(Duration::from_secs(10)).unwrap();
    let (plan, ready) = host_plan();
    let stream = alone.stream();
    let mut exe = make(&alone, &plan, &RunOptions::new());
    let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
    let runs = (0..20).take_while(|_| exe.run(&stream, bind.host(x, &[1.0_f32; 2], [2])).is_ok()).count();
    assert!(runs < 20, "one that waits for ever is refused");
    for _ in 0..runs {
        exe.signal(ready, &alone.stream()).unwrap();
        mock::run_until_idle();
    }
    assert_eq!(exe.host_output::<f32>(y).unwrap(), [2.0; 2]);
}

/// What is declared and given to the host in front of the gate or behind it.
fn ordered(upload_behind: bool, download_behind: bool) -> (Plan, External) {
    let mut gate = None;
    let plan = Plan::build(|g| {
        let ready = *gate.insert(g.external("ready")?);
        let waits = |now: bool| if now { g.wait_external(ready) } else { Ok(()) };
        waits(upload_behind)?;
        let x = g.input("x", [2], F32, Input::Host)?;
        waits(!upload_behind && download_behind)?;
        g.output_to_host("y", g.adds(x, 1.0)?)?;
        waits(!upload_behind && !download_behind)?;
        g.output("z", g.abs(x)?)
    });
    (plan.unwrap(), gate.unwrap())
}

#[test]
fn an_eager_run_is_held_up_as_far_as_its_copies_are_behind_the_gate() {
    let alone = Alone::new();
    for (upload, download) in [(true, true), (false, true), (false, false)] {
        for buffers in [1, 2, 6] {
            let (plan, ready) = ordered(upload, download);
            let (stream, other) = (alone.stream(), alone.stream());
            let options = RunOptions::new().mode(Mode::Eager).host_output_buffers(buffers);
            let mut exe = make(&alone, &plan, &options);
            let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
            exe.run(&stream, bind.host(x, &[1.0_f32; 2], [2])).unwrap();
            if download {
                is_a_deadlock(&exe.host_output::<f32>(y).unwrap_err(), "the output comes from a run", (1, 0));
            } else {
                // What is read in front of the gate may say whether it is signalled.
                assert_eq!(exe.host_output::<f32>(y).unwrap(), [2.0; 2]);
            }
            let mut runs = 1;
            let refused = loop {
                match exe.run(&stream, bind.host(x, &[1.0_f32; 2], [2])) {
                    Ok(()) => runs += 1,
                    Err(error) => break error,
                }
                assert!(runs < 10, "{upload} {download} {buffers}");
            };
            is_a_deadlock(&refused, "another run would wait for the host memory", (runs, 0));
            for _ in 0..runs {
                exe.signal(ready, &other).unwrap();
                mock::run_until_idle();
            }
            assert_eq!(exe.host_output::<f32>(y).unwrap(), [2.0; 2]);
        }
    }
}

#[test]
fn runs_behind_an_abort_are_read() {
    let alone = Alone::new();
    let (plan, ready) = host_plan();
    let (stream, other) = (alone.stream(), alone.stream());
    let mut exe = make(&alone, &plan, &RunOptions::new());
    let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
    for run in 0..3 {
        exe.run(&stream, bind.host(x, &[9.0_f32; 2], [2])).unwrap();
        stream.abort().unwrap();
        exe.run(&stream, bind.host(x, &[run as f32; 2], [2])).unwrap();
        exe.signal(ready, &other).unwrap();
        assert_eq!(exe.host_output::<f32>(y).unwrap(), [run as f32 + 1.0; 2]);
    }
}

#[test]
fn a_signal_that_was_given_though_it_failed_is_not_missed() {
    let alone = Alone::new();
    let (plan, ready) = host_plan();
    let (stream, other) = (alone.stream(), alone.stream());
    let mut exe = make(&alone, &plan, &RunOptions::new());
    let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
    exe.run(&stream, bind.host(x, &[1.0_f32; 2], [2])).unwrap();
    mock::fail("aclrtValueWrite", 1, 507_000).unwrap();
    exe.signal(ready, &other).unwrap_err();
    mock::clear_failures();
    assert_eq!(exe.host_output::<f32>(y).unwrap(), [2.0; 2]);
}

#[test]
fn what_failed_in_front_of_the_gate_is_told() {
    let alone = Alone::new();
    let mut gate = None;
    let plan = Plan::build(|g| {
        let ready = *gate.insert(g.external("ready")?);
        let x = g.input("x", [2], F32, Input::Host)?;
        let y = g.abs(x)?;
        g.wait_external(ready)?;
        g.output_to_host("y", g.adds(y, 1.0)?)
    });
    let stream = alone.device.stream_with(StreamOptions::new().stop_on_failure()).unwrap();
    let mut exe = make(&alone, &plan.unwrap(), &RunOptions::new().mode(Mode::Eager));
    let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
    mock::fail_task("aclnnAbs", 1, 507_015).unwrap();
    mock::hold(&stream).unwrap();
    exe.run(&stream, bind.host(x, &[1.0_f32; 2], [2])).unwrap();
    mock::release(&stream).unwrap();
    mock::run_until_idle();
    let error = exe.host_output::<f32>(y).unwrap_err();
    mock::clear_failures();
    assert_eq!(error.kind(), ErrorKind::DeviceFault, "{error:#}");
}
