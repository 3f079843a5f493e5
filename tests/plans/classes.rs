//! Inputs by class: what a run does with each, and what it refuses.

use racl::ErrorKind;
use racl::op::{
    DataType::{F32, I32},
    aclnn,
};
use racl::plan::{Frozen, Input, Mode, OnMove, Plan, RunOptions};

use crate::common::assert_says;
use crate::{Alone, all_calls, calls_of, give, heap, result};

/// y = x + w
fn sum(x: Input, w: Input) -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [4], F32, x)?;
        let w = g.input("w", [4], F32, w)?;
        let y = g.add(x, w)?;
        g.output("y", y)
    })
    .unwrap()
}

#[test]
fn a_run_without_anything_to_copy_is_one_c_call() {
    let alone = Alone::new();
    let stream = alone.stream();
    for class in [Input::Static, Input::Tracked(OnMove::Recapture), Input::Tracked(OnMove::Fail)] {
        let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
        let w = alone.device.upload_tensor(&[2.0_f32; 4], [4]).unwrap();
        let mut exe = sum(class, Input::Frozen).capture(&alone.device, Frozen::new().with("w", &w)).unwrap();
        let mut bind = exe.bindings();
        let id = exe.input("x").unwrap();
        if class == Input::Static {
            exe.static_input::<f32>(id).unwrap().write(&[1.0; 4]).unwrap();
        } else {
            bind.set(id, &x);
        }
        exe.run(&stream, &mut bind).unwrap();
        for _ in 0..3 {
            let (calls, ()) = all_calls(|| exe.run(&stream, &mut bind).unwrap());
            assert_eq!(calls, 1, "{class:?}");
        }
        assert_eq!(result(&exe, "y"), [3.0; 4]);
    }
}

#[test]
fn copied_memory_is_copied_at_each_run_unless_it_is_the_executable_s_own() {
    let alone = Alone::new();
    let stream = alone.stream();
    let w = alone.device.upload_tensor(&[2.0_f32; 4], [4]).unwrap();
    let mut exe = sum(Input::Copied, Input::Frozen).capture(&alone.device, Frozen::new().with("w", &w)).unwrap();
    for value in [1.0_f32, 5.0] {
        let x = alone.device.upload_tensor(&[value; 4], [4]).unwrap();
        let mut bind = give(&exe, "x", &x);
        let (copies, ()) = calls_of("aclrtMemcpyAsync", || exe.run(&stream, &mut bind).unwrap());
        // The caller's memory may go at once.
        drop((x, bind));
        assert_eq!((copies, result(&exe, "y")), (1, vec![value + 2.0; 4]));
    }
    let mut none = exe.bindings();
    let error = exe.run(&stream, &mut none).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["input \"x\" is not given", "Bindings::set"]);
}

#[test]
fn a_copied_input_s_own_memory_is_not_copied() {
    let alone = Alone::new();
    let stream = alone.stream();
    let w = alone.device.upload_tensor(&[2.0_f32; 4], [4]).unwrap();
    for mode in [Mode::Captured, Mode::Eager] {
        let (options, frozen) = (RunOptions::new().mode(mode), Frozen::new().with("w", &w));
        let mut exe = sum(Input::Copied, Input::Frozen).executable(&alone.device, &options, frozen).unwrap();
        let mut own = exe.copied_input::<f32>(exe.input("x").unwrap()).unwrap();
        let other = alone.device.upload_tensor(&[50.0_f32; 4], [4]).unwrap();
        let (mut bind, mut elsewhere) = (give(&exe, "x", &own), give(&exe, "x", &other));
        for value in [1.0_f32, 5.0] {
            // Waits for the run before, which may not have read it yet.
            own.write(&[value; 4]).unwrap();
            let (copies, ()) = calls_of("aclrtMemcpyAsync", || exe.run(&stream, &mut bind).unwrap());
            assert_eq!((copies, result(&exe, "y")), (0, vec![value + 2.0; 4]), "{mode:?}");
            let (copies, ()) = calls_of("aclrtMemcpyAsync", || exe.run(&stream, &mut elsewhere).unwrap());
            assert_eq!((copies, result(&exe, "y")), (1, vec![52.0; 4]), "{mode:?}");
            assert_eq!(own.to_vec().unwrap(), [50.0; 4]);
        }
        // It outlives the executable, of which a run may be under way.
        exe.run(&stream, &mut bind).unwrap();
        drop(exe);
        own.write(&[7.0; 4]).unwrap();
        assert_eq!(own.to_vec().unwrap(), [7.0; 4]);
    }
}

