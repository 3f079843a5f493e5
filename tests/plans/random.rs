//! Random plans that are accepted give the same numbers, however they run.
//!
//! `RACL_PLAN_SEED=17 cargo test --test plans NAME` runs a test with one seed alone.

use std::sync::atomic::{AtomicUsize, Ordering};

use racl::plan::{Options, Plan, Simulated};

use super::equal::{Case, Given};
use super::generate::{self, Recorded, Style};
use super::mixer::mixer;
use super::seeds::{alone, for_seeds};
use crate::Alone;

/// The plan of a seed, if the checks accept it, and what it takes and gives.
fn plan(seed: u64, options: Options, style: &Style) -> Option<(Plan, Recorded)> {
    let mut recorded = Recorded::default();
    let plan = Plan::build_with(options, |g| {
        recorded = generate::record(g, seed, style, &mixer)?;
        Ok(())
    });
    plan.ok().map(|plan| (plan, recorded))
}

/// The inputs of a run: others for each turn.
fn given(recorded: &Recorded, seed: u64, turn: u64) -> Vec<Given> {
    let one = |(index, made): (usize, &generate::Made)| Given {
        name: made.name.clone(),
        class: made.class,
        dtype: made.dtype,
        dims: made.dims.clone(),
        bytes: generate::input_bytes(seed ^ turn << 40, index, made.bytes()),
    };
    recorded.inputs.iter().enumerate().map(one).collect()
}

/// The bytes of every output.
fn outputs(plan: &Plan, seed: u64, (run, recorded): (u64, &Recorded)) -> Vec<Vec<u8>> {
    let inputs = given(recorded, seed, 0);
    let inputs = inputs.iter().fold(Simulated::new(), |all, one| all.bytes(&one.name, one.bytes.clone()));
    let run = plan.simulate(run, &inputs).unwrap();
    recorded.outputs.iter().map(|(name, _)| run.bytes(name).unwrap().to_vec()).collect()
}

#[test]
fn plans_of_foreign_operators_write_the_same_simulated_eagerly_and_captured() {
    let mock = Alone::new();
    let accepted = AtomicUsize::new(0);
    for_seeds(600_000..602_200, |seed| {
        let style = Style {
            operators: [8, 30, 60][(seed % 3) as usize],
            tags: 4,
            careless: 10,
            prefetches: true,
            // Outputs have memory of their own; temporaries share an arena.
            outputs: [0, 300, 1000][(seed / 3 % 3) as usize],
        };
        let Some((plan, recorded)) = plan(seed, Options::new(), &style) else { return };
        accepted.fetch_add(1, Ordering::Relaxed);
        let turns = [given(&recorded, seed, 0), given(&recorded, seed, 1)];
        Case { plan: &plan, turns: &turns, outputs: &recorded.outputs }.check(&mock.device, seed);
    });
    let accepted = accepted.into_inner();
    assert!(alone().is_some() || accepted >= 2000, "{accepted}");
}

#[test]
fn simulated_runs_give_the_same_outputs_on_any_number_of_streams() {
    let accepted = AtomicUsize::new(0);
    for_seeds(400_000..400_200, |seed| {
        let style = Style { operators: 30, tags: 4, careless: 10, prefetches: true, outputs: 300 };
        let Some((tagged, recorded)) = plan(seed, Options::new(), &style) else { return };
        let (one, _) = plan(seed, Options::new().collapse_streams(), &style).expect("in the order of issue");
        let expected = outputs(&one, seed, (0, &recorded));
        assert!(!expected.is_empty());
        for run in 0..4 {
            assert_eq!(outputs(&tagged, seed, (run, &recorded)), expected);
        }
        accepted.fetch_add(1, Ordering::Relaxed);
    });
    let accepted = accepted.into_inner();
    assert!(alone().is_some() || accepted > 100, "{accepted}");
}

#[test]
fn spread_plans_give_the_outputs_of_one_stream() {
    let style = Style { operators: 30, tags: 0, careless: 0, prefetches: false, outputs: 300 };
    for_seeds(500_000..500_200, |seed| {
        let (one, recorded) = plan(seed, Options::new(), &style).unwrap();
        let (spread, _) = plan(seed, Options::new().auto_streams(4), &style).unwrap();
        let expected = outputs(&one, seed, (0, &recorded));
        for run in 0..4 {
            assert_eq!(outputs(&spread, seed, (run, &recorded)), expected);
        }
    });
}
