//! The programs of `examples/python`, which are written for torch_npu, in racl: the same numbers.
//!
//! Each output is printed, and written to `FOLDER/NAME.f32` when a folder is given. `examples/python/compare` runs both
//! and compares every bit. The inputs are defined in both by [`numbers`].
#![allow(clippy::print_stdout)]

mod compare;

use std::error::Error;
use std::path::PathBuf;

use compare::same;
use racl::op::DataType::F32;
use racl::plan::{Frozen, Input, Plan};
use racl::{Acl, CaptureMode, Device, Prefetch, Result, Stream, Tensor, op};

type Outcome = std::result::Result<(), Box<dyn Error>>;

/// Rows and columns of the matrices.
const N: usize = 256;
const LAYERS: usize = 8;
const WIDTH: usize = 64;
const RUNS: u32 = 3;

/// Numbers from -0.5 up to 0.5 that a 32-bit float holds exactly: the upper 24 bits of the index times a constant.
fn numbers(seed: u32, count: usize) -> Vec<f32> {
    let bits = |index: usize| (index as u32).wrapping_mul(2_654_435_761).wrapping_add(seed.wrapping_mul(40_503_001));
    (0..count).map(|index| (bits(index + 1) >> 8) as f32 / 16_777_216.0 - 0.5).collect()
}

struct Results(Option<PathBuf>);

impl Results {
    fn keep(&self, name: &str, found: &[f32]) -> Outcome {
        println!("{name:<26} {:>14} {:>14}", found[0], found[found.len() - 1]);
        if let Some(folder) = &self.0 {
            let bytes: Vec<u8> = found.iter().flat_map(|number| number.to_le_bytes()).collect();
            std::fs::write(folder.join(format!("{name}.f32")), bytes)?;
        }
        Ok(())
    }
}

fn matrix(device: &Device, seed: u32, columns: usize) -> Result<Tensor<f32>> {
    device.upload_tensor(&numbers(seed, N * columns), [N, columns])
}

// ---- a prefetch beside work: examples/python/prefetch.py, 03_prefetch ----

/// `out = ((|x + 1| · |x + 1|) · y)`; the side stream moves y to the L2 cache while the first product runs.
struct Step {
    x: Tensor<f32>,
    y: Tensor<f32>,
    moved: Tensor<f32>,
    size: Tensor<f32>,
    square: Tensor<f32>,
    out: Tensor<f32>,
}

impl Step {
    fn new(device: &Device) -> Result<Self> {
        let zeros = |columns: usize| device.zeros([N, columns]);
        let (x, y) = (matrix(device, 1, N)?, matrix(device, 2, 1)?);
        Ok(Self { x, y, moved: zeros(N)?, size: zeros(N)?, square: zeros(N)?, out: zeros(1)? })
    }

    fn issue(&mut self, main: &Stream, side: &Stream) -> Result<()> {
        op::adds(main, &self.x, 1.0, &mut self.moved)?;
        main.fork(side)?;
        side.prefetch(&self.y, Prefetch::all())?;
        op::abs(main, &self.moved, &mut self.size)?;
        op::matmul(main, &self.size, &self.size, &mut self.square)?;
        op::matmul(main, &self.square, &self.y, &mut self.out)?;
        main.join(side)
    }
}

fn prefetch(device: &Device, results: &Results) -> Outcome {
    let (main, side) = (device.stream()?, device.stream()?);
    let mut step = Step::new(device)?;
    step.issue(&main, &side)?;
    main.synchronize()?;
    let eager = step.out.to_vec()?;
    results.keep("prefetch-eager", &eager)?;

    let mut graph = main.capture(CaptureMode::ThreadLocal, |s| {
        let side = s.side("prefetch")?;
        step.issue(s, &side)
    })?;
    step.out.write(&[0.0; N])?;
    graph.launch(&main)?;
    main.synchronize()?;
    let replayed = step.out.to_vec()?;
    results.keep("prefetch-captured", &replayed)?;
    same("the replay", &replayed, &eager)
}

