//! Graphs whose operators are given other memory from run to run.

use crate::common::mock::{self, RaceCheck};
use racl::op::DataType::F32;
use racl::plan::{Executable, Frozen, Input, Mode, Plan, RunOptions};
use racl::{Context, ErrorKind, Result, Stream, Tensor, op};

use crate::arena::{Arena, formula, refused, result, run};

const INTERNAL: i32 = 507_000;
const FAULT: i32 = 507_015;

/// y = 2 |x| + 1, for four numbers that the operator reads where they are.
fn updatable(context: &Context) -> Executable {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Updatable)?;
        let y = formula(g, x)?;
        g.output("y", y)
    });
    plan.unwrap().executable(context, &RunOptions::new().mode(Mode::Captured), Frozen::new()).unwrap()
}

/// Runs with `x` and gives nothing back.
fn start(exe: &mut Executable, stream: &Stream, x: &Tensor<f32>) -> Result<()> {
    let mut bind = exe.bindings();
    bind.set(exe.input("x").unwrap(), x);
    exe.run(stream, &mut bind)
}

/// What `work` does is ordered, or its work fails.
fn without_races<T>(work: impl FnOnce() -> T) -> T {
    struct Back(RaceCheck);
    impl Drop for Back {
        fn drop(&mut self) {
            mock::check_races(self.0);
        }
    }
    let _back = Back(mock::check_races(RaceCheck::Fail));
    work()
}

#[test]
fn memory_that_is_gone_right_after_each_run() {
    let arena = Arena::new();
    without_races(|| {
        let streams = [arena.stream(), arena.stream()];
        let mut exe = updatable(&arena.context);
        for step in 0..200 {
            start(&mut exe, &streams[step / 3 % 2], &arena.tensor(step as f32)).unwrap();
            // What came back from earlier runs is taken and written at once.
            drop(arena.tensor(-1.0));
            if step % 17 == 0 {
                assert_eq!(result(&exe), [2.0 * step as f32 + 1.0; 4], "step {step}");
            }
        }
        assert_eq!(result(&exe), [399.0; 4]);
        streams.iter().for_each(|stream| stream.synchronize().unwrap());
    });
    arena.end();
}

#[test]
fn memory_that_another_stream_writes_between_the_runs() {
    let arena = Arena::new();
    without_races(|| {
        let (stream, other) = (arena.stream(), arena.stream());
        let mut exe = updatable(&arena.context);
        let mut both = [arena.tensor(0.0), arena.tensor(0.0)];
        for step in 0..60 {
            op::fill(&other, &mut both[step % 2], step as f32).unwrap();
            start(&mut exe, &stream, &both[step % 2]).unwrap();
            // Not before that run has read it.
            op::fill(&other, &mut both[step % 2], -7.0).unwrap();
            if step % 7 == 6 {
                assert_eq!(result(&exe), [2.0 * step as f32 + 1.0; 4], "step {step}");
            }
        }
        stream.synchronize().unwrap();
    });
    arena.end();
}

#[test]
fn a_window_that_slides_over_one_buffer() {
    let arena = Arena::new();
    without_races(|| {
        let stream = arena.stream();
        let mut exe = updatable(&arena.context);
        let numbers: Vec<f32> = (0..40).map(|at| at as f32).collect();
        let all = arena.context.upload_tensor(&numbers, [40]).unwrap();
        for at in (0..=36).chain((0..=36).rev()) {
            let window = all.narrow(0, at..at + 4).unwrap();
            let mut bind = exe.bindings();
            let ran = exe.run(&stream, bind.set(exe.input("x").unwrap(), &window));
            match ran {
                Ok(()) => {
                    let wanted: Vec<f32> = (at..at + 4).map(|number| 2.0 * number as f32 + 1.0).collect();
                    assert_eq!(result(&exe), wanted, "window {at}");
                }
                // Where operators ask for addresses that the window does not have.
                Err(error) => assert!(at % 8 != 0, "window {at}: {error}"),
            }
        }
    });
    arena.end();
}

#[test]
fn results_that_go_to_and_fro() {
    let arena = Arena::new();
    without_races(|| {
        let stream = arena.stream();
        let mut pair = [updatable(&arena.context), updatable(&arena.context)];
        start(&mut pair[0], &stream, &arena.tensor(1.0)).unwrap();
        let mut wanted = 3.0_f32;
        for step in 0..14 {
            let [here, there] = &mut pair;
            let (from, to) = if step % 2 == 0 { (here, there) } else { (there, here) };
            let y = from.output::<f32>(from.output_id("y").unwrap()).unwrap();
            let mut x = arena.tensor(0.0);
            y.copy_to(&stream, &mut x).unwrap();
            start(to, &stream, &x).unwrap();
            wanted = 2.0 * wanted + 1.0;
        }
        assert_eq!(result(&pair[0]), [wanted; 4]);
    });
    arena.end();
}

