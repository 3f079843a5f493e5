//! What is dropped while the device still has it, or before what it came from.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::thread;

use racl::plan::{Frozen, Mode, Pool, RunOptions};
use racl::{CaptureMode, Prefetch, Stream, Tensor, op};

use crate::arena::{Arena, Gate, formula, refused, result, run, until};

#[test]
fn a_stream_before_the_memory_that_its_work_writes() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut buffer = arena.context.alloc_zeroed::<u8>(64).unwrap();
    let gate = Gate::before(&stream);
    stream.fill_bytes(&mut buffer, 9).unwrap();
    gate.opens_during(move || drop(stream));
    assert_eq!(buffer.to_vec().unwrap(), [9; 64]);
    drop(buffer);
    arena.end();
}

#[test]
fn memory_that_held_work_still_writes() {
    let arena = Arena::new();
    let stream = arena.stream();
    let gate = Gate::before(&stream);
    for byte in 0..100 {
        let mut buffer = arena.context.alloc::<u8>(1 << 12).unwrap();
        stream.fill_bytes(&mut buffer, byte).unwrap();
    }
    // Whoever gets that memory next must not see it written under its feet.
    let others: Vec<_> = (0..100).map(|_| arena.context.upload(&[7_u8; 1 << 12]).unwrap()).collect();
    gate.opens_during(|| stream.synchronize()).unwrap();
    for other in &others {
        assert!(other.to_vec().unwrap().iter().all(|&byte| byte == 7));
    }
    drop((others, stream));
    arena.end();
}

#[test]
fn a_buffer_whose_slice_lives_on() {
    let arena = Arena::new();
    let stream = arena.stream();
    let buffer = arena.context.upload(&[1_u32; 64]).unwrap().into_shared();
    let mut slice = buffer.slice(16..18).unwrap();
    drop(buffer);
    let other = arena.context.upload(&[9_u32; 64]).unwrap();
    stream.copy(&other.slice(..2).unwrap(), &mut slice).unwrap();
    assert_eq!(slice.to_vec().unwrap(), [9, 9]);
    drop((stream, slice, other));
    arena.end();
}

#[test]
fn a_tensor_whose_views_of_views_live_on() {
    let arena = Arena::new();
    let numbers: Vec<f32> = (0..24).map(|i| i as f32).collect();
    let view = {
        let tensor = arena.context.upload_tensor(&numbers, [2, 3, 4]).unwrap();
        let turned = tensor.transposed(0, 2).unwrap();
        turned.narrow(0, 1..3).unwrap().transposed(0, 1).unwrap()
    };
    let _noise = arena.context.upload_tensor(&[99.0_f32; 24], [24]).unwrap();
    let seen = view.to_vec().unwrap();
    let expected: Vec<f32> =
        (0..3).flat_map(|b| (1..3).flat_map(move |c| (0..2).map(move |a| (a * 12 + b * 4 + c) as f32))).collect();
    assert_eq!(seen, expected);
    drop((view, _noise));
    arena.end();
}

#[test]
fn the_same_name_a_thousand_times_in_a_queue() {
    let arena = Arena::new();
    let stream = arena.stream();
    let gate = Gate::before(&stream);
    let one = arena.tensor(1.0);
    let mut sum = arena.tensor(0.0);
    for _ in 0..1000 {
        let mut next = arena.context.empty::<f32>([4]).unwrap();
        op::add(&stream, &sum, &one, &mut next).unwrap();
        sum = next;
    }
    let seen = gate.opens_during(|| sum.to_vec()).unwrap();
    assert_eq!(seen, [1000.0; 4]);
    drop((sum, one, stream));
    arena.end();
}

#[test]
fn an_event_that_held_work_waits_for() {
    let arena = Arena::new();
    let (first, second) = (arena.stream(), arena.stream());
    let mut buffer = arena.context.alloc_zeroed::<u8>(8).unwrap();
    let gate = Gate::before(&first);
    first.fill_bytes(&mut buffer, 1).unwrap();
    for _ in 0..50 {
        let event = arena.context.event().unwrap();
        event.record(&first).unwrap();
        second.wait(&event).unwrap();
    }
    second.fill_bytes(&mut buffer, 2).unwrap();
    gate.open();
    second.synchronize().unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [2; 8]);
    drop((first, second, buffer));
    arena.end();
}

#[test]
fn a_graph_whose_launch_is_held() {
    let arena = Arena::new();
    let (recorder, runner) = (arena.stream(), arena.stream());
    let mut buffer = arena.context.alloc_zeroed::<u8>(8).unwrap();
    let mut graph = recorder.capture(CaptureMode::Relaxed, |s| s.fill_bytes(&mut buffer, 3)).unwrap();
    let gate = Gate::before(&runner);
    graph.launch(&runner).unwrap();
    gate.opens_during(move || drop((recorder, graph)));
    assert_eq!(buffer.to_vec().unwrap(), [3; 8]);
    drop((runner, buffer));
    arena.end();
}

