//! Prefetching a weight: eagerly on a side stream, and in a plan, where it starts after what it depends on.
//!
//! `out = (|x + 1| · |x + 1|) · y`. While the first product runs, y moves into the L2 cache; the second product finds
//! it there. The eager form orders the side stream by hand. In the plan the prefetch names the value that it starts
//! after; its stream, event and join follow from that. N is 500 by default; `… --example 05_prefetch 10000` is the
//! size of the document.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod compare;
mod size;

use std::error::Error;

use compare::same;
use racl::op::DataType::F32;
use racl::plan::{After, Frozen, Input, Plan};
use racl::{Acl, Device, Prefetch, Result, Stream, Tensor, op};

/// As many bytes as the document asks for; y is smaller, so the request is clipped.
const REQUEST: usize = 10_000_000;

struct Step {
    x: Tensor<f32>,
    y: Tensor<f32>,
    moved: Tensor<f32>,
    positive: Tensor<f32>,
    square: Tensor<f32>,
    out: Tensor<f32>,
}

impl Step {
    fn new(device: &Device, n: usize) -> Result<Self> {
        let mut random = fastrand::Rng::with_seed(5);
        let mut tensor = |columns: usize| {
            let data: Vec<f32> = (0..n * columns).map(|_| random.f32() - 0.5).collect();
            device.upload_tensor(&data, [n, columns])
        };
        let (x, y) = (tensor(n)?, tensor(1)?);
        let zeros = |columns: usize| device.zeros([n, columns]);
        Ok(Self { x, y, moved: zeros(n)?, positive: zeros(n)?, square: zeros(n)?, out: zeros(1)? })
    }

    fn add(&mut self, stream: &Stream) -> Result<()> {
        op::adds(stream, &self.x, 1.0, &mut self.moved)
    }

    fn rest(&mut self, stream: &Stream) -> Result<()> {
        op::abs(stream, &self.moved, &mut self.positive)?;
        op::matmul(stream, &self.positive, &self.positive, &mut self.square)?;
        op::matmul(stream, &self.square, &self.y, &mut self.out)
    }
}

/// The plan, and how many bytes its prefetch asks for.
fn plan(n: usize) -> Result<(Plan, usize)> {
    let mut asked = 0;
    let plan = Plan::build(|g| {
        let x = g.input("x", [n, n], F32, Input::Copied)?;
        let y = g.input("y", [n, 1], F32, Input::Frozen)?;
        let moved = g.adds(x, 1.0)?;
        asked = g.prefetch(y, Prefetch::bytes(REQUEST), After::Value(moved))?;
        let positive = g.abs(moved)?;
        let square = g.matmul(positive, positive)?;
        let out = g.matmul(square, y)?;
        g.output("out", out)
    })?;
    Ok((plan, asked))
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let n = size::from_arguments("05_prefetch", 500);
    let acl = Acl::init_or_mock()?;
    println!("library: {acl}; x is {n} × {n}, y is {n} × 1");
    let device = acl.device(0)?;
    let (main, side) = (device.stream()?, device.stream()?);
    let mut step = Step::new(&device, n)?;

    step.add(&main)?;
    step.rest(&main)?;
    let expected = step.out.to_vec()?;

    step.out.write(&vec![0.0; n])?;
    step.add(&main)?;
    main.fork(&side)?;
    let asked = side.prefetch(&step.y, Prefetch::bytes(REQUEST))?;
    step.rest(&main)?;
    main.join(&side)?;
    same("a prefetch on a side stream", &step.out.to_vec()?, &expected)?;
    println!("side stream:   {asked} of {REQUEST} bytes asked for; same result");

    let (plan, asked) = plan(n)?;
    let frozen = || Frozen::new().with("y", &step.y);
    for (how, mut exe) in
        [("plan, eager", plan.eager(&device, frozen())?), ("plan, replay", plan.capture(&device, frozen())?)]
    {
        let (x, out) = (exe.input("x")?, exe.output_id("out")?);
        let mut bind = exe.bindings();
        exe.run(&main, bind.set(x, &step.x))?;
        same(how, &exe.output::<f32>(out)?.to_vec()?, &expected)?;
        println!("{how:<14} {asked} of {REQUEST} bytes asked for; same result");
    }
    Ok(())
}
