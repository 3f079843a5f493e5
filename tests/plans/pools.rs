//! Memory that several executables share, of which one runs at a time.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use racl::op::DataType::F32;
use racl::plan::{Executable, Foreign, Frozen, HostFunction, Input, Launch, Mode, OnMove, Plan, Pool, RunOptions};
use racl::{Allocator, Context, ErrorKind, Result, Stream};

use crate::common::{assert_says, mock};
use crate::{Alone, give, result};

/// y = 2 x + add, over a temporary that is full of 2 x in between.
fn plan(size: usize, add: f32) -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [size], F32, Input::Copied)?;
        let h = g.muls(x, 2.0)?;
        let y = g.adds(h, add)?;
        g.output("y", y)
    })
    .unwrap()
}

#[test]
fn runs_of_one_pool_follow_one_another_on_the_device() {
    let alone = Alone::new();
    let (first, second) = (alone.stream(), alone.stream());
    for modes in [[Mode::Captured; 2], [Mode::Eager; 2], [Mode::Captured, Mode::Eager]] {
        let pool = Pool::new(&alone.device);
        let make = |mode, add| {
            let options = RunOptions::new().mode(mode).pool(&pool);
            plan(256, add).executable(&alone.device, &options, Frozen::new()).unwrap()
        };
        let (mut a, mut b) = (make(modes[0], 1.0), make(modes[1], 2.0));
        assert_eq!(pool.bytes(), plan(256, 0.0).memory(&[]).unwrap().peak as usize);
        let x = [1.0_f32, 10.0].map(|value| alone.device.upload_tensor(&[value; 256], [256]).unwrap());
        let mut binds = [give(&a, "x", &x[0]), give(&b, "x", &x[1])];
        mock::hold(&first).unwrap();
        a.run(&first, &mut binds[0]).unwrap();
        // Returns at once, although what it waits for is held.
        b.run(&second, &mut binds[1]).unwrap();
        mock::run_until_idle();
        assert!(!second.is_complete().unwrap(), "{modes:?}");
        mock::release(&first).unwrap();
        assert_eq!((result(&a, "y"), result(&b, "y")), (vec![3.0; 256], vec![22.0; 256]));
        assert!(second.is_complete().unwrap());
    }
}

#[test]
fn without_a_common_pool_nothing_waits() {
    let alone = Alone::new();
    let (first, second) = (alone.stream(), alone.stream());
    let make = |add| plan(256, add).capture(&alone.device, Frozen::new()).unwrap();
    let (mut a, mut b) = (make(1.0), make(2.0));
    let x = alone.device.upload_tensor(&[1.0_f32; 256], [256]).unwrap();
    let (mut for_a, mut for_b) = (give(&a, "x", &x), give(&b, "x", &x));
    mock::hold(&first).unwrap();
    a.run(&first, &mut for_a).unwrap();
    b.run(&second, &mut for_b).unwrap();
    second.synchronize().unwrap();
    mock::release(&first).unwrap();
    assert_eq!((result(&a, "y"), result(&b, "y")), (vec![3.0; 256], vec![4.0; 256]));
}

#[test]
fn runs_of_one_executable_follow_one_another_too() {
    let alone = Alone::new();
    let (first, second) = (alone.stream(), alone.stream());
    for mode in [Mode::Captured, Mode::Eager] {
        let options = RunOptions::new().mode(mode);
        let mut exe = plan(16, 1.0).executable(&alone.device, &options, Frozen::new()).unwrap();
        let x = [1.0_f32, 10.0].map(|value| alone.device.upload_tensor(&[value; 16], [16]).unwrap());
        let mut binds = x.each_ref().map(|x| give(&exe, "x", x));
        mock::hold(&first).unwrap();
        exe.run(&first, &mut binds[0]).unwrap();
        exe.run(&second, &mut binds[1]).unwrap();
        mock::run_until_idle();
        assert!(!second.is_complete().unwrap());
        mock::release(&first).unwrap();
        assert_eq!(result(&exe, "y"), [21.0; 16]);
    }
}

