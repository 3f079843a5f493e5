//! Plans whose sizes come with the run.

use racl::ErrorKind;
use racl::op::DataType::F32;
use racl::op::Window;
use racl::plan::{
    Dim, Executable, FindingKind, Frozen, Input, Mode, Options, PassMode, Passes, Plan, Registry, RunOptions,
    Simulated,
};

use crate::common::assert_says;
use crate::{Alone, result};

/// y = (x + x) tail..., with a temporary, a view with a symbolic end, and a host input of the same length.
fn plan() -> Plan {
    Plan::build(|g| {
        let n = g.symbol("n", 2..=64)?;
        let x = g.input("x", [n, Dim::from(2)], F32, Input::Copied)?;
        let h = g.input("h", [n], F32, Input::Host)?;
        let twice = g.add(x, x)?;
        let flat = g.reshape(twice, [n * 2])?;
        let first = g.narrow(flat, 0, Dim::from(0)..n)?;
        let sum = g.add(first, h)?;
        g.output("y", sum)?;
        g.output_to_host("twice", twice)
    })
    .unwrap()
}

fn numbers(count: usize, from: usize) -> Vec<f32> {
    (from..from + count).map(|number| number as f32).collect()
}

#[test]
fn each_size_has_its_results_and_its_graph() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = plan();
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let (x, h) = (exe.input("x").unwrap(), exe.input("h").unwrap());
        let mut bind = exe.bindings();
        for (turn, n) in [4, 7, 2, 64, 7, 4, 2].into_iter().enumerate() {
            let data = numbers(2 * n, turn);
            let given = alone.device.upload_tensor(&data, [n, 2]).unwrap();
            bind.set(x, &given).host(h, &numbers(n, 100), [n]);
            exe.run(&stream, &mut bind).unwrap();
            let y = exe.output::<f32>(exe.output_id("y").unwrap()).unwrap();
            assert_eq!(y.shape().iter().copied().collect::<Vec<_>>(), [n]);
            // Element i of the first n of twice the input, plus 100 + i.
            let expected: Vec<f32> = (0..n).map(|i| 2.0 * data[i] + 100.0 + i as f32).collect();
            assert_eq!(y.to_vec().unwrap(), expected, "{mode:?}, {n}");
            let twice = exe.output_id("twice").unwrap();
            let doubled: Vec<f32> = data.iter().map(|number| number + number).collect();
            assert_eq!(exe.host_output::<f32>(twice).unwrap(), doubled);
            assert_eq!(result(&exe, "twice"), doubled);
        }
        let expected = if mode == Mode::Captured { (4, 4, 7) } else { (0, 0, 0) };
        let counters = exe.counters();
        assert_eq!((exe.graphs() as u64, counters.captured_new, counters.replays), expected);
    }
}

#[test]
fn sizes_that_do_not_fit_are_named() {
    let alone = Alone::new();
    let stream = alone.stream();
    let mut exe = plan().capture(&alone.device, Frozen::new()).unwrap();
    let (x, h) = (exe.input("x").unwrap(), exe.input("h").unwrap());
    let upload = |n: usize| alone.device.upload_tensor(&numbers(2 * n, 0), [n, 2]).unwrap();
    let mut bind = exe.bindings();
    let says = |error: racl::Error, parts: &[&str]| assert_says(&error, ErrorKind::InvalidArgument, parts);
    says(exe.run(&stream, &mut bind).unwrap_err(), &["no input says what symbol \"n\" is"]);
    bind.symbol("n", 3);
    says(exe.run(&stream, &mut bind).unwrap_err(), &["input", "\"x\"", "not given"]);
    let mut bind = exe.bindings();
    bind.set(x, &upload(4)).host(h, &numbers(5, 0), [5]);
    says(exe.run(&stream, &mut bind).unwrap_err(), &["symbol \"n\" is 4", "5 in the shape", "input \"h\""]);
    for n in [1, 65] {
        bind.set(x, &upload(n)).host(h, &numbers(n, 0), [n]);
        let bounds = format!("symbol \"n\" is {n}; its bounds are 2 to 64");
        says(exe.run(&stream, &mut bind).unwrap_err(), &[&bounds]);
    }
    bind.set(x, &alone.device.upload_tensor(&numbers(12, 0), [4, 3]).unwrap());
    says(exe.run(&stream, &mut bind).unwrap_err(), &["input \"x\": expected F32", "got F32 [4, 3]"]);
    let mut bind = exe.bindings();
    bind.set(x, &alone.device.upload(&numbers(8, 0)).unwrap().into_shared());
    says(exe.run(&stream, &mut bind).unwrap_err(), &["input \"x\" has symbols", "a buffer has no shape"]);
    bind.symbol("m", 3);
    says(exe.run(&stream, &mut bind).unwrap_err(), &["no symbol \"m\""]);
    bind.set(x, &upload(4)).host(h, &numbers(4, 0), [4]);
    exe.run(&stream, &mut bind).unwrap();
    assert_eq!(result(&exe, "y"), [0.0, 3.0, 6.0, 9.0]);
}

