//! Many threads with the same things, without any order between them but that of the device.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;

use racl::plan::Mode;
use racl::{CaptureMode, ErrorKind, op};

use crate::arena::{Arena, Gate, formula, run};
use crate::common::Over;

const THREADS: usize = 4;

#[test]
fn one_stream_for_all() {
    let arena = Arena::new();
    let stream = arena.stream();
    thread::scope(|scope| {
        for me in 0..THREADS {
            let (stream, context) = (&stream, &arena.context);
            scope.spawn(move || {
                let one = context.upload_tensor(&[1.0_f32; 8], [8]).unwrap();
                let mut sum = context.zeros::<f32>([8]).unwrap();
                for _ in 0..100 {
                    op::add_inplace(stream, &mut sum, &one).unwrap();
                }
                assert_eq!(sum.to_vec().unwrap(), [100.0; 8], "{me}");
            });
        }
    });
    drop(stream);
    arena.end();
}

#[test]
fn a_stream_a_thread_and_one_source() {
    let arena = Arena::new();
    let source = arena.context.upload_tensor(&[2.0_f32; 16], [16]).unwrap();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            let (context, source) = (&arena.context, &source);
            scope.spawn(move || {
                let stream = context.stream().unwrap();
                for _ in 0..50 {
                    let mut out = context.empty::<f32>([16]).unwrap();
                    op::mul(&stream, source, source, &mut out).unwrap();
                    assert_eq!(out.to_vec().unwrap(), [4.0; 16]);
                }
            });
        }
    });
    drop(source);
    arena.end();
}

#[test]
fn a_hundred_threads_that_live_for_one_operator() {
    let arena = Arena::new();
    let mut sum = arena.tensor(0.0);
    let stream = arena.stream();
    for _ in 0..100 {
        let (context, stream) = (arena.context.clone(), stream.clone());
        sum = thread::spawn(move || {
            let one = context.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
            op::add_inplace(&stream, &mut sum, &one).unwrap();
            sum
        })
        .join()
        .unwrap();
    }
    assert_eq!(sum.to_vec().unwrap(), [100.0; 4]);
    drop((sum, stream));
    arena.end();
}

#[test]
fn memory_made_here_used_there_and_dropped_elsewhere() {
    let arena = Arena::new();
    let stream = arena.stream();
    let (to_use, used) = channel();
    let (to_drop, dropped) = channel();
    let (stream_there, context) = (stream.clone(), arena.context.clone());
    let user = thread::spawn(move || {
        for mut buffer in used {
            stream_there.fill_bytes(&mut buffer, 1).unwrap();
            to_drop.send(buffer).unwrap();
        }
        drop(context);
    });
    let dropper = thread::spawn(move || dropped.into_iter().map(drop::<racl::DeviceBuffer<u8>>).count());
    for _ in 0..500 {
        to_use.send(arena.context.alloc::<u8>(256).unwrap()).unwrap();
    }
    drop(to_use);
    user.join().unwrap();
    assert_eq!(dropper.join().unwrap(), 500);
    drop(stream);
    arena.end();
}

#[test]
fn captures_of_their_own_at_the_same_time() {
    let arena = Arena::new();
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        for me in 0..THREADS {
            let (context, barrier) = (&arena.context, &barrier);
            scope.spawn(move || {
                let stream = context.stream().unwrap();
                let one = context.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
                let mut sum = context.upload_tensor(&[me as f32; 4], [4]).unwrap();
                barrier.wait();
                for round in 1..=10 {
                    let mut graph = stream
                        .capture(CaptureMode::ThreadLocal, |s| {
                            barrier.wait();
                            op::add_inplace(s, &mut sum, &one)
                        })
                        .unwrap();
                    graph.launch(&stream).unwrap();
                    assert_eq!(sum.to_vec().unwrap(), [(me + round) as f32; 4]);
                }
            });
        }
    });
    arena.end();
}

