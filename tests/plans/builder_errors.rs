//! What building refuses, and what it lints: kind, names, and the line of the caller.

use racl::op::DataType::{self, F32, I32};
use racl::plan::{
    After, Builder, Dim, External, Finding, FindingKind, Foreign, Input, Options, Plan, Scope, TaggedEvent, Value,
};
use racl::{ErrorKind, Prefetch, Result};

/// That `work` is refused at the line after which it ends.
#[track_caller]
fn refused(kind: FindingKind, parts: &[&str], work: impl FnOnce(&Builder) -> Result<()>) {
    refused_with(Options::new(), kind, parts, work);
}

#[track_caller]
fn refused_with(options: Options, kind: FindingKind, parts: &[&str], work: impl FnOnce(&Builder) -> Result<()>) {
    let error = Plan::build_with(options, work).expect_err("this must be refused");
    let found = &error.findings()[0];
    assert_eq!((error.kind(), found.kind), (ErrorKind::InvalidPlan, kind), "{error}");
    assert!(!kind.is_lint());
    for part in parts.iter().copied().chain(["tests/plans/builder_errors.rs:"]) {
        assert!(found.message.contains(part), "{part:?} is not in: {}", found.message);
    }
    assert!(error.to_string().contains(&found.message), "{error}");
}

/// The lints of a plan, as kind and message.
fn lints(plan: &Plan) -> Vec<(FindingKind, &str)> {
    plan.lints().iter().map(|Finding { kind, message, .. }| (*kind, message.as_str())).collect()
}

fn input(g: &Builder) -> Result<Value> {
    g.input("x", [4], F32, Input::Copied)
}

/// Handles of another plan.
fn foreign() -> (Value, TaggedEvent, External) {
    let mut handles = None;
    Plan::build(|g| {
        let (event, gate) = (g.event("e")?, g.external("gate")?);
        g.record(&event)?;
        handles = Some((input(g)?, event, gate));
        Ok(())
    })
    .unwrap();
    handles.unwrap()
}

#[test]
fn names_are_there_and_unique() {
    use FindingKind::{Duplicate, Name};
    refused(Duplicate, &["event tag \"66\" is in use already"], |g| {
        let _one = g.event("66")?;
        g.event("66").map(drop)
    });
    refused(Name, &["an event without a tag"], |g| g.event("").map(drop));
    refused(Duplicate, &["input \"x\""], |g| input(g).and_then(|_| input(g)).map(drop));
    refused(Name, &["input \"\""], |g| g.input("", [1], F32, Input::Copied).map(drop));
    refused(Duplicate, &["output \"y\""], |g| {
        let x = input(g)?;
        g.output("y", x)?;
        g.output("y", x)
    });
    refused(Duplicate, &["symbol \"n\""], |g| {
        g.symbol("n", 1..=2)?;
        g.symbol("n", 1..=2).map(drop)
    });
    refused(Duplicate, &["external gate \"a\""], |g| {
        g.external("a")?;
        g.external("a").map(drop)
    });
    refused(Name, &["scope without a tag"], |g| g.scope("", |_| Ok(())));
    refused(Name, &["scope \"s\"", "above 7"], |g| g.scope_with("s", Scope::new().priority(8), |_| Ok(())));
    refused(Name, &["scope \"s\": priority 1", "has 2"], |g| {
        g.scope_with("s", Scope::new().priority(2), |_| Ok(()))?;
        g.scope_with("s", Scope::new().priority(1), |_| Ok(()))
    });
    refused(Name, &["record_stream on \"s\"", "\"origin\""], |g| {
        let x = input(g)?;
        g.record_stream(x, "s")
    });
    refused(Name, &["join of \"s\", which has no work"], |g| g.join("s"));
    refused(Name, &["join of \"s\" inside its own scope"], |g| g.scope("s", |g| g.join("s")));
}

#[test]
fn the_tag_of_an_event_that_is_dropped_is_free() {
    let plan = Plan::build(|g| {
        let x = input(g)?;
        for _ in 0..2 {
            let event = g.event("66")?;
            g.adds(x, 1.0)?;
            g.record(&event)?;
            g.scope("side", |g| g.wait(&event))?;
        }
        Ok(())
    });
    assert_eq!(lints(&plan.unwrap()), []);
}

