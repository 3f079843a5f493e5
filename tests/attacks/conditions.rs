//! Choices and loops of graphs in the wrong hands: threads, values that are kept or forgotten, panics, and captures
//! that end while a body is open.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::channel;
use std::thread;

use crate::common::{mock, needs_function};
use racl::{CaptureMode, Condition, ErrorKind, Stream, Tensor, op};

use crate::arena::{Arena, refused};

/// What a capture or a choice may say when somebody spoilt it.
const BROKEN: &[ErrorKind] = &[
    ErrorKind::CaptureUnjoined,
    ErrorKind::CaptureForbidden,
    ErrorKind::CaptureInvalidated,
    ErrorKind::CaptureDependency,
    ErrorKind::CaptureWrongThread,
    ErrorKind::InvalidArgument,
    ErrorKind::NotCapturing,
];

fn number(condition: &Condition) -> Tensor<i64> {
    Tensor::over(condition.cell::<i64>().unwrap(), [1]).unwrap()
}

#[test]
fn panics_at_every_depth() {
    needs_function("aclmdlRICondHandleCreate");
    let arena = Arena::new();
    let stream = arena.stream();
    let out = arena.tensor(0.0);
    for depth in 1..5 {
        for mode in [CaptureMode::ThreadLocal, CaptureMode::Global, CaptureMode::Relaxed] {
            let caught = catch_unwind(AssertUnwindSafe(|| stream.capture(mode, |s| panic_inside(s, depth, &out))));
            assert!(caught.is_err());
            assert!(!stream.is_capturing());
            stream.synchronize().unwrap();
        }
    }
    assert_eq!(out.to_vec().unwrap(), [0.0; 4]);
    drop((stream, out));
    arena.end();
}

fn panic_inside(s: &Stream, depth: usize, out: &Tensor<f32>) -> racl::Result<()> {
    let side = s.side("left alone")?;
    s.fork(&side)?;
    op::fill(&side, &mut out.clone(), 1.0)?;
    if depth == 0 {
        resume_unwind(Box::new("on purpose"));
    }
    s.switch(&s.condition(None)?, 3, |case, s| match case {
        0 => op::fill(s, &mut out.clone(), 2.0),
        _ => panic_inside(s, depth - 1, out),
    })
}

/// Streams of bodies, and of their sides, outlive the capture: they are like others then.
#[test]
fn streams_that_leak_out_of_bodies() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut out = arena.tensor(0.0);
    let kept = std::cell::RefCell::new(Vec::new());
    let mut graph = stream
        .capture(CaptureMode::ThreadLocal, |s| {
            s.if_else(
                &s.condition(Some(1))?,
                |s| {
                    let side = s.side("1")?;
                    s.fork(&side)?;
                    op::fill(&side, &mut out, 1.0)?;
                    s.join(&side)?;
                    kept.borrow_mut().extend([s.clone(), side]);
                    Ok(())
                },
                |s| {
                    kept.borrow_mut().push(s.clone());
                    Ok(())
                },
            )?;
            // Once a body is over, its stream takes no part in the capture.
            assert!(kept.borrow().iter().all(|stream: &Stream| !stream.is_capturing()));
            Ok(())
        })
        .unwrap();
    graph.launch(&stream).unwrap();
    for (value, stream) in (2_i16..).zip(kept.borrow().iter()) {
        op::fill(stream, &mut out, f32::from(value)).unwrap();
        stream.synchronize().unwrap();
        graph.launch(stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), [1.0; 4]);
    }
    drop((graph, stream, out, kept));
    arena.end();
}

#[test]
fn conditions_and_cells_that_are_kept_after_their_graph() {
    needs_function("aclmdlRICondHandleCreate");
    let arena = Arena::new();
    let stream = arena.stream();
    let mut kept = Vec::new();
    for round in 0..20 {
        let graph = stream.capture(CaptureMode::ThreadLocal, |s| {
            let condition = s.condition(Some(1))?;
            s.if_then(&condition, |_| Ok(()))?;
            kept.push((number(&condition), condition));
            if round % 2 == 0 { Ok(()) } else { kept[0].1.cell::<[u64; 2]>().map(drop) }
        });
        assert_eq!(graph.is_ok(), round % 2 == 0);
    }
    for (cell, condition) in &mut kept {
        refused(op::fill(&stream, cell, 1_i64), BROKEN);
        let captured = stream.capture(CaptureMode::ThreadLocal, |s| {
            refused(op::fill(s, cell, 1_i64), BROKEN);
            s.if_then(condition, |_| panic!("it is of another capture"))
        });
        refused(captured, BROKEN);
        refused(cell.to_vec(), BROKEN);
    }
    drop((stream, kept));
    arena.end();
}

/// Ends the capture, in each way there is, from inside a body, at each depth.
#[test]
fn captures_that_end_inside_their_bodies() {
    let arena = Arena::new();
    let stream = arena.stream();
    let out = arena.tensor(0.0);
    for depth in 1..4 {
        for finish in [true, false] {
            let mut capture = Some(stream.begin_capture(CaptureMode::ThreadLocal).unwrap());
            let mut end = || {
                let capture = capture.take().unwrap();
                if finish { drop(refused(capture.finish(), BROKEN)) } else { drop(capture) }
            };
            refused(end_inside(&stream, depth, &out, &mut end), BROKEN);
            assert!(!stream.is_capturing());
            op::fill(&stream, &mut out.clone(), 4.0).unwrap();
            assert_eq!(out.to_vec().unwrap(), [4.0; 4]);
        }
    }
    drop((stream, out));
    arena.end();
}

