//! Host functions that do what the runtime forbids them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use crate::common::{mock, needs_mock};
use racl::plan::Mode;
use racl::{CaptureMode, DeviceBuffer, Error, ErrorKind, Event, Graph, Stream, Tensor, op};

use crate::arena::{Arena, Gate, formula, until, until_still};

/// Runs `work` in a host function of a stream and gives what it gave.
fn inside<T: Send + 'static>(stream: &Stream, mut work: impl FnMut() -> T + Send + 'static) -> T {
    let place: Arc<Mutex<Option<T>>> = Arc::default();
    let out = Arc::clone(&place);
    stream
        .host_function(move || {
            let done = work();
            *out.lock().unwrap() = Some(done);
        })
        .unwrap();
    stream.synchronize().unwrap();
    let done = place.lock().unwrap().take();
    done.expect("it ran")
}

pub(crate) const FORBIDDEN: [ErrorKind; 4] =
    [ErrorKind::NotSupported, ErrorKind::InvalidArgument, ErrorKind::Operator, ErrorKind::CaptureForbidden];

#[track_caller]
fn forbidden<T>(done: Result<T, Error>) {
    let error = done.map(drop).expect_err("it was allowed");
    assert!(FORBIDDEN.contains(&error.kind()), "{error}");
}

#[test]
fn waits_for_their_own_stream() {
    let arena = Arena::new();
    let stream = arena.stream();
    let (own, context) = (stream.clone(), arena.context.clone());
    forbidden(inside(&stream, move || own.synchronize()));
    forbidden(inside(&stream, move || context.synchronize()));
    let own = stream.clone();
    let event = Arc::new(arena.context.event().unwrap());
    let inner = Arc::clone(&event);
    forbidden(inside(&stream, move || {
        inner.record(&own)?;
        inner.synchronize()
    }));
    drop((event, stream));
    arena.end();
}

#[test]
fn waits_for_other_streams() {
    let arena = Arena::new();
    let (stream, other) = (arena.stream(), arena.stream());
    let mut buffer = arena.context.alloc_zeroed::<u8>(8).unwrap();
    let there = other.clone();
    let done = inside(&stream, move || {
        there.fill_bytes(&mut buffer, 3)?;
        there.synchronize()?;
        buffer.to_vec()
    });
    // The runtime forbids waits; where the work is known to be done none is needed.
    match done {
        Ok(bytes) => assert_eq!(bytes, [3; 8]),
        Err(error) => assert_eq!(error.kind(), ErrorKind::NotSupported, "{error}"),
    }
    let mut buffer = arena.context.alloc_zeroed::<u8>(8).unwrap();
    // A context runs one host function at a time: the gate is in another one.
    let apart = arena.device().context().create_context().unwrap();
    let elsewhere = apart.stream().unwrap();
    let gate = Gate::before(&elsewhere);
    elsewhere.fork(&other).unwrap();
    let there = other.clone();
    let done = inside(&stream, move || {
        there.fill_bytes(&mut buffer, 3)?;
        there.synchronize()
    });
    assert_eq!(done.unwrap_err().kind(), ErrorKind::NotSupported);
    gate.open();
    other.synchronize().unwrap();
    drop((stream, other, elsewhere));
    apart.close().unwrap();
    arena.end();
}

#[test]
fn captures() {
    let arena = Arena::new();
    let (stream, other) = (arena.stream(), arena.stream());
    let there = other.clone();
    let mut out = arena.tensor(0.0);
    let done = inside(&stream, move || {
        let mut graph = there.capture(CaptureMode::ThreadLocal, |s| op::fill(s, &mut out, 2.0))?;
        graph.launch(&there)?;
        Ok::<_, Error>((graph, out.clone()))
    });
    if let Ok((graph, out)) = done {
        other.synchronize().unwrap();
        assert_eq!(out.to_vec().unwrap(), [2.0; 4]);
        drop(graph);
    }
    assert!(!other.is_capturing());
    drop((stream, other));
    arena.end();
}

#[test]
fn runs_of_plans() {
    let arena = Arena::new();
    let (stream, other) = (arena.stream(), arena.stream());
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = Some(arena.executable(mode, formula));
        let (there, x) = (other.clone(), arena.tensor(2.0));
        let done = inside(&stream, move || {
            let mut exe = exe.take().unwrap();
            let mut bind = exe.bindings();
            let ran = exe.run(&there, bind.set(exe.input("x").unwrap(), &x));
            ran.map(|()| exe)
        });
        if let Ok(exe) = done {
            other.synchronize().unwrap();
            assert_eq!(crate::arena::result(&exe), [5.0; 4]);
        }
    }
    drop((stream, other));
    arena.end();
}

#[test]
fn objects_of_every_kind() {
    let arena = Arena::new();
    let stream = arena.stream();
    let context = arena.context.clone();
    let made = inside(&stream, move || {
        let stream = context.stream()?;
        let event = context.event()?;
        let buffer = context.alloc::<u8>(64)?;
        let pinned = context.pinned::<u8>(64)?;
        let other = context.create_context()?;
        drop((event, pinned, other, stream));
        Ok::<_, Error>(buffer)
    });
    if let Err(error) = &made {
        assert!(FORBIDDEN.contains(&error.kind()), "{error}");
    }
    drop((made, stream));
    arena.end();
}

