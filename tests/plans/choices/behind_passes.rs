//! What passes make of the plans that are chosen.

use racl::op::DataType::I32;
use racl::plan::{Input, PassMode, Passes, Plan};

use super::{all_ways, body, condition, with, x};
use crate::Alone;

/// by · (|x| + |x|), with the second |x| computed again, and a hyperbolic tangent for nobody.
fn wasteful(by: f64) -> Plan {
    body(&[], move |g, x, _| {
        let (once, again) = (g.abs(x)?, g.abs(x)?);
        g.tanh(again)?;
        g.muls(g.add(once, again)?, by)
    })
}

#[test]
fn plans_that_are_chosen_go_through_passes_by_themselves() {
    let alone = Alone::new();
    let (one, other) = (wasteful(2.0), wasteful(10.0));
    let plan = Plan::build(|g| {
        let [y] = g.if_else(condition(g, I32)?, &one, &other, &[x(g)?])?;
        g.output("y", y)
    })
    .unwrap();
    let better = plan.optimise(&Passes::all(PassMode::Verified)).unwrap();
    let passes: Vec<_> = better.changes.iter().map(|change| change.pass).collect();
    assert_eq!(passes, ["common_values", "dead_values", "common_values", "dead_values"]);
    // abs, add and muls of either one.
    assert_eq!((better.before, better.plan.operators()), (10, 6));
    // 2 (|1| + |1|) and so on, or 10 of them.
    assert_eq!(all_ways(&alone, &better.plan, &with(&[1, 0])), [[4.0, 8.0, 12.0, 16.0], [20.0, 40.0, 60.0, 80.0]]);
    let again = better.plan.optimise(&Passes::all(PassMode::On)).unwrap();
    assert!(again.changes.is_empty(), "{again}");
    assert_eq!((one.operators(), plan.operators()), (5, 10), "they stay as they are");
}

#[test]
fn a_loop_within_a_choice_goes_through_passes() {
    let alone = Alone::new();
    let wasteful = wasteful(0.75);
    let round = Plan::build(|g| {
        let (c, x) = (g.input("c", [1], I32, Input::Copied)?, x(g)?);
        let left = g.adds(c, -1)?;
        let [x] = g.call(&wasteful, &[x])?;
        g.output("more", left)?;
        g.output("c", left)?;
        g.output("x", x)
    })
    .unwrap();
    let looped = Plan::build(|g| {
        let (c, x) = (g.input("c", [1], I32, Input::Copied)?, x(g)?);
        let [c, x] = g.repeat_while(c, &round, [c, x], &[])?;
        g.output("c", c)?;
        g.output("y", x)
    })
    .unwrap();
    let plan = Plan::build(|g| {
        let c = condition(g, I32)?;
        let [_, y] = g.if_then(c, &looped, &[c, x(g)?])?;
        g.output("y", y)
    })
    .unwrap();
    let better = plan.optimise(&Passes::all(PassMode::Verified)).unwrap();
    // The second abs and the tanh are gone.
    assert_eq!((plan.operators() - better.plan.operators(), better.changes.len()), (2, 2), "{better}");
    let numbers = all_ways(&alone, &better.plan, &with(&[0, 1, 2]));
    // As many rounds of 0.75 (|x| + |x|).
    assert_eq!(numbers, [[1.0, 2.0, 3.0, -4.0], [1.5, 3.0, 4.5, 6.0], [2.25, 4.5, 6.75, 9.0]]);
}
