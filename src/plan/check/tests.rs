//! What the checks report, and how often.

use crate::error::Result;
use crate::op::DataType::{F32, U8};
use crate::plan::builder::tests::generate::Dice;
use crate::plan::check;
use crate::plan::memory::MemoryPlan;
use crate::plan::order::Order;
use crate::plan::recipe::uses::Uses;
use crate::plan::simulate::{Machine, Memory};
use crate::plan::{Builder, Dim, FindingKind, Foreign, Fork, Input, Options, Plan, Scope, Simulated};

fn nothing() -> Foreign {
    Foreign::new("nothing", 1, |_| Ok(()))
}

#[test]
fn reading_no_bytes_at_all_needs_nobody_to_write_them() {
    let plan = Plan::build(|g| {
        let x = g.empty([4], U8)?;
        let none = g.narrow(x, 0, 2..2)?;
        g.foreign(&nothing(), &[none], &[])?;
        g.output("none", none)
    });
    assert!(plan.is_ok(), "{plan:?}");
}

#[test]
fn operators_that_share_several_values_of_a_memory_are_one_finding() {
    let refused = Plan::build(|g| {
        let x = g.input("x", [4], U8, Input::Static)?;
        let (start, end) = (g.bytes(x, 0..3)?, g.bytes(x, 1..4)?);
        for _ in 0..2 {
            g.scope("side", |g| g.foreign(&nothing(), &[start], &[end]))?;
        }
        g.foreign(&nothing(), &[start, end], &[start, end])
    });
    let findings = refused.unwrap_err().findings().to_vec();
    let pairs: Vec<_> = findings.iter().map(|finding| (finding.kind, &finding.positions[..])).collect();
    // Behind the record of the plan's start and the wait for it come both on the side, then the one on the origin.
    let race = FindingKind::UnorderedAccess;
    assert_eq!(pairs, [(race, &[2, 4][..]), (race, &[3, 4])]);
}

#[test]
fn a_write_with_gaps_stands_for_nothing_that_lies_between() {
    let refused = Plan::build(|g| {
        let x = g.input("x", [4, 4], U8, Input::Static)?;
        let (row, column) = (g.narrow(x, 0, 1..2)?, g.narrow(x, 1, 0..1)?);
        let between = g.narrow(row, 1, 2..3)?;
        let written = g.event("row is written")?;
        g.scope("row", |g| {
            g.foreign(&nothing(), &[], &[row])?;
            g.record(&written)
        })?;
        g.scope("column", |g| {
            g.wait(&written)?;
            g.foreign(&nothing(), &[], &[column])
        })?;
        g.foreign(&nothing(), &[between], &[])
    });
    let findings = refused.unwrap_err().findings().to_vec();
    let text = findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("\n");
    assert!(findings.len() == 1 && text.contains("writes bytes 6..7 of input \"x\""), "{text}");
}

