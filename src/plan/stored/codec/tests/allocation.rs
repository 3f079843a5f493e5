//! How much memory reading takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use fastrand::Rng;

use crate::plan::stored::codec::{decode, encode};

use super::{content, generate, mutate, sealed};

/// Counts the bytes that each thread has and had at most.
struct Counting;

thread_local! {
    static HAS: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // Neither is there any more while a thread ends.
    let _ = HAS.try_with(|has| {
        has.set(has.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(has.get())));
    });
}

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the rules of this call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller keeps the rules of this call.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The most bytes that `work` had at once.
fn most(work: impl FnOnce()) -> usize {
    let before = HAS.get();
    MOST.set(before);
    work();
    (MOST.get() - before) as usize
}

/// Bytes that reading takes for each byte of a file, and beside them.
const EACH: usize = 64;
const BESIDE: usize = 16 << 10;

fn check(file: &[u8]) {
    let took = most(|| drop(decode(file)));
    assert!(took <= EACH * file.len() + BESIDE, "{took} bytes for {}", file.len());
}

#[test]
fn reading_takes_a_small_multiple_of_the_file() {
    let plans = [generate::plan(1, 3), generate::plan(2, 40), generate::plan(3, 1000)];
    let files: Vec<_> = plans.iter().map(|plan| encode(&plan.0.recipe, plan.lints())).collect();
    files.iter().for_each(|file| check(file));
    let mut random = Rng::with_seed(4);
    for _ in 0..5_000 {
        let mut changed = content(&files[random.usize(..2)]).to_vec();
        mutate::bytes(&mut random, &mut changed, content(&files[0]));
        check(&sealed(&changed));
    }
}

#[test]
fn counts_of_the_densest_entries_take_no_more() {
    for (before, entry) in [
        // Events without a name.
        (&[0, 1, 0, 0][..], &[0][..]),
        // Empty names of gates.
        (&[0, 1, 0, 0, 0], &[0]),
        // Empty layouts.
        (&[0, 1, 0, 0, 0, 0, 0], &[0, 0, 0]),
    ] {
        for (said, is) in [(60_000_u32, 60_000), (60_000, 10), (u32::MAX, 60_000)] {
            let mut content = before.to_vec();
            content.extend(postcard::to_allocvec(&said).unwrap());
            (0..is).for_each(|_| content.extend(entry));
            content.extend([0; 20]);
            check(&sealed(&content));
        }
    }
}
