//! Random plans: the checks, the memory plan and the simulator against plain enumeration.
//!
//! `RACL_PLAN_SEED=17 cargo test --lib NAME` runs a test with one seed alone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use crate::plan::Options;
use crate::plan::builder::tests::generate::{Dice, Style};
use crate::plan::check::finding::FindingKind;

use super::bench::{Bench, all_agree, all_agree_one_by_one};
use super::brute::{self, Reach};

/// Runs `property` for each seed, and says which one failed.
fn for_seeds(seeds: std::ops::Range<u64>, mut property: impl FnMut(u64)) {
    let asked = std::env::var("RACL_PLAN_SEED").ok().map(|seed| seed.parse().expect("RACL_PLAN_SEED is a number"));
    let seeds = asked.map_or(seeds, |seed| seed..seed + 1);
    for seed in seeds {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| property(seed))) {
            let text = panic.downcast_ref::<String>().map_or("", |text| text);
            panic!("the plan of seed {seed} fails; RACL_PLAN_SEED={seed} runs it alone: {text}");
        }
    }
}

/// The checks find exactly the pairs that are there; true when the plan is accepted.
fn check_verdict(bench: &Bench, reach: &Reach, touched: &[brute::Touched]) -> bool {
    let races = brute::unordered(touched, reach);
    assert_eq!(bench.reported(), races, "{}", bench.show());
    let others = bench.findings.iter().filter(|finding| finding.kind != FindingKind::UnorderedAccess);
    assert_eq!(others.count(), 0, "{}", bench.show());
    races.is_empty()
}

/// The memory plan keeps apart what may be used at once.
fn check_memory(bench: &Bench, reach: &Reach, touched: &[brute::Touched]) {
    let plan = &bench.planned;
    assert_eq!(brute::sharing(&bench.recipe, plan, touched, reach), None, "{}", bench.show());
    assert!(plan.bound <= plan.peak && plan.peak <= plan.sum, "{plan:?}\n{}", bench.show());
}

/// Runs all that must come before the two, then the two in both orders: what is written differs.
fn check_pair(bench: &Bench, reach: &Reach, [a, b]: [u32; 2]) {
    let differs = (0..8).any(|salt| {
        bench.salt.store(salt, Ordering::Relaxed);
        let mut run = bench.start(1);
        for node in 0..bench.recipe.nodes.len() as u32 {
            if reach.before(node, a) || reach.before(node, b) {
                run.step(node);
            }
        }
        let mut other = run.clone();
        [a, b].iter().for_each(|node| run.step(*node));
        [b, a].iter().for_each(|node| other.step(*node));
        run.log != other.log
    });
    assert!(differs, "the order of {a} and {b} makes no difference\n{}", bench.show());
}

/// Number of pairs of operators that are in no order.
fn runs_at_once(bench: &Bench, reach: &Reach) -> usize {
    let work: Vec<u32> = (0..bench.recipe.nodes.len() as u32).filter(|node| !bench.orders(*node)).collect();
    let free = |a: u32, b: u32| !reach.before(a, b) && !reach.before(b, a);
    work.iter().enumerate().map(|(i, b)| work[..i].iter().filter(|a| free(**a, *b)).count()).sum()
}

#[test]
fn small_plans_are_accepted_exactly_if_all_interleavings_write_the_same() {
    let (mut accepted, mut refused, mut one_by_one) = (0, 0, 0);
    for_seeds(0..7000, |seed| {
        let style = Style {
            operators: 8,
            tags: 4,
            careless: [100, 500, 900][(seed % 3) as usize],
            prefetches: true,
            outputs: 0,
        };
        let bench = Bench::new(seed, &style);
        let (reach, touched) = (Reach::of(&bench.recipe), brute::touched(&bench.recipe));
        if check_verdict(&bench, &reach, &touched) {
            accepted += 1;
            let written = all_agree(&bench, 1);
            assert!(written.is_some(), "accepted, and not all interleavings agree\n{}", bench.show());
            assert_eq!(all_agree(&bench, 2), written, "reads what nothing has written\n{}", bench.show());
            check_memory(&bench, &reach, &touched);
        } else {
            refused += 1;
            // One byte may be the same by chance.
            let differs = (0..8).any(|salt| {
                bench.salt.store(salt, Ordering::Relaxed);
                all_agree(&bench, 1).is_none()
            });
            assert!(differs, "refused, and all interleavings agree\n{}", bench.show());
            bench.reported().into_iter().for_each(|pair| check_pair(&bench, &reach, pair));
        }
        if seed % 16 == 0
            && let Some(agree) = all_agree_one_by_one(&bench, 1, 200)
        {
            assert_eq!(agree, all_agree(&bench, 1).is_some(), "{}", bench.show());
            one_by_one += 1;
        }
    });
    if std::env::var_os("RACL_PLAN_SEED").is_none() {
        assert!(accepted > 2000 && refused > 2000 && one_by_one > 200, "{accepted} {refused} {one_by_one}");
    }
}

