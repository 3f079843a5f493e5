//! Device memory with several owners, parts of it, and executables that move.

use crate::arena::{Arena, Gate, refused};
use crate::common::mock;
use racl::op::DataType::F32;
use racl::plan::{Frozen, Input, Mode, OnMove, Plan, RunOptions};
use racl::{Allocator, CaptureMode, ErrorKind, Prefetch, SharedBuffer, op};
use std::sync::mpsc::channel;
use std::thread;

#[test]
fn into_buffer_while_the_device_or_graphs_have_it() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut shared = arena.context.upload(&[1_u8; 64]).unwrap().into_shared();
    let gate = Gate::before(&stream);
    stream.fill_bytes(&mut shared, 5).unwrap();
    let mut buffer = shared.into_buffer().unwrap();
    let worker = thread::spawn(move || {
        buffer.slice_mut(..1).unwrap().write(&[9]).unwrap();
        buffer
    });
    gate.open();
    let buffer = worker.join().unwrap();
    assert_eq!(buffer.to_vec().unwrap()[..2], [9, 5]);
    let shared = buffer.into_shared();
    let mut c = shared.clone();
    let graph = stream.capture(CaptureMode::Relaxed, |s| s.fill_bytes(&mut c, 1)).unwrap();
    drop(c);
    let shared = shared.into_buffer().unwrap_err().into_value();
    let shared = shared.close().unwrap_err().into_value();
    drop(graph);
    shared.into_buffer().unwrap().close().unwrap();
    drop(stream);
    arena.end();
}

/// Parts that become buffers of their own, at odd places.
#[test]
fn parts_of_parts_as_buffers() {
    let arena = Arena::new();
    let bytes: Vec<u8> = (0..=255).collect();
    for (from, to) in [(0, 0), (0, 256), (1, 2), (255, 256), (256, 256), (33, 97)] {
        let all = arena.context.upload(&bytes).unwrap().into_shared();
        let part = all.slice(from..to).unwrap();
        drop(all);
        let mut part = part.into_buffer().unwrap();
        assert_eq!(part.to_vec().unwrap(), bytes[from..to]);
        let len = to - from;
        part.write(&vec![7; len]).unwrap();
        let (a, b) = part.split_at_mut(len / 2).unwrap();
        assert_eq!(a.len() + b.len(), len);
        assert_eq!(part.to_vec().unwrap(), vec![7; len]);
        match part.close() {
            Ok(()) => {}
            Err(r) => panic!("{r}"),
        }
    }
    arena.end();
}

#[test]
fn tensors_over_parts_at_odd_places() {
    let arena = Arena::new();
    let stream = arena.stream();
    let all = arena.context.upload(&(0..100).map(|i| i as f32).collect::<Vec<_>>()).unwrap().into_shared();
    for at in [0, 1, 3, 7, 15, 90] {
        let t = racl::Tensor::over(all.slice(at..at + 4).unwrap(), [2, 2]).unwrap();
        let mut out = arena.tensor(0.0).reshaped([2, 2]).unwrap();
        match op::adds(&stream, &t, 1.0, &mut out) {
            Ok(()) => assert_eq!(out.to_vec().unwrap(), (0..4).map(|i| (at + i) as f32 + 1.0).collect::<Vec<_>>()),
            Err(error) => panic!("{at}: {error}"),
        }
    }
    let none = racl::Tensor::over(all.slice(5..5).unwrap(), [0]);
    assert_eq!(none.as_ref().unwrap().len(), 0);
    drop((all, none, stream));
    arena.end();
}

/// One output of two operators on two streams, halves of one buffer.
#[test]
fn halves_on_two_streams() {
    let arena = Arena::new();
    let (a, b) = (arena.stream(), arena.stream());
    let mut buffer = arena.context.alloc_zeroed::<u32>(128).unwrap();
    let gate = Gate::before(&a);
    {
        let (mut l, mut r) = buffer.split_at_mut(64).unwrap();
        a.fill_bytes(&mut l, 1).unwrap();
        b.fill_bytes(&mut r, 2).unwrap();
        b.copy(&l, &mut r).unwrap();
    }
    gate.opens_during(|| drop(buffer.to_vec().unwrap()));
    assert_eq!(buffer.to_vec().unwrap(), [0x0101_0101; 128]);
    drop((a, b, buffer));
    arena.end();
}

