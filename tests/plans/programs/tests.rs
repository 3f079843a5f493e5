//! The property of these plans.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Case, Style, plan, plan_on_one_stream, typed};
use racl::op::DataType;
use racl::plan::auto::{Auto, Target};
use racl::plan::{FindingKind, Simulated};

use crate::Alone;
use crate::seeds::{alone, for_seeds};

/// Seeds tried; some plans are refused.
const SEEDS: usize = 2200;

#[test]
fn plans_of_operators_compute_the_same_simulated_eagerly_and_captured() {
    let mock = Alone::new();
    let (accepted, dynamic, parallel) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let count = |counter: &AtomicUsize, one: bool| counter.fetch_add(usize::from(one), Ordering::Relaxed);
    for_seeds(700_000..700_000 + SEEDS as u64, |seed| {
        let style = Style {
            statements: [4, 8, 16][(seed % 3) as usize],
            careless: if seed % 2 == 0 { 0 } else { 30 },
            // Outputs have memory of their own; temporaries share an arena.
            outputs: [0, 300, 1000][(seed / 3 % 3) as usize],
        };
        let (plan, recorded) = match plan(seed, &style) {
            Ok(made) => made,
            Err(error) => {
                let findings = error.findings();
                let races = findings.iter().all(|finding| finding.kind == FindingKind::UnorderedAccess);
                assert!(races && !findings.is_empty() && style.careless > 0, "{error:?}");
                return;
            }
        };
        count(&accepted, true);
        count(&dynamic, plan.is_dynamic());
        count(&parallel, plan.streams() > 1);
        // Sizes come back: a graph of the first ones is there by then.
        let turns = [0, 1, 0].map(|turn| recorded.given(seed, turn));
        Case { plan: &plan, turns: &turns, outputs: &recorded.outputs }.check(&mock.device, seed);
    });
    let [accepted, dynamic, parallel] = [accepted, dynamic, parallel].map(AtomicUsize::into_inner);
    let enough = accepted >= 2000 && dynamic > 500 && parallel > 1000;
    assert!(alone().is_some() || enough, "{accepted} of {SEEDS}, {dynamic} dynamic, {parallel} on several streams");
}

#[test]
fn plans_of_operators_compute_the_same_when_their_work_overlaps() {
    let mock = Alone::new();
    let target = Target::of(&mock.device).unwrap();
    let changed = AtomicUsize::new(0);
    for_seeds(720_000..720_300, |seed| {
        let style = Style { statements: [4, 8, 16][(seed % 3) as usize], careless: 0, outputs: 300 };
        let (plan, recorded) = plan_on_one_stream(seed, &style);
        let overlapped = plan.overlap(&Auto::new(target)).unwrap();
        changed.fetch_add(usize::from(!overlapped.report.moved.is_empty()), Ordering::Relaxed);
        let turns = [0, 1].map(|turn| recorded.given(seed, turn));
        let inputs = turns[0].iter().fold(
            Simulated::new(),
            |all, one| typed!(one.dtype, T => all.tensor(&one.name, &one.elements::<T>(), &one.dims[..])),
        );
        let run = |of: &racl::plan::Plan, run| of.simulate(run, &inputs).unwrap();
        let expected = run(&plan, 0);
        for turn in 1..4 {
            let run = run(&overlapped.plan, turn);
            for (name, _) in &recorded.outputs {
                assert_eq!(run.bytes(name).unwrap(), expected.bytes(name).unwrap(), "{}", overlapped.report);
            }
        }
        Case { plan: &overlapped.plan, turns: &turns, outputs: &recorded.outputs }.check(&mock.device, seed);
    });
    let changed = changed.into_inner();
    assert!(alone().is_some() || changed >= 50, "{changed}");
}
