//! What a plan needs of a device, told before anything is recorded; and gates to the outside.

use racl::op::DataType::F32;
use racl::plan::{Buckets, Cores, External, FindingKind, Foreign, Frozen, Input, Mode, Plan, RunOptions, Scope};
use racl::{Error, ErrorKind, mock};

use crate::{Alone, calls_of, give, result};

/// A plan on three streams: x + 1 and 2 x beside each other.
fn three_streams() -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let a = g.scope("a", |g| g.adds(x, 1.0))?;
        let b = g.scope("b", |g| g.muls(x, 2.0))?;
        g.join("a")?;
        g.join("b")?;
        let y = g.add(a, b)?;
        g.output("y", y)
    })
    .unwrap()
}

/// That making the executable fails before anything was made.
#[track_caller]
fn refused(alone: &Alone, plan: &Plan, mode: Mode, kind: FindingKind, parts: &[&str]) {
    let live = mock::live_handles();
    let make = || plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).map(drop);
    let (begun, made) = calls_of("aclmdlRICaptureBegin", make);
    let error: Error = made.unwrap_err();
    assert_eq!((error.kind(), error.findings()[0].kind, begun), (ErrorKind::InvalidPlan, kind, 0), "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "{part:?} is not in: {error}");
    }
    assert_eq!(mock::live_handles(), live);
}

/// Lets the device have `left` streams left.
fn leave_streams(left: u32) {
    // The default stream of the context is one too.
    mock::limit_streams(Some(mock::live_handles().streams as u32 + 1 + left)).unwrap();
}

#[test]
fn streams_that_are_not_there_are_told_in_advance() {
    for (mode, needed) in [(Mode::Captured, 5), (Mode::Eager, 2)] {
        let alone = Alone::new();
        let plan = three_streams();
        let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
        let stream = alone.stream();
        leave_streams(needed - 1);
        let parts = [format!("needs {needed} streams"), format!("3 tags; the device has {} left", needed - 1)];
        refused(&alone, &plan, mode, FindingKind::Streams, &parts.each_ref().map(String::as_str));
        // The stream that is recorded on comes on top.
        leave_streams(needed + 1);
        let make = || plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let mut exe = make();
        exe.run(&stream, &mut give(&exe, "x", &x)).unwrap();
        assert_eq!(result(&exe, "y"), [4.0; 4]);
        drop(exe);
        // Three streams are idle now, and used again.
        leave_streams(if mode == Mode::Captured { 3 } else { 1 });
        let mut exe = make();
        exe.run(&stream, &mut give(&exe, "x", &x)).unwrap();
        assert_eq!(result(&exe, "y"), [4.0; 4]);
        mock::limit_streams(None).unwrap();
    }
}

#[test]
fn events_that_are_not_there_are_told_in_advance() {
    let alone = Alone::new();
    let events = mock::live_handles().events as u32;
    // The start and two ends.
    mock::limit_events(Some(events + 2)).unwrap();
    let parts = ["the plan needs 3 events; the device has 2 left"];
    for mode in [Mode::Captured, Mode::Eager] {
        refused(&alone, &three_streams(), mode, FindingKind::Events, &parts);
    }
    mock::limit_events(None).unwrap();
    three_streams().capture(&alone.device, Frozen::new()).unwrap();
}

#[test]
fn a_core_limit_that_the_device_does_not_have_names_its_scope() {
    let alone = Alone::new();
    let plan = |cores| {
        Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            g.scope_with("a", Scope::new().cores(cores), |g| g.adds(x, 1.0)).map(drop)
        })
        .unwrap()
    };
    let (cube, vector) = (alone.device.cube_cores().unwrap() as u32, alone.device.vector_cores().unwrap() as u32);
    for cores in [Cores { cube: cube + 1, vector: 0 }, Cores { cube: 1, vector: vector + 1 }] {
        let device = format!("the device has {cube} and {vector}");
        let parts = ["the core limit of", "stream \"a\", tests/plans/budgets.rs:", &device];
        refused(&alone, &plan(cores), Mode::Captured, FindingKind::CoreLimit, &parts);
    }
    plan(Cores { cube, vector }).capture(&alone.device, Frozen::new()).unwrap();
}

#[test]
fn operators_that_would_wait_for_each_other_s_cores_are_refused() {
    let alone = Alone::new();
    let cube = alone.device.cube_cores().unwrap() as u32;
    let plan = |ordered: bool, needs: [u32; 2]| {
        let [one, two] = needs.map(|cube| Foreign::new("sum", 1, |_| Ok(())).needs(Cores { cube, vector: 0 }));
        Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Static)?;
            g.scope("a", |g| g.foreign(&one, &[x], &[]))?;
            if ordered {
                g.join("a")?;
            }
            g.scope("b", |g| g.foreign(&two, &[x], &[]))
        })
        .unwrap()
    };
    let parts = ["foreign operator \"sum\" (#", "stream \"a\"", "stream \"b\"", "may run at once"];
    refused(&alone, &plan(false, [cube, 1]), Mode::Captured, FindingKind::CoreDeadlock, &parts);
    plan(true, [cube, 1]).capture(&alone.device, Frozen::new()).unwrap();
    plan(false, [cube - 1, 1]).capture(&alone.device, Frozen::new()).unwrap();
}

