//! Device memory from the cache of a context, on the mock: what an allocation costs, and how much of what is reserved
//! is of use, beside the policies of two other allocators, on traces.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Fails when a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use racl::{Acl, Allocator, Context, DeviceBuffer, Result, Stream, mock};

mod anchors;
mod counted;
mod traces;

use anchors::Policy;
use counted::Way;
use traces::{Step, Trace};

/// Of one size after another, so that a machine which is slow for some seconds is not slow for all of one.
const PASSES: usize = 80;
const ROUNDS: usize = 60;

/// Bytes, and how many are held.
const SIZES: [(&str, usize, usize); 4] =
    [("64 B", 64, 500), ("4 KiB", 4 << 10, 500), ("1 MiB", 1 << 20, 100), ("64 MiB", 64 << 20, 20)];

static MISSED: AtomicBool = AtomicBool::new(false);

fn report(name: &str, value: f64, unit: &str, most: Option<f64>) {
    match most {
        Some(most) => {
            let met = if value <= most { "met" } else { "missed" };
            MISSED.fetch_or(value > most, Ordering::Relaxed);
            println!("{name}\t{value:.3}\t{unit}\tat most {most:.3}\t{met}");
        }
        None => println!("{name}\t{value:.3}\t{unit}\tnone\tmet"),
    }
}

/// Of many rounds, so that other work of the machine does not count.
fn least(times: Vec<f64>) -> f64 {
    times.into_iter().fold(f64::MAX, f64::min)
}

/// Nanoseconds of an allocation, and of a free, of `bytes` bytes of which `count` are held.
fn call(context: &Context, bytes: usize, count: usize) -> Result<[f64; 2]> {
    let mut held: Vec<DeviceBuffer<u8>> = Vec::with_capacity(count);
    let (mut allocs, mut frees) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..count {
            held.push(context.alloc(black_box(bytes))?);
        }
        let alloc = start.elapsed().as_nanos() as f64 / count as f64;
        let start = Instant::now();
        held.clear();
        let free = start.elapsed().as_nanos() as f64 / count as f64;
        // The first rounds fill the cache.
        if round > 10 {
            allocs.push(alloc);
            frees.push(free);
        }
    }
    Ok([least(allocs), least(frees)])
}

/// Nanoseconds of an allocation and its free, with `count` temporaries that are held meanwhile and given up in the end.
fn queue(context: &Context, count: usize) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..(2_000_000 / count).clamp(5, 101) {
        let mut held: Vec<DeviceBuffer<u8>> = Vec::with_capacity(count);
        let start = Instant::now();
        for _ in 0..count {
            held.push(context.alloc(black_box(1000))?);
        }
        held.clear();
        times.push(start.elapsed().as_nanos() as f64 / count as f64);
    }
    Ok(least(times))
}

/// Nanoseconds of an operator's temporary on a stream that is held: taken, used and given up, `count` times, after
/// which it has to be waited for.
fn temporaries(context: &Context, count: usize) -> Result<f64> {
    let stream = context.stream()?;
    let mut times = Vec::new();
    for _ in 0..51 {
        let start = Instant::now();
        for _ in 0..count {
            let mut temporary = stream.alloc::<u8>(black_box(1000))?;
            stream.fill_bytes(&mut temporary, 0)?;
        }
        times.push(start.elapsed().as_nanos() as f64 / count as f64);
        stream.synchronize()?;
    }
    Ok(least(times))
}

/// How many streams share the temporaries: the queue of one takes some 2,000 tasks.
const STREAMS: usize = 64;

/// Nanoseconds of a temporary with its task, `count` of them on streams that are held: all of them wait in the end.
fn queued(context: &Context, count: usize) -> Result<f64> {
    let streams = (0..STREAMS).map(|_| context.stream()).collect::<Result<Vec<_>>>()?;
    let mut times = Vec::new();
    for _ in 0..(200_000 / count).clamp(5, 51) {
        streams.iter().try_for_each(mock::hold)?;
        let start = Instant::now();
        for number in 0..count {
            let mut temporary = context.alloc::<u8>(black_box(1000))?;
            streams[number % STREAMS].fill_bytes(&mut temporary, 0)?;
        }
        times.push(start.elapsed().as_nanos() as f64 / count as f64);
        streams.iter().try_for_each(mock::release)?;
        context.synchronize()?;
    }
    Ok(least(times))
}

/// A trace as a program of this crate runs it: on streams whose work is held until the trace says that the program knew
/// of its end.
struct Replay<'a> {
    context: &'a Context,
    streams: Vec<Stream>,
    held: Vec<Option<DeviceBuffer<u8>>>,
    /// On which streams work uses memory that was given up.
    waiting: Vec<Vec<usize>>,
}

impl<'a> Replay<'a> {
    fn new(context: &'a Context, trace: &Trace) -> Result<Self> {
        let streams = (0..trace.streams).map(|_| context.stream()).collect::<Result<Vec<_>>>()?;
        streams.iter().try_for_each(mock::hold)?;
        let held = (0..trace.names).map(|_| None).collect();
        Ok(Self { context, streams, held, waiting: vec![Vec::new(); trace.names] })
    }

