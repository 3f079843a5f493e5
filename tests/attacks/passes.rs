//! Plans after their passes, with numbers and failures that passes do not expect.

use crate::common::mock;
use racl::op::DataType::F32;
use racl::plan::{Frozen, Input, PassMode, Passes, Plan, Simulated};

use crate::arena::Arena;

#[test]
fn shares_of_what_is_infinite_or_huge_are_no_nan() {
    let huge = 2.0_f32.powi(127);
    let arena = Arena::new();
    let plan = Plan::build(|g| {
        let (a, b) = (g.input("a", [3], F32, Input::Copied)?, g.input("b", [3], F32, Input::Copied)?);
        g.output("y", g.add(g.muls(a, 0.75)?, g.muls(b, 0.25)?)?)
    });
    let plan = plan.unwrap().optimise(&Passes::all(PassMode::On)).unwrap().plan;
    let (a, b) = ([f32::NEG_INFINITY, huge, 1.0], [1.0, -huge, f32::INFINITY]);
    let y = plan.simulate(1, &Simulated::new().tensor("a", &a, [3]).tensor("b", &b, [3])).unwrap();
    assert_eq!(y.to_vec::<f32>("y").unwrap(), [f32::NEG_INFINITY, huge / 2.0, f32::INFINITY]);
    arena.end();
}

#[test]
fn work_on_weights_that_fails_late_is_named() {
    let arena = Arena::new();
    let plan = Plan::build(|g| {
        let (x, w) = (g.input("x", [1, 2], F32, Input::Static)?, g.input("w", [3, 2], F32, Input::Frozen)?);
        g.output("y", g.matmul(x, g.permute(w, &[1, 0])?)?)
    });
    let plan = plan.unwrap().optimise(&Passes::new().relaid_weights(PassMode::On)).unwrap().plan;
    let w = arena.context.upload_tensor(&[1.0_f32; 6], [3, 2]).unwrap();
    let frozen = || Frozen::new().with("w", &w);
    mock::fail_task("aclnnPermute", 1, 507_011).unwrap();
    let error = plan.capture(&arena.context, frozen()).unwrap_err();
    let whole = format!("{error:#}");
    assert!(whole.contains("done once, when an executable is made: aclnnPermute"), "{whole}");
    plan.capture(&arena.context, frozen()).unwrap();
    drop(w);
    arena.end();
}
