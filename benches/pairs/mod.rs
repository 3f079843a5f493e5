//! The calls that are made both ways, as raw calls and as safe ones.

use std::path::Path;
use std::process::Command;

use racl::{BinaryOptions, CaptureMode, Device, Prefetch, Result, Stream, Tensor, op, sys};

pub(crate) type Calls<'a> = Box<dyn FnMut() -> Result<()> + 'a>;
/// Makes what the calls need, and hands them over: raw, or safe.
pub(crate) type Make = fn(&Device, &Stream, bool, &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()>;

pub(crate) const CASES: [(&str, Make); 9] = [
    ("fill of 64 bytes", fill),
    ("copy of 64 bytes on the device", copy),
    ("event record", record),
    ("wait for an event", wait),
    ("prefetch", prefetch),
    ("graph launch", launch),
    ("kernel launch of four arguments", kernel),
    ("operator on three tensors", operator),
    ("query of an idle stream", query),
];

fn fill(device: &Device, stream: &Stream, safe: bool, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    let mut buffer = device.alloc::<u8>(64)?;
    let (address, raw) = (buffer.address(), stream.as_raw());
    let function = device.acl().table().aclrtMemsetAsync()?;
    if safe {
        return run(Box::new(|| stream.fill_bytes(&mut buffer, 0)));
    }
    run(Box::new(|| {
        // SAFETY: 64 bytes of a buffer that lives until the stream is waited for.
        assert_eq!(unsafe { function(address, 64, 0, 64, raw) }, 0);
        Ok(())
    }))
}

fn copy(device: &Device, stream: &Stream, safe: bool, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    let (from, mut to) = (device.alloc::<u8>(64)?, device.alloc::<u8>(64)?);
    let (source, target, raw) = (from.address(), to.address(), stream.as_raw());
    let function = device.acl().table().aclrtMemcpyAsync()?;
    if safe {
        return run(Box::new(|| stream.copy(&from, &mut to)));
    }
    let kind = sys::aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_DEVICE;
    run(Box::new(|| {
        // SAFETY: 64 bytes each of two buffers that live until the stream is waited for.
        assert_eq!(unsafe { function(target, 64, source, 64, kind, raw) }, 0);
        Ok(())
    }))
}

fn record(device: &Device, stream: &Stream, safe: bool, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    let event = device.event()?;
    let (handle, raw) = (event.as_raw(), stream.as_raw());
    let function = device.acl().table().aclrtRecordEvent()?;
    if safe {
        return run(Box::new(|| event.record(stream)));
    }
    run(Box::new(|| {
        // SAFETY: event and stream are live.
        assert_eq!(unsafe { function(handle, raw) }, 0);
        Ok(())
    }))
}

fn wait(device: &Device, stream: &Stream, safe: bool, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    let (event, other) = (device.event()?, device.stream()?);
    event.record(&other)?;
    let (handle, raw) = (event.as_raw(), stream.as_raw());
    let function = device.acl().table().aclrtStreamWaitEvent()?;
    if safe {
        return run(Box::new(|| stream.wait(&event)));
    }
    run(Box::new(|| {
        // SAFETY: event and stream are live.
        assert_eq!(unsafe { function(raw, handle) }, 0);
        Ok(())
    }))
}

fn prefetch(
    device: &Device,
    stream: &Stream,
    safe: bool,
    run: &mut dyn FnMut(Calls<'_>) -> Result<()>,
) -> Result<()> {
    let buffer = device.alloc::<u8>(64)?;
    let (address, raw) = (buffer.address(), stream.as_raw());
    let function = device.acl().table().aclrtCmoAsync()?;
    if safe {
        return run(Box::new(|| stream.prefetch(&buffer, Prefetch::all()).map(drop)));
    }
    let kind = sys::aclrtCmoType::ACL_RT_CMO_TYPE_PREFETCH;
    run(Box::new(|| {
        // SAFETY: 64 bytes of a buffer that lives until the stream is waited for.
        assert_eq!(unsafe { function(address, 64, kind, raw) }, 0);
        Ok(())
    }))
}

fn launch(device: &Device, stream: &Stream, safe: bool, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    let one = device.upload_tensor(&[1.0_f32; 16], [16])?;
    let mut sum = device.zeros::<f32>([16])?;
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut sum, &one))?;
    let (handle, raw) = (graph.as_raw(), stream.as_raw());
    let function = device.acl().table().aclmdlRIExecuteAsync()?;
    if safe {
        return run(Box::new(|| graph.launch(stream)));
    }
    run(Box::new(|| {
        // SAFETY: graph and stream are live, and this thread alone launches.
        assert_eq!(unsafe { function(handle, raw) }, 0);
        Ok(())
    }))
}

