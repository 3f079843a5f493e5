//! Streams and a prefetch inside a captured graph.
//!
//! The program of the in-graph multi-stream documents: an addition on the main stream; a product on stream "1" that
//! waits for the addition by an event; a product on the main stream; an addition on stream "2" that waits for that
//! product; ones + 2. All operands are random 1000 × 1000 matrices of 16-bit floats. Stream "1" also prefetches an
//! operand while the main stream computes. The graph is captured once, replayed, and compared with the same operators
//! in order on one stream.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use racl::half::f16;
use racl::{Acl, CaptureMode, Device, Prefetch, Result, Stream, Tensor, op};

const N: usize = 1000;

struct Inputs([Tensor<f16>; 4]);

struct Outputs {
    sum: Tensor<f16>,
    product_1: Tensor<f16>,
    product: Tensor<f16>,
    sum_2: Tensor<f16>,
    ones: Tensor<f16>,
    three: Tensor<f16>,
}

impl Outputs {
    fn new(device: &Device) -> Result<Self> {
        let zeros = || device.zeros([N, N]);
        Ok(Self {
            sum: zeros()?,
            product_1: zeros()?,
            product: zeros()?,
            sum_2: zeros()?,
            ones: zeros()?,
            three: zeros()?,
        })
    }

    fn named(&self) -> [(&'static str, &Tensor<f16>); 5] {
        [
            ("main: in1 + in2", &self.sum),
            ("\"1\":  in3 · in4", &self.product_1),
            ("main: in1 · in2", &self.product),
            ("\"2\":  in3 + in4", &self.sum_2),
            ("main: ones + 2", &self.three),
        ]
    }
}

fn in_order(stream: &Stream, Inputs([a, b, c, d]): &Inputs, out: &mut Outputs) -> Result<()> {
    op::add(stream, a, b, &mut out.sum)?;
    op::mm(stream, c, d, &mut out.product_1)?;
    op::mm(stream, a, b, &mut out.product)?;
    op::add(stream, c, d, &mut out.sum_2)?;
    op::fill(stream, &mut out.ones, f16::ONE)?;
    op::adds(stream, &out.ones, f16::from_f32(2.0), &mut out.three)
}

fn in_streams(main: &Stream, Inputs([a, b, c, d]): &Inputs, out: &mut Outputs) -> Result<()> {
    let (one, two) = (main.side("1")?, main.side("2")?);
    let context = main.context();
    let (added, multiplied) = (context.event()?, context.event()?);

    op::add(main, a, b, &mut out.sum)?;
    added.record(main)?;
    one.wait(&added)?;
    one.prefetch(d, Prefetch::all())?;
    op::mm(&one, c, d, &mut out.product_1)?;

    op::mm(main, a, b, &mut out.product)?;
    multiplied.record(main)?;
    two.wait(&multiplied)?;
    op::add(&two, c, d, &mut out.sum_2)?;

    op::fill(main, &mut out.ones, f16::ONE)?;
    op::adds(main, &out.ones, f16::from_f32(2.0), &mut out.three)?;
    main.join(&one)?;
    main.join(&two)
}

fn random(device: &Device, random: &mut fastrand::Rng) -> Result<Tensor<f16>> {
    let data: Vec<f16> = (0..N * N).map(|_| f16::from_f32(random.f32() - 0.5)).collect();
    device.upload_tensor(&data, [N, N])
}

fn main() -> Result<()> {
    let acl = Acl::init_or_mock()?;
    println!("library: {acl}");
    let device = acl.device(0)?;
    let main = device.stream()?;
    let mut seed = fastrand::Rng::with_seed(2);
    let mut next = || random(&device, &mut seed);
    let inputs = Inputs([next()?, next()?, next()?, next()?]);

    let mut expected = Outputs::new(&device)?;
    let start = Instant::now();
    in_order(&main, &inputs, &mut expected)?;
    main.synchronize()?;
    println!("in order on one stream: {:?}", start.elapsed());

    let mut outputs = Outputs::new(&device)?;
    let mut graph = main.capture(CaptureMode::ThreadLocal, |s| in_streams(s, &inputs, &mut outputs))?;
    println!("captured a graph over three streams; it keeps {} MiB", graph.memory_bytes() >> 20);

    let start = Instant::now();
    graph.launch(&main)?;
    let issued = start.elapsed();
    main.synchronize()?;
    println!("replayed: the host issued it in {issued:?}, all was done after {:?}", start.elapsed());

    for ((name, got), (_, want)) in outputs.named().into_iter().zip(expected.named()) {
        let (got, want) = (got.to_vec()?, want.to_vec()?);
        let pairs = got.iter().zip(&want);
        let difference = pairs.map(|(g, w)| (g.to_f32() - w.to_f32()).abs()).fold(0.0_f32, f32::max);
        println!("{name:<18} first {:>8}  largest difference {difference}", got[0]);
        assert!(difference < 1e-2, "the replay of {name} differs from the operators in order");
    }
    println!("the replay equals the operators in order");
    Ok(())
}
