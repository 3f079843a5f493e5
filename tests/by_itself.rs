//! What happens with nobody waiting: work starts by itself, as on a card, so that functions run, memory comes back and
//! streams that are gone get done. Nothing here stands still, sleeps, or makes a call that waits for what it looks for.

mod common;

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context as Task, Poll, Wake};
use std::time::{Duration, Instant};

use common::{device, mock};
use racl::plan::{Frozen, HostFunction, Mode, Plan, RunOptions};
use racl::{CaptureMode, Context, Stream, op};

/// Far more than work takes that starts within a millisecond, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

/// Looks until it is so.
#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LIMIT, "{what}: not after {LIMIT:?}");
        std::thread::yield_now();
    }
}

fn context() -> Context {
    device().context().create_context().unwrap()
}

/// A function that says that it ran.
fn flag() -> (Arc<AtomicBool>, impl FnMut() + Send + 'static) {
    let flag = Arc::<AtomicBool>::default();
    let set = Arc::clone(&flag);
    (flag, move || set.store(true, Ordering::Release))
}

#[track_caller]
fn until_set(what: &str, flag: &AtomicBool) {
    until(what, || flag.load(Ordering::Acquire));
}

#[test]
fn a_host_function_runs() {
    let _alone = mock::exclusive();
    let stream = context().stream().unwrap();
    let (ran, set) = flag();
    let before = waits();
    stream.host_function(set).unwrap();
    until_set("a host function", &ran);
    assert_eq!(waits(), before, "nobody waited");
}

/// Calls that wait or ask for work.
fn waits() -> u64 {
    [
        "aclrtSynchronizeStream",
        "aclrtSynchronizeEvent",
        "aclrtSynchronizeDevice",
        "aclrtStreamQuery",
        "aclrtQueryEventStatus",
    ]
    .map(mock::calls)
    .iter()
    .sum()
}

#[test]
fn work_behind_other_streams_runs() {
    let _alone = mock::exclusive();
    let context = context();
    let streams: Vec<_> = (0..4).map(|_| context.stream().unwrap()).collect();
    let mut x = context.zeros::<f32>([4]).unwrap();
    let before = waits();
    // Each waits for the one before it, by the tensor and the last one by an event as well.
    for stream in &streams {
        op::adds_inplace(stream, &mut x, 1.0).unwrap();
    }
    streams[3].fork(&streams[0]).unwrap();
    let (ran, set) = flag();
    streams[0].host_function(set).unwrap();
    until_set("a chain over four streams", &ran);
    assert_eq!(waits(), before, "nobody waited");
    assert_eq!(x.to_vec().unwrap(), [4.0; 4]);
}

#[test]
fn an_event_and_a_copy_become_complete() {
    let _alone = mock::exclusive();
    let context = context();
    let (stream, event) = (context.stream().unwrap(), context.event().unwrap());
    let mut buffer = context.alloc::<u32>(1000).unwrap();
    let lent = stream.upload(context.pinned_from(&[7; 1000]).unwrap(), &mut buffer).unwrap();
    event.record(&stream).unwrap();
    until("an event", || event.is_complete().unwrap());
    until("a copy", || lent.is_complete().unwrap());
    until("a stream", || stream.is_complete().unwrap());
    assert_eq!(buffer.to_vec().unwrap(), lent.wait().unwrap()[..]);
}

/// Says that it was woken.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn who_polled_a_future_once_is_woken() {
    let _alone = mock::exclusive();
    let context = context();
    let (stream, event) = (context.stream().unwrap(), Arc::new(context.event().unwrap()));
    let mut buffer = context.alloc::<u32>(1000).unwrap();
    for round in 0..50 {
        let lent = stream.upload(context.pinned_from(&[round; 1000]).unwrap(), &mut buffer).unwrap();
        event.record(&stream).unwrap();
        let (ran, set) = flag();
        stream.host_function(set).unwrap();
        let mut back = pin!(lent.into_future());
        let mut reached = pin!(event.reached());
        let mut finished = pin!(stream.finished());
        assert_eq!(once_woken("a copy", back.as_mut()).unwrap()[..], [round; 1000]);
        once_woken("an event", reached.as_mut()).unwrap();
        once_woken("a stream", finished.as_mut()).unwrap();
        assert!(ran.load(Ordering::Acquire));
    }
}

