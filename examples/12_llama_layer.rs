//! A layer of a Llama-style decoder, written by hand in primitive operators, and what passes make of it.
//!
//! `cargo run --example 12_llama_layer [FOLDER]` prints the operators before and after, runs both plans, compares their
//! numbers, and writes pictures of both into the folder, or one for temporary files.
#![allow(clippy::print_stdout)]

mod passes_table;

use std::error::Error;

use passes_table::{Pass, apply, close, compare_operators, folder, run, write_pictures};
use racl::half::f16;
use racl::op::DataType::{F16, F32};
use racl::plan::{Builder, Frozen, Input, Passes, Plan, Value};
use racl::{Acl, Device, Result, Tensor};

const TOKENS: usize = 16;
const WIDTH: usize = 64;
const HEADS: usize = 4;
const SIZE: usize = WIDTH / HEADS;
const HIDDEN: usize = 128;

/// Names and shapes of the weights. Those of products stand as `torch.nn.Linear` has them, `[out, in]`.
const WEIGHTS: [(&str, &[usize]); 8] = [
    ("input_norm", &[WIDTH]),
    ("q_proj", &[WIDTH, WIDTH]),
    ("k_proj", &[WIDTH, WIDTH]),
    ("v_proj", &[WIDTH, WIDTH]),
    ("o_proj", &[WIDTH, WIDTH]),
    ("post_norm", &[WIDTH]),
    ("gate_up_proj", &[2 * HIDDEN, WIDTH]),
    ("down_proj", &[WIDTH, HIDDEN]),
];

fn weight(g: &Builder, name: &str) -> Result<Value> {
    let shape = WEIGHTS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, shape)| shape);
    g.input(name, shape, F16, Input::Frozen)
}

fn linear(g: &Builder, x: Value, name: &str) -> Result<Value> {
    g.matmul(x, g.permute(weight(g, name)?, &[1, 0])?)
}

/// The root of the mean square in f32, as every implementation has it.
fn rms_norm(g: &Builder, x: Value, name: &str) -> Result<Value> {
    let wide = g.cast(x, F32)?;
    let mean = g.mean(g.pows(wide, 2.0)?, &[-1], true)?;
    let norm = g.mul(wide, g.rsqrt(g.adds(mean, 1e-5)?)?)?;
    g.mul(weight(g, name)?, g.cast(norm, F16)?)
}

/// `[tokens, width]` as `[1, heads, tokens, size]`.
fn heads(g: &Builder, x: Value) -> Result<Value> {
    g.transpose(g.reshape(x, [1, TOKENS, HEADS, SIZE])?, 1, 2)
}

fn rotated(g: &Builder, x: Value, cos: Value, sin: Value) -> Result<Value> {
    let (a, b) = (g.narrow(x, 3, 0..SIZE / 2)?, g.narrow(x, 3, SIZE / 2..SIZE)?);
    let turned = g.cat(&[g.neg(b)?, a], -1)?;
    g.add(g.mul(x, cos)?, g.mul(turned, sin)?)
}

/// Cosines and sines of the positions, `[1, 1, tokens, size]`.
fn angles(g: &Builder) -> Result<[Value; 2]> {
    let angle = |at: usize| {
        let (token, pair) = (at / SIZE, at % (SIZE / 2));
        token as f32 / 10_000_f32.powf(2.0 * pair as f32 / SIZE as f32)
    };
    let numbers =
        |of: fn(f32) -> f32| -> Vec<f16> { (0..TOKENS * SIZE).map(|at| f16::from_f32(of(angle(at)))).collect() };
    let constant = |of| g.constant(&numbers(of), [1, 1, TOKENS, SIZE]);
    Ok([constant(f32::cos)?, constant(f32::sin)?])
}

fn attention(g: &Builder, x: Value) -> Result<Value> {
    let [cos, sin] = angles(g)?;
    let q = rotated(g, heads(g, linear(g, x, "q_proj")?)?, cos, sin)?;
    let k = rotated(g, heads(g, linear(g, x, "k_proj")?)?, cos, sin)?;
    let v = heads(g, linear(g, x, "v_proj")?)?;
    let later = |at: usize| if at % TOKENS > at / TOKENS { f16::NEG_INFINITY } else { f16::ZERO };
    let mask: Vec<f16> = (0..TOKENS * TOKENS).map(later).collect();
    let scores = g.muls(g.matmul(q, g.transpose(k, 2, 3)?)?, 1.0 / (SIZE as f32).sqrt())?;
    let scores = g.add(scores, g.constant(&mask, [1, 1, TOKENS, TOKENS])?)?;
    let shares = g.cast(g.softmax(g.cast(scores, F32)?, -1)?, F16)?;
    let mixed = g.permute(g.matmul(shares, v)?, &[0, 2, 1, 3])?;
    linear(g, g.reshape(mixed, [TOKENS, WIDTH])?, "o_proj")
}

fn feed_forward(g: &Builder, x: Value) -> Result<Value> {
    let both = linear(g, x, "gate_up_proj")?;
    let (gate, up) = (g.narrow(both, 1, 0..HIDDEN)?, g.narrow(both, 1, HIDDEN..2 * HIDDEN)?);
    let active = g.mul(gate, g.sigmoid(gate)?)?;
    linear(g, g.mul(active, up)?, "down_proj")
}

fn layer(g: &Builder) -> Result<()> {
    let x = g.input("x", [TOKENS, WIDTH], F16, Input::Copied)?;
    let attended = attention(g, rms_norm(g, x, "input_norm")?)?;
    let x = g.add(x, attended)?;
    let more = feed_forward(g, rms_norm(g, x, "post_norm")?)?;
    g.output("y", g.add(x, more)?)
}

const PASSES: [Pass; 5] = [
    ("needless_transposes", Passes::needless_transposes),
    ("fused_attention", Passes::fused_attention),
    ("fused_norms", Passes::fused_norms),
    ("fused_gates", Passes::fused_gates),
    ("fused_rotations", Passes::fused_rotations),
];

fn random(device: &Device, numbers: &mut fastrand::Rng, shape: &[usize], most: f32) -> Result<Tensor<f16>> {
    let data = (0..shape.iter().product()).map(|_| f16::from_f32((2.0 * numbers.f32() - 1.0) * most));
    device.upload_tensor(&data.collect::<Vec<_>>(), shape)
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let before = Plan::build(layer)?;
    let after = apply(&before, &PASSES)?;
    compare_operators(&before, &after)?;
    let acl = Acl::init_or_mock()?;
    println!("library: {acl}");
    let (device, mut numbers) = (acl.device(0)?, fastrand::Rng::with_seed(12));
    let x = random(&device, &mut numbers, &[TOKENS, WIDTH], 2.0)?;
    let weights: Result<Vec<_>> =
        WEIGHTS.iter().map(|(_, shape)| random(&device, &mut numbers, shape, 0.2)).collect();
    let weights = weights?;
    let frozen = || WEIGHTS.iter().zip(&weights).fold(Frozen::new(), |all, ((name, _), one)| all.with(name, one));
    let wide = |plan| -> std::result::Result<Vec<f32>, Box<dyn Error>> {
        Ok(run(plan, &device, frozen(), &x)?.into_iter().map(f16::to_f32).collect())
    };
    close(&wide(&after)?, &wide(&before)?, 1e-2)?;
    write_pictures(&folder(), "llama-layer", &before, &after)
}
