//! Runs with host inputs and outputs that are submitted before those before them are done.

use crate::common::mock;
use racl::ErrorKind;
use racl::op::DataType::F32;
use racl::plan::{Executable, Frozen, Input, Mode, Plan, RunOptions};

use crate::{Alone, calls_of};

/// y = 2 x + 1 with x from the host, on the device and on the host.
fn twice_plus_one(alone: &Alone, mode: Mode) -> Executable {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Host)?;
        let h = g.muls(x, 2.0)?;
        let y = g.adds(h, 1.0)?;
        g.output("y", y)?;
        let z = g.adds(y, 0.0)?;
        g.output_to_host("z", z)
    });
    plan.unwrap().executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap()
}

#[test]
fn a_run_with_host_inputs_and_outputs_does_not_wait_for_the_runs_before_it() {
    let alone = Alone::new();
    for mode in [Mode::Captured, Mode::Eager] {
        let stream = alone.stream();
        let mut exe = twice_plus_one(&alone, mode);
        let (x, y, z) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.output_id("z").unwrap());
        let mut bind = exe.bindings();
        mock::hold(&stream).unwrap();
        let kept: Vec<_> = (0..4)
            .map(|turn| {
                exe.run(&stream, bind.host(x, &[turn as f32; 4], [4])).unwrap();
                let mut kept = alone.device.zeros::<f32>([4]).unwrap();
                exe.output::<f32>(y).unwrap().copy_to(&stream, &mut kept).unwrap();
                kept
            })
            .collect();
        assert!(!stream.is_complete().unwrap());
        mock::release(&stream).unwrap();
        assert_eq!(exe.host_output::<f32>(z).unwrap(), [7.0; 4]);
        for (turn, kept) in kept.iter().enumerate() {
            assert_eq!(kept.to_vec().unwrap(), [2.0 * turn as f32 + 1.0; 4], "{mode:?}");
        }
    }
}

#[test]
fn a_thousand_runs_on_streams_in_turn_have_the_numbers_of_each() {
    let alone = Alone::new();
    for mode in [Mode::Captured, Mode::Eager] {
        let streams = [alone.stream(), alone.stream(), alone.stream()];
        let mut exe = twice_plus_one(&alone, mode);
        let (x, y, z) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.output_id("z").unwrap());
        let mut bind = exe.bindings();
        let mut random = fastrand::Rng::with_seed(12);
        let (mut kept, mut to) = (Vec::new(), [0.0; 4]);
        let pinned = || {
            // Four for the runs ahead, and the one of the output: each once, however many runs there are.
            let ahead = if mode == Mode::Eager { 2 * 4 } else { 4 + 1 };
            assert!(mock::live_handles().pinned_allocations <= ahead, "{:?}", mock::live_handles());
        };
        for turn in 0..1000_u16 {
            let stream = &streams[random.usize(0..3)];
            let data: Vec<f32> = (0..4).map(|at| f32::from(turn) + at as f32).collect();
            let want: Vec<f32> = data.iter().map(|value| 2.0 * value + 1.0).collect();
            exe.run(stream, bind.host(x, &data, [4])).unwrap();
            if random.u8(0..4) == 0 {
                exe.host_output_into(z, &mut to).unwrap();
                assert_eq!(to[..], want, "turn {turn}");
            } else {
                let mut copy = alone.device.zeros::<f32>([4]).unwrap();
                exe.output::<f32>(y).unwrap().copy_to(stream, &mut copy).unwrap();
                kept.push((copy, want));
            }
            if kept.len() == 16 {
                for (copy, want) in kept.drain(..) {
                    assert_eq!(copy.to_vec().unwrap(), want, "before turn {turn}");
                }
            }
            pinned();
        }
    }
}

#[test]
fn a_run_too_far_ahead_waits_for_one_copy() {
    let alone = Alone::new();
    let stream = alone.stream();
    let mut exe = twice_plus_one(&alone, Mode::Captured);
    let (x, z, mut bind) = (exe.input("x").unwrap(), exe.output_id("z").unwrap(), exe.bindings());
    mock::hold(&stream).unwrap();
    (0..4).for_each(|_| exe.run(&stream, bind.host(x, &[1.0_f32; 4], [4])).unwrap());
    std::thread::scope(|scope| {
        let next = scope.spawn(|| exe.run(&stream, bind.host(x, &[5.0_f32; 4], [4])));
        mock::release(&stream).unwrap();
        next.join().unwrap().unwrap();
    });
    assert_eq!(exe.host_output::<f32>(z).unwrap(), [11.0; 4]);
}

