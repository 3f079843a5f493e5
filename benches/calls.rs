//! Cost of safe calls against the raw calls beneath them, on the mock, within one run.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Raw and safe calls alternate; each
//! value is the least of many rounds, so that other work of the machine does not count.
#![allow(clippy::print_stdout, missing_docs)]

use std::cell::Cell;
use std::process::ExitCode;
use std::time::Instant;

use racl::{Acl, Context, Device, Result, Stream, op};

#[path = "pairs/mod.rs"]
mod pairs;
use pairs::{CASES, Calls};

/// Enough that a machine which is slow for some seconds is not slow in all of them.
const ROUNDS: usize = 2401;
const CALLS: u32 = 1000;

thread_local! {
    static MISSED: Cell<bool> = const { Cell::new(false) };
}

/// The word for a target that is met or not, which the end of the process tells as well.
fn word(met: bool) -> &'static str {
    MISSED.set(MISSED.get() || !met);
    if met { "met" } else { "missed" }
}

/// The least nanoseconds a call of both, measured in turn.
fn compare(
    stream: &Stream,
    mut raw: impl FnMut() -> Result<()>,
    mut safe: impl FnMut() -> Result<()>,
) -> Result<(f64, f64)> {
    let mut least = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        least.0 = least.0.min(time(&mut raw)?);
        stream.synchronize()?;
        least.1 = least.1.min(time(&mut safe)?);
        stream.synchronize()?;
    }
    Ok(least)
}

fn time(call: &mut impl FnMut() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..CALLS {
        call()?;
    }
    Ok(start.elapsed().as_nanos() as f64 / f64::from(CALLS))
}

fn report(name: &str, (raw, safe): (f64, f64)) {
    let over = safe - raw;
    println!("{name}, raw\t{raw:.1}\tns\tnone\tmet");
    println!("{name}, safe over raw\t{over:.1}\tns\tat most 20\t{}", word(over <= 20.0));
}

/// Each call both ways. The raw one is made by a closure in a box too, and needs objects of its own.
fn pairs_of_calls(device: &Device, stream: &Stream) -> Result<()> {
    for (name, make) in CASES {
        make(device, stream, false, &mut |mut raw| {
            make(device, stream, true, &mut |mut safe| {
                report(name, compare(stream, &mut raw, &mut safe)?);
                Ok(())
            })
        })?;
    }
    Ok(())
}

/// What it costs to ask which context is current before each call: the raw side is the safe call without.
fn verified(device: &Device, stream: &Stream) -> Result<()> {
    let mut one = device.alloc::<u8>(64)?;
    let mut other = device.alloc::<u8>(64)?;
    let verified = || {
        racl::set_verify_context(true);
        let done = stream.fill_bytes(&mut other, 0);
        racl::set_verify_context(false);
        done
    };
    let (trusted, asked) = compare(stream, || stream.fill_bytes(&mut one, 0), verified)?;
    println!("fill of 64 bytes, asking for the context\t{:.1}\tns more\tnone\tmet", asked - trusted);
    Ok(())
}

/// A record and a wait, raw with an event that is there, and as a fork, with one that the stream keeps.
fn fork(device: &Device, stream: &Stream) -> Result<()> {
    let (event, other) = (device.event()?, device.stream()?);
    let table = device.acl().table();
    let (record, wait) = (table.aclrtRecordEvent()?, table.aclrtStreamWaitEvent()?);
    let (handle, from, to) = (event.as_raw(), stream.as_raw(), other.as_raw());
    let raw_calls = || {
        // SAFETY: live handles.
        assert_eq!(unsafe { record(handle, from) }, 0);
        // SAFETY: live handles.
        assert_eq!(unsafe { wait(to, handle) }, 0);
        Ok(())
    };
    let (raw, safe) = compare(stream, raw_calls, || stream.fork(&other))?;
    println!("record and wait, raw\t{raw:.1}\tns\tnone\tmet");
    let over = safe - raw;
    println!("fork over a raw record and wait\t{over:.1}\tns\tat most 40\t{}", word(over <= 40.0));
    other.synchronize()
}

type MakeIn = fn(&Context, &Stream, &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()>;

fn fill(context: &Context, stream: &Stream, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    let mut buffer = context.alloc::<u8>(64)?;
    run(Box::new(|| stream.fill_bytes(&mut buffer, 0)))
}

fn add(context: &Context, stream: &Stream, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    let (a, b) = (context.upload_tensor(&[1.0_f32; 16], [16])?, context.upload_tensor(&[2.0_f32; 16], [16])?);
    let mut sum = context.zeros::<f32>([16])?;
    run(Box::new(|| op::add(stream, &a, &b, &mut sum)))
}

/// What the order between streams that use the same memory costs where one stream alone does: a call in a context that
/// keeps it, over one that does not.
fn tracked(device: &Device, name: &str, make: MakeIn) -> Result<()> {
    let (on, off) = (device.context().create_context()?, device.context().create_context()?);
    off.set_tracking(false);
    let streams = [on.stream()?, off.stream()?];
    make(&on, &streams[0], &mut |mut tracked| {
        make(&off, &streams[1], &mut |mut untracked| {
            let mut least = [f64::MAX; 2];
            let mut calls: [&mut dyn FnMut() -> Result<()>; 2] = [&mut || tracked(), &mut || untracked()];
            for _ in 0..ROUNDS {
                for (index, call) in calls.iter_mut().enumerate() {
                    // Makes the context current.
                    call()?;
                    least[index] = least[index].min(time(call)?);
                    streams[index].synchronize()?;
                }
            }
            let over = least[0] - least[1];
            let met = word(over <= 10.0);
            println!("{name}, order between streams\t{over:.1}\tns more\tat most 10\t{met}");
            Ok(())
        })
    })
}

fn main() -> Result<ExitCode> {
    let acl = Acl::mock()?;
    println!("# {acl}; the least of {ROUNDS} rounds of {CALLS} calls");
    let device = acl.device(0)?;
    let stream = device.stream()?;
    pairs_of_calls(&device, &stream)?;
    verified(&device, &stream)?;
    tracked(&device, "fill of 64 bytes", fill)?;
    tracked(&device, "operator on three tensors", add)?;
    fork(&device, &stream)?;
    Ok(if MISSED.get() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