#[test]
fn what_does_not_fit_leaves_the_memory_of_before() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut exe = updatable(&arena.context);
    let wrong = [ErrorKind::InvalidArgument, ErrorKind::InvalidPlan, ErrorKind::AddressChanged];
    let kept = arena.tensor(4.0);
    for _ in 0..5 {
        let mut bind = exe.bindings();
        let x = exe.input("x").unwrap();
        let short = arena.context.zeros::<f32>([3]).unwrap();
        refused(exe.run(&stream, bind.set(x, &short)), &wrong);
        let whole = arena.context.zeros::<i32>([4]).unwrap();
        refused(exe.run(&stream, bind.set(x, &whole)), &wrong);
        let none = exe.bindings();
        refused(exe.run(&stream, &mut { none }), &wrong);
        assert_eq!(run(&mut exe, &stream, &kept), [9.0; 4]);
    }
    assert_eq!(exe.counters().updates, 0);
    drop((exe, kept, stream));
    arena.end();
}

#[test]
fn an_executable_that_goes_from_thread_to_thread() {
    let arena = Arena::new();
    let mut exe = updatable(&arena.context);
    for step in 0..24 {
        let context = &arena.context;
        exe = std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let stream = context.stream().unwrap();
                for back in 0..3 {
                    let x = context.upload_tensor(&[(step - back) as f32; 4], [4]).unwrap();
                    start(&mut exe, &stream, &x).unwrap();
                }
                exe
            });
            worker.join().unwrap()
        });
    }
    assert_eq!(result(&exe), [43.0; 4]);
    drop(exe);
    arena.end();
}

#[test]
fn an_end_in_the_middle_of_an_update() {
    let arena = Arena::new();
    for dropped_first in 0..3 {
        let stream = arena.stream();
        let mut exe = updatable(&arena.context);
        start(&mut exe, &stream, &arena.tensor(1.0)).unwrap();
        mock::hold(&stream).unwrap();
        let x = arena.tensor(2.0);
        start(&mut exe, &stream, &x).unwrap();
        let held = stream.clone();
        match dropped_first {
            0 => drop((x, stream)),
            1 => drop((stream, x)),
            _ => std::mem::drop(x),
        }
        std::thread::scope(|scope| {
            let end = scope.spawn(move || drop(exe));
            mock::release(&held).unwrap();
            end.join().unwrap();
        });
    }
    arena.end();
}

/// A few runs with memory that moves, the first error of them.
fn program(arena: &Arena) -> Result<()> {
    let stream = arena.context.stream()?;
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Updatable)?;
        let y = formula(g, x)?;
        g.output("y", y)
    })?;
    let mut exe = plan.executable(&arena.context, &RunOptions::new().mode(Mode::Captured), Frozen::new())?;
    for value in [1.0_f32, 2.0, 3.0] {
        let x = arena.context.upload_tensor(&[value; 4], [4])?;
        start(&mut exe, &stream, &x)?;
        let y = exe.output::<f32>(exe.output_id("y")?)?.to_vec()?;
        assert_eq!(y, [2.0 * value + 1.0; 4]);
    }
    stream.synchronize()?;
    arena.context.synchronize()
}

#[test]
fn each_call_of_an_update_fails_once() {
    let calls = [
        "aclmdlRICaptureTaskGrpBegin",
        "aclmdlRICaptureTaskGrpEnd",
        "aclmdlRICaptureTaskUpdateBegin",
        "aclmdlRICaptureTaskUpdateEnd",
        "aclmdlRIExecuteAsync",
        "aclrtValueWrite",
        "aclrtValueWait",
        "aclrtRecordEvent",
        "aclrtStreamWaitEvent",
        "aclnnAbs",
        "aclnnAbsGetWorkspaceSize",
        "aclSetTensorAddr",
        // In parts, while there are updates.
        "aclrtSynchronizeDeviceWithTimeout",
    ];
    let arena = Arena::new();
    program(&arena).unwrap();
    for name in calls {
        let mut reached_once = false;
        for nth in 1..=12 {
            let before = mock::calls(name);
            mock::fail(name, nth, INTERNAL).unwrap();
            let ended = program(&arena);
            let reached = mock::calls(name) - before >= nth;
            mock::clear_failures();
            reached_once |= reached;
            // An address that is not taken is no error: the operator is told anew.
            assert!(reached || ended.is_ok(), "{name} {nth}: {:?}", ended.err());
            let _ = arena.context.take_drop_errors();
            program(&arena).unwrap_or_else(|error| panic!("after {name} {nth}: {error}"));
            if !reached {
                break;
            }
        }
        assert!(reached_once || name == "aclrtValueWait" || name == "aclrtValueWrite", "{name} is not called");
    }
    arena.end();
}

#[test]
fn each_task_of_an_update_fails_once() {
    let arena = Arena::new();
    program(&arena).unwrap();
    for name in ["aclnnAbs", "aclnnMuls", "aclnnAdds", "aclrtValueWrite", "aclrtValueWait", "aclrtMemcpyAsync"] {
        for nth in 1..=6 {
            mock::fail_task(name, nth, FAULT).unwrap();
            let ended = program(&arena);
            mock::clear_failures();
            if let Err(error) = ended {
                assert!(!error.to_string().is_empty(), "{name} {nth}");
            }
            let _ = arena.context.synchronize();
            let _ = arena.context.take_drop_errors();
            program(&arena).unwrap_or_else(|error| panic!("after {name} {nth}: {error}"));
        }
    }
    arena.end();
}