#[test]
fn waits_for_a_copy_that_is_dropped_then() {
    let arena = Arena::new();
    let (stream, other) = (arena.stream(), arena.stream());
    let mut buffer = arena.context.alloc_zeroed::<u8>(8).unwrap();
    // Not by a host function, which would keep the other one from running.
    needs_mock("it holds a stream beside a host function");
    mock::hold(&stream).unwrap();
    let mut lent = Some(stream.upload(arena.context.pinned_from(&[3_u8; 8]).unwrap(), &mut buffer).unwrap());
    let held = stream.clone();
    let waited = inside(&other, move || {
        let refused = lent.take().unwrap().wait().unwrap_err();
        let kind = refused.error().kind();
        drop(refused);
        mock::release(&held).unwrap();
        kind
    });
    assert_eq!(waited, ErrorKind::NotSupported);
    assert_eq!(buffer.to_vec().unwrap(), [3; 8]);
    drop((stream, other, buffer));
    arena.end();
}

#[test]
fn functions_that_queue_functions_on_each_others_streams() {
    fn again(here: &Stream, there: &Stream, left: usize, count: &Arc<AtomicUsize>) {
        let (next, back, counted) = (there.clone(), here.clone(), Arc::clone(count));
        here.host_function(move || {
            counted.fetch_add(1, Ordering::AcqRel);
            if left > 0 {
                again(&next, &back, left - 1, &counted);
            }
        })
        .unwrap();
    }
    let arena = Arena::new();
    let (stream, other) = (arena.stream(), arena.stream());
    let count = Arc::new(AtomicUsize::new(0));
    again(&stream, &other, 200, &count);
    until(|| count.load(Ordering::Acquire) == 201);
    stream.synchronize().unwrap();
    other.synchronize().unwrap();
    drop((stream, other));
    arena.end();
}

#[test]
fn functions_that_queue_themselves() {
    let arena = Arena::new();
    let stream = arena.stream();
    let own = stream.clone();
    forbidden(inside(&stream, move || own.host_function(|| ())));
    drop(stream);
    arena.end();
}

/// A thread fills the queue behind a host function with operators, and waits for room; then the function does `what`
/// with another stream and the tensor of those operators.
fn behind_a_full_queue(what: impl Fn(&Stream, &mut Tensor<f32>) + Send + 'static) {
    behind_a_queue_full_of(|stream, x| op::fill(stream, x, 1.0), what);
}

/// Said before the function of the host waits for what fills the queue.
const LIMITS: &str = "it uses mock::limit_events";

/// As [`behind_a_full_queue`], of what `fill` gives to the stream.
fn behind_a_queue_full_of(
    fill: impl Fn(&Stream, &mut Tensor<f32>) -> Result<(), Error>,
    what: impl Fn(&Stream, &mut Tensor<f32>) + Send + 'static,
) {
    let arena = Arena::new();
    let (stream, other, mut x) = (arena.stream(), arena.stream(), arena.tensor(0.0));
    let (given, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counts, side, mut same, tell) = (Arc::clone(&given), other.clone(), x.clone(), Arc::clone(&done));
    stream
        .host_function(move || {
            // The queue is full then.
            until_still(|| Some(counts.load(Ordering::Acquire)).filter(|given| *given > 0));
            what(&side, &mut same);
            tell.fetch_add(1, Ordering::AcqRel);
        })
        .unwrap();
    thread::scope(|scope| {
        // Starts the function, which no thread that fills the queue has to run then.
        scope.spawn(|| stream.synchronize().unwrap());
        for _ in 0..5000 {
            fill(&stream, &mut x).unwrap();
            given.fetch_add(1, Ordering::AcqRel);
        }
    });
    op::fill(&stream, &mut x, 1.0).unwrap();
    stream.synchronize().unwrap();
    other.synchronize().unwrap();
    assert_eq!(done.load(Ordering::Acquire), 1);
    assert_eq!(x.to_vec().unwrap(), [1.0; 4]);
    drop((stream, other, x, fill));
    arena.end();
}

#[test]
fn a_count_of_executors_behind_a_full_queue() {
    behind_a_full_queue(|side, _| {
        let cache = side.context().operator_cache();
        assert!(cache.signatures > 0 && cache.hits + cache.misses > 0, "{cache:?}");
    });
}

#[test]
fn an_end_of_all_executors_behind_a_full_queue() {
    behind_a_full_queue(|side, _| {
        side.context().clear_operator_cache();
        side.context().set_operator_cache(0);
        side.context().set_operator_cache(64);
    });
}

#[test]
fn work_on_the_same_memory_behind_a_full_queue() {
    behind_a_full_queue(|side, same| {
        forbidden(op::fill(side, same, 2.0));
        forbidden(same.to_vec());
        let mut graph = side.capture(CaptureMode::Relaxed, |s| op::fill(s, same, 3.0)).unwrap();
        forbidden(graph.launch(side));
    });
}