#[test]
fn a_copied_input_s_memory_is_of_no_use_to_other_inputs() {
    let alone = Alone::new();
    let (stream, spare) = (alone.stream(), alone.device.upload_tensor(&[9.0_f32; 4], [4]).unwrap());
    for class in [Input::Copied, Input::Tracked(OnMove::Recapture), Input::Updatable] {
        let mut exe = sum(Input::Copied, class).capture(&alone.device, Frozen::new()).unwrap();
        let [x, w] = ["x", "w"].map(|name| exe.input(name).unwrap());
        let mut own = exe.copied_input::<f32>(x).unwrap();
        own.write(&[1.0; 4]).unwrap();
        let mut bind = exe.bindings();
        let error = exe.run(&stream, bind.set(x, &spare).set(w, &own)).unwrap_err();
        let text = "input \"w\" is given the memory of the copied input \"x\"";
        assert_says(&error, ErrorKind::InvalidArgument, &[text]);
        exe.run(&stream, bind.set(x, &own).set(w, &spare)).unwrap();
        assert_eq!(result(&exe, "y"), [10.0; 4], "{class:?}");
    }
}

#[test]
fn memory_of_a_copied_input_is_there_for_one_that_has_it() {
    let alone = Alone::new();
    let w = alone.device.upload_tensor(&[2.0_f32; 4], [4]).unwrap();
    let make = |x| sum(x, Input::Frozen).capture(&alone.device, Frozen::new().with("w", &w)).unwrap();
    let (mut exe, mut other) = (make(Input::Copied), make(Input::Static));
    let dynamic = Plan::build(|g| {
        let n = g.symbol("n", 1..=4)?;
        g.input("n", [n], F32, Input::Copied)?;
        g.input("x", [4], F32, Input::Copied).map(drop)
    });
    let mut dynamic = dynamic.unwrap().capture(&alone.device, Frozen::new()).unwrap();
    let [x, static_x, dynamic_x] = [&exe, &other, &dynamic].map(|exe| exe.input("x").unwrap());
    for (refused, text) in [
        (other.copied_input::<f32>(x), "an input of another executable"),
        (other.copied_input::<f32>(static_x), "input \"x\" is not copied"),
        (exe.static_input::<f32>(x), "input \"x\" is not static"),
        (dynamic.copied_input::<f32>(dynamic_x), "input \"x\" of a plan with symbols"),
    ] {
        assert_says(&refused.unwrap_err(), ErrorKind::InvalidArgument, &[text]);
    }
    assert_says(
        &exe.copied_input::<i32>(x).unwrap_err(),
        ErrorKind::InvalidArgument,
        &["holds F32, asked for as I32"],
    );
}

