//! Properties for many seeds, on several threads.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// The seed that the environment asks for: it is run alone.
pub(crate) fn alone() -> Option<u64> {
    std::env::var("RACL_PLAN_SEED").ok().map(|seed| seed.parse().expect("RACL_PLAN_SEED is a number"))
}

/// Runs `property` for each seed, and says which one failed.
pub(crate) fn for_seeds(seeds: Range<u64>, property: impl Fn(u64) + Sync) {
    let seeds = alone().map_or(seeds, |seed| seed..seed + 1);
    let (next, property) = (AtomicU64::new(seeds.start), &property);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| property(seed))) {
                next.store(seeds.end, Ordering::Relaxed);
                let text = panic.downcast_ref::<String>().map_or("", |text| text);
                panic!("the plan of seed {seed} fails; RACL_PLAN_SEED={seed} runs it alone: {text}");
            }
        }
    };
    let threads = thread::available_parallelism().map_or(2, |count| count.get().min(4));
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        all.into_iter().for_each(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic)));
    });
}
