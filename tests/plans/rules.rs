//! Rules of scopes and prefetches that other files do not try: how scopes are left, forked, joined and named, and
//! what a prefetch is no use of.

use std::panic::{AssertUnwindSafe, catch_unwind};

use racl::op::{
    DataType::{F32, U8},
    aclnn,
};
use racl::plan::{After, FindingKind, Fork, Frozen, Input, Mode, ORIGIN_TAG, Plan, RunOptions, Scope};
use racl::{Error, ErrorKind, Prefetch};

use crate::common::{assert_says, mock};
use crate::{Alone, all_calls, give, result};

#[test]
fn a_tag_of_an_event_is_taken_in_its_plan_only() {
    Plan::build(|g| {
        let _taken = g.event("66")?;
        // Another plan while this one has the tag.
        Plan::build(|g| g.event("66").map(drop)).map(drop)
    })
    .unwrap();
}

#[test]
fn a_scope_is_left_by_errors_and_panics_too() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        g.scope("side", |g| g.reshape(x, [5])).unwrap_err();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            g.scope("side", |g| g.scope("deep", |_| -> racl::Result<()> { panic!("on purpose") }))
        }));
        assert!(panicked.is_err());
        // On the origin again: no stream waits, and the tag of the scope can be joined from here.
        g.abs(x)?;
        g.scope("side", |g| g.abs(x))?;
        g.join("side")
    })
    .unwrap();
    let text = plan.to_text();
    let work: Vec<_> = text.lines().filter(|line| line.contains(" = aclnnAbs.")).collect();
    let [main, side] = work[..] else { panic!("{text}") };
    assert!(main.starts_with("origin: ") && side.starts_with("side: "), "{text}");
}

#[test]
fn what_is_forked_at_the_start_waits_for_nothing_of_before() {
    let plan = |fork| {
        Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            let h = g.adds(x, 1.0)?;
            let y = g.scope_with("side", Scope::new().fork(fork), |g| g.muls(h, 2.0))?;
            g.join("side")?;
            g.output("y", y)
        })
    };
    plan(Fork::Here).unwrap();
    let error = plan(Fork::AtStart).unwrap_err();
    assert_eq!(error.findings()[0].kind, FindingKind::UnorderedAccess);
    assert_says(&error, ErrorKind::InvalidPlan, &["aclnnMuls (#", "stream \"side\"", "aclnnAdds (#"]);
}

#[test]
fn streams_that_nobody_joins_are_joined_at_the_end() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let y = g.scope("a", |g| {
            let y = g.adds(x, 1.0)?;
            g.scope("b", |g| g.muls(x, 2.0))?;
            Ok(y)
        })?;
        g.scope("a", |g| g.output("y", y))
    })
    .unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        // Work of the stream that comes behind the run comes behind all of its streams.
        let stream = alone.stream();
        exe.run(&stream, &mut give(&exe, "x", &x)).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(result(&exe, "y"), [2.0; 4], "{mode:?}");
    }
}

#[test]
fn the_tag_of_the_origin_is_reserved_for_it() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let y = g.scope("side", |g| g.scope(ORIGIN_TAG, |g| g.abs(x)))?;
        // On the origin, where nothing has to be waited for.
        g.abs(y).map(drop)
    })
    .unwrap();
    assert_eq!(plan.operators(), 2);
    let error = Plan::build(|g| g.scope("side", |g| g.join(ORIGIN_TAG))).unwrap_err();
    assert_says(&error, ErrorKind::InvalidPlan, &["join of \"origin\"", "no work"]);
}

#[test]
fn a_prefetch_is_no_use_of_the_memory() {
    let plan = Plan::build(|g| {
        let w = g.input("w", [4], F32, Input::Static)?;
        let x = g.input("x", [4], F32, Input::Copied)?;
        g.prefetch(w, Prefetch::all(), After::Start)?;
        // Beside the prefetch, which no order with a write could make wrong.
        aclnn::abs(g, &x, &mut { w })
    });
    assert!(plan.unwrap().lints().is_empty());
    // Nor does it read what nobody has written.
    Plan::build(|g| {
        let some = g.empty([4], F32)?;
        g.prefetch(some, Prefetch::all(), After::Start).map(drop)
    })
    .unwrap();
}

