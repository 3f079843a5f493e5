//! Operators inside a captured graph whose inputs move.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use racl::op::{DataType::F32, aclnn};
use racl::plan::{
    Builder, Cores, Executable, FindingKind, Frozen, Input, Mode, OnMove, Plan, RunOptions, Scope, Value,
};
use racl::{ErrorKind, Result};

use crate::common::{assert_says, mock};
use crate::kernels::{FAIL, PANIC, WORK, copy_and, copy_as_told};
use crate::{Alone, calls_of, give, result};

/// y = 2 x + 1, with x updatable.
fn twice_plus_one() -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Updatable)?;
        let h = g.muls(x, 2.0)?;
        let y = g.adds(h, 1.0)?;
        g.output("y", y)
    })
    .unwrap()
}

#[test]
fn a_run_uses_the_memory_it_is_given() {
    let alone = Alone::new();
    let stream = alone.stream();
    let mut exe = twice_plus_one().capture(&alone.device, Frozen::new()).unwrap();
    for step in 0..3 {
        let x = alone.device.upload_tensor(&[step as f32; 4], [4]).unwrap();
        let mut bind = give(&exe, "x", &x);
        exe.run(&stream, &mut bind).unwrap();
        assert_eq!(result(&exe, "y"), [2.0 * step as f32 + 1.0; 4]);
    }
    let counters = exe.counters();
    assert_eq!((counters.captured_new, counters.captured_moved, counters.replays), (1, 0, 3));
    assert_eq!(counters.updates, 2);
}

#[test]
fn an_input_that_stays_is_not_replaced_and_the_graph_still_goes_on() {
    let alone = Alone::new();
    let stream = alone.stream();
    let mut exe = twice_plus_one().capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[3.0_f32; 4], [4]).unwrap();
    let mut bind = give(&exe, "x", &x);
    for _ in 0..5 {
        let (updates, ()) = calls_of("aclmdlRICaptureTaskUpdateBegin", || exe.run(&stream, &mut bind).unwrap());
        assert_eq!(updates, 0);
        assert_eq!(result(&exe, "y"), [7.0; 4]);
    }
    assert_eq!(exe.counters().updates, 0);
}

#[test]
fn a_hundred_runs_with_two_memories_in_turn() {
    let alone = Alone::new();
    let streams = [alone.stream(), alone.stream()];
    let mut exe = twice_plus_one().capture(&alone.device, Frozen::new()).unwrap();
    let x = [1.0_f32, 10.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
    let mut binds = [give(&exe, "x", &x[0]), give(&exe, "x", &x[1])];
    for run in 0..100 {
        exe.run(&streams[run / 3 % 2], &mut binds[run % 2]).unwrap();
        // Some runs follow without anybody waiting in between.
        if run % 7 > 3 {
            assert_eq!(result(&exe, "y"), [[3.0, 21.0][run % 2]; 4], "run {run}");
        }
    }
    streams.iter().for_each(|stream| stream.synchronize().unwrap());
    assert_eq!(exe.counters().updates, 99);
}

#[test]
fn several_operators_on_side_streams_are_replaced_each() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = Plan::build(|g| {
        let a = g.input("a", [2], F32, Input::Updatable)?;
        let b = g.input("b", [2], F32, Input::Updatable)?;
        let left = g.scope("left", |g| g.muls(a, 2.0))?;
        let right = g.scope("right", |g| {
            let h = g.adds(b, 1.0)?;
            g.mul(h, a)
        })?;
        g.join("left")?;
        g.join("right")?;
        let y = g.add(left, right)?;
        g.output("y", y)
    })
    .unwrap();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let (a, b) = (exe.input("a").unwrap(), exe.input("b").unwrap());
    let mut bind = exe.bindings();
    let upload = |value: f32| alone.device.upload_tensor(&[value; 2], [2]).unwrap();
    let mut kept = Vec::new();
    // 2 a + (b + 1) a
    for (run, (x, y, updates)) in [(1.0, 1.0, 0), (3.0, 1.0, 2), (3.0, 5.0, 3), (7.0, 2.0, 6)].into_iter().enumerate()
    {
        if run != 2 {
            kept.push(upload(x));
            bind.set(a, kept.last().unwrap());
        }
        if run != 1 {
            kept.push(upload(y));
            bind.set(b, kept.last().unwrap());
        }
        exe.run(&stream, &mut bind).unwrap();
        assert_eq!(result(&exe, "y"), [2.0 * x + (y + 1.0) * x; 2], "run {run}");
        assert_eq!(exe.counters().updates, updates, "run {run}");
    }
}