#[test]
fn parts_of_the_only_row_are_values_without_gaps() {
    let plan = Plan::build(|g| {
        let s = g.symbol("s", 1..=4)?;
        let x = g.input("x", [1, 8], F32, Input::Copied)?;
        let part = g.narrow(x, 1, 0..4)?;
        let flat = g.reshape(part, [4])?;
        g.bytes(part, 0..16)?;
        let y = g.abs(flat)?;
        let z = g.empty([Dim::from(1), s * 2], F32)?;
        let half = g.narrow(z, 1, Dim::from(0)..s)?;
        g.reshape(half, [s])?;
        g.output("y", y)
    });
    plan.unwrap();
    let refused = Plan::build(|g| {
        let x = g.input("x", [2, 8], F32, Input::Copied)?;
        let part = g.narrow(x, 1, 0..4)?;
        g.bytes(part, 0..16).map(drop)
    });
    let message = refused.unwrap_err().to_string();
    let expected = "bytes 0..16 of a value of shape [2, 4], which has gaps between its elements";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn constants_are_written_by_nothing() {
    let refused = Plan::build(|g| {
        let c = g.constant(&[1_u8, 2], [2])?;
        let part = g.narrow(c, 0, 0..1)?;
        g.foreign(&nothing(), &[c], &[part])
    });
    let error = refused.unwrap_err();
    assert_eq!(error.findings()[0].kind, FindingKind::Operand);
    assert!(error.to_string().contains("a foreign operator that writes a constant"), "{error}");
}

/// Waits and records at gates, in the order of issue; `w` or `r`, the gate and the stream, which all start together.
fn gates(steps: &[(char, usize, &str)]) -> std::result::Result<Plan, Vec<String>> {
    let plan = Plan::build(|g| {
        let all = [g.external("a")?, g.external("b")?];
        for (what, gate, tag) in steps {
            let at_start = Scope::new().fork(Fork::AtStart);
            g.scope_with(tag, at_start, |g| match what {
                'w' => g.wait_external(all[*gate]),
                _ => g.record_external(all[*gate]),
            })?;
        }
        Ok(())
    });
    plan.map_err(|error| error.findings().iter().map(|finding| finding.message.clone()).collect())
}

#[test]
fn waits_at_gates_end_whoever_takes_the_signals() {
    let fine: [&[_]; 5] = [
        &[('w', 0, "1"), ('r', 0, "2")],
        &[('w', 0, "1"), ('w', 1, "2"), ('r', 1, "1"), ('r', 0, "3")],
        &[('r', 0, "1"), ('w', 0, "2"), ('w', 0, "3"), ('r', 0, "1")],
        // From outside there are as many signals as are needed.
        &[('w', 0, "1"), ('w', 0, "2"), ('r', 1, "1")],
        &[('r', 0, "1"), ('w', 0, "2"), ('r', 0, "2"), ('w', 0, "2")],
    ];
    for steps in fine {
        let plan = gates(steps).unwrap_or_else(|findings| panic!("{steps:?}: {findings:?}"));
        (0..50).for_each(|seed| drop(plan.simulate(seed, &Simulated::new()).unwrap()));
    }
    let never: [&[_]; 3] = [
        &[('w', 0, "1"), ('r', 0, "1")],
        &[('w', 0, "1"), ('r', 1, "1"), ('w', 1, "2"), ('r', 0, "2")],
        &[('r', 0, "1"), ('w', 0, "2"), ('w', 0, "2")],
    ];
    for steps in never {
        let findings = gates(steps).unwrap_err();
        assert!(findings.iter().all(|text| text.contains("can never end: its signal")), "{steps:?}: {findings:?}");
    }
    // When the second stream takes the first signal, nobody gives the other one.
    let findings = gates(&[('r', 0, "origin"), ('w', 0, "1"), ('r', 0, "1"), ('w', 0, "2")]).unwrap_err();
    assert!(findings.len() == 1 && findings[0].contains("\"1\""), "{findings:?}");
    assert!(findings[0].contains("may never end: another wait can take the signal"), "{findings:?}");
}

#[test]
fn random_gates_are_refused_exactly_if_a_run_can_get_stuck() {
    let (mut fine, mut refused) = (0, 0);
    for seed in 0..3000 {
        let g = Builder::new(Options::new());
        random_gates(&g, &mut Dice(seed)).unwrap();
        let built = g.finish().unwrap();
        let (order, uses) = (Order::of(&built.recipe).unwrap(), Uses::of(&built.recipe));
        let findings = check::check(&built.recipe, &order, &uses);
        assert!(findings.iter().all(|finding| finding.kind == FindingKind::Deadlock), "seed {seed}: {findings:?}");
        let memory = Memory::new(&built.recipe, &MemoryPlan::default(), &[], 0).unwrap();
        let machine = Machine::new(&built.recipe, &built.bodies, memory, Vec::new());
        assert_eq!(
            can_get_stuck(machine),
            !findings.is_empty(),
            "seed {seed}: {:?} {findings:?}",
            built.recipe.nodes
        );
        *(if findings.is_empty() { &mut fine } else { &mut refused }) += 1;
    }
    assert!(fine > 400 && refused > 400, "{fine} {refused}");
}

fn random_gates(g: &Builder, dice: &mut Dice) -> Result<()> {
    let gates = [g.external("a")?, g.external("b")?];
    for _ in 0..2 + dice.below(7) {
        let (gate, tag) = (gates[dice.below(2) as usize], ["1", "2", "3"][dice.below(3) as usize]);
        let fork = if dice.below(4) == 0 { Fork::Here } else { Fork::AtStart };
        g.scope_with(tag, Scope::new().fork(fork), |g| match dice.below(2) {
            0 => g.wait_external(gate),
            _ => g.record_external(gate),
        })?;
        if dice.below(8) == 0 {
            g.join(tag)?;
        }
    }
    Ok(())
}

/// Goes through all ways to the end, each state once.
fn can_get_stuck(start: Machine<'_>) -> bool {
    let (mut open, mut known) = (vec![start], std::collections::HashSet::new());
    while let Some(machine) = open.pop() {
        let ready = machine.ready();
        if ready.is_empty() && !machine.is_done() {
            return true;
        }
        for node in ready {
            let mut next = machine.clone();
            next.step(node, &mut |_| {}).unwrap();
            if known.insert(next.progress().to_vec()) {
                open.push(next);
            }
        }
    }
    false
}

#[test]
fn recorded_memory_is_nobody_elses_until_the_stream_is_joined() {
    let mut offsets = Vec::new();
    for recorded in [true, false] {
        let plan = Plan::build(|g| {
            let values: Vec<_> = (0..4).map(|_| g.empty([64], U8)).collect::<Result<_>>()?;
            g.foreign(&nothing(), &[], &values[..1])?;
            let at_start = Scope::new().fork(Fork::AtStart);
            g.scope_with("side", at_start, |g| g.foreign(&nothing(), &[], &values[3..]))?;
            if recorded {
                g.record_stream(values[0], "side")?;
            }
            g.foreign(&nothing(), &[], &values[1..2])?;
            g.join("side")?;
            g.foreign(&nothing(), &[], &values[2..3])
        });
        let (_, memory) = plan.unwrap().specialise(&[]).unwrap();
        offsets.push(memory.offsets);
    }
    let [kept, free] = &offsets[..] else { unreachable!() };
    assert!(kept[0] != kept[1] && (kept[2] == kept[0] || kept[2] == kept[1]), "{kept:?}");
    assert_eq!(free[0], free[1]);
}
