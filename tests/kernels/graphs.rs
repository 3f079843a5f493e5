//! Launches in graphs.

use racl::{CaptureMode, op};

use crate::{add, alone, kernel, load, scale};

#[test]
fn kernels_and_operators_take_turns_in_a_graph() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let binary = load(context);
        let (sum, product) = (binary.kernel("add").unwrap(), binary.kernel("matrix").unwrap());
        let one = context.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
        let mut twice = context.zeros::<f32>([2, 2]).unwrap();
        let mut out = context.zeros::<f32>([2, 2]).unwrap();
        let mut graph = stream
            .capture(CaptureMode::ThreadLocal, |s| {
                let launch = sum.launch(s).blocks(2).arg(&one).arg(&one).arg(&mut twice).arg(4_u64);
                // SAFETY: the parameters of `add`.
                unsafe { launch.submit() }?;
                op::muls_inplace(s, &mut twice, 0.5)?;
                let launch = product.launch(s).arg(&twice).arg(&one).arg(&mut out).data(&[2_u32, 2, 2]);
                // SAFETY: the parameters of `matrix`.
                unsafe { launch.submit() }
            })
            .unwrap();
        drop((sum, product, binary));
        for _ in 0..2 {
            graph.launch(&stream).unwrap();
            assert_eq!(out.to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0]);
        }
    });
}

#[test]
fn arguments_in_device_memory_change_between_replays() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let scale = kernel(context, "scale");
        let mut x = context.upload(&[1.0_f32]).unwrap();
        let address = x.address().addr() as u64;
        let bytes = |factor: f32| {
            let mut bytes = address.to_ne_bytes().to_vec();
            bytes.extend(factor.to_ne_bytes());
            bytes.extend(1_u32.to_ne_bytes());
            bytes
        };
        let mut memory = context.upload(&bytes(2.0)).unwrap();
        let mut graph = stream
            .capture(CaptureMode::ThreadLocal, |s| {
                let launch = scale.launch(s).args_in(&memory).also_writes(&mut x);
                // SAFETY: the arguments of `scale`, whose memory is told of.
                unsafe { launch.submit() }
            })
            .unwrap();
        graph.launch(&stream).unwrap();
        memory.write(&bytes(5.0)).unwrap(); // waits for the launch
        graph.launch(&stream).unwrap();
        drop(memory);
        graph.launch(&stream).unwrap();
        assert_eq!(x.to_vec().unwrap(), [50.0]);
    });
}

#[test]
fn a_side_stream_of_a_capture_takes_kernels() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let scale_kernel = kernel(context, "scale");
        let (mut left, mut right) = (context.upload(&[1.0_f32]).unwrap(), context.upload(&[1.0_f32]).unwrap());
        let mut out = context.alloc_zeroed::<f32>(1).unwrap();
        let sum = kernel(context, "add");
        let mut graph = stream
            .capture(CaptureMode::ThreadLocal, |s| {
                let side = s.side("1")?;
                s.fork(&side)?;
                scale(&scale_kernel, s, &mut left, 2.0)?;
                scale(&scale_kernel, &side, &mut right, 3.0)?;
                s.join(&side)?;
                add(&sum, s, &left, &right, &mut out)
            })
            .unwrap();
        graph.launch(&stream).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), [4.0 + 9.0]);
    });
}
