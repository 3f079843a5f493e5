//! Work of captured graphs that is replaced.

use std::panic::{AssertUnwindSafe, catch_unwind};

use racl::{CaptureMode, Context, DeviceBuffer, ErrorKind, Graph, Kernel, Stream, TaskGroup, op};

use crate::common::{assert_says, mock};
use crate::{add, alone, kernel, load, scale};

/// `x *= factor` in a graph, as a group.
fn scaled(stream: &Stream, kernel: &Kernel, x: &mut DeviceBuffer<f32>, factor: f32) -> (Graph, TaskGroup) {
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    let group = stream.task_group(|s| scale(kernel, s, x, factor)).unwrap();
    (capture.finish().unwrap(), group)
}

fn ones(context: &Context) -> DeviceBuffer<f32> {
    context.upload(&[1.0_f32; 4]).unwrap()
}

#[test]
fn replays_use_what_the_latest_update_said() {
    alone(|context| {
        let (stream, other) = (context.stream().unwrap(), context.stream().unwrap());
        let kernel = kernel(context, "scale");
        let (mut x, mut y) = (ones(context), ones(context));
        let (mut graph, group) = scaled(&stream, &kernel, &mut x, 2.0);
        graph.launch(&stream).unwrap();
        graph.update(&group, |s| scale(&kernel, s, &mut x, 5.0)).unwrap();
        assert_eq!(x.to_vec().unwrap(), [2.0; 4], "the launch before the update, and nothing more");
        graph.launch(&other).unwrap();
        assert_eq!(x.to_vec().unwrap(), [10.0; 4]);
        graph.update(&group, |s| scale(&kernel, s, &mut y, 3.0)).unwrap();
        graph.launch(&stream).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![10.0; 4], vec![9.0; 4]));
        graph.close().unwrap();
    });
}

#[test]
fn the_graph_keeps_memory_and_code_of_its_latest_update() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let first = kernel(context, "scale");
        let mut x = ones(context);
        let (mut graph, group) = scaled(&stream, &first, &mut x, 2.0);
        let before = mock::live_handles();
        let bytes = graph.memory_bytes();
        for _ in 0..3 {
            let (second, mut y) = (kernel(context, "scale"), ones(context));
            graph.update(&group, |s| scale(&second, s, &mut y, 3.0)).unwrap();
            drop((second, y));
            let now = mock::live_handles();
            assert_eq!(now.binaries, before.binaries + 1, "those of the update before are gone");
            // The buffer, and the memory of the code.
            assert_eq!(now.device_allocations, before.device_allocations + 2);
            assert_eq!(graph.memory_bytes(), bytes + 16);
            graph.launch(&stream).unwrap();
            graph.wait().unwrap();
        }
        assert_eq!(x.to_vec().unwrap(), [1.0; 4], "no launch wrote it");
    });
}

#[test]
fn a_launch_is_ordered_by_what_an_update_brought() {
    alone(|context| {
        let (one, two) = (context.stream().unwrap(), context.stream().unwrap());
        let kernel = kernel(context, "scale");
        let (mut x, mut y) = (ones(context), ones(context));
        let (mut graph, group) = scaled(&one, &kernel, &mut x, 2.0);
        graph.launch(&one).unwrap();
        graph.update(&group, |s| scale(&kernel, s, &mut y, 3.0)).unwrap();
        mock::hold(&two).unwrap();
        scale(&kernel, &two, &mut y, 10.0).unwrap();
        graph.launch(&one).unwrap();
        assert!(!one.is_complete().unwrap(), "behind the work of the other stream on the new memory");
        mock::release(&two).unwrap();
        assert_eq!(y.to_vec().unwrap(), [30.0; 4]);
    });
}

#[test]
fn operators_are_replaced_too() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let a = context.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
        let (mut left, mut right) = (context.zeros::<f32>([2, 2]).unwrap(), context.zeros::<f32>([2, 2]).unwrap());
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        let group = stream.task_group(|s| op::mm(s, &a, &a, &mut left)).unwrap();
        let mut graph = capture.finish().unwrap();
        graph.update(&group, |s| op::mm(s, &a, &a.transposed(0, 1)?, &mut right)).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!((left.to_vec().unwrap(), right.to_vec().unwrap()), (vec![0.0; 4], vec![5.0, 11.0, 11.0, 25.0]));
    });
}

