//! Cost of operators on tiny tensors, on the mock: with kept executors, without, and the raw calls beneath.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Each value is the median of rounds.
//! The stream is waited for outside of the times.
#![allow(clippy::print_stdout, missing_docs)]

use std::time::Instant;

use racl::op::{self, aclnn};
use racl::{Acl, Result, Stream};

#[allow(dead_code, reason = "other benches have the other calls")]
#[path = "pairs/mod.rs"]
mod pairs;

const ROUNDS: usize = 301;
const CALLS: u32 = 500;

/// Median nanoseconds a call.
fn median(stream: &Stream, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..CALLS {
            call()?;
        }
        times.push(start.elapsed().as_nanos() as f64 / f64::from(CALLS));
        stream.synchronize()?;
    }
    times.sort_by(f64::total_cmp);
    Ok(times[ROUNDS / 2])
}

fn report(name: &str, value: f64, most: Option<f64>) {
    match most {
        Some(most) => {
            let met = if value <= most { "met" } else { "missed" };
            println!("{name}\t{value:.1}\tns\tat most {most}\t{met}");
        }
        None => println!("{name}\t{value:.1}\tns\tnone\tmet"),
    }
}

fn main() -> Result<()> {
    let acl = Acl::mock()?;
    println!("# {acl}; median of {ROUNDS} rounds of {CALLS} calls; f32 tensors of 16 elements");
    let context = acl.device(0)?.context().create_context()?;
    let stream = context.stream()?;
    let tensor = |value: f32| context.upload_tensor(&[value; 16], [16]);
    let (a, b, mut out) = (tensor(1.0)?, tensor(2.0)?, tensor(0.0)?);
    // The mock's share of a call with a kept executor.
    let (mut raw, device) = (0.0, acl.device(0)?);
    let own = device.stream()?;
    pairs::operator(&device, &own, false, &mut |call| {
        raw = median(&own, call)?;
        Ok(())
    })?;
    report("second phase of mul, raw", raw, None);
    let kept = median(&stream, || op::mul(&stream, &a, &b, &mut out))?;
    report("op::mul, kept executor", kept, Some(300.0));
    report("op::mul, kept executor, over raw", kept - raw, None);
    let by_name = median(&stream, || aclnn::mul(&stream, &a, &b, &mut out))?;
    report("op::aclnn::mul, kept executor", by_name, Some(300.0));
    let (mut other, mut turn) = (tensor(0.0)?, false);
    let moved = median(&stream, || {
        turn = !turn;
        op::mul(&stream, &a, &b, if turn { &mut other } else { &mut out })
    })?;
    report("op::mul, kept executor, one tensor moved", moved, Some(300.0));
    context.set_operator_cache(0);
    let anew = median(&stream, || op::mul(&stream, &a, &b, &mut out))?;
    report("op::mul, planned anew", anew, None);
    Ok(())
}
