//! The basic block of a ResNet, written by hand in primitive operators, and what passes make of it.
//!
//! Weights are constants of the plan here, so what depends on them alone is computed when it is built.
//! `cargo run --example 13_resnet_block [FOLDER]` prints the operators before and after, runs both plans, compares
//! their numbers, and writes pictures of both into the folder, or one for temporary files.
#![allow(clippy::print_stdout)]

mod passes_table;

use std::cell::RefCell;
use std::error::Error;

use passes_table::{Pass, apply, close, compare_operators, folder, run, write_pictures};
use racl::op::{DataType::F32, Window};
use racl::plan::{Builder, Frozen, Input, Passes, Plan, Value};
use racl::{Acl, Result};

const IMAGES: usize = 2;
const CHANNELS: usize = 4;
const WIDE: usize = 8;
const SIDE: usize = 8;

/// Gives weights, of at most 1.
struct Weights<'a> {
    g: &'a Builder,
    numbers: RefCell<fastrand::Rng>,
}

impl Weights<'_> {
    fn next(&self, shape: &[usize], least: f32) -> Result<Value> {
        let mut numbers = self.numbers.borrow_mut();
        let data: Vec<f32> = (0..shape.iter().product()).map(|_| least + (1.0 - least) * numbers.f32()).collect();
        self.g.constant(&data, shape)
    }

    /// A number for each channel, which is broadcast.
    fn line(&self, channels: usize) -> Result<Value> {
        self.next(&[1, channels, 1, 1], -1.0)
    }

    fn conv(&self, x: Value, [from, to, kernel]: [usize; 3], stride: i64) -> Result<Value> {
        let window = Window { stride: [stride; 2], padding: [kernel as i64 / 2; 2], dilation: [1; 2] };
        self.g.conv2d(x, self.next(&[to, from, kernel, kernel], -1.0)?, None, window, 1)
    }

    /// `(x - mean) / sqrt(variance + eps) · weight + bias`.
    fn batch_norm(&self, x: Value, channels: usize) -> Result<Value> {
        let g = self.g;
        let variance = self.next(&[1, channels, 1, 1], 0.1)?;
        let scale = g.rsqrt(g.adds(variance, 1e-5)?)?;
        let norm = g.mul(g.sub(x, self.line(channels)?)?, scale)?;
        g.add(g.mul(norm, self.line(channels)?)?, self.line(channels)?)
    }
}

fn block(g: &Builder) -> Result<()> {
    let w = Weights { g, numbers: RefCell::new(fastrand::Rng::with_seed(13)) };
    let x = g.input("x", [IMAGES, CHANNELS, SIDE, SIDE], F32, Input::Copied)?;
    let y = w.batch_norm(w.conv(x, [CHANNELS, WIDE, 3], 2)?, WIDE)?;
    let y = g.relu(y)?;
    let y = w.batch_norm(w.conv(y, [WIDE, WIDE, 3], 1)?, WIDE)?;
    let shortcut = w.batch_norm(w.conv(x, [CHANNELS, WIDE, 1], 2)?, WIDE)?;
    let y = g.relu(g.add(y, shortcut)?)?;
    g.output("y", y)
}

const PASSES: [Pass; 3] = [
    ("folded_constants", Passes::folded_constants),
    ("fused_norms", Passes::fused_norms),
    ("fused_elements", Passes::fused_elements),
];

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let before = Plan::build(block)?;
    let after = apply(&before, &PASSES)?;
    compare_operators(&before, &after)?;
    let acl = Acl::init_or_mock()?;
    println!("library: {acl}");
    let device = acl.device(0)?;
    let mut numbers = fastrand::Rng::with_seed(14);
    let data: Vec<f32> = (0..IMAGES * CHANNELS * SIDE * SIDE).map(|_| numbers.f32() - 0.5).collect();
    let x = device.upload_tensor(&data, [IMAGES, CHANNELS, SIDE, SIDE])?;
    let numbers = |plan| run::<f32>(plan, &device, Frozen::new(), &x);
    close(&numbers(&after)?, &numbers(&before)?, 1e-4)?;
    write_pictures(&folder(), "resnet-block", &before, &after)
}
