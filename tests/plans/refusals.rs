//! What a refused call leaves behind, how its error reads, and the numbers and names that are refused.

use racl::op::{
    DataType::{self, Bf16, F16, F32, F64, I8, I32, I64, U8},
    aclnn,
};
use racl::plan::{
    After, Builder, Cores, FindingKind, Foreign, Frozen, HostFunction, Input, Number, Plan, Scope, Simulated,
};
use racl::{ErrorKind, Prefetch, Result};

use crate::Alone;
use crate::common::assert_says;

/// The error of work that a builder must refuse.
#[track_caller]
fn refused(work: impl FnOnce(&Builder) -> Result<()>) -> racl::Error {
    Plan::build(work).expect_err("this must be refused")
}

#[test]
fn an_error_says_each_thing_once() {
    let errors = [
        (refused(|g| g.event("").map(drop)), "an event without a tag"),
        (refused(|g| g.input("x", [1_usize; 20], F32, Input::Copied).map(drop)), "20 dimensions"),
        (
            refused(|g| {
                let x = g.input("x", [4], F32, Input::Copied)?;
                g.prefetch(x, Prefetch::bytes(0), After::Start).map(drop)
            }),
            "a prefetch of 0 bytes",
        ),
    ];
    for (error, part) in errors {
        for text in [error.to_string(), format!("{error:#}")] {
            for once in [part, "tests/plans/refusals.rs:"] {
                assert_eq!(text.matches(once).count(), 1, "{text}");
            }
            assert!(!text.contains(&ErrorKind::InvalidArgument.to_string()), "one kind is enough: {text}");
        }
        assert!(std::error::Error::source(&error).is_none(), "its text has the only finding");
    }
}

#[test]
fn an_error_with_several_findings_lists_the_others() {
    let error = refused(|g| {
        let a = g.empty([4], F32)?;
        let b = g.empty([2], F32)?;
        g.abs(a)?;
        g.tanh(b).map(drop)
    });
    let [first, second] = error.findings() else { panic!("{error:#}") };
    let (short, long) = (error.to_string(), format!("{error:#}"));
    assert!(short.contains(&first.message) && short.ends_with("(and 1 more)"), "{short}");
    assert!(long.ends_with(&format!("\n  also: {second}")), "{long}");
    assert_eq!([first, second].map(|found| long.matches(&found.message).count()), [1, 1], "{long}");
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(source, format!("also {second}"));
}

/// A plan with refused calls between the others, or without them.
fn with_refusals(refusals: bool) -> Plan {
    Plan::build(|g| {
        let n = g.symbol("n", 1..=4)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        let (c, w) = (g.constant(&[1.0_f32; 4], [4])?, g.input("w", [4], F32, Input::Frozen)?);
        let event = g.event("e")?;
        g.scope("idle", |g| {
            if refusals {
                // Nothing is issued in this scope: a wait at its start would show.
                g.join("idle").unwrap_err();
                g.join("origin").unwrap_err();
                g.join("none").unwrap_err();
                g.wait(&event).unwrap_err();
                g.wait_all(&[]).unwrap_err();
            }
            Ok(())
        })?;
        let y = g.scope("side", |g| g.muls(x, 2.0))?;
        if refusals {
            g.symbol("n", 1..=4).unwrap_err();
            g.input("x", [4], F32, Input::Host).unwrap_err();
            g.input("big", [usize::MAX / 2, 8], F32, Input::Copied).unwrap_err();
            g.constant(&[1.0_f32; 3], [4]).unwrap_err();
            g.empty([1_usize; 9], F32).unwrap_err();
            g.full([4], U8, 300).unwrap_err();
            g.add(x, c).unwrap_err();
            g.adds(x, 1.0).and_then(|x| aclnn::abs(g, &x, &mut { c })).unwrap_err();
            g.fill(c, 1.0_f32).unwrap_err();
            g.copy(x, w).unwrap_err();
            g.copy(w, c).unwrap_err();
            g.fill_bytes(c, 0).unwrap_err();
            g.reshape(x, [5]).unwrap_err();
            g.transpose(x, 0, 1).unwrap_err();
            g.narrow(x, 0, 0..5).unwrap_err();
            g.bytes(x, 0..1).unwrap_err();
            g.permute(x, &[7]).unwrap_err();
            g.softmax(x, 1).unwrap_err();
            g.reduce_sum(x, &[0, 0], false).unwrap_err();
            g.scope("", |_| Ok(())).unwrap_err();
            g.scope_with("other", Scope::new().priority(9), |_| Ok(())).unwrap_err();
            g.scope_with("side", Scope::new().priority(1), |_| Ok(())).unwrap_err();
            g.record_stream(x, "none").unwrap_err();
            g.prefetch(w, Prefetch::bytes(0), After::Start).unwrap_err();
            g.prefetch(w, Prefetch::all(), After::Event(&event)).unwrap_err();
            g.foreign(&Foreign::new("", 1, |_| Ok(())), &[x], &[]).unwrap_err();
            g.foreign(&Foreign::new("k", 1, |_| Ok(())), &[x], &[c]).unwrap_err();
            g.host_function(&HostFunction::new("", 1, |_| {})).unwrap_err();
            g.external("").unwrap_err();
            g.event("e").unwrap_err();
            g.output("", x).unwrap_err();
        }
        // The value of the one call above that is not refused.
        if !refusals {
            g.adds(x, 1.0)?;
        }
        g.join("side")?;
        g.output("y", y)
    })
    .unwrap()
}

