//! Calls that are refused: kind, names, and the line of the caller; and what of a call shows elsewhere.

use racl::op::DataType::{F16, F32};
use racl::plan::{After, Builder, FindingKind, HostFunction, Input, OnMove, Options, Plan, Scope, Value};
use racl::{ErrorKind, Prefetch, Result};

use crate::common::assert_says;

/// A body: x + w, and w too, on rows that follow from x.
fn body() -> Plan {
    Plan::build(|g| {
        let rows = g.symbol("rows", 2..=8)?;
        let x = g.input("x", [rows, 4.into()], F32, Input::Copied)?;
        let w = g.input("w", [4], F32, Input::Frozen)?;
        g.output("y", g.add(x, w)?)?;
        g.output("w", w) // a copy of bytes
    })
    .unwrap()
}

/// One input of some class that goes through a sum, and perhaps more.
fn of_class(class: Input, work: impl FnOnce(&Builder, Value) -> Result<()>) -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [4], F32, class)?;
        work(g, x)?;
        g.output("y", g.adds(x, 1.0)?)
    })
    .unwrap()
}

#[track_caller]
fn refused(kind: FindingKind, parts: &[&str], work: impl FnOnce(&Builder) -> Result<()>) {
    refused_with(Options::new(), kind, parts, work);
}

#[track_caller]
fn refused_with(options: Options, kind: FindingKind, parts: &[&str], work: impl FnOnce(&Builder) -> Result<()>) {
    let error = Plan::build_with(options, work).expect_err("this must be refused");
    let found = &error.findings()[0];
    assert_eq!((error.kind(), found.kind), (ErrorKind::InvalidPlan, kind), "{error}");
    for part in parts.iter().copied().chain(["tests/plans/called_errors.rs:"]) {
        assert!(found.message.contains(part), "{part:?} is not in: {}", found.message);
    }
}

fn input(g: &Builder, name: &str, rows: usize) -> Result<Value> {
    g.input(name, [rows, 4], F32, Input::Copied)
}

fn vector(g: &Builder) -> Result<Value> {
    g.full([4], F32, 1.0)
}

#[test]
fn operands_that_are_not_those_of_the_body_are_named() {
    use FindingKind::{Call, Foreign};
    let body = body();
    refused(Call, &["1 operands for a plan of 2 inputs: \"x\", \"w\""], |g| {
        g.call::<2>(&body, &[input(g, "x", 2)?]).map(drop)
    });
    refused(Call, &["1 results of a plan of 2 outputs"], |g| {
        g.call::<1>(&body, &[input(g, "x", 2)?, vector(g)?]).map(drop)
    });
    refused(Call, &["F16 [2, 4] for \"x\", which is F32 [2, 4] here, its [rows, 4]"], |g| {
        let x = g.input("x", [2, 4], F16, Input::Copied)?;
        g.call::<2>(&body, &[x, vector(g)?]).map(drop)
    });
    refused(Call, &["F32 [5] for \"w\", which is F32 [4] here"], |g| {
        g.call::<2>(&body, &[input(g, "x", 2)?, g.full([5], F32, 1.0)?]).map(drop)
    });
    refused(Call, &["no shape of an operand is its symbol \"rows\"; call_with"], |g| {
        g.call::<2>(&body, &[vector(g)?, vector(g)?]).map(drop)
    });
    refused(Call, &["9 for its symbol \"rows\", which is 2 to 8"], |g| {
        g.call::<2>(&body, &[input(g, "x", 9)?, vector(g)?]).map(drop)
    });
    refused(Call, &["2*n for its symbol \"rows\", which is 2 to 8"], |g| {
        let n = g.symbol("n", 1..=5)?;
        let x = g.input("x", [n * 2, 4.into()], F32, Input::Copied)?;
        g.call::<2>(&body, &[x, vector(g)?]).map(drop)
    });
    refused(Call, &["it has no symbol \"columns\"; its symbols are \"rows\""], |g| {
        g.call_with(&body, &[input(g, "x", 2)?, vector(g)?], &[("columns", 4.into())]).map(drop)
    });
    let mut other = None;
    Plan::build(|g| {
        other = Some((input(g, "x", 2)?, g.symbol("s", 2..=8)?));
        Ok(())
    })
    .unwrap();
    let (value, dim) = other.unwrap();
    refused(Foreign, &["call: a value of another plan"], |g| g.call::<2>(&body, &[value, vector(g)?]).map(drop));
    refused(Foreign, &["a dimension with a symbol of another plan"], |g| {
        g.call_with(&body, &[input(g, "x", 2)?, vector(g)?], &[("rows", dim)]).map(drop)
    });
}