#[test]
fn graphs_of_before_stay_valid_when_the_pool_grows() {
    let alone = Alone::new();
    let stream = alone.stream();
    let pool = Pool::new(&alone.device);
    let options = RunOptions::new().pool(&pool);
    let mut exes = Vec::new();
    for size in [64, 4096, 128] {
        let exe = plan(size, 1.0).executable(&alone.device, &options, Frozen::new()).unwrap();
        exes.push((size, exe));
    }
    assert_eq!(pool.bytes(), plan(4096, 1.0).memory(&[]).unwrap().peak as usize);
    for turn in 0..3 {
        for (size, exe) in &mut exes {
            let x = alone.device.upload_tensor(&vec![turn as f32; *size], [*size]).unwrap();
            exe.run(&stream, &mut give(exe, "x", &x)).unwrap();
        }
        for (size, exe) in &exes {
            assert_eq!(result(exe, "y"), vec![2.0 * turn as f32 + 1.0; *size]);
        }
    }
}

#[test]
fn a_stream_that_is_gone_is_no_longer_waited_for() {
    let alone = Alone::new();
    let pool = Pool::new(&alone.device);
    let ran = Arc::new(AtomicU32::new(0));
    let inside = Arc::clone(&ran);
    let count = HostFunction::new("test.count", 1, move |_| {
        inside.fetch_add(1, Ordering::Relaxed);
    });
    let plan = Plan::build(|g| g.host_function(&count)).unwrap();
    let options = RunOptions::new().pool(&pool);
    let mut exe = plan.executable(&alone.device, &options, Frozen::new()).unwrap();
    for run in 1..=3 {
        let stream = alone.stream();
        exe.run(&stream, &mut exe.bindings()).unwrap();
        drop(stream);
        assert_eq!(ran.load(Ordering::Relaxed), run);
    }
}

/// As [`plan`] with an input of a class, and a gate between the steps.
fn gated(class: Input) -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [64], F32, class)?;
        let gate = g.external("gate")?;
        let h = g.muls(x, 2.0)?;
        g.wait_external(gate)?;
        let y = g.adds(h, 1.0)?;
        g.output("y", y)
    })
    .unwrap()
}

#[test]
fn a_run_is_behind_one_whose_stream_was_dropped() {
    let alone = Alone::new();
    let other = alone.stream();
    let x = [1.0_f32, 10.0].map(|value| alone.device.upload_tensor(&[value; 64], [64]).unwrap());
    for (mode, class) in
        [(Mode::Eager, Input::Copied), (Mode::Captured, Input::Copied), (Mode::Captured, Input::Updatable)]
    {
        let pool = Pool::new(&alone.device);
        let options = RunOptions::new().mode(mode).pool(&pool);
        let held = gated(class);
        let mut a = held.executable(&alone.device, &options, Frozen::new()).unwrap();
        let mut b = plan(64, 2.0).executable(&alone.device, &options, Frozen::new()).unwrap();
        let (mut for_a, mut for_b) = (give(&a, "x", &x[0]), give(&b, "x", &x[1]));
        let held_up = || {
            mock::run_until_idle();
            assert!(!other.is_complete().unwrap(), "{mode:?} {class:?}");
        };
        let signal = |a: &Executable| {
            a.signal(held.external("gate").unwrap(), &alone.stream()).unwrap();
            mock::run_until_idle();
        };
        let first = alone.stream();
        a.run(&first, &mut for_a).unwrap();
        drop(first);
        b.run(&other, &mut for_b).unwrap();
        held_up();
        signal(&a);
        assert_eq!(result(&b, "y"), [22.0; 64], "{mode:?} {class:?}");
        // So is one of the same executable.
        let second = alone.stream();
        a.run(&second, &mut for_a).unwrap();
        drop(second);
        a.run(&other, &mut give(&a, "x", &x[1])).unwrap();
        held_up();
        signal(&a);
        held_up();
        signal(&a);
        assert_eq!(result(&a, "y"), [21.0; 64], "{mode:?} {class:?}");
    }
}

#[test]
fn a_run_orders_itself_after_one_on_a_stream_that_captures_by_now() {
    let alone = Alone::new();
    let (first, second) = (alone.stream(), alone.stream());
    let mut exe = plan(16, 1.0).capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32; 16], [16]).unwrap();
    let mut bind = give(&exe, "x", &x);
    exe.run(&first, &mut bind).unwrap();
    first.synchronize().unwrap();
    let capture = first.begin_capture(racl::CaptureMode::Relaxed).unwrap();
    let error = exe.run(&first, &mut bind).unwrap_err();
    assert_says(&error, ErrorKind::CaptureForbidden, &["records a graph", "run the plan on another stream"]);
    exe.run(&second, &mut bind).unwrap();
    second.synchronize().unwrap();
    assert_says(&capture.finish().unwrap_err(), ErrorKind::CaptureInvalidated, &["plan run at"]);
    exe.run(&first, &mut bind).unwrap();
    assert_eq!(result(&exe, "y"), [3.0; 16]);
}

