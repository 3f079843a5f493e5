//! What launches do.

use std::time::Duration;

use racl::{ErrorKind, Kernel, KernelEngine, Schedule, Stream};

use crate::common::{assert_says, mock};
use crate::{add, alone, kernel, load, scale};

#[test]
fn blocks_share_the_work_of_typed_arguments() {
    alone(|context| {
        let (stream, sum) = (context.stream().unwrap(), kernel(context, "add"));
        let a = context.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let b = context.upload(&[10.0_f32; 5]).unwrap();
        let mut out = context.alloc_zeroed(5).unwrap();
        add(&sum, &stream, &a, &b, &mut out).unwrap();
        assert_eq!(out.to_vec().unwrap(), [11.0, 12.0, 13.0, 14.0, 15.0]);
        let calls = ["aclrtLaunchKernelWithHostArgs", "aclrtLaunchKernelWithConfig"].map(mock::calls);
        assert!(calls == [1, 0] || calls == [0, 1], "{calls:?}");
    });
}

#[test]
fn every_kind_of_memory_is_an_argument_from_its_first_element_on() {
    alone(|context| {
        let (stream, sum) = (context.stream().unwrap(), kernel(context, "add"));
        let all = context.upload(&[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
        let shared = context.upload(&[10.0_f32, 20.0]).unwrap().into_shared();
        let mut tensor = context.zeros::<f32>([2]).unwrap();
        let launch = sum.launch(&stream);
        let part = all.slice(2..).unwrap();
        let launch = launch.arg(&part).arg(&shared).arg(&mut tensor).arg(2_u64);
        // SAFETY: the parameters of `add`, with two elements each.
        unsafe { launch.submit() }.unwrap();
        assert_eq!(tensor.to_vec().unwrap(), [13.0, 24.0]);
        let mut out = context.alloc_zeroed::<f32>(3).unwrap();
        let mut last = out.slice_mut(1..).unwrap();
        let launch = sum.launch(&stream).arg(&tensor).arg(&shared).arg(&mut last).arg(2_u64);
        // SAFETY: as above.
        unsafe { launch.submit() }.unwrap();
        assert_eq!(out.to_vec().unwrap(), [0.0, 23.0, 44.0]);
        let launch = sum.launch(&stream).address(shared.address()).also_reads(&shared).arg(&out).arg(&mut tensor);
        // SAFETY: as above; the address is that of memory which the launch is told to read.
        unsafe { launch.arg(2_u64).submit() }.unwrap();
        assert_eq!(tensor.to_vec().unwrap(), [10.0, 43.0]);
        let calls = || ["aclrtLaunchKernelWithHostArgs", "aclrtLaunchKernelWithConfig"].map(mock::calls);
        let before = calls();
        drop(sum.launch(&stream).arg(&out).arg(&out).arg(&mut tensor).arg(2_u64));
        assert_eq!(calls(), before, "nothing is queued before `submit`");
    });
}

#[test]
fn a_whole_block_and_data_that_goes_along() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let binary = load(context);
        let mut x = context.upload(&[1.0_f32, 2.0]).unwrap();
        scale(&binary.kernel("scale").unwrap(), &stream, &mut x, 3.0).unwrap();
        assert_eq!(x.to_vec().unwrap(), [3.0, 6.0]);
        let product = binary.kernel("matrix").unwrap();
        let a = context.upload(&[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
        let mut out = context.alloc_zeroed::<f32>(4).unwrap();
        let shape = [2_u32, 2, 2];
        let launch = product.launch(&stream).blocks(2).arg(&a).arg(&a).arg(&mut out).data(&shape);
        // SAFETY: the parameters of `matrix`, the last of which is the address of the three sizes.
        unsafe { launch.submit() }.unwrap();
        assert_eq!(out.to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0]);
    });
}

