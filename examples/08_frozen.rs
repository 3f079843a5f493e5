//! Frozen parameters: weights whose addresses are fixed when the graph is captured.
//!
//! A run does not look at them, however many there are: on the mock, a run with 64 weights is counted to be one C
//! call. New numbers are written in place. Other memory is not noticed, or refused with `check_frozen`.
#![allow(clippy::print_stdout)]

mod compare;

use std::error::Error;

use compare::same;
use racl::op::DataType::F32;
use racl::plan::{Executable, Frozen, Input, Mode, Plan, RunOptions};
use racl::{Acl, Device, ErrorKind, Result, Stream, Tensor, mock, op};

const LAYERS: usize = 64;
const WIDTH: usize = 32;

fn name(layer: usize) -> String {
    format!("w{layer}")
}

/// `x = tanh(x · w)` for each weight.
fn plan() -> Result<Plan> {
    Plan::build(|g| {
        let mut x = g.input("x", [1, WIDTH], F32, Input::Static)?;
        for layer in 0..LAYERS {
            let w = g.input(&name(layer), [WIDTH, WIDTH], F32, Input::Frozen)?;
            x = g.matmul(x, w)?;
            x = g.tanh(x)?;
        }
        g.output("y", x)
    })
}

fn in_order(device: &Device, stream: &Stream, x: &Tensor<f32>, weights: &[Tensor<f32>]) -> Result<Vec<f32>> {
    let (mut product, mut out) = (device.zeros([1, WIDTH])?, device.zeros([1, WIDTH])?);
    for (layer, w) in weights.iter().enumerate() {
        op::matmul(stream, if layer == 0 { x } else { &out }, w, &mut product)?;
        op::tanh(stream, &product, &mut out)?;
    }
    out.to_vec()
}

fn random(device: &Device, random: &mut fastrand::Rng, rows: usize) -> Result<Tensor<f32>> {
    let data: Vec<f32> = (0..rows * WIDTH).map(|_| random.f32() - 0.5).collect();
    device.upload_tensor(&data, [rows, WIDTH])
}

/// C calls of any kind that `work` makes.
fn calls(work: impl FnOnce() -> Result<()>) -> Result<u64> {
    let count = || racl::sys::Table::names().map(|(name, _)| mock::calls(name)).sum::<u64>();
    let before = count();
    work()?;
    Ok(count() - before)
}

struct Case<'a> {
    device: &'a Device,
    stream: &'a Stream,
    x: &'a Tensor<f32>,
    weights: &'a [Tensor<f32>],
    on_mock: bool,
}

impl Case<'_> {
    /// Runs with the weights, with new numbers in one of them, and with another weight in its place.
    fn show(&self, how: &str, mut exe: Executable) -> std::result::Result<(), Box<dyn Error>> {
        let Self { device, stream, x, weights, on_mock } = *self;
        let expected = || in_order(device, stream, x, weights);
        let (y, mut bind) = (exe.output_id("y")?, exe.bindings());
        exe.static_input::<f32>(exe.input("x")?)?.write(&x.to_vec()?)?;
        exe.run(stream, &mut bind)?;
        let before = exe.output::<f32>(y)?.to_vec()?;
        same(how, &before, &expected()?)?;

        let (mut first, old) = (weights[0].clone(), weights[0].to_vec()?);
        first.write(&old.iter().map(|w| w * 0.5).collect::<Vec<_>>())?;
        let made = calls(|| exe.run(stream, &mut bind))?;
        let after = exe.output::<f32>(y)?.to_vec()?;
        same(how, &after, &expected()?)?;
        if after == before {
            return Err("new numbers in a weight change nothing".into());
        }
        println!("{how:<7} equals the operators in order, also with new numbers in place");
        if on_mock {
            println!("{how:<7} makes {made} C calls a run");
            if how == "replay" && made != 1 {
                return Err(format!("a replay makes {made} C calls instead of 1").into());
            }
        }

        let other = device.upload_tensor(&old, [WIDTH, WIDTH])?;
        match exe.run(stream, bind.set(exe.input(&name(0))?, &other)) {
            Err(error) if error.kind() == ErrorKind::AddressChanged => println!("{how:<7} refuses: {error}"),
            Err(error) => return Err(error.into()),
            Ok(()) => return Err("a frozen weight moved, and nothing said so".into()),
        }
        Ok(first.write(&old)?)
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let acl = Acl::init_or_mock()?;
    println!("library: {acl}; {LAYERS} weights");
    let device = acl.device(0)?;
    let stream = device.stream()?;
    let mut seed = fastrand::Rng::with_seed(8);
    let x = random(&device, &mut seed, 1)?;
    let weights: Vec<_> = (0..LAYERS).map(|_| random(&device, &mut seed, WIDTH)).collect::<Result<_>>()?;

    let case = Case { device: &device, stream: &stream, x: &x, weights: &weights, on_mock: acl.is_mock() };
    for (how, mode) in [("eager", Mode::Eager), ("replay", Mode::Captured)] {
        let given = weights.iter().enumerate().fold(Frozen::new(), |given, (layer, w)| given.with(&name(layer), w));
        let options = RunOptions::new().mode(mode).check_frozen();
        case.show(how, plan()?.executable(&device, &options, given)?)?;
    }
    Ok(())
}
