//! What a plan needs of a device, told before anything is recorded; and gates to the outside.

use crate::common::mock;
use racl::op::DataType::F32;
use racl::plan::{
    Buckets, Cores, External, FindingKind, Foreign, Frozen, Input, Mode, OnFull, OnMove, Plan, RunOptions, Scope,
};
use racl::{CaptureMode, Context, Error, ErrorKind};

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

/// A context with some 20 idle streams, on a device that has no others left.
fn only_idle_streams(alone: &Alone) -> Context {
    let other = alone.device.context().create_context().unwrap();
    let origin = other.stream().unwrap();
    let capture = origin.begin_capture(CaptureMode::Relaxed).unwrap();
    let sides: Vec<_> = (0..20).map(|number| capture.stream().side(&number.to_string()).unwrap()).collect();
    sides.iter().for_each(|side| capture.stream().fork(side).and_then(|()| capture.stream().join(side)).unwrap());
    drop(sides);
    drop(capture.finish().unwrap());
    let some_left = |limit: &u32| {
        mock::limit_streams(Some(*limit)).unwrap();
        other.streams_left().unwrap() > 0
    };
    let full = (1..2047).find(some_left).unwrap() - 1;
    mock::limit_streams(Some(full)).unwrap();
    other
}

#[test]
fn idle_streams_of_another_context_are_as_good_as_streams_that_are_left() {
    let alone = Alone::new();
    let _idle = only_idle_streams(&alone);
    let made = three_streams().capture(&alone.device, Frozen::new());
    mock::limit_streams(None).unwrap();
    made.unwrap();
}

#[test]
fn no_graph_is_evicted_for_want_of_streams_that_are_idle_elsewhere() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Tracked(OnMove::Recapture))?;
        let y = g.adds(x, 1.0)?;
        g.output("y", y)
    });
    let options = RunOptions::new().on_full(OnFull::EvictLeastRecent);
    let mut exe = plan.unwrap().executable(&alone.device, &options, Frozen::new()).unwrap();
    let stream = alone.stream();
    let inputs = [1.0_f32, 2.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
    exe.run(&stream, &mut give(&exe, "x", &inputs[0])).unwrap();
    let _idle = only_idle_streams(&alone);
    let ran = exe.run(&stream, &mut give(&exe, "x", &inputs[1])).map(drop);
    mock::limit_streams(None).unwrap();
    ran.unwrap();
    assert_eq!(exe.graphs(), 2);
    assert_eq!(result(&exe, "y"), [3.0; 4]);
}

/// y = u + 1 where the address of u changes from run to run, the sum on three streams or one.
fn updated(streams: bool) -> Plan {
    Plan::build(|g| {
        let u = g.input("u", [4], F32, Input::Updatable)?;
        let x = g.constant(&[0.0_f32; 4], [4])?;
        if streams {
            g.scope_with("a", Scope::new().priority(3), |g| g.adds(x, 1.0))?;
            g.scope("b", |g| g.adds(x, 1.0))?;
            g.join("a")?;
            g.join("b")?;
        }
        let y = g.adds(u, 1.0)?;
        g.output("y", y)
    })
    .unwrap()
}

/// y = x + 1 after a signal.
fn waits() -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let gate = g.external("gate")?;
        g.wait_external(gate)?;
        let y = g.adds(x, 1.0)?;
        g.output("y", y)
    })
    .unwrap()
}

/// A plan, its input and its tags; the streams and events that it takes captured, and those eagerly.
type Taken = (fn() -> Plan, &'static str, &'static str, [(u32, u32); 2]);

/// The stream of the executable is one; a captured graph has a hidden one for each tag, and updates have their own.
/// The events are those of forks and joins, one for the start of runs with updates, and one for the end of runs at
/// gates.
const TAKEN: [Taken; 4] = [
    (three_streams, "x", "3 tags;", [(1 + 2 + 3, 3), (1 + 2, 3)]),
    (|| updated(true), "u", "3 tags", [(1 + 2 + 3 + 1, 3 + 1), (1 + 2, 3)]),
    (|| updated(false), "u", "1 tags", [(1 + 1 + 1, 1), (1, 0)]),
    (waits, "x", "1 tags;", [(1 + 1, 1), (1, 1)]),
];

/// Makes the executable and runs it twice, with other memory each time; gives y of the second run.
fn run_twice(alone: &Alone, plan: &Plan, mode: Mode, input: &str, stream: &racl::Stream) -> Vec<f32> {
    let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
    for value in [5.0_f32, 1.0] {
        let x = alone.device.upload_tensor(&[value; 4], [4]).unwrap();
        exe.run(stream, &mut give(&exe, input, &x)).unwrap();
        exe.release_gates().unwrap();
    }
    result(&exe, "y")
}

