//! Work on weights that is done once, on a device.

use crate::common::mock;
use racl::Tensor;
use racl::op::DataType::{F16, F32, I32};
use racl::plan::auto::{Auto, Target};
use racl::plan::{Dim, Executable, Frozen, Input, Mode, PassMode, Passes, Plan, RunOptions, Scope, Simulated};

use crate::choices::{all_ways, condition, times, with, x};
use crate::{Alone, calls_of, give, result};

const WEIGHT: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

/// `x` times the sum of a weight, turned and rounded, and a constant, of which nothing depends on `x`; with `n` rows.
fn plan() -> Plan {
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=8)?;
        let x = g.input("x", [n, Dim::from(3)], F16, Input::Copied)?;
        let w = g.input("w", [2, 3], F32, Input::Frozen)?;
        let turned = g.scope_with("side", Scope::new(), |g| g.permute(w, &[1, 0]))?;
        g.join("side")?;
        let shifted = g.add(turned, g.constant(&[10.0_f32], [1])?)?;
        let product = g.matmul(x, g.cast(shifted, F16)?)?;
        g.output("y", g.cast(product, F32)?)
    });
    let better = plan.unwrap().optimise(&Passes::new().relaid_weights(PassMode::Verified)).unwrap();
    assert_eq!((better.before, better.plan.operators()), (5, 2), "{better}");
    better.plan
}

/// Rows of ones and zeros pick sums of rows of the turned weight, each element 10 more.
const ROWS: [f32; 6] = [1.0, 0.0, 0.0, 0.0, 1.0, 1.0];
const PICKED: [f32; 4] = [11.0, 14.0, 25.0, 31.0];

fn run(alone: &Alone, exe: &mut Executable) -> Vec<f32> {
    let rows: Vec<half::f16> = ROWS.iter().map(|one| half::f16::from_f32(*one)).collect();
    let x = alone.device.upload_tensor(&rows, [2, 3]).unwrap();
    let mut bind = give(exe, "x", &x);
    exe.run(&alone.stream(), &mut bind).unwrap();
    result(exe, "y")
}

fn weight(alone: &Alone) -> Tensor<f32> {
    alone.device.upload_tensor(&WEIGHT, [2, 3]).unwrap()
}

#[test]
fn it_is_done_when_the_executable_is_made_and_by_no_run() {
    let (alone, plan) = (Alone::new(), plan());
    for mode in [Mode::Captured, Mode::Eager] {
        let options = RunOptions::new().mode(mode);
        let frozen = Frozen::new().with("w", &weight(&alone));
        let (made, mut exe) = calls_of("aclnnPermute", || plan.executable(&alone.device, &options, frozen).unwrap());
        assert_eq!(made, 1, "{mode:?}");
        let casts = mock::calls("aclnnCast");
        let (run_again, results) = calls_of("aclnnPermute", || [run(&alone, &mut exe), run(&alone, &mut exe)]);
        assert_eq!(results, [PICKED; 2], "{mode:?}");
        assert_eq!(run_again, 0, "{mode:?}");
        // That of the product: captured once, or in each run.
        assert_eq!(mock::calls("aclnnCast") - casts, if mode == Mode::Captured { 1 } else { 2 }, "{mode:?}");
    }
    let given = ROWS.map(half::f16::from_f32);
    let given = Simulated::new().tensor("x", &given, [2, 3]).tensor("w", &WEIGHT, [2, 3]);
    for seed in 0..8 {
        assert_eq!(plan.simulate(seed, &given).unwrap().to_vec::<f32>("y").unwrap(), PICKED);
    }
}

#[test]
fn what_is_written_to_a_weight_later_is_not_seen() {
    let (alone, plan) = (Alone::new(), plan());
    let mut w = weight(&alone);
    let mut exe = plan.capture(&alone.device, Frozen::new().with("w", &w)).unwrap();
    w.write(&[0.0; 6]).unwrap();
    assert_eq!(run(&alone, &mut exe), PICKED);
    exe.clear_graphs();
    assert_eq!(run(&alone, &mut exe), PICKED, "captured anew, with what was made before");
    let mut other = plan.capture(&alone.device, Frozen::new().with("w", &w)).unwrap();
    assert_eq!(run(&alone, &mut other), [10.0, 10.0, 20.0, 20.0], "of the weight as it is now");
}

#[test]
fn executables_have_it_each_for_itself() {
    let (alone, plan) = (Alone::new(), plan());
    let doubled = alone.device.upload_tensor(&WEIGHT.map(|one| 2.0 * one), [2, 3]).unwrap();
    let mut first = plan.capture(&alone.device, Frozen::new().with("w", &weight(&alone))).unwrap();
    let mut second = plan.capture(&alone.device, Frozen::new().with("w", &doubled)).unwrap();
    assert_eq!(run(&alone, &mut first), PICKED);
    assert_eq!(run(&alone, &mut second), [12.0, 18.0, 30.0, 42.0]);
    drop(first);
    assert_eq!(run(&alone, &mut second), [12.0, 18.0, 30.0, 42.0]);
}

#[test]
fn a_failure_of_it_is_one_of_making_the_executable() {
    let (alone, plan) = (Alone::new(), plan());
    mock::fail("aclnnPermuteGetWorkspaceSize", 1, 361_001).unwrap();
    let error = plan.capture(&alone.device, Frozen::new().with("w", &weight(&alone))).unwrap_err();
    mock::clear_failures();
    assert!(format!("{error:#}").contains("aclnnPermute (#"), "{error:#}");
    let mut exe = plan.capture(&alone.device, Frozen::new().with("w", &weight(&alone))).unwrap();
    assert_eq!(run(&alone, &mut exe), PICKED);
}

#[test]
fn plans_that_choose_do_it_once() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let zero = g.tanh(g.constant(&[0.0_f32; 4], [4])?)?;
        let scale = g.adds(zero, 2.0)?;
        let [y] = g.if_else(condition(g, I32)?, &times(2.0), &times(10.0), &[g.mul(x(g)?, scale)?])?;
        g.output("y", g.add(y, scale)?)
    });
    let better = plan.unwrap().optimise(&Passes::new().relaid_weights(PassMode::Verified)).unwrap();
    assert_eq!(better.changes.len(), 2, "{better}");
    // 1, 2, 3 and -4, times 2, times 2 or 10, and 2 more.
    let expected = [[6.0, 10.0, 14.0, -14.0], [22.0, 42.0, 62.0, -78.0]];
    assert_eq!(all_ways(&alone, &better.plan, &with(&[1, 0])), expected);
}

#[test]
fn a_plan_with_it_can_be_spread_over_streams() {
    let (alone, plan) = (Alone::new(), plan());
    let auto = Auto::new(Target::new(1 << 20, 24, 48).unwrap()).at("n", 2);
    let spread = plan.overlap(&auto).unwrap().plan;
    assert_eq!(spread.operators(), 2);
    let mut exe = spread.capture(&alone.device, Frozen::new().with("w", &weight(&alone))).unwrap();
    let (again, left) = calls_of("aclnnPermute", || run(&alone, &mut exe));
    assert_eq!((again, &left[..]), (0, &PICKED[..]));
}
