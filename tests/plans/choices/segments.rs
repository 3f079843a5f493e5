//! Captured plans whose graphs cannot choose: several graphs, of which the host launches some.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::mock::{self, RaceCheck};
use racl::op::DataType::{F32, I32};
use racl::plan::{
    After, Bindings, Cores, Executable, External, FindingKind, Fork, HostFunction, Input, OnFull, OnMove, Plan, Pool,
    RunOptions, Scope,
};
use racl::{ErrorKind, Prefetch, Result, Stream};

use super::{Run, Way, body, condition, made, once, round, times, with, x};
use crate::common::assert_says;
use crate::kernels::{PANIC, WORK, copy_as_told};
use crate::{Alone, calls_of, result};

fn launches<T>(work: impl FnOnce() -> T) -> u64 {
    calls_of("aclmdlRIExecuteAsync", work).0
}

#[test]
fn each_piece_of_work_between_choices_and_each_arm_is_a_graph() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let (c, x) = (condition(g, I32)?, x(g)?);
        let first = g.adds(x, 1.0)?;
        let [y] = g.if_else(c, &times(2.0), &times(3.0), &[first])?;
        let [_, z] = g.repeat_while(c, &round(), [c, y], &[g.full([4], F32, 1.0)?])?;
        g.output("y", g.adds(z, 5.0)?)
    });
    let before = mock::live_handles().graphs;
    let mut exe = made(Way::Segments, &plan.unwrap(), &alone.device, &RunOptions::new()).unwrap();
    // In front, two arms, what the loop begins with, a round, and the end.
    assert_eq!(mock::live_handles().graphs - before, 6);
    let (stream, runs) = (alone.stream(), with(&[0, 1, 3]));
    let mut decided = 0;
    for (run, rounds) in runs.iter().zip([0, 1, 3]) {
        let count = launches(|| once(&alone, &mut exe, &stream, run));
        assert_eq!(count, 4 + rounds, "in front, an arm, between, the rounds, and the end");
        decided += 1 + rounds + 1;
        assert_eq!((exe.counters().decided_by_host, exe.graphs()), (decided, 1));
        let by = if rounds == 0 { 3.0 } else { 2.0 };
        let expected = run.x.map(|x| (x + 1.0) * by * 2.0_f32.powi(rounds as i32) + 5.0);
        assert_eq!(result(&exe, "y"), expected);
    }
    assert_eq!((exe.counters().replays, exe.counters().captured_new), (3, 1));
    drop(exe);
    assert_eq!(mock::live_handles().graphs, before);
}

