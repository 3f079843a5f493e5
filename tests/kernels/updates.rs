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

#[test]
fn a_panic_halfway_leaves_the_graph_what_it_was_given() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let one = kernel(context, "scale");
        let mut x = ones(context);
        let (mut graph, group) = scaled(&stream, &one, &mut x, 2.0);
        let before = mock::live_handles();
        let (other, mut y) = (kernel(context, "scale"), ones(context));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            graph.update(&group, |s| {
                scale(&other, s, &mut y, 3.0).unwrap();
                panic!("on purpose")
            })
        }));
        assert!(panicked.is_err());
        drop((other, y));
        let now = mock::live_handles();
        assert_eq!(now.binaries, before.binaries + 1, "the code of what the graph may launch");
        assert_eq!(now.device_allocations, before.device_allocations + 2, "and the memory of it and of the code");
        let error = graph.launch(&stream).unwrap_err();
        assert_says(&error, ErrorKind::GraphRunning, &["an update of a task group failed", "update it again"]);
        assert!(graph.launch(&stream).is_err(), "again");
        graph.update(&group, |s| scale(&one, s, &mut x, 5.0)).unwrap();
        let now = mock::live_handles();
        assert_eq!((now.binaries, now.device_allocations), (before.binaries, before.device_allocations));
        graph.launch(&stream).unwrap();
        assert_eq!(x.to_vec().unwrap(), [5.0; 4]);
    });
}

#[test]
fn a_panic_after_an_operator_keeps_its_memory() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut x = context.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        let group = stream.task_group(|s| op::muls_inplace(s, &mut x, 2.0)).unwrap();
        let mut graph = capture.finish().unwrap();
        let (bytes, before) = (graph.memory_bytes(), mock::live_handles().device_allocations);
        let mut y = context.upload_tensor(&[1.0_f32; 8], [8]).unwrap();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            graph.update(&group, |s| {
                op::muls_inplace(s, &mut y, 3.0).unwrap();
                panic!("on purpose")
            })
        }));
        assert!(panicked.is_err());
        drop(y);
        assert_eq!(mock::live_handles().device_allocations, before + 1);
        assert_eq!(graph.memory_bytes(), bytes + 32);
        assert_eq!(graph.launch(&stream).unwrap_err().kind(), ErrorKind::GraphRunning);
        drop(graph);
        assert_eq!(mock::live_handles().device_allocations, before);
    });
}

#[test]
fn an_error_that_the_closure_lets_pass_fails_the_update() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let binary = load(context);
        let (factor, cube) = (binary.kernel("scale").unwrap(), binary.kernel("fail_cube").unwrap());
        let (mut x, mut y) = (ones(context), ones(context));
        let (mut graph, group) = scaled(&stream, &factor, &mut x, 2.0);
        graph.update(&group, |s| scale(&factor, s, &mut y, 3.0)).unwrap();
        drop(y);
        let before = mock::live_handles().device_allocations;
        // The library counts the kernel of another kind as one, and ends the update without an error.
        let error = graph.update(&group, |s| {
            assert_eq!(crate::fail(&cube, s, 0).unwrap_err().code(), Some(507_000));
            Ok(())
        });
        let error = error.unwrap_err();
        assert_says(&error, ErrorKind::Internal, &["updating a graph", "kernel launch at", "main.rs", "507000"]);
        assert_eq!(mock::live_handles().device_allocations, before, "the graph still uses what it had");
        assert_eq!(graph.launch(&stream).unwrap_err().kind(), ErrorKind::GraphRunning);
        // One that is refused here does not reach the library, which then lacks a kernel.
        let error = graph.update(&group, |s| {
            // SAFETY: nothing is launched.
            unsafe { factor.launch(s).blocks(0).submit() }.unwrap_err();
            scale(&factor, s, &mut x, 4.0)
        });
        assert_says(&error.unwrap_err(), ErrorKind::InvalidArgument, &["0 blocks"]);
        graph.update(&group, |s| scale(&factor, s, &mut x, 4.0)).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(x.to_vec().unwrap(), [4.0; 4]);
    });
}