#[test]
fn a_symbol_that_no_input_has_alone_is_given_by_name() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=8)?;
        let x = g.input("x", [n * 2 + 1], F32, Input::Copied)?;
        let y = g.adds(x, 1.0)?;
        g.output("y", y)
    })
    .unwrap();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32; 7], [7]).unwrap();
    let mut bind = exe.bindings();
    bind.set(exe.input("x").unwrap(), &x).symbol("n", 2);
    let error = exe.run(&stream, &mut bind).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["input \"x\"", "which is [5] here", "got [7]"]);
    exe.run(&stream, bind.symbol("n", 3)).unwrap();
    assert_eq!(result(&exe, "y"), [2.0; 7]);
}

/// x of n*2+1, z of n*m and w of m+1 elements, which go to the outputs of these names.
fn derived() -> Plan {
    Plan::build(|g| {
        let (n, m) = (g.symbol("n", 0..=8)?, g.symbol("m", 0..=8)?);
        for (name, dim) in [("x", n * 2 + 1), ("z", n * m), ("w", m + 1)] {
            let given = g.input(name, [dim], F32, Input::Host)?;
            let out = g.adds(given, 1.0)?;
            g.output_to_host(name, out)?;
        }
        Ok(())
    })
    .unwrap()
}

/// What a run and a simulation say of these sizes, and of values by name.
fn said(alone: &Alone, exe: &mut Executable, sizes: [usize; 3], by_name: &[(&str, usize)]) -> Option<[String; 2]> {
    let mut bind = exe.bindings();
    let mut simulated = Simulated::new();
    for (name, size) in ["x", "z", "w"].into_iter().zip(sizes) {
        bind.host(exe.input(name).unwrap(), &vec![0.0_f32; size], [size]);
        simulated = simulated.tensor(name, &vec![0.0_f32; size], [size]);
    }
    for (name, value) in by_name {
        bind.symbol(name, *value);
        simulated = simulated.symbol(name, *value);
    }
    match (exe.run(&alone.stream(), &mut bind), exe.plan().simulate(1, &simulated)) {
        (Ok(()), Ok(simulation)) => {
            for (name, size) in ["x", "z", "w"].into_iter().zip(sizes) {
                let output = exe.output_id(name).unwrap();
                assert_eq!(exe.host_output::<f32>(output).unwrap(), vec![1.0; size]);
                assert_eq!(simulation.to_vec::<f32>(name).unwrap(), vec![1.0; size]);
            }
            None
        }
        (Err(run), Err(simulation)) => Some([run, simulation].map(|error| error.to_string())),
        (run, simulation) => panic!("a run gives {run:?} and a simulation {simulation:?}"),
    }
}

#[test]
fn a_run_and_a_simulation_infer_the_same_symbols() {
    let alone = Alone::new();
    let plan = derived();
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let mut same = |sizes, by_name: &[(&str, usize)], expected: &str| {
            let texts = said(&alone, &mut exe, sizes, by_name).expect("this must be refused");
            assert_eq!(texts[0], texts[1]);
            assert!(texts[0].ends_with(expected), "{}", texts[0]);
        };
        same([8, 0, 1], &[], "no value of symbol \"n\" makes 2*n+1 the 8 in the shape [8] of input \"x\"");
        same([7, 7, 3], &[], "no value of symbol \"m\" makes n*m the 7 in the shape [7] of input \"z\"");
        same([7, 6, 4], &[], "input \"w\": expected [m+1], which is [3] here, got [4]");
        same([7, 6, 3], &[("n", 2)], "input \"x\": expected [2*n+1], which is [5] here, got [7]");
        same([7, 27, 10], &[], "symbol \"m\" is 9; its bounds are 0 to 8");
        let greatest = usize::MAX;
        let says = format!("symbol \"n\" is {greatest}; its bounds are 0 to 8");
        same([7, 6, 3], &[("n", greatest)], &says);
        same([7, 6, 3], &[("n", 9)], "symbol \"n\" is 9; its bounds are 0 to 8");
        same([7, 6, 3], &[("k", 2)], "the plan has no symbol \"k\"; it has \"n\", \"m\"");
        for (sizes, by_name) in [([7, 6, 3], &[][..]), ([1, 0, 4], &[]), ([7, 6, 3], &[("n", 2), ("n", 3)])] {
            assert_eq!(said(&alone, &mut exe, sizes, by_name), None);
        }
    }
}

