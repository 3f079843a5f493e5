//! What is wrong with conditions is said where it happens, and leaves no graph that lacks it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use racl::op::DataType::I64;
use racl::plan::{Input, Mode, Plan, RunOptions};
use racl::{CaptureMode, Error, ErrorKind, Result, Stream, Tensor, op};

use crate::common::{assert_says, device, needs_function};
use crate::{bytes, number};

/// Captures `work`, whose own error is left aside: what the end of the capture says.
#[track_caller]
fn end_of(stream: &Stream, work: impl FnOnce(&Stream)) -> Error {
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    work(stream);
    let error = capture.finish().unwrap_err();
    assert!(!stream.is_capturing());
    stream.synchronize().unwrap();
    error
}

#[test]
fn a_stream_that_a_body_leaves_unjoined_is_named_with_its_line() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut out = device.zeros::<f32>([4]).unwrap();
    let mut line = 0;
    let mut inside = None;
    let error = end_of(&stream, |s| {
        let condition = s.condition(Some(1)).unwrap();
        let done = s.if_then(&condition, |s| {
            let side = s.side("weights")?;
            s.fork(&side)?;
            line = line!() + 1;
            op::fill(&side, &mut out, 1.0)
        });
        inside = done.err();
    });
    let place = format!("tests/conditions/refused.rs:{line}");
    assert_says(
        &inside.unwrap(),
        ErrorKind::CaptureUnjoined,
        &["stream \"weights\" ends with inplace_fill_scalar", &place],
    );
    assert_says(
        &error,
        ErrorKind::CaptureInvalidated,
        &["if_then at tests/conditions/refused.rs", "weights", &place],
    );
}

#[test]
fn a_body_that_fails_leaves_no_graph_and_its_error_comes_first() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut out = bytes(&device, 4);
    let fails = |s: &Stream| {
        let condition = s.condition(Some(1))?;
        s.if_else(&condition, |s| s.fill_bytes(&mut out.slice(9..)?, 1), |_| panic!("the first one failed"))
    };
    let error = stream.capture(CaptureMode::ThreadLocal, fails).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["a range outside a buffer of 4 elements"]);
    assert!(!stream.is_capturing());
    // One that nobody tells further is told by the end.
    let error = end_of(&stream, |s| {
        let condition = s.condition(Some(1)).unwrap();
        s.if_then(&condition, |s| s.copy(&out, &mut out.slice(..1)?)).unwrap_err();
        s.fill_bytes(&mut out, 1).unwrap();
    });
    assert_says(&error, ErrorKind::CaptureInvalidated, &["copy at tests/conditions/refused.rs", "4 elements to 1"]);
    assert_eq!(out.to_vec().unwrap(), [0; 4]);
}

#[test]
fn a_call_that_failed_in_a_body_is_missed_although_the_body_goes_on() {
    let device = device();
    let stream = device.stream().unwrap();
    let out = bytes(&device, 4);
    let mut inside = None;
    let error = end_of(&stream, |s| {
        let condition = s.condition(Some(1)).unwrap();
        let done = s.repeat_while(&condition, |s| {
            s.copy(&out, &mut out.slice(..1)?).unwrap_err();
            op::fill(s, &mut number(&condition), 0_i64)
        });
        inside = done.err();
    });
    for error in [&error, &inside.unwrap()] {
        assert_says(error, ErrorKind::CaptureInvalidated, &["copy at tests/conditions/refused.rs"]);
    }
}

#[test]
fn a_body_that_panics_leaves_no_graph() {
    let device = device();
    let stream = device.stream().unwrap();
    let out = bytes(&device, 4);
    let mut deep = false;
    let error = end_of(&stream, |s| {
        let outer = s.condition(Some(1)).unwrap();
        let caught = catch_unwind(AssertUnwindSafe(|| {
            s.if_then(&outer, |s| {
                let inner = s.condition(Some(1))?;
                s.if_then(&inner, |s| {
                    s.fill_bytes(&mut out.clone(), 1)?;
                    deep = true;
                    std::panic::resume_unwind(Box::new("on purpose"))
                })
            })
        }));
        assert!(caught.is_err());
    });
    assert!(deep);
    assert_says(&error, ErrorKind::CaptureInvalidated, &["if_then at tests/conditions/refused.rs", "to the end"]);
    assert_eq!(out.to_vec().unwrap(), [0; 4]);
}

/// The error of `work`, after which the capture gives no graph.
#[track_caller]
fn refused(stream: &Stream, kind: ErrorKind, parts: &[&str], work: impl FnOnce(&Stream) -> Result<()>) {
    let mut inside = None;
    let error = end_of(stream, |s| inside = work(s).err());
    assert_says(&inside.expect("it was taken"), kind, parts);
    assert_says(&error, ErrorKind::CaptureInvalidated, &["tests/conditions/refused.rs"]);
}