/// A plan whose one operator does what the function says, run eagerly with a pool.
fn foreign(
    alone: &Alone,
    pool: &Pool,
    work: impl Fn(&Launch<'_>) -> Result<()> + Send + Sync + 'static,
) -> Executable {
    let operator = Foreign::new("test.inside", 1, work);
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Static)?;
        g.foreign(&operator, &[x], &[])
    });
    let options = RunOptions::new().mode(Mode::Eager).pool(pool);
    plan.unwrap().executable(&alone.device, &options, Frozen::new()).unwrap()
}

/// An executable of [`plan`] on a pool, with what a run needs.
fn other(alone: &Alone, pool: &Pool) -> impl FnMut() -> Result<Vec<f32>> + Send + use<> {
    let options = RunOptions::new().mode(Mode::Eager).pool(pool);
    let mut exe = plan(64, 1.0).executable(&alone.device, &options, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[2.0_f32; 64], [64]).unwrap();
    let (mut bind, stream) = (give(&exe, "x", &x), alone.stream());
    move || exe.run(&stream, &mut bind).map(|()| result(&exe, "y"))
}

#[test]
fn a_run_inside_a_run_of_the_same_pool_is_an_error() {
    let alone = Alone::new();
    let pool = Pool::new(&alone.device);
    let nested = Mutex::new(other(&alone, &pool));
    let mut exe = foreign(&alone, &pool, move |_| nested.lock().unwrap()().map(drop));
    let error = exe.run(&alone.stream(), &mut exe.bindings()).unwrap_err();
    let text = format!("{error:#}");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{text}");
    assert!(text.contains("a run inside a run of the same pool, begun at tests/plans/pools.rs:"), "{text}");
    // The pool is free again, and one with another pool may be inside.
    assert_eq!(other(&alone, &pool)().unwrap(), [5.0; 64]);
    let nested = Mutex::new(other(&alone, &Pool::new(&alone.device)));
    let mut exe = foreign(&alone, &pool, move |_| nested.lock().unwrap()().map(drop));
    exe.run(&alone.stream(), &mut exe.bindings()).unwrap();
}

#[test]
fn a_run_does_not_wait_for_ever_for_a_foreign_operator_that_waits_for_it() {
    let alone = Alone::new();
    let pool = Pool::new(&alone.device);
    pool.set_wait_limit(Duration::ZERO);
    let mut beside = other(&alone, &pool);
    let (enter, entered) = channel();
    let (leave, left) = channel();
    let left = Mutex::new(left);
    let mut exe = foreign(&alone, &pool, move |_| {
        enter.send(()).unwrap();
        left.lock().unwrap().recv().unwrap();
        Ok(())
    });
    let there = std::thread::spawn(move || {
        entered.recv().unwrap();
        let refused = beside().unwrap_err();
        leave.send(()).unwrap();
        (refused, beside)
    });
    exe.run(&alone.stream(), &mut exe.bindings()).unwrap();
    let (refused, mut beside) = there.join().unwrap();
    assert_says(&refused, ErrorKind::Timeout, &["the run begun at tests/plans/pools.rs:", "Pool::set_wait_limit"]);
    assert_eq!(beside().unwrap(), [5.0; 64]);
}

#[test]
fn a_run_waits_for_another_thread_to_submit_its_own() {
    let alone = Alone::new();
    let pool = Pool::new(&alone.device);
    let mut beside = other(&alone, &pool);
    let (enter, entered) = channel();
    let mut exe = foreign(&alone, &pool, move |_| {
        // The other thread begins to wait now or after this run: it succeeds either way.
        enter.send(()).unwrap();
        Ok(())
    });
    let there = std::thread::spawn(move || {
        entered.recv().unwrap();
        beside().unwrap()
    });
    exe.run(&alone.stream(), &mut exe.bindings()).unwrap();
    assert_eq!(there.join().unwrap(), [5.0; 64]);
}

