//! Choices that are refused: kind, names, and the line of the caller; and what of a choice shows elsewhere.

use std::panic::Location;

use racl::op::DataType::{Bool, F16, F32, I8, I16, I32, I64, U8};
use racl::plan::{Builder, FindingKind, HostFunction, Input, Options, Plan, RunOptions, Scope, Simulated, Value};
use racl::{ErrorKind, Result};

use super::{Way, body, condition, made, round, times, x};
use crate::Alone;
use crate::common::assert_says;

#[track_caller]
pub(super) fn refused(kind: FindingKind, parts: &[&str], work: impl FnOnce(&Builder) -> Result<()>) {
    let error = Plan::build(work).expect_err("this must be refused");
    let found = &error.findings()[0];
    assert_eq!((error.kind(), found.kind), (ErrorKind::InvalidPlan, kind), "{error}");
    for part in parts.iter().copied().chain([Location::caller().file()]) {
        assert!(found.message.contains(part), "{part:?} is not in: {}", found.message);
    }
}

/// A plan of `x` to an output of another shape.
fn wider() -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        g.output("wide", g.cat(&[x, x], 0)?)
    })
    .unwrap()
}

#[test]
fn conditions_are_one_number() {
    use FindingKind::{Call, Foreign};
    let plan = times(2.0);
    let chooses = |dims: usize, dtype| {
        let plan = &plan;
        move |g: &Builder| {
            let c = g.input("c", [dims], dtype, Input::Copied)?;
            g.if_else::<1>(c, plan, plan, &[x(g)?]).map(drop)
        }
    };
    refused(Call, &["if_else: its condition is I32 [2], and not one integer or truth value"], chooses(2, I32));
    refused(Call, &["its condition is F32 [1]"], chooses(1, F32));
    refused(Call, &["its condition is I32 [0]"], chooses(0, I32));
    refused(Call, &["if_then: its condition is I32 [n]"], |g| {
        let c = g.input("c", [g.symbol("n", 1..=1)?], I32, Input::Copied)?;
        g.if_then::<1>(c, &plan, &[x(g)?]).map(drop)
    });
    refused(Call, &["its condition is copied byte by byte", "no multiple of 64 bytes"], |g| {
        let c = g.narrow(g.input("c", [4], I32, Input::Copied)?, 0, 1..2)?;
        g.if_else::<1>(c, &plan, &plan, &[x(g)?]).map(drop)
    });
    refused(Call, &["its condition is an updatable input, which a choice cannot use"], |g| {
        let c = g.input("c", [1], I32, Input::Updatable)?;
        g.if_else::<1>(c, &plan, &plan, &[x(g)?]).map(drop)
    });
    let mut other = None;
    Plan::build(|g| {
        other = Some(condition(g, I32)?);
        Ok(())
    })
    .unwrap();
    refused(Foreign, &["switch: a value of another plan"], |g| {
        g.switch::<1>(other.unwrap(), &[&plan], &plan, &[x(g)?]).map(drop)
    });
    refused(FindingKind::ReadBeforeWrite, &["if of plans of 1, 1 operators"], |g| {
        g.if_else::<1>(g.empty([1], I32)?, &plan, &plan, &[x(g)?]).map(drop)
    });
}

#[test]
fn a_byte_with_a_sign_chooses_among_128_cases_at_most() {
    let plan = times(2.0);
    let chooses = |cases: usize, dtype| {
        let plan = &plan;
        move |g: &Builder| {
            let c = g.input("c", [1], dtype, Input::Copied)?;
            g.switch::<1>(c, &vec![plan; cases], plan, &[x(g)?]).map(drop)
        }
    };
    let text = "switch: its condition is I8, whose negative numbers count from 128 on, beside 129 cases";
    refused(FindingKind::Call, &[text], chooses(129, I8));
    for (cases, dtype) in [(128, I8), (129, U8), (129, I16)] {
        Plan::build(chooses(cases, dtype)).unwrap();
    }
}