/// y = x + 0.5 through a foreign operator that does as it is told at each launch.
fn told(now: &Arc<AtomicU32>) -> Plan {
    let kernel = copy_as_told(now);
    Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Updatable)?;
        let y = g.empty([4], F32)?;
        g.foreign(&kernel, &[x], &[y])?;
        let z = g.adds(y, 0.5)?;
        let seen = g.input("seen", [4], F32, Input::Static)?;
        g.copy(z, seen)?;
        g.output("y", z)
    })
    .unwrap()
}

/// What the latest launch of [`told`] computed; the output of a run that failed cannot be read.
#[track_caller]
fn seen(exe: &Executable) -> Vec<f32> {
    let error = exe.output::<f32>(exe.output_id("y").unwrap()).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["\"y\" without a run before that succeeded"]);
    exe.static_input::<f32>(exe.input("seen").unwrap()).unwrap().to_vec().unwrap()
}

#[test]
fn a_foreign_operator_is_replaced() {
    let alone = Alone::new();
    let stream = alone.stream();
    let mut exe = told(&Arc::default()).capture(&alone.device, Frozen::new()).unwrap();
    for value in [1.0_f32, 2.0, 3.0] {
        let x = alone.device.upload_tensor(&[value; 4], [4]).unwrap();
        exe.run(&stream, &mut give(&exe, "x", &x)).unwrap();
        // The caller's memory is gone right after the run.
        drop(x);
        assert_eq!(result(&exe, "y"), [value + 0.5; 4]);
    }
}

#[test]
fn memory_that_the_caller_drops_lives_until_the_run_is_over() {
    let alone = Alone::new();
    let stream = alone.stream();
    let mut exe = twice_plus_one().capture(&alone.device, Frozen::new()).unwrap();
    let first = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    exe.run(&stream, &mut give(&exe, "x", &first)).unwrap();
    stream.synchronize().unwrap();
    mock::hold(&stream).unwrap();
    let x = alone.device.upload_tensor(&[5.0_f32; 4], [4]).unwrap();
    exe.run(&stream, &mut give(&exe, "x", &x)).unwrap();
    drop((first, x));
    // Memory that came back would be given to these.
    let others: Vec<_> = (0..8).map(|_| alone.device.upload_tensor(&[99.0_f32; 4], [4]).unwrap()).collect();
    mock::release(&stream).unwrap();
    assert_eq!(result(&exe, "y"), [11.0; 4]);
    drop(others);
}