#[test]
fn memory_that_the_device_cannot_copy_from_is_refused() {
    let alone = Alone::new();
    let (stream, w) = (alone.stream(), alone.device.upload_tensor(&[2.0_f32; 4], [4]).unwrap());
    let all = alone.device.upload_tensor(&[1.0_f32; 32], [32]).unwrap();
    for mode in [Mode::Captured, Mode::Eager] {
        let (options, frozen) = (RunOptions::new().mode(mode), Frozen::new().with("w", &w));
        let mut exe = sum(Input::Copied, Input::Frozen).executable(&alone.device, &options, frozen).unwrap();
        let error = exe.run(&stream, &mut give(&exe, "x", &all.narrow(0, 1..5).unwrap())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        let text = format!("{error:#}");
        assert!(text.contains("input \"x\"") && text.contains("not multiples of 64"), "{text}");
        exe.run(&stream, &mut give(&exe, "x", &all.narrow(0, 16..20).unwrap())).unwrap();
        assert_eq!(result(&exe, "y"), [3.0; 4]);
    }
}

#[test]
fn frozen_memory_outlives_what_the_caller_had() {
    let alone = Alone::new();
    let stream = alone.stream();
    let w = alone.device.upload_tensor(&[2.0_f32; 4], [4]).unwrap();
    let mut exe = sum(Input::Copied, Input::Frozen).capture(&alone.device, Frozen::new().with("w", &w)).unwrap();
    drop(w);
    let others: Vec<_> = (0..8).map(|_| alone.device.upload_tensor(&[99.0_f32; 4], [4]).unwrap()).collect();
    let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    exe.run(&stream, &mut give(&exe, "x", &x)).unwrap();
    assert_eq!(result(&exe, "y"), [3.0; 4]);
    // Leaked while its run is under way: the memory stays.
    exe.run(&stream, &mut give(&exe, "x", &x)).unwrap();
    std::mem::forget(exe);
    drop((x, others));
    stream.synchronize().unwrap();
}

#[test]
fn frozen_memory_that_moved_is_found_when_asked_for() {
    let alone = Alone::new();
    let stream = alone.stream();
    let w = alone.device.upload_tensor(&[2.0_f32; 4], [4]).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let other = alone.device.upload_tensor(&[9.0_f32; 4], [4]).unwrap();
    for check in [false, true] {
        let options = if check { RunOptions::new().check_frozen() } else { RunOptions::new() };
        let frozen = Frozen::new().with("w", &w);
        let mut exe = sum(Input::Copied, Input::Frozen).executable(&alone.device, &options, frozen).unwrap();
        let mut bind = give(&exe, "x", &x);
        exe.run(&stream, bind.set(exe.input("w").unwrap(), &w)).unwrap();
        let moved = exe.run(&stream, bind.set(exe.input("w").unwrap(), &other));
        if check {
            let [was, now] = [&w, &other].map(|w| format!("{:#x}", w.address().addr()));
            let parts = ["frozen input 1 (\"w\")", &*format!("was {was}"), &*format!("is {now}")];
            assert_says(&moved.unwrap_err(), ErrorKind::AddressChanged, &parts);
        } else {
            moved.unwrap();
        }
        // The memory it was made with is what it uses.
        assert_eq!(result(&exe, "y"), [3.0; 4]);
    }
}

#[test]
fn frozen_inputs_are_all_given_and_fit() {
    let alone = Alone::new();
    let plan = sum(Input::Copied, Input::Frozen);
    let (w, short) = (alone.device.zeros::<f32>([4]).unwrap(), alone.device.zeros::<f32>([3]).unwrap());
    let ints = alone.device.zeros::<i32>([4]).unwrap();
    let buffer = alone.device.alloc::<f32>(5).unwrap().into_shared();
    let square = alone.device.zeros::<f32>([4, 2]).unwrap();
    let gaps = square.transposed(0, 1).unwrap();
    for (frozen, parts) in [
        (Frozen::new(), ["frozen input \"w\" is not given", "Frozen::with"]),
        (Frozen::new().with("w", &w).with("w", &w), ["frozen input \"w\" is given twice", ""]),
        (Frozen::new().with("v", &w), ["no frozen input \"v\"", ""]),
        (Frozen::new().with("x", &w), ["no frozen input \"x\"", ""]),
        (Frozen::new().with("w", &short), ["input \"w\": expected F32 [4]", "got F32 [3]"]),
        (Frozen::new().with("w", &ints), ["input \"w\": expected F32 [4]", "got I32 [4]"]),
        (Frozen::new().with("w", &buffer), ["input \"w\": expected 16 bytes", "got 20"]),
        (Frozen::new().with("w", &gaps), ["frozen input \"w\"", "a tensor with gaps"]),
    ] {
        assert_says(&plan.capture(&alone.device, frozen).unwrap_err(), ErrorKind::InvalidArgument, &parts);
    }
}

#[test]
fn bindings_are_refused_by_the_next_run_and_forgiven_after_it() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let s = g.input("s", [4], F32, Input::Static)?;
        let h = g.input("h", [4], I32, Input::Host)?;
        let sum = g.add(x, s)?;
        g.output("h", h)?;
        g.output("y", sum)
    })
    .unwrap();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let other = plan.capture(&alone.device, Frozen::new()).unwrap();
    let [x, s, h] = ["x", "s", "h"].map(|name| exe.input(name).unwrap());
    let tensor = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let wrong = alone.device.zeros::<f32>([2, 2]).unwrap();
    let buffer = alone.device.alloc::<u8>(15).unwrap().into_shared();
    let mut bind = exe.bindings();
    bind.set(x, &tensor).host(h, &[1_i32, 2, 3, 4], [4]);
    exe.run(&stream, &mut bind).unwrap();
    let mut fails = |exe: &mut racl::plan::Executable, part: &str, set: &dyn Fn(&mut racl::plan::Bindings)| {
        set(&mut bind);
        assert_says(&exe.run(&stream, &mut bind).unwrap_err(), ErrorKind::InvalidArgument, &[part]);
        exe.run(&stream, &mut bind).unwrap();
        assert_eq!(result(exe, "y"), [1.0; 4]);
    };
    fails(&mut exe, "input \"x\": expected F32 [4], got F32 [2, 2]", &|b| _ = b.set(x, &wrong));
    fails(&mut exe, "input \"x\": expected 16 bytes, got 15", &|b| _ = b.set(x, &buffer));
    fails(&mut exe, "input \"s\" is static", &|b| _ = b.set(s, &tensor));
    fails(&mut exe, "input \"h\" is host memory", &|b| _ = b.set(h, &tensor));
    fails(&mut exe, "input \"x\" is device memory", &|b| _ = b.host(x, &[1.0_f32; 4], [4]));
    fails(&mut exe, "input \"h\": expected I32 [4], got F32", &|b| _ = b.host(h, &[1.0_f32; 4], [4]));
    fails(&mut exe, "input \"h\": 3 elements", &|b| _ = b.host(h, &[1_i32; 3], [4]));
    fails(&mut exe, "another executable", &|b| _ = b.set(other.input("x").unwrap(), &tensor));
    let error = exe.run(&stream, &mut other.bindings()).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["bindings of another executable"]);
    for error in [exe.input("z").unwrap_err(), exe.output_id("z").unwrap_err()] {
        assert_says(&error, ErrorKind::InvalidArgument, &["\"z\""]);
    }
    let y = exe.output_id("y").unwrap();
    for (error, part) in [
        (exe.output::<i32>(y).unwrap_err(), "\"y\" holds F32, asked for as I32"),
        (exe.host_output::<f32>(y).unwrap_err(), "output \"y\" stays on the device"),
        (exe.static_input::<f32>(x).unwrap_err(), "input \"x\" is not static"),
        (exe.static_input::<i32>(s).unwrap_err(), "\"s\" holds F32"),
        (other.output::<f32>(y).unwrap_err(), "an output of another executable"),
        (other.output::<f32>(other.output_id("y").unwrap()).unwrap_err(), "without a run before"),
    ] {
        assert_says(&error, ErrorKind::InvalidArgument, &[part]);
    }
}