/// y = 2 x + 1 for any number of rows, with a temporary and an output of 1 MiB for each.
fn of_rows() -> Plan {
    Plan::build(|g| {
        let rows = g.symbol("rows", 1..=64)?;
        let x = g.input("x", [rows, (1 << 18).into()], F32, Input::Tracked(OnMove::Recapture))?;
        let h = g.muls(x, 2.0)?;
        let y = g.adds(h, 1.0)?;
        g.output("y", y)
    })
    .unwrap()
}

/// Memory that work of the stream still uses and that nobody holds.
fn give_up(context: &Context, stream: &Stream, bytes: usize) {
    let mut buffer = context.alloc::<u8>(bytes).unwrap();
    stream.fill_bytes(&mut buffer, 7).unwrap();
}

#[test]
fn a_run_has_what_its_stream_gave_up_and_others_have_it_later() {
    let alone = Alone::new();
    let (stream, other) = (alone.stream(), alone.stream());
    let context = stream.context();
    context.set_allocator(Allocator::Pool);
    for mode in [Mode::Eager, Mode::Captured] {
        let x = alone.device.upload_tensor(&vec![3.0_f32; 4 << 18], [4, 1 << 18]).unwrap();
        let make = || of_rows().executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let (mut a, mut b) = (make(), make());
        let (mut for_a, mut for_b) = (give(&a, "x", &x), give(&b, "x", &x));
        mock::hold(&stream).unwrap();
        // Arena and output.
        give_up(&context, &stream, 4 << 20);
        give_up(&context, &stream, 4 << 20);
        let before = context.memory_stats().large.active;
        b.run(&other, &mut for_b).unwrap();
        let between = context.memory_stats().large.active;
        assert!(between >= before + (8 << 20), "{mode:?}: another stream has memory of its own");
        a.run(&stream, &mut for_a).unwrap();
        assert_eq!(context.memory_stats().large.active, between, "{mode:?}");
        // On another stream it waits for what the memory was used for.
        a.run(&other, &mut for_a).unwrap();
        mock::run_until_idle();
        assert!(!other.is_complete().unwrap());
        mock::release(&stream).unwrap();
        assert_eq!((result(&a, "y")[5], result(&b, "y")[5]), (7.0, 7.0));
    }
}

#[test]
fn an_arena_that_goes_is_for_its_stream_at_once() {
    let alone = Alone::new();
    let (stream, other) = (alone.stream(), alone.stream());
    let context = stream.context();
    context.set_allocator(Allocator::Pool);
    let mut exe = of_rows().eager(&alone.device, Frozen::new()).unwrap();
    let inputs =
        [2, 3, 4].map(|rows| alone.device.upload_tensor(&vec![3.0_f32; rows << 18], [rows, 1 << 18]).unwrap());
    mock::hold(&stream).unwrap();
    // The arena grows, and memory of the smallest size is given up once it is not that of the latest run.
    for input in &inputs {
        exe.run(&stream, &mut give(&exe, "x", input)).unwrap();
    }
    let (active, waiting) = (context.memory_stats().large.active, context.memory_stats().waiting());
    assert!(waiting >= 4 << 20, "{waiting} bytes wait");
    let for_other = other.alloc::<u8>(2 << 20).unwrap();
    assert!(context.memory_stats().large.active >= active + (2 << 20));
    drop(for_other);
    let _own = [stream.alloc::<u8>(2 << 20).unwrap(), stream.alloc::<u8>(2 << 20).unwrap()];
    assert_eq!(context.memory_stats().large.active, active);
    mock::release(&stream).unwrap();
    assert_eq!(result(&exe, "y")[9], 7.0);
}

/// Memory of another context, from an allocator that uses the pool that asks it.
struct Asks {
    context: Context,
    pool: Mutex<Option<Pool>>,
    out: Mutex<Vec<racl::DeviceBuffer<u8>>>,
}

// SAFETY: each piece is a buffer of the same device with the bytes and the tail, kept until it is freed.
unsafe impl racl::ForeignAllocator for Asks {
    fn alloc(&self, bytes: usize, _stream: racl::sys::aclrtStream) -> Result<*mut std::ffi::c_void> {
        if let Some(pool) = &*self.pool.lock().unwrap() {
            pool.set_wait_limit(Duration::from_secs(7));
        }
        let buffer = self.context.alloc::<u8>(bytes)?;
        let address = buffer.address();
        self.out.lock().unwrap().push(buffer);
        Ok(address)
    }