#[test]
fn an_update_that_fails_holds_nothing_up_and_is_made_up_for() {
    let alone = Alone::new();
    let stream = alone.stream();
    let now = Arc::new(AtomicU32::new(WORK));
    let mut exe = told(&now).capture(&alone.device, Frozen::new()).unwrap();
    let x = [1.0_f32, 2.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
    exe.run(&stream, &mut give(&exe, "x", &x[0])).unwrap();
    let mut second = give(&exe, "x", &x[1]);
    for how in [FAIL, PANIC, FAIL] {
        now.store(how, Ordering::Relaxed);
        let done = catch_unwind(AssertUnwindSafe(|| exe.run(&stream, &mut second)));
        match how {
            FAIL => assert_eq!(done.unwrap().unwrap_err().kind(), ErrorKind::InvalidArgument),
            _ => assert_eq!(*done.unwrap_err().downcast::<&str>().unwrap(), "told to panic"),
        }
        stream.synchronize().unwrap();
        // The operator is as it was.
        assert_eq!(seen(&exe), [1.5; 4]);
    }
    now.store(WORK, Ordering::Relaxed);
    exe.run(&stream, &mut second).unwrap();
    assert_eq!(result(&exe, "y"), [2.5; 4]);
    assert_eq!(alone.device.context().take_drop_errors().len(), 1, "the end of the update that panicked");
}

#[test]
fn memory_of_before_lives_on_while_a_failed_update_leaves_it_in_use() {
    let alone = Alone::new();
    let stream = alone.stream();
    let now = Arc::new(AtomicU32::new(WORK));
    let mut exe = told(&now).capture(&alone.device, Frozen::new()).unwrap();
    let upload = |value: f32| alone.device.upload_tensor(&[value; 4], [4]).unwrap();
    exe.run(&stream, &mut give(&exe, "x", &upload(1.0))).unwrap();
    exe.run(&stream, &mut give(&exe, "x", &upload(2.0))).unwrap();
    stream.synchronize().unwrap();
    now.store(FAIL, Ordering::Relaxed);
    let third = upload(3.0);
    exe.run(&stream, &mut give(&exe, "x", &third)).unwrap_err();
    stream.synchronize().unwrap();
    let others: Vec<_> = (0..8).map(|_| upload(99.0)).collect();
    // Unmoved since, and still not replaced.
    exe.run(&stream, &mut give(&exe, "x", &third)).unwrap_err();
    assert_eq!(seen(&exe), [2.5; 4]);
    drop(others);
}

#[test]
fn every_c_call_of_a_whole_update_may_fail() {
    let alone = Alone::new();
    // Both phases at each update.
    alone.device.context().set_operator_cache(0);
    let stream = alone.stream();
    for function in [
        "aclrtMemsetAsync",
        "aclrtStreamWaitEvent",
        "aclrtRecordEvent",
        "aclmdlRIExecuteAsync",
        "aclmdlRICaptureTaskUpdateBegin",
        "aclmdlRICaptureTaskUpdateEnd",
        "aclnnMulsGetWorkspaceSize",
        "aclnnMuls",
        "aclCreateTensor",
        "aclrtValueWrite",
    ] {
        let options = RunOptions::new().address_updates(false);
        let mut exe = twice_plus_one().executable(&alone.device, &options, Frozen::new()).unwrap();
        let x = [1.0_f32, 10.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
        let mut binds = [give(&exe, "x", &x[0]), give(&exe, "x", &x[1])];
        for run in 0..3 {
            exe.run(&stream, &mut binds[run % 2]).unwrap();
        }
        mock::fail(function, 1, 507_000).unwrap();
        let failed = exe.run(&stream, &mut binds[1]);
        let error = failed.expect_err(function);
        assert_eq!(error.call(), Some(function), "{error}");
        mock::clear_failures();
        for run in 0..3 {
            exe.run(&stream, &mut binds[run % 2]).unwrap();
            assert_eq!(result(&exe, "y"), [[3.0, 21.0][run % 2]; 4], "{function}, run {run}");
        }
    }
}

#[test]
fn what_is_no_operator_cannot_use_an_updatable_input() {
    type Work = fn(&Builder, Value, Value) -> Result<()>;
    let works: [(&str, Work); 6] = [
        ("copy: input \"x\" is updatable", |g, x, y| g.copy(x, y)),
        ("copy: input \"x\" is updatable", |g, x, y| g.copy(y, x)),
        ("copy: input \"x\" is updatable", |g, x, y| {
            let rows = g.reshape(x, [2, 2])?;
            g.copy(rows, y)
        }),
        ("fill_bytes: input \"x\" is updatable", |g, x, _| g.fill_bytes(x, 0)),
        ("output \"z\", which is a copy: input \"x\" is updatable", |g, x, _| g.output("z", x)),
        ("output \"z\", which is a copy: input \"x\" is updatable", |g, x, _| g.output_to_host("z", x)),
    ];
    for (text, work) in works {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Updatable)?;
            let y = g.full([4], F32, 5.0)?;
            let error = work(g, x, y).unwrap_err();
            assert_says(
                &error,
                ErrorKind::InvalidPlan,
                &[text, "aclnn::inplace_copy", "(#1, tests/plans/updates.rs:"],
            );
            assert_eq!(error.findings()[0].kind, FindingKind::Operand);
            // Nothing of it is left, and operators do the same.
            aclnn::inplace_copy(g, &mut { y }, &x)?;
            g.output("z", y)
        })
        .unwrap();
        let alone = Alone::new();
        let stream = alone.stream();
        for mode in [Mode::Captured, Mode::Eager] {
            let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
            for value in [1.0_f32, 2.0] {
                let x = alone.device.upload_tensor(&[value; 4], [4]).unwrap();
                exe.run(&stream, &mut give(&exe, "x", &x)).unwrap();
                assert_eq!(result(&exe, "z"), [value; 4], "{mode:?}");
            }
        }
    }
}

