//! Where lints are once passes have changed a plan that calls another.

use racl::op::DataType::F32;
use racl::plan::{FindingKind, Input, PassMode, Passes, Plan};

/// A call of `called`, dead work, work that counts, and an event that nobody waits for.
fn calls(called: &Plan) -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let _ = g.call::<0>(called, &[x])?;
        g.tanh(x)?;
        let y = g.abs(x)?;
        g.output("y", y)?;
        let event = g.event("alone")?;
        g.record(&event)
    })
    .unwrap()
}

#[test]
fn lints_stay_with_their_work_though_calls_before_it_are_written_out() {
    let nothing = Plan::build(|g| g.input("x", [4], F32, Input::Copied).map(drop)).unwrap();
    let prefetches = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        (0..3).try_for_each(|_| g.abs(x).map(drop))
    });
    for called in [nothing, prefetches.unwrap()] {
        let plan = calls(&called);
        let lint = |plan: &Plan| {
            let all: Vec<_> =
                plan.lints().iter().filter(|lint| lint.kind == FindingKind::NeverWaited).cloned().collect();
            assert_eq!(all.len(), 1, "{:?}", plan.lints());
            (all[0].positions[0] as usize, all[0].message.clone())
        };
        assert_eq!(lint(&plan).0, 3);
        let better = plan.optimise(&Passes::new().dead_values(PassMode::On)).unwrap();
        assert!(!better.changes.is_empty());
        let (at, text) = lint(&better.plan);
        assert!(at == 1 && text.contains("record of event \"alone\" (#1"), "{at}: {text}");
    }
}
