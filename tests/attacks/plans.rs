//! Plans that no one should write.

use std::time::Duration;

use racl::op::DataType::F32;
use racl::plan::{Buckets, Builder, Foreign, Frozen, Input, Mode, OnMove, Plan, Pool, RunOptions, Value};
use racl::{ErrorKind, Result};

use crate::arena::{Arena, formula, refused, result, run};

const WRONG: &[ErrorKind] = &[ErrorKind::InvalidArgument, ErrorKind::InvalidPlan, ErrorKind::OutOfMemory];

type Uses<'a, T> = dyn Fn(&Builder, T) -> Result<()> + 'a;

#[test]
fn values_of_another_builder() {
    let arena = Arena::new();
    let mut stolen: Option<Value> = None;
    let many = Plan::build(|g| {
        let mut x = g.input("x", [4], F32, Input::Copied)?;
        for _ in 0..20 {
            x = g.abs(x)?;
        }
        stolen = Some(x);
        g.output("y", x)
    });
    drop(many.unwrap());
    let stolen = stolen.unwrap();
    let uses: [&Uses<'_, ()>; 5] = [
        &|g, ()| g.abs(stolen).map(drop),
        &|g, ()| g.output("y", stolen),
        &|g, ()| g.fill_bytes(stolen, 1),
        &|g, ()| g.reshape(stolen, [2, 2]).map(drop),
        &|g, ()| g.record_stream(stolen, "side"),
    ];
    for use_it in uses {
        refused(
            Plan::build(|g| {
                g.input("x", [4], F32, Input::Copied)?;
                use_it(g, ())
            }),
            WRONG,
        );
    }
    arena.end();
}

#[test]
fn names_that_are_empty_long_the_same_or_not_text() {
    let arena = Arena::new();
    let long = "n".repeat(1 << 20);
    for name in ["", "\0", "a\nb", "\u{202e}x", long.as_str(), "../../etc"] {
        let plan = Plan::build(|g| {
            let n = g.symbol(name, 1..=8)?;
            let x = g.input(name, [n], F32, Input::Tracked(OnMove::Recapture))?;
            let y = g.scope(name, |g| g.abs(x))?;
            g.join(name)?;
            g.output(name, y)
        });
        let Ok(plan) = plan else { continue };
        let mut exe = plan.executable(&arena.context, &RunOptions::new(), Frozen::new()).unwrap();
        let (stream, x) = (arena.stream(), arena.tensor(-1.0));
        let mut bind = exe.bindings();
        exe.run(&stream, bind.set(exe.input(name).unwrap(), &x)).unwrap();
        let y = exe.output_id(name).unwrap();
        assert_eq!(exe.output::<f32>(y).unwrap().to_vec().unwrap(), [1.0; 4]);
    }
    refused(
        Plan::build(|g| {
            g.input("x", [4], F32, Input::Copied)?;
            g.input("x", [4], F32, Input::Copied).map(drop)
        }),
        WRONG,
    );
    refused(
        Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            g.output("y", x)?;
            g.output("y", x)
        }),
        WRONG,
    );
    arena.end();
}

#[test]
fn sizes_and_bounds_that_wrap_round() {
    let arena = Arena::new();
    #[allow(clippy::reversed_empty_ranges)]
    let bounds = [5..=4, 0..=usize::MAX, usize::MAX..=usize::MAX, 1..=0];
    for bounds in bounds {
        let built = Plan::build(|g| {
            let n = g.symbol("n", bounds.clone())?;
            let x = g.input("x", [n, n], F32, Input::Copied)?;
            let y = g.matmul(x, x)?;
            g.output("y", y)
        });
        refused(built.and_then(|plan| plan.executable(&arena.context, &RunOptions::new(), Frozen::new())), WRONG);
    }
    for dims in [[usize::MAX, 2], [1 << 40, 1 << 40], [0, usize::MAX]] {
        let built = Plan::build(|g| {
            let x = g.input("x", dims, F32, Input::Copied)?;
            let y = g.abs(x)?;
            g.output("y", y)
        });
        refused(built.and_then(|plan| plan.executable(&arena.context, &RunOptions::new(), Frozen::new())), WRONG);
    }
    arena.end();
}