fn end_inside(s: &Stream, depth: usize, out: &Tensor<f32>, end: &mut dyn FnMut()) -> racl::Result<()> {
    if depth == 0 {
        op::fill(s, &mut out.clone(), 2.0)?;
        end();
        // Eager work by now.
        return op::fill(s, &mut out.clone(), 3.0);
    }
    s.repeat_while(&s.condition(Some(0))?, |s| end_inside(s, depth - 1, out, end))
}

/// The capture of one thread has a body that another thread records, and ends it.
#[test]
fn a_body_on_another_thread_while_the_capture_ends() {
    needs_function("aclmdlRICondHandleCreate");
    let arena = Arena::new();
    let stream = arena.stream();
    let out = arena.tensor(0.0);
    for mode in [CaptureMode::Relaxed, CaptureMode::ThreadLocal] {
        let capture = stream.begin_capture(mode).unwrap();
        let ((inside, began), (ended, go_on)) = (channel(), channel());
        thread::scope(|scope| {
            let (stream, out) = (&stream, &out);
            let body = scope.spawn(move || {
                stream.if_then(&stream.condition(Some(1))?, |s| {
                    op::fill(s, &mut out.clone(), 1.0)?;
                    inside.send(()).unwrap();
                    go_on.recv().unwrap();
                    op::fill(s, &mut out.clone(), 2.0)
                })
            });
            began.recv().unwrap();
            refused(capture.finish(), BROKEN);
            ended.send(()).unwrap();
            refused(body.join().unwrap(), BROKEN);
        });
        drop(arena.context.take_drop_errors());
    }
    // A body that only its own thread can end may be left, with its stream.
    drop((stream, out));
    arena.end_with_leaks();
}

/// Other threads give work to the stream of a body, and to that around it.
#[test]
fn many_threads_at_one_body() {
    let arena = Arena::new();
    let stream = arena.stream();
    let out = arena.context.zeros::<i64>([1]).unwrap();
    for _ in 0..20 {
        let captured = stream.capture(CaptureMode::Relaxed, |s| {
            s.if_then(&s.condition(Some(1))?, |body| {
                thread::scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn(|| op::adds_inplace(body, &mut out.clone(), 1_i64).unwrap());
                    }
                });
                Ok(())
            })
        });
        let mut graph = captured.unwrap();
        out.buffer().unwrap().write(&[0]).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), [4]);
        let spoilt = stream.capture(CaptureMode::Relaxed, |s| {
            s.if_then(&s.condition(Some(1))?, |body| {
                thread::scope(|scope| {
                    scope.spawn(|| refused(op::adds_inplace(s, &mut out.clone(), 1_i64), BROKEN));
                    scope.spawn(|| op::adds_inplace(body, &mut out.clone(), 1_i64).unwrap());
                });
                Ok(())
            })
        });
        refused(spoilt, BROKEN);
    }
    out.buffer().unwrap().write(&[0]).unwrap();
    drop((stream, out));
    arena.end();
}

/// All calls of the library that make a body fail in turn, and the streams run out.
#[test]
fn calls_that_fail_inside() {
    let arena = Arena::new();
    let stream = arena.stream();
    let out = arena.tensor(0.0);
    let work = |s: &Stream| {
        s.if_else(
            &s.condition(Some(1))?,
            |s| op::fill(s, &mut out.clone(), 1.0),
            |s| s.repeat_while(&s.condition(None)?, |s| op::fill(s, &mut out.clone(), 2.0)),
        )
    };
    for (call, count) in [
        ("aclmdlRICaptureToModelRIBegin", 3),
        ("aclmdlRIAddCondTask", 2),
        ("aclmdlRICondHandleCreate", 2),
        ("aclmdlRICondHandleGetCondPtr", 2),
        ("aclmdlRICaptureEnd", 4),
    ] {
        for nth in 1..=count {
            mock::fail(call, nth, 207_000).unwrap();
            let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
            let inside = work(&stream);
            let ended = capture.finish().unwrap_err().to_string();
            mock::clear_failures();
            // The last end is that of the capture itself.
            let is_last = (call, nth) == ("aclmdlRICaptureEnd", 4);
            assert_eq!(inside.is_ok(), is_last, "{call} {nth}: {inside:?}");
            assert!(ended.contains(call), "{call} {nth}: {ended}");
            assert!(!stream.is_capturing(), "{call} {nth}");
            drop(arena.context.take_drop_errors());
        }
    }
    stream.capture(CaptureMode::ThreadLocal, work).unwrap().launch(&stream).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1.0; 4]);
    let mut left = 1;
    loop {
        mock::limit_streams(Some(left)).unwrap();
        let captured = stream.capture(CaptureMode::ThreadLocal, work);
        mock::limit_streams(None).unwrap();
        match captured {
            Ok(mut graph) => break graph.launch(&stream).unwrap(),
            Err(error) => assert_eq!(error.kind(), ErrorKind::NoStreams, "{error:#}"),
        }
        left += 1;
        assert!(left < 100);
    }
    drop((stream, out));
    arena.end();
}

#[test]
fn graphs_with_bodies_that_are_forgotten() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut out = arena.tensor(0.0);
    let mut graph = stream
        .capture(CaptureMode::ThreadLocal, |s| s.if_then(&s.condition(Some(1))?, |s| op::fill(s, &mut out, 1.0)))
        .unwrap();
    graph.launch(&stream).unwrap();
    std::mem::forget(graph);
    assert_eq!(out.to_vec().unwrap(), [1.0; 4]);
    drop((stream, out));
    arena.end_with_leaks();
}