#[test]
fn a_capture_of_all_threads_while_another_allocates_and_waits() {
    let arena = Arena::new();
    let stream = arena.stream();
    let over = AtomicBool::new(false);
    let (worked, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        let _over = Over::at_end(&over);
        scope.spawn(|| {
            let (other, _over) = (arena.stream(), Over::at_end(&over));
            while !over.load(Ordering::Acquire) {
                let done = arena.context.upload(&[1_u8; 8]).and_then(|mut buffer| {
                    other.fill_bytes(&mut buffer, 2)?;
                    other.synchronize()?;
                    buffer.to_vec()
                });
                match done {
                    Ok(bytes) => {
                        assert_eq!(bytes, [2; 8]);
                        worked.fetch_add(1, Ordering::AcqRel)
                    }
                    Err(error) => {
                        let kinds = [ErrorKind::CaptureForbidden, ErrorKind::CaptureInvalidated];
                        assert!(kinds.contains(&error.kind()), "{error}");
                        refused.fetch_add(1, Ordering::AcqRel)
                    }
                };
            }
        });
        let mut out = arena.tensor(0.0);
        let (mut good, mut broken) = (0, 0);
        while good + broken < 50 || (worked.load(Ordering::Acquire) == 0 && !over.load(Ordering::Acquire)) {
            match stream.capture(CaptureMode::Global, |s| op::fill(s, &mut out, 5.0)) {
                Ok(mut graph) => {
                    graph.launch(&stream).unwrap();
                    graph.wait().unwrap();
                    good += 1;
                }
                Err(_) => broken += 1,
            }
            assert!(!stream.is_capturing());
        }
    });
    drop(stream);
    let _ = arena.context.take_drop_errors();
    arena.end();
}

#[test]
fn the_last_handles_dropped_at_once() {
    let arena = Arena::new();
    for _ in 0..50 {
        let stream = arena.stream();
        let mut buffer = arena.context.alloc::<u8>(64).unwrap().into_shared();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        let barrier = Arc::new(Barrier::new(THREADS));
        let droppers: Vec<_> = (0..THREADS)
            .map(|_| {
                let (stream, slice, barrier) = (stream.clone(), buffer.slice(..).unwrap(), Arc::clone(&barrier));
                let context = arena.context.clone();
                thread::spawn(move || {
                    barrier.wait();
                    drop((slice, stream, context));
                })
            })
            .collect();
        drop((stream, buffer));
        droppers.into_iter().for_each(|dropper| dropper.join().unwrap());
    }
    arena.end();
}

#[test]
fn a_context_that_is_closed_while_others_let_go() {
    let arena = Arena::new();
    for _ in 0..20 {
        let context = arena.context.create_context().unwrap();
        let clones: Vec<_> = (0..THREADS).map(|_| (context.clone(), context.stream().unwrap())).collect();
        let droppers: Vec<_> = clones.into_iter().map(|pair| thread::spawn(move || drop(pair))).collect();
        let mut left = Some(context);
        while let Some(context) = left.take() {
            match context.close() {
                Ok(()) => {}
                Err(refused) => {
                    assert_eq!(refused.error().kind(), ErrorKind::InvalidArgument, "{refused}");
                    left = Some(refused.into_value());
                    thread::yield_now();
                }
            }
        }
        droppers.into_iter().for_each(|dropper| dropper.join().unwrap());
    }
    arena.end();
}

#[test]
fn a_graph_that_goes_round() {
    let arena = Arena::new();
    let mut sum = arena.tensor(0.0);
    let one = arena.tensor(1.0);
    let recorder = arena.stream();
    let mut graph = recorder.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut sum, &one)).unwrap();
    for _ in 0..10 {
        let stream = arena.stream();
        graph = thread::spawn(move || {
            graph.launch(&stream).unwrap();
            graph
        })
        .join()
        .unwrap();
    }
    assert_eq!(sum.to_vec().unwrap(), [10.0; 4]);
    drop((graph, recorder, sum, one));
    arena.end();
}

#[test]
fn an_executable_that_goes_round() {
    let arena = Arena::new();
    let stream = arena.stream();
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = arena.executable(mode, formula);
        for step in 0..10 {
            let (x, there) = (arena.tensor(step as f32), stream.clone());
            exe = thread::spawn(move || {
                assert_eq!(run(&mut exe, &there, &x), [2.0 * step as f32 + 1.0; 4]);
                exe
            })
            .join()
            .unwrap();
        }
    }
    drop(stream);
    arena.end();
}

