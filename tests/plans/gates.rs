//! Gates to the outside that nobody signals: what waits there ends, and it is told.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use racl::op::DataType::F32;
use racl::plan::{Executable, External, Frozen, Input, Mode, OnMove, Plan, RunOptions, Scope};
use racl::{ErrorKind, op};

use crate::common::{assert_says, mock};
use crate::{Alone, give, result};

/// y = t + 1 after "ready" was signalled, on a side stream or on that of the run; "done" is signalled then.
fn plan(side: bool) -> (Plan, External, External) {
    let mut gates = None;
    let plan = Plan::build(|g| {
        let (ready, done) = (g.external("ready")?, g.external("done")?);
        gates = Some((ready, done));
        let t = g.input("t", [4], F32, Input::Tracked(OnMove::Recapture))?;
        if side {
            g.scope_with("side", Scope::new(), |g| g.wait_external(ready))?;
            g.join("side")?;
        } else {
            g.wait_external(ready)?;
        }
        let y = g.adds(t, 1.0)?;
        g.record_external(done)?;
        g.output("y", y)
    });
    let (ready, done) = gates.unwrap();
    (plan.unwrap(), ready, done)
}

pub(super) fn make(alone: &Alone, plan: &Plan, options: &RunOptions) -> Executable {
    plan.executable(&alone.device, options, Frozen::new()).unwrap()
}

/// That the only errors of drops are about gates, in this order.
#[track_caller]
pub(super) fn opened(alone: &Alone, expected: &[(&str, u64, u64)]) {
    let errors = alone.device.context().take_drop_errors();
    let texts: Vec<_> = errors.iter().map(|error| format!("{error:#}")).collect();
    assert_eq!(errors.len(), expected.len(), "{texts:?}");
    for ((error, text), (name, waits, signals)) in errors.iter().zip(texts).zip(expected) {
        assert_eq!(error.kind(), ErrorKind::Aborted);
        let gate = format!("external gate {name:?}");
        let counts = format!("waited for {waits} times and signalled {signals} times; opened");
        assert!(text.contains(&gate) && text.contains(&counts), "{text}");
    }
}

/// How long drops wait, until this goes.
struct DropLimit;

impl DropLimit {
    fn set(limit: Duration) -> Self {
        racl::set_drop_limit(limit);
        Self
    }
}

impl Drop for DropLimit {
    fn drop(&mut self) {
        racl::set_drop_limit(Duration::from_secs(10));
    }
}

/// Modes, and whether the wait is on a side stream.
const WAYS: [(Mode, bool); 4] =
    [(Mode::Captured, false), (Mode::Captured, true), (Mode::Eager, false), (Mode::Eager, true)];

#[test]
fn runs_that_nobody_signals_end_when_the_executable_goes() {
    let alone = Alone::new();
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    for (mode, side) in WAYS {
        for (runs, signals) in [(1, 0), (3, 0), (3, 1)] {
            let (plan, ready, _) = plan(side);
            let (stream, other) = (alone.stream(), alone.stream());
            let mut exe = make(&alone, &plan, &RunOptions::new().mode(mode));
            let mut bind = give(&exe, "t", &t);
            for _ in 0..runs {
                exe.run(&stream, &mut bind).unwrap();
            }
            for _ in 0..signals {
                exe.signal(ready, &other).unwrap();
            }
            mock::run_until_idle();
            assert!(!stream.is_complete().unwrap());
            drop(exe);
            stream.synchronize().unwrap();
            opened(&alone, &[("ready", runs, signals)]);
        }
    }
}

#[test]
fn a_drop_waits_for_signals_that_were_given() {
    let alone = Alone::new();
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    for (mode, side) in WAYS {
        let (plan, ready, done) = plan(side);
        let (stream, other, after) = (alone.stream(), alone.stream(), alone.stream());
        let mut exe = make(&alone, &plan, &RunOptions::new().mode(mode));
        let mut bind = give(&exe, "t", &t);
        exe.run(&stream, &mut bind).unwrap();
        exe.signal(ready, &other).unwrap();
        exe.wait_signal(done, &after).unwrap();
        drop(exe);
        after.synchronize().unwrap();
        opened(&alone, &[]);
    }
}

#[test]
fn signals_that_cannot_arrive_do_not_hold_a_drop_up() {
    let alone = Alone::new();
    // Longer than signals may take.
    let _limit = DropLimit::set(Duration::from_secs(600));
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    for (mode, side) in WAYS {
        let (plan, ready, _) = plan(side);
        let (stream, other) = (alone.stream(), alone.stream());
        // Behind the run itself, on its stream or on another.
        for behind in [&stream, &other] {
            let mut exe = make(&alone, &plan, &RunOptions::new().mode(mode));
            exe.run(&stream, &mut give(&exe, "t", &t)).unwrap();
            if *behind == other {
                stream.fork(&other).unwrap();
            }
            exe.signal(ready, behind).unwrap();
            let before = mock::now();
            drop(exe);
            assert!((60..70).contains(&(mock::now() - before).as_secs()));
            other.synchronize().unwrap();
            opened(&alone, &[("ready", 1, 1)]);
        }
    }
}

