//! Prefetching an operand while other work runs, eagerly and inside a graph.
//!
//! `out = matmul(matmul(|x + 1|, |x + 1|), y)` with x of N × N and y of N × 1, in 32-bit floats. While the first
//! product runs on the main stream, a side stream moves y into the L2 cache. In the captured form the prefetch starts
//! after the addition. N is 1000 by default; the size of the document is `cargo run --release --example 03_prefetch
//! 10000`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod size;

use std::time::Instant;

use racl::{Acl, CaptureMode, Device, Prefetch, Result, Stream, Tensor, op};

/// As many bytes as the document asks for; y is smaller, so the request is clipped.
const REQUEST: usize = 10_000_000;

struct Step {
    x: Tensor<f32>,
    y: Tensor<f32>,
    moved: Tensor<f32>,
    square: Tensor<f32>,
    out: Tensor<f32>,
}

impl Step {
    fn new(device: &Device, n: usize) -> Result<Self> {
        let mut random = fastrand::Rng::with_seed(3);
        let mut tensor = |columns: usize| {
            let data: Vec<f32> = (0..n * columns).map(|_| random.f32() - 0.5).collect();
            device.upload_tensor(&data, [n, columns])
        };
        let (x, y) = (tensor(n)?, tensor(1)?);
        Ok(Self { x, y, moved: device.zeros([n, n])?, square: device.zeros([n, n])?, out: device.zeros([n, 1])? })
    }

    fn add(&mut self, stream: &Stream) -> Result<()> {
        op::adds(stream, &self.x, 1.0, &mut self.moved)
    }

    fn rest(&mut self, stream: &Stream) -> Result<()> {
        let sum = self.moved.clone();
        op::abs(stream, &sum, &mut self.moved)?;
        op::matmul(stream, &self.moved, &self.moved, &mut self.square)?;
        op::matmul(stream, &self.square, &self.y, &mut self.out)
    }
}

fn main() -> Result<()> {
    let n = size::from_arguments("03_prefetch", 1000);
    let acl = Acl::init_or_mock()?;
    println!("library: {acl}; x is {n} × {n}, y is {n} × 1");
    let device = acl.device(0)?;
    let (main, side) = (device.stream()?, device.stream()?);
    let mut step = Step::new(&device, n)?;

    let start = Instant::now();
    step.add(&main)?;
    main.fork(&side)?;
    let asked = side.prefetch(&step.y, Prefetch::bytes(REQUEST))?;
    step.rest(&main)?;
    main.join(&side)?;
    main.synchronize()?;
    let eager = step.out.to_vec()?;
    println!("eager:    {:?}, {asked} of {REQUEST} bytes prefetched on the side stream", start.elapsed());

    let mut graph = main.capture(CaptureMode::ThreadLocal, |s| {
        let side = s.side("prefetch")?;
        step.add(s)?;
        s.fork(&side)?;
        side.prefetch(&step.y, Prefetch::bytes(REQUEST))?;
        step.rest(s)?;
        s.join(&side)
    })?;
    step.out.write(&vec![0.0; n])?;
    let start = Instant::now();
    graph.launch(&main)?;
    main.synchronize()?;
    println!("replayed: {:?}", start.elapsed());
    assert_eq!(step.out.to_vec()?, eager, "the replay differs from the eager run");
    println!("the replay equals the eager run; out[0] = {}", eager[0]);
    Ok(())
}
