//! The host's cost of issuing: 200 small operators one by one, and as one replay.
//!
//! Each step issues the same 200 additions on 16 floats. Only the issuing calls are timed; the device is waited for
//! after every step, outside the timed part. A figure is the best of several rounds, each the median of its steps, so
//! that other work of the machine does not count. Prints tab-separated figures: name, value, unit, target, met or
//! missed.
#![allow(clippy::print_stdout)]

use std::time::{Duration, Instant};

use racl::{Acl, CaptureMode, Result, Stream, Tensor, op};

const OPERATORS: usize = 200;
const STEPS: usize = 40;
const ROUNDS: usize = 10;

fn step(stream: &Stream, one: &Tensor<f32>, values: &mut [Tensor<f32>; 2]) -> Result<()> {
    for turn in 0..OPERATORS {
        let [a, b] = values;
        let (from, to) = if turn % 2 == 0 { (a, b) } else { (b, a) };
        op::add(stream, from, one, to)?;
    }
    Ok(())
}

/// Best median time of `issue`, the stream waited for after each.
fn measure(stream: &Stream, mut issue: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let mut times = Vec::with_capacity(STEPS);
        for _ in 0..STEPS {
            let start = Instant::now();
            issue()?;
            times.push(start.elapsed());
            stream.synchronize()?;
        }
        times.sort_unstable();
        best = best.min(times[STEPS / 2]);
    }
    Ok(best)
}

fn figure(name: &str, value: f64, unit: &str, target: &str, met: bool) {
    println!("{name}\t{value:.1}\t{unit}\t{target}\t{}", if met { "met" } else { "missed" });
}

fn main() -> Result<()> {
    let acl = Acl::init_or_mock()?;
    println!("# library: {acl}; {OPERATORS} operators a step, best of {ROUNDS} rounds of {STEPS} steps");
    let device = acl.device(0)?;
    let stream = device.stream()?;
    let one = device.upload_tensor(&[1.0_f32; 16], [16])?;
    let mut values = [device.zeros::<f32>([16])?, device.zeros::<f32>([16])?];

    let eager = measure(&stream, || step(&stream, &one, &mut values))?;
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| step(s, &one, &mut values))?;
    let replay = measure(&stream, || graph.launch(&stream))?;

    let each = eager.as_nanos() as f64 / OPERATORS as f64;
    let launch = replay.as_nanos() as f64;
    let ratio = each * OPERATORS as f64 / launch.max(1.0);
    figure("eager operator", each, "ns", "at most 500", each <= 500.0);
    figure("replay of a step", launch, "ns", "at most 1000", launch <= 1000.0);
    figure("eager step / replay", ratio, "times", "at least 20", ratio >= 20.0);

    let expected = (2 * ROUNDS * STEPS * OPERATORS) as f32;
    assert_eq!(values[0].to_vec()?, [expected; 16], "every operator ran once a step");
    Ok(())
}
