//! The figures of this program, one a line: name, value, unit, target, and whether the target is met.
//!
//! `cargo bench -p decode`, on the built-in mock, with the small model of random weights. Ends with 1 when a target is
//! missed; with `-- --any-time`, for machines that are slow or busy, times do not count.
#![allow(clippy::print_stdout)]

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use decode::{Attention, Config, Decoder, Mode, Options, Result, Source, all_calls};
use racl::{Acl, Device, mock};

const PROMPT: [u32; 4] = [1, 2, 3, 4];
/// Steps of a round: two buckets.
const STEPS: usize = 96;
/// Tokens that come out of them.
const COUNT: usize = STEPS - PROMPT.len() + 1;
/// The best of these counts. The two modes take turns, so that a busy machine slows both.
const ROUNDS: usize = 7;
static MISSED: AtomicBool = AtomicBool::new(false);
static ANY_TIME: AtomicBool = AtomicBool::new(false);

fn main() -> Result<ExitCode> {
    ANY_TIME.store(std::env::args().any(|argument| argument == "--any-time"), Ordering::Relaxed);
    let device = Acl::mock()?.device(0)?;
    let [mut eager, mut replay] = [decoder(&device, Mode::Eager, true)?, decoder(&device, Mode::Replay, true)?];
    let start = Instant::now();
    replay.prepare(PROMPT.len(), COUNT)?;
    note("recording the graphs", start.elapsed().as_secs_f64() * 1e3, "ms");
    // The first launches bind queues.
    eager.generate(&PROMPT, COUNT)?;
    replay.generate(&PROMPT, COUNT)?;
    note("graphs", replay.graphs() as f64, "graphs");

    let (mut slow, mut fast) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        slow = slow.min(round(&mut eager)?);
        fast = fast.min(round(&mut replay)?);
    }
    let speed = |time: Duration| STEPS as f64 / time.as_secs_f64();
    note("eager", speed(slow), "tokens/s");
    note("replay", speed(fast), "tokens/s");
    at_least("replay over eager", speed(fast) / speed(slow), "ratio", 1.0, true);

    let [slow, fast] = [issue(&mut eager)?, issue(&mut replay)?];
    note("issuing a token, eager", slow, "us");
    note("issuing a token, replay", fast, "us");
    at_least("issuing a token, eager over replay", slow / fast, "ratio", 10.0, true);

    note("C calls a token, eager", calls(&device, &mut eager)?, "calls");
    at_most("C calls a token, replay", calls(&device, &mut replay)?, "calls", 1.0);
    let layers = Config::default().layers as f64;
    at_least("prefetches a token, replay", prefetches(&mut replay)?, "prefetches", layers + 1.0, false);
    let mut without = decoder(&device, Mode::Replay, false)?;
    without.generate(&PROMPT, COUNT)?;
    at_most("prefetches a token, replay without", prefetches(&mut without)?, "prefetches", 0.0);
    fused(&device)?;
    Ok(ExitCode::from(u8::from(MISSED.load(Ordering::Relaxed))))
}

/// Attention in one operator, whose length is updated in the graph.
fn fused(device: &Device) -> Result<()> {
    let decoder = |mode| {
        let options = Options { mode, attention: Attention::Fused, ..Options::default() };
        Decoder::new(device, &Config::default(), Source::Random { seed: 1 }, &options)
    };
    let [mut eager, mut replay] = [decoder(Mode::Eager)?, decoder(Mode::Replay)?];
    eager.generate(&PROMPT, COUNT)?;
    replay.generate(&PROMPT, COUNT)?;
    let (mut slow, mut fast) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        slow = slow.min(round(&mut eager)?);
        fast = fast.min(round(&mut replay)?);
    }
    note("eager, fused", STEPS as f64 / slow.as_secs_f64(), "tokens/s");
    note("replay, fused", STEPS as f64 / fast.as_secs_f64(), "tokens/s");
    note("issuing a token, eager, fused", issue(&mut eager)?, "us");
    note("issuing a token, replay, fused", issue(&mut replay)?, "us");
    let [slow, fast] = [calls(device, &mut eager)?, calls(device, &mut replay)?];
    note("C calls a token, eager, fused", slow, "calls");
    at_most("C calls a token, replay, fused", fast, "calls", slow);
    let before = replay.updates();
    round(&mut replay)?;
    let layers = Config::default().layers as f64;
    let updates = (replay.updates() - before) as f64 / STEPS as f64;
    at_most("updates a token, replay, fused", updates, "updates", layers);
    Ok(())
}

fn decoder(device: &Device, mode: Mode, prefetch: bool) -> Result<Decoder<f32>> {
    let options = Options { mode, prefetch, ..Options::default() };
    Decoder::new(device, &Config::default(), Source::Random { seed: 1 }, &options)
}

/// All steps, to the end of the last one.
fn round(decoder: &mut Decoder<f32>) -> Result<Duration> {
    decoder.start(&PROMPT)?;
    decoder.wait()?;
    let start = Instant::now();
    for _ in 0..STEPS {
        decoder.advance()?;
    }
    decoder.wait()?;
    Ok(start.elapsed())
}

/// Median time of the host to issue a step, in microseconds. The device is waited for outside of that.
fn issue(decoder: &mut Decoder<f32>) -> Result<f64> {
    decoder.start(&PROMPT)?;
    let mut times = Vec::with_capacity(STEPS);
    for _ in 0..STEPS {
        let start = Instant::now();
        decoder.advance()?;
        times.push(start.elapsed());
        decoder.wait()?;
    }
    times.sort_unstable();
    Ok(times[STEPS / 2].as_secs_f64() * 1e6)
}

/// The waits are not counted.
fn calls(device: &Device, decoder: &mut Decoder<f32>) -> Result<f64> {
    decoder.start(&PROMPT)?;
    let before = all_calls(device);
    for _ in 0..STEPS {
        decoder.advance()?;
    }
    let after = all_calls(device);
    decoder.wait()?;
    let calls = before.zip(after).map(|(before, after)| after - before);
    Ok(calls.map_or(f64::NAN, |calls| calls as f64 / STEPS as f64))
}

fn prefetches(decoder: &mut Decoder<f32>) -> Result<f64> {
    let before = mock::prefetched().0;
    round(decoder)?;
    Ok((mock::prefetched().0 - before) as f64 / STEPS as f64)
}

fn note(name: &str, value: f64, unit: &str) {
    println!("decode, {name}\t{value:.1}\t{unit}\tnone\tmet");
}

fn at_most(name: &str, value: f64, unit: &str, target: f64) {
    line(name, value, unit, format!("at most {target}"), value <= target, false);
}

fn at_least(name: &str, value: f64, unit: &str, target: f64, timed: bool) {
    line(name, value, unit, format!("at least {target}"), value >= target, timed);
}

fn line(name: &str, value: f64, unit: &str, target: String, met: bool, timed: bool) {
    let counts = !timed || !ANY_TIME.load(Ordering::Relaxed);
    MISSED.fetch_or(counts && !met, Ordering::Relaxed);
    println!("decode, {name}\t{value:.2}\t{unit}\t{target}\t{}", if met { "met" } else { "missed" });
}
