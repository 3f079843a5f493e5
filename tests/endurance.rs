//! Sixteen threads on two devices that do everything at once, for as many rounds as `RACL_ENDURANCE_ROUNDS` says, else
//! for a few. What each brings back is known; nothing is left at the end. One test, because it sets the number of
//! devices for its process.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use common::{device_at, mock};
use racl::op::DataType::F32;
use racl::plan::{Frozen, Input, Mode, Plan, RunOptions, Scope};
use racl::{CaptureMode, Device, Event, Refused, Result, Stream, op};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

const THREADS: usize = 16;
const WIDTH: usize = 64;

/// What a thread brings back: what it found and what it should have found.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sums {
    found: u64,
    expected: u64,
}

fn rounds() -> u64 {
    std::env::var("RACL_ENDURANCE_ROUNDS").map_or(40, |text| text.parse().expect("a number of rounds"))
}

fn total(numbers: &[f32]) -> u64 {
    numbers.iter().map(|number| *number as u64).sum()
}

/// Small whole numbers, so that floats hold each sum.
fn number(thread: usize, round: u64) -> f32 {
    ((thread as u64 * 7 + round) % 50) as f32
}

/// Operators on a stream; their operands are dropped while they are used.
fn eager(device: &Device, thread: usize, sums: &mut Sums) -> Result<()> {
    let (stream, side) = (device.stream()?, device.stream()?);
    for round in 0..rounds() {
        let one = number(thread, round);
        let x = device.upload_tensor(&[one; WIDTH], [WIDTH])?;
        let (mut twice, mut more) = (device.empty::<f32>([WIDTH])?, device.empty::<f32>([WIDTH])?);
        op::add(&stream, &x, &x, &mut twice)?;
        stream.fork(&side)?;
        op::add(&side, &twice, &x, &mut more)?;
        drop((x, twice));
        stream.join(&side)?;
        sums.found += total(&more.to_vec()?);
        sums.expected += 3 * one as u64 * WIDTH as u64;
    }
    Ok(())
}

/// A graph with a side stream and a host function, captured anew every few rounds.
fn captured(device: &Device, thread: usize, sums: &mut Sums) -> Result<()> {
    let (stream, calls) = (device.stream()?, Arc::new(AtomicU64::new(0)));
    let mut x = device.zeros::<f32>([WIDTH])?;
    let mut launched = 0;
    for turn in 0..rounds().div_ceil(8) {
        let one = number(thread, turn);
        let step = device.upload_tensor(&[one; WIDTH], [WIDTH])?;
        let mut next = device.empty::<f32>([WIDTH])?;
        let count = Arc::clone(&calls);
        let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| {
            let side = s.side("side")?;
            s.fork(&side)?;
            op::add(&side, &x, &step, &mut next)?;
            s.join(&side)?;
            s.host_function(move || {
                count.fetch_add(1, Ordering::Relaxed);
            })?;
            op::aclnn::inplace_copy(s, &mut x, &next)
        })?;
        for _ in 0..8 {
            graph.launch(&stream)?;
            launched += 1;
        }
        // The graph ends while it runs.
        drop(graph);
        sums.expected += 8 * one as u64 * WIDTH as u64;
    }
    sums.found += total(&x.to_vec()?);
    stream.synchronize()?;
    assert_eq!(calls.load(Ordering::Relaxed), launched);
    Ok(())
}