#[test]
fn memory_of_another_context_everywhere() {
    let arena = Arena::new();
    let other = arena.context.create_context().unwrap();
    let theirs = other.stream().unwrap();
    let ours = arena.stream();
    let mut x = arena.context.upload(&[1_u8; 64]).unwrap().into_shared();
    let mut y = other.alloc_zeroed::<u8>(64).unwrap();
    for _ in 0..20 {
        theirs.fill_bytes(&mut x, 2).unwrap();
        ours.copy(&x, &mut y).unwrap();
        theirs.copy(&y, &mut x).unwrap();
    }
    assert_eq!(x.to_vec().unwrap(), [2; 64]);
    let mut graph = theirs
        .capture(CaptureMode::Relaxed, |s| {
            s.fill_bytes(&mut x, 4)?;
            s.copy(&x, &mut y)
        })
        .unwrap();
    refused(graph.launch(&ours), &[ErrorKind::WrongContext]);
    graph.launch(&theirs).unwrap();
    assert_eq!(y.to_vec().unwrap(), [4; 64]);
    drop((graph, x, y, theirs));
    drop(other.take_drop_errors());
    other.close().unwrap();
    drop(ours);
    arena.end();
}

#[test]
fn an_executable_from_thread_to_thread_with_moving_inputs() {
    let arena = Arena::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Tracked(OnMove::Recapture))?;
        let mut y = g.empty([4], F32)?;
        op::aclnn::muls(g, &x, 3.0, &mut y)?;
        let z = g.adds(y, 1.0)?;
        g.output("y", z)
    })
    .unwrap();
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe =
            plan.executable(&arena.context, &RunOptions::new().mode(mode).graph_limit(2), Frozen::new()).unwrap();
        let (send, receive) = channel();
        let context = &arena.context;
        for round in 0..30 {
            let send = send.clone();
            thread::scope(|scope| {
                scope.spawn(move || {
                    let stream = context.stream().unwrap();
                    let x = context.upload_tensor(&[round as f32; 4], [4]).unwrap();
                    let mut bind = exe.bindings();
                    exe.run(&stream, bind.set(exe.input("x").unwrap(), &x)).unwrap();
                    drop((x, stream, bind));
                    assert_eq!(crate::arena::result(&exe), [round as f32 * 3.0 + 1.0; 4]);
                    send.send(exe).unwrap();
                });
            });
            exe = receive.recv().unwrap();
        }
        drop(exe);
    }
    arena.end();
}

#[test]
fn a_panic_under_every_lock_that_a_caller_can_reach() {
    let arena = Arena::new();
    let stream = arena.stream();
    for _ in 0..20 {
        let s = stream.clone();
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            s.capture(CaptureMode::Relaxed, |s| {
                let _t = s.alloc::<u8>(100)?;
                let _side = s.side("x")?;
                s.fork(&_side)?;
                std::panic::resume_unwind(Box::new(1_u8))
            })
            .map(drop)
        }));
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            racl::untracked(|| std::panic::resume_unwind(Box::new(2_u8)))
        }));
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            arena.context.acl().beside(|| std::panic::resume_unwind(Box::new(3_u8)))
        }));
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            arena.context.within(|| -> racl::Result<()> { std::panic::resume_unwind(Box::new(4_u8)) })
        }));
    }
    // Tracking is on again on this thread.
    let other = arena.stream();
    let mut b = arena.context.alloc_zeroed::<u8>(64).unwrap();
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut b, 1).unwrap();
    other.fill_bytes(&mut b, 2).unwrap();
    mock::run_until_idle();
    assert!(!other.is_complete().unwrap());
    mock::release(&stream).unwrap();
    assert_eq!(b.to_vec().unwrap(), [2; 64]);
    drop((b, stream, other));
    arena.end();
}

#[test]
fn prefetches_of_every_kind_of_memory_on_every_stream() {
    let arena = Arena::new();
    let (a, b) = (arena.stream(), arena.stream());
    for kind in [Allocator::Growing, Allocator::Direct, Allocator::Pool] {
        arena.context.set_allocator(kind);
        let x = arena.context.alloc::<u8>(1 << 20).unwrap();
        a.prefetch(&x, Prefetch::bytes(0)).map(|n| assert_eq!(n, 0)).unwrap_or(());
        a.prefetch(&x, Prefetch::all()).unwrap();
        let s = x.into_shared();
        b.prefetch(&s.slice(7..9).unwrap(), Prefetch::all()).unwrap();
        drop(s);
    }
    drop((a, b));
    arena.end();
}

#[test]
fn transfers_whose_halves_go_in_odd_orders() {
    let arena = Arena::new();
    let stream = arena.stream();
    let x = arena.context.upload(&[3_u16; 64]).unwrap();
    let gate = Gate::before(&stream);
    let lent = stream.download(&x, arena.context.pinned(64).unwrap()).unwrap();
    drop(x);
    drop(stream.clone());
    let again: SharedBuffer<u16> = arena.context.upload(&[9; 64]).unwrap().into();
    let got = gate.opens_during(|| lent.wait().unwrap().to_vec());
    assert_eq!(got, [3; 64]);
    refused(again.slice(65..), &[ErrorKind::InvalidArgument]);
    drop((again, stream));
    arena.end();
}