#[test]
fn a_size_of_nothing_runs() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 0..=8)?;
        let x = g.input("x", [n + 1], F32, Input::Copied)?;
        let h = g.input("h", [n], F32, Input::Host)?;
        let some = g.narrow(x, 0, Dim::from(0)..n)?;
        let t = g.tanh(some)?;
        let y = g.add(t, h)?;
        g.output_to_host("y", y)
    })
    .unwrap();
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let mut bind = exe.bindings();
        for n in [0, 3, 0] {
            let x = alone.device.upload_tensor(&vec![0.0_f32; n + 1], [n + 1]).unwrap();
            bind.set(exe.input("x").unwrap(), &x).host(exe.input("h").unwrap(), &vec![0.0_f32; n], [n]);
            exe.run(&stream, &mut bind).unwrap();
            assert_eq!(exe.host_output::<f32>(exe.output_id("y").unwrap()).unwrap(), vec![0.0; n]);
            assert_eq!(result(&exe, "y"), vec![0.0; n]);
        }
    }
}

/// The first n bytes and the rest from byte 8 on meet only when n is above 8.
fn halves(greatest: usize) -> racl::Result<Plan> {
    Plan::build_with(Options::new(), |g| {
        let n = g.symbol("n", 1..=greatest)?;
        let x = g.input("x", [Dim::from(16)], F32, Input::Static)?;
        let low = g.narrow(x, 0, Dim::from(0)..n)?;
        let high = g.narrow(x, 0, 8..16)?;
        let y = g.empty([n], F32)?;
        g.scope("side", |g| g.fill_bytes(high, 0))?;
        g.copy(low, y)?;
        g.output("y", y)
    })
}

#[test]
fn a_race_of_some_sizes_only_is_refused_for_all() {
    let _alone = Alone::new();
    halves(8).unwrap();
    let error = halves(9).unwrap_err();
    assert_eq!(error.findings()[0].kind, FindingKind::UnorderedAccess);
    let text = &error.findings()[0].message;
    assert!(text.contains("fill_bytes (#") && text.contains("stream \"side\", tests/plans/dynamic.rs:"), "{text}");
}

#[test]
fn inputs_that_are_there_before_the_run_have_no_symbols() {
    let _alone = Alone::new();
    for class in [Input::Frozen, Input::Static] {
        let error = Plan::build(|g| {
            let n = g.symbol("n", 1..=4)?;
            g.input("w", [n], F32, class).map(drop)
        });
        assert_says(&error.unwrap_err(), ErrorKind::InvalidPlan, &["input \"w\" is", "cannot have symbols"]);
    }
}

/// Of sizes that are negative for the least of its symbols.
#[test]
fn a_plan_that_runs_for_some_sizes_only_is_stored_and_loaded() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=64)?;
        let x = g.input("x", [1.into(), 1.into(), n, 8.into()], F32, Input::Copied)?;
        let w = g.input("w", [9], F32, Input::Frozen)?;
        let k = g.reshape(g.muls(w, 2.0)?, [1, 1, 3, 3])?;
        let y = g.conv2d(x, k, None, Window::default(), 1)?;
        g.output("y", y)
    });
    let plan = plan.unwrap();
    let once = plan.optimise(&Passes::new().relaid_weights(PassMode::On)).unwrap().plan;
    assert!(once.operators() < plan.operators(), "work on weights alone is done once");
    let w = alone.device.upload_tensor(&[0.5_f32; 9], [9]).unwrap();
    for plan in [&plan, &once] {
        let plan = Plan::load(&plan.store().unwrap(), &Registry::new()).unwrap();
        let stream = alone.stream();
        let mut exe = plan.capture(&alone.device, Frozen::new().with("w", &w)).unwrap();
        for n in [5, 3, 64] {
            let x = alone.device.upload_tensor(&vec![1.0_f32; n * 8], [1, 1, n, 8]).unwrap();
            let mut bind = exe.bindings();
            exe.run(&stream, bind.set(exe.input("x").unwrap(), &x)).unwrap();
            let y = exe.output::<f32>(exe.output_id("y").unwrap()).unwrap();
            assert_eq!(y.to_vec().unwrap(), vec![9.0; (n - 2) * 6]);
        }
        let x = alone.device.upload_tensor(&[1.0_f32; 8], [1, 1, 1, 8]).unwrap();
        let mut bind = exe.bindings();
        let refused = exe.run(&stream, bind.set(exe.input("x").unwrap(), &x)).unwrap_err();
        assert!(refused.to_string().contains("has no size"), "{refused}");
    }
}