#[test]
fn what_a_stream_did_before_it_came_to_a_gate_is_read_before_the_signal() {
    let alone = Alone::new();
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    for (mode, side) in WAYS {
        let (plan, ready, _) = plan(side);
        let (stream, other, behind) = (alone.stream(), alone.stream(), alone.stream());
        let mut exe = make(&alone, &plan, &RunOptions::new().mode(mode));
        let mut bytes = [(); 2].map(|()| alone.device.upload(&[0_u8; 4]).unwrap());
        stream.fill_bytes(&mut bytes[0], 1).unwrap();
        behind.fill_bytes(&mut bytes[1], 1).unwrap();
        exe.run(&stream, &mut give(&exe, "t", &t)).unwrap();
        stream.fork(&behind).unwrap();
        bytes.iter().for_each(|bytes| assert_eq!(bytes.to_vec().unwrap(), [1; 4]));
        assert!(!stream.is_complete().unwrap() && !behind.is_complete().unwrap());
        exe.signal(ready, &other).unwrap();
        behind.synchronize().unwrap();
    }
}

#[test]
fn two_signals_at_once_are_one() {
    let alone = Alone::new();
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let (plan, ready, _) = plan(false);
    let stream = alone.stream();
    let mut exe = make(&alone, &plan, &RunOptions::new());
    let mut bind = give(&exe, "t", &t);
    exe.signal(ready, &stream).unwrap();
    exe.signal(ready, &stream).unwrap();
    exe.run(&stream, &mut bind).unwrap();
    exe.run(&stream, &mut bind).unwrap();
    drop(exe);
    opened(&alone, &[("ready", 2, 2)]);
}

#[test]
fn a_panic_with_a_run_at_a_gate_ends() {
    let alone = Alone::new();
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    for (mode, side) in WAYS {
        let (plan, _, _) = plan(side);
        let stream = alone.stream();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut exe = make(&alone, &plan, &RunOptions::new().mode(mode));
            exe.run(&stream, &mut give(&exe, "t", &t)).unwrap();
            std::panic::panic_any(7);
        }));
        assert_eq!(*panicked.unwrap_err().downcast::<i32>().unwrap(), 7);
        stream.synchronize().unwrap();
        opened(&alone, &[("ready", 1, 0)]);
    }
}