#[test]
fn a_refused_call_leaves_the_builder_as_it_was() {
    let plain = |plan: &Plan| plan.to_text().lines().map(without_line).collect::<Vec<_>>();
    let (with, without) = (with_refusals(true), with_refusals(false));
    assert_eq!(plain(&with), plain(&without));
    assert_eq!(with.lints().len(), without.lints().len());
}

/// A line of a plan's text without the numbers of source lines, which differ.
fn without_line(line: &str) -> String {
    let mut parts = line.split("refusals.rs:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start_matches(|digit: char| digit.is_ascii_digit()))
}

/// Whether a value can be filled with a number; the text of the error if not.
fn filled(dtype: DataType, number: Number) -> Option<String> {
    let full = Plan::build(|g| g.full([2], dtype, number).and_then(|y| g.output("y", y)));
    let error = full.err()?;
    assert_eq!(error.findings()[0].kind, FindingKind::Operand);
    assert_says(&error, ErrorKind::InvalidPlan, &["the number of fill: "]);
    Some(error.to_string())
}

#[test]
fn a_value_is_filled_with_numbers_that_its_type_holds() {
    use Number::{Float, Int};
    for (dtype, number, value) in [
        (U8, Int(300), "300"),
        (U8, Int(-1), "-1"),
        (I8, Int(128), "128"),
        (I32, Int(1 << 31), "2147483648"),
        (I32, Float(0.5), "0.5"),
        (I64, Float(f64::NAN), "NaN"),
        (F16, Float(1e10), "10000000000.0"),
        (F16, Int(-65_520), "-65520"),
        (F32, Float(1e39), "1e39"),
        (Bf16, Float(-1e39), "-1e39"),
    ] {
        let text = filled(dtype, number).unwrap_or_else(|| panic!("{dtype:?} takes {number:?}"));
        assert!(text.contains(value) && text.contains(&format!("{dtype:?}")), "{text}");
    }
    for (dtype, number) in [
        (U8, Int(255)),
        (I8, Int(-128)),
        (I64, Int(i64::MIN)),
        (F16, Float(65_519.0)),
        (F16, Int(-65_504)),
        (F16, Float(f64::INFINITY)),
        (Bf16, Float(f64::NAN)),
        (F32, Float(0.1)),
        (F32, Int(i64::MAX)),
        (F64, Float(f64::MAX)),
    ] {
        assert_eq!(filled(dtype, number), None, "{dtype:?} {number:?}");
    }
}

#[test]
fn a_fill_with_minus_zero_keeps_its_sign() {
    let _alone = Alone::new();
    let plan = Plan::build(|g| g.full([2], F32, -0.0).and_then(|y| g.output("y", y))).unwrap();
    let y = plan.simulate(0, &Simulated::new()).unwrap().to_vec::<f32>("y").unwrap();
    assert!(y.iter().all(|y| y.to_bits() == (-0.0_f32).to_bits()));
}

#[test]
fn numbers_of_operators_are_those_of_their_operand_s_type() {
    let error = refused(|g| {
        let x = g.input("x", [4], I32, Input::Copied)?;
        g.adds(x, 0.5).map(drop)
    });
    assert_says(&error, ErrorKind::InvalidPlan, &["the number of adds: the float 0.5", "I32"]);
}

#[test]
fn empty_names_are_refused_everywhere() {
    type Work = fn(&Builder) -> Result<()>;
    let works: [(&str, Work); 9] = [
        ("symbol \"\"", |g| g.symbol("", 1..=2).map(drop)),
        ("input \"\"", |g| g.input("", [4], F32, Input::Copied).map(drop)),
        ("external gate \"\"", |g| g.external("").map(drop)),
        ("an event without a tag", |g| g.event("").map(drop)),
        ("a scope without a tag", |g| g.scope("", |_| Ok(()))),
        ("a host function with an empty name", |g| g.host_function(&HostFunction::new("", 1, |_| {}))),
        ("a foreign operator with an empty name", |g| g.foreign(&Foreign::new("", 1, |_| Ok(())), &[], &[])),
        ("output \"\"", |g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            g.output("", x)
        }),
        ("output \"\"", |g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            g.output_to_host("", x)
        }),
    ];
    for (part, work) in works {
        let error = refused(work);
        assert_eq!(error.findings()[0].kind, FindingKind::Name, "{error}");
        assert_says(&error, ErrorKind::InvalidPlan, &[part, "tests/plans/refusals.rs:"]);
    }
}