#[test]
fn operands_and_results_are_those_of_every_plan() {
    use FindingKind::Call;
    let (plan, wider, two) = (times(2.0), wider(), body(&["w"], |g, x, w| g.add(x, w[0])));
    refused(Call, &["if_else: 2 operands for a plan of 1 inputs: \"x\""], |g| {
        let x = x(g)?;
        g.if_else::<1>(condition(g, I32)?, &plan, &plan, &[x, x]).map(drop)
    });
    refused(Call, &["1 operands for a plan of 2 inputs: \"x\", \"w\""], |g| {
        g.if_else::<1>(condition(g, I32)?, &plan, &two, &[x(g)?]).map(drop)
    });
    refused(Call, &["2 results of a plan of 1 outputs"], |g| {
        g.if_else::<2>(condition(g, I32)?, &plan, &plan, &[x(g)?]).map(drop)
    });
    refused(Call, &["an output \"wide\", F32 [8] of one plan where the first has \"y\", F32 [4]"], |g| {
        g.if_else::<1>(condition(g, I32)?, &plan, &wider, &[x(g)?]).map(drop)
    });
    refused(Call, &["its output \"wide\", F32 [8], takes the place of its input \"x\", F32 [4]"], |g| {
        g.if_then::<1>(condition(g, I32)?, &wider, &[x(g)?]).map(drop)
    });
    refused(Call, &["F16 [4] for \"x\", which is F32 [4] here"], |g| {
        let x = g.input("x", [4], F16, Input::Copied)?;
        g.switch::<1>(condition(g, I32)?, &[&plan], &plan, &[x]).map(drop)
    });
    refused(Call, &["switch: 0 cases, where 1 to 1023 are possible"], |g| {
        g.switch::<1>(condition(g, I32)?, &[], &plan, &[x(g)?]).map(drop)
    });
    refused(Call, &["1024 cases"], |g| g.switch::<1>(condition(g, I32)?, &[&plan; 1024], &plan, &[x(g)?]).map(drop));
    refused(Call, &["its input \"x\" is an updatable input"], |g| {
        let x = g.input("x", [4], F32, Input::Updatable)?;
        g.if_else::<1>(condition(g, I32)?, &plan, &plan, &[x]).map(drop)
    });
    refused(Call, &["its input \"x\" is given a view with gaps"], |g| {
        let wide = g.input("x", [4, 2], F32, Input::Copied)?;
        let x = g.reshape(g.narrow(wide, 1, 0..1)?, [4, 1]).or_else(|_| g.narrow(wide, 1, 0..1))?;
        g.if_else::<1>(condition(g, I32)?, &plan, &plan, &[x]).map(drop)
    });
}

#[test]
fn memory_that_one_plan_writes_is_no_constant_and_shared_with_nothing() {
    let _alone = Alone::new();
    use FindingKind::{Call, ReadBeforeWrite};
    let reads = body(&["w"], |g, x, w| g.add(x, w[0]));
    let writes = body(&["w"], |g, x, w| {
        g.fill_bytes(w[0], 0)?;
        g.abs(x)
    });
    let chooses = |operand: fn(&Builder, Value) -> Result<Value>| {
        let (reads, writes) = (&reads, &writes);
        move |g: &Builder| {
            let x = x(g)?;
            g.if_else::<1>(condition(g, I32)?, reads, writes, &[x, operand(g, x)?]).map(drop)
        }
    };
    refused(
        Call,
        &["its input \"w\" is written, and given a constant"],
        chooses(|g, _| g.constant(&[0.0_f32; 4], [4])),
    );
    refused(Call, &["its input \"w\", which it writes, shares memory with its input \"x\""], chooses(|_, x| Ok(x)));
    // What is written by one of them only has to be there.
    refused(ReadBeforeWrite, &["if of plans"], chooses(|g, _| g.empty([4], F32)));
    // A loop works on copies of what it carries: a constant, and one value twice.
    let swaps = Plan::build(|g| {
        let c = g.input("c", [1], I32, Input::Copied)?;
        let [a, b] = [g.input("a", [4], F32, Input::Copied)?, g.input("b", [4], F32, Input::Copied)?];
        let sum = g.add(a, b)?;
        g.fill_bytes(a, 0)?;
        let c = g.adds(c, -1)?;
        g.output("more", c)?;
        g.output("c", c)?;
        g.output("a", b)?;
        g.output("b", sum)
    });
    let plan = Plan::build(|g| {
        let (c, ones) = (condition(g, I32)?, g.constant(&[1.0_f32; 4], [4])?);
        let [_, _, y] = g.repeat_while(c, &swaps.unwrap(), [c, ones, ones], &[])?;
        g.output("y", y)
    });
    let given = Simulated::new().tensor("c", &[5], [1]);
    assert_eq!(plan.unwrap().simulate(0, &given).unwrap().to_vec::<f32>("y").unwrap(), [13.0; 4]);
}

