//! Sixteen threads on two devices that do everything at once, for `RACL_ENDURANCE_SECONDS`, or as many rounds as
//! `RACL_ENDURANCE_ROUNDS` says, else for a few. What each brings back is known; nothing is left at the end. One test,
//! because it sets the number of devices for its process.

mod common;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use common::{compiled_kernels, device_at, mock};
use racl::collective::{Communicator, Reduction, RootInfo};
use racl::op::DataType::F32;
use racl::plan::{Frozen, Input, Mode, Plan, RunOptions, Scope};
use racl::{CaptureMode, Device, Refused, Result, Stream, op};
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

/// The rounds of one thread.
fn rounds() -> impl Iterator<Item = u64> + Send {
    fn asked(variable: &str) -> Option<u64> {
        std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
    }
    static UNTIL: OnceLock<Option<Instant>> = OnceLock::new();
    let until = *UNTIL
        .get_or_init(|| asked("RACL_ENDURANCE_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds)));
    let most = asked("RACL_ENDURANCE_ROUNDS").unwrap_or(if until.is_some() { u64::MAX } else { 40 });
    (0..most).take_while(move |round| *round == 0 || until.is_none_or(|until| Instant::now() < until))
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
    for round in rounds() {
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
    for turn in rounds().step_by(8) {
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

/// A graph whose operator is updated in front of each launch, to memory that is new each time.
fn updated(device: &Device, thread: usize, sums: &mut Sums) -> Result<()> {
    let (stream, one) = (device.stream()?, device.upload_tensor(&[1.0_f32; WIDTH], [WIDTH])?);
    let (mut out, mut group) = (device.zeros::<f32>([WIDTH])?, None);
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| {
        group = Some(s.task_group(|s| op::add(s, &one, &one, &mut out))?);
        Ok(())
    })?;
    let group = group.expect("the capture made it");
    for round in rounds() {
        let number = number(thread, round);
        let x = device.upload_tensor(&[number; WIDTH], [WIDTH])?;
        graph.update(&group, |s| op::add(s, &x, &one, &mut out))?;
        drop(x);
        graph.launch(&stream)?;
        sums.found += total(&out.to_vec()?);
        sums.expected += (number as u64 + 1) * WIDTH as u64;
    }
    Ok(())
}

/// Runs of a model that are awaited, behind an event which another process could record.
fn modelled(device: &Device, thread: usize, sums: &mut Sums) -> Result<()> {
    let file = mock::ModelFile::new().input::<f32>("x", &[WIDTH as i64]).output::<f32>("y", &[WIDTH as i64]);
    let file = file.operator("twice", "Muls", &["x"], "y").float("value", 2.0);
    let runtime: Runtime = Builder::new_current_thread().build().expect("a runtime starts");
    let (stream, far, model) =
        (device.stream()?, device.stream()?, device.context().load_model_bytes(file.bytes()?)?);
    let event = device.context().ipc_event()?;
    for round in rounds() {
        let one = number(thread, round);
        let (x, mut y) = (device.upload_tensor(&[one; WIDTH], [WIDTH])?, device.zeros::<f32>([WIDTH])?);
        event.record(&far)?;
        stream.wait_ipc(&event)?;
        let run = model.run().input("x", &x)?.output("y", &mut y)?;
        runtime.block_on(run.submit_async(&stream)?)?;
        drop(x);
        sums.found += total(&y.to_vec()?);
        sums.expected += 2 * one as u64 * WIDTH as u64;
    }
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
    for round in rounds() {
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
    let streams = [device.stream()?, device.stream()?];
    let found = runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for task in 0..4 {
            tasks.spawn(copies(device.clone(), streams[task % 2].clone(), other.clone(), thread + task));
        }
        tasks.join_all().await
    });
    for done in found {
        let Sums { found, expected } = done?;
        sums.found += found;
        sums.expected += expected;
    }
    Ok(())
}

/// Numbers that come to the device, through memory of the other one: nothing but the event orders the two.
async fn copies(device: Device, stream: Stream, other: Device, task: usize) -> Result<Sums> {
    let (mut sums, far, event) = (Sums::default(), other.stream()?, other.event()?);
    for round in rounds() {
        let one = number(task, round);
        let mut there = other.alloc_zeroed::<f32>(WIDTH)?;
        let mut buffer = device.alloc::<f32>(WIDTH)?;
        let sent = far.upload(other.pinned_from(&[one; WIDTH])?, &mut there).map_err(Refused::into_error)?;
        event.record(&far)?;
        let came = racl::untracked(|| {
            stream.wait(&event)?;
            stream.copy_peer(&there, &mut buffer)?;
            stream.download(&buffer, device.pinned(WIDTH)?).map_err(Refused::into_error)
        })?;
        drop((there, buffer));
        stream.finished().await?;
        sums.found += total(&came.await?);
        sums.expected += one as u64 * WIDTH as u64;
        sent.await?;
    }
    Ok(sums)
}

/// A kernel of the program's own, on memory that is new each time.
fn launched(device: &Device, thread: usize, sums: &mut Sums) -> Result<()> {
    let (stream, kernel) =
        // SAFETY: kernels of this repository, or no kernels at all.
        (device.stream()?, unsafe { device.context().load_kernels(compiled_kernels("sample")) }?.kernel("add")?);
    for round in rounds() {
        let one = number(thread, round);
        let (a, b) = (device.upload(&[one; WIDTH])?, device.upload(&[1.0_f32; WIDTH])?);
        let mut out = device.alloc::<f32>(WIDTH)?;
        let launch = kernel.launch(&stream).blocks(3).arg(&a).arg(&b).arg(&mut out).arg(WIDTH as u64);
        // SAFETY: the parameters of `add`; both operands have as many elements as the result.
        unsafe { launch.submit() }?;
        drop((a, b));
        sums.found += total(&out.to_vec()?);
        sums.expected += (one as u64 + 1) * WIDTH as u64;
    }
    Ok(())
}

/// One of two ranks, whose partner is another thread on the other device. Both go on as long as both want to.
fn collective(device: &Device, root: &RootInfo, thread: usize, sums: &mut Sums) -> Result<()> {
    let ranks = Communicator::new(device.context(), root, (thread % 2) as u32, 2)?;
    let stream = device.stream()?;
    let mut wanted = rounds();
    for round in 0.. {
        let wish = f32::from(u8::from(wanted.next().is_some()));
        // The last element is the wish; the others are equal on both ranks.
        let mut numbers = [number(thread / 2, round); WIDTH];
        numbers[WIDTH - 1] = wish;
        let mut buffer = device.upload(&numbers)?;
        ranks.all_reduce_in_place(&stream, &mut buffer, Reduction::Sum)?;
        let both = buffer.to_vec()?;
        if both[WIDTH - 1] < 2.0 {
            break;
        }
        sums.found += total(&both);
        sums.expected += 2 * (numbers[0] as u64 * (WIDTH as u64 - 1) + 1);
    }
    ranks.close().map_err(Refused::into_error)
}

fn work(devices: &[Device; 2], root: &RootInfo, thread: usize) -> Result<Sums> {
    let (own, other) = (&devices[thread % 2], &devices[(thread + 1) % 2]);
    let mut sums = Sums::default();
    match thread / 2 {
        // Its files are the mock's.
        1 if common::is_mock() => modelled(own, thread, &mut sums)?,
        0 | 1 => eager(own, thread, &mut sums)?,
        2 => captured(own, thread, &mut sums)?,
        3 => updated(own, thread, &mut sums)?,
        4 => planned(own, thread, &mut sums)?,
        5 => launched(own, thread, &mut sums)?,
        6 => collective(own, root, thread, &mut sums)?,
        _ => awaited(own, other, thread, &mut sums)?,
    }
    Ok(sums)
}

#[test]
fn sixteen_threads_on_two_devices() {
    // SAFETY: the only test of this binary, and nothing else reads the environment while it is set.
    unsafe { std::env::set_var("MOCK_ACL_DEVICES", "2") };
    let before = common::is_mock().then(mock::live_handles);
    let devices = [device_at(0), device_at(1)];
    devices[0].enable_peer_access(&devices[1]).unwrap();
    devices[1].enable_peer_access(&devices[0]).unwrap();
    let root = RootInfo::new(devices[0].context()).unwrap();
    thread::scope(|scope| {
        let (of, root) = (&devices, &root);
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || work(of, root, thread))).collect();
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
    assert_eq!(common::is_mock().then(mock::live_handles), before, "of every kind");
}