/// Its last launch is on the stream of the function, behind that.
#[test]
fn a_launch_of_a_graph_that_follows_one_behind_a_full_queue() {
    let place: Arc<OnceLock<Mutex<Graph>>> = Arc::default();
    let same = Arc::clone(&place);
    let fill = move |stream: &Stream, x: &mut Tensor<f32>| {
        place.get_or_init(|| {
            let mut own = stream.context().zeros::<f32>([4]).unwrap();
            let other = stream.context().stream().unwrap();
            let mut graph = other.capture(CaptureMode::Relaxed, |s| op::fill(s, &mut own, 1.0)).unwrap();
            graph.launch(stream).unwrap();
            Mutex::new(graph)
        });
        op::fill(stream, x, 1.0)
    };
    behind_a_queue_full_of(fill, move |side, _| forbidden(same.get().unwrap().lock().unwrap().launch(side)));
}

/// A thread that is over when this is.
#[derive(Default)]
struct Joined(Mutex<Option<thread::JoinHandle<()>>>);

impl Drop for Joined {
    fn drop(&mut self) {
        self.0.get_mut().unwrap().take().into_iter().for_each(|thread| thread.join().unwrap());
    }
}

/// One thread records an event into the full queue, a second one lets a stream wait for that event, and the function has
/// work for this stream.
#[test]
fn a_stream_that_another_thread_lets_wait_for_what_a_third_one_records() {
    needs_mock(LIMITS);
    let place: Arc<OnceLock<(Event, Mutex<DeviceBuffer<u8>>)>> = Arc::default();
    let waits = Arc::<Joined>::default();
    let (same, all) = (Arc::clone(&place), Arc::clone(&waits));
    let fill = move |stream: &Stream, _: &mut Tensor<f32>| {
        let _ = &waits;
        let (event, _) = place.get_or_init(|| {
            // A record waits for an event of the device then.
            mock::limit_events(Some(64)).unwrap();
            let context = stream.context();
            (context.event().unwrap(), Mutex::new(context.alloc(64).unwrap()))
        });
        event.record(stream)
    };
    behind_a_queue_full_of(fill, move |side, _| {
        let begun = Arc::new(AtomicUsize::new(0));
        let (shared, stream, begins) = (Arc::clone(&same), side.clone(), Arc::clone(&begun));
        *all.0.lock().unwrap() = Some(thread::spawn(move || {
            begins.store(1, Ordering::Release);
            stream.wait(&shared.get().unwrap().0).unwrap();
        }));
        until_still(|| Some(begun.load(Ordering::Acquire)).filter(|begun| *begun > 0));
        side.fill_bytes(&mut *same.get().unwrap().1.lock().unwrap(), 2).unwrap();
    });
}

#[test]
fn an_event_that_another_thread_records_or_waits_for_behind_a_full_queue() {
    needs_mock(LIMITS);
    for waits in [false, true] {
        let place = Arc::new(OnceLock::new());
        let same = Arc::clone(&place);
        let fill = move |stream: &Stream, _: &mut Tensor<f32>| {
            let event: &Event = place.get_or_init(|| {
                // A record waits for an event of the device, a wait for room in the queue.
                mock::limit_events((!waits).then_some(64)).unwrap();
                let event = stream.context().event().unwrap();
                event.record(stream).unwrap();
                event
            });
            if waits { stream.wait(event) } else { event.record(stream) }
        };
        behind_a_queue_full_of(fill, move |side, _| {
            // Allowed while the other thread is between two of its calls, and no reason to wait for it.
            let same = same.get().unwrap();
            for done in [same.record(side), side.wait(same)] {
                done.unwrap_or_else(|error| forbidden(Err::<(), _>(error)));
            }
        });
    }
}

/// A third thread makes a future of it, which is no call that the function may not wait for.
#[test]
fn a_future_of_an_event_that_another_thread_records_behind_a_full_queue() {
    needs_mock(LIMITS);
    let place = Arc::new(OnceLock::new());
    let same = Arc::clone(&place);
    let fill = move |stream: &Stream, _: &mut Tensor<f32>| {
        let event: &Arc<Event> = place.get_or_init(|| {
            mock::limit_events(Some(64)).unwrap();
            Arc::new(stream.context().event().unwrap())
        });
        event.record(stream)
    };
    behind_a_queue_full_of(fill, move |_, _| {
        let event = Arc::clone(same.get().unwrap());
        // Whoever has the event does not come back before this function does.
        racl::set_drop_limit(Duration::from_millis(50));
        let made = thread::spawn(move || drop(event.reached()));
        made.join().unwrap();
        racl::set_drop_limit(Duration::from_secs(10));
    });
}

#[test]
fn memory_of_their_own_stream() {
    let arena = Arena::new();
    let stream = arena.stream();
    let own = stream.clone();
    forbidden(inside(&stream, move || own.alloc::<u8>(64)));
    let own = stream.clone();
    forbidden(inside(&stream, move || own.zeros::<f32>([4])));
    drop(stream);
    arena.end();
}