#[test]
fn an_updated_operator_keeps_the_core_limit_of_its_scope() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Updatable)?;
        let cores = Cores { cube: 2, vector: 3 };
        let h = g.scope_with("side", Scope::new().cores(cores), |g| g.muls(x, 2.0))?;
        g.join("side")?;
        let y = g.adds(h, 1.0)?;
        g.output("y", y)
    })
    .unwrap();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    mock::log_launches(true);
    for value in [1.0_f32, 2.0, 3.0] {
        let x = alone.device.upload_tensor(&[value; 4], [4]).unwrap();
        exe.run(&stream, &mut give(&exe, "x", &x)).unwrap();
        assert_eq!(result(&exe, "y"), [2.0 * value + 1.0; 4]);
    }
    let launches = mock::launches();
    mock::log_launches(false);
    assert_eq!((exe.counters().updates, exe.counters().updates_by_address), (2, 1));
    let of = |name: &str| {
        let these = launches.iter().filter(|launch| launch.function == name);
        these.map(|launch| (launch.cube_cores, launch.vector_cores)).collect::<Vec<_>>()
    };
    let muls = of("aclnnMuls");
    assert!(muls.len() >= 2 && muls.iter().all(|cores| *cores == (2, 3)), "{muls:?}");
    assert!(of("aclnnAdds").iter().all(|cores| *cores != (2, 3)));
}

#[test]
fn a_graph_that_fails_as_a_whole_leaves_no_gate_open_for_the_next_run() {
    let alone = Alone::new();
    let stream = alone.stream();
    let mut exe = twice_plus_one().capture(&alone.device, Frozen::new()).unwrap();
    let x = [1.0_f32, 10.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
    let mut binds = [give(&exe, "x", &x[0]), give(&exe, "x", &x[1])];
    for run in 0..20 {
        let lost = run % 3 == 1;
        if lost {
            mock::fail_task("aclmdlRIExecuteAsync", 1, 507_000).unwrap();
        }
        exe.run(&stream, &mut binds[run % 2]).unwrap();
        assert_eq!(stream.synchronize().is_err(), lost, "run {run}");
        if !lost {
            assert_eq!(result(&exe, "y"), [[3.0, 21.0][run % 2]; 4], "run {run}");
        }
    }
}

#[test]
fn an_update_with_another_number_of_kernels_is_an_error_that_holds_nothing_up() {
    let alone = Alone::new();
    let stream = alone.stream();
    for (first, then, function) in [(2, 1, "aclmdlRICaptureTaskUpdateEnd"), (1, 2, "aclnnAbs")] {
        let more = Arc::new(AtomicU32::new(first));
        let kernel = copy_and(&alone.device, &more);
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Updatable)?;
            let a = g.muls(x, 2.0)?;
            let b = g.empty([4], F32)?;
            g.foreign(&kernel, &[x], &[b])?;
            let c = g.adds(x, 3.0)?;
            let ab = g.add(a, b)?;
            let y = g.add(ab, c)?;
            g.output("y", y)
        });
        let mut exe = plan.unwrap().capture(&alone.device, Frozen::new()).unwrap();
        let run = |exe: &mut Executable, value: f32| {
            let x = alone.device.upload_tensor(&[value; 4], [4]).unwrap();
            exe.run(&stream, &mut give(exe, "x", &x))
        };
        run(&mut exe, 1.0).unwrap();
        assert_eq!(result(&exe, "y"), [7.0; 4]);
        more.store(then, Ordering::Relaxed);
        let error = run(&mut exe, 2.0).unwrap_err();
        assert!(format!("{error:#}").contains(function), "{error:#}");
        stream.synchronize().unwrap();
        more.store(first, Ordering::Relaxed);
        for value in [2.0, 5.0] {
            run(&mut exe, value).unwrap();
            assert_eq!(result(&exe, "y"), [4.0 * value + 3.0; 4]);
        }
        assert!(alone.device.context().take_drop_errors().is_empty());
    }
}