#[test]
fn streams_that_are_not_there_are_told_in_advance() {
    for (plan, input, tags, taken) in TAKEN {
        for (mode, (needed, _)) in [Mode::Captured, Mode::Eager].into_iter().zip(taken) {
            let alone = Alone::new();
            let stream = alone.stream();
            leave_streams(needed - 1);
            let parts = [format!("needs {needed} streams"), tags.into(), format!("has {} left", needed - 1)];
            refused(&alone, &plan(), mode, FindingKind::Streams, &parts.each_ref().map(String::as_str));
            leave_streams(needed);
            let y = if tags == "3 tags;" { 4.0 } else { 2.0 };
            assert_eq!(run_twice(&alone, &plan(), mode, input, &stream), [y; 4], "{mode:?}, {tags}");
            // What is idle now is used again.
            let idle = mock::live_handles().streams as u32 - 1;
            leave_streams(needed - idle);
            assert_eq!(run_twice(&alone, &plan(), mode, input, &stream), [y; 4], "{mode:?}, {tags}");
            mock::limit_streams(None).unwrap();
        }
    }
}

#[test]
fn events_that_are_not_there_are_told_in_advance() {
    for (plan, input, _, taken) in TAKEN {
        for (mode, (_, needed)) in [Mode::Captured, Mode::Eager].into_iter().zip(taken) {
            let alone = Alone::new();
            let stream = alone.stream();
            // One is held by a stream that is.
            mock::hold(&stream).unwrap();
            alone.device.event().unwrap().record(&stream).unwrap();
            if needed > 0 {
                mock::limit_events(Some(needed)).unwrap();
                let parts = [format!("the plan needs {needed} events; the device has {} left", needed - 1)];
                refused(&alone, &plan(), mode, FindingKind::Events, &parts.each_ref().map(String::as_str));
            }
            // Memory that goes while it is used takes one for a moment, whatever the plan needs.
            mock::limit_events(Some(needed.max(1) + 1)).unwrap();
            run_twice(&alone, &plan(), mode, input, &alone.stream());
            mock::release(&stream).unwrap();
            mock::limit_events(None).unwrap();
        }
    }
}

