//! What callers of plans are told of memory that these do not write as a whole.

use std::ops::Range;

use super::*;

type Call<'a> = &'a dyn Fn(&Builder, &[Value]) -> Result<Vec<Value>>;

/// Leaves three of the rows of its second input, and writes these parts of it.
fn leaves(rows: usize, again: &[Range<usize>]) -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [3, 4], F32, Input::Copied)?;
        let sums = g.input("sums", [rows, 4], F32, Input::Copied)?;
        leave(g, x, g.narrow(sums, 0, 0..3)?)?;
        for part in again {
            fill(g, g.narrow(sums, 0, part.clone())?)?;
        }
        g.output("x", g.abs(x)?)
    })
    .unwrap()
}

/// Calls such a plan with its own inputs.
fn around(body: &Plan, rows: usize) -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [3, 4], F32, Input::Copied)?;
        let sums = g.input("sums", [rows, 4], F32, Input::Copied)?;
        let [x] = g.call(body, &[x, sums])?;
        g.output("x", x)
    })
    .unwrap()
}

fn is_of_memory((kind, _): &(FindingKind, String)) -> bool {
    matches!(kind, FindingKind::ReadBeforeWrite | FindingKind::MaybeUnwritten)
}

/// What is found where the caller of a plan reads what it gave.
fn behind_call(rows: usize, call: Call<'_>) -> Vec<(FindingKind, String)> {
    let found = findings(Plan::build(|g| {
        let x = g.input("x", [3, 4], F32, Input::Copied)?;
        let sums = g.full([rows, 4], F32, 1.0)?;
        g.output("x", call(g, &[x, sums])?[0])?;
        read(g, sums)
    }));
    found.into_iter().filter(is_of_memory).collect()
}

#[test]
fn what_a_plan_leaves_in_part_is_a_lint_where_its_caller_reads_it() {
    let (part, rest) = (leaves(6, &[]), leaves(3, &[0..1, 2..3]));
    for (rows, body) in [(6, &part), (3, &rest), (6, &around(&part, 6)), (3, &around(&rest, 3))] {
        let once = |g: &Builder, given: &[Value]| g.call::<1>(body, given).map(Vec::from);
        let chosen = |g: &Builder, given: &[Value]| g.if_then::<1>(g.full([1], U8, 1)?, body, given).map(Vec::from);
        for call in [&once as Call<'_>, &chosen] {
            let found = behind_call(rows, call);
            let [(FindingKind::MaybeUnwritten, text)] = &found[..] else { panic!("{found:?}") };
            assert!(text.starts_with("foreign operator \"nothing\" (#") && text.contains(" operators (#"), "{text}");
            assert!(text.contains("leaves a part, so that it may hold anything"), "{text}");
        }
        let filled = |g: &Builder, given: &[Value]| {
            let results = once(g, given)?;
            fill(g, given[1]).map(|()| results)
        };
        assert_eq!(behind_call(rows, &filled), []);
    }
    let whole = leaves(3, &[0..1, 1..3]);
    assert_eq!(behind_call(3, &|g, given| g.call::<1>(&whole, given).map(Vec::from)), []);
}

#[test]
fn a_step_that_reads_what_the_one_before_left_in_part_is_a_lint() {
    let body = Plan::build(|g| {
        let x = g.input("x", [3, 4], F32, Input::Copied)?;
        let sums = g.input("sums", [6, 4], F32, Input::Copied)?;
        read(g, sums)?;
        leave(g, x, g.narrow(sums, 0, 0..3)?)?;
        g.output("x", g.abs(x)?)
    })
    .unwrap();
    let found = |times: usize| {
        let found = findings(Plan::build(|g| {
            let x = g.input("x", [3, 4], F32, Input::Copied)?;
            let sums = g.full([6, 4], F32, 1.0)?;
            let [x] = g.call_times(times, &body, [x], &[sums])?;
            g.output("x", x)
        }));
        found.into_iter().filter(is_of_memory).map(|(kind, _)| kind).collect::<Vec<_>>()
    };
    assert_eq!((found(1), found(2)), (vec![], vec![FindingKind::MaybeUnwritten]));
}

/// A plan that finds where something is, in room of its own.
fn finds(counts: bool) -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        if counts {
            return g.output_found("room", g.nonzero(x)?);
        }
        let room = g.empty([4, 1], I64)?;
        aclnn::nonzero(g, &x, &mut { room })?;
        g.output("room", room)
    })
    .unwrap()
}

/// The lints where a caller gives out a result, or computes with it.
fn of_caller(
    [filled, gives]: [bool; 2],
    call: &dyn Fn(&Builder, Value, Value) -> Result<Value>,
) -> Vec<(FindingKind, String)> {
    findings(Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let room = g.empty([4, 1], I64)?;
        if filled {
            g.fill(room, 0_i64)?;
        }
        let room = call(g, x, room)?;
        g.output("y", if gives { room } else { g.muls(room, 2_i64)? })
    }))
}

#[test]
fn what_a_plan_finds_is_a_lint_where_its_caller_reads_all_of_it() {
    let result = finds(false);
    let outer = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let [room] = g.call(&result, &[x])?;
        g.output("room", room)
    })
    .unwrap();
    for body in [&result, &outer] {
        let call = |g: &Builder, x: Value, _: Value| g.call(body, &[x]).map(|[room]: [Value; 1]| room);
        for gives in [false, true] {
            let found = of_caller([false, gives], &call);
            let [(FindingKind::MaybeUnwritten, text)] = &found[..] else { panic!("{found:?}") };
            assert!(text.contains("found by") && text.ends_with("fill it in the plan that is called"), "{text}");
        }
    }
    // Who is told how much there is reads no more.
    assert_eq!(finds(true).lints(), []);
}

#[test]
fn what_a_plan_finds_in_memory_of_its_caller_is_a_lint_unless_that_was_filled() {
    let body = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let room = g.input("room", [4, 1], I64, Input::Copied)?;
        aclnn::nonzero(g, &x, &mut { room })
    })
    .unwrap();
    assert_eq!(body.lints(), [], "who calls it may have filled it");
    let in_place = |g: &Builder, x: Value, room: Value| g.call::<0>(&body, &[x, room]).map(|_| room);
    let found = of_caller([false, true], &in_place);
    let [(FindingKind::MaybeUnwritten, text)] = &found[..] else { panic!("{found:?}") };
    assert!(text.starts_with("the caller reads output \"y\""), "{text}");
    assert_eq!(of_caller([true, true], &in_place), []);
}
