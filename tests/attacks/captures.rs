//! Captures that cross, nest, leak out and end in the wrong place: an error each time, and never a graph that lies.

use racl::plan::{Frozen, Mode, Plan};
use racl::{CaptureMode, ErrorKind, Result, Stream, op};

use crate::arena::{Arena, formula, refused, run};

/// What a capture may be ended with when something in it went wrong.
const BROKEN: &[ErrorKind] = &[
    ErrorKind::CaptureUnjoined,
    ErrorKind::CaptureForbidden,
    ErrorKind::CaptureInvalidated,
    ErrorKind::CaptureDependency,
    ErrorKind::CaptureWrongThread,
    ErrorKind::InvalidArgument,
    ErrorKind::NotSupported,
    ErrorKind::NotCapturing,
    ErrorKind::WrongContext,
];

#[test]
fn one_in_another_on_the_same_stream() {
    let arena = Arena::new();
    let stream = arena.stream();
    let outer = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    refused(stream.begin_capture(CaptureMode::ThreadLocal), BROKEN);
    refused(stream.capture(CaptureMode::Relaxed, |_| Ok(())), BROKEN);
    assert!(stream.is_capturing());
    drop(outer);
    assert!(!stream.is_capturing());
    drop(stream);
    arena.end();
}

#[test]
fn one_in_another_on_another_stream() {
    let arena = Arena::new();
    let (a, b) = (arena.stream(), arena.stream());
    let (mut x, mut y) = (arena.tensor(0.0), arena.tensor(0.0));
    let outer = a.begin_capture(CaptureMode::Relaxed).unwrap();
    op::fill(&a, &mut x, 1.0).unwrap();
    let inner = b.capture(CaptureMode::Relaxed, |s| op::fill(s, &mut y, 2.0));
    let outer = outer.finish();
    for (graph, tensor, value) in [(outer, &x, 1.0), (inner, &y, 2.0)] {
        let mut graph = graph.unwrap();
        graph.launch(&a).unwrap();
        assert_eq!(tensor.to_vec().unwrap(), [value; 4]);
    }
    drop((a, b, x, y));
    arena.end();
}

#[test]
fn two_that_wait_for_each_other() {
    let arena = Arena::new();
    let (a, b) = (arena.stream(), arena.stream());
    let first = a.begin_capture(CaptureMode::Relaxed).unwrap();
    let second = b.begin_capture(CaptureMode::Relaxed).unwrap();
    let event = arena.context.event().unwrap();
    event.record(&a).unwrap();
    refused(b.wait(&event), BROKEN);
    refused(first.stream().fork(&b), BROKEN);
    refused(first.finish(), BROKEN);
    refused(second.finish(), BROKEN);
    a.synchronize().unwrap();
    b.synchronize().unwrap();
    drop((a, b, event));
    arena.end();
}

#[test]
fn the_streams_of_other_contexts() {
    let arena = Arena::new();
    let stream = arena.stream();
    let other = arena.context.create_context().unwrap();
    let foreign = other.stream().unwrap();
    let done: Result<_> = stream.capture(CaptureMode::ThreadLocal, |s| {
        s.fork(&foreign)?;
        s.join(&foreign)
    });
    match done {
        Ok(mut graph) => graph.launch(&stream).unwrap(),
        Err(error) => drop(refused::<()>(Err(error), BROKEN)),
    }
    assert!(!stream.is_capturing() && !foreign.is_capturing());
    foreign.synchronize().unwrap();
    drop((stream, foreign));
    other.close().unwrap();
    arena.end();
}

#[test]
fn a_join_of_a_stream_that_never_forked() {
    let arena = Arena::new();
    let (stream, side) = (arena.stream(), arena.stream());
    let mut out = arena.tensor(0.0);
    op::fill(&side, &mut out, 1.0).unwrap();
    refused(stream.capture(CaptureMode::ThreadLocal, |s| s.join(&side)), BROKEN);
    side.synchronize().unwrap();
    assert_eq!(out.to_vec().unwrap(), [1.0; 4]);
    drop((stream, side, out));
    arena.end();
}