#[test]
fn what_a_refused_call_uses_is_kept_too() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let factor = kernel(context, "scale");
        let mut x = ones(context);
        let (mut graph, group) = scaled(&stream, &factor, &mut x, 2.0);
        let (bytes, before) = (graph.memory_bytes(), mock::live_handles().device_allocations);
        let (mut y, mut z) = (ones(context), ones(context));
        // One kernel more than the group has: nobody knows of an operator which of its kernels were taken.
        let error = graph.update(&group, |s| {
            scale(&factor, s, &mut y, 3.0)?;
            scale(&factor, s, &mut z, 3.0)
        });
        assert_eq!(error.unwrap_err().code(), Some(507_000));
        drop((y, z));
        assert_eq!(mock::live_handles().device_allocations, before + 2);
        assert_eq!(graph.memory_bytes(), bytes + 32);
        assert_eq!(graph.launch(&stream).unwrap_err().kind(), ErrorKind::GraphRunning);
        graph.update(&group, |s| scale(&factor, s, &mut x, 4.0)).unwrap();
        assert_eq!(mock::live_handles().device_allocations, before);
    });
}

#[test]
fn an_update_that_gave_nothing_leaves_the_graph_as_it_was() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let factor = kernel(context, "scale");
        let (mut x, mut y) = (ones(context), ones(context));
        let (mut graph, group) = scaled(&stream, &factor, &mut x, 2.0);
        graph.update(&group, |s| scale(&factor, s, &mut y, 3.0)).unwrap();
        assert!(graph.update(&group, |_| Ok(())).is_err());
        // SAFETY: kernels of this repository, or no kernels at all.
        assert!(graph.update(&group, |_| unsafe { context.load_kernels("nowhere.o") }.map(drop)).is_err());
        graph.launch(&stream).unwrap();
        assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![1.0; 4], vec![3.0; 4]));
    });
}

#[test]
fn the_stream_of_an_update_takes_nothing_afterwards() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let factor = kernel(context, "scale");
        let (mut x, mut y) = (ones(context), ones(context));
        let (mut graph, group) = scaled(&stream, &factor, &mut x, 2.0);
        let mut kept = None;
        graph
            .update(&group, |s| {
                kept = Some(s.clone());
                scale(&factor, s, &mut x, 3.0)
            })
            .unwrap();
        let kept = kept.unwrap();
        let error = scale(&factor, &kept, &mut y, 9.0).unwrap_err();
        assert_says(&error, ErrorKind::InvalidHandle, &["kernel launch", "update of a graph, which is over"]);
        assert_eq!(kept.fill_bytes(&mut y, 0).unwrap_err().kind(), ErrorKind::InvalidHandle);
        assert_eq!(graph.launch(&kept).unwrap_err().kind(), ErrorKind::InvalidHandle);
        kept.synchronize().unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![3.0; 4], vec![1.0; 4]));
    });
}

#[test]
fn threads_that_submit_while_an_update_ends_are_gathered_or_refused() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let factor = kernel(context, "scale");
        let mut x = ones(context);
        let (mut graph, group) = scaled(&stream, &factor, &mut x, 2.0);
        for _ in 0..20 {
            let mut y = ones(context);
            let given = std::thread::scope(|scope| {
                let mut thread = None;
                let (target, factor, started) = (&mut y, &factor, &mut thread);
                let updated = graph.update(&group, move |s| {
                    let s = s.clone();
                    *started = Some(scope.spawn(move || scale(factor, &s, target, 3.0)));
                    Ok(())
                });
                let given = thread.unwrap().join().unwrap();
                assert_eq!(updated.is_ok(), given.is_ok(), "{updated:?}, {given:?}");
                given
            });
            drop(y);
            assert!(given.is_ok() || given.unwrap_err().kind() == ErrorKind::InvalidHandle);
            // What the graph has then is there, whoever came first.
            graph.launch(&stream).unwrap();
            graph.wait().unwrap();
        }
    });
}