#[test]
fn memory_that_a_body_cannot_have_is_named() {
    use FindingKind::Call;
    let body = body();
    refused(Call, &["its input \"x\" is given a view with gaps", "copy it before"], |g| {
        let x = g.transpose(g.input("x", [4, 2], F32, Input::Copied)?, 0, 1)?;
        g.call::<2>(&body, &[x, vector(g)?]).map(drop)
    });
    refused(Call, &["its input \"w\" is copied byte by byte", "no multiple of 64 bytes"], |g| {
        let w = g.input("w", [12], F32, Input::Copied)?;
        g.call::<2>(&body, &[input(g, "x", 2)?, g.narrow(w, 0, 4..8)?]).map(drop)
    });
    refused(Call, &["its input \"w\" is given an updatable input", "byte fills"], |g| {
        let w = g.input("w", [4], F32, Input::Updatable)?;
        g.call::<2>(&body, &[input(g, "x", 2)?, w]).map(drop)
    });
    let writes = of_class(Input::Copied, |g, x| g.fill_bytes(x, 0));
    refused(Call, &["its input \"x\" is written, and given a constant"], |g| {
        g.call::<1>(&writes, &[g.constant(&[0.0_f32; 4], [4])?]).map(drop)
    });
    let both = Plan::build(|g| {
        let [a, b] = [g.input("a", [4], F32, Input::Copied)?, g.input("b", [4], F32, Input::Copied)?];
        g.copy(a, b)?;
        g.output("y", g.add(a, b)?)
    });
    let both = both.unwrap();
    refused(Call, &["its input \"b\", which it writes, shares memory with its input \"a\""], |g| {
        let x = g.input("x", [8], F32, Input::Copied)?;
        let (a, b) = (g.narrow(x, 0, 0..4)?, g.narrow(x, 0, 2..6)?);
        g.call::<1>(&both, &[a, g.bytes(b, 0..16).and(Ok(a))?]).map(drop)
    });
}

#[test]
fn bodies_that_nothing_can_call_are_named() {
    use FindingKind::Call;
    let nothing = |_: &Builder, _: Value| Ok(());
    let call = |body: Plan| move |g: &Builder| g.call::<1>(&body, &[vector(g)?]).map(drop);
    refused(Call, &["cannot be called: its input \"x\" is updatable"], call(of_class(Input::Updatable, nothing)));
    refused(Call, &["cannot be called: its input \"x\" is in host memory"], call(of_class(Input::Host, nothing)));
    let gate = of_class(Input::Copied, |g, _| g.external("ready").map(drop));
    refused(Call, &["cannot be called: it has the external gate \"ready\""], call(gate));
    let host = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        g.output_to_host("y", g.tanh(x)?)
    });
    refused(Call, &["cannot be called: its output \"y\" goes to host memory"], call(host.unwrap()));
    let mut deep = of_class(Input::Copied, nothing);
    for _ in 0..64 {
        deep = Plan::build(|g| {
            let [y] = g.call(&deep, &[g.input("x", [4], F32, Input::Copied)?])?;
            g.output("y", y)
        })
        .unwrap();
    }
    refused(Call, &["calls that go deeper than 64"], call(deep));
    let large = of_class(Input::Copied, nothing);
    refused(Call, &["pieces with its calls written out, more than"], |g| {
        g.call_times(10_000_000, &large, [vector(g)?], &[]).map(drop)
    });
}

