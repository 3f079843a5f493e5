//! Devices without room: for streams, events, graphs and memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::common::mock;
use racl::plan::{Frozen, Mode, RunOptions};
use racl::{Allocator, CaptureMode, Context, DeviceBuffer, ErrorKind, Stream, op};

use crate::arena::{Arena, Gate, formula, refused, result, run, until};

#[test]
fn streams() {
    crate::common::needs_the_card_alone("it uses up what the card has");
    let arena = Arena::new();
    let mut held = Vec::new();
    let error = loop {
        match arena.context.stream() {
            Ok(stream) => held.push(stream),
            Err(error) => break error,
        }
        // Idle ones of other contexts go as well.
        assert!(held.len() < 1 << 12);
    };
    assert_eq!(error.kind(), ErrorKind::NoStreams);
    refused(arena.context.create_context(), &[ErrorKind::NoStreams]);
    held.pop();
    held.push(arena.stream());
    drop(held);
    arena.end();
}

/// Records wait for one that is done, as those of the runtime do; nothing else is lost.
#[test]
fn events() {
    crate::common::needs_the_card_alone("it uses up what the card has");
    let arena = Arena::new();
    let (stream, side) = (arena.stream(), arena.stream());
    mock::limit_events(Some(16)).unwrap();
    let (one, mut sum) = (arena.tensor(1.0), arena.tensor(0.0));
    let mut held = Vec::new();
    for _ in 0..200 {
        op::add_inplace(&stream, &mut sum, &one).unwrap();
        let event = arena.context.event().unwrap();
        event.record(&stream).unwrap();
        side.wait(&event).unwrap();
        held.push(event);
    }
    stream.fork(&side).unwrap();
    stream.join(&side).unwrap();
    assert_eq!(sum.to_vec().unwrap(), [200.0; 4]);
    mock::limit_events(None).unwrap();
    drop((held, stream, side, one, sum));
    arena.end();
}

#[test]
fn streams_in_the_middle_of_a_capture() {
    crate::common::needs_the_card_alone("it uses up what the card has");
    let arena = Arena::new();
    let stream = arena.stream();
    let mut out = arena.tensor(0.0);
    let (mut good, mut short) = (0, 0);
    // How many there are is nobody's promise: kept ones of other attacks count.
    for limit in 1.. {
        if good == 3 {
            break;
        }
        assert!(limit < 4096, "no limit is enough");
        mock::limit_streams(Some(limit)).unwrap();
        let ended = stream.capture(CaptureMode::ThreadLocal, |s| {
            for name in ["a", "b", "c"] {
                let side = s.side(name)?;
                s.fork(&side)?;
                op::fill(&side, &mut out, 1.0)?;
                s.join(&side)?;
            }
            Ok(())
        });
        mock::limit_streams(None).unwrap();
        assert!(!stream.is_capturing());
        match ended {
            Ok(mut graph) => {
                op::fill(&stream, &mut out, 0.0).unwrap();
                graph.launch(&stream).unwrap();
                assert_eq!(out.to_vec().unwrap(), [1.0; 4]);
                good += 1;
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::NoStreams, "{error}");
                short += 1;
            }
        }
    }
    assert!(short > 0, "{short} captures were short of streams");
    drop((stream, out));
    arena.end();
}

#[test]
fn streams_for_a_plan() {
    crate::common::needs_the_card_alone("it uses up what the card has");
    let arena = Arena::new();
    let x = arena.tensor(-2.0);
    let stream = arena.stream();
    let (mut good, mut short) = (0, 0);
    // How many there are is nobody's promise: kept ones of other attacks count.
    for limit in 1.. {
        if good == 3 {
            break;
        }
        assert!(limit < 4096, "no limit is enough");
        let mut exe = arena.executable(Mode::Captured, |g, x| {
            let h = g.scope("a", |g| g.abs(x))?;
            let k = g.scope("b", |g| g.muls(x, 2.0))?;
            g.join("a")?;
            g.join("b")?;
            g.add(h, k)
        });
        mock::limit_streams(Some(limit)).unwrap();
        let mut bind = exe.bindings();
        bind.set(exe.input("x").unwrap(), &x);
        match exe.run(&stream, &mut bind) {
            Ok(()) => {
                assert_eq!(result(&exe), [-2.0; 4]);
                good += 1;
            }
            Err(error) => {
                drop(refused::<()>(Err(error), &[ErrorKind::NoStreams, ErrorKind::InvalidPlan]));
                short += 1;
            }
        }
        mock::limit_streams(None).unwrap();
        assert_eq!(run(&mut exe, &stream, &x), [-2.0; 4]);
    }
    assert!(short > 0, "{short} runs were short of streams");
    drop((x, stream));
    arena.end();
}