#[test]
fn what_does_not_fit_is_refused_and_can_be_mended() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let binary = load(context);
        let (factor, product) = (binary.kernel("scale").unwrap(), binary.kernel("fail_cube").unwrap());
        let mut x = ones(context);
        let (mut graph, group) = scaled(&stream, &factor, &mut x, 2.0);
        let (other, _) = scaled(&stream, &factor, &mut x, 2.0);
        let (_, foreign) = scaled(&stream, &factor, &mut x, 2.0);
        let error = graph.update(&foreign, |_| Ok(())).unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["a task group of another graph"]);
        drop(other);
        let none = graph.update(&group, |_| Ok(())).unwrap_err();
        assert_eq!(none.code(), Some(507_000), "{none}");
        let kind = graph.update(&group, |s| crate::fail(&product, s, 0)).unwrap_err();
        assert_eq!(kind.code(), Some(507_000), "{kind}");
        let copy = graph.update(&group, |s| s.fill_bytes(&mut x, 0)).unwrap_err();
        assert_eq!(copy.kind(), ErrorKind::NotSupported, "{copy}");
        let panicked = catch_unwind(AssertUnwindSafe(|| graph.update(&group, |_| panic!("on purpose"))));
        assert!(panicked.is_err());
        let told = context.take_drop_errors();
        assert!(told.iter().all(|error| error.to_string().contains("an update that panicked")), "{told:?}");
        graph.update(&group, |s| scale(&factor, s, &mut x, 4.0)).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(x.to_vec().unwrap(), [4.0; 4]);
    });
}

#[test]
fn groups_are_recorded_in_captures_alone() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let factor = kernel(context, "scale");
        let mut x = ones(context);
        let error = stream.task_group(|s| scale(&factor, s, &mut x, 2.0)).unwrap_err();
        assert_says(&error, ErrorKind::NotCapturing, &["a task group of stream"]);
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        let error = stream.task_group(|s| s.fill_bytes(&mut x, 0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotSupported, "{error}");
        assert_eq!(capture.finish().unwrap_err().kind(), ErrorKind::CaptureInvalidated);
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        let nested = stream.task_group(|s| s.task_group(|s| scale(&factor, s, &mut x, 2.0)).map(drop));
        assert_eq!(nested.unwrap_err().kind(), ErrorKind::CaptureInvalidated);
        assert!(capture.finish().is_err());
        let (mut graph, _) = scaled(&stream, &factor, &mut x, 2.0);
        graph.launch(&stream).unwrap();
        assert_eq!(x.to_vec().unwrap(), [2.0; 4], "the stream records groups as before");
    });
}

#[test]
fn calls_that_fail_are_told_and_leave_the_graph_as_it_was() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let factor = kernel(context, "scale");
        let mut x = ones(context);
        for call in ["aclmdlRICaptureTaskGrpBegin", "aclmdlRICaptureTaskGrpEnd"] {
            let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
            mock::fail(call, 1, 507_000).unwrap();
            let error = stream.task_group(|s| scale(&factor, s, &mut x, 2.0)).unwrap_err();
            assert_eq!((error.call(), error.code()), (Some(call), Some(507_000)));
            assert!(capture.finish().is_err());
        }
        let (mut graph, group) = scaled(&stream, &factor, &mut x, 2.0);
        for call in ["aclmdlRICaptureTaskUpdateBegin", "aclmdlRICaptureTaskUpdateEnd"] {
            mock::fail(call, 1, 507_000).unwrap();
            let error = graph.update(&group, |s| scale(&factor, s, &mut x, 3.0)).unwrap_err();
            assert_eq!((error.call(), error.code()), (Some(call), Some(507_000)));
        }
        graph.update(&group, |s| scale(&factor, s, &mut x, 7.0)).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(x.to_vec().unwrap(), [7.0; 4]);
    });
}

#[test]
fn a_launch_that_failed_is_told_before_the_update() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let (fails, sum) = (kernel(context, "fail"), kernel(context, "add"));
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        let group = stream.task_group(|s| crate::fail(&fails, s, 1)).unwrap();
        let mut graph = capture.finish().unwrap();
        graph.launch(&stream).unwrap();
        let error = graph.update(&group, |s| crate::fail(&fails, s, 0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DeviceFault, "{error}");
        let (x, mut out) = (ones(context), context.alloc_zeroed(4).unwrap());
        graph.update(&group, |s| add(&sum, s, &x, &x, &mut out)).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), [2.0; 4]);
    });
}