#[test]
fn arguments_in_device_memory_are_read_when_the_kernel_runs() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let scale = kernel(context, "scale");
        let mut x = context.upload(&[1.0_f32]).unwrap();
        let arguments = |x: &racl::DeviceBuffer<f32>, factor: f32| {
            let mut bytes = (x.address().addr() as u64).to_ne_bytes().to_vec();
            bytes.extend(factor.to_ne_bytes());
            bytes.extend(1_u32.to_ne_bytes());
            bytes
        };
        let mut memory = context.upload(&arguments(&x, 2.0)).unwrap();
        let launch = scale.launch(&stream).args_in(&memory).also_writes(&mut x);
        // SAFETY: the arguments of `scale`, whose memory is told of.
        unsafe { launch.submit() }.unwrap();
        memory.write(&arguments(&x, 10.0)).unwrap(); // waits for the launch, which reads it
        let launch = scale.launch(&stream).args_in(&memory).also_writes(&mut x).schedule(Schedule::Normal);
        // SAFETY: as above.
        unsafe { launch.submit() }.unwrap();
        assert_eq!(x.to_vec().unwrap(), [20.0]);
        assert_eq!((mock::calls("aclrtLaunchKernel"), mock::calls("aclrtLaunchKernelV2")), (1, 1));
    });
}

/// What the kernel `report` saw.
fn report(
    kernel: &Kernel,
    stream: &Stream,
    of: impl for<'a> Fn(racl::KernelLaunch<'a>) -> racl::KernelLaunch<'a>,
) -> Vec<u64> {
    let mut out = kernel.binary().context().alloc_zeroed::<u64>(8).unwrap();
    let launch = of(kernel.launch(stream)).arg(&mut out);
    // SAFETY: the one parameter of `report`, which writes eight numbers.
    unsafe { launch.submit() }.unwrap();
    out.to_vec().unwrap()
}

#[test]
fn the_device_is_told_how_to_run_it() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let kernel = kernel(context, "report");
        let [block, blocks, bytes, cube, vector, batch, offset, dynamic] =
            report(&kernel, &stream, |launch| launch)[..]
        else {
            panic!("eight numbers")
        };
        assert_eq!((block, blocks, bytes, batch, offset), (0, 1, 8, 0, 0));
        assert_eq!(dynamic, 0);
        let device = context.acl().device(0).unwrap();
        let all = (device.cube_cores().unwrap(), device.vector_cores().unwrap());
        assert_eq!((cube, vector), all);
        let told = report(&kernel, &stream, |launch| {
            launch
                .blocks(2)
                .schedule(Schedule::Normal)
                .schedule(Schedule::Batch)
                .engine(KernelEngine::Cube)
                .block_offset(5)
                .task_prefetch(false)
                .dump(true)
                .profile(false)
                .dynamic_memory(256)
                .limit(Duration::from_secs(1))
        });
        assert_eq!((told[0], told[1], told[5], told[6], told[7]), (1, 2, 1, 5, 256));
        let limit = stream.limit_cores(racl::plan::Cores { cube: 2, vector: 4 }).unwrap();
        let limited = report(&kernel, &stream, |launch| launch);
        assert_eq!((limited[3], limited[4]), (2, 4), "the limit of the stream");
        drop(limit);
    });
}

#[test]
fn blocks_of_a_batch_need_a_core_each() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let kernel = kernel(context, "report");
        let mut out = context.alloc_zeroed::<u64>(8).unwrap();
        let launch = kernel.launch(&stream).blocks(65_535).schedule(Schedule::Batch).arg(&mut out);
        // SAFETY: the one parameter of `report`, which writes eight numbers.
        let error = unsafe { launch.submit() }.unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["107000", "launching kernel \"report\""]);
        assert_eq!(report(&kernel, &stream, |launch| launch.blocks(65_535))[1], 65_535, "they take turns otherwise");
    });
}

#[test]
fn many_threads_launch_one_kernel() {
    alone(|context| {
        let sum = kernel(context, "add");
        let ones = context.upload(&[1.0_f32; 64]).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let stream = context.stream().unwrap();
                    let mut total = context.alloc_zeroed::<f32>(64).unwrap().into_shared();
                    for _ in 0..50 {
                        let before = total.clone();
                        let launch =
                            sum.launch(&stream).blocks(8).arg(&ones).arg(&before).arg(&mut total).arg(64_u64);
                        // SAFETY: the parameters of `add`; the result may be an operand.
                        unsafe { launch.submit() }.unwrap();
                    }
                    assert_eq!(total.to_vec().unwrap(), [50.0; 64]);
                });
            }
        });
    });
}