/// Waits for `go`, copies, and signals `done`.
fn gated() -> (Plan, External, External) {
    let mut gates = None;
    let plan = Plan::build(|g| {
        let (go, done) = (g.external("go")?, g.external("done")?);
        gates = Some((go, done));
        let x = g.input("x", [4], F32, Input::Static)?;
        g.wait_external(go)?;
        let y = g.adds(x, 1.0)?;
        g.record_external(done)?;
        g.output("y", y)
    });
    let (go, done) = gates.unwrap();
    (plan.unwrap(), go, done)
}

#[test]
fn a_run_waits_for_a_signal_from_outside_and_gives_one() {
    let alone = Alone::new();
    let (plan, go, done) = gated();
    for mode in [Mode::Captured, Mode::Eager] {
        let (stream, before, after) = (alone.stream(), alone.stream(), alone.stream());
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let mut bind = exe.bindings();
        for _ in 0..3 {
            exe.run(&stream, &mut bind).unwrap();
            exe.wait_signal(done, &after).unwrap();
            mock::run_until_idle();
            assert!(!stream.is_complete().unwrap() && !after.is_complete().unwrap());
            exe.signal(go, &before).unwrap();
            after.synchronize().unwrap();
            assert_eq!(result(&exe, "y"), [1.0; 4]);
        }
        let (_, other, _) = gated();
        let error = exe.signal(other, &before).unwrap_err();
        crate::common::assert_says(&error, ErrorKind::InvalidArgument, &["a gate of another plan"]);
    }
}

#[test]
fn buckets_are_captured_as_far_as_limit_and_streams_go() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=32)?;
        let x = g.input("x", [n], F32, Input::Host)?;
        let y = g.muls(x, 2.0)?;
        g.output_to_host("y", y)
    })
    .unwrap();
    let buckets = Buckets::up_to(32).unwrap();
    let captured = |limit, streams: Option<u32>| {
        let options = RunOptions::new().graph_limit(limit).unwrap();
        let mut exe = plan.executable(&alone.device, &options, Frozen::new()).unwrap();
        let (x, mut bind) = (exe.input("x").unwrap(), exe.bindings());
        if let Some(left) = streams {
            leave_streams(left);
        }
        let mut order = Vec::new();
        let left = buckets.capture(&mut exe, &mut bind, |bind, size| {
            order.push(size);
            bind.host(x, &[0.0_f32; 32][..size], [size]);
            Ok(())
        });
        mock::limit_streams(None).unwrap();
        left.map(|left| {
            assert!(order.iter().rev().eq(left.sizes()), "{order:?}");
            assert_eq!(exe.graphs(), order.len());
            assert_eq!((exe.counters().evicted, exe.counters().replays), (0, 0));
            left.sizes().to_vec()
        })
    };
    assert_eq!(captured(64, None).unwrap(), [1, 2, 4, 8, 16, 24, 32]);
    assert_eq!(captured(3, None).unwrap(), [2, 8, 32]);
    assert_eq!(captured(64, Some(2)).unwrap(), [4, 32]);
    assert!(captured(64, Some(0)).unwrap_err().to_string().contains("no room for a captured graph"));
}

/// The sizes of `of` that are captured with `left` streams left: never more than there is room for.
fn captured_with(left: u32, of: &Buckets, build: fn(&mut racl::plan::Builder) -> racl::Result<()>) -> usize {
    let alone = Alone::new();
    let plan = Plan::build(build).unwrap();
    let memory = alone.device.upload_tensor(&[0.0_f32; 32], [32]).unwrap();
    let mut exe = plan.executable(&alone.device, &RunOptions::new(), Frozen::new()).unwrap();
    let (x, mut bind) = (exe.input("x").unwrap(), exe.bindings());
    leave_streams(left);
    let made = of.capture(&mut exe, &mut bind, |bind, size| {
        bind.set(x, &memory.narrow(0, 0..size)?);
        Ok(())
    });
    mock::limit_streams(None).unwrap();
    match made {
        Ok(made) => made.sizes().len(),
        Err(error) => {
            assert!(error.to_string().contains("no room for a captured graph"), "{left} left: {error}");
            0
        }
    }
}

#[test]
fn the_streams_of_updates_and_of_priorities_count_as_well() {
    let updatable = |g: &mut racl::plan::Builder| {
        let n = g.symbol("n", 1..=32)?;
        let x = g.input("x", [n], F32, Input::Updatable)?;
        let y = g.muls(x, 2.0)?;
        g.output("y", y)
    };
    let beside = |g: &mut racl::plan::Builder| {
        let n = g.symbol("n", 1..=32)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        let a = g.scope("a", |g| g.adds(x, 1.0))?;
        let b = g.scope_with("b", Scope::new().priority(1), |g| g.muls(x, 2.0))?;
        g.join("a")?;
        g.join("b")?;
        let y = g.add(a, b)?;
        g.output("y", y)
    };
    let buckets = Buckets::new([8, 16, 32]).unwrap();
    let made = |build| (0..=9).map(|left| captured_with(left, &buckets, build)).collect::<Vec<_>>();
    // Two a graph: one that is hidden, one for updates.
    assert_eq!(made(updatable), [0, 0, 1, 1, 2, 2, 3, 3, 3, 3]);
    // Three a graph, and two to record with.
    assert_eq!(made(beside), [0, 0, 0, 0, 0, 1, 1, 1, 2, 2]);
}
