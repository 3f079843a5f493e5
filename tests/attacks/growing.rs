//! Memory that grows, on a library that refuses, and allocators that change under what uses them.

use std::thread;

use crate::common::mock;
use racl::{Allocator, CaptureMode, ErrorKind, GraphPool, op};

use crate::arena::{Arena, refused, until};

const MIB: usize = 1 << 20;

fn growing() -> Arena {
    let arena = Arena::new();
    arena.context.set_allocator(Allocator::Growing);
    arena
}

/// What cannot be freed once is lost, and told.
fn end(arena: Arena, function: &str) {
    if ["aclrtFreePhysical", "aclrtFree", "aclrtReleaseMemAddress"].contains(&function) {
        return arena.end_with_leaks();
    }
    arena.end();
}

/// Held blocks keep their bytes whatever fails around them.
#[test]
fn calls_that_fail_under_held_blocks() {
    let functions = [
        "aclrtMemGetAllocationGranularity",
        "aclrtGetMemInfo",
        "aclrtReserveMemAddress",
        "aclrtMallocPhysical",
        "aclrtMapMem",
        "aclrtUnmapMem",
        "aclrtFreePhysical",
        "aclrtReleaseMemAddress",
        "aclrtMalloc",
        "aclrtFree",
    ];
    for function in functions {
        for code in [207_001, 507_000] {
            for nth in [1, 3] {
                let arena = growing();
                let mut held = Vec::new();
                for round in 0..12_u8 {
                    if round == 3 {
                        mock::fail(function, nth, code).unwrap();
                    }
                    let len = (usize::from(round) * 7 % 5 + 1) * MIB / 2 + 4096 * usize::from(round);
                    match arena.context.upload(&vec![round; len]) {
                        Ok(buffer) => held.push((round, buffer)),
                        Err(error) => assert!(!error.to_string().is_empty()),
                    }
                    if round % 3 == 2 {
                        held.remove(held.len() / 2);
                        arena.context.trim_memory(0);
                    }
                }
                mock::clear_failures();
                for (round, buffer) in &held {
                    assert!(buffer.to_vec().unwrap().iter().all(|byte| byte == round), "{function} {nth} {code}");
                }
                drop(held);
                arena.context.trim_memory(0);
                let told = arena.context.take_drop_errors();
                assert!(told.len() <= 2, "{function} {nth} {code}: {told:?}");
                let stats = arena.context.memory_stats();
                assert_eq!((stats.allocated.now, stats.active.now), (0, 0), "{function} {nth} {code}");
                end(arena, function);
            }
        }
    }
}

#[test]
fn every_call_fails_for_a_while() {
    for function in
        ["aclrtMapMem", "aclrtMallocPhysical", "aclrtReserveMemAddress", "aclrtUnmapMem", "aclrtFreePhysical"]
    {
        let arena = growing();
        for code in [207_001, 507_000] {
            for nth in 1..=200 {
                mock::fail(function, nth, code).unwrap();
            }
            let mut held = Vec::new();
            for mib in 1..10 {
                held.extend(arena.context.alloc::<u8>(mib * MIB));
                if mib % 2 == 0 && !held.is_empty() {
                    held.remove(0);
                    arena.context.trim_memory(0);
                }
            }
            drop(held);
            arena.context.trim_memory(0);
        }
        mock::clear_failures();
        arena.context.trim_memory(0);
        drop(arena.context.take_drop_errors());
        end(arena, function);
    }
}

