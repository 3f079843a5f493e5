//! Host memory that kernels reach.

use racl::{CaptureMode, DeviceUnit, ErrorKind, Kernel, MappedBuffer, Stream};

use crate::common::{assert_says, mock};
use crate::{alone, kernel};

/// `out = numbers + numbers`.
fn double(
    sum: &Kernel,
    stream: &Stream,
    numbers: &MappedBuffer<f32>,
    out: &mut MappedBuffer<f32>,
) -> racl::Result<()> {
    let count = out.len() as u64;
    let launch = sum.launch(stream).arg(numbers).arg(numbers).arg(out).arg(count);
    // SAFETY: the parameters of `add`; the operand has as many elements as the result.
    unsafe { launch.submit() }
}

#[test]
fn kernels_read_and_write_memory_of_the_host() {
    alone(|context| {
        let (stream, sum) = (context.stream().unwrap(), kernel(context, "add"));
        let before = mock::live_handles().pinned_allocations;
        let (mut numbers, mut out) = (context.mapped::<f32>(3).unwrap(), context.mapped::<f32>(3).unwrap());
        assert_eq!(numbers.len(), 3);
        assert_eq!(numbers.host().unwrap(), [0.0; 3]);
        assert_eq!(numbers.device_address().addr() % 4096, 0);
        numbers.host().unwrap().copy_from_slice(&[1.0, 2.0, 3.0]);
        mock::hold(&stream).unwrap();
        double(&sum, &stream, &numbers, &mut out).unwrap();
        std::thread::scope(|scope| {
            let read = scope.spawn(|| out.host().map(|host| host.to_vec()));
            mock::release(&stream).unwrap();
            assert_eq!(read.join().unwrap().unwrap(), [2.0, 4.0, 6.0]);
        });
        // Freed behind the launch that uses it.
        mock::hold(&stream).unwrap();
        double(&sum, &stream, &numbers, &mut out).unwrap();
        drop((numbers, out));
        assert_eq!(mock::live_handles().pinned_allocations, before + 2);
        mock::release(&stream).unwrap();
        context.synchronize().unwrap();
        assert_eq!(mock::live_handles().pinned_allocations, before);
    });
}

#[test]
fn the_host_does_not_have_what_a_graph_uses() {
    alone(|context| {
        let (stream, sum) = (context.stream().unwrap(), kernel(context, "add"));
        let (mut numbers, mut out) = (context.mapped::<f32>(2).unwrap(), context.mapped::<f32>(2).unwrap());
        numbers.host().unwrap().copy_from_slice(&[1.0, 2.0]);
        let launch = |s: &Stream| double(&sum, s, &numbers, &mut out);
        let mut graph = stream.capture(CaptureMode::ThreadLocal, launch).unwrap();
        assert_says(&out.host().unwrap_err(), ErrorKind::InvalidArgument, &["graphs share"]);
        let mut out = out.close().unwrap_err().into_value();
        graph.launch(&stream).unwrap();
        drop(graph);
        assert_eq!(out.host().unwrap(), [2.0, 4.0]);
        out.close().unwrap();
    });
}

#[test]
fn memory_that_cannot_be_mapped_is_told_and_given_back() {
    alone(|context| {
        let before = mock::live_handles().pinned_allocations;
        assert_eq!(context.mapped::<u8>(0).unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert_eq!(context.mapped::<u8>(isize::MAX as usize).unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert_eq!(context.mapped::<u8>(1 << 40).unwrap_err().kind(), ErrorKind::OutOfMemory);
        for call in ["aclrtMallocHost", "aclrtHostRegister"] {
            mock::fail(call, 1, 507_000).unwrap();
            assert_says(&context.mapped::<u8>(1).unwrap_err(), ErrorKind::Internal, &[call]);
            assert_eq!(mock::live_handles().pinned_allocations, before, "{call}");
        }
        let mut memory = context.mapped::<u8>(1).unwrap();
        for call in ["aclrtHostUnregister", "aclrtFreeHost"] {
            mock::fail(call, 1, 507_000).unwrap();
            let refused = memory.close().unwrap_err();
            assert_says(refused.error(), ErrorKind::Internal, &[call]);
            memory = refused.into_value();
        }
        memory.close().unwrap();
        assert_eq!(mock::live_handles().pinned_allocations, before);
        let device = context.acl().device(0).unwrap();
        assert!(device.reaches_host_memory(DeviceUnit::Sdma).unwrap());
        mock::fail("aclrtHostMemMapCapabilities", 1, 207_000).unwrap();
        let error = device.reaches_host_memory(DeviceUnit::Ccu).unwrap_err();
        assert_says(&error, ErrorKind::NotSupported, &["aclrtHostMemMapCapabilities"]);
    });
}
