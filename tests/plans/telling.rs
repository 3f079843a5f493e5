//! Numbers of operators that depend on symbols.

use racl::op::DataType::{F16, F32};
use racl::op::aclnn;
use racl::plan::{Builder, Dim, Executable, FindingKind, Frozen, Input, Mode, Plan, Quantity, RunOptions, Simulated};
use racl::{ErrorKind, Result, half::f16};

use crate::common::assert_says;
use crate::{Alone, give, result};

const OUTPUTS: [&str; 5] = ["padded", "behind", "scaled", "steps", "rstd"];

/// One parameter of each kind: a list, integers, a scalar, scalars and an integer in one call, a float.
fn plan() -> Plan {
    Plan::build(|g| {
        let n = g.symbol("n", 1..=32)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        // One 9 in front of x, and n of them behind it.
        let mut padded = g.empty([n * 2 + 1], F32)?;
        let pad: [Quantity; 2] = [1.into(), n.into()];
        aclnn::constant_pad_nd(&g.telling("pad", pad), &x, &[], 9.0_f32, &mut padded)?;
        let mut behind = g.empty([n], F32)?;
        aclnn::slice(&g.telling("start", n + 1).telling("end", n * 2 + 1), &padded, 0, 0, 0, 1, &mut behind)?;
        let mut scaled = g.empty([n], F32)?;
        let by = Quantity::power(n, -0.5).times(3.0);
        aclnn::muls(&g.telling("other", by), &x, 0.0_f32, &mut scaled)?;
        let mut steps = g.empty([n * 3], F32)?;
        aclnn::linspace(&g.telling("end", n).telling("steps", n * 3), -1.0_f32, 0.0_f32, 0, &mut steps)?;
        let gamma = g.full([n], F32, 1)?;
        let (mut normal, mut rstd) = (g.empty([n], F32)?, g.empty([1], F32)?);
        aclnn::rms_norm(
            &g.telling("epsilon", Quantity::from(n).times(0.25)),
            &x,
            &gamma,
            0.0,
            &mut normal,
            &mut rstd,
        )?;
        OUTPUTS.iter().zip([padded, behind, scaled, steps, rstd]).try_for_each(|(name, value)| g.output(name, value))
    })
    .unwrap()
}

/// The same with numbers that are known, on a stream.
fn on_a_stream(alone: &Alone, x: &[f32]) -> Vec<Vec<f32>> {
    let (n, stream, device) = (x.len(), alone.stream(), &alone.device);
    let (size, real) = (n as i64, n as f64);
    let zeros = |count: usize| device.zeros::<f32>([count]).unwrap();
    let x = device.upload_tensor(x, [n]).unwrap();
    let (mut padded, mut behind, mut scaled) = (zeros(2 * n + 1), zeros(n), zeros(n));
    let (mut steps, mut normal, mut rstd) = (zeros(3 * n), zeros(n), zeros(1));
    aclnn::constant_pad_nd(&stream, &x, &[1, size], 9.0_f32, &mut padded).unwrap();
    aclnn::slice(&stream, &padded, 0, size + 1, 2 * size + 1, 1, &mut behind).unwrap();
    aclnn::muls(&stream, &x, (3.0 * real.powf(-0.5)) as f32, &mut scaled).unwrap();
    aclnn::linspace(&stream, -1.0_f32, real as f32, 3 * size, &mut steps).unwrap();
    let gamma = device.upload_tensor(&vec![1.0_f32; n], [n]).unwrap();
    aclnn::rms_norm(&stream, &x, &gamma, 0.25 * real, &mut normal, &mut rstd).unwrap();
    [padded, behind, scaled, steps, rstd].iter().map(|one| one.to_vec().unwrap()).collect()
}

fn outputs(exe: &Executable) -> Vec<Vec<f32>> {
    OUTPUTS.iter().map(|name| result(exe, name)).collect()
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i * 7 % 5) as f32 - 1.5).collect()
}

#[test]
fn numbers_are_those_of_each_run() {
    let alone = Alone::new();
    let (plan, stream) = (plan(), alone.stream());
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        for n in [4, 1, 32, 4, 5, 1] {
            let x = numbers(n);
            let expected = on_a_stream(&alone, &x);
            assert_eq!(expected[1], vec![9.0; n]);
            let given = alone.device.upload_tensor(&x, [n]).unwrap();
            exe.run(&stream, &mut give(&exe, "x", &given)).unwrap();
            assert_eq!(outputs(&exe), expected, "{mode:?}, {n}");
        }
    }
}

