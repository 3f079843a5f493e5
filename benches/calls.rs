//! Cost of safe calls against the raw calls beneath them, on the mock, within one run.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Each value is the median of rounds in
//! which raw and safe calls alternate.
#![allow(clippy::print_stdout, missing_docs)]

use std::time::Instant;

use racl::{Acl, CaptureMode, Device, Result, Stream, op, sys};

const ROUNDS: usize = 301;
const CALLS: u32 = 1000;

/// Median nanoseconds a call of both, measured in turn.
fn compare(
    stream: &Stream,
    mut raw: impl FnMut() -> Result<()>,
    mut safe: impl FnMut() -> Result<()>,
) -> Result<(f64, f64)> {
    let (mut raws, mut safes) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        raws.push(time(&mut raw)?);
        stream.synchronize()?;
        safes.push(time(&mut safe)?);
        stream.synchronize()?;
    }
    raws.sort_by(f64::total_cmp);
    safes.sort_by(f64::total_cmp);
    Ok((raws[ROUNDS / 2], safes[ROUNDS / 2]))
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
    let met = |met| if met { "met" } else { "missed" };
    println!("{name}, raw\t{raw:.1}\tns\tnone\tmet");
    println!("{name}, safe over raw\t{over:.1}\tns\tat most 20\t{}", met(over <= 20.0));
}

fn memset(device: &Device, stream: &Stream) -> Result<()> {
    let mut buffer = device.alloc::<u8>(64)?;
    let (address, raw) = (buffer.address(), stream.as_raw());
    let function = device.acl().table().aclrtMemsetAsync()?;
    let raw_call = || {
        // SAFETY: 64 bytes of a buffer that lives until the stream is waited for.
        assert_eq!(unsafe { function(address, 64, 0, 64, raw) }, 0);
        Ok(())
    };
    let figures = compare(stream, raw_call, || stream.fill_bytes(&mut buffer, 0))?;
    report("fill of 64 bytes", figures);
    Ok(())
}

fn record(device: &Device, stream: &Stream) -> Result<()> {
    let event = device.event()?;
    let (handle, raw) = (event.as_raw(), stream.as_raw());
    let function = device.acl().table().aclrtRecordEvent()?;
    let raw_call = || {
        // SAFETY: event and stream are live.
        assert_eq!(unsafe { function(handle, raw) }, 0);
        Ok(())
    };
    report("event record", compare(stream, raw_call, || event.record(stream))?);
    Ok(())
}

fn launch(device: &Device, stream: &Stream) -> Result<()> {
    let one = device.upload_tensor(&[1.0_f32; 16], [16])?;
    let mut sum = device.zeros::<f32>([16])?;
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut sum, &one))?;
    let (handle, raw): (sys::aclmdlRI, _) = (graph.as_raw(), stream.as_raw());
    let function = device.acl().table().aclmdlRIExecuteAsync()?;
    let raw_call = || {
        // SAFETY: graph and stream are live, and this thread alone launches.
        assert_eq!(unsafe { function(handle, raw) }, 0);
        Ok(())
    };
    report("graph launch", compare(stream, raw_call, || graph.launch(stream))?);
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

/// Order between two streams, with an event that is kept against one that is made and destroyed.
fn fork(device: &Device, stream: &Stream) -> Result<()> {
    let other = device.stream()?;
    let table = device.acl().table();
    let (create, destroy) = (table.aclrtCreateEventExWithFlag()?, table.aclrtDestroyEvent()?);
    let (record, wait) = (table.aclrtRecordEvent()?, table.aclrtStreamWaitEvent()?);
    let (from, to) = (stream.as_raw(), other.as_raw());
    let raw_call = || {
        let mut event = std::ptr::null_mut();
        // SAFETY: a place for one handle.
        assert_eq!(unsafe { create(&raw mut event, sys::ACL_EVENT_SYNC) }, 0);
        // SAFETY: live handles.
        assert_eq!(unsafe { record(event, from) }, 0);
        // SAFETY: live handles.
        assert_eq!(unsafe { wait(to, event) }, 0);
        // SAFETY: the event is this function's own.
        assert_eq!(unsafe { destroy(event) }, 0);
        Ok(())
    };
    let (raw, safe) = compare(stream, raw_call, || stream.fork(&other))?;
    println!("fork with an event made and destroyed, raw\t{raw:.1}\tns\tnone\tmet");
    println!("fork with an event that is kept, safe\t{safe:.1}\tns\tnone\tmet");
    other.synchronize()
}

/// What the order between streams that use the same memory costs where one stream alone does: a fill in a context that
/// keeps it, over one that does not.
fn tracked(device: &Device) -> Result<()> {
    let [mut on, mut off] = [Vec::new(), Vec::new()];
    let contexts = [device.context().create_context()?, device.context().create_context()?];
    contexts[1].set_tracking(false);
    let streams = [contexts[0].stream()?, contexts[1].stream()?];
    let mut buffers = [contexts[0].alloc::<u8>(64)?, contexts[1].alloc::<u8>(64)?];
    for _ in 0..ROUNDS {
        for (index, times) in [&mut on, &mut off].into_iter().enumerate() {
            // Makes the context current.
            streams[index].fill_bytes(&mut buffers[index], 0)?;
            times.push(time(&mut || streams[index].fill_bytes(&mut buffers[index], 0))?);
            streams[index].synchronize()?;
        }
    }
    [&mut on, &mut off].into_iter().for_each(|times| times.sort_by(f64::total_cmp));
    let over = on[ROUNDS / 2] - off[ROUNDS / 2];
    let met = if over <= 10.0 { "met" } else { "missed" };
    println!("fill of 64 bytes, order between streams\t{over:.1}\tns more\tat most 10\t{met}");
    Ok(())
}

fn main() -> Result<()> {
    let acl = Acl::mock()?;
    println!("# {acl}; median of {ROUNDS} rounds of {CALLS} calls");
    let device = acl.device(0)?;
    let stream = device.stream()?;
    memset(&device, &stream)?;
    record(&device, &stream)?;
    launch(&device, &stream)?;
    verified(&device, &stream)?;
    tracked(&device)?;
    fork(&device, &stream)
}