#[test]
fn an_output_that_was_copied_stays_as_it_was() {
    let alone = Alone::new();
    let stream = alone.stream();
    for mode in [Mode::Captured, Mode::Eager] {
        let w = alone.device.upload_tensor(&[2.0_f32; 4], [4]).unwrap();
        let options = RunOptions::new().mode(mode);
        let frozen = Frozen::new().with("w", &w);
        let mut exe = sum(Input::Copied, Input::Frozen).executable(&alone.device, &options, frozen).unwrap();
        let y = exe.output_id("y").unwrap();
        let mut kept = alone.device.zeros::<f32>([4]).unwrap();
        for value in [1.0_f32, 7.0] {
            let x = alone.device.upload_tensor(&[value; 4], [4]).unwrap();
            exe.run(&stream, &mut give(&exe, "x", &x)).unwrap();
            if value == 1.0 {
                exe.output::<f32>(y).unwrap().copy_to(&stream, &mut kept).unwrap();
                let mut other = alone.device.zeros::<f32>([2, 2]).unwrap();
                exe.output::<f32>(y).unwrap().copy_to(&stream, &mut other).unwrap_err();
            }
        }
        assert_eq!((kept.to_vec().unwrap(), result(&exe, "y")), (vec![3.0; 4], vec![9.0; 4]));
    }
}

#[test]
fn the_library_lives_as_long_as_an_executable() {
    let alone = Alone::new();
    let mut exe = sum(Input::Copied, Input::Static).capture(&alone.device, Frozen::new()).unwrap();
    let (_, error) = crate::common::acl().close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::InvalidArgument, &["other values use the initialisation"]);
    let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    exe.run(&alone.stream(), &mut give(&exe, "x", &x)).unwrap();
    assert_eq!(result(&exe, "y"), [1.0; 4]);
}