#[test]
fn simulations_and_updates_have_them_too() {
    let alone = Alone::new();
    let plan = plan();
    for n in [1, 6] {
        let x = numbers(n);
        let given = Simulated::new().tensor("x", &x, [n]);
        let simulated = plan.simulate(1, &given).unwrap();
        let simulated: Vec<Vec<f32>> = OUTPUTS.iter().map(|name| simulated.to_vec(name).unwrap()).collect();
        assert_eq!(simulated, on_a_stream(&alone, &x), "{n}");
    }
    let updated = Plan::build(|g| {
        let n = g.symbol("n", 1..=8)?;
        let x = g.input("x", [n], F32, Input::Updatable)?;
        let mut y = g.empty([n], F32)?;
        aclnn::muls(&g.telling("other", n), &x, 0.0_f32, &mut y)?;
        g.output("y", y)
    });
    let mut exe = updated.unwrap().capture(&alone.device, Frozen::new()).unwrap();
    let stream = alone.stream();
    for n in [3, 5, 3, 3, 5] {
        let x = alone.device.upload_tensor(&vec![2.0_f32; n], [n]).unwrap();
        exe.run(&stream, &mut give(&exe, "x", &x)).unwrap();
        assert_eq!(result(&exe, "y"), vec![2.0 * n as f32; n]);
    }
    assert_eq!(exe.graphs(), 2);
}

#[test]
fn a_simulation_takes_the_same_value_twice_and_tensors_without_elements() {
    let _alone = Alone::new();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 0..=4)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        let mut y = g.empty([n * 2], F32)?;
        aclnn::cat(g, &[&x, &x], 0, &mut y)?;
        g.output("y", y)
    })
    .unwrap();
    for x in [&[][..], &[1.0_f32, 2.0]] {
        let given = Simulated::new().tensor("x", x, [x.len()]);
        assert_eq!(plan.simulate(1, &given).unwrap().to_vec::<f32>("y").unwrap(), [x, x].concat());
    }
}

#[test]
fn a_scalar_keeps_its_type() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=70_000)?;
        let x = g.input("x", [n], F16, Input::Copied)?;
        let mut y = g.empty([n], F16)?;
        aclnn::muls(&g.telling("other", n), &x, f16::ZERO, &mut y)?;
        g.output("y", y)
    });
    let mut exe = plan.unwrap().capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[f16::from_f32(0.5); 3], [3]).unwrap();
    exe.run(&alone.stream(), &mut give(&exe, "x", &x)).unwrap();
    let y = exe.output::<f16>(exe.output_id("y").unwrap()).unwrap().to_vec().unwrap();
    assert_eq!(y, [f16::from_f32(1.5); 3]);
}

#[test]
fn what_cannot_be_told_is_refused_with_the_caller_s_line() {
    let refused = |work: fn(&Builder, Dim) -> Result<()>, says: &[&str]| {
        let error = Plan::build(|g| {
            let n = g.symbol("n", 1..=8)?;
            work(g, n)
        })
        .unwrap_err();
        let says = [says, &["tests/plans/telling.rs"]].concat();
        assert_says(&error, ErrorKind::InvalidPlan, &says);
    };
    refused(
        |g, n| {
            let x = g.full([2], F32, 1)?;
            aclnn::muls(&g.telling("others", n), &x, 0.0_f32, &mut g.empty([2], F32)?)
        },
        &["muls has no parameter \"others\"", "self_, other, out"],
    );
    refused(
        |g, n| {
            let x = g.full([2], F32, 1)?;
            aclnn::muls(&g.telling("self_", n), &x, 0.0_f32, &mut g.empty([2], F32)?)
        },
        &["self_ is no number that can be told"],
    );
    refused(
        |g, n| {
            let x = g.full([2], F32, 1)?;
            aclnn::muls(&g.telling("other", [n, n]), &x, 0.0_f32, &mut g.empty([2], F32)?)
        },
        &["2 numbers for other, which is one"],
    );
    refused(
        |g, n| {
            let x = g.full([2], F32, 1)?;
            let on = g.telling("dim", Quantity::power(n, 0.5));
            aclnn::slice(&on, &x, 0, 0, 1, 1, &mut g.empty([1], F32)?)
        },
        &["n^0.5 for dim, which takes integers"],
    );
    refused(
        |g, n| {
            let x = g.full([2], F32, 1)?;
            aclnn::muls(&g.telling("other", (n + 1) * n), &x, 0.0_f32, &mut g.empty([2], F32)?)
        },
        &["none that a plan can have"],
    );
    let mut other = None;
    Plan::build(|g| {
        other = Some(g.symbol("m", 1..=2)?);
        Ok(())
    })
    .unwrap();
    let error = Plan::build(|g| {
        let x = g.full([2], F32, 1)?;
        aclnn::muls(&g.telling("other", other.unwrap()), &x, 0.0_f32, &mut g.empty([2], F32)?)
    });
    assert_eq!(error.as_ref().unwrap_err().findings()[0].kind, FindingKind::Foreign, "{error:?}");
}

