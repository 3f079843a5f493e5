//! Memory that graphs share, and what no tidy program does with it.

use std::thread;
use std::time::Duration;

use crate::common::mock;
use racl::{CaptureMode, DeviceBuffer, ErrorKind, Graph, GraphPool, Result, Stream};

use crate::arena::{Arena, Gate, refused, until};

fn fills(s: &Stream, pool: &GraphPool, byte: u8, out: &mut DeviceBuffer<u8>) -> Result<Graph> {
    s.capture_in(CaptureMode::Relaxed, pool, |s| {
        let mut t = s.alloc::<u8>(out.len())?;
        s.fill_bytes(&mut t, byte)?;
        s.copy(&t, out)
    })
}

#[test]
fn a_pool_of_another_context() {
    let arena = Arena::new();
    let other = arena.context.create_context().unwrap();
    let pool = GraphPool::new(&other);
    refused(arena.stream().capture_in(CaptureMode::Relaxed, &pool, |_| Ok(())), &[ErrorKind::InvalidArgument]);
    drop(pool);
    other.close().unwrap();
    arena.end();
}

#[test]
fn one_pool_for_captures_of_many_threads_at_once() {
    let arena = Arena::new();
    let pool = GraphPool::new(&arena.context);
    thread::scope(|scope| {
        for byte in 0..4_u8 {
            let (pool, context) = (&pool, &arena.context);
            scope.spawn(move || {
                let stream = context.stream().unwrap();
                let mut out = context.alloc_zeroed::<u8>(10_000).unwrap();
                for round in 0..40_u8 {
                    let value = byte * 50 + round;
                    let mut graph = fills(&stream, pool, value, &mut out).unwrap();
                    graph.launch(&stream).unwrap();
                    assert!(out.to_vec().unwrap() == vec![value; 10_000]);
                    if round % 2 == 0 {
                        drop(graph);
                    } else {
                        thread::spawn(move || drop(graph)).join().unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(pool.bytes(), 0);
    drop(pool);
    arena.end();
}

/// Graphs of a pool on their own streams at the same time: each result is of its own graph.
#[test]
fn launches_on_streams_of_their_own() {
    let arena = Arena::new();
    let pool = GraphPool::new(&arena.context);
    let streams: Vec<_> = (0..4).map(|_| arena.stream()).collect();
    let mut outs: Vec<_> = (0..4).map(|_| arena.context.alloc_zeroed::<u8>(5000).unwrap()).collect();
    let mut graphs: Vec<_> = (0..4).map(|i| fills(&streams[i], &pool, i as u8 + 1, &mut outs[i]).unwrap()).collect();
    for round in 0..50 {
        for (i, graph) in graphs.iter_mut().enumerate() {
            graph.launch(&streams[(i + round) % 4]).unwrap();
        }
    }
    for (i, out) in outs.iter().enumerate() {
        assert_eq!(out.to_vec().unwrap(), vec![i as u8 + 1; 5000]);
    }
    drop((graphs, outs, streams, pool));
    arena.end();
}

/// What a capture that was given up leaves in a pool, with its buffer still in hand.
#[test]
fn a_capture_given_up_whose_buffer_lives_on() {
    let arena = Arena::new();
    let pool = GraphPool::new(&arena.context);
    let stream = arena.stream();
    let mut kept = None;
    let refusal = stream
        .capture_in(CaptureMode::Relaxed, &pool, |s| {
            let mut t = s.alloc::<u8>(5000)?;
            s.fill_bytes(&mut t, 1)?;
            kept = Some(t);
            s.host_function(|| panic!("never"))?;
            s.copy(&arena.context.alloc::<u8>(1)?, &mut arena.context.alloc::<u8>(2)?)
        })
        .err();
    assert!(refusal.is_some());
    assert_eq!(pool.bytes(), 0, "no graph has it");
    let mut kept = kept.unwrap();
    let mut out = arena.context.alloc_zeroed::<u8>(5000).unwrap();
    let mut graph = fills(&stream, &pool, 9, &mut out).unwrap();
    kept.write(&[3; 5000]).unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!((kept.to_vec().unwrap(), out.to_vec().unwrap()), (vec![3; 5000], vec![9; 5000]));
    drop((kept, out, graph, stream, pool));
    arena.end();
}

/// The host reads what the graph left in memory that it gave up only later.
#[test]
fn results_in_memory_of_the_pool_are_of_their_graph() {
    let arena = Arena::new();
    let pool = GraphPool::new(&arena.context);
    let stream = arena.stream();
    let mut results = Vec::new();
    let mut graphs = Vec::new();
    for byte in 1..6_u8 {
        let mut kept = None;
        graphs.push(
            stream
                .capture_in(CaptureMode::Relaxed, &pool, |s| {
                    let mut t = s.alloc::<u8>(5000)?;
                    s.fill_bytes(&mut t, byte)?;
                    kept = Some(t);
                    Ok(())
                })
                .unwrap(),
        );
        results.push(kept.unwrap());
    }
    graphs.iter_mut().for_each(|graph| graph.launch(&stream).unwrap());
    for (byte, result) in (1..).zip(&results) {
        assert_eq!(result.to_vec().unwrap(), vec![byte; 5000]);
    }
    // Slices keep it too.
    let shared: Vec<_> = results.into_iter().map(|r| r.into_shared().slice(4000..).unwrap()).collect();
    let mut out = arena.context.alloc_zeroed::<u8>(5000).unwrap();
    let mut more = fills(&stream, &pool, 77, &mut out).unwrap();
    more.launch(&stream).unwrap();
    for (byte, result) in (1..).zip(&shared) {
        assert_eq!(result.to_vec().unwrap(), vec![byte; 1000]);
    }
    drop((graphs, more, out, shared, stream, pool));
    arena.end();
}

/// Given up in the capture, after a side stream's work.
#[test]
fn memory_of_a_side_that_another_side_has_next() {
    let arena = Arena::new();
    let pool = GraphPool::new(&arena.context);
    let stream = arena.stream();
    let mut out = [1, 2, 3, 4].map(|_| arena.context.alloc_zeroed::<u8>(5000).unwrap());
    let [a, b, c, d] = &mut out;
    let mut graph = stream
        .capture_in(CaptureMode::Relaxed, &pool, |s| {
            let (l, r) = (s.side("l")?, s.side("r")?);
            s.fork(&l)?;
            s.fork(&r)?;
            let mut t = l.alloc::<u8>(5000)?;
            l.fill_bytes(&mut t, 1)?;
            l.copy(&t, a)?;
            drop(t);
            let mut t = r.alloc::<u8>(5000)?;
            r.fill_bytes(&mut t, 2)?;
            r.copy(&t, b)?;
            drop(t);
            let mut t = l.alloc::<u8>(5000)?;
            // Of the left side, used by the right one.
            l.fill_bytes(&mut t, 3)?;
            l.fork(&r)?;
            r.copy(&t, c)?;
            drop(t);
            let mut t = l.alloc::<u8>(5000)?;
            l.fill_bytes(&mut t, 4)?;
            l.copy(&t, d)?;
            s.join(&l)?;
            s.join(&r)
        })
        .unwrap();
    for _ in 0..20 {
        graph.launch(&stream).unwrap();
        let got = out.each_ref().map(|o| o.to_vec().unwrap());
        assert_eq!(got, [1, 2, 3, 4].map(|byte| vec![byte; 5000]));
    }
    drop((graph, out, stream, pool));
    arena.end();
}

#[test]
fn a_pool_that_is_left_of_its_context() {
    let arena = Arena::new();
    let other = arena.context.create_context().unwrap();
    let pool = GraphPool::new(&other);
    let stream = other.stream().unwrap();
    let mut out = other.alloc_zeroed::<u8>(100).unwrap();
    let graph = fills(&stream, &pool, 1, &mut out).unwrap();
    let other = other.close().unwrap_err().into_value();
    drop((graph, stream, out));
    let other = other.close().unwrap_err().into_value();
    drop(pool);
    other.close().unwrap();
    arena.end();
}

#[test]
fn launches_by_hand_order_after_a_gate() {
    let arena = Arena::new();
    let pool = GraphPool::new(&arena.context);
    let (one, two) = (arena.stream(), arena.stream());
    let mut outs = [1, 2].map(|_| arena.context.alloc_zeroed::<u8>(5000).unwrap());
    let [a, b] = &mut outs;
    let (mut g1, mut g2) = (fills(&one, &pool, 1, a).unwrap(), fills(&two, &pool, 2, b).unwrap());
    let gate = Gate::before(&one);
    g1.launch(&one).unwrap();
    racl::untracked(|| g2.launch(&two)).unwrap();
    // Over before the first one begins, which has the same memory.
    let done = arena.context.event().unwrap();
    done.record(&two).unwrap();
    done.synchronize().unwrap();
    // Tracked again: comes behind both.
    g2.launch(&two).unwrap();
    gate.open();
    g1.launch(&two).unwrap();
    two.synchronize().unwrap();
    one.synchronize().unwrap();
    assert_eq!(outs.each_ref().map(|o| o.to_vec().unwrap()), [vec![1; 5000], vec![2; 5000]]);
    drop((g1, g2, outs, done, one, two, pool));
    arena.end();
}

#[test]
fn a_graph_that_is_forgotten_keeps_its_memory() {
    let arena = Arena::new();
    let pool = GraphPool::new(&arena.context);
    let stream = arena.stream();
    let mut out = arena.context.alloc_zeroed::<u8>(5000).unwrap();
    std::mem::forget(fills(&stream, &pool, 1, &mut out).unwrap());
    let mut graph = fills(&stream, &pool, 2, &mut out).unwrap();
    assert_eq!(pool.bytes(), 5000);
    graph.launch(&stream).unwrap();
    drop(graph);
    assert_eq!(pool.bytes(), 5000);
    assert_eq!(out.to_vec().unwrap(), vec![2; 5000]);
    drop((out, stream, pool));
    arena.end_with_leaks();
}

#[test]
fn a_graph_that_cannot_be_destroyed() {
    let arena = Arena::new();
    let pool = GraphPool::new(&arena.context);
    let stream = arena.stream();
    let mut out = arena.context.alloc_zeroed::<u8>(5000).unwrap();
    let mut graph = fills(&stream, &pool, 1, &mut out).unwrap();
    let mut other = fills(&stream, &pool, 2, &mut out).unwrap();
    graph.launch(&stream).unwrap();
    mock::fail("aclmdlRIDestroy", 1, 507_000).unwrap();
    drop(graph);
    other.launch(&stream).unwrap();
    assert_eq!(out.to_vec().unwrap(), vec![2; 5000]);
    drop(other);
    assert_eq!(pool.bytes(), 5000);
    let mut third = fills(&stream, &pool, 3, &mut out).unwrap();
    third.launch(&stream).unwrap();
    assert_eq!(out.to_vec().unwrap(), vec![3; 5000]);
    assert_eq!(arena.context.take_drop_errors().len(), 1);
    drop((third, out, stream, pool));
    arena.end_with_leaks();
}

/// A thread that is amid a launch, which nobody can be put in order with yet.
#[test]
fn a_launch_that_waits_for_room() {
    let arena = Arena::new();
    racl::set_drop_limit(Duration::from_millis(50));
    let pool = GraphPool::new(&arena.context);
    let (one, two) = (arena.stream(), arena.stream());
    let mut outs = [1, 2].map(|_| arena.context.alloc_zeroed::<u8>(5000).unwrap());
    let [a, b] = &mut outs;
    let (mut first, mut second) = (fills(&one, &pool, 1, a).unwrap(), fills(&two, &pool, 2, b).unwrap());
    mock::hold(&one).unwrap();
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            (0..3000).for_each(|_| first.launch(&one).unwrap());
        });
        // Not before it waits: a launch here would wait for room itself, to be ordered after the one before.
        until(|| mock::waiting_for_room() == 1);
        let late = second.launch(&two).err();
        mock::release(&one).unwrap();
        worker.join().unwrap();
        assert_eq!(late.map(|error| error.kind()), Some(ErrorKind::Timeout));
    });
    second.launch(&two).unwrap();
    assert_eq!(outs.each_ref().map(|out| out.to_vec().unwrap()), [vec![1; 5000], vec![2; 5000]]);
    drop((first, second, outs, one, two, pool));
    arena.end();
}