/// A plan on two streams, run in both ways with memory that moves.
fn planned(device: &Device, thread: usize, sums: &mut Sums) -> Result<()> {
    let plan = Plan::build(|g| {
        let x = g.input("x", [WIDTH], F32, Input::Copied)?;
        let a = g.muls(x, 2.0)?;
        let b = g.scope_with("side", Scope::new(), |g| g.adds(x, 1.0))?;
        g.join("side")?;
        let y = g.add(a, b)?;
        g.output("y", y)
    })?;
    let stream = device.stream()?;
    let modes = [Mode::Eager, Mode::Captured];
    let made = modes.map(|mode| plan.executable(device, &RunOptions::new().mode(mode), Frozen::new()));
    let mut executables = made.into_iter().collect::<Result<Vec<_>>>()?;
    for round in 0..rounds() {
        let one = number(thread, round);
        let executable = &mut executables[(round % 2) as usize];
        let x = device.upload_tensor(&[one; WIDTH], [WIDTH])?;
        let mut bind = executable.bindings();
        bind.set(executable.input("x")?, &x);
        executable.run(&stream, &mut bind)?;
        let y = executable.output::<f32>(executable.output_id("y")?)?.to_vec()?;
        sums.found += total(&y);
        sums.expected += (3 * one as u64 + 1) * WIDTH as u64;
    }
    Ok(())
}

/// Futures of a runtime, with work that waits for that of the other device.
fn awaited(device: &Device, other: &Device, thread: usize, sums: &mut Sums) -> Result<()> {
    let runtime: Runtime = Builder::new_multi_thread().worker_threads(2).build().expect("a runtime starts");
    let event = Arc::new(other.event()?);
    let behind = other.stream()?;
    let streams = [device.stream()?, device.stream()?];
    let found = runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for task in 0..4 {
            let (stream, behind) = (streams[task % 2].clone(), behind.clone());
            tasks.spawn(copies(device.clone(), stream, behind, Arc::clone(&event), thread + task));
        }
        tasks.join_all().await
    });
    sums.found += found.into_iter().sum::<Result<u64>>()?;
    let all = (0..4).flat_map(|task| (0..rounds()).map(move |round| number(thread + task, round) as u64));
    sums.expected += all.sum::<u64>() * WIDTH as u64;
    Ok(())
}

async fn copies(device: Device, stream: Stream, behind: Stream, event: Arc<Event>, task: usize) -> Result<u64> {
    let mut sum = 0;
    for round in 0..rounds() {
        let mut buffer = device.alloc::<f32>(WIDTH)?;
        let sent = stream.upload(device.pinned_from(&[number(task, round); WIDTH])?, &mut buffer);
        let pinned = sent.map_err(Refused::into_error)?.await?;
        event.record(&behind)?;
        stream.wait(&event)?;
        let came = stream.download(&buffer, pinned).map_err(Refused::into_error)?;
        drop(buffer);
        stream.finished().await?;
        sum += total(&came.await?);
    }
    Ok(sum)
}

fn work(devices: &[Device; 2], thread: usize) -> Result<Sums> {
    let (own, other) = (&devices[thread % 2], &devices[(thread + 1) % 2]);
    let mut sums = Sums::default();
    match thread / 2 % 4 {
        0 => eager(own, thread, &mut sums)?,
        1 => captured(own, thread, &mut sums)?,
        2 => planned(own, thread, &mut sums)?,
        _ => awaited(own, other, thread, &mut sums)?,
    }
    Ok(sums)
}

#[test]
fn sixteen_threads_on_two_devices() {
    // SAFETY: the only test of this binary, and nothing else reads the environment while it is set.
    unsafe { std::env::set_var("MOCK_ACL_DEVICES", "2") };
    let devices = [device_at(0), device_at(1)];
    thread::scope(|scope| {
        let of = &devices;
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || work(of, thread))).collect();
        for (thread, done) in threads.into_iter().enumerate() {
            let sums = done.join().unwrap().unwrap_or_else(|error| panic!("thread {thread}: {error:#}"));
            assert_eq!(sums.found, sums.expected, "thread {thread}");
            assert!(sums.expected > 0);
        }
    });
    for device in devices {
        device.synchronize().unwrap();
        assert!(device.context().take_drop_errors().is_empty());
        device.close().unwrap();
    }
    if common::is_mock() {
        let live = mock::live_handles();
        let objects = [live.contexts, live.streams, live.events, live.graphs, live.tensors, live.executors];
        let memory = [live.device_allocations, live.pinned_allocations];
        assert_eq!((objects, memory), ([0; 6], [0; 2]), "{live:?}");
    }
}