#[test]
fn memory_and_who_waits_for_it() {
    crate::common::needs_the_card_alone("it uses up what the card has");
    let arena = Arena::new();
    let (free, total) = arena.context.memory_info().unwrap();
    let part = total / 8;
    let mut held: Vec<DeviceBuffer<u8>> = Vec::new();
    let error = loop {
        match arena.context.alloc::<u8>(part) {
            Ok(buffer) => held.push(buffer),
            Err(error) => break error,
        }
        assert!(held.len() * part <= free);
    };
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    // What held work uses comes back with its end, and the next allocation has it.
    let stream = arena.stream();
    let mut last = held.pop().unwrap();
    let gate = Gate::before(&stream);
    stream.fill_bytes(&mut last.slice_mut(..64).unwrap(), 1).unwrap();
    drop(last);
    let again = gate.opens_during(|| arena.context.alloc::<u8>(part));
    held.push(again.unwrap());
    drop((held, stream));
    arena.end();
}

#[test]
fn memory_for_executables() {
    crate::common::needs_the_card_alone("it uses up what the card has");
    let arena = Arena::new();
    let (_, total) = arena.context.memory_info().unwrap();
    let plan = arena.executable(Mode::Captured, formula).plan().clone();
    let mut held: Vec<DeviceBuffer<u8>> = Vec::new();
    let mut part = total / 4;
    while part >= 1 << 12 {
        match arena.context.alloc::<u8>(part) {
            Ok(buffer) => held.push(buffer),
            Err(_) => part /= 2,
        }
    }
    let options = RunOptions::new();
    let mut made = Vec::new();
    let error = loop {
        match plan.executable(&arena.context, &options, Frozen::new()) {
            Ok(exe) => made.push(exe),
            Err(error) => break error,
        }
        assert!(made.len() < 1 << 12, "there is no end of memory");
    };
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
    drop((held, made));
    let mut exe = plan.executable(&arena.context, &options, Frozen::new()).unwrap();
    assert_eq!(run(&mut exe, &arena.stream(), &arena.tensor(1.0)), [3.0; 4]);
    drop((exe, plan));
    arena.end();
}

#[test]
fn thousands_of_graphs() {
    crate::common::needs_the_card_alone("it uses up what the card has");
    let arena = Arena::new();
    let stream = arena.stream();
    let mut sum = arena.tensor(0.0);
    let one = arena.tensor(1.0);
    let mut graphs = Vec::new();
    let error = loop {
        match stream.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut sum, &one)) {
            Ok(graph) => graphs.push(graph),
            Err(error) => break Some(error),
        }
        if graphs.len() == 3000 {
            break None;
        }
    };
    if let Some(error) = error {
        assert!([ErrorKind::NoStreams, ErrorKind::GraphLimit].contains(&error.kind()), "{error}");
    }
    let count = graphs.len().min(100);
    for graph in &mut graphs[..count] {
        graph.launch(&stream).unwrap();
    }
    assert_eq!(sum.to_vec().unwrap(), [count as f32; 4]);
    drop((graphs, stream, sum, one));
    arena.end();
}

/// Work that hangs in front of as much as a stream takes: to ask how far it is must not wait for room in its queue.
#[test]
fn a_full_queue_that_does_not_move() {
    crate::common::needs_mock("it holds a stream");
    const ROOM: usize = 2013;
    let arena = Arena::new();
    let context = &arena.context;
    for kind in [Allocator::Direct, Allocator::Pool, Allocator::Growing] {
        context.set_allocator(kind);
        let (stream, other) = (arena.stream(), arena.stream());
        let mut buffer = context.alloc::<u8>(100).unwrap();
        mock::hold(&stream).unwrap();
        for _ in 0..ROOM {
            stream.fill_bytes(&mut buffer, 1).unwrap();
        }
        assert!(!stream.is_complete().unwrap());
        racl::set_drop_limit(Duration::from_millis(20));
        drop(buffer);
        let mut more: Vec<_> = (1..40).map(|len| context.alloc_zeroed::<u8>(len << 16).unwrap()).collect();
        more.iter_mut().for_each(|buffer| other.fill_bytes(buffer, 2).unwrap());
        drop(more);
        racl::set_drop_limit(Duration::from_secs(10));
        mock::release(&stream).unwrap();
        stream.synchronize().unwrap();
        other.synchronize().unwrap();
        drop(context.take_drop_errors());
    }
    context.set_allocator(Allocator::Pool);
    arena.end();
}

