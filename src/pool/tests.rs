use std::collections::BTreeMap;

use super::*;

fn here() -> &'static Location<'static> {
    Location::caller()
}

fn request(bytes: usize) -> Request {
    Request::new(bytes).unwrap()
}

/// Takes a block, from a new segment where there is none.
fn take(pool: &mut Pool, bytes: usize, next: &mut usize) -> Taken {
    let request = request(bytes);
    pool.take(request, here()).unwrap_or_else(|| {
        let segment = request.segment();
        pool.add_segment(request, *next, segment);
        // A gap, so that segments never touch.
        *next += segment + 4096;
        pool.take(request, here()).expect("a segment has room for what it was made for")
    })
}

/// That blocks lie in their segments without gaps, in order, that no two free ones touch, and that the figures count
/// them.
fn check(pool: &Pool) {
    let (mut reserved, mut active, mut allocated, mut waiting) = (0, 0, 0, 0);
    for segment in pool.segments.iter().filter(|segment| segment.bytes > 0) {
        let (mut at, mut before, mut id) = (segment.address, NONE, segment.first);
        let mut was_free = false;
        while let Some(block) = pool.blocks.all.get(id as usize) {
            assert_eq!((block.address, block.before), (at, before));
            assert!((block.address - segment.address).is_multiple_of(512) && block.bytes > 0);
            let is_free = block.state == State::Free;
            assert!(!(is_free && was_free), "free neighbours merge");
            match block.state {
                State::Free => {}
                State::Held => (active, allocated) = (active + block.bytes, allocated + block.asked),
                State::Waiting | State::Ready => (active, waiting) = (active + block.bytes, waiting + block.bytes),
                State::Vacant => panic!("a block that is gone in a segment"),
            }
            was_free = is_free;
            at += block.bytes;
            (before, id) = (id, block.after);
        }
        assert_eq!(at, segment.address + segment.bytes);
        reserved += segment.bytes;
    }
    let figures = &pool.figures;
    assert_eq!(
        (figures.reserved.now, figures.active.now, figures.allocated.now, figures.waiting()),
        (reserved, active, allocated, waiting)
    );
    assert_eq!(figures.cached(), reserved - active);
    assert_eq!(figures.small.active + figures.large.active, active);
}

#[test]
fn a_block_is_cut_from_a_segment_and_merges_with_it_again() {
    let (mut pool, mut next) = (Pool::default(), 1 << 30);
    let taken: Vec<_> = (0..3).map(|_| take(&mut pool, 1000, &mut next)).collect();
    assert_eq!(taken[1].address - taken[0].address, 1536); // 1000 and 32, in units of 512
    for index in [0, 2, 1] {
        pool.give(taken[index].id);
        check(&pool);
    }
    assert_eq!(pool.blocks.all.iter().filter(|block| block.state == State::Free).count(), 1);
    assert_eq!(pool.take_segments(0), [(1 << 30, (2 << 20) - 512)]);
    check(&pool);
    assert_eq!(pool.figures.reserved.now, 0);
}

#[test]
fn the_best_of_the_class_is_taken() {
    let (mut pool, mut next) = (Pool::default(), 1 << 30);
    // Sizes of one class, 20,480 to 21,503 bytes, kept apart by blocks that stay.
    let sizes = [21_000, 20_470, 20_900];
    let held: Vec<_> = sizes.map(|bytes| (take(&mut pool, bytes, &mut next), take(&mut pool, 1, &mut next))).into();
    held.iter().for_each(|(block, _)| pool.give(block.id));
    assert_eq!(take(&mut pool, 20_900, &mut next).address, held[2].0.address);
    assert_eq!(take(&mut pool, 20_400, &mut next).address, held[1].0.address);
    check(&pool);
}