    unsafe fn free(&self, address: *mut std::ffi::c_void, _bytes: usize, _stream: racl::sys::aclrtStream) {
        if let Some(pool) = &*self.pool.lock().unwrap() {
            pool.set_wait_limit(Duration::from_secs(8));
        }
        self.out.lock().unwrap().retain(|buffer| buffer.address() != address);
    }
}

#[test]
fn an_allocator_of_the_user_may_use_the_pool_that_grows() {
    let alone = Alone::new();
    let contexts = [0; 2].map(|_| alone.device.context().create_context().unwrap());
    let [context, other] = contexts;
    let asks = Arc::new(Asks { context: other, pool: Mutex::default(), out: Mutex::default() });
    context.set_allocator(Allocator::Foreign(Arc::<Asks>::clone(&asks)));
    let pool = Pool::new(&context);
    *asks.pool.lock().unwrap() = Some(pool.clone());
    // The second time it gives the first memory up.
    for bytes in [1 << 12, 1 << 14] {
        pool.reserve(bytes).unwrap();
        assert_eq!(pool.bytes() as u64, bytes);
        assert_eq!(asks.out.lock().unwrap().len(), 1);
    }
    *asks.pool.lock().unwrap() = None;
}

#[test]
fn threads_that_grow_a_pool_at_once_end_with_one_memory() {
    let alone = Alone::new();
    let pool = Pool::new(&alone.device);
    let all = std::sync::Barrier::new(4);
    std::thread::scope(|scope| {
        for bytes in 1..5 {
            let (pool, all) = (&pool, &all);
            scope.spawn(move || {
                all.wait();
                pool.reserve(bytes << 20).unwrap();
                assert!(pool.bytes() as u64 >= bytes << 20);
            });
        }
    });
    assert_eq!(pool.bytes(), 4 << 20);
}

/// A run takes what its stream gave up, fails before anything of it is submitted, and is tried again on another one.
#[test]
fn memory_that_a_failed_run_took_is_behind_its_stream_for_others_too() {
    const SIZE: usize = 1 << 18;
    let alone = Alone::new();
    let context = alone.device.context().create_context().unwrap();
    let (first, second, signals) = (context.stream().unwrap(), context.stream().unwrap(), context.stream().unwrap());
    let mut gate = None;
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=SIZE)?;
        let x = g.input("x", [n], F32, Input::Tracked(OnMove::Recapture))?;
        let z = g.input("z", [4], F32, Input::Tracked(OnMove::Recapture))?;
        g.output("w", g.adds(z, 1.0)?)?;
        let h = g.adds(x, 1.0)?;
        let it = *gate.insert(g.external("gate")?);
        g.wait_external(it)?;
        g.output("y", g.adds(h, 1.0)?)
    });
    let (plan, gate) = (plan.unwrap(), gate.unwrap());
    let (x, z) = (context.zeros::<f32>([SIZE]).unwrap(), context.zeros::<f32>([4]).unwrap());
    let mut exe = plan.executable(&context, &RunOptions::new(), Frozen::new()).unwrap();
    let (y, mut bind) = (exe.output_id("y").unwrap(), exe.bindings());
    mock::hold(&first).unwrap();
    let mut given_up = first.alloc::<u8>(8 << 20).unwrap();
    first.fill_bytes(&mut given_up, 0xFF).unwrap();
    drop(given_up);
    bind.set(exe.input("x").unwrap(), &x);
    assert_says(&exe.run(&first, &mut bind).unwrap_err(), ErrorKind::InvalidArgument, &["\"z\" is not given"]);
    bind.set(exe.input("z").unwrap(), &z);
    racl::untracked(|| exe.run(&second, &mut bind)).unwrap();
    mock::run_until_idle();
    mock::release(&first).unwrap();
    first.synchronize().unwrap();
    exe.signal(gate, &signals).unwrap();
    let y = exe.output::<f32>(y).unwrap().to_vec().unwrap();
    assert!(y.iter().all(|one| *one == 2.0), "{:?}", y.iter().find(|one| **one != 2.0));
}