/// What a call begins and another cannot end, also in a second try, is nobody else's trouble.
#[test]
fn ends_that_fail_twice_spoil_no_later_run() {
    let alone = Alone::new();
    let context = alone.device.context().create_context().unwrap();
    let stream = context.stream().unwrap();
    let [one, two] = [1.0_f32, 2.0].map(|value| context.upload_tensor(&[value; 4], [4]).unwrap());
    let plan = twice_plus_one();
    let new = || plan.executable(&context, &RunOptions::new().mode(Mode::Captured), Frozen::new()).unwrap();
    for name in ["aclmdlRICaptureTaskGrpEnd", "aclmdlRICaptureTaskUpdateEnd"] {
        let mut exe = new();
        if name.contains("Update") {
            exe.run(&stream, &mut give(&exe, "x", &one)).unwrap();
        }
        (1..=2).for_each(|nth| mock::fail(name, nth, 507_000).unwrap());
        exe.run(&stream, &mut give(&exe, "x", &two)).unwrap_err();
        mock::clear_failures();
        let _ = stream.synchronize();
        for (turn, x) in [&one, &two, &one].into_iter().enumerate() {
            let mut bind = give(&exe, "x", x);
            let ran = exe.run(&stream, &mut bind).inspect_err(|_| exe.clear_graphs());
            ran.or_else(|_| exe.run(&stream, &mut bind)).unwrap_or_else(|error| panic!("{name}, {turn}: {error}"));
            assert_eq!(result(&exe, "y"), [if turn == 1 { 5.0 } else { 3.0 }; 4], "{name}, {turn}");
        }
        drop(exe);
        // Those that are given what the first one left.
        let mut others: Vec<_> = (0..6).map(|_| new()).collect();
        for exe in &mut others {
            for (x, y) in [(&one, 3.0), (&two, 5.0)] {
                let ran = exe.run(&stream, &mut give(exe, "x", x));
                ran.unwrap_or_else(|error| panic!("after {name}: {error}"));
                assert_eq!(result(exe, "y"), [y; 4], "after {name}");
            }
        }
    }
    drop((one, two, stream));
    let _ = context.take_drop_errors();
}

/// Memory of other code, which `theirs` stands for, and what tells whether it is in use.
fn lent_of(theirs: &racl::DeviceBuffer<f32>, context: &racl::Context) -> (racl::Tensor<f32>, Arc<()>) {
    let owner = Arc::new(());
    // SAFETY: the tests that call this keep `theirs` to their end, and use what stands for it alone.
    let buffer = unsafe { racl::DeviceBuffer::<f32>::from_raw(theirs.address(), 4, context, Arc::clone(&owner)) };
    (racl::Tensor::over(buffer.unwrap(), [4]).unwrap(), owner)
}

/// Memory of other code that is lent anew for each run is another value at the same address.
#[test]
fn a_run_keeps_the_memory_that_it_was_given_at_an_address_it_knows() {
    let alone = Alone::new();
    let (stream, context) = (alone.stream(), alone.device.context().clone());
    let theirs = alone.device.upload(&[3.0_f32; 4]).unwrap();
    let lent = || lent_of(&theirs, &context);
    for class in [Input::Copied, Input::Updatable, Input::Tracked(OnMove::Recapture), Input::Tracked(OnMove::Fail)] {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, class)?;
            g.output("y", g.adds(x, 4.0)?)
        });
        let mut exe = plan.unwrap().capture(&alone.device, Frozen::new()).unwrap();
        let ((first, _one), (second, other)) = (lent(), lent());
        exe.run(&stream, &mut give(&exe, "x", &first)).unwrap();
        stream.synchronize().unwrap();
        drop(first);
        mock::hold(&stream).unwrap();
        exe.run(&stream, &mut give(&exe, "x", &second)).unwrap();
        drop(second);
        assert_eq!(Arc::strong_count(&other), 2, "{class:?}: the run has not read it yet");
        mock::release(&stream).unwrap();
        assert_eq!(result(&exe, "y"), [7.0; 4]);
        stream.synchronize().unwrap();
    }
}

#[test]
fn work_on_other_streams_waits_for_a_run_that_writes_memory_lent_anew() {
    let alone = Alone::new();
    let (stream, other, context) = (alone.stream(), alone.stream(), alone.device.context().clone());
    for class in [Input::Updatable, Input::Tracked(OnMove::Recapture), Input::Tracked(OnMove::Fail)] {
        let theirs = alone.device.upload(&[1.0_f32; 4]).unwrap();
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, class)?;
            aclnn::adds(g, &x, 1.0_f32, 1, &mut { x })
        });
        let mut exe = plan.unwrap().capture(&alone.device, Frozen::new()).unwrap();
        let mut out = alone.device.upload_tensor(&[0.0_f32; 4], [4]).unwrap();
        for after in [2.0, 3.0] {
            let (lent, _owner) = lent_of(&theirs, &context);
            mock::hold(&stream).unwrap();
            exe.run(&stream, &mut give(&exe, "x", &lent)).unwrap();
            racl::op::muls(&other, &lent, 10.0, &mut out).unwrap();
            assert!(!other.is_complete().unwrap(), "{class:?}: the run has not written it yet");
            mock::release(&stream).unwrap();
            assert_eq!(out.to_vec().unwrap(), [10.0 * after; 4], "{class:?}");
        }
        stream.synchronize().unwrap();
    }
}
