//! The checks of races and the allocator under programs that work meanwhile.

use crate::arena::{Arena, until, until_still};
use crate::common::Over;
use crate::common::mock::{self, RaceCheck};
use racl::{Allocator, CaptureMode, ErrorKind, Event, GraphPool, Stream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// The checks go on and off under everything.
#[test]
fn checks_that_go_on_and_off() {
    crate::common::needs_mock("it changes the checks of the mock");
    let arena = Arena::new();
    let stop = AtomicBool::new(false);
    let rounds = AtomicUsize::new(0);
    thread::scope(|scope| {
        let _over = Over::at_end(&stop);
        for _ in 0..3 {
            scope.spawn(|| {
                let _over = Over::at_end(&stop);
                let stream = arena.context.stream().unwrap();
                let other = arena.context.stream().unwrap();
                let mut b = arena.context.alloc_zeroed::<u8>(4096).unwrap();
                let mut graph = stream
                    .capture(CaptureMode::Relaxed, |s| {
                        let side = s.side("1")?;
                        s.fork(&side)?;
                        let mut t = side.alloc::<u8>(100)?;
                        side.fill_bytes(&mut t, 1)?;
                        s.join(&side)?;
                        s.fill_bytes(&mut b, 3)
                    })
                    .unwrap();
                while !stop.load(Ordering::Relaxed) {
                    graph.launch(&stream).unwrap();
                    other.fill_bytes(&mut b, 1).unwrap();
                    assert_eq!(b.to_vec().unwrap()[0], 1);
                    let s = arena.context.stream().unwrap();
                    s.fill_bytes(&mut b, 2).unwrap();
                    drop(s);
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let mut n = 0;
        while rounds.load(Ordering::Relaxed) < 1500 && !stop.load(Ordering::Relaxed) {
            mock::check_races([RaceCheck::Report, RaceCheck::Off, RaceCheck::Fail][n % 3]);
            n += 1;
            assert!(mock::races().is_empty(), "{}", mock::races()[0]);
            thread::yield_now();
        }
    });
    mock::check_races(RaceCheck::Off);
    arena.end();
}

/// Freed while in use, by a program that orders by hand.
#[test]
fn freed_in_use_by_hand() {
    let arena = Arena::new();
    mock::stand_still(true);
    mock::check_races(RaceCheck::Report);
    arena.context.set_tracking(false);
    for kind in [Allocator::Pool, Allocator::Direct, Allocator::Growing] {
        arena.context.set_allocator(kind);
        let (a, b) = (arena.stream(), arena.stream());
        for _ in 0..20 {
            let mut x = a.alloc::<u8>(100_000).unwrap();
            a.fill_bytes(&mut x, 1).unwrap();
            a.fork(&b).unwrap();
            b.fill_bytes(&mut x, 2).unwrap();
            drop(x); // used by b still
            let mut y = a.alloc::<u8>(100_000).unwrap();
            a.fill_bytes(&mut y, 3).unwrap();
            drop(y);
            arena.context.trim_memory(0);
        }
        a.synchronize().unwrap();
        b.synchronize().unwrap();
        arena.context.trim_memory(0);
    }
    let r = mock::races();
    assert!(r.is_empty(), "{}", r[0]);
    mock::check_races(RaceCheck::Off);
    mock::stand_still(false);
    arena.end();
}

/// Segments shared between graphs of executables on threads while the allocator trims.
#[test]
fn trims_under_graphs_with_a_pool() {
    let arena = Arena::new();
    arena.context.set_allocator(Allocator::Growing);
    let pool = GraphPool::new(&arena.context);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _over = Over::at_end(&stop);
        let workers: Vec<_> = (0..3_u8)
            .map(|t| {
                let (pool, context) = (pool.clone(), arena.context.clone());
                scope.spawn(move || {
                    let stream = context.stream().unwrap();
                    let mut out = context.alloc_zeroed::<u8>(300_000).unwrap();
                    for round in 0..60 {
                        let len = 1000 + round * 4_999;
                        let mut graph = stream
                            .capture_in(CaptureMode::Relaxed, &pool, |s| {
                                let mut x = s.alloc::<u8>(len)?;
                                s.fill_bytes(&mut x, t + 1)?;
                                s.copy(&x, &mut out.slice_mut(..len)?)
                            })
                            .unwrap();
                        for _ in 0..3 {
                            graph.launch(&stream).unwrap();
                        }
                        assert!(out.slice(..len).unwrap().to_vec().unwrap().iter().all(|b| *b == t + 1));
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                arena.context.trim_memory(0);
                thread::yield_now();
            }
        });
        for w in workers {
            w.join().unwrap();
        }
    });
    assert_eq!(pool.bytes(), 0);
    drop(pool);
    arena.end();
}

/// Streams that are held no longer than this.
struct Released<'a>([&'a Stream; 2]);

impl Drop for Released<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|stream| mock::release(stream).unwrap());
    }
}

