//! Where a pass is verified: at which values of the symbols plans are compared.

use crate::plan::Quantity;
use crate::plan::builder::Inferred;
use crate::plan::passes::verify::verify;

use super::*;

/// `x`, to which a number is added that is 0 but where `n` is `greatest`.
fn raised(greatest: Option<usize>) -> Plan {
    let built = Plan::build(|g| {
        let n = g.symbol("n", 1..=8)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        let (zeros, mut steps) = (g.muls(x, 0.0)?, Inferred::new());
        let share = Quantity::from(n).times(greatest.map_or(0.0, |greatest| 1.0 / greatest as f64));
        aclnn::adds(&g.telling("other", share), &zeros, 0.0_f32, 1.0_f32, &mut steps)?;
        let steps = steps.value()?;
        aclnn::floor(g, &steps, &mut { steps })?;
        g.output("y", g.add(x, steps)?)
    });
    built.unwrap()
}

#[test]
fn plans_that_differ_at_the_greatest_value_alone_are_told_apart() {
    let (plain, raised) = (raised(None), raised(Some(8)));
    verify("a pass", Bound::Close, &plain, &plain).unwrap();
    let error = verify("a pass", Bound::Close, &plain, &raised).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidPlan);
    let says = error.to_string();
    assert!(says.contains("output \"y\" differs at element 0") && says.contains("n = 8"), "{says}");
}

/// The largest of `n` numbers, which there is none of nothing; of `most` numbers at most.
fn largest(most: usize, less: f32) -> Plan {
    let built = Plan::build(|g| {
        let n = g.symbol("n", 0..=most)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        let mut y = Inferred::new();
        aclnn::amax(g, &x, &[0], false, &mut y)?;
        g.output("y", g.muls(y.value()?, less)?)
    });
    built.unwrap()
}

#[test]
fn values_at_which_the_plan_cannot_run_are_left_out_and_others_are_compared() {
    verify("a pass", Bound::Equal, &largest(8, 1.0), &largest(8, 1.0)).unwrap();
    let says = verify("a pass", Bound::Equal, &largest(8, 1.0), &largest(8, 0.5)).unwrap_err().to_string();
    assert!(says.contains("output \"y\" differs") && says.contains("n = 4"), "{says}");
}

#[test]
fn a_plan_that_runs_at_no_value_cannot_be_verified() {
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=8)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        let y = g.empty([n], F32)?;
        g.foreign(&Foreign::new("mine", 1, |_| Ok(())), &[x], &[y])?;
        g.output("y", y)
    });
    let plan = plan.unwrap();
    let says = verify("a pass", Bound::Equal, &plan, &plan).unwrap_err().to_string();
    assert!(says.contains("a pass: cannot be verified") && says.contains("mine"), "{says}");
}

/// 64 numbers, and what becomes of them.
fn of_numbers(work: impl FnOnce(&Builder, Value) -> Result<Value>) -> Plan {
    Plan::build(|g| g.output("y", work(g, g.input("x", [64], F32, Input::Copied)?)?)).unwrap()
}

#[test]
fn what_differs_at_zeros_infinities_and_nan_alone_is_told() {
    // Of all but zeros, infinities and NaN this is 1.
    let divided = of_numbers(|g, x| g.div(x, x));
    let ones = of_numbers(|g, x| g.adds(g.muls(x, 0.0)?, 1.0));
    for bound in [Bound::Equal, Bound::Close] {
        verify("a pass", bound, &divided, &divided).unwrap();
        let says = verify("a pass", bound, &divided, &ones).unwrap_err().to_string();
        assert!(says.contains("output \"y\" differs") && says.contains("inputs of seed 3"), "{says}");
    }
    // At the least value of the symbol there is nothing.
    let of_some = |work: fn(&Builder, Value) -> Result<Value>| {
        Plan::build(|g| g.output("y", work(g, g.input("x", [g.symbol("n", 0..=64)?], F32, Input::Copied)?)?)).unwrap()
    };
    let (divided, ones) = (of_some(|g, x| g.div(x, x)), of_some(|g, x| g.adds(g.muls(x, 0.0)?, 1.0)));
    for bound in [Bound::Equal, Bound::Close] {
        let says = verify("a pass", bound, &divided, &ones).unwrap_err().to_string();
        assert!(says.contains("inputs of seed 3") && says.contains("n = 32"), "{says}");
    }
    // The sum is no number where an operand is none, whichever of two that is.
    let sums = [false, true].map(|turned| {
        of_numbers(|g, x| {
            let other = g.sub(x, g.muls(x, 1.0)?)?; // NaN of another sign where x is infinite
            if turned { g.add(other, x) } else { g.add(x, other) }
        })
    });
    verify("a pass", Bound::Equal, &sums[0], &sums[1]).unwrap();
}
