//! The property of these plans.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Case, Style, plan};
use racl::plan::FindingKind;

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