#[test]
#[allow(clippy::reversed_empty_ranges, reason = "the mistake that is refused")]
fn a_symbol_needs_bounds_that_hold_a_number_other_than_0() {
    for bounds in [2..=1, 0..=0, 0..=usize::MAX, 0..=(1 << 31) + 1] {
        let error = refused(|g| g.symbol("n", bounds.clone()).map(drop));
        assert_says(&error, ErrorKind::InvalidPlan, &["symbol \"n\" with the bounds", &format!("{bounds:?}")]);
    }
    for bounds in [0..=1, 3..=3, 0..=1 << 31] {
        Plan::build(|g| g.symbol("n", bounds).map(drop)).unwrap();
    }
}

#[test]
fn a_plan_that_writes_a_frozen_input_has_a_lint_with_both_names() {
    let plan = |class| {
        Plan::build(|g| {
            let (x, w) = (g.input("x", [4], F32, Input::Copied)?, g.input("w", [4], F32, class)?);
            g.scope_with("side", Scope::new().cores(Cores { cube: 1, vector: 1 }), |g| {
                aclnn::abs(g, &x, &mut { w })?;
                aclnn::tanh(g, &x, &mut { w })
            })
        })
        .unwrap()
    };
    assert!(plan(Input::Static).lints().is_empty());
    let plan = plan(Input::Frozen);
    let [lint] = plan.lints() else { panic!("{:?}", plan.lints()) };
    assert!(lint.kind == FindingKind::FrozenWritten && lint.kind.is_lint());
    assert!(
        lint.message.starts_with("aclnnAbs (#") && lint.message.contains("writes the frozen input \"w\""),
        "{lint}"
    );
    // Behind the record at the start and the wait of the scope.
    assert_eq!(lint.positions, [2]);
}

#[test]
fn names_that_a_plan_does_not_have_are_told_with_those_that_it_has() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Static)?;
        g.external("gate")?;
        g.output("y", x)?;
        g.output("z", x)
    })
    .unwrap();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    for (error, part) in [
        (exe.input("y").unwrap_err(), "the plan has no input \"y\"; it has \"x\""),
        (exe.output_id("x").unwrap_err(), "the plan has no output \"x\"; it has \"y\", \"z\""),
        (exe.plan().external("").unwrap_err(), "the plan has no gate \"\"; it has \"gate\""),
    ] {
        assert_says(&error, ErrorKind::InvalidArgument, &[part]);
    }
    let mut bind = exe.bindings();
    let error = exe.run(&alone.stream(), bind.symbol("n", 1)).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["the plan has no symbol \"n\"; it has none"]);
}
