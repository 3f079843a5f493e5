//! Layer norms that take the sum in front of them.

use crate::op::aclnn;
use crate::plan::Inferred;

use super::fused_norms::{given, norm, norms, on};
use super::*;

/// A layer norm of a sum, with the sum.
fn after_a_sum(g: &Builder, dtype: crate::op::DataType, kept: bool) -> Result<()> {
    let n = g.symbol("n", 1..=3)?;
    let [a, b] = ["a", "b"].map(|name| g.input(name, [n, 2.into(), 4.into()], dtype, Input::Copied));
    let [w, more] = ["w", "more"].map(|name| g.input(name, [2, 4], dtype, Input::Frozen));
    let sum = g.add(a?, b?)?;
    let y = g.layer_norm(sum, w?, more?, 1e-5)?;
    if kept {
        g.output("sum", g.abs(sum)?)?;
    }
    g.output("y", y)
}

#[test]
fn a_layer_norm_takes_the_sum_in_front_of_it() {
    for dtype in [F32, F16, Bf16] {
        for kept in [false, true] {
            let better = optimised(norms(), |g| after_a_sum(g, dtype, kept));
            let left = if kept { 2 } else { 1 };
            assert_eq!((better.before, better.plan.operators()), (left + 1, left), "{better}");
            assert!(better.to_string().contains("aclnnAddLayerNorm computes it, in place of"), "{better}");
            assert!(better.plan.to_text().contains("aclnnAddLayerNorm"), "{}", better.plan.to_text());
        }
    }
    // What is read in between, what is subtracted or of another shape, and what is written over stay.
    let stays = |work: &dyn Fn(&Builder, Value, Value, Value) -> Result<Value>| {
        let better = optimised(on(), |g| {
            let [a, b] = ["a", "b"].map(|name| g.input(name, [3, 4], F32, Input::Copied));
            let w = g.input("w", [4], F32, Input::Frozen)?;
            g.output("y", work(g, a?, b?, w)?)
        });
        assert!(better.changes.is_empty(), "{better}");
    };
    stays(&|g, a, b, w| {
        let sum = g.add(a, b)?;
        g.output("early", g.abs(sum)?)?;
        g.layer_norm(sum, w, w, 1e-5)
    });
    stays(&|g, a, b, w| g.layer_norm(g.sub(a, b)?, w, w, 1e-5));
    stays(&|g, a, b, w| g.layer_norm(g.add(a, b)?, w, w, 1e-6));
    stays(&|g, a, _, w| g.layer_norm(g.add(a, w)?, w, w, 1e-5));
    stays(&|g, a, b, w| {
        let sum = g.add(a, b)?;
        g.muls_inplace(a, 2.0_f32)?;
        g.layer_norm(sum, w, w, 1e-5)
    });
    stays(&|g, a, b, w| {
        let mut y = Inferred::new();
        aclnn::layer_norm(g, &g.add(a, b)?, &[4], Some(&w), None, 1e-5, &mut y, None, None)?;
        y.value()
    });
}

#[test]
fn a_library_that_lacks_the_operator_keeps_the_sum_and_the_norm() {
    use crate::plan::passes::made::Lacking;

    let without = |lacking: &'static str| Passes { lacking: Lacking::where_not(|name| name != lacking), ..on() };
    let better = optimised(without("aclnnAddLayerNorm"), |g| after_a_sum(g, F32, true));
    assert!(better.changes.is_empty(), "{better}");
    assert_eq!(better.plan.memory(&[2]).unwrap().sum, unchanged_sum());
    assert_eq!(optimised(without("aclnnRmsNorm"), |g| after_a_sum(g, F32, true)).changes.len(), 1);
    // The norm alone, and not the sum in front of it.
    let better = optimised(without("aclnnAddRmsNorm"), |g| {
        let [x, w] = given(g)?;
        g.output("y", norm(g, g.add(x, g.abs(x)?)?, w)?)
    });
    let text = better.plan.to_text();
    assert!(text.contains("aclnnRmsNorm") && !text.contains("aclnnAddRmsNorm"), "{text}");
}

fn unchanged_sum() -> u64 {
    Plan::build(|g| after_a_sum(g, F32, true)).unwrap().memory(&[2]).unwrap().sum
}

#[test]
fn a_sum_that_is_not_written_cannot_be_read() {
    let plan = |wanted: bool, read: bool| {
        Plan::build(|g| {
            let [a, b] = ["a", "b"].map(|name| g.input(name, [3, 4], F32, Input::Copied));
            let w = g.input("w", [4], F32, Input::Frozen)?;
            let [mut y, mut mean, mut rstd, mut sum] = [(); 4].map(|()| Inferred::new());
            aclnn::add_layer_norm(g, &a?, &b?, &w, &w, None, 1e-5, wanted, &mut y, &mut mean, &mut rstd, &mut sum)?;
            g.output("y", y.value()?)?;
            if read { g.output("double", g.muls(sum.value()?, 2.0)?) } else { Ok(()) }
        })
    };
    plan(true, true).unwrap();
    plan(true, false).unwrap();
    let unread = plan(false, false).unwrap();
    let json = unread.to_json(&[]).unwrap();
    assert!(json.contains("\"clobber\""), "{json}");
    let error = plan(false, true).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidPlan);
    let text = error.to_string();
    for part in
        ["memory that nothing has written", "aclnnAddLayerNorm (#0", "is told to leave it", "fused_layer_norms.rs"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Nor be an output.
    let output = Plan::build(|g| {
        let x = g.input("x", [3, 4], F32, Input::Copied)?;
        let w = g.input("w", [4], F32, Input::Frozen)?;
        let [mut y, mut mean, mut rstd, mut sum] = [(); 4].map(|()| Inferred::new());
        aclnn::add_layer_norm(g, &x, &x, &w, &w, None, 1e-5, false, &mut y, &mut mean, &mut rstd, &mut sum)?;
        g.output("sum", sum.value()?)
    });
    assert!(output.unwrap_err().to_string().contains("is told to leave it"));
    // Nor where something wrote that memory before.
    let filled = Plan::build(|g| {
        let x = g.input("x", [3, 4], F32, Input::Copied)?;
        let w = g.input("w", [4], F32, Input::Frozen)?;
        let [mut y, mut mean, mut rstd] = [(); 3].map(|()| Inferred::new());
        let sum = g.full([3, 4], F32, 0.0)?;
        aclnn::add_layer_norm(g, &x, &x, &w, &w, None, 1e-5, false, &mut y, &mut mean, &mut rstd, &mut { sum })?;
        g.output("sum", sum)
    });
    assert!(filled.unwrap_err().to_string().contains("is told to leave it"));
}