#[test]
fn a_number_that_the_type_does_not_have_is_an_error_of_the_run() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=300)?;
        let x = g.input("x", [n], racl::op::DataType::U8, Input::Copied)?;
        let mut y = g.empty([n], racl::op::DataType::U8)?;
        aclnn::adds(&g.telling("other", n), &x, 0_u8, 1_u8, &mut y)?;
        g.output("y", y)
    });
    let mut exe = plan.unwrap().capture(&alone.device, Frozen::new()).unwrap();
    let stream = alone.stream();
    for n in [255, 256, 2] {
        let x = alone.device.upload_tensor(&vec![0_u8; n], [n]).unwrap();
        let ran = exe.run(&stream, &mut give(&exe, "x", &x));
        if n < 256 {
            ran.unwrap();
            assert_eq!(exe.output::<u8>(exe.output_id("y").unwrap()).unwrap().to_vec().unwrap(), vec![n as u8; n]);
        } else {
            assert_says(
                &ran.unwrap_err(),
                ErrorKind::InvalidArgument,
                &["adds", "other cannot be 256", "telling.rs"],
            );
        }
    }
}

/// y = x rolled by a number of the run, times 2; s = x times n of the run.
fn numbered(class: Input) -> Plan {
    Plan::build(|g| {
        let n = g.symbol("n", 1..=16)?;
        let (shift, times) = (g.number("shift", 0..=16)?, g.number("times", 0..=100)?);
        let x = g.input("x", [n], F32, class)?;
        let mut rolled = g.empty([n], F32)?;
        aclnn::roll(&g.telling("shifts", [shift]), &x, &[], &[0], &mut rolled)?;
        let y = g.muls(rolled, 2.0)?;
        g.output("y", y)?;
        let mut scaled = g.empty([n], F32)?;
        aclnn::muls(&g.telling("other", times * 2), &x, 0.0_f32, &mut scaled)?;
        g.output("s", scaled)
    })
    .unwrap()
}

fn check_numbered(exe: &Executable, x: &[f32], shift: usize, times: usize) {
    let n = x.len();
    let rolled: Vec<f32> = (0..n).map(|i| 2.0 * x[(i + n - shift % n) % n]).collect();
    assert_eq!(result(exe, "y"), rolled, "shift {shift} of {n}");
    assert_eq!(result(exe, "s"), x.iter().map(|x| x * 2.0 * times as f32).collect::<Vec<_>>(), "times {times}");
}

#[test]
fn numbers_of_each_run_are_updated_in_one_graph_for_each_size() {
    let alone = Alone::new();
    let stream = alone.stream();
    for class in [Input::Copied, Input::Updatable] {
        let plan = numbered(class);
        for mode in [Mode::Captured, Mode::Eager] {
            let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
            let (id, mut bind) = (exe.input("x").unwrap(), exe.bindings());
            let x = [numbers(5), numbers(3)].map(|x| (alone.device.upload_tensor(&x, [x.len()]).unwrap(), x));
            let runs =
                [(0, 1, 10), (0, 1, 10), (0, 2, 10), (0, 2, 11), (1, 2, 11), (0, 0, 0), (1, 2, 11), (0, 16, 100)];
            for (which, shift, times) in runs {
                bind.set(id, &x[which].0).symbol("shift", shift).symbol("times", times);
                exe.run(&stream, &mut bind).unwrap();
                check_numbered(&exe, &x[which].1, shift, times);
            }
            let counters = exe.counters();
            let expected = match mode {
                // Of the graph for 5 numbers: shift, times, then both, then both.
                Mode::Captured => (2, 2, 6, 8),
                _ => (0, 0, 0, 0),
            };
            let seen = (exe.graphs() as u64, counters.captured_new, counters.updates, counters.replays);
            assert_eq!(seen, expected, "{class:?} {mode:?}");
        }
    }
}

#[test]
fn a_simulation_has_the_numbers_of_its_run() {
    let _alone = Alone::new();
    let plan = numbered(Input::Copied);
    let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0], [3]);
    let simulated = plan.simulate(3, &given.symbol("shift", 1).symbol("times", 4)).unwrap();
    assert_eq!(simulated.to_vec::<f32>("y").unwrap(), [6.0, 2.0, 4.0]);
    assert_eq!(simulated.to_vec::<f32>("s").unwrap(), [8.0, 16.0, 24.0]);
}

