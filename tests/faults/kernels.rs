//! Kernels of the program's own, launched in every way.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use racl::{BinaryCore, BinaryOptions, CaptureMode, Context, CpuKernels, Kernel, KernelBinary, Result, Stream};

use crate::common::{compiled_kernels, mock};

fn sample() -> &'static Path {
    static SAMPLE: OnceLock<PathBuf> = OnceLock::new();
    SAMPLE.get_or_init(|| compiled_kernels("sample"))
}

pub(crate) fn run(context: &Context) -> Result<()> {
    // SAFETY: kernels of this repository, or no kernels at all.
    let binary = unsafe { context.load_kernels(sample()) }?;
    facts(&binary)?;
    let stream = context.stream()?;
    for older in [false, true] {
        mock::older_launches(older);
        let launched = launches(&binary, &stream);
        mock::older_launches(false);
        launched?;
    }
    cpu(context, &stream)?;
    graph(&binary, &stream)?;
    binary.close().map_err(racl::Refused::into_error)
}

/// What kernels say of themselves.
fn facts(binary: &KernelBinary) -> Result<()> {
    assert_eq!(binary.kernel_by_entry(11)?.name(), "add");
    binary.device_code()?;
    let kernel = binary.kernel("report_1_1")?;
    kernel.kind()?;
    kernel.cores_per_block()?;
    kernel.schedule()?;
    kernel.code_bytes()?;
    kernel.code_addresses()?;
    kernel.dynamic_memory_per_block()?;
    let mut counter = binary.global::<i32>("counter")?;
    counter.write(&[3])?;
    assert_eq!(counter.to_vec()?, [3]);
    Ok(())
}

fn launches(binary: &KernelBinary, stream: &Stream) -> Result<()> {
    let context = binary.context();
    let (product, scale) = (binary.kernel("matrix")?, binary.kernel("scale")?);
    let a = context.upload(&[1.0_f32, 2.0])?;
    let mut out = context.alloc_zeroed::<f32>(1)?;
    let launch = product.launch(stream).arg(&a).arg(&a).arg(&mut out).data(&[1_u32, 2, 1]);
    // SAFETY: the parameters of `matrix`: one row, one column.
    unsafe { launch.limit(Duration::from_secs(2)).submit() }?;
    let mut bytes = (out.address().addr() as u64).to_ne_bytes().to_vec();
    bytes.extend(2.0_f32.to_ne_bytes());
    bytes.extend(1_u32.to_ne_bytes());
    let memory = context.upload(&bytes)?;
    // SAFETY: the arguments of `scale`, whose memory is told of.
    unsafe { scale.launch(stream).args_in(&memory).also_writes(&mut out).submit() }?;
    // SAFETY: as above.
    unsafe { scale.launch(stream).args_in(&memory).also_writes(&mut out).dump(false).submit() }?;
    assert_eq!(out.to_vec()?, [20.0]);
    Ok(())
}

/// The kernel writes one byte.
fn poke(kernel: &Kernel, stream: &Stream) -> Result<()> {
    let mut byte = stream.context().alloc_zeroed::<u8>(1)?;
    // SAFETY: its one parameter.
    unsafe { kernel.launch(stream).arg(&mut byte).submit() }?;
    assert_eq!(byte.to_vec()?, [7]);
    Ok(())
}

fn cpu(context: &Context, stream: &Stream) -> Result<()> {
    let bytes = std::fs::read(sample()).unwrap();
    // SAFETY: kernels of this repository, or no kernels at all.
    let vector = unsafe { context.load_kernels_from(&bytes, BinaryOptions::new().core(BinaryCore::Vector)) }?;
    poke(&vector.kernel("poke")?, stream)?;
    // SAFETY: kernels of this repository, or no kernels at all.
    let cpu = unsafe { context.load_kernels_from(&bytes, BinaryOptions::new().cpu(CpuKernels::InData)) }?;
    poke(&cpu.cpu_kernel("cpu_poke", "mine")?, stream)
}

fn graph(binary: &KernelBinary, stream: &Stream) -> Result<()> {
    let mut byte = binary.context().alloc_zeroed::<u8>(1)?;
    let poke = binary.kernel("poke")?;
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| {
        // SAFETY: its one parameter, a byte that it writes.
        unsafe { poke.launch(s).arg(&mut byte).submit() }
    })?;
    graph.launch(stream)?;
    assert_eq!(byte.to_vec()?, [7]);
    let (tasks, mut other) = (graph.tasks()?, binary.context().alloc_zeroed::<u8>(1)?);
    graph.kernel_attributes(&tasks[0])?;
    // SAFETY: its one parameter, a byte that it writes.
    graph.change(|change| unsafe { poke.launch(stream).arg(&mut other).replace(change, &tasks[0]) })?;
    graph.launch(stream)?;
    assert_eq!(other.to_vec()?, [7]);
    graph.close().map_err(racl::Refused::into_error)
}
