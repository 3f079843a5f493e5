//! Cost of safe calls against the raw calls beneath them, on the mock, within one run.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Raw and safe calls alternate; each
//! value is the least of many rounds, so that other work of the machine does not count.
#![allow(clippy::print_stdout, missing_docs)]

use std::cell::Cell;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use racl::{Acl, Device, DeviceBuffer, Result, Stream};

#[path = "pairs/mod.rs"]
mod pairs;
use pairs::CASES;

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

/// What the order between streams costs a call whose memory one stream alone uses: whether it has to follow others, and
/// the note that it uses the memory, which keeps that as well.
fn order<const N: usize>(device: &Device, stream: &Stream, name: &str) -> Result<()> {
    let buffers = [(); N].map(|()| device.alloc::<u8>(64));
    let buffers: Vec<_> = buffers.into_iter().collect::<Result<_>>()?;
    let Ok(buffers) = <[DeviceBuffer<u8>; N]>::try_from(buffers) else { unreachable!("as many as were asked for") };
    stream.fill_bytes(&mut device.alloc::<u8>(64)?, 0)?;
    let mut least = f64::MAX;
    for _ in 0..ROUNDS {
        least = least.min(time(&mut || racl::order_alone(stream, black_box(&buffers)))?);
    }
    println!("order between streams, {name}\t{least:.1}\tns\tat most 10\t{}", word(least <= 10.0));
    stream.synchronize()
}

fn main() -> Result<ExitCode> {
    let acl = Acl::mock()?;
    println!("# {acl}; the least of {ROUNDS} rounds of {CALLS} calls");
    let device = acl.device(0)?;
    let stream = device.stream()?;
    pairs_of_calls(&device, &stream)?;
    verified(&device, &stream)?;
    order::<1>(&device, &stream, "one buffer")?;
    order::<3>(&device, &stream, "three buffers")?;
    fork(&device, &stream)?;
    Ok(if MISSED.get() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
