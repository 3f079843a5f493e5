//! A small network from nothing, by the builder's methods: convolution, normalisation and pooling of images, then
//! classes with their probabilities.
//!
//! Shapes and types of results follow from those of the operands, over a symbol for the number of images, so the plan
//! runs with any batch; what would not fit is refused on its line. The numbers are those of the same operators one by
//! one on a stream.
#![allow(clippy::print_stdout)]

mod compare;

use std::error::Error;

use compare::same;
use racl::op::{DataType::F32, Window};
use racl::plan::{Builder, Dim, Frozen, Input, Plan, Value};
use racl::{Acl, Device, Result, Stream, Tensor, op};

const CHANNELS: usize = 4;
const CLASSES: usize = 3;
const SIDE: usize = 8;
/// Of the pooled image.
const FEATURES: usize = CHANNELS * (SIDE / 2) * (SIDE / 2);

const SAME: Window<2> = Window { stride: [1, 1], padding: [1, 1], dilation: [1, 1] };
const HALVES: Window<2> = Window { stride: [2, 2], padding: [0, 0], dilation: [1, 1] };

/// Names and shapes of the weights, which are frozen inputs.
const WEIGHTS: [(&str, &[usize]); 3] =
    [("kernel", &[CHANNELS, 1, 3, 3]), ("bias", &[CHANNELS]), ("classes", &[FEATURES, CLASSES])];

fn weight(g: &Builder, which: usize) -> Result<Value> {
    let (name, shape) = WEIGHTS[which];
    g.input(name, shape, F32, Input::Frozen)
}

fn network() -> Result<Plan> {
    Plan::build(|g| {
        let images = g.symbol("images", 1..=16)?;
        let x = g.input("x", [images, Dim::from(1), SIDE.into(), SIDE.into()], F32, Input::Copied)?;
        let x = g.conv2d(x, weight(g, 0)?, Some(weight(g, 1)?), SAME, 1)?; // [images, 4, 8, 8]
        let x = g.silu(x)?;
        let (x, _) = g.max_pool2d(x, [2, 2], HALVES)?; // [images, 4, 4, 4]
        let x = g.reshape(x, [images, FEATURES.into()])?;
        let logits = g.matmul(x, weight(g, 2)?)?; // [images, 3]
        let (best, class) = g.topk(g.softmax(logits, -1)?, 1, -1, true)?; // f32 and i64, [images, 1]
        g.output("probability", best)?;
        g.output("class", class)
    })
}

/// The same, operator by operator.
fn in_order(
    device: &Device,
    stream: &Stream,
    x: &Tensor<f32>,
    weights: &[Tensor<f32>],
) -> Result<(Vec<f32>, Vec<i64>)> {
    let images = x.shape()[0];
    let mut wide = device.zeros([images, CHANNELS, SIDE, SIDE])?;
    op::conv2d(stream, x, &weights[0], Some(&weights[1]), SAME, 1, &mut wide)?;
    let mut active = device.zeros([images, CHANNELS, SIDE, SIDE])?;
    op::silu(stream, &wide, &mut active)?;
    let half = [images, CHANNELS, SIDE / 2, SIDE / 2];
    let (mut pooled, mut places) = (device.zeros(half)?, device.zeros(half)?);
    op::max_pool2d(stream, &active, [2, 2], HALVES, &mut pooled, &mut places)?;
    let (mut logits, mut shares) = (device.zeros([images, CLASSES])?, device.zeros([images, CLASSES])?);
    op::matmul(stream, &pooled.reshaped([images, FEATURES])?, &weights[2], &mut logits)?;
    op::softmax(stream, &logits, -1, &mut shares)?;
    let (mut best, mut class) = (device.zeros([images, 1])?, device.zeros([images, 1])?);
    op::topk(stream, &shares, 1, -1, true, &mut best, &mut class)?;
    Ok((best.to_vec()?, class.to_vec()?))
}

fn random(device: &Device, random: &mut fastrand::Rng, shape: &[usize]) -> Result<Tensor<f32>> {
    let count = shape.iter().product();
    let data: Vec<f32> = (0..count).map(|_| random.f32() - 0.5).collect();
    device.upload_tensor(&data, shape)
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let plan = network()?;
    let acl = Acl::init_or_mock()?;
    println!("library: {acl}; {} operators for 1 to 16 images", plan.operators());
    let device = acl.device(0)?;
    let stream = device.stream()?;
    let mut numbers = fastrand::Rng::with_seed(16);
    let weights: Result<Vec<_>> = WEIGHTS.iter().map(|(_, shape)| random(&device, &mut numbers, shape)).collect();
    let weights = weights?;
    let frozen = WEIGHTS.iter().zip(&weights).fold(Frozen::new(), |frozen, ((name, _), w)| frozen.with(name, w));
    let mut exe = plan.capture(&device, frozen)?;
    for images in [1, 5] {
        let x = random(&device, &mut numbers, &[images, 1, SIDE, SIDE])?;
        let mut bind = exe.bindings();
        exe.run(&stream, bind.set(exe.input("x")?, &x))?;
        let best = exe.output::<f32>(exe.output_id("probability")?)?.to_vec()?;
        let class = exe.output::<i64>(exe.output_id("class")?)?.to_vec()?;
        let expected = in_order(&device, &stream, &x, &weights)?;
        same("probability", &best, &expected.0)?;
        same("class", &class, &expected.1)?;
        println!("{images} images: classes {class:?} with {best:.3?}");
    }
    Ok(())
}
