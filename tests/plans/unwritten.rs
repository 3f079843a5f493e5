//! Results that operators of the library leave as they are, and who may take them.

use racl::op::{DataType::F32, aclnn};
use racl::plan::{Inferred, Input, Plan, Simulated};
use racl::{ErrorKind, Result};

use crate::Alone;
use crate::common::assert_says;

/// The gradients take what is left, and do not read it.
#[test]
fn gradients_take_masks_and_buffers_that_are_not_needed() {
    let _alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [2], F32, Input::Copied)?;
        let (mut y, mut buffer) = (Inferred::new(), Inferred::new());
        aclnn::log_sigmoid_forward(g, &x, &mut y, &mut buffer)?;
        let mut back = Inferred::new();
        aclnn::log_sigmoid_backward(g, &x, &x, &buffer.value()?, &mut back)?;
        let (mut kept, mut mask) = (Inferred::new(), Inferred::new());
        aclnn::dropout(g, &back.value()?, 0.0, true, 1, 0, &mut kept, &mut mask)?;
        let mut last = Inferred::new();
        aclnn::dropout_backward(g, &kept.value()?, &mask.value()?, 1.0, &mut last)?;
        g.output("y", last.value()?)
    });
    let plan = plan.unwrap();
    let left = plan.simulate(0, &Simulated::new().tensor("x", &[0.0_f32, 2.0], [2])).unwrap();
    let all = left.to_vec::<f32>("y").unwrap();
    assert!(all[0] == 0.0 && (all[1] - 2.0 / (1.0 + 2.0_f32.exp())).abs() < 1e-5, "{all:?}");
}

#[test]
fn gradients_in_a_plan_that_is_called_take_them_as_well() {
    let _alone = Alone::new();
    let backward = Plan::build(|g| {
        let [x, buffer] = ["x", "buffer"].map(|name| g.input(name, [2], F32, Input::Copied));
        let (x, mut back) = (x?, Inferred::new());
        aclnn::log_sigmoid_backward(g, &x, &x, &buffer?, &mut back)?;
        g.output("back", back.value()?)
    })
    .unwrap();
    let plan = Plan::build(|g| {
        let x = g.input("x", [2], F32, Input::Copied)?;
        let (mut y, mut buffer) = (Inferred::new(), Inferred::new());
        aclnn::log_sigmoid_forward(g, &x, &mut y, &mut buffer)?;
        let [back] = g.call(&backward, &[x, buffer.value()?])?;
        g.output("back", back)
    });
    let given = Simulated::new().tensor("x", &[0.0_f32, 2.0], [2]);
    let all = plan.unwrap().simulate(0, &given).unwrap().to_vec::<f32>("back").unwrap();
    assert!(all[0] == 0.0 && (all[1] - 2.0 / (1.0 + 2.0_f32.exp())).abs() < 1e-5, "{all:?}");
}

/// A plan that gives out the mask of a dropout, or multiplies by it.
fn masked(chance: f64, train: Option<bool>, multiplies: bool) -> Result<Plan> {
    Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let (mut y, mut mask, mut back) = (Inferred::new(), Inferred::new(), Inferred::new());
        match train {
            Some(train) => aclnn::dropout(g, &x, chance, train, 1, 0, &mut y, &mut mask)?,
            None => aclnn::dropout_v3(g, &x, None, chance, 1, 0, &mut y, &mut mask)?,
        }
        if multiplies {
            aclnn::dropout_v3_grad(g, &y.value()?, &mask.value()?, 1.0, &mut back)?;
            return g.output("back", back.value()?);
        }
        g.output("y", y.value()?)?;
        g.output("mask", mask.value()?)
    })
}

#[test]
fn a_mask_that_nothing_writes_is_not_given_out_or_read() {
    for (chance, train) in
        [(0.0, Some(true)), (1.0, Some(true)), (0.5, Some(false)), (0.0, None), (-0.0, None), (1.0, None)]
    {
        let error = masked(chance, train, false).unwrap_err();
        assert_says(
            &error,
            ErrorKind::InvalidPlan,
            &["output \"mask\"", "is written by nothing", "is told to leave it"],
        );
        let error = masked(chance, train, true).unwrap_err();
        let texts = ["aclnnDropoutV3Grad (#1", "reads bytes 0..16", "nothing has written", "is told to leave it"];
        assert_says(&error, ErrorKind::InvalidPlan, &texts);
    }
    for train in [Some(true), None] {
        assert!(masked(0.5, train, false).unwrap().lints().is_empty());
        assert!(masked(0.5, train, true).unwrap().lints().is_empty());
    }
}

#[test]
fn a_buffer_that_nothing_writes_is_not_given_out_or_read() {
    let plan = |reads: bool| {
        Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            let (mut y, mut buffer) = (Inferred::new(), Inferred::new());
            aclnn::log_sigmoid_forward(g, &x, &mut y, &mut buffer)?;
            g.output("y", y.value()?)?;
            g.output("b", if reads { g.abs(buffer.value()?)? } else { buffer.value()? })
        })
    };
    assert_says(&plan(false).unwrap_err(), ErrorKind::InvalidPlan, &["output \"b\"", "is written by nothing"]);
    assert_says(&plan(true).unwrap_err(), ErrorKind::InvalidPlan, &["aclnnAbs (#1", "nothing has written"]);
}

/// The very gradients that read nothing where all is kept or dropped multiply by a mask otherwise.
#[test]
fn a_gradient_that_multiplies_reads_the_mask() {
    let plan = |scale: f64| {
        Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            let (mut y, mut mask, mut back) = (Inferred::new(), Inferred::new(), Inferred::new());
            aclnn::dropout(g, &x, 0.0, true, 1, 0, &mut y, &mut mask)?;
            aclnn::dropout_backward(g, &y.value()?, &mask.value()?, scale, &mut back)?;
            g.output("y", back.value()?)
        })
    };
    assert_says(
        &plan(2.0).unwrap_err(),
        ErrorKind::InvalidPlan,
        &["aclnnDropoutBackward (#1", "nothing has written"],
    );
    assert!(plan(0.0).unwrap().lints().is_empty());
}
