//! Host outputs of runs that fail, or that nobody knows to be good.

use super::*;

#[test]
fn a_run_that_failed_gives_no_numbers_whoever_was_told_and_in_whatever_order_it_is_read() {
    let alone = Alone::new();
    // An upload, and the operator of the side stream: what such a run computes is of the run before.
    let (upload, operator) = (("aclrtMemcpyAsync", 1), ("aclnnMuls", 2));
    for (mode, task) in [(Mode::Captured, upload), (Mode::Eager, upload), (Mode::Eager, operator)] {
        // The run that fails, and which are read first.
        for (failing, order) in [(1, [0, 1, 2]), (1, [2, 1, 0]), (0, [0, 1, 2]), (2, [1, 0, 2]), (1, [1, 2, 0])] {
            for somebody_else in [false, true] {
                let stream = alone.stream();
                let mut ready = Ready::new(&alone, mode, 3);
                let mut before = ready.run_and_take(&stream, 100.0);
                ready.check(&mut before, 100.0);
                mock::stand_still(true);
                let (mut kept, mut told) = (Vec::new(), Vec::new());
                for turn in 0..3 {
                    if turn == failing {
                        mock::fail_task(task.0, task.1, 507_015).unwrap();
                    }
                    // One that gets memory of the upload that failed is told instead, and not submitted.
                    told.extend(ready.run(&stream, turn as f32).err());
                    kept.push(
                        ready.exe.take_host_outputs().unwrap_or_else(|_| ready.run_and_take(&stream, turn as f32)),
                    );
                    mock::run_until_idle();
                }
                if somebody_else {
                    told.extend(stream.synchronize().err());
                }
                for turn in order {
                    match kept[turn].read::<f32>(ready.z) {
                        Ok(read) => assert_eq!((read, turn != failing), (vec![-2.0 * turn as f32 - 1.0; 4], true)),
                        Err(error) => told.push(error),
                    }
                    let again = kept[turn].read::<f32>(ready.y);
                    assert!(again.is_err() || turn != failing, "{mode:?}, {task:?}, {failing}, {order:?}: {again:?}");
                }
                mock::stand_still(false);
                mock::clear_failures();
                let fault = told.iter().filter(|error| error.kind() == ErrorKind::DeviceFault).count();
                assert_eq!(fault, 1, "{mode:?}, {task:?}, {failing}, {order:?}: {told:?}");
                // What was known to be good before stays so, and what comes is.
                ready.check(&mut before, 100.0);
                let mut after = ready.run_and_take(&stream, 5.0);
                ready.check(&mut after, 5.0);
            }
        }
    }
}

#[test]
fn a_run_whose_host_function_panicked_gives_no_numbers() {
    let alone = Alone::new();
    for mode in MODES {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Host)?;
            g.host_function(&HostFunction::new("test.panics", 1, |_| {
                assert!(!PANICS.load(std::sync::atomic::Ordering::Acquire), "told to");
            }))?;
            let y = g.muls(x, 2.0)?;
            g.output_to_host("y", y)
        });
        let stream = alone.stream();
        let mut exe = make(&alone, &plan.unwrap(), mode, 2);
        let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
        let mut run = |panics: bool, value: f32| {
            PANICS.store(panics, std::sync::atomic::Ordering::Release);
            exe.run(&stream, bind.host(x, &[value; 4], [4])).unwrap();
            mock::run_until_idle();
            exe.take_host_outputs().unwrap()
        };
        let mut good = run(false, 1.0);
        assert_eq!(good.read::<f32>(y).unwrap(), [2.0; 4]);
        let (mut bad, mut next) = (run(true, 2.0), run(false, 3.0));
        assert_says(&bad.read::<f32>(y).unwrap_err(), ErrorKind::CallbackPanicked, &["told to"]);
        assert_eq!(bad.read::<f32>(y).unwrap_err().kind(), ErrorKind::InvalidArgument, "{mode:?}");
        assert_eq!(good.read::<f32>(y).unwrap(), [2.0; 4]);
        assert_eq!(next.read::<f32>(y).unwrap(), [6.0; 4], "{mode:?}");
        // Of replays under way nobody knows whose function panicked: the first to be read is told. The one that failed
        // gives no numbers either way.
        let (mut early, mut bad) = (run(false, 4.0), run(true, 5.0));
        let left = match early.read::<f32>(y) {
            Ok(numbers) => {
                assert_eq!(numbers, [8.0; 4]);
                assert_eq!(mode, Mode::Eager);
                ErrorKind::CallbackPanicked
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::CallbackPanicked, "{mode:?}");
                ErrorKind::InvalidArgument
            }
        };
        assert_eq!(bad.read::<f32>(y).unwrap_err().kind(), left, "{mode:?}");
        // A wait for an event behind it takes the panic.
        let (mut before, mut bad) = (run(false, 6.0), run(true, 7.0));
        let event = stream.context().event().unwrap();
        event.record(&stream).unwrap();
        assert_says(&event.synchronize().unwrap_err(), ErrorKind::CallbackPanicked, &["told to"]);
        assert_eq!(bad.read::<f32>(y).unwrap_err().kind(), ErrorKind::InvalidArgument, "{mode:?}");
        match before.read::<f32>(y) {
            Ok(numbers) => assert_eq!(numbers, [12.0; 4]),
            // Not known to be good.
            Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{mode:?}"),
        }
    }
}

