//! Kernels of the program's own. Counts calls of the mock and lets some fail, so one test at a time.

mod changes;
#[path = "../common/mod.rs"]
mod common;
mod failing;
mod graphs;
mod launches;
mod lifetimes;
mod loading;
mod mapped;
mod one_source;
mod order;
mod plans;
mod refused;
mod updates;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use common::{compiled_kernels, mock};
use racl::{Context, Kernel, KernelBinary};

/// Runs `test` in a context of its own, once with each way in which releases launch kernels, and sees that nothing is
/// left of it.
fn alone(test: impl Fn(&Context)) {
    let _alone = mock::exclusive();
    for older in [false, true] {
        mock::reset().unwrap();
        mock::older_launches(older);
        let before = mock::live_handles();
        let context = common::direct_device().context().create_context().unwrap();
        test(&context);
        mock::clear_failures();
        let told = context.take_drop_errors();
        assert!(told.is_empty(), "{told:?}");
        context.close().unwrap();
        let after = mock::live_handles();
        assert_eq!((after.binaries, after.device_allocations), (before.binaries, before.device_allocations));
    }
    mock::older_launches(false);
}

/// The kernels of the mock's own tests: see their source.
fn sample() -> &'static Path {
    static SAMPLE: OnceLock<PathBuf> = OnceLock::new();
    SAMPLE.get_or_init(|| compiled_kernels("sample"))
}

fn load(context: &Context) -> KernelBinary {
    // SAFETY: kernels of this repository, or no kernels at all.
    unsafe { context.load_kernels(sample()) }.unwrap()
}

fn kernel(context: &Context, name: &str) -> Kernel {
    load(context).kernel(name).unwrap()
}

/// `out = a + b`, of as many elements as `out` has.
fn add(
    kernel: &Kernel,
    stream: &racl::Stream,
    a: &racl::DeviceBuffer<f32>,
    b: &racl::DeviceBuffer<f32>,
    out: &mut racl::DeviceBuffer<f32>,
) -> racl::Result<()> {
    let count = out.len() as u64;
    let launch = kernel.launch(stream).blocks(3).arg(a).arg(b).arg(out).arg(count);
    // SAFETY: the parameters of `add`; both operands have as many elements as the result.
    unsafe { launch.submit() }
}

/// `x *= factor`.
fn scale(kernel: &Kernel, stream: &racl::Stream, x: &mut racl::DeviceBuffer<f32>, factor: f32) -> racl::Result<()> {
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Arguments {
        x: u64,
        factor: f32,
        count: u32,
    }
    // SAFETY: plain numbers, and no bytes between them.
    unsafe impl racl::bytemuck::Zeroable for Arguments {}
    // SAFETY: as above.
    unsafe impl racl::bytemuck::Pod for Arguments {}
    let arguments = Arguments { x: x.address().addr() as u64, factor, count: x.len() as u32 };
    let launch = kernel.launch(stream).all_args(&arguments).also_writes(x);
    // SAFETY: the arguments of `scale`, whose memory is told of.
    unsafe { launch.submit() }
}

/// A kernel that returns `code`.
fn fail(kernel: &Kernel, stream: &racl::Stream, code: i32) -> racl::Result<()> {
    // SAFETY: the one parameter of `fail` and its like.
    unsafe { kernel.launch(stream).arg(code).submit() }
}