/// A thread waits for room in a hung queue, and has the stream locked meanwhile, while somebody drops `what` was made of
/// the stream, on which nothing else was done.
fn dropped_beside_a_hung_queue<T>(what: impl FnOnce(&Stream, &Context) -> T) {
    crate::common::needs_mock("it holds a stream");
    const ROOM: usize = 2013;
    let arena = Arena::new();
    let context = &arena.context;
    let stream = arena.stream();
    let mut buffer = context.alloc::<u8>(64).unwrap();
    let value = what(&stream, context);
    mock::hold(&stream).unwrap();
    thread::scope(|scope| {
        let filler = scope.spawn(|| {
            (0..2 * ROOM).for_each(|_| stream.fill_bytes(&mut buffer, 1).unwrap());
        });
        until(|| mock::waiting_for_room() == 1);
        racl::set_drop_limit(Duration::from_millis(20));
        drop(value);
        racl::set_drop_limit(Duration::from_secs(10));
        assert!(!filler.is_finished());
        mock::release(&stream).unwrap();
    });
    stream.synchronize().unwrap();
    drop(context.take_drop_errors());
    drop((stream, buffer));
    arena.end();
}

#[test]
fn a_graph_whose_end_nobody_was_told_and_a_hung_queue() {
    dropped_beside_a_hung_queue(|stream, context| {
        let mut x = context.zeros::<f32>([4]).unwrap();
        let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| op::fill(s, &mut x, 1.0)).unwrap();
        graph.launch(stream).unwrap();
        // Where it runs all before it is known to be done, and nobody has waited.
        let done = Arc::new(AtomicUsize::new(0));
        let tell = Arc::clone(&done);
        stream.host_function(move || tell.store(1, Ordering::Release)).unwrap();
        until(|| done.load(Ordering::Acquire) == 1);
        graph
    });
}

#[test]
fn a_capture_that_the_stream_of_a_hung_queue_did_not_join() {
    dropped_beside_a_hung_queue(|stream, context| {
        let origin = context.stream().unwrap();
        let event = context.event().unwrap();
        let capture = origin.begin_capture(CaptureMode::Relaxed).unwrap();
        event.record(capture.stream()).unwrap();
        mock::fail("aclrtStreamWaitEvent", 1, 507_000).unwrap();
        stream.wait(&event).unwrap_err();
        capture
    });
}

/// A stream that is never idle and always nearly full still tells how far it is: what it no longer uses is given back.
#[test]
fn a_queue_that_is_always_deep_gives_memory_back() {
    crate::common::needs_mock("it holds a stream");
    let arena = Arena::new();
    arena.context.set_allocator(Allocator::Direct);
    let (stream, behind) = (arena.stream(), arena.stream());
    let before = mock::live_handles().device_allocations;
    let mut used = arena.context.alloc::<u8>(100).unwrap();
    // Each turn the stream is held at a later event; what stands in front of that is done.
    let mut gates = std::collections::VecDeque::new();
    let mut most = 0;
    for _ in 0..20 {
        let gate = Gate::before(&behind);
        let event = arena.context.event().unwrap();
        event.record(&behind).unwrap();
        stream.wait(&event).unwrap();
        for _ in 0..300 {
            let mut buffer = arena.context.alloc::<u8>(100).unwrap();
            stream.fill_bytes(&mut buffer, 1).unwrap();
            stream.fill_bytes(&mut used, 1).unwrap();
        }
        gates.push_back((gate, event));
        if gates.len() == 3 {
            let (gate, event) = gates.pop_front().unwrap();
            drop(gate);
            event.synchronize().unwrap();
        }
        most = most.max(mock::live_handles().device_allocations);
    }
    assert!(most - before < 2000, "{most} allocations live at once, {before} of others");
    drop((gates, used));
    stream.synchronize().unwrap();
    drop((stream, behind));
    arena.context.set_allocator(Allocator::Pool);
    arena.end();
}
