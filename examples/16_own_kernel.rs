//! A kernel of one's own, launched eagerly and from a graph: `y = a · x + y`.
//!
//! The kernel is `examples/kernels/axpy.cpp`, in Ascend C. Without an argument it is compiled for the mock with `c++`; on
//! a card the argument is the object file that its compiler made of the same source.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use racl::{Acl, CaptureMode, DeviceBuffer, Kernel, Stream};

/// Adds `a` times `x` to `y`.
fn axpy(
    kernel: &Kernel,
    stream: &Stream,
    a: f32,
    x: &DeviceBuffer<f32>,
    y: &mut DeviceBuffer<f32>,
) -> racl::Result<()> {
    let count = u32::try_from(x.len().min(y.len())).unwrap_or(u32::MAX);
    let launch = kernel.launch(stream).blocks(8).arg(x).arg(y).arg(a).arg(count);
    // SAFETY: the parameters of axpy, in their order; it reads and writes the first `count` elements of each.
    unsafe { launch.submit() }
}

/// The kernel, compiled for the mock here and now.
fn compile() -> Result<PathBuf, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let to = std::env::temp_dir().join(format!("racl-axpy-{}.o", std::process::id()));
    let mut compiler = Command::new(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()));
    compiler.args(["-std=c++17", "-shared", "-fPIC", "-O2", "-I"]).arg(root.join("mock-acl/include/ascendc"));
    let status = compiler.arg(root.join("examples/kernels/axpy.cpp")).arg("-o").arg(&to).status()?;
    if status.success() { Ok(to) } else { Err(format!("{compiler:?}: {status}").into()) }
}

fn main() -> Result<(), Box<dyn Error>> {
    let acl = Acl::init_or_mock()?;
    println!("library: {acl}");
    let given = std::env::args_os().nth(1).map(PathBuf::from);
    let made = if given.is_none() { Some(compile()?) } else { None };
    let file = given.or_else(|| made.clone()).ok_or("no object file")?;
    let device = acl.device(0)?;
    let stream = device.stream()?;
    // SAFETY: kernels of this example, which do nothing when they are loaded.
    let kernels = unsafe { device.context().load_kernels(&file) }?;
    made.iter().try_for_each(std::fs::remove_file)?; // it is loaded
    let kernel = kernels.kernel("axpy")?;
    println!("{}: {:?}, {:?}", kernel.name(), kernel.kind()?, kernel.parameters());

    let x = device.upload(&[1.0_f32; 1000])?;
    let mut y = device.upload(&[0.5_f32; 1000])?;
    axpy(&kernel, &stream, 2.0, &x, &mut y)?;
    assert_eq!(y.to_vec()?, [2.5; 1000]);

    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| axpy(&kernel, s, 10.0, &x, &mut y))?;
    drop((kernel, kernels)); // the graph has what it needs
    for _ in 0..3 {
        graph.launch(&stream)?;
    }
    assert_eq!(y.to_vec()?, [32.5; 1000]);
    println!("y = 2.5, and 32.5 after three replays");
    Ok(())
}