#[test]
fn events_are_waited_for_after_their_record_which_is_one() {
    refused(FindingKind::WaitBeforeRecord, &["event \"66\" is waited for before"], |g| {
        let event = g.event("66")?;
        g.scope("side", |g| g.wait(&event))
    });
    refused(FindingKind::WaitBeforeRecord, &["event \"66\" is waited for before"], |g| {
        let (x, event) = (input(g)?, g.event("66")?);
        g.prefetch(x, Prefetch::all(), After::Event(&event)).map(drop)
    });
    refused(FindingKind::RecordedTwice, &["event \"66\" is recorded already", "rerecord"], |g| {
        let event = g.event("66")?;
        g.record(&event)?;
        g.record(&event)
    });
}

#[test]
fn symbols_of_another_plan_are_refused() {
    let mut symbol = None;
    Plan::build(|g| g.symbol("n", 1..=8).map(|n| symbol = Some(n))).unwrap();
    let foreign = symbol.unwrap();
    let part = ["a dimension with a symbol of another plan"];
    for dim in [foreign, foreign * 2, foreign + 1] {
        refused(FindingKind::Foreign, &part, |g| {
            // With a symbol of its own at the same place, and without one.
            g.symbol("m", 1..=4)?;
            g.input("x", [dim], F32, Input::Copied).map(drop)
        });
        refused(FindingKind::Foreign, &part, |g| g.empty([dim], F32).map(drop));
        refused(FindingKind::Foreign, &part, |g| {
            let x = g.input("x", [8], F32, Input::Copied)?;
            g.narrow(x, 0, Dim::from(0)..dim).map(drop)
        });
    }
    refused(FindingKind::Operand, &["is none that a plan can have"], |g| {
        let own = g.symbol("m", 1..=4)?;
        g.empty([own * foreign], F32).map(drop)
    });
}