#[test]
fn allocators_that_change_all_the_time() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut held = Vec::new();
    let pool = GraphPool::new(&arena.context);
    let mut out = arena.context.alloc_zeroed::<u8>(100_000).unwrap();
    let mut graphs = Vec::new();
    for round in 0..200_u32 {
        let kind = match round % 3 {
            0 => Allocator::Growing,
            1 => Allocator::Direct,
            _ => Allocator::Pool,
        };
        arena.context.set_allocator(kind);
        let mut buffer = stream.alloc::<u8>(1000 + round as usize * 20_011 % (3 * MIB)).unwrap();
        stream.fill_bytes(&mut buffer, round as u8).unwrap();
        held.push((round as u8, buffer));
        if round % 4 == 3 {
            held.remove(round as usize * 31 % held.len());
        }
        if round % 20 == 0 {
            graphs.push((
                round as u8,
                stream
                    .capture_in(CaptureMode::Relaxed, &pool, |s| {
                        let mut t = s.alloc::<u8>(100_000)?;
                        s.fill_bytes(&mut t, round as u8)?;
                        s.copy(&t, &mut out)
                    })
                    .unwrap(),
            ));
        }
        if round % 7 == 0 {
            arena.context.trim_memory(round as usize);
        }
    }
    for (byte, buffer) in &held {
        assert!(buffer.to_vec().unwrap().iter().all(|b| b == byte));
    }
    for (byte, graph) in &mut graphs {
        graph.launch(&stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), vec![*byte; 100_000]);
    }
    drop((held, graphs));
    assert_eq!(pool.bytes(), 0);
    drop((out, stream, pool));
    arena.end();
}

#[test]
fn limits_of_nothing_and_of_everything() {
    for kind in [Allocator::Growing, Allocator::Pool, Allocator::Direct] {
        let arena = Arena::new();
        arena.context.set_allocator(kind);
        let kept = arena.context.upload(&[1_u8; 100]).unwrap();
        for limit in [0, 1, 100, 511] {
            arena.context.set_memory_limit(Some(limit));
            let error = refused(arena.context.alloc::<u8>(5 * MIB), &[ErrorKind::OutOfMemory]);
            assert!(format!("{error:#}").contains("limit"), "{error:#}");
            assert_eq!(kept.to_vec().unwrap(), [1; 100]);
        }
        arena.context.set_memory_limit(Some(usize::MAX));
        drop(arena.context.alloc::<u8>(5 * MIB).unwrap());
        arena.context.set_memory_limit(None);
        drop(kept);
        arena.end();
    }
}

#[test]
fn limits_that_change_under_threads() {
    let arena = growing();
    let context = &arena.context;
    thread::scope(|scope| {
        for thread in 0..4_u8 {
            scope.spawn(move || {
                let stream = context.stream().unwrap();
                for round in 0..150_usize {
                    let len = (round * 37 + usize::from(thread) * 11) % 50 * 100_003 + 1;
                    match stream.alloc::<u8>(len) {
                        Ok(mut buffer) => {
                            stream.fill_bytes(&mut buffer, thread).unwrap();
                            if round % 5 == 0 {
                                assert!(buffer.to_vec().unwrap().iter().all(|b| *b == thread));
                            }
                        }
                        Err(error) => assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error:#}"),
                    }
                }
            });
        }
        scope.spawn(move || {
            for round in 0..300_usize {
                context.set_memory_limit(match round % 4 {
                    0 => Some(0),
                    1 => Some(3 * MIB),
                    2 => Some(40 * MIB),
                    _ => None,
                });
                context.trim_memory(round * 4096);
                context.set_allocator(if round % 5 == 0 { Allocator::Pool } else { Allocator::Growing });
                thread::yield_now();
            }
            context.set_memory_limit(None);
        });
    });
    arena.context.synchronize().unwrap();
    let stats = arena.context.memory_stats();
    assert_eq!(stats.allocated.now, 0);
    arena.end();
}

/// The same, with calls that fail now and then.
#[test]
fn growing_on_threads_while_calls_fail() {
    let arena = growing();
    let context = &arena.context;
    let functions = ["aclrtMapMem", "aclrtMallocPhysical", "aclrtUnmapMem", "aclrtMalloc"];
    thread::scope(|scope| {
        for thread in 0..3_u8 {
            scope.spawn(move || {
                for round in 0..100_usize {
                    let len = (round * 37 + usize::from(thread) * 11) % 50 * 200_003 + 1;
                    if let Ok(mut buffer) = context.alloc::<u8>(len) {
                        buffer.write(&vec![thread; len]).unwrap();
                        assert!(buffer.to_vec().unwrap().iter().all(|b| *b == thread));
                    }
                }
            });
        }
        scope.spawn(move || {
            for round in 0..100_usize {
                mock::fail(
                    functions[round % 4],
                    1 + round as u64 % 3,
                    if round % 3 == 0 { 507_000 } else { 207_001 },
                )
                .unwrap();
                context.trim_memory(0);
                thread::yield_now();
            }
        });
    });
    mock::clear_failures();
    let told = arena.context.take_drop_errors();
    assert!(told.iter().all(|error| error.to_string().contains("memory")), "{told:?}");
    assert_eq!(arena.context.memory_stats().allocated.now, 0);
    arena.end();
}