#[test]
fn loops_take_what_they_give() {
    use FindingKind::Call;
    let (body, plan) = (round(), times(2.0));
    let start = |g: &Builder| -> Result<[Value; 3]> { Ok([g.full([1], I32, 1)?, x(g)?, g.full([4], F32, 1.0)?]) };
    refused(Call, &["repeat_while: 1 results of a plan of 3 outputs"], |g| {
        let [c, x, by] = start(g)?;
        g.repeat_while(c, &body, [c], &[x, by]).map(drop)
    });
    refused(Call, &["its condition is I64, and the next one I32"], |g| {
        let [c, x, by] = start(g)?;
        g.repeat_while(g.full([1], I64, 1)?, &body, [c, x], &[by]).map(drop)
    });
    refused(Call, &["the first output of a body is the next condition"], |g| {
        let [c, x, _] = start(g)?;
        g.repeat_while(c, &plan, [], &[x]).map(drop)
    });
    let more = Plan::build(|g| {
        let c = g.input("c", [1], Bool, Input::Copied)?;
        g.output("c", c)?;
        g.output("more", c)?;
        g.output("wide", g.full([8], F32, 1.0)?)
    });
    let more = more.unwrap();
    refused(Call, &["2 operands for a plan of 1 inputs"], |g| {
        let c = condition(g, Bool)?;
        g.repeat_while(c, &more, [c, x(g)?], &[]).map(drop)
    });
    let wide = Plan::build(|g| {
        let c = g.input("c", [1], Bool, Input::Copied)?;
        g.input("x", [4], F32, Input::Copied)?;
        g.output("c", c)?;
        g.output("more", c)?;
        g.output("wide", g.full([8], F32, 1.0)?)
    });
    let wide = wide.unwrap();
    refused(Call, &["its output \"wide\", F32 [8], takes the place of its input \"x\", F32 [4]"], |g| {
        let c = condition(g, Bool)?;
        g.repeat_while(c, &wide, [c, x(g)?], &[]).map(drop)
    });
}

#[test]
fn plans_that_nothing_can_call_cannot_be_chosen() {
    use FindingKind::Call;
    let (good, c) = (times(2.0), |g: &Builder| condition(g, I32));
    let of = |class: Input, work: fn(&Builder, Value) -> Result<()>| {
        Plan::build(|g| {
            let x = g.input("x", [4], F32, class)?;
            work(g, x)?;
            g.output("y", g.adds(x, 1.0)?)
        })
        .unwrap()
    };
    for (plan, text) in [
        (of(Input::Host, |_, _| Ok(())), "its input \"x\" is in host memory"),
        (of(Input::Updatable, |_, _| Ok(())), "its input \"x\" is updatable"),
        (of(Input::Copied, |g, _| g.external("ready").map(drop)), "it has the external gate \"ready\""),
        (of(Input::Copied, |g, x| g.output_to_host("z", g.abs(x)?)), "its output \"z\" goes to host memory"),
    ] {
        let outputs = if text.contains("output") { 2 } else { 1 };
        refused(Call, &["cannot be called", text], |g| match outputs {
            2 => g.if_else::<2>(c(g)?, &plan, &plan, &[x(g)?]).map(drop),
            _ => g.if_else::<1>(c(g)?, &good, &plan, &[x(g)?]).map(drop),
        });
    }
    let numbered = Plan::build(|g| {
        g.number("shift", 0..=4)?;
        let x = g.input("x", [4], F32, Input::Copied)?;
        g.output("y", g.adds(x, 1.0)?)
    });
    refused(Call, &["no shape of an operand is its symbol \"shift\""], |g| {
        g.if_else::<1>(c(g)?, &good, &numbered.unwrap(), &[x(g)?]).map(drop)
    });
    let large = Plan::build(|g| {
        let [y] = g.call_times(1 << 20, &good, [x(g)?], &[])?;
        g.output("y", y)
    });
    refused(Call, &["pieces with its calls written out, more than"], |g| {
        let large = large.unwrap();
        g.switch::<1>(c(g)?, &[&large; 8], &large, &[x(g)?]).map(drop)
    });
}

