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

/// A range for blocks like those of `bytes` bytes.
fn add_range(pool: &mut Pool, bytes: usize, next: &mut usize) {
    pool.add_range(request(bytes), *next, 4 << 30, STEP);
    *next += 5 << 30;
}

const STEP: usize = 2 << 20;

/// Takes a block, for which a range grows where there is none. `maps` says how many chunks there is memory for.
fn take_growing(pool: &mut Pool, bytes: usize, maps: usize) -> Option<Taken> {
    let request = request(bytes);
    if let Some(taken) = pool.take(request, here()) {
        return Some(taken);
    }
    let growth = pool.plan_growth(request, false).expect("a range with a large hole");
    let handle = growth.address;
    let chunks: Vec<_> =
        growth.chunks().take(maps).map(|(address, bytes)| Chunk { address, bytes, handle }).collect();
    pool.grow(growth, &chunks, request, here())
}

/// Unmaps what is not in use, until at most `keep` bytes are there. How many chunks.
fn unmap(pool: &mut Pool, keep: usize, goes: bool) -> usize {
    let leaving = pool.take_chunks(keep);
    let count = leaving.len();
    leaving.into_iter().for_each(|leaving| pool.left(leaving, goes));
    count
}

/// That blocks lie in their segments without gaps, in order, that no two free ones touch, and that the figures count
/// them.
fn check(pool: &Pool) {
    let (mut reserved, mut active, mut allocated, mut waiting) = (0, 0, 0, 0);
    for segment in pool.segments.iter().filter(|segment| segment.bytes > 0) {
        let (mut at, mut before, mut id) = (segment.address, NONE, segment.first);
        let (mut was_free, mut was_hole, mut holes, mut lost) = (false, false, 0, 0);
        while let Some(block) = pool.blocks.all.get(id as usize) {
            assert_eq!((block.address, block.before), (at, before));
            assert!((block.address - segment.address).is_multiple_of(512) && block.bytes > 0);
            let is_free = block.state == State::Free;
            assert!(!(is_free && was_free), "free neighbours merge");
            match block.state {
                State::Free => {}
                State::Held => (active, allocated) = (active + block.bytes, allocated + block.asked),
                State::Waiting | State::Ready => (active, waiting) = (active + block.bytes, waiting + block.bytes),
                State::Hole => holes += block.bytes,
                State::Moving => lost += block.bytes,
                State::Vacant => panic!("a block that is gone in a segment"),
            }
            assert!(!(block.state == State::Hole && was_hole), "holes beside each other merge");
            was_hole = block.state == State::Hole;
            was_free = is_free;
            at += block.bytes;
            (before, id) = (id, block.after);
        }
        assert_eq!(at, segment.address + segment.bytes);
        reserved += segment.bytes - holes;
        assert_eq!(lost, 0);
    }
    for range in &pool.ranges {
        let chunks: usize = range.chunks.values().map(|chunk| chunk.bytes).sum();
        let first = pool.segments[range.segment as usize].first;
        let mut holes = range.holes.clone();
        let mut id = first;
        let mut bytes = 0;
        while let Some(block) = pool.blocks.all.get(id as usize) {
            if block.state == State::Hole {
                assert_eq!(holes.remove(&block.address), Some(id));
                assert!(block.bytes.is_multiple_of(STEP));
                assert!(range.chunks.range(block.address..block.address + block.bytes).next().is_none());
            } else {
                bytes += block.bytes;
            }
            id = block.after;
        }
        assert_eq!((holes.len(), bytes), (0, chunks), "what is no hole has memory");
    }
    let figures = &pool.figures;
    assert_eq!(
        (figures.reserved.now, figures.active.now, figures.allocated.now, figures.waiting()),
        (reserved, active, allocated, waiting)
    );
    assert_eq!(figures.cached(), reserved - active);
    assert_eq!(figures.small.active + figures.large.active, active);
}

