//! Panics in every place where a user's code runs: nothing is poisoned, nothing is left half done.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use racl::op::DataType::F32;
use racl::plan::{Foreign, Frozen, HostFunction, Input, Mode, OnMove, Plan, RunOptions, Scope};
use racl::{CaptureMode, ErrorKind, Result, op};

use crate::arena::{Arena, Gate, formula, result, run};

/// Without a word on standard error.
fn panics() -> ! {
    resume_unwind(Box::new("on purpose"))
}

#[track_caller]
fn caught<T>(work: impl FnOnce() -> T) {
    assert!(catch_unwind(AssertUnwindSafe(work)).is_err(), "it did not panic");
}

#[test]
fn in_a_capture() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut out = arena.tensor(0.0);
    for mode in [CaptureMode::ThreadLocal, CaptureMode::Relaxed, CaptureMode::Global] {
        caught(|| {
            stream.capture(mode, |s| {
                let side = s.side("side")?;
                s.fork(&side)?;
                op::fill(&side, &mut out, 1.0)?;
                panics()
            })
        });
        assert!(!stream.is_capturing());
        op::fill(&stream, &mut out, 2.0).unwrap();
        assert_eq!(out.to_vec().unwrap(), [2.0; 4]);
    }
    drop((stream, out));
    arena.end();
}

#[test]
fn with_a_capture_in_hand() {
    let arena = Arena::new();
    let (stream, side) = (arena.stream(), arena.stream());
    let mut out = arena.tensor(0.0);
    caught(|| {
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        capture.stream().fork(&side).unwrap();
        op::fill(&side, &mut out, 1.0).unwrap();
        panics()
    });
    for stream in [&stream, &side] {
        op::fill(stream, &mut out, 3.0).unwrap();
        stream.synchronize().unwrap();
    }
    assert_eq!(out.to_vec().unwrap(), [3.0; 4]);
    drop((stream, side, out));
    arena.end();
}

#[test]
fn in_a_host_function() {
    let arena = Arena::new();
    let stream = arena.stream();
    for _ in 0..3 {
        stream.host_function(|| panics()).unwrap();
        assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::CallbackPanicked);
        stream.synchronize().unwrap();
    }
    drop(stream);
    arena.end();
}

#[test]
fn in_a_host_function_of_a_graph_at_each_replay() {
    let arena = Arena::new();
    let stream = arena.stream();
    let beside = arena.stream();
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.host_function(|| panics())).unwrap();
    for graph_first in [true, false, true] {
        graph.launch(&stream).unwrap();
        beside.host_function(|| ()).unwrap();
        // Whoever asks first is told, the other one is not, and a stream that has no part in it never is.
        let told = if graph_first { graph.wait() } else { stream.synchronize() };
        assert_eq!(told.unwrap_err().kind(), ErrorKind::CallbackPanicked);
        let after = if graph_first { stream.synchronize() } else { graph.wait() };
        after.unwrap();
        beside.synchronize().unwrap();
    }
    drop((graph, stream, beside));
    arena.end();
}

#[test]
fn with_a_panic_that_panics_when_it_is_dropped() {
    struct Twice;
    impl Drop for Twice {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panics()
            }
        }
    }
    let arena = Arena::new();
    let stream = arena.stream();
    stream.host_function(|| resume_unwind(Box::new(Twice))).unwrap();
    assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::CallbackPanicked);
    stream.synchronize().unwrap();
    drop(stream);
    arena.end();
}

#[test]
fn when_what_a_host_function_caught_is_dropped() {
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panics()
            }
        }
    }
    let arena = Arena::new();
    let stream = arena.stream();
    let mut loud = Some(Loud);
    stream.host_function(move || drop(loud.take())).unwrap();
    assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::CallbackPanicked);
    // Never called: the closure itself is dropped with it.
    let loud = Loud;
    let dropped = catch_unwind(AssertUnwindSafe(|| {
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        capture
            .stream()
            .host_function(move || {
                let _ = &loud;
            })
            .unwrap();
        drop(capture);
    }));
    drop(dropped);
    assert!(!stream.is_capturing());
    let _ = stream.synchronize();
    drop(stream);
    let _ = arena.context.synchronize();
    let _ = arena.context.take_drop_errors();
    arena.end();
}

#[test]
fn while_held_work_uses_what_unwinds() {
    let arena = Arena::new();
    let stream = arena.stream();
    let gate = Gate::before(&stream);
    caught(|| {
        let mut buffer = arena.context.alloc::<u8>(64).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        let event = arena.context.event().unwrap();
        event.record(&stream).unwrap();
        panics()
    });
    gate.open();
    stream.synchronize().unwrap();
    drop(stream);
    arena.end();
}