#[test]
fn small_and_large_blocks_do_not_share_segments() {
    let (mut pool, mut next) = (Pool::default(), 1 << 30);
    let large = take(&mut pool, 2 << 20, &mut next);
    let small = take(&mut pool, 64, &mut next);
    assert_eq!((pool.figures.small.segments, pool.figures.large.segments), (1, 1));
    pool.give(large.id);
    pool.give(small.id);
    assert_eq!((pool.figures.small.cached(), pool.figures.large.cached()), ((2 << 20) - 512, (20 << 20) - 512));
}

#[test]
fn a_block_that_a_stream_uses_is_for_that_stream_until_it_is_done() {
    let (mut pool, mut next, mut ready) = (Pool::default(), 1 << 30, Ready::default());
    let block = take(&mut pool, 5000, &mut next);
    pool.give_up(block.id);
    let known = pool.ready(&mut ready, block.id, 7);
    check(&pool);
    assert_ne!(take(&mut pool, 5000, &mut next).address, block.address);
    // A part of it for the stream; the rest stays ready.
    let again = pool.take_ready(&mut ready, request(1000), here()).unwrap();
    assert_eq!((again.taken.address, again.number), (block.address, 7));
    let rest = pool.ready(&mut ready, again.rest.unwrap(), 7);
    assert!(!pool.is_ready(known) && pool.is_ready(rest));
    check(&pool);
    // What knew the whole block does nothing, and the work that used it is done.
    pool.rest_ready(&mut ready, known);
    pool.rest_ready(&mut ready, rest);
    check(&pool);
    assert!(pool.take_ready(&mut ready, request(1000), here()).is_none());
    pool.give(again.taken.id);
    check(&pool);
}

#[test]
fn whatever_happens_blocks_never_overlap_and_merge_in_the_end() {
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut pool, mut next) = (Pool::default(), 1 << 30);
        let mut ready = [(); 3].map(|()| Ready::default());
        let mut held: Vec<(Taken, usize)> = Vec::new();
        let mut waiting: Vec<(usize, Known)> = Vec::new();
        for _ in 0..600 {
            let power = random.usize(1..24);
            let bytes = 1 + random.usize(..1 << power);
            let stream = random.usize(..3);
            match random.u32(..10) {
                0..=3 => held.push((take(&mut pool, bytes, &mut next), bytes)),
                4 => {
                    let Some(again) = pool.take_ready(&mut ready[stream], request(bytes), here()) else { continue };
                    held.push((again.taken, bytes));
                    let rest = again.rest.map(|rest| (stream, pool.ready(&mut ready[stream], rest, 0)));
                    waiting.extend(rest);
                }
                5 | 6 if !held.is_empty() => pool.give(held.swap_remove(random.usize(..held.len())).0.id),
                7 if !held.is_empty() => {
                    let (block, _) = held.swap_remove(random.usize(..held.len()));
                    pool.give_up(block.id);
                    waiting.push((stream, pool.ready(&mut ready[stream], block.id, 0)));
                }
                8 if !waiting.is_empty() => {
                    let (stream, known) = waiting.swap_remove(random.usize(..waiting.len()));
                    pool.rest_ready(&mut ready[stream], known);
                }
                _ => drop(pool.take_segments(random.usize(..100 << 20))),
            }
            let by_address: BTreeMap<_, _> = held.iter().map(|(block, bytes)| (block.address, *bytes)).collect();
            assert_eq!(by_address.len(), held.len(), "seed {seed}: a block was given out twice");
            // Each with the tail that operators read.
            let ends = by_address.iter().map(|(at, bytes)| at + bytes.next_multiple_of(32) + 32);
            assert!(ends.zip(by_address.keys().skip(1)).all(|(end, next)| end <= *next), "seed {seed}: overlap");
        }
        check(&pool);
        held.iter().for_each(|(block, _)| pool.give(block.id));
        for (stream, known) in waiting {
            pool.rest_ready(&mut ready[stream], known);
        }
        check(&pool);
        let segments = pool.segments.iter().filter(|segment| segment.bytes > 0).count();
        assert_eq!(pool.take_segments(0).len(), segments, "seed {seed}: a segment is not whole again");
        assert_eq!((pool.figures.reserved.now, pool.figures.active.now), (0, 0));
    }
}
