//! Memory that several executables share, of which one runs at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use racl::op::DataType::F32;
use racl::plan::{Frozen, HostFunction, Input, Mode, Plan, Pool, RunOptions};
use racl::{ErrorKind, mock};

use crate::common::assert_says;
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
    let mut empty = capture.finish().unwrap();
    empty.launch(&first).unwrap();
    exe.run(&first, &mut bind).unwrap();
    assert_eq!(result(&exe, "y"), [3.0; 16]);
}