/// Address and bytes of each segment that nothing uses; they are taken out, put back, and taken out again.
fn taken_out(pool: &mut Pool) -> Vec<(usize, usize)> {
    let reserved = pool.figures.reserved.now;
    let all = pool.take_segments(0);
    all.into_iter().for_each(|segment| pool.put_back(segment));
    check(pool);
    assert_eq!((pool.figures.reserved.now, pool.figures.device_frees), (reserved, 0));
    pool.take_segments(0).iter().map(|segment| (segment.address, segment.bytes)).collect()
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
    assert_eq!(taken_out(&mut pool), [(1 << 30, (2 << 20) - 512)]);
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
fn ready_blocks_side_by_side_become_one_with_the_latest_of_their_work() {
    let (mut pool, mut ready, mut others) = (Pool::default(), Ready::default(), Ready::default());
    pool.add_segment(request(1000), 1 << 30, (2 << 20) - 512);
    let blocks = [(); 5].map(|()| pool.take(request(1000), here()).unwrap());
    let whole = blocks[0].address;
    blocks.iter().for_each(|block| pool.give_up(block.id));
    let known = [(0, 7), (1, 9), (2, 8)].map(|(at, number)| pool.ready(&mut ready, blocks[at].id, number));
    // Of another stream, and of none.
    let foreign = pool.ready(&mut others, blocks[3].id, 5);
    let bytes = pool.blocks.all[blocks[0].id as usize].bytes;
    let (two, three) = (request(2 * bytes - 100), request(3 * bytes - 100));
    assert!(pool.take_ready(&mut ready, two, here()).is_none());
    assert!(pool.join_ready(&mut ready, known[2], two).is_none(), "the one behind it is of another stream");
    assert!(pool.join_ready(&mut ready, known[0], request(4 * bytes - 100)).is_none(), "all are too small");
    assert!(known.iter().all(|part| pool.is_ready(*part)), "and stay as they are");
    let mut looks = 1;
    assert!(!pool.is_side_by_side(&ready, known[0], two, &mut looks), "one look is not enough");
    let (joined, number, count) = pool.join_ready(&mut ready, known[0], three).unwrap();
    assert_eq!((number, count), (9, 3));
    assert!(pool.is_ready(joined) && pool.is_ready(foreign));
    assert!(!known.iter().any(|part| pool.is_ready(*part)), "what stood for a part of it");
    assert!(pool.join_ready(&mut ready, joined, three).is_none());
    let again = pool.take_ready(&mut ready, three, here()).unwrap();
    assert_eq!((again.taken.address, again.number), (whole, 9));
    let rest = again.rest.map(|rest| pool.ready(&mut ready, rest, again.number));
    pool.give(again.taken.id);
    rest.into_iter().for_each(|rest| pool.rest_ready(&mut ready, rest));
    pool.rest_ready(&mut others, foreign);
    pool.rest(blocks[4].id);
    assert_eq!(taken_out(&mut pool), [(1 << 30, (2 << 20) - 512)]);
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

#[test]
fn a_range_grows_behind_what_is_free_at_its_end() {
    let (mut pool, mut next) = (Pool::default(), 1 << 30);
    add_range(&mut pool, 20 << 20, &mut next);
    let first = take_growing(&mut pool, 20 << 20, usize::MAX).unwrap();
    // 20 MiB and the tail, in steps of 2 MiB.
    assert_eq!((pool.figures.reserved.now, first.address), (22 << 20, 1 << 30));
    check(&pool);
    pool.give(first.id);
    let larger = take_growing(&mut pool, 30 << 20, usize::MAX).unwrap();
    assert_eq!((pool.figures.reserved.now, larger.address), (32 << 20, 1 << 30));
    check(&pool);
    assert_eq!(unmap(&mut pool, 0, true), 0, "nothing of it is free but less than a chunk");
    pool.give(larger.id);
    check(&pool);
    // The first growth is of 20 MiB and of 2, the second of 10.
    assert_eq!(unmap(&mut pool, 0, true), 3);
    check(&pool);
    assert_eq!(pool.figures.reserved.now, 0);
}

#[test]
fn what_is_unmapped_between_blocks_is_mapped_again() {
    let (mut pool, mut next) = (Pool::default(), 1 << 30);
    add_range(&mut pool, 20 << 20, &mut next);
    let blocks: Vec<_> = (0..3).map(|_| take_growing(&mut pool, (20 << 20) - 512, usize::MAX).unwrap()).collect();
    assert_eq!(pool.figures.reserved.now, 60 << 20);
    pool.give(blocks[1].id);
    assert_eq!((unmap(&mut pool, 0, true), pool.figures.reserved.now), (1, 40 << 20));
    check(&pool);
    // Too large for the hole: at the end. What fits goes there.
    let large = take_growing(&mut pool, 30 << 20, usize::MAX).unwrap();
    assert_eq!(large.address, blocks[2].address + (20 << 20));
    let again = take_growing(&mut pool, (20 << 20) - 512, usize::MAX).unwrap();
    assert_eq!(again.address, blocks[1].address);
    check(&pool);
    // The hole and what is free on both sides of it hold what neither would.
    pool.give(again.id);
    unmap(&mut pool, 0, true);
    [&blocks[0], &blocks[2]].into_iter().for_each(|block| pool.give(block.id));
    let reserved = pool.figures.reserved.now;
    let across = take_growing(&mut pool, (60 << 20) - 512, usize::MAX).unwrap();
    assert_eq!((across.address, pool.figures.reserved.now), (blocks[0].address, reserved + (20 << 20)));
    check(&pool);
}

#[test]
fn a_growth_that_fails_in_the_middle_leaves_what_is_there_and_a_hole() {
    let (mut pool, mut next) = (Pool::default(), 1 << 30);
    add_range(&mut pool, 20 << 20, &mut next);
    let before = take_growing(&mut pool, 4 << 20, usize::MAX).unwrap();
    for maps in 0..3 {
        let reserved = pool.figures.reserved.now;
        assert!(take_growing(&mut pool, 100 << 20, maps).is_none());
        assert_eq!(pool.figures.reserved.now, reserved + maps * (20 << 20));
        check(&pool);
        unmap(&mut pool, 0, true);
        check(&pool);
    }
    // What cannot be unmapped is nobody's, and counts.
    let block = take_growing(&mut pool, 40 << 20, usize::MAX).unwrap();
    pool.give(block.id);
    let reserved = pool.figures.reserved.now;
    assert!(unmap(&mut pool, 0, false) > 0);
    assert_eq!(pool.figures.reserved.now, reserved);
    pool.give(before.id);
    let spent = pool.rest_all();
    assert_eq!(spent.iter().flat_map(|range| &range.chunks).map(|chunk| chunk.bytes).sum::<usize>(), reserved);
    assert_eq!((spent[0].address, pool.figures.reserved.now), (1 << 30, 0));
    check(&pool);
}

#[test]
fn whatever_happens_in_ranges_blocks_never_overlap_and_all_memory_goes() {
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut pool, mut next) = (Pool::default(), 1 << 30);
        add_range(&mut pool, 1, &mut next);
        add_range(&mut pool, 2 << 20, &mut next);
        let mut ready = Ready::default();
        let mut held: Vec<(Taken, usize)> = Vec::new();
        let mut waiting: Vec<Known> = Vec::new();
        for _ in 0..400 {
            let power = random.usize(1..26);
            let bytes = 1 + random.usize(..1 << power);
            match random.u32(..12) {
                0..=4 => {
                    let maps = if random.u32(..8) == 0 { random.usize(..2) } else { usize::MAX };
                    held.extend(take_growing(&mut pool, bytes, maps).map(|taken| (taken, bytes)));
                }
                5..=7 if !held.is_empty() => pool.give(held.swap_remove(random.usize(..held.len())).0.id),
                8 if !held.is_empty() => {
                    let (block, _) = held.swap_remove(random.usize(..held.len()));
                    pool.give_up(block.id);
                    waiting.push(pool.ready(&mut ready, block.id, 0));
                }
                9 if !waiting.is_empty() => {
                    let known = waiting.swap_remove(random.usize(..waiting.len()));
                    pool.rest_ready(&mut ready, known);
                }
                _ => {
                    unmap(&mut pool, random.usize(..100 << 20), true);
                }
            }
            check(&pool);
            let by_address: BTreeMap<_, _> = held.iter().map(|(block, bytes)| (block.address, *bytes)).collect();
            let ends = by_address.iter().map(|(at, bytes)| at + bytes.next_multiple_of(32) + 32);
            assert!(ends.zip(by_address.keys().skip(1)).all(|(end, next)| end <= *next), "seed {seed}: overlap");
            let mapped = |at: &usize| {
                pool.ranges.iter().any(|range| {
                    range.chunks.range(..=at).next_back().is_some_and(|(start, chunk)| at - start < chunk.bytes)
                })
            };
            assert!(by_address.iter().all(|(at, bytes)| mapped(at) && mapped(&(at + bytes - 1))), "seed {seed}");
        }
        held.iter().for_each(|(block, _)| pool.give(block.id));
        waiting.into_iter().for_each(|known| pool.rest_ready(&mut ready, known));
        unmap(&mut pool, 0, true);
        check(&pool);
        assert_eq!(pool.figures.reserved.now, 0, "seed {seed}: a chunk is not whole again");
    }
}