/// What a future gives that is polled again only when its waker was told.
#[track_caller]
fn once_woken<T>(what: &str, mut future: Pin<&mut impl Future<Output = T>>) -> T {
    let woken = Arc::new(Woken(AtomicBool::new(false)));
    let waker = Arc::clone(&woken).into();
    let mut task = Task::from_waker(&waker);
    if let Poll::Ready(done) = future.as_mut().poll(&mut task) {
        return done;
    }
    until_set(what, &woken.0);
    match future.poll(&mut task) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("{what}: woken, and not ready"),
    }
}

#[test]
fn launches_of_graphs_and_plans_run() {
    let _alone = mock::exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    let count = Arc::<AtomicUsize>::default();
    let counted = |count: &Arc<AtomicUsize>| {
        let count = Arc::clone(count);
        move || {
            count.fetch_add(1, Ordering::AcqRel);
        }
    };
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.host_function(counted(&count))).unwrap();
    let before = waits();
    (0..3).for_each(|_| graph.launch(&stream).unwrap());
    until("three launches", || count.load(Ordering::Acquire) == 3);
    assert_eq!(waits(), before, "nobody waited");
    for mode in [Mode::Captured, Mode::Eager] {
        let count = Arc::<AtomicUsize>::default();
        let function = counted(&count);
        let plan = Plan::build(|g| g.host_function(&HostFunction::new("count", 1, move |_| function()))).unwrap();
        let mut exe = plan.executable(&context, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        (0..3).for_each(|_| exe.run(&stream, &mut exe.bindings()).unwrap());
        until("three runs", || count.load(Ordering::Acquire) == 3);
    }
}

#[test]
fn memory_of_a_dropped_buffer_comes_back() {
    let _alone = mock::exclusive();
    let context = context();
    // Where it comes back to the library, which counts it.
    context.set_allocator(racl::Allocator::Direct);
    let stream = context.stream().unwrap();
    let live = || mock::live_handles().device_allocations;
    let before = live();
    mock::hold(&stream).unwrap();
    let mut buffers: Vec<_> = (0..10).map(|_| context.alloc::<u8>(4096).unwrap()).collect();
    buffers.iter_mut().for_each(|buffer| stream.fill_bytes(buffer, 1).unwrap());
    drop(buffers);
    assert!(live() >= before + 10, "the work may still use it");
    mock::release(&stream).unwrap();
    // Other memory comes and goes; nobody waits for the stream.
    until("ten buffers", || {
        drop(context.alloc::<u8>(1).unwrap());
        live() <= before
    });
}

#[test]
fn what_a_host_function_owns_is_dropped_by_later_calls() {
    let _alone = mock::exclusive();
    let stream = context().stream().unwrap();
    let owned = Arc::new(());
    let weak: Weak<()> = Arc::downgrade(&owned);
    let (ran, mut set) = flag();
    let function = move || {
        let _owned = &owned;
        set();
    };
    stream.host_function(function).unwrap();
    until_set("a host function", &ran);
    until("what it owned", || {
        stream.host_function(|| {}).unwrap();
        weak.strong_count() == 0
    });
}

#[test]
fn work_of_a_dropped_stream_is_done() {
    let _alone = mock::exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    let mut buffer = context.alloc_zeroed::<u8>(64).unwrap();
    let (ran, set) = flag();
    stream.fill_bytes(&mut buffer, 3).unwrap();
    stream.host_function(set).unwrap();
    drop(stream);
    until_set("the work of a stream that is gone", &ran);
    assert_eq!(buffer.to_vec().unwrap(), [3; 64]);
}

/// Its drop cannot wait: what it waits for comes from whoever drops it.
#[test]
fn work_of_a_stream_dropped_behind_a_gate_is_done_after_the_signal() {
    let _alone = mock::exclusive();
    let context = context();
    let [main, behind, other]: [Stream; 3] = [0, 1, 2].map(|_| context.stream().unwrap());
    let mut gate = None;
    let plan = Plan::build(|g| {
        let it = *gate.insert(g.external("gate")?);
        g.wait_external(it)
    });
    let mut exe = plan.unwrap().executable(&context, &RunOptions::new(), Frozen::new()).unwrap();
    exe.run(&main, &mut exe.bindings()).unwrap();
    main.fork(&behind).unwrap();
    let (ran, set) = flag();
    behind.host_function(set).unwrap();
    drop(behind);
    assert!(!ran.load(Ordering::Acquire), "no signal was given");
    exe.signal(gate.unwrap(), &other).unwrap();
    until_set("the work of a stream that is gone", &ran);
    until("the run", || main.is_complete().unwrap());
    assert_eq!(context.take_drop_errors().len(), 0);
}
