//! Values that are never dropped: what they lent, locked or began stays theirs, and everybody else goes on.

use std::cell::RefCell;
use std::mem::forget;
use std::rc::Rc;

use racl::plan::{Mode, Pool};
use racl::{CaptureMode, ErrorKind, op};

use crate::arena::{Arena, Gate, formula, refused, run};

#[test]
fn a_stream_with_work() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut buffer = arena.context.alloc_zeroed::<u8>(8).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    forget(stream);
    assert_eq!(buffer.to_vec().unwrap(), [1; 8]);
    drop(buffer);
    arena.end_with_leaks();
}

#[test]
fn a_transfer_in_flight() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut buffer = arena.context.alloc_zeroed::<u32>(1 << 10).unwrap();
    let gate = Gate::before(&stream);
    forget(stream.upload(arena.context.pinned_from(&[3_u32; 1 << 10]).unwrap(), &mut buffer).unwrap());
    forget(stream.download(&buffer, arena.context.pinned(1 << 10).unwrap()).unwrap());
    gate.open();
    assert_eq!(buffer.to_vec().unwrap(), [3; 1 << 10]);
    drop((stream, buffer));
    arena.end_with_leaks();
}

#[test]
fn a_capture() {
    let arena = Arena::new();
    let stream = arena.stream();
    let (context, there) = (arena.context.clone(), stream.clone());
    // Its thread goes on capturing, and nobody can end that.
    std::thread::spawn(move || {
        let mut buffer = context.alloc_zeroed::<u8>(8).unwrap();
        let capture = there.begin_capture(CaptureMode::ThreadLocal).unwrap();
        capture.stream().fill_bytes(&mut buffer, 1).unwrap();
        forget(capture);
        refused(buffer.to_vec(), &[ErrorKind::CaptureForbidden]);
        refused(there.synchronize(), &[ErrorKind::CaptureForbidden]);
    })
    .join()
    .unwrap();
    assert!(stream.is_capturing());
    refused(stream.synchronize(), &[ErrorKind::CaptureForbidden]);
    drop(stream);
    arena.end_with_leaks();
}

#[test]
fn a_graph_that_runs() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut sum = arena.tensor(0.0);
    let one = arena.tensor(1.0);
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut sum, &one)).unwrap();
    for _ in 0..10 {
        graph.launch(&stream).unwrap();
    }
    forget(graph);
    drop(one);
    let noise = arena.tensor(50.0);
    assert_eq!(sum.to_vec().unwrap(), [10.0; 4]);
    drop((stream, sum, noise));
    arena.end_with_leaks();
}

#[test]
fn a_view_of_host_memory_of_a_graph() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut buffer = arena.context.alloc_zeroed::<u32>(2).unwrap();
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    let input = capture.stream().upload(arena.context.pinned_from(&[0_u32; 2]).unwrap(), &mut buffer).unwrap();
    let mut graph = capture.finish().unwrap();
    for step in 1..=3 {
        let mut view = graph.host(&input).unwrap();
        view[0] = step;
        forget(Box::new(view));
        graph.launch(&stream).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [step, 0]);
    }
    forget(input);
    drop((graph, stream, buffer));
    arena.end_with_leaks();
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
        forget((exe, bind));
        drop(x);
        gate.open();
        stream.synchronize().unwrap();
    }
    arena.end_with_leaks();
}

#[test]
fn the_result_of_a_run() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut exe = arena.executable(Mode::Captured, formula);
    let x = arena.tensor(1.0);
    assert_eq!(run(&mut exe, &stream, &x), [3.0; 4]);
    let y = exe.output_id("y").unwrap();
    forget(exe.output::<f32>(y).unwrap());
    let two = arena.tensor(2.0);
    assert_eq!(run(&mut exe, &stream, &two), [5.0; 4]);
    drop((exe, x, two, stream));
    arena.end_with_leaks();
}

#[test]
fn pools_and_events_and_contexts() {
    let arena = Arena::new();
    let stream = arena.stream();
    for _ in 0..20 {
        let event = arena.context.event().unwrap();
        event.record(&stream).unwrap();
        stream.wait(&event).unwrap();
        forget(event);
        forget(Pool::new(&arena.context));
        forget(arena.context.create_context().unwrap());
    }
    stream.synchronize().unwrap();
    drop(stream);
    arena.end_with_leaks();
}

#[test]
fn rings_of_things_that_hold_each_other() {
    #[derive(Default)]
    struct Ring {
        next: RefCell<Option<Rc<Self>>>,
        held: RefCell<Vec<Box<dyn std::any::Any>>>,
    }
    let arena = Arena::new();
    let (a, b) = (Rc::new(Ring::default()), Rc::new(Ring::default()));
    a.next.replace(Some(Rc::clone(&b)));
    b.next.replace(Some(Rc::clone(&a)));
    let stream = arena.stream();
    let mut buffer = arena.context.alloc_zeroed::<u8>(8).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    a.held.borrow_mut().push(Box::new(stream));
    b.held.borrow_mut().push(Box::new(buffer));
    drop((a, b));
    arena.context.synchronize().unwrap();
    arena.end_with_leaks();
}

#[test]
fn a_host_function_that_forgets_what_it_caught() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut caught = Some((arena.tensor(1.0), arena.context.event().unwrap()));
    stream.host_function(move || forget(caught.take())).unwrap();
    stream.synchronize().unwrap();
    drop(stream);
    arena.end_with_leaks();
}