#[test]
fn two_contexts_take_memory_from_each_other() {
    crate::common::needs_the_card_alone("it uses up what the card has");
    let arena = growing();
    let other = arena.context.create_context().unwrap();
    let total = arena.context.memory_info().unwrap().1;
    let most = total / 4 * 3;
    for _ in 0..3 {
        drop(arena.context.alloc::<u8>(most).unwrap());
        drop(other.alloc::<u8>(most).unwrap());
    }
    let held = arena.context.alloc::<u8>(most).unwrap();
    refused(other.alloc::<u8>(most), &[ErrorKind::OutOfMemory]);
    drop(held);
    drop(other.alloc::<u8>(most).unwrap());
    other.close().unwrap();
    drop(arena.context.alloc::<u8>(most).unwrap());
    arena.end();
}

#[test]
fn contexts_that_are_closed_with_memory_cached_while_others_trim() {
    crate::common::needs_the_card_alone("it uses up what the card has");
    let arena = growing();
    let context = &arena.context;
    let total = context.memory_info().unwrap().1;
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..30 {
                    let own = context.create_context().unwrap();
                    drop(own.alloc::<u8>(30 * MIB));
                    own.close().unwrap();
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..30 {
                // Too much, so that what all contexts keep is given back.
                assert!(context.alloc::<u8>(total * 2).is_err());
            }
        });
    });
    arena.end();
}

/// Memory that is short while a stream holds some back, asked for by a host function of that stream.
#[test]
fn want_of_memory_inside_a_host_function() {
    let arena = Arena::new();
    racl::set_drop_limit(std::time::Duration::from_millis(200));
    let stream = arena.stream();
    arena.context.set_memory_limit(Some(64 * MIB));
    let (sender, receiver) = std::sync::mpsc::channel();
    let context = arena.context.clone();
    let buffer = stream.alloc::<u8>(40 * MIB).unwrap();
    let late = buffer.into_shared();
    let mut use_later = late.clone();
    stream
        .host_function(move || {
            let _ = sender.send(context.alloc::<u8>(40 * MIB).map(drop));
        })
        .unwrap();
    stream.fill_bytes(&mut use_later, 1).unwrap();
    drop((late, use_later));
    stream.synchronize().unwrap();
    let inside = receiver.recv().unwrap();
    let error = inside.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error:#}");
    arena.context.set_memory_limit(None);
    drop((stream, receiver));
    drop(arena.context.take_drop_errors());
    arena.end();
}

#[test]
fn growing_and_an_operator_of_every_size() {
    let arena = growing();
    let stream = arena.stream();
    for rows in [1, 100, 10_000, 300_000] {
        let a = arena.context.upload_tensor(&vec![1.5_f32; rows * 16], [rows, 16]).unwrap();
        let mut out = arena.context.empty::<f32>([rows, 16]).unwrap();
        op::softmax(&stream, &a, 1, &mut out).unwrap();
        arena.context.trim_memory(0);
        assert!(out.to_vec().unwrap().iter().all(|v| (*v - 0.0625).abs() < 1e-6));
    }
    drop(stream);
    arena.end();
}

/// A block straddles pieces; half of it goes while the other half is written.
#[test]
fn pieces_under_work_that_is_held() {
    let arena = growing();
    let stream = arena.stream();
    mock::stand_still(true);
    let mut a = arena.context.alloc::<u8>(30 * MIB).unwrap();
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut a, 7).unwrap();
    let address = a.address();
    drop(a);
    assert_eq!(arena.context.trim_memory(0), 0);
    let other = arena.context.upload(&vec![1_u8; 30 * MIB]).unwrap();
    assert_ne!(other.address(), address);
    mock::release(&stream).unwrap();
    stream.synchronize().unwrap();
    assert!(other.to_vec().unwrap().iter().all(|b| *b == 1));
    assert!(arena.context.trim_memory(0) >= 16 * MIB);
    until(|| stream.is_complete().unwrap());
    drop((other, stream));
    arena.end();
}