#[test]
fn a_plan_without_choices_is_one_graph_everywhere() {
    let alone = Alone::new();
    let mut exe = made(Way::Segments, &times(2.0), &alone.device, &RunOptions::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let count = launches(|| exe.run(&alone.stream(), &mut crate::give(&exe, "x", &x)).unwrap());
    assert_eq!((count, exe.counters().decided_by_host, result(&exe, "y")), (1, 0, vec![2.0; 4]));
}

/// Work of updated operators on both sides of choices, of other streams across them, and a signal behind one.
fn everything() -> (Plan, External) {
    let mut gate = None;
    let plan = Plan::build(|g| {
        let c = g.input("c", [1], I32, Input::Host)?;
        let moves = g.input("moves", [4], F32, Input::Updatable)?;
        let tracked = g.input("tracked", [4], F32, Input::Tracked(OnMove::Recapture))?;
        let x = g.input("x", [4], F32, Input::Copied)?;
        let done = *gate.insert(g.external("done")?);
        let side = g.scope_with("side", Scope::new().fork(Fork::Here), |g| g.muls(moves, 2.0))?;
        let limited = g.scope_with("few", Scope::new().cores(Cores { cube: 1, vector: 2 }), |g| g.mul(x, tracked))?;
        g.join("few")?;
        let [a] = g.if_else(c, &times(2.0), &times(3.0), &[limited])?;
        g.record_external(done)?;
        g.join("side")?;
        let b = g.add(a, side)?;
        let [_, z] = g.repeat_while(c, &round(), [c, b], &[g.full([4], F32, 1.0)?])?;
        g.output_to_host("y", g.add(z, moves)?)
    });
    (plan.unwrap(), gate.unwrap())
}

struct Case {
    exe: Executable,
    done: External,
    bind: Bindings,
    streams: [Stream; 2],
}

impl Case {
    fn new(alone: &Alone, buffers: usize) -> Self {
        let (plan, done) = everything();
        let options = RunOptions::new().host_output_buffers(buffers);
        let exe = made(Way::Segments, &plan, &alone.device, &options).unwrap();
        Self { bind: exe.bindings(), exe, done, streams: [alone.stream(), alone.stream()] }
    }

    /// Gives new memory; what y is with it.
    fn give(&mut self, alone: &Alone, turn: usize) -> f32 {
        let id = |name: &str| self.exe.input(name).unwrap();
        let upload = |value: f32| alone.device.upload_tensor(&[value; 4], [4]).unwrap();
        let (c, [u, x]) = (turn % 3, [turn as f32, 10.0 * turn as f32 - 5.0]);
        let bind = self.bind.set(id("moves"), &upload(u)).set(id("x"), &upload(x)).host(id("c"), &[c as i32], [1]);
        if turn.is_multiple_of(2) {
            bind.set(id("tracked"), &upload(4.0));
        }
        (x * 4.0 * if c == 0 { 3.0 } else { 2.0 } + 2.0 * u) * 2.0_f32.powi(c as i32) + u
    }

    fn run(&mut self, turn: usize) -> Result<()> {
        self.exe.run(&self.streams[turn / 2 % 2], &mut self.bind)
    }

    #[track_caller]
    fn check(&mut self, expected: f32, what: &str) {
        let y = self.exe.output_id("y").unwrap();
        assert_eq!(self.exe.host_output::<f32>(y).unwrap(), [expected; 4], "{what}");
        assert_eq!(result(&self.exe, "y"), [expected; 4], "{what}");
    }
}

#[test]
fn many_runs_in_a_row_update_signal_and_bring_what_they_should() {
    let alone = Alone::new();
    for buffers in [1, 3] {
        let mut case = Case::new(&alone, buffers);
        for turn in 0..60 {
            let expected = case.give(&alone, turn);
            case.run(turn).unwrap();
            case.check(expected, &format!("{buffers}, {turn}"));
            case.exe.wait_signal(case.done, &case.streams[0]).unwrap();
            case.streams[0].synchronize().unwrap();
        }
        assert!(case.exe.counters().updates > 0 && case.exe.counters().replays == 60);
        assert!(case.exe.release_gates().unwrap().is_empty());
    }
    assert!(alone.device.context().take_drop_errors().is_empty());
}

/// Lets each call of a run fail once.
fn fail_each(buffers: usize, turn: usize) {
    let alone = Alone::new();
    let ready = || {
        let mut case = Case::new(&alone, buffers);
        for earlier in 0..turn {
            case.give(&alone, earlier);
            case.run(earlier).unwrap();
        }
        let expected = case.give(&alone, turn);
        (case, expected)
    };
    let names = || racl::sys::Table::names().map(|(name, _)| (name, mock::calls(name)));
    let (mut case, expected) = ready();
    let before: Vec<_> = names().collect();
    case.run(turn).unwrap();
    let calls: Vec<_> = names().zip(before).map(|((name, after), (_, before))| (name, after - before)).collect();
    case.check(expected, "nothing failed");
    drop(case);
    for (name, count) in calls {
        for nth in 1..=count {
            let (mut case, expected) = ready();
            let what = format!("{buffers} buffers, run {turn}: call {nth} of {name}");
            let before = mock::calls(name);
            mock::fail(name, nth, 507_000).unwrap();
            let failed = catch_unwind(AssertUnwindSafe(|| case.run(turn)));
            mock::clear_failures();
            // Some calls are made once for a context, an operator may refuse to be updated by address, and whether
            // updates are done is asked in passing.
            let refusals = ["aclSetAclOpExecutorRepeatable", "aclSetTensorAddr", "aclrtStreamQuery"];
            let silent = mock::calls(name) - before < nth || refusals.contains(&name);
            let errors = failed.unwrap().err().into_iter().chain(alone.device.context().take_drop_errors());
            let text: Vec<_> = errors.map(|error| format!("{error:#}")).collect();
            assert!(silent || text.iter().any(|text| text.contains(name)), "{what}: {text:?}");
            case.streams.iter().for_each(|stream| stream.synchronize().unwrap());
            case.bind.host(case.exe.input("c").unwrap(), &[(turn % 3) as i32], [1]);
            match case.run(turn) {
                // A wait for updates that fails leaves nobody who knows how they ended.
                Err(error) if error.kind() == ErrorKind::Aborted && format!("{error}").contains(name) => continue,
                again => again.unwrap_or_else(|error| panic!("{what}: afterwards: {error:#}")),
            }
            case.check(expected, &what);
            for later in turn + 1..turn + 3 {
                let expected = case.give(&alone, later);
                case.run(later).unwrap();
                case.check(expected, &what);
            }
        }
    }
}

#[test]
fn a_call_of_a_first_run_in_segments_may_fail() {
    fail_each(1, 0);
}

#[test]
fn a_call_of_a_run_in_segments_that_recaptures_may_fail() {
    fail_each(1, 2);
}

#[test]
fn a_call_of_a_run_in_segments_on_known_graphs_may_fail() {
    fail_each(1, 1);
    fail_each(2, 1);
}

#[test]
fn a_run_that_fails_half_way_gives_its_signals_and_no_outputs() {
    let alone = Alone::new();
    let mut case = Case::new(&alone, 1);
    case.give(&alone, 0);
    case.give(&alone, 1);
    case.run(1).unwrap();
    case.streams[0].synchronize().unwrap();
    case.exe.wait_signal(case.done, &case.streams[1]).unwrap();
    case.streams[1].synchronize().unwrap();
    // In front, an arm, between, a round, the end: the signal is in the third.
    for nth in 2..=5 {
        let expected = case.give(&alone, 1);
        case.exe.wait_signal(case.done, &case.streams[1]).unwrap();
        mock::fail("aclmdlRIExecuteAsync", nth, 507_000).unwrap();
        let error = case.run(1).unwrap_err();
        mock::clear_failures();
        assert!(error.to_string().contains("aclmdlRIExecuteAsync"), "{error}");
        // Otherwise this would wait for ever.
        case.streams[1].synchronize().unwrap();
        let y = case.exe.output_id("y").unwrap();
        assert_eq!(case.exe.host_output::<f32>(y).unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert_eq!(case.exe.output::<f32>(y).map(drop).unwrap_err().kind(), ErrorKind::InvalidArgument);
        case.exe.wait_signal(case.done, &case.streams[1]).unwrap();
        case.bind.host(case.exe.input("c").unwrap(), &[1], [1]);
        case.run(1).unwrap();
        case.check(expected, "afterwards");
        case.streams[1].synchronize().unwrap();
    }
    assert!(case.exe.release_gates().unwrap().is_empty(), "as many signals as waits");
}

#[test]
fn work_in_front_of_a_choice_that_fails_on_the_device_is_an_error_of_the_run_with_the_line() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let c = g.adds(condition(g, I32)?, 0)?;
        let [y] = g.if_else(c, &times(2.0), &times(3.0), &[g.abs(x(g)?)?])?;
        g.output("y", y)
    });
    let context = alone.device.context().create_context().unwrap();
    mock::fail_task("aclnnAbs", 1, 507_015).unwrap();
    let mut exe = made(Way::Segments, &plan.unwrap(), &context, &RunOptions::new()).unwrap();
    let stream = context.stream().unwrap();
    let (c, x) = (context.upload_tensor(&[1], [1]).unwrap(), context.upload_tensor(&[-1.0_f32; 4], [4]).unwrap());
    let mut bind = exe.bindings();
    bind.set(exe.input("c").unwrap(), &c).set(exe.input("x").unwrap(), &x);
    let error = exe.run(&stream, &mut bind).unwrap_err();
    mock::clear_failures();
    let text = format!("{error:#}");
    assert!(error.kind() == ErrorKind::DeviceFault && text.contains("if (#"), "{text}");
    assert!(text.contains("choices/segments.rs:"), "{text}");
    let y = exe.output_id("y").unwrap();
    assert_eq!(exe.output::<f32>(y).map(drop).unwrap_err().kind(), ErrorKind::InvalidArgument);
    drop(exe);
    drop(context.take_drop_errors());
}