// ---- streams and events in a captured graph: examples/python/multi_stream.py, 02_multi_stream ----

const STREAMS: [&str; 5] = ["streams-sum", "streams-product-1", "streams-product", "streams-sum-2", "streams-three"];

/// Stream "1" waits for the sum on the main stream, stream "2" for the product there.
fn in_streams(main: &Stream, [a, b, c, d]: &[Tensor<f32>; 4], out: &mut [Tensor<f32>; 6]) -> Result<()> {
    let [sum, product_1, product, sum_2, three, ones] = out;
    let (one, two) = (main.side("1")?, main.side("2")?);
    let (added, multiplied) = (main.context().event()?, main.context().event()?);

    op::add(main, a, b, sum)?;
    added.record(main)?;
    one.wait(&added)?;
    op::mm(&one, sum, d, product_1)?;

    op::mm(main, a, b, product)?;
    multiplied.record(main)?;
    two.wait(&multiplied)?;
    op::add(&two, product, c, sum_2)?;

    op::fill(main, ones, 1.0)?;
    op::adds(main, ones, 2.0, three)?;
    main.join(&one)?;
    main.join(&two)
}

fn multi_stream(device: &Device, results: &Results) -> Outcome {
    let main = device.stream()?;
    let given = [matrix(device, 11, N)?, matrix(device, 12, N)?, matrix(device, 13, N)?, matrix(device, 14, N)?];
    let zeros = || device.zeros([N, N]);
    let mut out = [zeros()?, zeros()?, zeros()?, zeros()?, zeros()?, zeros()?];
    let mut graph = main.capture(CaptureMode::ThreadLocal, |s| in_streams(s, &given, &mut out))?;
    graph.launch(&main)?;
    main.synchronize()?;
    STREAMS.iter().zip(&out).try_for_each(|(name, found)| results.keep(name, &found.to_vec()?))
}

// ---- static inputs: examples/python/static_inputs.py, 08_frozen ----

fn weight(layer: usize) -> String {
    format!("w{layer}")
}

/// `x = tanh(x · w)` for each weight. Every run writes new numbers into x, whose address the graph has.
fn static_inputs(device: &Device, results: &Results) -> Outcome {
    let plan = Plan::build(|g| {
        let mut x = g.input("x", [1, WIDTH], F32, Input::Static)?;
        for layer in 0..LAYERS {
            let w = g.input(&weight(layer), [WIDTH, WIDTH], F32, Input::Frozen)?;
            x = g.matmul(x, w)?;
            x = g.tanh(x)?;
        }
        g.output("y", x)
    })?;
    let weights = (0..LAYERS)
        .map(|layer| device.upload_tensor(&numbers(100 + layer as u32, WIDTH * WIDTH), [WIDTH, WIDTH]))
        .collect::<Result<Vec<_>>>()?;
    let frozen = weights.iter().enumerate().fold(Frozen::new(), |given, (layer, w)| given.with(&weight(layer), w));
    let stream = device.stream()?;
    let mut exe = plan.capture(device, frozen)?;
    let (x, y, mut bind) = (exe.input("x")?, exe.output_id("y")?, exe.bindings());
    for run in 0..RUNS {
        exe.static_input::<f32>(x)?.write(&numbers(200 + run, WIDTH))?;
        exe.run(&stream, &mut bind)?;
        results.keep(&format!("static-run-{run}"), &exe.output::<f32>(y)?.to_vec()?)?;
    }
    Ok(())
}

fn main() -> Outcome {
    let results = Results(std::env::args_os().nth(1).map(PathBuf::from));
    let acl = Acl::init_or_mock()?;
    println!("# library: {acl}; of each output the first and the last number");
    let device = acl.device(0)?;
    prefetch(&device, &results)?;
    multi_stream(&device, &results)?;
    static_inputs(&device, &results)
}
