//! What awaiting work costs beside the work itself, on the mock, and what a million futures leave behind.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Times are medians of rounds in which
//! both ways take turns. Fails when a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use std::pin::{Pin, pin};
use std::process::ExitCode;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

use racl::{Acl, DeviceBuffer, Finished, Result, Stream};

#[path = "resident/mod.rs"]
mod resident;
use resident::resident;

const ROUNDS: usize = 101;
/// Fewer than a stream's queue takes, with an event each.
const BATCH: usize = 400;
const MANY: usize = 1_000_000;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(work: impl Future<Output = T>, waker: &Waker) -> T {
    let mut work = pin!(work);
    loop {
        match work.as_mut().poll(&mut Context::from_waker(waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => thread::park(),
        }
    }
}

struct Bench {
    stream: Stream,
    buffer: DeviceBuffer<u8>,
    waker: Waker,
    missed: bool,
}

impl Bench {
    fn report(&mut self, name: &str, (value, unit): (f64, &str), most: f64) {
        let met = value <= most;
        self.missed |= !met;
        println!("{name}\t{value:.2}\t{unit}\tat most {most}\t{}", if met { "met" } else { "missed" });
    }

    /// Nanoseconds that `way` takes more than `plain`, by each of `parts`.
    fn compare(
        &mut self,
        parts: usize,
        mut plain: impl FnMut(&mut Self) -> Result<()>,
        mut way: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<f64> {
        let (mut plains, mut ways) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let start = Instant::now();
            plain(self)?;
            plains.push(start.elapsed());
            let start = Instant::now();
            way(self)?;
            ways.push(start.elapsed());
        }
        plains.sort();
        ways.sort();
        Ok((ways[ROUNDS / 2].as_nanos() as f64 - plains[ROUNDS / 2].as_nanos() as f64) / parts as f64)
    }

    fn fill(&mut self) -> Result<()> {
        self.stream.fill_bytes(&mut self.buffer, 1)
    }

    /// Nothing else runs meanwhile: what is measured is how long two threads take to wake each other.
    fn one_by_one(&mut self) -> Result<()> {
        let synchronised = |bench: &mut Self| {
            (0..BATCH).try_for_each(|_| {
                bench.fill()?;
                bench.stream.synchronize()
            })
        };
        let over = self.compare(BATCH, synchronised, |bench| {
            (0..BATCH).try_for_each(|_| {
                bench.fill()?;
                block_on(bench.stream.finished(), &bench.waker)
            })
        })?;
        println!("a future alone, a hand-over between threads, over a synchronisation\t{over:.2}\tns\tnone\tmet");
        Ok(())
    }

    /// All at once, as tasks of an executor await theirs.
    fn many(&mut self, await_each: bool) -> Result<()> {
        let mut all: Vec<Finished> = Vec::with_capacity(BATCH);
        for _ in 0..BATCH {
            self.fill()?;
            if await_each {
                all.push(self.stream.finished());
            }
        }
        if !await_each {
            return self.stream.synchronize();
        }
        let mut task = Context::from_waker(&self.waker);
        let mut open: Vec<_> = all.iter_mut().map(Pin::new).collect();
        loop {
            let mut ended = Ok(());
            open.retain_mut(|one| match one.as_mut().poll(&mut task) {
                Poll::Ready(Err(error)) => {
                    ended = Err(error);
                    false
                }
                polled => polled.is_pending(),
            });
            if ended.is_err() || open.is_empty() {
                return ended;
            }
            thread::park();
        }
    }

    fn waiting(&mut self) -> Result<()> {
        let over = self.compare(BATCH, |bench| bench.many(false), |bench| bench.many(true))?;
        self.report("one of many futures, over the work", (over, "ns"), 1000.0);
        Ok(())
    }

    fn a_million(&mut self) -> Result<()> {
        let rounds = MANY / (2 * BATCH);
        let mut before = 0.0;
        for round in 0..rounds {
            if round == rounds / 100 {
                before = resident();
            }
            self.many(true)?;
            for _ in 0..BATCH {
                self.fill()?;
                block_on(self.stream.finished(), &self.waker)?;
            }
        }
        self.report("resident memory after a million futures", (resident() - before, "MiB"), 1.0);
        Ok(())
    }
}

fn main() -> Result<ExitCode> {
    let acl = Acl::mock()?;
    println!("# {acl}; median of {ROUNDS} rounds of {BATCH} futures");
    let device = acl.device(0)?;
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut bench = Bench { stream: device.stream()?, buffer: device.alloc::<u8>(64)?, waker, missed: false };
    bench.one_by_one()?;
    bench.waiting()?;
    bench.a_million()?;
    Ok(if bench.missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
