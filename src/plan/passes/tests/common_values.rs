//! The same work done twice.

use super::*;
use crate::op::aclnn;

#[test]
fn chains_of_the_same_work_become_one() {
    let better = optimised(common(), |g| {
        let x = x(g)?;
        let a = g.tanh(g.abs(x)?)?;
        let b = g.tanh(g.abs(x)?)?;
        let c = g.tanh(g.abs(x)?)?;
        g.output("y", g.add(g.add(a, b)?, c)?)
    });
    let gone: Vec<_> = better.changes.iter().map(|change| &*change.work.operator).collect();
    assert_eq!(gone, ["aclnnAbs", "aclnnTanh", "aclnnAbs", "aclnnTanh"]);
    let first = better.changes[2].instead.as_ref().unwrap();
    assert_eq!((&*first.operator, first.position), ("aclnnAbs", 0));
    assert_eq!(better.plan.operators(), 4);
}

#[test]
fn views_of_the_second_result_become_views_of_the_first() {
    let all = gone(common(), |g| {
        let x = g.input("x", [4, 2], F32, Input::Copied)?;
        let (a, b) = (g.abs(x)?, g.abs(x)?);
        let turned = g.transpose(b, 0, 1)?;
        let row = g.narrow(turned, 0, 1..2)?;
        g.output("y", g.sqrt(row)?)?;
        g.output("z", g.tanh(a)?)
    });
    assert_eq!(all, ["aclnnAbs"]);
}

#[test]
fn what_differs_in_a_number_a_view_or_a_type_stays() {
    unchanged(common(), |g| {
        let x = x(g)?;
        let (zero, other) = (g.muls(x, 0.0)?, g.muls(x, -0.0)?);
        let (first, second) = (g.narrow(x, 0, 0..2)?, g.narrow(x, 0, 1..3)?);
        let parts = g.add(g.abs(first)?, g.abs(second)?)?;
        let y = g.add(g.add(zero, other)?, g.sub(x, zero)?)?;
        g.output("half", g.cast(x, F16)?)?;
        g.output("single", g.cast(x, F32)?)?;
        g.output("parts", parts)?;
        g.output("y", g.sub(zero, y)?)
    });
}

#[test]
fn a_write_in_between_keeps_both() {
    let work = |between: bool| {
        move |g: &Builder| {
            let state = g.input("state", [4], F32, Input::Static)?;
            let a = g.abs(state)?;
            if between {
                aclnn::tanh(g, &state, &mut { state })?;
            }
            let b = g.abs(state)?;
            if !between {
                aclnn::tanh(g, &state, &mut { state })?;
            }
            g.output("y", g.add(a, b)?)
        }
    };
    unchanged(common(), work(true));
    assert_eq!(gone(common(), work(false)), ["aclnnAbs"]);
}

#[test]
fn a_write_to_another_part_does_no_harm() {
    let work = |rows: std::ops::Range<usize>| {
        move |g: &Builder| {
            let state = g.input("state", [4, 2], F32, Input::Static)?;
            let (read, written) = (g.narrow(state, 0, 0..2)?, g.narrow(state, 0, rows)?);
            let a = g.abs(read)?;
            aclnn::tanh(g, &written, &mut { written })?;
            g.output("y", g.add(a, g.abs(read)?)?)
        }
    };
    assert_eq!(gone(common(), work(2..4)), ["aclnnAbs"]);
    unchanged(common(), work(1..3));
}

#[test]
fn results_that_are_written_again_or_seen_outside_stay() {
    unchanged(common(), |g| {
        let x = x(g)?;
        let (a, b) = (g.abs(x)?, g.abs(x)?);
        aclnn::tanh(g, &b, &mut { b })?;
        g.output("y", g.add(a, b)?)
    });
    unchanged(common(), |g| {
        let x = x(g)?;
        g.output("a", g.abs(x)?)?;
        g.output("b", g.abs(x)?)
    });
}

#[test]
fn another_stream_counts_when_it_is_ordered_before() {
    let work = |join_first: bool| {
        move |g: &Builder| {
            let x = x(g)?;
            let a = g.scope("side", |g| g.abs(x))?;
            if join_first {
                g.join("side")?;
            }
            let b = g.abs(x)?;
            if !join_first {
                g.join("side")?;
            }
            g.output("y", g.add(a, b)?)
        }
    };
    assert_eq!(gone(common(), work(true)), ["aclnnAbs"]);
    unchanged(common(), work(false));
}

#[test]
fn a_signal_from_outside_may_mean_other_inputs() {
    unchanged(common(), |g| {
        let x = g.input("x", [4], F32, Input::Static)?;
        let gate = g.external("filled")?;
        let a = g.abs(x)?;
        g.wait_external(gate)?;
        g.output("y", g.add(a, g.abs(x)?)?)
    });
    let all = gone(common(), |g| {
        let a = g.sqrt(x(g)?)?; // nobody outside has that
        let b = g.abs(a)?;
        g.host_function(&HostFunction::new("tick", 1, |_| {}))?;
        g.output("y", g.add(b, g.abs(a)?)?)
    });
    assert_eq!(all, ["aclnnAbs"]);
}

#[test]
fn foreign_operators_of_one_name_are_the_same_when_they_only_compute() {
    let work = |g: &Builder| {
        let (x, a, b) = (x(g)?, g.empty([4], F32)?, g.empty([4], F32)?);
        g.foreign(&double(), &[x], &[a])?;
        g.foreign(&double(), &[x], &[b])?;
        g.output("y", g.add(a, b)?)
    };
    unchanged(common(), work);
    assert_eq!(gone(common().foreign_only_computes(), work), ["foreign operator \"double\""]);
}

#[test]
fn sizes_with_symbols_are_compared_as_they_are_written() {
    let all = gone(common(), |g| {
        let (n, m) = (g.symbol("n", 1..=5)?, g.symbol("m", 1..=5)?);
        let (x, z) = (g.input("x", [n], F32, Input::Copied)?, g.input("z", [m], F32, Input::Copied)?);
        let sum = g.add(g.abs(x)?, g.abs(x)?)?;
        let other = g.muls(g.abs(z)?, 2.0)?;
        g.output("y", sum)?;
        g.output("v", other)
    });
    assert_eq!(all, ["aclnnAbs"]);
}