#[test]
fn an_input_that_must_not_move_must_not_under_any_key_or_mode() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Tracked(OnMove::Fail))?;
        let y = g.abs(x)?;
        g.output("y", y)
    })
    .unwrap();
    let [here, there] = [1.0_f32, 2.0].map(|x| alone.device.upload_tensor(&[x; 4], [4]).unwrap());
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        exe.run(&stream, &mut give(&exe, "x", &here)).unwrap();
        for key in [0, 7] {
            let error = exe.run(&stream, give(&exe, "x", &there).key(key)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AddressChanged);
        }
        exe.run(&stream, give(&exe, "x", &here).key(7)).unwrap();
    }
}

#[test]
fn an_input_that_is_written_shares_no_memory_with_another() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = |class: Input| {
        Plan::build(|g| {
            let a = g.input("a", [4], F32, class)?;
            let b = g.input("b", [4], F32, class)?;
            let y = g.scope("1", |g| g.adds(b, 1.0))?;
            aclnn::abs(g, &a, &mut { a })?;
            g.output("y", y)
        })
        .unwrap()
    };
    let all = alone.device.upload_tensor(&[-1.0_f32; 8], [8]).unwrap();
    let [low, mid, high] = [0..4, 2..6, 4..8].map(|range| all.narrow(0, range).unwrap());
    let classes = [Input::Tracked(OnMove::Recapture), Input::Updatable];
    for (mode, class) in [Mode::Captured, Mode::Eager].into_iter().flat_map(|mode| classes.map(|class| (mode, class)))
    {
        let mut exe = plan(class).executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let (a, b, mut bind) = (exe.input("a").unwrap(), exe.input("b").unwrap(), exe.bindings());
        for other in [&low, &mid] {
            for _ in 0..2 {
                let error = exe.run(&stream, bind.set(a, &low).set(b, other)).unwrap_err();
                assert_says(&error, ErrorKind::InvalidArgument, &["\"a\"", "\"b\"", "shares memory"]);
            }
            for _ in 0..2 {
                exe.run(&stream, bind.set(b, &high)).unwrap();
                assert_eq!(result(&exe, "y"), [0.0; 4]);
            }
        }
    }
}

#[test]
fn memory_that_a_written_input_shares_is_refused_before_the_first_run() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = |classes: [Input; 2]| {
        Plan::build(|g| {
            let (a, b) = (g.input("a", [4], F32, classes[0])?, g.input("b", [4], F32, classes[1])?);
            aclnn::adds(g, &a, 1.0_f32, 1, &mut { a })?;
            let y = g.muls(b, 10.0)?;
            g.output("y", y)
        })
        .unwrap()
    };
    let shared = |error: &racl::Error| {
        assert_says(error, ErrorKind::InvalidArgument, &["\"a\"", "\"b\"", "shares memory"]);
    };
    let all = alone.device.upload_tensor(&[1.0_f32; 8], [8]).unwrap();
    let [low, mid, high] = [0..4, 2..6, 4..8].map(|range| all.narrow(0, range).unwrap());
    for mode in [Mode::Captured, Mode::Eager] {
        let options = RunOptions::new().mode(mode);
        let frozen = plan([Input::Frozen; 2]);
        let make = |b| frozen.executable(&alone.device, &options, Frozen::new().with("a", &low).with("b", b));
        shared(&make(&low).unwrap_err());
        shared(&make(&mid).unwrap_err());
        let mut exe = make(&high).unwrap();
        exe.run(&stream, &mut exe.bindings()).unwrap();
        assert_eq!(result(&exe, "y"), [10.0; 4]);
        let tracked = Input::Tracked(OnMove::Recapture);
        for classes in [[tracked; 2], [Input::Updatable; 2], [tracked, Input::Updatable], [Input::Updatable, tracked]]
        {
            let mut exe = plan(classes).executable(&alone.device, &options, Frozen::new()).unwrap();
            let (a, b, mut bind) = (exe.input("a").unwrap(), exe.input("b").unwrap(), exe.bindings());
            for other in [&low, &mid] {
                bind.set(a, &low).set(b, other);
                shared(&exe.capture(&mut bind).unwrap_err());
                shared(&exe.run(&stream, &mut bind).unwrap_err());
                assert_eq!(exe.graphs(), 0);
            }
            for _ in 0..2 {
                exe.capture(bind.set(b, &high)).unwrap();
                exe.run(&stream, &mut bind).unwrap();
                assert_eq!(result(&exe, "y"), [10.0; 4]);
                shared(&exe.run(&stream, bind.set(b, &mid)).unwrap_err());
            }
        }
    }
}