#[test]
fn a_graph_that_goes_while_its_run_waits_ends() {
    let alone = Alone::new();
    let [t, u] = [1.0_f32, 5.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
    let one = || RunOptions::new().graph_limit(1);
    for (options, moves) in [(one(), true), (one().force_recapture(), false)] {
        let (plan, ready, _) = plan(true);
        let stream = alone.stream();
        let mut exe = make(&alone, &plan, &options);
        exe.run(&stream, &mut give(&exe, "t", &t)).unwrap();
        exe.run(&stream, &mut give(&exe, "t", if moves { &u } else { &t })).unwrap();
        opened(&alone, &[("ready", 1, 0)]);
        mock::run_until_idle();
        assert!(!stream.is_complete().unwrap(), "the second run waits for a signal of its own");
        exe.signal(ready, &alone.stream()).unwrap();
        assert_eq!(result(&exe, "y"), [if moves { 6.0 } else { 2.0 }; 4]);
        exe.run(&stream, &mut give(&exe, "t", &t)).unwrap();
        if moves {
            opened(&alone, &[]);
        }
        exe.clear_graphs();
        stream.synchronize().unwrap();
        opened(&alone, &[("ready", 3, 1)]);
        assert_eq!(exe.graphs(), 0);
    }
}

#[test]
fn streams_that_wait_for_a_run_that_never_comes_go_on() {
    let alone = Alone::new();
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    for (mode, side) in WAYS {
        let (plan, ready, done) = plan(side);
        let (stream, after) = (alone.stream(), [alone.stream(), alone.stream()]);
        let mut exe = make(&alone, &plan, &RunOptions::new().mode(mode));
        exe.run(&stream, &mut give(&exe, "t", &t)).unwrap();
        exe.signal(ready, &stream.context().stream().unwrap()).unwrap();
        for stream in after.iter().cycle().take(3) {
            exe.wait_signal(done, stream).unwrap();
        }
        drop(exe);
        after.iter().for_each(|stream| stream.synchronize().unwrap());
        opened(&alone, &[("done", 3, 1)]);
    }
}

#[test]
fn the_gates_of_an_executable_are_released_on_request() {
    let alone = Alone::new();
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    for (mode, side) in WAYS {
        let (plan, ready, done) = plan(side);
        let (stream, other) = (alone.stream(), alone.stream());
        let mut exe = make(&alone, &plan, &RunOptions::new().mode(mode));
        let mut bind = give(&exe, "t", &t);
        assert!(exe.release_gates().unwrap().is_empty());
        for _ in 0..2 {
            exe.run(&stream, &mut bind).unwrap();
            exe.run(&stream, &mut bind).unwrap();
            exe.wait_signal(done, &other).unwrap();
            exe.wait_signal(done, &other).unwrap();
            // The first "done" may be taken before the second comes, or not.
            let names = exe.release_gates().unwrap();
            assert!(names == ["ready"] || names == ["ready", "done"], "{names:?}");
            other.synchronize_timeout(std::time::Duration::from_secs(600)).unwrap();
            // As if nothing had been: a run waits for its signal.
            exe.run(&stream, &mut bind).unwrap();
            mock::run_until_idle();
            assert!(!stream.is_complete().unwrap());
            exe.signal(ready, &other).unwrap();
            assert_eq!(result(&exe, "y"), [2.0; 4]);
            exe.wait_signal(done, &other).unwrap();
            other.synchronize().unwrap();
        }
        drop(exe);
        opened(&alone, &[]);
    }
}

#[test]
fn gates_behind_those_of_another_executable_are_released_after_them() {
    let alone = Alone::new();
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    for (mode, side) in WAYS {
        let (plan, _, _) = plan(side);
        let stream = alone.stream();
        let [mut first, mut second] = [(); 2].map(|()| make(&alone, &plan, &RunOptions::new().mode(mode)));
        first.run(&stream, &mut give(&first, "t", &t)).unwrap();
        second.run(&stream, &mut give(&second, "t", &t)).unwrap();
        assert_says(&second.release_gates().unwrap_err(), ErrorKind::Timeout, &["those of another executable"]);
        opened(&alone, &[("ready", 1, 0)]);
        assert_eq!(first.release_gates().unwrap(), ["ready"]);
        second.release_gates().unwrap();
        stream.synchronize().unwrap();
        assert_eq!([result(&first, "y"), result(&second, "y")], [[2.0; 4]; 2]);
        drop((first, second));
        opened(&alone, &[]);
    }
}

#[test]
fn a_limit_for_signals_is_kept() {
    let alone = Alone::new();
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let (plan, ready, _) = plan(false);
    let (stream, other) = (alone.stream(), alone.stream());
    let options = RunOptions::new().signal_limit(std::time::Duration::from_secs(5));
    let mut exe = make(&alone, &plan, &options);
    exe.run(&stream, &mut give(&exe, "t", &t)).unwrap();
    mock::hold(&other).unwrap();
    exe.signal(ready, &other).unwrap();
    let before = mock::now();
    drop(exe);
    assert!((5..6).contains(&(mock::now() - before).as_secs()));
    opened(&alone, &[("ready", 1, 1)]);
    mock::release(&other).unwrap();
    let (_, foreign, _) = self::plan(false);
    let error = make(&alone, &plan, &options).signal(foreign, &other).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["a gate of another plan"]);
}