#[test]
fn a_plan_whose_choice_was_refused_goes_on_as_before() {
    let (good, wide) = (times(2.0), wider());
    let plan = Plan::build(|g| {
        let (c, x) = (condition(g, I32)?, x(g)?);
        g.if_else::<1>(c, &good, &wide, &[x]).unwrap_err();
        let [y] = g.if_else(c, &good, &good, &[x])?;
        g.output("y", y)
    });
    let plan = plan.unwrap();
    assert_eq!(plan.operators(), 2, "one operator in each arm");
    let once = Plan::build(|g| {
        let (c, x) = (condition(g, I32)?, x(g)?);
        let [y] = g.if_else(c, &good, &good, &[x])?;
        g.output("y", y)
    });
    assert_eq!(plan.to_text(), once.unwrap().to_text());
}

#[test]
fn races_and_closures_are_seen_through_a_choice() {
    let plan = times(2.0);
    let race = Plan::build(|g| {
        let (c, x) = (condition(g, I32)?, x(g)?);
        let [y] = g.scope("1", |g| g.if_else(c, &plan, &plan, &[x]))?;
        g.output("y", g.add(y, x)?)
    });
    let error = race.unwrap_err();
    assert_eq!(error.findings()[0].kind, FindingKind::UnorderedAccess);
    assert_says(&error, ErrorKind::InvalidPlan, &["if of plans of 1, 1 operators", "tests/plans/choices/refused.rs"]);
    let logs = body(&[], |g, x, _| {
        g.host_function(&HostFunction::unnamed(|_| {}))?;
        g.abs(x)
    });
    let unnamed = Plan::build(|g| {
        let [y] = g.if_else(condition(g, I32)?, &plan, &logs, &[x(g)?])?;
        g.output("y", y)
    });
    let unnamed = unnamed.unwrap();
    assert_eq!(unnamed.lints()[0].kind, FindingKind::Unnamed);
    assert!(unnamed.lints()[0].message.contains("if of plans of 1, 2 operators"), "{:?}", unnamed.lints());
}

#[test]
fn a_choice_is_on_one_stream_whatever_its_plans_have() {
    let side = body(&[], |g, x, _| {
        let y = g.scope_with("side", Scope::new().priority(3), |g| g.tanh(x))?;
        g.join("side")?;
        g.abs(y)
    });
    let build = |options: Options| {
        Plan::build_with(options, |g| {
            let c = condition(g, I32)?;
            let [y] = g.scope("side", |g| g.if_else(c, &side, &side, &[x(g)?]))?;
            g.join("side")?;
            let [y] = g.if_then(c, &side, &[y])?;
            g.output("y", y)
        })
        .unwrap()
    };
    assert_eq!(build(Options::new()).streams(), 2);
    assert_eq!(build(Options::new().single_stream().collapse_streams()).streams(), 1);
    let strict = Plan::build_with(Options::new().single_stream(), |g| {
        let [y] = g.if_then(condition(g, I32)?, &side, &[x(g)?])?;
        g.output("y", y)
    });
    assert_eq!(strict.unwrap().streams(), 1);
}

