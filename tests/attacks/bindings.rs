//! Plans that are run with what was never meant for them.

use racl::op::DataType::{F32, I64};
use racl::plan::{Bindings, Executable, Frozen, Input, Mode, OnMove, Plan, RunOptions};
use racl::{CaptureMode, ErrorKind, op};

use crate::arena::{Arena, formula, refused, result, run};

const WRONG: &[ErrorKind] = &[ErrorKind::InvalidArgument, ErrorKind::InvalidPlan, ErrorKind::AddressChanged];

/// That runs with these bindings are refused, and a right one goes on as before.
#[track_caller]
fn refuses(arena: &Arena, exe: &mut Executable, mut bind: Bindings) {
    let stream = arena.stream();
    refused(exe.run(&stream, &mut bind), WRONG);
    let x = arena.tensor(-3.0);
    assert_eq!(run(exe, &stream, &x), [7.0; 4]);
}

const MODES: [Mode; 2] = [Mode::Captured, Mode::Eager];

#[test]
fn none_at_all() {
    let arena = Arena::new();
    for mode in MODES {
        let mut exe = arena.executable(mode, formula);
        let bind = exe.bindings();
        refuses(&arena, &mut exe, bind);
    }
    arena.end();
}

#[test]
fn those_of_another_executable() {
    let arena = Arena::new();
    for mode in MODES {
        let mut exe = arena.executable(mode, formula);
        let plan = Plan::build(|g| {
            let a = g.input("a", [4], F32, Input::Copied)?;
            let b = g.input("b", [4], F32, Input::Copied)?;
            let sum = g.add(a, b)?;
            g.output("sum", sum)
        });
        let other = plan.unwrap().executable(&arena.context, &RunOptions::new(), Frozen::new()).unwrap();
        let x = arena.tensor(1.0);
        let mut bind = other.bindings();
        bind.set(other.input("a").unwrap(), &x).set(other.input("b").unwrap(), &x);
        refuses(&arena, &mut exe, bind);
        let mut bind = exe.bindings();
        bind.set(other.input("b").unwrap(), &x);
        refuses(&arena, &mut exe, bind);
    }
    arena.end();
}

#[test]
fn memory_of_another_shape_type_or_layout() {
    let arena = Arena::new();
    for mode in MODES {
        let mut exe = arena.executable(mode, formula);
        let x = exe.input("x").unwrap();
        let short = arena.context.zeros::<f32>([3]).unwrap();
        let long = arena.context.zeros::<f32>([4, 4]).unwrap();
        let whole = arena.context.zeros::<i64>([4]).unwrap();
        let mut binds: Vec<Bindings> = (0..3).map(|_| exe.bindings()).collect();
        binds[0].set(x, &short);
        binds[1].set(x, &long);
        binds[2].set(x, &whole);
        for bind in binds {
            refuses(&arena, &mut exe, bind);
        }
        // With gaps: an error, or the right numbers.
        let gaps = arena.context.upload_tensor(&[-1.0_f32, 9.0, -2.0, 9.0, -3.0, 9.0, -4.0, 9.0], [4, 2]).unwrap();
        let gaps = gaps.narrow(1, 0..1).unwrap().reshaped([4]);
        if let Ok(gaps) = gaps {
            let mut bind = exe.bindings();
            let stream = arena.stream();
            if exe.run(&stream, bind.set(x, &gaps)).is_ok() {
                assert_eq!(result(&exe), [3.0, 5.0, 7.0, 9.0]);
            }
        }
    }
    arena.end();
}

#[test]
fn symbols_out_of_bounds_unknown_and_contradicting() {
    let arena = Arena::new();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=8)?;
        let x = g.input("x", [n], F32, Input::Tracked(OnMove::Recapture))?;
        let y = formula(g, x)?;
        g.output("y", y)
    })
    .unwrap();
    for mode in MODES {
        let mut exe = plan.executable(&arena.context, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let x = exe.input("x").unwrap();
        let memory = arena.context.upload_tensor(&[1.0_f32; 9], [9]).unwrap();
        let five = arena.context.upload_tensor(&[1.0_f32; 5], [5]).unwrap();
        for (name, value) in [("n", 0), ("n", 9), ("n", usize::MAX), ("n", 4), ("m", 5), ("", 5), ("\0", 5)] {
            let mut bind = exe.bindings();
            bind.set(x, &five).symbol(name, value);
            refuses(&arena, &mut exe, bind);
        }
        let mut bind = exe.bindings();
        bind.set(x, &memory);
        refuses(&arena, &mut exe, bind);
    }
    arena.end();
}

#[test]
fn memory_that_is_gone_by_name() {
    let arena = Arena::new();
    let stream = arena.stream();
    for mode in MODES {
        let mut exe = arena.executable(mode, formula);
        let mut bind = exe.bindings();
        {
            let x = arena.tensor(2.0);
            bind.set(exe.input("x").unwrap(), &x);
        }
        let noise: Vec<_> = (0..20).map(|_| arena.tensor(100.0)).collect();
        // The bindings keep what they were given.
        for _ in 0..3 {
            exe.run(&stream, &mut bind).unwrap();
            assert_eq!(result(&exe), [5.0; 4]);
        }
        drop(noise);
    }
    drop(stream);
    arena.end();
}

