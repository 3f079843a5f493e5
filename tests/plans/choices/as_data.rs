//! Calls, choices and loops of however many results are those of the functions that name them.

use racl::op::DataType::{F32, I32};
use racl::plan::{Builder, Choice, Plan, Value};
use racl::{ErrorKind, Result};

use super::{condition, round, times, x};

/// What is recorded of a condition and of four numbers, as text; or why not.
fn text(record: impl FnOnce(&Builder, Value, Value) -> Result<Vec<Value>>) -> Result<String> {
    let plan = Plan::build(|g| {
        let results = record(g, condition(g, I32)?, x(g)?)?;
        results.into_iter().enumerate().try_for_each(|(index, value)| g.output(&format!("y{index}"), value))
    });
    plan.map(|plan| plan.to_text())
}

#[test]
fn choices_as_data_are_those_of_the_functions() {
    let (a, b, c) = (times(2.0), times(3.0), times(-1.0));
    let otherwise = Some(&b);
    let pairs = [
        [
            text(|g, condition, x| Ok(g.if_else::<1>(condition, &a, &b, &[x])?.to_vec())),
            text(|g, condition, x| g.choose(&Choice::If { condition, then: &a, otherwise, operands: &[x] })),
        ],
        [
            text(|g, condition, x| Ok(g.if_then::<1>(condition, &a, &[x])?.to_vec())),
            text(|g, condition, x| g.choose(&Choice::If { condition, then: &a, otherwise: None, operands: &[x] })),
        ],
        [
            text(|g, number, x| Ok(g.switch::<1>(number, &[&a, &b], &c, &[x])?.to_vec())),
            text(|g, number, x| {
                g.choose(&Choice::Switch { number, cases: &[&a, &b], otherwise: &c, operands: &[x] })
            }),
        ],
    ];
    for [function, data] in pairs {
        assert_eq!(function.unwrap(), data.unwrap());
    }
}

#[test]
fn loops_as_data_are_those_of_the_functions() {
    let (body, step) = (round(), times(2.0));
    let loops = |most: Option<u32>| {
        text(|g, condition, x| {
            let (carried, others) = (&[condition, x][..], &[g.full([4], F32, 1.0)?][..]);
            g.choose(&Choice::Repeat { condition, body: &body, most, carried, others })
        })
    };
    let limited = text(|g, condition, x| {
        let ones = g.full([4], F32, 1.0)?;
        let ([rounds, x], more) = g.repeat_at_most(3, condition, &body, [condition, x], &[ones])?;
        Ok(vec![rounds, x, more])
    });
    assert_eq!(loops(Some(3)).unwrap(), limited.unwrap());
    let endless = loops(None).unwrap();
    assert!(endless.contains("y2") && endless != loops(Some(3)).unwrap(), "{endless}");
    for most in [0, 1 << 31] {
        assert_eq!(loops(Some(most)).unwrap_err().kind(), ErrorKind::InvalidPlan);
    }
    for steps in [0, 1, 5] {
        let named = text(|g, _, x| Ok(g.call_times(steps, &step, [x], &[])?.to_vec()));
        assert_eq!(text(|g, _, x| g.call_times_with(steps, &step, &[x], &[], &[])).unwrap(), named.unwrap());
    }
}

#[test]
fn a_loop_is_told_what_no_shape_says() {
    let step = Plan::build(|g| {
        g.number("by", 1..=9)?;
        g.output("x", g.muls(x(g)?, 2.0)?)
    });
    let step = step.unwrap();
    let refused = text(|g, _, x| g.call_times_with(2, &step, &[x], &[], &[])).unwrap_err();
    assert!(refused.to_string().contains("its symbol \"by\""), "{refused}");
    text(|g, _, x| g.call_times_with(2, &step, &[x], &[], &[("by", 3.into())])).unwrap();
}