/// Lets a stream that is held wait for an event of one that is held as well, until there is no room for more, and runs
/// `meanwhile` then, which is to release both.
fn while_a_full_stream_waits(arena: &Arena, meanwhile: impl FnOnce(&Stream, &Stream, &Event)) {
    let (held, full, event) = (arena.stream(), arena.stream(), arena.context.event().unwrap());
    let mut bytes = arena.context.alloc::<u8>(4).unwrap();
    let stop = AtomicBool::new(false);
    mock::hold(&held).unwrap();
    mock::hold(&full).unwrap();
    held.fill_bytes(&mut bytes, 1).unwrap();
    event.record(&held).unwrap();
    thread::scope(|scope| {
        let _over = Over::at_end(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Acquire) {
                let _ = full.wait(&event);
            }
        });
        until(|| mock::waiting_for_room() == 1);
        // Where it fails, that thread ends all the same.
        let _released = Released([&held, &full]);
        meanwhile(&held, &full, &event);
    });
    // Recorded again once nobody is made to wait any more, it is what it says.
    event.record(&held).unwrap();
    event.synchronize().unwrap();
    assert!(event.is_complete().unwrap());
}

#[test]
fn an_event_that_a_full_stream_waits_for_tells_how_its_work_failed() {
    crate::common::needs_mock("its work fails, and is held");
    let arena = Arena::new();
    mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
    while_a_full_stream_waits(&arena, |held, full, event| {
        mock::release(held).unwrap();
        mock::run_until_idle();
        for _ in 0..3 {
            assert_eq!(event.is_complete().unwrap_err().kind(), ErrorKind::DeviceFault);
        }
        mock::release(full).unwrap();
    });
    arena.end();
}

#[test]
fn an_event_that_a_full_stream_waits_for_tells_that_its_work_was_dropped() {
    crate::common::needs_mock("it holds work");
    let arena = Arena::new();
    while_a_full_stream_waits(&arena, |held, full, event| {
        held.abort().unwrap();
        for _ in 0..3 {
            assert_eq!(event.is_complete().unwrap_err().kind(), ErrorKind::Aborted);
        }
        mock::release(held).unwrap();
        mock::release(full).unwrap();
        full.abort().unwrap();
    });
    arena.end();
}

#[test]
fn an_event_that_a_full_stream_waits_for_is_recorded_again_later() {
    crate::common::needs_mock("it holds work");
    let arena = Arena::new();
    let (other, records) = (arena.stream(), AtomicUsize::new(0));
    while_a_full_stream_waits(&arena, |held, full, event| {
        thread::scope(|scope| {
            scope.spawn(|| {
                event.record(&other).unwrap();
                records.fetch_add(1, Ordering::AcqRel);
            });
            until_still(|| Some(records.load(Ordering::Acquire)));
            assert_eq!(records.load(Ordering::Acquire), 0);
            // Whoever asks is held up by neither.
            assert!(!event.is_complete().unwrap());
            mock::release(held).unwrap();
            mock::release(full).unwrap();
        });
        assert_eq!(records.load(Ordering::Acquire), 1);
    });
    drop(other);
    arena.end();
}
