//! Kernels that are tasks of graphs: what is told of them, and others in their place.

use std::time::Duration;

use racl::{CaptureMode, Context, DeviceBuffer, ErrorKind, Graph, GraphTask, Kernel, Schedule, Stream, TaskWork, op};

use crate::common::{assert_says, mock};
use crate::{alone, kernel, load, scale};

/// `x *= 2` in a graph.
fn doubled(stream: &Stream, kernel: &Kernel, x: &mut DeviceBuffer<f32>) -> (Graph, GraphTask) {
    let graph = stream.capture(CaptureMode::ThreadLocal, |s| scale(kernel, s, x, 2.0)).unwrap();
    let task = graph.tasks().unwrap().remove(0);
    (graph, task)
}

fn ones(context: &Context) -> DeviceBuffer<f32> {
    context.upload(&[1.0_f32; 4]).unwrap()
}

#[test]
fn a_kernel_is_told_with_what_it_was_launched_with() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let (poke, other) = (kernel(context, "poke"), kernel(context, "scale"));
        let mut byte = context.alloc_zeroed::<u8>(1).unwrap();
        let graph = stream
            .capture(CaptureMode::ThreadLocal, |s| {
                let launch = poke.launch(s).blocks(3).arg(&mut byte).schedule(Schedule::Batch).block_offset(7);
                let launch = launch.dump(true).profile(false).task_prefetch(false).dynamic_memory(64);
                // SAFETY: its one parameter, a byte that it writes.
                unsafe { launch.limit(Duration::from_secs(3)).submit() }?;
                // SAFETY: as above.
                unsafe { poke.launch(s).arg(&mut byte).submit() }
            })
            .unwrap();
        let tasks = graph.tasks().unwrap();
        let TaskWork::Kernel(told) = tasks[0].work() else { panic!("{:?}", tasks[0]) };
        assert_eq!((told.function, told.blocks, told.argument_bytes), (poke.as_raw(), 3, 8));
        assert!(!told.arguments_in_memory);
        assert!(poke.is_run_by(&tasks[0]) && !other.is_run_by(&tasks[0]));
        let attributes = graph.kernel_attributes(&tasks[0]).unwrap();
        assert_eq!((attributes.schedule, attributes.block_offset), (Some(Schedule::Batch), Some(7)));
        assert_eq!((attributes.dump, attributes.profile), (Some(true), Some(false)));
        assert_eq!((attributes.task_prefetch, attributes.dynamic_memory), (Some(false), Some(64)));
        assert_eq!(attributes.limit, Some(Duration::from_secs(3)));
        let plain = graph.kernel_attributes(&tasks[1]).unwrap();
        assert_eq!((plain.limit, plain.task_prefetch), (None, Some(true)));
        let (foreign, task) = doubled(&stream, &other, &mut ones(context));
        assert_says(&graph.kernel_attributes(&task).unwrap_err(), ErrorKind::InvalidArgument, &["another graph"]);
        drop(foreign);
    });
}

#[test]
fn a_task_gets_other_arguments_or_another_kernel_which_the_graph_keeps() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let first = kernel(context, "scale");
        let mut x = ones(context);
        let (mut graph, task) = doubled(&stream, &first, &mut x);
        graph.launch(&stream).unwrap();
        let before = mock::live_handles();
        let bytes = graph.memory_bytes();
        for factor in [3.0_f32, 5.0] {
            let (second, mut y) = (kernel(context, "scale"), ones(context));
            let address = y.address().addr() as u64;
            graph
                .change(|change| {
                    let launch = second.launch(&stream).also_writes(&mut y);
                    let arguments = [address.to_ne_bytes(), {
                        let mut pair = [0; 8];
                        pair[..4].copy_from_slice(&factor.to_ne_bytes());
                        pair[4..].copy_from_slice(&4_u32.to_ne_bytes());
                        pair
                    }];
                    // SAFETY: the arguments of `scale`, whose memory is told of.
                    unsafe { launch.all_args(&arguments).replace(change, &task) }
                })
                .unwrap();
            drop(second);
            let now = mock::live_handles();
            assert_eq!(now.binaries, before.binaries + 1, "that of the change before is gone");
            // The buffer, and the memory of the code.
            assert_eq!(now.device_allocations, before.device_allocations + 2);
            assert_eq!(graph.memory_bytes(), bytes + 16);
            graph.launch(&stream).unwrap();
            assert_eq!(y.to_vec().unwrap(), [factor; 4]);
        }
        assert_eq!(x.to_vec().unwrap(), [2.0; 4]);
    });
}

#[test]
fn a_launch_that_fits_no_task_is_refused() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let (scale, matrix) = (kernel(context, "scale"), kernel(context, "matrix"));
        let mut x = ones(context);
        let (mut graph, task) = doubled(&stream, &scale, &mut x);
        let (other, foreign) = doubled(&stream, &scale, &mut x);
        let mut y = context.upload_tensor(&[1.0_f32], [1]).unwrap();
        let operator = stream
            .capture(CaptureMode::ThreadLocal, |s| {
                op::muls_inplace(s, &mut y, 2.0)?;
                s.fill_bytes(&mut x, 0)
            })
            .unwrap();
        let operators = operator.tasks().unwrap();
        graph
            .change(|change| {
                // SAFETY: all of them are refused.
                let refused = unsafe { scale.launch(&stream).replace(change, &foreign) };
                assert_says(&refused.unwrap_err(), ErrorKind::InvalidArgument, &["another graph"]);
                // SAFETY: as above.
                let refused = unsafe { scale.launch(&stream).blocks(0).replace(change, &task) };
                assert_says(&refused.unwrap_err(), ErrorKind::InvalidArgument, &["0 blocks"]);
                let launch = matrix.launch(&stream).arg(&y).arg(&y).arg(0_u64).data(&[1_u32; 3]);
                // SAFETY: as above.
                let refused = unsafe { launch.replace(change, &task) };
                assert_says(&refused.unwrap_err(), ErrorKind::NotSupported, &["data that goes along"]);
                // SAFETY: as above.
                let refused = unsafe { scale.launch(&stream).replace(change, &operators[0]) };
                assert_says(&refused.unwrap_err(), ErrorKind::NotSupported, &["kernel of an operator"]);
                // SAFETY: as above.
                let refused = unsafe { scale.launch(&stream).replace(change, &operators[1]) };
                assert_says(&refused.unwrap_err(), ErrorKind::InvalidArgument, &["no kernel"]);
                Ok(())
            })
            .unwrap();
        assert!(operator.kernel_attributes(&operators[1]).is_err());
        graph.launch(&stream).unwrap();
        graph.wait().unwrap();
        drop((other, load(context)));
    });
}

/// Another kind of kernel is refused by the library, which launches the graph no more.
#[test]
fn another_kind_of_kernel_spoils_the_graph() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let (vector, cube) = (kernel(context, "scale"), kernel(context, "fail_cube"));
        let mut x = ones(context);
        let (mut graph, task) = doubled(&stream, &vector, &mut x);
        // SAFETY: the one parameter of `fail_cube`.
        let changed = graph.change(|change| unsafe { cube.launch(&stream).arg(0_i32).replace(change, &task) });
        assert_says(&changed.unwrap_err(), ErrorKind::InvalidArgument, &["aclmdlRITaskSetParams"]);
        assert_eq!(graph.launch(&stream).unwrap_err().kind(), ErrorKind::GraphRunning);
    });
}
