//! Loops with a limit of rounds: the same on every way, and without an error.

use std::cell::Cell;

use crate::common::mock;
use racl::ErrorKind;
use racl::op::DataType::{Bool, F32, I32, I64};
use racl::plan::{FindingKind, Input, Plan, RunOptions, Simulated};

use super::refused::refused;
use super::{Run, Way, all_ways, body, condition, made, once, round, times, with, x};
use crate::Alone;

/// At most three rounds, each twice the values; what is left of the condition is added.
fn three(most: u32) -> Plan {
    let body = round();
    Plan::build(|g| {
        let rounds = condition(g, I32)?;
        let ones = g.full([4], F32, 1.0)?;
        let ([_, y], left) = g.repeat_at_most(most, rounds, &body, [rounds, x(g)?], &[ones])?;
        g.output("y", g.add(y, g.cast(left, F32)?)?)
    })
    .unwrap()
}

#[test]
fn a_loop_ends_after_as_many_rounds_as_it_may_have_and_tells_that_it_did() {
    let alone = Alone::new();
    let counters = [0, 1, 2, 3, 4, 60, -1, 2];
    for most in [1_u32, 3, 7, i32::MAX as u32] {
        let counters: Vec<i32> = counters.into_iter().filter(|c| *c >= 0 || most < 10).collect();
        let left = all_ways(&alone, &three(most), &with(&counters));
        for (c, y) in counters.into_iter().zip(left) {
            // A negative number is never 0 in time.
            let ran = if c < 0 { most as i32 } else { c.min(most as i32) };
            let expected = [1.0, 2.0, 3.0, -4.0].map(|x: f32| x * 2.0_f32.powi(ran) + (c - ran) as f32);
            assert_eq!(y, expected, "{c} of {most}");
        }
    }
}

#[test]
fn a_condition_that_stays_ends_by_the_limit_whatever_its_type() {
    let alone = Alone::new();
    for (dtype, condition) in
        [(Bool, vec![1_u8]), (I64, (1_i64 << 40).to_le_bytes().to_vec()), (I32, vec![0, 0, 1, 0])]
    {
        let forever = Plan::build(|g| {
            let c = g.input("c", [1], dtype, Input::Copied)?;
            let x = g.input("x", [4], F32, Input::Copied)?;
            g.output("c", c)?;
            g.output("x", g.adds(x, 1.0)?)
        });
        let (doubled, forever) = (times(2.0), forever.unwrap());
        let plan = Plan::build(|g| {
            let c = g.input("c", [1], dtype, Input::Copied)?;
            // The condition comes with each round.
            let looped = Plan::build(|g| {
                let x = g.input("x", [4], F32, Input::Copied)?;
                let c = g.input("c", [1], dtype, Input::Copied)?;
                let [more, x] = g.call(&forever, &[c, x])?;
                g.output("more", more)?;
                g.output("x", x)
            })?;
            let ([y], more) = g.repeat_at_most(5, c, &looped, [x(g)?], &[c])?;
            let [y] = g.if_then(more, &doubled, &[y])?;
            g.output("y", y)
        });
        let zero = vec![0; condition.len()];
        let runs = [condition, zero].map(|condition| Run { condition, x: [1.0, 2.0, 3.0, -4.0] });
        let left = all_ways(&alone, &plan.unwrap(), &runs);
        assert_eq!(left, [[12.0, 14.0, 16.0, 2.0], [1.0, 2.0, 3.0, -4.0]], "{dtype:?}");
    }
}

#[test]
fn each_entry_of_a_loop_has_all_of_its_rounds() {
    let alone = Alone::new();
    // Three rounds of at most two, where more are wanted, and one is one too many for the last.
    let inner = Plan::build(|g| {
        let c = g.input("c", [1], I32, Input::Copied)?;
        let x = g.input("x", [4], F32, Input::Copied)?;
        let ([_, x], _) = g.repeat_at_most(2, c, &round(), [c, x], &[g.full([4], F32, 1.0)?])?;
        let c = g.adds(c, -1)?;
        g.output("more", c)?;
        g.output("c", c)?;
        g.output("x", x)
    });
    let inner = inner.unwrap();
    let plan = Plan::build(|g| {
        let c = condition(g, I32)?;
        let ([left, y], more) = g.repeat_at_most(4, c, &inner, [c, x(g)?], &[])?;
        let y = g.add(y, g.cast(more, F32)?)?;
        g.output("y", g.add(y, g.cast(left, F32)?)?)
    });
    let counters = [0, 1, 2, 3, 6];
    let left = all_ways(&alone, &plan.unwrap(), &with(&counters));
    for (c, y) in counters.into_iter().zip(left) {
        let ran = (c - 4).max(0);
        let doubled: i32 = (ran + 1..=c).map(|c| c.min(2)).sum();
        assert_eq!(y[0], 2.0_f32.powi(doubled) + 2.0 * ran as f32, "{c}");
    }
}