#[test]
fn a_host_function_that_panics_in_front_of_a_choice_ends_the_run() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let y = x(g)?;
        let c = condition(g, I32)?;
        let y = g.abs(y)?;
        g.host_function(&HostFunction::new("test.panics", 1, |_| panic!("as asked")))?;
        let [y] = g.if_else(c, &times(2.0), &times(3.0), &[y])?;
        g.output("y", y)
    });
    let mut exe = made(Way::Segments, &plan.unwrap(), &alone.device, &RunOptions::new()).unwrap();
    let failed = catch_unwind(AssertUnwindSafe(|| {
        let (c, x) = (alone.device.upload_tensor(&[1], [1]), alone.device.upload_tensor(&[1.0_f32; 4], [4]));
        let mut bind = exe.bindings();
        bind.set(exe.input("c").unwrap(), &c.unwrap()).set(exe.input("x").unwrap(), &x.unwrap());
        exe.run(&alone.stream(), &mut bind)
    }));
    assert_says(&failed.unwrap().unwrap_err(), ErrorKind::CallbackPanicked, &["as asked", "if (#"]);
    assert_eq!(
        exe.output::<f32>(exe.output_id("y").unwrap()).map(drop).unwrap_err().kind(),
        ErrorKind::InvalidArgument
    );
}