#[test]
fn a_condition_chooses_once_and_in_its_own_capture() {
    let device = device();
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    refused(&stream, ErrorKind::InvalidArgument, &["a condition that was used before"], |s| {
        let condition = s.condition(Some(1))?;
        s.if_then(&condition, |_| Ok(()))?;
        s.if_then(&condition, |_| Ok(()))
    });
    let mut kept = None;
    let capture = other.begin_capture(CaptureMode::ThreadLocal).unwrap();
    kept.replace(other.condition(Some(1)).unwrap());
    refused(&stream, ErrorKind::InvalidArgument, &["a condition of another capture"], |s| {
        s.switch(kept.as_ref().unwrap(), 2, |_, _| Ok(()))
    });
    capture.finish().unwrap();
    refused(&stream, ErrorKind::InvalidArgument, &["a condition of another capture"], |s| {
        s.if_then(kept.as_ref().unwrap(), |_| Ok(()))
    });
    refused(&stream, ErrorKind::InvalidArgument, &["a condition of another body", "can be written here"], |s| {
        let (outer, inner) = (s.condition(Some(1))?, s.condition(Some(1))?);
        s.if_then(&outer, |s| s.if_then(&inner, |_| Ok(())))
    });
}

#[test]
fn conditions_are_for_captures() {
    let device = device();
    let stream = device.stream().unwrap();
    assert_says(&stream.condition(None).unwrap_err(), ErrorKind::NotCapturing, &["which captures nothing"]);
    let mut kept = None;
    let graph = stream.capture(CaptureMode::ThreadLocal, |s| {
        kept = Some(s.condition(None)?);
        Ok(())
    });
    drop(graph.unwrap());
    let kept = kept.unwrap();
    let error = stream.if_then(&kept, |_| Ok(())).unwrap_err();
    assert_says(&error, ErrorKind::NotCapturing, &["if_then on stream"]);
}

#[test]
fn a_switch_has_some_cases_and_not_too_many() {
    let device = device();
    let stream = device.stream().unwrap();
    for cases in [0, 1025, usize::MAX] {
        let parts = [&*format!("a switch of {cases} cases")];
        refused(&stream, ErrorKind::InvalidArgument, &parts, |s| s.switch(&s.condition(None)?, cases, |_, _| Ok(())));
    }
}

#[test]
fn a_cell_has_elements_that_fit() {
    #[derive(Clone, Copy)]
    #[repr(transparent)]
    struct Three([u8; 3]);
    // SAFETY: three bytes, all of which are valid.
    unsafe impl bytemuck::Zeroable for Three {}
    // SAFETY: as above, without padding.
    unsafe impl bytemuck::Pod for Three {}
    let device = device();
    let stream = device.stream().unwrap();
    let done = stream.capture(CaptureMode::ThreadLocal, |s| {
        let condition = s.condition(None)?;
        assert_eq!((condition.cell::<u8>()?.len(), condition.cell::<i32>()?.len()), (8, 2));
        let error = condition.cell::<Three>().unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["8 bytes as elements of 3"]);
        let error = condition.cell::<()>().unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["as elements of 0"]);
        let error = condition.cell::<[u64; 2]>().unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["as elements of 16"]);
        Ok(())
    });
    done.unwrap();
}

const OUTSIDE: &[&str] = &["the cell of a condition, outside the capture that made it"];

/// While the graph is recorded, when it is there, and when it is gone.
#[test]
fn a_cell_is_for_work_of_its_capture_alone() {
    let device = device();
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let (x, mut y) = (device.upload(&[1_u64]).unwrap(), device.alloc::<u64>(1).unwrap());
    let ones = device.upload_tensor(&[1_i64], [1]).unwrap();
    let (mut cell, mut tensor) = (None, None);
    let mut refuses = |cell: &mut racl::SharedBuffer<u64>, tensor: &mut Tensor<i64>| {
        for error in [
            other.copy(&x, cell).unwrap_err(),
            other.copy(cell, &mut y).unwrap_err(),
            other.fill_bytes(cell, 1).unwrap_err(),
            op::add_inplace(&other, tensor, &ones).unwrap_err(),
            other.upload(device.pinned(1).unwrap(), cell).unwrap_err().into_error(),
            other.download(cell, device.pinned(1).unwrap()).unwrap_err().into_error(),
            other.prefetch(&*cell, racl::Prefetch::all()).unwrap_err(),
            racl::untracked(|| other.fill_bytes(cell, 1)).unwrap_err(),
            cell.to_vec().unwrap_err(),
            cell.write(&[1]).unwrap_err(),
            tensor.to_vec().unwrap_err(),
        ] {
            assert_says(&error, ErrorKind::InvalidArgument, OUTSIDE);
        }
        let foreign = other.capture(CaptureMode::Relaxed, |s| s.copy(&x, cell)).unwrap_err();
        assert_says(&foreign, ErrorKind::InvalidArgument, &["the cell of a condition of another capture"]);
    };
    let mut graph = stream
        .capture(CaptureMode::Relaxed, |s| {
            let condition = s.condition(None)?;
            let (mut own, mut number) = (condition.cell::<u64>()?, number(&condition));
            refuses(&mut own, &mut number);
            (cell, tensor) = (Some(own), Some(number));
            Ok(())
        })
        .unwrap();
    let (mut cell, mut tensor) = (cell.unwrap(), tensor.unwrap());
    refuses(&mut cell, &mut tensor);
    graph.launch(&stream).unwrap();
    graph.wait().unwrap();
    refuses(&mut cell, &mut tensor);
    drop(graph);
    refuses(&mut cell, &mut tensor);
    drop(tensor);
    let error = cell.into_buffer().unwrap().close().unwrap_err();
    assert_says(error.error(), ErrorKind::InvalidArgument, OUTSIDE);
}