#[test]
fn a_graph_for_other_memory_is_captured_while_the_last_run_waits_and_nothing_is_lost() {
    let alone = Alone::new();
    for side in [false, true] {
        let mut ready = None;
        let plan = Plan::build(|g| {
            let gate = g.external("ready")?;
            ready = Some(gate);
            let t = g.input("t", [4], F32, Input::Tracked(OnMove::Recapture))?;
            let more = g.adds(t, 1.0)?;
            if side {
                g.scope("side", |g| g.wait_external(gate))?;
                g.join("side")?;
            } else {
                g.wait_external(gate)?;
            }
            g.copy(more, t)
        })
        .unwrap();
        let (stream, other) = (alone.stream(), alone.stream());
        let memory = [0.0_f32, 10.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
        let mut exe = make(&alone, &plan, &RunOptions::new());
        for t in [&memory[0], &memory[1], &memory[0]] {
            exe.run(&stream, &mut give(&exe, "t", t)).unwrap();
        }
        assert_eq!((exe.counters().captured_new, exe.counters().captured_moved, exe.graphs()), (1, 1, 2));
        for _ in 0..3 {
            assert!(!stream.is_complete().unwrap());
            exe.signal(ready.unwrap(), &other).unwrap();
            other.synchronize().unwrap();
            mock::run_until_idle();
        }
        stream.synchronize().unwrap();
        assert_eq!(memory.map(|t| t.to_vec().unwrap()), [[2.0; 4], [11.0; 4]]);
        drop(exe);
        opened(&alone, &[]);
    }
}

#[test]
fn runs_of_two_executables_on_one_stream_end_one_after_the_other() {
    let alone = Alone::new();
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    for (mode, side) in WAYS {
        let stream = alone.stream();
        let [first, second] = [(); 2].map(|()| {
            let mut exe = make(&alone, &plan(side).0, &RunOptions::new().mode(mode));
            exe.run(&stream, &mut give(&exe, "t", &t)).unwrap();
            exe
        });
        drop(first);
        assert!(!stream.is_complete().unwrap());
        opened(&alone, &[("ready", 1, 0)]);
        drop(second);
        stream.synchronize().unwrap();
        opened(&alone, &[("ready", 1, 0)]);
    }
}

#[test]
fn work_on_memory_of_a_full_stream_at_a_gate_comes_before_the_signal() {
    let alone = Alone::new();
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let (plan, ready, _) = plan(false);
    let (stream, other) = (alone.stream(), alone.stream());
    let mut exe = make(&alone, &plan, &RunOptions::new());
    exe.run(&stream, &mut give(&exe, "t", &t)).unwrap();
    let mut x = alone.device.upload_tensor(&[0.0_f32; 4], [4]).unwrap();
    let (mut same, given) = (x.clone(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..5000 {
                op::fill(&stream, &mut same, 1.0).unwrap();
                given.fetch_add(1, Ordering::AcqRel);
            }
        });
        // Most of the time that thread waits for room then; whether it does must not matter.
        until_still(&given);
        op::fill(&other, &mut x, 2.0).unwrap();
        exe.signal(ready, &other).unwrap();
        stream.synchronize().unwrap();
    });
    stream.synchronize().unwrap();
    assert_eq!(x.to_vec().unwrap(), [1.0; 4]);
    assert_eq!(result(&exe, "y"), [2.0; 4]);
    drop(exe);
    opened(&alone, &[]);
}

/// Until the count, which is not 0, stays the same for a moment.
fn until_still(count: &AtomicUsize) {
    loop {
        let (before, moment) = (count.load(Ordering::Acquire), Instant::now());
        while moment.elapsed() < Duration::from_millis(50) {
            std::thread::yield_now();
        }
        if before > 0 && before == count.load(Ordering::Acquire) {
            return;
        }
    }
}

/// Who waits for the end of a run is not told what failed in the next one, whose reader is.
#[test]
fn the_end_of_a_run_is_not_that_of_the_next() {
    let alone = Alone::new();
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    // Tasks of graphs fail in each replay, or in none.
    for (mode, side) in WAYS.into_iter().filter(|(mode, _)| *mode == Mode::Eager) {
        let (plan, ready, _) = plan(side);
        let (first, second, other) = (alone.stream(), alone.stream(), alone.stream());
        let mut exe = make(&alone, &plan, &RunOptions::new().mode(mode));
        let mut bind = give(&exe, "t", &t);
        exe.run(&first, &mut bind).unwrap();
        let end = exe.run_end().unwrap().unwrap();
        exe.signal(ready, &other).unwrap();
        first.synchronize().unwrap();
        mock::fail_task("aclnnAdds", 1, 507_011).unwrap();
        exe.run(&second, &mut bind).unwrap();
        exe.signal(ready, &other).unwrap();
        end.wait().unwrap();
        exe.output::<f32>(exe.output_id("y").unwrap()).unwrap().to_vec().unwrap_err();
        drop(exe);
        mock::clear_failures();
        drop(alone.device.context().take_drop_errors());
    }
}

/// A host function of other work on the stream is none of the run's; side streams are told what they are behind.
#[test]
fn the_end_of_a_run_tells_no_panic_of_other_work() {
    let alone = Alone::new();
    let t = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    for (mode, side) in WAYS.into_iter().filter(|(_, side)| !side) {
        for awaits in [false, true] {
            let (plan, ready, _) = plan(side);
            let (stream, other) = (alone.stream(), alone.stream());
            let mut exe = make(&alone, &plan, &RunOptions::new().mode(mode));
            stream.host_function(|| std::panic::resume_unwind(Box::new("told to"))).unwrap();
            exe.run(&stream, &mut give(&exe, "t", &t)).unwrap();
            let end = exe.run_end().unwrap().unwrap();
            exe.signal(ready, &other).unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            if awaits { runtime.block_on(end.reached()) } else { end.wait() }.unwrap();
            assert_eq!(result(&exe, "y"), [2.0; 4], "{mode:?}");
            assert_says(&stream.synchronize().unwrap_err(), ErrorKind::CallbackPanicked, &["told to"]);
        }
    }
}