#[test]
fn views_outside_of_their_value() {
    let arena = Arena::new();
    let uses: [&Uses<'_, Value>; 8] = [
        &|g, x| g.reshape(x, [5]).map(drop),
        &|g, x| g.reshape(x, [usize::MAX, usize::MAX]).map(drop),
        &|g, x| g.transpose(x, 0, 7).map(drop),
        &|g, x| g.narrow(x, 0, 1_usize..9).map(drop),
        &|g, x| g.narrow(x, 9, 0_usize..1).map(drop),
        &|g, x| g.bytes(x, 8..17).map(drop),
        &|g, x| g.bytes(x, usize::MAX - 1..usize::MAX).map(drop),
        &|g, x| g.softmax(x, i64::MIN).map(drop),
    ];
    for use_it in uses {
        refused(
            Plan::build(|g| {
                let x = g.input("x", [4], F32, Input::Copied)?;
                use_it(g, x)
            }),
            WRONG,
        );
    }
    arena.end();
}

#[test]
fn events_joins_and_gates_without_their_other_half() {
    let arena = Arena::new();
    refused(
        Plan::build(|g| {
            let event = g.event("never")?;
            g.wait(&event)
        }),
        WRONG,
    );
    refused(Plan::build(|g| g.join("nobody")), WRONG);
    let waits_for_itself = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let gate = g.external("gate")?;
        g.wait_external(gate)?;
        let y = g.abs(x)?;
        g.record_external(gate)?;
        g.output("y", y)
    });
    if let Ok(plan) = waits_for_itself {
        let options = RunOptions::new().signal_limit(Duration::from_millis(1));
        drop(plan.executable(&arena.context, &options, Frozen::new()));
    }
    arena.end();
}

#[test]
fn scopes_within_scopes_within_scopes() {
    fn deep(g: &Builder, x: Value, depth: usize) -> Result<Value> {
        if depth == 0 {
            return g.abs(x);
        }
        let name = format!("s{depth}");
        let y = g.scope(&name, |g| deep(g, x, depth - 1))?;
        g.join(&name)?;
        Ok(y)
    }
    let arena = Arena::new();
    for depth in [1, 5, 40] {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Tracked(OnMove::Recapture))?;
            let y = deep(g, x, depth)?;
            g.output("y", y)
        });
        let Ok(plan) = plan else { continue };
        let mut exe = plan.executable(&arena.context, &RunOptions::new(), Frozen::new()).unwrap();
        assert_eq!(run(&mut exe, &arena.stream(), &arena.tensor(-5.0)), [5.0; 4]);
    }
    arena.end();
}

#[test]
fn ten_thousand_operators() {
    let arena = Arena::new();
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = arena.executable(mode, |g, mut x| {
            for _ in 0..10_000 {
                x = g.adds(x, 1.0)?;
            }
            Ok(x)
        });
        assert_eq!(run(&mut exe, &arena.stream(), &arena.tensor(0.0)), [10_000.0; 4]);
    }
    arena.end();
}