#[test]
fn a_graph_with_the_only_handle_of_what_it_uses() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut out = arena.tensor(0.0);
    let mut graph = {
        let recorder = arena.stream();
        let (a, b) = (arena.tensor(5.0), arena.tensor(6.0));
        recorder.capture(CaptureMode::ThreadLocal, |s| op::mul(s, &a, &b, &mut out)).unwrap()
    };
    let _noise: Vec<_> = (0..64).map(|_| arena.tensor(-1.0)).collect();
    for _ in 0..3 {
        graph.launch(&stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), [30.0; 4]);
    }
    drop((graph, stream, out, _noise));
    arena.end();
}

#[test]
fn a_transfer_whose_buffer_is_with_the_device() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut buffer = arena.context.alloc_zeroed::<u32>(4).unwrap();
    let gate = Gate::before(&stream);
    let up = stream.upload(arena.context.pinned_from(&[4_u32; 4]).unwrap(), &mut buffer).unwrap();
    let down = stream.download(&buffer, arena.context.pinned(4).unwrap()).unwrap();
    gate.opens_during(move || drop(up));
    assert_eq!(*down.wait().unwrap(), [4; 4]);
    assert_eq!(buffer.to_vec().unwrap(), [4; 4]);
    drop((stream, buffer));
    arena.end();
}

#[test]
fn a_transfer_inside_a_host_function() {
    let arena = Arena::new();
    let (stream, other) = (arena.stream(), arena.stream());
    let mut buffer = arena.context.alloc_zeroed::<u32>(4).unwrap();
    let lent = stream.upload(arena.context.pinned_from(&[4_u32; 4]).unwrap(), &mut buffer).unwrap();
    stream.synchronize().unwrap();
    let mut lent = Some(lent);
    other.host_function(move || drop(lent.take())).unwrap();
    other.synchronize().unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [4; 4]);
    drop((stream, other, buffer));
    arena.end();
}

#[test]
fn the_last_handle_of_a_stream_in_its_own_host_function() {
    let arena = Arena::new();
    let place: Arc<Mutex<Option<Stream>>> = Arc::default();
    let stream = arena.stream();
    let gate = Gate::before(&stream);
    let taken = Arc::clone(&place);
    stream.host_function(move || drop(taken.lock().unwrap().take())).unwrap();
    *place.lock().unwrap() = Some(stream);
    gate.open();
    until(|| place.lock().unwrap().is_none());
    let _ = arena.context.synchronize();
    let _ = arena.context.take_drop_errors();
    arena.end();
}

#[test]
fn everything_of_a_thread_in_a_host_function() {
    let arena = Arena::new();
    let stream = arena.stream();
    let recorder = arena.stream();
    let mut out = arena.tensor(0.0);
    let one = arena.tensor(1.0);
    let graph = recorder.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut out, &one)).unwrap();
    let mut all = Some((graph, recorder, out, one, arena.context.clone(), arena.context.event().unwrap()));
    stream.host_function(move || drop(all.take())).unwrap();
    stream.synchronize().unwrap();
    drop(stream);
    arena.end();
}

#[test]
fn an_executable_in_a_host_function() {
    let arena = Arena::new();
    let stream = arena.stream();
    let other = arena.stream();
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = arena.executable(mode, formula);
        let x = arena.tensor(-2.0);
        assert_eq!(run(&mut exe, &stream, &x), [5.0; 4]);
        let mut exe = Some(exe);
        other.host_function(move || drop(exe.take())).unwrap();
        other.synchronize().unwrap();
    }
    drop((stream, other));
    arena.end();
}

#[test]
fn a_plan_pool_and_stream_before_the_executable() {
    let arena = Arena::new();
    let stream = arena.stream();
    let pool = Pool::new(&arena.context);
    let exe = arena.executable(Mode::Captured, formula);
    let plan = exe.plan().clone();
    drop(exe);
    let options = RunOptions::new().pool(&pool);
    let mut exe = plan.executable(&arena.context, &options, Frozen::new()).unwrap();
    drop((plan, pool, options));
    let x = arena.tensor(1.0);
    assert_eq!(run(&mut exe, &stream, &x), [3.0; 4]);
    drop((stream, x));
    assert_eq!(result(&exe), [3.0; 4]);
    drop(exe);
    arena.end();
}

#[test]
fn an_executable_whose_run_is_held() {
    let arena = Arena::new();
    for mode in [Mode::Captured, Mode::Eager] {
        let stream = arena.stream();
        let mut exe = arena.executable(mode, formula);
        let x = arena.tensor(3.0);
        let gate = Gate::before(&stream);
        let mut bind = exe.bindings();
        exe.run(&stream, bind.set(exe.input("x").unwrap(), &x)).unwrap();
        drop((x, bind));
        gate.opens_during(move || drop(exe));
        drop(stream);
    }
    arena.end();
}