#[test]
fn the_host_reads_no_condition_behind_the_last_round() {
    let alone = Alone::new();
    for way in [Way::Eager, Way::Segments] {
        let mut exe = made(way, &three(3), &alone.device, &RunOptions::new()).unwrap();
        let stream = alone.stream();
        for (c, decided) in [(3, 3), (9, 6), (2, 9)] {
            once(&alone, &mut exe, &stream, &with(&[c])[0]);
            assert_eq!(exe.counters().decided_by_host, decided, "{way:?} {c}");
        }
    }
}

#[test]
fn limits_that_nothing_can_count_are_refused_and_others_are_shown() {
    let _alone = Alone::new();
    let body = round();
    for (most, text) in [(0, "repeat_at_most: 0 rounds at most"), (1 << 31, "2147483648 rounds at most, where 1 to")]
    {
        refused(FindingKind::Call, &[text], |g| {
            let (c, x) = (condition(g, I32)?, x(g)?);
            g.repeat_at_most(most, c, &body, [c, x], &[x]).map(drop)
        });
    }
    let plan = three(3);
    let text = plan.to_text();
    assert!(text.lines().any(|line| line.contains("while.0(") && line.contains("at_most=3")), "{text}");
    let given = Simulated::new().tensor("c", &[4], [1]).tensor("x", &[1.0_f32; 4], [4]);
    assert_eq!(plan.simulate(0, &given).unwrap().to_vec::<f32>("y").unwrap(), [9.0; 4]);
}

#[test]
fn streams_of_loops_with_a_limit_are_counted_before_anything_is_recorded() {
    let alone = Alone::new();
    let deep = body(&[], |g, x, _| {
        let c = g.full([1], I32, 5)?;
        let ([_, x], _) = g.repeat_at_most(2, c, &round(), [c, x], &[x])?;
        Ok(x)
    });
    let plan = Plan::build(|g| {
        let [y] = g.if_then(condition(g, I32)?, &deep, &[x(g)?])?;
        g.output("y", y)
    });
    let plan = plan.unwrap();
    for way in [Way::Graph, Way::Segments] {
        let enough = (1..100).find(|limit| {
            mock::limit_streams(Some(*limit)).unwrap();
            let made = made(way, &plan, &alone.device, &RunOptions::new());
            mock::limit_streams(None).unwrap();
            match made {
                Ok(_) => true,
                Err(few) => {
                    let found = (few.kind(), few.findings()[0].kind);
                    assert_eq!(found, (ErrorKind::InvalidPlan, FindingKind::Streams), "{way:?} {few}");
                    false
                }
            }
        });
        assert!(enough.is_some_and(|limit| limit > 4), "{way:?}: {enough:?}");
    }
}

/// As many streams as the device has queues for one graph, and its own.
#[test]
fn too_many_plans_to_choose_from_are_told_with_the_line() {
    crate::common::needs_function("aclmdlRIAddCondTask");
    let alone = Alone::new();
    let device = &alone.device;
    let plan = |cases: usize| {
        let (ten, line) = (times(10.0), Cell::new(0));
        let plan = Plan::build(|g| {
            let few = condition(g, I32)?;
            let [y] = g.switch(few, &[&ten], &ten, &[x(g)?])?;
            let which = g.input("which", [1], I32, Input::Copied)?;
            line.set(line!() + 1);
            let [y] = g.switch(which, &vec![&ten; cases], &ten, &[y])?;
            g.output("y", y)
        });
        (plan.unwrap(), line.get())
    };
    let run = |plan: &Plan| {
        let stream = device.stream().unwrap();
        let mut run = made(Way::Graph, plan, device, &RunOptions::new()).unwrap();
        let mut bind = run.bindings();
        let numbers = device.upload_tensor(&[0_i32], [1]).unwrap();
        let x = device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
        bind.set(run.input("c").unwrap(), &numbers);
        bind.set(run.input("which").unwrap(), &numbers);
        bind.set(run.input("x").unwrap(), &x);
        run.run(&stream, &mut bind).map(drop).and_then(|()| stream.synchronize())
    };
    run(&plan(500).0).unwrap();
    let (plan, line) = plan(1022);
    let error = run(&plan).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoStreams);
    let text = format!("{error:#}");
    assert!(text.contains("1025: 1023 are of") && text.contains(&format!("limits.rs:{line}")), "{text}");
}