#[test]
fn events_that_cross_its_border() {
    let arena = Arena::new();
    let (stream, outside) = (arena.stream(), arena.stream());
    let mut out = arena.tensor(0.0);
    let (before, within) = (arena.context.event().unwrap(), arena.context.event().unwrap());
    before.record(&outside).unwrap();
    let capture = stream.begin_capture(CaptureMode::Relaxed).unwrap();
    let waited = capture.stream().wait(&before);
    within.record(capture.stream()).unwrap();
    refused(within.synchronize(), BROKEN);
    refused(within.is_complete(), BROKEN);
    let _ = op::fill(capture.stream(), &mut out, 1.0);
    let ended = capture.finish();
    assert!(waited.is_ok() || ended.is_err(), "a wait was refused and left out of the graph");
    drop(ended);
    refused(outside.wait(&within), BROKEN);
    refused(within.is_complete(), BROKEN);
    within.record(&outside).unwrap();
    within.synchronize().unwrap();
    drop((stream, outside, before, within, out));
    arena.end();
}

/// As in CUDA, that makes the other stream a part of the capture.
#[test]
fn a_wait_of_a_stream_that_did_not_mean_to_join() {
    let arena = Arena::new();
    let (stream, outside) = (arena.stream(), arena.stream());
    let mut out = arena.tensor(0.0);
    let capture = stream.begin_capture(CaptureMode::Relaxed).unwrap();
    let within = arena.context.event().unwrap();
    within.record(capture.stream()).unwrap();
    outside.wait(&within).unwrap();
    assert!(outside.is_capturing());
    op::fill(&outside, &mut out, 1.0).unwrap();
    refused(capture.finish(), &[ErrorKind::CaptureUnjoined]);
    assert!(!outside.is_capturing());
    outside.synchronize().unwrap();
    assert_eq!(out.to_vec().unwrap(), [0.0; 4]);
    drop((stream, outside, within, out));
    arena.end();
}

#[test]
fn errors_that_are_ignored() {
    let arena = Arena::new();
    let stream = arena.stream();
    let (a, wrong) = (arena.tensor(1.0), arena.context.zeros::<f32>([3]).unwrap());
    let mut out = arena.tensor(0.0);
    let ended = stream.capture(CaptureMode::ThreadLocal, |s| {
        op::fill(s, &mut out, 5.0)?;
        let _ = op::add(s, &a, &wrong, &mut out);
        op::add_inplace(s, &mut out, &a)
    });
    refused(ended, &[ErrorKind::OperatorArgument, ErrorKind::CaptureInvalidated, ErrorKind::Operator]);
    assert_eq!(out.to_vec().unwrap(), [0.0; 4]);
    drop((stream, a, wrong, out));
    arena.end();
}

type Call<'a> = &'a mut dyn FnMut(&Stream) -> Result<()>;

#[test]
fn errors_of_every_kind_of_call_that_are_ignored() {
    let arena = Arena::new();
    let stream = arena.stream();
    let (a, mut out) = (arena.tensor(1.0), arena.tensor(0.0));
    let mut kept = arena.tensor(0.0);
    let gate_of = || {
        let mut gate = None;
        let plan = Plan::build(|g| {
            let it = *gate.insert(g.external("gate")?);
            g.wait_external(it)
        });
        (plan.unwrap().eager(&arena.context, Frozen::new()).unwrap(), gate.unwrap())
    };
    let ((exe, _), (_, other)) = (gate_of(), gate_of());
    let mut inner = stream.capture(CaptureMode::Relaxed, |s| op::add_inplace(s, &mut kept, &a)).unwrap();
    let elsewhere = arena.stream();
    inner.launch(&elsewhere).unwrap();
    let mut unused = out.clone();
    let calls: [Call<'_>; 5] = [
        &mut |s| op::aclnn::einsum(s, &[&a], "i\0->i", &mut unused),
        &mut |s| exe.signal(other, s),
        &mut |s| exe.wait_signal(other, s),
        &mut |s| inner.launch(s),
        &mut |s| s.synchronize(),
    ];
    for (index, call) in calls.into_iter().enumerate() {
        let ended = stream.capture(CaptureMode::Relaxed, |s| {
            assert!(call(s).is_err(), "{index}");
            op::add_inplace(s, &mut out, &a)
        });
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::CaptureInvalidated, "{index}");
    }
    stream.synchronize().unwrap();
    assert_eq!(out.to_vec().unwrap(), [0.0; 4]);
    drop((stream, elsewhere, inner, exe, a, out, unused, kept));
    arena.end();
}

