//! Launches that are refused, and what becomes of a capture then.

use std::time::Duration;

use racl::{CaptureMode, ErrorKind, Kernel, KernelLaunch, Stream};

use crate::common::{assert_says, mock};
use crate::{alone, kernel, load, sample};

/// That a launch is refused before the library sees it.
#[track_caller]
fn refused(
    kernel: &Kernel,
    stream: &Stream,
    parts: &[&str],
    make: impl for<'a> Fn(KernelLaunch<'a>) -> KernelLaunch<'a>,
) {
    let calls = || ["aclrtLaunchKernelWithHostArgs", "aclrtKernelArgsInit", "aclrtLaunchKernel"].map(mock::calls);
    let before = calls();
    // SAFETY: nothing is launched.
    let error = unsafe { make(kernel.launch(stream)).submit() }.unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, parts);
    assert_eq!((error.code(), calls()), (None, before));
}

#[test]
fn arguments_that_the_kernel_does_not_declare() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let binary = load(context);
        let fail = binary.kernel("fail").unwrap();
        let name = "kernel \"fail\"";
        refused(&fail, &stream, &["0 arguments", name, "declares 1"], |launch| launch);
        refused(&fail, &stream, &["argument 1", name, "declares 1 parameters"], |launch| {
            launch.arg(0_i32).arg(0_i32)
        });
        refused(&fail, &stream, &["argument 0", name, "8 bytes", "declares 4"], |launch| launch.arg(0_i64));
        refused(&fail, &stream, &["argument 0", "8 bytes", "declares 4"], |launch| launch.arg(1.0));
        refused(&fail, &stream, &["argument 0", name, "no bytes"], |launch| launch.arg(()));
        refused(&fail, &stream, &["argument 0", name, "no data"], |launch| launch.data::<u8>(&[]));
        refused(&fail, &stream, &["9 bytes of arguments", name, "declares 4"], |launch| launch.all_args(&[0_u8; 9]));
        refused(&fail, &stream, &["3 bytes of arguments", name, "declares 4"], |launch| launch.all_args(&[0_u8; 3]));
        refused(&fail, &stream, &["no bytes of arguments"], |launch| launch.all_args(&()));
        refused(&fail, &stream, &["all arguments, and some"], |launch| launch.arg(0_i32).all_args(&0_i32));
        refused(&fail, &stream, &["all arguments, and some"], |launch| launch.all_args(&0_i32).arg(0_i32));
        let bytes = context.alloc_zeroed::<u8>(64).unwrap();
        let odd = bytes.slice(4..8).unwrap();
        // SAFETY: nothing is launched.
        let error = unsafe { fail.launch(&stream).args_in(&odd).submit() }.unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &[name, "no multiple of 8"]);
        // SAFETY: as above.
        let error = unsafe { fail.launch(&stream).args_in(&bytes).submit() }.unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["64 bytes of arguments", name, "declares 4"]);
        let count = binary.kernel("count").unwrap();
        refused(&count, &stream, &["argument 0", "declares 0"], |launch| launch.arg(0_i32));
        let any = binary.kernel("scale").unwrap();
        refused(&any, &stream, &["argument 128", "the runtime takes 128"], |launch| {
            (0..129).fold(launch, |launch, index| launch.arg(index))
        });
        // A wrong one is told even when a later one would be wrong as well.
        refused(&fail, &stream, &["argument 0", "8 bytes"], |launch| launch.arg(0_u64).arg(()).blocks(0));
    });
}

#[test]
fn more_arguments_than_the_library_counts() {
    alone(|context| {
        let (stream, scale) = (context.stream().unwrap(), kernel(context, "scale"));
        let before = mock::calls("aclrtLaunchKernel");
        let huge = context.alloc::<u8>((1 << 32) + 16).unwrap();
        // The library would see 16 bytes.
        // SAFETY: nothing is launched.
        let error = unsafe { scale.launch(&stream).args_in(&huge).submit() }.unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["4294967312 bytes of arguments", "less than 4 GiB"]);
        assert_eq!((error.code(), mock::calls("aclrtLaunchKernel")), (None, before));
    });
}

#[test]
fn numbers_of_blocks_and_time_limits() {
    alone(|context| {
        let (stream, fail) = (context.stream().unwrap(), kernel(context, "fail"));
        refused(&fail, &stream, &["0 blocks", "kernel \"fail\""], |launch| launch.blocks(0).arg(0_i32));
        refused(&fail, &stream, &["65536 blocks"], |launch| launch.blocks(65_536).arg(0_i32));
        refused(&fail, &stream, &["a time limit of 0ns"], |launch| launch.limit(Duration::ZERO).arg(0_i32));
        refused(&fail, &stream, &["a time limit"], |launch| launch.limit(Duration::MAX).arg(0_i32));
    });
}

#[test]
fn a_view_with_gaps() {
    alone(|context| {
        let (stream, sum) = (context.stream().unwrap(), kernel(context, "add"));
        let turned = context.zeros::<f32>([2, 3]).unwrap().transposed(0, 1).unwrap();
        // SAFETY: nothing is launched.
        let error = unsafe { sum.launch(&stream).arg(&turned).submit() }.unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["argument 0 of kernel \"add\"", "gaps"]);
    });
}

#[test]
fn a_capture_that_lacks_a_launch_gives_no_graph() {
    alone(|context| {
        let (stream, fail) = (context.stream().unwrap(), kernel(context, "fail"));
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        refused(&fail, &stream, &["0 blocks"], |launch| launch.blocks(0).arg(0_i32));
        let error = capture.finish().unwrap_err();
        assert_says(&error, ErrorKind::CaptureInvalidated, &["kernel launch at", "refused.rs", "0 blocks"]);
    });
}

#[test]
fn a_stream_or_a_binary_that_went_beside_this_crate() {
    alone(|context| {
        // SAFETY: kernels of this repository, or no kernels at all.
        let binary = unsafe { context.load_kernels(sample()) }.unwrap();
        let fail = binary.kernel("fail").unwrap();
        let stream = context.stream().unwrap();
        // SAFETY: the handle is live; what uses it later is what is tested.
        assert_eq!(unsafe { context.acl().table().aclrtBinaryUnLoad().unwrap()(binary.as_raw()) }, 0);
        let error = crate::fail(&fail, &stream, 0).unwrap_err();
        assert_says(&error, ErrorKind::InvalidHandle, &["107017"]);
        assert_eq!(binary.kernel("add").unwrap_err().kind(), ErrorKind::InvalidHandle);
        drop(fail);
        assert_eq!(binary.close().unwrap_err().error().kind(), ErrorKind::InvalidHandle);
        let told = context.take_drop_errors();
        assert_eq!(told.len(), 1, "{told:?}");
    });
}