#[test]
fn what_an_updated_operator_does_when_it_panics_leaves_the_executable_usable() {
    let alone = Alone::new();
    let (mut gate, now) = (None, Arc::new(AtomicU32::new(WORK)));
    let kernel = copy_as_told(&now);
    let plan = Plan::build(|g| {
        let moves = g.input("moves", [4], F32, Input::Updatable)?;
        let done = *gate.insert(g.external("done")?);
        let y = g.empty([4], F32)?;
        g.foreign(&kernel, &[moves], &[y])?;
        let [y] = g.if_then(g.full([1], I32, 1)?, &times(2.0), &[y])?;
        g.record_external(done)?;
        g.output("y", y)
    });
    let (stream, other) = (alone.stream(), alone.stream());
    let mut exe = made(Way::Segments, &plan.unwrap(), &alone.device, &RunOptions::new()).unwrap();
    let mut run = |value: f32, told: u32| {
        now.store(told, Ordering::Relaxed);
        let moves = alone.device.upload_tensor(&[value; 4], [4]).unwrap();
        let mut bind = crate::give(&exe, "moves", &moves);
        exe.wait_signal(gate.unwrap(), &other).unwrap();
        let ran = catch_unwind(AssertUnwindSafe(|| exe.run(&stream, &mut bind)));
        other.synchronize().unwrap();
        ran.map(|ran| ran.map(|()| result(&exe, "y")).unwrap())
    };
    assert_eq!(run(1.0, WORK).unwrap(), [2.0; 4]);
    run(2.0, PANIC).map(drop).unwrap_err();
    assert_eq!(run(3.0, WORK).unwrap(), [6.0; 4]);
}