#[test]
fn the_memory_of_its_own_result() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut out = arena.tensor(1.0);
    for mode in MODES {
        let mut exe = arena.executable(mode, formula);
        let y = exe.output_id("y").unwrap();
        assert_eq!(run(&mut exe, &stream, &out), [3.0; 4]);
        exe.output::<f32>(y).unwrap().copy_to(&stream, &mut out).unwrap();
        assert_eq!(run(&mut exe, &stream, &out), [7.0; 4]);
        op::fill(&stream, &mut out, 1.0).unwrap();
    }
    drop((stream, out));
    arena.end();
}

#[test]
fn host_inputs_of_another_length_or_type() {
    let arena = Arena::new();
    let stream = arena.stream();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Host)?;
        let y = formula(g, x)?;
        g.output_to_host("y", y)
    })
    .unwrap();
    for mode in MODES {
        let mut exe = plan.executable(&arena.context, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let (x, y) = (exe.input("x").unwrap(), exe.output_id("y").unwrap());
        let mut wrong: Vec<Bindings> = (0..4).map(|_| exe.bindings()).collect();
        wrong[0].host(x, &[1.0_f32; 3], [3]);
        wrong[1].host(x, &[1.0_f32; 3], [4]);
        wrong[2].host(x, &[1_i64; 4], [4]);
        wrong[3].host(x, &[1.0_f32; 4], [usize::MAX, 4]);
        for bind in &mut wrong {
            refused(exe.run(&stream, bind), WRONG);
        }
        for step in 0..20 {
            let mut bind = exe.bindings();
            exe.run(&stream, bind.host(x, &[step as f32; 4], [4])).unwrap();
            assert_eq!(exe.host_output::<f32>(y).unwrap(), [2.0 * step as f32 + 1.0; 4]);
        }
        refused(exe.host_output::<i64>(y), WRONG);
    }
    drop(stream);
    arena.end();
}

#[test]
fn results_before_a_run_of_another_plan_and_of_another_type() {
    let arena = Arena::new();
    let stream = arena.stream();
    for mode in MODES {
        let mut exe = arena.executable(mode, formula);
        let y = exe.output_id("y").unwrap();
        refused(exe.output::<f32>(y), WRONG);
        refused(exe.output_id("z"), WRONG);
        refused(exe.input("y"), WRONG);
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], I64, Input::Copied)?;
            g.output("first", x)?;
            let h = g.abs(x)?;
            g.output("second", h)
        })
        .unwrap();
        let other = plan.executable(&arena.context, &RunOptions::new(), Frozen::new()).unwrap();
        let foreign = other.output_id("second").unwrap();
        let x = arena.tensor(1.0);
        run(&mut exe, &stream, &x);
        refused(exe.output::<f32>(foreign), WRONG);
        refused(exe.output::<i64>(y), WRONG);
    }
    drop(stream);
    arena.end();
}

#[test]
fn frozen_inputs_that_are_missing_unknown_or_given_twice() {
    let arena = Arena::new();
    let plan = Plan::build(|g| {
        let w = g.input("w", [4], F32, Input::Frozen)?;
        let y = g.abs(w)?;
        g.output("y", y)
    })
    .unwrap();
    let options = RunOptions::new();
    let (w, short) = (arena.tensor(-2.0), arena.context.zeros::<f32>([3]).unwrap());
    let context = &arena.context;
    refused(plan.executable(context, &options, Frozen::new()), WRONG);
    refused(plan.executable(context, &options, Frozen::new().with("w", &short)), WRONG);
    refused(plan.executable(context, &options, Frozen::new().with("w", &w).with("v", &w)), WRONG);
    let twice = plan.executable(context, &options, Frozen::new().with("w", &short).with("w", &w));
    drop(twice);
    drop((w, short));
    arena.end();
}

#[test]
fn streams_that_capture_and_those_of_other_contexts() {
    let arena = Arena::new();
    let stream = arena.stream();
    let other = arena.context.create_context().unwrap();
    let foreign = other.stream().unwrap();
    let x = arena.tensor(4.0);
    for mode in MODES {
        let mut exe = arena.executable(mode, formula);
        let mut bind = exe.bindings();
        bind.set(exe.input("x").unwrap(), &x);
        let ended = stream.capture(CaptureMode::ThreadLocal, |s| exe.run(s, &mut bind));
        if let Ok(mut graph) = ended {
            graph.launch(&stream).unwrap();
            stream.synchronize().unwrap();
        }
        assert!(!stream.is_capturing());
        match exe.run(&foreign, &mut bind) {
            Ok(()) => assert_eq!(result(&exe), [9.0; 4]),
            Err(error) => assert!(error.to_string().contains("context"), "{error}"),
        }
        assert_eq!(run(&mut exe, &stream, &x), [9.0; 4], "{mode:?}");
    }
    drop((stream, foreign, x));
    other.close().unwrap();
    arena.end();
}
