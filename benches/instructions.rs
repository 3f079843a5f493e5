//! Instructions of safe calls beside those of the raw calls beneath them, counted by callgrind: the same on each run,
//! however busy the machine is.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Targets are the figures of
//! `instructions.tsv` and a thirtieth, for another compiler; `-- --write` writes that table. Needs valgrind.
#![allow(clippy::print_stdout, missing_docs)]

use std::env;
use std::hint::black_box;
use std::process::Command;

use racl::{Acl, CaptureMode, Device, Prefetch, Result, Stream, mock, op, sys};

/// Which calls a process makes: the name of a case, and `raw` or `safe`.
const CASE: &str = "RACL_COUNTED_CASE";
const WAY: &str = "RACL_COUNTED_WAY";

const ROUNDS: u64 = 8;
/// Fewer than a stream's queue takes.
const CALLS: u64 = 256;

/// Name, instructions of the raw call, and what the safe one adds.
const TABLE: &str = include_str!("instructions.tsv");

type Calls<'a> = Box<dyn FnMut() -> Result<()> + 'a>;
type Make = fn(&Device, &Stream, bool, &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()>;

const CASES: [(&str, Make); 7] = [
    ("fill of 64 bytes", fill),
    ("copy of 64 bytes on the device", copy),
    ("event record", record),
    ("wait for an event", wait),
    ("prefetch", prefetch),
    ("graph launch", launch),
    ("query of an idle stream", query),
];

/// Its instructions are counted, and those of what it calls.
#[inline(never)]
fn measured_calls(call: &mut Calls<'_>) -> Result<()> {
    for _ in 0..CALLS {
        black_box(call()?);
    }
    Ok(())
}

fn fill(device: &Device, stream: &Stream, safe: bool, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    let mut buffer = device.alloc::<u8>(64)?;
    let (address, raw) = (buffer.address(), stream.as_raw());
    let function = device.acl().table().aclrtMemsetAsync()?;
    if safe {
        return run(Box::new(|| stream.fill_bytes(&mut buffer, 0)));
    }
    run(Box::new(|| {
        // SAFETY: 64 bytes of a buffer that lives until the stream is waited for.
        assert_eq!(unsafe { function(address, 64, 0, 64, raw) }, 0);
        Ok(())
    }))
}

fn copy(device: &Device, stream: &Stream, safe: bool, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    let (from, mut to) = (device.alloc::<u8>(64)?, device.alloc::<u8>(64)?);
    let (source, target, raw) = (from.address(), to.address(), stream.as_raw());
    let function = device.acl().table().aclrtMemcpyAsync()?;
    if safe {
        return run(Box::new(|| stream.copy(&from, &mut to)));
    }
    let kind = sys::aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_DEVICE;
    run(Box::new(|| {
        // SAFETY: 64 bytes each of two buffers that live until the stream is waited for.
        assert_eq!(unsafe { function(target, 64, source, 64, kind, raw) }, 0);
        Ok(())
    }))
}

fn record(device: &Device, stream: &Stream, safe: bool, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    let event = device.event()?;
    let (handle, raw) = (event.as_raw(), stream.as_raw());
    let function = device.acl().table().aclrtRecordEvent()?;
    if safe {
        return run(Box::new(|| event.record(stream)));
    }
    run(Box::new(|| {
        // SAFETY: event and stream are live.
        assert_eq!(unsafe { function(handle, raw) }, 0);
        Ok(())
    }))
}

fn wait(device: &Device, stream: &Stream, safe: bool, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    let (event, other) = (device.event()?, device.stream()?);
    event.record(&other)?;
    let (handle, raw) = (event.as_raw(), stream.as_raw());
    let function = device.acl().table().aclrtStreamWaitEvent()?;
    if safe {
        return run(Box::new(|| stream.wait(&event)));
    }
    run(Box::new(|| {
        // SAFETY: event and stream are live.
        assert_eq!(unsafe { function(raw, handle) }, 0);
        Ok(())
    }))
}

fn prefetch(
    device: &Device,
    stream: &Stream,
    safe: bool,
    run: &mut dyn FnMut(Calls<'_>) -> Result<()>,
) -> Result<()> {
    let buffer = device.alloc::<u8>(64)?;
    let (address, raw) = (buffer.address(), stream.as_raw());
    let function = device.acl().table().aclrtCmoAsync()?;
    if safe {
        return run(Box::new(|| stream.prefetch(&buffer, Prefetch::all()).map(drop)));
    }
    let kind = sys::aclrtCmoType::ACL_RT_CMO_TYPE_PREFETCH;
    run(Box::new(|| {
        // SAFETY: 64 bytes of a buffer that lives until the stream is waited for.
        assert_eq!(unsafe { function(address, 64, kind, raw) }, 0);
        Ok(())
    }))
}

fn launch(device: &Device, stream: &Stream, safe: bool, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    let one = device.upload_tensor(&[1.0_f32; 16], [16])?;
    let mut sum = device.zeros::<f32>([16])?;
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut sum, &one))?;
    let (handle, raw) = (graph.as_raw(), stream.as_raw());
    let function = device.acl().table().aclmdlRIExecuteAsync()?;
    if safe {
        return run(Box::new(|| graph.launch(stream)));
    }
    run(Box::new(|| {
        // SAFETY: graph and stream are live, and this thread alone launches.
        assert_eq!(unsafe { function(handle, raw) }, 0);
        Ok(())
    }))
}