/// Kernels for the mock, compiled from the source of its own tests.
fn compiled_kernels() -> Vec<u8> {
    let mock = Path::new(env!("CARGO_MANIFEST_DIR")).join("mock-acl");
    let to = std::env::temp_dir().join(format!("racl-bench-{}.so", std::process::id()));
    let mut command = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    command.args(["-std=gnu11", "-shared", "-fPIC", "-O1", "-I"]).arg(mock.join("include"));
    command.arg(mock.join("tests/kernels/binaries/sample.c")).arg("-o").arg(&to);
    assert!(command.status().is_ok_and(|status| status.success()), "{command:?}");
    let bytes = std::fs::read(&to).expect("what the compiler wrote");
    let _ = std::fs::remove_file(to);
    bytes
}

fn kernel(device: &Device, stream: &Stream, safe: bool, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    // SAFETY: kernels of this repository, or no kernels at all.
    let binary = unsafe { device.context().load_kernels_from(&compiled_kernels(), BinaryOptions::new()) }?;
    let add = binary.kernel("add")?;
    let (a, b) = (device.alloc_zeroed::<f32>(16)?, device.alloc_zeroed::<f32>(16)?);
    let mut out = device.alloc_zeroed::<f32>(16)?;
    let (handle, raw) = (add.as_raw(), stream.as_raw());
    let function = device.acl().table().aclrtLaunchKernelWithHostArgs()?;
    if safe {
        return run(Box::new(|| {
            let launch = add.launch(stream).blocks(2).arg(&a).arg(&b).arg(&mut out).arg(16_u64);
            // SAFETY: the parameters of `add`.
            unsafe { launch.submit() }
        }));
    }
    let addresses = [a.address(), b.address(), out.address()].map(|address| address.addr() as u64);
    let mut block = [addresses[0], addresses[1], addresses[2], 16];
    let (null, places) = (std::ptr::null_mut(), std::ptr::null_mut());
    run(Box::new(|| {
        let size = size_of_val(&block);
        // SAFETY: a live kernel and stream, and the block of arguments, which is copied.
        assert_eq!(unsafe { function(handle, 2, raw, null, block.as_mut_ptr().cast(), size, places, 0) }, 0);
        Ok(())
    }))
}

/// An operator that was planned before: the second phase of an executor that can be repeated.
pub(crate) fn operator(
    device: &Device,
    stream: &Stream,
    safe: bool,
    run: &mut dyn FnMut(Calls<'_>) -> Result<()>,
) -> Result<()> {
    let (a, b) = (device.upload_tensor(&[1.0_f32; 16], [16])?, device.upload_tensor(&[2.0_f32; 16], [16])?);
    let mut out = device.zeros::<f32>([16])?;
    if safe {
        return run(Box::new(|| op::mul(stream, &a, &b, &mut out)));
    }
    let acl = device.acl();
    let table = acl.table();
    let describe = |tensor: &Tensor<f32>| -> Result<*mut sys::aclTensor> {
        let (dims, strides) = ([16_i64], [1_i64]);
        let (kind, format) = (sys::aclDataType::ACL_FLOAT, sys::aclFormat::ACL_FORMAT_ND);
        let (create, data) = (table.aclCreateTensor()?, tensor.address());
        let (dims, strides) = (dims.as_ptr(), strides.as_ptr());
        // SAFETY: arrays of one number each, which are copied; the address is only stored.
        Ok(unsafe { create(dims, 1, kind, strides, 0, format, dims, 1, data) })
    };
    let tensors = [describe(&a)?, describe(&b)?, describe(&out)?];
    let (mut bytes, mut executor) = (0, std::ptr::null_mut());
    let plan = table.aclnnMulGetWorkspaceSize()?;
    // SAFETY: three live descriptions, and places for the two results.
    assert_eq!(unsafe { plan(tensors[0], tensors[1], tensors[2], &raw mut bytes, &raw mut executor) }, 0);
    let repeat = table.aclSetAclOpExecutorRepeatable()?;
    // SAFETY: a live executor.
    assert_eq!(unsafe { repeat(executor) }, 0);
    assert_eq!(bytes, 0);
    let (launch, raw) = (table.aclnnMul()?, stream.as_raw());
    run(Box::new(|| {
        // SAFETY: the executor is repeatable and needs no workspace; the memory lives until the stream is waited for.
        assert_eq!(unsafe { launch(std::ptr::null_mut(), 0, executor, raw) }, 0);
        Ok(())
    }))?;
    let (end, destroy) = (table.aclDestroyAclOpExecutor()?, table.aclDestroyTensor()?);
    // SAFETY: live, and not used again.
    assert_eq!(unsafe { end(executor) }, 0);
    for tensor in tensors {
        // SAFETY: as above.
        assert_eq!(unsafe { destroy(tensor) }, 0);
    }
    Ok(())
}

fn query(device: &Device, stream: &Stream, safe: bool, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    let raw = stream.as_raw();
    let function = device.acl().table().aclrtStreamQuery()?;
    if safe {
        return run(Box::new(|| stream.is_complete().map(drop)));
    }
    run(Box::new(|| {
        let mut status = sys::aclrtStreamStatus::ACL_STREAM_STATUS_NOT_READY;
        // SAFETY: the stream is live, and `status` a place for its answer.
        assert_eq!(unsafe { function(raw, &raw mut status) }, 0);
        Ok(())
    }))
}
