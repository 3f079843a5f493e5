//! Arms that are not possible at the sizes of a run.

use racl::op::DataType::I64;
use racl::plan::{Builder, Executable, Input, Plan, RunOptions, Simulated, Value};
use racl::{ErrorKind, Result};

use super::{WAYS, Way, made};
use crate::Alone;
use crate::common::mock;

const NOTHING: i64 = -1;

/// The greatest of a list, or what it is given where there is nothing. Of no elements there is no greatest.
fn greatest(of_list: bool) -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [g.symbol("n", 0..=8)?], I64, Input::Copied)?;
        let nothing = g.input("nothing", [1], I64, Input::Copied)?;
        g.output("y", if of_list { g.amax(x, &[0], true)? } else { g.adds(nothing, 0)? })
    })
    .unwrap()
}

/// A plan that chooses by its input `c`.
fn chooses(choose: impl FnOnce(&Builder, [Value; 3]) -> Result<Value>) -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [g.symbol("n", 0..=8)?], I64, Input::Host)?;
        let c = g.input("c", [1], I64, Input::Copied)?;
        let nothing = g.full([1], I64, NOTHING)?;
        let y = choose(g, [c, x, nothing])?;
        g.output("y", y)
    })
    .unwrap()
}

fn run(alone: &Alone, exe: &mut Executable, n: usize, c: i64) -> Result<i64> {
    let (list, c) = ((0..n as i64).collect::<Vec<_>>(), alone.device.upload_tensor(&[c], [1])?);
    let mut bind = exe.bindings();
    bind.host(exe.input("x")?, &list, [n]).set(exe.input("c")?, &c);
    exe.run(&alone.stream(), &mut bind)?;
    Ok(exe.output::<i64>(exe.output_id("y")?)?.to_vec()?[0])
}

/// Whether a run of so many elements with this condition gives a number on each way, or fails with these parts.
fn check(alone: &Alone, plan: &Plan, runs: &[(usize, i64, Option<i64>)], parts: &[&str]) {
    for way in WAYS {
        let mut exe = made(way, plan, &alone.device, &RunOptions::new()).unwrap();
        for (n, c, want) in runs.iter().copied() {
            let given = Simulated::new().tensor("x", &(0..n as i64).collect::<Vec<_>>(), [n]).tensor("c", &[c], [1]);
            let simulated = plan.simulate(0, &given).ok().map(|left| left.to_vec::<i64>("y").unwrap()[0]);
            assert_eq!(simulated, want, "{n} elements, condition {c}");
            match (run(alone, &mut exe, n, c), want) {
                (Ok(y), Some(want)) => assert_eq!(y, want, "{way:?}, {n} elements, condition {c}"),
                (Err(error), None) => {
                    let text = format!("{error:#}");
                    assert_eq!(error.kind(), ErrorKind::OperatorArgument, "{way:?}: {text}");
                    let graphs: &[&str] = if way == Way::Eager { &[] } else { parts };
                    for part in ["aclnnAmax (#", "impossible.rs:", "n = 0"].iter().chain(graphs) {
                        assert!(text.contains(part), "{way:?}: {part:?} is not in: {text}");
                    }
                }
                (got, want) => panic!("{way:?}, {n} elements, condition {c}: {got:?}, not {want:?}"),
            }
        }
    }
}

#[test]
fn a_run_needs_no_more_than_what_it_chooses_at_its_sizes() {
    let alone = Alone::new();
    let (some, nothing) = (greatest(true), greatest(false));
    let plan = chooses(|g, [c, x, none]| g.if_else(c, &some, &nothing, &[x, none]).map(|[y]: [_; 1]| y));
    let runs = [(3, 1, Some(2)), (0, 0, Some(NOTHING)), (0, 1, None), (0, 0, Some(NOTHING)), (5, 1, Some(4))];
    check(&alone, &plan, &runs, &["if (#", "`then`, which this run chose"]);
}

#[test]
fn where_the_library_refuses_an_arm_the_host_chooses_and_elsewhere_the_graph() {
    crate::common::needs_function("aclmdlRIAddCondTask");
    let alone = Alone::new();
    let (some, nothing) = (greatest(true), greatest(false));
    let plan = chooses(|g, [c, x, none]| g.if_else(c, &some, &nothing, &[x, none]).map(|[y]: [_; 1]| y));
    let mut exe = made(Way::Graph, &plan, &alone.device, &RunOptions::new()).unwrap();
    for (n, c, decided) in [(3, 1, 0), (0, 0, 1), (3, 0, 1), (0, 0, 2)] {
        run(&alone, &mut exe, n, c).unwrap();
        assert_eq!(exe.counters().decided_by_host, decided, "{n} elements");
    }
    assert_eq!((exe.counters().captured_new, exe.graphs()), (2, 2));
}