#[test]
fn large_plans_are_refused_for_exactly_the_races_that_they_have() {
    let (mut accepted, mut refused, mut parallel) = (0, 0, 0);
    for_seeds(100_000..102_500, |seed| {
        let style = Style {
            operators: 60,
            tags: 4,
            careless: [0, 20, 80, 300][(seed % 4) as usize],
            prefetches: true,
            outputs: 0,
        };
        let bench = Bench::new(seed, &style);
        let (reach, touched) = (Reach::of(&bench.recipe), brute::touched(&bench.recipe));
        if check_verdict(&bench, &reach, &touched) {
            accepted += 1;
            parallel += usize::from(runs_at_once(&bench, &reach) > 20);
            check_memory(&bench, &reach, &touched);
            check_interleavings(&bench, seed);
        } else {
            refused += 1;
            bench.reported().into_iter().for_each(|pair| check_pair(&bench, &reach, pair));
        }
    });
    if std::env::var_os("RACL_PLAN_SEED").is_none() {
        assert!(accepted > 600 && refused > 600 && parallel > 300, "{accepted} {refused} {parallel}");
    }
}

/// 64 interleavings of an accepted plan write the same.
fn check_interleavings(bench: &Bench, seed: u64) {
    let first = bench.run(0, |_| 0);
    let mut dice = Dice(seed);
    for turn in 1..=64 {
        let log = bench.run(turn, |ready| dice.below(ready.len() as u32) as usize);
        assert!(log == first, "interleaving {turn} writes something else\n{}", bench.show());
    }
}

#[test]
fn large_plans_that_are_accepted_write_the_same_in_64_interleavings() {
    let mut accepted = 0;
    for_seeds(200_000..200_500, |seed| {
        let style = Style { operators: 60, tags: 4, careless: 2, prefetches: true, outputs: 0 };
        let bench = Bench::new(seed, &style);
        if !bench.findings.is_empty() {
            return;
        }
        accepted += 1;
        check_interleavings(&bench, seed);
    });
    if std::env::var_os("RACL_PLAN_SEED").is_none() {
        assert!(accepted > 300, "{accepted}");
    }
}

#[test]
fn plans_that_are_spread_over_streams_write_what_they_write_on_one() {
    let (mut spread, mut parallel) = (0, 0);
    for_seeds(300_000..301_000, |seed| {
        let style =
            Style { operators: [8, 60][(seed % 2) as usize], tags: 0, careless: 0, prefetches: false, outputs: 0 };
        let streams = 2 + (seed % 4) as usize;
        let single = Bench::new(seed, &style);
        let bench = Bench::with(seed, &style, Options::new().auto_streams(streams));
        let used = bench.recipe.tags.len();
        let names: Vec<_> = bench.recipe.tags[1..].iter().map(|tag| tag.name.clone()).collect();
        let expected: Vec<_> = (1..used).map(|stream| format!("auto {stream}")).collect();
        assert!(used <= streams && names == expected, "{names:?}");
        let (reach, touched) = (Reach::of(&bench.recipe), brute::touched(&bench.recipe));
        assert!(check_verdict(&bench, &reach, &touched), "{}", bench.show());
        check_memory(&bench, &reach, &touched);
        let last = bench.recipe.nodes.len() as u32 - 1;
        let unjoined = (0..last).find(|node| !reach.before(*node, last));
        assert_eq!(unjoined.filter(|_| used > 1), None, "{}", bench.show());
        let (expected, mut dice) = (single.run(0, |_| 0), Dice(seed));
        for _ in 0..4 {
            let log = bench.run(0, |ready| dice.below(ready.len() as u32) as usize);
            assert!(log.in_order() == expected.in_order(), "{}", bench.show());
        }
        spread += usize::from(used > 1);
        parallel += usize::from(runs_at_once(&bench, &reach) > 4);
    });
    if std::env::var_os("RACL_PLAN_SEED").is_none() {
        assert!(spread > 600 && parallel > 500, "{spread} {parallel}");
    }
}
