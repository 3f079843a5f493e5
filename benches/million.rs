//! What a million calls of each kind leave behind: launches of graphs and kernels, and all else that streams are given.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Fails when a target is missed. That of
//! futures is in `--bench futures`.
#![allow(clippy::print_stdout, missing_docs)]

use std::process::ExitCode;

use racl::{Acl, Device, Result, Stream, op};

#[path = "pairs/mod.rs"]
mod pairs;
#[path = "resident/mod.rs"]
mod resident;

use pairs::{CASES, Calls};
use resident::resident;

const MANY: usize = 1_000_000;
/// What is made before the first look: tables that grow to their size, memory that is kept.
const FIRST: usize = 10_000;
/// Fewer than a stream's queue takes.
const BATCH: usize = 1_000;
/// MiB.
const MOST: f64 = 1.0;

/// How much more memory is resident after a million of the calls.
fn grown(stream: &Stream, call: &mut Calls<'_>) -> Result<f64> {
    let mut run = |count: usize| -> Result<()> {
        for _ in 0..count / BATCH {
            (0..BATCH).try_for_each(|_| call())?;
            stream.synchronize()?;
        }
        Ok(())
    };
    run(FIRST)?;
    let before = resident();
    run(MANY)?;
    Ok(resident() - before)
}

/// An eager operator whose result is new each time.
fn operator(device: &Device, stream: &Stream, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    let one = device.upload_tensor(&[1.0_f32; 16], [16])?;
    run(Box::new(|| op::add(stream, &one, &one, &mut stream.empty::<f32>([16])?)))
}

fn main() -> Result<ExitCode> {
    let acl = Acl::mock()?;
    println!("# {acl}; {MANY} calls each");
    let device = acl.device(0)?;
    let stream = device.stream()?;
    let mut missed = false;
    let mut report = |name: &str, mut call: Calls<'_>| {
        let grown = grown(&stream, &mut call)?;
        let met = grown <= MOST;
        missed |= !met;
        println!("{name}: a million leave\t{grown:.2}\tMiB\tat most {MOST}\t{}", if met { "met" } else { "missed" });
        Ok(())
    };
    operator(&device, &stream, &mut |call| report("operator with a new result", call))?;
    for (name, make) in CASES {
        make(&device, &stream, true, &mut |call| report(name, call))?;
    }
    Ok(if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