#[test]
fn settings_that_change_under_running_operators() {
    let arena = Arena::new();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _over = Over::at_end(&over);
            for limit in [0, 1, 2, 1024].into_iter().cycle().take(400) {
                arena.context.set_operator_cache(limit);
                arena.context.clear_operator_cache();
                let _ = arena.context.operator_cache();
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let stream = arena.stream();
                let mut out = arena.tensor(0.0);
                let (two, three) = (arena.tensor(2.0), arena.tensor(3.0));
                while !over.load(Ordering::Acquire) {
                    op::add(&stream, &two, &three, &mut out).unwrap();
                    assert_eq!(out.to_vec().unwrap(), [5.0; 4]);
                    op::muls(&stream, &two, 4.0, &mut out).unwrap();
                    assert_eq!(out.to_vec().unwrap(), [8.0; 4]);
                }
            });
        }
    });
    arena.end();
}

#[test]
fn waits_for_what_another_thread_lets_go() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut buffer = arena.context.alloc_zeroed::<u8>(8).unwrap();
    let gate = Gate::before(&stream);
    stream.fill_bytes(&mut buffer, 6).unwrap();
    let event = arena.context.event().unwrap();
    event.record(&stream).unwrap();
    let (began, begun) = channel();
    thread::scope(|scope| {
        let event = &event;
        let buffer = &buffer;
        let stream = &stream;
        let ways: [Box<dyn FnOnce() + Send>; 4] = [
            Box::new(move || event.synchronize().unwrap()),
            Box::new(move || stream.synchronize().unwrap()),
            Box::new(move || assert_eq!(buffer.to_vec().unwrap(), [6; 8])),
            Box::new(move || {
                while !event.is_complete().unwrap() {
                    thread::yield_now();
                }
            }),
        ];
        for way in ways {
            let began = began.clone();
            scope.spawn(move || {
                began.send(()).unwrap();
                way();
            });
        }
        for _ in 0..4 {
            begun.recv().unwrap();
        }
        gate.open();
    });
    drop((event, buffer, stream));
    arena.end();
}

#[test]
fn host_functions_that_give_work_to_each_others_streams() {
    let arena = Arena::new();
    let (a, b) = (arena.stream(), arena.stream());
    let count = Arc::new(AtomicUsize::new(0));
    for _ in 0..20 {
        for (on, other) in [(&a, &b), (&b, &a)] {
            let (other, count) = (other.clone(), Arc::clone(&count));
            on.host_function(move || {
                let count = Arc::clone(&count);
                other
                    .host_function(move || {
                        count.fetch_add(1, Ordering::AcqRel);
                    })
                    .unwrap();
            })
            .unwrap();
        }
    }
    while count.load(Ordering::Acquire) < 40 {
        thread::yield_now();
    }
    a.synchronize().unwrap();
    b.synchronize().unwrap();
    drop((a, b));
    arena.end();
}

#[test]
fn contexts_in_turn_on_one_thread() {
    let arena = Arena::new();
    let contexts: Vec<_> = (0..8).map(|_| arena.context.create_context().unwrap()).collect();
    let mut tensors: Vec<_> = contexts.iter().map(|context| context.zeros::<f32>([4]).unwrap()).collect();
    let streams: Vec<_> = contexts.iter().map(|context| context.stream().unwrap()).collect();
    for round in 0..20 {
        for at in 0..8 {
            let place = (at * 3 + round) % 8;
            let tensor = &mut tensors[place];
            let one = contexts[place].upload_tensor(&[1.0_f32; 4], [4]).unwrap();
            op::add_inplace(&streams[place], tensor, &one).unwrap();
        }
    }
    for tensor in &tensors {
        assert_eq!(tensor.to_vec().unwrap(), [20.0; 4]);
    }
    drop((tensors, streams, contexts));
    arena.end();
}