#[test]
fn a_plan_is_given_no_cell() {
    needs_function("aclmdlRICondHandleCreate");
    let device = device();
    let stream = device.stream().unwrap();
    let plan = Plan::build(|g| {
        let x = g.input("x", [1], I64, Input::Tracked(racl::plan::OnMove::Recapture))?;
        g.output("y", g.adds(x, 1_i64)?)
    });
    let plan = plan.unwrap();
    let mut exe = plan.executable(&device, &RunOptions::new().mode(Mode::Eager), racl::plan::Frozen::new()).unwrap();
    let mut kept = None;
    let graph = stream.capture(CaptureMode::ThreadLocal, |s| {
        kept = Some(s.condition(None)?.cell::<u64>()?);
        Ok(())
    });
    let mut bind = exe.bindings();
    bind.set(exe.input("x").unwrap(), &kept.unwrap());
    let error = exe.run(&stream, &mut bind).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, OUTSIDE);
    drop(graph);
}

#[test]
fn the_stream_around_a_body_takes_nothing_meanwhile() {
    let device = device();
    let stream = device.stream().unwrap();
    let out = bytes(&device, 4);
    for work in [
        (|s, out| s.fill_bytes(out, 1)) as fn(&Stream, &mut racl::SharedBuffer<u8>) -> Result<()>,
        |s, _| s.condition(None).map(drop),
        |s, _| s.host_function(|| ()),
        |s, _| s.context().event()?.record(s),
    ] {
        let parts = ["the stream is behind the body of if_then at tests/conditions/refused.rs"];
        refused(&stream, ErrorKind::CaptureForbidden, &parts, |s| {
            s.if_then(&s.condition(Some(1))?, |_| work(s, &mut out.clone()))
        });
    }
}

#[test]
fn events_do_not_cross_the_border_of_a_body() {
    let device = device();
    let stream = device.stream().unwrap();
    let parts = ["the border of a condition's body"];
    refused(&stream, ErrorKind::CaptureDependency, &parts, |s| {
        let (condition, side) = (s.condition(Some(1))?, s.side("1")?);
        s.fork(&side)?;
        let event = s.context().event()?;
        event.record(&side)?;
        s.join(&side)?;
        s.if_then(&condition, |s| s.wait(&event))
    });
    refused(&stream, ErrorKind::CaptureDependency, &parts, |s| {
        let (condition, side) = (s.condition(Some(1))?, s.side("1")?);
        s.fork(&side)?;
        s.join(&side)?;
        let event = s.context().event()?;
        s.if_then(&condition, |s| {
            event.record(s)?;
            side.wait(&event)
        })
    });
    refused(&stream, ErrorKind::CaptureDependency, &["event"], |s| {
        let event = s.context().event()?;
        s.if_then(&s.condition(Some(1))?, |s| event.record(s))?;
        s.wait(&event)
    });
}

#[test]
fn a_capture_that_ends_inside_a_body_gives_no_graph() {
    let device = device();
    let stream = device.stream().unwrap();
    let out = bytes(&device, 4);
    let mut capture = Some(stream.begin_capture(CaptureMode::ThreadLocal).unwrap());
    let condition = stream.condition(Some(1)).unwrap();
    let mut ended = None;
    let done = stream.if_else(
        &condition,
        |s| {
            let deeper = s.condition(Some(1))?;
            s.if_then(&deeper, |s| {
                s.fill_bytes(&mut out.clone(), 1)?;
                ended = capture.take().unwrap().finish().err();
                assert!(!s.is_capturing());
                Ok(())
            })
        },
        |_| panic!("the capture has ended"),
    );
    assert_says(&done.unwrap_err(), ErrorKind::CaptureInvalidated, &["ended inside the body"]);
    assert_says(&ended.unwrap(), ErrorKind::CaptureInvalidated, &["ended inside the body of if_else"]);
    stream.fill_bytes(&mut out.clone(), 3).unwrap();
    assert_eq!(out.to_vec().unwrap(), [3; 4]);
}