#[test]
fn nothing_at_all() {
    let arena = Arena::new();
    let stream = arena.stream();
    for mode in [CaptureMode::Global, CaptureMode::ThreadLocal, CaptureMode::Relaxed] {
        match stream.capture(mode, |_| Ok(())) {
            Ok(mut graph) => {
                graph.launch(&stream).unwrap();
                graph.launch(&stream).unwrap();
                graph.wait().unwrap();
            }
            // A card may say no.
            Err(error) => {
                assert!(!crate::common::is_mock(), "{error}");
                drop(refused::<()>(Err(error), BROKEN));
            }
        }
    }
    drop(stream);
    arena.end();
}

#[test]
fn sides_with_the_same_and_odd_names() {
    let arena = Arena::new();
    let stream = arena.stream();
    let long = "x".repeat(1 << 16);
    let mut outs: Vec<_> = (0..6).map(|_| arena.tensor(0.0)).collect();
    let graph = stream.capture(CaptureMode::ThreadLocal, |s| {
        for (name, out) in ["", "same", "same", "\0\n\u{202e}", long.as_str(), "ß"].iter().zip(&mut outs) {
            let side = s.side(name)?;
            s.fork(&side)?;
            op::fill(&side, out, 2.0)?;
            s.join(&side)?;
        }
        Ok(())
    });
    let mut graph = graph.unwrap();
    graph.launch(&stream).unwrap();
    for out in &outs {
        assert_eq!(out.to_vec().unwrap(), [2.0; 4]);
    }
    drop((graph, stream, outs));
    arena.end();
}

#[test]
fn launches_inside_a_capture() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut sum = arena.tensor(0.0);
    let one = arena.tensor(1.0);
    let mut inner = stream.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut sum, &one)).unwrap();
    let ended = stream.capture(CaptureMode::ThreadLocal, |s| inner.launch(s));
    match ended {
        // A graph inside a graph runs with it.
        Ok(mut outer) => {
            outer.launch(&stream).unwrap();
            assert_eq!(sum.to_vec().unwrap(), [1.0; 4]);
        }
        Err(error) => {
            refused::<()>(Err(error), BROKEN);
            assert_eq!(sum.to_vec().unwrap(), [0.0; 4]);
        }
    }
    drop((inner, stream, sum, one));
    arena.end();
}

#[test]
fn waits_of_every_kind_inside() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut out = arena.tensor(0.0);
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    op::fill(capture.stream(), &mut out, 1.0).unwrap();
    refused(capture.stream().synchronize(), BROKEN);
    refused(capture.stream().is_complete(), BROKEN);
    refused(arena.context.synchronize(), BROKEN);
    refused(out.to_vec(), BROKEN);
    refused(out.write(&[9.0; 4]), BROKEN);
    // The refused calls are not part of it; the graph is what was recorded, or an error.
    if let Ok(mut graph) = capture.finish() {
        graph.launch(&stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), [1.0; 4]);
    }
    drop((stream, out));
    arena.end();
}