#[test]
fn a_copy_that_failed_is_told_and_the_next_run_has_memory() {
    let alone = Alone::new();
    let stream = alone.stream();
    let mut exe = twice_plus_one(&alone, Mode::Captured);
    let (x, z, mut bind) = (exe.input("x").unwrap(), exe.output_id("z").unwrap(), exe.bindings());
    exe.run(&stream, bind.host(x, &[1.0_f32; 4], [4])).unwrap();
    stream.synchronize().unwrap();
    mock::fail("aclrtMemcpyAsync", 1, 507_000).unwrap();
    let error = exe.run(&stream, bind.host(x, &[2.0_f32; 4], [4])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    mock::fail_task("aclrtMemcpyAsync", 1, 507_015).unwrap();
    exe.run(&stream, bind.host(x, &[3.0_f32; 4], [4])).unwrap();
    assert!(stream.synchronize().is_err());
    for turn in 4..12 {
        // Whoever waits for the copy that failed may be told of it once more.
        let run = exe.run(&stream, bind.host(x, &[turn as f32; 4], [4]));
        if run.is_ok() {
            assert_eq!(exe.host_output::<f32>(z).unwrap(), [2.0 * turn as f32 + 1.0; 4]);
        }
    }
    exe.run(&stream, bind.host(x, &[9.0_f32; 4], [4])).unwrap();
    assert_eq!(exe.host_output::<f32>(z).unwrap(), [19.0; 4]);
}

#[test]
fn memory_for_an_output_has_its_size_and_type() {
    let alone = Alone::new();
    let stream = alone.stream();
    let mut exe = twice_plus_one(&alone, Mode::Captured);
    let (x, y, z) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.output_id("z").unwrap());
    let mut bind = exe.bindings();
    assert!(exe.host_output_into(z, &mut [0.0_f32; 4]).is_err(), "no run yet");
    exe.run(&stream, bind.host(x, &[1.0_f32; 4], [4])).unwrap();
    let refused =
        |error: racl::Error, part: &str| crate::common::assert_says(&error, ErrorKind::InvalidArgument, &[part]);
    refused(exe.host_output_into(z, &mut [0.0_f32; 3]).unwrap_err(), "4 elements");
    refused(exe.host_output_into(z, &mut [0_i32; 4]).unwrap_err(), "F32");
    refused(exe.host_output_into(y, &mut [0.0_f32; 4]).unwrap_err(), "stays on the device");
    let mut pinned = alone.device.pinned::<f32>(4).unwrap();
    let (allocations, ()) = calls_of("aclrtMallocHost", || exe.host_output_into(z, &mut pinned).unwrap());
    assert_eq!((&pinned[..], allocations), (&[3.0_f32; 4][..], 0));
}

#[test]
fn runs_behind_an_abort_are_as_good_as_others() {
    for mode in [Mode::Eager, Mode::Captured] {
        for buffers in 1..=3 {
            let alone = Alone::new();
            let plan = Plan::build(|g| {
                let x = g.input("x", [4], F32, Input::Host)?;
                g.output_to_host("y", g.muls(x, 3.0)?)
            });
            let options = RunOptions::new().mode(mode).host_output_buffers(buffers);
            let mut exe = plan.unwrap().executable(&alone.device, &options, Frozen::new()).unwrap();
            let stream = alone.device.stream().unwrap();
            let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
            mock::hold(&stream).unwrap();
            for _ in 0..buffers {
                exe.run(&stream, bind.host(x, &[2_f32; 4], [4])).unwrap();
            }
            stream.abort().unwrap();
            mock::release(&stream).unwrap();
            stream.synchronize().unwrap();
            for run in 0..6 {
                exe.run(&stream, bind.host(x, &[run as f32; 4], [4])).unwrap();
            }
            assert_eq!(exe.host_output::<f32>(y).unwrap(), [15.0; 4], "{mode:?}, {buffers} buffers");
        }
    }
}