#[test]
fn foreign_operators_that_do_what_they_must_not() {
    let arena = Arena::new();
    let stream = arena.stream();
    let other = arena.stream();
    let bodies: [(&str, Foreign); 4] = [
        ("waits", Foreign::unnamed(|launch| launch.stream().synchronize())),
        (
            "captures",
            Foreign::unnamed(|launch| launch.stream().capture(racl::CaptureMode::Relaxed, |_| Ok(())).map(drop)),
        ),
        ("forks away", {
            let other = other.clone();
            Foreign::unnamed(move |launch| launch.stream().fork(&other))
        }),
        ("fails", Foreign::unnamed(|launch| launch.check("mine", 507_015))),
    ];
    for (name, body) in &bodies {
        for mode in [Mode::Captured, Mode::Eager] {
            let mut exe = arena.executable(mode, |g, x| {
                let y = g.empty([4], F32)?;
                g.copy(x, y)?;
                g.foreign(body, &[x], &[y])?;
                g.abs(y)
            });
            let x = arena.tensor(-1.0);
            let mut bind = exe.bindings();
            // Whatever comes of it: an error, or the numbers, and nothing is broken after it.
            match exe.run(&stream, bind.set(exe.input("x").unwrap(), &x)) {
                Ok(()) => assert_eq!(result(&exe), [1.0; 4], "{name} {mode:?}"),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
            drop((exe, bind));
            assert!(!stream.is_capturing() && !other.is_capturing(), "{name} {mode:?}");
            stream.synchronize().unwrap();
            other.synchronize().unwrap();
        }
    }
    drop((stream, other, bodies));
    arena.end();
}

#[test]
fn an_executable_that_runs_another_one() {
    let arena = Arena::new();
    let stream = arena.stream();
    for mode in [Mode::Captured, Mode::Eager] {
        let inner = std::sync::Mutex::new(arena.executable(Mode::Eager, formula));
        let five = arena.tensor(5.0);
        let body = Foreign::unnamed(move |launch| {
            let mut inner = inner.lock().unwrap();
            let mut bind = inner.bindings();
            bind.set(inner.input("x")?, &five);
            inner.run(launch.stream(), &mut bind)
        });
        let mut exe = arena.executable(mode, |g, x| {
            let y = g.empty([4], F32)?;
            g.copy(x, y)?;
            g.foreign(&body, &[x], &[y])?;
            g.abs(y)
        });
        drop(body);
        let x = arena.tensor(-1.0);
        let mut bind = exe.bindings();
        if exe.run(&stream, bind.set(exe.input("x").unwrap(), &x)).is_ok() {
            assert_eq!(result(&exe), [1.0; 4]);
        }
        assert!(!stream.is_capturing());
    }
    drop(stream);
    arena.end();
}

#[test]
fn buckets_of_nothing_and_of_everything() {
    let arena = Arena::new();
    refused(Buckets::new([]), WRONG);
    refused(Buckets::new([0]), WRONG);
    refused(Buckets::up_to(0), WRONG);
    let all = Buckets::new([8, 1, 8, 3]);
    if let Ok(all) = all {
        assert_eq!(all.pad(2).unwrap(), 3);
        refused(all.pad(9), WRONG);
        refused(all.pad(usize::MAX), WRONG);
    }
    if let Ok(huge) = Buckets::new([usize::MAX]) {
        let mut padded = Vec::new();
        assert!(huge.pad(5).is_ok());
        refused(huge.fill(&[1_u8], 0, &mut padded), WRONG);
    }
    arena.end();
}

#[test]
fn graphs_that_are_cleared_and_limited_while_they_run() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut exe = arena.executable(Mode::Captured, formula);
    let none = RunOptions::new().graph_limit(0);
    refused(exe.plan().executable(&arena.context, &none, Frozen::new()), WRONG);
    for step in 0..30 {
        let x = arena.tensor(step as f32);
        let mut bind = exe.bindings();
        exe.run(&stream, bind.set(exe.input("x").unwrap(), &x)).unwrap();
        exe.clear_graphs();
        exe.run(&stream, &mut bind).unwrap();
        assert_eq!(result(&exe), [2.0 * step as f32 + 1.0; 4]);
    }
    drop((exe, stream));
    arena.end();
}

#[test]
fn one_pool_for_executables_of_many_threads() {
    let arena = Arena::new();
    let pool = Pool::new(&arena.context);
    let plan = arena.executable(Mode::Eager, formula).plan().clone();
    std::thread::scope(|scope| {
        for me in 0..4 {
            let (arena, pool, plan) = (&arena, &pool, &plan);
            scope.spawn(move || {
                let options = RunOptions::new().pool(pool);
                let context = &arena.context;
                let mut exe = plan.executable(context, &options, Frozen::new()).unwrap();
                let stream = context.stream().unwrap();
                for step in 0..20 {
                    let value = (me * 100 + step) as f32;
                    let x = context.upload_tensor(&[value; 4], [4]).unwrap();
                    let mut bind = exe.bindings();
                    let done = exe.run(&stream, bind.set(exe.input("x").unwrap(), &x));
                    if done.is_ok()
                        && let Ok(y) = exe.output::<f32>(exe.output_id("y").unwrap())
                        && let Ok(seen) = y.to_vec()
                    {
                        assert_eq!(seen, [2.0 * value + 1.0; 4]);
                    }
                }
            });
        }
    });
    drop((pool, plan));
    arena.end();
}