#[test]
fn the_result_of_a_run_before_the_next_one() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut exe = arena.executable(Mode::Captured, formula);
    let y = exe.output_id("y").unwrap();
    let mut kept: Vec<Tensor<f32>> = Vec::new();
    for step in 0..20 {
        let x = arena.tensor(step as f32);
        assert_eq!(run(&mut exe, &stream, &x), [2.0 * step as f32 + 1.0; 4]);
        let out = arena.context.empty::<f32>([4]).unwrap();
        let mut copy = out.clone();
        exe.output::<f32>(y).unwrap().copy_to(&stream, &mut copy).unwrap();
        kept.push(out);
    }
    drop(exe);
    for (step, tensor) in kept.iter().enumerate() {
        assert_eq!(tensor.to_vec().unwrap(), [2.0 * step as f32 + 1.0; 4]);
    }
    drop((kept, stream));
    arena.end();
}

#[test]
fn a_context_that_its_own_objects_outlive() {
    let arena = Arena::new();
    let stream = arena.stream();
    let context = arena.context.create_context().unwrap();
    let inner = context.stream().unwrap();
    let mut buffer = context.alloc_zeroed::<u8>(16).unwrap();
    let (context, error) = context.close().unwrap_err().into_parts();
    assert!(error.to_string().contains("still belong"), "{error}");
    drop(context);
    inner.fill_bytes(&mut buffer, 4).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [4; 16]);
    drop((buffer, inner, stream));
    arena.end();
}

#[test]
fn what_thread_locals_hold_when_their_thread_ends() {
    thread_local! {
        static KEPT: RefCell<Vec<Box<dyn std::any::Any>>> = const { RefCell::new(Vec::new()) };
    }
    let arena = Arena::new();
    let context = arena.context.clone();
    std::thread::spawn(move || {
        let stream = context.stream().unwrap();
        let one = context.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
        let mut sum = context.zeros::<f32>([4]).unwrap();
        let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut sum, &one)).unwrap();
        op::add_inplace(&stream, &mut sum, &one).unwrap();
        graph.launch(&stream).unwrap();
        KEPT.with_borrow_mut(|kept| {
            kept.push(Box::new(context));
            kept.push(Box::new(graph));
            kept.push(Box::new(sum));
            kept.push(Box::new(stream));
        });
    })
    .join()
    .unwrap();
    arena.end();
}

#[test]
fn a_prefetched_weight_at_once() {
    let arena = Arena::new();
    let stream = arena.stream();
    let gate = Gate::before(&stream);
    for _ in 0..50 {
        let weight = arena.context.alloc::<f32>(1 << 10).unwrap();
        stream.prefetch(&weight, Prefetch::all()).unwrap();
    }
    gate.open();
    stream.synchronize().unwrap();
    drop(stream);
    arena.end();
}

#[test]
fn buffers_closed_while_they_are_used() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut buffer = arena.context.alloc_zeroed::<u8>(16).unwrap().into_shared();
    let slice = buffer.slice(..8).unwrap();
    let gate = Gate::before(&stream);
    stream.fill_bytes(&mut buffer, 5).unwrap();
    let (buffer, error) = buffer.close().unwrap_err().into_parts();
    refused::<()>(Err(error), &[racl::ErrorKind::InvalidArgument]);
    drop(slice);
    gate.opens_during(move || buffer.close().map_err(racl::Refused::into_error)).unwrap();
    drop(stream);
    arena.end();
}

/// Each of them tells the drop that its launches were dropped, and the library runs the graph for a moment still.
#[test]
fn a_graph_under_way_on_streams_that_are_aborted_meanwhile() {
    let arena = Arena::new();
    for _ in 0..150 {
        let streams = [arena.stream(), arena.stream()];
        let mut out = arena.context.alloc_zeroed::<u8>(64).unwrap();
        let work = |s: &Stream| {
            s.host_function(|| (0..100).for_each(|_| thread::yield_now()))?;
            s.fill_bytes(&mut out, 1)
        };
        let mut graph = streams[0].capture(CaptureMode::Relaxed, work).unwrap();
        for stream in streams.iter().cycle().take(6) {
            graph.launch(stream).unwrap();
        }
        thread::scope(|scope| {
            scope.spawn(move || drop(graph));
            streams.iter().for_each(|stream| drop(scope.spawn(|| stream.abort().unwrap())));
        });
        drop((out, streams));
        let told = arena.context.take_drop_errors();
        assert!(!told.iter().any(|error| format!("{error:#}").contains("leaked")), "{told:#?}");
    }
    arena.end();
}
