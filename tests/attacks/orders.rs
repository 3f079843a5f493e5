//! Every order of dropping things that know each other.

use std::any::Any;

use racl::plan::Mode;
use racl::{CaptureMode, Prefetch, op};

use crate::arena::{Arena, Gate, formula, run};

type Things = Vec<Box<dyn Any>>;

/// Calls `each` with every order of `0..n`.
fn orders(n: usize, mut each: impl FnMut(&[usize])) {
    fn rest(order: &mut Vec<usize>, at: usize, each: &mut dyn FnMut(&[usize])) {
        if at == order.len() {
            return each(order);
        }
        for next in at..order.len() {
            order.swap(at, next);
            rest(order, at + 1, each);
            order.swap(at, next);
        }
    }
    rest(&mut (0..n).collect(), 0, &mut each);
}

/// Makes things and drops them in every order; nothing is left each time.
fn in_every_order(make: impl Fn(&Arena) -> Things) {
    let arena = Arena::new();
    let count = make(&arena).len();
    let mut tried = 0;
    orders(count, |order| {
        let mut things: Vec<_> = make(&arena).into_iter().map(Some).collect();
        for &place in order {
            drop(things[place].take());
        }
        let errors = arena.context.take_drop_errors();
        assert!(errors.is_empty(), "{order:?}: {errors:?}");
        tried += 1;
    });
    assert_eq!(tried, (1..=count).product::<usize>());
    arena.end();
}

#[test]
fn stream_buffer_event_and_slice() {
    in_every_order(|arena| {
        let (stream, event) = (arena.stream(), arena.context.event().unwrap());
        let mut buffer = arena.context.alloc::<u8>(32).unwrap().into_shared();
        let slice = buffer.slice(4..8).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        event.record(&stream).unwrap();
        let other = arena.stream();
        other.wait(&event).unwrap();
        vec![Box::new(stream), Box::new(event), Box::new(buffer), Box::new(slice), Box::new(other)]
    });
}

#[test]
fn graph_streams_and_what_it_uses() {
    in_every_order(|arena| {
        let (recorder, runner) = (arena.stream(), arena.stream());
        let (a, mut out) = (arena.tensor(1.0), arena.tensor(0.0));
        let mut graph = recorder
            .capture(CaptureMode::ThreadLocal, |s| {
                let side = s.side("side")?;
                s.fork(&side)?;
                side.prefetch(&a, Prefetch::all())?;
                s.join(&side)?;
                op::add_inplace(s, &mut out, &a)
            })
            .unwrap();
        graph.launch(&runner).unwrap();
        vec![Box::new(recorder), Box::new(runner), Box::new(a), Box::new(out), Box::new(graph)]
    });
}

#[test]
fn transfers_streams_and_buffers() {
    in_every_order(|arena| {
        let stream = arena.stream();
        let mut buffer = arena.context.alloc::<u8>(16).unwrap();
        let up = stream.upload(arena.context.pinned(16).unwrap(), &mut buffer).unwrap();
        let down = stream.download(&buffer, arena.context.pinned(16).unwrap()).unwrap();
        let clone = stream.clone();
        vec![Box::new(stream), Box::new(buffer), Box::new(up), Box::new(down), Box::new(clone)]
    });
}

#[test]
fn executable_bindings_plan_and_stream() {
    in_every_order(|arena| {
        let stream = arena.stream();
        let mut exe = arena.executable(Mode::Captured, formula);
        let x = arena.tensor(2.0);
        assert_eq!(run(&mut exe, &stream, &x), [5.0; 4]);
        let (bind, plan) = (exe.bindings(), exe.plan().clone());
        vec![Box::new(stream), Box::new(exe), Box::new(x), Box::new(bind), Box::new(plan)]
    });
}

#[test]
fn two_executables_one_behind_the_other() {
    in_every_order(|arena| {
        let stream = arena.stream();
        let mut first = arena.executable(Mode::Captured, formula);
        let mut second = arena.executable(Mode::Eager, formula);
        let x = arena.tensor(2.0);
        run(&mut first, &stream, &x);
        let y = first.output_id("y").unwrap();
        let mut copy = arena.context.empty::<f32>([4]).unwrap();
        first.output::<f32>(y).unwrap().copy_to(&stream, &mut copy).unwrap();
        let mut bind = second.bindings();
        second.run(&stream, bind.set(second.input("x").unwrap(), &copy)).unwrap();
        vec![Box::new(stream), Box::new(first), Box::new(second), Box::new(x), Box::new(bind)]
    });
}

#[test]
fn a_capture_that_is_given_up() {
    in_every_order(|arena| {
        let (stream, side) = (arena.stream(), arena.stream());
        let mut buffer = arena.context.alloc::<u8>(16).unwrap();
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        capture.stream().fork(&side).unwrap();
        side.fill_bytes(&mut buffer, 1).unwrap();
        let event = arena.context.event().unwrap();
        event.record(&side).unwrap();
        vec![Box::new(stream), Box::new(side), Box::new(buffer), Box::new(capture), Box::new(event)]
    });
}

#[test]
fn contexts_within_contexts() {
    in_every_order(|arena| {
        let outer = arena.context.create_context().unwrap();
        let inner = outer.create_context().unwrap();
        let (a, b) = (outer.stream().unwrap(), inner.stream().unwrap());
        let mut buffer = inner.alloc::<u8>(16).unwrap();
        b.fill_bytes(&mut buffer, 1).unwrap();
        vec![Box::new(outer), Box::new(inner), Box::new(a), Box::new(b), Box::new(buffer)]
    });
}

#[test]
fn work_behind_a_gate_that_opens_at_every_place() {
    let arena = Arena::new();
    for opens in 0..3 {
        orders(3, |order| {
            let stream = arena.stream();
            let mut gate = Some(Gate::before(&stream));
            let mut a = arena.context.alloc::<u8>(16).unwrap();
            let mut b = arena.context.alloc::<u8>(16).unwrap();
            stream.fill_bytes(&mut a, 1).unwrap();
            stream.copy(&a, &mut b).unwrap();
            let event = arena.context.event().unwrap();
            event.record(&stream).unwrap();
            let mut things: Things = vec![Box::new(a), Box::new(b), Box::new(event)];
            for (step, &place) in order.iter().enumerate() {
                if step == opens {
                    drop(gate.take());
                }
                things[place] = Box::new(());
            }
        });
    }
    arena.end();
}
