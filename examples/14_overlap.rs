//! Two layers of a decoder, for one token, whose work overlaps without being told: what runs beside what, which weights
//! are prefetched, and why, by a model of the device; and the same bits as before.
//!
//! `cargo run --release --example 14_overlap` prints the report and runs both plans.
#![allow(clippy::print_stdout)]

use std::error::Error;

use racl::half::f16;
use racl::op::DataType::F16;
use racl::plan::auto::{Auto, Target};
use racl::plan::{Builder, Frozen, Input, Plan, Value};
use racl::{Acl, Device, Result, Tensor};

const LAYERS: usize = 2;
const WIDTH: usize = 1024;
const HEADS: usize = 8;
const SIZE: usize = WIDTH / HEADS;
const HIDDEN: usize = 4096;
/// Tokens before this one.
const PAST: usize = 256;

/// Names and shapes of what each layer is given.
const PARTS: [(&str, &[usize]); 9] = [
    ("norm", &[WIDTH]),
    ("q", &[WIDTH, WIDTH]),
    ("k", &[WIDTH, WIDTH]),
    ("v", &[WIDTH, WIDTH]),
    ("keys", &[HEADS, SIZE, PAST]),
    ("values", &[HEADS, PAST, SIZE]),
    ("o", &[WIDTH, WIDTH]),
    ("up", &[WIDTH, HIDDEN]),
    ("down", &[HIDDEN, WIDTH]),
];

fn layer(g: &Builder, layer: usize, x: Value) -> Result<Value> {
    let part = |name: &str| {
        let shape = PARTS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, shape)| shape);
        g.input(&format!("{name}{layer}"), shape, F16, Input::Frozen)
    };
    let heads = |value| g.reshape(value, [HEADS, 1, SIZE]);
    let norm = part("norm")?;
    let (h, _) = g.rms_norm(x, norm, 1e-6)?;
    let (q, k, v) = (g.matmul(h, part("q")?)?, g.matmul(h, part("k")?)?, g.matmul(h, part("v")?)?);
    // The token itself is seen beside those before it.
    let own = g.sigmoid(g.mul(g.silu(q)?, g.silu(k)?)?)?;
    let scores = g.softmax(g.muls(g.matmul(heads(q)?, part("keys")?)?, 1.0 / (SIZE as f32).sqrt())?, -1)?;
    let seen = g.reshape(g.matmul(scores, part("values")?)?, [1, WIDTH])?;
    let x = g.add(x, g.matmul(g.add(seen, g.mul(own, v)?)?, part("o")?)?)?;
    let (h, _) = g.rms_norm(x, norm, 1e-6)?;
    g.add(x, g.matmul(g.silu(g.matmul(h, part("up")?)?)?, part("down")?)?)
}

fn decoder(g: &Builder) -> Result<()> {
    let x = g.input("x", [1, WIDTH], F16, Input::Copied)?;
    let y = (0..LAYERS).try_fold(x, |x, index| layer(g, index, x))?;
    g.output("y", y)
}

fn random(device: &Device, numbers: &mut fastrand::Rng, shape: &[usize], most: f32) -> Result<Tensor<f16>> {
    let data = (0..shape.iter().product()).map(|_| f16::from_f32((2.0 * numbers.f32() - 1.0) * most));
    device.upload_tensor(&data.collect::<Vec<_>>(), shape)
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let acl = Acl::init_or_mock()?;
    println!("library: {acl}");
    let device = acl.device(0)?;
    let plan = Plan::build(decoder)?;
    let overlapped = plan.overlap(&Auto::new(Target::of(&device)?))?;
    println!("operators: {}, before {}", overlapped.plan.operators(), plan.operators());
    println!("streams: {}, before {}\n{}", overlapped.plan.streams(), plan.streams(), overlapped.report);

    let mut numbers = fastrand::Rng::with_seed(14);
    let x = random(&device, &mut numbers, &[1, WIDTH], 2.0)?;
    let mut parts = Vec::new();
    for index in 0..LAYERS {
        for (name, shape) in PARTS {
            parts.push((format!("{name}{index}"), random(&device, &mut numbers, shape, 0.05)?));
        }
    }
    let main = device.stream()?;
    let run = |plan: &Plan| -> Result<Vec<u16>> {
        let frozen = parts.iter().fold(Frozen::new(), |all, (name, part)| all.with(name, part));
        let mut exe = plan.capture(&device, frozen)?;
        let (input, output) = (exe.input("x")?, exe.output_id("y")?);
        let mut bind = exe.bindings();
        exe.run(&main, bind.set(input, &x))?;
        Ok(exe.output::<f16>(output)?.to_vec()?.into_iter().map(f16::to_bits).collect())
    };
    let (before, after) = (run(&plan)?, run(&overlapped.plan)?);
    if before != after {
        return Err("the overlapped plan gives other bits".into());
    }
    println!("all {} numbers have the same bits", after.len());
    Ok(())
}