#[test]
fn numbers_of_each_run_are_given_within_their_bounds_and_are_no_sizes() {
    let alone = Alone::new();
    let stream = alone.stream();
    let mut exe = numbered(Input::Copied).capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3]).unwrap();
    let (id, mut bind) = (exe.input("x").unwrap(), exe.bindings());
    bind.set(id, &x).symbol("shift", 1);
    let error = exe.run(&stream, &mut bind).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["\"times\"", "Bindings::symbol"]);
    let error = exe.run(&stream, bind.symbol("times", 101)).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["\"times\" is 101", "0 to 100"]);
    exe.run(&stream, bind.symbol("times", 7)).unwrap();
    check_numbered(&exe, &[1.0, 2.0, 3.0], 1, 7);
    let error = Plan::build(|g| {
        let shift = g.number("shift", 1..=2)?;
        g.empty([shift * 2], F32).map(drop)
    });
    assert_says(&error.unwrap_err(), ErrorKind::InvalidPlan, &["2*shift", "each run gives anew", "telling.rs"]);
}

#[test]
fn an_update_that_failed_is_made_again_by_the_next_run() {
    let alone = Alone::new();
    let stream = alone.stream();
    let mut exe = numbered(Input::Copied).capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3]).unwrap();
    let (id, mut bind) = (exe.input("x").unwrap(), exe.bindings());
    exe.run(&stream, bind.set(id, &x).symbol("shift", 1).symbol("times", 1)).unwrap();
    check_numbered(&exe, &[1.0, 2.0, 3.0], 1, 1);
    crate::common::mock::fail("aclnnRollGetWorkspaceSize", 1, 161_002).unwrap();
    let failed = exe.run(&stream, bind.symbol("shift", 2).symbol("times", 3));
    crate::common::mock::clear_failures();
    assert!(failed.is_err());
    // The same numbers again: nothing is taken for done that was not.
    exe.run(&stream, &mut bind).unwrap();
    check_numbered(&exe, &[1.0, 2.0, 3.0], 2, 3);
}

/// What a plan of one operator on `[n, 4, 2]` gives for two such.
fn by_n(operator: fn(&Builder, racl::plan::Value) -> Result<racl::plan::Value>) -> (Vec<f32>, Vec<f32>) {
    let build = |symbolic: bool| {
        Plan::build(|g| {
            let n = if symbolic { g.symbol("n", 1..=8)? } else { Dim::from(2) };
            let x = g.input("x", [n, 4.into(), 2.into()], F32, Input::Copied)?;
            g.output("y", operator(g, x)?)
        })
        .unwrap()
    };
    let numbers: Vec<f32> = (0..16_u8).map(|one| f32::from(one * one)).collect();
    let given = Simulated::new().tensor("x", &numbers, [2, 4, 2]);
    let [one, other] = [true, false].map(|symbolic| build(symbolic).simulate(0, &given).unwrap());
    (one.to_vec("y").unwrap(), other.to_vec("y").unwrap())
}

#[test]
fn methods_tell_operators_sizes_with_symbols() {
    let _alone = Alone::new();
    let (got, wanted) = by_n(|g, x| Ok(g.group_norm(x, 2, None, None, 1e-5)?.0));
    assert_eq!((got.len(), &got), (16, &wanted));
    let (got, wanted) = by_n(|g, x| g.repeat_interleave(x, 3));
    assert_eq!((got.len(), &got), (48, &wanted));
    // Symbols behind the channels, and as channels.
    let plan = Plan::build(|g| {
        let (h, w) = (g.symbol("h", 1..=8)?, g.symbol("w", 1..=8)?);
        let x = g.input("x", [1.into(), 2.into(), h, w], F32, Input::Copied)?;
        g.output("y", g.group_norm(x, 1, None, None, 1e-5)?.0)?;
        g.output("z", g.repeat_interleave(x, 0)?)
    });
    let given = Simulated::new().tensor("x", &[1.0_f32; 12], [1, 2, 3, 2]);
    let run = plan.unwrap().simulate(0, &given).unwrap();
    assert_eq!((run.to_vec::<f32>("y").unwrap(), run.to_vec::<f32>("z").unwrap()), (vec![0.0; 12], vec![]));
}

#[test]
fn sizes_whose_product_is_too_large_are_refused_or_nothing() {
    let large = 1_usize << 40;
    let build = |dims: [usize; 4], what: fn(&Builder, racl::plan::Value) -> Result<()>| {
        Plan::build(|g| what(g, g.input("x", dims, F32, Input::Copied)?))
    };
    let what: [fn(&Builder, racl::plan::Value) -> Result<()>; 2] =
        [|g, x| g.group_norm(x, 1, None, None, 1e-5).map(drop), |g, x| g.repeat_interleave(x, i64::MAX).map(drop)];
    for what in what {
        for dims in [[0, 2, large, large], [1, 0, large, large], [0, 1, large, 1], [1, large, 0, large]] {
            let _ = build(dims, what); // and not a panic
        }
    }
}