#[test]
fn a_prefetch_that_is_refused_reaches_no_library() {
    let _alone = Alone::new();
    let refused = |what: Prefetch| {
        let build = || {
            Plan::build(|g| {
                let w = g.input("w", [100], U8, Input::Frozen)?;
                g.prefetch(w, what, After::Start).map(drop)
            })
        };
        let (calls, built) = all_calls(build);
        assert_eq!(calls, 0);
        built.unwrap_err()
    };
    let says = |error: &Error, part| assert_says(error, ErrorKind::InvalidPlan, &[part, "tests/plans/rules.rs:"]);
    says(&refused(Prefetch::bytes(0)), "a prefetch of 0 bytes; ask for at least one");
    let past = "a prefetch from offset 100 of 100 bytes; the offset must be less than the size";
    says(&refused(Prefetch::bytes(1).offset(100)), past);
}

#[test]
fn a_chip_without_prefetches_is_told_of_with_the_operator() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let w = g.input("w", [100], U8, Input::Static)?;
        g.prefetch(w, Prefetch::all(), After::Start).map(drop)
    })
    .unwrap();
    let says = |error: &Error| {
        assert_says(error, ErrorKind::NotSupported, &["aclrtCmoAsync", "prefetch (#", "tests/plans/rules.rs:"]);
    };
    mock::fail("aclrtCmoAsync", 1, 207_000).unwrap();
    says(&plan.capture(&alone.device, Frozen::new()).unwrap_err());
    let mut exe = plan.eager(&alone.device, Frozen::new()).unwrap();
    mock::fail("aclrtCmoAsync", 1, 207_000).unwrap();
    says(&exe.run(&alone.stream(), &mut exe.bindings()).unwrap_err());
    mock::clear_failures();
}

#[test]
fn a_race_is_told_with_both_operators_the_bytes_and_the_event_that_would_order_them() {
    /// The tag of each of two operators, and how messages call it.
    const WAYS: [[(&str, &str); 2]; 3] = [
        [("one", "stream \"one\""), (ORIGIN_TAG, "the origin stream")],
        [(ORIGIN_TAG, "the origin stream"), ("one", "stream \"one\"")],
        [("one", "stream \"one\""), ("two", "stream \"two\"")],
    ];
    for [(former, of_former), (latter, of_latter)] in WAYS {
        let mut lines = [0, 0];
        let error = Plan::build(|g| {
            let x = g.input("x", [8], F32, Input::Static)?;
            let h = g.empty([8], F32)?;
            lines[0] = line!() + 1;
            g.scope(former, |g| g.copy(x, h))?;
            let part = g.narrow(h, 0, 2..5)?;
            lines[1] = line!() + 1;
            let y = g.scope_with(latter, Scope::new().fork(Fork::AtStart), |g| g.tanh(part))?;
            g.output("y", y)
        })
        .unwrap_err();
        let [race] = error.findings() else { panic!("{error:#}") };
        assert_eq!(race.kind, FindingKind::UnorderedAccess);
        let at = |line: u32| format!("tests/plans/rules.rs:{line})");
        let parts: Vec<_> = race.message.split(['(', ',']).collect();
        assert!(parts[0] == "copy " && race.message.contains(&at(lines[0])), "{race}");
        let (_, rest) = race.message.split_once(&at(lines[0])).unwrap();
        let (middle, rest) = rest.split_once("aclnnTanh (#").unwrap();
        assert_eq!(middle, " writes bytes 8..20 of the value of 32 bytes that ");
        let (_, rest) = rest.split_once(&at(lines[1])).unwrap();
        assert_eq!(
            rest,
            format!(
                " reads, in no order: record an event after the former on {of_former} and wait for it before the \
                 latter on {of_latter}"
            )
        );
    }
}