#[test]
fn in_the_work_that_builds_a_plan() {
    let arena = Arena::new();
    caught(|| {
        Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            g.scope("side", |g| {
                g.abs(x)?;
                panics()
            })
        })
    });
    // Caught inside the scope, the builder goes on outside of it.
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let _ = catch_unwind(AssertUnwindSafe(|| {
            g.scope_with("side", Scope::new(), |g| -> Result<()> {
                g.abs(x)?;
                panics()
            })
        }));
        let y = g.abs(x)?;
        g.output("y", y)
    });
    let mut exe = plan.unwrap().executable(&arena.context, &RunOptions::new(), Frozen::new()).unwrap();
    assert_eq!(run(&mut exe, &arena.stream(), &arena.tensor(-4.0)), [4.0; 4]);
    drop(exe);
    arena.end();
}

#[test]
fn in_a_foreign_operator_when_it_is_captured_and_when_it_runs() {
    let arena = Arena::new();
    let stream = arena.stream();
    let panicking = Foreign::unnamed(|_| panics());
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = arena.executable(mode, |g, x| {
            let y = g.empty([4], F32)?;
            g.foreign(&panicking, &[x], &[y])?;
            g.abs(y)
        });
        let x = arena.tensor(1.0);
        for _ in 0..2 {
            let mut bind = exe.bindings();
            bind.set(exe.input("x").unwrap(), &x);
            match catch_unwind(AssertUnwindSafe(|| exe.run(&stream, &mut bind))) {
                Ok(done) => assert!(done.is_err(), "{mode:?}"),
                Err(_) => assert!(!stream.is_capturing(), "{mode:?}"),
            }
        }
        drop(exe);
        let mut exe = arena.executable(mode, formula);
        assert_eq!(run(&mut exe, &stream, &x), [3.0; 4]);
    }
    drop(stream);
    arena.end();
}

#[test]
fn in_a_host_function_of_a_plan() {
    let arena = Arena::new();
    let stream = arena.stream();
    let panicking = HostFunction::new("attack.panics", 1, |_| panics());
    for mode in [Mode::Captured, Mode::Eager] {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Tracked(OnMove::Recapture))?;
            g.host_function(&panicking)?;
            let y = g.abs(x)?;
            g.output("y", y)
        });
        let options = RunOptions::new().mode(mode);
        let mut exe = plan.unwrap().executable(&arena.context, &options, Frozen::new()).unwrap();
        let x = arena.tensor(-1.0);
        for _ in 0..2 {
            let mut bind = exe.bindings();
            exe.run(&stream, bind.set(exe.input("x").unwrap(), &x)).unwrap();
            assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::CallbackPanicked, "{mode:?}");
            stream.synchronize().unwrap();
        }
    }
    drop(stream);
    let _ = arena.context.take_drop_errors();
    arena.end();
}

#[test]
fn on_a_thread_that_holds_a_capture_and_ends() {
    let arena = Arena::new();
    let context = arena.context.clone();
    let stream = arena.stream();
    let shared = stream.clone();
    let ended = std::thread::spawn(move || {
        let mut buffer = context.alloc::<u8>(8).unwrap();
        let capture = shared.begin_capture(CaptureMode::ThreadLocal).unwrap();
        capture.stream().fill_bytes(&mut buffer, 1).unwrap();
        panics()
    });
    assert!(ended.join().is_err());
    assert!(!stream.is_capturing());
    stream.synchronize().unwrap();
    drop(stream);
    arena.end();
}

#[test]
fn while_a_view_of_host_memory_is_held() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut buffer = arena.context.alloc_zeroed::<u32>(2).unwrap();
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    let input = capture.stream().upload(arena.context.pinned_from(&[0_u32; 2]).unwrap(), &mut buffer).unwrap();
    let mut graph = capture.finish().unwrap();
    caught(|| {
        let mut view = graph.host(&input).unwrap();
        view[1] = 8;
        panics()
    });
    graph.launch(&stream).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [0, 8]);
    drop((input, graph, stream, buffer));
    arena.end();
}

#[test]
fn between_a_run_and_its_result() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut exe = arena.executable(Mode::Captured, formula);
    let x = arena.tensor(2.0);
    caught(|| {
        let mut bind = exe.bindings();
        exe.run(&stream, bind.set(exe.input("x").unwrap(), &x)).unwrap();
        let _result = exe.output::<f32>(exe.output_id("y").unwrap()).unwrap();
        panics()
    });
    assert_eq!(result(&exe), [5.0; 4]);
    assert_eq!(run(&mut exe, &stream, &arena.tensor(0.0)), [1.0; 4]);
    drop((exe, x, stream));
    arena.end();
}