fn query(device: &Device, stream: &Stream, safe: bool, run: &mut dyn FnMut(Calls<'_>) -> Result<()>) -> Result<()> {
    let raw = stream.as_raw();
    let function = device.acl().table().aclrtStreamQuery()?;
    if safe {
        return run(Box::new(|| stream.is_complete().map(drop)));
    }
    run(Box::new(|| {
        let mut status = sys::aclrtStreamStatus::ACL_STREAM_STATUS_NOT_READY;
        // SAFETY: the stream is live, and `status` a place for its answer.
        assert_eq!(unsafe { function(raw, &raw mut status) }, 0);
        Ok(())
    }))
}

/// In the process that is counted.
fn make_calls(case: &str, safe: bool) -> Result<()> {
    let device = Acl::mock()?.device(0)?;
    // Nothing runs while calls are counted.
    mock::stand_still(true);
    let stream = device.stream()?;
    let (_, make) = CASES.iter().find(|(name, _)| *name == case).expect("a case of this file");
    make(&device, &stream, safe, &mut |mut call| {
        for _ in 0..16 {
            call()?;
        }
        for _ in 0..ROUNDS {
            stream.synchronize()?;
            measured_calls(&mut call)?;
        }
        stream.synchronize()
    })
}

/// Instructions a call; none without valgrind.
fn count(case: &str, way: &str) -> Option<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]);
    command.arg("--toggle-collect=*measured_calls*").arg(env::current_exe().ok()?);
    let out = command.env(CASE, case).env(WAY, way).output().ok()?;
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{case}, {way}: {text}");
    let line = text.lines().find_map(|line| line.split_once("Collected :"))?;
    let instructions: u64 = line.1.trim().parse().ok()?;
    Some(instructions / (ROUNDS * CALLS))
}

/// What the table says the safe call adds.
fn noted(case: &str) -> Option<u64> {
    let line = TABLE.lines().find_map(|line| line.strip_prefix(case)?.strip_prefix('\t'))?;
    line.split('\t').nth(1)?.parse().ok()
}

fn main() -> Result<()> {
    if let (Ok(case), Ok(way)) = (env::var(CASE), env::var(WAY)) {
        return make_calls(&case, way == "safe");
    }
    let mut table = String::from("# call\traw\tsafe over raw\n");
    for (case, _) in CASES {
        let (Some(raw), Some(safe)) = (count(case, "raw"), count(case, "safe")) else {
            println!("# no figures: they need valgrind");
            return Ok(());
        };
        let over = safe.saturating_sub(raw);
        let most = noted(case).map(|noted| noted + noted / 30 + 2);
        let met = if most.is_none_or(|most| over <= most) { "met" } else { "missed" };
        let target = most.map_or("none".to_owned(), |most| format!("at most {most}"));
        println!("{case}, raw\t{raw}\tinstructions\tnone\tmet");
        println!("{case}, safe over raw\t{over}\tinstructions\t{target}\t{met}");
        table += &format!("{case}\t{raw}\t{over}\n");
    }
    if env::args().any(|argument| argument == "--write") {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.tsv");
        std::fs::write(path, table).expect("the table can be written");
    }
    Ok(())
}