#[test]
fn streams_of_a_body_are_those_of_the_same_name() {
    let side = of_class(Input::Copied, |g, x| {
        let urgent = Scope::new().priority(3);
        g.scope_with("side", urgent, |g| g.tanh(x)).map(drop)
    });
    refused(FindingKind::Name, &["its stream \"side\" has the priority 3, the one here 0"], |g| {
        g.scope("side", |g| vector(g).map(drop))?;
        g.call::<1>(&side, &[vector(g)?]).map(drop)
    });
    refused(FindingKind::Name, &["scope \"side\": priority 1, and its stream has 3"], |g| {
        g.call::<1>(&side, &[vector(g)?])?;
        g.scope_with("side", Scope::new().priority(1), |_| Ok(()))
    });
    let strict = Options::new().single_stream();
    refused_with(strict, FindingKind::Options, &["call of a plan with the stream \"side\""], |g| {
        g.call::<1>(&side, &[vector(g)?]).map(drop)
    });
    let plan = |options: Options| {
        Plan::build_with(options, |g| {
            let [y] = g.call(&side, &[vector(g)?])?;
            let [y] = g.scope("side", |g| g.call(&side, &[y]))?;
            g.join("side")?;
            g.output("y", y)
        })
        .unwrap()
    };
    assert_eq!((plan(Options::new()).streams(), plan(Options::new().collapse_streams()).streams()), (2, 1));
}

#[test]
fn a_loop_takes_what_it_gives() {
    use FindingKind::Call;
    let wider = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        g.output("y", g.cat(&[x, x], 0)?)
    });
    let wider = wider.unwrap();
    refused(Call, &["its output \"y\", F32 [8], is carried to its input \"x\", F32 [4]"], |g| {
        g.call_times(2, &wider, [vector(g)?], &[]).map(drop)
    });
    refused(Call, &["its output \"y\", F32 [8], is carried"], |g| {
        g.call_times(0, &wider, [vector(g)?], &[]).map(drop)
    });
    refused(Call, &["2 results of a plan of 1 outputs"], |g| {
        g.call_times(0, &wider, [vector(g)?, vector(g)?], &[]).map(drop)
    });
    let once = of_class(Input::Copied, |_, _| Ok(()));
    let none = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        assert_eq!(g.call_times(0, &once, [x], &[])?, [x]);
        g.output("y", x)
    });
    assert_eq!(none.unwrap().operators(), 1, "the copy to the output");
}

#[test]
fn races_lifetimes_and_what_is_unwritten_are_seen_through_a_call() {
    let body = of_class(Input::Copied, |_, _| Ok(()));
    let race = Plan::build(|g| {
        let x = vector(g)?;
        let [y] = g.scope("1", |g| g.call(&body, &[x]))?;
        g.output("y", g.add(y, x)?)
    });
    let error = race.unwrap_err();
    assert_eq!(error.findings()[0].kind, FindingKind::UnorderedAccess);
    assert_says(&error, ErrorKind::InvalidPlan, &["call of a plan of 1 operators", "tests/plans/called_errors.rs"]);
    let unwritten = Plan::build(|g| g.call::<1>(&body, &[g.empty([4], F32)?]).map(drop));
    let error = unwritten.unwrap_err();
    assert_eq!(error.findings()[0].kind, FindingKind::ReadBeforeWrite);
    // Memory of one call is that of the next: not more than two values at once.
    let chain = |calls: usize| {
        let plan = Plan::build(|g| {
            let [y] = g.call_times(calls, &body, [g.input("x", [4], F32, Input::Copied)?], &[])?;
            g.output("y", y)
        });
        plan.unwrap().memory(&[]).unwrap()
    };
    assert_eq!(chain(100).peak, chain(3).peak);
    assert!(chain(100).sum > chain(3).sum);
}

#[test]
fn work_of_calls_shows_written_out_with_the_lines_of_the_body() {
    let log = HostFunction::unnamed(|_| {});
    let body = of_class(Input::Copied, |g, x| {
        g.prefetch(x, Prefetch::all(), After::Start)?;
        g.host_function(&log)
    });
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Tracked(OnMove::Recapture))?;
        let [y] = g.call_times(2, &body, [x], &[])?;
        g.output("y", y)
    });
    let plan = plan.unwrap();
    assert_eq!(plan.operators(), 6);
    let text = plan.to_text_with_lines();
    assert_eq!(text.matches(": prefetch.").count(), 2, "{text}");
    assert!(
        text.contains("aclnnAdds.1(%aclnnAdds.0 f32[4])") && text.contains("tests/plans/called_errors.rs:"),
        "{text}"
    );
    assert!(plan.to_json(&[]).unwrap().contains("aclnnAdds.1") && plan.to_dot().contains("aclnnAdds.1"));
    let lint = &plan.lints()[0];
    assert_eq!(lint.kind, FindingKind::Unnamed);
    assert!(lint.message.contains("call of a plan of 3 operators, 2 times"), "{}", lint.message);
}