#[test]
fn handles_of_another_plan_are_refused() {
    let (value, event, gate) = foreign();
    type Work<'a> = Box<dyn FnOnce(&Builder) -> Result<()> + 'a>;
    let works: [(&str, Work<'_>); 12] = [
        ("event \"e\" belongs to another plan", Box::new(|g| g.wait(&event))),
        ("event \"e\" belongs to another plan", Box::new(|g| g.record(&event))),
        ("event \"e\" belongs to another plan", Box::new(|g| g.rerecord(&event))),
        ("an external gate of another plan", Box::new(|g| g.wait_external(gate))),
        ("an external gate of another plan", Box::new(|g| g.record_external(gate))),
        ("abs: a value of another plan", Box::new(|g| g.abs(value).map(drop))),
        ("output: a value of another plan", Box::new(|g| g.output("y", value))),
        ("wait_value: a value of another plan", Box::new(|g| g.wait_value(value, value).map(drop))),
        ("wait_all: a value of another plan", Box::new(|g| g.wait_all(&[value]))),
        ("reshape: a value of another plan", Box::new(|g| g.reshape(value, [4]).map(drop))),
        (
            "prefetch: a value of another plan",
            Box::new(|g| g.prefetch(value, Prefetch::all(), After::Start).map(drop)),
        ),
        ("fill_scalar: a value of another plan", Box::new(|g| g.fill(value, 1.0_f32))),
    ];
    for (part, work) in works {
        refused(FindingKind::Foreign, &[part], work);
    }
}

#[test]
fn operands_fit_their_operator() {
    use FindingKind::Operand;
    refused(Operand, &["add: ", "(#0, "], |g| {
        let (x, i) = (input(g)?, g.input("i", [4], I32, Input::Copied)?);
        g.add(x, i).map(drop)
    });
    refused(Operand, &["aclnnMatmul: ", "(#1, "], |g| {
        let x = g.input("x", [2, 3], F32, Input::Copied)?;
        let y = g.abs(x)?;
        g.matmul(x, y).map(drop)
    });
    refused(Operand, &["wait_all without a value"], |g| g.wait_all(&[]));
    refused(Operand, &["into a constant"], |g| {
        let (x, c) = (input(g)?, g.constant(&[0.0_f32; 4], [4])?);
        g.copy(x, c)
    });
    refused(Operand, &["3 elements for [4]"], |g| g.constant(&[0.0_f32; 3], [4]).map(drop));
    refused(Operand, &["narrow to 1..5 of dimension 0"], |g| {
        let x = input(g)?;
        g.narrow(x, 0, 1..5).map(drop)
    });
    refused(Operand, &["bytes 8..17"], |g| {
        let x = input(g)?;
        g.bytes(x, 8..17).map(drop)
    });
}

#[test]
fn single_stream_refuses_what_collapse_streams_ignores() {
    let strict = || Options::new().single_stream();
    refused_with(strict(), FindingKind::Options, &["scope \"s\"", "collapse_streams"], |g| g.scope("s", |_| Ok(())));
    refused_with(strict(), FindingKind::Options, &["a prefetch with the option single_stream"], |g| {
        let x = input(g)?;
        g.prefetch(x, Prefetch::all(), After::Start).map(drop)
    });
    let plan = Plan::build_with(Options::new().collapse_streams(), |g| {
        let x = input(g)?;
        let y = g.scope("s", |g| g.abs(x))?;
        g.prefetch(x, Prefetch::all(), After::Start)?;
        g.join("s")?;
        g.output("y", y)
    });
    let plan = plan.unwrap();
    assert_eq!((plan.streams(), plan.events(), plan.operators()), (1, 0, 2));
}

#[test]
fn lints_name_operators_by_their_final_positions() {
    let (mut first, mut second) = (0, 0);
    let plan = Plan::build(|g| {
        let x = input(g)?;
        // Recorded at the start and behind its producer: both move what follows.
        let early = g.scope_with("early", Scope::new().fork(racl::plan::Fork::AtStart), |g| g.muls(x, 2.0))?;
        let later = g.wait_value(x, early)?;
        first = line!() + 1;
        g.adds(x, 1.0)?;
        second = line!() + 1;
        g.adds(later, 1.0)?;
        let never = g.event("never")?;
        g.record(&never)
    })
    .unwrap();
    let lints = plan.lints();
    assert_eq!(lints.len(), 2, "{lints:?}");
    let [never, both] = [&lints[0], &lints[1]];
    assert_eq!((never.kind, both.kind), (FindingKind::NeverWaited, FindingKind::BothVersions));
    // start, wait, muls, record, adds, wait, adds, record, then the join.
    assert_eq!((both.positions.as_slice(), never.positions.as_slice()), (&[4, 6][..], &[7][..]));
    for (position, line) in [(4, first), (6, second)] {
        let part = format!("aclnnAdds (#{position}, the origin stream, tests/plans/builder_errors.rs:{line})");
        assert!(both.message.contains(&part), "{part} is not in: {}", both.message);
    }
    assert!(never.message.contains("event \"never\" is recorded and nothing waits for it"), "{}", never.message);
    assert!(never.message.contains("(#7, "), "{}", never.message);
}

#[test]
fn a_closure_without_a_name_is_noted() {
    let plan = Plan::build(|g| {
        let x = input(g)?;
        g.scope("side", |g| g.foreign(&Foreign::unnamed(|_| Ok(())), &[x], &[]))
    })
    .unwrap();
    assert_eq!(plan.lints()[0].kind, FindingKind::Unnamed);
    // Behind the fork.
    assert_eq!(plan.lints()[0].positions, [2]);
    assert!(plan.lints()[0].message.contains("the closure at tests/plans/builder_errors.rs:"));
}

#[test]
fn waits_at_gates_that_the_plan_itself_opens_too_late_are_refused() {
    refused(FindingKind::Deadlock, &["external wait for \"a\" (#0", "can never end"], |g| {
        let a = g.external("a")?;
        g.wait_external(a)?;
        g.record_external(a)
    });
    let crossed = |late: bool| {
        Plan::build(|g| {
            let (a, b) = (g.external("a")?, g.external("b")?);
            g.scope("side", |g| {
                if late {
                    g.wait_external(b)?;
                }
                g.record_external(a)?;
                if late { Ok(()) } else { g.wait_external(b) }
            })?;
            g.wait_external(a)?;
            g.record_external(b)
        })
    };
    crossed(false).unwrap();
    let error = crossed(true).unwrap_err();
    assert!(error.findings().iter().all(|found| found.kind == FindingKind::Deadlock) && error.findings().len() == 2);
    // A signal from outside is nobody's fault.
    Plan::build(|g| {
        let a = g.external("a")?;
        g.wait_external(a)
    })
    .unwrap();
}

#[test]
fn dimensions_that_cannot_be_are_told_with_the_line() {
    for dims in [vec![Dim::from(usize::MAX), 4.into()], vec![Dim::from(1); 20]] {
        let error = Plan::build(|g| g.input("x", dims, F32, Input::Static).map(drop)).unwrap_err();
        assert_eq!(error.findings()[0].kind, FindingKind::Operand);
        assert!(error.to_string().contains("builder_errors.rs:"), "{error}");
    }
}

/// What gives the result of `work` on `x` of `n` elements, from 1 to 4.
fn of_four(dtype: DataType, work: impl FnOnce(&Builder, Value, Dim) -> Result<Value>) -> Result<Plan> {
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=4)?;
        let x = g.input("x", [n], dtype, Input::Copied)?;
        g.output("y", work(g, x, n)?)
    })?;
    #[cfg(feature = "cache")]
    Plan::load(&plan.store()?, &racl::plan::Registry::new()).expect("what a builder takes can be read");
    Ok(plan)
}