#[test]
fn an_executable_is_dropped_while_its_last_segment_runs() {
    let alone = Alone::new();
    let before = mock::live_handles().graphs;
    let still = mock::stand_still(true);
    let plan = Plan::build(|g| {
        let [y] = g.if_else(condition(g, I32)?, &times(2.0), &times(3.0), &[x(g)?])?;
        g.output("y", g.adds(y, 1.0)?)
    });
    let mut exe = made(Way::Segments, &plan.unwrap(), &alone.device, &RunOptions::new()).unwrap();
    let stream = alone.stream();
    let (c, x) = (alone.device.upload_tensor(&[1], [1]), alone.device.upload_tensor(&[1.0_f32; 4], [4]));
    let mut kept = alone.device.zeros::<f32>([4]).unwrap();
    let mut bind = exe.bindings();
    bind.set(exe.input("c").unwrap(), &c.unwrap()).set(exe.input("x").unwrap(), &x.unwrap());
    exe.run(&stream, &mut bind).unwrap();
    exe.output::<f32>(exe.output_id("y").unwrap()).unwrap().copy_to(&stream, &mut kept).unwrap();
    assert!(mock::live_handles().graphs > before);
    drop(exe);
    assert_eq!(kept.to_vec().unwrap(), [3.0; 4]);
    assert_eq!(mock::live_handles().graphs, before);
    mock::stand_still(still);
}

#[test]
fn executables_of_one_pool_run_on_two_threads() {
    let alone = Alone::new();
    let pool = Pool::new(&alone.device);
    let wide = body(&[], |g, x, _| {
        let wide = g.add(g.full([64, 4], F32, 1.0)?, x)?;
        g.reshape(g.narrow(g.adds(wide, 1.0)?, 0, 8..9)?, [4])
    });
    let plan = Plan::build(|g| {
        let (c, x) = (condition(g, I32)?, x(g)?);
        let [y] = g.if_else(c, &wide, &times(3.0), &[x])?;
        let [_, z] = g.repeat_while(c, &round(), [c, y], &[g.full([4], F32, 1.0)?])?;
        g.output("y", g.adds(z, 1.0)?)
    });
    let plan = plan.unwrap();
    let runs = |offset: i32| {
        let mut exe = made(Way::Segments, &plan, &alone.device, &RunOptions::new().pool(&pool)).unwrap();
        let stream = alone.stream();
        for turn in 0..30 {
            let c = (turn + offset) % 3;
            let run = Run { condition: c.to_le_bytes().to_vec(), x: [turn as f32, 1.0, -2.0, offset as f32] };
            let expected = run.x.map(|x| (if c == 0 { x * 3.0 } else { x + 2.0 }) * 2.0_f32.powi(c) + 1.0);
            assert_eq!(once(&alone, &mut exe, &stream, &run), expected, "{offset} {turn}");
        }
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| runs(1));
        runs(0);
        other.join().unwrap();
    });
    assert!(alone.device.context().take_drop_errors().is_empty());
}

#[test]
fn segments_are_kept_and_evicted_together() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let c = g.input("c", [1], I32, Input::Host)?;
        let x = g.input("x", [4], F32, Input::Tracked(OnMove::Recapture))?;
        let [y] = g.if_else(c, &times(2.0), &times(3.0), &[x])?;
        g.output("y", g.adds(y, 1.0)?)
    });
    let (stream, before) = (alone.stream(), mock::live_handles().graphs);
    for on_full in [OnFull::EvictLeastRecent, OnFull::Eager] {
        let options = RunOptions::new().graph_limit(2).on_full(on_full);
        let mut exe = made(Way::Segments, plan.as_ref().unwrap(), &alone.device, &options).unwrap();
        let tensors = [1.0_f32, 2.0, 3.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
        for turn in 0..9 {
            let (c, mut bind) = ((turn % 2) as i32, exe.bindings());
            bind.host(exe.input("c").unwrap(), &[c], [1]).set(exe.input("x").unwrap(), &tensors[turn % 3]);
            exe.run(&stream, &mut bind).unwrap();
            let expected = (turn % 3 + 1) as f32 * if c == 0 { 3.0 } else { 2.0 } + 1.0;
            assert_eq!(result(&exe, "y"), [expected; 4], "{on_full:?} {turn}");
            assert!(exe.graphs() <= 2 && mock::live_handles().graphs - before <= 6);
        }
        let counters = exe.counters();
        match on_full {
            OnFull::Eager => assert_eq!((counters.eager_at_limit, counters.evicted), (3, 0)),
            _ => assert_eq!((counters.eager_at_limit, counters.evicted), (0, 7)),
        }
        exe.clear_graphs();
        assert_eq!(mock::live_handles().graphs, before);
    }
}