    fn step(&mut self, step: &Step) -> Result<()> {
        match *step {
            Step::Alloc(name, bytes, None) => self.held[name] = Some(self.context.alloc(bytes)?),
            Step::Alloc(name, bytes, Some(stream)) => self.held[name] = Some(self.streams[stream].alloc(bytes)?),
            Step::GiveUp(name, ref streams) => {
                let mut buffer = self.held[name].take().expect("memory that is held");
                for stream in streams {
                    let mut first = buffer.slice_mut(..buffer.len().min(64))?;
                    self.streams[*stream].fill_bytes(&mut first, 0)?;
                }
                self.waiting[name].clone_from(streams);
            }
            Step::Free(name) => {
                self.held[name] = None;
                let waited = std::mem::take(&mut self.waiting[name]);
                if waited.is_empty() {
                    return Ok(());
                }
                // One may wait for another one, in either order.
                self.streams.iter().try_for_each(mock::release)?;
                waited.iter().try_for_each(|stream| self.streams[*stream].synchronize())?;
                self.streams.iter().try_for_each(mock::hold)?;
            }
        }
        Ok(())
    }
}

/// Reserved peak over allocated peak of this crate.
fn replay(context: &Context, trace: &Trace) -> Result<f64> {
    let mut replay = Replay::new(context, trace)?;
    trace.steps.iter().try_for_each(|step| replay.step(step))?;
    replay.streams.iter().try_for_each(mock::release)?;
    Ok(context.memory_stats().reserved.peak as f64 / trace.peak() as f64)
}

/// Instructions do not grow with how many temporaries wait. Times do, once the notes of them leave the processor's
/// caches.
fn count_temporaries() {
    // Those that are queued include the task.
    for (name, way, most) in [("held", Way::Held, 1.1), ("queued", Way::Queued, 1.1)] {
        let (Some(few), Some(many)) = (counted::count(way, 1000), counted::count(way, 100_000)) else {
            return println!("# no instructions of temporaries: they need valgrind");
        };
        report(&format!("allocator: one of 10^3 temporaries, {name}"), few, "instructions", None);
        report(&format!("allocator: one of 10^5 temporaries, {name}"), many, "instructions", Some(most * few));
    }
}

fn main() -> Result<ExitCode> {
    if counted::run()? {
        return Ok(ExitCode::SUCCESS);
    }
    let device = Acl::mock()?.device(0)?;
    let context = device.context().create_context()?;
    let mut least = [[f64::MAX; 2]; SIZES.len()];
    for _ in 0..PASSES {
        for ((_, bytes, count), [alloc, free]) in SIZES.into_iter().zip(&mut least) {
            let [taken, given] = call(&context, bytes, count)?;
            (*alloc, *free) = (alloc.min(taken), free.min(given));
        }
    }
    for ((name, ..), [alloc, free]) in SIZES.into_iter().zip(least) {
        report(&format!("allocator: {name} from the cache"), alloc, "ns", Some(60.0));
        report(&format!("allocator: {name} back to it"), free, "ns", Some(60.0));
    }
    context.trim_memory(0);
    let few = queue(&context, 1000)?;
    let many = queue(&context, 100_000)?;
    report("allocator: one of 10^3 temporaries that are held", few, "ns", None);
    report("allocator: one of 10^5 temporaries that are held", many, "ns", Some(2.0 * few));
    context.trim_memory(0);
    count_temporaries();
    let few = queued(&context, 1000)?;
    let many = queued(&context, 100_000)?;
    report("allocator: one of 10^3 queued temporaries, with its task", few, "ns", None);
    report("allocator: one of 10^5 queued temporaries, with its task", many, "ns", Some(2.0 * few));
    context.trim_memory(0);
    report("allocator: a temporary of a busy stream, with its task", temporaries(&context, 1000)?, "ns", None);
    for trace in traces::all() {
        let own = replay(&device.context().create_context()?, &trace)?;
        let [torch, rmm] = [Policy::torch(), Policy::rmm()].map(|policy| policy.replay(&trace));
        // Each block has the tail that operators read, which the others do not give.
        report(&format!("reserved over allocated: {}", trace.name), own, "x", Some(torch * 1.05));
        let context = device.context().create_context()?;
        context.set_allocator(Allocator::Growing);
        let growing = replay(&context, &trace)?;
        // RMM's has what other streams still use, too, and waits for them on the device.
        let best = if trace.streams == 0 { own.min(rmm) } else { own };
        report(
            &format!("reserved over allocated: {}, growing in place", trace.name),
            growing,
            "x",
            Some(best * 1.05),
        );
        report(&format!("reserved over allocated: {}, policy of PyTorch", trace.name), torch, "x", None);
        report(&format!("reserved over allocated: {}, policy of RMM", trace.name), rmm, "x", None);
    }
    Ok(if MISSED.load(Ordering::Relaxed) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
