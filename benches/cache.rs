//! Starts with and without a stored plan of 10,000 operators, in one process.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Each time is the median of rounds.
//! Ends with code 1 when a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use std::fs;
use std::process::ExitCode;
use std::time::Instant;

use racl::cache::CompileCache;
use racl::cache::{Signature, Status, entries};
use racl::op::DataType::F32;
use racl::plan::{Builder, Input, Plan};
use racl::{Acl, Device, Result};

const ROUNDS: usize = 15;
const LAYERS: usize = 2000;

/// Five operators a layer, one of them on a side stream.
fn layers(g: &Builder) -> Result<()> {
    let w = g.input("w", [16, 16], F32, Input::Frozen)?;
    let mut x = g.input("x", [16, 16], F32, Input::Copied)?;
    for _ in 0..LAYERS {
        let gate = g.scope("side", |g| g.muls(x, 0.5))?;
        let h = g.matmul(x, w)?;
        let h = g.tanh(h)?;
        g.join("side")?;
        let h = g.mul(h, gate)?;
        x = g.add(h, x)?;
    }
    g.output("y", x)
}

fn inputs() -> Result<Signature> {
    let mut inputs = Signature::new();
    inputs.input("w", [16, 16], F32, Input::Frozen)?;
    inputs.input("x", [16, 16], F32, Input::Copied)?;
    Ok(inputs)
}

/// Seconds of the median round.
fn median(mut round: impl FnMut() -> Result<f64>) -> Result<f64> {
    let mut times = (0..ROUNDS).map(|_| round()).collect::<Result<Vec<f64>>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[ROUNDS / 2])
}

/// A start as a new process would make it; gives its seconds.
fn start(device: &Device, root: &std::path::Path, want: &Status) -> Result<f64> {
    let (inputs, begin) = (inputs()?, Instant::now());
    let cache = CompileCache::builder("Bench").cache_dir(root).build()?;
    let plan = cache.func("decode").inputs(&inputs).compile(device, layers)?;
    let took = begin.elapsed().as_secs_f64();
    assert_eq!(cache.status("decode").as_ref(), Some(want));
    assert_eq!(plan.operators(), 5 * LAYERS);
    Ok(took)
}

fn main() -> Result<ExitCode> {
    let device = Acl::init_or_mock()?.device(0)?;
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let root = folder.path().join("caches");
    let cold = median(|| {
        if root.exists() {
            fs::remove_dir_all(&root).expect("the bench's own folder can be removed");
        }
        start(&device, &root, &Status::Miss)
    })?;
    let warm = median(|| start(&device, &root, &Status::Hit))?;
    let build = median(|| {
        let begin = Instant::now();
        let plan = Plan::build(layers)?;
        let took = begin.elapsed().as_secs_f64();
        drop(plan);
        Ok(took)
    })?;
    // What a start spends on the memory of temporaries either way.
    let plan = Plan::build(layers)?;
    let memory = median(|| {
        let begin = Instant::now();
        plan.memory(&[])?;
        Ok(begin.elapsed().as_secs_f64())
    })?;
    let bytes: u64 = entries(&root)?.iter().map(|entry| entry.bytes).sum();
    let each = bytes as f64 / (5 * LAYERS) as f64;
    let mut missed = false;
    let mut met = |met: bool| {
        missed |= !met;
        if met { "met" } else { "missed" }
    };
    println!("start without a stored plan, 10000 operators\t{:.2}\tms\tnone\tmet", cold * 1e3);
    println!("start with a stored plan, 10000 operators\t{:.2}\tms\tat most 10\t{}", warm * 1e3, met(warm <= 0.010));
    println!("build and check alone\t{:.2}\tms\tnone\tmet", build * 1e3);
    println!("plan of the memory alone\t{:.2}\tms\tnone\tmet", memory * 1e3);
    println!(
        "build and check / start with a stored plan\t{:.2}\ttimes\tat least 1\t{}",
        build / warm,
        met(build >= warm)
    );
    println!("bytes an operator\t{each:.1}\tbytes\tat most 40.3\t{}", met(each <= 40.3));
    Ok(if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