#[test]
fn events_at_the_borders_of_segments_are_counted_before_anything_is_recorded() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let (c, x) = (condition(g, I32)?, x(g)?);
        let one = g.scope("1", |g| g.adds(x, 1.0))?;
        let two = g.scope("2", |g| g.adds(x, 2.0))?;
        let [y] = g.if_else(c, &times(2.0), &times(3.0), &[x])?;
        g.join("1")?;
        g.join("2")?;
        g.output("y", g.add(g.add(one, two)?, y)?)
    });
    let plan = plan.unwrap();
    let enough = (1..100).find(|limit| {
        mock::limit_events(Some(*limit)).unwrap();
        let made = made(Way::Segments, &plan, &alone.device, &RunOptions::new());
        mock::limit_events(None).unwrap();
        match made {
            Ok(_) => true,
            Err(few) => {
                assert_eq!(
                    (few.kind(), few.findings()[0].kind),
                    (ErrorKind::InvalidPlan, FindingKind::Events),
                    "{few}"
                );
                false
            }
        }
    });
    assert!(
        enough.is_some_and(|limit| limit > 4),
        "those of the plan and of two streams that fork and join: {enough:?}"
    );
}

#[test]
fn work_of_other_streams_beside_choices_races_with_nothing() {
    let alone = Alone::new();
    mock::check_races(RaceCheck::Report);
    let mut case = Case::new(&alone, 1);
    for turn in 0..12 {
        let expected = case.give(&alone, turn);
        case.run(turn).unwrap();
        case.check(expected, "with races looked for");
    }
    drop(case);
    let races = mock::races();
    mock::check_races(RaceCheck::Off);
    assert!(races.is_empty(), "{races:?}");
}

#[test]
fn an_executable_runs_on_threads_in_turn_and_on_streams_of_each() {
    let alone = Alone::new();
    let mut case = Case::new(&alone, 2);
    for turn in 0..8 {
        let expected = case.give(&alone, turn);
        let mut moved = case;
        case = std::thread::spawn(move || {
            moved.run(turn).unwrap();
            moved.check(expected, &turn.to_string());
            moved
        })
        .join()
        .unwrap();
    }
    assert_eq!(case.exe.counters().replays, 8);
}

/// Operators on both sides of a choice whose memory moves from run to run.
fn moved_on_both_sides(alone: &Alone) -> Executable {
    let plan = Plan::build(|g| {
        let moves = g.input("moves", [4], F32, Input::Updatable)?;
        let first = g.adds(moves, 1.0)?;
        let [y] = g.if_then(g.full([1], I32, 1)?, &times(2.0), &[first])?;
        g.output("y", g.add(y, moves)?)
    });
    made(Way::Segments, &plan.unwrap(), &alone.device, &RunOptions::new()).unwrap()
}