#[test]
fn an_eager_run_that_would_wait_for_its_own_caller_is_refused() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let ready = g.external("ready")?;
        g.wait_external(ready)?;
        let [y] = g.if_then(condition(g, I32)?, &times(2.0), &[x(g)?])?;
        g.output("y", y)
    });
    let plan = plan.unwrap();
    let advice = [(Way::Eager, "eager run"), (Way::Segments, "without conditional graphs")];
    for (way, text) in advice {
        let made = made(way, &plan, &alone.device, &RunOptions::new());
        let parts = [
            text,
            "the condition of if (#",
            "may wait at external wait for \"ready\"",
            "refused.rs:",
            "capture the plan",
        ];
        assert_says(&made.map(drop).unwrap_err(), ErrorKind::NotSupported, &parts);
    }
    drop(made(Way::Graph, &plan, &alone.device, &RunOptions::new()).unwrap());
}

#[test]
fn a_simulated_loop_that_never_ends_is_an_error() {
    let _alone = Alone::new();
    let forever = Plan::build(|g| {
        let c = g.input("c", [1], I32, Input::Copied)?;
        g.output("c", c)
    });
    let plan = Plan::build(|g| {
        let c = condition(g, I32)?;
        g.repeat_while(c, &forever.unwrap(), [], &[c])?;
        g.output("y", g.adds(c, 1)?)
    });
    let plan = plan.unwrap();
    let run = |c: i32| plan.simulate(0, &Simulated::new().tensor("c", &[c], [1]));
    assert_eq!(run(0).unwrap().to_vec::<i32>("y").unwrap(), [1]);
    assert_says(
        &run(1).map(drop).unwrap_err(),
        ErrorKind::NotSupported,
        &["more than 1000000 rounds", "refused.rs:"],
    );
}

#[test]
fn a_captured_loop_that_never_ends_is_named_with_its_line() {
    crate::common::needs_function("aclmdlRIAddCondTask");
    let alone = Alone::new();
    let forever = Plan::build(|g| {
        let c = g.input("c", [1], I32, Input::Copied)?;
        g.output("c", c)
    });
    let forever = forever.unwrap();
    let plan = Plan::build(|g| {
        let c = condition(g, I32)?;
        g.repeat_while(c, &forever, [], &[c])?;
        g.output("y", g.adds(c, 1)?)
    });
    let plan = plan.unwrap();
    let mut exe = made(Way::Graph, &plan, &alone.device, &RunOptions::new()).unwrap();
    let (stream, one) = (alone.device.stream().unwrap(), alone.device.upload_tensor(&[1], [1]).unwrap());
    let (c, y, mut bind) = (exe.input("c").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
    exe.run(&stream, bind.set(c, &one)).unwrap();
    let error = exe.output::<i32>(y).unwrap().to_vec().map(drop).unwrap_err();
    assert_says(&error, ErrorKind::DeviceFault, &["while (#", "refused.rs:", "may have gone on without an end"]);
    drop(exe);
    drop(stream.synchronize());
}

#[test]
fn dumps_show_the_plans_between_brackets_with_their_lines() {
    let (a, b, body) = (times(2.0), times(3.0), round());
    let plan = Plan::build(|g| {
        let (c, x) = (condition(g, I32)?, x(g)?);
        let [y] = g.if_else(c, &a, &b, &[x])?;
        let [_, z] = g.repeat_while(c, &body, [c, y], &[x])?;
        g.output("y", z)
    });
    let plan = plan.unwrap();
    let text = plan.to_text();
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("origin: ")).collect();
    let expected = "\
origin: if.0(in:c i32[1], in:x f32[4])
origin: %aclnnMuls.0 f32[4] = aclnnMuls.0(in:x f32[4]) {other=2.0}
origin: case.0()
origin: %aclnnMuls.0 f32[4] = aclnnMuls.1(in:x f32[4]) {other=3.0}
origin: end.0(in:c i32[1], in:x f32[4])";
    assert_eq!(lines[..5].join("\n"), expected, "{text}");
    assert!(text.contains(" = while.0(") && text.contains(" = end.1("), "{text}");
    assert!(plan.to_text_with_lines().contains("tests/plans/choices.rs:"), "lines of the bodies");
    let json = plan.to_json(&[]).unwrap();
    assert!(json.contains("\"kind\": \"while\"") && json.contains("\"kind\": \"case\""), "{json}");
    assert!(plan.to_dot().contains("while.0") && plan.to_svg(&[], Default::default()).unwrap().contains("while.0"));
}