#[test]
fn a_graph_that_panics_behind_a_run_leaves_its_numbers() {
    let alone = Alone::new();
    for mode in MODES {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Host)?;
            g.host_function(&HostFunction::new("test.nothing", 1, |_| ()))?;
            let y = g.muls(x, 2.0)?;
            g.output_to_host("y", y)
        });
        let stream = alone.stream();
        let mut exe = make(&alone, &plan.unwrap(), mode, 2);
        let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
        let mut other =
            stream.capture(racl::CaptureMode::ThreadLocal, |s| s.host_function(|| panic!("on purpose"))).unwrap();
        exe.run(&stream, bind.host(x, &[1.0_f32; 4], [4])).unwrap();
        let mut outputs = exe.take_host_outputs().unwrap();
        other.launch(&stream).unwrap();
        mock::run_until_idle();
        assert_eq!(outputs.read::<f32>(y).unwrap(), [2.0; 4], "{mode:?}");
        assert_says(&stream.synchronize().unwrap_err(), ErrorKind::CallbackPanicked, &["on purpose"]);
    }
}

static PANICS: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

#[test]
fn a_run_that_a_drop_lets_through_at_a_gate_gives_no_numbers() {
    let alone = Alone::new();
    for mode in MODES {
        for signals in [false, true] {
            let mut gate = None;
            let plan = Plan::build(|g| {
                let it = *gate.insert(g.external("ready")?);
                let x = g.input("x", [4], F32, Input::Host)?;
                g.wait_external(it)?;
                let y = g.muls(x, 2.0)?;
                g.output_to_host("y", y)
            });
            let (stream, other) = (alone.stream(), alone.stream());
            let mut exe = make(&alone, &plan.unwrap(), mode, 2);
            let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
            exe.run(&stream, bind.host(x, &[4.0_f32; 4], [4])).unwrap();
            let mut outputs = exe.take_host_outputs().unwrap();
            mock::run_until_idle();
            assert!(!outputs.is_ready().unwrap());
            if signals {
                exe.signal(gate.unwrap(), &other).unwrap();
            }
            drop(exe);
            let read = outputs.read::<f32>(y);
            if signals {
                assert_eq!(read.unwrap(), [8.0; 4], "{mode:?}");
            } else {
                assert_says(&read.unwrap_err(), ErrorKind::InvalidArgument, &["let through at a gate"]);
            }
            drop(outputs);
            assert_eq!(alone.device.context().take_drop_errors().len(), usize::from(!signals));
        }
    }
}

#[test]
fn an_update_that_fails_on_the_device_is_told_and_gives_no_numbers() {
    let alone = Alone::new();
    let mut refused = 0;
    for (function, count) in [("aclrtValueWrite", 4), ("aclrtStreamWaitEvent", 2), ("aclnnMuls", 2)] {
        for nth in 1..=count {
            let stream = alone.stream();
            let mut exe = make(&alone, &updated(), Mode::Captured, 3);
            let (u, y, mut bind) = (exe.input("u").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
            let mut run = |value: f32| {
                let memory = alone.device.upload_tensor(&[value; 4], [4]).unwrap();
                exe.run(&stream, bind.set(u, &memory))?;
                exe.take_host_outputs()
            };
            let mut first = run(1.0).unwrap();
            assert_eq!(first.read::<f32>(y).unwrap(), [3.0; 4]);
            mock::fail_task(function, nth, 507_015).unwrap();
            let later = [2.0, 3.0].map(|value| (run(value), value));
            let mut told = false;
            for (outputs, value) in later {
                match outputs.and_then(|mut outputs| outputs.read::<f32>(y)) {
                    Ok(read) => assert_eq!(read, [3.0 * value; 4], "{function} {nth}"),
                    Err(_) => told = true,
                }
            }
            mock::clear_failures();
            refused += usize::from(told);
            assert_eq!(first.read::<f32>(y).unwrap(), [3.0; 4]);
            drop(exe);
            let _ = stream.synchronize();
            let _ = alone.device.context().take_drop_errors();
        }
    }
    assert!(refused > 0);
}

#[test]
fn each_call_of_a_read_may_fail_and_a_later_run_is_as_good() {
    let alone = Alone::new();
    let names = || racl::sys::Table::names().map(|(name, _)| (name, mock::calls(name)));
    for mode in MODES {
        let stream = alone.stream();
        let mut ready = Ready::new(&alone, mode, 2);
        let mut outputs = ready.run_and_take(&stream, 1.0);
        let before: Vec<_> = names().collect();
        ready.check(&mut outputs, 1.0);
        let calls = names().zip(before).map(|((name, after), (_, before))| (name, after - before));
        let calls: Vec<_> = calls.filter(|(_, count)| *count > 0).collect();
        assert!(!calls.is_empty());
        for (name, count) in calls {
            for nth in 1..=count {
                let mut outputs = ready.run_and_take(&stream, 2.0);
                mock::fail(name, nth, 507_000).unwrap();
                let read = outputs.read::<f32>(ready.y);
                mock::clear_failures();
                if let Err(error) = &read {
                    assert!(error.to_string().contains(name), "{mode:?}, {nth} of {name}: {error}");
                } else {
                    ready.check(&mut outputs, 2.0);
                }
                drop(outputs);
                stream.synchronize().unwrap();
                let mut next = ready.run_and_take(&stream, 3.0);
                ready.check(&mut next, 3.0);
            }
        }
    }
}