#[test]
fn memory_that_is_not_aligned_for_the_type_is_refused_where_it_is_given() {
    let alone = Alone::new();
    let bytes = alone.device.alloc_zeroed::<u8>(21).unwrap().into_shared();
    let (odd, even) = (bytes.slice(1..17).unwrap(), bytes.slice(4..20).unwrap());
    let says = |error: &racl::Error| {
        assert_says(error, ErrorKind::InvalidArgument, &["input \"x\"", "not a multiple of 4 bytes", "F32"]);
    };
    for class in [Input::Frozen, Input::Tracked(OnMove::Recapture), Input::Updatable, Input::Copied] {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, class)?;
            let y = g.adds(x, 2.0)?;
            g.output("y", y)
        })
        .unwrap();
        if class == Input::Frozen {
            says(&plan.capture(&alone.device, Frozen::new().with("x", &odd)).unwrap_err());
            plan.capture(&alone.device, Frozen::new().with("x", &even)).unwrap();
            continue;
        }
        let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
        says(&exe.capture(&mut give(&exe, "x", &odd)).unwrap_err());
        exe.capture(&mut give(&exe, "x", &even)).unwrap();
    }
}

#[test]
fn binding_and_replaying_allocate_nothing_after_the_first_time() {
    let alone = Alone::new();
    let stream = alone.stream();
    // The library is searched for each function once in a process, which asks for memory.
    let event = alone.device.event().unwrap();
    event.record(&stream).unwrap();
    event.synchronize().unwrap();
    for class in [Input::Copied, Input::Tracked(racl::plan::OnMove::Recapture), Input::Host] {
        let w = alone.device.upload_tensor(&[2.0_f32; 4], [4]).unwrap();
        let mut exe = sum(class, Input::Frozen).capture(&alone.device, Frozen::new().with("w", &w)).unwrap();
        let (x, mut bind) = (exe.input("x").unwrap(), exe.bindings());
        let memory = alone.device.upload_tensor(&[5.0_f32; 4], [4]).unwrap();
        let mut turn = |value: f32| {
            match class {
                Input::Host => bind.host(x, &[value; 4], [4]),
                _ => bind.set(x, &memory),
            };
            exe.run(&stream, &mut bind).unwrap();
        };
        for value in [1.0, 2.0] {
            turn(value);
        }
        stream.synchronize().unwrap();
        let ((), asked) = heap::allocations(|| (0..10).for_each(|_| turn(5.0)));
        assert_eq!(asked, 0, "{class:?}");
        assert_eq!(result(&exe, "y"), [7.0; 4]);
    }
}

#[test]
fn the_allocator_of_these_tests_counts() {
    let (kept, bytes) = heap::growth(|| std::hint::black_box(vec![0_u8; 100]));
    assert_eq!((bytes, kept.len()), (100, 100));
    assert_eq!(heap::growth(|| drop(std::hint::black_box(vec![0_u8; 7]))).1, 7);
    assert_eq!(heap::allocations(|| drop(std::hint::black_box([vec![0_u8; 7], vec![1]]))).1, 2);
}

#[test]
fn a_graph_that_is_captured_ahead_leaves_the_results_of_the_latest_run() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Tracked(OnMove::Recapture))?;
        let y = g.adds(x, 2.0)?;
        g.output("y", y)
    });
    let options = RunOptions::new().graph_limit(2);
    let mut exe = plan.unwrap().executable(&alone.device, &options, Frozen::new()).unwrap();
    let [first, second, third] =
        [1.0_f32, 5.0, 7.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
    exe.run(&stream, &mut give(&exe, "x", &first)).unwrap();
    exe.capture(&mut give(&exe, "x", &second)).unwrap();
    assert_eq!(result(&exe, "y"), [3.0; 4]);
    // Where that graph goes, so do its results.
    exe.capture(&mut give(&exe, "x", &third)).unwrap();
    assert_says(&exe.output::<f32>(exe.output_id("y").unwrap()).unwrap_err(), ErrorKind::InvalidArgument, &["run"]);
    exe.run(&stream, &mut give(&exe, "x", &second)).unwrap();
    assert_eq!(result(&exe, "y"), [7.0; 4]);
}