#[test]
fn eager_runs_beside_graphs_ask_for_their_streams_too() {
    let alone = Alone::new();
    let stream = alone.stream();
    let options = RunOptions::new().graph_limit(1).on_full(OnFull::Eager);
    let mut exe = three_streams().executable(&alone.device, &options, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let mut bind = give(&exe, "x", &x);
    // The two side streams of the capture are idle, and taken.
    let taken = [(); 2].map(|()| three_streams());
    let eager = RunOptions::new().mode(Mode::Eager);
    let mut others = taken.map(|plan| plan.executable(&alone.device, &eager, Frozen::new()).unwrap());
    leave_streams(0);
    let hidden = 3;
    mock::limit_streams(Some(mock::live_handles().streams as u32 + 1 + hidden)).unwrap();
    let error = exe.run(&stream, bind.key(7)).unwrap_err();
    assert_eq!(error.findings()[0].kind, FindingKind::Streams, "{error}");
    assert!(error.to_string().contains("needs 2 streams to run its 3 tags"), "{error}");
    mock::limit_streams(Some(mock::live_handles().streams as u32 + 1 + hidden + 2)).unwrap();
    exe.run(&stream, bind.key(7)).unwrap();
    assert_eq!((result(&exe, "y"), exe.counters().eager), (vec![4.0; 4], 1));
    let mut other = give(&others[0], "x", &x);
    assert!(others[0].run(&stream, &mut other).unwrap_err().to_string().contains("needs 2 streams"));
    mock::limit_streams(None).unwrap();
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
        let parts = ["the core limit of aclnnAdds (#", "stream \"a\", tests/plans/budgets.rs:", &device];
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

/// A foreign operator that needs cores at once.
fn needing(cores: Cores) -> Foreign {
    Foreign::new("sum", 1, |_| Ok(())).needs(cores)
}

#[test]
fn an_operator_that_never_gets_its_cores_is_refused_alone() {
    let alone = Alone::new();
    let (cube, vector) = (alone.device.cube_cores().unwrap() as u32, alone.device.vector_cores().unwrap() as u32);
    let plan = |scope: Cores, needs| {
        Plan::build(|g| g.scope_with("a", Scope::new().cores(scope), |g| g.foreign(&needing(needs), &[], &[])))
            .unwrap()
    };
    let operator = "foreign operator \"sum\" (#";
    for (scope, needs, text) in [
        ((0, 0), (cube + 10, 0), format!("needs {} matrix cores at once; the device gives it {cube}", cube + 10)),
        ((0, 0), (0, vector + 1), format!("needs {} vector cores at once; the device gives it {vector}", vector + 1)),
        ((2, 0), (10, 1), "needs 10 matrix cores at once; the core limit of its scope gives it 2".to_owned()),
        ((2, 3), (2, 4), "needs 4 vector cores at once; the core limit of its scope gives it 3".to_owned()),
    ] {
        let [scope, needs] = [scope, needs].map(|(cube, vector)| Cores { cube, vector });
        let parts = [operator, "stream \"a\", tests/plans/budgets.rs:", &text];
        refused(&alone, &plan(scope, needs), Mode::Captured, FindingKind::CoreDeadlock, &parts);
        refused(&alone, &plan(scope, needs), Mode::Eager, FindingKind::CoreDeadlock, &parts);
    }
    let all = Cores { cube, vector };
    plan(Cores::default(), all).capture(&alone.device, Frozen::new()).unwrap();
    plan(Cores { cube: 2, vector: 0 }, Cores { cube: 2, vector }).capture(&alone.device, Frozen::new()).unwrap();
}

#[test]
fn a_core_limit_of_the_executable_leaves_operators_what_they_need() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = Plan::build(|g| {
        g.foreign(&needing(Cores { cube: 10, vector: 0 }), &[], &[])?;
        // A scope with a limit of its own keeps it.
        let scope = Scope::new().cores(Cores { cube: 12, vector: 0 });
        g.scope_with("a", scope, |g| g.foreign(&needing(Cores { cube: 12, vector: 0 }), &[], &[]))?;
        g.join("a")
    });
    for mode in [Mode::Captured, Mode::Eager] {
        let options = RunOptions::new().mode(mode);
        let mut exe = plan.as_ref().unwrap().executable(&alone.device, &options, Frozen::new()).unwrap();
        let mut bind = exe.bindings();
        exe.limit_cores(Some(Cores { cube: 1, vector: 0 }));
        for _ in 0..2 {
            let error = exe.run(&stream, &mut bind).unwrap_err();
            let text = "needs 10 matrix cores at once; the core limit of the executable gives it 1";
            crate::common::assert_says(&error, ErrorKind::InvalidPlan, &["\"sum\" (#", "budgets.rs:", text]);
            let kinds: Vec<_> = error.findings().iter().map(|finding| finding.kind).collect();
            assert_eq!(kinds, [FindingKind::CoreDeadlock]);
        }
        for fitting in [Some(Cores { cube: 10, vector: 1 }), None] {
            exe.limit_cores(fitting);
            exe.run(&stream, &mut bind).unwrap();
        }
        stream.synchronize().unwrap();
    }
}

#[test]
fn operators_that_fit_in_pairs_but_not_all_at_once_are_refused() {
    let alone = Alone::new();
    let vector = alone.device.vector_cores().unwrap() as u32;
    let plan = |each: u32, ordered: bool| {
        let half = needing(Cores { cube: 0, vector: each });
        Plan::build(|g| {
            for tag in ["a", "b", "c"] {
                g.scope(tag, |g| g.foreign(&half, &[], &[]))?;
                if tag == "a" && ordered {
                    g.join("a")?;
                }
            }
            Ok(())
        })
        .unwrap()
    };
    let sum = format!("may all run at once and need {} vector cores together, of {vector}", vector / 2 * 3);
    let parts = ["stream \"a\"", "stream \"b\"", "stream \"c\"", "tests/plans/budgets.rs:", &sum];
    refused(&alone, &plan(vector / 2, false), Mode::Captured, FindingKind::CoreDeadlock, &parts);
    plan(vector / 2, true).capture(&alone.device, Frozen::new()).unwrap();
    plan(vector / 3, false).capture(&alone.device, Frozen::new()).unwrap();
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
        let options = RunOptions::new().graph_limit(limit);
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
fn captured_with(left: u32, of: &Buckets, build: fn(&racl::plan::Builder) -> racl::Result<()>) -> usize {
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
    let updatable = |g: &racl::plan::Builder| {
        let n = g.symbol("n", 1..=32)?;
        let x = g.input("x", [n], F32, Input::Updatable)?;
        let y = g.muls(x, 2.0)?;
        g.output("y", y)
    };
    let beside = |g: &racl::plan::Builder| {
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

#[test]
fn graphs_go_when_the_device_has_no_streams_for_another_shape() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=64)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        let a = g.scope("a", |g| g.adds(x, 1.0))?;
        let b = g.scope("b", |g| g.muls(x, 2.0))?;
        g.join("a")?;
        g.join("b")?;
        let y = g.add(a, b)?;
        g.output_to_host("y", y)
    })
    .unwrap();
    let run = |exe: &mut racl::plan::Executable, size: usize| {
        let x = alone.device.upload_tensor(&vec![1.0_f32; size], [size]).unwrap();
        exe.run(&stream, &mut give(exe, "x", &x))?;
        exe.host_output::<f32>(exe.output_id("y").unwrap())
    };
    let options = RunOptions::new().graph_limit(16);
    let mut exe = plan.executable(&alone.device, &options, Frozen::new()).unwrap();
    assert_eq!(run(&mut exe, 1).unwrap(), [4.0]);
    // Room for three more graphs, each of which has three hidden streams.
    leave_streams(9);
    for size in [2, 3, 4, 5, 6, 2, 7, 8] {
        assert_eq!(run(&mut exe, size).unwrap(), vec![4.0; size], "{size}");
    }
    assert!(exe.counters().evicted >= 4, "{:?}", exe.counters());
    // Who asked for failing gets that.
    leave_streams(0);
    let mut fails = plan.executable(&alone.device, &options.clone().on_full(OnFull::Fail), Frozen::new());
    mock::limit_streams(None).unwrap();
    if let Ok(fails) = &mut fails {
        leave_streams(0);
        assert!(run(fails, 9).is_err());
        mock::limit_streams(None).unwrap();
    }
}