#[test]
fn memory_that_comes_and_goes_inside() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut out = arena.tensor(0.0);
    let capture = stream.begin_capture(CaptureMode::Relaxed).unwrap();
    for step in 0..50 {
        let mut between = arena.context.empty::<f32>([4]).unwrap();
        op::fill(capture.stream(), &mut between, step as f32).unwrap();
        op::add_inplace(capture.stream(), &mut out, &between).unwrap();
    }
    let mut graph = capture.finish().unwrap();
    // Nobody gets that memory while the graph has it.
    let others: Vec<_> = (0..100).map(|_| arena.tensor(-1.0)).collect();
    for round in 1..=3 {
        graph.launch(&stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), [(round * 1225) as f32; 4]);
    }
    for other in &others {
        assert_eq!(other.to_vec().unwrap(), [-1.0; 4]);
    }
    drop((graph, stream, out, others));
    arena.end();
}

#[test]
fn the_stream_under_a_capture_is_given_up() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut out = arena.tensor(0.0);
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    let stream = match stream.close() {
        Ok(()) => panic!("a stream that captures was closed"),
        Err(given_back) => {
            let (stream, error) = given_back.into_parts();
            refused::<()>(Err(error), BROKEN);
            stream
        }
    };
    drop(stream);
    op::fill(capture.stream(), &mut out, 4.0).unwrap();
    let mut graph = capture.finish().unwrap();
    let other = arena.stream();
    graph.launch(&other).unwrap();
    assert_eq!(out.to_vec().unwrap(), [4.0; 4]);
    drop((graph, other, out));
    arena.end();
}

#[test]
fn sides_that_are_given_up_before_they_join() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut out = arena.tensor(0.0);
    for _ in 0..5 {
        let ended = stream.capture(CaptureMode::ThreadLocal, |s| {
            let side = s.side("lost")?;
            s.fork(&side)?;
            op::fill(&side, &mut out, 1.0)
        });
        refused(ended, &[ErrorKind::CaptureUnjoined]);
    }
    assert_eq!(out.to_vec().unwrap(), [0.0; 4]);
    drop((stream, out));
    arena.end();
}

#[test]
fn a_side_of_an_old_capture_in_a_new_one() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut out = arena.tensor(0.0);
    let mut kept = None;
    let first = stream.capture(CaptureMode::ThreadLocal, |s| {
        let side = s.side("side")?;
        s.fork(&side)?;
        op::fill(&side, &mut out, 1.0)?;
        s.join(&side)?;
        kept = Some(side);
        Ok(())
    });
    let mut first = first.unwrap();
    let side = kept.unwrap();
    let second = stream.capture(CaptureMode::ThreadLocal, |s| {
        s.fork(&side)?;
        op::fill(&side, &mut out, 2.0)?;
        s.join(&side)
    });
    first.launch(&stream).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1.0; 4]);
    if let Ok(mut second) = second {
        second.launch(&stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), [2.0; 4]);
    }
    drop((first, side, stream, out));
    arena.end();
}

#[test]
fn runs_and_results_of_plans_that_are_refused_and_forgotten() {
    let arena = Arena::new();
    let (stream, x, mut small) = (arena.stream(), arena.tensor(1.0), arena.context.zeros::<f32>([3]).unwrap());
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = arena.executable(mode, formula);
        assert_eq!(run(&mut exe, &arena.stream(), &x), [3.0; 4]);
        let mut bind = exe.bindings();
        bind.set(exe.input("x").unwrap(), &x);
        let lost = stream.capture(CaptureMode::Relaxed, |s| {
            let _ = exe.run(s, &mut bind);
            Ok(())
        });
        assert!(refused(lost, BROKEN).to_string().contains("plan run at"));
        let lost = stream.capture(CaptureMode::Relaxed, |s| {
            let _ = exe.output::<f32>(exe.output_id("y")?)?.copy_to(s, &mut small);
            Ok(())
        });
        assert!(refused(lost, BROKEN).to_string().contains("copy of an output at"));
    }
    drop((stream, x, small));
    arena.end();
}