#[test]
fn sizes_that_are_negative_whatever_the_symbols_are_are_refused_at_the_line() {
    for less in [-5, i64::MIN, -(1 << 45)] {
        let error = of_four(F32, |g, x, _| g.pad(x, &[less, 0], 0)).unwrap_err();
        let found = &error.findings()[0];
        assert_eq!(found.kind, FindingKind::Operand, "{error}");
        for part in ["[n-", "negative whatever the symbols are", "builder_errors.rs:"] {
            assert!(found.message.contains(part), "{part:?} is not in: {error}");
        }
    }
    of_four(F32, |g, x, _| g.pad(x, &[-4, 0], 0)).unwrap();
}

#[test]
fn a_plan_that_calls_one_of_negative_sizes_is_refused() {
    let body = Plan::build(|g| {
        let n = g.symbol("k", 1..=8)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        let less = g.pad(x, &[-5, 0], 0)?;
        g.output("y", g.reduce_sum(less, &[0], true)?)
    });
    let body = body.unwrap();
    let call = |g: &Builder, x: Value, _: Dim| g.call(&body, &[x]).map(|[y]| y);
    let error = of_four(F32, call).unwrap_err();
    assert!(error.to_string().contains("[k-5], which has none here"), "{error}");
    let call = |g: &Builder, x: Value, _: Dim| g.call(&body, &[g.pad(x, &[0, 4], 0)?]).map(|[y]| y);
    of_four(F32, call).unwrap();
}

#[test]
fn sizes_that_memory_cannot_have_are_refused_at_the_line() {
    let too_large = |error: racl::Error| {
        assert_eq!(error.findings()[0].kind, FindingKind::Operand, "{error}");
        for part in ["is too large", "builder_errors.rs:"] {
            assert!(error.to_string().contains(part), "{part:?} is not in: {error}");
        }
    };
    for power in 50..=57 {
        // Coefficients are below 2^56, of bytes as well.
        let all: [Result<Plan>; 2] = [
            of_four(DataType::F64, |g, x, _| g.repeat_interleave(x, 1 << power)),
            of_four(DataType::F64, |g, _, n| g.full([n * (1 << power)], DataType::F64, 1)),
        ];
        for one in all {
            if power < 53 { drop(one.unwrap()) } else { too_large(one.unwrap_err()) }
        }
    }
    let none = of_four(F32, |g, x, n| {
        let two = g.cat(&[x, x], 0)?;
        g.repeat(g.reshape(two, [2.into(), n])?, &[0, i64::MAX])
    });
    too_large(none.unwrap_err());
    let empty = |g: &Builder, _: Value, _: Dim| g.full([1_usize << 59], F32, 0);
    of_four(F32, empty).unwrap();
    let several = |g: &Builder, x: Value, n: Dim| (0..4).try_fold(x, |_, _| empty(g, x, n));
    too_large(of_four(F32, several).unwrap_err());
    // Seven sums multiply to more terms than are written down; the plan is one all the same.
    let views = of_four(F32, |g, _, n| {
        let x = g.full([n + 1; 6], F32, 0)?;
        g.reshape(x, [1.into(), n + 1, n + 1, n + 1, n + 1, n + 1, n + 1])
    });
    views.unwrap();
    let seven = Plan::build(|g| {
        let n = g.symbol("n", 1..=4)?;
        g.output("y", g.full([n + 1; 7], F32, 0)?)
    });
    seven.unwrap();
}

#[test]
fn records_and_versions_that_others_replace_are_still_told_of() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [8], F32, Input::Static)?;
        let event = g.event("e")?;
        g.record(&event)?; // nobody waits for this one
        let first = g.scope("1", |g| g.muls(x, 2.0))?;
        g.rerecord(&event)?;
        g.scope("1", |g| g.wait(&event))?;
        let later = g.wait_value(x, first)?;
        let part = g.narrow(later, 0, 0..4)?; // uses the later version
        let a = g.adds(part, 1.0)?;
        let b = g.abs(x)?; // and this the earlier one
        let _other = g.wait_value(x, b)?;
        g.output("a", a)
    })
    .unwrap();
    let kinds: Vec<_> = plan.lints().iter().map(|lint| lint.kind).collect();
    assert!(kinds.contains(&FindingKind::NeverWaited) && kinds.contains(&FindingKind::BothVersions), "{kinds:?}");
}