#[test]
fn cases_and_arms_of_arms_may_be_impossible() {
    let alone = Alone::new();
    let (some, nothing) = (greatest(true), greatest(false));
    let cases = chooses(|g, [c, x, none]| {
        g.switch(c, &[&nothing, &some, &nothing], &nothing, &[x, none]).map(|[y]: [_; 1]| y)
    });
    let runs = [(2, 1, Some(1)), (0, 0, Some(NOTHING)), (0, 2, Some(NOTHING)), (0, 1, None), (0, 7, Some(NOTHING))];
    check(&alone, &cases, &runs, &["switch (#", "case 1, which this run chose"]);
    let inner = Plan::build(|g| {
        let x = g.input("x", [g.symbol("n", 0..=8)?], I64, Input::Copied)?;
        let none = g.input("nothing", [1], I64, Input::Copied)?;
        let c = g.input("c", [1], I64, Input::Copied)?;
        let [y] = g.if_else(g.adds(c, -1)?, &some, &nothing, &[x, none])?;
        g.output("y", y)
    })
    .unwrap();
    let plan = chooses(|g, [c, x, none]| g.if_else(c, &inner, &inner, &[x, none, c]).map(|[y]: [_; 1]| y));
    let runs = [(2, 2, Some(1)), (0, 1, Some(NOTHING)), (0, 2, None), (0, 0, None)];
    check(&alone, &plan, &runs, &["if (#", "`then`, which this run chose"]);
}

#[test]
fn where_the_host_cannot_choose_an_arm_that_is_refused_is_no_capture() {
    crate::common::needs_function("aclmdlRIAddCondTask");
    let alone = Alone::new();
    let (some, nothing) = (greatest(true), greatest(false));
    let plan = chooses(|g, [c, x, none]| {
        let [y] = g.if_else(c, &some, &nothing, &[x, none])?;
        g.wait_external(g.external("ready")?).map(|()| y)
    });
    let mut exe = made(Way::Graph, &plan, &alone.device, &RunOptions::new()).unwrap();
    let error = run(&alone, &mut exe, 0, 0).unwrap_err();
    let text = format!("{error:#}");
    assert_eq!(error.kind(), ErrorKind::OperatorArgument, "{text}");
    for part in
        ["`then`, which is captured whether a run chooses it or not", "if (#", "aclnnAmax (#", "impossible.rs:"]
    {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

fn reduces_if_there_is_anything() -> Plan {
    let (some, nothing) = (greatest(true), greatest(false));
    chooses(|g, [c, x, none]| g.if_else(c, &some, &nothing, &[x, none]).map(|[y]: [_; 1]| y))
}

#[test]
fn graphs_of_earlier_runs_go_for_one_in_parts() {
    crate::common::needs_function("aclmdlRIAddCondTask");
    let (alone, plan) = (Alone::new(), reduces_if_there_is_anything());
    // One capture is whole, three are its parts.
    for nth in 1..=4 {
        let mut exe = made(Way::Graph, &plan, &alone.device, &RunOptions::new()).unwrap();
        assert_eq!(run(&alone, &mut exe, 3, 0).unwrap(), NOTHING);
        mock::fail("aclmdlRICaptureBegin", nth, 207_001).unwrap();
        assert_eq!(run(&alone, &mut exe, 0, 0).unwrap(), NOTHING, "capture {nth}");
        assert_eq!(exe.counters().evicted, 1, "capture {nth}");
        mock::clear_failures();
    }
}

#[test]
fn what_else_is_wrong_is_no_arm_that_is_refused() {
    let (alone, plan) = (Alone::new(), reduces_if_there_is_anything());
    for nth in 1..=4 {
        let mut exe = made(Way::Graph, &plan, &alone.device, &RunOptions::new()).unwrap();
        mock::fail("aclrtGetStreamAvailableNum", nth, 507_010).unwrap();
        match run(&alone, &mut exe, 0, 0) {
            Ok(number) => assert_eq!(number, NOTHING),
            Err(error) => assert_eq!(error.kind(), ErrorKind::DeviceLost, "{nth}: {error:#}"),
        }
        mock::clear_failures();
    }
    // An operator that fails once at sizes at which it is possible.
    for (way, code) in WAYS.into_iter().flat_map(|way| [(way, 107_000), (way, 507_899)]) {
        let mut exe = made(way, &plan, &alone.device, &RunOptions::new()).unwrap();
        mock::fail("aclnnAmax", 1, code).unwrap();
        assert_eq!(run(&alone, &mut exe, 3, 1).unwrap_err().code(), Some(code), "{way:?}");
        let decided = exe.counters().decided_by_host;
        assert_eq!(run(&alone, &mut exe, 3, 1).unwrap(), 2, "{way:?}");
        assert!(way != Way::Graph || exe.counters().decided_by_host == decided);
    }
    let _ = alone.device.context().take_drop_errors();
}

#[test]
fn the_code_of_the_library_is_told_each_time() {
    let (alone, plan) = (Alone::new(), reduces_if_there_is_anything());
    for way in WAYS {
        let mut exe = made(way, &plan, &alone.device, &RunOptions::new()).unwrap();
        for _ in 0..2 {
            let error = run(&alone, &mut exe, 0, 1).unwrap_err();
            assert_eq!((error.code(), error.call()), (Some(161_002), Some("aclnnAmaxGetWorkspaceSize")), "{way:?}");
        }
    }
}