#[test]
fn a_gate_that_a_failure_keeps_shut_holds_up_no_run_in_segments() {
    let alone = Alone::new();
    let run = |exe: &mut Executable, stream: &Stream, value: f32| {
        let moves = alone.device.upload_tensor(&[value; 4], [4])?;
        exe.run(stream, &mut crate::give(exe, "moves", &moves))
    };
    let mut of_no_use = 0;
    for (name, count) in [("aclrtValueWrite", 8), ("aclrtStreamWaitEvent", 4)] {
        for nth in 1..=count {
            let (stream, mut exe) = (alone.stream(), moved_on_both_sides(&alone));
            run(&mut exe, &stream, 1.0).unwrap();
            stream.synchronize().unwrap();
            mock::fail_task(name, nth, 507_015).unwrap();
            let mut told: Vec<_> = (2..4).filter_map(|turn| run(&mut exe, &stream, turn as f32).err()).collect();
            told.extend(stream.synchronize().err());
            told.extend(run(&mut exe, &stream, 4.0).err());
            drop(exe);
            mock::clear_failures();
            told.extend(stream.synchronize().err());
            told.extend(alone.device.context().take_drop_errors());
            assert!(told.iter().all(|error| error.kind() != ErrorKind::Timeout), "{name} {nth}: {told:?}");
            of_no_use += usize::from(told.iter().any(|error| error.to_string().contains("of no use")));
            let mut other = moved_on_both_sides(&alone);
            run(&mut other, &stream, 2.0).unwrap();
            assert_eq!(result(&other, "y"), [8.0; 4], "{name} {nth}");
        }
    }
    assert!(of_no_use > 0, "no gate was kept shut");
}

#[test]
fn prefetches_and_core_limits_are_those_of_the_graph_that_chooses() {
    let alone = Alone::new();
    let weighted = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let w = g.input("w", [1024, 4], F32, Input::Copied)?;
        let first = g.abs(x)?;
        g.prefetch(w, Prefetch::bytes(4096), After::Value(first))?;
        let row = g.reshape(g.narrow(w, 0, 3..4)?, [4])?;
        g.output("y", g.scope_with("few", Scope::new().cores(Cores { cube: 1, vector: 1 }), |g| g.mul(first, row))?)?;
        g.join("few")
    });
    let weighted = weighted.unwrap();
    let plan = Plan::build(|g| {
        let (c, x) = (condition(g, I32)?, x(g)?);
        let w = g.full([1024, 4], F32, 3.0)?;
        let y = g.adds(x, 1.0)?;
        g.prefetch(w, Prefetch::all(), After::Value(y))?;
        let [y] = g.if_then(c, &weighted, &[y, w])?;
        g.output("y", g.add(y, g.reshape(g.narrow(w, 0, 5..6)?, [4])?)?)
    });
    let plan = plan.unwrap();
    let of = |way: Way| {
        let mut exe = made(way, &plan, &alone.device, &RunOptions::new()).unwrap();
        let stream = alone.stream();
        let mut all = Vec::new();
        for limit in [None, Some(Cores { cube: 2, vector: 2 })] {
            exe.limit_cores(limit);
            for run in with(&[0, 1]) {
                let before = mock::prefetched();
                let y = once(&alone, &mut exe, &stream, &run);
                let after = mock::prefetched();
                all.push((y, after.0 - before.0, after.1 - before.1));
            }
        }
        assert_eq!((exe.graphs(), exe.counters().captured_cores), (2, 1), "{way:?}");
        exe.limit_cores(Some(Cores { cube: 1000, vector: 1 }));
        let (c, x) = (alone.device.upload_tensor(&[1], [1]), alone.device.upload_tensor(&[1.0_f32; 4], [4]));
        let mut bind = exe.bindings();
        bind.set(exe.input("c").unwrap(), &c.unwrap()).set(exe.input("x").unwrap(), &x.unwrap());
        assert_says(&exe.run(&stream, &mut bind).unwrap_err(), ErrorKind::InvalidPlan, &["1000 matrix"]);
        all
    };
    let (graph, segments) = (of(Way::Graph), of(Way::Segments));
    assert_eq!(graph, segments);
    assert_eq!(graph[0], (vec![5.0, 6.0, 7.0, 0.0], 1, 16384));
    assert_eq!(graph[1], (vec![9.0, 12.0, 15.0, 12.0], 2, 16384 + 4096));
}
